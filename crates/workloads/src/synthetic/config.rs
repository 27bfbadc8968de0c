//! Options of the application `synthetic`, with their defaults and ranges.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ranges::{count_problem, range_problem, refuse_any};
use migsim_base::{
    error::{Problem, Result},
    units::{Bytes, Instructions},
};

const MAX_PROCESSES: u64 = 10_000_000;
/// Maximum number of messages in a superstep: a limit of this program, not of the application.
pub(super) const MAX_MESSAGES: u64 = 200_000_000;
/// Number of neighbours that are drawn for each process with the pattern `graph`.
pub(super) const GRAPH_DEGREE: usize = 3;
const MAX_SUPERSTEPS: u64 = u32::MAX as u64;

/// Pattern of communication: the processes to which each process sends in every superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommunicationPattern {
    /// No process sends messages.
    None,
    /// Each process sends to the process with the next higher number; the last process sends nothing.
    #[default]
    Line,
    /// Each process sends to the process with the next higher number, and the last process to the first.
    Ring,
    /// Each process sends to its neighbours in a two-dimensional grid, at most four.
    Stencil,
    /// Each process sends to all other processes.
    AllToAll,
    /// Three neighbours are drawn for each process, once for the whole run; both send to each other. The distance between the
    /// numbers of neighbours is drawn from 1 to p/2, its logarithm uniformly.
    Graph,
}

/// Distribution of the work over the processes. The drawn values are factors by which the mean work is multiplied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkDistribution {
    /// Factors drawn uniformly from `1 - spread` to `1 + spread`.
    #[default]
    Uniform,
    /// Factors in equal steps, from `1 - spread` for the first process to `1 + spread` for the last process.
    Linear,
    /// Factors of either `1 - spread` or `1 + spread`, each with probability one half.
    Bimodal,
    /// Lognormal factors with mean 1 and standard deviation `spread`: a few processes have several times the mean work.
    Lognormal,
    /// Pareto factors with mean 1 and standard deviation `spread`: every process has at least half the mean work, and very few
    /// have many times the mean.
    Pareto,
}

impl WorkDistribution {
    /// Returns the maximum allowed value of the option `spread` for this distribution: 1 where a larger value would make work
    /// negative, otherwise [`MAX_HEAVY_TAIL_SPREAD`].
    fn max_spread(self) -> f64 {
        match self {
            Self::Uniform | Self::Linear | Self::Bimodal => 1.0,
            Self::Lognormal | Self::Pareto => MAX_HEAVY_TAIL_SPREAD,
        }
    }
}

/// Maximum of the option `spread`, the standard deviation relative to the mean, for lognormal and Pareto distributions.
const MAX_HEAVY_TAIL_SPREAD: f64 = 10.0;

/// A hot spot: a group of neighbouring processes that compute more than the other processes; the group moves over all processes
/// at a constant pace.
///
/// In superstep k of S the group has w = max(1, ⌊width · p⌋) of the p processes, beginning with the process ⌊rounds · k · p / S⌋
/// modulo p, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HotSpot {
    /// Factor by which the computation of the processes in the group is multiplied; from 1 to 1000. Default 1: no hot spot.
    #[schemars(range(min = 1, max = 1000))]
    pub factor: f64,
    /// Size of the group as a fraction of all processes; from 0 to 1. Default 0.1.
    #[schemars(range(min = 0, max = 1))]
    pub width: f64,
    /// Number of times that the group moves around all processes between the first and the last superstep; from 0 (no movement)
    /// to 1000. Default 1.
    #[schemars(range(min = 0, max = 1000))]
    pub rounds: f64,
}

impl Default for HotSpot {
    fn default() -> Self {
        Self {
            factor: 1.0,
            width: 0.1,
            rounds: 1.0,
        }
    }
}

impl HotSpot {
    /// Returns the first process of the hot spot in a superstep, and the number of processes in the hot spot; `None` if there is
    /// no hot spot.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 0 to the number of processes times 1000"
    )]
    pub(super) fn group_in_superstep(
        &self,
        superstep: usize,
        supersteps: usize,
        processes: usize,
    ) -> Option<(usize, usize)> {
        if self.factor <= 1.0 {
            return None;
        }
        let width = (self.width * processes as f64).floor().max(1.0) as usize;
        let passed = self.rounds * superstep as f64 * processes as f64 / supersteps as f64;
        Some((passed.floor() as usize % processes, width))
    }
}

/// When the factors on the work of the processes are drawn: once, or in each superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DrawFrequency {
    /// The factors are drawn once for the whole run, so that a process has the same factor in all supersteps.
    #[default]
    Once,
    /// A new factor is drawn for each process in each superstep.
    EachSuperstep,
}

/// Options of the application `synthetic`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticConfig {
    /// Number p of processes; at least 1. Default 16.
    #[schemars(range(min = 1, max = MAX_PROCESSES))]
    pub procs: u64,
    /// Number of supersteps; at least 1. Default 10.
    #[schemars(range(min = 1, max = MAX_SUPERSTEPS))]
    pub supersteps: u64,
    /// Processes to which each process sends in every superstep. Default `line`.
    pub pattern: CommunicationPattern,
    /// CSV file with the messages of every superstep, instead of `pattern`: columns `from`, `to`, `bytes`, one row per message.
    /// Processes are counted from 1 (`24` or `p24`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<String>,
    /// Number of messages that each process sends to random other processes in each superstep, in addition to `pattern` or
    /// `messages`. Default 0.
    pub random_messages: u64,
    /// Mean number of instructions that a process computes in a superstep. Default 1e9 instr.
    pub instructions: Instructions,
    /// Distribution from which the work of the processes is drawn. Default `uniform`.
    pub distribution: WorkDistribution,
    /// Spread of the work of the processes, relative to `instructions`; from 0 to 1, for `lognormal` and `pareto` from 0 to 10.
    /// Default 0: all processes have equal work.
    #[schemars(range(min = 0, max = MAX_HEAVY_TAIL_SPREAD))]
    pub spread: f64,
    /// Whether the work of the processes is drawn `once` for the whole run or in `each-superstep`. Default `once`.
    pub draw: DrawFrequency,
    /// Number of supersteps for which the work of the processes stays as it is, until `draw`, `drift` and `hot_spot` change it
    /// again, as at each new mesh; at least 1. Default 1.
    #[serde(skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = MAX_SUPERSTEPS))]
    pub hold: u64,
    /// Number of draws of the work that take turns if `draw` is `each-superstep`; 0: each draw is a new one. Default 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub phases: u64,
    /// Maximum fraction of its work that a process gains or loses gradually from the first superstep to the last; from 0 to 1.
    /// Default 0.
    #[schemars(range(min = 0, max = 1))]
    pub drift: f64,
    /// Group of neighbouring processes that compute more than the other processes and that moves over all processes. Default: no
    /// such group.
    pub hot_spot: HotSpot,
    /// Mean size of a message. Default 500 kB.
    pub bytes: Bytes,
    /// Spread of message sizes, from 0 to 1. Each size is drawn uniformly from `1 - bytes_spread` to `1 + bytes_spread` times
    /// `bytes`, and rounded down to whole bytes. Default 0.
    #[schemars(range(min = 0, max = 1))]
    pub bytes_spread: f64,
    /// Mean memory of a process, which is transferred when the process migrates. Default 500 kB.
    pub memory: Bytes,
    /// Spread of the memory of processes, from 0 to 1. The memory of each process is drawn once, uniformly from `1 -
    /// memory_spread` to `1 + memory_spread` times `memory`, and rounded down to whole bytes. Default 0.
    #[schemars(range(min = 0, max = 1))]
    pub memory_spread: f64,
    /// Seed of the random numbers of the application. Default: the key `seed` of the experiment.
    #[schemars(transform = remove_schema_default)]
    pub seed: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_one(number: &u64) -> bool {
    *number == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Removes the default of an option from its JSON Schema, because the value of the option follows from another key if it is not
/// set.
fn remove_schema_default(schema: &mut schemars::Schema) {
    schema.remove("default");
}

impl Default for SyntheticConfig {
    fn default() -> Self {
        Self {
            procs: 16,
            supersteps: 10,
            pattern: CommunicationPattern::default(),
            messages: None,
            random_messages: 0,
            instructions: Instructions::of(1e9),
            distribution: WorkDistribution::default(),
            spread: 0.0,
            draw: DrawFrequency::default(),
            hold: 1,
            phases: 0,
            drift: 0.0,
            hot_spot: HotSpot::default(),
            bytes: Bytes::of(500e3),
            bytes_spread: 0.0,
            memory: Bytes::of(500e3),
            memory_spread: 0.0,
            seed: 1,
        }
    }
}

impl SyntheticConfig {
    /// Creates the default options for `procs` processes: equal work, and messages on a line.
    pub fn new(procs: u64) -> Self {
        Self {
            procs,
            ..Self::default()
        }
    }

    /// Returns the number of messages in a superstep that `pattern` and `random_messages` generate; messages from a file are not
    /// counted.
    pub(super) fn generated_message_count(&self) -> u64 {
        let p = self.procs;
        let neighbours = match self.pattern {
            _ if self.messages.is_some() => 0,
            // The messages of a graph count like those of a file.
            CommunicationPattern::None | CommunicationPattern::Graph => 0,
            CommunicationPattern::Line => p - 1,
            CommunicationPattern::Ring if p == 1 => 0,
            CommunicationPattern::Ring => p,
            CommunicationPattern::Stencil => {
                let (rows, columns) = sides_of_most_square_grid(p);
                2 * (rows * (columns - 1) + columns * (rows - 1))
            }
            CommunicationPattern::AllToAll => p.saturating_mul(p - 1),
        };
        let random = if p == 1 {
            0
        } else {
            p.saturating_mul(self.random_messages)
        };
        neighbours.saturating_add(random)
    }

    /// Checks the values of the options.
    ///
    /// # Errors
    /// Options are out of range, or a superstep has too many messages.
    pub(super) fn check_values(&self) -> Result {
        let part = |key: &str, value: f64| range_problem(key, value, 0.0..=1.0);
        let hot = &self.hot_spot;
        refuse_any([
            count_problem("procs", self.procs, MAX_PROCESSES),
            count_problem("supersteps", self.supersteps, MAX_SUPERSTEPS),
            count_problem("hold", self.hold, MAX_SUPERSTEPS),
            range_problem("spread", self.spread, 0.0..=self.distribution.max_spread()),
            part("drift", self.drift),
            part("bytes_spread", self.bytes_spread),
            part("memory_spread", self.memory_spread),
            range_problem("hot_spot.factor", hot.factor, 1.0..=1000.0),
            part("hot_spot.width", hot.width),
            range_problem("hot_spot.rounds", hot.rounds, 0.0..=1000.0),
        ])?;
        let count = self.generated_message_count();
        refuse_any([(count > MAX_MESSAGES).then(|| {
            Problem::new(format!("a superstep has {count} messages, which is too many"))
                .key("workload.pattern")
                .hint(format!("choose fewer processes, fewer `random_messages` or another pattern, so that a superstep has at most {MAX_MESSAGES} messages"))
        })])
    }
}

/// Returns the lengths r <= c of the sides of the most square grid of `processes` processes, with r · c = `processes`.
pub(super) fn sides_of_most_square_grid(processes: u64) -> (u64, u64) {
    let rows = (1..=processes.isqrt())
        .rev()
        .find(|rows| processes.is_multiple_of(*rows))
        .unwrap_or(1);
    (rows, processes / rows)
}
