//! Defines the flags of the commands about one superstep of a run: `migsim explain` and `migsim snapshot`.

use std::path::PathBuf;

use clap::Args;

use super::{OUTPUT, QUESTION, settings::SettingsArguments};
use crate::units::{InvalidProcessNumber, ProcessId};

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The experiment or the run folder, and further settings
    #[command(flatten)]
    pub settings: SettingsArguments,
    /// The superstep after which the rescheduling call takes place, counted from 1
    ///
    /// Without it, an overview of all calls is printed.
    #[arg(long, value_name = "N", value_parser = parse_whole_number, help_heading = QUESTION)]
    pub superstep: Option<u64>,
    /// Explain what happened to this process, written as in the output (p24) or as a number (24)
    #[arg(long, value_name = "P", value_parser = parse_process, requires = "superstep", help_heading = QUESTION)]
    pub process: Option<u64>,
    /// Explain why this process was not moved
    #[arg(long, value_name = "P", value_parser = parse_process, requires = "superstep", conflicts_with = "process", help_heading = QUESTION)]
    pub why_not: Option<u64>,
    /// Print the sentences and the numbers in them as JSON
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// Also write the answer as an HTML page into this file
    ///
    /// If the answer is the overview, the page describes each call in words.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  migsim snapshot --app lu --n 1000 --procs 25 --superstep 100 --out barrier.json\n  migsim decide barrier.json"
)]
pub(crate) struct SnapshotArguments {
    /// The experiment or the run folder, and further settings
    #[command(flatten)]
    pub settings: SettingsArguments,
    /// The superstep at whose end the barrier is, counted from 1
    #[arg(long, value_name = "N", value_parser = parse_whole_number, help_heading = QUESTION)]
    pub superstep: u64,
    /// Write the state at the barrier into this file [default: standard output]
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,
}

/// Parses a text as a whole number that is not negative.
fn parse_whole_number(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "it must be a whole number of at least 0".to_owned())
}

/// Parses the number of a process, written as `p24` or `24`.
fn parse_process(text: &str) -> Result<u64, String> {
    let process: ProcessId = text
        .parse()
        .map_err(|error: InvalidProcessNumber| error.to_string())?;
    Ok(u64::from(process.0) + 1)
}
