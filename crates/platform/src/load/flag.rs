//! The flag `--load ar,mean=0.3,on=Aquario+ICE`: a kind of load and its parameters. A repeated flag adds further loads.

use serde_json::{Map, Value, json};

use migsim_base::document::parse_typed_value;

/// Converts the values of the flags `--load` into the key `load` of an experiment: an object for one load, a list for several,
/// null for `none`.
///
/// ```
/// use serde_json::json;
/// let load = migsim_platform::load::from_flag(&["ar,mean=0.3,period=5 s".into()])?;
/// assert_eq!(load, json!({ "kind": "ar", "mean": 0.3, "period": "5 s" }));
/// assert_eq!(migsim_platform::load::from_flag(&["none".into()])?, json!(null));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Returns a message if a part of a flag is not of the form `KEY=VALUE`.
pub fn from_flag(texts: &[String]) -> Result<Value, String> {
    let loads: Vec<Value> = texts
        .iter()
        .filter(|text| text.trim() != "none")
        .map(|text| parse_flag(text))
        .collect::<Result<_, _>>()?;
    Ok(match &loads[..] {
        [] => Value::Null,
        [load] => load.clone(),
        _ => Value::Array(loads),
    })
}

fn parse_flag(text: &str) -> Result<Value, String> {
    let mut parts = text.split(',').map(str::trim);
    let mut load = Map::new();
    load.insert("kind".into(), json!(parts.next().unwrap_or_default()));
    for part in parts {
        let Some((key, value)) = part.split_once('=') else {
            return Err(format!("`{part}` is not of the form KEY=VALUE"));
        };
        let key = key.trim();
        let value = value.trim();
        let value = if key == "on" && value.contains('+') {
            value.split('+').map(str::trim).collect()
        } else {
            // The value of a key that names something is text, even if it looks like a number.
            let is_name = key == "on" || key == "file";
            match parse_typed_value(value) {
                read if read.is_string() || !is_name => read,
                _ => json!(value),
            }
        };
        if load.insert(key.into(), value).is_some() {
            return Err(format!("`{key}` is given twice"));
        }
    }
    Ok(Value::Object(load))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_its_keys_and_its_places_are_read() {
        let flags = [
            "walk".to_owned(),
            "file, file=a.csv, shift=true, on=A + B".into(),
        ];
        let expected = json!([
            { "kind": "walk" },
            { "kind": "file", "file": "a.csv", "shift": true, "on": ["A", "B"] },
        ]);
        assert_eq!(from_flag(&flags), Ok(expected));
    }

    #[test]
    fn places_and_files_may_have_numbers_for_names() {
        let expected = json!({ "kind": "file", "file": "5", "on": "1", "most": 0.5 });
        let flag = "file,file=5,on=1,most=0.5".to_owned();
        assert_eq!(from_flag(&[flag]), Ok(expected));
    }

    #[test]
    fn what_is_not_a_key_is_refused() {
        assert!(from_flag(&["walk,0.3".into()]).is_err());
        assert!(from_flag(&["walk,step=1,step=2".into()]).is_err());
        assert!(from_flag(&["walk,kind=ar".into()]).is_err());
    }
}
