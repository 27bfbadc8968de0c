//! The experiment file: one JSON object that defines a run completely.
//!
//! Every flag of the command has its key in this file. A file needs to name only the settings that differ from the experiment of
//! its application (`workloads/<app>.json`), or, on a platform that no paper used, from the neutral settings. The key `origins`
//! states which source each calibrated value has.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value, json};

use super::{
    neutral,
    policy_choice::DECISION_KEY,
    suite::{NEUTRAL, ONE_READING},
};
use crate::registry::Registry;
use migsim_base::plugin::PluginTable;
use migsim_bsp::{Costs, RuntimeConfig, Scenario, ViewConfig};
use migsim_engine::{NetworkModel, PRESETS};
use migsim_platform::{
    Mapping, MappingRule, is_json_text,
    load::{self, LoadKey},
};
use migsim_policies::Forecast;
use migsim_workloads::registry;

/// The version of the format of experiment files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum SchemaVersion {
    /// The version `migsim-experiment-1`, the only version so far.
    #[default]
    #[serde(rename = "migsim-experiment-1")]
    One,
}

/// The keys of a resolved experiment file that only inform the reader of the file; no result depends on them.
pub const INFORMATIVE_KEYS: [&str; 5] = [
    "$schema",
    "description",
    "origins",
    "basis",
    "calibrated_for",
];

/// Removes the keys that only inform the reader of the file from the settings of a resolved experiment.
pub fn remove_informative_keys(settings: &mut Value) {
    if let Some(map) = settings.as_object_mut() {
        for key in INFORMATIVE_KEYS {
            map.remove(key);
        }
    }
}

/// Returns JSON pointers to all keys of an experiment whose values are names of files.
pub fn json_pointers_to_file_names(registry: &Registry, experiment: &Value) -> Vec<String> {
    let loads = experiment["load"].as_array().map_or(0, Vec::len);
    let of_loads = (0..loads).flat_map(|index| {
        registry
            .background_load_file_keys()
            .map(move |key| format!("/load/{index}/{key}"))
    });
    registry
        .keys_of_file_names()
        .iter()
        .map(|key| format!("/{}", key.replace('.', "/")))
        .chain(of_loads)
        .collect()
}

/// Returns whether the setting `named` names the input file `file`, or is the common beginning of its name and the names of other
/// files (data with one file per rank).
pub fn names_input_file(named: &str, file: &str) -> bool {
    let rest = file.strip_prefix(named);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Replaces the names of the input files `files` in the settings of a resolved experiment by null. Settings can then be compared
/// wherever their files are; the contents of the files must be compared separately.
pub fn remove_input_file_names<'f>(
    registry: &Registry,
    settings: &mut Value,
    files: &(impl Iterator<Item = &'f str> + Clone),
) {
    for pointer in json_pointers_to_file_names(registry, settings) {
        let Some(value) = settings.pointer_mut(&pointer) else {
            continue;
        };
        let is_input = |named: &str| files.clone().any(|file| names_input_file(named, file));
        if value.as_str().is_some_and(is_input) {
            *value = Value::Null;
        }
    }
}

/// The built-in experiment that completes the settings of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Basis {
    /// The name of the built-in experiment. `neutral` has the settings for platforms that no paper used; `none`
    /// stands for the defaults alone.
    pub experiment: String,
    /// Whether the constants of the built-in experiment were fitted to the platform of the run; absent if these constants were
    /// not fitted to any platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_calibrated: Option<bool>,
}

impl Basis {
    /// Describes in words the experiment that completes the settings, and whether it was fitted to the platform.
    pub fn describe(&self) -> String {
        let name = &self.experiment;
        match self.is_calibrated {
            Some(true) => format!("settings of the experiment {name}, fitted to this platform"),
            Some(false) => format!("settings of the experiment {name}, fitted to other platforms"),
            None if [ONE_READING, NEUTRAL].contains(&&**name) => {
                "neutral settings, fitted to no platform".to_owned()
            }
            None if name == EXTENDS_NOTHING => "settings of no built-in experiment".to_owned(),
            None => format!("settings of the experiment {name}"),
        }
    }
}

/// The value of the key `extends` which states that no built-in experiment completes the settings.
pub(super) const EXTENDS_NOTHING: &str = "none";

/// A complete experiment, with the keys of the experiment file: platform, application, policy, costs, scenarios and seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExperimentConfig {
    /// The JSON Schema that editors use to check the file; it has no effect on the experiment.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub editor_schema: Option<String>,
    /// The version of the format of the file.
    #[serde(default)]
    pub schema: SchemaVersion,
    /// The built-in experiment that completes the settings of this file, or `none`. Default: the experiment of the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// The built-in platforms to which the constants of this experiment were fitted. On other platforms `--app NAME` uses neutral
    /// settings instead; `migsim run EXPERIMENT` and `extends` keep the fitted settings on every platform, with a note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrated_for: Option<Vec<String>>,
    /// The built-in experiment that completed the settings: written by `migsim`, without effect on a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// A description of the experiment for people who read the file, without effect on a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The platform: a file, the name of a built-in platform, or the platform itself as an object (see `migsim schema platform`).
    #[serde(
        default = "default_platform",
        deserialize_with = "deserialize_platform",
        serialize_with = "serialize_platform"
    )]
    #[schemars(schema_with = "platform_schema")]
    pub platform: String,
    /// The rule that forms clusters on a platform of zones (`SimGrid`). `zone`: each zone that contains hosts is a cluster;
    /// `level=N`: each zone N levels below the outermost zone. `name`: hosts whose names differ only in digits, at the end or
    /// inside (`graphene-13.nancy`). Or a CSV file with the columns `host,cluster`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<String>,
    /// Background load that takes capacity of hosts and links: one load (`kind`, `on` and its parameters) or a list of loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadKey>,
    /// Changes of the platform, the application or the costs of rescheduling, applied in this order to the experiment that the other keys
    /// describe: `link wan bandwidth +10%`, `cluster ICE speed unlimited`, `imbalance -10%`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The application (`app`) and its settings.
    pub workload: Map<String, Value>,
    /// The host of each process at the start of the run: by a rule, from a list of hosts, or from a table. Default: `contiguous`
    /// on the platforms of the papers, `fast-first` on others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<MappingKey>,
    /// The network model: a preset (`model`), and constants that replace the constants of the preset.
    #[serde(default)]
    #[schemars(schema_with = "network_schema")]
    pub network: Map<String, Value>,
    /// The message-passing library: a name (`migsim list libraries`), or a file that `migsim calibrate` wrote. It sets keys of
    /// `network` and `runtime`. Keys that the experiment itself sets override the library; the library overrides what a trace
    /// recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// The execution of supersteps: the barrier, and how processes send and receive messages.
    #[serde(default)]
    pub runtime: RuntimeConfig,
    /// The rescheduling policy (`name`) and, under the name of each policy, its options.
    #[serde(default)]
    pub policy: Map<String, Value>,
    /// The costs of rescheduling: the costs of a rescheduling call, and the costs of a migration.
    #[serde(default)]
    pub costs: Costs,
    /// The quality of the measurements of supersteps and of background load that policies get; by default they are exact and
    /// immediate.
    #[serde(default, skip_serializing_if = "ViewConfig::is_exact")]
    pub view: ViewConfig,
    /// The scenarios to run: `i` (application only), `ii` (scheduler without moves), `iii` (with moves).
    #[serde(default = "default_scenarios")]
    pub scenarios: Vec<Scenario>,
    /// The seed of all random draws of the run: the draws of the load, of the policy and, unless `workload.seed` is set, of the
    /// application.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The sources of calibrated values: for each key, a text that begins with `stated`, `inferred` or `fitted`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub origins: BTreeMap<String, String>,
}

impl ExperimentConfig {
    /// Returns the rule by which processes are placed on hosts at the start; contiguous if the experiment sets no mapping.
    pub fn mapping(&self) -> Mapping {
        self.mapping
            .as_ref()
            .map_or_else(Mapping::default, MappingKey::parse_mapping)
    }
}

/// The value of the key `mapping`: how the processes are placed on hosts at the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a rule (\"by-core\"), a list of hosts, or the name of a CSV file"
)]
#[non_exhaustive]
pub enum MappingKey {
    /// A rule (`contiguous`, `round-robin`, `by-core`, `by-speed`, `fast-first`), optionally restricted to some hosts
    /// (`by-core:epyc,old-3`); host names separated by commas; or a CSV file with the columns `process,host` (`places.csv`).
    Text(String),
    /// One host for each process, in the order of the processes; `ICE-0..ICE-4` stands for a range of hosts, the name of a
    /// cluster for all its hosts.
    List(Vec<String>),
}

impl MappingKey {
    /// Parses the value of the key as a mapping of processes to hosts.
    pub fn parse_mapping(&self) -> Mapping {
        match self {
            Self::Text(text) => text
                .parse()
                .unwrap_or_else(|never: std::convert::Infallible| match never {}),
            Self::List(entries) => Mapping::Explicit(entries.clone()),
        }
    }
}

/// Returns the default of the key `platform`, the name of a built-in platform.
fn default_platform() -> String {
    "ufrgs.json".into()
}

/// Returns the value of the key `platform` as a text: a name, or the JSON text of an object; `None` if the value is neither a
/// text nor an object.
pub(super) fn platform_text(key: &Value) -> Option<String> {
    match key {
        Value::String(name) => Some(name.clone()),
        Value::Object(_) => Some(key.to_string()),
        _ => None,
    }
}

/// Deserializes the key `platform`, which is a text or an object, as a text.
fn deserialize_platform<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let key = Value::deserialize(from)?;
    platform_text(&key).ok_or_else(|| {
        de::Error::custom("expected the name of a platform, the name of a file, or an object")
    })
}

/// Serializes the key `platform` as an object if the text is the JSON of a platform, else as a text.
fn serialize_platform<S: Serializer>(platform: &str, to: S) -> Result<S::Ok, S::Error> {
    match is_json_text(platform)
        .then(|| serde_json::from_str::<Value>(platform).ok())
        .flatten()
    {
        Some(object) => object.serialize(to),
        None => to.serialize_str(platform),
    }
}

/// Returns the JSON Schema of the key `platform`.
fn platform_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "object"], "default": default_platform() })
}

/// Returns the JSON Schema of the key `network`: the name of a preset, and the constants of the network model with the values of
/// the default preset.
fn network_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = NetworkModel::json_schema(generator).to_value();
    let default = json!(NetworkModel::default());
    for (key, constant) in schema["properties"].as_object_mut().into_iter().flatten() {
        if let Some(value) = default.get(key) {
            constant["default"] = value.clone();
        }
    }
    let names: Vec<&str> = PRESETS
        .iter()
        .map(|preset| preset.name)
        .chain(["lv08"])
        .collect();
    schema["properties"]["model"] = json!({
        "description": "The preset whose values all other keys of `network` replace (`migsim list networks`).",
        "type": "string",
        "enum": names,
        "default": names[0],
    });
    if let Some(object) = schema.as_object_mut() {
        object.remove("required");
    }
    Schema::try_from(schema).expect("an object is a schema")
}

/// Returns the default of the key `scenarios`: all scenarios.
fn default_scenarios() -> Vec<Scenario> {
    Scenario::ALL.to_vec()
}

/// Returns the default of the key `seed`.
fn default_seed() -> u64 {
    1
}

/// Returns the JSON Schema of the keys with which settings choose a plug-in: its name, and the options of each under its name.
fn section_schema<K>(
    table: &PluginTable<K>,
    about: &str,
    generator: &mut SchemaGenerator,
) -> Map<String, Value> {
    let names: Vec<&str> = table.names().collect();
    let name = json!({ "description": about, "enum": names });
    std::iter::once(("name".to_owned(), name))
        .chain(table.iter().map(|entry| {
            let schema = entry.options_schema(generator);
            (entry.name.to_owned(), schema.to_value())
        }))
        .collect()
}

/// Returns the JSON Schema of experiment files, generated from the types; it includes the keys of each application and policy of
/// `registry`.
pub fn json_schema(registry: &Registry) -> String {
    let mut generator = SchemaGenerator::default();
    let mut policy = section_schema(
        registry.policies(),
        "the policy that decides",
        &mut generator,
    );
    let mut trigger = section_schema(
        registry.triggers(),
        "the trigger that decides when the policy is called",
        &mut generator,
    );
    trigger.shift_insert(1, "only_if_paid_back".into(), json!({ "type": "boolean", "description": "whether a call is skipped if it costs more time than it could gain in the remaining supersteps" }));
    policy.insert(
        "trigger".into(),
        json!({
            "description": "the trigger that decides when the policy is called: a name, `every=50`, or an object; a policy that is a strategy needs a trigger",
            "anyOf": [{ "type": "string" }, { "type": "object", "properties": trigger, "additionalProperties": false }],
        }),
    );
    policy.insert(
        "forecast".into(),
        generator.subschema_for::<Forecast>().to_value(),
    );
    policy.insert(
        DECISION_KEY.into(),
        json!({
            "description": "Processor time of a decision on each host that decides, if the call is simulated as messages, under the name of each policy: a sum of times or instructions multiplied by P (processes), H (cores of all hosts), M (migrations decided), N (operations that the strategy counted; 100 P if it counts none), log2(P) or log2(H), such as `1 ms + 0.64 us * P`. Default of each policy: `10 instr * N`.",
            "type": "object",
            "additionalProperties": { "type": "string" },
        }),
    );
    let loads = load::load_key_schema(registry.loads(), &mut generator);
    let mut options = generator.take_definitions(true);
    for entry in registry.policies() {
        let place = policy[entry.name]["$ref"].as_str();
        let name = place.and_then(|place| place.rsplit('/').next());
        if let Some(definition) = name.and_then(|name| options.get_mut(name)) {
            neutral::add_neutral_values_to_schema(entry, definition);
        }
    }
    let application = |entry: &registry::Entry, keys: Value| {
        let app = json!({ "app": { "const": entry.name } });
        json!({ "title": entry.name, "description": entry.summary, "properties": app, "allOf": [keys] })
    };
    let applications: Vec<Value> = registry
        .workloads()
        .iter()
        .map(|entry| application(entry, entry.options_schema(&mut generator).to_value()))
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
    root["properties"]["mapping"][neutral::NEUTRAL_VALUE_KEY] = json!(MappingRule::DEFAULT.name());
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
