//! The Set index ISet(j) and the terms of PM(i,j), the potential of migration of process i to Set (cluster) j.
//!
//! ```text
//! ISet(j)   = S(j) / max_j S(j),   S(j) = sum over the declared hosts k of Set j of power(j) / (processes on k + 1)
//! Comp(i,j) = Pcomp(i) · CTP(i) · ISet(j)
//! Comm(i,j) = Pcomm(i,j) · BTP(i,j)
//! Mem(i,j)  = latency(own Set to j) · aged bytes(i,j)
//! PM(i,j)   = Comp(i,j) + Comm(i,j) - Mem(i,j)
//! ```
//! Pcomp and Pcomm are the patterns (regularity) of computation and communication, CTP and BTP the aged times of computation and
//! communication. Bytes are counted for the Set in which the process itself is, so that Mem(i,j) is 0 for every other Set: only
//! the latency of a Set to itself counts, and the term penalises staying.

use migsim_base::units::{Bytes, InstructionsPerSecond, Seconds};

/// A Set (cluster) with the data about its hosts that the manager of the Set knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostSet {
    /// The number of declared hosts of the Set.
    pub host_count: usize,
    /// The computing power of each declared host of the Set.
    pub power_per_host: InstructionsPerSecond,
    /// The latency from the manager of the Set to itself.
    pub own_latency: Seconds,
}

/// The aged measures and patterns of a process, which the manager of its Set (cluster) evaluates at a rescheduling call.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessReport {
    /// The index of the Set (cluster) in which the process is.
    pub present_set: usize,
    /// The index of the process's host in that Set. An undeclared host has an index that is not less than the number of declared
    /// hosts.
    pub host_index_in_set: usize,
    /// Pcomp(i), a measure of the regularity of the computation of the process, from 0.0005 (irregular) to 1 (regular).
    pub computation_pattern: f64,
    /// CTP(i), the aged computation time of the process in a superstep.
    pub aged_computation_time: Seconds,
    /// Pcomm(i,j) for each Set j, a measure of the regularity of the communication of the process on this Set, from 0.0005 to 1.
    pub communication_patterns: Vec<f64>,
    /// BTP(i,j) for each Set j, the aged communication time of the process in a superstep.
    pub aged_communication_times: Vec<Seconds>,
    /// The aged number of bytes that the process received in a superstep, counted for the Set in which the process is.
    pub aged_received_bytes: Bytes,
}

/// The terms of PM(i,j), the potential of migration of process i to Set j \[s\]. The authors' program treats the term Mem as a
/// time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PotentialTerms {
    /// The terms Comp(i,j), Comm(i,j) and Mem(i,j) of the potential of migration \[s\], in this order.
    pub comp_comm_mem: [f64; 3],
}

impl PotentialTerms {
    /// Returns PM(i,j), the potential of migration \[s\]: Comp + Comm - Mem.
    pub fn potential(&self) -> f64 {
        let [computation, communication, memory] = self.comp_comm_mem;
        computation + communication - memory
    }
}

pub(super) fn processes_per_host(sets: &[HostSet], reports: &[ProcessReport]) -> Vec<Vec<usize>> {
    let mut occupancy: Vec<Vec<usize>> = sets.iter().map(|set| vec![0; set.host_count]).collect();
    for report in reports {
        if let Some(processes) = occupancy[report.present_set].get_mut(report.host_index_in_set) {
            *processes += 1;
        }
    }
    occupancy
}

pub(super) fn set_indices(sets: &[HostSet], occupancy: &[Vec<usize>]) -> Vec<f64> {
    let power = |(set, hosts): (&HostSet, &Vec<usize>)| {
        let shares = hosts.iter();
        // The sum starts from 0.0, since the empty sum of floating-point numbers is -0.0.
        shares.fold(0.0, |sum, &processes| {
            sum + set.power_per_host.get() / (processes + 1) as f64
        })
    };
    let powers: Vec<f64> = sets.iter().zip(occupancy).map(power).collect();
    let largest = powers.iter().copied().fold(0.0, f64::max);
    powers.iter().map(|power| power / largest).collect()
}

pub(super) fn potential_terms(
    report: &ProcessReport,
    sets: &[HostSet],
    indices: &[f64],
) -> Vec<PotentialTerms> {
    let one = |(set, index): (usize, &f64)| {
        let computation = report.computation_pattern * report.aged_computation_time.get() * index;
        let communication =
            report.communication_patterns[set] * report.aged_communication_times[set].get();
        let memory = if set == report.present_set {
            sets[set].own_latency.get() * report.aged_received_bytes.get()
        } else {
            0.0
        };
        PotentialTerms {
            comp_comm_mem: [computation, communication, memory],
        }
    };
    indices.iter().enumerate().map(one).collect()
}
