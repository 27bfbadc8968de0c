//! The origins of the values of a resolved experiment (its key `origins`): the source of each value.
//!
//! A file of settings may state under `origins` the source of a value that it contains. If another file or a flag replaces this
//! value, the origin becomes the source of the new value. Each key of a background load has an origin, even if it has its default
//! value; all other keys with default values have no origin.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    library::LoadedLibrary,
    settings::{Layers, value_at_path},
};
use migsim_base::{
    error::{Error, Problem, Result},
    setting::is_path_within,
};

/// Texts that state the sources of values, by the keys of the values.
type Origins = BTreeMap<String, String>;

/// Determines the source of each value in the resolved experiment `resolved`. The parameter `written` contains the sources that
/// files of settings state under their key `origins`.
///
/// # Errors
/// An origin belongs to no value, or its text does not begin with `stated`, `inferred` or `fitted`. All such origins are reported
/// together.
pub(super) fn determine_origins(
    written: Origins,
    layers: &Layers,
    library: Option<&LoadedLibrary>,
    resolved: &Value,
) -> Result<Origins> {
    let has_value = |key: &str| value_at_path(resolved, key).is_some();
    let mut origins = Origins::new();
    for key in written
        .into_keys()
        .filter(|key| !is_path_within(key, "load"))
    {
        if let Some((origin, is_text)) = layers.origin_and_is_from_file(&key)
            && (is_text || has_value(&key))
        {
            origins.insert(key, origin);
        }
    }
    origins.extend(background_load_origins(layers, &resolved["load"]));
    if let Some(library) = library {
        let name = library.source_text();
        let is_own = |key: &str| {
            layers
                .source_and_is_file(key)
                .is_some_and(|(source, _)| source == name)
        };
        let own = library.origins.iter().filter(|(key, _)| is_own(key));
        origins.extend(own.map(|(key, text)| (key.clone(), text.clone())));
    }
    // A resolved experiment leaves out constants of 0. Options of policies other than the chosen one have no value here.
    let is_left_out = |key: &str| !key.starts_with("policy.") && !has_value(key);
    origins.retain(|key, _| !is_left_out(key) || layers.get(key).is_none());
    let mut problems = Vec::new();
    for (key, text) in &origins {
        let mut wrong = |message, hint: &str| {
            problems.push(Problem::new(message).key("origins").hint(hint));
        };
        if is_left_out(key) {
            wrong(
                format!(
                    "the object `origins` has the key `{key}`, but the experiment has no value with this key"
                ),
                "correct the key, or remove this entry of `origins`",
            );
        }
        if !ORIGIN_KINDS.iter().any(|kind| text.starts_with(kind)) {
            wrong(
                format!(
                    "the origin of `{key}` does not begin with `stated`, `inferred` or `fitted`"
                ),
                "begin the text with one of these words: `stated: LU paper, section 4`",
            );
        }
    }
    Error::unless_empty(problems).map(|()| origins)
}

/// The words with which the text of an origin may begin; each word names a kind of origin.
const ORIGIN_KINDS: [&str; 3] = ["stated", "inferred", "fitted"];

fn background_load_origins(layers: &Layers, load: &Value) -> Origins {
    let specs: Vec<(String, &Value)> = match load {
        Value::Array(list) => (list.iter().enumerate())
            .map(|(index, spec)| (format!("load[{index}]"), spec))
            .collect(),
        one => vec![("load".into(), one)],
    };
    let mut origins = Origins::new();
    for (prefix, spec) in specs {
        for key in spec.as_object().into_iter().flat_map(Map::keys) {
            let key = format!("{prefix}.{key}");
            let origin = layers.origin_and_is_from_file(&key).map_or_else(
                || format!("inferred: default of the load {}", spec["kind"]),
                |origin| origin.0,
            );
            origins.insert(key, origin);
        }
    }
    origins
}
