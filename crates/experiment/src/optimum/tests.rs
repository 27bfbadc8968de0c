//! Tests of the optimum: it equals the best of all plans of two processes, and lies between the bound and the plan of a search.

use super::*;
use crate::{Layers, Limits, Progress};
use migsim_bsp::{Decision, Migration, Stepper};
use serde_json::{Value, json};

/// Relative tolerance of sums in another order.
const ROUNDING: f64 = 1e-9;

/// Draws a case with unlike hosts in two clusters, work that is unequal and drifts, and fixed prices; `policy` decides.
fn tiny(
    seed: u64,
    (processes, hosts, supersteps): (u64, u64, u64),
    policy: &str,
) -> Result<Experiment, Error> {
    let cluster = |name: &str, hosts: u64, speed: u64| {
        json!({
            "name": name,
            "hosts": hosts,
            "speed": format!("{speed} MHz"),
            "link": { "bandwidth": "100 Mbps", "latency": "100 us" },
            "router": "site",
        })
    };
    let platform = json!({
        "schema": "migsim-platform-1",
        "name": "tiny",
        "clusters": [
            cluster("a", hosts / 2, 800 + 300 * (seed % 4)),
            cluster("b", hosts.div_ceil(2), 1000),
        ],
    });
    let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    std::fs::write(file.path(), platform.to_string()).unwrap();
    let price = |unit: u64| format!("{} ms", unit * (1 + seed % 5) * (1 + seed % 3));
    let settings: [(&str, Value); 16] = [
        ("platform", file.path().to_str().unwrap().into()),
        ("workload.app", "synthetic".into()),
        ("workload.procs", processes.into()),
        ("workload.supersteps", supersteps.into()),
        ("workload.spread", 0.9.into()),
        ("workload.drift", (0.3 * (seed % 4) as f64).into()),
        ("workload.memory", "1 MB".into()),
        ("workload.bytes", "100 kB".into()),
        ("mapping", "round-robin".into()),
        ("seed", seed.into()),
        ("policy.name", policy.into()),
        ("costs.call.model", "additive".into()),
        ("costs.call.fixed", price(20).into()),
        ("costs.move.order", "serial".into()),
        ("costs.move.transfer", "nominal".into()),
        ("costs.move.fixed", price(10).into()),
    ];
    Experiment::load(&Layers::from_pairs(settings), Limits::default())
}

/// The policies that are compared with the optimum.
const POLICIES: [&str; 8] = [
    "never",
    "greedy/every=5",
    "greedy/menon",
    "refine/menon",
    "refine/boulmier",
    "greedy-refine/every=10",
    "prefix/menon",
    "inform-and-transfer/every=10",
];

/// Computes the bound, the optimum, the plan in hindsight and the best policy of a case \[s\].
fn chain(seed: u64, size: (u64, u64, u64), budget: usize) -> [f64; 4] {
    let progress = Progress::default();
    let (mut fastest, mut starts) = (f64::INFINITY, Vec::new());
    for policy in POLICIES {
        let experiment = tiny(seed, size, policy).unwrap();
        let run = experiment.run_scenario(Scenario::Iii, &progress, &mut (), None);
        let outcome = run.unwrap().outcome;
        fastest = outcome.makespan.get().min(fastest);
        starts.push(ReschedulingPlan::from_outcome(&outcome));
    }
    let experiment = tiny(seed, size, "never").unwrap();
    let optimum = experiment.optimal_plan().unwrap();
    let bound = experiment.makespan_lower_bound().get();
    let hindsight = experiment
        .search_in_hindsight(&starts, budget, &progress)
        .unwrap();
    // A run with the optimal plan takes the predicted time.
    let again = experiment
        .search_in_hindsight(&[optimum.plan], 1, &progress)
        .unwrap();
    let (again, optimum) = (again.makespan.get(), optimum.makespan.get());
    assert!(
        (again / optimum - 1.0).abs() <= ROUNDING,
        "{seed}: {again} {optimum}"
    );
    [bound, optimum, hindsight.makespan.get(), fastest]
}

fn assert_ordered(seed: u64, chain: [f64; 4]) {
    let is_ordered = |pair: &[f64]| pair[0] <= pair[1] * (1.0 + ROUNDING);
    assert!(chain.windows(2).all(is_ordered), "seed {seed}: {chain:?}");
}

#[test]
fn bound_optimum_hindsight_and_policies_are_in_rising_order() {
    for seed in 1..=10 {
        assert_ordered(seed, chain(seed, (5, 3, 12), 40));
    }
}

/// Prints the medians of the gaps at full size: `cargo test --release -p migsim-experiment --lib optimum -- --ignored --nocapture`.
#[test]
#[ignore = "minutes in the release profile"]
#[expect(clippy::print_stdout, reason = "a study that is run by hand")]
fn gaps_of_drawn_cases() {
    let (mut gaps, count) = ([const { Vec::new() }; 3], 20);
    for seed in 1..=count {
        let chain = chain(seed, (8, 4, 50), 120);
        assert_ordered(seed, chain);
        for (gap, pair) in gaps.iter_mut().zip(chain.windows(2)) {
            gap.push(100.0 * (pair[1] / pair[0] - 1.0));
        }
    }
    let names = [
        "optimum above the bound",
        "hindsight above the optimum",
        "best policy above hindsight",
    ];
    for (gap, name) in gaps.iter_mut().zip(names) {
        gap.sort_by(f64::total_cmp);
        let mean = gap.iter().sum::<f64>() / count as f64;
        println!(
            "{name}: median {:.2} %, mean {mean:.2} %, largest {:.2} %",
            gap[gap.len() / 2],
            gap[gap.len() - 1]
        );
    }
}

#[test]
fn the_optimum_is_that_of_all_plans_of_two_processes() {
    for seed in 1..=6 {
        let experiment = tiny(seed, (2, 2, 4), "never").unwrap();
        let setup = experiment.scenario_setup(Scenario::Iii);
        // Each of the first three supersteps has four placements after it; the last barrier has no call.
        let times = (0..64).map(|plan: usize| {
            let mut run = Stepper::new(&setup).unwrap();
            for barrier in 0..3 {
                let wanted = plan >> (2 * barrier) & 3;
                let hosts = run.view().unwrap().placement.to_vec();
                let moves = [(0, wanted & 1), (1, wanted >> 1)];
                let moves = moves
                    .into_iter()
                    .filter(|(process, to)| hosts[*process].index() != *to);
                let moves: Vec<Migration> = moves
                    .map(|(process, to)| Migration::new(process, to))
                    .collect();
                run.advance((!moves.is_empty()).then(|| Decision::from_migrations(moves)))
                    .unwrap();
            }
            run.finish().unwrap().makespan.get()
        });
        let least = times.fold(f64::INFINITY, f64::min);
        let optimum = experiment.optimal_plan().unwrap().makespan.get();
        assert!(
            (optimum / least - 1.0).abs() <= ROUNDING,
            "{seed}: {optimum} {least}"
        );
    }
}

#[test]
fn an_optimum_that_would_be_none_is_refused() {
    let error = tiny(1, (9, 4, 5), "never")
        .unwrap()
        .optimal_plan()
        .unwrap_err();
    assert!(
        error.to_string().contains("9 processes on 4 hosts"),
        "{error}"
    );
    let layers = Layers::from_pairs([
        ("workload.app", "synthetic".into()),
        ("workload.procs", 2.into()),
    ]);
    let experiment = Experiment::load(&layers, Limits::default()).unwrap();
    let error = experiment.optimal_plan().unwrap_err().to_string();
    assert!(
        error.contains("the exact optimum cannot be computed"),
        "{error}"
    );
}
