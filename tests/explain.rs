//! Run folders read again, and explained.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::fs;
use std::path::Path;

use migsim::bsp::Scenario;
use migsim::error::Problem;
use migsim::experiment::{Progress, Results};
use migsim::output::{Question, Run, RunFolder, Story};
use serde_json::json;

use crate::support::experiment;

/// The run of the LU paper with n = 1000 and 25 processes, with other settings.
fn lu(settings: &[(&str, serde_json::Value)]) -> (migsim::experiment::Experiment, Results) {
    let size = [("workload.n", json!(1000)), ("workload.procs", json!(25))];
    let experiment = experiment("lu", &[&size[..], settings].concat());
    let results = experiment.run(&Progress::default()).unwrap();
    (experiment, results)
}

fn run(settings: &[(&str, serde_json::Value)]) -> Run {
    let (experiment, results) = lu(settings);
    Run::of(&experiment, &results).unwrap()
}

fn at(superstep: u64) -> Question {
    Question {
        superstep,
        process: None,
        why_not: false,
        scenario: None,
    }
}

fn tell(run: &Run, question: Question) -> Result<String, Problem> {
    Story::new(run, question).map(|story| story.text())
}

#[test]
fn the_story_of_the_lu_paper_is_told() {
    let run = run(&[]);
    let told = tell(&run, at(4)).unwrap();
    assert!(
        told.contains("the first one comes after α = 4 supersteps"),
        "{told}"
    );
    assert!(told.contains("It is not positive"), "{told}");
    assert!(told.contains("Nothing moved"), "{told}");
    let told = tell(&run, at(11)).unwrap();
    assert!(
        told.contains("the one before it, after 4, had set α to 7"),
        "{told}"
    );
    assert!(told.contains("5 processes are candidates"), "{told}");
    assert!(told.contains("5 migrations happened"), "{told}");
    // PM of p25 is 19.848 - 7.060 ms; t1 = 22.229 ms, t2 = 13.338 + 4.5 ms.
    let story = Story::new(
        &run,
        Question {
            process: Some(25),
            ..at(11)
        },
    )
    .unwrap();
    let facts = story.json();
    let potentials = facts["call"]["explanation"]["potentials"]
        .as_array()
        .unwrap();
    assert!(potentials.iter().all(|one| one["process"] == 25) && potentials.len() == 4);
    assert_eq!(
        (&facts["rank"], &facts["last_call"], &facts["next_call"]),
        (&json!(1), &json!(4), &json!(25))
    );
    let weighed = &facts["call"]["explanation"]["weighed"][0];
    let part = |key: &str| weighed[key].as_f64().unwrap();
    let judged = &facts["call"]["candidates"][0];
    assert_eq!(judged["stay_s"].as_f64().unwrap(), part("stay_compute_s"));
    assert_eq!(
        judged["go_s"].as_f64().unwrap(),
        part("go_compute_s") + part("go_operations_s")
    );
    assert_eq!(part("go_operations_s"), 4.5e-3);
    let told = story.text();
    assert!(
        told.contains("PM of p25, which is in Corisco, by cluster:"),
        "{told}"
    );
    // p7 is 10.230 - 8.789 ms short of the threshold.
    let asked = Question {
        process: Some(7),
        why_not: true,
        ..at(11)
    };
    let told = tell(&run, asked).unwrap();
    assert!(
        told.contains("p7 stays: its highest PM misses the threshold by 1.442 ms"),
        "{told}"
    );
    let told = tell(
        &run,
        Question {
            process: Some(25),
            ..asked
        },
    )
    .unwrap();
    assert!(told.contains("p25 did not stay"), "{told}");
}

#[test]
fn every_superstep_of_every_policy_has_a_story() {
    let forced = json!([{ "superstep": 5, "process": 3, "to": "Aquario" }]);
    let policies = [
        vec![("policy.name", json!("never"))],
        vec![
            ("policy.name", json!("replay")),
            ("policy.replay.decisions", forced),
        ],
        vec![("policy.name", json!("migbsp-2007"))],
        vec![],
    ];
    for policy in policies {
        let small = [("workload.n", json!(60)), ("workload.procs", json!(25))];
        let run = run(&[&small[..], &policy].concat());
        for superstep in 1..=121 {
            for scenario in [Scenario::Ii, Scenario::Iii] {
                for process in [None, Some(1), Some(25)] {
                    for why_not in [false, true] {
                        let question = Question {
                            superstep,
                            process,
                            why_not,
                            scenario: Some(scenario),
                        };
                        assert!(tell(&run, question).unwrap().contains("When"));
                    }
                }
            }
        }
        if policy.len() == 2 {
            let told = tell(&run, at(5)).unwrap();
            assert!(
                told.contains("The policy `replay` asked for a call"),
                "{told}"
            );
            assert!(told.contains("p3 is to move from"), "{told}");
        }
    }
}

#[test]
fn what_there_is_not_is_refused_with_what_there_is() {
    let run = run(&[("workload.n", json!(60))]);
    let hint = |question| {
        tell(&run, question)
            .unwrap_err()
            .hint
            .unwrap()
            .into_string()
    };
    assert!(hint(at(0)).starts_with("known supersteps: 1 to 121; calls after 4, "));
    assert!(hint(at(122)).starts_with("known supersteps: 1 to 121"));
    let nobody = Question {
        process: Some(26),
        ..at(4)
    };
    assert_eq!(hint(nobody), "known processes: 1 to 25");
    let alone = Question {
        scenario: Some(Scenario::I),
        ..at(4)
    };
    assert_eq!(hint(alone), "known scenarios with calls: ii, iii");
}

/// Writes the run folder of a small run with migrations.
fn folder(path: &Path) -> Run {
    let forced = json!([{ "superstep": 5, "process": 3, "to": "Aquario" }]);
    let policy = [
        ("policy.name", json!("replay")),
        ("policy.replay.decisions", forced),
    ];
    let small = [
        ("workload.n", json!(10)),
        ("workload.procs", json!(4)),
        ("workload.grid", json!([2, 2])),
    ];
    let (experiment, results) = lu(&[&small[..], &policy].concat());
    RunFolder::create(path)
        .unwrap()
        .write(&experiment, &results, migsim::output::Drafts::default())
        .unwrap();
    Run::of(&experiment, &results).unwrap()
}

const FILES: [&str; 4] = [
    "run.json",
    "supersteps.csv",
    "calls.jsonl",
    "migrations.csv",
];

#[test]
fn a_run_folder_is_read_as_it_was_written() {
    let scratch = tempfile::tempdir().unwrap();
    let written = folder(scratch.path());
    assert_eq!(Run::read(scratch.path()).unwrap(), written);
    assert_eq!((written.processes, written.scenarios.len()), (4, 3));
    assert_eq!(written.get(Scenario::Iii).unwrap().migrations.len(), 1);
}

#[test]
fn a_run_folder_that_is_cut_anywhere_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let written = folder(scratch.path());
    for file in FILES {
        let path = scratch.path().join(file);
        let whole = fs::read(&path).unwrap();
        for length in (0..whole.len()).step_by(7).chain([whole.len() - 1]) {
            fs::write(&path, &whole[..length]).unwrap();
            match Run::read(scratch.path()) {
                // Only the newline at the end of the manifest can be missed without a loss.
                Ok(run) => assert!(file == "run.json" && run == written, "{file} {length}"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(
                        error.exit_code() == 2 && text.contains("hint") && text.contains(file),
                        "{text}"
                    );
                }
            }
        }
        fs::remove_file(&path).unwrap();
        assert!(Run::read(scratch.path()).is_err());
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn no_byte_of_a_run_folder_makes_the_reader_or_the_story_panic() {
    let scratch = tempfile::tempdir().unwrap();
    folder(scratch.path());
    for file in FILES {
        let path = scratch.path().join(file);
        let whole = fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(5) {
            for other in [b'9', b'-', b'"', 0xff] {
                let mut changed = whole.clone();
                changed[at] = other;
                fs::write(&path, &changed).unwrap();
                if let Ok(run) = Run::read(scratch.path()) {
                    for superstep in [1, 5, 6, 21] {
                        let question = Question {
                            process: Some(3),
                            ..self::at(superstep)
                        };
                        let _ =
                            Story::new(&run, question).map(|story| (story.text(), story.json()));
                    }
                }
            }
        }
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn a_folder_of_another_version_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    folder(scratch.path());
    let path = scratch.path().join("run.json");
    let text = fs::read_to_string(&path).unwrap();
    for (ours, theirs) in [
        ("migsim-run-1", "migsim-run-0"),
        (env!("CARGO_PKG_VERSION"), "0.0.1"),
    ] {
        fs::write(&path, text.replacen(ours, theirs, 1)).unwrap();
        let error = Run::read(scratch.path()).unwrap_err();
        assert!(
            error.to_string().contains("was written by version"),
            "{error}"
        );
    }
}

#[test]
fn what_another_policy_says_of_alpha_is_told() {
    let mut run = run(&[]);
    for call in run.scenarios.iter_mut().flat_map(|one| &mut one.calls) {
        // A policy with a number called `alpha`, but without the rest of what MigBSP says.
        call.explanation
            .retain(|key, _| ["alpha", "d"].contains(&key.as_str()));
    }
    let told = tell(&run, at(11)).unwrap();
    assert!(
        told.contains("  alpha: 7\n") && told.contains("  d: 0.5\n"),
        "{told}"
    );
}
