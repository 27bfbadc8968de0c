//! The paper on Smith-Waterman on dynamic platforms. The reproduction covers its Table 2, its rescheduling calls with their
//! times, its decisions, and its 38 claims.
//!
//! Source: Graebin, da Rosa Righi and Navaux, *Process Migration: Controlling Application and Resource Dynamics by Combining
//! Computation, Communication and Memory Metrics*, WSCAD 2011, doi:10.5753/wscad.2011.17274.
//!
//! In section 5.1, the power of all clusters is constant (experiment `sw-dynamic-static`). In section 5.2 and Table 2, the
//! clusters D and E lose half of their power t seconds after the start (experiment `sw-dynamic`, with one platform for each t).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::calls::{Calls, PaperMove};
use super::claims::{ClaimOutcome, decided_outcome, rounds_to_published, try_map};
use super::facts::Config;
use super::runs::{FinishedRun, PaperCase, Runs};
use super::sw_irregular::superstep_plans;
use super::{ClaimCheck, DecisionCheck, Paper};
use migsim_base::error::Error;
use migsim_base::units::HostId;
use migsim_bsp::{Recorder, Scenario};
use migsim_experiment::{Experiment, Progress, Results};
use migsim_platform as platform;
use migsim_policies::Measures;

/// Text for the page of the paper on the parts of the model that are switched off in its fitted experiment.
const SWITCHED_OFF: &str = "No part of the model is switched off. A call costs only its messages, sent one after the other, which take \
less than a millisecond on links without latency. So the mean overhead of 5.4 % that the paper states is not reproduced (swd-c03). The \
fixed cost of a migration, Mig(i,j), is 0 for section 5.2 of the paper. For section 5.1 it is 0.68 s, as for the same program and clusters \
in the paper on irregular Smith-Waterman. D grows after five calls without moves (ω = 5), where the other papers state three";

/// The paper on Smith-Waterman on dynamic platforms as an entry in the list of reproduced papers.
pub(super) const PAPER: Paper = Paper {
    name: "sw-dynamic",
    title: "Graebin, da Rosa Righi, Navaux: Process Migration: Controlling Application and Resource Dynamics by Combining Computation, Communication and Memory Metrics (WSCAD 2011, doi:10.5753/wscad.2011.17274)",
    experiment: Some("sw-dynamic"),
    facts_json: include_str!("facts/sw-dynamic.json"),
    case_of_config,
    is_in_sample: |_| true,
    claim_checks: CLAIMS,
    decision_checks: RULES,
    switched_off_parts: SWITCHED_OFF,
    notes: include_str!("notes/sw-dynamic.md"),
};

const ALPHA: &str = "policy.migbsp.alpha";
const ORDERS: [u64; 5] = [10, 25, 50, 100, 200];
const ALPHAS: [u64; 2] = [4, 16];

/// Parameters of a run: the time of the loss of power \[s\], the order n (problem size), and the interval α between calls
/// \[supersteps\].
///
/// At the time of the loss, clusters D and E lose half of their power; `None` stands for clusters with constant power.
type RunParameters = (Option<u64>, u64, u64);

/// Parameters of the runs that section 5.2 of the paper describes.
const DESCRIBED_RUNS: [RunParameters; 6] = [
    (Some(10), 25, 4),
    (Some(25), 50, 4),
    (Some(75), 50, 16),
    (Some(100), 100, 4),
    (Some(25), 100, 16),
    (Some(25), 200, 4),
];

/// Parameters of the run that section 5.1 of the paper describes.
const STATIC_RUN: RunParameters = (None, 200, 4);

/// Returns the run for the settings of a fact. The interval α between rescheduling calls is 4 supersteps if the settings contain
/// no α, as for scenario i.
fn case_of_config(config: &Config) -> PaperCase {
    let number = |key: &str| config.get(key).and_then(Value::as_u64);
    let order = number("n").unwrap_or(ORDERS[0]);
    case_of_parameters((
        number("x_seconds"),
        order,
        number("alpha").unwrap_or(ALPHAS[0]),
    ))
}

fn case_of_parameters((halved_after, order, alpha): RunParameters) -> PaperCase {
    let case = match halved_after {
        None => PaperCase::new("sw-dynamic-static"),
        Some(10) => PaperCase::new("sw-dynamic"),
        Some(seconds) => {
            PaperCase::new("sw-dynamic").with_setting("platform", format!("sw-dynamic-t{seconds}"))
        }
    };
    case.with_setting("workload.n", order)
        .with_setting(ALPHA, alpha)
}

const RULES: &[(&str, DecisionCheck)] = &[
    // The paper calls the placement "stable": from then on, each host of D and E has at most one process.
    ("swd-d14", |runs| {
        check_one_process_per_host_on_d_and_e(runs, 268)
    }),
];

fn finished_run(runs: &Runs<'_>, which: RunParameters) -> Result<Arc<FinishedRun>, Error> {
    runs.run_case(&case_of_parameters(which))
}

fn gain_percent(runs: &Runs<'_>, which: RunParameters) -> Result<f64, Error> {
    Ok(finished_run(runs, which)?.gain_percent())
}

fn calls_of_scenario_iii(runs: &Runs<'_>, which: RunParameters) -> Result<Calls, Error> {
    Ok(finished_run(runs, which)?.calls(Scenario::Iii))
}

/// Computes a number with the function `one` for each order n (row) and each interval α (column); `halved_after` is the time of
/// the loss of power \[s\].
fn compute_for_all_sizes(
    halved_after: Option<u64>,
    mut one: impl FnMut(RunParameters) -> Result<f64, Error>,
) -> Result<Vec<[f64; 2]>, Error> {
    let mut of_order = |order: u64| -> Result<[f64; 2], Error> {
        Ok([
            one((halved_after, order, ALPHAS[0]))?,
            one((halved_after, order, ALPHAS[1]))?,
        ])
    };
    ORDERS.iter().map(|&order| of_order(order)).collect()
}

/// Lists the gains of scenario iii \[%\] in the runs on dynamic platforms: first the runs of Table 2, then the runs that section
/// 5.2 describes.
fn gains_on_dynamic_platforms_percent(runs: &Runs<'_>) -> Result<Vec<f64>, Error> {
    let table = compute_for_all_sizes(Some(10), |which| gain_percent(runs, which))?;
    let mut gains = table.concat();
    gains.extend(try_map(&DESCRIBED_RUNS, |which| gain_percent(runs, which))?);
    Ok(gains)
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MIN, f64::max)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
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

/// Simulates a scenario with a recorder; returns the recorded supersteps and the makespan \[s\].
fn simulate_with_superstep_log(
    experiment: &Experiment,
    scenario: Scenario,
) -> Result<(SuperstepLog, f64), Error> {
    let mut watched = SuperstepLog::default();
    let run = experiment.run_scenario(scenario, &Progress::default(), &mut watched, None)?;
    Ok((watched, run.outcome.makespan.get()))
}

/// Returns, for each superstep of the run of section 5.1, the largest number of computing processes on one host of the clusters D
/// and E.
fn max_processes_per_host_on_d_and_e(runs: &Runs<'_>) -> Result<Vec<usize>, Error> {
    let done = finished_run(runs, STATIC_RUN)?;
    let (watched, _) = simulate_with_superstep_log(&done.experiment, Scenario::Iii)?;
    let most = |(times, hosts): (&Vec<f64>, &Vec<HostId>)| {
        let mut counts: BTreeMap<HostId, usize> = BTreeMap::new();
        for (time, &host) in times.iter().zip(hosts) {
            if *time > 0.0 && ["D", "E"].contains(&cluster_name(&done.experiment, host)) {
                *counts.entry(host).or_default() += 1;
            }
        }
        counts.into_values().max().unwrap_or(0)
    };
    let supersteps = watched.computation_times_s.iter().zip(&watched.placements);
    Ok(supersteps.map(most).collect())
}

fn check_one_process_per_host_on_d_and_e(runs: &Runs<'_>, after: usize) -> ClaimOutcome {
    let most = max_processes_per_host_on_d_and_e(runs)?;
    let most = most.iter().skip(after).copied().max().unwrap_or(0);
    decided_outcome(most <= 1, json!({ "most_on_one_host": most }))
}

fn cluster_name(experiment: &Experiment, host: HostId) -> &str {
    let platform = &experiment.platform.platform;
    &platform.clusters[platform.cluster_of(host).index()].name
}

/// Lists the moves away from clusters D and E that were decided after these clusters had lost half of their power.
fn moves_off_d_and_e(runs: &Runs<'_>, which: RunParameters) -> Result<Vec<PaperMove>, Error> {
    let halved_after = which.0.map_or(f64::MAX, |seconds| seconds as f64);
    let calls = calls_of_scenario_iii(runs, which)?;
    let later = calls
        .iter()
        .filter(|call| call.superstep_end_s >= halved_after);
    let moves = later.flat_map(|call| call.moves.clone());
    let leaves = |one: &PaperMove| ["D", "E"].contains(&one.from_cluster.as_str());
    Ok(moves.filter(leaves).collect())
}

fn run_name((halved_after, order, alpha): RunParameters) -> String {
    halved_after.map_or_else(
        || format!("{order}/a{alpha}"),
        |seconds| format!("{order}/t{seconds}/a{alpha}"),
    )
}

const CLAIMS: &[(&str, ClaimCheck)] = &[
    ("swd-c01", |runs, claim| {
        let most = largest(&gains_on_dynamic_platforms_percent(runs)?);
        decided_outcome(rounds_to_published(most, claim.published_number()?), most)
    }),
    ("swd-c02", |runs, claim| {
        let most = largest(&gains_on_dynamic_platforms_percent(runs)?);
        decided_outcome(rounds_to_published(most, claim.published_number()?), most)
    }),
    ("swd-c03", |runs, claim| {
        let overhead = |which| Ok(finished_run(runs, which)?.overhead_percent());
        let on_static = mean(&compute_for_all_sizes(None, overhead)?.concat());
        let on_dynamic = mean(&compute_for_all_sizes(Some(10), overhead)?.concat());
        let published = claim.published_number()?;
        decided_outcome(
            rounds_to_published(on_static, published) || rounds_to_published(on_dynamic, published),
            json!({ "static_percent": on_static, "dynamic_percent": on_dynamic }),
        )
    }),
    ("swd-c04", |runs, claim| {
        let mean = mean(&compute_for_all_sizes(None, |which| gain_percent(runs, which))?.concat());
        decided_outcome(rounds_to_published(mean, claim.published_number()?), mean)
    }),
    ("swd-c05", |runs, claim| {
        // The paper gives no α here, so that for each order one of them is sufficient.
        let gains = |order| try_map(&ALPHAS, |alpha| gain_percent(runs, (None, order, alpha)));
        let (fifty, two_hundred) = (gains(50)?, gains(200)?);
        let has = |gains: &[f64], published: f64| {
            gains
                .iter()
                .any(|&gain| rounds_to_published(gain, published))
        };
        let published = claim.published_numbers()?;
        decided_outcome(
            has(&fifty, published[0]) && has(&two_hundred, published[1]),
            json!({ "50": fifty, "200": two_hundred }),
        )
    }),
    ("swd-c06", |runs, _| {
        let overheads = compute_for_all_sizes(None, |which| {
            Ok(finished_run(runs, which)?.overhead_percent())
        })?;
        let falls = |alpha: usize| overheads.is_sorted_by(|a, b| a[alpha] > b[alpha]);
        decided_outcome(falls(0) && falls(1), json!(overheads))
    }),
    ("swd-c07", |runs, _| {
        // In each run, take the first call that moves a process from A or B. "Early" is read as the first half of a run.
        let is_meant = |one: &&PaperMove| ["A", "B"].contains(&one.from_cluster.as_str());
        let mut places = BTreeSet::new();
        let mut latest = 0.0_f64;
        for order in ORDERS {
            for alpha in ALPHAS {
                let half = order;
                if alpha > half {
                    continue; // 10 processes with α = 16 have no call in the first half.
                }
                let calls = finished_run(runs, (None, order, alpha))?.calls(Scenario::Iii);
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
        decided_outcome(
            only_fast && latest < 0.5,
            json!({ "to": places, "latest_at_this_part_of_a_run": latest }),
        )
    }),
    ("swd-c08", |runs, _| {
        let mut holds = true;
        let mut ends = Vec::new();
        for order in ORDERS {
            let done = finished_run(runs, (None, order, 4))?;
            let loads: Vec<f64> = superstep_plans(done.experiment.workload.as_ref())
                .map(|plan| plan.work.iter().map(|work| work.get()).fold(0.0, f64::max))
                .collect();
            let (first, last) = (loads[0], loads[loads.len() - 1]);
            holds &= loads.is_sorted_by(|a, b| a < b);
            holds &= (first / 1e6 - 1.0).abs() < 1e-9 && (last / 1e9 - 1.0).abs() < 1e-9;
            ends.push([first, last]);
        }
        decided_outcome(holds, json!(ends))
    }),
    ("swd-c09", |runs, _| {
        let shared = max_processes_per_host_on_d_and_e(runs)?
            .into_iter()
            .filter(|&most| most > 1)
            .count();
        decided_outcome(
            shared > 0,
            json!({ "supersteps_with_a_shared_host": shared }),
        )
    }),
    ("swd-c10", |runs, _| {
        let done = finished_run(runs, STATIC_RUN)?;
        let first = done.call_records(Scenario::Iii).iter().take(4);
        let highest: Vec<f64> = first
            .filter_map(|call| call.decision.outline_json()["highest_potential_s"].as_f64())
            .collect();
        decided_outcome(
            highest.len() == 4 && highest.iter().all(|&potential| potential < 0.0),
            highest,
        )
    }),
    ("swd-c11", |runs, _| {
        check_one_process_per_host_on_d_and_e(runs, 268)
    }),
    ("swd-c12", |runs, _| {
        // Check each run of section 5.2 that has a call after the slowdown.
        let mut holds = true;
        let mut all = serde_json::Map::new();
        for which in DESCRIBED_RUNS {
            let halved_after = which.0.map_or(f64::MAX, |seconds| seconds as f64);
            let has_call = calls_of_scenario_iii(runs, which)?
                .iter()
                .any(|call| call.superstep_end_s >= halved_after);
            let back = moves_off_d_and_e(runs, which)?;
            let is_back = |one: &&PaperMove| ["A", "B"].contains(&one.to_cluster.as_str());
            let count = back.iter().filter(is_back).count();
            holds &= count > 0 || !has_call;
            if has_call {
                all.insert(run_name(which), count.into());
            }
        }
        decided_outcome(holds && !all.is_empty(), all)
    }),
    ("swd-c13", |runs, _| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for which in DESCRIBED_RUNS {
            for one in moves_off_d_and_e(runs, which)? {
                *counts.entry(one.to_cluster).or_default() += 1;
            }
        }
        // "Suitable" has no number. It is read as: most processes that leave D and E move to A.
        let to_a = counts.get("A").copied().unwrap_or(0);
        decided_outcome(2 * to_a > counts.values().sum(), json!(counts))
    }),
    ("swd-c21", |runs, _| {
        // The call at 66 comes before the slowdown, and the next one 48 supersteps later.
        let calls = calls_of_scenario_iii(runs, (Some(25), 200, 4))?;
        let at = calls.iter().position(|call| call.superstep == 66);
        let next = at
            .and_then(|at| calls.get(at + 1))
            .map(|call| call.superstep);
        let is_before = at.is_some_and(|at| calls[at].superstep_end_s < 25.0);
        let dates: Vec<u64> = calls.iter().map(|call| call.superstep).collect();
        decided_outcome(is_before && next == Some(114), dates)
    }),
    ("swd-c22", |runs, _| {
        // Find when the processes that have moved to E compute for the last time.
        let done = finished_run(runs, (Some(25), 50, 4))?;
        let calls = done.calls(Scenario::Iii);
        let moves = calls.iter().flat_map(|call| &call.moves);
        let there = moves.filter(|one| one.to_cluster == "E");
        let supersteps = done
            .results
            .get(Scenario::Iii)
            .map_or(&[][..], |run| &run.outcome.supersteps);
        // Process p_i takes part in n supersteps, from the i-th on.
        let mut ends: Vec<f64> = there
            .filter_map(|one| {
                let last = usize::try_from(one.process).ok()? + 50 - 2;
                Some(supersteps.get(last)?.end.get())
            })
            .collect();
        ends.sort_by(f64::total_cmp);
        decided_outcome(largest(&ends) < 25.0 && !ends.is_empty(), ends)
    }),
    ("swd-c23", |runs, _| {
        let mut holds = true;
        let mut counts = Vec::new();
        for order in ORDERS {
            let done = finished_run(runs, (Some(10), order, 4))?;
            let mut busy = vec![0; done.experiment.workload.processes()];
            for plan in superstep_plans(done.experiment.workload.as_ref()) {
                for (count, work) in busy.iter_mut().zip(&plan.work) {
                    *count += u64::from(work.get() > 0.0);
                }
            }
            let supersteps = done.experiment.workload.supersteps() as u64;
            holds &= supersteps == 2 * order - 1 && busy.iter().all(|&count| count == order);
            counts.push(supersteps);
        }
        decided_outcome(holds, counts)
    }),
    ("swd-c24", |runs, _| {
        let done = finished_run(runs, (Some(10), 50, 4))?;
        let (mut holds, mut messages) = (true, 0);
        for plan in superstep_plans(done.experiment.workload.as_ref()) {
            let is_next = |message: &migsim_workloads::Message| message.to.0 == message.from.0 + 1;
            holds &= plan.messages.iter().all(is_next);
            messages += plan.messages.len();
        }
        // Each of 49 of the 50 columns sends in 50 supersteps.
        decided_outcome(holds && messages == 49 * 50, messages)
    }),
    ("swd-c25", |runs, _| {
        let counts: Vec<u64> = ORDERS
            .iter()
            .map(|&order| {
                let done = finished_run(runs, (Some(10), order, 4))?;
                Ok(done.experiment.workload.processes() as u64)
            })
            .collect::<Result<_, Error>>()?;
        decided_outcome(counts == ORDERS, counts)
    }),
    ("swd-c26", |runs, _| {
        let done = finished_run(runs, STATIC_RUN)?;
        let (watched, _) = simulate_with_superstep_log(&done.experiment, Scenario::I)?;
        let mut supersteps = watched.computation_times_s.iter().zip(&watched.placements);
        let on_d = |(times, hosts): (&Vec<f64>, &Vec<HostId>)| {
            let mut all = times.iter().zip(hosts);
            all.any(|(time, &host)| *time > 0.0 && cluster_name(&done.experiment, host) == "D")
        };
        let first = supersteps.position(on_d).map_or(0, |at| at + 1);
        decided_outcome(first == 43, first)
    }),
    ("swd-c27", |runs, _| {
        // The processes compute little and send large messages, and the link between the clusters is slow.
        let case = |first: usize| simulate_chain(runs, "10 Mbps", first, "1e6 instr");
        let times = [case(SLOW_CLUSTER)?.1, case(FAST)?.1];
        decided_outcome(times[1] > times[0], times.to_vec())
    }),
    ("swd-c28", |runs, _| {
        let first = |of: &SuperstepLog| of.computation_times_s[0][0];
        let case = |at: usize| simulate_chain(runs, "1 Gbps", at, "1e9 instr");
        let times = [first(&case(FAST)?.0), first(&case(SLOW_CLUSTER)?.0)];
        decided_outcome((times[1] / times[0] - 2.0).abs() < 1e-9, times.to_vec())
    }),
    ("swd-c29", |runs, _| {
        // The first call is compared for processes that pass the test of their pattern, and for processes that fail it.
        let of_margin = |delta: f64| -> Result<Vec<f64>, Error> {
            let case =
                case_of_parameters((Some(10), 25, 16)).with_setting("policy.migbsp.delta", delta);
            let done = runs.run_case(&case)?;
            Ok(potentials_of_call(&done, Scenario::Iii, 0)
                .map(|term| term.compute_s)
                .collect())
        };
        let (irregular, regular) = (of_margin(0.001)?, of_margin(0.5)?);
        let mut gaining = regular
            .iter()
            .zip(&irregular)
            .filter(|(regular, _)| **regular > 0.0);
        let most = [largest(&irregular), largest(&regular)];
        decided_outcome(
            gaining.all(|(regular, irregular)| irregular <= regular) && most[0] < most[1],
            most.to_vec(),
        )
    }),
    ("swd-c30", |runs, _| {
        // Compute the highest PM of a process that is not a candidate over the lowest PM of a candidate; it must not exceed 1.
        let mut most = f64::MIN;
        for which in DESCRIBED_RUNS.into_iter().chain([STATIC_RUN]) {
            let done = finished_run(runs, which)?;
            for (index, call) in done.call_records(Scenario::Iii).iter().enumerate() {
                let candidates = &call.decision.candidates;
                let least = candidates
                    .iter()
                    .map(|one| one.score)
                    .fold(f64::MAX, f64::min);
                let is_candidate = |term: &MigrationPotential| {
                    candidates
                        .iter()
                        .any(|one| u64::from(one.process.0) + 1 == term.process)
                };
                let others = potentials_of_call(&done, Scenario::Iii, index)
                    .filter(|term| !candidates.is_empty() && !is_candidate(term));
                most = others
                    .map(|term| term.potential_s / least)
                    .fold(most, f64::max);
            }
        }
        decided_outcome(most <= 1.0, most)
    }),
    ("swd-c31", |runs, _| {
        let overheads = compute_for_all_sizes(None, |which| {
            Ok(finished_run(runs, which)?.overhead_percent())
        })?;
        decided_outcome(
            overheads.iter().all(|[often, rarely]| rarely < often),
            json!(overheads),
        )
    }),
    ("swd-c32", |runs, _| {
        let [fast, slow] = predicted_computation_at_two_powers(runs)?;
        let ratio = slow.predicted_s / fast.predicted_s;
        decided_outcome((ratio - 2.0).abs() < 1e-9, ratio)
    }),
    ("swd-c33", |runs, _| {
        let [fast, slow] = predicted_computation_at_two_powers(runs)?;
        let regularities = [fast, slow].map(|one| one.predicted_s / one.measured_s);
        let is_same = (regularities[0] / regularities[1] - 1.0).abs() < 1e-9;
        decided_outcome(is_same && regularities[0] > 0.0, regularities.to_vec())
    }),
    ("swd-c34", |runs, _| {
        let done = finished_run(runs, (Some(10), 50, 4))?;
        let evaluated = potentials_of_call(&done, Scenario::Iii, 0).count();
        // PM is evaluated for 50 processes and the five Sets (section 2.2: n functions PM(i,j) for n Sets), not for 174 processors.
        decided_outcome(evaluated == 50 * 5, evaluated)
    }),
    ("swd-c35", |runs, _| {
        // For each call, check whether more supersteps passed the test than failed it, and whether α grew or fell.
        let (mut against, mut grows, mut falls) = (0, 0, 0);
        for which in DESCRIBED_RUNS.into_iter().chain([STATIC_RUN]) {
            for call in finished_run(runs, which)?.call_records(Scenario::Iii) {
                let terms = call.decision.outline_json();
                let votes = terms["votes"].as_str().unwrap_or_default();
                let (stable, unstable) = (votes.matches('+').count(), votes.matches('-').count());
                let (before, next) = (terms["alpha"].as_u64(), terms["next_alpha"].as_u64());
                grows += u32::from(next > before);
                falls += u32::from(next < before);
                against += u32::from(next < before && stable > unstable);
                against += u32::from(next > before && unstable > stable);
            }
        }
        // Compare runs without and with the second adaptation. A call whose decided moves did not happen counts as a call without
        // migration.
        let of_growth = |growth: &str| -> Result<usize, Error> {
            let case = case_of_parameters(STATIC_RUN)
                .with_setting("policy.migbsp.d_growth", growth)
                .with_setting("policy.migbsp.quiet_call", "moved");
            Ok(runs.run_case(&case)?.call_records(Scenario::Ii).len())
        };
        let counts = [of_growth("never")?, of_growth("multiply")?];
        decided_outcome(
            against == 0 && grows > 0 && falls > 0 && counts[1] < counts[0],
            json!({ "alpha_grows": grows, "falls": falls, "against_the_votes": against, "calls_without_and_with_the_second": counts }),
        )
    }),
    ("swd-c36", |runs, _| {
        let (mut holds, mut checked) = (true, 0);
        for which in DESCRIBED_RUNS.into_iter().chain([STATIC_RUN]) {
            let done = finished_run(runs, which)?;
            let calls = done.call_records(Scenario::Iii);
            for (index, call) in calls.iter().enumerate() {
                let terms = call.decision.outline_json();
                let number = |key: &str| terms[key].as_u64().unwrap_or_default();
                let votes = terms["votes"].as_str().unwrap_or_default();
                // The record keeps the first 64 votes of an interval.
                if votes.len() as u64 != number("alpha") {
                    continue;
                }
                holds &= alpha_after_votes(which.2, number("alpha"), votes) == number("next_alpha");
                if let Some(next) = calls.get(index + 1) {
                    holds &= (next.superstep - call.superstep) as u64 == number("next_alpha");
                }
                checked += 1;
            }
        }
        decided_outcome(holds && checked > 0, json!({ "calls": checked }))
    }),
    ("swd-c37", |runs, _| {
        let shares = try_map(&ORDERS, |order| {
            let done = finished_run(runs, (None, order, 4))?;
            let (watched, time) = simulate_with_superstep_log(&done.experiment, Scenario::I)?;
            Ok(watched
                .computation_times_s
                .iter()
                .map(|times| largest(times))
                .sum::<f64>()
                / time)
        })?;
        // More than half of the time is computation.
        decided_outcome(shares.iter().all(|&share| share > 0.5), shares)
    }),
    ("swd-c38", |runs, _| {
        let done = finished_run(runs, (Some(10), 50, 4))?;
        let again = done.experiment.run(&Progress::default())?;
        let hashes = |results: &Results| -> Vec<String> {
            let runs = results.scenario_runs.iter();
            runs.map(|run| run.outcome.event_hash.clone()).collect()
        };
        decided_outcome(hashes(&again) == hashes(&done.results), hashes(&again))
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

/// Potential of migration PM(i,j) of process i to cluster j, as a rescheduling call recorded it.
#[derive(Clone, Debug)]
struct MigrationPotential {
    /// Number of the process, counted from 1.
    process: u64,
    cluster: String,
    compute_s: f64,
    potential_s: f64,
}

/// Lists the potentials of migration PM(i,j) of the rescheduling call with the index `call` in a scenario of a run; empty if
/// there is no such call.
fn potentials_of_call(
    done: &FinishedRun,
    scenario: Scenario,
    call: usize,
) -> impl Iterator<Item = MigrationPotential> {
    let call = done.call_records(scenario).get(call);
    let terms = call.map(|call| call.decision.explanation_json());
    let terms = terms.and_then(|mut terms| terms.remove("potentials"));
    let terms = match terms {
        Some(Value::Array(terms)) => terms,
        _ => Vec::new(),
    };
    let read = |term: Value| MigrationPotential {
        process: term["process"].as_u64().unwrap_or_default(),
        cluster: term["cluster"].as_str().unwrap_or_default().to_owned(),
        compute_s: term["compute_s"].as_f64().unwrap_or(f64::NAN),
        potential_s: term["potential_s"].as_f64().unwrap_or(f64::NAN),
    };
    terms.into_iter().map(read)
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
        let case = case_of_parameters((Some(seconds), 50, 4))
            .with_setting("workload.first_instructions", "3e8 instr")
            .with_setting("workload.last_instructions", "3e8 instr");
        let done = runs.run_case(&case)?;
        let (watched, _) = simulate_with_superstep_log(&done.experiment, Scenario::Ii)?;
        let calls = done.call_records(Scenario::Ii);
        let call = calls.iter().position(|call| call.superstep + 1 == 60);
        let call = call.unwrap_or(usize::MAX);
        let next_alpha = calls
            .get(call)
            .map(|call| call.decision.outline_json()["next_alpha"].as_f64());
        let horizon = next_alpha.flatten().unwrap_or(f64::NAN);
        let mut terms = potentials_of_call(&done, Scenario::Ii, call);
        let wanted = terms.find(|term| term.process == 43 && term.cluster == "E");
        Ok(PredictedComputation {
            predicted_s: wanted.map_or(f64::NAN, |term| term.compute_s)
                / horizon
                / SAVED_FRACTION_ON_E,
            measured_s: watched.computation_times_s[59][42],
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
    let case = PaperCase::new("sw-dynamic-static")
        .with_setting("workload.n", 6)
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
