//! The policy of an experiment: what decides, and what says when, from the key `policy`.
//!
//! ```text
//! policy.name            greedy, or with parts: greedy/charm-8/every=50 (an edition, a trigger)
//! policy.greedy          the options of that policy
//! policy.trigger         every, every=50, every,supersteps=50, or { "name": "every", "every": { "supersteps": 50 } }
//! ```
//! The options of a trigger stand under `policy.trigger.<its name>`, wherever it is named; what stands behind its name wins.
//! A strategy needs a trigger, [`trigger::USUAL`] if none is named. A policy that says itself when it is called (MigBSP) may get another one.

use serde_json::{Map, Value};

use crate::registry::Registry;
use migsim_base::document::typed_value;
use migsim_base::error::{Error, Problem};
use migsim_policies::{self as policy, Policy, Triggered, trigger};

/// The chosen policy and trigger.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) entry: policy::Entry,
    pub(super) options: Value,
    trigger: Option<ChosenTrigger>,
}

/// The chosen trigger.
#[derive(Clone, Debug)]
struct ChosenTrigger {
    entry: trigger::Entry,
    options: Value,
    only_if_paid_back: bool,
}

/// The key under `policy.trigger` that belongs to all triggers.
const ONLY_IF_PAID_BACK: &str = "only_if_paid_back";

impl Chosen {
    /// The policy of the key `policy`, tried once.
    ///
    /// # Errors
    /// All that is unknown, unreadable or out of range.
    pub(super) fn of(registry: &Registry, keys: &Map<String, Value>) -> Result<Self, Error> {
        let policies = registry.policies();
        let own = ["name", "trigger"];
        for key in keys.keys().filter(|key| !own.contains(&key.as_str())) {
            policies.find(key).map_err(|_| {
                Error::from(
                    Problem::unknown("key", key)
                        .key(format!("policy.{key}"))
                        .known("keys", policies.names().chain(own)),
                )
            })?;
        }
        let name = match keys.get("name") {
            None => policy::USUAL,
            Some(Value::String(name)) => name.as_str(),
            Some(_) => {
                return Err(Problem::new("the name of the policy is not a text")
                    .key("policy.name")
                    .into());
            }
        };
        let mut parts = name.split('/').map(str::trim);
        let entry = *policies.find(parts.next().unwrap_or_default())?;
        let mut options = Map::new();
        let mut named_trigger = None;
        for part in parts {
            if let Some(Value::Object(own)) = entry.variant(part) {
                options.extend(own);
                continue;
            }
            let trigger = part.split(['=', ',']).next().unwrap_or(part).trim();
            if registry.triggers().find(trigger).is_err() {
                let known = entry.variants().chain(registry.triggers().names());
                let problem = Problem::unknown("edition or trigger", trigger);
                let problem = problem.key("policy.name");
                return Err(problem.known("editions and triggers", known).into());
            }
            named_trigger = Some(Value::from(part));
        }
        match keys.get(entry.name) {
            Some(Value::Object(own)) => options.extend(own.clone()),
            Some(other) => return entry.build(other).map(|_| unreachable(&entry)), // it says what is wrong
            None => {}
        }
        let options = Value::Object(options);
        let trigger = trigger_of(registry, keys, &entry, named_trigger.as_ref())?;
        let chosen = Self {
            entry,
            options,
            trigger,
        };
        chosen.build()?; // its options are checked before anything runs
        Ok(chosen)
    }

    /// The policy, ready for a run.
    ///
    /// # Errors
    /// Options are out of range, which [`Self::of`] has tried.
    pub(super) fn build(&self) -> Result<Box<dyn Policy>, Error> {
        let policy = self.entry.build(&self.options)?;
        let Some(chosen) = &self.trigger else {
            return Ok(policy);
        };
        let trigger = chosen.entry.build(&chosen.options)?;
        Ok(Box::new(Triggered::new(
            trigger,
            policy,
            chosen.only_if_paid_back,
        )))
    }

    /// The policy without its own trigger, called when another one says so.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub(super) fn build_called(
        &self,
        trigger: Box<dyn trigger::Trigger>,
    ) -> Result<Box<dyn Policy>, Error> {
        let policy = self.entry.build(&self.options)?;
        Ok(Box::new(Triggered::new(trigger, policy, false)))
    }

    /// The readings of the policy's source on which results depend, a few words each.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub(super) fn readings(&self) -> Result<Vec<String>, Error> {
        self.entry.readings(&self.options)
    }

    /// The key `policy` with all defaults filled in.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub(super) fn resolved(&self) -> Result<Value, Error> {
        let name = self.entry.name;
        let mut resolved = named(name, self.entry.resolve(&self.options)?);
        if let Some(chosen) = &self.trigger {
            let name = chosen.entry.name;
            let mut trigger = named(name, chosen.entry.resolve(&chosen.options)?);
            if chosen.only_if_paid_back {
                trigger.insert(ONLY_IF_PAID_BACK.into(), true.into());
            }
            resolved.insert("trigger".into(), trigger.into());
        }
        Ok(resolved.into())
    }
}

/// A name, and under it the options of what has it.
fn named(name: &str, options: Value) -> Map<String, Value> {
    Map::from_iter([("name".into(), name.into()), (name.into(), options)])
}

/// The trigger that is part of the name, or that of the key `trigger`; none where the policy says itself when.
fn trigger_of(
    registry: &Registry,
    keys: &Map<String, Value>,
    entry: &policy::Entry,
    named: Option<&Value>,
) -> Result<Option<ChosenTrigger>, Error> {
    let key = if named.is_some() {
        "policy.name"
    } else {
        "policy.trigger"
    };
    let keys = keys.get("trigger");
    match named.or(keys) {
        None | Some(Value::Null) if entry.is_strategy() => {
            ChosenTrigger::of_text(registry, trigger::USUAL, key).map(Some)
        }
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            let chosen = ChosenTrigger::of_text(registry, text, key)?;
            let Some(Value::Object(keys)) = keys else {
                return Ok(Some(chosen));
            };
            chosen.with_keys(registry, keys).map(Some)
        }
        Some(Value::Object(keys)) => ChosenTrigger::of_keys(registry, keys).map(Some),
        Some(_) => {
            let problem = Problem::new("the trigger is neither a name nor an object");
            let hint = "write \"every\", \"every=50\" or { \"name\": \"every\", \"every\": { \"supersteps\": 50 } }";
            Err(problem.key(key).hint(hint).into())
        }
    }
}

/// The policy and its trigger, from the key `policy` of complete settings: `greedy/menon`, or `migbsp` where the policy says itself when.
pub fn policy_label(policy: &Value) -> String {
    let name = policy["name"].as_str().unwrap_or("?");
    match policy["trigger"]["name"].as_str() {
        Some(trigger) => format!("{name}/{trigger}"),
        None => name.to_owned(),
    }
}

/// A policy with options that are no object has not been built.
fn unreachable(entry: &policy::Entry) -> Chosen {
    Chosen {
        entry: *entry,
        options: Value::Null,
        trigger: None,
    }
}

impl ChosenTrigger {
    /// The trigger of a text: its name, `name=value` for its main option, `,key=value` for others.
    fn of_text(registry: &Registry, text: &str, key: &str) -> Result<Self, Error> {
        let at = |problem: Problem| Error::from(problem.key(key));
        let mut parts = text.split(',').map(str::trim);
        let first = parts.next().unwrap_or_default();
        let (name, value) = match first.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (first, None),
        };
        let entry = *registry
            .triggers()
            .find(name)
            .map_err(|error| error.map_nowhere(|problem| problem.key(key)))?;
        let mut options = Map::new();
        if let Some(value) = value {
            if entry.main().is_empty() {
                let message = format!("the trigger `{name}` takes no value behind `=`");
                return Err(at(
                    Problem::new(message).hint("name its options: `,KEY=VALUE`")
                ));
            }
            options.insert(entry.main().to_owned(), typed_value(value));
        }
        let mut only_if_paid_back = false;
        for part in parts {
            let Some((option, value)) = part.split_once('=') else {
                let message = format!("`{part}` is not of the form KEY=VALUE");
                return Err(at(Problem::new(message)));
            };
            let (option, value) = (option.trim(), typed_value(value.trim()));
            if option == ONLY_IF_PAID_BACK {
                only_if_paid_back = flag(&value)?;
            } else if options.insert(option.to_owned(), value).is_some() {
                return Err(at(Problem::new(format!("`{option}` is given twice"))));
            }
        }
        Ok(Self {
            entry,
            options: Value::Object(options),
            only_if_paid_back,
        })
    }

    /// The trigger of an object: `name`, the options under that name.
    fn of_keys(registry: &Registry, keys: &Map<String, Value>) -> Result<Self, Error> {
        check_keys(registry, keys)?;
        let own = ["name", ONLY_IF_PAID_BACK];
        let name = keys.get("name").and_then(Value::as_str);
        let name = name.or_else(|| {
            // The options of one trigger name it.
            let mut named = keys.keys().filter(|key| !own.contains(&key.as_str()));
            named
                .next()
                .map(String::as_str)
                .filter(|_| named.next().is_none())
        });
        let name = name.unwrap_or(trigger::USUAL);
        Self::of_text(registry, name, "policy.trigger.name")?.with_keys(registry, keys)
    }

    /// The same trigger with the options of an object beneath its own.
    fn with_keys(self, registry: &Registry, keys: &Map<String, Value>) -> Result<Self, Error> {
        check_keys(registry, keys)?;
        let options = match (keys.get(self.entry.name).cloned(), self.options) {
            (Some(Value::Object(mut beneath)), Value::Object(own)) => {
                beneath.extend(own);
                Value::Object(beneath)
            }
            (Some(wrong), _) => wrong,
            (None, own) => own,
        };
        let is_left_out = keys.get(ONLY_IF_PAID_BACK).map_or(Ok(false), flag)?;
        Ok(Self {
            options,
            only_if_paid_back: self.only_if_paid_back || is_left_out,
            ..self
        })
    }
}

/// Refuses keys under `policy.trigger` that are neither those of all triggers nor the name of one.
fn check_keys(registry: &Registry, keys: &Map<String, Value>) -> Result<(), Error> {
    let triggers = registry.triggers();
    let own = ["name", ONLY_IF_PAID_BACK];
    for key in keys.keys().filter(|key| !own.contains(&key.as_str())) {
        triggers.find(key).map_err(|_| {
            let problem = Problem::unknown("key", key).key(format!("policy.trigger.{key}"));
            Error::from(problem.known("keys", triggers.names().chain(own)))
        })?;
    }
    Ok(())
}

/// A value that is true or false.
fn flag(value: &Value) -> Result<bool, Error> {
    value.as_bool().ok_or_else(|| {
        let problem = Problem::new(format!("{value} is neither true nor false"));
        problem
            .key(format!("policy.trigger.{ONLY_IF_PAID_BACK}"))
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chosen(keys: &Value) -> Result<Value, String> {
        let registry = Registry::standard();
        let keys = keys.as_object().unwrap();
        let chosen = Chosen::of(&registry, keys).map_err(|error| error.to_string())?;
        Ok(chosen.resolved().unwrap())
    }

    #[test]
    fn a_trigger_is_named_in_four_ways() {
        let expected = json!({
            "name": "rotate",
            "rotate": {},
            "trigger": { "name": "every", "every": { "supersteps": 50, "offset": 0 } },
        });
        for keys in [
            json!({ "name": "rotate/every=50" }),
            json!({ "name": "rotate", "trigger": "every=50" }),
            json!({ "name": "rotate", "trigger": "every, supersteps=50" }),
            json!({ "name": "rotate", "trigger": { "every": { "supersteps": 50 } } }),
        ] {
            assert_eq!(chosen(&keys).as_ref(), Ok(&expected), "{keys}");
        }
    }

    #[test]
    fn the_options_of_a_trigger_count_wherever_it_is_named() {
        let every = |supersteps: u32, offset: u32| json!({ "name": "every", "every": { "supersteps": supersteps, "offset": offset } });
        let options = json!({ "every": { "supersteps": 7, "offset": 2 }, "menon": {} });
        let named = |name: &str| {
            let mut options = options.clone();
            options["name"] = name.into();
            options
        };
        for (keys, expected) in [
            (
                json!({ "name": "rotate/every", "trigger": options }),
                every(7, 2),
            ),
            (
                json!({ "name": "rotate/every=9", "trigger": options }),
                every(9, 2),
            ),
            (
                json!({ "name": "rotate", "trigger": named("every") }),
                every(7, 2),
            ),
            (
                json!({ "name": "rotate", "trigger": named("every=9") }),
                every(9, 2),
            ),
        ] {
            assert_eq!(chosen(&keys).unwrap()["trigger"], expected, "{keys}");
        }
        let wrong = json!({ "name": "rotate/every", "trigger": { "every": { "offst": 2 } } });
        let error = chosen(&wrong).unwrap_err();
        assert!(error.contains("policy.trigger.every.offst"), "{error}");
    }

    #[test]
    fn a_policy_with_a_trigger_of_its_own_keeps_it_unless_another_one_is_named() {
        let own = chosen(&json!({ "name": "never" })).unwrap();
        assert_eq!(own, json!({ "name": "never", "never": {} }));
        let other = json!({ "name": "never", "trigger": "never,only_if_paid_back=true" });
        let other = chosen(&other).unwrap();
        assert_eq!(
            other["trigger"],
            json!({ "name": "never", "never": {}, "only_if_paid_back": true })
        );
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (keys, expected) in [
            (
                json!({ "name": "rotate/sometimes" }),
                "unknown edition or trigger `sometimes`",
            ),
            (
                json!({ "trigger": "every=0" }),
                "policy.trigger.every.supersteps",
            ),
            (json!({ "trigger": "never=5" }), "takes no value"),
            (
                json!({ "trigger": "every,50" }),
                "not of the form KEY=VALUE",
            ),
            (json!({ "trigger": 50 }), "neither a name nor an object"),
            (
                json!({ "trigger": { "always": {} } }),
                "unknown key `always`",
            ),
            (
                json!({ "trigger": { "only_if_paid_back": 1 } }),
                "neither true nor false",
            ),
            (json!({ "name": "rotate", "rotate": 5 }), "policy.rotate"),
            (json!({ "name": 5 }), "not a text"),
        ] {
            let error = chosen(&keys).unwrap_err();
            assert!(error.contains(expected), "{keys}: {error}");
        }
    }
}
