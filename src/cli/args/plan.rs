//! Defines the flags of the commands that simulate many runs: `sweep`, `tune` and `compare`.

use clap::Args;

use super::{
    OUTPUT, VARIED,
    form::OutputFormArguments,
    settings::{SettingsArguments, parse_pair},
};
use crate::{
    cli::{options::parse_whole_numbers, threads},
    sweep::{Shard, ValuesSpec},
};

/// The flags that define an experiment and the parameters that are varied in its runs.
#[derive(Debug, Args)]
pub(crate) struct VariedArguments {
    #[command(flatten)]
    pub settings: SettingsArguments,

    /// Run the experiment with each of several values of a key
    ///
    /// A key is a path or a short name: policy, platform and others, or the name of a flag of an application or policy.
    #[arg(long, value_name = "KEY=VALUES", value_parser = parse_pair, help_heading = VARIED)]
    pub vary: Vec<(String, String)>,
    /// The seeds with which each combination of values is run
    #[arg(long, value_name = "VALUES", value_parser = parse_whole_numbers, conflicts_with = "seed", help_heading = VARIED)]
    pub seeds: Option<ValuesSpec>,
}

/// The flags of a command that simulates many runs, for its output and the number of threads.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct OutputAndThreadArguments {
    #[command(flatten)]
    pub form: OutputFormArguments,
    /// Print no progress, and no result unless `--json` or `--format` requests one
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
    /// The number of threads that simulate runs in parallel; at most 1024 [default: one per core]
    #[arg(long, short = 'j', value_name = "N", value_parser = threads::thread_count_parser(), help_heading = OUTPUT)]
    pub threads: Option<usize>,
}

/// Parses which part of the runs is simulated, written as `I/N` (part I of N parts).
pub(super) fn parse_shard(text: &str) -> Result<Shard, String> {
    let wrong = || {
        format!(
            "`{text}` is not a part of a sweep; write 1/4 for the first of four parts, 2/4 for the second, and so on"
        )
    };
    let (part, of) = text.split_once('/').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    let part = number(part)?;
    let of = number(of)?;
    if part == 0 || part > of {
        return Err(wrong());
    }
    Ok(Shard {
        index: part - 1,
        part_count: of,
    })
}
