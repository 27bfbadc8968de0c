//! Defines the flags of `migsim calibrate`.

use std::path::PathBuf;

use clap::Args;

use super::{OUTPUT, form::OutputFormArguments, settings::MemoryArguments};
use crate::cli::complete;

#[derive(Debug, Args)]
pub(crate) struct CalibrateArguments {
    /// The platform on which the table of messages was measured: a file (JSON or `SimGrid` XML) or a built-in name. Not needed if
    /// all processes ran on one host
    #[arg(long, value_name = "FILE", required_unless_present_any = ["program", "decisions"], value_parser = complete::platform_parser(), hide_possible_values = true)]
    pub platform: Option<String>,
    /// The table of measured messages: CSV with the columns `from,to,bytes,time_s`, or the output of `osu_latency` or IMB
    /// `PingPong`
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present_any = ["program", "decisions"],
        conflicts_with_all = ["program", "decisions"]
    )]
    pub table: Option<PathBuf>,
    /// Measure the processor time of decisions of these policies on this machine, instead of messages, and fit a formula for each
    #[arg(
        long,
        value_name = "POLICY,...",
        value_delimiter = ',',
        conflicts_with = "program"
    )]
    pub decisions: Vec<String>,
    /// The two hosts of the messages if the table does not name them, or the hosts on which the command after `--` starts its
    /// processes
    #[arg(long, value_name = "HOST,HOST")]
    pub between: Option<String>,
    /// The library whose values are kept for all settings that are not fitted (see `migsim list libraries`), or a library file
    /// [default: the library of the measured MPI, else open-mpi]
    #[arg(long, value_name = "NAME|FILE", value_parser = complete::library_parser(), hide_possible_values = true)]
    pub library: Option<String>,
    /// Write the calibrated library into this file, which `--library` accepts
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,
    /// Keep the calibrated library as the default for recorded traces that have no library; `--library` overrides it
    #[arg(long, help_heading = OUTPUT)]
    pub default: bool,
    /// Write the library even if the fit is doubtful; without this flag, a doubtful fit writes nothing and exits with 1
    #[arg(long, help_heading = OUTPUT)]
    pub accept: bool,
    /// The command after `--` that starts two MPI processes, which measure the times of messages between them
    #[arg(value_name = "COMMAND", last = true)]
    pub program: Vec<String>,
    #[command(flatten)]
    pub form: OutputFormArguments,
    #[command(flatten)]
    pub memory: MemoryArguments,
}
