//! Runs that stop at each barrier: with the moves of a policy they equal the policy's run, and copies of them continue independently.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use migsim::{
    bsp::{Scenario, Setup, Stepper},
    experiment::{Experiment, Layers, Limits, Progress},
    policy::{Decision, Migration},
};

/// Makes an experiment with 8 processes that `greedy` balances every 7 of 30 supersteps, and with other settings.
fn experiment(settings: &[(&str, &str)]) -> Experiment {
    let common = [
        ("workload.app", "synthetic"),
        ("workload.procs", "8"),
        ("workload.supersteps", "30"),
        ("workload.spread", "0.8"),
        ("workload.drift", "0.5"),
        ("policy.name", "greedy/every=7"),
    ];
    let all = common.iter().chain(settings);
    let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.into());
    let layers = Layers::from_pairs(all.map(|&(key, text)| (key, value(text))));
    Experiment::load(&layers, Limits::default()).unwrap()
}

/// Settings of every kind that affect how a superstep ends and how a call continues.
const CASES: [&[(&str, &str)]; 16] = [
    &[],
    &[("runtime.shortcuts", "none")],
    &[("runtime.shortcuts", "at-once")],
    &[("workload.drift", "0"), ("costs.call.model", "additive")],
    &[("load", r#"{ "kind": "walk" }"#)],
    &[
        ("load", r#"{ "kind": "walk" }"#),
        ("runtime.shortcuts", "none"),
    ],
    &[
        ("load", r#"{ "kind": "on-off" }"#),
        ("runtime.load", "present"),
    ],
    &[("runtime.barrier.kind", "central")],
    &[("runtime.barrier.kind", "tree")],
    &[
        ("runtime.barrier.kind", "sequential"),
        ("runtime.barrier.release", "sequential"),
    ],
    &[
        ("runtime.barrier.kind", "dissemination"),
        ("runtime.barrier.notices", "packets"),
    ],
    &[
        ("costs.move.wait", "movers"),
        ("costs.move.order", "serial"),
    ],
    &[
        ("costs.call.order", "sequential"),
        ("costs.move.wait", "movers"),
    ],
    &[("network", r#"{ "model": "simgrid-3.9" }"#)],
    &[("network.slow_start", "true")],
    &[("network.queues", "true")],
];

/// Settings without barriers. Fast processes run ahead, so that a call comes after the last superstep that some process has begun.
const WITHOUT_BARRIERS: [&[(&str, &str)]; 2] = [
    &[("runtime.barrier.kind", "none")],
    &[
        ("runtime.barrier.kind", "released-by-first"),
        ("load", r#"{ "kind": "walk" }"#),
    ],
];

/// Runs to the end with these decisions, each after its superstep, counted from 0; drops the history at each barrier if `forgets`.
fn driven<'a>(setup: &'a Setup<'a>, decisions: &[(usize, Decision)], forgets: bool) -> Stepper<'a> {
    let mut stepper = Stepper::new(setup).unwrap();
    let mut left = decisions.iter().peekable();
    while !stepper.is_over() {
        // Reading the view changes nothing.
        let superstep = stepper.view().unwrap().superstep;
        let next = left.next_if(|decision| decision.0 <= superstep);
        if forgets {
            stepper.forget_history();
        }
        stepper.advance(next.map(|next| next.1.clone())).unwrap();
    }
    stepper
}

#[test]
fn a_run_driven_by_the_decisions_of_a_policy_is_the_run_of_the_policy() {
    for settings in CASES {
        let experiment = experiment(settings);
        let scenario = Scenario::Iii;
        let run = experiment.run_scenario(scenario, &Progress::default(), &mut (), None);
        let outcome = run.unwrap().outcome;
        let calls = outcome.calls.iter();
        let decisions: Vec<_> = calls
            .map(|call| (call.superstep, call.decision.clone()))
            .collect();
        assert!(
            decisions.iter().any(|one| !one.1.migrations.is_empty()),
            "{settings:?}"
        );
        let setup = experiment.scenario_setup(scenario);
        let driven_run = driven(&setup, &decisions, false);
        let forgetful = driven(&setup, &decisions, true);
        assert_eq!(forgetful.now(), driven_run.now(), "{settings:?}");
        assert_eq!(driven_run.finish().unwrap(), outcome, "{settings:?}");
    }
}

/// Decides that process 1 changes places with process 2 after each third superstep, or moves to the last host once.
fn decision(superstep: usize, kind: usize, view_hosts: usize) -> Option<Decision> {
    match kind {
        0 if superstep % 3 == 2 => {
            let to = superstep % view_hosts;
            Some(Decision::from_migrations(vec![
                Migration::new(0, to),
                Migration::new(1, to / 2),
            ]))
        }
        1 if superstep == 17 => Some(Decision::from_migrations(vec![Migration::new(
            0,
            view_hosts - 1,
        )])),
        _ => None,
    }
}

/// Advances by [`decision`] of a kind up to the barrier of a superstep, or to the end.
fn advance(stepper: &mut Stepper<'_>, kind: usize, until: usize) {
    while !stepper.is_over() {
        let view = stepper.view().unwrap();
        let (superstep, hosts) = (view.superstep, view.platform.hosts.len());
        if superstep == until {
            return;
        }
        stepper.advance(decision(superstep, kind, hosts)).unwrap();
    }
}

#[test]
fn copies_with_different_decisions_are_the_runs_with_these_decisions() {
    for settings in CASES.into_iter().chain(WITHOUT_BARRIERS) {
        let experiment = experiment(settings);
        let setup = experiment.scenario_setup(Scenario::Iii);
        for fork in [0, 12, 28] {
            let mut stepper = Stepper::new(&setup).unwrap();
            advance(&mut stepper, 0, fork);
            for kind in [0, 1] {
                let mut copy = stepper.clone();
                advance(&mut copy, kind, usize::MAX);
                let mut fresh = Stepper::new(&setup).unwrap();
                advance(&mut fresh, 0, fork);
                advance(&mut fresh, kind, usize::MAX);
                let [copy, fresh] = [copy, fresh].map(|one| one.finish().unwrap());
                assert_eq!(copy, fresh, "{settings:?} after {fork}");
            }
        }
    }
}

#[test]
fn an_impossible_decision_is_refused_and_the_run_stays_where_it_is() {
    let experiment = experiment(&[]);
    let setup = experiment.scenario_setup(Scenario::Iii);
    let mut stepper = Stepper::new(&setup).unwrap();
    let before = stepper.clone().finish().unwrap();
    let wrong = Decision::from_migrations(vec![Migration::new(99, 0)]);
    let error = stepper.advance(Some(wrong)).unwrap_err().to_string();
    assert!(error.contains("there is no process 100"), "{error}");
    assert_eq!(stepper.clone().finish().unwrap(), before);
    advance(&mut stepper, 9, usize::MAX);
    let error = stepper.advance(None).unwrap_err().to_string();
    assert!(
        error.contains("the run has already ended and has no further barrier"),
        "{error}"
    );
}
