//! The keys of parameters: short names and what they stand for.

use serde_json::{Value, json};

use crate::experiment::Layers;
use crate::policy;

/// Short names of keys that do not depend on the policy.
const SHORT: [(&str, &str); 9] = [
    ("app", "workload.app"),
    ("grid", "workload.grid"),
    ("mapping", "mapping"),
    ("n", "workload.n"),
    ("network", "network.model"),
    ("platform", "platform"),
    ("policy", "policy.name"),
    ("procs", "workload.procs"),
    ("trace", "workload.trace"),
];

/// Short names of options of policies: `alpha` is `policy.migbsp.alpha` for `migbsp`.
pub(crate) const OPTIONS: [&str; 4] = ["alpha", "d", "omega", "x"];

/// The key that a parameter's name stands for under `policy`; `None` if that policy has no such option.
pub(crate) fn key_under(name: &str, policy: &str) -> Option<String> {
    if OPTIONS.contains(&name) {
        return has_option(policy, name).then(|| format!("policy.{policy}.{name}"));
    }
    if let Some((_, key)) = SHORT.iter().find(|(short, _)| *short == name) {
        return Some((*key).to_owned());
    }
    match name
        .strip_prefix("policy.")
        .and_then(|rest| rest.split_once('.'))
    {
        Some((owner, _)) if owner != policy && policy::find(owner).is_ok() => None,
        _ => Some(name.to_owned()),
    }
}

/// Whether a policy has an option of this name.
pub(crate) fn has_option(policy: &str, option: &str) -> bool {
    policy::find(policy)
        .and_then(|entry| entry.resolve(&json!({})))
        .is_ok_and(|options| options.get(option).is_some())
}

/// The short name of a key, if it has one.
pub(crate) fn short_of(name: &str) -> &str {
    let found = SHORT.iter().find(|(_, key)| *key == name);
    found.map_or(name, |(short, _)| short)
}

/// The policy that settings name, before any experiment below them is looked at.
pub(crate) fn policy_of(layers: &Layers) -> String {
    let named = layers.get("policy.name");
    let named = named.as_ref().and_then(Value::as_str);
    named.unwrap_or(policy::USUAL).to_owned()
}

/// All names that may vary, given the complete settings of one run.
pub(super) fn known(resolved: &Value) -> Vec<String> {
    let leaves = leaves(resolved, "").into_iter();
    let mut keys: Vec<String> = leaves.map(|(key, _)| key).collect();
    let short = SHORT.iter().map(|(short, _)| *short).chain(OPTIONS);
    keys.extend(short.map(str::to_owned));
    let is_told = |key: &String| {
        let of_people = ["origins", "basis", "extends", "schema", "calibrated_for"];
        !of_people
            .iter()
            .any(|own| key.split('.').next() == Some(own))
    };
    keys.retain(is_told);
    keys
}

/// The values inside objects, each with its path, which begins with `path`; of a list the whole, of an object without keys nothing.
pub(crate) fn leaves<'v>(value: &'v Value, path: &str) -> Vec<(String, &'v Value)> {
    let Value::Object(map) = value else {
        return vec![(path.to_owned(), value)];
    };
    let inside = |(key, value): (&String, &'v Value)| {
        let dot = if path.is_empty() { "" } else { "." };
        leaves(value, &format!("{path}{dot}{key}"))
    };
    map.iter().flat_map(inside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_of_options_follow_the_policy() {
        assert_eq!(
            key_under("alpha", "migbsp").as_deref(),
            Some("policy.migbsp.alpha")
        );
        assert_eq!(
            key_under("alpha", "migbsp-2007").as_deref(),
            Some("policy.migbsp-2007.alpha")
        );
        assert_eq!(key_under("omega", "migbsp-2007"), None);
        assert_eq!(key_under("alpha", "never"), None);
        assert_eq!(key_under("policy.migbsp.x", "never"), None);
        assert_eq!(key_under("n", "never").as_deref(), Some("workload.n"));
        assert_eq!(key_under("a.b", "never").as_deref(), Some("a.b"));
    }
}
