//! The exact optimum of rescheduling calls and moves of a small case, by dynamic programming over all placements. It equals the
//! best of all plans of two processes, and lies between the bound and the plan of a search.
//!
//! ```text
//! d_t(a)   time of superstep t with placement a [s]                     simulated, for each of hosts^processes placements
//! c        cost of a call [s]         m_p(g, h)   cost of the move of process p from host g to host h [s]
//! S_t(a) = d_t(a) + U_t(a)            cost from the beginning of superstep t to the end of the run
//! U_t(a) = min( S_t+1(a),  c + min_b ( Σ_p m_p(a_p, b_p) + S_t+1(b) ) )        cost after superstep t; 0 after the last superstep
//! ```
//! The result is exact because the time of a superstep depends only on its placement and costs add up.

use crate::{Experiment, Layers, Limits, PlannedCall, Progress, ReschedulingPlan};
use migsim_base::{
    error::Error,
    units::{HostId, ProcessId, Time, to_u32},
};
use migsim_bsp::{Decision, Migration, Never, Scenario, Setup, Stepper, simulate};
use serde_json::{Value, json};

/// All placements of an experiment: the host of process p is digit p of the number of a placement in base `hosts`.
struct Placements {
    hosts: usize,
    processes: usize,
}

impl Placements {
    fn hosts_of(&self, mut number: usize) -> Vec<HostId> {
        let digit = |_| {
            let host = number % self.hosts;
            number /= self.hosts;
            HostId::from_index(host)
        };
        (0..self.processes).map(digit).collect()
    }
}

/// Returns the shortest possible makespan \[s\] and the plan with this makespan.
fn optimal_plan(experiment: &Experiment) -> (f64, ReschedulingPlan) {
    let (hosts, processes) = (
        experiment.platform.platform.hosts.len(),
        experiment.placement.len(),
    );
    let count = hosts.pow(to_u32(processes));
    let all = Placements { hosts, processes };
    let costs = experiment.config.costs;
    let call = costs.call.fixed.get() + costs.call.per_process.get() * processes as f64;
    let move_cost = |process: usize, from: HostId, to: HostId| {
        let memory = experiment.workload.memory(ProcessId::from_index(process));
        let platform = &experiment.platform.platform;
        let cost = || {
            costs
                .migration
                .duration_outside_flow(platform, from, to, memory)
                .get()
        };
        if from == to { 0.0 } else { cost() }
    };
    let times: Vec<Vec<f64>> = (0..count)
        .map(|number| {
            let placement = all.hosts_of(number);
            let setup = Setup {
                placement: &placement,
                ..experiment.scenario_setup(Scenario::I)
            };
            let outcome = simulate(&setup, Box::new(Never::default()), &mut ()).unwrap();
            let mut before = Time::ZERO;
            let time = |end: Time| end.since(std::mem::replace(&mut before, end)).get();
            outcome
                .supersteps
                .iter()
                .map(|one| one.end)
                .map(time)
                .collect()
        })
        .collect();
    let supersteps = times[0].len();
    let mut ahead = vec![vec![0.0; count]; supersteps];
    for superstep in (0..supersteps).rev() {
        let mut left = vec![0.0; count];
        if let Some(next) = ahead.get(superstep + 1) {
            // The minimum over all placements, process by process.
            let mut moved = next.clone();
            for process in 0..processes {
                let stride = hosts.pow(to_u32(process));
                let before = moved.clone();
                for (number, least) in moved.iter_mut().enumerate() {
                    let from = number / stride % hosts;
                    let go = |to: usize| {
                        let cost =
                            move_cost(process, HostId::from_index(from), HostId::from_index(to));
                        cost + before[number - from * stride + to * stride]
                    };
                    *least = (0..hosts).map(go).fold(f64::INFINITY, f64::min);
                }
            }
            let both = next.iter().zip(moved);
            left = both.map(|(stay, go)| stay.min(call + go)).collect();
        }
        let costs = left
            .iter()
            .zip(&times)
            .map(|(left, times)| left + times[superstep]);
        ahead[superstep] = costs.collect();
    }
    let start = experiment.placement.iter().rev();
    let start = start.fold(0, |number, host| number * hosts + host.index());
    let (mut calls, mut place) = (Vec::new(), start);
    for (superstep, ahead) in (0..).zip(&ahead).skip(1) {
        let from = all.hosts_of(place);
        let moves = |to: usize| {
            let pairs = from.clone().into_iter().zip(all.hosts_of(to)).enumerate();
            pairs.filter(|(_, (from, to))| from != to)
        };
        let cost = |to: usize| -> f64 {
            moves(to)
                .map(|(process, (from, to))| move_cost(process, from, to))
                .sum()
        };
        let others = (0..count).filter(|to| *to != place);
        let go = others.map(|to| (call + cost(to) + ahead[to], to));
        let best = go.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap();
        if best.0 < ahead[place] {
            calls.push(PlannedCall {
                superstep,
                moves: moves(best.1)
                    .map(|(process, (_, to))| (to_u32(process), to))
                    .collect(),
                ..PlannedCall::default()
            });
            place = best.1;
        }
    }
    (ahead[0][start], ReschedulingPlan::new(calls))
}

/// Relative tolerance of sums in another order.
const ROUNDING: f64 = 1e-9;

/// Draws a case with unlike hosts in two clusters, work that is unequal and drifts, and fixed prices; `policy` decides.
fn tiny(seed: u64, size: (u64, u64, u64), policy: &str) -> Result<Experiment, Error> {
    tiny_with(seed, size, policy, None)
}

/// Draws such a case, with `other` settings in place of the fixed prices.
fn tiny_with(
    seed: u64,
    (processes, hosts, supersteps): (u64, u64, u64),
    policy: &str,
    other: Option<&[(&str, Value)]>,
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
    // The last five settings are the prices.
    let own = &settings[..settings.len() - if other.is_some() { 5 } else { 0 }];
    let all = own.iter().chain(other.unwrap_or_default()).cloned();
    Experiment::load(&Layers::from_pairs(all), Limits::default())
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
    let (optimum, plan) = optimal_plan(&experiment);
    let bound = experiment.makespan_lower_bound().get();
    let hindsight = experiment
        .search_in_hindsight(&starts, budget, &progress)
        .unwrap();
    // A run with the optimal plan takes the predicted time.
    let again = experiment
        .search_in_hindsight(&[plan], 1, &progress)
        .unwrap();
    let again = again.makespan.get();
    assert!(
        (again / optimum - 1.0).abs() <= ROUNDING,
        "{seed}: {again} {optimum}"
    );
    if size.0 < 4 {
        // So does the simulation of all plans.
        let all = experiment.optimal_plan(&starts, &progress).unwrap();
        let all = all.makespan.get();
        assert!(
            (all / optimum - 1.0).abs() <= ROUNDING,
            "{seed}: {all} {optimum}"
        );
    }
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
        assert_ordered(seed, chain(seed, (3, 3, 8), 40));
    }
}

#[test]
fn a_move_pays_no_processor_time_of_messages() {
    let other = [
        ("mapping", "contiguous".into()),
        ("network.o_send", "20 ms".into()),
        ("network.o_receive", "20 ms".into()),
        ("costs.call.model", "none".into()),
    ];
    let experiment = tiny_with(4, (1, 2, 12), "prefix/every=1", Some(&other)).unwrap();
    let run = experiment.run_scenario(Scenario::Iii, &Progress::default(), &mut (), None);
    let outcome = run.unwrap().outcome;
    let bound = experiment.makespan_lower_bound().get();
    let makespan = outcome.makespan.get();
    assert_eq!(outcome.migrations.len(), 1);
    assert!((bound / makespan - 1.0).abs() < 1e-6, "{bound} {makespan}");
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
    // The default prices depend on messages and shared links; the load changes with time.
    let load = [("load", json!({ "kind": "on-off" }))];
    for seed in 1..=6 {
        for other in [None, Some(&[][..]), Some(&load[..])] {
            let experiment = tiny_with(seed, (2, 2, 4), "never", other).unwrap();
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
            let progress = Progress::default();
            let found = experiment.search_in_hindsight(&[], 1, &progress).unwrap();
            assert!(found.is_optimal);
            let mut optima = vec![found.makespan.get()];
            optima.extend(other.is_none().then(|| optimal_plan(&experiment).0));
            for optimum in optima {
                assert!(
                    (optimum / least - 1.0).abs() <= ROUNDING,
                    "{seed}: {optimum} {least}"
                );
            }
        }
    }
}

#[test]
fn the_optimum_of_too_many_plans_is_refused() {
    let experiment = tiny(1, (30, 3, 4), "never").unwrap();
    let error = experiment
        .optimal_plan(&[], &Progress::default())
        .unwrap_err();
    let error = error.to_string();
    assert!(error.contains("the optimum cannot be computed"), "{error}");
}
