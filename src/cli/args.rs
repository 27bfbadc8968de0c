//! The definition of the command line; help, completions and manual pages derive from it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::complete::{self, one_of};
use super::options::{OptionValues, parse_counts};
use super::threads;
use crate::bsp::Scenario;
use crate::figure;
use crate::output::Form;
use crate::sweep::{Shard, Spec};
use crate::units::{Bytes, InstructionsPerSecond, NoProcess, ProcessId};

/// Headings of help, over the options of one subject.
const COMPARISON: &str = "Comparison";
const EXPERIMENT: &str = "Experiment";
const FIGURE: &str = "Figure";
const MODEL: &str = "Model";
const OUTPUT: &str = "Output";
const POLICY: &str = "Policy";
const QUESTION: &str = "Question";
const SEARCH: &str = "Search";
const SLURM: &str = "Slurm";
const SWEEP: &str = "Sweep";
const VARIED: &str = "Varied parameters";

/// Simulates BSP applications on clusters of clusters, where a rescheduling policy migrates processes at barriers.
#[derive(Debug, Parser)]
#[command(
    name = "migsim",
    version,
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
    /// Run an application under scenarios i (application only), ii (calls, no moves) and iii (calls and moves)
    Run(Box<RunArguments>),
    /// Run an experiment with many values of its settings, on all cores; continue an interrupted sweep
    Sweep(Box<SweepArguments>),
    /// Explain the calls of a run, or one superstep: the trigger, the candidates, their destinations and the outcome
    #[command(
        allow_negative_numbers = true,
        after_help = "Examples:\n  \
            migsim run --app lu --n 1000 --procs 25 --out runs/a\n  \
            migsim explain runs/a\n  \
            migsim explain runs/a --superstep 11\n  \
            migsim explain runs/a --superstep 11 --why-not p7\n  \
            migsim explain --app lu --n 1000 --procs 25 --superstep 4 --process p22\n\n\
            Supersteps and processes are counted from 1. Without a run folder the experiment is run first."
    )]
    Explain(Box<ExplainArguments>),
    /// Show the decisions of policies at a barrier from a file, or of triggers for a history of loads
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
    /// Make one self-contained HTML page of a run or of a sweep
    #[command(after_help = "Examples:\n  \
            migsim run --app lu --n 1000 --procs 25 --processes --out runs/a\n  \
            migsim report runs/a\n  \
            migsim report sweeps/lu -o lu.html\n  \
            migsim report runs/a --figure gantt --format pdf --width 85mm -o gantt.pdf\n  \
            migsim run --app lu --n 1000 --procs 25 --report lu-1000.html\n\n\
            The timeline of processes needs `--processes` of `migsim run`.")]
    Report(ReportArguments),
    /// Search good settings of a policy with a budget of runs, and measure their gain on fresh seeds
    Tune(Box<TuneArguments>),
    /// Write one barrier of a run as a file for `decide`: loads, places, messages, speeds
    Snapshot(Box<SnapshotArguments>),
    /// Fit a message-passing library to measured times of single messages: overhead and bandwidth factor
    #[command(after_help = "Examples:\n  \
            migsim calibrate --platform mine.json --table pingpong.csv --out library.json\n  \
            migsim run --platform mine.json --app lu --n 1000 --procs 25 --library library.json\n  \
            migsim calibrate --platform mine.json --table osu.txt --between a-0,a-1 --out library.json\n\n\
            The table is CSV with the columns from,to,bytes,time_s (one way), or the output of osu_latency or of IMB PingPong.")]
    Calibrate(CalibrateArguments),
    /// Record an MPI program as a trace: the computation and messages of its processes
    #[command(after_help = "Examples:\n  \
            migsim record --out app.trace -- mpirun -np 8 ./program\n  \
            migsim run --platform ufrgs --app trace --trace app.trace\n\n\
            It needs `mpicc`, which compiles the recorder on first use.")]
    Record(RecordArguments),
    /// Rank policies on one application, with confidence intervals, prices and the distance to a bound for all policies
    Compare(Box<CompareArguments>),
    /// Reproduce a paper: published beside simulated values, cell by cell
    #[command(after_help = "Examples:\n  \
            migsim reproduce\n  \
            migsim reproduce lu --out results\n  \
            migsim reproduce lu --figure times --format pdf --width 85mm --font-size 8pt\n  \
            migsim reproduce one-reading\n  \
            migsim reproduce audit --out results\n\n\
            Exit code 1 if a cell is more than 2.5 % away without a recorded reason.")]
    Reproduce(ReproduceArguments),
    /// Traces: text files with the computation and messages of each process in each superstep
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Platforms: hosts, links and routes
    #[command(subcommand)]
    Platform(PlatformCommand),
    /// Applications: the computation and messages of their processes
    #[command(subcommand)]
    Workload(WorkloadCommand),
    /// List names: applications, experiments, libraries, loads, papers, policies, platforms, network models, triggers
    List {
        /// The kind of names
        #[arg(value_enum)]
        what: Listing,
        #[command(flatten)]
        form: FormArguments,
    },
    /// Print the JSON Schema of an input format; for traces, which are not JSON, the description
    Schema {
        /// The format
        #[arg(value_enum)]
        format: Format,
    },
    /// Print shell completions
    #[command(
        after_help = "Example:\n  migsim completions bash > ~/.local/share/bash-completion/completions/migsim"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of `migsim` or of one of its commands
    #[command(after_help = "Example:\n  migsim man run | man -l -")]
    Man {
        /// The command (none: `migsim` itself)
        command: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum TraceCommand {
    /// Write the application of an experiment as a trace, which `--app trace` runs, or as data for vt and LBAF
    #[command(
        allow_negative_numbers = true,
        after_help = "Examples:\n  \
            migsim trace export --platform ufrgs.json --app lu --n 500 --procs 25 --out lu.trace\n  \
            head -3 lu.trace                     lines 1 to 3 have the command that repeats the run\n\n\
            The trace has the work, the messages, the memory, the hosts and the runtime. The trace contains no costs and no policy. \
            `migsim schema trace` describes the format.\n\n\
            As data of vt, one file per rank, for LBAF:\n  \
            migsim trace export --app lu --n 500 --procs 25 --format vt --out lb/lu\n\n\
            The same with the places that a policy decided, for vt's offline balancer:\n  \
            migsim trace export --app vt --data nolb/data --platform ufrgs --policy greedy-refine --format vt --moves --out lb/moved"
    )]
    Export(Box<TraceExportArguments>),
}

#[derive(Debug, Args)]
pub(super) struct TraceExportArguments {
    #[command(flatten)]
    pub(super) settings: SettingsArguments,
    /// Write the trace into this file [default: standard output]; with `--format vt` the begin of the names: `lb/lu` is lb/lu.0.json, ...
    #[arg(long, value_name = "FILE|PREFIX", help_heading = OUTPUT)]
    pub(super) out: Option<PathBuf>,
    /// The format: trace, or vt (a JSON file per rank, as DARMA/vt writes and LBAF reads)
    #[arg(long, value_enum, default_value = "trace", help_heading = OUTPUT)]
    pub(super) format: TraceFormat,
    /// With `--format vt`: run scenario iii and write each process where the policy put it, as vt's offline balancer reads it
    #[arg(long, help_heading = OUTPUT)]
    pub(super) moves: bool,
}

/// The format of an exported application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TraceFormat {
    Trace,
    Vt,
}

#[derive(Debug, Subcommand)]
pub(super) enum PlatformCommand {
    /// Show a platform: clusters and hosts, routes between clusters, unused links, oddities
    #[command(
        after_help = "Examples:\n  migsim platform show ufrgs\n  migsim platform show platform.xml --svg platform.svg\n  migsim platform show ufrgs --format csv"
    )]
    Show {
        /// The platform: a file (JSON or SimGrid XML) or a built-in name
        #[arg(value_parser = complete::platforms(), hide_possible_values = true)]
        platform: String,
        /// The clusters of a platform of zones: zone (those that hold hosts), level=N (below the outermost), name, or a CSV file
        /// (`host,cluster`)
        #[arg(long, value_name = "zone|level=N|name|FILE")]
        clusters: Option<String>,
        /// Also draw the clusters (or the tree of zones) and their routes into this SVG file
        #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
        svg: Option<PathBuf>,
        /// The largest number of rows of each table
        #[arg(long, value_name = "N", default_value_t = 40, help_heading = OUTPUT)]
        rows: usize,
        #[command(flatten)]
        form: FormArguments,
        #[command(flatten)]
        memory: MemoryArguments,
    },
    /// Write a platform in another format
    #[command(
        after_help = "Example:\n  migsim platform export ufrgs.json --format simgrid --out ufrgs.xml\n\n\
            Profiles become files beside the platform."
    )]
    Export {
        /// The platform: a file (JSON or SimGrid XML) or a built-in name
        #[arg(value_parser = complete::platforms(), hide_possible_values = true)]
        platform: String,
        /// The format
        #[arg(long, value_enum, default_value = "simgrid")]
        format: PlatformFormat,
        /// Write the platform into this file [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        memory: MemoryArguments,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum WorkloadCommand {
    /// Show the application of an experiment: work, imbalance, messages and h-relation over its supersteps
    #[command(
        allow_negative_numbers = true,
        after_help = "Examples:\n  migsim workload show --app lu --n 2000 --procs 50\n  migsim workload show --app sw --n 25 --svg sw.svg\n  migsim workload show experiment.json --format json"
    )]
    Show(Box<WorkloadShowArguments>),
}

#[derive(Debug, Args)]
pub(super) struct WorkloadShowArguments {
    #[command(flatten)]
    pub(super) settings: SettingsArguments,
    /// Also draw the application into this SVG file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) svg: Option<PathBuf>,
    /// The largest number of rows, each a superstep or a range of supersteps
    #[arg(long, value_name = "N", default_value_t = 12, help_heading = OUTPUT)]
    pub(super) rows: usize,
    #[command(flatten)]
    pub(super) form: FormArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum PlatformFormat {
    /// SimGrid's XML, version 4.1, which 3.x and 4.x read
    Simgrid,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Listing {
    Apps,
    Experiments,
    Libraries,
    Loads,
    Papers,
    Policies,
    Platforms,
    Networks,
    Triggers,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Format {
    #[value(alias = "zones")]
    Platform,
    Experiment,
    Sweep,
    Trace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ScenarioChoice {
    /// Application only
    I,
    /// The policy decides and its calls are paid, no process moves
    Ii,
    /// Migrations happen and are paid
    Iii,
    /// All three
    All,
}

impl ScenarioChoice {
    /// The scenarios that are meant by all of `choices`, each once and in their order; none if nothing is chosen.
    pub(super) fn scenarios(choices: &[Self]) -> Vec<Scenario> {
        let is_chosen = |scenario: &Scenario| {
            choices.contains(&Self::All)
                || choices.contains(&match scenario {
                    Scenario::I => Self::I,
                    Scenario::Ii => Self::Ii,
                    Scenario::Iii => Self::Iii,
                })
        };
        Scenario::ALL.into_iter().filter(is_chosen).collect()
    }
}

/// The form of printed results.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct FormArguments {
    /// Print as aligned columns (in colour on a terminal), Markdown, CSV or JSON [default: table]
    #[arg(long, value_parser = one_of(&FORMS), help_heading = OUTPUT)]
    format: Option<Form>,
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format", help_heading = OUTPUT)]
    json: bool,
}

/// The forms of printed results, by name.
const FORMS: [(&str, Form); 4] = [
    ("table", Form::Table),
    ("markdown", Form::Markdown),
    ("csv", Form::Csv),
    ("json", Form::Json),
];

impl FormArguments {
    /// The chosen form.
    pub(super) fn form(self) -> Form {
        let json = self.json.then_some(Form::Json);
        json.or(self.format).unwrap_or_default()
    }

    /// The form to print under `--quiet`: only one that was requested.
    pub(super) fn form_unless(self, is_quiet: bool) -> Option<Form> {
        let is_asked_for = self.json || self.format.is_some();
        (is_asked_for || !is_quiet).then(|| self.form())
    }
}

/// A viewer of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Viewer {
    /// Perfetto, and Chrome's trace viewer
    Perfetto,
    /// `ViTE` and the tools of Paje
    Paje,
}

#[derive(Debug, Args)]
pub(super) struct ExplainArguments {
    /// The experiment or the run folder, and what else is set
    #[command(flatten)]
    pub(super) settings: SettingsArguments,
    /// The superstep after which processes moved, or stayed [default: an overview of all calls]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = QUESTION)]
    pub(super) superstep: Option<u64>,
    /// One process, written as in output: p24, or 24
    #[arg(long, value_name = "P", value_parser = parse_process, requires = "superstep", help_heading = QUESTION)]
    pub(super) process: Option<u64>,
    /// Explain why this process stayed
    #[arg(long, value_name = "P", value_parser = parse_process, requires = "superstep", conflicts_with = "process", help_heading = QUESTION)]
    pub(super) why_not: Option<u64>,
    /// Print the sentences and the numbers behind them as JSON
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
    /// Write the answer as an HTML page into this file, too; the overview then has each call in words
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  migsim snapshot --app lu --n 1000 --procs 25 --superstep 100 --out barrier.json\n  migsim decide barrier.json"
)]
pub(super) struct SnapshotArguments {
    /// The experiment or the run folder, and what else is set
    #[command(flatten)]
    pub(super) settings: SettingsArguments,
    /// The superstep before the barrier, counted from 1
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = QUESTION)]
    pub(super) superstep: u64,
    /// Write into this file [default: standard output]
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct RecordArguments {
    /// Write the trace into this file
    #[arg(long, value_name = "FILE", default_value = "app.trace")]
    pub(super) out: PathBuf,
    /// The speed of the hosts that recorded: the work of the trace is time x speed
    #[arg(long, value_name = "SPEED", default_value = "1 GHz")]
    pub(super) speed: InstructionsPerSecond,
    /// The time that is computation: all between two calls, or that of the processor alone
    #[arg(long, value_enum, default_value = "wall")]
    pub(super) clock: RecordClock,
    /// Make the trace from the records kept in this folder by an earlier recording; start no program
    #[arg(long, value_name = "DIR", conflicts_with = "program")]
    pub(super) from: Option<PathBuf>,
    /// The command that starts the program, behind `--`
    #[arg(value_name = "COMMAND", required_unless_present = "from", last = true)]
    pub(super) program: Vec<String>,
}

/// The clock that measures computation.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum RecordClock {
    /// The wall clock.
    Wall,
    /// The time of the processor that the process uses.
    Cpu,
}

#[derive(Debug, Args)]
pub(super) struct CalibrateArguments {
    /// The platform on which the table was measured: a file (JSON or `SimGrid` XML) or a built-in name
    #[arg(long, value_name = "FILE", value_parser = complete::platforms(), hide_possible_values = true)]
    pub(super) platform: String,
    /// The table: CSV with the columns `from,to,bytes,time_s`, or the output of `osu_latency` or IMB `PingPong`
    #[arg(long, value_name = "FILE")]
    pub(super) table: PathBuf,
    /// The hosts of a table that does not name them
    #[arg(long, value_name = "HOST,HOST")]
    pub(super) between: Option<String>,
    /// The library to start from (see `migsim list libraries`), or a file
    #[arg(long, value_name = "NAME|FILE", default_value = "open-mpi", value_parser = complete::libraries(), hide_possible_values = true)]
    pub(super) library: String,
    /// Write the library into this file, for `--library`
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) form: FormArguments,
    #[command(flatten)]
    pub(super) memory: MemoryArguments,
}

#[derive(Debug, Args)]
pub(super) struct DecideArguments {
    /// A barrier, a history of loads, or a list of them (JSON)
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// A policy, or a trigger for a history, with its variant if any (greedy/charm-8); repeatable [default: all]
    #[arg(long = "policy", value_name = "NAME")]
    pub(super) named: Vec<String>,
    /// An option of the named policies (edition=charm-8), or of the price (price.latency, price.bandwidth, price.operation)
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub(super) settings: Vec<(String, String)>,
    /// One case of a list, by its name; repeatable [default: all]
    #[arg(long = "case", value_name = "NAME")]
    pub(super) cases: Vec<String>,
    /// Seed of randomised policies
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(super) seed: u64,
    /// Print the decisions as JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ReportArguments {
    /// The folder that `migsim run --out`, `sweep`, `tune --out` or `compare --out` has written
    #[arg(value_name = "FOLDER")]
    pub(super) folder: PathBuf,
    /// Write the page into this file [default: report.html in the folder]; with `--figure` the figure [default: NAME.FORMAT]
    #[arg(long, short, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Draw a figure for an article instead: gantt, makespan, placement or supersteps of a run, lines or heat of a sweep; all: each into the
    /// folder `--out` [default: here]; list: print the figures that the folder has
    #[arg(long, value_name = "NAME", help_heading = FIGURE)]
    pub(super) figure: Option<String>,
    /// The format of the figure [default: that of the file `--out`, or svg]
    #[arg(long, value_parser = one_of(&FIGURES), requires = "figure", help_heading = FIGURE)]
    pub(super) format: Option<figure::Format>,
    #[command(flatten)]
    pub(super) style: FigureArguments,
    #[command(flatten)]
    pub(super) memory: MemoryArguments,
}

/// The formats of figures, by name.
const FIGURES: [(&str, figure::Format); 3] = [
    ("svg", figure::Format::Svg),
    ("pdf", figure::Format::Pdf),
    ("png", figure::Format::Png),
];

/// The look of a figure.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct FigureArguments {
    /// The width of the figure on paper: 40 to 420 mm, in mm, cm, in or pt
    #[arg(long, value_name = "LENGTH", default_value = "85mm", requires = "figure", help_heading = FIGURE)]
    width: figure::Length,
    /// The size of all its letters: 6 to 24 pt
    #[arg(long, value_name = "SIZE", default_value = "8pt", requires = "figure", help_heading = FIGURE)]
    font_size: figure::Points,
    /// The language of its labels: English or Portuguese
    #[arg(long, value_parser = one_of(&LANGUAGES), default_value = "en", requires = "figure", help_heading = FIGURE)]
    language: figure::Language,
    /// The pixels per inch of PNG: 72 to 1200
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(72..=1200), requires = "figure", help_heading = FIGURE)]
    dpi: u32,
}

/// The languages of figures, by name.
const LANGUAGES: [(&str, figure::Language); 2] = [
    ("en", figure::Language::English),
    ("pt", figure::Language::Portuguese),
];

impl FigureArguments {
    /// The look that was chosen.
    pub(super) fn style(self) -> figure::Style {
        figure::Style {
            width: self.width,
            font_size: self.font_size,
            language: self.language,
            dpi: self.dpi,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct ReproduceArguments {
    /// The paper (see `migsim list papers`); all; one-reading: the rules of each paper applied to every other; reality: programs measured on
    /// MPI; audit: held-out predictions, sensitivity and ablation of all papers (takes minutes)
    #[arg(default_value = "all", value_parser = complete::papers(), hide_possible_values = true)]
    pub(super) paper: String,
    /// For one-reading: search the best single set of rules for all papers, one option at a time, starting from the rules of this paper (or
    /// `default`); takes many minutes
    #[arg(long, value_name = "PAPER", conflicts_with = "out")]
    pub(super) search: Option<String>,
    /// Also write a Markdown page, a CSV table and figures per paper into this folder; with `--figure` only the figure [default: here]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Print as aligned columns (in colour on a terminal), Markdown, CSV or JSON [default: table]; with `--figure` svg, pdf or png [default: svg]
    #[arg(long, value_parser = one_of(&REPRODUCE), help_heading = OUTPUT)]
    pub(super) format: Option<ReproduceFormat>,
    /// The same as `--format json`
    #[arg(long, conflicts_with_all = ["format", "figure"], help_heading = OUTPUT)]
    json: bool,
    /// Draw a figure for an article instead, into the file PAPER-NAME.FORMAT: errors, gains, overheads, times or all; list: print them
    #[arg(long, value_name = "NAME", conflicts_with = "search", help_heading = FIGURE)]
    pub(super) figure: Option<String>,
    #[command(flatten)]
    pub(super) style: FigureArguments,
    /// Print no progress, and no result unless `--json` or `--format` asks for one
    #[arg(long, short)]
    pub(super) quiet: bool,
    /// Threads: papers and their runs are simulated in parallel; at most 1024 [default: one per core]
    #[arg(long, short = 'j', value_name = "N", value_parser = threads::parser(), help_heading = OUTPUT)]
    pub(super) threads: Option<usize>,
    #[command(flatten)]
    pub(super) memory: MemoryArguments,
}

/// The form in which a reproduction is printed, or its figures are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReproduceFormat {
    Tables(Form),
    Figures(figure::Format),
}

/// The forms of a reproduction, by name.
const REPRODUCE: [(&str, ReproduceFormat); 7] = [
    ("table", ReproduceFormat::Tables(Form::Table)),
    ("markdown", ReproduceFormat::Tables(Form::Markdown)),
    ("csv", ReproduceFormat::Tables(Form::Csv)),
    ("json", ReproduceFormat::Tables(Form::Json)),
    ("svg", ReproduceFormat::Figures(figure::Format::Svg)),
    ("pdf", ReproduceFormat::Figures(figure::Format::Pdf)),
    ("png", ReproduceFormat::Figures(figure::Format::Png)),
];

impl ReproduceArguments {
    /// The form of tables.
    pub(super) fn form(&self) -> FormArguments {
        let format = match self.format {
            Some(ReproduceFormat::Tables(form)) => Some(form),
            _ => None,
        };
        FormArguments {
            format,
            json: self.json,
        }
    }

    /// The format of figures; none if it is one of tables or not given.
    pub(super) fn figure_format(&self) -> Option<figure::Format> {
        match self.format {
            Some(ReproduceFormat::Figures(format)) => Some(format),
            _ => None,
        }
    }
}

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    The LU paper's main case, all scenarios:\n    \
      migsim run --platform ufrgs.json --app lu --n 2000 --procs 50\n  \
    The same with other parameters of the policy, results in a folder:\n    \
      migsim run --app lu --n 1000 --procs 25 --alpha 8 --x 0.9 --out runs/lu-1000\n  \
    Any key of the experiment by its path:\n    \
      migsim run --app lu --set policy.migbsp.delta=0.3 --set costs.move.order=parallel\n  \
    Other constants of the network:\n    \
      migsim run --app lu --network cm02 --net tcp_gamma=20000 --net crosstraffic=true\n  \
    A trace on a SimGrid platform:\n    \
      migsim run --platform platform.xml --app trace --trace trace.txt --scenario i --out out\n  \
    Under a background load, of the hosts and of the links between clusters:\n    \
      migsim run --app sw --n 25 --load ar,mean=0.4 --load on-off,on=links\n  \
    An HTML page beside the table:\n    \
      migsim run --app lu --n 1000 --procs 25 --report lu.html\n  \
    An experiment file; flags win over it:\n    \
      migsim run experiment.json --n 500\n\n\
    Settings come from the built-in experiment of the application (for `lu`: the values of the LU paper), then the experiment \
    file, then the flags; later ones win. `--show` prints the result."
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switch is a flag of its own"
)]
pub(super) struct RunArguments {
    #[command(flatten)]
    pub(super) settings: SettingsArguments,

    /// Write the results into this folder
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(super) out: Option<PathBuf>,
    /// Replace a run of other settings in the folder
    #[arg(long, help_heading = OUTPUT)]
    pub(super) force: bool,
    /// Also write the activity of each process in each superstep (processes.csv) and the traffic of the links (links.csv)
    #[arg(long, requires = "out", help_heading = OUTPUT)]
    pub(super) processes: bool,
    /// Also make one HTML page [default of FILE: report.html, in the folder of `--out` if given]
    #[arg(long, value_name = "FILE", num_args = 0..=1, value_parser = parse_page, help_heading = OUTPUT)]
    #[expect(
        clippy::option_option,
        reason = "how clap tells a flag without its value"
    )]
    pub(super) report: Option<Option<PathBuf>>,
    /// Also write the timeline of each process for a viewer: perfetto (trace-iii.perfetto.json), paje (trace-iii.paje), or both with a
    /// comma
    #[arg(long, value_enum, value_name = "VIEWER", value_delimiter = ',', requires = "out", help_heading = OUTPUT)]
    pub(super) write_trace: Vec<Viewer>,
    #[command(flatten)]
    pub(super) form: FormArguments,
    /// Print no progress, and no result unless `--json` or `--format` asks for one
    #[arg(long, short, help_heading = OUTPUT)]
    pub(super) quiet: bool,
    /// Print the complete settings as an experiment file and run nothing
    #[arg(long, help_heading = OUTPUT)]
    pub(super) show: bool,
    /// Skip the best static start: scenario i from the start of each built-in mapping, on platforms that no paper used
    #[arg(long, help_heading = OUTPUT)]
    pub(super) no_static_starts: bool,
    /// Threads: scenarios run in parallel; at most 1024 [default: one per scenario]
    #[arg(long, short = 'j', value_name = "N", value_parser = threads::parser(), help_heading = OUTPUT)]
    pub(super) threads: Option<usize>,
}

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
    Every combination of three parameters:\n    \
      migsim sweep --app sw --n 25 --procs 25 --alpha 2,4,8,16 --d 0.1..0.9:0.1 --omega 1..5 --out sweeps/sw25\n  \
    The number of runs and their time:\n    \
      migsim sweep --app sw --n 25 --alpha 2,4,8,16 --dry-run\n  \
    Any key of the experiment, 200 settings spread evenly:\n    \
      migsim sweep --app lu --n 1000 --procs 25 --vary policy.migbsp.delta=0.0..1.0 --vary costs.move.order=serial,parallel --latin 200\n  \
    Two halves on two machines, merged:\n    \
      migsim sweep sweep.json --shard 1/2 --out half-1    (and 2/2, half-2)\n    \
      migsim sweep merge half-1 half-2 --out whole\n\n\
    Values are lists (2,4,8), ranges with both ends (1..5, 0.1..0.9:0.1, \"10..50:10 ms\") or both. Whole loads and applications are names with \
    their parameters behind them (--load none,walk,step=0.1,on-off; --vary workload=lu,n=500,sw,n=25). A row equals the result of `migsim run` with the \
    same flags and --set KEY=VALUE; a parameter that changes nothing is refused. The same command continues an interrupted sweep \
    and keeps its rows. Exit code 1 if runs failed: their rows have the reason."
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switch is a flag of its own"
)]
pub(super) struct SweepArguments {
    #[command(subcommand)]
    pub(super) command: Option<SweepCommand>,
    #[command(flatten)]
    pub(super) varied: VariedArguments,

    /// Take the values of all parameters in step instead of every combination
    #[arg(long, group = "combination", help_heading = SWEEP)]
    pub(super) zip: bool,
    /// Draw N different combinations
    #[arg(long, value_name = "N", group = "combination", help_heading = SWEEP)]
    pub(super) random: Option<u64>,
    /// Draw N combinations that spread the values of each parameter evenly (Latin hypercube)
    #[arg(long, value_name = "N", group = "combination", help_heading = SWEEP)]
    pub(super) latin: Option<u64>,
    /// Seed of `--random` and `--latin` [default: 1]
    #[arg(long, value_name = "SEED", help_heading = SWEEP)]
    pub(super) draw_seed: Option<u64>,
    /// Do only the I-th of N parts of the plan, for `migsim sweep merge`
    #[arg(long, value_name = "I/N", value_parser = parse_shard, conflicts_with_all = ["json", "format"], help_heading = SWEEP)]
    pub(super) shard: Option<Shard>,

    /// Run the parts of the plan as a job array of Slurm, wait for it and merge; the same command resubmits preempted and failed parts
    #[arg(long, group = "on_slurm", requires = "shards", conflicts_with = "shard", help_heading = SLURM)]
    pub(super) slurm: bool,
    /// Print the script of the job array and submit nothing
    #[arg(long, group = "on_slurm", requires = "shards", conflicts_with = "shard", help_heading = SLURM)]
    pub(super) slurm_dry_run: bool,
    /// The number of parts, each a task of the array
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), requires = "on_slurm", help_heading = SLURM)]
    pub(super) shards: Option<u32>,
    /// An option of sbatch, such as partition=short or time=00:30:00
    #[arg(long = "sbatch-option", value_name = "OPTION", allow_hyphen_values = true, requires = "shards", help_heading = SLURM)]
    pub(super) sbatch_options: Vec<String>,

    /// Keep the results in this folder [default: sweeps/ and the name of the application]
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(super) out: Option<PathBuf>,
    /// Print the number of runs and an estimate of their time, and run nothing
    #[arg(long, conflicts_with_all = ["json", "format"], help_heading = OUTPUT)]
    pub(super) dry_run: bool,
    /// Print the sweep as a sweep file and run nothing
    #[arg(long, conflicts_with_all = ["dry_run", "json", "format"], help_heading = OUTPUT)]
    pub(super) show: bool,
    #[command(flatten)]
    pub(super) output: PlanArguments,
}

/// The output and the threads of a command that does the runs of a plan.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct PlanArguments {
    #[command(flatten)]
    pub(super) form: FormArguments,
    /// Print no progress, and no result unless `--json` or `--format` asks for one
    #[arg(long, short, help_heading = OUTPUT)]
    pub(super) quiet: bool,
    /// Threads: runs are done in parallel; at most 1024 [default: one per core]
    #[arg(long, short = 'j', value_name = "N", value_parser = threads::parser(), help_heading = OUTPUT)]
    pub(super) threads: Option<usize>,
}

/// An experiment and its varied parameters.
#[derive(Debug, Args)]
pub(super) struct VariedArguments {
    #[command(flatten)]
    pub(super) settings: SettingsArguments,

    /// Vary any key of the experiment by its path, or one with a short name (the flags of applications and policies, policy, platform, ...)
    #[arg(long, value_name = "KEY=VALUES", value_parser = parse_pair, help_heading = VARIED)]
    pub(super) vary: Vec<(String, String)>,
    /// The seeds of each setting
    #[arg(long, value_name = "VALUES", value_parser = parse_counts, conflicts_with = "seed", help_heading = VARIED)]
    pub(super) seeds: Option<Spec>,
}

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    α, D, ω and x over their usual ranges:\n    \
      migsim tune --platform ufrgs --app lu --n 1000 --procs 25\n  \
    Under a background load, 8 seeds for the search and 20 others to compare with the defaults:\n    \
      migsim tune --app sw --n 25 --load walk --seeds 1..8 --fresh 101..120 --budget 2000\n  \
    Other keys, or other ranges:\n    \
      migsim tune --app lu --n 1000 --procs 25 --alpha 2,4,8,16 --vary policy.migbsp.delta=0.0..1.0:0.1\n\n\
    Only flags with several values vary. Without such a flag, the options of the policy with a usual range vary, except those given one value. \
    The search is successive halving over seeds (Jamieson and Talwalkar 2016) and then compass search (Kolda, Lewis and Torczon 2003)."
)]
pub(super) struct TuneArguments {
    #[command(flatten)]
    pub(super) varied: VariedArguments,

    /// The measure to optimise
    #[arg(long, value_enum, default_value = "makespan", help_heading = SEARCH)]
    pub(super) goal: GoalChoice,
    /// The number of runs of the search; the comparison on fresh seeds is not counted
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = SEARCH)]
    pub(super) budget: u32,
    /// The seeds on which the best setting is compared with the defaults [default: the 20 after those of the search]
    #[arg(long, value_name = "VALUES", value_parser = parse_counts, help_heading = SEARCH)]
    pub(super) fresh: Option<Spec>,
    /// Seed of the search
    #[arg(long, value_name = "SEED", default_value_t = 1, help_heading = SEARCH)]
    pub(super) draw_seed: u64,

    /// Keep all runs in this folder (runs.csv, tune.json, index.html); the same command continues there
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: PlanArguments,
}

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    Five policies under loads of 20 seeds:\n    \
      migsim compare --app lu --n 1000 --procs 25 --policies never,migbsp,greedy-refine/menon,greedy/every=50,refine --load walk --seeds 1..20\n  \
    How far from the best plan that a search finds afterwards:\n    \
      migsim compare --app sw --n 25 --policies migbsp,greedy-refine,refine --hindsight 200\n\n  \
    Which policy is best where:\n    \
      migsim compare --app synthetic --procs 20 --seeds 1..5 --map workload.spread=0,0.5,1,costs.move.fixed=0,0.1,1s\n\n\
    A policy is a name, behind a slash its edition and its trigger (greedy/charm-8, greedy/every=50; see `migsim list policies` and `list triggers`). \
    Scenarios i and iii are run with the same seeds for all; differences are taken seed by seed. Policies that do not differ from the best share its rank."
)]
pub(super) struct CompareArguments {
    #[command(flatten)]
    pub(super) varied: VariedArguments,
    /// Run folders: two or more are compared as they are, and nothing is run
    #[arg(value_name = "RUN", value_hint = clap::ValueHint::DirPath)]
    pub(super) others: Vec<PathBuf>,

    /// The policies, separated by commas [default: never,migbsp,greedy,greedy-refine,refine]
    #[arg(long, value_name = "POLICIES", help_heading = COMPARISON)]
    pub(super) policies: Option<String>,
    /// Search for the best plan in hindsight, with N runs for each seed
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = COMPARISON)]
    pub(super) hindsight: Option<u32>,
    /// Search for the best supersteps to call each policy at, with single calls at N barriers (the regret of its trigger)
    #[arg(long, value_name = "BARRIERS", value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "map", help_heading = COMPARISON)]
    pub(super) when: Option<u32>,
    /// Show the fastest policy at each pair of values of two parameters
    #[arg(long, value_name = "KEY=VALUES,KEY=VALUES", conflicts_with = "hindsight", help_heading = COMPARISON)]
    pub(super) map: Option<String>,
    /// Skip the best static start: scenario i from the start of each built-in mapping, on platforms that no paper used
    #[arg(long, help_heading = COMPARISON)]
    pub(super) no_static_starts: bool,
    /// Do only the I-th of N parts of the runs, for `migsim sweep merge`
    #[arg(long, value_name = "I/N", value_parser = parse_shard, requires = "out", conflicts_with_all = ["json", "format"], help_heading = COMPARISON)]
    pub(super) shard: Option<Shard>,

    /// Keep all runs in this folder (runs.csv, compare.json, index.html); the same command continues there
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: PlanArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum GoalChoice {
    /// The least makespan of scenario iii
    Makespan,
    /// The largest gain of scenario iii over i, for parameters that change the work itself
    Gain,
}

#[derive(Debug, Subcommand)]
pub(super) enum SweepCommand {
    /// Join the folders of the parts of a sweep (`--shard`); their order does not matter
    #[command(after_help = "Example:\n  migsim sweep merge shards/* --out whole")]
    Merge(MergeArguments),
}

#[derive(Debug, Args)]
pub(super) struct MergeArguments {
    /// The folders
    #[arg(required = true, value_name = "DIR")]
    pub(super) folders: Vec<PathBuf>,
    /// Keep the whole in this folder
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,
    #[command(flatten)]
    pub(super) form: FormArguments,
    /// Print only errors, and the result if `--format csv` or `--json` asks for it
    #[arg(long, short)]
    pub(super) quiet: bool,
}

/// The simulated experiment, and flags that win over it.
#[derive(Debug, Args)]
pub(super) struct SettingsArguments {
    /// An experiment: a file (JSON; see `migsim schema experiment`) or a built-in name; for `explain` also a run folder
    #[arg(value_parser = complete::experiments(), hide_possible_values = true)]
    pub(super) experiment: Option<PathBuf>,

    /// The platform: a file (JSON or SimGrid XML) or a built-in name
    #[arg(long, value_name = "FILE", value_parser = complete::platforms(), hide_possible_values = true, help_heading = EXPERIMENT)]
    pub(super) platform: Option<String>,
    /// The clusters of a platform of zones: zone (those that hold hosts), level=N (below the outermost), name, or a CSV file
    /// (`host,cluster`)
    #[arg(long, value_name = "zone|level=N|name|FILE", help_heading = EXPERIMENT)]
    pub(super) clusters: Option<String>,
    /// The application (see `migsim list apps`)
    #[arg(long, value_name = "NAME", hide_possible_values = true, help_heading = EXPERIMENT)]
    pub(super) app: Option<String>,
    /// The first host of each process: contiguous, round-robin, by-core, by-speed, fast-first (for some hosts alone:
    /// by-core:epyc,old-3), names of hosts and clusters separated by commas, or a CSV file (`process,host`)
    #[arg(long, value_name = "RULE|HOSTS|FILE", help_heading = EXPERIMENT)]
    pub(super) mapping: Option<String>,
    /// The scenarios: one, several separated by commas, or all
    #[arg(long, value_enum, value_name = "SCENARIO", value_delimiter = ',', help_heading = EXPERIMENT)]
    pub(super) scenario: Vec<ScenarioChoice>,
    /// Seed of all random choices: of load, policy and application, unless `--set workload.seed=N` gives the application its own
    #[arg(long, value_parser = parse_counts, help_heading = EXPERIMENT)]
    pub(super) seed: Option<Spec>,

    /// Background load of hosts and links: a kind (see `migsim list loads`) and its parameters; repeatable; `none` disables it. In a sweep
    /// one flag holds several loads: `none,walk,step=0.1,on-off` are three
    #[arg(long, value_name = "KIND[,KEY=VALUE]...", hide_possible_values = true, help_heading = EXPERIMENT)]
    pub(super) load: Vec<String>,

    /// The policy (see `migsim list policies`)
    #[arg(long, value_name = "NAME", hide_possible_values = true, help_heading = POLICY)]
    pub(super) policy: Option<String>,
    /// The trigger of the policy's calls (see `migsim list triggers`); MigBSP and others have their own
    #[arg(long, value_name = "NAME[=VALUE]", hide_possible_values = true, help_heading = POLICY)]
    pub(super) trigger: Option<String>,
    /// The flags of applications and policies
    #[command(flatten)]
    pub(super) options: OptionValues,

    /// The network model (see `migsim list networks`)
    #[arg(long, value_name = "NAME", value_parser = complete::networks(), hide_possible_values = true, help_heading = MODEL)]
    pub(super) network: Option<String>,
    /// The message-passing library (see `migsim list libraries`), or a file that `migsim calibrate` wrote; flags win over it
    #[arg(long, value_name = "NAME|FILE", value_parser = complete::libraries(), hide_possible_values = true, help_heading = MODEL)]
    pub(super) library: Option<String>,
    /// Replace a constant of the network model
    #[arg(long = "net", value_name = "KEY=VALUE", value_parser = parse_pair, help_heading = MODEL)]
    pub(super) constants: Vec<(String, String)>,
    /// Replace any key of the experiment by its path; wins over the other flags
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_pair, help_heading = MODEL)]
    pub(super) settings: Vec<(String, String)>,

    #[command(flatten)]
    pub(super) memory: MemoryArguments,
}

/// The memory that the command may use, and the files.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct MemoryArguments {
    /// Refuse runs above this estimated memory ("8 GB") before they start [default: the memory available to the command]
    #[arg(long, value_name = "SIZE", help_heading = OUTPUT)]
    pub(super) memory_limit: Option<Bytes>,

    /// Allow `<include>` in SimGrid platforms to read files outside the folder of the platform
    #[arg(long, help_heading = OUTPUT)]
    pub(super) include_outside: bool,
}

fn parse_count(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "it must be a whole number that is not negative".to_owned())
}

/// The number of a process: `p24` or `24`.
fn parse_process(text: &str) -> Result<u64, String> {
    let process: ProcessId = text.parse().map_err(|error: NoProcess| error.to_string())?;
    Ok(u64::from(process.0) + 1)
}

/// A page is named as one: what follows `--report` may be meant for an experiment.
fn parse_page(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_page = path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("html") || end.eq_ignore_ascii_case("htm"));
    if is_page {
        Ok(path)
    } else {
        Err("the name of a page ends in .html; an experiment stands before `--report`".to_owned())
    }
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let wrong = || format!("`{text}` is not a part of a plan; write 1/4, 2/4, ... for four parts");
    let (part, of) = text.split_once('/').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    let (part, of) = (number(part)?, number(of)?);
    if part == 0 || part > of {
        return Err(wrong());
    }
    Ok(Shard {
        index: part - 1,
        of,
    })
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(format!("`{text}` is not of the form KEY=VALUE")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read() {
        assert_eq!(parse_pair("a.b = 1=2"), Ok(("a.b".into(), "1=2".into())));
        assert!(parse_pair("=1").is_err() && parse_pair("a").is_err());
    }
}
