//! The layers of settings: the experiment of the application, the user's file, the flags; later ones win.
//!
//! Each layer remembers its places, so that a problem found in the merged settings points at the line or flag that caused it.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use migsim_base::document::Document;
use migsim_base::error::{Error, Problem};

/// Settings from one source.
#[derive(Clone, Debug)]
enum Layer {
    /// A file, given or built in.
    File(Arc<Document>),
    /// Settings key by key: those of the command line, or of another source of this name.
    Flags(String, Vec<Flag>),
}

impl Layer {
    fn get(&self, key: &str) -> Option<Value> {
        match self {
            Self::File(document) => lookup(&document.value, key).cloned(),
            Self::Flags(_, flags) => {
                // The last flag that gives it, or that replaces an object around it.
                let last = flags.iter().rev().find(|flag| flag.decides(key))?;
                lookup(&last.value, &key[last.key.len()..]).cloned()
            }
        }
    }

    /// Whether the value of a key is that of this layer, or is none because of it: an object around the key is replaced.
    fn decides(&self, key: &str) -> bool {
        match self {
            Self::File(document) => {
                let mut ends = key.match_indices(['.', '[']).map(|(end, _)| end);
                let is_replaced = |around: &Value| !around.is_object() && !around.is_array();
                lookup(&document.value, key).is_some()
                    || ends.any(|end| lookup(&document.value, &key[..end]).is_some_and(is_replaced))
            }
            Self::Flags(_, flags) => flags.iter().any(|flag| flag.decides(key)),
        }
    }

    fn origin(&self, key: &str) -> Option<&Value> {
        match self {
            Self::File(document) => document.value.get("origins")?.get(key),
            Self::Flags(..) => None,
        }
    }

    fn name(&self) -> String {
        match self {
            Self::File(document) => document.source.clone(),
            Self::Flags(name, _) => name.clone(),
        }
    }
}

/// A setting from the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// Its key in the experiment, as a dotted path.
    pub key: String,
    /// The flag as typed, for messages (`--grid 10x5`).
    pub flag: String,
    /// The value.
    pub value: Value,
}

impl Flag {
    /// Whether its key lies inside the object or list at `key`.
    pub fn is_inside(&self, key: &str) -> bool {
        self.key != key && is_within(&self.key, key)
    }

    /// Whether it gives `key`, or replaces an object around it; what stands where an object belongs is a mistake, of which it is told later.
    fn decides(&self, key: &str) -> bool {
        let is_whole = self.value.is_object() || self.value.is_array() || self.value.is_null();
        self.key == key || is_whole && is_within(key, &self.key)
    }

    /// Whether it gives `key`, alone or inside an object or list.
    fn sets(&self, key: &str) -> bool {
        let inside = key.strip_prefix(&*self.key);
        inside.is_some_and(|rest| {
            is_within(key, &self.key) && (rest.is_empty() || lookup(&self.value, rest).is_some())
        })
    }
}

/// Layers of settings, the strongest last.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    layers: Vec<Layer>,
    /// Constants of the network of a library, which is a layer as well: they stay where a stronger layer chooses another preset.
    of_library: Vec<Flag>,
}

impl Layers {
    /// Settings by their keys (`workload.app`), without a file.
    pub fn of<'k>(settings: impl IntoIterator<Item = (&'k str, Value)>) -> Self {
        let flag = |(key, value): (&str, Value)| Flag {
            key: key.to_owned(),
            flag: key.to_owned(),
            value,
        };
        let mut layers = Self::default();
        layers.push_flags(settings.into_iter().map(flag).collect());
        layers
    }

    /// Adds a file on top.
    pub fn push_file(&mut self, document: impl Into<Arc<Document>>) {
        self.layers.push(Layer::File(document.into()));
    }

    /// Adds flags on top; of two flags for one key the later wins.
    pub fn push_flags(&mut self, flags: Vec<Flag>) {
        self.push_settings("command line", flags);
    }

    /// Adds settings of another source on top, key by key.
    pub(super) fn push_settings(&mut self, source: &str, settings: Vec<Flag>) {
        self.layers.push(Layer::Flags(source.to_owned(), settings));
    }

    /// These layers with those of `other` on top.
    #[must_use]
    pub(super) fn with(&self, other: &Self) -> Self {
        let layers = self.layers.iter().chain(&other.layers).cloned().collect();
        let of_library = self.of_library.iter().chain(&other.of_library).cloned();
        Self {
            layers,
            of_library: of_library.collect(),
        }
    }

    /// The same with the settings of a library, called `source`, below the strongest layer that names it.
    #[must_use]
    pub(super) fn with_library(&self, source: &str, settings: &[Flag]) -> Self {
        let mut all = self.clone();
        let mut places = all.layers.iter();
        if let Some(place) = places.rposition(|layer| layer.get("library").is_some()) {
            let layer = Layer::Flags(source.to_owned(), settings.to_vec());
            all.layers.insert(place, layer);
            let of_network =
                |setting: &&Flag| setting.is_inside("network") && setting.key != "network.model";
            all.of_library = settings.iter().filter(of_network).cloned().collect();
        }
        all
    }

    /// The value of a key in the strongest layer that has it.
    pub fn get(&self, key: &str) -> Option<Value> {
        let mut layers = self.layers.iter().rev();
        layers.find(|layer| layer.decides(key))?.get(key)
    }

    /// Whether a person chose the value of a key. In resolved settings, which have a `basis`, every key is written.
    pub fn is_chosen(&self, key: &str) -> bool {
        let mut strongest = self.layers.iter().rev();
        let giver = strongest.find(|layer| layer.get(key).is_some());
        giver.is_some_and(|layer| layer.get("basis").is_none())
    }

    /// The file that gives the value of a key, if no flag does.
    pub(super) fn giver(&self, key: &str) -> Option<&str> {
        let mut strongest = self.layers.iter().rev();
        match strongest.find(|layer| layer.get(key).is_some())? {
            Layer::File(document) => Some(&document.source),
            Layer::Flags(..) => None,
        }
    }

    /// The origin of the value of a key, if it was given on top of the first file that has an origin for it.
    pub(super) fn overrides(&self, key: &str) -> Option<String> {
        let with_origin = self
            .layers
            .iter()
            .rposition(|layer| layer.origin(key).is_some())?;
        self.layers[with_origin + 1..]
            .iter()
            .rev()
            .find(|layer| layer.get(key).is_some())
            .map(Layer::name)
    }

    /// The strongest layer that chooses a preset of the network above the first file that has an origin for a constant of it.
    pub(super) fn replaces_preset(&self, key: &str) -> Option<String> {
        let mut layers = self.layers.iter().rev();
        let chooses =
            |layer: &&Layer| layer.get("network.model").is_some() || layer.origin(key).is_some();
        let first = layers.find(chooses).filter(|_| is_within(key, "network"))?;
        first.origin(key).is_none().then(|| first.name())
    }

    /// Whether the value of a key is that of a library with these settings: no stronger layer gives it.
    pub(super) fn is_of_library(&self, key: &str, settings: &[Flag]) -> bool {
        let own = settings.iter().find(|setting| is_within(key, &setting.key));
        own.is_some_and(|own| self.get(&own.key).as_ref() == Some(&own.value))
    }

    /// The origin of the value of a key inside `load`: the text of its layer, or the layer; none for a default.
    pub(super) fn origin_in_load(&self, key: &str) -> Option<String> {
        for layer in self.layers.iter().rev() {
            let (is_given, is_replaced) = match layer {
                Layer::File(document) => {
                    let load = document.value.get("load");
                    let is_whole = |load: &Value| !load.is_object() || load.get("kind").is_some();
                    let is_given = lookup(&document.value, key).is_some();
                    (is_given, load.is_some_and(is_whole))
                }
                Layer::Flags(_, flags) => (
                    flags.iter().any(|flag| flag.sets(key)),
                    ["load", "load.kind"]
                        .iter()
                        .any(|key| layer.get(key).is_some()),
                ),
            };
            if is_given {
                let told = layer.origin(key).and_then(Value::as_str);
                let giver = || format!("stated: given by {}", layer.name());
                return Some(told.map_or_else(giver, str::to_owned));
            }
            if is_replaced {
                break; // what stands below is not of this load
            }
        }
        None
    }

    /// All layers merged: objects key by key, anything else replaced whole.
    ///
    /// # Errors
    /// A file is not an object, or a flag sets a key inside something that is not an object.
    pub fn merged(&self) -> Result<Value, Error> {
        let mut all = Value::Object(Map::new());
        let names_library = |layer: &Layer| layer.get("library").is_some();
        let library = self.layers.iter().rposition(names_library);
        for (place, layer) in self.layers.iter().enumerate() {
            if layer.get("network.model").is_some() {
                // A preset stands for all its constants: those of weaker layers belong to another one.
                set(&mut all, "network", Value::Object(Map::new()));
                // What a resolved experiment does not say of its library has been switched off.
                if library.is_some_and(|library| library <= place) && layer.get("basis").is_none() {
                    for constant in &self.of_library {
                        set(&mut all, &constant.key, constant.value.clone());
                    }
                }
            }
            if layer.get("load.kind").is_some() {
                // Likewise the parameters of another kind of load.
                set(&mut all, "load", Value::Object(Map::new()));
            }
            if let Some(app) = layer.get("workload.app")
                && lookup(&all, "workload.app").is_some_and(|below| *below != app)
            {
                // Likewise the keys of another application, and what is told of them.
                set(&mut all, "workload", Value::Object(Map::new()));
                if let Some(origins) = all.get_mut("origins").and_then(Value::as_object_mut) {
                    origins.retain(|key, _| !is_within(key, "workload"));
                }
            }
            match layer {
                Layer::File(document) if !document.value.is_object() => {
                    return Err(document
                        .problem("", "an experiment file is a JSON object")
                        .into());
                }
                Layer::File(document) => merge(&mut all, &document.value),
                Layer::Flags(_, flags) => {
                    for flag in flags {
                        if !set(&mut all, &flag.key, flag.value.clone()) {
                            return Err(no_key(&all, flag).into());
                        }
                    }
                }
            }
        }
        Ok(all)
    }

    /// Points the problems of `error` at the layers that caused them.
    #[must_use]
    pub fn locate(&self, error: Error) -> Error {
        match error {
            Error::Input(problems) => Error::Input(
                problems
                    .into_iter()
                    .map(|problem| self.locate_one(problem))
                    .collect(),
            ),
            other => other,
        }
    }

    fn locate_one(&self, problem: Problem) -> Problem {
        let (None, Some(key)) = (&problem.location.source, &problem.location.key) else {
            return problem;
        };
        for layer in self.layers.iter().rev() {
            match layer {
                Layer::Flags(_, flags) => {
                    if let Some(flag) = flags.iter().rev().find(|flag| is_within(key, &flag.key)) {
                        return problem.source(&flag.flag);
                    }
                }
                Layer::File(document) => {
                    if let Some((line, column)) = document.locate(key) {
                        return problem.source(&document.source).at(line, column);
                    }
                }
            }
        }
        problem
    }
}

/// Whether the path `inner` is `outer` or lies inside it.
pub(super) fn is_within(inner: &str, outer: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The value at a path such as `policy.name` or `load[1].mean`.
pub fn lookup<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    parts(key).try_fold(value, |value, part| match part.strip_suffix(']') {
        Some(index) => value.get(index.parse::<usize>().ok()?),
        None => value.get(part),
    })
}

/// The same, to be changed.
pub fn lookup_mut<'v>(value: &'v mut Value, key: &str) -> Option<&'v mut Value> {
    parts(key).try_fold(value, |value, part| match part.strip_suffix(']') {
        Some(index) => value.get_mut(index.parse::<usize>().ok()?),
        None => value.get_mut(part),
    })
}

/// The steps of a path: keys, and places in lists with their closing bracket.
fn parts(key: &str) -> impl Iterator<Item = &str> {
    key.split(['.', '[']).filter(|part| !part.is_empty())
}

fn merge(below: &mut Value, above: &Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                match below.get_mut(key) {
                    Some(old) => merge(old, value),
                    None => {
                        below.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (below, above) => *below = above.clone(),
    }
}

/// Sets a key such as `policy.name` or `load[1].mean`, making objects on the way; `false` if something on the way is not an object, is a list
/// without that element, or has no name.
fn set(value: &mut Value, key: &str, new: Value) -> bool {
    const TRIGGER: &str = "policy.trigger";
    const RECEIVES: &str = "runtime.receives";
    // A trigger may be a text; beside options of triggers it is the name among them.
    let is_text = |value: &Value, key| lookup(value, key).is_some_and(Value::is_string);
    let is_object = |value: &Value, key| lookup(value, key).is_some_and(Value::is_object);
    if key == TRIGGER && new.is_string() && is_object(value, TRIGGER) {
        return set(value, "policy.trigger.name", new);
    }
    if key != TRIGGER && is_within(key, TRIGGER) && is_text(value, TRIGGER) {
        let text = lookup_mut(value, TRIGGER).expect("there is a text");
        *text = json!({ "name": text.take() });
    }
    // Receives may be a text, which has no keys: a size takes its place.
    if key != RECEIVES && is_within(key, RECEIVES) && is_text(value, RECEIVES) {
        *lookup_mut(value, RECEIVES).expect("there is a text") = Value::Object(Map::new());
    }
    let mut place = value;
    for part in key.split('.') {
        let mut indices = part.split('[');
        let name = indices.next().unwrap_or_default();
        let Value::Object(map) = place else {
            return false;
        };
        if name.is_empty() {
            return false;
        }
        place = map.entry(name).or_insert_with(|| Value::Object(Map::new()));
        for index in indices {
            let index = index.strip_suffix(']').and_then(|index| index.parse().ok());
            let found = index.and_then(|index: usize| place.get_mut(index));
            let Some(found) = found else {
                return false;
            };
            place = found;
        }
    }
    *place = new;
    true
}

/// The problem of a flag whose key cannot be set.
fn no_key(all: &Value, flag: &Flag) -> Problem {
    let message = format!("`{}` is not a key of an experiment", flag.key);
    let problem = Problem::new(message)
        .names_no("key", &flag.key)
        .source(&flag.flag);
    // The longest part of the key that has a value, which then is no object.
    let ends = flag.key.match_indices(['.', '[']).rev();
    let around = ends
        .map(|(end, _)| &flag.key[..end])
        .find_map(|key| Some((key, lookup(all, key)?)));
    match around {
        Some((key, Value::Array(list))) if !list.is_empty() => {
            let rest = flag.key[key.len()..].trim_start_matches(|letter| letter != '.');
            let last = list.len() - 1;
            problem.hint(format!(
                "`{key}` is a list here: write `{key}[0]{rest}`, up to `{key}[{last}]{rest}`"
            ))
        }
        Some((key, Value::Null)) => problem.hint(format!("there is no `{key}` here")),
        _ => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn layers() -> Layers {
        let mut layers = Layers::default();
        layers.push_file(
            Document::parse(
                "base.json",
                "{\"a\": {\"x\": 1, \"y\": 2},\n \"list\": [1]}",
            )
            .unwrap(),
        );
        layers.push_file(
            Document::parse("mine.json", "{\"a\": {\n  \"y\": 3}, \"list\": [4, 5]}").unwrap(),
        );
        let flag = Flag {
            key: "a.z".into(),
            flag: "--z 6".into(),
            value: json!(6),
        };
        layers.push_flags(vec![flag]);
        layers
    }

    #[test]
    fn later_layers_win_key_by_key() {
        assert_eq!(
            layers().merged().unwrap(),
            json!({"a": {"x": 1, "y": 3, "z": 6}, "list": [4, 5]})
        );
        assert_eq!(layers().get("a.y"), Some(json!(3)));
    }

    #[test]
    fn what_stands_in_the_object_of_a_flag_is_found_and_nothing_below_it() {
        let mut layers = layers();
        let flags = [
            ("a", json!({ "x": 7 })),
            ("list[1]", json!(6)),
            ("a.z", json!(8)),
        ];
        let flags = flags.map(|(key, value)| Flag {
            key: key.into(),
            flag: format!("--set {key}"),
            value,
        });
        layers.push_flags(flags.to_vec());
        let merged = json!({"a": {"x": 7, "z": 8}, "list": [4, 6]});
        assert_eq!(layers.merged().unwrap(), merged);
        for key in ["a.x", "a.y", "a.z", "list[1]", "b"] {
            let expected = lookup(&merged, key).cloned();
            assert_eq!(layers.get(key), expected, "{key}");
        }
    }

    #[test]
    fn the_name_of_a_trigger_and_its_options_come_in_any_order() {
        let merged = |flags: [(&str, Value); 2]| {
            let mut layers = Layers::default();
            let flag = |(key, value): (&str, Value)| Flag {
                key: key.into(),
                flag: format!("--set {key}"),
                value,
            };
            layers.push_flags(flags.map(flag).to_vec());
            layers.merged().unwrap()
        };
        let (name, option) = ("policy.trigger", "policy.trigger.every.supersteps");
        let expected = json!({ "name": "every", "every": { "supersteps": 7 } });
        let first = merged([(name, json!("every")), (option, json!(7))]);
        assert_eq!(first["policy"]["trigger"], expected);
        let last = merged([(option, json!(7)), (name, json!("every"))]);
        assert_eq!(last["policy"]["trigger"], expected);
    }

    #[test]
    fn a_key_inside_a_list_says_how_it_is_written() {
        let hint = |key: &str| {
            let mut layers = layers();
            let flag = Flag {
                key: key.into(),
                flag: format!("--set {key}=1"),
                value: json!(1),
            };
            layers.push_flags(vec![flag]);
            layers.merged().unwrap_err().to_string()
        };
        let written = "`list` is a list here: write `list[0].step`, up to `list[1].step`";
        assert!(hint("list.step").contains(written));
        assert!(hint("list[2].step").contains(written));
        assert!(!hint("list[0].step").contains("hint"));
    }

    #[test]
    fn a_flag_for_a_key_without_letters_is_refused() {
        for key in ["", ".", ".migbsp.x", "a..x", "a."] {
            let mut layers = layers();
            let (flag, value) = (format!("--set {key}=1"), json!(1));
            let key = key.into();
            layers.push_flags(vec![Flag { key, flag, value }]);
            let error = layers.merged().unwrap_err().to_string();
            assert!(error.contains("  --> --set"), "{error}");
        }
    }

    #[test]
    fn a_problem_points_at_the_layer_that_caused_it() {
        let at = |key: &str| {
            let Error::Input(problems) = layers().locate(Problem::new("wrong").key(key).into())
            else {
                unreachable!()
            };
            (
                problems[0].location.source.clone().unwrap(),
                problems[0].location.line_column,
            )
        };
        assert_eq!(at("a.x"), ("base.json".into(), Some((1, 13))));
        assert_eq!(at("a.y"), ("mine.json".into(), Some((2, 8))));
        assert_eq!(at("a.z"), ("--z 6".into(), None));
        assert_eq!(at("list[1]"), ("mine.json".into(), Some((2, 24))));
    }
}
