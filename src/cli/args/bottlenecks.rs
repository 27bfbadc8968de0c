//! Defines the flags of `migsim bottlenecks`.

use std::path::PathBuf;

use clap::Args;

use super::{
    FIGURE, OUTPUT, QUESTION, VARIED,
    figure::{FigureArguments, parse_figure_file},
    plan::OutputAndThreadArguments,
    settings::SettingsArguments,
};
use crate::{cli::options::parse_whole_numbers, sweep::ValuesSpec};

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    What bounds this run, and what would a faster link gain:\n    \
      migsim bottlenecks --platform ufrgs.json --app lu --n 2000 --procs 50\n  \
    The same for a finished run, also with the decisions of this run:\n    \
      migsim bottlenecks runs/lu --hold-decisions\n  \
    Repeat one of the changes:\n    \
      migsim run --app lu --n 2000 --procs 50 --change 'cluster Corisco speed +10%'\n\n\
    Each quantity is changed by 10 % for the better, and without limit: a speed or bandwidth 10^6 times as high, a latency or a cost of 0. \
    The scenario is that of `--scenario`, or else iii (with migrations). With `--seeds` gains are means over the seeds, with their 95 % intervals."
)]
pub(in crate::cli) struct BottleneckArguments {
    /// The experiment or the run folder that is examined, and further settings
    #[command(flatten)]
    pub(in crate::cli) settings: SettingsArguments,
    /// The seeds with which each change of the platform or settings is run
    #[arg(long, value_name = "VALUES", value_parser = parse_whole_numbers, conflicts_with = "seed", help_heading = VARIED)]
    pub(in crate::cli) seeds: Option<ValuesSpec>,
    /// Rank the changes by their gains with the decisions of the unchanged run
    ///
    /// If the policy may move processes, these gains are always shown beside those with new decisions.
    #[arg(long, help_heading = QUESTION)]
    pub(in crate::cli) hold_decisions: bool,
    /// Also combine the changes with the largest gains in pairs
    ///
    /// The output shows how much the gain of a pair exceeds the sum of both single gains.
    #[arg(long, help_heading = QUESTION)]
    pub(in crate::cli) pairs: bool,
    /// Draw the gains of the changes as a figure into this SVG file
    #[arg(long, value_name = "FILE", value_parser = parse_figure_file, help_heading = FIGURE)]
    pub(in crate::cli) figure: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) figure_style: FigureArguments,
    /// Keep all runs in this folder (bottlenecks.json, quantities.csv, changes.csv, index.html); the same command continues an
    /// interrupted examination
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(in crate::cli) out: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) output_and_threads: OutputAndThreadArguments,
}
