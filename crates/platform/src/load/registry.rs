//! The table of the kinds of background load, one row each. Help texts, listings, schemas and error messages are generated from
//! this table.
//!
//! To add a kind, write a file beside this one with the type of its parameters, their defaults and an implementation of
//! [`super::Load`], and add a row in [`standard`].

use super::{
    ArConfig, ConstantConfig, DailyConfig, FileConfig, OnOffConfig, WalkConfig,
    entry::{Table, load_entry},
};

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

    use super::*;

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
}
