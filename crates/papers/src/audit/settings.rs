//! The settings in the experiments and platforms of a paper, each with the origin of its value. The audit varies numbers slightly
//! and replaces options. The settings are read from the files, so a new setting is audited without a change of this code.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::changes::{Changes, experiment_document};
use super::super::facts::Facts;
use super::super::runs::{PaperCase, Runs};
use super::super::{PAPERS, Paper};
use super::choices;
use migsim_base::error::{Error, Problem};
use migsim_experiment::{Progress, built_in_names, value_at_path};
use migsim_platform as platform;

/// Origin of the value of a setting, recognised by the first word of the text that explains the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// The value was chosen because it reproduces published numbers.
    Fitted,
    /// The value was derived from other data than the results that it reproduces.
    Inferred,
    /// A paper states the value.
    Stated,
    /// Neither the experiment nor the platform file gives an origin for the value.
    Unstated,
}

impl Origin {
    fn from_text(text: Option<&str>) -> Self {
        match text.and_then(|text| text.split_once(':')) {
            Some(("fitted", _)) => Self::Fitted,
            Some(("inferred", _)) => Self::Inferred,
            Some(("stated", _)) => Self::Stated,
            _ => Self::Unstated,
        }
    }

    pub(super) const fn keyword(self) -> &'static str {
        match self {
            Self::Fitted => "fitted",
            Self::Inferred => "inferred",
            Self::Stated => "stated",
            Self::Unstated => "not told",
        }
    }
}

/// A setting of a reproduction: one value, or several values that form one constant and are changed together.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) paper: &'static Paper,
    /// Description of the setting for the tables of the audit.
    pub(super) description: String,
    /// Keys of the values, written as in the `keys` of a fitted constant in the facts (a prefix names another experiment or the
    /// platform).
    pub(super) keys: Vec<String>,
    /// Value for each key; the values of one setting need not be equal.
    pub(super) values: Vec<Value>,
    pub(super) origin: Origin,
    /// Whether the setting counts as a constant that was fitted, when the audit compares the number of constants with the number
    /// of published data.
    pub(super) is_counted_as_constant: bool,
}

impl Setting {
    /// Returns whether all values of the setting are non-zero numbers, with or without a unit. A whole number without a unit
    /// counts as an option.
    pub(super) fn is_number(&self) -> bool {
        self.values
            .iter()
            .all(|value| parse_quantity(value).is_some())
    }

    /// Returns the changes of an experiment in which all values of the setting are multiplied by `factor`.
    pub(super) fn changes_scaled_by(&self, factor: f64) -> Changes {
        let values = self.values.iter().map(|value| scaled_value(value, factor));
        self.changes_to_values(values)
    }

    /// Returns the changes of an experiment in which all keys of the setting have the value `value`.
    pub(super) fn changes_to_value(&self, value: &Value) -> Changes {
        self.changes_to_values(self.values.iter().map(|_| value.clone()))
    }

    fn changes_to_values(&self, values: impl Iterator<Item = Value>) -> Changes {
        let mut changes = Changes::default();
        self.add_changes_to_values(&mut changes, values);
        changes
    }

    /// Adds to `changes` the values of the setting, each multiplied by `factor`.
    pub(super) fn add_scaled_changes(&self, changes: &mut Changes, factor: f64) {
        let values = self.values.iter().map(|value| scaled_value(value, factor));
        self.add_changes_to_values(changes, values);
    }

    fn add_changes_to_values(&self, changes: &mut Changes, values: impl Iterator<Item = Value>) {
        let experiment = self.paper.experiment.unwrap_or_default();
        for (key, value) in self.keys.iter().zip(values) {
            changes.set_value(experiment, key, value);
        }
    }

    /// Formats the value of the first key of the setting for tables.
    pub(super) fn first_value_text(&self) -> String {
        display_value(self.values.first().unwrap_or(&Value::Null))
    }
}

/// Formats a value for tables: a quantity has at most six significant digits and a convenient unit.
pub(super) fn display_value(value: &Value) -> String {
    match (parse_quantity(value), value) {
        (Some((number, unit)), _) => {
            let (number, unit) = in_readable_unit(number, unit);
            let rounded: f64 = format!("{number:.5e}").parse().unwrap_or(number);
            format!("{rounded} {unit}").trim_end().to_owned()
        }
        (None, Value::String(text)) => text.clone(),
        (None, other) => other.to_string(),
    }
}

/// Converts a quantity to a unit in which its number is short: 0.0005 s becomes 500 us.
fn in_readable_unit(number: f64, unit: &str) -> (f64, &str) {
    match (unit, number) {
        ("s", ..1e-3) => (number * 1e6, "us"),
        ("s", ..1.0) => (number * 1e3, "ms"),
        ("B", 1e6..) => (number / 1e6, "MB"),
        ("B", 1e3..) => (number / 1e3, "kB"),
        _ => (number, unit),
    }
}

/// Parses a value as a non-zero number with its unit (empty if there is none). Returns `None` for zero, for whole numbers without
/// a unit, and for other values.
fn parse_quantity(value: &Value) -> Option<(f64, &str)> {
    let found = match value {
        Value::Number(number) if number.is_f64() => (number.as_f64()?, ""),
        Value::String(text) => {
            let (number, unit) = text.split_once(' ')?;
            (number.parse().ok()?, unit)
        }
        _ => return None,
    };
    (found.0 != 0.0).then_some(found)
}

fn scaled_value(value: &Value, factor: f64) -> Value {
    match parse_quantity(value) {
        Some((number, "")) => (number * factor).into(),
        Some((number, unit)) => format!("{} {unit}", number * factor).into(),
        None => value.clone(),
    }
}

/// Lists the papers that have a built-in experiment, whose settings the audit examines.
pub(super) fn papers_with_settings() -> impl Iterator<Item = &'static Paper> {
    PAPERS.iter().filter(|paper| paper.experiment.is_some())
}

/// Lists the settings in the experiments and platforms of a paper, except numbers that a paper states or that have no origin.
/// Fitted constants come first, in the order of the facts; the other settings follow, sorted by key.
///
/// # Errors
/// An experiment cannot be read.
pub(super) fn list_settings(paper: &'static Paper, facts: &Facts) -> Result<Vec<Setting>, Error> {
    let files = SettingFiles::read(paper)?;
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for fitted in &facts.fitted {
        seen.extend(fitted.keys.iter().cloned());
        all.push(files.create_setting(paper, fitted.what.clone(), fitted.keys.clone(), true)?);
    }
    // Values of a platform with the same reason are one setting.
    let mut groups: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (key, origin) in &files.origin_by_key {
        let text = origin.as_deref();
        let value = files.value_of_key(key)?;
        let is_open = match Origin::from_text(text) {
            Origin::Fitted | Origin::Inferred => true,
            // A value that is stated, or that has no origin, is of interest only if another choice is possible.
            Origin::Stated | Origin::Unstated => choices::is_option(key, &value),
        };
        if seen.contains(key) || !is_open {
            continue;
        }
        let group = match key.strip_prefix("platform:") {
            // `clusters[3].link.latency` and `clusters[4].link.latency`
            Some(rest) => {
                let last = rest.rsplit(['.', ']']).next().unwrap_or(rest);
                let of_kind = rest.split('[').next().unwrap_or(rest);
                format!("{of_kind} {last} {value} {}", text.unwrap_or_default())
            }
            None => key.clone(),
        };
        groups
            .entry((
                String::from(if key.contains(':') { "~" } else { "" }),
                group,
            ))
            .or_default()
            .push(key.clone());
    }
    for keys in groups.into_values() {
        let what = files.describe_setting(&keys)?;
        all.push(files.create_setting(paper, what, keys, false)?);
    }
    Ok(all)
}

/// Subjects (such as "barrier") with which the descriptions of settings begin, by the prefix of the key; a longer prefix comes
/// before a shorter one.
const SUBJECTS: [(&str, &str); 7] = [
    ("runtime.barrier.", "barrier"),
    ("runtime.", "runtime"),
    ("costs.call.", "call"),
    ("costs.move.", "migration"),
    ("policy.", "policy"),
    ("workload.", "application"),
    ("network.", "network"),
];

/// Values and origins that were read from the experiment and platform files of a paper.
struct SettingFiles {
    experiment_name: &'static str,
    /// Complete settings (with all defaults) of each experiment of the paper, by the name of the experiment.
    resolved_experiments: BTreeMap<String, Value>,
    platform_file: Value,
    /// Origin of the value of each key; `None` if the files give no origin for the key.
    origin_by_key: BTreeMap<String, Option<String>>,
}

impl SettingFiles {
    fn read(paper: &Paper) -> Result<Self, Error> {
        let experiment = paper.experiment.unwrap_or_default();
        let progress = Progress::default();
        let runs = Runs::new(paper, Changes::default(), &progress)?;
        let mut resolved = BTreeMap::new();
        let own = runs.load_experiment(&PaperCase::new(experiment))?;
        let mut origins = BTreeMap::new();
        let document = experiment_document(experiment)?.value;
        add_value_keys(&document, "", &mut origins);
        let known = own.config.origins.iter();
        origins.extend(known.map(|(key, text)| (key.clone(), Some(text.clone()))));
        let of_platform = own.platform.origins.iter();
        origins
            .extend(of_platform.map(|(key, text)| (format!("platform:{key}"), Some(text.clone()))));
        for other in built_in_names() {
            let document = experiment_document(other)?.value;
            if document["extends"].as_str() != paper.experiment {
                continue;
            }
            let prefix = format!("{other}:");
            let of_other = document["origins"].as_object().into_iter().flatten();
            let texts = of_other.map(|(key, text)| {
                let text = text.as_str().map(str::to_owned);
                (format!("{prefix}{key}"), text)
            });
            origins.extend(texts);
            resolved.insert(
                other.to_owned(),
                runs.load_experiment(&PaperCase::new(other))?
                    .resolved_settings,
            );
        }
        let platform = read_platform(&own.resolved_settings)?;
        resolved.insert(experiment.to_owned(), own.resolved_settings);
        Ok(Self {
            experiment_name: experiment,
            resolved_experiments: resolved,
            platform_file: platform,
            origin_by_key: origins,
        })
    }

    fn value_of_key(&self, key: &str) -> Result<Value, Error> {
        let (place, key) = key.split_once(':').unwrap_or((self.experiment_name, key));
        let whole = match place {
            "platform" => Some(&self.platform_file),
            place => self.resolved_experiments.get(place),
        };
        let found = whole.and_then(|whole| value_at_path(whole, key));
        found.cloned().ok_or_else(|| {
            Problem::new(format!(
                "internal error: the settings of `{place}` have no value of `{key}`"
            ))
            .into()
        })
    }

    fn create_setting(
        &self,
        paper: &'static Paper,
        what: String,
        keys: Vec<String>,
        is_counted: bool,
    ) -> Result<Setting, Error> {
        let values = keys.iter().map(|key| self.value_of_key(key));
        let origin = |key: &String| self.origin_by_key.get(key).and_then(Option::as_deref);
        let origin = keys.iter().map(|key| Origin::from_text(origin(key))).min();
        Ok(Setting {
            paper,
            description: what,
            values: values.collect::<Result<_, _>>()?,
            keys,
            origin: origin.unwrap_or(Origin::Unstated),
            is_counted_as_constant: is_counted,
        })
    }

    /// Describes the setting with these keys. For keys of an experiment, the description is the first sentence on the first key
    /// in the schema; for keys of a platform, it is the last part of the key with the names of the clusters or links.
    fn describe_setting(&self, keys: &[String]) -> Result<String, Error> {
        let first = keys.first().map_or("", String::as_str);
        let described = choices::description_in_schema(first);
        let Some(rest) = first.strip_prefix("platform:") else {
            let (place, key) = first.split_once(':').unwrap_or(("", first));
            let part = SUBJECTS.iter().find(|(prefix, _)| key.starts_with(prefix));
            let part = part.map_or("", |(_, part)| part);
            let last = key.rsplit('.').next().unwrap_or(key);
            let name = format!("{place} {last}");
            return Ok(format!("{part}: {described} (`{}`)", name.trim_start()));
        };
        let mut places = Vec::new();
        for key in keys {
            let end = key.find(']').map_or(key.len(), |end| end + 1);
            let entry = self.value_of_key(&key[..end])?;
            let between = entry["between"].as_array().map(|pair| {
                let names: Vec<&str> = pair.iter().filter_map(Value::as_str).collect();
                names.join("-")
            });
            let name = entry["name"].as_str().map(str::to_owned);
            places.extend(between.or(name));
        }
        let kind = rest.split('[').next().unwrap_or_default();
        let last = rest.rsplit('.').next().unwrap_or(rest);
        Ok(format!("{last} ({kind} {})", places.join(", ")))
    }
}

/// Adds to `keys` the key of every value in the `workload`, `network`, `runtime`, `policy` and `costs` of a JSON document; each
/// key is added without an origin (`None`).
fn add_value_keys(value: &Value, path: &str, keys: &mut BTreeMap<String, Option<String>>) {
    const READ: [&str; 5] = ["workload", "network", "runtime", "policy", "costs"];
    if let Value::Object(map) = value {
        for (name, value) in map {
            if path.is_empty() && !READ.contains(&name.as_str()) {
                continue;
            }
            let key = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            add_value_keys(value, &key, keys);
        }
    } else {
        keys.insert(path.to_owned(), None);
    }
}

/// Returns the built-in platform file that the complete settings of an experiment name, as JSON.
fn read_platform(resolved: &Value) -> Result<Value, Error> {
    let file = resolved["platform"].as_str().unwrap_or_default();
    let mut all = platform::built_in_platforms().iter();
    let (_, text) = all
        .find(|(name, _)| *name == file || name.strip_suffix(".json") == Some(file))
        .ok_or_else(|| {
            Problem::new(format!(
                "internal error: there is no built-in platform `{file}`"
            ))
        })?;
    serde_json::from_str(text).map_err(|error| {
        Problem::new(format!(
            "internal error: the built-in platform {file} cannot be read: {error}"
        ))
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_keep_their_units_and_counts_are_no_numbers() {
        assert_eq!(scaled_value(&json!("2 us"), 1.5), json!("3 us"));
        assert_eq!(scaled_value(&json!(0.5), 0.5), json!(0.25));
        for choice in [json!(1), json!("0 s"), json!("fair"), json!(true)] {
            assert_eq!(parse_quantity(&choice), None, "{choice}");
        }
        assert_eq!(display_value(&json!("0.05200000000001 s")), "52 ms");
        assert_eq!(display_value(&json!("500000 B")), "500 kB");
    }

    #[test]
    fn every_fitted_or_inferred_key_belongs_to_one_setting() {
        for paper in papers_with_settings() {
            let facts = Facts::parse(paper.name, paper.facts_json).unwrap();
            let all = list_settings(paper, &facts).unwrap();
            let keys: Vec<&String> = all.iter().flat_map(|one| &one.keys).collect();
            let once: BTreeSet<&&String> = keys.iter().collect();
            assert_eq!(once.len(), keys.len(), "{}", paper.name);
            for (key, origin) in &SettingFiles::read(paper).unwrap().origin_by_key {
                let origin = Origin::from_text(origin.as_deref());
                let is_open = matches!(origin, Origin::Fitted | Origin::Inferred);
                assert!(!is_open || keys.contains(&key), "{}: {key}", paper.name);
            }
        }
    }
}
