//! Plug-ins: the declarations of a policy, an application or a load, and tables of them by name.
//!
//! Each module of plug-ins defines the operations of its kind (`K` of [`Entry`]); the registry joins the tables.

use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::error::{Error, Problem};

/// An option with a separate flag on the command line: `--alpha 8` instead of `--set policy.migbsp.alpha=8`.
///
/// Several plug-ins may share a flag (`--procs`); help shows the words of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionFlag {
    /// The flag without its dashes.
    pub name: &'static str,
    /// The key of the option.
    pub key: &'static str,
    /// The line of help of the flag.
    pub help: &'static str,
    /// The values that the flag takes.
    pub values: FlagValues,
    /// The name of the value in help; empty for the name of the flag.
    pub value_name: &'static str,
}

/// The values of a flag: a single value for a run, lists and ranges for a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagValues {
    /// Whole numbers that are not negative.
    Counts,
    /// Finite numbers.
    Numbers,
    /// Grids such as `10x5`, which stand for `[10, 5]`.
    Grids,
    /// Texts without further syntax: names and files.
    Texts,
}

impl OptionFlag {
    /// Creates the flag of an option of the same name.
    pub const fn new(name: &'static str, values: FlagValues, help: &'static str) -> Self {
        Self {
            name,
            key: name,
            help,
            values,
            value_name: "",
        }
    }

    /// Returns the flag for an option with another name.
    #[must_use]
    pub const fn of_key(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    /// Returns the flag with values shown as `value_name`.
    #[must_use]
    pub const fn shown_as(self, value_name: &'static str) -> Self {
        Self { value_name, ..self }
    }
}

/// Creates plug-ins from options without a Rust type, for plug-ins in other languages.
pub trait Maker<T>: fmt::Debug + Send + Sync {
    /// Returns the options with all defaults.
    ///
    /// # Errors
    /// Unknown options, or wrong values; a key is that of the option.
    fn resolve(&self, options: &Map<String, Value>) -> Result<Map<String, Value>, Error>;

    /// Creates the plug-in from options with all defaults.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    fn make(&self, options: &Map<String, Value>) -> Result<T, Error>;
}

/// Creates a plug-in from its options, as settings have them.
///
/// # Errors
/// As [`Maker::make`].
pub fn make<T>(maker: &dyn Maker<T>, options: &Value) -> Result<T, Error> {
    maker.make(&maker.resolve(&object(options)?)?)
}

/// Returns the options with all defaults, as settings have them.
///
/// # Errors
/// As [`Maker::resolve`].
pub fn resolve<T>(maker: &dyn Maker<T>, options: &Value) -> Result<Value, Error> {
    let options = object(options)?;
    maker.resolve(&options).map(Value::Object)
}

/// Returns the options of a plug-in as an object; no options are an empty object.
fn object(options: &Value) -> Result<Map<String, Value>, Error> {
    match options {
        Value::Null => Ok(Map::new()),
        Value::Object(options) => Ok(options.clone()),
        other => Err(Problem::new(format!("`{other}` is no object of options")).into()),
    }
}

/// A plug-in by its name: its declarations, and the operations of its kind on its options.
#[derive(Clone, Copy, Debug)]
pub struct Entry<K> {
    /// The name of the plug-in in settings and on the command line.
    pub name: &'static str,
    /// The summary of the plug-in, in a sentence.
    pub summary: &'static str,
    /// The publication that describes the plug-in; `-` if there is none.
    pub source: &'static str,
    /// The options of the plug-in that have flags of their own.
    pub flags: &'static [OptionFlag],
    /// The options of the plug-in that name files, which are also searched beside the experiment.
    pub files: &'static [&'static str],
    schema: fn(&mut SchemaGenerator) -> Schema,
    /// The operations on the options, which depend on the kind of plug-in.
    pub kind: K,
}

/// A kind of plug-in: the operations on the options of one.
pub trait Kind {
    /// The type that is made from options.
    type Product;

    /// The section of an experiment that contains the options; none if errors have whole keys already.
    const SECTION: Option<&'static str>;

    /// Creates the plug-in from its options.
    ///
    /// # Errors
    /// All options that are unknown, unreadable or out of range, each with its key.
    fn build(&self, options: &Value) -> Result<Self::Product, Error>;

    /// Returns the options with all defaults filled in.
    ///
    /// # Errors
    /// As [`Self::build`], except that ranges are not checked.
    fn resolve(&self, options: &Value) -> Result<Value, Error>;
}

impl<K> Entry<K> {
    /// Creates an entry with the options `T`, which have no flags and name no files.
    pub fn new<T: JsonSchema>([name, summary, source]: [&'static str; 3], kind: K) -> Self {
        Self {
            name,
            summary,
            source,
            flags: &[],
            files: &[],
            schema: SchemaGenerator::subschema_for::<T>,
            kind,
        }
    }

    /// Returns the entry with the operations of another kind.
    pub fn with_kind<L>(&self, kind: L) -> Entry<L> {
        Entry {
            name: self.name,
            summary: self.summary,
            source: self.source,
            flags: self.flags,
            files: self.files,
            schema: self.schema,
            kind,
        }
    }

    /// Returns the schema of the plug-in's options.
    pub fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.schema)(generator)
    }

    /// Adds the path of the plug-in's options to the keys of an error: `section`, the name of the plug-in, the key.
    pub fn with_whole_keys(&self, section: &str, error: Error) -> Error {
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

    /// Returns the flag of this name, if the plug-in declares it.
    pub fn flag(&self, name: &str) -> Option<&'static OptionFlag> {
        self.flags.iter().find(|flag| flag.name == name)
    }
}

impl<K: Kind> Entry<K> {
    /// Creates the plug-in from its options.
    ///
    /// # Errors
    /// All options that are unknown, unreadable or out of range, each with its whole key.
    pub fn build(&self, options: &Value) -> Result<K::Product, Error> {
        let built = self.kind.build(options);
        built.map_err(|error| self.placed(error))
    }

    /// Returns the options with all defaults filled in.
    ///
    /// # Errors
    /// As [`Self::build`], except that ranges are not checked.
    pub fn resolve(&self, options: &Value) -> Result<Value, Error> {
        let resolved = self.kind.resolve(options);
        resolved.map_err(|error| self.placed(error))
    }

    fn placed(&self, error: Error) -> Error {
        match K::SECTION {
            Some(section) => self.with_whole_keys(section, error),
            None => error,
        }
    }
}

/// An entry has the operations of its kind.
impl<K> Deref for Entry<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.kind
    }
}

/// The plug-ins of one kind, in the order in which they were registered.
#[derive(Clone, Debug)]
pub struct Table<K> {
    /// The words for one plug-in and for several, and the key that names one.
    words: [&'static str; 3],
    entries: Vec<Entry<K>>,
}

impl<K> Table<K> {
    /// Creates a table of `entries`; `words` are the words for one plug-in and for several, and the key that names one.
    pub const fn new(words: [&'static str; 3], entries: Vec<Entry<K>>) -> Self {
        Self { words, entries }
    }

    /// Returns the entry `name`.
    ///
    /// # Errors
    /// There is no entry of that name.
    pub fn find(&self, name: &str) -> Result<&Entry<K>, Error> {
        let found = self.entries.iter().find(|entry| entry.name == name);
        found.ok_or_else(|| {
            let [one, several, key] = self.words;
            let problem = Problem::unknown(one, name).key(key);
            problem.known(several, self.names()).into()
        })
    }

    /// Iterates over all entries.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry<K>> {
        self.entries.iter()
    }

    /// Iterates over all names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<'_, K> {
        self.entries.iter().map(|entry| entry.name)
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// The name is taken, or cannot be written in settings and on the command line; the entry is then not added.
    pub fn add(&mut self, entry: Entry<K>) -> Result<(), Problem> {
        let ([one, ..], name) = (self.words, entry.name);
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        let (what, hint) = if self.names().any(|known| known == name) {
            ("is registered twice", "give one of the two another name")
        } else if name.is_empty() || !name.chars().all(is_letter) || RESERVED.contains(&name) {
            let hint = "use letters, digits, `-` and `_`; `name`, `none` and `trigger` are taken";
            ("cannot be registered under this name", hint)
        } else {
            self.entries.push(entry);
            return Ok(());
        };
        Err(Problem::new(format!("the {one} `{name}` {what}")).hint(hint))
    }
}

/// Names that have another meaning in the place of a plug-in.
const RESERVED: [&str; 4] = ["name", "none", "trigger", "forecast"];

impl<'t, K> IntoIterator for &'t Table<K> {
    type Item = &'t Entry<K>;
    type IntoIter = std::slice::Iter<'t, Entry<K>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
