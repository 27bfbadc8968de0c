//! Defines the command line; the help, the shell completions and the manual pages are derived from this definition.
//!
//! This file lists the commands. Each command, and each group of flags that several commands share, has its own file.

mod advise;
mod bench;
mod bottlenecks;
mod calibrate;
mod compare;
mod decide;
mod explain;
mod figure;
mod form;
mod list;
mod plan;
mod platform;
mod record;
mod report;
mod reproduce;
mod run;
mod settings;
mod sweep;
mod trace;
mod tune;
mod workload;

use clap::{Parser, Subcommand};

pub(super) use advise::AdviseArguments;
pub(super) use bench::BenchArguments;
pub(super) use bottlenecks::BottleneckArguments;
pub(super) use calibrate::CalibrateArguments;
pub(super) use compare::CompareArguments;
pub(super) use decide::DecideArguments;
pub(super) use explain::{ExplainArguments, SnapshotArguments};
pub(super) use figure::parse_figure_file;
pub(super) use form::OutputFormArguments;
pub(super) use list::{Format, Listing};
pub(super) use plan::{OutputAndThreadArguments, VariedArguments};
pub(super) use platform::{PlatformCommand, PlatformFormat};
pub(super) use record::{ComputationClock, RecordArguments, RepetitionStatistic};
pub(super) use report::ReportArguments;
pub(super) use reproduce::ReproduceArguments;
pub(super) use run::{RunArguments, Viewer};
pub(super) use settings::{MemoryArguments, ScenarioChoice, SettingsArguments};
pub(super) use sweep::{MergeArguments, SweepArguments, SweepCommand};
pub(super) use trace::{TraceCommand, TraceExportArguments, TraceFormat};
pub(super) use tune::{GoalChoice, TuneArguments};
pub(super) use workload::WorkloadCommand;

/// Heading in the help above the options of `migsim bench` that define the benchmark. The following constants are the headings of
/// other groups of options.
const BENCHMARK_HEADING: &str = "Benchmark";
const COMPARISON: &str = "Comparison";
const EXPERIMENT: &str = "Experiment";
const FIGURE: &str = "Figure";
const MODEL: &str = "Model";
const OUTPUT: &str = "Output";
const POLICY: &str = "Policy";
const QUESTION: &str = "Question";
const SEARCH: &str = "Search";
const SWEEP: &str = "Sweep";
const VARIED: &str = "Varied parameters";

/// Simulates BSP applications on clusters of clusters, where a rescheduling policy migrates processes at barriers.
#[derive(Debug, Parser)]
#[command(
    name = "migsim",
    version = crate::output::version_and_commit(),
    max_term_width = 100,
    after_help = "Examples:\n  \
        migsim run --platform ufrgs.json --app lu --n 2000 --procs 50\n  \
        migsim sweep --app lu --n 1000 --procs 25 --alpha 2,4,8,16 --x 0.5..1.0:0.1 --out sweeps/lu\n  \
        migsim tune --platform ufrgs --app lu --n 1000 --procs 25\n  \
        migsim reproduce lu\n  \
        migsim list policies\n\n\
        Exit codes: 0 done, 1 a run or a comparison failed (deadlock, impossible decision), 2 bad command line or input, or output that cannot be written."
)]
pub struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run an application without rescheduling (scenario i), with calls of the policy (ii), and with calls and moves (iii)
    Run(Box<RunArguments>),
    /// Run an experiment with many values of its settings, on all cores; continue an interrupted sweep
    Sweep(Box<SweepArguments>),
    /// Explain the rescheduling calls of a run, or one of its supersteps: the trigger, the candidates, their destinations and the
    /// outcome
    #[command(
        allow_negative_numbers = true,
        after_help = "Examples:\n  \
            migsim run --app lu --n 1000 --procs 25 --out runs/why\n  \
            migsim explain runs/why\n  \
            migsim explain runs/why --superstep 11\n  \
            migsim explain runs/why --superstep 11 --why-not p7\n  \
            migsim explain --app lu --n 1000 --procs 25 --superstep 4 --process p22\n\n\
            Supersteps and processes are counted from 1. Without a run folder the experiment is run first."
    )]
    Explain(Box<ExplainArguments>),
    /// Show the decisions of policies for a barrier whose state is in a file, or the decisions of triggers for a history of loads
    #[command(
        allow_negative_numbers = true,
        after_help = "Examples:\n  \
            migsim decide barrier.json\n  \
            migsim decide barrier.json --policy greedy-refine --set tolerance=1.1\n  \
            migsim decide barrier.json --policy greedy/charm-8 --json\n  \
            migsim decide cases.json --case b007 --policy refine --set edition=charm-6.10.2\n  \
            migsim decide history.json --policy menon --policy boulmier\n\n\
            A barrier has `speeds` and `background` of the hosts, `current`, `work` or `time` of the processes, `communication`; numbers without units, \
            hosts and processes counted from 0. docs/guide/decide.md describes the keys."
    )]
    Decide(DecideArguments),
    /// Create one self-contained HTML page about a run or a sweep
    #[command(after_help = "Examples:\n  \
            migsim run --app lu --n 1000 --procs 25 --processes --out runs/processes\n  \
            migsim report runs/processes\n  \
            migsim report sweeps/lu -o lu.html\n  \
            migsim report runs/processes --figure gantt --style width=85mm -o gantt.svg\n  \
            migsim run --app lu --n 1000 --procs 25 --report lu-1000.html\n\n\
            The timeline of processes needs `--processes` of `migsim run`.")]
    Report(ReportArguments),
    /// Search for good settings of a policy with a budget of runs, and measure their gain on new seeds
    Tune(Box<TuneArguments>),
    /// Write the state at one barrier of a run as a file for `migsim decide`: loads, placement, messages, speeds
    Snapshot(Box<SnapshotArguments>),
    /// Fit the overhead and the bandwidth factor of a message-passing library to measured times of single messages
    #[command(after_help = "Examples:\n  \
            migsim calibrate --platform mine.json --table pingpong.csv --out library.json\n  \
            migsim run --platform mine.json --app lu --n 1000 --procs 25 --library library.json\n  \
            migsim calibrate --platform mine.json --table osu.txt --between a-0,a-1 --out library.json\n  \
            migsim calibrate --default -- mpirun -np 2 --mca btl tcp,self\n  \
            migsim calibrate --platform mine.json --between a-0,a-1 --out library.json -- mpirun -np 2 --host a-0,a-1\n\n\
            The table is CSV with the columns from,to,bytes,time_s (one way), or the output of osu_latency or of IMB PingPong. With a command behind `--`, \
            a ping-pong that `mpicc` compiles measures it.")]
    Calibrate(CalibrateArguments),
    /// Record an MPI program as a trace: the computation and messages of its processes
    #[command(after_help = "Examples:\n  \
            migsim record --out app.trace -- mpirun -np 8 ./program\n  \
            migsim run --platform ufrgs --app trace --trace app.trace\n\n\
            `migsim record` needs `mpicc`, which compiles the recorder on first use.")]
    Record(RecordArguments),
    /// Find what limits the speed of a run: repeat the run with one quantity changed at a time, and rank the changes by their
    /// gain
    Bottlenecks(Box<BottleneckArguments>),
    /// Choose the start and the policy for an application on a platform, or none, and measure what they gain
    Advise(Box<AdviseArguments>),
    /// Rank policies on one application, with confidence intervals, costs and the distance to a lower bound for all policies
    Compare(Box<CompareArguments>),
    /// Run policies on the cases of a benchmark suite, and print for each policy a row of results, which can be cited
    Bench(Box<BenchArguments>),
    /// Reproduce a paper: show its published values and the simulated values side by side, cell by cell
    #[command(after_help = "Examples:\n  \
            migsim reproduce\n  \
            migsim reproduce lu --out results\n  \
            migsim reproduce lu --figure times --style width=85mm,font-size=9pt\n  \
            migsim reproduce one-reading\n  \
            migsim reproduce lbm --set policy.migbsp.floor=one\n\n\
            Exit code 1 if a cell is more than 2.5 % away without a recorded reason and no setting is changed.")]
    Reproduce(ReproduceArguments),
    /// Convert applications to traces: text files with the computation and messages of each process in each superstep
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Show or convert a platform: hosts, links and routes
    #[command(subcommand)]
    Platform(PlatformCommand),
    /// Show an application: the computation and messages of its processes
    #[command(subcommand)]
    Workload(WorkloadCommand),
    /// List the names of applications, experiments, libraries, loads, papers, policies, platforms, network models or triggers
    List {
        /// The kind of names that are listed
        #[arg(value_enum)]
        what: Listing,
        #[command(flatten)]
        form: OutputFormArguments,
    },
    /// Print the JSON Schema of an input format or of a result; for traces, which are not JSON, print a description
    Schema {
        /// The input format or result whose JSON Schema is printed
        #[arg(value_enum)]
        format: Format,
    },
    /// Print the script that completes commands and flags in a shell
    #[command(
        after_help = "Example:\n  migsim completions bash > ~/.local/share/bash-completion/completions/migsim"
    )]
    Completions {
        /// The shell for which the script is printed
        shell: clap_complete::Shell,
    },
    /// Print the manual page of `migsim` or of one of its commands
    #[command(after_help = "Example:\n  migsim man run | man -l -")]
    Man {
        /// The command whose page is printed [default: `migsim` itself]
        command: Option<String>,
    },
}
