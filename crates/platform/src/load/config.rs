//! The key `load` of an experiment: one load or a list of loads, each with its `kind`, the hosts or links to which the load
//! applies (`on`), and the parameters of the kind.

use std::{collections::BTreeMap, sync::Arc};

use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Entry, Load, MAX_LOAD, Table, Values, range::range_hint, scaled::ScaledLoad};
use migsim_base::{
    document,
    error::{Error, Problem, Result},
    units::Seconds,
    words::format_count,
};

/// The key `load` as written in an experiment: one load, or a list of loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected an object such as {\"kind\": \"walk\"}, or a list of such objects"
)]
pub enum LoadKey {
    /// One load, given by the keys `kind` and `on` and the parameters of the kind.
    One(Map<String, Value>),
    /// Several loads; if they apply to the same host or link, the cores that they keep busy add up, and the shares of the capacity
    /// that reservations leave are multiplied.
    Several(Vec<Map<String, Value>>),
}

/// Background loads of an experiment, each with the hosts and links to which the load applies.
///
/// ```
/// use migsim_platform::load::Loads;
/// let key = serde_json::from_value(serde_json::json!({ "kind": "constant", "load": 0.25, "on": "Aquario", "values": "reserved" })).unwrap();
/// let mut platform = migsim_platform::open("ufrgs")?.platform;
/// let before = platform.hosts[platform.host_named("Aquario-3").unwrap().index()].speed.get();
/// Loads::read(&migsim_platform::load::standard(), Some(&key))?.put_on(&mut platform, 1)?;
/// let after = platform.hosts[platform.host_named("Aquario-3").unwrap().index()].speed.get();
/// assert_eq!(after, 0.75 * before);
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Loads {
    /// The loads, in the order of the experiment.
    pub(super) load_specs: Vec<LoadSpec>,
    /// Whether the experiment writes the loads as a list, even if that list has only one element.
    is_written_as_list: bool,
}

/// Hosts or links to which a load applies (key `on`), as one name or a list of names. `hosts` means all hosts, `links` all links,
/// and the name of a cluster all its hosts; other names are names of a host or link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected `hosts`, `links`, the name of a cluster, host or link, or a list of such names"
)]
pub(super) enum On {
    One(String),
    Several(Vec<String>),
}

impl Default for On {
    fn default() -> Self {
        Self::One("hosts".into())
    }
}

impl On {
    /// Whether the load applies to all links and to nothing else.
    fn is_links(&self) -> bool {
        self.names() == ["links"]
    }

    /// Returns the names of clusters, hosts and links as written in the experiment, including the words `hosts` and `links`.
    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct LoadSpec {
    /// Key of the load in the experiment, for messages: `load`, or `load[2]`.
    pub key: String,
    /// Name of the kind of load, such as `ar`.
    pub kind: &'static str,
    /// Hosts and links to which the load applies, as written in the experiment.
    pub targets: On,
    pub load: Arc<dyn Load>,
    /// Meaning of the values of the load on hosts.
    pub values: Values,
    keys_with_defaults: Value,
}

impl LoadSpec {
    /// Returns the path of the file of the load, or else its kind.
    fn source_name(&self) -> &str {
        self.load.file_and_sha256().map_or(self.kind, |file| file.0)
    }
}

impl Loads {
    /// Creates the loads that the key `load` of an experiment describes, and reads the files that this key names. `table`
    /// contains the known kinds of load.
    ///
    /// # Errors
    /// All kinds and parameters that are unknown, unreadable or out of range, each with its full key in the experiment.
    pub fn read(table: &Table, key: Option<&LoadKey>) -> Result<Self> {
        let (all, is_list) = match key {
            None => (&[][..], false),
            Some(LoadKey::One(one)) => (std::slice::from_ref(one), false),
            Some(LoadKey::Several(several)) => (&several[..], true),
        };
        let mut specs = Vec::new();
        let mut problems = Vec::new();
        for (index, keys) in all.iter().enumerate() {
            let key = if is_list {
                format!("load[{index}]")
            } else {
                "load".into()
            };
            match read_load(table, &key, keys)
                .map_err(|error| error.map_problems(|problem| with_load_key_prefix(&key, problem)))
            {
                Ok(spec) => specs.push(spec),
                Err(Error::Input(found)) => problems.extend(found),
                Err(other) => return Err(other),
            }
        }
        if problems.is_empty() {
            Ok(Self {
                load_specs: specs,
                is_written_as_list: is_list,
            })
        } else {
            Err(Error::Input(problems))
        }
    }

    /// Whether there are no loads.
    pub fn is_empty(&self) -> bool {
        self.load_specs.is_empty()
    }

    /// Returns the loads with each share multiplied by `factor`, which is from 0 to 1; no loads for the factor 0.
    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Self {
        if factor <= 0.0 {
            self.load_specs.clear();
        }
        for spec in &mut self.load_specs {
            let load = Arc::clone(&spec.load);
            spec.load = Arc::new(ScaledLoad { load, factor });
        }
        self
    }

    /// Whether any load depends on the seed of the random numbers.
    pub fn uses_seed(&self) -> bool {
        self.load_specs.iter().any(|spec| spec.load.uses_seed())
    }

    /// Returns the value of the key `load` with all defaults filled in; `None` if the experiment has no load.
    pub fn load_key_with_defaults(&self) -> Option<Value> {
        let mut all = self
            .load_specs
            .iter()
            .map(|spec| spec.keys_with_defaults.clone());
        if self.is_written_as_list {
            Some(all.collect())
        } else {
            all.next()
        }
    }

    /// Returns the notes for the user about the loads, one sentence each. Equal notes about several files are one note.
    pub fn user_notes(&self) -> Vec<String> {
        let mut notes: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for spec in &self.load_specs {
            let file = spec.source_name();
            let is_reserved = spec.values == Values::Reserved || spec.targets.is_links();
            for (count, what) in spec.load.notes(is_reserved) {
                notes.entry(what).or_default().insert(file, count);
            }
        }
        notes
            .into_iter()
            .map(|(what, files)| {
                let first = files.keys().next().copied().unwrap_or_default();
                let place = match files.len() {
                    1 => format!("in `{first}`"),
                    several => format!("in {several} files, such as `{first}`"),
                };
                let count = format_count(files.values().sum::<usize>(), "value");
                format!("values of the load {what} ({count}, {place})")
            })
            .collect()
    }

    /// Returns the name of the file or kind, and the time of the first positive value, of each load for which this time is known
    /// before the run.
    pub fn first_positive_times(&self) -> impl Iterator<Item = (String, Seconds)> {
        self.load_specs.iter().filter_map(|spec| {
            let name = spec.source_name();
            Some((format!("`{name}`"), spec.load.first_positive_time()?))
        })
    }

    /// Returns the files from which the loads were read: path and SHA-256 of each.
    pub fn trace_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.load_specs
            .iter()
            .filter_map(|spec| spec.load.file_and_sha256())
    }
}

const VALUES: &str = "values";

fn read_load(table: &Table, key: &str, keys: &Map<String, Value>) -> Result<LoadSpec> {
    let mut keys = keys.clone();
    let kind = match keys.remove("kind") {
        Some(Value::String(kind)) => kind,
        other => {
            let mut problem = Problem::new("the load has no `kind`, such as `walk`");
            if other.is_some() {
                problem = Problem::new("the `kind` of the load is not a text").key("kind");
            }
            return Err(problem.with_known_names("loads", table.names()).into());
        }
    };
    let on = match keys.remove("on") {
        None => On::default(),
        Some(on) => document::from_value(&on, "on")?,
    };
    let entry = table.find(&kind)?;
    let has_own_values = entry.parameters().iter().any(|one| one.name == VALUES);
    let given = keys.get(VALUES).filter(|_| !has_own_values).cloned();
    let mut values = Values::default();
    if let Some(given) = given {
        values = document::from_value(&given, VALUES)?;
        keys.remove(VALUES);
    }
    let (load, own) = entry.catch_panic(|| entry.create_load(&Value::Object(keys)))?;
    let values = load.values().unwrap_or(values);
    let most = if values == Values::Reserved {
        MAX_LOAD
    } else {
        values.most()
    };
    let range = 0.0..=most;
    let constant = load.constant_value();
    if let Some(value) = constant.filter(|value| !range.contains(value)) {
        let message = format!("the load `{kind}` is {value}, which is out of range");
        let hint = range_hint(value, &range);
        let hint = format!("{hint}; or add `values=load-average` for a number of busy cores");
        return Err(Problem::new(message).hint(hint).into());
    }
    let mut resolved = json!({ "kind": entry.name, "on": on, VALUES: values });
    if let (Some(all), Value::Object(rest)) = (resolved.as_object_mut(), own) {
        all.extend(rest);
    }
    Ok(LoadSpec {
        key: key.to_owned(),
        kind: entry.name,
        targets: on,
        load,
        values,
        keys_with_defaults: resolved,
    })
}

fn with_load_key_prefix(key: &str, problem: Problem) -> Problem {
    if problem.location.source.is_some() {
        return problem; // it stands in a file of its own
    }
    let whole = match &problem.location.key {
        Some(inner) => format!("{key}.{inner}"),
        None => key.to_owned(),
    };
    problem.key(whole)
}

/// Returns the JSON Schema of the key `load`: one load or a list of loads, each of a kind in `table`.
pub fn load_key_schema(table: &Table, generator: &mut SchemaGenerator) -> Value {
    let places = generator.subschema_for::<On>().to_value();
    let values = generator.subschema_for::<Values>().to_value();
    let kind = |entry: &Entry, keys: Value| {
        let mut own = json!({ "kind": { "const": entry.name }, "on": places });
        if !entry.parameters().iter().any(|one| one.name == VALUES) {
            own[VALUES] = values.clone();
        }
        json!({ "title": entry.name, "description": entry.summary, "properties": own, "allOf": [keys] })
    };
    let kinds: Vec<Value> = table
        .iter()
        .map(|entry| kind(entry, entry.options_schema(generator).to_value()))
        .collect();
    json!({
        "description": "Background load of hosts and links: one load, or a list; the cores that several loads on one host keep busy add up, and \
        the shares that reservations leave multiply.",
        "anyOf": [{ "type": "null" }, { "type": "object", "anyOf": kinds }, { "type": "array", "items": { "type": "object", "anyOf": kinds } }],
    })
}
