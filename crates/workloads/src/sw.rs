//! `sw`: the Smith-Waterman alignment of two sequences. "The irregular paper" is Righi et al., "Applying Processes Rescheduling
//! over Irregular BSP Application", section 3. "The dynamic paper" has the same application on a dynamic platform.
//!
//! Process i computes column i of an n × n matrix, with p = n processes. A cell needs its upper, left and upper left neighbours,
//! so that the anti-diagonals are computed one after the other. Anti-diagonal t is superstep t, t = 1..2n−1 (in the program
//! supersteps are counted from 0).
//!
//! ```text
//! active in superstep t   the processes i with i <= t <= i + n - 1
//! I_t = I_1 + (t - 1) · (I_last - I_1) / (2n - 2)     instructions of each active process (A25: per process, I_2 = 565e5 for n = 10)
//! message                 from each active i < n to i + 1: all messages of a column / n (500 KB for n = 10, 200 KB for n = 25)
//! M(i)                    memory: 700 KB and one message (1.2 MB for n = 10, 900 KB for n = 25)
//! ```
//! The work of a process increases with the number of the superstep and does not depend on the number of cells, because the
//! papers study an irregular application. KB are 1000 bytes (A35). A25 and A35 are numbers in the list of ambiguities of the
//! papers. Not modelled: the alignment itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Message, Plan, Workload,
    ranges::{count_problem, cycles_problem, refuse_any},
};
use migsim_base::{
    error::{Problem, Result},
    units::{Bytes, Instructions, ProcessId},
};

/// Maximum order of the matrix, which is also the number of processes: a limit of this program, not of the application.
const MAX_ORDER: u64 = 10_000_000;

/// Options of the application `sw`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwConfig {
    /// Order n of the matrix, and number of processes; at least 1. Default 50.
    #[schemars(range(min = 1, max = MAX_ORDER))]
    pub n: u64,
    /// Number of processes, which must be equal to `n`; `n` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub procs: Option<u64>,
    /// Number of instructions that each active process computes in the first superstep. Default 1e6 instr (stated).
    pub first_instructions: Instructions,
    /// Number of instructions that each active process computes in the last superstep. Default 1e9 instr (stated).
    pub last_instructions: Instructions,
    /// Total size of the messages that a process sends in all its supersteps; each message has the n-th part of this size.
    /// Default 5 MB (stated for n = 10 and 25).
    pub bytes_per_column: Bytes,
    /// Memory of a process without the message that it stores; both are transferred when the process migrates. Default 700 kB
    /// (the size that the paper states for n = 10 and 25, minus the message).
    pub image_bytes: Bytes,
    /// Number of clock cycles that a host needs per instruction; positive. Default 1.
    pub cycles_per_instruction: f64,
}

impl Default for SwConfig {
    fn default() -> Self {
        Self {
            n: 50,
            procs: None,
            first_instructions: Instructions::of(1e6),
            last_instructions: Instructions::of(1e9),
            bytes_per_column: Bytes::of(5e6),
            image_bytes: Bytes::of(700e3),
            cycles_per_instruction: 1.0,
        }
    }
}

impl SwConfig {
    /// Creates the default options for a matrix of order `n`.
    pub fn new(n: u64) -> Self {
        Self {
            n,
            ..Self::default()
        }
    }
}

/// The application `sw`, the Smith-Waterman alignment of two sequences: see the [module](self).
///
/// ```
/// use migsim_workloads::{Plan, Workload, sw::{Sw, SwConfig}};
/// let sw = Sw::new(&SwConfig::new(10))?;
/// assert_eq!((sw.processes(), sw.supersteps()), (10, 19));
/// let mut plan = Plan::default();
/// plan.clear(10);
/// sw.fill(1, &mut plan); // the second anti-diagonal has two cells
/// assert_eq!(plan.work[1].get(), 56.5e6);
/// assert_eq!(plan.work[2].get(), 0.0);
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sw {
    matrix_order: usize,
    config: SwConfig,
    /// Size of each message, which is the n-th part of all messages of a column \[B\].
    message_size: Bytes,
}

impl Sw {
    /// Creates the application with these options.
    ///
    /// # Errors
    /// A value is out of range; the error names all values that are out of range.
    pub fn new(config: &SwConfig) -> Result<Self> {
        let wrong = config.procs.filter(|procs| *procs != config.n).map(|procs| {
            let message = format!(
                "the number of processes, `procs`, is {procs}, but the matrix has the order {}",
                config.n
            );
            let hint = "leave out `procs`, or set it to the order of the matrix, since each column has one process";
            Problem::new(message).key("workload.procs").hint(hint)
        });
        refuse_any([
            count_problem("n", config.n, MAX_ORDER),
            wrong,
            cycles_problem(config.cycles_per_instruction),
        ])?;
        let message = config.bytes_per_column.get() / config.n as f64;
        Ok(Self {
            matrix_order: usize::try_from(config.n).expect("at most MAX_ORDER"),
            config: config.clone(),
            message_size: Bytes::of(message),
        })
    }

    /// Returns the work `I_t` of each active process in a superstep, counted from 0.
    fn work_of_active_process(&self, superstep: usize) -> Instructions {
        let first = self.config.first_instructions.get();
        let last = self.config.last_instructions.get();
        let steps = self.supersteps() - 1;
        if steps == 0 {
            return self.config.first_instructions;
        }
        // A weighted mean is exact at both ends and cannot overflow.
        let share = superstep as f64 / steps as f64;
        Instructions::of(first * (1.0 - share) + last * share)
    }
}

impl Workload for Sw {
    fn processes(&self) -> usize {
        self.matrix_order
    }

    fn supersteps(&self) -> usize {
        2 * self.matrix_order - 1
    }

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        let first = (superstep + 1).saturating_sub(self.matrix_order);
        let last = superstep.min(self.matrix_order - 1);
        plan.work[first..=last].fill(self.work_of_active_process(superstep));
        let with_right_neighbour = first..(last + 1).min(self.matrix_order - 1);
        plan.messages
            .extend(with_right_neighbour.map(|process| Message {
                from: ProcessId::from_index(process),
                to: ProcessId::from_index(process + 1),
                size: self.message_size,
            }));
    }

    fn memory(&self, _process: ProcessId) -> Bytes {
        self.config.image_bytes + self.message_size
    }

    fn cycles_per_instruction(&self) -> f64 {
        self.config.cycles_per_instruction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::error::Error;

    fn problems(config: &SwConfig) -> Vec<Problem> {
        match Sw::new(config) {
            Err(Error::Input(problems)) => problems,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the active processes, the instructions of each, and the messages (from, to) of a superstep, all counted from 0.
    fn wavefront(sw: &Sw, superstep: usize) -> (Vec<usize>, f64, Vec<(u32, u32)>) {
        let mut plan = Plan::default();
        plan.clear(sw.processes());
        sw.fill(superstep, &mut plan);
        let active: Vec<usize> = (0..sw.processes())
            .filter(|&process| plan.work[process].get() > 0.0)
            .collect();
        let work = plan.work[active[0]].get();
        let messages = plan.messages.iter().map(|m| (m.from.0, m.to.0)).collect();
        (active, work, messages)
    }

    /// Order 3: five anti-diagonals of 1, 2, 3, 2 and 1 cells; I grows from 10 to 50 in steps of 10.
    #[test]
    fn all_supersteps_of_order_3() {
        let sw = Sw::new(&SwConfig {
            first_instructions: Instructions::of(10.0),
            last_instructions: Instructions::of(50.0),
            ..SwConfig::new(3)
        })
        .unwrap();
        let expected = [
            (vec![0], 10.0, vec![(0, 1)]),
            (vec![0, 1], 20.0, vec![(0, 1), (1, 2)]),
            (vec![0, 1, 2], 30.0, vec![(0, 1), (1, 2)]),
            (vec![1, 2], 40.0, vec![(1, 2)]),
            (vec![2], 50.0, vec![]),
        ];
        assert_eq!(sw.supersteps(), expected.len());
        for (superstep, expected) in expected.into_iter().enumerate() {
            assert_eq!(wavefront(&sw, superstep), expected, "superstep {superstep}");
        }
    }

    /// The numbers that the irregular paper states: `I_2` for n = 10, messages and memory for n = 10 and 25.
    #[test]
    fn the_stated_amounts_come_out() {
        let ten = Sw::new(&SwConfig::new(10)).unwrap();
        assert_eq!(wavefront(&ten, 1).1, 56.5e6);
        assert_eq!(wavefront(&ten, 18).1, 1e9);
        assert_eq!(ten.message_size.get(), 500e3);
        assert_eq!(ten.memory(ProcessId(3)).get(), 1.2e6);
        let other = Sw::new(&SwConfig::new(25)).unwrap();
        assert_eq!(other.message_size.get(), 200e3);
        assert_eq!(other.memory(ProcessId(0)).get(), 900e3);
    }

    #[test]
    fn order_1_is_one_superstep_of_one_process() {
        let sw = Sw::new(&SwConfig::new(1)).unwrap();
        assert_eq!(wavefront(&sw, 0), (vec![0], 1e6, vec![]));
    }

    #[test]
    fn absurd_values_are_errors_and_all_are_named() {
        let config = SwConfig {
            cycles_per_instruction: 0.0,
            ..SwConfig::new(0)
        };
        assert_eq!(problems(&config).len(), 2);
        assert_eq!(
            problems(&SwConfig::new(u64::MAX))[0]
                .location
                .key
                .as_deref(),
            Some("workload.n")
        );
    }
}
