//! Creates an HTML table of settings with one row per key. The keys are written in the same form as in `--set` and in sweeps.

use serde_json::Value;

use super::{escape_html, sentence_html};

/// Maximum number of values of a list that are shown one by one; the remaining values are only counted.
const MAX_LISTED_VALUES: usize = 32;

/// Creates an HTML table with all keys of `settings` and their values, which the reader of the page can unfold; `summary` is the
/// heading that is always visible.
pub fn settings_table(summary: &str, settings: &Value) -> String {
    let mut rows = Vec::new();
    flatten_settings("", settings, &mut rows);
    let mut html = format!(
        "<details>\n<summary>{}</summary>\n<div class=\"wide\"><table class=\"sortable\" data-name=\"keys\">\n<thead><tr><th scope=\"col\" class=\"words\">key</th><th scope=\"col\" class=\"words\">value</th></tr></thead>\n<tbody>\n",
        sentence_html(summary)
    );
    for (key, value) in rows {
        put!(
            html,
            "<tr><th scope=\"row\">{}</th><td class=\"words long\">{}</td></tr>\n",
            escape_html(&key),
            escape_html(&value)
        );
    }
    html.push_str("</tbody>\n</table></div>\n</details>\n");
    html
}

fn flatten_settings(key: &str, value: &Value, rows: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                let key = if key.is_empty() {
                    name.clone()
                } else {
                    format!("{key}.{name}")
                };
                flatten_settings(&key, value, rows);
            }
        }
        Value::Array(list) if list.iter().any(|one| one.is_object() || one.is_array()) => {
            for (at, value) in list.iter().enumerate().take(MAX_LISTED_VALUES) {
                flatten_settings(&format!("{key}[{at}]"), value, rows);
            }
            if list.len() > MAX_LISTED_VALUES {
                let more = list.len() - MAX_LISTED_VALUES;
                rows.push((key.to_owned(), format!("and {more} more")));
            }
        }
        value => rows.push((key.to_owned(), format_setting_value(value))),
    }
}

fn format_setting_value(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let mut text = list
                .iter()
                .take(MAX_LISTED_VALUES)
                .map(format_setting_value)
                .collect::<Vec<_>>()
                .join(", ");
            if list.len() > MAX_LISTED_VALUES {
                put!(text, " and {} more", list.len() - MAX_LISTED_VALUES);
            }
            text
        }
        Value::Object(_) => "{}".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_named_as_flags_name_them() {
        let html = settings_table(
            "All",
            &json!({ "a": { "b": 1, "c": [1, 2] }, "load": [{ "step": 0.1 }, { "on": "<x>" }], "no": null }),
        );
        for (key, value) in [
            ("a.b", "1"),
            ("a.c", "1, 2"),
            ("load[0].step", "0.1"),
            ("load[1].on", "&lt;x&gt;"),
            ("no", "none"),
        ] {
            let row = format!("<th scope=\"row\">{key}</th><td class=\"words long\">{value}</td>");
            assert!(html.contains(&row), "{row}: {html}");
        }
        assert!(!html.contains('{'));
    }
}
