//! Defines the flags of `migsim decide`.

use std::path::PathBuf;

use clap::Args;

use super::settings::parse_pair;
use crate::units::Bytes;

#[derive(Debug, Args)]
pub(crate) struct DecideArguments {
    /// The JSON file with the state at a barrier, with a history of loads, or with a list of states and histories
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// A policy, or a trigger for a history, with its variant if any (greedy/charm-8), or a program (exec:./mylb); repeatable
    /// [default: all]
    #[arg(long = "policy", value_name = "NAME")]
    pub named: Vec<String>,
    /// An option of the named policies (edition=charm-8), or of the cost model (price.latency, price.bandwidth, price.operation)
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub settings: Vec<(String, String)>,
    /// Decide only the case with this name from the list in the file; repeatable [default: all]
    #[arg(long = "case", value_name = "NAME")]
    pub cases: Vec<String>,
    /// The seed of policies that use random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// Refuse a file whose decisions need more memory than this ("8 GB") [default: the memory available to the command]
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<Bytes>,
    /// Print the decisions as JSON
    #[arg(long)]
    pub json: bool,
}
