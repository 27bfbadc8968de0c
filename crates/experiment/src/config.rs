//! The experiment file: one JSON object that defines a run completely.
//!
//! Every flag of the command has its key here, and a file needs to name only what differs from the experiment of its application
//! (`workloads/<app>.json`), or from neutral settings on a platform that no paper used. Calibrated values say where they come from under `origins`.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value, json};

use super::built_in::ONE_READING;
use super::neutral;
use crate::registry::Registry;
use migsim_bsp::{Costs, RuntimeConfig, Scenario, ViewConfig};
use migsim_platform::load::{self, LoadKey};
use migsim_platform::{Mapping, Rule, is_text};
use migsim_policies::Forecast;
use migsim_workloads::registry;

/// The version of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum SchemaVersion {
    /// The only version so far.
    #[default]
    #[serde(rename = "migsim-experiment-1")]
    One,
}

/// The keys of resolved settings for people: no result depends on them.
pub const NOTES: [&str; 5] = [
    "$schema",
    "description",
    "origins",
    "basis",
    "calibrated_for",
];

/// Removes from resolved settings the keys for people.
pub fn remove_notes(settings: &mut Value) {
    if let Some(map) = settings.as_object_mut() {
        for key in NOTES {
            map.remove(key);
        }
    }
}

/// The places of file names in an experiment, as JSON pointers.
pub fn file_pointers(registry: &Registry, experiment: &Value) -> Vec<String> {
    let loads = experiment["load"].as_array().map_or(0, Vec::len);
    let of_loads = (0..loads).flat_map(|index| {
        let keys = registry.load_files();
        keys.map(move |key| format!("/load/{index}/{key}"))
    });
    let keys = registry.file_keys();
    let pointers = keys.iter().map(|key| format!("/{}", key.replace('.', "/")));
    pointers.chain(of_loads).collect()
}

/// The built-in experiment that was filled in below the settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Basis {
    /// The name of the built-in experiment. `one-reading` has the settings for platforms of no paper, `none` stands for the defaults alone.
    pub experiment: String,
    /// Whether the constants of the experiment were fitted to the platform of the run; absent if they were fitted to no platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_calibrated: Option<bool>,
}

impl Basis {
    /// The experiment and its calibration in words.
    pub fn text(&self) -> String {
        let name = &self.experiment;
        match self.is_calibrated {
            Some(true) => format!("settings of the experiment {name}, fitted to this platform"),
            Some(false) => format!("settings of the experiment {name}, fitted to other platforms"),
            None if name == ONE_READING => "neutral settings, fitted to no platform".to_owned(),
            None if name == NONE => "settings without a built-in experiment".to_owned(),
            None => format!("settings of the experiment {name}"),
        }
    }
}

/// The value of `extends` for nothing.
pub(super) const NONE: &str = "none";

/// An experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExperimentConfig {
    /// The schema for editors, without effect on the experiment.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub editor_schema: Option<String>,
    /// The version of the format.
    #[serde(default)]
    pub schema: SchemaVersion,
    /// The built-in experiment that lies below this one, or `none`. Default: the experiment of the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// The built-in platforms that these settings were fitted to. On any other platform, the name of the application alone means the
    /// default settings for platforms of no paper. The name of the experiment, also under `extends`, means its settings on every platform,
    /// with a note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrated_for: Option<Vec<String>>,
    /// The built-in experiment that was filled in: written by `migsim`, without effect on a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// A description of the experiment for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The platform: a file, the name of a built-in platform, or the platform itself as an object (see `migsim schema platform`).
    #[serde(
        default = "usual_platform",
        deserialize_with = "platform_key",
        serialize_with = "written_platform"
    )]
    #[schemars(schema_with = "platform_schema")]
    pub platform: String,
    /// The clusters of a platform of zones (`SimGrid`). `zone`: each zone that contains hosts is a cluster; `level=N`: each zone N levels
    /// below the outermost zone. `name`: hosts whose names differ in the digits at the end. Or a CSV file with the columns `host,cluster`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<String>,
    /// Background load of hosts and links: one load (`kind`, `on` and its parameters) or a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadKey>,
    /// Changes of the platform, the application or the costs of rescheduling, applied in this order to the experiment that the other keys
    /// describe: `link wan bandwidth +10%`, `cluster ICE speed unlimited`, `imbalance -10%`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The application (`app`) and its keys.
    pub workload: Map<String, Value>,
    /// The first host of each process: by a rule, from a list of hosts, or from a table. Default: `contiguous` on the platforms of the papers,
    /// `fast-first` on others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<MappingKey>,
    /// The network model: a preset (`model`) and constants that replace constants of the preset.
    #[serde(default)]
    pub network: Map<String, Value>,
    /// The message-passing library: a name (`migsim list libraries`), or a file that `migsim calibrate` wrote. It sets keys of `network` and
    /// `runtime`; keys beside it win, also over the records of a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// The execution of supersteps.
    #[serde(default)]
    pub runtime: RuntimeConfig,
    /// The policy (`name`) and, under the name of each policy, its options.
    #[serde(default)]
    pub policy: Map<String, Value>,
    /// The costs of rescheduling.
    #[serde(default)]
    pub costs: Costs,
    /// The quality of the measurements that policies see of supersteps and loads; by default they are exact and immediate.
    #[serde(default, skip_serializing_if = "ViewConfig::is_exact")]
    pub view: ViewConfig,
    /// The scenarios to run.
    #[serde(default = "all_scenarios")]
    pub scenarios: Vec<Scenario>,
    /// Seeds every random choice of the run: of the load, of the policy, and of the application unless its own seed (`workload.seed`) is
    /// given.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// The origins of calibrated values: the key of a value, and a text that begins with `stated`, `inferred` or `fitted`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub origins: BTreeMap<String, String>,
}

impl ExperimentConfig {
    /// The mapping; contiguous if none has been filled in.
    pub fn mapping(&self) -> Mapping {
        let mapping = self.mapping.as_ref();
        mapping.map_or_else(Mapping::default, MappingKey::mapping)
    }
}

/// The key `mapping`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a mapping is a rule (\"by-core\"), a list of hosts, or the name of a CSV file"
)]
#[non_exhaustive]
pub enum MappingKey {
    /// A rule (`contiguous`, `round-robin`, `by-core`, `by-speed`, `fast-first`), also for some hosts only (`by-core:epyc,old-3`);
    /// names separated by commas, as in a list; or a CSV file with the columns `process,host` (`places.csv`).
    Text(String),
    /// Hosts, ranges of hosts (`ICE-0..ICE-4`) or clusters, in the order of the processes.
    List(Vec<String>),
}

impl MappingKey {
    /// The mapping that the key describes.
    pub fn mapping(&self) -> Mapping {
        match self {
            Self::Text(text) => text
                .parse()
                .unwrap_or_else(|never: std::convert::Infallible| match never {}),
            Self::List(entries) => Mapping::Explicit(entries.clone()),
        }
    }
}

fn usual_platform() -> String {
    "ufrgs.json".into()
}

/// The key `platform` as a text: a name, or the JSON text of a platform; none if it is neither a text nor an object.
pub(super) fn platform_text(key: &Value) -> Option<String> {
    match key {
        Value::String(name) => Some(name.clone()),
        Value::Object(_) => Some(key.to_string()),
        _ => None,
    }
}

fn platform_key<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let key = Value::deserialize(from)?;
    let wrong = || de::Error::custom("a platform is a name, a file, or an object");
    platform_text(&key).ok_or_else(wrong)
}

fn written_platform<S: Serializer>(platform: &str, to: S) -> Result<S::Ok, S::Error> {
    let text = is_text(platform).then(|| serde_json::from_str::<Value>(platform).ok());
    match text.flatten() {
        Some(object) => object.serialize(to),
        None => to.serialize_str(platform),
    }
}

fn platform_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "object"], "default": usual_platform() })
}

fn all_scenarios() -> Vec<Scenario> {
    Scenario::ALL.to_vec()
}

fn first_seed() -> u64 {
    1
}

/// The JSON Schema of experiment files, generated from the types; the keys of each application and policy of `registry` are included.
pub fn schema(registry: &Registry) -> String {
    let mut generator = SchemaGenerator::default();
    let mut policy = Map::new();
    let names: Vec<&str> = registry.policies().names().collect();
    policy.insert(
        "name".into(),
        json!({ "description": "the policy that decides", "enum": names }),
    );
    for entry in registry.policies() {
        policy.insert(entry.name.into(), entry.schema(&mut generator).to_value());
    }
    let mut trigger = Map::new();
    let names: Vec<&str> = registry.triggers().names().collect();
    trigger.insert(
        "name".into(),
        json!({ "description": "the trigger that says when the policy is called", "enum": names }),
    );
    trigger.insert("only_if_paid_back".into(), json!({ "type": "boolean", "description": "whether a call is left out whose price the remaining supersteps cannot earn" }));
    for entry in registry.triggers() {
        trigger.insert(entry.name.into(), entry.schema(&mut generator).to_value());
    }
    policy.insert(
        "trigger".into(),
        json!({
            "description": "what says when the policy is called: a name, `every=50`, or an object; a strategy needs one",
            "anyOf": [{ "type": "string" }, { "type": "object", "properties": trigger, "additionalProperties": false }],
        }),
    );
    policy.insert(
        "forecast".into(),
        generator.subschema_for::<Forecast>().to_value(),
    );
    let loads = load::schema(registry.loads(), &mut generator);
    let mut options = generator.take_definitions(true);
    for entry in registry.policies() {
        let place = policy[entry.name]["$ref"].as_str();
        let name = place.and_then(|place| place.rsplit('/').next());
        if let Some(definition) = name.and_then(|name| options.get_mut(name)) {
            neutral::annotate(entry, definition);
        }
    }
    let application = |entry: &registry::Entry, keys: Value| {
        let app = json!({ "app": { "const": entry.name } });
        json!({ "title": entry.name, "description": entry.summary, "properties": app, "allOf": [keys] })
    };
    let applications: Vec<Value> = registry
        .workloads()
        .iter()
        .map(|entry| application(entry, entry.schema(&mut generator).to_value()))
        .collect();
    let mut extra = generator.take_definitions(true);
    // An experiment names only what differs, and `workload` has the key `app` besides those of the application.
    for definition in extra.values_mut().filter_map(Value::as_object_mut) {
        definition.remove("required");
        definition.remove("additionalProperties");
    }
    let mut root = schemars::schema_for!(ExperimentConfig).to_value();
    root["properties"]["policy"] =
        json!({ "type": "object", "properties": policy, "additionalProperties": false });
    root["properties"]["load"] = loads;
    root["properties"]["mapping"][neutral::KEYWORD] = json!(Rule::USUAL.name());
    root["properties"]["workload"] = json!({ "type": "object", "anyOf": applications });
    if let Some(object) = root.as_object_mut() {
        object.remove("required");
        if let Some(definitions) = object.get_mut("$defs").and_then(Value::as_object_mut) {
            options
                .into_iter()
                .chain(extra)
                .for_each(|(name, definition)| {
                    definitions.entry(name).or_insert(definition);
                });
        }
    }
    format!("{root:#}\n")
}
