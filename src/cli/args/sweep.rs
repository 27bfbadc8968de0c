//! Defines the flags of `migsim sweep` and `migsim sweep merge`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    OUTPUT, SWEEP,
    form::OutputFormArguments,
    plan::{OutputAndThreadArguments, VariedArguments, parse_shard},
};
use crate::sweep::{Shard, separate::Indifference};

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
    Two halves on two hosts, merged:\n    \
      migsim sweep sweep.json --shard 1/2 --out half-1    (and 2/2, half-2)\n    \
      migsim sweep merge half-1 half-2 --out whole\n\n\
    Values are lists (2,4,8), ranges with both ends (1..5, 0.1..0.9:0.1, \"10..50:10 ms\") or both. Whole loads and applications are names with \
    their parameters behind them (--load none,walk,step=0.1,on-off; --vary workload=lu,n=500,sw,n=25). A row equals the result of `migsim run` with the \
    same flags and --set KEY=VALUE; a parameter that changes nothing is refused. The same command continues an interrupted sweep \
    and keeps its rows. Exit code 1 if runs failed: their rows have the reason."
)]
pub(in crate::cli) struct SweepArguments {
    #[command(subcommand)]
    pub(in crate::cli) command: Option<SweepCommand>,
    #[command(flatten)]
    pub(in crate::cli) varied: VariedArguments,

    /// Combine the first values of all parameters, then their second values, and so on, instead of running every combination
    #[arg(long, group = "combination", help_heading = SWEEP)]
    pub(in crate::cli) zip: bool,
    /// Run N different combinations of values that are drawn at random
    #[arg(long, value_name = "N", group = "combination", help_heading = SWEEP)]
    pub(in crate::cli) random: Option<u64>,
    /// Run N combinations of values, drawn such that the values of each parameter are evenly spread (Latin hypercube)
    #[arg(long, value_name = "N", group = "combination", help_heading = SWEEP)]
    pub(in crate::cli) latin: Option<u64>,
    /// The seed of the random choices of `--random` and `--latin` [default: 1]
    #[arg(long, value_name = "SEED", help_heading = SWEEP)]
    pub(in crate::cli) draw_seed: Option<u64>,
    /// Smallest difference between two makespans that counts, in percent of the best makespan
    ///
    /// Two makespans whose difference is smaller are treated as equal.
    #[arg(long, value_name = "PERCENT", default_value = "0.5%", help_heading = SWEEP)]
    pub(in crate::cli) indifference: Indifference,
    /// Run only part I of N parts of the sweep; `migsim sweep merge` joins the results of the parts
    #[arg(long, value_name = "I/N", value_parser = parse_shard, conflicts_with_all = ["json", "format"], help_heading = SWEEP)]
    pub(in crate::cli) shard: Option<Shard>,

    /// Keep the results in this folder
    ///
    /// The default is a folder below sweeps/ with the name of the application.
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Print the number of runs and their time, and run nothing
    #[arg(long, conflicts_with_all = ["json", "format"], help_heading = OUTPUT)]
    pub(in crate::cli) dry_run: bool,
    /// Print the sweep as a sweep file, and run nothing
    #[arg(long, conflicts_with_all = ["dry_run", "json", "format"], help_heading = OUTPUT)]
    pub(in crate::cli) show: bool,
    #[command(flatten)]
    pub(in crate::cli) output_and_threads: OutputAndThreadArguments,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum SweepCommand {
    /// Join the results of the parts of a sweep (see `--shard`) in one folder
    #[command(after_help = "Example:\n  migsim sweep merge shards/* --out whole")]
    Merge(MergeArguments),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct MergeArguments {
    /// The folders that contain the parts of the sweep
    #[arg(required = true, value_name = "DIR")]
    pub(in crate::cli) folders: Vec<PathBuf>,
    /// Write the merged sweep into this folder
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) out: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) form: OutputFormArguments,
    /// Print only errors, and the result if `--format csv` or `--json` requests it
    #[arg(long, short)]
    pub(in crate::cli) quiet: bool,
}
