//! The memory of a run: estimates it in advance, and refuses a run above the limit.
//!
//! ```text
//! run       = base + hosts·held + at_once · scenario + scenarios · supersteps · DATES + remembered
//! scenario  = p·PROCESS + m·MESSAGE + paths·PATH + hosts·HOST + loads·LOAD     + if a policy decides:
//!             p·POLICY + m·MEASURED + p·⌈partners/4⌉·PARTNERS + clusters²·MANAGERS + the memory of the policy itself
//! paths     = min(hosts², m if all supersteps are equal, else m · supersteps, MOST_PATHS)
//! partners  = min(clusters, 2·m/p)
//! remembered = min(MEMO, supersteps · (24·p + 8·m + 150)), none if there is one scenario or the machine varies
//! page      = scenarios · supersteps · p · BAR + PAGE
//! sweep     = run with at_once = threads
//! trace     = look + supersteps · (p + m) · LINE
//! look      = base + plan + supersteps · LOOK
//! papers    = PAPER + min(threads, SIDE_BY_SIDE) · RUNS            with the rules of others: READING + min(...) · CALLS
//! ```
//! with p processes and m messages of the largest superstep; `at_once` is the number of scenarios that run in parallel, which is the number
//! of threads. The platform counts its own memory (`platform/assemble.rs`), as do the application (`Workload::extent`) and the policy
//! (`Policy::memory`). Calls and their decisions are counted as one call in which every process is a candidate.
//!
//! The constants are measured: the growth of the peak (`VmHWM`) from 10⁵ to 10⁶ processes, messages or hosts, divided by their number.
//! `results/reliability.md` compares measured and estimated peaks; `tests/memory/run` measures them again. The estimate is computed in
//! floating-point numbers, so that no product overflows: a sum that is far too large is infinite at worst.

use std::fmt;

use crate::error::Problem;

/// Memory of the program itself, and of a small platform \[B\].
const BASE: f64 = 10e6;
/// Memory of a process: its host, its stage and times, its work, its measures \[B\].
const PROCESS: f64 = 110.0;
/// Memory of a message of a superstep: in the plan, and as a flow \[B\].
const MESSAGE: f64 = 135.0;
/// Memory of a path between two hosts in the engine, in lists that grow by doubling \[B\].
const PATH: f64 = 170.0;
/// Maximum number of paths that are kept between supersteps; with random destinations the paths would otherwise grow to all pairs of hosts.
pub const MOST_PATHS: usize = 1 << 21;
/// Memory of a host and its link in the engine \[B\].
const HOST: f64 = 650.0;
/// Memory of a load that varies: its generator and its next step \[B\].
const LOAD: f64 = 700.0;
/// Memory of a process in a policy: forecasts, potential, verdict \[B\].
const POLICY: f64 = 270.0;
/// Memory of the measured time of a message, for a policy \[B\].
const MEASURED: f64 = 40.0;
/// Memory of the message counts and forecasts of one process with up to four clusters \[B\].
const PARTNERS: f64 = 300.0;
/// Memory of a message of a call between two managers, with its path \[B\].
const MANAGERS: f64 = 550.0;
/// Memory of the times of a superstep \[B\].
const DATES: f64 = 24.0;
/// Maximum memory of the supersteps that a run keeps for its other scenarios \[B\].
pub const MEMO: usize = 64 << 20;
/// Memory of the activity of a process in a superstep, both in the data and in the text of a page \[B\].
const BAR: f64 = 30.0;
/// Memory of an empty page \[B\].
const PAGE: f64 = 20e6;
/// Memory of a line of a trace: the text of a computation or of a message, in a buffer that grows by doubling \[B\].
const LINE: f64 = 48.0;
/// Memory of the table row of a superstep of an application \[B\].
const LOOK: f64 = 100.0;
/// Memory of the record of a superstep of a scenario, as text and read again \[B\].
const TOLD: f64 = 300.0;
/// Memory of a process and of a message of a plan, in lists that grow by doubling \[B\].
const PROCESS_OF_PLAN: f64 = 60.0;
const MESSAGE_OF_PLAN: f64 = 48.0;
/// Memory per byte of a run folder that is converted into a page or an answer \[B\].
const BYTE: f64 = 3.0;
/// Memory of the runs of a paper, and of the runs that a thread simulates beside them \[B\].
const PAPER: f64 = 60e6;
const RUNS: f64 = 28e6;
/// Additional memory with the rules of another paper, which make many more calls \[B\].
const READING: f64 = 500e6;
const CALLS: f64 = 220e6;
/// Maximum number of threads that are counted: more are seldom busy with runs of papers at a time.
const SIDE_BY_SIDE: usize = 8;
/// Memory of a run of a plan: its settings, its identity, its row \[B\].
const RUN: f64 = 1000.0;

/// The limits of an experiment, checked before it starts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Maximum memory of the command \[B\]; `None`: not limited.
    pub memory: Option<f64>,
    /// The number of threads that share the memory; 0 counts as 1.
    pub threads: usize,
    /// The purpose for which an experiment is read.
    pub purpose: Purpose,
    /// Whether a platform of `SimGrid` may include files from outside its folder.
    pub may_include_outside: bool,
    /// Whether files may name programs to start.
    pub may_start_programs: bool,
}

/// The purpose for which an experiment is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// The experiment is run.
    #[default]
    Run,
    /// The experiment is run and explained.
    Explanation,
    /// The experiment is run and shown on a page.
    Page,
    /// The experiment is one of many runs, one per thread.
    Sweep,
    /// The experiment is written as a trace.
    Trace,
    /// The application is examined superstep by superstep.
    Look,
}

/// The size of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    /// The number of processes.
    pub processes: f64,
    /// The number of supersteps.
    pub supersteps: f64,
    /// The number of messages in the largest superstep.
    pub messages: f64,
    /// Whether all supersteps are equal.
    pub repeats: bool,
    /// The memory of the application itself \[B\].
    pub application: f64,
    /// The number of clusters.
    pub clusters: f64,
    /// The number of hosts.
    pub hosts: f64,
    /// The memory of the platform \[B\].
    pub platform: f64,
    /// The number of loads that vary, of hosts and links.
    pub loads: f64,
    /// The number of scenarios.
    pub scenarios: usize,
    /// Whether a policy decides in one of the scenarios.
    pub has_policy: bool,
    /// The memory of the policy itself \[B\].
    pub policy: f64,
}

impl Size {
    /// Returns the memory of one scenario while it runs \[B\].
    fn scenario(&self) -> f64 {
        let (p, m) = (self.processes, self.messages);
        let ever = if self.repeats { m } else { m * self.supersteps };
        let paths = (self.hosts * self.hosts).min(ever).min(MOST_PATHS as f64);
        let engine =
            p * PROCESS + m * MESSAGE + paths * PATH + self.hosts * HOST + self.loads * LOAD;
        if !self.has_policy {
            return engine;
        }
        let partners = self.clusters.min(2.0 * m / p.max(1.0));
        let policy = p * POLICY
            + m * MEASURED
            + p * (partners / 4.0).ceil() * PARTNERS
            + self.clusters * self.clusters * MANAGERS;
        engine + policy + self.policy
    }

    /// Returns the memory needed for the purpose of the experiment \[B\].
    pub fn needed(&self, limits: Limits) -> f64 {
        let threads = limits.threads.max(1);
        let few = threads.min(self.scenarios);
        let by_superstep = self.scenarios as f64 * self.supersteps;
        match limits.purpose {
            Purpose::Run => self.run(few),
            Purpose::Explanation => self.run(few) + by_superstep * TOLD,
            Purpose::Page => {
                let bars = by_superstep * self.processes * BAR;
                self.run(few) + by_superstep * TOLD + bars + PAGE
            }
            Purpose::Sweep => self.run(threads),
            Purpose::Trace => {
                let lines = self.supersteps * (self.processes + self.messages);
                self.look() + lines * LINE
            }
            Purpose::Look => self.look(),
        }
    }

    /// Returns the memory of a run with `at_once` scenarios in parallel \[B\].
    fn run(&self, at_once: usize) -> f64 {
        let (p, m) = (self.processes, self.messages);
        let is_remembered = self.scenarios > 1 && self.loads <= 0.0;
        let remembered = if is_remembered {
            (MEMO as f64).min(self.supersteps * (24.0 * p + 8.0 * m + 150.0))
        } else {
            0.0
        };
        let dates = at_once.max(self.scenarios) as f64 * self.supersteps * DATES;
        BASE + self.platform
            + self.application
            + at_once as f64 * self.scenario()
            + dates
            + remembered
    }

    /// Returns the memory to examine all supersteps of the application, one after the other \[B\].
    fn look(&self) -> f64 {
        let plan = self.processes * PROCESS_OF_PLAN + self.messages * MESSAGE_OF_PLAN;
        BASE + self.platform + self.application + plan + self.supersteps * LOOK
    }
}

/// Returns the memory of a plan of `runs` runs \[B\].
pub fn plan(runs: f64) -> f64 {
    BASE + runs * RUN
}

/// Returns the memory to read a run folder of `bytes` bytes \[B\].
pub fn folder(bytes: f64) -> f64 {
    BASE + PAGE + bytes * BYTE
}

/// Returns the memory of the runs of the papers, which are always the same, on `threads` threads \[B\].
pub fn papers(threads: usize) -> f64 {
    PAPER + threads.min(SIDE_BY_SIDE) as f64 * RUNS
}

/// Returns the memory of these runs with the rules of each paper applied to every other paper \[B\].
pub fn readings(threads: usize) -> f64 {
    READING + threads.min(SIDE_BY_SIDE) as f64 * CALLS
}

/// Returns the minimum memory of this number of processes \[B\].
pub fn least(processes: f64) -> f64 {
    BASE + processes * PROCESS
}

impl Limits {
    /// Refuses a command that needs more memory than allowed: `what` (`the experiment`) with `details` of its size.
    ///
    /// # Errors
    /// The estimate, and ways to need less memory; the caller adds the place.
    pub fn check(self, what: &str, needed: f64, details: impl fmt::Display) -> Result<(), Problem> {
        match self.memory {
            Some(limit) if needed > limit && limit < 1.0 => {
                let needed = Figure(needed);
                let problem = Problem::new(format!(
                    "{what} would need about {needed} of memory, and this process may have no more than it has ({details})"
                ));
                Err(problem.hint("raise the limit of its memory (`ulimit -v`, a container, a batch job), use fewer threads, or set `--memory-limit`"))
            }
            Some(limit) if needed > limit => {
                let (needed, limit) = (Figure(needed), Figure(limit));
                let problem = Problem::new(format!(
                    "{what} would need about {needed} of memory, more than the limit of {limit} ({details})"
                ));
                Err(problem
                    .hint("use a smaller input, fewer threads, or a higher `--memory-limit`"))
            }
            _ => Ok(()),
        }
    }
}

/// A number of bytes in words.
#[derive(Clone, Copy, Debug)]
struct Figure(f64);

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
        let (unit, scale) = units
            .into_iter()
            .find(|unit| self.0 >= unit.1)
            .unwrap_or(("B", 1.0));
        let value = self.0 / scale;
        match value {
            value if value >= 1e6 => write!(f, "{value:.1e} {unit}"),
            value if value >= 100.0 => write!(f, "{value:.0} {unit}"),
            value => write!(f, "{value:.1} {unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size() -> Size {
        Size {
            processes: 1e6,
            supersteps: 10.0,
            messages: 1e6,
            repeats: true,
            clusters: 5.0,
            hosts: 174.0,
            scenarios: 3,
            has_policy: true,
            ..Size::default()
        }
    }

    fn with(threads: usize, purpose: Purpose) -> f64 {
        size().needed(Limits {
            memory: None,
            threads,
            purpose,
            ..Limits::default()
        })
    }

    #[test]
    fn a_run_by_hand() {
        // A scenario: 10⁶ · (110 + 135 + 270 + 40 + 300) B, 174² paths of 170 B, 174 hosts of 650 B, 5² managers of 550 B.
        let scenario = 855e6 + 30_276.0 * 170.0 + 174.0 * 650.0 + 25.0 * 550.0;
        let rest = 10e6 + 3.0 * 10.0 * 24.0 + 64.0 * 1024.0 * 1024.0;
        assert_eq!(with(1, Purpose::Run), scenario + rest);
        // Two threads hold two scenarios; a fourth thread has nothing to do, unless there are many runs.
        assert_eq!(with(2, Purpose::Run), 2.0 * scenario + rest);
        assert_eq!(with(4, Purpose::Run), with(3, Purpose::Run));
        assert!(with(4, Purpose::Sweep) > with(3, Purpose::Sweep));
        // 3 · 10 · 10⁶ bars of 30 B.
        assert!(with(1, Purpose::Page) - with(1, Purpose::Run) > 900e6);
    }

    #[test]
    fn a_refusal_has_both_figures_and_nothing_overflows() {
        let huge = Size {
            processes: u64::MAX as f64,
            messages: f64::MAX,
            supersteps: f64::MAX,
            ..size()
        };
        let limits = Limits {
            memory: Some(2e9),
            ..Limits::default()
        };
        let told = |needed: f64| {
            let refused = limits.check("the experiment", needed, "so large");
            refused.map_err(|problem| problem.message)
        };
        assert_eq!(huge.needed(limits), f64::INFINITY);
        assert!(told(huge.needed(limits)).is_err());
        assert_eq!(told(2e9), Ok(()));
        let expected = "the experiment would need about 12.3 GB of memory, more than the limit of 2.0 GB (so large)";
        assert_eq!(told(12.34e9), Err(expected.to_owned()));
        assert_eq!(Limits::default().check("it", f64::INFINITY, ""), Ok(()));
    }

    #[test]
    fn figures_are_as_people_say_them() {
        let texts = [0.0, 999.0, 1e3, 123.4e6, 1.5e12, 1e21].map(|bytes| Figure(bytes).to_string());
        assert_eq!(
            texts,
            ["0.0 B", "999 B", "1.0 kB", "123 MB", "1.5 TB", "1.0e9 TB"]
        );
    }
}
