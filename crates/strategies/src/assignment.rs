//! The decision of a strategy at a barrier: the new host of each process.

use super::Instance;
pub use migsim_bsp::Gather;

/// The new host of each process, and the data from which the cost of the call is computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assignment {
    /// The number of the new host of each process, by process number.
    pub hosts: Vec<usize>,
    /// Number of elementary operations (comparisons and additions) of the strategy. If all hosts work in parallel, it is the
    /// number of the host with the most operations.
    pub operations: u64,
    /// The communication pattern by which the loads reach the deciding hosts and the decision reaches the other hosts.
    pub gather: Gather,
    /// Remarks of the strategy about its decision for `migsim explain`: sentences without a full stop.
    pub remarks: Vec<String>,
}

impl Assignment {
    /// Creates an assignment that one host decides for all processes; `operations` is the number of its elementary operations.
    pub fn central(hosts: Vec<usize>, operations: u64) -> Self {
        Self {
            hosts,
            operations,
            gather: Gather::Central,
            remarks: Vec::new(),
        }
    }

    /// Returns the number of processes whose new host differs from their present one.
    pub fn move_count(&self, instance: &Instance<'_>) -> usize {
        let pairs = self.hosts.iter().zip(&instance.current);
        pairs.filter(|(new, old)| new != old).count()
    }
}
