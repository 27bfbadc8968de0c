//! Reads the rescheduling policy of an experiment, with its trigger and forecast, from the key `policy`.
//!
//! ```text
//! policy.name            greedy, or with parts: greedy/charm-8/every=50 (a variant, a trigger)
//! policy.greedy          the options of the policy `greedy`
//! policy.name            migbsp{x=0.5,own_cluster=within}: the options of the policy in its name, which override all others
//! policy.name            exec:./mylb: the policy `exec` with this value of its main option, the command
//! policy.decision        { "greedy": "0.64 us * P" }: the processor time of a decision of each policy (`DecisionCost`)
//! policy.forecast        ewma: the forecast of the work that a strategy uses; also a part of the name, as in refine/menon/ewma
//! policy.trigger         every, every=50, every,supersteps=50, or { "name": "every", "every": { "supersteps": 50 } }
//! ```
//! A trigger decides after which supersteps the policy is called. The options of a trigger are keys under `policy.trigger.<name
//! of the trigger>`, wherever the trigger is named; options in the name of the policy override these keys. A strategy needs a
//! trigger; the default is [`trigger::DEFAULT_TRIGGER`]. For a policy that itself decides when it is called (`MigBSP`), the
//! settings may name a trigger that decides instead.
//!
//! The part `paid-back` (`migbsp/paid-back`, `refine/menon/paid-back`), or the key `policy.trigger.only_if_paid_back`, skips each
//! rescheduling call that costs more time than the remaining supersteps can save, whichever trigger requests the call. Options
//! that the user chose override the options of a variant, and a variant overrides built-in experiments.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Map, Value, json};

use crate::registry::Registry;
use migsim_base::{
    document::{format_typed_value, parse_typed_value},
    error::{Error, Problem, Result},
    plugin::PluginTable,
    values::split_at_commas,
};
use migsim_bsp::DecisionCost;
use migsim_policies::{self as policy, Forecast, Policy, TriggeredPolicy, trigger};

/// The rescheduling policy that the settings choose, with its options, its trigger and its forecast.
#[derive(Clone, Debug)]
pub(super) struct PolicyChoice {
    /// The entry of the policy in the registry.
    pub registry_entry: policy::Entry,
    /// The options of the policy that the settings set, as a JSON object.
    pub policy_options: Value,
    /// The trigger that decides when the policy is called; `None` if the policy decides this itself.
    trigger: Option<TriggerChoice>,
    /// Whether a rescheduling call is skipped if the remaining supersteps cannot save as much time as the call costs.
    skips_calls_not_paid_back: bool,
    /// The method by which a strategy forecasts the work of each process in the next supersteps.
    forecast: Forecast,
    /// The policy with which the options were checked, until a scenario uses it.
    checked_policy: Arc<Mutex<Option<Box<dyn Policy>>>>,
}

/// The trigger that the settings choose, with its options.
#[derive(Clone, Debug)]
struct TriggerChoice {
    registry_entry: trigger::Entry,
    /// The options of the trigger that the settings set, as a JSON object.
    trigger_options: Value,
}

/// The key under `policy.trigger` with which rescheduling calls are skipped if the remaining supersteps cannot save as much time
/// as the call costs; it applies to all triggers.
const ONLY_IF_PAID_BACK_KEY: &str = "only_if_paid_back";

/// The key under `policy` that names the method by which a strategy forecasts the work of processes.
const FORECAST_KEY: &str = "forecast";

/// The key under `policy` that holds, under the name of each policy, the processor time of its decisions.
pub(super) const DECISION_KEY: &str = "decision";

/// The part of the name of a policy, as in `migbsp/paid-back`, that has the same effect as the key `only_if_paid_back`.
const PAID_BACK_SUFFIX: &str = "paid-back";

impl PolicyChoice {
    /// Reads the policy from the key `policy`, and checks that it can be created. `is_chosen` returns whether the user chose the
    /// value of a key of the experiment.
    ///
    /// # Errors
    /// A name is unknown, or a value is unreadable or out of range. All such problems are reported together.
    pub(super) fn from_settings(
        registry: &Registry,
        keys: &Map<String, Value>,
        is_chosen: &dyn Fn(&str) -> bool,
    ) -> Result<Self> {
        check_section_keys(
            keys,
            "policy",
            registry.policies(),
            &["trigger", FORECAST_KEY, DECISION_KEY],
        )?;
        let given = read_policy_name(keys)?;
        let (name, typed) = split_options_in_braces(given)?;
        let (value, parts) = split_policy_name(registry, &name);
        let entry = *registry.policies().find(parts[0])?;
        let mut edition = Map::new();
        let mut trigger = None;
        let mut is_paid_back = false;
        // A comparison may give one forecast to all policies; `never` forecasts nothing.
        let mut forecast = read_forecast(keys)?.filter(|_| entry.name != policy::NEVER);
        for part in &parts[1..] {
            if let Some(Value::Object(own)) = entry.variant_options(part) {
                edition.extend(own);
            } else if *part == PAID_BACK_SUFFIX {
                is_paid_back = true;
            } else if let Some(named) = Forecast::from_name(part) {
                forecast = Some(named);
            } else if is_trigger_name(registry, part) {
                trigger = Some(*part);
            } else {
                return Err(unknown_name_part_problem(registry, &entry, part).into());
            }
        }
        let mut options = keys.get(entry.name).cloned().unwrap_or_else(|| json!({}));
        if let Some(options) = options.as_object_mut() {
            edition.retain(|key, _| {
                let is_given = is_chosen(&format!("policy.{}.{key}", entry.name));
                !(options.contains_key(key) && is_given)
            });
            options.extend(edition);
            if let Some(value) = value {
                options.insert(entry.main_option_key().into(), value.trim().into());
            }
            options.extend(typed.clone());
        }
        let (trigger, key) =
            TriggerChoice::from_settings(registry, &entry, trigger, keys.get("trigger"))?;
        let choice = Self {
            registry_entry: entry,
            policy_options: options,
            trigger,
            skips_calls_not_paid_back: is_paid_back || key,
            forecast: forecast.unwrap_or_default(),
            checked_policy: Arc::default(),
        };
        let of_name = |error: Error| {
            let place = format!("policy.name {given}");
            error.map_problems(|one| {
                if typed.is_empty() {
                    one
                } else {
                    one.source(&place)
                }
            })
        };
        choice.keep_policy(choice.create_policy().map_err(of_name)?);
        Ok(choice)
    }

    /// Keeps a policy that has not been called, for the next scenario.
    pub(super) fn keep_policy(&self, policy: Box<dyn Policy>) {
        *self.kept_policy() = Some(policy);
    }

    fn kept_policy(&self) -> MutexGuard<'_, Option<Box<dyn Policy>>> {
        let policy = self.checked_policy.lock();
        policy.unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the policy for a run, with its trigger, or returns the one with which the options were checked.
    ///
    /// # Errors
    /// Options are out of range; reading the settings has already excluded this.
    pub(super) fn create_policy(&self) -> Result<Box<dyn Policy>> {
        if let Some(policy) = self.kept_policy().take() {
            return Ok(policy);
        }
        let policy = self.build_policy()?;
        let trigger = self
            .trigger
            .as_ref()
            .map(|choice| choice.registry_entry.build(&choice.trigger_options))
            .transpose()?;
        if trigger.is_none() && !self.skips_calls_not_paid_back {
            return Ok(policy);
        }
        Ok(Box::new(TriggeredPolicy::new(
            trigger,
            policy,
            self.skips_calls_not_paid_back,
        )))
    }

    /// Creates the policy for a run. The given trigger decides when the policy is called, instead of the trigger of the settings.
    ///
    /// # Errors
    /// As [`Self::create_policy`].
    pub(super) fn create_policy_with_trigger(
        &self,
        trigger: Box<dyn trigger::Trigger>,
    ) -> Result<Box<dyn Policy>> {
        let policy = self.build_policy()?;
        Ok(Box::new(TriggeredPolicy::new(Some(trigger), policy, false)))
    }

    /// Creates the policy without its trigger, or returns the one with which the options were checked, if it has none.
    pub(super) fn create_policy_without_trigger(&self) -> Result<Box<dyn Policy>> {
        if self.trigger.is_none() && !self.skips_calls_not_paid_back {
            return self.create_policy();
        }
        self.build_policy()
    }

    /// Creates the policy with its forecast, but without a trigger.
    fn build_policy(&self) -> Result<Box<dyn Policy>> {
        let policy = self.registry_entry.build(&self.policy_options)?;
        if self.forecast == Forecast::default() {
            return Ok(policy);
        }
        let planned = self
            .registry_entry
            .build_with_forecast(&self.policy_options, self.forecast)?;
        planned.ok_or_else(|| {
            let name = self.registry_entry.name;
            let forecast = self.forecast.name();
            let message = format!("the policy `{name}` cannot use the forecast `{forecast}`");
            let problem = Problem::new(message).key("policy.forecast");
            problem
                .hint("leave the forecast out, or choose a policy that is a strategy (`migsim list policies`)")
                .into()
        })
    }

    /// Returns the name of the policy with its variant, but without trigger and forecast, as `migsim decide` names it:
    /// `greedy/charm-8`. A strategy whose options are those of no variant has the part `/run`.
    ///
    /// # Errors
    /// As [`Self::create_policy`].
    pub(super) fn name_without_trigger(&self) -> Result<String> {
        let entry = &self.registry_entry;
        let own = entry.resolve(&self.policy_options)?;
        if !entry.is_strategy() || own == entry.resolve(&json!({}))? {
            return Ok(policy::name_with_program(entry.name, &own));
        }
        let is_own = |variant: &&str| {
            let options = entry.variant_options(variant).unwrap_or_default();
            entry.resolve(&options).is_ok_and(|options| options == own)
        };
        let variant = entry.variant_names().find(is_own).unwrap_or("run");
        Ok(format!("{}/{variant}", entry.name))
    }

    /// Lists the rules that the source of the policy leaves open and on whose interpretation results depend, each in a few words.
    ///
    /// # Errors
    /// As [`Self::create_policy`].
    pub(super) fn list_open_interpretations(&self) -> Result<Vec<String>> {
        self.registry_entry
            .interpretations_of_source(&self.policy_options)
    }

    /// Returns the value of the key `policy`, in which all options that the user did not set have their default values.
    ///
    /// # Errors
    /// As [`Self::create_policy`].
    pub(super) fn complete_policy_settings(&self) -> Result<Value> {
        let named = |name: &str, options| {
            Map::from_iter([("name".into(), name.into()), (name.into(), options)])
        };
        let mut resolved = named(
            self.registry_entry.name,
            self.registry_entry.resolve(&self.policy_options)?,
        );
        if self.forecast != Forecast::default() {
            resolved.insert(FORECAST_KEY.into(), self.forecast.name().into());
        }
        let mut trigger = Map::new();
        if let Some(choice) = &self.trigger {
            trigger = named(
                choice.registry_entry.name,
                choice.registry_entry.resolve(&choice.trigger_options)?,
            );
        }
        if self.skips_calls_not_paid_back {
            trigger.insert(ONLY_IF_PAID_BACK_KEY.into(), true.into());
        }
        if !trigger.is_empty() {
            resolved.insert("trigger".into(), trigger.into());
        }
        Ok(resolved.into())
    }
}

/// Edition of a strategy that repeats no other program.
const OWN_EDITION: &str = "ours";

/// Formats the policy, its trigger and its forecast, from the key `policy` of complete settings, as a label such as
/// `greedy/every=50/ewma`.
///
/// The label has the value of the main option of the trigger, and the edition of a strategy that repeats another program (`greedy/charm-8/menon`). It omits the default forecast
/// (`greedy/menon`), and the trigger of a policy that itself decides when it is called
/// (`migbsp`). It ends with `/paid-back` if calls are skipped that cost more time than the remaining supersteps can save.
pub fn policy_label(registry: &Registry, policy: &Value) -> String {
    let name = policy["name"].as_str().unwrap_or("?");
    let named = policy::name_with_program(name, &policy[name]);
    let edition = policy[name]["edition"].as_str();
    let edition = edition.filter(|edition| *edition != OWN_EDITION);
    let trigger = policy["trigger"]["name"].as_str();
    let trigger = trigger.map(|name| {
        let entry = registry.triggers().find(name);
        let main = entry.map_or("", |entry| entry.main_option_key());
        match &policy["trigger"][name][main] {
            Value::Null => name.to_owned(),
            value => format!("{name}={value}"),
        }
    });
    let is_paid_back = policy["trigger"][ONLY_IF_PAID_BACK_KEY] == true;
    let parts = edition
        .into_iter()
        .chain(trigger.as_deref())
        .chain(policy[FORECAST_KEY].as_str())
        .chain(is_paid_back.then_some(PAID_BACK_SUFFIX));
    std::iter::once(&*named)
        .chain(parts)
        .collect::<Vec<_>>()
        .join("/")
}

/// Reads the name of the policy, with its parts, from the key `policy.name`; the default policy if the key is absent.
fn read_policy_name(keys: &Map<String, Value>) -> Result<&str, Problem> {
    match keys.get("name") {
        None => Ok(policy::DEFAULT_POLICY),
        Some(Value::String(name)) => Ok(name),
        Some(_) => {
            let problem = Problem::new("the name of the policy is not a text");
            let hint =
                "write a name in double quotes, such as `\"migbsp\"` (`migsim list policies`)";
            Err(problem.key("policy.name").hint(hint))
        }
    }
}

/// Returns the keys of the options in the braces of the name of a policy; none if the braces cannot be read.
pub fn options_in_name(name: &str) -> Vec<String> {
    let (_, options) = split_options_in_braces(name).unwrap_or_default();
    options.into_iter().map(|(key, _)| key).collect()
}

/// Returns the name of a policy with further options in its braces, which override those that are there.
///
/// # Errors
/// The braces cannot be read.
pub fn name_with_options(
    given: &str,
    more: impl IntoIterator<Item = (String, Value)>,
) -> Result<String> {
    let (name, mut options) = split_options_in_braces(given)?;
    options.extend(more);
    let options = options.iter();
    let options: Vec<String> = options
        .map(|(key, value)| format!("{key}={}", format_typed_value(value)))
        .collect();
    Ok(if options.is_empty() {
        name.into_owned()
    } else {
        format!("{name}{{{}}}", options.join(","))
    })
}

/// Splits the options in braces off the name of a policy, as in `migbsp{x=0.5}/paid-back`. Returns the name without them, and the
/// options. Braces elsewhere than at the end of the name or before a slash belong to the name.
///
/// # Errors
/// A brace is not closed, an option has no value, or an option is given twice.
pub fn split_options_in_braces(given: &str) -> Result<(Cow<'_, str>, Map<String, Value>)> {
    let place = given.rfind('{').and_then(|start| {
        let end = start + given[start..].find('}')?;
        let rest = given[end + 1..].trim();
        (rest.is_empty() || rest.starts_with('/')).then_some((start, end, rest))
    });
    let wrong = |message: String| {
        let hint = "write options in braces behind the name: `migbsp{x=0.5,own_cluster=within}`";
        let key = format!("policy.name {given}");
        Err(Error::from(Problem::new(message).key(key).hint(hint)))
    };
    let Some((start, end, rest)) = place else {
        // A command, which follows a colon, may have any braces.
        return match given.split_once('{') {
            Some((name, options)) if !name.contains(':') && !options.contains('}') => {
                wrong(format!("`{given}` has no closing brace `}}`"))
            }
            _ => Ok((given.into(), Map::new())),
        };
    };
    let mut options = Map::new();
    for part in split_at_commas(&given[start + 1..end]) {
        let Some((key, value)) = part.split_once('=') else {
            let part = part.trim();
            return wrong(format!("`{part}` is not of the form OPTION=VALUE"));
        };
        let key = key.trim();
        let before = options.insert(key.into(), parse_typed_value(value.trim()));
        if before.is_some() {
            return wrong(format!("`{key}` is given twice"));
        }
    }
    Ok((format!("{}{rest}", given[..start].trim()).into(), options))
}

/// Splits the name of a policy into the value of its main option behind a colon (`./mylb` of `exec:./mylb`; `None` if there is
/// none) and the parts of the name: first the name of the entry in the registry, then the parts after slashes.
fn split_policy_name<'a>(registry: &Registry, name: &'a str) -> (Option<&'a str>, Vec<&'a str>) {
    let has_main_option = |(name, _): &(&str, &str)| {
        let entry = registry.policies().find(name);
        entry.is_ok_and(|entry| !entry.main_option_key().is_empty())
    };
    let Some((name, mut value)) = name.split_once(':').filter(has_main_option) else {
        return (None, name.split('/').map(str::trim).collect());
    };
    let mut parts = vec![name];
    // The last parts of the value, after slashes, may be a trigger and `paid-back`.
    while let Some((rest, part)) = value.rsplit_once('/') {
        if !is_trigger_name(registry, part) && part.trim() != PAID_BACK_SUFFIX {
            break;
        }
        value = rest;
        parts.insert(1, part.trim());
    }
    (Some(value), parts)
}

fn is_trigger_name(registry: &Registry, part: &str) -> bool {
    registry.triggers().find(name_without_values(part)).is_ok()
}

fn unknown_name_part_problem(registry: &Registry, entry: &policy::Entry, part: &str) -> Problem {
    let known = entry
        .variant_names()
        .chain([PAID_BACK_SUFFIX])
        .chain(Forecast::ALL.map(Forecast::name));
    Problem::unknown_name("edition, trigger or forecast", name_without_values(part))
        .key("policy.name")
        .with_known_names(
            "editions, triggers and forecasts",
            known.chain(registry.triggers().names()),
        )
}

/// Reads the forecast from the key `policy.forecast`; `None` if the key is absent.
fn read_forecast(keys: &Map<String, Value>) -> Result<Option<Forecast>> {
    let Some(key) = keys.get(FORECAST_KEY).filter(|key| !key.is_null()) else {
        return Ok(None);
    };
    key.as_str()
        .and_then(Forecast::from_name)
        .map(Some)
        .ok_or_else(|| {
            let named = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
            Problem::unknown_name("forecast", &named)
                .key("policy.forecast")
                .with_known_names("forecasts", Forecast::ALL.map(Forecast::name))
                .into()
        })
}

/// Reads the processor time of the decisions of each policy, and returns the text and the formula for the policy `name`; `None` if
/// the settings state none.
///
/// # Errors
/// A policy is unknown, or a formula cannot be read.
pub(super) fn read_decision_cost(
    registry: &Registry,
    keys: &Map<String, Value>,
    name: &str,
) -> Result<Option<(Value, DecisionCost)>> {
    let mut own = None;
    for (policy, text) in keys
        .get(DECISION_KEY)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let key = format!("policy.{DECISION_KEY}.{policy}");
        registry.policies().find(policy).map_err(|error| {
            error.map_problems_without_location(|problem| problem.key(key.clone()))
        })?;
        let formula = text.as_str().ok_or_else(|| format!("{text} is no text"));
        let cost = formula.and_then(str::parse).map_err(|what| {
            let hint = "write a sum of times or instructions multiplied by variables, such as `1 ms + 0.64 us * P`";
            Problem::new(format!("the cost of a decision cannot be read: {what}")).key(key).hint(hint)
        })?;
        if policy == name {
            own = Some((text.clone(), cost));
        }
    }
    Ok(own)
}

/// Returns the name at the beginning of one part of a policy's name, without the values after the name: `every` for `every=50`.
fn name_without_values(part: &str) -> &str {
    part.split(['=', ',']).next().unwrap_or(part).trim()
}

impl TriggerChoice {
    /// Reads the trigger that is a part of the policy's name; if the name contains none, reads the trigger of the key
    /// `policy.trigger`.
    ///
    /// The first value is `None` if the policy itself decides when it is called. The second value states whether a rescheduling
    /// call is skipped if it costs more time than the remaining supersteps can save.
    fn from_settings(
        registry: &Registry,
        entry: &policy::Entry,
        named: Option<&str>,
        key: Option<&Value>,
    ) -> Result<(Option<Self>, bool)> {
        let mut keys = match key {
            Some(Value::Object(keys)) => keys.clone(),
            None | Some(Value::Null | Value::String(_)) => Map::new(),
            Some(_) => {
                let hint = "write \"every\", \"every=50\" or { \"name\": \"every\", \"every\": { \"supersteps\": 50 } }";
                return Err(Problem::new("the trigger is neither a name nor an object")
                    .key("policy.trigger")
                    .hint(hint)
                    .into());
            }
        };
        let own = [ONLY_IF_PAID_BACK_KEY];
        check_section_keys(&keys, "policy.trigger", registry.triggers(), &own)?;
        let mut is_paid_back = read_only_if_paid_back(keys.remove(ONLY_IF_PAID_BACK_KEY))?;
        // A comparison may give one trigger to all policies; the baseline `never` then still pays for no call.
        if named.is_none() && entry.name == policy::NEVER {
            return Ok((None, false));
        }
        let (name, mut options) = match (named, key.and_then(Value::as_str)) {
            (Some(text), _) => parse_trigger(registry, text, "policy.name")?,
            (None, Some(text)) => parse_trigger(registry, text, "policy.trigger")?,
            (None, None) if keys.is_empty() && !entry.needs_trigger() => {
                return Ok((None, is_paid_back));
            }
            (None, None) => parse_trigger(registry, trigger_name(&keys), "policy.trigger.name")?,
        };
        let registry_entry = *registry.triggers().find(name)?;
        is_paid_back |= read_only_if_paid_back(options.remove(ONLY_IF_PAID_BACK_KEY))?;
        let below = keys.get(registry_entry.name);
        let mut trigger_options = below.cloned().unwrap_or_else(|| json!({}));
        // Options that are no object are reported when they are read.
        if let Some(below) = trigger_options.as_object_mut() {
            below.extend(options);
        }
        let choice = Self {
            registry_entry,
            trigger_options,
        };
        Ok((Some(choice), is_paid_back))
    }
}

/// Parses a trigger from a text: its name, then `=value` for its main option, and `,key=value` for each other option. Returns its
/// name and its options, which may have the key `only_if_paid_back`.
fn parse_trigger<'t>(
    registry: &Registry,
    text: &'t str,
    key: &str,
) -> Result<(&'t str, Map<String, Value>)> {
    let refuse =
        |message: String, hint: &str| Err(Error::from(Problem::new(message).key(key).hint(hint)));
    let mut parts = text.split(',').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let (name, value) = first.split_once('=').unwrap_or((first, ""));
    let name = name.trim();
    let main = registry.triggers().find(name)?.main_option_key();
    let mut options = Map::new();
    if first.contains('=') {
        if main.is_empty() {
            return refuse(
                format!("the trigger `{name}` takes no value after `=`"),
                "write the options of this trigger after a comma: `TRIGGER,KEY=VALUE`",
            );
        }
        options.insert(main.to_owned(), parse_typed_value(value.trim()));
    }
    for part in parts {
        let Some((option, value)) = part.split_once('=') else {
            return refuse(
                format!("`{part}` is not of the form KEY=VALUE"),
                "separate the options of a trigger by commas, each with its value: `every,supersteps=50`",
            );
        };
        let option = option.trim();
        let before = options.insert(option.to_owned(), parse_typed_value(value.trim()));
        if before.is_some() {
            return refuse(
                format!("`{option}` is given twice"),
                "remove one of the two values",
            );
        }
    }
    Ok((name, options))
}

/// Returns the name of the trigger from the keys under `policy.trigger`: the value of the key `name`, or, without this key, the
/// only trigger whose options are set.
fn trigger_name(keys: &Map<String, Value>) -> &str {
    let mut others = keys.keys().filter(|key| *key != "name");
    match (
        keys.get("name").and_then(Value::as_str),
        others.next(),
        others.next(),
    ) {
        (Some(name), ..) => name,
        (None, Some(only), None) => only,
        _ => trigger::DEFAULT_TRIGGER,
    }
}

/// Checks that each key of a section of the settings is `name`, a key in `own`, or the name of an entry of `table`.
///
/// # Errors
/// A key of the section is not one of these keys.
fn check_section_keys<K>(
    keys: &Map<String, Value>,
    section: &str,
    table: &PluginTable<K>,
    own: &[&'static str],
) -> Result<(), Problem> {
    let is_known = |key: &str| key == "name" || own.contains(&key) || table.find(key).is_ok();
    match keys.keys().find(|key| !is_known(key)) {
        None => Ok(()),
        Some(key) => Err(Problem::unknown_name("key", key)
            .key(format!("{section}.{key}"))
            .with_known_names(
                "keys",
                table.names().chain(own.iter().copied().chain(["name"])),
            )),
    }
}

/// Reads the value of the key `only_if_paid_back`, which must be true or false; false if it is absent.
fn read_only_if_paid_back(value: Option<Value>) -> Result<bool> {
    let Some(value) = value else { return Ok(false) };
    value.as_bool().ok_or_else(|| {
        Problem::new(format!("{value} is neither true nor false"))
            .key(format!("policy.trigger.{ONLY_IF_PAID_BACK_KEY}"))
            .hint("write `true` or `false`")
            .into()
    })
}

#[cfg(test)]
mod tests;
