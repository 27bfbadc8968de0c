//! The decision of a strategy at a barrier: the host to which each process is assigned.

use super::Instance;
pub use migsim_bsp::Gather;

/// The decision of a strategy: the new host of each process, and the data from which the cost of the rescheduling call is
/// computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assignment {
    /// For each process, by process number: the number of the host to which the process is assigned.
    pub assigned_hosts: Vec<usize>,
    /// Number of elementary operations (comparisons and additions) that the strategy performed. If all hosts decide in parallel,
    /// it is the largest number of operations on one host.
    pub operation_count: u64,
    /// Communication pattern by which the loads of processes reach the deciding hosts and the decision reaches all other hosts.
    pub communication_pattern: Gather,
    /// Remarks of the strategy about its decision, which the command `migsim explain` shows; each remark is a sentence without a
    /// full stop.
    pub remarks: Vec<String>,
}

impl Assignment {
    /// Creates an assignment that a single host has decided for all processes; `operations` is the number of elementary
    /// operations of the decision.
    pub fn from_central_decision(hosts: Vec<usize>, operations: u64) -> Self {
        Self {
            assigned_hosts: hosts,
            operation_count: operations,
            communication_pattern: Gather::Central,
            remarks: Vec::new(),
        }
    }

    /// Returns the number of processes that migrate, because their new host differs from their present host.
    pub fn migration_count(&self, instance: &Instance<'_>) -> usize {
        self.assigned_hosts
            .iter()
            .zip(&instance.current_hosts)
            .filter(|(new, old)| new != old)
            .count()
    }
}
