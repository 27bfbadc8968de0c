//! The seed of a run: one rule for the application, the load and the policy, in every command.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::path::Path;

use crate::support::{command, json, read, said, succeeded};

/// An application that is drawn at random, without other random choices.
const DRAWN: &str = "--platform ufrgs --app synthetic --procs 12 --set workload.spread=0.5 --set workload.supersteps=6";

/// Runs a command in a folder; returns its output and its messages.
fn asked(folder: &Path, words: &str) -> (String, String) {
    let output = succeeded(command(folder, words));
    let said = said(&output);
    (String::from_utf8(output.stdout).unwrap(), said)
}

/// Returns the lines about seeds.
fn of_seeds(said: &str) -> Vec<String> {
    let lines = said.lines().filter(|line| line.contains("seed"));
    lines.map(str::to_owned).collect()
}

/// Returns the makespans of the scenarios of a run, with all their digits \[s\].
fn makespans(folder: &Path, flags: &str) -> Vec<f64> {
    let summary = json(folder, &format!("run {flags} --quiet"));
    let scenarios = summary["scenarios"].as_array().unwrap();
    scenarios
        .iter()
        .map(|one| one["makespan_s"].as_f64().unwrap())
        .collect()
}

/// Returns the makespans of scenarios i and iii in each row of a table of runs \[s\].
fn rows(folder: &Path, file: &str) -> Vec<Vec<f64>> {
    let text = read(folder, file);
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let names = table.headers().unwrap().clone();
    let place = |name: &str| names.iter().position(|one| one == name).unwrap();
    let places = ["makespan_i_s", "makespan_iii_s"].map(place);
    let numbers = |row: csv::StringRecord| places.map(|at| row[at].parse().unwrap()).to_vec();
    table.records().map(|row| numbers(row.unwrap())).collect()
}

#[test]
fn runs_with_a_seed_are_the_rows_of_a_sweep_and_of_a_comparison() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let of_seed = |seed| makespans(folder, &format!("{DRAWN} --scenario i,iii --seed {seed}"));
    let single: Vec<Vec<f64>> = (1..=3).map(of_seed).collect();
    assert!(
        single[0] != single[1] && single[1] != single[2],
        "{single:?}"
    );
    for (out, seeds) in [("several", "--seeds 1..3"), ("list", "--seed 1,2,3")] {
        asked(
            folder,
            &format!("sweep {DRAWN} {seeds} --quiet --out {out}"),
        );
        assert_eq!(rows(folder, &format!("{out}/runs.csv")), single, "{seeds}");
    }
    asked(folder, &format!("sweep {DRAWN} --seed 2 --quiet --out one"));
    assert_eq!(rows(folder, "one/runs.csv"), single[1..2]);
    let compare = "compare --policies migbsp,never --seeds 1..3";
    asked(folder, &format!("{compare} {DRAWN} --quiet --out compared"));
    assert_eq!(rows(folder, "compared/runs.csv")[..3], single);
    // Without a seed, seed 1 is used.
    assert_eq!(
        makespans(folder, &format!("{DRAWN} --scenario i,iii")),
        single[0]
    );
}

#[test]
fn a_search_judges_on_the_applications_of_its_fresh_seeds() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let search = "tune --alpha 2,4 --seeds 1..2 --fresh 11..12 --budget 16 --goal gain";
    asked(folder, &format!("{search} {DRAWN} --quiet --out tuned"));
    let text = read(folder, "tuned/runs.csv");
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let names = table.headers().unwrap().clone();
    let place = |name: &str| names.iter().position(|one| one == name).unwrap();
    let mut fresh = 0;
    for row in table.records().map(Result::unwrap) {
        let (alpha, seed) = (&row[place("alpha")], &row[place("seed")]);
        let single = makespans(folder, &format!("{DRAWN} --alpha {alpha} --seed {seed}"));
        assert_eq!(
            row[place("makespan_iii_s")].parse::<f64>().unwrap(),
            single[2]
        );
        fresh += usize::from(seed.len() == 2);
    }
    assert!(fresh >= 4, "{text}");
}

#[test]
fn a_seed_of_the_application_that_was_given_stays() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let third = makespans(folder, &format!("{DRAWN} --seed 3"));
    let own = r#"{ "platform": "ufrgs", "seed": 5, "workload": { "app": "synthetic", "procs": 12, "spread": 0.5, "supersteps": 6, "seed": 3 } }"#;
    std::fs::write(folder.join("own.json"), own).unwrap();
    let by_flag = format!("{DRAWN} --set workload.seed=3");
    for given in [
        "own.json --seed 2",
        "own.json",
        &format!("{by_flag} --seed 2"),
        &by_flag,
    ] {
        assert_eq!(makespans(folder, given), third, "{given}");
    }
    asked(
        folder,
        &format!("sweep {by_flag} --alpha 2,4 --seeds 1..3 --quiet --out fixed"),
    );
    // There is one row per setting, because seeds change nothing.
    assert_eq!(rows(folder, "fixed/runs.csv").len(), 2);
    let (_, said) = asked(folder, &format!("run {by_flag} --seed 2"));
    let note = "note: seed 2 has no effect: only the application is random, and its own seed, `workload.seed`, is set";
    assert_eq!(of_seeds(&said), [note]);
}

#[test]
fn a_saved_run_is_run_again_with_its_seed_or_as_a_whole_with_another() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    asked(folder, &format!("run {DRAWN} --seed 2 --quiet --out saved"));
    let of_seed = |seed| makespans(folder, &format!("{DRAWN} --seed {seed}"));
    assert_eq!(makespans(folder, "saved/run.json"), of_seed(2));
    assert_eq!(makespans(folder, "saved/run.json --seed 3"), of_seed(3));
    // Two runs that differ only in their seed are one policy with two seeds.
    asked(folder, &format!("run {DRAWN} --seed 3 --quiet --out other"));
    let found = json(folder, "compare saved other");
    assert_eq!(found["seeds"], 2);
}

#[test]
fn a_seed_that_changes_nothing_is_named_if_it_was_chosen() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let lu = "--platform ufrgs --app lu --n 20 --procs 4 --grid 2x2";
    let note = ["note: seed 7 has no effect: nothing in this run is random"];
    let none = [""; 0];
    let said = |words: &str| of_seeds(&asked(folder, words).1);
    assert_eq!(said(&format!("run {lu}")), none);
    assert_eq!(said(&format!("run {lu} --seed 7 --out saved")), note);
    assert_eq!(said("run saved/run.json"), none);
    std::fs::write(folder.join("seven.json"), r#"{ "seed": 7 }"#).unwrap();
    assert_eq!(said(&format!("run seven.json {lu}")), note);
    assert_eq!(said(&format!("run {lu} --seed 7 --load walk")), none);
    let sweep = format!("sweep {lu} --alpha 2,4");
    let note = [
        "note: seed 7 has no effect, since nothing in the runs is random; to disturb the work of each process at random, add `--set runtime.noise=0.01`",
    ];
    assert_eq!(said(&format!("{sweep} --seed 7 --out chosen")), note);
    assert_eq!(said(&format!("{sweep} --out usual")), none);
}
