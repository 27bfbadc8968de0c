//! Tests of published decisions against simulated ones.

use super::*;

fn call(superstep: u64, processes: &[u64]) -> PaperCall {
    let moved = |&process: &u64| PaperMove {
        process,
        from_cluster: "C".into(),
        to_cluster: "A".into(),
        from_host: "C-0".into(),
        to_host: "A-0".into(),
    };
    PaperCall {
        superstep,
        superstep_end_s: superstep as f64,
        alpha_before_and_after: Some((4, 4 + superstep)),
        candidates_with_clusters: processes
            .iter()
            .map(|&process| (process, "C".into()))
            .collect(),
        moves: processes.iter().map(moved).collect(),
        smallest_decision_margin_s: None,
    }
}

fn verdict(decision: &Value, calls: &[PaperCall]) -> Verdict {
    let mut whole =
        json!({ "id": "x", "config": {}, "superstep": null, "kind": "call", "count": null });
    whole
        .as_object_mut()
        .unwrap()
        .extend(decision.as_object().unwrap().clone());
    let decision = serde_json::from_value(whole).unwrap();
    let run = RunCalls {
        initial_alpha: None,
        calls,
    };
    verdict_for_run(&decision, &[], run)
}

#[test]
fn a_migration_matches_in_all_that_is_published_or_is_near() {
    let calls = [call(4, &[]), call(11, &[21, 22])];
    let migration = |superstep: u64, processes: &[&str]| json!({ "superstep": superstep, "kind": "migration", "processes": processes, "from": "C", "to": "A" });
    assert_eq!(
        verdict(&migration(11, &["p21", "p22"]), &calls),
        Verdict::Match
    );
    assert_eq!(verdict(&migration(11, &[]), &calls), Verdict::Match);
    assert_eq!(
        verdict(&migration(11, &["p21", "p23"]), &calls),
        Verdict::Near
    );
    assert_eq!(
        verdict(&migration(9, &["p21", "p22"]), &calls),
        Verdict::Near
    );
    assert_eq!(verdict(&migration(4, &["p21"]), &calls), Verdict::Mismatch);
    assert_eq!(
        verdict(&json!({ "kind": "migration", "count": 2 }), &calls),
        Verdict::Match
    );
}

#[test]
fn a_migration_of_others_altogether_is_none() {
    let calls = [call(11, &[21, 22])];
    let told = |more: &Value| {
        let mut whole = json!({ "superstep": 11, "kind": "migration", "to": "A" });
        whole
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        verdict(&whole, &calls)
    };
    assert_eq!(
        told(&json!({ "processes": ["p23", "p24"], "from": "C" })),
        Verdict::Mismatch
    );
    assert_eq!(told(&json!({ "from": "D", "count": 2 })), Verdict::Mismatch);
    assert_eq!(told(&json!({ "from": "C", "count": 3 })), Verdict::Near);
}

#[test]
fn a_call_comes_at_its_superstep_and_at_its_time() {
    let calls = [call(10, &[]), call(22, &[])];
    let told = |more: Value| verdict(&more, &calls);
    assert_eq!(
        told(json!({ "superstep": 10, "elapsed_s": 10.4 })),
        Verdict::Match
    );
    assert_eq!(
        told(json!({ "superstep": 10, "elapsed_s": 12.0 })),
        Verdict::Near
    );
    // The superstep is printed as 10, which the rest of the paper contradicts.
    let read = |likely: u64| told(json!({ "superstep": 10, "superstep_likely": likely }));
    assert_eq!(read(22), Verdict::Match);
    assert_eq!(read(24), Verdict::Near);
    assert_eq!(read(26), Verdict::Mismatch);
}

#[test]
fn hosts_and_candidates_that_a_paper_names_are_compared() {
    let mut call = call(112, &[34, 35]);
    call.candidates_with_clusters.insert(0, (21, "C".into()));
    for (one, host) in call.moves.iter_mut().zip(["Aquario-17", "Aquario-18"]) {
        one.to_cluster = "Aquario".into();
        one.to_host = host.into();
    }
    let told = |nodes: Value, candidates: &[&str]| {
        // Named candidates count more than their number, in which a paper may be wrong.
        let decision = json!({ "superstep": 112, "kind": "migration", "nodes": nodes, "candidates": 2, "candidate_processes": candidates });
        verdict(&decision, std::slice::from_ref(&call))
    };
    let right = json!({ "p34": "a18", "p35": "a19" });
    let all = ["p21", "p34-p35"];
    assert_eq!(told(right.clone(), &all), Verdict::Match);
    assert_eq!(told(json!({ "p34": "a17" }), &all), Verdict::Near);
    assert_eq!(told(json!({ "p34": "c18" }), &all), Verdict::Near);
    assert_eq!(told(right.clone(), &["p34", "p35"]), Verdict::Near);
    assert_eq!(told(right, &[]), Verdict::Near); // the paper says two
}

#[test]
fn words_are_read_as_ranges() {
    let calls = [call(4, &[]), call(11, &[21]), call(25, &[])];
    let none = |superstep: &str| json!({ "superstep": superstep, "kind": "no_migration" });
    assert_eq!(verdict(&none("after 11"), &calls), Verdict::Match);
    assert_eq!(verdict(&none("all calls"), &calls), Verdict::Mismatch);
    assert_eq!(verdict(&none("4 to 10"), &calls), Verdict::Match);
    assert_eq!(
        verdict(&none("now and then"), &calls),
        Verdict::NotCheckable
    );
    assert_eq!(
        verdict(&json!({ "superstep": "after 4", "kind": "stable" }), &calls),
        Verdict::Match
    );
    assert_eq!(
        verdict(
            &json!({ "superstep": "4 to 30", "kind": "unstable" }),
            &calls
        ),
        Verdict::Mismatch
    );
}

#[test]
fn the_start_ends_with_the_first_migration() {
    let with_alpha = |superstep, alpha, processes: &[u64]| PaperCall {
        alpha_before_and_after: Some(alpha),
        ..call(superstep, processes)
    };
    // The interval stays 4 until p21 has moved, and is 8 from the call on at which p22 moves.
    let calls = [
        with_alpha(4, (4, 4), &[21]),
        with_alpha(8, (4, 8), &[22]),
        with_alpha(16, (8, 16), &[]),
    ];
    let state = |superstep: &str, kind: &str| json!({ "superstep": superstep, "kind": kind });
    assert_eq!(verdict(&state("start", "unstable"), &calls), Verdict::Match);
    assert_eq!(
        verdict(&state("start", "stable"), &calls),
        Verdict::Mismatch
    );
    // A single call decides whether the interval grows.
    assert_eq!(
        verdict(&state("after migrations", "stable"), &calls),
        Verdict::Match
    );
    assert_eq!(
        verdict(&state("after migrations", "unstable"), &calls),
        Verdict::Mismatch
    );
}

#[test]
fn schedules_compare_their_stated_part() {
    let schedule = |calls: &[u64]| {
        serde_json::from_value(json!({ "id": "s", "config": {}, "calls": calls })).unwrap()
    };
    let runs = [vec![call(4, &[]), call(9, &[]), call(15, &[])]];
    assert_eq!(
        compare_schedule(&schedule(&[4, 9]), &runs).verdict,
        Verdict::Match
    );
    assert_eq!(
        compare_schedule(&schedule(&[4, 11]), &runs).verdict,
        Verdict::Near
    );
    assert_eq!(
        compare_schedule(&schedule(&[4, 28]), &runs).verdict,
        Verdict::Mismatch
    );
}
