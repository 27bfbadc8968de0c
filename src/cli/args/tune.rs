//! Defines the flags of `migsim tune`.

use std::{path::PathBuf, str::FromStr as _};

use clap::{Args, ValueEnum};

use super::{
    OUTPUT, SEARCH,
    plan::{OutputAndThreadArguments, VariedArguments},
};
use crate::{
    cli::{complete::text_parser, options::parse_whole_numbers},
    experiment::suite::{BenchmarkSuite, CaseSet},
    sweep::{ValuesSpec, separate::Indifference},
};

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    α, D, ω and x over their usual ranges:\n    \
      migsim tune --platform ufrgs --app lu --n 1000 --procs 25\n  \
    Under a background load, 8 seeds for the search and 20 others to compare with the defaults:\n    \
      migsim tune --app sw --n 25 --load walk --seeds 1..8 --fresh 101..120 --budget 2000\n  \
    Over the cases of a suite, with the loss on cases that did not choose:\n    \
      migsim tune --suite lb-2 --draw 1 --cases 1..60 --policy migbsp --budget 2000\n  \
    Other keys, or other ranges:\n    \
      migsim tune --app lu --n 1000 --procs 25 --alpha 2,4,8,16 --vary policy.migbsp.delta=0.0..1.0:0.1\n\n\
    Only flags with several values vary. Without such a flag, the options of the policy with a usual range vary, except those given one value. \
    The search is successive halving over seeds (Jamieson and Talwalkar 2016) and then compass search (Kolda, Lewis and Torczon 2003)."
)]
pub(in crate::cli) struct TuneArguments {
    #[command(flatten)]
    pub(in crate::cli) varied: VariedArguments,

    /// Search over the cases of this benchmark suite instead of an experiment, and judge the search by cross-validation
    ///
    /// The search has one seed for each case.
    #[arg(long, value_name = "NAME", value_parser = text_parser(BenchmarkSuite::names()), hide_possible_values = true, conflicts_with_all = ["experiment", "fresh", "goal", "indifference"], help_heading = SEARCH)]
    pub(in crate::cli) suite: Option<String>,
    /// The draw of the suite
    #[arg(long, value_name = "N", value_parser = CaseSet::from_str, default_value_t = CaseSet::RandomDraw(1), requires = "suite", help_heading = SEARCH)]
    pub(in crate::cli) draw: CaseSet,
    /// The cases of the draw [default: 1..60]
    #[arg(long, value_name = "VALUES", value_parser = parse_whole_numbers, requires = "suite", help_heading = SEARCH)]
    pub(in crate::cli) cases: Option<ValuesSpec>,
    /// The quantity that the search minimises or maximises
    #[arg(long, value_enum, default_value = "makespan", help_heading = SEARCH)]
    pub(in crate::cli) goal: GoalChoice,
    /// Smallest gain that counts, in percent of the time with the default settings
    ///
    /// A smaller gain is treated as no gain.
    #[arg(long, value_name = "PERCENT", default_value = "0.5%", help_heading = SEARCH)]
    pub(in crate::cli) indifference: Indifference,
    /// The number of runs of the search
    ///
    /// The runs that compare the best setting with the default settings on new seeds are not counted.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = SEARCH)]
    pub(in crate::cli) budget: u32,
    /// New seeds on which the best setting is compared with the default settings
    ///
    /// The default is the 20 seeds that follow the seeds of the search.
    #[arg(long, value_name = "VALUES", value_parser = parse_whole_numbers, help_heading = SEARCH)]
    pub(in crate::cli) fresh: Option<ValuesSpec>,
    /// The seed of the random choices of the search
    #[arg(long, value_name = "SEED", default_value_t = 1, help_heading = SEARCH)]
    pub(in crate::cli) draw_seed: u64,

    /// Keep all runs in this folder; the same command continues an interrupted search
    ///
    /// The folder contains runs.csv, tune.json and index.html.
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(in crate::cli) out: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) output_and_threads: OutputAndThreadArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum GoalChoice {
    /// The smallest makespan of scenario iii (with migrations)
    Makespan,
    /// The largest gain of scenario iii (with migrations) over scenario i (application only), for parameters that also change
    /// scenario i
    Gain,
}
