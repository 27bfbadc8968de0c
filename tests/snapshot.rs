//! A barrier that is written to a file: strategies make the same decision for it as in the run.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::ffi::OsString;

use migsim::Registry;
use serde_json::Value;

/// Returns the output of a command.
fn printed(arguments: &[&str]) -> Value {
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let line = [&["migsim"], arguments].concat();
    let line = line.iter().map(OsString::from);
    let code = migsim::cli::run_with(&Registry::standard(), line, &mut out, &mut errors);
    assert_eq!(code, 0, "{}", String::from_utf8_lossy(&errors));
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn strategies_decide_about_a_snapshot_as_they_did_in_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("barrier.json");
    let file = file.to_str().unwrap();
    for strategy in ["greedy-refine", "refine", "greedy-comm", "prefix"] {
        let policy = format!("{strategy}/every=20");
        let case = [
            "--app", "sw", "--n", "25", "--load", "walk", "--policy", &policy,
        ];
        let snapshot = printed(&[&["snapshot"], &case[..], &["--superstep", "20"]].concat());
        std::fs::write(file, snapshot.to_string()).unwrap();
        let told = printed(&["decide", file, "--policy", strategy, "--json"]);
        let run = printed(&[&["run"], &case[..], &["--scenario", "iii", "--json"]].concat());
        let call = &run["scenarios"][0]["calls"][0];
        assert_eq!(call["superstep"], 20);
        let moved = call["migrations"].as_array().unwrap().len();
        assert!(moved > 0, "{strategy}");
        // In a run, no process moves between cores of one host; these hosts have one core each.
        assert_eq!(told["policies"][0]["moves"], moved, "{strategy}");
    }
}

#[test]
fn migbsp_is_asked_in_the_run_and_hosts_keep_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("barrier.json");
    let file = file.to_str().unwrap();
    let case = [
        "--app", "sw", "--n", "25", "--load", "walk", "--policy", "migbsp", "--alpha", "4",
    ];
    let run = printed(&[&["run"], &case[..], &["--scenario", "iii", "--json"]].concat());
    let calls = run["scenarios"][0]["calls"].as_array().unwrap();
    let call = calls
        .iter()
        .find(|call| !call["migrations"].as_array().unwrap().is_empty())
        .unwrap();
    let superstep = call["superstep"].to_string();
    let snapshot = printed(&[&["snapshot"], &case[..], &["--superstep", &superstep]].concat());
    std::fs::write(file, snapshot.to_string()).unwrap();
    let told = printed(&["decide", file, "--policy", "migbsp", "--json"]);
    let moved = told["policies"][0]["moved"].as_array().unwrap();
    let migrations = call["migrations"].as_array().unwrap();
    assert_eq!(moved.len(), migrations.len());
    for migration in migrations {
        let is_it = |one: &&Value| one["process"] == migration["process"];
        let one = moved.iter().find(is_it).unwrap();
        assert_eq!(one["to"], migration["to_host"], "{migration}");
    }
    // Without a name, all policies are asked, including MigBSP.
    let all = printed(&["decide", file, "--json"]);
    let names = all["policies"].as_array().unwrap();
    assert!(names.iter().any(|one| one["policy"] == "migbsp"));
}

#[test]
fn a_snapshot_of_a_superstep_that_does_not_exist_is_refused() {
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let line = "migsim snapshot --app sw --n 25 --superstep 99";
    let line = line.split(' ').map(OsString::from);
    let code = migsim::cli::run_with(&Registry::standard(), line, &mut out, &mut errors);
    let errors = String::from_utf8(errors).unwrap();
    assert_eq!(code, 2);
    assert!(
        errors.contains("choose a superstep from 1 to 49"),
        "{errors}"
    );
}
