//! The settings of an experiment as a list in order of precedence; of several settings for the same key, the last one applies.
//!
//! ```text
//! built-in experiments, platform, application, library, files, flags ─> Layers ─> merged settings
//! ```
//! Each setting keeps its source. A problem of the merged settings is therefore reported at the line or flag that caused it, and
//! a resolved experiment states the origin of each value. If a setting names another network, load or application, all keys that
//! belong to the previous name are removed: an empty object is put into the list before the settings with the new name.

use std::sync::Arc;

use serde_json::{Value, json};

use migsim_base::{
    document::Document,
    error::{Error, Problem, Result},
    setting::{KeySetting, is_path_within},
};

/// What one source sets together.
#[derive(Clone, Debug)]
enum Layer {
    /// All keys of a file, of the user or built in; the keys are merged one by one.
    File(Arc<Document>),
    /// Single keys, and the name of the source that set them; of two settings of one key the later one applies.
    Keys(Arc<str>, Arc<[KeySetting]>),
    /// An object that is emptied, so that keys inside it that earlier layers set have no effect: the name of the source that
    /// empties it, and the key of the object.
    EmptiedObject(Arc<str>, &'static str),
}

/// The key `library` of an experiment, which names the message-passing library.
pub(super) const LIBRARY_KEY: &str = "library";
/// The key of an experiment for the name of the application.
const APP_KEY: &str = "workload.app";
/// The keys that name a network, a load or an application. Each is paired with the key of the object that contains the settings
/// of the network, load or application.
const NAME_KEYS: [(&str, &str); 3] = [
    ("network.model", "network"),
    ("load.kind", "load"),
    (APP_KEY, "workload"),
];

impl Layer {
    fn of_source(source: &str, settings: impl Into<Arc<[KeySetting]>>) -> Self {
        Self::Keys(source.into(), settings.into())
    }

    /// Returns the name of the source of the settings: a file, `command line`, or another source.
    fn source_name(&self) -> &str {
        match self {
            Self::File(document) => &document.source,
            Self::Keys(source, _) | Self::EmptiedObject(source, _) => source,
        }
    }

    /// Returns the value that these settings give to a key; `None` if they do not set the key.
    fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::File(document) => value_at_path(&document.value, key),
            Self::Keys(_, settings) => {
                let setting = settings.iter().rfind(|one| determines_key(one, key))?;
                value_at_path(&setting.value, key.strip_prefix(&*setting.key)?)
            }
            Self::EmptiedObject(..) => None,
        }
    }

    /// Returns whether the settings determine the value of a key: they either set a value, or remove the value because they
    /// replace an object that contains the key.
    fn determines_key(&self, key: &str) -> bool {
        match self {
            Self::File(document) => {
                let mut ends = key.match_indices(['.', '[']).map(|(end, _)| end);
                let around = |end| value_at_path(&document.value, &key[..end]);
                self.get(key).is_some()
                    || ends.any(|end| around(end).is_some_and(|around| !around.is_object()))
            }
            Self::Keys(_, settings) => settings.iter().any(|one| determines_key(one, key)),
            Self::EmptiedObject(_, object) => is_path_within(key, object),
        }
    }

    /// Returns the text under the key `origins` of these settings that states the source of the value of `key`; `None` if there
    /// is no such text.
    fn origin_text(&self, key: &str) -> Option<&str> {
        let text = match self {
            Self::File(document) => document.value.get("origins")?.get(key),
            Self::Keys(_, settings) => settings.iter().rev().find_map(|one| match &*one.key {
                "origins" => one.value.get(key),
                name => (name.strip_prefix("origins.")? == key).then_some(&one.value),
            }),
            Self::EmptiedObject(..) => None,
        };
        text?.as_str()
    }
}

/// Returns whether a single setting determines the value of a key.
fn determines_key(setting: &KeySetting, key: &str) -> bool {
    // A text in place of an object is either a name for the object or a mistake, which is reported later.
    let value = &setting.value;
    let is_whole = value.is_object() || value.is_array() || value.is_null();
    setting.key == key || is_whole && is_path_within(key, &setting.key)
}

/// The settings of an experiment from any number of sources, in layers: later settings override earlier settings.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    layers: Vec<Layer>,
}

impl Layers {
    /// Creates settings from pairs of a key, with dots between its parts (`workload.app`), and its value.
    pub fn from_pairs<'k>(settings: impl IntoIterator<Item = (&'k str, Value)>) -> Self {
        let mut layers = Self::default();
        let settings = settings.into_iter();
        layers.push_flags(
            settings
                .map(|(key, value)| KeySetting::new(key, key, value))
                .collect(),
        );
        layers
    }

    /// Appends the settings of a file, which override all earlier settings.
    pub fn push_file(&mut self, document: impl Into<Arc<Document>>) {
        self.push(Layer::File(document.into()), None);
    }

    /// Appends settings from flags of the command line, which override all earlier settings; of two flags for one key, the later
    /// flag applies.
    pub fn push_flags(&mut self, flags: Vec<KeySetting>) {
        self.push_settings_of_source("command line", flags);
    }

    /// Appends settings of the source with this name, which override all earlier settings key by key.
    pub(super) fn push_settings_of_source(&mut self, source: &str, settings: Vec<KeySetting>) {
        self.push(Layer::of_source(source, settings), None);
    }

    /// Appends settings that one source sets together. If they name a network model, the network constants of the library
    /// (`constants`) are inserted directly after this name.
    fn push(&mut self, layer: Layer, constants: Option<&Layer>) {
        for (name, object) in NAME_KEYS {
            let Some(given) = layer.get(name) else {
                continue;
            };
            let is_other = |before: Value| *given != before;
            if name != APP_KEY || self.get(APP_KEY).is_some_and(is_other) {
                let source = layer.source_name().into();
                self.layers.push(Layer::EmptiedObject(source, object));
            }
            // If a resolved experiment lacks a constant of the library, the constant was switched off.
            if object == "network" && layer.get("basis").is_none() {
                self.layers.extend(constants.cloned());
            }
        }
        self.layers.push(layer);
    }

    /// Joins several lists of settings into one list, in which later lists override earlier lists. The settings of a library,
    /// with the name of their source, are inserted directly before the last setting that names a library.
    pub(super) fn join_with_library(
        parts: &[&Self],
        library: Option<&(String, &[KeySetting])>,
    ) -> Self {
        let layers = parts.iter().flat_map(|part| &part.layers);
        let is_given = |layer: &&Layer| !matches!(layer, Layer::EmptiedObject(..));
        let layers: Vec<&Layer> = layers.filter(is_given).collect();
        let place = layers
            .iter()
            .rposition(|layer: &&Layer| layer.get(LIBRARY_KEY).is_some());
        let mut all = Self::default();
        let mut constants = None;
        for (index, layer) in layers.into_iter().enumerate() {
            if let Some((source, settings)) = library.filter(|_| place == Some(index)) {
                let is_constant =
                    |one: &&KeySetting| one.is_key_inside("network") && one.key != "network.model";
                let own: Vec<_> = settings.iter().filter(is_constant).cloned().collect();
                constants = Some(Layer::of_source(source, own));
                all.push(Layer::of_source(source, *settings), None);
            }
            all.push(layer.clone(), constants.as_ref());
        }
        all
    }

    /// Returns the value of a key after all settings are merged; `None` if no setting gives it a value.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.deciding_setting(key)?.get(key).cloned()
    }

    /// Returns the setting that determines the value of a key; `None` if the key has no value after all settings are merged.
    fn deciding_setting(&self, key: &str) -> Option<&Layer> {
        self.layers
            .iter()
            .rfind(|one| one.determines_key(key))
            .filter(|one| one.get(key).is_some())
    }

    /// Returns the name of the source that determines the value of a key, and whether the source is a file; `None` if the key has
    /// no value.
    pub(super) fn source_and_is_file(&self, key: &str) -> Option<(&str, bool)> {
        let giver = self.deciding_setting(key)?;
        Some((giver.source_name(), matches!(giver, Layer::File(_))))
    }

    /// Returns whether the user chose the value of a key. The values in a resolved experiment file (which has the key `basis`) do
    /// not count as chosen, because such a file contains every key.
    pub fn is_chosen_by_user(&self, key: &str) -> bool {
        self.deciding_setting(key)
            .is_some_and(|giver| giver.get("basis").is_none())
    }

    /// Returns the origin of the value of a key, and whether this origin is a text under `origins` in a file. If no file states
    /// the origin, it is the name of the source that set the value. `None` for a default value.
    pub(super) fn origin_and_is_from_file(&self, key: &str) -> Option<(String, bool)> {
        let known = self
            .layers
            .iter()
            .rfind(|one: &&Layer| one.origin_text(key).is_some() || one.determines_key(key))?;
        if let Some(text) = known.origin_text(key) {
            return Some((text.to_owned(), true));
        }
        // The name of a network sets all its constants.
        let is_given = known.get(key).is_some() || is_path_within(key, "network");
        is_given.then(|| (format!("stated: given by {}", known.source_name()), false))
    }

    /// Merges all settings into one JSON object. Objects in files are merged key by key; any other value replaces the earlier
    /// value as a whole.
    ///
    /// # Errors
    /// A file is not an object, or a flag sets a key inside a value that is not an object.
    pub fn merged_settings(&self) -> Result<Value> {
        let mut all = json!({});
        for layer in &self.layers {
            match layer {
                Layer::File(document) if !document.value.is_object() => {
                    let message =
                        "expected a JSON object with the settings of an experiment, `{...}`";
                    return Err(document
                        .problem_at("", message)
                        .hint("print an example with `migsim run lu --show`")
                        .into());
                }
                Layer::File(document) => merge_json(&mut all, &document.value),
                Layer::Keys(_, settings) => {
                    for one in &**settings {
                        if !set_at_path(&mut all, &one.key, one.value.clone()) {
                            return Err(invalid_key_problem(&all, one).into());
                        }
                    }
                }
                Layer::EmptiedObject(_, object) => {
                    all[*object] = json!({});
                    if let Some(origins) = all.get_mut("origins").and_then(Value::as_object_mut) {
                        origins
                            .retain(|key, _| !is_path_within(key, object) || *object == "network");
                    }
                }
            }
        }
        Ok(all)
    }

    /// Adds to each problem of `error` its place in the settings: the file and line, or the flag, that caused the problem.
    #[must_use]
    pub fn add_locations_to_problems(&self, error: Error) -> Error {
        error.map_problems(|problem| self.add_location_to_problem(problem))
    }

    /// Adds to a problem its place in the settings: the file and line, or the flag, that caused the problem.
    fn add_location_to_problem(&self, problem: Problem) -> Problem {
        let (None, Some(key)) = (&problem.location.source, &problem.location.key) else {
            return problem;
        };
        for layer in self.layers.iter().rev() {
            match layer {
                Layer::Keys(_, settings) => {
                    let mut settings = settings.iter().rev();
                    if let Some(one) = settings.find(|one| is_path_within(key, &one.key)) {
                        return problem.source(&one.source_text);
                    }
                }
                Layer::EmptiedObject(..) => {}
                Layer::File(document) => {
                    if let Some((line, column)) = document.locate(key) {
                        return problem
                            .source(&document.source)
                            .at_line_column(line, column);
                    }
                }
            }
        }
        problem
    }
}

/// Returns the value at a path such as `policy.name` or `load[1].mean` in a JSON value; `None` if the path does not exist.
pub fn value_at_path<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    key_path_parts(key).try_fold(value, |value, part| match part.strip_suffix(']') {
        Some(index) => value.get(index.parse::<usize>().ok()?),
        None => value.get(part),
    })
}

/// Returns a mutable reference to the value at a path such as `policy.name` or `load[1].mean`; `None` if the path does not exist.
pub fn value_at_path_mut<'v>(value: &'v mut Value, key: &str) -> Option<&'v mut Value> {
    key_path_parts(key).try_fold(value, |value, part| match part.strip_suffix(']') {
        Some(index) => value.get_mut(index.parse::<usize>().ok()?),
        None => value.get_mut(part),
    })
}

/// Splits the path of a key into its parts: names of keys, and indices of lists with their closing bracket.
fn key_path_parts(key: &str) -> impl Iterator<Item = &str> {
    key.split(['.', '[']).filter(|part| !part.is_empty())
}

/// Merges `above` into `below`: two objects are merged key by key; any other value of `above` replaces the value in `below`.
fn merge_json(below: &mut Value, above: &Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                match below.get_mut(key) {
                    Some(old) => merge_json(old, value),
                    None => {
                        below.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (below, above) => *below = above.clone(),
    }
}

/// Sets the value at a path such as `policy.name` or `load[1].mean`, and creates missing objects on the path. Returns `false` if
/// this is impossible: a value on the path is not an object, a list has no such element, or a part of the path is empty.
pub(super) fn set_at_path(value: &mut Value, key: &str, new: Value) -> bool {
    const TRIGGER: &str = "policy.trigger";
    const RECEIVES: &str = "runtime.receives";
    // A trigger may be a text. If options of triggers are set as well, the text becomes its name among them.
    let is_text = |value: &Value, key| value_at_path(value, key).is_some_and(Value::is_string);
    let is_object = |value: &Value, key| value_at_path(value, key).is_some_and(Value::is_object);
    if key == TRIGGER && new.is_string() && is_object(value, TRIGGER) {
        return set_at_path(value, "policy.trigger.name", new);
    }
    if key != TRIGGER && is_path_within(key, TRIGGER) && is_text(value, TRIGGER) {
        value["policy"]["trigger"] = json!({ "name": value_at_path(value, TRIGGER) });
    }
    // Receives may be a text, which has no keys: the text then becomes a size.
    if key != RECEIVES && is_path_within(key, RECEIVES) && is_text(value, RECEIVES) {
        value["runtime"]["receives"] = json!({});
    }
    let mut place = value;
    for part in key.split('.') {
        let (name, indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        let Value::Object(map) = place else {
            return false;
        };
        if name.is_empty() {
            return false;
        }
        match value_at_path_mut(map.entry(name).or_insert_with(|| json!({})), indices) {
            Some(found) if indices.is_empty() || indices.ends_with(']') => place = found,
            _ => return false,
        }
    }
    *place = new;
    true
}

/// Returns the error which reports that a flag sets a key inside a value that is not an object.
fn invalid_key_problem(all: &Value, flag: &KeySetting) -> Problem {
    let problem = Problem::new(format!("`{}` is not a key of an experiment", flag.key))
        .with_unknown_name("key", &flag.key)
        .source(&flag.source_text);
    // Find the longest part of the key that has a value; this value is not an object.
    let around = flag
        .key
        .match_indices(['.', '['])
        .rev()
        .map(|(end, _)| &flag.key[..end])
        .find_map(|key| Some((key, value_at_path(all, key)?)));
    match around {
        Some((key, Value::Array(list))) if !list.is_empty() => {
            let rest = flag.key[key.len()..].trim_start_matches(|letter| letter != '.');
            let last = list.len() - 1;
            problem.hint(format!(
                "`{key}` is a list here: name one of its entries, `{key}[0]{rest}` to `{key}[{last}]{rest}`"
            ))
        }
        Some((key, Value::Null)) => problem.hint(format!(
            "set a value of `{key}` first, since it has none here"
        )),
        _ => problem,
    }
}

#[cfg(test)]
mod tests;
