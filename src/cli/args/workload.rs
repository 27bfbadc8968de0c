//! Defines the flags of `migsim workload`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{OUTPUT, form::OutputFormArguments, settings::SettingsArguments};

#[derive(Debug, Subcommand)]
pub(crate) enum WorkloadCommand {
    /// Show the application of an experiment: work, imbalance, messages and h-relation over its supersteps
    #[command(
        allow_negative_numbers = true,
        after_help = "Examples:\n  migsim workload show --app lu --n 2000 --procs 50\n  migsim workload show --app sw --n 25 --svg sw.svg\n  migsim workload show experiment.json --format json"
    )]
    Show(Box<WorkloadShowArguments>),
}

#[derive(Debug, Args)]
pub(crate) struct WorkloadShowArguments {
    #[command(flatten)]
    pub settings: SettingsArguments,
    /// Also draw work, imbalance, messages and h-relation into this SVG file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub svg: Option<PathBuf>,
    /// The maximum number of rows of the table; each row is a superstep or a range of supersteps
    #[arg(long, value_name = "N", default_value_t = 12, help_heading = OUTPUT)]
    pub rows: usize,
    #[command(flatten)]
    pub form: OutputFormArguments,
}
