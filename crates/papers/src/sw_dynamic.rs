//! The paper on Smith-Waterman on dynamic platforms. The reproduction covers its Table 2, its rescheduling calls with their
//! times, its decisions, and its 38 claims.
//!
//! Source: Graebin, da Rosa Righi and Navaux, *Process Migration: Controlling Application and Resource Dynamics by Combining
//! Computation, Communication and Memory Metrics*, WSCAD 2011, doi:10.5753/wscad.2011.17274.
//!
//! In section 5.1, the power of all clusters is constant (experiment `sw-dynamic-static`). In section 5.2 and Table 2, the
//! clusters D and E lose half of their power t seconds after the start (experiment `sw-dynamic`, with one platform for each t).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{Map, Value, json};

use super::{
    calls::PaperMove,
    claims::{
        check_messages_to_next, check_repetition, check_superstep_counts, decide, largest, mean,
        number, rounds_to_published, try_map, votes_and_alphas,
    },
    facts::Config,
    runs::{ClaimCheck, FinishedRun, Paper, PaperCase, Runs},
};
use migsim_base::{error::Error, units::HostId};
use migsim_bsp::{Recorder, Scenario};
use migsim_experiment::{Experiment, Progress};
use migsim_platform as platform;
use migsim_policies::Measures;

const SWITCHED_OFF: &str = "No part of the model is switched off. Messages take half of the time of the stated rates. A call costs only \
its messages, sent one after the other, which take less than a millisecond on links without latency. So the mean overhead of 5.4 % that the \
paper states is not reproduced (swd-c03). The fixed cost of a migration, Mig(i,j), is 0 for section 5.2 of the paper. For section 5.1 it is \
0.68 s, as for the same program and clusters in the paper on irregular Smith-Waterman. D grows after five calls without moves (ω = 5), where \
the other papers state three";

pub(super) const PAPER: Paper = Paper {
    name: "sw-dynamic",
    title: "Graebin, da Rosa Righi, Navaux: Process Migration: Controlling Application and Resource Dynamics by Combining Computation, Communication and Memory Metrics (WSCAD 2011, doi:10.5753/wscad.2011.17274)",
    experiment: Some("sw-dynamic"),
    facts_json: include_str!("facts/sw-dynamic.json"),
    case_of_config,
    claim_checks: CLAIMS,
    switched_off_parts: SWITCHED_OFF,
    notes: include_str!("notes/sw-dynamic.md"),
};

const ORDERS: [u64; 5] = [10, 25, 50, 100, 200];
const ALPHAS: [u64; 2] = [4, 16];

/// Parameters of a run: the time of the loss of power \[s\], the order n (problem size), and the interval α between calls
/// \[supersteps\].
///
/// At the time of the loss, clusters D and E lose half of their power; `None` stands for clusters with constant power.
type RunParameters = (Option<u64>, u64, u64);

const DESCRIBED_RUNS: [RunParameters; 7] = [
    (Some(10), 25, 4),
    (Some(25), 50, 4),
    (Some(75), 50, 16),
    (Some(100), 100, 4),
    (Some(25), 100, 16),
    (Some(25), 200, 4),
    STATIC_RUN,
];

const STATIC_RUN: RunParameters = (None, 200, 4);

/// Returns the run for the settings of a fact. The interval α between rescheduling calls is 4 supersteps if the settings contain
/// no α, as for scenario i.
fn case_of_config(config: &Config) -> PaperCase {
    let keys = [
        ("workload.n", "n", Some(ORDERS[0])),
        ("policy.migbsp.alpha", "alpha", Some(ALPHAS[0])),
    ];
    let case = |experiment| PaperCase::from_config(experiment, config, &keys);
    match config.get("x_seconds").and_then(Value::as_u64) {
        None => case("sw-dynamic-static"),
        Some(10) => case("sw-dynamic"),
        Some(t) => case("sw-dynamic").with_setting("platform", format!("sw-dynamic-t{t}")),
    }
}

fn config((halved_after, order, alpha): RunParameters) -> Value {
    json!({ "x_seconds": halved_after, "n": order, "alpha": alpha })
}

fn run(runs: &Runs<'_>, which: RunParameters) -> Result<Arc<FinishedRun>, Error> {
    runs.at(&config(which))
}

/// Computes the overheads \[%\] for each order n (row) and each interval α (column).
fn overheads(runs: &Runs<'_>, halved_after: Option<u64>) -> Result<Vec<Vec<f64>>, Error> {
    try_map(&ORDERS, |order| {
        try_map(&ALPHAS, |alpha| {
            Ok(run(runs, (halved_after, order, alpha))?.overhead_percent())
        })
    })
}

/// Recorder that stores, for each superstep of a run, the computation time \[s\] and the host of each process.
#[derive(Debug, Default)]
struct SuperstepLog {
    computation_times_s: Vec<Vec<f64>>,
    placements: Vec<Vec<HostId>>,
}

impl Recorder for SuperstepLog {
    fn on_superstep(&mut self, _: usize, measures: &Measures, placement: &[HostId]) {
        let times = measures.computation_times.iter().map(|time| time.get());
        self.computation_times_s.push(times.collect());
        self.placements.push(placement.to_vec());
    }
}

impl SuperstepLog {
    fn busy_hosts(&self) -> impl Iterator<Item = Vec<HostId>> {
        let supersteps = self.computation_times_s.iter().zip(&self.placements);
        supersteps.map(|(times, hosts)| {
            let busy = times.iter().zip(hosts).filter(|(time, _)| **time > 0.0);
            busy.map(|(_, host)| *host).collect()
        })
    }
}

/// Simulates a scenario with a recorder; returns the recorded supersteps and the makespan \[s\].
fn simulate_with_superstep_log(
    experiment: &Experiment,
    scenario: Scenario,
) -> Result<(SuperstepLog, f64), Error> {
    let mut log = SuperstepLog::default();
    let run = experiment.run_scenario(scenario, &Progress::default(), &mut log, None)?;
    Ok((log, run.outcome.makespan.get()))
}

fn max_processes_per_host_on_d_and_e(runs: &Runs<'_>) -> Result<Vec<usize>, Error> {
    let done = run(runs, STATIC_RUN)?;
    let (log, _) = simulate_with_superstep_log(&done.experiment, Scenario::Iii)?;
    let most = |hosts: Vec<HostId>| {
        let mut counts: BTreeMap<HostId, usize> = BTreeMap::new();
        for host in hosts {
            if ["D", "E"].contains(&done.cluster(host)) {
                *counts.entry(host).or_default() += 1;
            }
        }
        counts.into_values().max().unwrap_or(0)
    };
    Ok(log.busy_hosts().map(most).collect())
}

/// Lists the moves away from clusters D and E that were decided after these clusters had lost half of their power, and returns
/// whether there was a call then.
fn moves_off_d_and_e(
    runs: &Runs<'_>,
    which: RunParameters,
) -> Result<(Vec<PaperMove>, bool), Error> {
    let halved_after = which.0.map_or(f64::MAX, |seconds| seconds as f64);
    let mut calls = run(runs, which)?.calls(Scenario::Iii);
    calls.retain(|call| call.superstep_end_s >= halved_after);
    let has_call = !calls.is_empty();
    let moves = calls.into_iter().flat_map(|call| call.moves);
    let leaves = |one: &PaperMove| ["D", "E"].contains(&one.from_cluster.as_str());
    Ok((moves.filter(leaves).collect(), has_call))
}

const CLAIMS: &[(&str, ClaimCheck)] = &[
    ("swd-c03", |runs, claim| {
        let on_static = mean(&overheads(runs, None)?.concat());
        let on_dynamic = mean(&overheads(runs, Some(10))?.concat());
        let published = number(&claim.published_value);
        decide(
            rounds_to_published(on_static, published) || rounds_to_published(on_dynamic, published),
            json!({ "static_percent": on_static, "dynamic_percent": on_dynamic }),
        )
    }),
    ("swd-c05", |runs, claim| {
        // The paper gives no α here, so that for each order one of them is sufficient.
        let gains = |order| {
            try_map(&ALPHAS, |alpha| {
                Ok(run(runs, (None, order, alpha))?.gain_percent())
            })
        };
        let (fifty, two_hundred) = (gains(50)?, gains(200)?);
        let has = |gains: &[f64], at: usize| {
            let published = number(&claim.published_value[at]);
            gains
                .iter()
                .any(|&gain| rounds_to_published(gain, published))
        };
        decide(
            has(&fifty, 0) && has(&two_hundred, 1),
            json!({ "50": fifty, "200": two_hundred }),
        )
    }),
    ("swd-c06", |runs, _| {
        let overheads = overheads(runs, None)?;
        let falls = |alpha: usize| overheads.is_sorted_by(|a, b| a[alpha] > b[alpha]);
        decide(falls(0) && falls(1), &overheads)
    }),
    ("swd-c07", |runs, _| {
        // In each run, take the first call that moves a process from A or B. "Early" is read as the first half of a run.
        let is_meant = |one: &&PaperMove| ["A", "B"].contains(&one.from_cluster.as_str());
        let (mut places, mut latest) = (BTreeSet::new(), 0.0_f64);
        for order in ORDERS {
            for alpha in ALPHAS {
                if alpha > order {
                    continue; // 10 processes with α = 16 have no call in the first half.
                }
                let calls = run(runs, (None, order, alpha))?.calls(Scenario::Iii);
                let first = calls
                    .iter()
                    .find(|call| call.moves.iter().any(|one| is_meant(&one)));
                let moves = first.into_iter().flat_map(|call| &call.moves);
                places.extend(moves.filter(is_meant).map(|one| one.to_cluster.clone()));
                let part = first.map_or(1.0, |call| call.superstep as f64 / (2 * order - 1) as f64);
                latest = latest.max(part);
            }
        }
        let only_fast = places.iter().all(|place| place == "D" || place == "E");
        decide(
            only_fast && latest < 0.5,
            json!({ "to": places, "latest_at_this_part_of_a_run": latest }),
        )
    }),
    ("swd-c08", |runs, _| {
        let (mut holds, mut ends) = (true, Vec::new());
        for order in ORDERS {
            let loads = run(runs, (None, order, 4))?.largest_works();
            let (first, last) = (loads[0], loads[loads.len() - 1]);
            holds &= loads.is_sorted_by(|a, b| a < b);
            holds &= (first / 1e6 - 1.0).abs() < 1e-9 && (last / 1e9 - 1.0).abs() < 1e-9;
            ends.push([first, last]);
        }
        decide(holds, ends)
    }),
    ("swd-c09", |runs, _| {
        let mut shared = max_processes_per_host_on_d_and_e(runs)?;
        shared.retain(|&most| most > 1);
        decide(
            !shared.is_empty(),
            json!({ "supersteps_with_a_shared_host": shared.len() }),
        )
    }),
    ("swd-c10", |runs, _| {
        let done = run(runs, STATIC_RUN)?;
        let first = done.call_records(Scenario::Iii).iter().take(4);
        let highest: Vec<f64> = first
            .filter_map(|call| call.decision.outline_json()["highest_potential_s"].as_f64())
            .collect();
        decide(
            highest.len() == 4 && highest.iter().all(|&potential| potential < 0.0),
            highest,
        )
    }),
    ("swd-c11", |runs, _| {
        let most = max_processes_per_host_on_d_and_e(runs)?;
        let most = most.iter().skip(268).copied().max().unwrap_or(0);
        decide(most <= 1, json!({ "most_on_one_host": most }))
    }),
    ("swd-c12", |runs, _| {
        // Check each run of section 5.2 that has a call after the slowdown.
        let (mut holds, mut all) = (true, Map::new());
        for which in DESCRIBED_RUNS {
            let (mut back, has_call) = moves_off_d_and_e(runs, which)?;
            back.retain(|one| ["A", "B"].contains(&one.to_cluster.as_str()));
            holds &= !back.is_empty() || !has_call;
            if let (Some(seconds), true) = (which.0, has_call) {
                let name = format!("{}/t{seconds}/a{}", which.1, which.2);
                all.insert(name, back.len().into());
            }
        }
        decide(holds && !all.is_empty(), all)
    }),
    ("swd-c13", |runs, _| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for which in DESCRIBED_RUNS {
            for one in moves_off_d_and_e(runs, which)?.0 {
                *counts.entry(one.to_cluster).or_default() += 1;
            }
        }
        // "Suitable" has no number. It is read as: most processes that leave D and E move to A.
        let to_a = counts.get("A").copied().unwrap_or(0);
        decide(2 * to_a > counts.values().sum(), counts)
    }),
    ("swd-c21", |runs, _| {
        // The call at 66 comes before the slowdown, and the next one 48 supersteps later.
        let calls = run(runs, (Some(25), 200, 4))?.calls(Scenario::Iii);
        let supersteps: Vec<u64> = calls.iter().map(|call| call.superstep).collect();
        let at = calls
            .iter()
            .position(|call| call.superstep == 66 && call.superstep_end_s < 25.0);
        let next = at.and_then(|at| supersteps.get(at + 1));
        decide(next == Some(&114), supersteps)
    }),
    ("swd-c22", |runs, _| {
        // Find when the processes that have moved to E compute for the last time.
        let done = run(runs, (Some(25), 50, 4))?;
        let supersteps = done.results.get(Scenario::Iii);
        let supersteps = supersteps.map_or(&[][..], |run| &run.outcome.supersteps);
        let moves = done.moves().into_iter().filter(|one| one.to_cluster == "E");
        // Process p_i takes part in n supersteps, from the i-th on.
        let last =
            moves.filter_map(|one| supersteps.get(usize::try_from(one.process).ok()? + 50 - 2));
        let mut ends: Vec<f64> = last.map(|last| last.end.get()).collect();
        ends.sort_by(f64::total_cmp);
        decide(largest(&ends) < 25.0 && !ends.is_empty(), ends)
    }),
    ("swd-c23", |runs, _| {
        check_superstep_counts(&try_map(&ORDERS, |order| run(runs, (Some(10), order, 4)))?)
    }),
    ("swd-c24", |runs, _| {
        check_messages_to_next(&*run(runs, (Some(10), 50, 4))?)
    }),
    ("swd-c26", |runs, _| {
        let done = run(runs, STATIC_RUN)?;
        let (log, _) = simulate_with_superstep_log(&done.experiment, Scenario::I)?;
        let on_d = |hosts: Vec<HostId>| hosts.iter().any(|&host| done.cluster(host) == "D");
        let first = log.busy_hosts().position(on_d).map_or(0, |at| at + 1);
        decide(first == 43, first)
    }),
    ("swd-c27", |runs, _| {
        // The processes compute little and send large messages, and the link between the clusters is slow.
        let times = try_map(&[SLOW_CLUSTER, FAST], |first| {
            Ok(simulate_chain(runs, "10 Mbps", first, "1e6 instr")?.1)
        })?;
        decide(times[1] > times[0], times)
    }),
    ("swd-c28", |runs, _| {
        let times = try_map(&[FAST, SLOW_CLUSTER], |first| {
            let (log, _) = simulate_chain(runs, "1 Gbps", first, "1e9 instr")?;
            Ok(log.computation_times_s[0][0])
        })?;
        decide((times[1] / times[0] - 2.0).abs() < 1e-9, times)
    }),
    ("swd-c29", |runs, _| {
        // The first call is compared for processes that pass the test of their pattern, and for processes that fail it.
        let savings = |delta: f64| -> Result<Vec<f64>, Error> {
            let mut config = config((Some(10), 25, 16));
            config["policy.migbsp.delta"] = delta.into();
            let terms = runs.at(&config)?.potentials(Scenario::Iii, 0);
            Ok(terms
                .iter()
                .map(|term| number(&term["compute_s"]))
                .collect())
        };
        let (irregular, regular) = (savings(0.001)?, savings(0.5)?);
        let mut gaining = regular
            .iter()
            .zip(&irregular)
            .filter(|(regular, _)| **regular > 0.0);
        let most = [largest(&irregular), largest(&regular)];
        decide(
            gaining.all(|(regular, irregular)| irregular <= regular) && most[0] < most[1],
            most,
        )
    }),
    ("swd-c30", |runs, _| {
        // Compute the highest PM of a process that is not a candidate over the lowest PM of a candidate; it must not exceed 1.
        let mut most = f64::MIN;
        for which in DESCRIBED_RUNS {
            let done = run(runs, which)?;
            for (index, call) in done.call_records(Scenario::Iii).iter().enumerate() {
                let candidates = &call.decision.candidates;
                let least = candidates
                    .iter()
                    .map(|one| one.score)
                    .fold(f64::MAX, f64::min);
                let is_candidate = |term: &Value| {
                    candidates
                        .iter()
                        .any(|one| term["process"] == one.process.0 + 1)
                };
                for term in done.potentials(Scenario::Iii, index) {
                    if !candidates.is_empty() && !is_candidate(&term) {
                        most = most.max(number(&term["potential_s"]) / least);
                    }
                }
            }
        }
        decide(most <= 1.0, most)
    }),
    ("swd-c32", |runs, _| {
        let [fast, slow] = predicted_computation_at_two_powers(runs)?;
        let ratio = slow.predicted_s / fast.predicted_s;
        decide((ratio - 2.0).abs() < 1e-9, ratio)
    }),
    ("swd-c33", |runs, _| {
        let computations = predicted_computation_at_two_powers(runs)?;
        let regularities = computations.map(|one| one.predicted_s / one.measured_s);
        let is_same = (regularities[0] / regularities[1] - 1.0).abs() < 1e-9;
        decide(is_same && regularities[0] > 0.0, regularities)
    }),
    ("swd-c35", |runs, _| {
        // For each call, check whether more supersteps passed the test than failed it, and whether α grew or fell.
        let (mut against, mut grows, mut falls) = (0, 0, 0);
        for which in DESCRIBED_RUNS {
            for call in run(runs, which)?.call_records(Scenario::Iii) {
                let (votes, before, next) = votes_and_alphas(call);
                let (stable, unstable) = (votes.matches('+').count(), votes.matches('-').count());
                grows += u32::from(next > before);
                falls += u32::from(next < before);
                against += u32::from(next < before && stable > unstable);
                against += u32::from(next > before && unstable > stable);
            }
        }
        // Compare runs without and with the second adaptation. A call whose decided moves did not happen counts as a call without
        // migration.
        let counts = try_map(&["never", "multiply"], |growth| {
            let mut config = config(STATIC_RUN);
            config["policy.migbsp.d_growth"] = growth.into();
            config["policy.migbsp.quiet_call"] = "moved".into();
            Ok(runs.at(&config)?.call_records(Scenario::Ii).len())
        })?;
        decide(
            against == 0 && grows > 0 && falls > 0 && counts[1] < counts[0],
            json!({ "alpha_grows": grows, "falls": falls, "against_the_votes": against, "calls_without_and_with_the_second": counts }),
        )
    }),
    ("swd-c36", |runs, _| {
        let (mut holds, mut checked) = (true, 0);
        for which in DESCRIBED_RUNS {
            let done = run(runs, which)?;
            let calls = done.call_records(Scenario::Iii);
            for (index, call) in calls.iter().enumerate() {
                let (votes, alpha, next_alpha) = votes_and_alphas(call);
                if votes.len() as u64 != alpha {
                    continue;
                }
                holds &= alpha_after_votes(which.2, alpha, &votes) == next_alpha;
                if let Some(next) = calls.get(index + 1) {
                    holds &= (next.superstep - call.superstep) as u64 == next_alpha;
                }
                checked += 1;
            }
        }
        decide(holds && checked > 0, json!({ "calls": checked }))
    }),
    ("swd-c37", |runs, _| {
        let shares = try_map(&ORDERS, |order| {
            let done = run(runs, (None, order, 4))?;
            let (log, time) = simulate_with_superstep_log(&done.experiment, Scenario::I)?;
            let longest = log.computation_times_s.iter().map(|times| largest(times));
            Ok(longest.sum::<f64>() / time)
        })?;
        // More than half of the time is computation.
        decide(shares.iter().all(|&share| share > 0.5), shares)
    }),
    ("swd-c38", |runs, _| {
        check_repetition(&*run(runs, (Some(10), 50, 4))?)
    }),
];

/// Computes the interval α after the supersteps in `votes`: `+` adds 1, `-` subtracts 1 but not below `initial`, and other
/// characters change nothing.
fn alpha_after_votes(initial: u64, alpha: u64, votes: &str) -> u64 {
    votes.chars().fold(alpha, |alpha, vote| match vote {
        '+' => alpha + 1,
        '-' => (alpha - 1).max(initial),
        _ => alpha,
    })
}

/// Computation time of process p43 on cluster D in one superstep \[s\]: the time that the policy predicts (Pcomp·CTP) at a
/// rescheduling call, and the time that was measured in the superstep before this call.
#[derive(Clone, Copy, Debug)]
struct PredictedComputation {
    predicted_s: f64,
    measured_s: f64,
}

/// Fraction of the computation time that a process saves on cluster E compared with cluster D, at full and at half power: 1 - 1.6
/// GHz / 2.0 GHz.
const SAVED_FRACTION_ON_E: f64 = 0.2;

/// Simulates 50 processes with constant work, once with clusters D and E at full power and once at half power. Returns for each
/// run the predicted and the measured computation time of process p43 at the rescheduling call after superstep 60.
fn predicted_computation_at_two_powers(
    runs: &Runs<'_>,
) -> Result<[PredictedComputation; 2], Error> {
    let one = |seconds: u64| -> Result<PredictedComputation, Error> {
        let mut config = config((Some(seconds), 50, 4));
        config["workload.first_instructions"] = "3e8 instr".into();
        config["workload.last_instructions"] = "3e8 instr".into();
        let done = runs.at(&config)?;
        let (log, _) = simulate_with_superstep_log(&done.experiment, Scenario::Ii)?;
        let calls = done.call_records(Scenario::Ii);
        let call = calls.iter().position(|call| call.superstep + 1 == 60);
        let call = call.unwrap_or(usize::MAX);
        let horizon = calls.get(call).map_or(0, |call| votes_and_alphas(call).2);
        let terms = done.potentials(Scenario::Ii, call);
        let is_wanted = |term: &&Value| term["process"] == 43 && term["cluster"] == "E";
        let wanted = terms.iter().find(is_wanted);
        Ok(PredictedComputation {
            predicted_s: wanted.map_or(f64::NAN, |term| number(&term["compute_s"]))
                / horizon as f64
                / SAVED_FRACTION_ON_E,
            measured_s: log.computation_times_s[59][42],
        })
    };
    Ok([one(100)?, one(10)?])
}

/// Index of the cluster with 500 MHz in the example of section 2.1 of the paper.
const SLOW_CLUSTER: usize = 0;
const FAST: usize = 1;

/// Simulates six processes that send messages along a chain. Process p1 is on the cluster `first`, and the other processes are on
/// the slow cluster. Returns the recorded supersteps and the makespan \[s\].
fn simulate_chain(
    runs: &Runs<'_>,
    between: &str,
    first: usize,
    instructions: &str,
) -> Result<(SuperstepLog, f64), Error> {
    let cluster = |name: &str, speed: &str, router: &str| json!({ "name": name, "hosts": 10, "speed": speed, "router": router, "link": { "bandwidth": "1 Gbps", "latency": "0 s" } });
    let text = json!({
        "schema": "migsim-platform-1",
        "name": "two-clusters",
        "clusters": [cluster("Cluster1", "500 MHz", "R1"), cluster("Cluster2", "1 GHz", "R2")],
        "routers": ["R1", "R2"],
        "links": [{ "name": "R1-R2", "from": "R1", "to": "R2", "bandwidth": between, "latency": "0 s" }],
    });
    let case = case_of_config(&Config::from_iter([("n".to_owned(), 6.into())]))
        .with_setting("workload.first_instructions", instructions)
        .with_setting("workload.last_instructions", instructions);
    let mut experiment = runs.load_experiment(&case)?;
    experiment.platform = Arc::new(platform::from_json("two-clusters", &text.to_string())?);
    let hosts = &experiment.platform.platform.hosts;
    experiment.placement = (0..6).map(HostId::from_index).collect();
    if first == FAST {
        experiment.placement[0] = HostId::from_index(hosts.len() - 1);
    }
    simulate_with_superstep_log(&experiment, Scenario::I)
}
