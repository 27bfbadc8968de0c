//! One line about the costs of messages, moves and decisions on processors that an experiment contains.

use serde_json::Value;

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

/// Describes from which source the settings of an experiment take the costs of messages, moves and decisions; `None` if the
/// settings were fitted to the platform.
pub fn describe_prices(settings: &Value) -> Option<String> {
    if settings["basis"]["is_calibrated"] == true {
        return None;
    }
    let value = |key: &str| settings.pointer(&format!("/{}", key.replace('.', "/")));
    let is_set = |key: &&&str| value(key).is_some_and(|value| !value.is_null() && value != "0 s");
    let origins = settings["origins"].as_object();
    let text = GROUPS.map(|(group, keys)| {
        let is_guessed = matches!(
            settings["costs"]["call"]["model"].as_str(),
            None | Some("messages")
        );
        let source = match (keys.iter().find(is_set), settings["library"].as_str()) {
            (Some(key), Some(library))
                if origins.is_some_and(|all| all.keys().any(|own| own.starts_with(key))) =>
            {
                format!("of library {library}")
            }
            (Some(_), _) => "as set".to_owned(),
            (None, _) if group == "decisions" && is_guessed => "guessed".to_owned(),
            (None, _) => "none".to_owned(),
        };
        format!("{group} {source}")
    });
    Some(text.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_price_has_its_source() {
        let of = |settings: Value| describe_prices(&settings).unwrap();
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
        assert_eq!(of(charm), expected);
        let fitted = json!({ "basis": { "experiment": "lu", "is_calibrated": true } });
        assert_eq!(describe_prices(&fitted), None);
        let free = json!({ "costs": { "call": { "model": "none" } } });
        assert_eq!(of(free), "messages none, moves none, decisions none");
    }
}
