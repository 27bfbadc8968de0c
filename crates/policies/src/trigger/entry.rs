//! An entry of the table of triggers: the name of a trigger, its options, and the function that creates the trigger from its
//! options.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::Trigger;
use crate::strategy::Variant;
use migsim_base::{
    document,
    error::Result,
    plugin::{self, PluginFactory},
};

/// The options of a trigger, as a user sets them under `policy.trigger.<name>` in an experiment file.
pub trait TriggerOptions: Serialize + DeserializeOwned + JsonSchema {
    /// The variants of the trigger: named sets of options, for example options with which the trigger decides as an original
    /// program does. The default options are not listed.
    const VARIANTS: &'static [Variant] = &[];

    /// The key of the option to which a value after the trigger's name belongs, such as `supersteps` in `every=50`; empty if
    /// there is no such option.
    const MAIN_OPTION: &'static str = "";

    /// The name of the criterion in the program yalbb that decides the same as the trigger with its default options; empty if
    /// there is none.
    const ORIGINAL: &'static str = "";

    /// Creates the trigger with these options.
    ///
    /// # Errors
    /// Options are out of range; each problem has the key of its option.
    fn trigger(self) -> Result<Box<dyn Trigger>>;
}

/// An entry of the table of triggers: the name and description of a trigger, and its [`TriggerKind`].
pub type Entry = plugin::PluginEntry<TriggerKind>;

/// The table of all triggers, by name.
pub type Table = plugin::PluginTable<TriggerKind>;

/// The functions and constants of a trigger with which commands check its options and create it.
#[derive(Clone, Copy, Debug)]
pub struct TriggerKind {
    constructor: Constructor,
    variants: &'static [Variant],
    main_option_key: &'static str,
    equivalent_yalbb_criterion: &'static str,
}

#[derive(Clone, Copy, Debug)]
enum Constructor {
    /// A trigger whose options have a Rust type: functions to create the trigger and to add the default values of options.
    RustTrigger {
        build: fn(&Value) -> Result<Box<dyn Trigger>>,
        resolve: fn(&Value) -> Result<Value>,
    },
    /// A trigger whose options have no Rust type, such as a plug-in in another language; the stored object creates the trigger
    /// from its options in JSON form.
    PluginMaker(&'static dyn PluginFactory<Box<dyn Trigger>>),
}

/// Creates the table entry of a trigger whose options have no Rust type; the object `maker` creates the trigger.
pub fn entry_from_maker(
    maker: &'static dyn PluginFactory<Box<dyn Trigger>>,
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Entry {
    let kind = TriggerKind {
        constructor: Constructor::PluginMaker(maker),
        variants: &[],
        main_option_key: "",
        equivalent_yalbb_criterion: "",
    };
    Entry::new::<Map<String, Value>>([name, summary, source], kind)
}

/// Creates the table entry of a trigger; `T` is the type of its options.
pub fn table_entry<T: TriggerOptions>(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Entry {
    let kind = TriggerKind {
        constructor: Constructor::RustTrigger {
            build: |options| document::from_value::<T>(options, "")?.trigger(),
            resolve: |options| document::fill_in_defaults::<T>(options, ""),
        },
        variants: T::VARIANTS,
        equivalent_yalbb_criterion: T::ORIGINAL,
        main_option_key: T::MAIN_OPTION,
    };
    Entry::new::<T>([name, summary, source], kind)
}

impl plugin::PluginKind for TriggerKind {
    type Product = Box<dyn Trigger>;

    const SECTION: Option<&'static str> = Some("policy.trigger");

    fn build(&self, options: &Value) -> Result<Box<dyn Trigger>> {
        match self.constructor {
            Constructor::RustTrigger { build, .. } => build(options),
            Constructor::PluginMaker(maker) => plugin::create_plugin(maker, options),
        }
    }

    fn resolve(&self, options: &Value) -> Result<Value> {
        match self.constructor {
            Constructor::RustTrigger { resolve, .. } => resolve(options),
            Constructor::PluginMaker(maker) => plugin::resolve_options(maker, options),
        }
    }
}

impl TriggerKind {
    /// Returns the variants of the trigger, which are sets of options with a name.
    pub fn variants(&self) -> &'static [Variant] {
        self.variants
    }

    /// Returns the key of the option to which a value after the trigger's name belongs, such as `supersteps` in `every=50`; empty
    /// if there is no such option.
    pub fn main_option_key(&self) -> &'static str {
        self.main_option_key
    }

    /// Returns the name of the criterion in the program yalbb that decides the same as the trigger with its default options;
    /// empty if there is none.
    pub fn equivalent_yalbb_criterion(&self) -> &'static str {
        self.equivalent_yalbb_criterion
    }
}
