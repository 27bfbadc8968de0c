//! A barrier that is written to a file: strategies make the same decision for it as in the run.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::path::Path;

use serde_json::Value;

use crate::support::{done, refused};

/// Runs a command that prints JSON.
fn printed(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&done(folder, line)).unwrap()
}

#[test]
fn strategies_decide_about_a_snapshot_as_they_did_in_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (here, file) = (folder.path(), folder.path().join("barrier.json"));
    let strategies = ["greedy-refine", "refine", "greedy-comm", "prefix"];
    // The decisions of the last two depend on the random numbers of the run.
    for strategy in [&strategies[..], &["c-random", "receiver-initiated"]].concat() {
        let case = format!("--app sw --n 25 --load walk --policy {strategy}/every=10");
        let snapshot = printed(here, &format!("snapshot {case} --superstep 20"));
        std::fs::write(&file, snapshot.to_string()).unwrap();
        let told = printed(
            here,
            &format!("decide barrier.json --policy {strategy} --json"),
        );
        assert_eq!(told["policies"].as_array().unwrap().len(), 1);
        let run = printed(here, &format!("run {case} --scenario iii --json"));
        let call = &run["scenarios"][0]["calls"][1];
        assert_eq!(call["superstep"], 20);
        let place = |one: &Value, to: &str| (one["process"].as_u64(), one[to].to_string());
        let list = |value: &Value, to: &str| -> Vec<_> {
            let list = value.as_array().unwrap().iter();
            list.map(|one| place(one, to)).collect()
        };
        let moved = list(&call["migrations"], "to_host");
        // Each host asks a few others, and finds none with more to do.
        let may_move_nothing = strategy == "receiver-initiated";
        assert!(!moved.is_empty() || may_move_nothing, "{strategy}");
        assert_eq!(
            list(&told["policies"][0]["moved"], "to"),
            moved,
            "{strategy}"
        );
        // All policies answer, that of the run with its own decision.
        let all = printed(here, "decide barrier.json --json");
        let all = all["policies"].as_array().unwrap();
        let own: Vec<&Value> = all.iter().filter(|one| one["policy"] == strategy).collect();
        assert_eq!(own, [&told["policies"][0]]);
    }
}

#[test]
fn no_decision_gives_a_host_more_processes_than_it_has_memory_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("barrier.json");
    let (memory, limits) = ([6e9, 6e9, 6e9, 6e9, 1e9], [f64::INFINITY, 8e9, 7e9]);
    let barrier = serde_json::json!({
        "speeds": [1.0, 1.0, 1.0], "current": [0, 0, 0, 0, 1], "work": [4.0, 4.0, 4.0, 4.0, 1.0],
        "memory": memory, "host_memory": [null, 8e9, 7e9],
        "communication": [[0, 1, 1, 1000], [1, 2, 1, 1000], [2, 3, 1, 1000], [3, 4, 1, 1000]],
    });
    std::fs::write(&file, barrier.to_string()).unwrap();
    let told = printed(folder.path(), "decide barrier.json --json");
    let policies = told["policies"].as_array().unwrap();
    for policy in policies {
        let mut held = [0.0; 3];
        for (host, memory) in policy["assignment"].as_array().unwrap().iter().zip(memory) {
            held[usize::try_from(host.as_u64().unwrap()).unwrap()] += memory;
        }
        assert!(
            held.iter().zip(limits).all(|(held, limit)| *held <= limit),
            "{policy}"
        );
    }
    let stayed = policies.iter().filter(|one| one["stayed_for_memory"] != 0);
    assert!(policies.len() > 30 && stayed.count() >= 12);
}

#[test]
fn migbsp_is_asked_in_the_run_and_hosts_keep_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let (here, file) = (folder.path(), folder.path().join("barrier.json"));
    let case = "--app sw --n 25 --load walk --policy migbsp --alpha 4";
    let run = printed(here, &format!("run {case} --scenario iii --json"));
    let calls = run["scenarios"][0]["calls"].as_array().unwrap();
    let call = calls
        .iter()
        .find(|call| !call["migrations"].as_array().unwrap().is_empty())
        .unwrap();
    let superstep = &call["superstep"];
    let snapshot = printed(here, &format!("snapshot {case} --superstep {superstep}"));
    std::fs::write(&file, snapshot.to_string()).unwrap();
    let told = printed(here, "decide barrier.json --policy migbsp --json");
    let moved = told["policies"][0]["moved"].as_array().unwrap();
    let migrations = call["migrations"].as_array().unwrap();
    assert_eq!(moved.len(), migrations.len());
    for migration in migrations {
        let is_it = |one: &&Value| one["process"] == migration["process"];
        let one = moved.iter().find(is_it).unwrap();
        assert_eq!(one["to"], migration["to_host"], "{migration}");
    }
    // Without a name, all policies are asked, including MigBSP.
    let all = printed(here, "decide barrier.json --json");
    let names = all["policies"].as_array().unwrap();
    assert!(names.iter().any(|one| one["policy"] == "migbsp"));
}

#[test]
fn a_snapshot_of_a_superstep_that_does_not_exist_is_refused() {
    let line = "snapshot --app sw --n 25 --superstep 99";
    let errors = refused(Path::new("."), line);
    assert!(
        errors.contains("choose a superstep from 1 to 49"),
        "{errors}"
    );
}
