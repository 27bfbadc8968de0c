//! Settings of former versions of the simulator: how this version reads files that former versions wrote.
//!
//! A key that was renamed is still read, and a note to the user states its new name. A value of a former version that has no
//! counterpart in this version stays as it is and is refused as an unknown key. A key that did not exist in a former version gets
//! the value that describes the behaviour of that version. In this way, `migsim run RUN/run.json` repeats a run of a former
//! version.

use serde_json::Value;

use super::settings::Layers;

/// A setting that only former versions of the simulator had, and the setting that replaces it in this version.
struct FormerSetting {
    /// The last version of the simulator that had the setting.
    last_version: &'static str,
    /// The key of the setting in former versions, with dots between its parts.
    former_key: &'static str,
    /// The value of the former key to which the counterpart corresponds.
    former_value: &'static str,
    /// The key and the value in this version that replace the former setting.
    replacement_key_and_value: (&'static str, &'static str),
}

const FORMER: [FormerSetting; 2] = [
    FormerSetting {
        last_version: "0.2.0",
        former_key: "policy.migbsp.communication_pattern",
        former_value: "one-kept",
        replacement_key_and_value: ("policy.migbsp.patterns", "kept"),
    },
    FormerSetting {
        last_version: "0.2.0",
        former_key: "policy.migbsp-2007.communication_pattern",
        former_value: "one-kept",
        replacement_key_and_value: ("policy.migbsp-2007.patterns", "kept"),
    },
];

/// Keys that did not exist in a former version: the version, the JSON pointer of the key, and the value that describes the
/// behaviour of that version.
const KEYS_ADDED_SINCE: [(&str, &str, bool); 1] = [("0.2.0", "/costs/call/after_last", true)];

/// Adds the keys that did not exist in the former `version` to a complete experiment that this former version wrote.
pub fn add_keys_missing_in_version(experiment: &mut Value, version: &str) {
    for (_, pointer, value) in KEYS_ADDED_SINCE.iter().filter(|(of, ..)| *of == version) {
        let (object, key) = pointer.rsplit_once('/').unwrap_or(("", pointer));
        let object = experiment
            .pointer_mut(object)
            .and_then(Value::as_object_mut);
        if let Some(object) = object {
            object.entry(key).or_insert_with(|| (*value).into());
        }
    }
}

/// Replaces settings of former versions by the settings of this version. If the settings contain both keys, the value of the new
/// key is kept.
pub(super) fn replace_former_settings(settings: &mut Value) {
    for former in &FORMER {
        let Some((object, key)) = former.former_key.rsplit_once('.') else {
            continue;
        };
        let object = settings.pointer_mut(&format!("/{}", object.replace('.', "/")));
        let Some(object) = object.and_then(Value::as_object_mut) else {
            continue;
        };
        if object
            .get(key)
            .is_some_and(|value| value == former.former_value)
        {
            object.remove(key);
            let (now, value) = former.replacement_key_and_value;
            let now = now.rsplit('.').next().unwrap_or(now);
            object.entry(now).or_insert_with(|| value.into());
        }
    }
}

/// Returns a note for each setting of the user that only former versions of the simulator had.
pub(super) fn former_setting_notes(given: &Layers) -> Vec<String> {
    let found = FORMER.iter().filter(|former| {
        let value = given.get(former.former_key);
        value.is_some_and(|value| value == former.former_value)
    });
    let note = |former: &FormerSetting| {
        let FormerSetting {
            last_version: version,
            former_key: key,
            former_value: value,
            replacement_key_and_value: now,
        } = former;
        format!(
            "`{key}={value}` is a setting of migsim up to version {version}; migsim now reads it as `{}={}`",
            now.0, now.1
        )
    };
    found.map(note).collect()
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
    fn an_experiment_of_a_version_gets_the_keys_that_the_version_did_not_have() {
        let written = json!({ "costs": { "call": { "model": "messages" } } });
        let mut experiment = written.clone();
        add_keys_missing_in_version(&mut experiment, "0.2.0");
        assert_eq!(experiment["costs"]["call"]["after_last"], true);
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
