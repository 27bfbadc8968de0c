//! `synthetic`: an application that is defined by parameters instead of an algorithm, to study platforms, policies and sizes
//! beyond those of the papers.
//!
//! ```text
//! work of process i in superstep k     instructions · factor(i, k) · (1 + drift(i) · k / (supersteps - 1)) · hot(i, k)
//! factor(i, k)                         1, or drawn by `distribution` and `spread`, once or for each superstep
//! drift(i)                             drawn once, uniformly from -drift to +drift
//! k                                    in drawn factors, drift and hot spot the first of each `hold` supersteps; `phases` draws take turns
//! hot(i, k)                            `hot_spot.factor` for the processes of the hot spot ([`HotSpot`]), else 1
//! memory of process i                  ⌊memory · (1 ± memory_spread)⌋, drawn once; `memory` unchanged without a spread
//! size of a message                    ⌊bytes · (1 ± bytes_spread)⌋, drawn for each message; `bytes` unchanged without a spread
//! ```
//! | pattern | receivers of the messages of process i of p |
//! |---|---|
//! | `none` | none |
//! | `line` | i+1; the last process sends nothing |
//! | `ring` | i+1; the last process sends to the first |
//! | `stencil` | up to four neighbours in the r × c grid with r·c = p whose sides differ least, r ≤ c; ranks run along the rows |
//! | `graph` | the neighbours of process i in a graph that is drawn once; the sizes of its messages are drawn once, too |
//! | `all-to-all` | all other processes, beginning with i+1 |
//!
//! A CSV file (`messages`) replaces a pattern. In addition, each process sends `random_messages` messages to processes that are
//! drawn for each superstep. All random numbers depend only on `seed` and the superstep. The application is therefore the same
//! for all scenarios and policies, and supersteps can be requested in any order.

mod config;
mod draws;
mod matrix;

use config::sides_of_most_square_grid;
pub use config::{CommunicationPattern, DrawFrequency, HotSpot, SyntheticConfig, WorkDistribution};

use super::{ApplicationSize, Message, Plan, Workload};
use migsim_base::{
    error::Result,
    random::{Stream, StreamPurpose, round_portably},
    units::{Bytes, Instructions, ProcessId},
};

/// The application `synthetic`, which is defined by parameters: see the [module](self).
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
    /// Factor by which the mean work is multiplied for each process in all supersteps; empty if there is no spread or if factors
    /// are drawn in each superstep.
    work_factors: Vec<f64>,
    /// Relative change of the work of each process from the first superstep to the last; empty if the option `drift` is 0.
    work_drifts: Vec<f64>,
    process_memory: Vec<Bytes>,
    file_messages: Vec<Message>,
}

impl Synthetic {
    /// Creates the application with these options.
    ///
    /// # Errors
    /// Options are out of range, all of which the error names; or the file with the messages cannot be read.
    pub fn new(config: &SyntheticConfig) -> Result<Self> {
        Self::new_with_file_hash(config).map(|(this, _)| this)
    }

    /// Creates the application with these options; also returns the SHA-256 of the file with the messages of the application, if
    /// there is a file.
    pub(super) fn new_with_file_hash(config: &SyntheticConfig) -> Result<(Self, Option<String>)> {
        config.check_values()?;
        let mut this = Self {
            config: config.clone(),
            work_factors: Vec::new(),
            work_drifts: Vec::new(),
            process_memory: Vec::new(),
            file_messages: Vec::new(),
        };
        let processes = this.processes();
        if config.spread > 0.0 && config.draw == DrawFrequency::Once {
            let mut random = Stream::new(config.seed, StreamPurpose::ProcessWork);
            this.work_factors = (0..processes)
                .map(|process| this.draw_work_factor(process, &mut random))
                .collect();
        }
        if config.drift > 0.0 {
            let mut random = Stream::new(config.seed, StreamPurpose::WorkDrift);
            this.work_drifts = (0..processes)
                .map(|_| config.drift * random.draw_from_minus_one_to_one())
                .collect();
        }
        if config.memory_spread > 0.0 {
            let mut random = Stream::new(config.seed, StreamPurpose::ProcessMemory);
            this.process_memory = (0..processes)
                .map(|_| draw_size(config.memory, config.memory_spread, &mut random))
                .collect();
        }
        if config.pattern == CommunicationPattern::Graph && config.messages.is_none() {
            this.file_messages = this.draw_graph();
        }
        let Some(file) = &config.messages else {
            return Ok((this, None));
        };
        let sha256;
        (this.file_messages, sha256) = matrix::read_messages_and_hash(file, processes)?;
        Ok((this, Some(sha256)))
    }

    fn draw_work_factor(&self, process: usize, random: &mut Stream) -> f64 {
        let spread = self.config.spread;
        let unit = match self.config.distribution {
            WorkDistribution::Uniform => random.draw_from_minus_one_to_one(),
            WorkDistribution::Bimodal => random.draw_below(2) as f64 * 2.0 - 1.0,
            WorkDistribution::Linear if self.processes() == 1 => 0.0,
            WorkDistribution::Linear => 2.0 * process as f64 / (self.processes() - 1) as f64 - 1.0,
            WorkDistribution::Lognormal => return draws::draw_lognormal(spread, random),
            WorkDistribution::Pareto => return draws::draw_pareto(spread, random),
        };
        1.0 + spread * unit
    }

    /// Draws the messages between neighbours of the pattern `graph`.
    fn draw_graph(&self) -> Vec<Message> {
        let (processes, config) = (self.processes(), &self.config);
        let mut random = Stream::new(config.seed, StreamPurpose::MessagePattern);
        let mut messages = Vec::new();
        for _ in 0..config::GRAPH_DEGREE {
            for from in 0..processes {
                let farthest = (processes / 2).max(1) as f64;
                let distance = round_portably(farthest.powf(random.draw_from_zero_to_one()));
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "from 1 to half the number of processes"
                )]
                let to = (from + distance.round() as usize) % processes;
                let size = draw_size(config.bytes, config.bytes_spread, &mut random);
                let [from, to] = [from, to].map(ProcessId::from_index);
                if from != to {
                    messages.push(Message { from, to, size });
                    messages.push(Message {
                        from: to,
                        to: from,
                        size,
                    });
                }
            }
        }
        messages
    }

    /// Returns the superstep from which on the work is that of `superstep`.
    fn start_of_hold(&self, superstep: usize) -> usize {
        let hold = usize::try_from(self.config.hold).expect("at most MAX_SUPERSTEPS");
        superstep - superstep % hold
    }

    /// Writes the work of all processes in a superstep into `work`.
    fn fill_work(&self, superstep: usize, work: &mut [Instructions]) {
        let superstep = self.start_of_hold(superstep);
        let Self {
            config,
            work_factors: factors,
            work_drifts: drifts,
            ..
        } = self;
        work.fill(config.instructions);
        if config.spread > 0.0 && config.draw == DrawFrequency::EachSuperstep {
            let mut draw = superstep as u64;
            if config.phases > 0 {
                draw = draw / config.hold % config.phases;
            }
            let mut random = Stream::for_superstep(config.seed, StreamPurpose::ProcessWork, draw);
            for (process, work) in work.iter_mut().enumerate() {
                *work = Instructions::of(work.get() * self.draw_work_factor(process, &mut random));
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
        let hot = config
            .hot_spot
            .group_in_superstep(superstep, self.supersteps(), processes);
        if let Some((first, width)) = hot {
            for process in first..first + width {
                let work = &mut work[process % processes];
                *work = Instructions::of(work.get() * config.hot_spot.factor);
            }
        }
    }

    /// Calls `send` with the sender and the receiver of each message that the pattern generates in a superstep.
    fn for_each_pattern_message(&self, mut send: impl FnMut(usize, usize)) {
        let processes = self.processes();
        match self.config.pattern {
            _ if self.config.messages.is_some() => {}
            CommunicationPattern::None | CommunicationPattern::Graph => {}
            CommunicationPattern::Line => (1..processes).for_each(|to| send(to - 1, to)),
            CommunicationPattern::Ring if processes == 1 => {}
            CommunicationPattern::Ring => {
                (0..processes).for_each(|from| send(from, (from + 1) % processes));
            }
            CommunicationPattern::Stencil => {
                let columns = usize::try_from(sides_of_most_square_grid(self.config.procs).1)
                    .expect("at most MAX_PROCESSES");
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
            CommunicationPattern::AllToAll => {
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
        let mut random =
            Stream::for_superstep(config.seed, StreamPurpose::MessagePattern, superstep as u64);
        let size = |random: &mut Stream| draw_size(config.bytes, config.bytes_spread, random);
        let messages = &mut plan.messages;
        messages.extend_from_slice(&self.file_messages);
        let mut send = |from: usize, to: usize, size: Bytes| {
            messages.push(Message {
                from: ProcessId::from_index(from),
                to: ProcessId::from_index(to),
                size,
            });
        };
        self.for_each_pattern_message(|from, to| send(from, to, size(&mut random)));
        let processes = self.processes();
        if processes > 1 && config.random_messages > 0 {
            for from in 0..processes {
                for _ in 0..config.random_messages {
                    let to = (from + 1 + random.draw_below(processes - 1)) % processes;
                    send(from, to, size(&mut random));
                }
            }
        }
    }

    /// Returns whether a superstep is equal to the superstep before: nothing is drawn in each superstep, there is no drift, and
    /// the hot spot has not moved.
    fn repeats(&self, superstep: usize) -> bool {
        let config = &self.config;
        let draws_work = config.spread > 0.0 && config.draw == DrawFrequency::EachSuperstep;
        let draws_messages = config.random_messages > 0
            || (config.bytes_spread > 0.0 && config.pattern != CommunicationPattern::Graph);
        let spot = |superstep| {
            config
                .hot_spot
                .group_in_superstep(superstep, self.supersteps(), self.processes())
        };
        if superstep == 0 || draws_messages {
            return false;
        }
        let [before, now] = [superstep - 1, superstep].map(|one| self.start_of_hold(one));
        before == now || (!draws_work && self.work_drifts.is_empty() && spot(now) == spot(before))
    }

    fn extent(&self) -> ApplicationSize {
        ApplicationSize {
            max_messages: self.config.generated_message_count() as f64
                + self.file_messages.len() as f64,
            data_bytes: size_of::<f64>() as f64
                * (self.work_factors.len() + self.work_drifts.len() + self.process_memory.len())
                    as f64
                + size_of::<Message>() as f64 * self.file_messages.len() as f64,
        }
    }

    fn memory(&self, process: ProcessId) -> Bytes {
        self.process_memory
            .get(process.index())
            .copied()
            .unwrap_or(self.config.memory)
    }

    fn uses_seed(&self) -> bool {
        let config = &self.config;
        let draws_work = config.spread > 0.0 && config.distribution != WorkDistribution::Linear;
        let draws_messages = config.random_messages > 0 || config.bytes_spread > 0.0;
        draws_work
            || draws_messages
            || config.pattern == CommunicationPattern::Graph
            || config.drift > 0.0
            || config.memory_spread > 0.0
    }
}

/// Draws a size uniformly from `1 - spread` to `1 + spread` times `mean`, rounded down to whole bytes so that a trace can
/// represent it.
fn draw_size(mean: Bytes, spread: f64, random: &mut Stream) -> Bytes {
    if spread == 0.0 {
        return mean;
    }
    Bytes::of(
        (mean * (1.0 + spread * random.draw_from_minus_one_to_one()))
            .get()
            .floor(),
    )
}

#[cfg(test)]
mod tests;
