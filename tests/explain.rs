//! Run folders: read again, and explained.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::Path};

use migsim::{
    Registry,
    bsp::Scenario,
    error::Problem,
    experiment::{Experiment, Progress, RecordedRun, ReschedulingPlan, Results},
    output::{CallExplanation, EvaluatedCall, Question, Run, RunFolder},
};
use serde_json::json;

use crate::support::{experiment, of_flags};

/// The run of the LU paper with n = 1000 and 25 processes, with other settings.
fn lu(settings: &[(&str, serde_json::Value)]) -> (migsim::experiment::Experiment, Results) {
    let size = [("workload.n", json!(1000)), ("workload.procs", json!(25))];
    let experiment = experiment("lu", &[&size[..], settings].concat());
    let results = experiment.run(&Progress::default()).unwrap();
    (experiment, results)
}

fn run(settings: &[(&str, serde_json::Value)]) -> Run {
    let (experiment, results) = lu(settings);
    Run::from_results(&experiment, &results).unwrap()
}

fn at(superstep: u64) -> Question {
    Question {
        superstep,
        process: None,
        asks_why_not_moved: false,
        scenario: None,
    }
}

fn tell(run: &Run, question: Question) -> Result<String, Problem> {
    CallExplanation::new(run, question, None).map(|story| story.to_text())
}

#[test]
fn the_decision_of_the_lu_paper_is_explained() {
    let run = run(&[]);
    let told = tell(&run, at(4)).unwrap();
    assert!(
        told.contains("the first call comes after α = 4 supersteps"),
        "{told}"
    );
    assert!(told.contains("It is not positive"), "{told}");
    assert!(told.contains("No process moved"), "{told}");
    let told = tell(&run, at(11)).unwrap();
    assert!(
        told.contains(
            "the call after superstep 4 had set α, the number of supersteps between two calls, to 7"
        ),
        "{told}"
    );
    assert!(told.contains("5 processes are candidates"), "{told}");
    assert!(told.contains("caused 5 migrations"), "{told}");
    // The record has the parts of communication and computation of t1 and t2.
    let story = CallExplanation::new(
        &run,
        Question {
            process: Some(25),
            ..at(11)
        },
        None,
    )
    .unwrap();
    let facts = story.to_json();
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
    assert_eq!(
        judged["stay_s"].as_f64().unwrap(),
        part("stay_compute_s") + part("stay_communication_s")
    );
    assert_eq!(
        judged["go_s"].as_f64().unwrap(),
        part("go_compute_s") + part("go_communication_s") + part("go_operations_s")
    );
    assert_eq!(part("go_operations_s"), 4.5e-3);
    let told = story.to_text();
    assert!(
        told.contains("Potential of migration (PM: gain of computation and communication less the cost of the move) of p25, which is in Corisco, to each cluster:"),
        "{told}"
    );
    // Process p7 is 10.325 - 8.884 ms below the threshold.
    let asked = Question {
        process: Some(7),
        asks_why_not_moved: true,
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
fn each_rule_for_candidates_has_its_own_reason_to_stay() {
    let rules = [
        (
            "policy.migbsp.heuristic",
            "two",
            "only the process with the highest PM can be a candidate",
        ),
        (
            "policy.migbsp.x_of",
            "of-processes",
            "processes with a higher PM come first",
        ),
    ];
    for (key, rule, reason) in rules {
        let run = run(&[(key, json!(rule))]);
        for (superstep, reason) in [(4, "its highest PM misses zero by 1.990 ms"), (11, reason)] {
            let asked = Question {
                process: Some(7),
                asks_why_not_moved: true,
                ..at(superstep)
            };
            let told = tell(&run, asked).unwrap();
            assert!(told.contains(&format!("p7 stays: {reason}")), "{told}");
        }
    }
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
                            asks_why_not_moved: why_not,
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
                told.contains("The policy `replay` requested a rescheduling call"),
                "{told}"
            );
            assert!(told.contains("p3 is to move from"), "{told}");
        }
    }
}

#[test]
fn unknown_parts_of_a_run_are_refused_with_the_known_ones() {
    let run = run(&[("workload.n", json!(60))]);
    let hint = |question| {
        tell(&run, question)
            .unwrap_err()
            .hint
            .unwrap()
            .into_string()
    };
    assert!(hint(at(0)).starts_with(
        "choose a superstep from 1 to 121; rescheduling calls took place after supersteps 4, "
    ));
    assert!(hint(at(122)).starts_with("choose a superstep from 1 to 121"));
    let nobody = Question {
        process: Some(26),
        ..at(4)
    };
    assert_eq!(hint(nobody), "choose a process from 1 to 25");
    let alone = Question {
        scenario: Some(Scenario::I),
        ..at(4)
    };
    assert_eq!(
        hint(alone),
        "choose a scenario with rescheduling calls: ii, iii"
    );
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
        .write_results(
            &experiment,
            &results,
            migsim::output::PendingResults::default(),
        )
        .unwrap();
    Run::from_results(&experiment, &results).unwrap()
}

#[test]
fn a_run_folder_is_read_as_it_was_written() {
    let scratch = tempfile::tempdir().unwrap();
    let written = folder(scratch.path());
    assert_eq!(
        Run::read(&Registry::standard(), scratch.path()).unwrap(),
        written
    );
    assert_eq!((written.process_count, written.scenarios.len()), (4, 3));
    assert_eq!(written.scenario(Scenario::Iii).unwrap().migrations.len(), 1);
}

#[test]
fn a_folder_of_another_version_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    folder(scratch.path());
    let path = scratch.path().join("run.json");
    let text = fs::read_to_string(&path).unwrap();
    for (ours, theirs) in [
        ("migsim-run-1", "migsim-run-0"),
        (env!("CARGO_PKG_VERSION"), "1.0.0"),
    ] {
        fs::write(&path, text.replacen(ours, theirs, 1)).unwrap();
        let error = Run::read(&Registry::standard(), scratch.path()).unwrap_err();
        assert!(
            error.to_string().contains("was written by version"),
            "{error}"
        );
    }
}

#[test]
fn the_record_of_another_policy_with_alpha_is_listed() {
    let mut run = run(&[]);
    for call in run.scenarios.iter_mut().flat_map(|one| &mut one.calls) {
        // The policy has a number called `alpha`, but no other term of MigBSP.
        call.explanation
            .retain(|key, _| ["alpha", "d"].contains(&key.as_str()));
    }
    let told = tell(&run, at(11)).unwrap();
    assert!(
        told.contains("  alpha: 7\n") && told.contains("  d: 0.5\n"),
        "{told}"
    );
}

/// Two processes that compute for 1 s on Corisco, and for 0.6 s on Aquario. Calls come after supersteps 2 and 6 of 8 and cost nothing. A
/// move takes 1.5 s, and moves are made one after the other.
fn pair(moves: &[u32]) -> Experiment {
    let forced = |process: &u32| json!({ "superstep": 2, "process": process, "to": format!("Aquario-{process}") });
    let mut decisions: Vec<_> = moves.iter().map(forced).collect();
    decisions.push(json!({ "superstep": 6, "process": "p1", "to": "Corisco-0" }));
    of_flags(&[
        ("platform", json!("ufrgs")),
        ("extends", json!("none")),
        ("workload.app", json!("synthetic")),
        ("workload.procs", json!(2)),
        ("workload.supersteps", json!(8)),
        ("workload.pattern", json!("none")),
        ("workload.instructions", json!("1.2 Ginstr")),
        ("mapping", json!(["Corisco-0", "Corisco-1"])),
        ("runtime.barrier.kind", json!("ideal")),
        ("costs.call.model", json!("none")),
        ("costs.move.transfer", json!("none")),
        ("costs.move.fixed", json!("1.5 s")),
        ("costs.move.order", json!("serial")),
        ("policy.name", json!("replay")),
        ("policy.replay.decisions", json!(decisions)),
    ])
}

fn results(experiment: &Experiment) -> (Results, Run) {
    let results = experiment.run(&Progress::default()).unwrap();
    let run = Run::from_results(experiment, &results).unwrap();
    (results, run)
}

#[test]
fn the_gain_of_moves_is_that_over_the_same_run_without_them() {
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    let experiment = pair(&[1, 2]);
    let (_, run) = results(&experiment);
    let case = EvaluatedCall::find_by_question(&run, at(2))
        .unwrap()
        .unwrap();
    let effect = case
        .simulate_effect(&experiment, &Progress::default())
        .unwrap();
    // Supersteps 3 to 6 take 4 s on Corisco and 2.4 s on Aquario. Both moves take 3 s; a gain of 0.4 s per superstep pays them back after
    // 7.5.
    assert_eq!((effect.first_superstep, effect.last_superstep), (3, 6));
    close(effect.makespan_without_moves.total.get(), 4.0);
    close(effect.makespan_with_moves.total.get(), 2.4);
    close(effect.move_delay.get(), 3.0);
    close(effect.net_gain_s(), -1.4);
    assert_eq!(effect.break_even_supersteps(), Some(8));
    assert_eq!(effect.predicted_makespans, None);
    let effect = Some(Ok(effect));
    let told = CallExplanation::new(&run, at(2), effect.as_ref()).unwrap();
    for sentence in [
        "The effect of the moves on the total time of supersteps 3 to 6 (until the next call):",
        "predicted: no value, since the policy predicts no times.",
        "realised, compared with a repetition of the run without these moves: 4.000 s without these moves, 2.400 s with these moves, which is a gain of 1.600 s",
        "The moves delayed the run by 3.000 s and do not pay for themselves: they gain 400.000 ms per superstep, so that this takes 8 supersteps, but only 6 supersteps are left after the call.",
        "If the cost of the moves is included, superstep 6 ended 1.400 s later than without these moves.",
    ] {
        assert!(told.to_text().contains(sentence), "{}", told.to_text());
    }
    let facts = told.to_json();
    assert_eq!(facts["effect"]["break_even_supersteps"], 8);
    assert_eq!(facts["effect"]["supersteps_left"], 6);
    close(facts["call"]["realised_gain_s"].as_f64().unwrap(), 1.6);
    assert!(facts["call"]["predicted_gain_s"].is_null());
    // The processes return to Corisco, and all wait for p1 again.
    let case = EvaluatedCall::find_by_question(&run, at(6))
        .unwrap()
        .unwrap();
    let effect = case
        .simulate_effect(&experiment, &Progress::default())
        .unwrap();
    assert_eq!(
        (
            effect.first_superstep,
            effect.last_superstep,
            effect.break_even_supersteps()
        ),
        (7, 8, None)
    );
    close(effect.gain_s(), -0.8);
    // The move of one process alone gains nothing, because the other one is waited for.
    let experiment = pair(&[1]);
    let (_, run) = results(&experiment);
    let case = EvaluatedCall::find_by_question(&run, at(2))
        .unwrap()
        .unwrap();
    let effect = case
        .simulate_effect(&experiment, &Progress::default())
        .unwrap();
    close(effect.gain_s(), 0.0);
    let effect = Ok(effect);
    let story = CallExplanation::new(&run, at(2), Some(&effect)).unwrap();
    assert!(
        story
            .to_text()
            .contains("save no time afterwards: they do not pay for themselves.")
    );
}

#[test]
fn the_threshold_counts_from_processes_that_are_best_elsewhere() {
    let experiment = of_flags(&[
        ("platform", json!("ufrgs")),
        ("workload.app", json!("synthetic")),
        ("workload.procs", json!(32)),
        ("workload.supersteps", json!(61)),
        ("policy.migbsp.sharing", json!("fair-and-inflicted")),
        ("policy.migbsp.set_index", json!("mean-clock")),
        ("policy.migbsp.own_cluster", json!("competes")),
        ("workload.memory", json!("1 MB")),
        ("load", json!({ "kind": "walk", "values": "reserved" })),
    ]);
    let (_, run) = results(&experiment);
    let told = tell(&run, at(60)).unwrap();
    let facts = CallExplanation::new(&run, at(60), None).unwrap().to_json();
    let explanation = &facts["call"]["explanation"];
    let number = |key: &str| explanation[key].as_f64().unwrap();
    let x = run.experiment_settings["policy"]["migbsp"]["x"]
        .as_f64()
        .unwrap();
    assert!(number("highest_potential_s") > number("highest_elsewhere_s"));
    assert!((number("threshold_s") - x * number("highest_elsewhere_s")).abs() < 1e-12);
    for words in [
        "Among the processes whose best cluster is not their own, p2 has the highest PM: 9.531 s, to Aquario. A candidate needs a PM above 6.481 s (x = 0.68 times the highest, 9.531 s): 2 processes are candidates.",
        "3 processes have a higher PM, but to their present cluster: these processes stay, and their PM does not count (the highest of these PM is 10.760 s, that of p31 to Aquario).",
        "(times 3 = 2 for its share of the host + 1 for the slowdown of the process there)",
        "p2 would lose t2 - t1 = 23.935 ms per superstep; t2 excludes the cost of the move.",
    ] {
        assert!(told.contains(words), "{told}");
    }
    assert!(!told.contains("The highest PM of all is"), "{told}");
}

#[test]
fn t1_and_t2_predict_the_makespan_of_the_next_supersteps() {
    let (experiment, results) = lu(&[]);
    let run = Run::from_results(&experiment, &results).unwrap();
    let case = EvaluatedCall::find_by_question(&run, at(11))
        .unwrap()
        .unwrap();
    let effect = case
        .simulate_effect(&experiment, &Progress::default())
        .unwrap();
    let predicted = effect.predicted_makespans.unwrap();
    assert_eq!(
        (
            predicted.first_observed_superstep,
            predicted.last_observed_superstep
        ),
        (5, 11)
    );
    let spent = |from: usize, until: usize| {
        let rows = &run.scenario(Scenario::Iii).unwrap().supersteps[from - 1..until];
        rows.iter().map(|row| row.end_s - row.start_s).sum::<f64>()
    };
    // The prediction is for 14 supersteps like those since the last call.
    assert!((predicted.without_moves.get() - 14.0 / 7.0 * spent(5, 11)).abs() < 1e-12);
    assert!(predicted.with_moves.get() < predicted.without_moves.get());
    assert!((effect.makespan_with_moves.total.get() - spent(12, 25)).abs() < 1e-12);
}

/// Lists the trials of all calls of a run.
fn trials(results: &Results, run: &Run) -> Vec<(RecordedRun, bool)> {
    let calls = &run.scenario(Scenario::Iii).unwrap().calls;
    let outcome = &results.get(Scenario::Iii).unwrap().outcome;
    let last = results.scenario_runs[0].outcome.supersteps.len() as u64;
    let judged = calls.iter().enumerate();
    let judged = judged.filter(|(_, call)| call.superstep < last);
    // It is enough to check the first calls of each kind.
    let (moving, quiet): (Vec<_>, Vec<_>) =
        judged.partition(|(_, call)| !call.migrations.is_empty());
    let judged = moving.into_iter().take(4).chain(quiet.into_iter().take(2));
    judged
        .map(|(judged, call)| {
            let trial = RecordedRun {
                plan: ReschedulingPlan::from_outcome(outcome),
                superstep_ends_s: outcome.supersteps.iter().map(|one| one.end.get()).collect(),
                examined_call_index: judged,
                predicted_changes: Some(Vec::new()),
            };
            (trial, call.migrations.is_empty())
        })
        .collect()
}

#[test]
fn a_call_without_moves_has_no_effect_and_every_effect_is_the_difference_of_two_runs() {
    let small = [("workload.n", json!(300)), ("workload.procs", json!(25))];
    let movers = [("costs.move.wait", json!("movers"))];
    let old = [
        ("policy.name", json!("migbsp-2007")),
        ("policy.migbsp-2007.threshold", json!(0.5)),
    ];
    let loaded = [
        ("load", json!({ "kind": "walk", "values": "reserved" })),
        ("runtime.sends", json!("concurrent")),
    ];
    let overlapped = [("costs.call.waiting", json!("overlapped"))];
    let mut quiet = 0;
    let mut moving = 0;
    for settings in [&[][..], &movers, &old, &loaded, &overlapped] {
        let experiment = experiment("lu", &[&small[..], settings].concat());
        let (results, run) = results(&experiment);
        let outcome = &results.get(Scenario::Iii).unwrap().outcome;
        let mut is_first = true;
        for (trial, is_quiet) in trials(&results, &run) {
            let judge = || {
                experiment
                    .call_effect(&trial, &Progress::default())
                    .unwrap()
            };
            let effect = judge();
            if is_first {
                assert_eq!(effect, judge());
            }
            let predicted = effect.predicted_makespans.unwrap();
            assert_eq!(
                predicted.with_moves.get(),
                predicted.without_moves.get(),
                "nobody is foreseen to change"
            );
            if is_quiet {
                quiet += 1;
                assert_eq!(
                    (
                        effect.gain_s(),
                        effect.move_delay.get(),
                        effect.net_gain_s()
                    ),
                    (0.0, 0.0, 0.0)
                );
                assert_eq!(effect.makespan_with_moves, effect.makespan_without_moves);
                continue;
            }
            moving += 1;
            let end = |superstep: u64| {
                outcome.supersteps[usize::try_from(superstep).unwrap() - 1]
                    .end
                    .get()
            };
            let call = &outcome.calls[trial.examined_call_index];
            // The time that passes is the time of the supersteps plus the delay by the moves.
            let passed = end(effect.last_superstep) - (call.start.get() + call.cost.get());
            assert!(
                (effect.makespan_with_moves.total.get() + effect.move_delay.get() - passed).abs()
                    < 1e-9
            );
            assert!(
                (effect.makespan_with_moves.computation_time.get()
                    + effect.makespan_with_moves.time_after_computation.get()
                    - effect.makespan_with_moves.total.get())
                .abs()
                    < 1e-9
            );
            if is_first && settings.is_empty() {
                // No process has moved before, so the supersteps take the same time as without a policy.
                let base = &results.get(Scenario::I).unwrap().outcome.supersteps;
                let range = usize::try_from(effect.first_superstep).unwrap() - 1
                    ..usize::try_from(effect.last_superstep).unwrap();
                let alone: f64 = base[range]
                    .iter()
                    .map(|dates| dates.end.since(dates.start).get())
                    .sum();
                assert!((effect.makespan_without_moves.total.get() - alone).abs() < 1e-9 * alone);
            }
            is_first = false;
        }
    }
    assert!(quiet > 5 && moving > 4, "{quiet} {moving}");
}

#[test]
fn a_run_that_has_changed_is_reported() {
    let (_, run) = results(&pair(&[1, 2]));
    let case = EvaluatedCall::find_by_question(&run, at(2))
        .unwrap()
        .unwrap();
    let slower = experiment(
        "lu",
        &[
            ("workload.n", json!(10)),
            ("workload.procs", json!(2)),
            ("workload.grid", json!([1, 2])),
        ],
    );
    let why = case
        .simulate_effect(&slower, &Progress::default())
        .unwrap_err();
    assert_eq!(
        why,
        "a repetition of the run with its recorded calls gives other times"
    );
    let other = experiment("lu", &[("platform", json!("ufrgs-as-printed"))]);
    let why = run.check_inputs_are_unchanged(&other).unwrap_err().message;
    assert!(why.ends_with("has changed since the run"), "{why}");
    let told = CallExplanation::new(&run, at(2), Some(&Err(why)))
        .unwrap()
        .to_text();
    assert!(
        told.contains("The effect of the moves is unknown"),
        "{told}"
    );
    assert!(
        told.contains("; in scenario i (application only) the same supersteps took 4.000 s."),
        "{told}"
    );
}

#[test]
fn replay_repeats_the_calls_of_a_folder_with_their_prices() {
    let scratch = tempfile::tempdir().unwrap();
    let settings = |policy: &str| {
        [
            ("workload.app", json!("synthetic")),
            ("workload.procs", json!(12)),
            ("workload.supersteps", json!(40)),
            ("workload.spread", json!(0.8)),
            ("platform", json!("ufrgs")),
            ("extends", json!("none")),
            ("policy.name", json!(policy)),
        ]
    };
    let experiment = of_flags(&settings("greedy-refine/every=10"));
    let (results, _) = results(&experiment);
    RunFolder::create(scratch.path())
        .unwrap()
        .write_results(
            &experiment,
            &results,
            migsim::output::PendingResults::default(),
        )
        .unwrap();
    let calls = scratch.path().join("calls.jsonl");
    let mut again = settings("replay").to_vec();
    again.push(("policy.replay.file", json!(calls.to_str().unwrap())));
    let again = self::results(&of_flags(&again)).0;
    let hash = |results: &Results| {
        results
            .get(Scenario::Iii)
            .unwrap()
            .outcome
            .event_hash
            .clone()
    };
    assert_eq!(hash(&again), hash(&results));
}
