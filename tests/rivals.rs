//! The study of rivals: its names can be run, and its advice names policies that take part.

use migsim::Registry;
use migsim::experiment::{Experiment, Layers, Limits};
use migsim::paper::rivals::{Study, StudyOutcome, csv_table, markdown_page};
use migsim::sweep::bench::{BenchRequest, BenchResults, RivalWithSettings};

fn loaded(reading: &RivalWithSettings) -> Experiment {
    let settings = reading
        .settings
        .iter()
        .map(|(key, value)| (key.as_str(), value.clone()));
    let base = [
        ("extends", "lb-1.1.1".into()),
        ("policy.name", reading.policy.clone().into()),
    ];
    let layers = Layers::from_pairs(base.into_iter().chain(settings));
    Experiment::load_with(&Registry::standard(), &layers, Limits::default()).expect(&reading.name)
}

#[test]
fn every_policy_trigger_and_reading_of_the_study_loads() {
    let study = Study::built_in();
    let plain = |name: String| RivalWithSettings {
        policy: name.clone(),
        name,
        settings: [].into(),
    };
    let all: Vec<RivalWithSettings> = study
        .strategy_trigger_combinations()
        .into_iter()
        .map(plain)
        .chain(study.migbsp_variants())
        .chain(study.paid_back_variants())
        .collect();
    assert!(all.len() > 100);
    let neutral = loaded(&plain("migbsp".into()));
    for reading in &all {
        let experiment = loaded(reading);
        // A reading that sets only neutral values would give the same row twice.
        let is_other =
            experiment.resolved_settings["policy"] != neutral.resolved_settings["policy"];
        assert!(is_other, "{}", reading.name);
    }
}

#[test]
fn the_advice_names_policies_that_run_on_every_draw() {
    let study = Study::built_in();
    for draw in study.fresh_draws.iter().chain([&study.public_draw]) {
        let request: BenchRequest = study
            .bench_request_for_draw(*draw)
            .expect("the suite is known");
        let policies = request.policy_names();
        for claim in &study.advice {
            assert!(!claim.than.is_empty(), "{}", claim.text);
            for name in claim.than.iter().chain([&claim.policy]) {
                let is_known = policies.contains(name) || name == migsim::sweep::bench::BEST_START;
                assert!(is_known, "draw {draw}: {name}");
            }
        }
    }
}

#[test]
fn a_page_without_runs_reports_it_and_keeps_its_form() {
    let study = Study::built_in();
    let mut request = study.bench_request_for_draw(1).expect("the suite is known");
    request.case_count = 2;
    request.rivals_with_settings.clear();
    request.rival_policies.clear();
    let registry = Registry::standard();
    let plans = [request.main_sweep(&registry)].into_iter().chain(
        request
            .additional_sweeps(&registry)
            .map_or_else(|_| Vec::new(), |all| all.into_iter().map(Ok).collect()),
    );
    let shared = migsim::experiment::SharedInputs::default();
    let plan =
        |sweep: migsim::sweep::Sweep| migsim::sweep::Plan::new(&sweep, Limits::default(), &shared);
    let plans: Vec<migsim::sweep::Plan> = plans
        .map(|sweep| sweep.and_then(plan).expect("a plan"))
        .collect();
    let planned: usize = plans.iter().map(|plan| plan.runs.len()).sum();
    assert_eq!(request.run_count(), planned as u64);
    let bench = BenchResults::from_rows(&request, &plans, &[].into());
    let outcome = StudyOutcome {
        study,
        public_draw_results: bench.clone(),
        fresh_draw_results: vec![bench.clone()],
        fixed_case_results: bench,
    };
    let page = markdown_page(&outcome);
    assert!(page.contains("## What this does not show"), "{page}");
    assert!(csv_table(&outcome).starts_with("draw,policy,mean_ratio,"));
}
