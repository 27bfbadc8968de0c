//! The answer of a strategy.

use super::Instance;
pub use migsim_bsp::Gather;

/// The new host of each process, and the data for the price of the call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assignment {
    /// The new host of each process, by its number.
    pub hosts: Vec<usize>,
    /// Number of elementary operations (comparisons and additions) of the strategy. If all hosts work in parallel, this is the number of
    /// the busiest host.
    pub operations: u64,
    /// The way in which the loads reach the deciding hosts, and the decision reaches the other hosts.
    pub gather: Gather,
    /// Remarks of the strategy about its decision: sentences without a full stop.
    pub words: Vec<String>,
}

impl Assignment {
    /// Creates a decision that one host makes for all.
    pub fn central(hosts: Vec<usize>, operations: u64) -> Self {
        Self {
            hosts,
            operations,
            gather: Gather::Central,
            words: Vec::new(),
        }
    }

    /// Returns the number of processes that get another host.
    pub fn moves(&self, instance: &Instance<'_>) -> usize {
        let pairs = self.hosts.iter().zip(&instance.current);
        pairs.filter(|(new, old)| new != old).count()
    }
}
