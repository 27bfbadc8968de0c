//! Comparisons: run folders as policies, refusals with hints, and bounds below optima below policies.

use std::path::Path;

use crate::support::{ROUNDING, command, done, json, read, refused, said, succeeded};

/// Makes a run folder of Smith-Waterman.
fn run(folder: &Path, name: &str, flags: &str) {
    let all = format!("run --app sw --scenario i,iii --quiet --out {name} {flags}");
    done(folder, &all);
}

#[test]
fn folders_give_the_numbers_of_a_comparison_that_runs_them() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    run(folder, "a", "--n 10 --policy refine/every=5");
    run(folder, "b", "--n 10 --policy migbsp");
    let found = json(folder, "compare a b --out page");
    let policies = "--policies refine/every=5,migbsp";
    let ran = json(folder, &format!("compare --app sw --n 10 {policies}"));
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
    let line = "compare --app sw --n 10 --policies refine/every=5,greedy/every=5";
    let found = json(scratch.path(), line);
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
        done(folder, &all);
    }
    let bound =
        || json(folder, "compare never refine")["policies"][0]["above_bound_percent"].clone();
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
    let found = json(folder, "compare never-1 never-2 refine-1 refine-2");
    assert_eq!(found["seeds"], 2);
    assert_eq!(found["policies"].as_array().unwrap().len(), 2);
    let errors = refused(folder, "compare never-1 never-2 refine-1");
    assert!(errors.contains("has no run with seed 2"), "{errors}");
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
    for (line, part) in [
        ("compare a larger", "another application"),
        ("compare a", "only one folder of a run is named"),
        ("compare a a", "the same run"),
        ("compare a dear --n 10", "cannot be changed"),
        ("compare a nothing", "nothing"),
    ] {
        let errors = refused(folder, line);
        assert!(errors.contains(part), "{errors}");
    }
    let told = succeeded(command(folder, "compare a dear"));
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
        done(from, &format!("{} {rest}", flags(place)));
    };
    run(&inside, "", "--policy never --out a");
    run(folder, "inside/", "--policy refine --out b");
    let output = succeeded(command(folder, "compare inside/a b"));
    assert!(!said(&output).contains("differ"), "{}", said(&output));
    // Another seed of each policy, under another folder name, belongs to the same policy.
    run(folder, "inside/", "--policy never --seed 2 --out c");
    run(&inside, "", "--policy refine --seed 2 --out d");
    let found = json(folder, "compare inside/a b c inside/d");
    assert_eq!(found["seeds"], 2);
    // A file of the same name with other contents is another application, or another load.
    std::fs::write(inside.join("load.csv"), "0,0.25\n").unwrap();
    run(folder, "inside/", "--policy refine --out e");
    let output = succeeded(command(folder, "compare b e"));
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
    let errors = refused(folder, "compare b f");
    assert!(errors.contains("another application"), "{errors}");
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
        let found = json(
            Path::new("."),
            &format!("compare {app} --load walk --seeds 1..2 --policies {policies} --hindsight 20"),
        );
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
