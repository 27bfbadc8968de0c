//! The flags of `migsim calibrate`.

use std::path::PathBuf;

use clap::Args;

use super::OUTPUT;
use super::form::FormArguments;
use super::settings::MemoryArguments;
use crate::cli::complete;

#[derive(Debug, Args)]
pub(in crate::cli) struct CalibrateArguments {
    /// The platform on which the table was measured: a file (JSON or `SimGrid` XML) or a built-in name
    #[arg(long, value_name = "FILE", value_parser = complete::platforms(), hide_possible_values = true)]
    pub(in crate::cli) platform: String,
    /// The table: CSV with the columns `from,to,bytes,time_s`, or the output of `osu_latency` or IMB `PingPong`
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) table: PathBuf,
    /// The hosts of a table that does not name them
    #[arg(long, value_name = "HOST,HOST")]
    pub(in crate::cli) between: Option<String>,
    /// The library to start from (see `migsim list libraries`), or a file
    #[arg(long, value_name = "NAME|FILE", default_value = "open-mpi", value_parser = complete::libraries(), hide_possible_values = true)]
    pub(in crate::cli) library: String,
    /// Write the library into this file, for `--library`
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Write the library even if the fit is doubted; without it, a doubted fit writes nothing and exits with 1
    #[arg(long, help_heading = OUTPUT)]
    pub(in crate::cli) accept: bool,
    #[command(flatten)]
    pub(in crate::cli) form: FormArguments,
    #[command(flatten)]
    pub(in crate::cli) memory: MemoryArguments,
}
