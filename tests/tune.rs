//! Searches as a user meets them: equal results for any number of threads, continued after an interruption, judged on fresh seeds.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use serde_json::Value;

use crate::support::{done, json, lacks, read, refused, succeeded};

/// A search of 120 runs with 4 seeds, and a comparison on 6 others.
const TUNE: &str = "tune --platform ufrgs --app synthetic --procs 10 --set workload.spread=0.5 --seeds 1..4 --fresh 11..16 --budget 120";

fn tuned(scratch: &Path, folder: &str, more: &str) -> Value {
    json(scratch, &format!("{TUNE} --out {folder} {more}"))
}

/// Runs in a shell the command that a search has printed, and checks that it gives the search's value of the best setting.
fn assert_command_is_right(found: &Value, folder: &Path) {
    if lacks("bash") {
        return;
    }
    let command = found["command"]
        .as_str()
        .unwrap()
        .replacen("migsim", "\"$MIGSIM\"", 1);
    let shell = Command::new("bash")
        .args(["-c", &format!("{command} --json")])
        .env("MIGSIM", env!("CARGO_BIN_EXE_migsim"))
        .current_dir(folder)
        .output()
        .unwrap();
    let run: Value = serde_json::from_slice(&succeeded(shell).stdout).unwrap();
    let last = run["scenarios"].as_array().unwrap().last().unwrap();
    assert_eq!(
        last["makespan_s"], found["comparison"]["best"]["mean"],
        "{command}"
    );
}

#[test]
fn a_search_is_the_same_for_any_number_of_threads_and_goes_on_where_it_was() {
    let scratch = tempfile::tempdir().unwrap();
    let (here, two) = (scratch.path(), scratch.path().join("2"));
    tuned(here, "1", "-j 1");
    tuned(here, "2", "-j 2");
    let tables =
        |folder: &str| ["runs.csv", "tune.json"].map(|file| read(&here.join(folder), file));
    assert_eq!(tables("1"), tables("2"));
    let records = fs::read(two.join("runs.jsonl")).unwrap();
    fs::write(two.join("runs.jsonl"), &records[..records.len() / 2]).unwrap();
    tuned(here, "2", "");
    assert_eq!(tables("1"), tables("2"));
    assert_eq!(records.len(), read(&two, "runs.jsonl").len());
}

#[test]
fn the_report_of_a_search_is_its_page_and_it_has_the_figures_of_a_sweep() {
    let scratch = tempfile::tempdir().unwrap();
    let (here, folder) = (scratch.path(), scratch.path().join("search"));
    tuned(here, "search", "");
    done(here, "report search");
    assert_eq!(read(&folder, "index.html"), read(&folder, "report.html"));
    let list = done(here, "report search --figure list");
    assert!(
        list.starts_with("lines  ") && list.contains("\nheat   "),
        "{list}"
    );
    done(here, "report search --figure heat --out heat.svg");
    let plan = read(&folder, "plan.json");
    let other = plan.replacen("\"names\":[\"alpha\"", "\"names\":[\"beta\"", 1);
    assert_ne!(plan, other);
    fs::write(folder.join("plan.json"), other).unwrap();
    let errors = refused(here, "report search");
    assert!(errors.contains("vary, but in `plan.json` beta"), "{errors}");
}

#[test]
fn the_budget_holds_and_fresh_seeds_are_not_those_of_the_search() {
    let scratch = tempfile::tempdir().unwrap();
    let found = tuned(scratch.path(), ".", "");
    let runs = found["search"]["runs"].as_u64().unwrap();
    assert!((100..=120).contains(&runs), "{runs} of 120");
    let text = read(scratch.path(), "runs.csv");
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    let seed = |row: &csv::StringRecord| row[8].parse::<u64>().unwrap();
    let fresh: Vec<_> = rows.iter().filter(|row| seed(row) > 4).collect();
    let seeds: BTreeSet<u64> = fresh.iter().map(|row| seed(row)).collect();
    assert_eq!(seeds, (11..=16).collect());
    // The rows are those of the defaults and of the best setting, unless both are the same.
    assert!([6, 12].contains(&fresh.len()), "{}", fresh.len());
    assert_eq!(rows.len() - fresh.len(), usize::try_from(runs).unwrap());
    // The interval is that of the differences seed by seed, in percent of the value of the defaults.
    let times = |setting: &str| -> Vec<f64> {
        let own = fresh.iter().filter(|row| &row[0] == setting);
        own.map(|row| row[11].parse().unwrap()).collect()
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
    let found = json(
        Path::new("."),
        "tune --app sw --n 25 --procs 25 --budget 60",
    );
    assert_eq!(found["is_random"], false);
    assert_command_is_right(&found, Path::new("."));
}

#[test]
fn the_command_it_prints_for_a_sweep_file_runs_the_best_setting() {
    let scratch = tempfile::tempdir().unwrap();
    let ufrgs = Path::new(env!("CARGO_MANIFEST_DIR")).join("platforms/ufrgs-sw.json");
    // The name reads as a number.
    fs::copy(ufrgs, scratch.path().join("7")).unwrap();
    let sweep = r#"{
        "$schema": "sweep.schema.json",
        "schema": "migsim-sweep-1",
        "experiment": {
            "$schema": "experiment.schema.json",
            "schema": "migsim-experiment-1",
            "description": "it's a test",
            "platform": "7",
            "workload": { "app": "sw", "n": 25, "procs": 25, "image_bytes": "1 MB" },
            "network": { "model": "cm02", "tcp_gamma": 20000 },
            "policy": { "migbsp": { "alpha": 16, "delta": 0.3 } },
            "scenarios": ["i"],
            "origins": { "policy.migbsp.delta": "stated: here" }
        },
        "vary": { "alpha": [2, 4, 8], "mapping": ["contiguous", ["Labtec"]], "network": ["ideal", "simgrid-3.3"] }
    }"#;
    fs::write(scratch.path().join("sweep.json"), sweep).unwrap();
    for more in ["", "--network lv08 --n 20 --procs 20"] {
        let tune = format!("tune sweep.json --budget 40 {more}");
        let found = json(scratch.path(), &tune);
        let command = found["command"].as_str().unwrap();
        assert!(command.contains("'platform=\"7\"'"), "{command}");
        assert!(!command.contains("alpha=16"), "{command}");
        assert_command_is_right(&found, scratch.path());
    }
}

#[test]
fn the_command_for_an_experiment_file_runs_the_scenarios_of_the_goal() {
    let scratch = tempfile::tempdir().unwrap();
    let experiment = r#"{ "workload": { "app": "sw", "n": 10 }, "scenarios": ["i"], "network": { "tcp_gamma": 20000 } }"#;
    fs::write(scratch.path().join("a b.json"), experiment).unwrap();
    let tune = "tune 'a b.json' --alpha 2,4 --vary network.model=cm02,lv08 --budget 20";
    let found = json(scratch.path(), tune);
    assert_command_is_right(&found, scratch.path());
}

#[test]
fn a_search_over_a_suite_keeps_its_budget_and_names_a_policy_that_commands_read() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    let tune =
        "tune --suite lb-1 --draw 71 --cases 1..6 --budget 50 --policy 'migbsp{x=0.5}' --out s";
    let found = json(here, tune);
    let runs = read(&here.join("s"), "runs.jsonl").lines().count();
    assert!((25..=50).contains(&runs), "{runs} of 50");
    let (confirmed, chosen) = (&found["recommended"], &found["not_confirmed"]);
    let is_worse = found["test_loss"].as_f64().unwrap() > 1.0;
    assert_eq!(chosen.is_object(), is_worse, "{found:#}");
    assert!(!is_worse || confirmed["variant"] == "migbsp{x=0.5}");
    let last = [chosen, confirmed].into_iter().find(|one| one.is_object());
    let folds = found["folds"].as_array().unwrap().iter();
    for one in folds.chain(last) {
        let variant = one["variant"].as_str().unwrap();
        assert!(
            variant.starts_with("migbsp{") && variant.contains("x=0.5"),
            "{variant}"
        );
        assert_eq!(variant.matches('{').count(), 1, "{variant}");
        done(
            here,
            &format!("run lb-1.71.1 --policy '{variant}' --scenario i"),
        );
    }
    for (more, expected) in [
        ("tune --suite lb-1 --app lu", "leave out the flag"),
        (
            "tune --suite lb-1 --platform ufrgs,sw-dynamic",
            "leave out the flag",
        ),
        (
            "tune --suite lb-2 --draw fixed",
            "the suite `lb-2` has no fixed cases",
        ),
        ("tune --suite lb-1 --cases 1..6 --budget 47", "at least 48"),
        (
            "bench --cases 1 --out s",
            "holds the results of `migsim tune`",
        ),
    ] {
        let text = refused(here, more);
        assert!(text.contains(expected), "{more}: {text}");
    }
}

#[test]
fn too_many_seeds_are_refused_before_anything_is_allocated() {
    for flag in ["--seeds", "--fresh"] {
        let tune = format!("tune --app sw --n 10 {flag} 1..1000000000000");
        let errors = refused(Path::new("."), &tune);
        assert!(
            errors.starts_with("error: the list of seeds has 1000000000000 entries, more than the maximum of 1000000\n"),
            "{errors}"
        );
    }
}

#[test]
fn usual_fresh_seeds_are_not_those_of_the_search_at_the_end_of_all_seeds_either() {
    let last = u64::MAX.to_string();
    let scratch = tempfile::tempdir().unwrap();
    // After the last seed come 0, 1, 2, ...; of these, 1 and 3 are already used.
    let seeds = format!("1,3,{last}");
    let tune = TUNE
        .replace("1..4 --fresh 11..16", &seeds)
        .replace("120", "30");
    let found = json(scratch.path(), &format!("{tune} --alpha 2,4 --out ."));
    let fresh: Vec<u64> = serde_json::from_value(found["comparison"]["seeds"].clone()).unwrap();
    assert_eq!(fresh, [&[0, 2], &(4..=21).collect::<Vec<_>>()[..]].concat());
}
