//! The keys of the parameters that vary in a sweep: short names, and the keys of an experiment file for which the short names
//! stand.

use serde_json::Value;

use migsim_base::error::{Error, Result};
use migsim_experiment::{KeySetting, Layers, Registry};
use migsim_policies as policy;

/// Short names of keys that belong to no policy, application or load, each with its key.
const SHORT_NAMES: [(&str, &str); 6] = [
    ("app", "workload.app"),
    ("mapping", "mapping"),
    ("network", "network.model"),
    ("platform", "platform"),
    ("policy", "policy.name"),
    ("trigger", "policy.trigger"),
];

/// Checks that no flag sets an option of a policy that is none of `policies`, where it would have no effect.
///
/// # Errors
/// A flag sets such an option.
pub fn check_options_are_of_policies(
    registry: &Registry,
    flags: &[KeySetting],
    policies: &[&str],
) -> Result {
    let is_other = |flag: &&KeySetting| {
        let option = flag.key.strip_prefix("policy.");
        let owner = option.and_then(|rest| rest.split_once('.'));
        // `--timeout` limits programs, if there are any.
        let is_limit = flag.source_text.starts_with("--timeout");
        owner.is_some_and(|(owner, _)| {
            !is_limit && !policies.contains(&owner) && registry.policies().find(owner).is_ok()
        })
    };
    let Some(flag) = flags.iter().find(is_other) else {
        return Ok(());
    };
    let (key, policies) = (&flag.key, policies.join("`, `"));
    Err(Error::input(
        format!("`{key}` is not an option of the policy `{policies}`"),
        &flag.source_text,
        "leave this option out, or choose another policy",
    ))
}

/// Returns the key that the name of a parameter stands for if the policy is `policy`; `None` if this policy has no such option.
///
/// A flag of a policy stands for the option of this policy: `alpha` is `policy.migbsp.alpha` for `migbsp`.
pub fn parameter_key_for_policy(registry: &Registry, name: &str, policy: &str) -> Option<String> {
    let policies = registry.policies();
    if registry.is_policy_flag(name) {
        let flag = policies.find(policy).ok()?.flag(name)?;
        return Some(format!("policy.{policy}.{}", flag.option_name));
    }
    if let Some((_, key)) = SHORT_NAMES.iter().find(|(short, _)| *short == name) {
        return Some((*key).to_owned());
    }
    if let Some(flag) = registry
        .workload_flags()
        .into_iter()
        .find(|flag| flag.name == name)
    {
        return Some(format!("workload.{}", flag.option_name));
    }
    match name
        .strip_prefix("policy.")
        .and_then(|rest| rest.split_once('.'))
    {
        Some((owner, _)) if owner != policy && policies.find(owner).is_ok() => None,
        _ => Some(name.to_owned()),
    }
}

/// Returns the key that a name stands for under each policy, in the order of the policies; `None` where the policy has no such
/// option.
pub fn parameter_keys_for_all_policies(registry: &Registry, name: &str) -> Vec<Option<String>> {
    registry
        .policies()
        .names()
        .map(|policy| parameter_key_for_policy(registry, name, policy))
        .collect()
}

/// Returns the short name of a key, or the key itself if it has no short name.
pub fn short_parameter_name<'n>(registry: &Registry, name: &'n str) -> &'n str {
    if let Some((short, _)) = SHORT_NAMES.iter().find(|(_, key)| *key == name) {
        return short;
    }
    name.strip_prefix("workload.")
        .and_then(|key| {
            let flags = registry.workload_flags();
            Some(flags.into_iter().find(|flag| flag.option_name == key)?.name)
        })
        .unwrap_or(name)
}

/// Returns whether a parameter changes the work or the platform, and not only how the work is scheduled.
pub fn changes_work_or_platform(registry: &Registry, name: &str) -> bool {
    let flags = registry.workload_flags();
    let own = [
        "app", "clusters", "extends", "library", "load", "network", "platform", "workload",
    ];
    let inside = ["load.", "load[", "workload."];
    own.contains(&name)
        || inside.iter().any(|start| name.starts_with(start))
        || flags.iter().any(|flag| flag.name == name)
}

/// Returns the name of the policy in the settings of the user, without variant, trigger and forecast; built-in experiments are
/// not taken into account.
pub fn policy_name_in_settings(layers: &Layers) -> String {
    let named = layers.get("policy.name");
    let named = named.as_ref().and_then(Value::as_str);
    base_policy_name(named.unwrap_or(policy::DEFAULT_POLICY)).to_owned()
}

/// Returns the name of the policy without the variant, trigger and forecast (`greedy` for `greedy/charm-8/menon`), and without the
/// value behind a colon or the options in braces (`exec` for `exec:./mylb`, `migbsp` for `migbsp{x=0.5}`).
pub fn base_policy_name(name: &str) -> &str {
    name.split(['/', ':', '{']).next().unwrap_or(name)
}

/// Lists all names of parameters that may vary, given the complete settings of one run.
pub(super) fn variable_parameter_names(registry: &Registry, resolved: &Value) -> Vec<String> {
    let mut keys: Vec<String> = leaf_values(resolved, "")
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    let flags = [registry.workload_flags(), registry.policy_flags()].concat();
    let short = SHORT_NAMES
        .iter()
        .map(|(short, _)| *short)
        .chain(flags.into_iter().map(|flag| flag.name));
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

/// Lists the values inside nested objects, each with its path, which begins with `path`. A list counts as one value; an object
/// without keys contributes none.
pub fn leaf_values<'v>(value: &'v Value, path: &str) -> Vec<(String, &'v Value)> {
    let Value::Object(map) = value else {
        return vec![(path.to_owned(), value)];
    };
    map.iter()
        .flat_map(|(key, value)| {
            let dot = if path.is_empty() { "" } else { "." };
            leaf_values(value, &format!("{path}{dot}{key}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_of_options_follow_the_policy() {
        let registry = Registry::standard();
        let key = |name: &str, policy: &str| parameter_key_for_policy(&registry, name, policy);
        let some = |key: &str| Some(key.to_owned());
        assert_eq!(key("alpha", "migbsp"), some("policy.migbsp.alpha"));
        let older = some("policy.migbsp-2007.alpha");
        assert_eq!(key("alpha", "migbsp-2007"), older);
        assert_eq!(key("omega", "migbsp-2007"), None);
        assert_eq!(key("alpha", "never"), None);
        assert_eq!(key("policy.migbsp.x", "never"), None);
        assert_eq!(key("n", "never"), some("workload.n"));
        assert_eq!(key("a.b", "never"), some("a.b"));
        assert_eq!(short_parameter_name(&registry, "workload.n"), "n");
    }
}
