//! The table of the kinds of background load, one row each. Help texts, listings, schemas and error messages are generated from
//! this table.
//!
//! To add a kind, write a file beside this one with the type of its parameters, their defaults and an implementation of
//! [`super::Load`], and add a row in [`standard`].

use super::entry::{Table, load_entry};
use super::{ArConfig, ConstantConfig, DailyConfig, FileConfig, OnOffConfig, WalkConfig};

/// Returns the table of the kinds of load that are part of the program.
pub fn standard() -> Table {
    let rows = vec![
        load_entry::<ArConfig>(
            "ar",
            "an autoregressive process with long memory, like measured loads of hosts",
            "Dinda, The statistical properties of host load, 1999; Granger 1980",
        ),
        load_entry::<ConstantConfig>("constant", "a constant load", "-"),
        load_entry::<DailyConfig>("daily", "a daily cycle", "-"),
        load_entry::<FileConfig>(
            "file",
            "a measured load from a file: a SimGrid profile, or CSV",
            "-",
        ),
        load_entry::<OnOffConfig>(
            "on-off",
            "switched on and off at random times, like other users that come and go",
            "-",
        ),
        load_entry::<WalkConfig>("walk", "a random walk between two bounds", "-"),
    ];
    Table::new(["load", "loads", "kind"], rows)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use migsim_base::error::Error;

    fn keys(name: &str, keys: &Value) -> Vec<String> {
        match standard().find(name).unwrap().create_load(keys) {
            Err(Error::Input(problems)) => problems
                .into_iter()
                .map(|problem| problem.location.key.unwrap_or_default())
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn names_are_sorted_and_unique() {
        assert!(standard().names().is_sorted());
    }

    #[test]
    fn an_unknown_kind_lists_the_known_ones() {
        let error = standard().find("wlak").unwrap_err().to_string();
        assert!(
            error.contains("known loads: ar, constant, daily, file, on-off, walk"),
            "{error}"
        );
    }

    #[test]
    fn every_parameter_is_described_and_has_a_default_unless_it_must_be_given() {
        for entry in &standard() {
            let parameters = entry.parameters();
            assert!(!parameters.is_empty(), "{}", entry.name);
            for parameter in parameters {
                assert!(!parameter.description.is_empty(), "{parameter:?}");
                assert!(
                    parameter.default.is_some() || entry.name == "file",
                    "{parameter:?}"
                );
            }
        }
    }

    #[test]
    fn parameters_out_of_range_are_named_together() {
        assert_eq!(keys("constant", &json!({ "load": 1.0 })), ["load"]);
        let wrong = json!({ "period": "0 s", "step": -1, "most": 2 });
        assert_eq!(keys("walk", &wrong), ["period", "step", "most"]);
        assert_eq!(keys("walk", &json!({ "least": 0.8 })), ["most"]);
        let wrong = json!({ "busy": "0.5 s", "idle": "2e9 s" });
        assert_eq!(keys("on-off", &wrong), ["busy", "idle"]);
        let wrong = json!({ "mean": -0.1, "deviation": 2, "hurst": 0.4, "memory": "0.1 s" });
        assert_eq!(keys("ar", &wrong), ["mean", "deviation", "hurst", "memory"]);
        let wrong = json!({ "day": "1 h", "period": "2 h", "amplitude": 1 });
        assert_eq!(
            keys("daily", &wrong),
            ["period", "amplitude", "peak", "start"]
        );
        assert_eq!(keys("walk", &json!({ "men": 0.3 })), ["men"]);
        assert_eq!(keys("walk", &json!({ "period": 10 })), ["period"]);
    }
}
