//! A kind of load in the registry: its name, its parameters and the function that reads them.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Load;
use migsim_base::document;
use migsim_base::error::{Error, Problem};
use migsim_base::plugin;

/// The parameters of a kind of load, which an experiment has beside `kind` and `on`.
///
/// A type with serde's and schemars' derives and [`Self::load`] is enough.
pub trait LoadOptions: Serialize + DeserializeOwned + JsonSchema {
    /// The parameters that name files.
    const FILES: &'static [&'static str] = &[];

    /// Creates the load.
    ///
    /// # Errors
    /// Some parameters are out of range, or a file cannot be read; each problem has the key of its parameter.
    fn load(self) -> Result<Arc<dyn Load>, Error>;

    /// Fills in the values that follow from other parameters.
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

/// A kind of load: the operations on its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    read: fn(&Value) -> Result<Loaded, Error>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

/// A parameter of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The key of the parameter.
    pub name: String,
    /// The description of the parameter.
    pub description: String,
    /// The default of the parameter as JSON, if it has one.
    pub default: Option<Value>,
}

/// Creates a row of the table; `T` are the parameters of the kind.
pub fn row<T: LoadOptions>(
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
    let mut entry = Entry::new::<T>(
        [name, summary, source],
        Kind {
            read,
            schema: SchemaGenerator::subschema_for::<T>,
        },
    );
    entry.files = T::FILES;
    entry
}

impl Kind {
    /// Creates the load from its parameters, and returns these with all defaults filled in.
    ///
    /// # Errors
    /// All parameters that are unknown, unreadable or out of range, each with its key.
    pub fn read(&self, keys: &Value) -> Result<Loaded, Error> {
        (self.read)(keys)
    }

    /// Returns the parameters, in the order of their declaration.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut generator = SchemaGenerator::default();
        (self.schema)(&mut generator);
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
