//! Sentences follow from records: statements about candidates, effects of moves and the ledger agree with the numbers of drawn runs.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod drawn;
mod effects;

use migsim::{
    bsp::Scenario,
    experiment::{Experiment, MakespanTerm, Progress},
    output::{CallExplanation, Question, RecordedCall, Run, ScenarioRecords},
};
use serde_json::json;

use crate::support::draws;

/// Checks that the statements about candidates agree with the record.
fn check_candidates(run: &Run, this: &ScenarioRecords, call: &RecordedCall, what: &str) {
    let question = Question {
        superstep: call.superstep,
        process: None,
        asks_why_not_moved: false,
        scenario: Some(this.scenario),
    };
    let text = CallExplanation::new(run, question, None).unwrap().to_text();
    let candidates = &call.candidates;
    if text.contains("no process is a candidate") {
        assert!(candidates.is_empty(), "{what}: {text}");
    }
    if text.contains("alone is a candidate") {
        let own = format!("p{} alone", candidates[0].process);
        assert!(
            candidates.len() == 1 && text.contains(&own),
            "{what}: {text}"
        );
    }
}

/// Checks that the terms of the ledger add up to the difference of the makespans, and those of calls to the cost of calls.
fn check_ledger(run: &Run, this: &ScenarioRecords, experiment: &Experiment, what: &str) {
    let check = |value: f64, expected: f64| {
        let scale = value.abs().max(expected.abs());
        let is_equal = (value - expected).abs() <= 1e-9 * scale + 1e-12;
        assert!(is_equal, "{what}: {value} is not {expected}");
    };
    let ledger = this.makespan_difference.as_ref().unwrap();
    let sum_of = |is_counted: &dyn Fn(MakespanTerm) -> bool| -> f64 {
        let terms = ledger.seconds_by_term.iter();
        let counted = terms.filter(|(term, _)| is_counted(*term));
        counted.map(|(_, seconds)| seconds).sum()
    };
    let base = run.scenario(Scenario::I).unwrap();
    check(ledger.sum_s, this.makespan_s - base.makespan_s);
    check(ledger.sum_s, sum_of(&|_| true));
    if experiment.resolved_settings["costs"]["call"]["waiting"] != "overlapped" {
        let calls = [
            MakespanTerm::CallMessages,
            MakespanTerm::CallWork,
            MakespanTerm::CallWaiting,
        ];
        let costs = this.calls.iter().map(|call| call.cost_s).sum();
        check(sum_of(&|term| calls.contains(&term)), costs);
    }
}

#[test]
fn sentences_and_ledgers_of_drawn_runs_agree_with_their_records() {
    let count = draws(40, 300);
    let mut ran = 0;
    for index in 0..count {
        let scratch = tempfile::tempdir().unwrap();
        let Some(experiment) = drawn::experiment(index, scratch.path()) else {
            continue;
        };
        let Ok(results) = experiment.run(&Progress::default()) else {
            continue;
        };
        let run = Run::from_results(&experiment, &results).unwrap();
        let what = format!("run {index}");
        for this in run
            .scenarios
            .iter()
            .filter(|one| one.scenario != Scenario::I)
        {
            check_ledger(&run, this, &experiment, &what);
            for call in this.calls.iter().take(5) {
                check_candidates(&run, this, call, &what);
            }
        }
        ran += 1;
    }
    assert!(10 * ran >= 9 * count, "{ran} of {count} runs can be run");
}

#[test]
fn names_that_an_older_folder_has_are_read() {
    let older = json!({
        "scenario": "iii", "superstep": 4, "start_s": 0.0, "cost_s": 0.0, "migration_s": 0.0, "applied": true, "policy": "migbsp",
        "candidates": [], "migrations": [], "predicted_gain_s": 0.5, "realised_gain_s": 1.5, "explanation": {},
    });
    let call: RecordedCall = serde_json::from_value(older).unwrap();
    assert_eq!(call.t1_minus_t2_sum_s, Some(0.5));
    assert_eq!(call.gain_on_i_until_next_call_s, Some(1.5));
}
