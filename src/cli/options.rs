//! The values of the flags that plug-ins declare.

use std::collections::BTreeMap;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde_json::Value;

use crate::plugin::OptionFlag;
use crate::sweep::Spec;

/// The values of the flags that plug-ins declare, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct OptionValues(BTreeMap<String, Spec>);

impl OptionValues {
    /// Returns the value given for a flag.
    pub(super) fn get(&self, flag: &OptionFlag) -> Option<&Spec> {
        self.0.get(flag.name)
    }
}

/// Prefix of the ids of flags of plug-ins, which distinguishes them from other flags.
pub(super) const MARK: &str = "option:";

impl FromArgMatches for OptionValues {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |id: &clap::Id| {
            let name = id.as_str().strip_prefix(MARK)?;
            Some((
                name.to_owned(),
                matches.get_one::<Spec>(id.as_str())?.clone(),
            ))
        };
        Ok(Self(matches.ids().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The flags are added by [`super::command::of_registry`], which has the list of them.
impl Args for OptionValues {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

pub(super) fn parse_counts(text: &str) -> Result<Spec, String> {
    let message = "it must be a whole number that is not negative";
    parse_values(text, Value::is_u64, message)
}

pub(super) fn parse_numbers(text: &str) -> Result<Spec, String> {
    parse_values(text, Value::is_number, "it must be a finite number")
}

/// Parses values that must all have one type.
fn parse_values(text: &str, is_right: fn(&Value) -> bool, message: &str) -> Result<Spec, String> {
    let spec = Spec::parse(text)?;
    if spec.ends().iter().all(is_right) {
        Ok(spec)
    } else {
        Err(message.to_owned())
    }
}
