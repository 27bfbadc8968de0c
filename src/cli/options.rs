//! Values of the command-line flags that applications and policies (plug-ins) declare.

use std::collections::BTreeMap;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde_json::Value;

use crate::plugin::OptionFlag;
use crate::sweep::ValuesSpec;

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
            let name = id.as_str().strip_prefix(PLUGIN_PREFIX)?;
            Some((
                name.to_owned(),
                matches.get_one::<ValuesSpec>(id.as_str())?.clone(),
            ))
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
    let message = "it must be a whole number that is not negative";
    parse_values_satisfying(text, Value::is_u64, message)
}

/// Parses one or more values, such as `0.1..0.9:0.1`, that must all be numbers.
pub(super) fn parse_numbers(text: &str) -> Result<ValuesSpec, String> {
    parse_values_satisfying(text, Value::is_number, "it must be a finite number")
}

/// Parses one or more values, each of which must satisfy `is_right`; otherwise `message` is the text of the error.
fn parse_values_satisfying(
    text: &str,
    is_right: fn(&Value) -> bool,
    message: &str,
) -> Result<ValuesSpec, String> {
    let spec = ValuesSpec::parse(text)?;
    if spec.single_values_and_range_ends().iter().all(is_right) {
        Ok(spec)
    } else {
        Err(message.to_owned())
    }
}
