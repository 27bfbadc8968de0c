//! `synthetic`: an application with parameters instead of an algorithm, to try platforms, policies and sizes beyond the papers.
//!
//! ```text
//! work of process i in superstep k     instructions · factor(i, k) · (1 + drift(i) · k / (supersteps - 1)) · hot(i, k)
//! factor                               1, or drawn by `distribution` and `spread`, once or for each superstep
//! drift(i)                             drawn once, uniformly from -drift to +drift
//! hot(i, k)                            `hot_spot.factor` where the hot spot is ([`HotSpot`]), else 1
//! memory of process i                  ⌊memory · (1 ± memory_spread)⌋, drawn once; `memory` as it is without a spread
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
//! A CSV file (`messages`) stands in place of a pattern. To these come `random_messages` messages of each process to others drawn for each superstep. All numbers are drawn from `seed`,
//! the superstep and nothing else, so that all scenarios and policies face the same application, and any superstep can be asked for first.

mod config;
mod draws;
mod matrix;

use config::grid;
pub use config::{Distribution, Draw, HotSpot, Pattern, SyntheticConfig};

use super::{Extent, Message, Plan, Workload};
use migsim_base::error::Error;
use migsim_base::random::{Purpose, Stream};
use migsim_base::units::{Bytes, Instructions, ProcessId};

/// The application: see the [module](self).
///
/// ```
/// use migsim_workloads::{Plan, Workload, synthetic::{Synthetic, SyntheticConfig}};
/// let synthetic = Synthetic::new(&SyntheticConfig { random_messages: 2, ..SyntheticConfig::new(100) })?;
/// let mut plan = Plan::default();
/// plan.clear(100);
/// synthetic.fill(3, &mut plan);
/// assert_eq!(plan.messages.len(), 99 + 200);
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Synthetic {
    config: SyntheticConfig,
    /// The factors of the work that are drawn once; none if there is no spread or it is drawn anew.
    factors: Vec<f64>,
    /// The relative growth of the work of each process from the first superstep to the last; none without drift.
    drifts: Vec<f64>,
    /// The memory of each process; none if all have the same.
    memory: Vec<Bytes>,
    /// The messages of a file.
    messages: Vec<Message>,
}

impl Synthetic {
    /// The application with these keys.
    ///
    /// # Errors
    /// Values are out of range; all of them are named.
    pub fn new(config: &SyntheticConfig) -> Result<Self, Error> {
        Self::with_file(config).map(|(this, _)| this)
    }

    /// The same, and the SHA-256 of the file of its messages, if it has one.
    pub(super) fn with_file(config: &SyntheticConfig) -> Result<(Self, Option<String>), Error> {
        let problems = config.problems();
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        let mut this = Self {
            config: config.clone(),
            factors: Vec::new(),
            drifts: Vec::new(),
            memory: Vec::new(),
            messages: Vec::new(),
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
        if config.memory_spread > 0.0 {
            let mut random = Stream::new(config.seed, Purpose::Memory);
            let memory = |_| whole(config.memory, config.memory_spread, &mut random);
            this.memory = (0..processes).map(memory).collect();
        }
        let Some(file) = &config.messages else {
            return Ok((this, None));
        };
        let sha256;
        (this.messages, sha256) = matrix::read(file, processes)?;
        Ok((this, Some(sha256)))
    }

    /// The work of a process in multiples of the mean.
    fn factor(&self, process: usize, random: &mut Stream) -> f64 {
        let spread = self.config.spread;
        let unit = match self.config.distribution {
            Distribution::Uniform => random.symmetric(),
            Distribution::Bimodal => random.below(2) as f64 * 2.0 - 1.0,
            Distribution::Linear if self.processes() == 1 => 0.0,
            Distribution::Linear => 2.0 * process as f64 / (self.processes() - 1) as f64 - 1.0,
            Distribution::Lognormal => return draws::lognormal(spread, random),
            Distribution::Pareto => return draws::pareto(spread, random),
        };
        1.0 + spread * unit
    }

    fn fill_work(&self, superstep: usize, work: &mut [Instructions]) {
        let Self {
            config,
            factors,
            drifts,
            ..
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
        let processes = work.len();
        let hot = config.hot_spot.at(superstep, self.supersteps(), processes);
        if let Some((first, width)) = hot {
            for process in first..first + width {
                let work = &mut work[process % processes];
                *work = Instructions::of(work.get() * config.hot_spot.factor);
            }
        }
    }

    /// Calls `send` with the sender and the receiver of each message of the pattern.
    fn for_each_neighbour(&self, mut send: impl FnMut(usize, usize)) {
        let processes = self.processes();
        match self.config.pattern {
            _ if self.config.messages.is_some() => {}
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
            spread => whole(config.bytes, spread, random),
        };
        let messages = &mut plan.messages;
        messages.extend_from_slice(&self.messages);
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

    /// Constant work: no draw per superstep, no drift, no moving hot spot.
    fn repeats(&self, superstep: usize) -> bool {
        let config = &self.config;
        let draws_work = config.spread > 0.0 && config.draw == Draw::EachSuperstep;
        let draws_messages = config.random_messages > 0 || config.bytes_spread > 0.0;
        let spot = |superstep| {
            config
                .hot_spot
                .at(superstep, self.supersteps(), self.processes())
        };
        let is_steady = !draws_work && !draws_messages && self.drifts.is_empty();
        superstep > 0 && is_steady && spot(superstep) == spot(superstep - 1)
    }

    fn extent(&self) -> Extent {
        Extent {
            messages: self.config.messages_drawn() as f64 + self.messages.len() as f64,
            bytes: size_of::<f64>() as f64
                * (self.factors.len() + self.drifts.len() + self.memory.len()) as f64
                + size_of::<Message>() as f64 * self.messages.len() as f64,
        }
    }

    fn memory(&self, process: ProcessId) -> Bytes {
        let own = self.memory.get(process.index());
        own.copied().unwrap_or(self.config.memory)
    }

    fn uses_seed(&self) -> bool {
        let config = &self.config;
        let draws_work = config.spread > 0.0 && config.distribution != Distribution::Linear;
        let draws_messages = config.random_messages > 0 || config.bytes_spread > 0.0;
        draws_work || draws_messages || config.drift > 0.0 || config.memory_spread > 0.0
    }
}

/// About `mean`, drawn uniformly, in whole bytes, which a trace can tell.
fn whole(mean: Bytes, spread: f64, random: &mut Stream) -> Bytes {
    Bytes::of((mean * (1.0 + spread * random.symmetric())).get().floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(config: &SyntheticConfig, superstep: usize) -> Plan {
        let synthetic = Synthetic::new(config).unwrap();
        let mut plan = Plan::default();
        plan.clear(synthetic.processes());
        synthetic.fill(superstep, &mut plan);
        assert_eq!(plan.messages.len() as u64, config.messages_drawn());
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
    fn memory_differs_in_whole_bytes_and_is_the_same_for_all_without_a_spread() {
        let memory = |config: &SyntheticConfig| -> Vec<f64> {
            let synthetic = Synthetic::new(config).unwrap();
            let of = |process| synthetic.memory(ProcessId::from_index(process)).get();
            (0..synthetic.processes()).map(of).collect()
        };
        let plain = SyntheticConfig::new(1000);
        assert!(memory(&plain).iter().all(|&own| own == 500e3));
        let spread = SyntheticConfig {
            memory_spread: 0.5,
            ..plain.clone()
        };
        let own = memory(&spread);
        let is_within = |own: &f64| (25e4..=75e4).contains(own) && own.fract() == 0.0;
        assert!(own.iter().all(is_within) && own[0] != own[1]);
        // What is drawn for the memory changes nothing else.
        let drawn = |config: &SyntheticConfig| {
            let config = SyntheticConfig {
                spread: 0.5,
                drift: 0.5,
                random_messages: 1,
                ..config.clone()
            };
            plan(&config, 3)
        };
        assert_eq!(drawn(&plain), drawn(&spread));
        assert!(Synthetic::new(&spread).unwrap().uses_seed());
    }

    #[test]
    fn a_hot_spot_goes_round_all_processes() {
        let hot = |width: f64, rounds: f64| SyntheticConfig {
            hot_spot: HotSpot {
                factor: 4.0,
                width,
                rounds,
            },
            ..SyntheticConfig::new(10)
        };
        let covered = |config: &SyntheticConfig, superstep: usize| -> Vec<usize> {
            let work = plan(config, superstep).work;
            let expected = [1e9, 4e9];
            assert!(work.iter().all(|work| expected.contains(&work.get())));
            (0..10)
                .filter(|&process| work[process].get() > 1e9)
                .collect()
        };
        // 10 supersteps, 10 processes: one further in each superstep.
        let once = hot(0.25, 1.0);
        assert_eq!(covered(&once, 0), [0, 1]);
        assert_eq!(covered(&once, 4), [4, 5]);
        assert_eq!(covered(&once, 9), [0, 9]);
        assert_eq!(covered(&hot(0.0, 2.0), 7), [4]);
        assert_eq!(covered(&hot(1.0, 1.0), 3).len(), 10);
        let still = hot(0.1, 0.0);
        assert_eq!(covered(&still, 9), [0]);
        let repeats = |config: &SyntheticConfig| Synthetic::new(config).unwrap().repeats(4);
        assert!(repeats(&still) && !repeats(&once));
    }

    #[test]
    fn the_messages_of_a_file_stand_in_place_of_the_pattern() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("m.csv");
        std::fs::write(&file, "from,to,bytes\np3,p1,7\n").unwrap();
        let config = SyntheticConfig {
            messages: Some(file.display().to_string()),
            pattern: Pattern::AllToAll,
            ..SyntheticConfig::new(3)
        };
        let (synthetic, sha256) = Synthetic::with_file(&config).unwrap();
        assert_eq!(sha256.map(|text| text.len()), Some(64));
        let mut filled = Plan::default();
        filled.clear(3);
        synthetic.fill(5, &mut filled);
        let expected = Message {
            from: ProcessId(2),
            to: ProcessId(0),
            size: Bytes::of(7.0),
        };
        assert_eq!(filled.messages, [expected]);
        assert!(synthetic.repeats(5) && synthetic.extent().messages == 1.0);
    }

    #[test]
    fn values_out_of_range_are_named_together() {
        let config = SyntheticConfig {
            supersteps: 0,
            spread: 1.5,
            drift: f64::NAN,
            bytes_spread: -0.1,
            memory_spread: 2.0,
            hot_spot: HotSpot {
                factor: 0.5,
                width: 1.5,
                rounds: -1.0,
            },
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
                "workload.bytes_spread",
                "workload.memory_spread",
                "workload.hot_spot.factor",
                "workload.hot_spot.width",
                "workload.hot_spot.rounds"
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
