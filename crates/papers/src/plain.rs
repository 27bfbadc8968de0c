//! Formats JSON values and published decisions in plain words, for pages and terminals.

use serde_json::Value;

/// Maximum length of a list whose values are all printed.
const MAX_LIST_LENGTH: usize = 12;

/// Formats a JSON value in words: numbers with at most four decimals, lists with commas, and lists of lists with semicolons.
pub(super) fn json_value_text(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Number(number) if number.is_f64() => {
            decimal_text(number.as_f64().unwrap_or_default())
        }
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".into(),
        Value::Array(items) => {
            let is_flat = |item: &Value| !item.is_array() && !item.is_object();
            let separator = if items.iter().all(is_flat) {
                ", "
            } else {
                "; "
            };
            join_shortened_list(items.iter().map(self::json_value_text).collect(), separator)
        }
        Value::Object(map) => {
            let named = |(key, item): (&String, &Value)| {
                format!("{} {}", key.replace('_', " "), self::json_value_text(item))
            };
            join_shortened_list(map.iter().map(named).collect(), "; ")
        }
    }
}

/// Formats a number with at most four decimals. Very small and very large numbers have four significant digits and an exponent.
fn decimal_text(number: f64) -> String {
    if number == 0.0 || (1e-3..1e9).contains(&number.abs()) {
        let text = format!("{number:.4}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    format!("{number:.3e}")
}

fn join_shortened_list(mut items: Vec<String>, separator: &str) -> String {
    let count = items.len();
    if count > MAX_LIST_LENGTH {
        items.drain(MAX_LIST_LENGTH / 2..count - 1);
        items.insert(MAX_LIST_LENGTH / 2, "...".into());
        return format!("{} ({count} values)", items.join(separator));
    }
    items.join(separator)
}

/// Describes a published decision in a few words: its superstep, kind, processes, origin and destination.
pub(super) fn describe_published_decision(published: &Value) -> String {
    let word = |key: &str| match &published[key] {
        Value::Null => None,
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) => {
            let names: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            Some(names.join(" "))
        }
        Value::Object(places) => {
            let places = places
                .iter()
                .map(|(key, place)| format!("{key} {}", json_value_text(place)));
            Some(places.collect::<Vec<_>>().join(", "))
        }
        Value::Number(number) => Some(number.to_string()),
        other => Some(json_value_text(other)),
    };
    let mut parts = vec![
        word("superstep").unwrap_or_else(|| "?".into()),
        word("kind").unwrap_or_default().replace('_', " "),
    ];
    parts.extend(word("count").map(|count| format!("of {count}")));
    parts.extend(word("processes"));
    parts.extend(word("from").map(|from| format!("from {from}")));
    parts.extend(word("to").map(|to| format!("to {to}")));
    parts.extend(word("candidates").map(|candidates| format!("({candidates} candidates)")));
    parts.extend(word("date_s").map(|date| format!("(at {date} s)")));
    parts.join(" ")
}

/// Describes the rescheduling calls of the simulated runs with which a decision is compared. The runs are separated by vertical
/// bars.
pub(super) fn describe_simulated_calls(runs: &Value) -> String {
    let Some(runs) = runs.as_array() else {
        return json_value_text(runs);
    };
    let of_run = |run: &Value| match run.as_array() {
        Some(calls) if calls.is_empty() => "no call there".into(),
        Some(calls) => {
            let calls: Vec<String> = calls.iter().map(json_value_text).collect();
            calls.join("; ")
        }
        None => json_value_text(run),
    };
    let runs: Vec<String> = runs.iter().map(of_run).collect();
    runs.join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_words_and_not_json() {
        let nested = json!({ "static_percent": 1.269_352, "all": [[1, 2.5], [true, null]] });
        assert_eq!(
            json_value_text(&nested),
            "static percent 1.2694; all 1, 2.5; yes, none"
        );
        assert_eq!(
            json_value_text(&json!([1e-14, 0.0, 3e10])),
            "1.000e-14, 0, 3.000e10"
        );
        let long: Vec<u32> = (1..=20).collect();
        assert_eq!(
            json_value_text(&json!(long)),
            "1, 2, 3, 4, 5, 6, ..., 20 (20 values)"
        );
    }

    #[test]
    fn a_decision_names_its_places() {
        let told = json!({ "superstep": 22, "kind": "not_viable", "processes": ["p1", "p2"], "from": { "A": 11, "B": 1 }, "to": "E", "date_s": 25.0 });
        assert_eq!(
            describe_published_decision(&told),
            "22 not viable p1 p2 from A 11, B 1 to E (at 25.0 s)"
        );
        assert_eq!(
            describe_simulated_calls(&json!([["4: none moves"], []])),
            "4: none moves | no call there"
        );
    }
}
