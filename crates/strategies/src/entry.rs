//! A strategy in the registry: its name, its options and the function that reads them.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Strategy;
use migsim_base::document;
use migsim_base::error::Error;
use migsim_base::plugin;

/// The options of a strategy, which are under `policy.<name>` in an experiment.
pub trait StrategyOptions: Serialize + DeserializeOwned + JsonSchema {
    /// Settings with a name of their own, in particular the editions of original programs; the defaults need none.
    const VARIANTS: &'static [Variant] = &[];

    /// Creates the strategy.
    ///
    /// # Errors
    /// Options are out of range; each problem has the key of its option.
    fn strategy(self) -> Result<Box<dyn Strategy>, Error>;
}

/// Settings of a strategy or trigger that have a name: `greedy/charm-8` is the variant `charm-8` of `greedy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The name after the slash.
    pub name: &'static str,
    /// The options, as a JSON object.
    pub options: &'static str,
    /// The original program and strategy that make the same decisions; empty if there is none.
    pub original: &'static str,
}

impl Variant {
    /// Creates a named setting `options` (a JSON object); `original` is the program that makes the same decisions.
    pub const fn new(name: &'static str, options: &'static str, original: &'static str) -> Self {
        Self {
            name,
            options,
            original,
        }
    }

    /// Returns the options as a value.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.options).expect("the options of a variant are JSON")
    }
}

/// A strategy by its name.
pub type Entry = plugin::Entry<Kind>;

/// The strategies, by name.
pub type Table = plugin::Table<Kind>;

/// A kind of strategy: the operations on its options.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    build: fn(&Value) -> Result<Box<dyn Strategy>, Error>,
    resolve: fn(&Value) -> Result<Value, Error>,
    variants: &'static [Variant],
}

/// Creates a row of the table; `T` are the options of the strategy.
pub fn row<T: StrategyOptions>(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Entry {
    let kind = Kind {
        build: |options| document::from_value::<T>(options, "")?.strategy(),
        resolve: |options| document::resolve::<T>(options, ""),
        variants: T::VARIANTS,
    };
    Entry::new::<T>([name, summary, source], kind)
}

impl plugin::Kind for Kind {
    type Product = Box<dyn Strategy>;

    const SECTION: Option<&'static str> = Some("policy");

    fn build(&self, options: &Value) -> Result<Box<dyn Strategy>, Error> {
        (self.build)(options)
    }

    fn resolve(&self, options: &Value) -> Result<Value, Error> {
        (self.resolve)(options)
    }
}

impl Kind {
    /// Returns the named settings.
    pub fn variants(&self) -> &'static [Variant] {
        self.variants
    }
}
