//! Comparisons: run folders as policies, refusals with hints, and bounds below optima below policies.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::path::Path;

use serde_json::Value;

use crate::support::{ROUNDING, migsim, migsim_in, read, said, succeeded};

/// Makes a run folder of Smith-Waterman.
fn run(folder: &Path, name: &str, flags: &str) {
    let all = format!("run --app sw --scenario i,iii --quiet --out {name} {flags}");
    let words: Vec<&str> = all.split_whitespace().collect();
    succeeded(migsim_in(folder, &words));
}

fn compared(folder: &Path, arguments: &str) -> Value {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let output = succeeded(migsim_in(folder, &words));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn folders_give_the_numbers_of_a_comparison_that_runs_them() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    run(folder, "a", "--n 10 --policy refine/every=5");
    run(folder, "b", "--n 10 --policy migbsp");
    let found = compared(folder, "compare a b --json --out page");
    let policies = "--policies refine/every=5,migbsp";
    let ran = compared(
        folder,
        &format!("compare --app sw --n 10 {policies} --json"),
    );
    assert_eq!(found, ran);
    let page = read(folder, "page/index.html");
    for part in [
        "refine/every=5",
        "id=\"barrier\"",
        "Parts of the time of scenario iii less that of scenario i (application only), ",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.len() < 3_000_000);
}

#[test]
fn a_comparison_has_the_policies_that_it_names() {
    let scratch = tempfile::tempdir().unwrap();
    let words = "compare --app sw --n 10 --policies refine/every=5,greedy/every=5 --json";
    let found = compared(scratch.path(), words);
    assert_eq!(found["policies"].as_array().unwrap().len(), 2, "{found}");
}

#[test]
fn a_bound_is_that_of_the_files_that_were_run() {
    // If the work grew ten times after the run, the bound would exceed the makespans.
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let work = |amount: &str| {
        let table = format!("superstep,process,work [Ginstr]\n1,1,{amount}\n1,2,{amount}\n");
        std::fs::write(folder.join("work.csv"), table).unwrap();
    };
    work("1");
    for policy in ["never", "refine"] {
        let all = format!(
            "run --platform ufrgs --app table --work work.csv --policy {policy} --quiet --out {policy}"
        );
        let words: Vec<&str> = all.split_whitespace().collect();
        succeeded(migsim_in(folder, &words));
    }
    let bound = || {
        compared(folder, "compare never refine --json")["policies"][0]["above_bound_percent"]
            .clone()
    };
    assert!(bound().is_number(), "{}", bound());
    // The folders keep their own copies.
    work("10");
    assert!(bound().is_number(), "{}", bound());
    for policy in ["never", "refine"] {
        std::fs::copy(
            folder.join("work.csv"),
            folder.join(policy).join("inputs/work.csv"),
        )
        .unwrap();
    }
    assert!(bound().is_null(), "{}", bound());
}

#[test]
fn runs_that_differ_in_their_seed_are_one_policy() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    for policy in ["never", "refine"] {
        for seed in ["1", "2"] {
            let flags = format!("--n 10 --policy {policy} --load walk --seed {seed}");
            run(folder, &format!("{policy}-{seed}"), &flags);
        }
    }
    let all = "compare never-1 never-2 refine-1 refine-2 --json";
    let found = compared(folder, all);
    assert_eq!(found["seeds"], 2);
    assert_eq!(found["policies"].as_array().unwrap().len(), 2);
    let lacking = migsim_in(folder, &["compare", "never-1", "never-2", "refine-1"]);
    assert_eq!(lacking.status.code(), Some(2));
    assert!(
        said(&lacking).contains("has no run with seed 2"),
        "{}",
        said(&lacking)
    );
}

#[test]
fn folders_that_cannot_be_compared_are_refused_and_other_differences_listed() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    run(folder, "a", "--n 10 --policy refine");
    run(folder, "larger", "--policy migbsp --n 12");
    run(
        folder,
        "dear",
        "--n 10 --policy migbsp --set costs.move.fixed=1s",
    );
    let refused = |arguments: &[&str], part: &str| {
        let output = migsim_in(folder, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(said(&output).contains(part), "{}", said(&output));
    };
    refused(&["compare", "a", "larger"], "another application");
    refused(&["compare", "a"], "only one folder of a run is named");
    refused(&["compare", "a", "a"], "the same run");
    refused(&["compare", "a", "dear", "--n", "10"], "cannot be changed");
    refused(&["compare", "a", "nothing"], "nothing");
    let told = succeeded(migsim_in(folder, &["compare", "a", "dear"]));
    assert!(said(&told).contains("differ in `costs`"), "{}", said(&told));
}

#[test]
fn files_count_by_their_contents_and_not_by_their_names() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let inside = folder.join("inside");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(
        inside.join("work.csv"),
        "superstep,process,work [Ginstr]\n1,1,1\n1,2,3\n2,1,1\n2,2,3\n",
    )
    .unwrap();
    std::fs::write(inside.join("load.csv"), "0,0.5\n1,0\n").unwrap();
    let flags = |place: &str| {
        format!(
            "run --app table --work {place}work.csv --load file,file={place}load.csv --scenario i,iii --quiet"
        )
    };
    let run = |from: &Path, place: &str, rest: &str| {
        let all = format!("{} {rest}", flags(place));
        let words: Vec<&str> = all.split_whitespace().collect();
        succeeded(migsim_in(from, &words));
    };
    run(&inside, "", "--policy never --out a");
    run(folder, "inside/", "--policy refine --out b");
    let output = succeeded(migsim_in(folder, &["compare", "inside/a", "b"]));
    assert!(!said(&output).contains("differ"), "{}", said(&output));
    // Another seed of each policy, under another folder name, belongs to the same policy.
    run(folder, "inside/", "--policy never --seed 2 --out c");
    run(&inside, "", "--policy refine --seed 2 --out d");
    let all = "compare inside/a b c inside/d --json";
    let found = compared(folder, all);
    assert_eq!(found["seeds"], 2);
    // A file of the same name with other contents is another application, or another load.
    std::fs::write(inside.join("load.csv"), "0,0.25\n").unwrap();
    run(folder, "inside/", "--policy refine --out e");
    let output = succeeded(migsim_in(folder, &["compare", "b", "e"]));
    assert!(
        said(&output).contains("differ in `load`"),
        "{}",
        said(&output)
    );
    std::fs::write(
        inside.join("work.csv"),
        "superstep,process,work [Ginstr]\n1,1,1\n1,2,4\n",
    )
    .unwrap();
    run(folder, "inside/", "--policy refine --out f");
    let output = migsim_in(folder, &["compare", "b", "f"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("another application"),
        "{}",
        said(&output)
    );
}

#[test]
fn no_policy_beats_hindsight_and_hindsight_not_the_bound() {
    for (app, policies) in [
        ("--app sw --n 10", "never,migbsp,greedy,refine"),
        (
            "--app lu --n 40 --procs 8 --grid 2x4",
            "never,migbsp,greedy-refine,prefix",
        ),
    ] {
        let text = format!(
            "compare {app} --load walk --seeds 1..2 --policies {policies} --hindsight 20 --json"
        );
        let words: Vec<&str> = text.split_whitespace().collect();
        let output = succeeded(migsim(&words));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let hindsight = found["hindsight_s"]["mean"].as_f64().unwrap();
        for one in found["policies"].as_array().unwrap() {
            let makespan = one["makespan_s"]["mean"].as_f64().unwrap();
            let regret = one["regret_percent"].as_f64().unwrap();
            let above = one["above_bound_percent"].as_f64().unwrap();
            assert!(makespan >= hindsight * (1.0 - ROUNDING), "{app}: {one}");
            assert!(0.0 <= regret && regret <= above, "{app}: {one}");
        }
    }
}
