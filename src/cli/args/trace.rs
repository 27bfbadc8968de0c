//! Defines the flags of `migsim trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{OUTPUT, settings::SettingsArguments};

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Write the application of an experiment as a trace, which `--app trace` runs, or as data for the programs vt and LBAF
    #[command(
        allow_negative_numbers = true,
        after_help = "Examples:\n  \
            migsim trace export --platform ufrgs.json --app lu --n 500 --procs 25 --out lu.trace\n\n\
            The first three lines have the command that repeats the run. The trace has the work, the messages, the memory, the hosts and the runtime. The trace contains no costs and no policy. \
            `migsim schema trace` describes the format.\n\n\
            As data of vt, one file per rank, for LBAF:\n  \
            migsim trace export --app lu --n 500 --procs 25 --format vt --out lb/lu\n\n\
            The same with the places that a policy decided, for vt's offline balancer:\n  \
            migsim trace export --app vt --data nolb/data --platform ufrgs --policy greedy-refine --format vt --moves --out lb/moved"
    )]
    Export(Box<TraceExportArguments>),
}

#[derive(Debug, Args)]
pub(crate) struct TraceExportArguments {
    #[command(flatten)]
    pub settings: SettingsArguments,
    /// Write the trace into this file [default: standard output]; with `--format vt`, the beginning of the names: `lb/lu` writes
    /// lb/lu.0.json, ...
    #[arg(long, value_name = "FILE|PREFIX", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,
    /// The format of the file: trace, or vt (a JSON file per rank, as DARMA/vt writes and LBAF reads)
    #[arg(long, value_enum, default_value = "trace", help_heading = OUTPUT)]
    pub format: TraceFormat,
    /// With `--format vt`: run scenario iii, and write each process to the host to which the policy moved it, in the form that
    /// vt's offline balancer reads
    #[arg(long, help_heading = OUTPUT)]
    pub moves: bool,
}

/// The format in which an application is exported as a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    Trace,
    Vt,
}
