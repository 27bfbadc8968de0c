//! The kinds of load that exist: one row each. Help, listings, schemas and errors come from this table.
//!
//! To add one, write a file beside this one (its parameters as a type with defaults, its [`Load`]) and a row in [`standard`].

use std::sync::Arc;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ArConfig, ConstantConfig, DailyConfig, FileConfig, Load, OnOffConfig, WalkConfig};
use crate::document;
use crate::error::{Error, Problem};
use crate::plugin;

/// The kinds that come with the program.
pub(crate) fn standard() -> Table {
    let rows = vec![
        row::<ArConfig>(
            "ar",
            "autoregressive with long memory, like measured loads of hosts",
            "Dinda, The statistical properties of host load, 1999; Granger 1980",
        ),
        row::<ConstantConfig>("constant", "the same load for ever", "-"),
        row::<DailyConfig>("daily", "the cycle of a day", "-"),
        row::<FileConfig>(
            "file",
            "a trace that was measured: a profile of SimGrid, or CSV",
            "-",
        ),
        row::<OnOffConfig>("on-off", "others come and go, at random", "-"),
        row::<WalkConfig>("walk", "a random walk between two walls", "-"),
    ];
    Table::new(["load", "loads", "kind"], rows)
}

/// The parameters of a kind, as they stand beside `kind` and `on` in an experiment.
///
/// A type with serde's and schemars' derives and [`Self::load`] is enough.
pub trait LoadOptions: Serialize + DeserializeOwned + JsonSchema {
    /// The parameters that name files.
    const FILES: &'static [&'static str] = &[];

    /// Makes the load.
    ///
    /// # Errors
    /// Parameters are out of range, or a file cannot be read; each problem has the key of its parameter.
    fn load(self) -> Result<Arc<dyn Load>, Error>;

    /// Spells out what follows from other parameters.
    #[must_use]
    fn complete(self) -> Self {
        self
    }
}

/// A load, and its parameters with all defaults filled in.
pub type Loaded = (Arc<dyn Load>, Value);

/// A kind of load by its name.
pub type Entry = plugin::Entry<Kind>;

/// The kinds of load, by name.
pub type Table = plugin::Table<Kind>;

/// What can be done with the parameters of a load.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    read: fn(&Value) -> Result<Loaded, Error>,
}

/// A parameter of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its key.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Its default as JSON, if it has one.
    pub default: Option<Value>,
}

/// A row of the table: `T` are the parameters of the kind.
pub(crate) fn row<T: LoadOptions>(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Entry {
    let read = |keys: &Value| {
        let keys = document::from_value::<T>(keys, "")?.complete();
        let resolved = serde_json::to_value(&keys);
        let resolved = resolved.map_err(|error| Problem::new(error.to_string()))?;
        Ok((keys.load()?, resolved))
    };
    let mut entry = Entry::new::<T>([name, summary, source], Kind { read });
    entry.files = T::FILES;
    entry
}

impl Entry {
    /// Makes the load from its parameters; these with all defaults filled in.
    ///
    /// # Errors
    /// All parameters that are unknown, unreadable or out of range, each with its key.
    pub fn read(&self, keys: &Value) -> Result<Loaded, Error> {
        (self.kind.read)(keys)
    }

    /// The parameters, in the order of their file.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut generator = SchemaGenerator::default();
        self.schema(&mut generator);
        let definitions = generator.take_definitions(true);
        let properties = definitions
            .values()
            .find_map(|schema| schema.pointer("/properties").and_then(Value::as_object));
        let parameter = |(name, schema): (&String, &Value)| Parameter {
            name: name.clone(),
            description: schema["description"].as_str().unwrap_or("").into(),
            default: schema.get("default").cloned(),
        };
        properties.map_or_else(Vec::new, |all| all.iter().map(parameter).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn keys(name: &str, keys: &Value) -> Vec<String> {
        match standard().find(name).unwrap().read(keys) {
            Err(Error::Input(problems)) => problems
                .into_iter()
                .map(|problem| problem.location.key.unwrap_or_default())
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn names_are_sorted_and_unique() {
        assert!(standard().names().is_sorted());
    }

    #[test]
    fn an_unknown_kind_lists_the_known_ones() {
        let error = standard().find("wlak").unwrap_err().to_string();
        assert!(
            error.contains("known loads: ar, constant, daily, file, on-off, walk"),
            "{error}"
        );
    }

    #[test]
    fn every_parameter_is_described_and_has_a_default_unless_it_must_be_given() {
        for entry in &standard() {
            let parameters = entry.parameters();
            assert!(!parameters.is_empty(), "{}", entry.name);
            for parameter in parameters {
                assert!(!parameter.description.is_empty(), "{parameter:?}");
                assert!(
                    parameter.default.is_some() || entry.name == "file",
                    "{parameter:?}"
                );
            }
        }
    }

    #[test]
    fn parameters_out_of_range_are_named_together() {
        assert_eq!(keys("constant", &json!({ "load": 1.0 })), ["load"]);
        let wrong = json!({ "period": "0 s", "step": -1, "most": 2 });
        assert_eq!(keys("walk", &wrong), ["period", "step", "most"]);
        assert_eq!(keys("walk", &json!({ "least": 0.8 })), ["most"]);
        let wrong = json!({ "busy": "0.5 s", "idle": "2e9 s" });
        assert_eq!(keys("on-off", &wrong), ["busy", "idle"]);
        let wrong = json!({ "mean": -0.1, "deviation": 2, "hurst": 0.4, "memory": "0.1 s" });
        assert_eq!(keys("ar", &wrong), ["mean", "deviation", "hurst", "memory"]);
        let wrong = json!({ "day": "1 h", "period": "2 h", "amplitude": 1 });
        assert_eq!(
            keys("daily", &wrong),
            ["period", "amplitude", "peak", "start"]
        );
        assert_eq!(keys("walk", &json!({ "men": 0.3 })), ["men"]);
        assert_eq!(keys("walk", &json!({ "period": 10 })), ["period"]);
    }
}
