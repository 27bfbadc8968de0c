//! Estimates the memory of a command before it starts, and refuses a command whose estimate is above the limit.
//!
//! ```text
//! run       = BASE + platform + application + parallel · scenario
//!             + max(parallel, scenarios) · supersteps · DATES + remembered
//! scenario  = p·PROCESS + m·MESSAGE + paths·PATH + hosts·HOST + loads·LOAD     + if a policy decides:
//!             p·POLICY + m·MEASURED + p·⌈partners/4⌉·PARTNERS + clusters²·MANAGERS + policy
//! paths     = min(hosts², m if all supersteps are equal, else m · supersteps, MOST_PATHS)
//! partners  = min(clusters, 2·m/p)
//! remembered = min(MEMO, supersteps · (24·p + 8·m + 150)), 0 if there is one scenario or any load varies
//! explain   = run + scenarios · supersteps · RECORD
//! page      = run + scenarios · supersteps · (RECORD + p · BAR) + PAGE
//! sweep     = run with parallel = threads
//! look      = BASE + platform + application + p·PROCESS_OF_PLAN + m·MESSAGE_OF_PLAN + supersteps · LOOK
//! trace     = look + supersteps · (p + m) · LINE
//! papers    = PAPER + min(threads, SIDE_BY_SIDE) · RUNS
//!             with the rules of other papers: READING + min(threads, SIDE_BY_SIDE) · CALLS
//! ```
//! In these equations, p is the number of processes, m the number of messages of the largest superstep, `loads` the number of
//! hosts and links whose load varies, and `parallel` the number of scenarios that run in parallel, at most the number of threads.
//! Words in upper case are constants of this module. The terms `platform`, `application` and `policy` are the memory that each of
//! them reports (`platform/assemble.rs`, `Workload::extent`, `Policy::memory`). The last six equations are the memory of whole
//! commands: `explain` is an explanation of each superstep, `page` a result page, `look` the reading of all supersteps without
//! simulation, `trace` the writing of a trace file, and `papers` the reproduction of the published runs. All rescheduling calls
//! with their decisions are counted as one call in which every process is a candidate for migration.
//!
//! The constants are measured: the growth of the peak memory (`VmHWM`) from 10⁵ to 10⁶ processes, messages or hosts, divided by
//! the growth of their number. `results/reliability.md` compares measured and estimated peaks; `tests/memory/run` repeats the
//! measurement. The estimate is computed in floating-point numbers, so that no product overflows: a sum that is far too large
//! becomes infinite at worst.

use std::fmt;

use crate::error::Problem;

/// Memory of the program itself with a small platform \[B\].
const BASE: f64 = 10e6;
/// Memory per process in a run \[B\]: for the host, the stage, the times, the work and the measurements of the process.
const PROCESS: f64 = 110.0;
/// Memory per message of the largest superstep \[B\]: the entry in the description of the superstep, and the flow in the engine.
const MESSAGE: f64 = 135.0;
/// Memory per pair of hosts whose path is stored in the engine \[B\], including the spare capacity of lists of paths, which grow
/// by doubling.
const PATH: f64 = 170.0;
/// Maximum number of host-to-host paths that the engine keeps from one superstep to the next. Without this limit, messages to
/// random destinations would fill the memory with the paths of all pairs of hosts.
pub const MOST_PATHS: usize = 1 << 21;
/// Memory per host in the engine, including the network link of the host \[B\].
const HOST: f64 = 650.0;
/// Memory per host or link whose load varies over time \[B\]: the generator of the load, and the next change of the load.
const LOAD: f64 = 700.0;
/// Memory per process in a scenario with a policy \[B\]: forecasts, potential of migration and decision of the policy.
const POLICY: f64 = 270.0;
/// Memory per message whose duration is measured for a policy \[B\].
const MEASURED: f64 = 40.0;
/// Memory of the message counts and forecasts that a policy keeps for one process and up to four clusters with which the process
/// communicates \[B\].
const PARTNERS: f64 = 300.0;
/// Memory of a message from one cluster manager to another in a rescheduling call, including the path of the message \[B\].
const MANAGERS: f64 = 550.0;
/// Memory per superstep of a scenario for the times at which the superstep starts and ends \[B\].
const DATES: f64 = 24.0;
/// Maximum memory of the cache in which a run keeps the results of supersteps for reuse by the other scenarios of the run \[B\].
pub const MEMO: usize = 64 << 20;
/// Memory of one bar on a result page, as data and as text \[B\]. A bar shows the activity of one process in one superstep.
const BAR: f64 = 30.0;
/// Memory of a result page without bars \[B\].
const PAGE: f64 = 20e6;
/// Memory per line of a trace file: the text of one computation or message, in a buffer that grows by doubling \[B\].
const LINE: f64 = 48.0;
/// Memory per superstep of the table that a command builds when it reads the supersteps of an application without simulating them
/// \[B\].
const LOOK: f64 = 100.0;
/// Memory of the record of one superstep in one scenario: its text, and the values that are parsed from the text \[B\].
const RECORD: f64 = 300.0;
/// Memory per process of the description of one superstep, including the spare capacity of its lists, which grow by doubling
/// \[B\]. The constant `MESSAGE_OF_PLAN` is the memory per message of this description.
const PROCESS_OF_PLAN: f64 = 60.0;
const MESSAGE_OF_PLAN: f64 = 48.0;
/// Memory per byte of a folder of results that is converted into a page or into the output of a command \[B\].
const BYTE: f64 = 3.0;
/// Memory per byte of a file of cases for `migsim decide` \[B\]: its text and its values as a tree.
const CASE_BYTE: f64 = 25.0;
/// Memory of the results that are kept while migsim reproduces the runs of the published papers \[B\]. The constant `RUNS` is the
/// memory of the runs that one thread simulates at a time.
const PAPER: f64 = 60e6;
const RUNS: f64 = 28e6;
/// Memory that replaces [`PAPER`] if the rules of each paper are also applied to the runs of the other papers, which causes many
/// more rescheduling calls \[B\]. The constant `CALLS` replaces [`RUNS`] in this case.
const READING: f64 = 500e6;
const CALLS: f64 = 220e6;
/// Maximum number of threads whose memory is counted in the estimate for reproducing the papers, because more threads seldom
/// simulate runs at the same time.
const SIDE_BY_SIDE: usize = 8;
/// Memory per run in the list of all runs of a sweep or study \[B\]: the settings of the run, its identifier, and its row in the
/// table of results.
const RUN: f64 = 1000.0;

/// Limits on what a command may use for an experiment (memory, files outside the folder, other programs), which are checked
/// before the experiment starts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Maximum memory of the command \[B\]; `None` if it is not limited.
    pub max_memory: Option<f64>,
    /// Number of threads of the command; each thread simulates one scenario or run at a time, which needs memory. 0 counts as 1.
    pub thread_count: usize,
    /// Purpose for which the command uses the experiment; the memory needed depends on this purpose.
    pub purpose: ExperimentPurpose,
    /// Whether a `SimGrid` platform file may include and name files that are outside its own folder.
    pub allows_outside_files: bool,
    /// Whether input files may name programs that migsim then starts.
    pub allows_starting_programs: bool,
    /// Whether no output shows the terms from which the decisions of policies follow, so that they are not kept.
    pub omits_terms: bool,
}

/// The purpose for which a command uses an experiment; the memory needed depends on this purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExperimentPurpose {
    /// The experiment is run and its results are printed.
    #[default]
    Run,
    /// The experiment is run, and its results are explained superstep by superstep.
    Explanation,
    /// The experiment is run, and its results are shown on an HTML page.
    ResultPage,
    /// The experiment is one run of a sweep; each thread simulates one run at a time.
    Sweep,
    /// The application of the experiment is written as a trace file.
    TraceFile,
    /// The supersteps of the application are read one after the other without being simulated.
    ReadingSupersteps,
}

/// The size of an experiment, as far as its memory depends on it: numbers of processes, messages and hosts, and the memory of the
/// platform, the application and the policy.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExperimentSize {
    /// Number of processes of the application.
    pub processes: f64,
    /// Number of supersteps of the application.
    pub supersteps: f64,
    /// Number of messages in the superstep that has the most messages.
    pub max_messages_per_superstep: f64,
    /// Whether all supersteps of the application are equal.
    pub has_equal_supersteps: bool,
    /// Memory that the application reports for its own data \[B\].
    pub application_memory: f64,
    /// Number of clusters of the platform.
    pub clusters: f64,
    /// Number of hosts of the platform.
    pub hosts: f64,
    /// Memory that the platform reports for its own data \[B\].
    pub platform_memory: f64,
    /// Number of hosts and links whose load varies over time.
    pub varying_load_count: f64,
    /// Number of scenarios that the experiment simulates (without a scheduler, with a scheduler, with migrations).
    pub scenario_count: usize,
    /// Whether a policy decides about migrations in at least one scenario.
    pub has_policy: bool,
    /// Memory that the policy reports for its own data \[B\].
    pub policy_memory: f64,
}

impl ExperimentSize {
    /// Returns the memory of one scenario during its simulation \[B\].
    fn scenario_memory(&self) -> f64 {
        let p = self.processes;
        let m = self.max_messages_per_superstep;
        let ever = if self.has_equal_supersteps {
            m
        } else {
            m * self.supersteps
        };
        let paths = (self.hosts * self.hosts).min(ever).min(MOST_PATHS as f64);
        let engine = p * PROCESS
            + m * MESSAGE
            + paths * PATH
            + self.hosts * HOST
            + self.varying_load_count * LOAD;
        if !self.has_policy {
            return engine;
        }
        let partners = self.clusters.min(2.0 * m / p.max(1.0));
        let policy = p * POLICY
            + m * MEASURED
            + p * (partners / 4.0).ceil() * PARTNERS
            + self.clusters * self.clusters * MANAGERS;
        engine + policy + self.policy_memory
    }

    /// Returns the estimated memory of a command \[B\], for the purpose and the number of threads in `limits`.
    pub fn needed_memory(&self, limits: Limits) -> f64 {
        let threads = limits.thread_count.max(1);
        let few = threads.min(self.scenario_count);
        let by_superstep = self.scenario_count as f64 * self.supersteps;
        match limits.purpose {
            ExperimentPurpose::Run => self.run_memory(few),
            ExperimentPurpose::Explanation => self.run_memory(few) + by_superstep * RECORD,
            ExperimentPurpose::ResultPage => {
                let bars = by_superstep * self.processes * BAR;
                self.run_memory(few) + by_superstep * RECORD + bars + PAGE
            }
            ExperimentPurpose::Sweep => self.run_memory(threads),
            ExperimentPurpose::TraceFile => {
                let lines = self.supersteps * (self.processes + self.max_messages_per_superstep);
                self.application_reading_memory() + lines * LINE
            }
            ExperimentPurpose::ReadingSupersteps => self.application_reading_memory(),
        }
    }

    /// Returns the memory of a run of all scenarios, `at_once` of which are simulated in parallel \[B\].
    fn run_memory(&self, at_once: usize) -> f64 {
        let p = self.processes;
        let m = self.max_messages_per_superstep;
        let is_remembered = self.scenario_count > 1 && self.varying_load_count <= 0.0;
        let remembered = if is_remembered {
            (MEMO as f64).min(self.supersteps * (24.0 * p + 8.0 * m + 150.0))
        } else {
            0.0
        };
        let dates = at_once.max(self.scenario_count) as f64 * self.supersteps * DATES;
        BASE + self.platform_memory
            + self.application_memory
            + at_once as f64 * self.scenario_memory()
            + dates
            + remembered
    }

    /// Returns the memory that is needed to read all supersteps of the application one after the other without simulating them
    /// \[B\].
    fn application_reading_memory(&self) -> f64 {
        let plan =
            self.processes * PROCESS_OF_PLAN + self.max_messages_per_superstep * MESSAGE_OF_PLAN;
        BASE + self.platform_memory + self.application_memory + plan + self.supersteps * LOOK
    }
}

/// Returns the memory of a command that lists the `runs` runs of a sweep or study without simulating them \[B\].
pub fn study_plan_memory(runs: f64) -> f64 {
    BASE + runs * RUN
}

/// Returns the memory that is needed to read a folder of results whose files have `bytes` bytes in total \[B\].
pub fn result_folder_memory(bytes: f64) -> f64 {
    BASE + PAGE + bytes * BYTE
}

/// Returns the memory that is needed to decide the cases of a file of `bytes` bytes one after the other \[B\].
pub fn decision_memory(bytes: usize) -> f64 {
    BASE + bytes as f64 * CASE_BYTE
}

/// Returns the memory that is needed to reproduce the runs of the published papers on `threads` threads \[B\].
pub fn paper_reproduction_memory(threads: usize) -> f64 {
    PAPER + threads.min(SIDE_BY_SIDE) as f64 * RUNS
}

/// Returns the memory that is needed to reproduce the runs of the papers with the rules of every paper \[B\]. The rules of each
/// paper are also applied to the runs of all other papers, on `threads` threads.
pub fn paper_reproduction_memory_with_all_rules(threads: usize) -> f64 {
    READING + threads.min(SIDE_BY_SIDE) as f64 * CALLS
}

/// Returns the minimum memory of any run with this number of processes, whatever its other settings \[B\].
pub fn minimum_run_memory(processes: f64) -> f64 {
    BASE + processes * PROCESS
}

impl Limits {
    /// Checks that a command does not need more memory than [`Self::max_memory`]. The argument `needed` is the estimate \[B\]; `what`
    /// (such as `the experiment`) and `details` describe the command in the message.
    ///
    /// # Errors
    /// The needed memory exceeds the limit. The error contains the estimate and proposals how to need less memory; the caller
    /// adds the position.
    pub fn check_memory(
        self,
        what: &str,
        needed: f64,
        details: impl fmt::Display,
    ) -> Result<(), Problem> {
        match self.max_memory {
            Some(limit) if needed > limit && limit < 1.0 => {
                let needed = DisplayedMemory(needed);
                let problem = Problem::new(format!(
                    "{what} would need about {needed} of memory, but the process has already reached its memory limit ({details})"
                ));
                Err(problem.hint("raise the memory limit of the shell, container or batch job (`ulimit -v`), use fewer threads, or set \
                `--memory-limit`"))
            }
            Some(limit) if needed > limit => {
                let (needed, limit) = (DisplayedMemory(needed), DisplayedMemory(limit));
                let problem = Problem::new(format!(
                    "{what} would need about {needed} of memory, more than the limit of {limit} ({details})"
                ));
                Err(problem
                    .hint("reduce the input or the number of threads (`--threads`), or set a higher `--memory-limit`"))
            }
            _ => Ok(()),
        }
    }
}

/// An amount of memory \[B\] that is displayed in a unit of suitable size.
#[derive(Clone, Copy, Debug)]
struct DisplayedMemory(f64);

impl fmt::Display for DisplayedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)]
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

    fn size() -> ExperimentSize {
        ExperimentSize {
            processes: 1e6,
            supersteps: 10.0,
            max_messages_per_superstep: 1e6,
            has_equal_supersteps: true,
            clusters: 5.0,
            hosts: 174.0,
            scenario_count: 3,
            has_policy: true,
            ..ExperimentSize::default()
        }
    }

    fn with(threads: usize, purpose: ExperimentPurpose) -> f64 {
        size().needed_memory(Limits {
            max_memory: None,
            thread_count: threads,
            purpose,
            ..Limits::default()
        })
    }

    #[test]
    fn a_run_by_hand() {
        // A scenario: 10⁶ · (110 + 135 + 270 + 40 + 300) B, 174² paths of 170 B, 174 hosts of 650 B, 5² managers of 550 B.
        let scenario = 855e6 + 30_276.0 * 170.0 + 174.0 * 650.0 + 25.0 * 550.0;
        let rest = 10e6 + 3.0 * 10.0 * 24.0 + 64.0 * 1024.0 * 1024.0;
        assert_eq!(with(1, ExperimentPurpose::Run), scenario + rest);
        // Two threads hold two scenarios; a fourth thread has nothing to do, unless there are many runs.
        assert_eq!(with(2, ExperimentPurpose::Run), 2.0 * scenario + rest);
        assert_eq!(
            with(4, ExperimentPurpose::Run),
            with(3, ExperimentPurpose::Run)
        );
        assert!(with(4, ExperimentPurpose::Sweep) > with(3, ExperimentPurpose::Sweep));
        // 3 · 10 · 10⁶ bars of 30 B.
        assert!(with(1, ExperimentPurpose::ResultPage) - with(1, ExperimentPurpose::Run) > 900e6);
    }

    #[test]
    fn a_refusal_has_both_figures_and_nothing_overflows() {
        let huge = ExperimentSize {
            processes: u64::MAX as f64,
            max_messages_per_superstep: f64::MAX,
            supersteps: f64::MAX,
            ..size()
        };
        let limits = Limits {
            max_memory: Some(2e9),
            ..Limits::default()
        };
        let told = |needed: f64| {
            let refused = limits.check_memory("the experiment", needed, "so large");
            refused.map_err(|problem| problem.message)
        };
        assert_eq!(huge.needed_memory(limits), f64::INFINITY);
        assert!(told(huge.needed_memory(limits)).is_err());
        assert_eq!(told(2e9), Ok(()));
        let expected = "the experiment would need about 12.3 GB of memory, more than the limit of 2.0 GB (so large)";
        assert_eq!(told(12.34e9), Err(expected.to_owned()));
        assert_eq!(
            Limits::default().check_memory("it", f64::INFINITY, ""),
            Ok(())
        );
    }

    #[test]
    fn figures_are_as_people_say_them() {
        let texts = [0.0, 999.0, 1e3, 123.4e6, 1.5e12, 1e21]
            .map(|bytes| DisplayedMemory(bytes).to_string());
        assert_eq!(
            texts,
            ["0.0 B", "999 B", "1.0 kB", "123 MB", "1.5 TB", "1.0e9 TB"]
        );
    }
}
