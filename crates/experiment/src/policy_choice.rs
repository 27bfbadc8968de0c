//! The policy of an experiment: what decides, and what says when, from the key `policy`.
//!
//! ```text
//! policy.name            greedy, or with parts: greedy/charm-8/every=50 (an edition, a trigger)
//! policy.greedy          the options of that policy
//! policy.name            exec:./mylb: the policy `exec` with this command
//! policy.trigger         every, every=50, every,supersteps=50, or { "name": "every", "every": { "supersteps": 50 } }
//! ```
//! The options of a trigger stand under `policy.trigger.<its name>`, wherever it is named; what stands behind its name wins.
//! A strategy needs a trigger, [`trigger::USUAL`] if none is named. A policy that says itself when it is called (MigBSP) may get another one.

use serde_json::{Map, Value};

use crate::registry::Registry;
use migsim_base::document::typed_value;
use migsim_base::error::{Error, Problem};
use migsim_base::plugin::Table;
use migsim_policies::{self as policy, Policy, Triggered, trigger};

/// The chosen policy and trigger.
#[derive(Clone, Debug)]
pub(super) struct PolicyChoice {
    pub(super) entry: policy::Entry,
    pub(super) options: Value,
    trigger: Option<TriggerChoice>,
}

/// The chosen trigger.
#[derive(Clone, Debug)]
struct TriggerChoice {
    entry: trigger::Entry,
    options: Value,
    only_if_paid_back: bool,
}

/// The key under `policy.trigger` that belongs to all triggers.
const ONLY_IF_PAID_BACK: &str = "only_if_paid_back";

impl PolicyChoice {
    /// The policy of the key `policy`, tried once.
    ///
    /// # Errors
    /// All that is unknown, unreadable or out of range.
    pub(super) fn of(registry: &Registry, keys: &Map<String, Value>) -> Result<Self, Error> {
        check_keys(keys, "policy", registry.policies(), "trigger")?;
        let name = match keys.get("name") {
            None => policy::USUAL,
            Some(Value::String(name)) => name.as_str(),
            Some(_) => {
                let problem = Problem::new("the name of the policy is not a text");
                return Err(problem.key("policy.name").into());
            }
        };
        let (mut options, mut trigger) = (Map::new(), None);
        let mut command = name.strip_prefix(policy::EXEC_PREFIX);
        let mut name = command.map_or(name, |_| policy::EXEC).to_owned();
        // What follows the last slash of a command may be a trigger.
        if let Some((program, part)) = command.and_then(|command| command.rsplit_once('/')) {
            let first = part.split(['=', ',']).next().unwrap_or(part).trim();
            if registry.triggers().find(first).is_ok() {
                command = Some(program);
                name = format!("{name}/{part}");
            }
        }
        let mut parts = name.split('/').map(str::trim);
        let entry = *registry.policies().find(parts.next().unwrap_or_default())?;
        for part in parts {
            let first = part.split(['=', ',']).next().unwrap_or(part).trim();
            if let Some(Value::Object(own)) = entry.variant(part) {
                options.extend(own);
            } else if registry.triggers().find(first).is_ok() {
                trigger = Some(part);
            } else {
                let known = entry.variants().chain(registry.triggers().names());
                let problem = Problem::unknown("edition or trigger", first);
                let problem = problem.key("policy.name");
                return Err(problem.known("editions and triggers", known).into());
            }
        }
        let mut options = above(options, keys.get(entry.name));
        if let Some(command) = command {
            options["command"] = command.trim().into();
        }
        let trigger = TriggerChoice::of(registry, &entry, trigger, keys.get("trigger"))?;
        let choice = Self {
            entry,
            options,
            trigger,
        };
        choice.build()?; // its options are checked before anything runs
        Ok(choice)
    }

    /// The policy, ready for a run.
    ///
    /// # Errors
    /// Options are out of range, which [`Self::of`] has tried.
    pub(super) fn build(&self) -> Result<Box<dyn Policy>, Error> {
        let policy = self.entry.build(&self.options)?;
        let Some(choice) = &self.trigger else {
            return Ok(policy);
        };
        let trigger = choice.entry.build(&choice.options)?;
        let only_if_paid_back = choice.only_if_paid_back;
        Ok(Box::new(Triggered::new(trigger, policy, only_if_paid_back)))
    }

    /// The policy without its own trigger, called by another one.
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
        let named = |name: &str, options| {
            Map::from_iter([("name".into(), name.into()), (name.into(), options)])
        };
        let mut resolved = named(self.entry.name, self.entry.resolve(&self.options)?);
        if let Some(choice) = &self.trigger {
            let options = choice.entry.resolve(&choice.options)?;
            let mut trigger = named(choice.entry.name, options);
            if choice.only_if_paid_back {
                trigger.insert(ONLY_IF_PAID_BACK.into(), true.into());
            }
            resolved.insert("trigger".into(), trigger.into());
        }
        Ok(resolved.into())
    }
}

/// The policy and its trigger, from the key `policy` of complete settings: `greedy/menon`, or `migbsp` where the policy says itself when.
pub fn policy_label(policy: &Value) -> String {
    let name = policy["name"].as_str().unwrap_or("?");
    let command = policy[name]["command"].as_str();
    let command = command.filter(|_| name == policy::EXEC);
    let named = command.map(|command| format!("{}{command}", policy::EXEC_PREFIX));
    let name = named.as_deref().unwrap_or(name);
    match policy["trigger"]["name"].as_str() {
        Some(trigger) => format!("{name}/{trigger}"),
        None => name.to_owned(),
    }
}

/// Options with those of an object above them; what is no object replaces them and is refused when it is read.
fn above(mut below: Map<String, Value>, options: Option<&Value>) -> Value {
    match options {
        None => {}
        Some(Value::Object(own)) => below.extend(own.clone()),
        Some(wrong) => return wrong.clone(),
    }
    below.into()
}

impl TriggerChoice {
    /// The trigger that is a part of the policy's name, or that of the key `policy.trigger`; none where the policy says itself when.
    fn of(
        registry: &Registry,
        policy: &policy::Entry,
        named: Option<&str>,
        key: Option<&Value>,
    ) -> Result<Option<Self>, Error> {
        let key = key.filter(|key| !key.is_null());
        let options = key.and_then(Value::as_object);
        if let Some(options) = options {
            let section = "policy.trigger";
            check_keys(options, section, registry.triggers(), ONLY_IF_PAID_BACK)?;
        }
        let (text, place) = match (named, key) {
            (Some(text), _) => (text, "policy.name"),
            (None, Some(Value::String(text))) => (text.as_str(), "policy.trigger"),
            (None, Some(Value::Object(options))) => (name_in(options), "policy.trigger.name"),
            (None, None) if policy.needs_trigger() => (trigger::USUAL, "policy.trigger"),
            (None, None) => return Ok(None),
            (None, Some(_)) => {
                let problem = Problem::new("the trigger is neither a name nor an object");
                let hint = "write \"every\", \"every=50\" or { \"name\": \"every\", \"every\": { \"supersteps\": 50 } }";
                return Err(problem.key("policy.trigger").hint(hint).into());
            }
        };
        let mut choice = Self::of_text(registry, text, place)?;
        if let Some(keys) = options {
            choice.options = match (keys.get(choice.entry.name), choice.options) {
                (Some(Value::Object(below)), own) => above(below.clone(), Some(&own)),
                (Some(wrong), _) => wrong.clone(),
                (None, own) => own,
            };
            choice.only_if_paid_back |= keys.get(ONLY_IF_PAID_BACK).map_or(Ok(false), flag)?;
        }
        Ok(Some(choice))
    }

    /// The trigger of a text: its name, `name=value` for its main option, `,key=value` for others.
    fn of_text(registry: &Registry, text: &str, key: &str) -> Result<Self, Error> {
        let at = |problem: Problem| Error::from(problem.key(key));
        let mut parts = text.split(',').map(str::trim);
        let first = parts.next().unwrap_or_default();
        let (name, value) = match first.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (first, None),
        };
        let found = registry.triggers().find(name);
        let entry = *found.map_err(|error| error.map_nowhere(|problem| problem.key(key)))?;
        let mut options = Map::new();
        if let Some(value) = value {
            if entry.main().is_empty() {
                let message = format!("the trigger `{name}` takes no value behind `=`");
                let problem = Problem::new(message);
                return Err(at(problem.hint("name its options: `,KEY=VALUE`")));
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
            options: options.into(),
            only_if_paid_back,
        })
    }
}

/// The name of the trigger of an object; without the key `name`, the options of one trigger name it.
fn name_in(keys: &Map<String, Value>) -> &str {
    let own = ["name", ONLY_IF_PAID_BACK];
    let others = keys.keys().filter(|key| !own.contains(&key.as_str()));
    let others: Vec<&String> = others.collect();
    match (keys.get("name").and_then(Value::as_str), &others[..]) {
        (Some(name), _) => name,
        (None, [only]) => only,
        (None, _) => trigger::USUAL,
    }
}

/// Refuses keys of a section that are neither `name` and `own` nor the name of an entry of `table`.
fn check_keys<K>(
    keys: &Map<String, Value>,
    section: &str,
    table: &Table<K>,
    own: &'static str,
) -> Result<(), Problem> {
    let own = ["name", own];
    let is_known = |key: &str| own.contains(&key) || table.find(key).is_ok();
    match keys.keys().find(|key| !is_known(key)) {
        None => Ok(()),
        Some(key) => {
            let problem = Problem::unknown("key", key).key(format!("{section}.{key}"));
            Err(problem.known("keys", table.names().chain(own)))
        }
    }
}

/// A value that is true or false.
fn flag(value: &Value) -> Result<bool, Error> {
    value.as_bool().ok_or_else(|| {
        let problem = Problem::new(format!("{value} is neither true nor false"));
        let key = format!("policy.trigger.{ONLY_IF_PAID_BACK}");
        problem.key(key).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chosen(keys: &Value) -> Result<Value, String> {
        let registry = Registry::standard();
        let keys = keys.as_object().unwrap();
        let chosen = PolicyChoice::of(&registry, keys).map_err(|error| error.to_string())?;
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
