//! Verdicts: each sentence that names a best row is checked against the table of the same output, for drawn experiments.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::path::Path;

use migsim::random::{Stream, StreamPurpose};
use serde_json::Value;

use crate::support::{assert_close, json};

/// Returns the names in backticks in a text.
fn names(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Returns the numbers of the rows under a key.
fn numbers(rows: &[&Value], key: &str) -> Vec<f64> {
    rows.iter().map(|row| row[key].as_f64().unwrap()).collect()
}

#[test]
fn verdicts_name_the_best_rows_of_their_tables() {
    let mut random = Stream::for_object(1, StreamPurpose::SweepSampling, "verdicts");
    let mut one_of = |values: &[&str]| values[random.draw_below(values.len())].to_owned();
    for _ in 0..4 {
        let line = format!(
            "--platform two-fabrics --app synthetic --procs {} --set workload.spread={} --set workload.supersteps=12 --mapping {}",
            one_of(&["8", "12", "20"]),
            one_of(&["0", "0.4", "0.8"]),
            one_of(&["contiguous", "by-core", "fast-first"]),
        );
        let policy = one_of(&["never", "greedy/every=4", "refine/menon", "migbsp"]);
        let here = Path::new(".");

        let run = json(here, &format!("run {line} --policy {policy}"));
        let starts: Vec<&Value> = run["static_starts"].as_array().unwrap().iter().collect();
        let fastest = numbers(&starts, "makespan_s").into_iter().reduce(f64::min);
        assert_eq!(run["best_static_start"]["makespan_s"].as_f64(), fastest);
        assert!(starts.iter().any(|start| start["own"] == true), "{run}");

        let policies = "--policies never,migbsp,greedy/every=4,refine";
        let compared = json(here, &format!("compare {line} {policies}"));
        let verdict = compared["verdict"].as_str().unwrap();
        let rows: Vec<&Value> = compared["policies"].as_array().unwrap().iter().collect();
        let ties = rows.iter().filter(|row| row["ties_with_best"] == true);
        let ties: Vec<&str> = ties.map(|row| row["policy"].as_str().unwrap()).collect();
        assert_eq!(names(verdict)[..ties.len()], ties[..], "{verdict}");
        for (place, row) in rows.iter().enumerate() {
            let rank = row["rank"].as_u64().unwrap();
            let before = rows[..place]
                .iter()
                .filter(|other| other["rank"] != row["rank"]);
            assert_eq!(rank, before.count() as u64 + 1, "{compared}");
        }

        for held in ["", "--hold-decisions"] {
            let asked = format!("bottlenecks {line} --policy {policy} --scenario iii {held}");
            let profile = json(here, &asked);
            let verdict = profile["verdict"].as_str().unwrap();
            let column = if held.is_empty() {
                "gain_percent"
            } else {
                "held_gain_percent"
            };
            let rows = profile["changes"].as_array().unwrap().iter();
            let is_step = |row: &&Value| !row["change"].as_str().unwrap().ends_with("unlimited");
            let (steps, unlimited): (Vec<&Value>, Vec<&Value>) = rows.partition(is_step);
            for (rows, words) in [(steps, "shorten"), (unlimited, "would gain most")] {
                let best = numbers(&rows, column).into_iter().fold(f64::MIN, f64::max);
                let sentence = verdict
                    .split(". ")
                    .find(|sentence| sentence.contains(words));
                let Some(sentence) = sentence else {
                    assert!(best < 0.005, "{verdict}");
                    continue;
                };
                let is_best = |row: &&&Value| best - row[column].as_f64().unwrap() < 1e-6;
                let best = rows
                    .iter()
                    .filter(is_best)
                    .map(|row| row["change"].as_str().unwrap());
                let best: Vec<&str> = best
                    .map(|name| name.trim_end_matches(" unlimited"))
                    .collect();
                assert_eq!(names(sentence), best, "{verdict}");
            }
        }
    }
}

/// Runs a command in a folder of its own.
fn told_in_folder(line: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    json(folder.path(), &format!("{line} --quiet --out out"))
}

#[test]
fn the_best_settings_of_sweeps_and_searches_are_those_of_their_tables() {
    let mut random = Stream::for_object(1, StreamPurpose::SweepSampling, "best settings");
    let mut one_of = |values: &[&str]| values[random.draw_below(values.len())].to_owned();
    for _ in 0..3 {
        let case = format!(
            "--platform ufrgs --app synthetic --procs {} --set workload.spread={} --set workload.supersteps=12 --alpha {}",
            one_of(&["8", "20"]),
            one_of(&["0", "0.5"]),
            one_of(&["2,4,8", "8,2", "1,16"]),
        );
        let swept = told_in_folder(&format!("sweep {case} --seeds 1..3"));
        let rows: Vec<&Value> = swept["settings"].as_array().unwrap().iter().collect();
        let means = numbers(&rows, "makespan_iii_mean_s");
        let least = means.iter().copied().fold(f64::MAX, f64::min);
        let best = means.iter().enumerate().filter(|(_, mean)| **mean == least);
        let best: Vec<u64> = best.map(|(index, _)| index as u64 + 1).collect();
        assert_eq!(swept["best"], serde_json::json!(best), "{swept}");
        let baseline = rows[0]["baseline"].as_u64().unwrap();
        let default = rows.iter().find(|row| row["values"]["alpha"] == 4).unwrap();
        assert_eq!(default["setting"], baseline, "{swept}");

        let tune = format!("tune {case} --seeds 1..2 --fresh 3..6 --budget 9");
        let tuned = told_in_folder(&tune);
        let compared = &tuned["comparison"];
        let mean = |key: &str| compared[key]["mean"].as_f64().unwrap_or_default();
        if !compared.is_null() {
            assert_close(
                mean("defaults") - mean("best"),
                mean("improvement"),
                1e-9,
                "gain",
            );
        }
        let rounds = tuned["search"]["rounds"].as_array().unwrap();
        // Means of fewer seeds count for nothing.
        let key = |round: &&Value| round["seeds"].as_u64();
        let most = rounds.iter().map(|round| key(&round)).max();
        let whole = rounds.iter().filter(|round| Some(key(round)) == most);
        let mean = |round: &&Value| round["mean"].as_f64().unwrap();
        let best = whole.min_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap();
        assert_eq!(tuned["best"], best["best"], "{tuned}");
    }
}

#[test]
fn a_benchmark_ranks_by_the_means_of_its_cases() {
    let found = told_in_folder("bench --cases 2 --seeds 1 --policies never,refine/menon");
    let rows: Vec<&Value> = found["policies"].as_array().unwrap().iter().collect();
    let means = numbers(&rows, "mean_ratio");
    assert!(means.is_sorted(), "{found}");
    for row in rows {
        let of = |key: &str| row[key].as_f64().unwrap();
        // Two cases: the mean is the median.
        assert_close(of("mean_ratio"), of("median_ratio"), 1e-12, "mean");
        assert!(of("worst_ratio") >= of("mean_ratio"), "{row}");
    }
}

#[test]
fn the_example_of_a_map_runs_and_numbers_get_the_unit_of_the_last_value() {
    let map = "workload.spread=0,0.5,1,costs.move.fixed=0,0.1,1s";
    let line = "compare --app synthetic --procs 20 --set workload.supersteps=10 --seeds 1..2";
    let found = json(Path::new("."), &format!("{line} --map {map}"));
    assert_eq!(
        found["axes"][1]["values"],
        serde_json::json!(["0 s", "0.1 s", "1s"])
    );
    assert_eq!(found["cells"].as_array().unwrap().len(), 9);
}
