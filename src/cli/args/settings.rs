//! The flags of an experiment, which most commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{EXPERIMENT, MODEL, OUTPUT, POLICY};
use crate::bsp::Scenario;
use crate::cli::complete;
use crate::cli::options::{OptionValues, parse_counts};
use crate::sweep::Spec;
use crate::units::Bytes;

/// The simulated experiment, and flags that win over it.
#[derive(Debug, Args)]
pub(in crate::cli) struct SettingsArguments {
    /// An experiment: a JSON file or a built-in name (see `migsim list experiments`)
    ///
    /// `migsim schema experiment` describes the file. `migsim explain` and `migsim snapshot` take a run folder, too.
    #[arg(value_parser = complete::experiments(), hide_possible_values = true)]
    pub(in crate::cli) experiment: Option<PathBuf>,

    /// The platform: a file (JSON or SimGrid XML) or a built-in name
    #[arg(long, value_name = "FILE", value_parser = complete::platforms(), hide_possible_values = true, help_heading = EXPERIMENT)]
    pub(in crate::cli) platform: Option<String>,
    /// The clusters of a platform of zones: zone (those that hold hosts), level=N (below the outermost), name, or a CSV file
    /// (`host,cluster`)
    #[arg(long, value_name = "zone|level=N|name|FILE", help_heading = EXPERIMENT)]
    pub(in crate::cli) clusters: Option<String>,
    /// The application (see `migsim list apps`)
    #[arg(long, value_name = "NAME", hide_possible_values = true, help_heading = EXPERIMENT)]
    pub(in crate::cli) app: Option<String>,
    /// The first host of each process: a rule, a list of hosts or a CSV file
    ///
    /// The rules are contiguous, round-robin, by-core, by-speed and fast-first; `by-core:epyc,old-3` applies a rule to some hosts only. A list
    /// has names of hosts and clusters, separated by commas. A CSV file has the columns `process,host`.
    #[arg(long, value_name = "RULE|HOSTS|FILE", help_heading = EXPERIMENT)]
    pub(in crate::cli) mapping: Option<String>,
    /// The scenarios: one, several separated by commas, or all
    #[arg(long, value_enum, value_name = "SCENARIO", value_delimiter = ',', help_heading = EXPERIMENT)]
    pub(in crate::cli) scenario: Vec<ScenarioChoice>,
    /// Seed of all random choices: load, policy and application
    ///
    /// `--set workload.seed=N` gives the application a seed of its own.
    #[arg(long, value_parser = parse_counts, help_heading = EXPERIMENT)]
    pub(in crate::cli) seed: Option<Spec>,

    /// Background load of hosts and links (see `migsim list loads`)
    ///
    /// A kind and its parameters; repeatable; `none` disables it. In a sweep one flag holds several loads: `none,walk,step=0.1,on-off` are
    /// three.
    #[arg(long, value_name = "KIND[,KEY=VALUE]...", hide_possible_values = true, help_heading = EXPERIMENT)]
    pub(in crate::cli) load: Vec<String>,

    /// Change one quantity of the case, such as 'link wan bandwidth +10%' or 'cluster ICE speed unlimited' (see the guide on bottlenecks);
    /// repeatable; replaces the changes of a file
    #[arg(long = "change", value_name = "CHANGE", help_heading = EXPERIMENT)]
    pub(in crate::cli) changes: Vec<String>,

    /// The policy (see `migsim list policies`)
    #[arg(long, value_name = "NAME", hide_possible_values = true, help_heading = POLICY)]
    pub(in crate::cli) policy: Option<String>,
    /// The trigger of the policy's calls (see `migsim list triggers`); MigBSP and others have their own
    #[arg(long, value_name = "NAME[=VALUE]", hide_possible_values = true, help_heading = POLICY)]
    pub(in crate::cli) trigger: Option<String>,
    /// The flags of applications and policies
    #[command(flatten)]
    pub(in crate::cli) options: OptionValues,

    /// The network model (see `migsim list networks`)
    #[arg(long, value_name = "NAME", value_parser = complete::networks(), hide_possible_values = true, help_heading = MODEL)]
    pub(in crate::cli) network: Option<String>,
    /// The message-passing library (see `migsim list libraries`), or a file that `migsim calibrate` wrote; flags win over it
    #[arg(long, value_name = "NAME|FILE", value_parser = complete::libraries(), hide_possible_values = true, help_heading = MODEL)]
    pub(in crate::cli) library: Option<String>,
    /// Replace a constant of the network model
    #[arg(long = "net", value_name = "KEY=VALUE", value_parser = parse_pair, help_heading = MODEL)]
    pub(in crate::cli) constants: Vec<(String, String)>,
    /// Set any key of the experiment by its path
    ///
    /// It wins over the other flags. The page *Settings* of the book and `migsim run --show` list the keys.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_pair, help_heading = MODEL)]
    pub(in crate::cli) settings: Vec<(String, String)>,

    #[command(flatten)]
    pub(in crate::cli) memory: MemoryArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ScenarioChoice {
    /// Application only
    I,
    /// The policy decides and its calls cost time, but no process moves
    Ii,
    /// The policy decides, its calls and moves cost time, and processes move
    Iii,
    /// All three
    All,
}

impl ScenarioChoice {
    /// Returns the scenarios of all `choices`, each once and in their order; none if nothing is chosen.
    pub(in crate::cli) fn scenarios(choices: &[Self]) -> Vec<Scenario> {
        let is_chosen = |scenario: &Scenario| {
            choices.contains(&Self::All)
                || choices.contains(&match scenario {
                    Scenario::I => Self::I,
                    Scenario::Ii => Self::Ii,
                    Scenario::Iii => Self::Iii,
                })
        };
        Scenario::ALL.into_iter().filter(is_chosen).collect()
    }
}

/// The memory that the command may use, and the files.
#[derive(Clone, Copy, Debug, Args)]
pub(in crate::cli) struct MemoryArguments {
    /// Refuse runs above this estimated memory ("8 GB") before they start [default: the memory available to the command]
    #[arg(long, value_name = "SIZE", help_heading = OUTPUT)]
    pub(in crate::cli) memory_limit: Option<Bytes>,

    /// Allow `<include>` in SimGrid platforms to read files outside the folder of the platform
    #[arg(long, help_heading = OUTPUT)]
    pub(in crate::cli) include_outside: bool,

    /// Allow experiments and sweep files to name a program that is started as the policy (`exec`)
    #[arg(long, help_heading = OUTPUT)]
    pub(in crate::cli) allow_exec: bool,
}

pub(super) fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(format!("`{text}` is not of the form KEY=VALUE")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read() {
        assert_eq!(parse_pair("a.b = 1=2"), Ok(("a.b".into(), "1=2".into())));
        assert!(parse_pair("=1").is_err() && parse_pair("a").is_err());
    }
}
