//! Defines the flags of `migsim compare`.

use std::path::PathBuf;

use clap::Args;

use super::{
    COMPARISON, OUTPUT,
    plan::{OutputAndThreadArguments, VariedArguments, parse_shard},
};
use crate::sweep::{Shard, separate::Indifference};

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    Five policies under loads of 20 seeds:\n    \
      migsim compare --app lu --n 1000 --procs 25 --policies never,migbsp,greedy-refine/menon,greedy/every=50,refine --load walk --seeds 1..20\n  \
    How far from the best plan that a search finds afterwards:\n    \
      migsim compare --app sw --n 25 --policies migbsp,greedy-refine,refine --hindsight 200\n\n  \
    Which policy is best where:\n    \
      migsim compare --app synthetic --procs 20 --seeds 1..5 --map workload.spread=0,0.5,1,costs.move.fixed=0s,0.1s,1s\n\n\
    A policy is a name, behind a slash its edition and its trigger (greedy/charm-8, greedy/every=50; see `migsim list policies` and `list triggers`). \
    Scenarios i and iii are run with the same seeds for all; differences are taken seed by seed. A rank is 1 + the number of policies that are faster by more than the margin of indifference: with several seeds significantly so, at 95 %, \
    corrected for the number of comparisons by Holm's method."
)]
pub(in crate::cli) struct CompareArguments {
    #[command(flatten)]
    pub(in crate::cli) varied: VariedArguments,
    /// Run folders: two or more are compared as they are, and nothing is simulated
    #[arg(value_name = "RUN", value_hint = clap::ValueHint::DirPath)]
    pub(in crate::cli) others: Vec<PathBuf>,

    /// The policies to compare, separated by commas
    ///
    /// The default is never,migbsp,greedy,greedy-refine,refine.
    #[arg(long, value_name = "POLICIES", help_heading = COMPARISON)]
    pub(in crate::cli) policies: Option<String>,
    /// Margin of indifference in percent of the best makespan: smaller differences do not count
    #[arg(long, value_name = "PERCENT", default_value = "0.5%", help_heading = COMPARISON)]
    pub(in crate::cli) indifference: Indifference,
    /// Search with N runs for each seed for the best schedule of rescheduling calls and moves in hindsight, and show how much
    /// slower each policy is than this schedule
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = COMPARISON)]
    pub(in crate::cli) hindsight: Option<u32>,
    /// Simulate all schedules of rescheduling calls and moves of a small case, and show how much slower each policy is than the
    /// optimum
    #[arg(long, conflicts_with_all = ["hindsight", "map"], help_heading = COMPARISON)]
    pub(in crate::cli) optimum: bool,
    /// Search for the best supersteps after which to call each policy, with single calls at N barriers, and show how much slower
    /// the policy is with its trigger
    #[arg(long, value_name = "BARRIERS", value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "map", help_heading = COMPARISON)]
    pub(in crate::cli) when: Option<u32>,
    /// Show the fastest policy for each pair of values of two varied parameters
    #[arg(long, value_name = "KEY=VALUES,KEY=VALUES", conflicts_with = "hindsight", help_heading = COMPARISON)]
    pub(in crate::cli) map: Option<String>,
    /// Omit the fastest static start (scenario i from the initial placement of each built-in mapping rule), which is shown on
    /// platforms that no paper used
    #[arg(long, help_heading = COMPARISON)]
    pub(in crate::cli) no_static_starts: bool,
    /// Run only part I of N parts of the comparison; `migsim sweep merge` joins the results of the parts
    #[arg(long, value_name = "I/N", value_parser = parse_shard, requires = "out", conflicts_with_all = ["json", "format"], help_heading = COMPARISON)]
    pub(in crate::cli) shard: Option<Shard>,

    /// Keep all runs in this folder; the same command continues an interrupted comparison
    ///
    /// The folder contains runs.csv, compare.json and index.html.
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(in crate::cli) out: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) output_and_threads: OutputAndThreadArguments,
}
