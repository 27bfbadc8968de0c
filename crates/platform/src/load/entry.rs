//! The entry of a kind of load in the registry: its name, its parameters and the function that creates a load from them.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::Load;
use migsim_base::{
    document,
    error::{Problem, Result},
    plugin,
};

/// The parameters of a kind of load, which an experiment writes next to the keys `kind` and `on`.
///
/// To define a kind, it is enough to derive the traits of serde and schemars for the parameters and to implement [`Self::load`].
pub trait LoadOptions: Serialize + DeserializeOwned + JsonSchema {
    /// Keys of the parameters whose value is the path of a file.
    const FILES: &'static [&'static str] = &[];

    /// Creates the load with these parameters.
    ///
    /// # Errors
    /// Some parameters are out of range, or a file cannot be read; each problem has the key of its parameter.
    fn load(self) -> Result<Arc<dyn Load>>;

    /// Returns the same parameters, with the defaults filled in that depend on other parameters.
    #[must_use]
    fn with_dependent_defaults(self) -> Self {
        self
    }
}

/// A load, together with its parameters as JSON with all defaults filled in.
pub type LoadWithParameters = (Arc<dyn Load>, Value);

/// An entry of the table of kinds of background load: name, summary, source and [`LoadKind`].
pub type Entry = plugin::PluginEntry<LoadKind>;

/// The table of kinds of background load, by name.
pub type Table = plugin::PluginTable<LoadKind>;

/// A kind of background load: the functions that create a load from its parameters and describe these parameters.
#[derive(Clone, Copy, Debug)]
pub struct LoadKind {
    load_creator: fn(&Value) -> Result<LoadWithParameters>,
    parameter_schema: fn(&mut SchemaGenerator) -> Schema,
}

/// Description of a parameter of a kind of background load.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterDescription {
    /// Key of the parameter in an experiment.
    pub name: String,
    /// Text that explains the parameter to users.
    pub description: String,
    /// Default value of the parameter as JSON; `None` if the parameter has no default.
    pub default: Option<Value>,
}

/// Creates the entry of a kind of background load for the table of kinds; `T` is the type of the parameters of the kind.
pub fn load_entry<T: LoadOptions>(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Entry {
    let read = |keys: &Value| {
        let read = || document::from_value::<T>(keys, "");
        let resolved = serde_json::to_value(read()?.with_dependent_defaults())
            .map_err(|error| Problem::new(error.to_string()))?;
        Ok((read()?.load()?, resolved))
    };
    let mut entry = Entry::new::<T>(
        [name, summary, source],
        LoadKind {
            load_creator: read,
            parameter_schema: SchemaGenerator::subschema_for::<T>,
        },
    );
    entry.file_options = T::FILES;
    entry
}

impl LoadKind {
    /// Creates a load of this kind from its parameters; returns the load, and the parameters with all defaults filled in.
    ///
    /// # Errors
    /// All parameters that are unknown, unreadable or out of range, each with its key.
    pub fn create_load(&self, keys: &Value) -> Result<LoadWithParameters> {
        (self.load_creator)(keys)
    }

    /// Returns the descriptions of the parameters of this kind, in the order of their declaration.
    pub fn parameters(&self) -> Vec<ParameterDescription> {
        let mut generator = SchemaGenerator::default();
        (self.parameter_schema)(&mut generator);
        let definitions = generator.take_definitions(true);
        let properties = definitions
            .values()
            .find_map(|schema| schema.pointer("/properties").and_then(Value::as_object));
        let parameter = |(name, schema): (&String, &Value)| ParameterDescription {
            name: name.clone(),
            description: schema["description"].as_str().unwrap_or("").into(),
            default: schema.get("default").cloned(),
        };
        properties.map_or_else(Vec::new, |all| all.iter().map(parameter).collect())
    }
}
