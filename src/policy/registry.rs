//! The policies that exist: one row each. Help, listings, schemas and errors come from this table.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{MigBsp2007Config, MigBspConfig, Never, Policy, ReplayConfig};
use crate::document;
use crate::error::{Error, Problem};

/// The policy of an experiment that names none.
pub const USUAL: &str = "migbsp";

/// The policy that moves nobody.
pub const NEVER: &str = "never";

/// All policies.
pub const REGISTRY: &[Entry] = &[
    row::<Never>(NEVER, "baseline: no process moves", "-"),
    row::<MigBspConfig>(
        "migbsp",
        "MigBSP, second generation: potential of migration from computation, communication and memory",
        "da Rosa Righi et al., LU, Lattice Boltzmann and Smith-Waterman papers",
    ),
    row::<MigBsp2007Config>(
        "migbsp-2007",
        "MigBSP, first generation: potential of migration from normalised metrics, above a fixed threshold",
        "da Rosa Righi et al., On the Dynamic Load-Rebalancing of BSP Application Using Process Migration, WSPPD 2007",
    ),
    row::<ReplayConfig>(
        "replay",
        "forced decisions: moves what a list says, to judge timing apart from policy",
        "-",
    ),
];

/// The options of a policy, as they stand under `policy.<name>` in an experiment.
pub trait Options: Serialize + DeserializeOwned + JsonSchema {
    /// Makes the policy.
    ///
    /// # Errors
    /// Options are out of range; each problem has the key of its option.
    fn policy(self) -> Result<Box<dyn Policy>, Error>;
}

/// A policy by its name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in `--policy`.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// Where it was published; `-` if nowhere.
    pub source: &'static str,
    build: fn(&Value) -> Result<Box<dyn Policy>, Error>,
    resolve: fn(&Value) -> Result<Value, Error>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

/// A row of the table: `T` are the options of the policy.
const fn row<T: Options>(name: &'static str, summary: &'static str, source: &'static str) -> Entry {
    Entry {
        name,
        summary,
        source,
        build: |options| document::from_value::<T>(options, "")?.policy(),
        resolve: |options| document::resolve::<T>(options, ""),
        schema: SchemaGenerator::subschema_for::<T>,
    }
}

impl Entry {
    /// Makes the policy from its options.
    ///
    /// # Errors
    /// All options that are unknown, unreadable or out of range, each with its whole key.
    pub fn build(&self, options: &Value) -> Result<Box<dyn Policy>, Error> {
        (self.build)(options).map_err(|error| self.with_whole_keys(error))
    }

    /// The options with all defaults filled in.
    ///
    /// # Errors
    /// As [`Self::build`], ranges aside.
    pub fn resolve(&self, options: &Value) -> Result<Value, Error> {
        (self.resolve)(options).map_err(|error| self.with_whole_keys(error))
    }

    /// The schema of the options.
    pub fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.schema)(generator)
    }

    fn with_whole_keys(&self, error: Error) -> Error {
        let Error::Input(problems) = error else {
            return error;
        };
        let whole = |problem: Problem| {
            let key = match &problem.location.key {
                Some(key) => format!("policy.{}.{key}", self.name),
                None => format!("policy.{}", self.name),
            };
            problem.key(key)
        };
        Error::Input(problems.into_iter().map(whole).collect())
    }
}

/// The policy `name`.
///
/// # Errors
/// There is none of that name.
pub fn find(name: &str) -> Result<&'static Entry, Error> {
    REGISTRY
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| {
            let names = REGISTRY.iter().map(|entry| entry.name);
            Problem::unknown("policy", name)
                .key("policy.name")
                .known("policies", names)
                .into()
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn problems_of_options_have_their_whole_keys() {
        let error = find("migbsp")
            .unwrap()
            .build(&json!({ "x": 2.0, "delta": -1.0 }))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("policy.migbsp.x") && error.contains("policy.migbsp.delta"),
            "{error}"
        );
        let error = find("never")
            .unwrap()
            .build(&json!({ "x": 2.0 }))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("unknown key `x`\n  --> policy.never.x"),
            "{error}"
        );
    }

    #[test]
    fn an_unknown_policy_lists_the_known_ones() {
        let error = find("always").unwrap_err().to_string();
        assert!(
            error.contains("hint: known policies: migbsp, migbsp-2007, never, replay"),
            "{error}"
        );
    }
}
