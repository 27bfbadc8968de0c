//! The answer of a strategy.

use super::Instance;
pub use migsim_bsp::Gather;

/// The new host of each process, and what the pricing of the call needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assignment {
    /// The new host of each process, by its number.
    pub hosts: Vec<usize>,
    /// Elementary operations (comparisons and additions) of the strategy; of those that run on all hosts at once, on the busiest host.
    pub operations: u64,
    /// The way of the loads to those who decide, and of the decision to the hosts.
    pub gather: Gather,
    /// Remarks of the strategy about its decision: sentences without a full stop.
    pub words: Vec<String>,
}

impl Assignment {
    /// A decision of one host for all.
    pub fn central(hosts: Vec<usize>, operations: u64) -> Self {
        Self {
            hosts,
            operations,
            gather: Gather::Central,
            words: Vec::new(),
        }
    }

    /// The number of processes that get another host.
    pub fn moves(&self, instance: &Instance<'_>) -> usize {
        let pairs = self.hosts.iter().zip(&instance.current);
        pairs.filter(|(new, old)| new != old).count()
    }
}
