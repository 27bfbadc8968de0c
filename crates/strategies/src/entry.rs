//! An entry of the table of strategies: the name of a strategy, its options, and the function that creates it from options.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Strategy;
use migsim_base::document;
use migsim_base::error::Error;
use migsim_base::plugin;

/// The options of a strategy, as a user sets them under `policy.<name>` in an experiment file.
pub trait StrategyOptions: Serialize + DeserializeOwned + JsonSchema {
    /// The variants of the strategy: sets of options with a name, in particular those with which it decides as an original
    /// program. The default options are not listed.
    const VARIANTS: &'static [Variant] = &[];

    /// Creates the strategy with these options.
    ///
    /// # Errors
    /// Options are out of range; each problem has the key of its option.
    fn strategy(self) -> Result<Box<dyn Strategy>, Error>;
}

/// A set of options of a strategy or trigger that has a name: `greedy/charm-8` is the variant `charm-8` of `greedy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The name of the variant, which follows the slash.
    pub name: &'static str,
    /// The options of the variant, as the text of a JSON object.
    pub options: &'static str,
    /// The original program and its strategy that make the same decisions; empty if there is none.
    pub original: &'static str,
}

impl Variant {
    /// Creates a variant with these options (a JSON object). `original` is the program that makes the same decisions, or empty.
    pub const fn new(name: &'static str, options: &'static str, original: &'static str) -> Self {
        Self {
            name,
            options,
            original,
        }
    }

    /// Returns the options of the variant as a JSON value.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.options).expect("the options of a variant are JSON")
    }
}

/// An entry of the table of strategies: the name and description of a strategy, and its [`Kind`].
pub type Entry = plugin::Entry<Kind>;

/// The table of all strategies, by name.
pub type Table = plugin::Table<Kind>;

/// A kind of strategy: the functions with which commands treat its options and create it, and its variants.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    build: fn(&Value) -> Result<Box<dyn Strategy>, Error>,
    resolve: fn(&Value) -> Result<Value, Error>,
    variants: &'static [Variant],
}

/// Creates the table entry of a strategy; `T` is the type of its options.
pub fn table_entry<T: StrategyOptions>(
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
    /// Returns the variants of the strategy, which are sets of options with a name.
    pub fn variants(&self) -> &'static [Variant] {
        self.variants
    }
}
