//! `lbm`: the Lattice Boltzmann method on vertical slices. "The paper" is Righi, Pilla, Carissimi and Navaux, "Analyzing the
//! Frequency of Processes Migration Calls on BSP Application Execution", section 3.
//!
//! The lattice is cut into p vertical slices, one per process. In each superstep every process computes its slice and sends its
//! boundary to its right neighbour: process i to process i+1. All slices and all supersteps are equal.
//!
//! | arrangement | messages of a superstep |
//! |---|---|
//! | `line` | p−1: the last process sends nothing |
//! | `ring` | p: the last process sends to the first process |
//!
//! The paper does not say whether the lattice is periodic (ambiguity A23 in the list of ambiguities of the papers). A line is the
//! literal meaning of "neighbour i+1", and its simulated times fit the times of the paper. The paper has two tests with 500 kB
//! per message: A with 10⁹ instructions per process and superstep, B with 10⁶. A single process sends nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Message, Plan, Workload,
    ranges::{count_problem, refuse_any},
};
use migsim_base::{
    error::Result,
    units::{Bytes, Instructions, ProcessId},
};

const MAX_PROCESSES: u64 = 10_000_000;
const MAX_SUPERSTEPS: u64 = usize::MAX as u64;

/// The arrangement of the slices, which determines whether the last slice has a right neighbour. The paper does not state it
/// (ambiguity A23 in the list of ambiguities of the papers).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SliceArrangement {
    /// The last slice has no right neighbour: the last process sends nothing.
    #[default]
    Line,
    /// The right neighbour of the last slice is the first slice: the lattice is periodic, and the last process sends to the first
    /// process.
    Ring,
}

/// Options of the application `lbm`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LbmConfig {
    /// Number p of processes, each with one slice of the lattice; at least 1. Default 10.
    #[schemars(range(min = 1, max = MAX_PROCESSES))]
    pub procs: u64,
    /// Number of supersteps; at least 1. Default 2000.
    #[schemars(range(min = 1))]
    pub supersteps: u64,
    /// Whether the slices form a line, or a ring in which the last process sends to the first process. Default `line` (inferred).
    pub arrangement: SliceArrangement,
    /// Number of instructions that each process computes in a superstep. Default 1e9 instr (stated: test A; test B has 1e6
    /// instr).
    pub instructions: Instructions,
    /// Size of the message of each process to its right neighbour in a superstep. Default 500 kB (stated).
    pub bytes: Bytes,
    /// Memory of each process, which is transferred when the process migrates. Default 500 kB (inferred: as much as a process
    /// sends).
    pub memory: Bytes,
}

impl Default for LbmConfig {
    fn default() -> Self {
        Self {
            procs: 10,
            supersteps: 2000,
            arrangement: SliceArrangement::default(),
            instructions: Instructions::of(1e9),
            bytes: Bytes::of(500e3),
            memory: Bytes::of(500e3),
        }
    }
}

impl LbmConfig {
    /// Creates the options of test A of the paper with `supersteps` supersteps on `procs` processes.
    pub fn new(procs: u64, supersteps: u64) -> Self {
        Self {
            procs,
            supersteps,
            ..Self::default()
        }
    }
}

/// The application `lbm`, the Lattice Boltzmann method: see the [module](self).
///
/// ```
/// use migsim_workloads::{Plan, Workload, lbm::{Lbm, LbmConfig}};
/// let lbm = Lbm::new(&LbmConfig::new(10, 2000))?;
/// let mut plan = Plan::default();
/// plan.clear(10);
/// lbm.fill(0, &mut plan);
/// assert_eq!((plan.work[9].get(), plan.messages.len()), (1e9, 9));
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lbm {
    config: LbmConfig,
}

impl Lbm {
    /// Creates the application with these options.
    ///
    /// # Errors
    /// The number of processes or supersteps is out of range; both are reported together.
    pub fn new(config: &LbmConfig) -> Result<Self> {
        refuse_any([
            count_problem("procs", config.procs, MAX_PROCESSES),
            count_problem("supersteps", config.supersteps, MAX_SUPERSTEPS),
        ])?;
        let config = config.clone();
        Ok(Self { config })
    }
}

impl Workload for Lbm {
    fn processes(&self) -> usize {
        usize::try_from(self.config.procs).expect("at most MAX_PROCESSES")
    }

    fn supersteps(&self) -> usize {
        usize::try_from(self.config.supersteps).expect("at most MAX_SUPERSTEPS")
    }

    fn fill(&self, _superstep: usize, plan: &mut Plan) {
        plan.work.fill(self.config.instructions);
        let processes = self.processes();
        let senders = match self.config.arrangement {
            _ if processes == 1 => 0,
            SliceArrangement::Line => processes - 1,
            SliceArrangement::Ring => processes,
        };
        plan.messages.extend((0..senders).map(|sender| Message {
            from: ProcessId::from_index(sender),
            to: ProcessId::from_index((sender + 1) % processes),
            size: self.config.bytes,
        }));
    }

    fn repeats(&self, superstep: usize) -> bool {
        superstep > 0
    }

    fn memory(&self, _process: ProcessId) -> Bytes {
        self.config.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::error::Error;

    fn messages(procs: u64, arrangement: SliceArrangement) -> Vec<(u32, u32, f64)> {
        let config = LbmConfig {
            arrangement,
            ..LbmConfig::new(procs, 3)
        };
        let lbm = Lbm::new(&config).unwrap();
        let mut plan = Plan::default();
        plan.clear(lbm.processes());
        lbm.fill(2, &mut plan);
        assert!(plan.work.iter().all(|work| work.get() == 1e9));
        plan.messages
            .iter()
            .map(|message| (message.from.0, message.to.0, message.size.get()))
            .collect()
    }

    #[test]
    fn every_slice_of_a_line_sends_to_its_right_neighbour() {
        let expected = [(0, 1, 5e5), (1, 2, 5e5)];
        assert_eq!(messages(3, SliceArrangement::Line), expected);
    }

    #[test]
    fn in_a_ring_the_last_slice_sends_to_the_first() {
        let expected = [(0, 1, 5e5), (1, 2, 5e5), (2, 0, 5e5)];
        assert_eq!(messages(3, SliceArrangement::Ring), expected);
        assert_eq!(
            messages(2, SliceArrangement::Ring),
            [(0, 1, 5e5), (1, 0, 5e5)]
        );
    }

    #[test]
    fn a_single_process_sends_nothing() {
        assert_eq!(messages(1, SliceArrangement::Ring), []);
        assert_eq!(messages(1, SliceArrangement::Line), []);
    }

    #[test]
    fn counts_out_of_range_are_named_together() {
        let Err(Error::Input(problems)) = Lbm::new(&LbmConfig::new(0, 0)) else {
            panic!("accepted");
        };
        let keys: Vec<_> = problems
            .iter()
            .map(|problem| problem.location.key.as_deref().unwrap())
            .collect();
        assert_eq!(keys, ["workload.procs", "workload.supersteps"]);
        assert!(problems[0].hint.as_deref().unwrap().contains("from 1 to"));
        assert!(Lbm::new(&LbmConfig::new(u64::MAX, 1)).is_err());
    }
}
