//! One line about the costs of messages, moves and decisions on processors that an experiment contains.

use serde_json::Value;

use migsim_policies as policy;

/// Keys of the processor time of messages, moves and decisions in an experiment.
const GROUPS: [(&str, &[&str]); 3] = [
    (
        "messages",
        &[
            "network.overhead",
            "network.loopback_overhead",
            "network.o_send",
            "network.o_receive",
            "network.loopback_o_send",
            "network.loopback_o_receive",
        ],
    ),
    (
        "moves",
        &["costs.move.pack", "costs.move.unpack", "costs.move.fixed"],
    ),
    ("decisions", &["policy.decision"]),
];

/// Describes from which source experiments take the processor time of messages, moves and decisions; `None` if their settings
/// were fitted to the platform. `all` has the settings of at least one experiment; they may differ in the policy.
pub fn describe_prices<'a>(all: impl IntoIterator<Item = &'a Value>) -> Option<String> {
    let all: Vec<&Value> = all.into_iter().collect();
    let first = *all.first()?;
    if first["basis"]["is_calibrated"] == true {
        return None;
    }
    let text = GROUPS.map(|(group, keys)| match group {
        "decisions" => format!("{group} {}", sources_of_decisions(&all, group, keys)),
        _ => format!("{group} {}", source(first, group, keys)),
    });
    Some(text.join(", "))
}

/// Describes from which sources experiments take the prices of decisions, with the policies of each if there are several.
fn sources_of_decisions(all: &[&Value], group: &str, keys: &[&str]) -> String {
    let mut sources: Vec<(String, Vec<&str>)> = Vec::new();
    for settings in all {
        let policy = settings["policy"]["name"].as_str().unwrap_or_default();
        if policy == policy::NEVER {
            continue; // without calls nothing is decided
        }
        let own = source(settings, group, keys);
        match sources.iter_mut().find(|(source, _)| *source == own) {
            Some((_, policies)) if policies.contains(&policy) => {}
            Some((_, policies)) => policies.push(policy),
            None => sources.push((own, vec![policy])),
        }
    }
    match &sources[..] {
        [] => "none".to_owned(),
        [(source, _)] => source.clone(),
        several => several
            .iter()
            .map(|(source, policies)| format!("{source} ({})", policies.join(", ")))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Describes from which source an experiment takes the prices of a group with these keys.
fn source(settings: &Value, group: &str, keys: &[&str]) -> String {
    let value = |key: &&str| settings.pointer(&format!("/{}", key.replace('.', "/")));
    let is_of_library = |key: &String| settings["origins"].get(key).is_some();
    let is_guessed = matches!(
        settings["costs"]["call"]["model"].as_str(),
        None | Some("messages")
    );
    let set = keys.iter().flat_map(|key| match value(key) {
        None | Some(Value::Null) => vec![],
        Some(Value::Object(of)) => of.keys().map(|name| format!("{key}.{name}")).collect(),
        Some(value) if value == "0 s" => vec![],
        Some(_) => vec![(*key).to_owned()],
    });
    let (known, own): (Vec<_>, Vec<_>) = set.partition(is_of_library);
    match settings["library"].as_str().filter(|_| !known.is_empty()) {
        Some(library) if own.is_empty() => format!("of library {library}"),
        Some(library) => format!("of library {library} and as set"),
        None if !known.is_empty() || !own.is_empty() => "as set".to_owned(),
        None if group == "decisions" && is_guessed => "guessed".to_owned(),
        None => "none".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_price_has_its_source() {
        let of = |settings: Value| describe_prices([&settings]).unwrap();
        assert_eq!(
            of(json!({})),
            "messages none, moves none, decisions guessed"
        );
        let charm = json!({
            "library": "charm",
            "network": { "o_send": "26 us" },
            "costs": { "move": { "pack": "65 us", "fixed": "0 s" } },
            "policy": { "decision": { "greedy": "0.64 us * P" } },
            "origins": { "network.o_send": "fitted: x", "policy.decision.greedy": "fitted: x" },
        });
        let expected = "messages of library charm, moves as set, decisions of library charm";
        assert_eq!(of(charm.clone()), expected);
        let mut own = charm;
        own["policy"]["decision"]["refine"] = json!("1 us * P");
        assert_eq!(of(own), expected.to_owned() + " and as set");
        let fitted = json!({ "basis": { "experiment": "lu", "is_calibrated": true } });
        assert_eq!(describe_prices([&fitted]), None);
        let of_policy = |name: &str, library: Value| {
            let policy = json!({ "name": name, "decision": { name: "1 us * P" } });
            json!({ "policy": policy, "library": library, "origins": { format!("policy.decision.{name}"): "x" } })
        };
        let [never, refine] = ["never", "refine"].map(|name| json!({ "policy": { "name": name } }));
        let greedy = of_policy("greedy", json!("mine"));
        assert_eq!(
            describe_prices([&never, &greedy, &refine]).unwrap(),
            "messages none, moves none, decisions of library mine (greedy), guessed (refine)"
        );
        assert_eq!(
            describe_prices([&never, &greedy]).unwrap(),
            "messages none, moves none, decisions of library mine"
        );
        assert!(of(never).ends_with("decisions none"));
        let free = json!({ "costs": { "call": { "model": "none" } } });
        assert_eq!(of(free), "messages none, moves none, decisions none");
    }
}
