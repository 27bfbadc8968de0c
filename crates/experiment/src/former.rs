//! Keys that a former version wrote into `run.json` and that have another name now: they are read, and a note names the key to use.
//!
//! A value that has no counterpart is left as it is, so that it is refused as an unknown key.

use serde_json::Value;

use super::settings::Layers;

/// A setting of a former version, and the setting that means the same today.
struct Former {
    /// The version that wrote it last.
    version: &'static str,
    key: &'static str,
    value: &'static str,
    /// The key and the value today.
    now: (&'static str, &'static str),
}

const FORMER: [Former; 2] = [
    Former {
        version: "0.2.0",
        key: "policy.migbsp.communication_pattern",
        value: "one-kept",
        now: ("policy.migbsp.patterns", "kept"),
    },
    Former {
        version: "0.2.0",
        key: "policy.migbsp-2007.communication_pattern",
        value: "one-kept",
        now: ("policy.migbsp-2007.patterns", "kept"),
    },
];

/// Replaces settings of former versions by those that mean the same today, unless the key of today is set, too.
pub(super) fn renew(settings: &mut Value) {
    for former in &FORMER {
        let Some((object, key)) = former.key.rsplit_once('.') else {
            continue;
        };
        let object = settings.pointer_mut(&format!("/{}", object.replace('.', "/")));
        let Some(object) = object.and_then(Value::as_object_mut) else {
            continue;
        };
        if object.get(key).is_some_and(|value| value == former.value) {
            object.remove(key);
            let (now, value) = former.now;
            let now = now.rsplit('.').next().unwrap_or(now);
            object.entry(now).or_insert_with(|| value.into());
        }
    }
}

/// Notes that name the settings of former versions among the given ones.
pub(super) fn notes(given: &Layers) -> Vec<String> {
    let found = FORMER.iter().filter(|former| {
        let value = given.get(former.key);
        value.is_some_and(|value| value == former.value)
    });
    let note = |former: &Former| {
        let Former {
            version,
            key,
            value,
            now,
        } = former;
        format!(
            "`{key}={value}` is a setting of version {version}; read as `{}={}`",
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
        renew(&mut settings);
        assert_eq!(
            settings,
            json!({ "policy": { "migbsp": { "patterns": "kept" } } })
        );
        // It has no counterpart today.
        let mut settings = former("zero-kept");
        renew(&mut settings);
        assert_eq!(settings, former("zero-kept"));
        let mut settings = former("one-kept");
        settings["policy"]["migbsp"]["patterns"] = "each-call".into();
        renew(&mut settings);
        assert_eq!(
            settings,
            json!({ "policy": { "migbsp": { "patterns": "each-call" } } })
        );
    }

    #[test]
    fn a_note_names_the_key_of_today() {
        let given = Layers::of([("policy.migbsp.communication_pattern", "one-kept".into())]);
        assert_eq!(
            notes(&given),
            [
                "`policy.migbsp.communication_pattern=one-kept` is a setting of version 0.2.0; read as `policy.migbsp.patterns=kept`"
            ]
        );
        assert!(notes(&Layers::default()).is_empty());
    }
}
