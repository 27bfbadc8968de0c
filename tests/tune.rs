//! Searches as a user meets them: the same for any number of threads, continued where they were, judged on seeds they have not seen.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn migsim(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_migsim"))
        .args(arguments)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    output
}

/// A search of 120 runs with 4 seeds, and a comparison on 6 others.
const TUNE: &[&str] = &[
    "tune",
    "--platform",
    "ufrgs",
    "--app",
    "synthetic",
    "--procs",
    "10",
    "--set",
    "workload.spread=0.5",
    "--seeds",
    "1..4",
    "--fresh",
    "11..16",
    "--budget",
    "120",
    "--out",
];

fn tuned(folder: &Path, more: &[&str]) -> Value {
    let output = migsim(&[TUNE, &[folder.to_str().unwrap(), "--json"], more].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap()
}

#[test]
fn a_search_is_the_same_for_any_number_of_threads_and_goes_on_where_it_was() {
    let scratch = tempfile::tempdir().unwrap();
    let [one, two] = ["1", "2"].map(|name| scratch.path().join(name));
    tuned(&one, &["-j", "1"]);
    tuned(&two, &["-j", "2"]);
    let tables = |folder: &Path| ["runs.csv", "tune.json"].map(|file| read(folder, file));
    assert_eq!(tables(&one), tables(&two));
    let records = fs::read(two.join("runs.jsonl")).unwrap();
    fs::write(two.join("runs.jsonl"), &records[..records.len() / 2]).unwrap();
    tuned(&two, &[]);
    assert_eq!(tables(&one), tables(&two));
    assert_eq!(records.len(), read(&two, "runs.jsonl").len());
}

#[test]
fn the_budget_holds_and_fresh_seeds_are_not_those_of_the_search() {
    let scratch = tempfile::tempdir().unwrap();
    let found = tuned(scratch.path(), &[]);
    let runs = found["search"]["runs"].as_u64().unwrap();
    assert!((100..=120).contains(&runs), "{runs} of 120");
    let text = read(scratch.path(), "runs.csv");
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    let seed = |row: &csv::StringRecord| row[5].parse::<u64>().unwrap();
    let fresh: Vec<_> = rows.iter().filter(|row| seed(row) > 4).collect();
    let seeds: BTreeSet<u64> = fresh.iter().map(|row| seed(row)).collect();
    assert_eq!(seeds, (11..=16).collect());
    // The defaults and the best, unless they are the same.
    assert!([6, 12].contains(&fresh.len()), "{}", fresh.len());
    assert_eq!(rows.len() - fresh.len(), usize::try_from(runs).unwrap());
    // The interval is that of the differences seed by seed, in percent of the defaults.
    let times = |setting: &str| -> Vec<f64> {
        let own = fresh.iter().filter(|row| &row[0] == setting);
        own.map(|row| row[8].parse().unwrap()).collect()
    };
    let best = fresh
        .iter()
        .map(|row| row[0].to_owned())
        .find(|setting| setting != "1");
    let best = times(best.as_deref().unwrap_or("1"));
    let gains: Vec<f64> = times("1")
        .iter()
        .zip(&best)
        .map(|(defaults, best)| 100.0 * (defaults - best) / defaults)
        .collect();
    let mean = gains.iter().sum::<f64>() / gains.len() as f64;
    let told = found["comparison"]["gain_percent"]["mean"]
        .as_f64()
        .unwrap();
    assert!((mean - told).abs() < 1e-9, "{mean} {told}");
    assert!(found["comparison"]["gain_percent"]["ci95"].is_f64());
}

#[test]
fn the_command_it_prints_runs_the_best_setting() {
    let found = migsim(&[
        "tune", "--app", "sw", "--n", "25", "--procs", "25", "--budget", "60", "--json",
    ]);
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(found["is_random"], false);
    let command = found["command"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
    let run: Value = serde_json::from_slice(&migsim(&words).stdout).unwrap();
    let told = &found["comparison"]["best"]["mean"];
    let text = run.to_string();
    assert!(text.contains(&told.to_string()), "{told} in {text}");
}
