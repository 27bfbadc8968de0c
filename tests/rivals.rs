//! The study of rivals: its cases can be run, and the committed table is what runs give.

use migsim::Registry;
use migsim::experiment::{Experiment, Layers, Limits, Progress};
use serde_json::Value;

/// A case of the study, with a policy.
fn experiment(case: &Value, policy: &str) -> Experiment {
    let settings = case["settings"].as_object().expect("settings");
    let settings = settings
        .iter()
        .map(|(key, value)| (key.as_str(), value.clone()));
    let settings = settings.chain([("policy.name", policy.into())]);
    let layers = Layers::of(settings.collect::<Vec<_>>());
    Experiment::load_with(&Registry::standard(), &layers, Limits::default()).expect(policy)
}

fn cases() -> Value {
    serde_json::from_str(include_str!("../crates/papers/src/rivals/cases.json"))
        .expect("the cases are JSON")
}

#[test]
fn every_case_loads_with_every_policy_and_trigger() {
    let cases = cases();
    let names = [&cases["policies"], &cases["triggers"]];
    let names: Vec<&str> = names
        .iter()
        .flat_map(|names| names.as_str().unwrap().split(','))
        .collect();
    let first = &cases["cases"][0];
    for name in &names {
        experiment(first, name);
    }
    for case in cases["cases"].as_array().unwrap() {
        experiment(case, "never");
    }
}

#[test]
fn the_committed_rows_are_what_runs_give() {
    let cases = cases();
    let table = include_str!("../results/rivals.csv");
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    for (name, policy) in [
        ("lu-1000-25", "migbsp"),
        ("lu-1000-25", "refine"),
        ("sw", "greedy-refine"),
        ("slow-host", "prefix"),
    ] {
        let row = rows
            .iter()
            .find(|row| (&row[0], &row[1], &row[2]) == (name, "policy", policy))
            .unwrap();
        let cases = cases["cases"].as_array().unwrap();
        let case = cases.iter().find(|case| case["name"] == name).unwrap();
        let experiment = experiment(case, policy);
        let results = experiment.run(&Progress::default()).unwrap();
        let last = &results.runs.last().unwrap().outcome;
        assert_eq!(row[4], last.makespan.get().to_string(), "{name}, {policy}");
        assert_eq!(row[9], last.calls.len().to_string(), "{name}, {policy}");
        assert!(experiment.lower_bound().get() <= last.makespan.get());
    }
}
