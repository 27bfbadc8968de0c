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
    error::{Error, Problem},
};

/// A setting of one key of an experiment: the key, its value, and the source of the setting, usually a flag of the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct KeySetting {
    /// The key of the experiment that is set, with dots between its parts (`workload.procs`).
    pub key: String,
    /// The text by which messages to the user name the source of the setting, usually the flag as the user typed it (`--grid
    /// 10x5`).
    pub source_text: String,
    /// The value that the key gets.
    pub value: Value,
}

impl KeySetting {
    /// Creates the setting of `key` to `value`; `source` is the text by which messages name its source.
    pub fn new(key: impl Into<String>, source: impl Into<String>, value: impl Into<Value>) -> Self {
        Self {
            key: key.into(),
            source_text: source.into(),
            value: value.into(),
        }
    }

    /// Returns whether the key of the setting lies inside the object or list at `key`.
    pub fn is_key_inside(&self, key: &str) -> bool {
        self.key != key && is_path_within(&self.key, key)
    }
}

/// One layer in the list of settings: all keys of a file, a single key, or an object that is emptied; each with the name of its
/// source.
#[derive(Clone, Debug)]
enum SettingLayer {
    /// All keys of a file, of the user or built in; the keys are merged one by one.
    File(Arc<Document>),
    /// One key with its value, and the name of the source that set it. Settings that a source sets together share the same
    /// allocation of this name.
    SingleKey(Arc<str>, Arc<KeySetting>),
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

impl SettingLayer {
    /// Returns the name of the source of the setting: a file, `command line`, or another source.
    fn source_name(&self) -> &str {
        match self {
            Self::File(document) => &document.source,
            Self::SingleKey(source, _) | Self::EmptiedObject(source, _) => source,
        }
    }

    /// Returns whether the two settings were set together by the same source, and therefore share the allocation of the source's
    /// name.
    fn is_set_together_with(&self, other: &Self) -> bool {
        matches!((self, other), (Self::SingleKey(one, _), Self::SingleKey(other, _)) if Arc::ptr_eq(one, other))
    }

    /// Returns the value that this setting gives to a key; `None` if it does not set the key.
    fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::File(document) => value_at_path(&document.value, key),
            Self::SingleKey(_, flag) if is_path_within(key, &flag.key) => {
                value_at_path(&flag.value, &key[flag.key.len()..])
            }
            Self::SingleKey(..) | Self::EmptiedObject(..) => None,
        }
    }

    /// Returns whether the setting determines the value of a key: it either sets a value, or removes the value because it
    /// replaces an object that contains the key.
    fn determines_key(&self, key: &str) -> bool {
        match self {
            Self::File(document) => {
                let mut ends = key.match_indices(['.', '[']).map(|(end, _)| end);
                let around = |end| value_at_path(&document.value, &key[..end]);
                self.get(key).is_some()
                    || ends.any(|end| around(end).is_some_and(|around| !around.is_object()))
            }
            // A text in place of an object is either a name for the object or a mistake, which is reported later.
            Self::SingleKey(_, flag) => {
                let is_whole =
                    flag.value.is_object() || flag.value.is_array() || flag.value.is_null();
                flag.key == key || is_whole && is_path_within(key, &flag.key)
            }
            Self::EmptiedObject(_, object) => is_path_within(key, object),
        }
    }

    /// Returns the text under the key `origins` of this setting that states the source of the value of `key`; `None` if there is
    /// no such text.
    fn origin_text(&self, key: &str) -> Option<&str> {
        let text = match self {
            Self::File(document) => document.value.get("origins")?.get(key)?,
            Self::SingleKey(_, flag) if flag.key == "origins" => flag.value.get(key)?,
            Self::SingleKey(_, flag) if flag.key.strip_prefix("origins.")? == key => &flag.value,
            Self::SingleKey(..) | Self::EmptiedObject(..) => return None,
        };
        text.as_str()
    }
}

/// The settings of an experiment from any number of sources, in layers: later settings override earlier settings.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    setting_layers: Vec<SettingLayer>,
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
        self.push_settings_set_together(vec![SettingLayer::File(document.into())], &[]);
    }

    /// Appends settings from flags of the command line, which override all earlier settings; of two flags for one key, the later
    /// flag applies.
    pub fn push_flags(&mut self, flags: Vec<KeySetting>) {
        self.push_settings_of_source("command line", flags);
    }

    /// Appends settings of the source with this name, which override all earlier settings key by key.
    pub(super) fn push_settings_of_source(&mut self, source: &str, settings: Vec<KeySetting>) {
        self.push_settings_set_together(settings_of_source(source, settings), &[]);
    }

    /// Appends settings that one source sets together. If they name a network model, the network constants of the library
    /// (`constants`) are inserted directly after this name.
    fn push_settings_set_together(
        &mut self,
        settings: Vec<SettingLayer>,
        constants: &[SettingLayer],
    ) {
        for (name, object) in NAME_KEYS {
            let Some(one) = settings.iter().rfind(|one| one.get(name).is_some()) else {
                continue;
            };
            let is_other = |before: Value| one.get(name) != Some(&before);
            if name != APP_KEY || self.get(APP_KEY).is_some_and(is_other) {
                self.setting_layers.push(SettingLayer::EmptiedObject(
                    one.source_name().into(),
                    object,
                ));
            }
            // If a resolved experiment lacks a constant of the library, the constant was switched off.
            let is_resolved = settings.iter().any(|one| one.get("basis").is_some());
            if object == "network" && !is_resolved {
                self.setting_layers.extend_from_slice(constants);
            }
        }
        self.setting_layers.extend(settings);
    }

    /// Joins several lists of settings into one list, in which later lists override earlier lists. The settings of a library,
    /// with the name of their source, are inserted directly before the last setting that names a library.
    pub(super) fn join_with_library(
        parts: &[&Self],
        library: Option<&(String, &[KeySetting])>,
    ) -> Self {
        let batches = (parts.iter()).flat_map(|part| {
            part.setting_layers
                .chunk_by(SettingLayer::is_set_together_with)
        });
        let is_given =
            |batch: &&[SettingLayer]| !matches!(batch, [SettingLayer::EmptiedObject(..)]);
        let batches: Vec<&[SettingLayer]> = batches.filter(is_given).collect();
        let names_library =
            |batch: &&[SettingLayer]| batch.iter().any(|one| one.get(LIBRARY_KEY).is_some());
        let place = batches.iter().rposition(names_library);
        let (mut all, mut constants) = (Self::default(), Vec::new());
        for (index, batch) in batches.into_iter().enumerate() {
            if let Some((source, settings)) = library.filter(|_| place == Some(index)) {
                let settings = settings_of_source(source, settings.to_vec());
                let is_constant = |one: &&SettingLayer| matches!(one, SettingLayer::SingleKey(_, flag) if flag.is_key_inside("network") && flag.key != "network.model");
                constants = settings.iter().filter(is_constant).cloned().collect();
                all.push_settings_set_together(settings, &[]);
            }
            all.push_settings_set_together(batch.to_vec(), &constants);
        }
        all
    }

    /// Returns the value of a key after all settings are merged; `None` if no setting gives it a value.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.deciding_setting(key)?.get(key).cloned()
    }

    /// Returns the setting that determines the value of a key; `None` if the key has no value after all settings are merged.
    fn deciding_setting(&self, key: &str) -> Option<&SettingLayer> {
        self.setting_layers
            .iter()
            .rfind(|one| one.determines_key(key))
            .filter(|one| one.get(key).is_some())
    }

    /// Returns the name of the source that determines the value of a key, and whether the source is a file; `None` if the key has
    /// no value.
    pub(super) fn source_and_is_file(&self, key: &str) -> Option<(&str, bool)> {
        let giver = self.deciding_setting(key)?;
        Some((giver.source_name(), matches!(giver, SettingLayer::File(_))))
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
        let knows = |one: &&SettingLayer| one.origin_text(key).is_some() || one.determines_key(key);
        let known = self.setting_layers.iter().rfind(knows)?;
        let mut beside = self
            .setting_layers
            .iter()
            .rev()
            .filter(|one| one.is_set_together_with(known));
        let text = known.origin_text(key);
        if let Some(text) = text.or_else(|| beside.find_map(|one| one.origin_text(key))) {
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
    pub fn merged_settings(&self) -> Result<Value, Error> {
        let mut all = json!({});
        for setting in &self.setting_layers {
            match setting {
                SettingLayer::File(document) if !document.value.is_object() => {
                    let message =
                        "expected a JSON object with the settings of an experiment, `{...}`";
                    return Err(document
                        .problem_at("", message)
                        .hint("print an example with `migsim run lu --show`")
                        .into());
                }
                SettingLayer::File(document) => merge_json(&mut all, &document.value),
                SettingLayer::SingleKey(_, flag)
                    if !set_at_path(&mut all, &flag.key, flag.value.clone()) =>
                {
                    return Err(invalid_key_problem(&all, flag).into());
                }
                SettingLayer::SingleKey(..) => {}
                SettingLayer::EmptiedObject(_, object) => {
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
        for setting in self.setting_layers.iter().rev() {
            match setting {
                SettingLayer::SingleKey(_, flag) if is_path_within(key, &flag.key) => {
                    return problem.source(&flag.source_text);
                }
                SettingLayer::SingleKey(..) | SettingLayer::EmptiedObject(..) => {}
                SettingLayer::File(document) => {
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

fn settings_of_source(source: &str, settings: Vec<KeySetting>) -> Vec<SettingLayer> {
    let source: Arc<str> = source.into();
    let one = |flag: KeySetting| SettingLayer::SingleKey(Arc::clone(&source), flag.into());
    settings.into_iter().map(one).collect()
}

/// Returns whether the path of a key `inner` equals the path `outer` or lies inside it.
pub(super) fn is_path_within(inner: &str, outer: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
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
        let inside = map.entry(name).or_insert_with(|| json!({}));
        match value_at_path_mut(inside, indices) {
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
