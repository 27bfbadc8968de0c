//! A setting of an experiment, as flags, files, platforms, traces and libraries give it: key, value and origin.

use serde_json::Value;

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

/// Returns whether the path of a key `inner` equals the path `outer` or lies inside it.
pub fn is_path_within(inner: &str, outer: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
