//! Defines the flags that choose an experiment and its settings, which most commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{EXPERIMENT, MODEL, OUTPUT, POLICY};
use crate::{
    bsp::Scenario,
    cli::{
        complete,
        options::{OptionValues, parse_whole_numbers},
    },
    sweep::ValuesSpec,
    units::Bytes,
};

/// The flags that choose an experiment and change its settings.
#[derive(Debug, Args)]
pub(crate) struct SettingsArguments {
    /// An experiment: a JSON file or a built-in name (see `migsim list experiments`)
    ///
    /// `migsim schema experiment` describes the file. A run folder stands for the settings of its run.
    #[arg(value_parser = complete::experiment_parser(), hide_possible_values = true)]
    pub experiment: Option<PathBuf>,

    /// The platform: a file (JSON or SimGrid XML) or a built-in name
    #[arg(long, value_name = "FILE", value_parser = complete::platform_parser(), hide_possible_values = true, help_heading = EXPERIMENT)]
    pub platform: Option<String>,
    /// How a platform of zones is divided into clusters: zone (each zone that contains hosts), level=N (zones N levels below the
    /// outermost zone), name (by host names), or a CSV file (`host,cluster`)
    #[arg(long, value_name = "zone|level=N|name|FILE", help_heading = EXPERIMENT)]
    pub clusters: Option<String>,
    /// The application (see `migsim list apps`)
    #[arg(long, value_name = "NAME", hide_possible_values = true, help_heading = EXPERIMENT)]
    pub app: Option<String>,
    /// The hosts on which the processes start: a rule, a list of hosts or a CSV file
    ///
    /// The rules are contiguous, round-robin, by-core, by-speed and fast-first; `by-core:epyc,old-3` applies a rule to some hosts
    /// only. A list contains names of hosts and clusters, separated by commas. A CSV file has the columns `process,host`.
    #[arg(long, value_name = "RULE|HOSTS|FILE", help_heading = EXPERIMENT)]
    pub mapping: Option<String>,
    /// The scenarios to run: i, ii or iii, several of them separated by commas, or all
    #[arg(long, value_enum, value_name = "SCENARIO", value_delimiter = ',', help_heading = EXPERIMENT)]
    pub scenario: Vec<ScenarioChoice>,
    /// The seed of all random choices of the load, the policy and the application
    ///
    /// `--set workload.seed=N` sets a separate seed for the application.
    #[arg(long, value_parser = parse_whole_numbers, help_heading = EXPERIMENT)]
    pub seed: Option<ValuesSpec>,

    /// Background load on hosts and links (see `migsim list loads`)
    ///
    /// The value is a kind of load with its parameters; repeatable; `none` means no load. In a sweep, one flag lists alternative
    /// loads: `none,walk,step=0.1,on-off` are three loads.
    #[arg(long, value_name = "KIND[,KEY=VALUE]...", hide_possible_values = true, help_heading = EXPERIMENT)]
    pub load: Vec<String>,

    /// Change one quantity of the platform or the settings, such as 'link wan bandwidth +10%' or 'cluster ICE speed unlimited'
    /// (see the guide on bottlenecks); repeatable; replaces the changes in a file
    #[arg(long = "change", value_name = "CHANGE", help_heading = EXPERIMENT)]
    pub changes: Vec<String>,

    /// The rescheduling policy (see `migsim list policies`)
    #[arg(long, value_name = "NAME", hide_possible_values = true, help_heading = POLICY)]
    pub policy: Option<String>,
    /// The trigger that decides when the policy is called (see `migsim list triggers`); MigBSP and some other policies decide
    /// this themselves
    #[arg(long, value_name = "NAME[=VALUE]", hide_possible_values = true, help_heading = POLICY)]
    pub trigger: Option<String>,
    /// Values of the flags that applications and policies define; the registry of the program provides these flags.
    #[command(flatten)]
    pub options: OptionValues,

    /// The network model (see `migsim list networks`)
    #[arg(long, value_name = "NAME", value_parser = complete::network_parser(), hide_possible_values = true, help_heading = MODEL)]
    pub network: Option<String>,
    /// The message-passing library (see `migsim list libraries`), or a file that `migsim calibrate` wrote; other flags override
    /// its values
    #[arg(long, value_name = "NAME|FILE", value_parser = complete::library_parser(), hide_possible_values = true, help_heading = MODEL)]
    pub library: Option<String>,
    /// Replace the value of a constant of the network model
    #[arg(long = "net", value_name = "KEY=VALUE", value_parser = parse_pair, help_heading = MODEL)]
    pub constants: Vec<(String, String)>,
    /// Set any key of the experiment by its path
    ///
    /// This flag overrides the other flags. `migsim run --show` and the page *Settings* of the book list the keys.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_pair, help_heading = MODEL)]
    pub settings: Vec<(String, String)>,

    #[command(flatten)]
    pub memory: MemoryArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScenarioChoice {
    /// The application only, without rescheduling
    I,
    /// The policy is called and its calls take time, but no process moves
    Ii,
    /// The policy is called, processes move, and both calls and moves take time
    Iii,
    /// All three scenarios
    All,
}

impl ScenarioChoice {
    /// Returns the scenarios that the user chose, each scenario once and in the order i, ii, iii; empty if the user chose none.
    pub(crate) fn chosen_scenarios(choices: &[Self]) -> Vec<Scenario> {
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

/// The flags that limit the memory of a command, and that allow files to read other files or to start programs.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct MemoryArguments {
    /// Refuse runs whose estimated memory is larger than this ("8 GB") [default: the memory available to the command]
    #[arg(long, value_name = "SIZE", help_heading = OUTPUT)]
    pub memory_limit: Option<Bytes>,

    /// Allow SimGrid platforms to name files outside their folder (`<include>`, profiles)
    #[arg(long, help_heading = OUTPUT)]
    pub include_outside: bool,

    /// Allow experiment and sweep files to start a program as the policy (`exec`)
    #[arg(long, help_heading = OUTPUT)]
    pub allow_exec: bool,
}

/// Parses a text of the form `KEY=VALUE` into the key and the value.
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
