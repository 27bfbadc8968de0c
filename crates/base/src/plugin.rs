//! Plug-ins: how a policy, an application or a load declares its name, options and flags, and the tables in which plug-ins are
//! found by name.
//!
//! Each kind of plug-in (the parameter `K` of [`PluginEntry`]) defines its operations in a module of its own; the registry of migsim
//! combines the tables of all kinds.

use std::{fmt, ops::Deref};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::error::{Error, Problem, Result, catch_panic};

/// An option of a plug-in that also has its own flag on the command line: `--alpha 8` instead of `--set policy.migbsp.alpha=8`.
///
/// Several plug-ins may share a flag (`--procs`); the help then shows the description of the first plug-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionFlag {
    /// Name of the flag without its dashes.
    pub name: &'static str,
    /// Name of the option that the flag sets.
    pub option_name: &'static str,
    /// Description of the flag in the help of the command.
    pub help: &'static str,
    /// The kind of values that the flag accepts.
    pub accepted_values: FlagValues,
    /// Placeholder of the value in the help text; an empty string means that the name of the flag is the placeholder.
    pub value_name: &'static str,
}

/// The kind of values that a command-line flag accepts. A run accepts a single value; a sweep also accepts lists and ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagValues {
    /// Whole numbers that are not negative.
    Counts,
    /// Finite numbers.
    Numbers,
    /// Grids such as `10x5`, which stand for `[10, 5]`.
    Grids,
    /// Texts of any form, such as names of things or files.
    Texts,
}

impl OptionFlag {
    /// Creates a flag that sets the option of the same name.
    pub const fn new(name: &'static str, values: FlagValues, help: &'static str) -> Self {
        Self {
            name,
            option_name: name,
            help,
            accepted_values: values,
            value_name: "",
        }
    }

    /// Sets the name of the option that the flag sets, for a flag whose name differs from the name of its option.
    #[must_use]
    pub const fn with_option_name(self, key: &'static str) -> Self {
        Self {
            option_name: key,
            ..self
        }
    }

    /// Sets the placeholder of the value of the flag in the help text.
    #[must_use]
    pub const fn with_value_name(self, value_name: &'static str) -> Self {
        Self { value_name, ..self }
    }
}

/// A creator of plug-ins from options in JSON form. It is used for plug-ins that are written in other languages, whose options
/// have no Rust type.
pub trait PluginFactory<T>: fmt::Debug + Send + Sync {
    /// Returns all options of the plug-in: the given options, and the default values of the options that are not given.
    ///
    /// # Errors
    /// Unknown options, or wrong values; the key of each problem is the name of the option.
    fn resolve_options(&self, options: &Map<String, Value>) -> Result<Map<String, Value>>;

    /// Creates the plug-in from a complete set of options, in which all defaults are filled in.
    ///
    /// # Errors
    /// Unknown options, or wrong values; the key of each problem is the name of the option.
    fn create_plugin(&self, options: &Map<String, Value>) -> Result<T>;
}

/// Creates a plug-in from its options in the settings, completed by the defaults of all options that are missing; `null` means
/// that no options are given.
///
/// # Errors
/// Unknown options, or wrong values; the key of each problem is the name of the option.
pub fn create_plugin<T>(maker: &dyn PluginFactory<T>, options: &Value) -> Result<T> {
    maker.create_plugin(&maker.resolve_options(&options_object(options)?)?)
}

/// Returns the options of a plug-in in the settings, completed by the defaults of all options that are missing; `null` means that
/// no options are given.
///
/// # Errors
/// Unknown options, or wrong values; the key of each problem is the name of the option.
pub fn resolve_options<T>(maker: &dyn PluginFactory<T>, options: &Value) -> Result<Value> {
    let options = options_object(options)?;
    maker.resolve_options(&options).map(Value::Object)
}

/// Returns the options of a plug-in as a JSON object. `null` becomes an empty object; any other value that is not an object is an
/// error.
fn options_object(options: &Value) -> Result<Map<String, Value>> {
    match options {
        Value::Null => Ok(Map::new()),
        Value::Object(options) => Ok(options.clone()),
        other => Err(Problem::new(format!(
            "the options are `{other}` instead of an object, `{{...}}`"
        ))
        .hint("write the options as a JSON object, such as `{\"alpha\": 4}`")
        .into()),
    }
}

/// A registered plug-in: its name, description and flags, and the functions that create the plug-in from its options.
#[derive(Clone, Copy, Debug)]
pub struct PluginEntry<K> {
    /// The name of the plug-in in settings and on the command line.
    pub name: &'static str,
    /// Description of the plug-in in one sentence.
    pub summary: &'static str,
    /// The publication that describes the plug-in; `-` if there is none.
    pub publication: &'static str,
    /// The options of the plug-in that have their own flags on the command line.
    pub flags: &'static [OptionFlag],
    /// Names of the options whose values are file names. These files are also searched in the folder of the experiment file.
    pub file_options: &'static [&'static str],
    options_schema: fn(&mut SchemaGenerator) -> Schema,
    /// The functions that depend on the kind of plug-in (policy, application, load), such as the creation from options.
    pub kind_functions: K,
}

/// The functions that every kind of plug-in (policies, applications, loads) provides to create a plug-in from options.
pub trait PluginKind {
    /// The type of object that is created from the options, such as a policy.
    type Product;

    /// The section of an experiment file that contains the options of this kind of plug-in; `None` if the errors of
    /// [`Self::build`] already contain the whole key.
    const SECTION: Option<&'static str>;

    /// Creates the plug-in from its options.
    ///
    /// # Errors
    /// All options that are unknown, unreadable or out of range, each with its key.
    fn build(&self, options: &Value) -> Result<Self::Product>;

    /// Returns the given options, completed by the defaults of all options that are missing.
    ///
    /// # Errors
    /// As [`Self::build`], except that ranges are not checked.
    fn resolve(&self, options: &Value) -> Result<Value>;
}

impl<K> PluginEntry<K> {
    /// Creates an entry without flags and without file options for a plug-in whose options have the Rust type `T`. The texts are
    /// name, description and publication of the plug-in.
    pub fn new<T: JsonSchema>([name, summary, source]: [&'static str; 3], kind: K) -> Self {
        Self {
            name,
            summary,
            publication: source,
            flags: &[],
            file_options: &[],
            options_schema: SchemaGenerator::subschema_for::<T>,
            kind_functions: kind,
        }
    }

    /// Returns a copy of the entry in which the functions that depend on the kind of plug-in are replaced by `kind`.
    pub fn with_kind_functions<L>(&self, kind: L) -> PluginEntry<L> {
        PluginEntry {
            name: self.name,
            summary: self.summary,
            publication: self.publication,
            flags: self.flags,
            file_options: self.file_options,
            options_schema: self.options_schema,
            kind_functions: kind,
        }
    }

    /// Returns the JSON schema of the options of the plug-in.
    pub fn options_schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.options_schema)(generator)
    }

    /// Completes the keys in the problems of an error: the key `key` of an option becomes `section.name.key`, where `name` is the
    /// name of the plug-in.
    pub fn qualify_keys_in_error(&self, section: &str, error: Error) -> Error {
        let Error::Input(problems) = error else {
            return error;
        };
        let whole = |problem: Problem| {
            let key = match &problem.location.key {
                Some(key) => format!("{section}.{}.{key}", self.name),
                None => format!("{section}.{}", self.name),
            };
            problem.key(key)
        };
        Error::Input(problems.into_iter().map(whole).collect())
    }

    /// Returns the problems of what the plug-in declares of itself: its texts, its flags, its `variants` (names and options), and
    /// the keys of its options, to which `keys` belong as well. `noun` is the kind of plug-in.
    pub fn declaration_problems<'v>(
        &self,
        noun: &str,
        keys: &[&str],
        variants: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Vec<Problem> {
        let mut wrong: Vec<String> = Vec::new();
        if self.summary.is_empty() || [self.summary, self.publication].concat().contains('\n') {
            wrong.push("its summary or publication is not one line of text".into());
        }
        let is_word = |name: &str| {
            let mut letters = name.bytes();
            letters
                .next()
                .is_some_and(|first| first.is_ascii_alphanumeric())
                && letters.all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(&letter))
        };
        let names = self
            .flags
            .iter()
            .map(|flag| flag.name)
            .filter(|name| !is_word(name));
        wrong.extend(names.map(|name| {
            format!(
                "the flag `{name}` is no word of letters, digits, `-` and `_` without its dashes"
            )
        }));
        let mut generator = SchemaGenerator::default();
        let schema = self.options_schema(&mut generator);
        let definitions = generator.take_definitions(false);
        let name = schema.get("$ref").and_then(Value::as_str);
        let options = name
            .and_then(|name| definitions.get(name.rsplit('/').next()?))
            .unwrap_or_else(|| schema.as_value());
        if options["type"] == "null" {
            wrong.push("its options are a struct without braces: write `struct Options {}`".into());
        } else if options
            .get("additionalProperties")
            .is_none_or(|more| more == false)
        {
            let missing = self
                .flags
                .iter()
                .map(|flag| flag.option_name)
                .chain(self.file_options.iter().copied())
                .chain(keys.iter().copied())
                .filter(|key| options["properties"].get(key).is_none());
            wrong.extend(
                missing.map(|key| format!("it declares `{key}`, which is none of its options")),
            );
        }
        for (name, options) in variants {
            if !name
                .split(',')
                .all(|part| !part.is_empty() && !part.contains('/'))
                || serde_json::from_str::<Map<String, Value>>(options).is_err()
            {
                wrong.push(format!("the options `{options}` of its variant `{name}` are no JSON object, or its name is no name"));
            }
        }
        let name = self.name;
        wrong
            .into_iter()
            .map(|what| Problem::new(format!("the {noun} `{name}` is declared wrongly: {what}")))
            .collect()
    }

    /// Returns the command-line flag with this name; `None` if the plug-in does not declare it.
    pub fn flag(&self, name: &str) -> Option<&'static OptionFlag> {
        self.flags.iter().find(|flag| flag.name == name)
    }
}

impl<K> PluginEntry<K> {
    /// Creates the plug-in, or something of it, by calling `create`.
    ///
    /// # Errors
    /// The error of `create`, or its panic.
    pub fn catch_panic<R>(&self, create: impl FnOnce() -> Result<R>) -> Result<R> {
        catch_panic(create).unwrap_or_else(|text| {
            Err(
                Problem::new(format!("`{}` panics when it is created: {text}", self.name))
                    .hint(format!("correct the code of `{}`", self.name))
                    .into(),
            )
        })
    }
}

impl<K: PluginKind> PluginEntry<K> {
    /// Creates the plug-in from its options.
    ///
    /// # Errors
    /// All options that are unknown, unreadable or out of range, each with its whole key.
    pub fn build(&self, options: &Value) -> Result<K::Product> {
        self.catch_panic(|| self.kind_functions.build(options))
            .map_err(|error| self.complete_keys_in_error(error))
    }

    /// Returns the given options, completed by the defaults of all options that are missing.
    ///
    /// # Errors
    /// As [`Self::build`], except that ranges are not checked.
    pub fn resolve(&self, options: &Value) -> Result<Value> {
        self.catch_panic(|| self.kind_functions.resolve(options))
            .map_err(|error| self.complete_keys_in_error(error))
    }

    /// Completes the keys in the problems of an error by the section of the settings and the name of the plug-in.
    fn complete_keys_in_error(&self, error: Error) -> Error {
        match K::SECTION {
            Some(section) => self.qualify_keys_in_error(section, error),
            None => error,
        }
    }
}

/// Gives direct access to the functions of [`PluginEntry::kind_functions`].
impl<K> Deref for PluginEntry<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.kind_functions
    }
}

/// The plug-ins of one kind, in the order in which they were registered.
#[derive(Clone, Debug)]
pub struct PluginTable<K> {
    /// The words for the plug-ins in messages: the noun in singular, the noun in plural, and the key in the settings that selects
    /// a plug-in.
    message_words: [&'static str; 3],
    plugin_entries: Vec<PluginEntry<K>>,
}

impl<K> PluginTable<K> {
    /// Creates a table of `entries`. The array `words` contains the noun for a plug-in in singular, the noun in plural, and the
    /// key in the settings that selects a plug-in.
    pub const fn new(words: [&'static str; 3], entries: Vec<PluginEntry<K>>) -> Self {
        Self {
            message_words: words,
            plugin_entries: entries,
        }
    }

    /// Returns the entry of the plug-in `name`.
    ///
    /// # Errors
    /// No entry has that name.
    pub fn find(&self, name: &str) -> Result<&PluginEntry<K>> {
        self.plugin_entries
            .iter()
            .find(|entry| entry.name == name)
            .ok_or_else(|| {
                let [one, several, key] = self.message_words;
                Problem::unknown_name(one, name)
                    .key(key)
                    .with_known_names(several, self.names())
                    .into()
            })
    }

    /// Returns an iterator over all entries, in the order in which they were registered.
    pub fn iter(&self) -> std::slice::Iter<'_, PluginEntry<K>> {
        self.plugin_entries.iter()
    }

    /// Returns an iterator over the names of all plug-ins, in the order in which they were registered.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<'_, K> {
        self.plugin_entries.iter().map(|entry| entry.name)
    }

    /// Adds an entry at the end of the table.
    ///
    /// # Errors
    /// The name is already in use, or cannot be written in settings and on the command line; the entry is then not added.
    pub fn add(&mut self, entry: PluginEntry<K>) -> Result<(), Problem> {
        let ([one, ..], name) = (self.message_words, entry.name);
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        let (what, hint) = if self.names().any(|known| known == name) {
            ("is registered twice", "rename one of the two")
        } else if name.is_empty() || !name.chars().all(is_letter) || RESERVED.contains(&name) {
            let hint = "choose a name of letters, digits, `-` and `_` other than `name`, `none` and `trigger`";
            ("cannot be registered under this name", hint)
        } else {
            self.plugin_entries.push(entry);
            return Ok(());
        };
        Err(Problem::new(format!("the {one} `{name}` {what}")).hint(hint))
    }
}

/// Names that no plug-in may have, because they have another meaning in the places where settings name a plug-in.
const RESERVED: [&str; 4] = ["name", "none", "trigger", "forecast"];

impl<'t, K> IntoIterator for &'t PluginTable<K> {
    type Item = &'t PluginEntry<K>;
    type IntoIter = std::slice::Iter<'t, PluginEntry<K>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
