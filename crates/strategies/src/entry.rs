//! Entries of the table of strategies: the name of a strategy, its options, and the function that creates the strategy from its
//! options.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::Strategy;
use migsim_base::{document, error::Result, plugin};

/// Options of a strategy, which a user sets under `policy.<name>` in an experiment file. The type also implements the strategy.
pub trait StrategyOptions: Strategy + Serialize + DeserializeOwned + JsonSchema + 'static {
    /// Variants of the strategy: sets of options with a name, in particular those with which the strategy decides in the same way
    /// as an original program. The default options are not in this list.
    const VARIANTS: &'static [Variant] = &[];

    /// Checks that all options are in their ranges.
    ///
    /// # Errors
    /// Options are out of range; each problem has the key of its option.
    fn check(&self) -> Result {
        Ok(())
    }

    /// Creates the strategy that has these options, after a [check](Self::check).
    ///
    /// # Errors
    /// Options are out of range; each problem has the key of its option.
    fn into_strategy(self) -> Result<Box<dyn Strategy>> {
        self.check()?;
        Ok(Box::new(self))
    }
}

/// A set of options of a strategy or trigger that has a name: for example, `greedy/charm-8` is the variant `charm-8` of `greedy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Name of the variant, which follows the name of the strategy or trigger and a slash.
    pub name: &'static str,
    /// Options of the variant, as the text of a JSON object.
    pub options: &'static str,
    /// Original program, and the strategy of this program, that makes the same decisions as the variant; empty if there is no
    /// such program.
    pub original_program: &'static str,
}

impl Variant {
    /// Creates a variant with a name and options (a JSON object as text). `original` names the program that makes the same
    /// decisions; it is empty if there is no such program.
    pub const fn new(name: &'static str, options: &'static str, original: &'static str) -> Self {
        Self {
            name,
            options,
            original_program: original,
        }
    }

    /// Returns the options of the variant as a parsed JSON value.
    pub fn options_value(&self) -> Value {
        serde_json::from_str(self.options).expect("the options of a variant are JSON")
    }
}

/// Entry of the table of strategies: the name and the description of a strategy, and the functions that commands need to use the
/// strategy.
pub type StrategyEntry = plugin::PluginEntry<StrategyKind>;

/// The table of all strategies, from which a strategy is found by its name.
pub type StrategyTable = plugin::PluginTable<StrategyKind>;

/// How commands handle a strategy: the functions that complete its options and create it from its options, and its variants.
#[derive(Clone, Copy, Debug)]
pub struct StrategyKind {
    build_strategy: fn(&Value) -> Result<Box<dyn Strategy>>,
    resolve_options: fn(&Value) -> Result<Value>,
    variants: &'static [Variant],
}

/// Creates the table entry of a strategy with a name, a summary in one line and a source; `T` is the type of the options.
pub fn strategy_entry<T: StrategyOptions>(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> StrategyEntry {
    let kind = StrategyKind {
        build_strategy: |options| document::from_value::<T>(options, "")?.into_strategy(),
        resolve_options: |options| document::fill_in_defaults::<T>(options, ""),
        variants: T::VARIANTS,
    };
    StrategyEntry::new::<T>([name, summary, source], kind)
}

impl plugin::PluginKind for StrategyKind {
    type Product = Box<dyn Strategy>;

    const SECTION: Option<&'static str> = Some("policy");

    fn build(&self, options: &Value) -> Result<Box<dyn Strategy>> {
        (self.build_strategy)(options)
    }

    fn resolve(&self, options: &Value) -> Result<Value> {
        (self.resolve_options)(options)
    }
}

impl StrategyKind {
    /// Returns the variants of the strategy, which are sets of options with a name.
    pub fn variants(&self) -> &'static [Variant] {
        self.variants
    }
}
