//! Values of the command-line flags that applications and policies (plug-ins) declare.

use std::collections::BTreeMap;

use crate::plugin::{FlagValues, OptionFlag};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use migsim_base::values::ValuesSpec;

/// The values of the command-line flags that applications and policies declare, by the identifiers of the flags.
#[derive(Clone, Debug, Default)]
pub(super) struct OptionValues(BTreeMap<String, ValuesSpec>);

impl OptionValues {
    /// Returns the values that the user typed for the flag `flag`; `None` if the user did not type this flag.
    pub(super) fn get(&self, flag: &OptionFlag) -> Option<&ValuesSpec> {
        self.0.get(flag.name)
    }
}

/// Prefix of the identifiers of flags that plug-ins declare; it distinguishes these flags from the flags of the program itself.
pub(super) const PLUGIN_PREFIX: &str = "option:";

impl FromArgMatches for OptionValues {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |id: &clap::Id| {
            let name = id.as_str().strip_prefix(PLUGIN_PREFIX)?.to_owned();
            Some((name, matches.get_one::<ValuesSpec>(id.as_str())?.clone()))
        };
        Ok(Self(matches.ids().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Adds no flags to a command: the flags depend on the registry and are added when the whole command line is defined.
impl Args for OptionValues {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

/// Parses one or more values, such as `1..5` or `2,4,8`, that must all be whole numbers.
pub(super) fn parse_whole_numbers(text: &str) -> Result<ValuesSpec, String> {
    FlagValues::Counts.parse(text)
}
