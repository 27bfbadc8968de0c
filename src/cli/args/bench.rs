//! Defines the flags of `migsim bench`.

use std::{path::PathBuf, str::FromStr as _};

use clap::Args;

use super::{
    BENCHMARK_HEADING, OUTPUT,
    plan::{OutputAndThreadArguments, parse_shard},
    settings::MemoryArguments,
};
use crate::{
    cli::{complete::text_parser, options::parse_whole_numbers},
    experiment::suite::{BenchmarkSuite, Start},
    sweep::{Shard, ValuesSpec, bench::hash_draw::ChosenDraw},
    units::Seconds,
};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    The public draw, with the default set of policies:\n    \
      migsim bench --suite lb-1 --draw 1 --cases 100 --out bench/lb-1\n  \
    A rival beside the default set, whose runs are kept in the folder:\n    \
      migsim bench --policies greedy/every=50,exec:./mylb --out bench/lb-1\n  \
    The fixed cases: recorded programs, applications of papers and measured loads:\n    \
      migsim bench --draw fixed --out bench/fixed\n  \
    The suite lb-2, from two starts, on a draw that nobody has seen, among the entries of an archive:\n    \
      migsim bench --suite lb-2 --policies exec:./mylb --draw of:mylb --against results/archive\n  \
    One case, to look at and to run by hand:\n    \
      migsim bench --case 17 --show > case17.json\n    \
      migsim compare case17.json --policies refine/menon,migbsp --seeds 1..5\n\n\
    A case is a built-in experiment: `migsim run lb-1.1.17` runs case 17 of draw 1. A ratio is the makespan over the best known of the case: \
    the least of the default set and of the stored best, seed by seed. The same command continues in its folder. docs/guide/bench.md explains \
    the rows.")]
pub(in crate::cli) struct BenchArguments {
    /// The benchmark suite whose cases are run
    #[arg(long, value_name = "NAME", value_parser = text_parser(BenchmarkSuite::names()), hide_possible_values = true, default_value = "lb-1", help_heading = BENCHMARK_HEADING)]
    pub(in crate::cli) suite: String,
    /// The number of the set of randomly drawn cases (1 is the public set), or `fixed` for the fixed cases: recorded programs,
    /// applications of papers, measured loads
    ///
    /// `of:FILE` is the draw whose number is the hash of the file without comments, such as the source of a rival: cases that its
    /// author could not know.
    #[arg(long, value_name = "N", value_parser = ChosenDraw::parse, default_value = "1", help_heading = BENCHMARK_HEADING)]
    pub(in crate::cli) draw: ChosenDraw,
    /// From which starts the policies run, each with a table: drawn, fast-first, best-static (chosen with other seeds) [default:
    /// the starts of the suite]
    #[arg(long, value_name = "STARTS", value_parser = Start::from_str, value_delimiter = ',', help_heading = BENCHMARK_HEADING)]
    pub(in crate::cli) start: Vec<Start>,
    /// A folder with the `bench.json` of earlier benchmarks, among whose rivals the policies are ranked
    #[arg(long, value_name = "DIR", conflicts_with_all = ["shard", "show"], help_heading = BENCHMARK_HEADING)]
    pub(in crate::cli) against: Option<PathBuf>,
    /// The number of cases to run, starting with case 1 [default: as many as the suite states, or all fixed cases]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000), help_heading = BENCHMARK_HEADING)]
    pub(in crate::cli) cases: Option<u64>,
    /// Policies to run in addition to the default set of the suite, separated by commas
    #[arg(long, value_name = "POLICIES", help_heading = BENCHMARK_HEADING)]
    pub(in crate::cli) policies: Option<String>,
    /// The seeds with which each case is run [default: the seeds of the suite]
    #[arg(long, value_name = "VALUES", value_parser = parse_whole_numbers, help_heading = BENCHMARK_HEADING)]
    pub(in crate::cli) seeds: Option<ValuesSpec>,
    /// The CPU time that a program (`exec:`) may use for an answer [default: 60 s]
    #[arg(long, value_name = "TIME", requires = "policies", help_heading = BENCHMARK_HEADING)]
    pub(in crate::cli) timeout: Option<Seconds>,
    /// The number of the case that `--show` prints
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000), requires = "show", help_heading = BENCHMARK_HEADING)]
    pub(in crate::cli) case: Option<u64>,
    /// Print one case (see `--case`) as an experiment file, and run nothing
    #[arg(long, requires = "case", conflicts_with_all = ["json", "format", "out"], help_heading = BENCHMARK_HEADING)]
    pub(in crate::cli) show: bool,
    /// Run only part I of N parts of the benchmark; `migsim sweep merge` joins the results of the parts
    #[arg(long, value_name = "I/N", value_parser = parse_shard, requires = "out", conflicts_with_all = ["json", "format"], help_heading = BENCHMARK_HEADING)]
    pub(in crate::cli) shard: Option<Shard>,

    /// Keep all runs in this folder (bench.json, policies.csv, classes.csv, cases.csv, best.csv, index.html); the same command
    /// continues an interrupted benchmark
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(in crate::cli) out: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) memory: MemoryArguments,
    #[command(flatten)]
    pub(in crate::cli) output_and_threads: OutputAndThreadArguments,
}
