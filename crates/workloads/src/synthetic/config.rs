//! Options of the application `synthetic`, with their defaults and ranges.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use migsim_base::error::Problem;
use migsim_base::units::{Bytes, Instructions};
use migsim_base::words::percent_hint;

/// Maximum number of processes: a limit of this program, not of the application.
const MAX_PROCESSES: u64 = 10_000_000;
/// Maximum number of messages in a superstep: a limit of this program, not of the application.
pub(super) const MAX_MESSAGES: u64 = 200_000_000;
/// Maximum number of supersteps: a limit of this program, not of the application.
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
    pub(super) fn first_process_and_count_in_superstep(
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
#[serde(deny_unknown_fields)]
pub struct SyntheticConfig {
    /// Number p of processes; at least 1. Default 16.
    #[serde(default = "default_procs")]
    #[schemars(range(min = 1, max = MAX_PROCESSES))]
    pub procs: u64,
    /// Number of supersteps; at least 1. Default 10.
    #[serde(default = "default_supersteps")]
    #[schemars(range(min = 1, max = MAX_SUPERSTEPS))]
    pub supersteps: u64,
    /// Processes to which each process sends in every superstep. Default `line`.
    #[serde(default)]
    pub pattern: CommunicationPattern,
    /// CSV file with the messages of every superstep, instead of `pattern`: columns `from`, `to`, `bytes`, one row per message.
    /// Processes are counted from 1 (`24` or `p24`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<String>,
    /// Number of messages that each process sends to random other processes in each superstep, in addition to `pattern` or
    /// `messages`. Default 0.
    #[serde(default)]
    pub random_messages: u64,
    /// Mean number of instructions that a process computes in a superstep. Default 1e9 instr.
    #[serde(default = "default_instructions")]
    pub instructions: Instructions,
    /// Distribution from which the work of the processes is drawn. Default `uniform`.
    #[serde(default)]
    pub distribution: WorkDistribution,
    /// Spread of the work of the processes, relative to `instructions`; from 0 to 1, for `lognormal` and `pareto` from 0 to 10.
    /// Default 0: all processes have equal work.
    #[serde(default)]
    #[schemars(range(min = 0, max = MAX_HEAVY_TAIL_SPREAD))]
    pub spread: f64,
    /// Whether the work of the processes is drawn `once` for the whole run or in `each-superstep`. Default `once`.
    #[serde(default)]
    pub draw: DrawFrequency,
    /// Maximum fraction of its work that a process gains or loses gradually from the first superstep to the last; from 0 to 1.
    /// Default 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub drift: f64,
    /// Group of neighbouring processes that compute more than the other processes and that moves over all processes. Default: no
    /// such group.
    #[serde(default)]
    pub hot_spot: HotSpot,
    /// Mean size of a message. Default 500 kB.
    #[serde(default = "default_bytes")]
    pub bytes: Bytes,
    /// Spread of message sizes, from 0 to 1. Each size is drawn uniformly from `1 - bytes_spread` to `1 + bytes_spread` times
    /// `bytes`, and rounded down to whole bytes. Default 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub bytes_spread: f64,
    /// Mean memory of a process, which is transferred when the process migrates. Default 500 kB.
    #[serde(default = "default_bytes")]
    pub memory: Bytes,
    /// Spread of the memory of processes, from 0 to 1. The memory of each process is drawn once, uniformly from `1 -
    /// memory_spread` to `1 + memory_spread` times `memory`, and rounded down to whole bytes. Default 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub memory_spread: f64,
    /// Seed of the random numbers of the application. Default: the key `seed` of the experiment.
    #[serde(default = "default_seed")]
    #[schemars(transform = remove_schema_default)]
    pub seed: u64,
}

fn default_procs() -> u64 {
    16
}

fn default_supersteps() -> u64 {
    10
}

/// Returns the default mean number of instructions of a process in a superstep.
fn default_instructions() -> Instructions {
    Instructions::of(1e9)
}

/// Returns the default mean size of a message, which is also the default mean memory of a process.
fn default_bytes() -> Bytes {
    Bytes::of(500e3)
}

fn default_seed() -> u64 {
    1
}

/// Removes the default of an option from its JSON Schema, because the value of the option follows from another key if it is not
/// set.
fn remove_schema_default(schema: &mut schemars::Schema) {
    schema.remove("default");
}

impl SyntheticConfig {
    /// Creates the default options for `procs` processes: equal work, and messages on a line.
    pub fn new(procs: u64) -> Self {
        Self {
            procs,
            supersteps: default_supersteps(),
            pattern: CommunicationPattern::default(),
            messages: None,
            random_messages: 0,
            instructions: default_instructions(),
            distribution: WorkDistribution::default(),
            spread: 0.0,
            draw: DrawFrequency::default(),
            drift: 0.0,
            hot_spot: HotSpot::default(),
            bytes: default_bytes(),
            bytes_spread: 0.0,
            memory: default_bytes(),
            memory_spread: 0.0,
            seed: default_seed(),
        }
    }

    /// Returns the number of messages in a superstep that `pattern` and `random_messages` generate; messages from a file are not
    /// counted.
    pub(super) fn generated_message_count(&self) -> u64 {
        let p = self.procs;
        let neighbours = match self.pattern {
            _ if self.messages.is_some() => 0,
            CommunicationPattern::None => 0,
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

    /// Returns a problem for each option whose value is out of range.
    pub(super) fn problems_of_option_values(&self) -> Vec<Problem> {
        let count = |key: &str, value: u64, most: u64| {
            let problem = Problem::new(format!("`{key}` is {value}, which is out of range"))
                .key(format!("workload.{key}"));
            (value == 0 || value > most)
                .then(|| problem.hint(format!("choose a number from 1 to {most}")))
        };
        let within = |key: &str, value: f64, least: f64, most: f64| {
            let problem = Problem::new(format!("`{key}` is {value}, which is out of range"))
                .key(format!("workload.{key}"));
            let share = percent_hint(value).filter(|_| most <= 1.0);
            let share = share.map_or_else(String::new, |share| format!(": {share}"));
            (!(least..=most).contains(&value))
                .then(|| problem.hint(format!("choose a number from {least} to {most}{share}")))
        };
        let part = |key: &str, value: f64| within(key, value, 0.0, 1.0);
        let hot = &self.hot_spot;
        let mut problems: Vec<Problem> = [
            count("procs", self.procs, MAX_PROCESSES),
            count("supersteps", self.supersteps, MAX_SUPERSTEPS),
            within("spread", self.spread, 0.0, self.distribution.max_spread()),
            part("drift", self.drift),
            part("bytes_spread", self.bytes_spread),
            part("memory_spread", self.memory_spread),
            within("hot_spot.factor", hot.factor, 1.0, 1000.0),
            part("hot_spot.width", hot.width),
            within("hot_spot.rounds", hot.rounds, 0.0, 1000.0),
        ]
        .into_iter()
        .flatten()
        .collect();
        if problems.is_empty() && self.generated_message_count() > MAX_MESSAGES {
            problems.push(
                Problem::new(format!("a superstep has {} messages, which is too many", self.generated_message_count()))
                    .key("workload.pattern")
                    .hint(format!("choose fewer processes, fewer `random_messages` or another pattern, so that a superstep has at most {MAX_MESSAGES} messages")),
            );
        }
        problems
    }
}

/// Returns the lengths r <= c of the sides of the most square grid of `processes` processes, with r · c = `processes`.
pub(super) fn sides_of_most_square_grid(processes: u64) -> (u64, u64) {
    let rows = (1..=processes.isqrt())
        .rev()
        .find(|rows| processes.is_multiple_of(*rows));
    let rows = rows.unwrap_or(1);
    (rows, processes / rows)
}
