//! Benchmarks of supersteps of the applications, and of whole runs.

use divan::{Bencher, counter::ItemsCount};
use migsim::bsp::{Scenario, Stepper};
use migsim::policy::{Decision, Migration};
use migsim::workload::Plan;
use migsim_benches::{experiment, platform, run};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

const APPLICATIONS: &[&str] = &["lu", "sw", "lbm", "synthetic"];

fn settings(app: &str) -> Value {
    match app {
        "lu" => json!({ "workload.app": "lu", "workload.n": 500, "workload.procs": 25 }),
        "sw" => json!({ "workload.app": "sw", "workload.n": 50 }),
        "lbm" => json!({ "workload.app": "lbm", "workload.procs": 10, "workload.supersteps": 100 }),
        _ => json!({
            "workload.app": "synthetic",
            "workload.procs": 1000,
            "workload.random_messages": 1,
            "workload.spread": 0.5,
            "platform": platform("one-cluster-1000"),
        }),
    }
}

/// Creates the plan of one superstep of an application, without simulating it.
#[divan::bench(args = APPLICATIONS)]
fn plan_of_a_superstep(bencher: Bencher, app: &str) {
    let workload = experiment(settings(app)).workload;
    let superstep = workload.supersteps() / 2;
    let mut plan = Plan::default();
    bencher.bench_local(move || {
        plan.clear(workload.processes());
        workload.fill(superstep, &mut plan);
        plan.messages.len()
    });
}

/// Simulates all supersteps of an application; the rate is in process-supersteps.
#[divan::bench(args = APPLICATIONS)]
fn application_only(bencher: Bencher, app: &str) {
    let experiment = experiment(settings(app));
    let count = experiment.workload.supersteps() * experiment.workload.processes();
    bencher
        .counter(ItemsCount::new(count))
        .bench_local(|| run(&experiment, Scenario::I));
}

/// Simulates the same with the calls and moves of MigBSP.
#[divan::bench(args = APPLICATIONS)]
fn calls_and_moves(bencher: Bencher, app: &str) {
    let experiment = experiment(settings(app));
    let count = experiment.workload.supersteps() * experiment.workload.processes();
    bencher
        .counter(ItemsCount::new(count))
        .bench_local(|| run(&experiment, Scenario::Iii));
}

/// Simulates the main job of the README in one scenario.
#[divan::bench(sample_count = 10)]
fn main_job(bencher: Bencher) {
    let experiment = experiment(json!({
        "workload.app": "lu",
        "workload.n": 2000,
        "workload.procs": 50,
    }));
    bencher.bench_local(|| run(&experiment, Scenario::Iii));
}

/// Returns the settings of 32 processes whose work changes from superstep to superstep, on hosts under load.
fn learning() -> Value {
    json!({
        "workload.app": "synthetic",
        "workload.procs": 32,
        "workload.supersteps": 200,
        "workload.spread": 0.5,
        "workload.drift": 0.5,
        "load": { "kind": "walk" },
    })
}

/// Runs an experiment that stops at each barrier and reads its view, as a learning policy does; one item is one barrier.
#[divan::bench]
fn steps(bencher: Bencher) {
    let experiment = experiment(learning());
    let setup = experiment.scenario_setup(Scenario::Iii);
    bencher.counter(ItemsCount::new(200_u32)).bench_local(|| {
        let mut stepper = Stepper::new(&setup).expect("a run");
        while !stepper.is_over() {
            let superstep = stepper.view().expect("loads").superstep;
            let moves = vec![Migration::new(superstep % 32, superstep % 7)];
            let decision = (superstep % 10 == 9).then(|| Decision::from_migrations(moves));
            stepper.advance(decision).expect("a superstep");
        }
        stepper.now()
    });
}

/// Copies the same run at its 100th barrier.
#[divan::bench]
fn copies(bencher: Bencher) {
    let experiment = experiment(learning());
    let setup = experiment.scenario_setup(Scenario::Iii);
    let mut stepper = Stepper::new(&setup).expect("a run");
    for superstep in 1..100 {
        let decision = (superstep % 10 == 9).then(|| Decision::from_migrations(Vec::new()));
        stepper.advance(decision).expect("a superstep");
    }
    bencher.bench_local(|| stepper.clone());
}
