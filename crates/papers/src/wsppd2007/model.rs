//! Checks of the twenty claims (w07-c01 to w07-c20) of the 2007 paper about its model. The paper publishes no results, so the
//! claims are checked on the policy.
//!
//! Each check gives the policy a few constructed supersteps on the platform `ufrgs`, reads the record of its decision, and
//! returns a description of what was observed.

use serde_json::Value;

use migsim_base::random::{Stream, StreamPurpose};
use migsim_base::units::{
    Bytes, BytesPerSecond, HostId, Instructions, LinkId, ProcessId, Seconds, Time,
};
use migsim_bsp::{Decision, Measures, Policy, Traffic, View};
use migsim_engine::NetworkModel;
use migsim_platform::{Platform, Profile};
use migsim_policies::migbsp_2007::{MigrationMetrics, relative_to_maximum};
use migsim_policies::{MigBsp2007, MigBsp2007Config};

/// A claim of the 2007 paper, with the verdict of its check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedClaim {
    /// Identifier of the claim in the list of facts of this project, `w07-c01` to `w07-c20`.
    pub id: &'static str,
    /// Whether the claim is true for the policy.
    pub holds: bool,
    /// Description of what was observed in the check.
    pub observation: String,
}

/// Checks all claims of the 2007 paper, in the order of their identifiers.
pub fn check_claims() -> Vec<CheckedClaim> {
    CHECKS.iter().map(run_check).collect()
}

/// Checks the claim with the identifier `id`; returns `None` if there is no such claim.
pub fn check_claim(id: &str) -> Option<CheckedClaim> {
    CHECKS.iter().find(|(known, _)| *known == id).map(run_check)
}

fn run_check((id, check): &(&'static str, Check)) -> CheckedClaim {
    let (holds, seen) = check();
    CheckedClaim {
        id,
        holds,
        observation: seen,
    }
}

type Check = fn() -> (bool, String);

const CHECKS: [(&str, Check); 20] = [
    ("w07-c01", check_interval_follows_balance),
    ("w07-c02", check_alpha_doubles_while_balanced),
    ("w07-c03", check_alpha_has_minimum_1_and_no_maximum),
    ("w07-c04", check_pattern_separates_regular_from_irregular),
    ("w07-c05", check_recent_supersteps_weigh_more),
    ("w07-c06", check_pattern_persists_but_forecasts_restart),
    ("w07-c07", check_computation_index_of_slowest_process_is_1),
    (
        "w07-c08",
        check_computation_metric_is_high_for_regular_and_slow,
    ),
    ("w07-c09", check_communication_index_of_slowest_cluster_is_1),
    (
        "w07-c10",
        check_communication_metric_is_high_for_regular_and_slow,
    ),
    ("w07-c11", check_larger_of_sent_and_received_counts),
    ("w07-c12", check_one_process_moves_to_its_partners),
    ("w07-c13", check_memory_index_of_largest_image_is_1),
    ("w07-c14", check_transfer_index_of_slowest_cluster_is_1),
    ("w07-c15", check_memory_metric_is_high_for_large_and_far),
    ("w07-c16", check_potential_lies_between_minus_1_and_2),
    ("w07-c17", check_each_process_has_a_potential_per_cluster),
    ("w07-c18", check_destination_is_first_host_with_memory),
    ("w07-c19", check_links_inside_cluster_are_ignored),
    ("w07-c20", check_workload_knows_no_policy),
];

/// Index of the cluster Labtec on the platform `ufrgs`.
const LABTEC: usize = 0;
const CORISCO: usize = 1;
const ICE: usize = 3;
const AQUARIO: usize = 4;
const FIRST_OF_ICE: u32 = 42;
const FIRST_OF_AQUARIO: u32 = 154;

/// Processes on the platform `ufrgs` for a check of the policy. Each process has 1 MB of memory to migrate unless the check sets
/// another size.
struct PolicyCase {
    config: MigBsp2007Config,
    platform: Platform,
    placement: Vec<HostId>,
    memory: Vec<Bytes>,
}

impl PolicyCase {
    fn new(hosts: &[u32]) -> Self {
        let loaded = migsim_platform::open("ufrgs").expect("a built-in platform");
        Self {
            config: MigBsp2007Config::default(),
            platform: loaded.platform,
            placement: hosts.iter().copied().map(HostId).collect(),
            memory: vec![Bytes::of(1e6); hosts.len()],
        }
    }

    /// Simulates supersteps until the policy has decided `count` rescheduling calls. Returns the superstep (from 1) before each
    /// call, and the decision. Every superstep lasts a second, with the measures that `fill` sets.
    fn decide_first_calls(
        &self,
        count: usize,
        fill: impl Fn(usize, &mut Measures),
    ) -> Vec<(usize, Decision)> {
        let mut policy = MigBsp2007::new(self.config.clone()).expect("options in range");
        let mut random = Stream::new(1, StreamPurpose::PolicyDecisions);
        let external_load = vec![0.0; self.platform.hosts.len()];
        let network = NetworkModel::default();
        let mut measures = Measures::default();
        let mut calls = Vec::new();
        for superstep in 1.. {
            measures.clear(self.placement.len());
            fill(superstep, &mut measures);
            let view = View {
                platform: &self.platform,
                network: &network,
                superstep: superstep - 1,
                now: Time::ZERO + Seconds::of(superstep as f64),
                placement: &self.placement,
                measurements: &measures,
                process_memory: &self.memory,
                external_load: &external_load,
                cycles_per_instruction: 1.0,
                executes_migrations: false,
                messages: &[],
                total_supersteps: usize::MAX,
                last_call_cost: Seconds::default(),
                pinned_processes: &[],
                seed: 1,
                workload: None,
            };
            if policy.is_call_due(&view) {
                let decision = policy.decide(&view, &mut random);
                calls.push((superstep, decision.expect("a decision of this policy")));
                policy.on_migrations_executed(0);
            }
            if calls.len() == count {
                break;
            }
        }
        calls
    }

    /// Returns the supersteps (from 1) after which the first `count` rescheduling calls take place.
    fn call_supersteps(&self, count: usize, fill: impl Fn(usize, &mut Measures)) -> Vec<usize> {
        let calls = self.decide_first_calls(count, fill);
        calls.iter().map(|call| call.0).collect()
    }

    /// Returns the decision of the policy in its first rescheduling call.
    fn first_decision(&self, fill: impl Fn(usize, &mut Measures)) -> Decision {
        self.decide_first_calls(1, fill).remove(0).1
    }
}

/// Returns a function that sets the measures of three processes on Labtec with equal work; `times` are their computation times
/// \[s\].
fn set_three_computations(times: [f64; 3]) -> impl Fn(usize, &mut Measures) {
    move |_, measures| {
        for (process, time) in times.into_iter().enumerate() {
            set_computation(measures, process, 1e9, time);
        }
    }
}

fn set_computation(measures: &mut Measures, process: usize, work: f64, time: f64) {
    measures.work[process] = Instructions::of(work);
    measures.computation_times[process] = Seconds::of(time);
}

/// Sets the traffic of a process with a cluster: the process receives `bytes` \[B\] from this cluster in `time` \[s\].
fn set_received(measures: &mut Measures, process: usize, cluster: usize, bytes: f64, time: f64) {
    *measures.traffic_mut(process, cluster) = Traffic {
        received_bytes: Bytes::of(bytes),
        receive_time: Seconds::of(time),
        ..Traffic::default()
    };
}

/// Returns an amount of data or work that is three times as large in supersteps with an even number as in other supersteps.
fn alternating_amount(superstep: usize) -> f64 {
    if superstep.is_multiple_of(2) {
        3e9
    } else {
        1e9
    }
}

/// Reads the number `key` of a process from the record of a decision.
fn process_term_of_decision(decision: &Decision, process: usize, key: &str) -> f64 {
    let terms = &decision.explanation_json()["processes"][process][key];
    terms.as_f64().unwrap_or(f64::NAN)
}

/// Reads the number `key` of a process for each cluster from the record of a decision.
fn cluster_terms_of_decision(decision: &Decision, process: usize, key: &str) -> Vec<f64> {
    let explained = decision.explanation_json();
    let all = explained["potentials"].as_array();
    let is_of = |terms: &&Value| terms["process"].as_u64() == Some(process as u64 + 1);
    let terms = all.into_iter().flatten().filter(is_of);
    terms
        .map(|terms| terms[key].as_f64().unwrap_or(f64::NAN))
        .collect()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

const BALANCED: [f64; 3] = [1.0, 1.0, 1.0];
const UNBALANCED: [f64; 3] = [0.1, 1.0, 1.9];

fn check_interval_follows_balance() -> (bool, String) {
    let case = PolicyCase::new(&[0, 1, 2]);
    let balanced = case.call_supersteps(4, set_three_computations(BALANCED));
    let unbalanced = case.call_supersteps(4, set_three_computations(UNBALANCED));
    let intervals = |dates: &[usize]| -> Vec<usize> {
        dates.windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    let grows = intervals(&balanced).is_sorted_by(|a, b| a < b);
    let shrinks = intervals(&unbalanced).iter().all(|&interval| interval < 4);
    let seen = format!("calls after {balanced:?} when balanced, {unbalanced:?} when not");
    (grows && shrinks, seen)
}

fn check_alpha_doubles_while_balanced() -> (bool, String) {
    let dates = PolicyCase::new(&[0, 1, 2]).call_supersteps(4, set_three_computations(BALANCED));
    let alpha = 4;
    let holds = dates == [alpha, 3 * alpha, 7 * alpha, 15 * alpha];
    (holds, format!("α = {alpha}: calls after {dates:?}"))
}

fn check_alpha_has_minimum_1_and_no_maximum() -> (bool, String) {
    let case = PolicyCase::new(&[0, 1, 2]);
    let next = |times, count| -> Vec<u64> {
        let calls = case.decide_first_calls(count, set_three_computations(times));
        let of = |call: &(usize, Decision)| call.1.explanation_json()["next_alpha"].as_u64();
        calls.iter().filter_map(of).collect()
    };
    let (down, up) = (next(UNBALANCED, 3), next(BALANCED, 8));
    let holds = down == [1, 1, 1] && up.last() == Some(&1024);
    (
        holds,
        format!("from α = 4: α' = {down:?} when unbalanced, {up:?} when balanced"),
    )
}

fn check_pattern_separates_regular_from_irregular() -> (bool, String) {
    let calls = PolicyCase::new(&[0, 1]).decide_first_calls(2, |superstep, measures| {
        set_computation(measures, 0, 1e9, 1.0);
        set_computation(measures, 1, alternating_amount(superstep), 1.0);
    });
    let decision = &calls[1].1;
    let (regular, irregular) = (
        process_term_of_decision(decision, 0, "p_proc"),
        process_term_of_decision(decision, 1, "p_proc"),
    );
    let seen = format!("Pproc = {regular} for equal, {irregular} for alternating instructions");
    (regular == 1.0 && irregular == 0.0, seen)
}

fn check_recent_supersteps_weigh_more() -> (bool, String) {
    let mut case = PolicyCase::new(&[0]);
    case.config.alpha = 5;
    let weight = |only: usize| {
        let decision = case.first_decision(|superstep, measures| {
            let work = if superstep == only { 1.0 } else { 0.0 };
            set_computation(measures, 0, work, 1.0);
        });
        process_term_of_decision(&decision, 0, "instructions")
    };
    let weights: Vec<f64> = (1..=5).map(weight).collect();
    let holds = weights == [0.0625, 0.0625, 0.125, 0.25, 0.5];
    (holds, format!("α = 5: supersteps weigh {weights:?} in PI"))
}

fn check_pattern_persists_but_forecasts_restart() -> (bool, String) {
    // The second interval has the supersteps 5 to 12. An alternating amount has Pproc = 1/4 after the first interval. If Pproc started
    // again, 7 errors of 8 would leave 1/8.
    let calls = PolicyCase::new(&[0, 1]).decide_first_calls(2, |superstep, measures| {
        let work = if superstep <= 4 { 1e9 } else { 4e9 };
        set_computation(measures, 0, work, 1.0);
        set_computation(measures, 1, alternating_amount(superstep), 1.0);
    });
    let forecast = process_term_of_decision(&calls[1].1, 0, "instructions");
    let pattern = |call: usize| process_term_of_decision(&calls[call].1, 1, "p_proc");
    let seen = format!(
        "1e9 instructions before a call, 4e9 after it: PI = {forecast:e}; Pproc at two calls {}, {}",
        pattern(0),
        pattern(1)
    );
    let holds = forecast == 4e9 && pattern(0) == 0.25 && pattern(1) == 0.0;
    (holds, seen)
}

fn check_computation_index_of_slowest_process_is_1() -> (bool, String) {
    let decision =
        PolicyCase::new(&[0, 1, 2]).first_decision(set_three_computations([1.0, 2.0, 4.0]));
    let all: Vec<f64> = (0..3)
        .map(|process| process_term_of_decision(&decision, process, "ip"))
        .collect();
    (
        all == [0.25, 0.5, 1.0],
        format!("1, 2 and 4 s: IP = {all:?}"),
    )
}

fn check_computation_metric_is_high_for_regular_and_slow() -> (bool, String) {
    // A long interval is needed: in an interval of 1, every forecast is the value itself and is correct.
    let mut case = PolicyCase::new(&[0, 1, 2]);
    case.config.alpha = 40;
    let decision = case.first_decision(|superstep, measures| {
        set_computation(measures, 0, 1e9, 1.0);
        set_computation(measures, 1, alternating_amount(superstep), 1.0);
        set_computation(measures, 2, 1e7, 0.01);
    });
    let p = |process| process_term_of_decision(&decision, process, "processing");
    let (slow, irregular, quick) = (p(0), p(1), p(2));
    let seen = format!("P = {slow} regular and slow, {irregular} irregular, {quick} quick");
    (slow == 1.0 && irregular < 0.05 && quick < 0.05, seen)
}

fn check_communication_index_of_slowest_cluster_is_1() -> (bool, String) {
    let decision = PolicyCase::new(&[0, 1]).first_decision(|_, measures| {
        set_received(measures, 0, LABTEC, 1e3, 0.1);
        set_received(measures, 0, ICE, 1e3, 0.4);
        set_received(measures, 1, ICE, 1e3, 1.0);
        set_received(measures, 1, AQUARIO, 1e3, 5.0);
    });
    let all: Vec<Vec<f64>> = (0..2)
        .map(|process| cluster_terms_of_decision(&decision, process, "ic"))
        .collect();
    let holds = all.iter().all(|of_one| largest(of_one) == 1.0);
    (
        holds,
        format!("IC of two processes over the clusters: {all:?}"),
    )
}

fn check_communication_metric_is_high_for_regular_and_slow() -> (bool, String) {
    let mut case = PolicyCase::new(&[0]);
    case.config.alpha = 40;
    let decision = case.first_decision(|superstep, measures| {
        set_computation(measures, 0, 1e9, 1.0);
        set_received(measures, 0, ICE, 1e6, 1.0);
        set_received(measures, 0, CORISCO, alternating_amount(superstep), 1.0);
        set_received(measures, 0, AQUARIO, 1e6, 0.01);
    });
    let c = cluster_terms_of_decision(&decision, 0, "communication");
    let (slow, irregular, quick) = (c[ICE], c[CORISCO], c[AQUARIO]);
    let seen = format!("C = {slow} regular and slow, {irregular} irregular, {quick} quick");
    (slow == 1.0 && irregular < 0.05 && quick < 0.05, seen)
}

fn check_larger_of_sent_and_received_counts() -> (bool, String) {
    let decision = PolicyCase::new(&[0]).first_decision(|_, measures| {
        *measures.traffic_mut(0, ICE) = Traffic {
            sent_bytes: Bytes::of(300.0),
            received_bytes: Bytes::of(100.0),
            send_time: Seconds::of(1.0),
            receive_time: Seconds::of(2.0),
            ..Traffic::default()
        };
    });
    let bytes = cluster_terms_of_decision(&decision, 0, "bytes")[ICE];
    let time = cluster_terms_of_decision(&decision, 0, "communication_s")[ICE];
    let seen = format!("300 B in 1 s sent, 100 B in 2 s received: {bytes} B, {time} s");
    (bytes == 300.0 && time == 2.0, seen)
}

fn check_one_process_moves_to_its_partners() -> (bool, String) {
    // Three processes of ICE send to a process of Labtec, which is the slowest of the four.
    let partners = [FIRST_OF_ICE, FIRST_OF_ICE + 1, FIRST_OF_ICE + 2];
    let mut hosts = vec![0];
    hosts.extend(partners);
    let decision = PolicyCase::new(&hosts).first_decision(|_, measures| {
        set_computation(measures, 0, 1e9, 1.0);
        set_received(measures, 0, ICE, 3e6, 0.3);
        for partner in 1..=3 {
            set_computation(measures, partner, 1e8, 0.1);
            *measures.traffic_mut(partner, LABTEC) = Traffic {
                sent_bytes: Bytes::of(1e6),
                send_time: Seconds::of(0.1),
                ..Traffic::default()
            };
        }
    });
    let moved: Vec<ProcessId> = decision
        .migrations
        .iter()
        .map(|wanted| wanted.process)
        .collect();
    let goes_there = decision
        .candidates
        .iter()
        .all(|candidate| candidate.to_cluster.index() == ICE);
    let seen = format!(
        "{} migration to ICE brings the process to its {} partners",
        moved.len(),
        partners.len()
    );
    (moved == [ProcessId(0)] && goes_there, seen)
}

fn check_memory_index_of_largest_image_is_1() -> (bool, String) {
    let mut case = PolicyCase::new(&[0, 1, 2]);
    case.memory = [1e6, 4e6, 2e6].map(Bytes::of).to_vec();
    let decision = case.first_decision(set_three_computations(BALANCED));
    let all: Vec<f64> = (0..3)
        .map(|process| process_term_of_decision(&decision, process, "im"))
        .collect();
    (
        all == [0.25, 1.0, 0.5],
        format!("1, 4 and 2 MB: IM = {all:?}"),
    )
}

fn check_transfer_index_of_slowest_cluster_is_1() -> (bool, String) {
    let example: Vec<f64> = relative_to_maximum([10.0, 20.0, 15.0]).collect();
    let decision = PolicyCase::new(&[0, FIRST_OF_ICE]).first_decision(|_, _| ());
    let each =
        (0..2).all(|process| largest(&cluster_terms_of_decision(&decision, process, "it")) == 1.0);
    let holds = example == [0.5, 1.0, 0.75] && each;
    (holds, format!("10, 20 and 15 s: IT = {example:?}"))
}

fn check_memory_metric_is_high_for_large_and_far() -> (bool, String) {
    // From Labtec (1 Gbps) to Corisco (100 Mbps) and Aquario (1 Gbps).
    let mut case = PolicyCase::new(&[0, 1]);
    case.memory = [1e9, 1e6].map(Bytes::of).to_vec();
    let decision = case.first_decision(|_, _| ());
    let m = |process: usize, cluster: usize| {
        cluster_terms_of_decision(&decision, process, "memory")[cluster]
    };
    let (both, small, near) = (m(0, CORISCO), m(1, CORISCO), m(0, AQUARIO));
    let seen = format!("M = {both} large and slow, {small:.3} small, {near:.3} quick");
    (both > 0.95 && small < 0.05 && near < 0.2, seen)
}

fn check_potential_lies_between_minus_1_and_2() -> (bool, String) {
    let ends = [0.0, 1.0];
    let mut all = Vec::new();
    for processing in ends {
        for communication in ends {
            for memory in ends {
                let metrics = MigrationMetrics {
                    processing,
                    communication,
                    memory,
                };
                all.push(metrics.potential());
            }
        }
    }
    let (least, most) = (
        all.iter().copied().fold(f64::INFINITY, f64::min),
        largest(&all),
    );
    let seen = format!("from {least} to {most} over the corners of P, C and M");
    (least == -1.0 && most == 2.0, seen)
}

fn check_each_process_has_a_potential_per_cluster() -> (bool, String) {
    let case = PolicyCase::new(&[0, 1, 2]);
    let decision = case.first_decision(set_three_computations(BALANCED));
    let count = decision.explanation_json()["potentials"]
        .as_array()
        .map_or(0, Vec::len);
    let clusters = case.platform.clusters.len();
    (
        count == 3 * clusters,
        format!("3 processes, {clusters} clusters: {count} PM in a call"),
    )
}

/// Returns the decision about a process of the cluster Labtec that receives messages only from the cluster Aquario.
fn decision_with_partners_on_aquario(case: &PolicyCase) -> Decision {
    case.first_decision(|_, measures| {
        set_computation(measures, 0, 1e9, 1.0);
        set_received(measures, 0, AQUARIO, 1e6, 1.0);
    })
}

fn check_destination_is_first_host_with_memory() -> (bool, String) {
    // One host of Aquario is half loaded by others, so that the second host of the cluster is first in the list.
    let aquario = FIRST_OF_AQUARIO as usize;
    let mut case = PolicyCase::new(&[0]);
    case.platform.hosts[aquario].speed_profile = Profile::new(vec![(0.0, 0.5)], None).ok();
    let to = |case: &PolicyCase| {
        let decision = decision_with_partners_on_aquario(case);
        let wanted = decision.migrations.first()?.to;
        Some(wanted.0 - FIRST_OF_AQUARIO)
    };
    let first = to(&case);
    case.platform.hosts[aquario + 1].memory = Some(Bytes::of(1.0));
    let second = to(&case);
    for host in &mut case.platform.hosts[aquario..] {
        host.memory = Some(Bytes::of(1.0));
    }
    let none = to(&case);
    let seen = format!(
        "host {first:?} of the cluster; {second:?} when that has no memory; {none:?} when none has"
    );
    ((first, second, none) == (Some(1), Some(2), None), seen)
}

fn check_links_inside_cluster_are_ignored() -> (bool, String) {
    let aquario = FIRST_OF_AQUARIO as usize;
    let mut case = PolicyCase::new(&[0]);
    case.platform.hosts[aquario].speed_profile = Profile::new(vec![(0.0, 0.5)], None).ok();
    let chosen = |case: &PolicyCase| decision_with_partners_on_aquario(case).migrations;
    let before = chosen(&case);
    // The link of the second host is made a thousand times slower.
    let to = before.first().map(|wanted| wanted.to);
    let route = to.and_then(|to| case.platform.route(HostId(0), to));
    let access: Option<LinkId> = route.and_then(|route| route.last_link);
    if let Some(link) = access {
        let link = &mut case.platform.links[link.index()];
        link.bandwidth = BytesPerSecond::of(link.bandwidth.get() / 1000.0);
    }
    let after = chosen(&case);
    let holds = access.is_some() && !before.is_empty() && before == after;
    let seen = "the same host, with its link as it is and a thousand times slower".to_owned();
    (holds, seen)
}

fn check_workload_knows_no_policy() -> (bool, String) {
    // A workload only provides work, messages and images; it has no method that knows of calls or placements.
    let seen =
        "by construction: a workload says what it computes and sends, and knows of no policy";
    (true, seen.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_are_on_the_published_page() {
        let page = include_str!("../../../../results/wsppd2007.md");
        for claim in check_claims() {
            let row = page.lines().find(|line| line.contains(claim.id));
            let row = row.expect("each claim has a row");
            if row.contains("not checkable") {
                continue;
            }
            let row = row.replace('\\', "");
            assert!(
                !claim.observation.is_empty() && row.contains(&claim.observation),
                "{claim:?}: {row}"
            );
            assert_eq!(super::check_claim(claim.id), Some(claim));
        }
        assert_eq!(check_claim("w07-c21"), None);
    }
}
