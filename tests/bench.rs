//! Benchmarks: the same bytes after a repetition, after a kill and in parts; a case worked by hand; rivals that are programs; the stored
//! best.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::Path};

use migsim::{experiment::suite::BenchmarkSuite, sweep::bench::best::stored_best_makespan_rows};
use serde_json::Value;

use crate::support::{command, done, json, lacks, refused};

/// Two cases of a draw that no page uses.
const SMALL: &str = "bench --draw 71 --cases 2 --seeds 1..2 --quiet";

/// The results in a folder, by file; the rows of runs are in the order in which the runs ended.
fn results(folder: &Path) -> Vec<(String, String)> {
    let files = [
        "bench.json",
        "policies.csv",
        "classes.csv",
        "cases.csv",
        "best.csv",
        "index.html",
    ];
    let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
    files.map(|file| (file.to_owned(), read(file))).into()
}

fn bench_in(scratch: &Path, folder: &str, more: &str) -> Vec<(String, String)> {
    done(scratch, &format!("{SMALL} --out {folder} {more}"));
    results(&scratch.join(folder))
}

#[test]
fn a_benchmark_is_the_same_again_after_a_kill_and_in_parts() {
    let folders = tempfile::tempdir().unwrap();
    let at = |name: &str| folders.path().join(name);
    let here = folders.path();
    let whole = bench_in(here, "whole", "--threads 1");
    assert!(whole == bench_in(here, "again", ""), "two runs");
    // A killed command leaves some rows, of which at most one is incomplete.
    fs::create_dir(at("killed")).unwrap();
    let rows = fs::read(at("whole").join("runs.jsonl")).unwrap();
    fs::write(at("killed").join("runs.jsonl"), &rows[..rows.len() / 2]).unwrap();
    let killed = bench_in(here, "killed", "");
    assert!(whole == killed, "killed and continued");
    // The parts are run in other folders and merged.
    for part in ["1", "2"] {
        done(here, &format!("{SMALL} --shard {part}/2 --out {part}"));
    }
    done(here, "sweep merge 1 2 --out parts --quiet");
    assert!(whole == bench_in(here, "parts", ""), "in parts");
}

#[test]
fn a_rival_enters_with_one_command_and_gets_a_row() {
    if lacks("python3") {
        return;
    }
    let rival = "exec:python3 examples/exec-policy/rival.py";
    let bench = "bench --draw 71 --cases 1 --seeds 1 --policies";
    // An archive whose entry is of another suite.
    let archive = tempfile::tempdir().unwrap();
    let other =
        r#"{"schema": "migsim-bench-1", "version": "0.4.0", "suite": "lb-2", "policies": []}"#;
    fs::write(archive.path().join("other.json"), other).unwrap();
    let against = archive.path().display();
    let json = json(
        Path::new("."),
        &format!("{bench} 'refine/every=50,{rival}' --against {against}"),
    );
    assert_eq!(
        (&json["suite"], &json["draw"], &json["cases"]),
        (&"lb-1".into(), &71.into(), &1.into())
    );
    let rows = json["policies"].as_array().unwrap();
    let defaults = &BenchmarkSuite::find("lb-1").unwrap().suite_file().policies;
    // The two rivals and the best static start are added to the default set.
    assert_eq!(rows.len(), defaults.len() + 3);
    for row in rows {
        let name = row["policy"].as_str().unwrap();
        let ratio = row["mean_ratio"].as_f64().unwrap();
        assert!(
            ratio >= 1.0 || !defaults.iter().any(|one| one == name),
            "{name}: {ratio}"
        );
    }
    assert!(rows.iter().any(|row| row["policy"] == rival));
    let compared = &json["against"];
    assert_eq!(
        compared["entries_without_results"],
        serde_json::json!(["other"])
    );
    assert_eq!(compared["standings"].as_array().unwrap().len(), rows.len());
}

#[test]
fn a_rival_that_fails_is_stopped_and_has_no_rank() {
    let bench = "bench --draw 71 --cases 3 --seeds 1..2 --policies exec:false/every=5 --timeout '1 s' --json --quiet";
    let output = command(Path::new("."), bench);
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["seeds"], serde_json::json!([1, 2]));
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    let row = json["policies"].as_array().unwrap().last().unwrap();
    assert_eq!(row["policy"], "exec:false/every=5");
    assert!(row["mean_ratio"].is_null());
    // Two runs fail in each of the cases 1 and 2.
    assert_eq!(
        (&row["failures"], &row["cases_not_run"]),
        (&2.into(), &1.into())
    );
}

#[test]
fn a_case_that_is_shown_is_the_case_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let shown = done(folder.path(), "bench --draw 71 --case 2 --show");
    fs::write(folder.path().join("case.json"), shown).unwrap();
    let [of_file, by_name] = ["case.json", "lb-1.71.2"].map(|case| {
        let compare = format!("compare {case} --policies never,refine/menon --no-static-starts");
        json(folder.path(), &compare)
    });
    assert!(of_file == by_name);
    let mapping = |start: &str| {
        let show = format!("bench --draw 71 --case 2 --show {start}");
        let shown: Value = serde_json::from_str(&done(folder.path(), &show)).unwrap();
        shown["mapping"].clone()
    };
    assert_eq!(mapping("--start fast-first"), "fast-first");
    assert_eq!(mapping("--start drawn"), mapping(""));
    for start in ["best-static", "drawn,fast-first"] {
        let show = format!("bench --draw 71 --case 2 --show --start {start}");
        let text = refused(folder.path(), &show);
        assert!(text.contains("choose `drawn` or `fast-first`"), "{text}");
    }
}

#[test]
fn fixed_cases_have_rows_of_their_own_and_run_like_any_experiment() {
    let here = Path::new(".");
    let found = json(here, "bench --draw fixed --cases 1 --seeds 1");
    assert_eq!(
        (&found["draw"], &found["cases"]),
        (&"fixed".into(), &1.into())
    );
    // Another seed shifts the measured load.
    let makespan = |seed: &str| {
        let run = format!("run lb-1.fixed.13 --seed {seed} --scenario i");
        let json = json(here, &run);
        json["scenarios"][0]["makespan_s"].as_f64().unwrap()
    };
    assert_ne!(makespan("1"), makespan("2"));
    let error = refused(here, "bench --draw fixed --case 25 --show");
    assert_eq!(
        error.trim_end(),
        "error: the number is too large, since the suite `lb-1` has only 24 fixed cases\n  --> --case\n  hint: choose a number from 1 to 24"
    );
}

#[test]
fn the_stored_best_is_the_makespan_of_its_policy() {
    let rows = stored_best_makespan_rows("lb-1", 1);
    // Each of five groups of cases gives one row, that of its shortest run.
    for fifth in 0..5 {
        let of_fifth = rows.iter().filter(|row| row.0 % 5 == fifth && row.1 == 1);
        let Some((case, seed, policy, makespan)) =
            of_fifth.min_by(|a, b| a.3.total_cmp(&b.3)).cloned()
        else {
            continue;
        };
        let name = format!("lb-1.1.{case}");
        let run = format!("run {name} --policy '{policy}' --seed {seed} --scenario iii");
        let json = json(Path::new("."), &run);
        let scenarios = json["scenarios"].as_array().unwrap();
        let found = scenarios.last().unwrap()["makespan_s"].as_f64();
        assert_eq!(found, Some(makespan), "{name}, {policy}, seed {seed}");
    }
}

#[test]
fn unknown_suites_and_policies_are_refused() {
    let text = refused(Path::new("."), "bench --suite lb-9 --cases 1");
    assert!(text.contains("lb-1"), "{text}");
    let text = refused(Path::new("."), "bench --suite lb-2 --draw fixed");
    assert!(text.contains("`--suite lb-1`"), "{text}");
    let text = refused(Path::new("."), "bench --cases 1 --policies refin");
    assert!(text.contains("refine"), "{text}");
}
