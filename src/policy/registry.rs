//! The policies that exist: one row each. Help, listing and errors come from this table.

use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use super::{MigBsp, MigBspConfig, Never, Policy};
use crate::document;
use crate::error::{Error, Problem};

/// A policy by its name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in `--policy`.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Makes it from its options (`policy.<name>` of an experiment).
    pub build: fn(&Value) -> Result<Box<dyn Policy>, Error>,
    /// Its options with all defaults filled in.
    pub resolve: fn(&Value) -> Result<Value, Error>,
    /// The schema of its options.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

/// All policies.
pub const REGISTRY: &[Entry] = &[
    Entry {
        name: "never",
        summary: "baseline: no process moves",
        source: "-",
        build: |_| Ok(Box::new(Never)),
        resolve: |options| document::resolve::<NoOptions>(options, "policy.never"),
        schema: SchemaGenerator::subschema_for::<NoOptions>,
    },
    Entry {
        name: "migbsp",
        summary: "MigBSP, second generation: potential of migration from computation, communication and memory",
        source: "da Rosa Righi et al., LU, Lattice Boltzmann and Smith-Waterman papers",
        build: |options| {
            let config: MigBspConfig = document::from_value(options, "policy.migbsp")?;
            Ok(Box::new(MigBsp::new(config)?))
        },
        resolve: |options| document::resolve::<MigBspConfig>(options, "policy.migbsp"),
        schema: SchemaGenerator::subschema_for::<MigBspConfig>,
    },
];

/// The options of a policy that has none.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}

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
            Problem::new(format!("unknown policy `{name}`"))
                .key("policy.name")
                .known("policies", names)
                .into()
        })
}
