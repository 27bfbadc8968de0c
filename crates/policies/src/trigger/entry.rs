//! A trigger in the registry: its name, its options and the function that reads them.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Trigger;
use crate::strategy::Variant;
use migsim_base::document;
use migsim_base::error::Error;
use migsim_base::plugin::{self, Maker};

/// The options of a trigger, which are under `policy.trigger.<name>` in an experiment.
pub trait TriggerOptions: Serialize + DeserializeOwned + JsonSchema {
    /// Named presets of the options, for example presets that repeat an original program. The default options need no preset.
    const VARIANTS: &'static [Variant] = &[];

    /// The option that a value after its name sets: `supersteps` in `every=50`; empty if there is none.
    const MAIN: &'static str = "";

    /// The criterion of yalbb that makes the same decisions as the defaults; empty if there is none.
    const ORIGINAL: &'static str = "";

    /// Creates the trigger.
    ///
    /// # Errors
    /// Options are out of range; each problem has the key of its option.
    fn trigger(self) -> Result<Box<dyn Trigger>, Error>;
}

/// A trigger by its name.
pub type Entry = plugin::Entry<Kind>;

/// The triggers, by name.
pub type Table = plugin::Table<Kind>;

/// A kind of trigger: the operations on its options.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    make: Make,
    variants: &'static [Variant],
    main: &'static str,
    original: &'static str,
}

/// The function that makes the trigger from its options.
#[derive(Clone, Copy, Debug)]
enum Make {
    /// The options have a Rust type.
    Typed {
        build: fn(&Value) -> Result<Box<dyn Trigger>, Error>,
        resolve: fn(&Value) -> Result<Value, Error>,
    },
    /// The options have no Rust type.
    Maker(&'static dyn Maker<Box<dyn Trigger>>),
}

/// Creates a row of the table for a trigger that is made by `maker`.
pub fn made_by(
    maker: &'static dyn Maker<Box<dyn Trigger>>,
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Entry {
    let kind = Kind {
        make: Make::Maker(maker),
        variants: &[],
        main: "",
        original: "",
    };
    Entry::new::<Map<String, Value>>([name, summary, source], kind)
}

/// Creates a row of the table; `T` are the options of the trigger.
pub fn row<T: TriggerOptions>(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Entry {
    let kind = Kind {
        make: Make::Typed {
            build: |options| document::from_value::<T>(options, "")?.trigger(),
            resolve: |options| document::resolve::<T>(options, ""),
        },
        variants: T::VARIANTS,
        original: T::ORIGINAL,
        main: T::MAIN,
    };
    Entry::new::<T>([name, summary, source], kind)
}

impl plugin::Kind for Kind {
    type Product = Box<dyn Trigger>;

    const SECTION: Option<&'static str> = Some("policy.trigger");

    fn build(&self, options: &Value) -> Result<Box<dyn Trigger>, Error> {
        match self.make {
            Make::Typed { build, .. } => build(options),
            Make::Maker(maker) => plugin::make(maker, options),
        }
    }

    fn resolve(&self, options: &Value) -> Result<Value, Error> {
        match self.make {
            Make::Typed { resolve, .. } => resolve(options),
            Make::Maker(maker) => plugin::resolve(maker, options),
        }
    }
}

impl Kind {
    /// Returns the named settings.
    pub fn variants(&self) -> &'static [Variant] {
        self.variants
    }

    /// Returns the option that a value after its name sets; empty if there is none.
    pub fn main(&self) -> &'static str {
        self.main
    }

    /// Returns the criterion of yalbb that makes the same decisions as the defaults; empty if there is none.
    pub fn original(&self) -> &'static str {
        self.original
    }
}
