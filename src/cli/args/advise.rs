//! Defines the flags of `migsim advise`.

use std::path::PathBuf;

use clap::Args;

use super::{
    OUTPUT, SEARCH,
    plan::{OutputAndThreadArguments, VariedArguments},
};
use crate::sweep::{advise::POLICIES, separate::Indifference};

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    Which start and which policy on the own machine:\n    \
      migsim advise --platform mine.json --app trace --trace app.trace --library open-mpi\n  \
    Only some policies, and half of the application in the first round:\n    \
      migsim advise --app synthetic --procs 20 --policies never,migbsp,refine --first 50%\n\n\
    All pairs of start and policy are simulated on the first part of the application, and the best of them on all of it. The gain of the choice is then measured with 20 other seeds, \
    on work that is disturbed by 2 %, against the best start without moves."
)]
pub(in crate::cli) struct AdviseArguments {
    #[command(flatten)]
    pub(in crate::cli) varied: VariedArguments,

    /// The policies among which to choose, separated by commas
    ///
    /// Between policies that differ by less than the margin of indifference, the first one is taken, and none before all.
    #[arg(long, value_name = "POLICIES", default_value = POLICIES, hide_default_value = true, help_heading = SEARCH)]
    pub(in crate::cli) policies: String,
    /// The part of the supersteps that is simulated with all pairs of start and policy
    #[arg(long, value_name = "SHARE", default_value = "25%", value_parser = parse_percent, help_heading = SEARCH)]
    pub(in crate::cli) first: usize,
    /// Margin of indifference in percent of the makespan: smaller differences do not count
    #[arg(long, value_name = "PERCENT", default_value = "0.5%", help_heading = SEARCH)]
    pub(in crate::cli) indifference: Indifference,
    /// The maximum number of runs
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = SEARCH)]
    pub(in crate::cli) budget: u32,

    /// Keep all runs in this folder; the same command continues an interrupted search
    ///
    /// The folder contains advise.json and index.html.
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(in crate::cli) out: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) output_and_threads: OutputAndThreadArguments,
}

fn parse_percent(text: &str) -> Result<usize, String> {
    let percent = text.trim_end_matches('%').trim().parse().ok();
    let percent = percent.filter(|percent| (1..=100).contains(percent));
    percent.ok_or_else(|| {
        format!(
            "`{text}` is not a part of the application; write a whole percentage, for example 25%"
        )
    })
}
