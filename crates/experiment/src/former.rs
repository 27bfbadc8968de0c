//! Settings of former versions of the simulator: how this version reads files that former versions wrote.
//!
//! A key that was renamed is still read, and a note to the user states its new name. A value of a former version that has no
//! counterpart in this version stays as it is and is refused as an unknown key. A key that did not exist in a former version gets
//! the value that describes the behaviour of that version. In this way, `migsim run RUN/run.json` repeats a run of a former
//! version.

use serde_json::Value;

use super::settings::Layers;

/// The last version of the simulator that had the former settings.
const FORMER_VERSION: &str = "0.2.0";

/// The policies whose former setting `communication_pattern=one-kept` is `patterns=kept` in this version.
const FORMER_PATTERNS: [&str; 2] = ["migbsp", "migbsp-2007"];

/// Keys that this version does not have, each with its object and the only value that it could usefully have.
const REMOVED_KEYS: [(&str, &str, &str); 15] = [
    ("/costs/call", "decision", "\"1000 instr\""),
    ("/costs/call", "operation", "\"10 instr\""),
    ("/policy/migbsp", "viability", "\"tested\""),
    ("/policy/migbsp", "d_trigger", "\"every\""),
    ("/policy/migbsp", "d_after_migration", "\"keep\""),
    ("/policy/migbsp", "idle_superstep", "\"no-vote\""),
    ("/policy/migbsp", "idle_pattern", "\"judged\""),
    ("/policy/migbsp", "host_load", "\"with-processes\""),
    ("/policy/migbsp", "full_cluster", "\"stay\""),
    ("/policy/migbsp", "only_positive", "true"),
    ("/policy/migbsp", "idle_ageing", "\"zero\""),
    ("/policy/migbsp", "potential_communication", "\"counted\""),
    ("/policy/bandit", "exploration", "1.0"),
    ("/policy/authors-2015", "own_latency", "\"0.000001 s\""),
    ("/policy/trigger/meta-balancer", "utilisation", "0.9"),
];

/// Values, and keys with any value (`None`), that former versions had and this version does not have.
const REMOVED_VALUES: [(&str, Option<&str>); 8] = [
    ("/policy/migbsp/free_host", Some("quiet")),
    ("/policy/migbsp/load_memory", None),
    ("/policy/migbsp/communication_pattern", None),
    ("/policy/migbsp/communication_time", Some("sum")),
    ("/policy/migbsp/potential_horizon", Some("interval")),
    ("/policy/migbsp/viability_horizon", Some("interval")),
    ("/policy/migbsp/d_growth", Some("add")),
    ("/policy/migbsp/set_index", Some("aggregate-power")),
];

/// Returns the settings of an experiment which only former versions had, and which no setting of this version replaces
/// (`KEY=VALUE`).
pub fn removed_settings(experiment: &Value) -> Vec<String> {
    let mut settings = experiment.clone();
    replace_former_settings(&mut settings);
    let keys = REMOVED_KEYS.map(|(object, key, _)| (format!("{object}/{key}"), None));
    let values = REMOVED_VALUES.map(|(key, value)| (key.to_owned(), value));
    let is_removed =
        |value: &Value, removed: Option<&str>| removed.is_none_or(|removed| value == removed);
    keys.into_iter()
        .chain(values)
        .filter_map(|(key, removed)| {
            let value = settings
                .pointer(&key)
                .filter(|value| is_removed(value, removed))?;
            let value = value.as_str().map_or(value.to_string(), str::to_owned);
            Some(format!("{}={value}", key[1..].replace('/', ".")))
        })
        .collect()
}

/// Adds the keys that did not exist in the former `version` to a complete experiment that this former version wrote.
pub fn add_keys_missing_in_version(experiment: &mut Value, version: &str) {
    let loads = match experiment.get_mut("load") {
        Some(Value::Array(several)) => &mut several[..],
        Some(one) => std::slice::from_mut(one),
        None => &mut [],
    };
    for load in loads.iter_mut().filter_map(Value::as_object_mut) {
        // Former versions wrote no `values` but for files, always wrote `most` for files, and knew only reservations.
        let values = match load.get("values").and_then(Value::as_str) {
            None if load.get("kind").is_some_and(|kind| kind != "file") => "reserved",
            Some("load") => "reserved",
            Some("load-average") if load.contains_key("most") => "reserved-load-average",
            _ => continue,
        };
        load.insert("values".into(), values.into());
    }
    let call = experiment.pointer_mut("/costs/call");
    if version == FORMER_VERSION
        && let Some(call) = call.and_then(Value::as_object_mut)
    {
        call.entry("after_last").or_insert(true.into());
    }
}

/// Replaces settings of former versions by the settings of this version. If the settings contain both keys, the value of the new
/// key is kept.
pub(super) fn replace_former_settings(settings: &mut Value) {
    for (object, key, value) in REMOVED_KEYS {
        let object = settings.pointer_mut(object).and_then(Value::as_object_mut);
        if let Some(object) = object
            && object.get(key).is_some_and(|given| {
                serde_json::from_str(value).is_ok_and(|value: Value| value == *given)
            })
        {
            object.shift_remove(key);
        }
    }
    replace_former_decision_costs(settings);
    for policy in FORMER_PATTERNS {
        let options = settings.pointer_mut(&format!("/policy/{policy}"));
        if let Some(options) = options.and_then(Value::as_object_mut)
            && options
                .get("communication_pattern")
                .is_some_and(|value| value == "one-kept")
        {
            options.remove("communication_pattern");
            options.entry("patterns").or_insert("kept".into());
        }
    }
}

/// Converts the former costs of decisions into the formula of the policy: `costs.call.decision` was the work of MigBSP for each
/// process, `costs.call.operation` the work of a strategy for each operation.
fn replace_former_decision_costs(settings: &mut Value) {
    let name = settings["policy"]["name"].as_str().unwrap_or("migbsp");
    let policy = name
        .split(['/', ':', '{'])
        .next()
        .unwrap_or(name)
        .to_owned();
    let is_migbsp = FORMER_PATTERNS.contains(&&*policy) || policy == "authors-2015";
    let call = settings
        .pointer_mut("/costs/call")
        .and_then(Value::as_object_mut);
    let Some(call) = call else { return };
    let given = ["decision", "operation"].map(|key| call.shift_remove(key));
    let (given, variable) = if is_migbsp {
        (&given[0], "P")
    } else {
        (&given[1], "N")
    };
    if let Some(Value::String(work)) = given {
        settings["policy"]["decision"][policy] = format!("{work} * {variable}").into();
    }
}

/// Returns a note for each setting of the user that only former versions of the simulator had.
pub(super) fn former_setting_notes(given: &Layers) -> Vec<String> {
    let key = |policy: &&str| format!("policy.{policy}.communication_pattern");
    let is_former = |policy: &&str| {
        given
            .get(&key(policy))
            .is_some_and(|value| value == "one-kept")
    };
    let note = |policy: &str| {
        format!(
            "`{}=one-kept` is a setting of migsim up to version {FORMER_VERSION}; migsim now reads it as `policy.{policy}.patterns=kept`",
            key(&policy)
        )
    };
    FORMER_PATTERNS
        .into_iter()
        .filter(is_former)
        .map(note)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_former_key_gets_its_new_name_unless_that_is_set() {
        let former =
            |value: &str| json!({ "policy": { "migbsp": { "communication_pattern": value } } });
        let mut settings = former("one-kept");
        replace_former_settings(&mut settings);
        assert_eq!(
            settings,
            json!({ "policy": { "migbsp": { "patterns": "kept" } } })
        );
        // This value has no counterpart today.
        let mut settings = former("zero-kept");
        replace_former_settings(&mut settings);
        assert_eq!(settings, former("zero-kept"));
        let mut settings = former("one-kept");
        settings["policy"]["migbsp"]["patterns"] = "each-call".into();
        replace_former_settings(&mut settings);
        assert_eq!(
            settings,
            json!({ "policy": { "migbsp": { "patterns": "each-call" } } })
        );
    }

    #[test]
    fn former_costs_of_a_decision_become_the_formula_of_the_policy() {
        let of = |name: &str, call: Value| {
            let mut settings = json!({ "policy": { "name": name }, "costs": { "call": call } });
            replace_former_settings(&mut settings);
            assert_eq!(settings["costs"]["call"], json!({}));
            settings["policy"]["decision"].clone()
        };
        let given = json!({ "decision": "5 instr", "operation": "3 instr" });
        assert_eq!(
            of("migbsp/every=3", given.clone()),
            json!({ "migbsp": "5 instr * P" })
        );
        assert_eq!(
            of("greedy/menon", given),
            json!({ "greedy": "3 instr * N" })
        );
        assert_eq!(
            of("greedy", json!({ "decision": "1000 instr" })),
            Value::Null
        );
    }

    #[test]
    fn an_experiment_of_a_version_gets_the_keys_that_the_version_did_not_have() {
        let written = json!({ "costs": { "call": { "model": "messages" } } });
        let mut experiment = written.clone();
        add_keys_missing_in_version(&mut experiment, "0.2.0");
        assert_eq!(experiment["costs"]["call"]["after_last"], true);
        let mut loaded = json!({ "load": [
            { "kind": "walk" },
            { "kind": "walk", "values": "utilisation" },
            { "kind": "file", "values": "load-average", "most": 0.99 },
            { "kind": "file", "values": "load-average" },
        ] });
        add_keys_missing_in_version(&mut loaded, "0.3.0");
        let values = loaded["load"].as_array().unwrap().iter();
        let values: Vec<_> = values
            .map(|load| load["values"].as_str().unwrap())
            .collect();
        let expected = [
            "reserved",
            "utilisation",
            "reserved-load-average",
            "load-average",
        ];
        assert_eq!(values, expected);
        let mut other = written.clone();
        add_keys_missing_in_version(&mut other, "0.1.0");
        assert_eq!(other, written);
        // A key that is set keeps its value.
        experiment["costs"]["call"]["after_last"] = false.into();
        add_keys_missing_in_version(&mut experiment, "0.2.0");
        assert_eq!(experiment["costs"]["call"]["after_last"], false);
    }

    #[test]
    fn a_note_names_the_key_of_today() {
        let given =
            Layers::from_pairs([("policy.migbsp.communication_pattern", "one-kept".into())]);
        assert_eq!(
            former_setting_notes(&given),
            [
                "`policy.migbsp.communication_pattern=one-kept` is a setting of migsim up to version 0.2.0; migsim now reads it as `policy.migbsp.patterns=kept`"
            ]
        );
        assert!(former_setting_notes(&Layers::default()).is_empty());
    }
}
