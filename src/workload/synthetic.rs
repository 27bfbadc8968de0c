//! `synthetic`: an application made of numbers, to try platforms, policies and sizes that no paper has.
//!
//! ```text
//! work of process i in superstep k     instructions · factor(i, k) · (1 + drift(i) · k / (supersteps - 1))
//! factor                               1, or drawn by `distribution` and `spread`, once or for each superstep
//! drift(i)                             drawn once, uniformly from -drift to +drift
//! size of a message                    ⌊bytes · (1 ± bytes_spread)⌋, drawn for each message; `bytes` as it is without a spread
//! ```
//! | pattern | who gets a message from process i of p |
//! |---|---|
//! | `none` | nobody |
//! | `line` | i+1; the last process sends nothing |
//! | `ring` | i+1, and from the last process the first |
//! | `stencil` | up to four neighbours in the r × c grid with r·c = p whose sides differ least, r ≤ c; ranks run along the rows |
//! | `all-to-all` | everybody else, beginning with i+1 |
//!
//! To these come `random_messages` messages of each process to others drawn for each superstep. All numbers are drawn from `seed`,
//! the superstep and nothing else, so that all scenarios and policies face the same application, and any superstep can be asked for first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Extent, Message, Plan, Workload};
use crate::error::{Error, Problem};
use crate::random::{Purpose, Stream};
use crate::units::{Bytes, Instructions, ProcessId};

/// More processes than this are refused: a limit of this program, not of the model.
const MAX_PROCESSES: u64 = 10_000_000;
/// More messages in a superstep than this are refused, too.
const MAX_MESSAGES: u64 = 200_000_000;
/// The largest number of supersteps.
const MAX_SUPERSTEPS: u64 = u32::MAX as u64;

/// Who sends to whom in every superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Nobody sends.
    None,
    /// Each process sends to the next one.
    #[default]
    Line,
    /// Each process sends to the next one, and the last one to the first.
    Ring,
    /// Each process sends to its up to four neighbours in a grid.
    Stencil,
    /// Each process sends to every other one.
    AllToAll,
}

/// How the work of the processes differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Drawn uniformly from `1 - spread` to `1 + spread`.
    #[default]
    Uniform,
    /// From `1 - spread` for the first process to `1 + spread` for the last one, in equal steps.
    Linear,
    /// `1 - spread` or `1 + spread`, each with probability one half.
    Bimodal,
}

/// When the work is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// Once for the whole run.
    #[default]
    Once,
    /// Anew in each superstep.
    EachSuperstep,
}

/// The keys of the application `synthetic`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SyntheticConfig {
    /// The number p of processes; at least 1.
    #[schemars(range(min = 1, max = MAX_PROCESSES))]
    pub procs: u64,
    /// How many supersteps there are; at least 1. Default 10.
    #[serde(default = "default_supersteps")]
    #[schemars(range(min = 1, max = MAX_SUPERSTEPS))]
    pub supersteps: u64,
    /// Who sends to whom in every superstep. Default `line`.
    #[serde(default)]
    pub pattern: Pattern,
    /// How many messages each process sends in each superstep to others drawn at random. Default 0.
    #[serde(default)]
    pub random_messages: u64,
    /// What a process computes in a superstep on average. Default 1e9 instr.
    #[serde(default = "default_instructions")]
    pub instructions: Instructions,
    /// How the work of the processes differs. Default `uniform`.
    #[serde(default)]
    pub distribution: Distribution,
    /// How much the work of the processes differs, as a part of `instructions`; from 0 to 1. Default 0: all are equal.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub spread: f64,
    /// When the work is drawn. Default `once`.
    #[serde(default)]
    pub draw: Draw,
    /// The largest part of its work that a process gains or loses steadily from the first superstep to the last; from 0 to 1. Default 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub drift: f64,
    /// The size of a message on average. Default 500 kB.
    #[serde(default = "default_bytes")]
    pub bytes: Bytes,
    /// How much the sizes of messages differ: each is drawn uniformly from `1 - bytes_spread` to `1 + bytes_spread` times `bytes`, and
    /// rounded down to whole bytes; from 0 to 1. Default 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub bytes_spread: f64,
    /// The memory of a process, which moves with it. Default 500 kB.
    #[serde(default = "default_bytes")]
    pub memory: Bytes,
    /// Where the random numbers begin. Default 1.
    #[serde(default = "default_seed")]
    pub seed: u64,
}

fn default_supersteps() -> u64 {
    10
}

fn default_instructions() -> Instructions {
    Instructions::of(1e9)
}

fn default_bytes() -> Bytes {
    Bytes::of(500e3)
}

fn default_seed() -> u64 {
    1
}

impl SyntheticConfig {
    /// The defaults for `procs` processes: equal work on a line.
    pub fn new(procs: u64) -> Self {
        Self {
            procs,
            supersteps: default_supersteps(),
            pattern: Pattern::default(),
            random_messages: 0,
            instructions: default_instructions(),
            distribution: Distribution::default(),
            spread: 0.0,
            draw: Draw::default(),
            drift: 0.0,
            bytes: default_bytes(),
            bytes_spread: 0.0,
            memory: default_bytes(),
            seed: default_seed(),
        }
    }

    /// How many messages there are in a superstep.
    fn messages(&self) -> u64 {
        let p = self.procs;
        let neighbours = match self.pattern {
            Pattern::None => 0,
            Pattern::Line => p - 1,
            Pattern::Ring if p == 1 => 0,
            Pattern::Ring => p,
            Pattern::Stencil => {
                let (rows, columns) = grid(p);
                2 * (rows * (columns - 1) + columns * (rows - 1))
            }
            Pattern::AllToAll => p.saturating_mul(p - 1),
        };
        let random = if p == 1 {
            0
        } else {
            p.saturating_mul(self.random_messages)
        };
        neighbours.saturating_add(random)
    }

    fn problems(&self) -> Vec<Problem> {
        let count = |key: &str, value: u64, most: u64| {
            let problem =
                Problem::new(format!("`{key}` is {value}")).key(format!("workload.{key}"));
            (value == 0 || value > most)
                .then(|| problem.hint(format!("it must be from 1 to {most}")))
        };
        let part = |key: &str, value: f64| {
            let problem =
                Problem::new(format!("`{key}` is {value}")).key(format!("workload.{key}"));
            (!(0.0..=1.0).contains(&value)).then(|| problem.hint("it must be from 0 to 1"))
        };
        let mut problems: Vec<Problem> = [
            count("procs", self.procs, MAX_PROCESSES),
            count("supersteps", self.supersteps, MAX_SUPERSTEPS),
            part("spread", self.spread),
            part("drift", self.drift),
            part("bytes_spread", self.bytes_spread),
        ]
        .into_iter()
        .flatten()
        .collect();
        if problems.is_empty() && self.messages() > MAX_MESSAGES {
            problems.push(
                Problem::new(format!("{} messages in a superstep", self.messages()))
                    .key("workload.pattern")
                    .hint(format!("{MAX_MESSAGES} are possible; take fewer processes or `random_messages`, or another pattern")),
            );
        }
        // The largest factors: 1 + spread and 1 + drift are at most 2 each.
        let largest = [
            ("instructions", self.instructions.get() * 4.0),
            ("bytes", self.bytes.get() * 2.0),
        ];
        problems.extend(
            largest
                .into_iter()
                .filter(|(_, value)| !value.is_finite())
                .map(|(key, _)| {
                    Problem::new(format!("`{key}` is too large"))
                        .key(format!("workload.{key}"))
                        .hint("choose a smaller value")
                }),
        );
        problems
    }
}

/// The sides r <= c of the grid with r · c = `processes` that differ least.
fn grid(processes: u64) -> (u64, u64) {
    let rows = (1..=processes.isqrt())
        .rev()
        .find(|rows| processes.is_multiple_of(*rows));
    let rows = rows.unwrap_or(1);
    (rows, processes / rows)
}

/// The application: see the [module](self).
///
/// ```
/// use migsim::workload::{Plan, Workload, synthetic::{Synthetic, SyntheticConfig}};
/// let synthetic = Synthetic::new(&SyntheticConfig { random_messages: 2, ..SyntheticConfig::new(100) })?;
/// let mut plan = Plan::default();
/// plan.clear(100);
/// synthetic.fill(3, &mut plan);
/// assert_eq!(plan.messages.len(), 99 + 200);
/// # Ok::<(), migsim::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Synthetic {
    config: SyntheticConfig,
    /// The factors of the work that are drawn once; none if there is no spread or it is drawn anew.
    factors: Vec<f64>,
    /// What each process gains from the first superstep to the last, as a part; none without drift.
    drifts: Vec<f64>,
}

impl Synthetic {
    /// The application with these keys.
    ///
    /// # Errors
    /// Values are out of range; all of them are named.
    pub fn new(config: &SyntheticConfig) -> Result<Self, Error> {
        let problems = config.problems();
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        let mut this = Self {
            config: config.clone(),
            factors: Vec::new(),
            drifts: Vec::new(),
        };
        let processes = this.processes();
        if config.spread > 0.0 && config.draw == Draw::Once {
            let mut random = Stream::new(config.seed, Purpose::Work);
            this.factors = (0..processes)
                .map(|process| this.factor(process, &mut random))
                .collect();
        }
        if config.drift > 0.0 {
            let mut random = Stream::new(config.seed, Purpose::Drift);
            this.drifts = (0..processes)
                .map(|_| config.drift * random.symmetric())
                .collect();
        }
        Ok(this)
    }

    /// How many times the mean a process computes.
    fn factor(&self, process: usize, random: &mut Stream) -> f64 {
        let unit = match self.config.distribution {
            Distribution::Uniform => random.symmetric(),
            Distribution::Bimodal => random.below(2) as f64 * 2.0 - 1.0,
            Distribution::Linear if self.processes() == 1 => 0.0,
            Distribution::Linear => 2.0 * process as f64 / (self.processes() - 1) as f64 - 1.0,
        };
        1.0 + self.config.spread * unit
    }

    fn fill_work(&self, superstep: usize, work: &mut [Instructions]) {
        let Self {
            config,
            factors,
            drifts,
        } = self;
        work.fill(config.instructions);
        if config.spread > 0.0 && config.draw == Draw::EachSuperstep {
            let mut random = Stream::at(config.seed, Purpose::Work, superstep as u64);
            for (process, work) in work.iter_mut().enumerate() {
                *work = Instructions::of(work.get() * self.factor(process, &mut random));
            }
        }
        for (work, factor) in work.iter_mut().zip(factors) {
            *work = Instructions::of(work.get() * factor);
        }
        let elapsed = superstep as f64 / (self.supersteps() - 1).max(1) as f64;
        for (work, drift) in work.iter_mut().zip(drifts) {
            *work = Instructions::of(work.get() * (1.0 + drift * elapsed));
        }
    }

    /// Calls `send` with the sender and the receiver of each message of the pattern.
    fn for_each_neighbour(&self, mut send: impl FnMut(usize, usize)) {
        let processes = self.processes();
        match self.config.pattern {
            Pattern::None => {}
            Pattern::Line => (1..processes).for_each(|to| send(to - 1, to)),
            Pattern::Ring if processes == 1 => {}
            Pattern::Ring => (0..processes).for_each(|from| send(from, (from + 1) % processes)),
            Pattern::Stencil => {
                let columns =
                    usize::try_from(grid(self.config.procs).1).expect("at most MAX_PROCESSES");
                for from in 0..processes {
                    let column = from % columns;
                    let neighbours = [
                        (from >= columns).then(|| from - columns),
                        (column > 0).then(|| from - 1),
                        (column + 1 < columns).then(|| from + 1),
                        (from + columns < processes).then(|| from + columns),
                    ];
                    neighbours
                        .into_iter()
                        .flatten()
                        .for_each(|to| send(from, to));
                }
            }
            Pattern::AllToAll => {
                for from in 0..processes {
                    (1..processes).for_each(|step| send(from, (from + step) % processes));
                }
            }
        }
    }
}

impl Workload for Synthetic {
    fn processes(&self) -> usize {
        usize::try_from(self.config.procs).expect("at most MAX_PROCESSES")
    }

    fn supersteps(&self) -> usize {
        usize::try_from(self.config.supersteps).expect("at most MAX_SUPERSTEPS")
    }

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        self.fill_work(superstep, &mut plan.work);
        let Self { config, .. } = self;
        let mut random = Stream::at(config.seed, Purpose::Messages, superstep as u64);
        let size = |random: &mut Stream| match config.bytes_spread {
            0.0 => config.bytes,
            // Whole bytes, which a trace can tell.
            spread => Bytes::of(
                (config.bytes * (1.0 + spread * random.symmetric()))
                    .get()
                    .floor(),
            ),
        };
        let messages = &mut plan.messages;
        let mut send = |from: usize, to: usize, size: Bytes| {
            messages.push(Message {
                from: ProcessId::from_index(from),
                to: ProcessId::from_index(to),
                size,
            });
        };
        self.for_each_neighbour(|from, to| send(from, to, size(&mut random)));
        let processes = self.processes();
        if processes > 1 && config.random_messages > 0 {
            for from in 0..processes {
                for _ in 0..config.random_messages {
                    let to = (from + 1 + random.below(processes - 1)) % processes;
                    send(from, to, size(&mut random));
                }
            }
        }
    }

    /// Where nothing is drawn for each superstep and nothing drifts.
    fn repeats(&self, superstep: usize) -> bool {
        let config = &self.config;
        let draws_work = config.spread > 0.0 && config.draw == Draw::EachSuperstep;
        let draws_messages = config.random_messages > 0 || config.bytes_spread > 0.0;
        superstep > 0 && !draws_work && !draws_messages && self.drifts.is_empty()
    }

    fn extent(&self) -> Extent {
        Extent {
            messages: self.config.messages() as f64,
            bytes: size_of::<f64>() as f64 * (self.factors.len() + self.drifts.len()) as f64,
        }
    }

    fn memory(&self, _process: ProcessId) -> Bytes {
        self.config.memory
    }

    fn uses_seed(&self) -> bool {
        let config = &self.config;
        let draws_work = config.spread > 0.0 && config.distribution != Distribution::Linear;
        let draws_messages = config.random_messages > 0 || config.bytes_spread > 0.0;
        draws_work || draws_messages || config.drift > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(config: &SyntheticConfig, superstep: usize) -> Plan {
        let synthetic = Synthetic::new(config).unwrap();
        let mut plan = Plan::default();
        plan.clear(synthetic.processes());
        synthetic.fill(superstep, &mut plan);
        assert_eq!(plan.messages.len() as u64, config.messages());
        plan
    }

    fn pairs(procs: u64, pattern: Pattern) -> Vec<(u32, u32)> {
        let config = SyntheticConfig {
            pattern,
            ..SyntheticConfig::new(procs)
        };
        let messages = plan(&config, 0).messages;
        messages
            .iter()
            .map(|message| (message.from.0, message.to.0))
            .collect()
    }

    #[test]
    fn patterns_are_those_of_the_table() {
        assert_eq!(pairs(3, Pattern::None), []);
        assert_eq!(pairs(3, Pattern::Line), [(0, 1), (1, 2)]);
        assert_eq!(pairs(3, Pattern::Ring), [(0, 1), (1, 2), (2, 0)]);
        let all = [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)];
        assert_eq!(pairs(3, Pattern::AllToAll), all);
        // 0 1 2
        // 3 4 5
        let stencil = pairs(6, Pattern::Stencil);
        let of = |rank| {
            stencil
                .iter()
                .filter(|pair| pair.0 == rank)
                .map(|pair| pair.1)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (of(0), of(1), of(5)),
            (vec![1, 3], vec![0, 2, 4], vec![2, 4])
        );
        for pattern in [
            Pattern::None,
            Pattern::Line,
            Pattern::Ring,
            Pattern::Stencil,
            Pattern::AllToAll,
        ] {
            assert_eq!(pairs(1, pattern), []);
        }
    }

    #[test]
    fn a_superstep_repeats_the_one_before_it_if_nothing_is_drawn_anew_and_nothing_drifts() {
        let plain = SyntheticConfig {
            random_messages: 0,
            ..SyntheticConfig::new(20)
        };
        let repeats = |config: &SyntheticConfig| {
            let synthetic = Synthetic::new(config).unwrap();
            assert!(!synthetic.repeats(0));
            let is_equal = plan(config, 3) == plan(config, 4);
            assert_eq!(synthetic.repeats(4), is_equal);
            is_equal
        };
        let spread = SyntheticConfig {
            spread: 0.5,
            ..plain.clone()
        };
        let anew = SyntheticConfig {
            draw: Draw::EachSuperstep,
            ..spread.clone()
        };
        let drift = SyntheticConfig {
            drift: 0.5,
            ..plain.clone()
        };
        let random = SyntheticConfig {
            random_messages: 1,
            ..plain.clone()
        };
        let sizes = SyntheticConfig {
            bytes_spread: 0.5,
            ..plain.clone()
        };
        assert!(repeats(&plain) && repeats(&spread));
        assert!(![anew, drift, random, sizes].iter().any(repeats));
    }

    #[test]
    fn grids_are_as_square_as_they_can_be() {
        assert_eq!(
            [1, 7, 12, 50, 64].map(grid),
            [(1, 1), (1, 7), (3, 4), (5, 10), (8, 8)]
        );
    }

    #[test]
    fn work_stays_within_its_spread_and_has_the_mean_that_was_asked_for() {
        for distribution in [
            Distribution::Uniform,
            Distribution::Linear,
            Distribution::Bimodal,
        ] {
            let config = SyntheticConfig {
                distribution,
                spread: 0.5,
                ..SyntheticConfig::new(10_000)
            };
            let work: Vec<f64> = plan(&config, 4)
                .work
                .iter()
                .map(|work| work.get())
                .collect();
            assert!(work.iter().all(|work| (0.5e9..=1.5e9).contains(work)));
            let mean = work.iter().sum::<f64>() / 1e4;
            // Four standard deviations of the mean of 10 000 values that differ by at most 0.5e9 from their mean.
            assert!((mean - 1e9).abs() <= 4.0 * 0.5e9 / 100.0, "{mean}");
        }
        let linear = SyntheticConfig {
            distribution: Distribution::Linear,
            spread: 0.5,
            ..SyntheticConfig::new(3)
        };
        assert_eq!(
            plan(&linear, 0)
                .work
                .iter()
                .map(|work| work.get())
                .collect::<Vec<_>>(),
            [0.5e9, 1e9, 1.5e9]
        );
    }

    #[test]
    fn work_is_drawn_once_or_anew_and_drifts_from_the_first_superstep_to_the_last() {
        let once = SyntheticConfig {
            spread: 0.5,
            ..SyntheticConfig::new(20)
        };
        assert_eq!(plan(&once, 0).work, plan(&once, 9).work);
        let anew = SyntheticConfig {
            draw: Draw::EachSuperstep,
            ..once.clone()
        };
        assert_ne!(plan(&anew, 0).work, plan(&anew, 1).work);
        assert_eq!(plan(&anew, 7), plan(&anew, 7));
        let drifting = SyntheticConfig {
            drift: 0.2,
            ..SyntheticConfig::new(20)
        };
        let change = |superstep| {
            plan(&drifting, superstep)
                .work
                .iter()
                .map(|work| work.get() - 1e9)
                .collect::<Vec<_>>()
        };
        assert!(change(0).iter().all(|change| *change == 0.0));
        assert!(
            change(9)
                .iter()
                .all(|change| change.abs() <= 0.2e9 && *change != 0.0)
        );
        let single = SyntheticConfig {
            supersteps: 1,
            ..drifting
        };
        assert!(plan(&single, 0).work.iter().all(|work| work.get() == 1e9));
    }

    #[test]
    fn random_messages_go_to_others_in_whole_bytes_and_differ_between_supersteps_and_seeds() {
        let config = SyntheticConfig {
            pattern: Pattern::None,
            random_messages: 3,
            bytes_spread: 0.5,
            ..SyntheticConfig::new(50)
        };
        let messages = plan(&config, 2).messages;
        assert!(messages.iter().all(|message| message.from != message.to
            && (25e4..=75e4).contains(&message.size.get())
            && message.size.get().fract() == 0.0));
        assert_ne!(messages, plan(&config, 3).messages);
        assert_ne!(
            messages,
            plan(&SyntheticConfig { seed: 2, ..config }, 2).messages
        );
    }

    #[test]
    fn values_out_of_range_are_named_together() {
        let config = SyntheticConfig {
            supersteps: 0,
            spread: 1.5,
            drift: f64::NAN,
            bytes_spread: -0.1,
            ..SyntheticConfig::new(0)
        };
        let Err(Error::Input(problems)) = Synthetic::new(&config) else {
            panic!("accepted");
        };
        let keys: Vec<_> = problems
            .iter()
            .map(|problem| problem.location.key.as_deref().unwrap())
            .collect();
        assert_eq!(
            keys,
            [
                "workload.procs",
                "workload.supersteps",
                "workload.spread",
                "workload.drift",
                "workload.bytes_spread"
            ]
        );
        let too_many = SyntheticConfig {
            pattern: Pattern::AllToAll,
            ..SyntheticConfig::new(1_000_000)
        };
        assert!(Synthetic::new(&too_many).is_err());
        let too_large = SyntheticConfig {
            bytes: Bytes::of(f64::MAX),
            ..SyntheticConfig::new(2)
        };
        assert!(Synthetic::new(&too_large).is_err());
    }
}
