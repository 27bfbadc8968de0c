//! The first paper on the scheduler: da Rosa Righi, Carissimi, Navaux, *On the Dynamic Load-Rebalancing of BSP Application Using
//! Process Migration*, WSPPD 2007. The paper publishes a model but no runs, so its rules and claims are checked on the policy
//! ([`migsim_policies::migbsp_2007`]).
//!
//! Each check gives the policy a few constructed supersteps on the platform `ufrgs`, reads the record of its decision, and
//! describes what was observed.

use super::claims::{ClaimCheck, decide, largest, number};
use super::runs::{Paper, PaperCase};
use migsim_base::random::{Stream, StreamPurpose};
use migsim_base::units::{
    Bytes, BytesPerSecond, HostId, Instructions, LinkId, ProcessId, Seconds, Time,
};
use migsim_bsp::{Decision, Measures, Policy, Traffic, View};
use migsim_engine::NetworkModel;
use migsim_platform::{Platform, Profile};
use migsim_policies::migbsp_2007::{MigrationMetrics, relative_to_maximum};
use migsim_policies::{MigBsp2007, MigBsp2007Config};

/// The paper of WSPPD 2007 as an entry in the list of reproduced papers.
pub(super) const PAPER: Paper = Paper {
    name: "wsppd2007",
    title: "da Rosa Righi, Carissimi, Navaux: On the Dynamic Load-Rebalancing of BSP Application Using Process Migration",
    experiment: None,
    facts_json: include_str!("facts/wsppd2007.json"),
    case_of_config: |_| PaperCase::new(""),
    is_in_sample: |_| false,
    claim_checks: CLAIMS,
    switched_off_parts: "",
    notes: NOTES,
};

/// Text for the page of the paper that explains how each rule (listed as a decision) was checked.
const NOTES: &str = "\
## How the rules were checked

Each rule is compared with what the policy does in the check of a claim above. The rule matches if the claim holds.

| rule | claim | what the policy does |
|---|---|---|
| w07-d01: a call after the last superstep of each interval | w07-c02 | calls after 4, 12, 28 and 60 |
| w07-d02: α' grows after a stable superstep | w07-c01 | intervals grow if supersteps are balanced |
| w07-d03: α' falls to 1 at the lowest after unstable supersteps | w07-c03 | α' = 1 from α = 4 on |
| w07-d04: a process moves to the Set of its highest PM | w07-c12 | one migration, to ICE with the 3 partners |
| w07-d05: a process stays if no host of the Set has memory for it | w07-c18 | no host is offered |
";

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

/// Reads the number `key` of each process from the record of a decision.
fn process_terms(decision: &Decision, key: &str) -> Vec<f64> {
    let processes = &decision.explanation_json()["processes"];
    let processes = processes.as_array().into_iter().flatten();
    processes.map(|terms| number(&terms[key])).collect()
}

/// Reads the number `key` of a process for each cluster from the record of a decision.
fn cluster_terms(decision: &Decision, process: usize, key: &str) -> Vec<f64> {
    let potentials = &decision.explanation_json()["potentials"];
    let potentials = potentials.as_array().into_iter().flatten();
    let of_process = potentials.filter(|terms| terms["process"] == process + 1);
    of_process.map(|terms| number(&terms[key])).collect()
}

const BALANCED: [f64; 3] = [1.0, 1.0, 1.0];
const UNBALANCED: [f64; 3] = [0.1, 1.0, 1.9];

/// Returns the decision about a process of the cluster Labtec that receives messages only from the cluster Aquario.
fn decision_with_partners_on_aquario(case: &PolicyCase) -> Decision {
    case.first_decision(|_, measures| {
        set_computation(measures, 0, 1e9, 1.0);
        set_received(measures, 0, AQUARIO, 1e6, 1.0);
    })
}

const CLAIMS: &[(&str, ClaimCheck)] = &[
    ("w07-c01", |_, _| {
        let case = PolicyCase::new(&[0, 1, 2]);
        let balanced = case.call_supersteps(4, set_three_computations(BALANCED));
        let unbalanced = case.call_supersteps(4, set_three_computations(UNBALANCED));
        let intervals = |dates: &[usize]| -> Vec<usize> {
            dates.windows(2).map(|pair| pair[1] - pair[0]).collect()
        };
        let grows = intervals(&balanced).is_sorted_by(|a, b| a < b);
        let shrinks = intervals(&unbalanced).iter().all(|&interval| interval < 4);
        let seen = format!("calls after {balanced:?} when balanced, {unbalanced:?} when not");
        decide(grows && shrinks, seen)
    }),
    ("w07-c02", |_, _| {
        let dates =
            PolicyCase::new(&[0, 1, 2]).call_supersteps(4, set_three_computations(BALANCED));
        let alpha = 4;
        let holds = dates == [alpha, 3 * alpha, 7 * alpha, 15 * alpha];
        decide(holds, format!("α = {alpha}: calls after {dates:?}"))
    }),
    ("w07-c03", |_, _| {
        let case = PolicyCase::new(&[0, 1, 2]);
        let next = |times, count| -> Vec<u64> {
            let calls = case.decide_first_calls(count, set_three_computations(times));
            let of = |call: &(usize, Decision)| call.1.explanation_json()["next_alpha"].as_u64();
            calls.iter().filter_map(of).collect()
        };
        let (down, up) = (next(UNBALANCED, 3), next(BALANCED, 8));
        let holds = down == [1, 1, 1] && up.last() == Some(&1024);
        decide(
            holds,
            format!("from α = 4: α' = {down:?} when unbalanced, {up:?} when balanced"),
        )
    }),
    ("w07-c04", |_, _| {
        let calls = PolicyCase::new(&[0, 1]).decide_first_calls(2, |superstep, measures| {
            set_computation(measures, 0, 1e9, 1.0);
            set_computation(measures, 1, alternating_amount(superstep), 1.0);
        });
        let decision = &calls[1].1;
        let terms = process_terms(decision, "p_proc");
        let (regular, irregular) = (terms[0], terms[1]);
        let seen = format!("Pproc = {regular} for equal, {irregular} for alternating instructions");
        decide(regular == 1.0 && irregular == 0.0, seen)
    }),
    ("w07-c05", |_, _| {
        let mut case = PolicyCase::new(&[0]);
        case.config.alpha = 5;
        let weight = |only: usize| {
            let decision = case.first_decision(|superstep, measures| {
                let work = if superstep == only { 1.0 } else { 0.0 };
                set_computation(measures, 0, work, 1.0);
            });
            process_terms(&decision, "instructions")[0]
        };
        let weights: Vec<f64> = (1..=5).map(weight).collect();
        let holds = weights == [0.0625, 0.0625, 0.125, 0.25, 0.5];
        decide(holds, format!("α = 5: supersteps weigh {weights:?} in PI"))
    }),
    ("w07-c06", |_, _| {
        // The second interval has the supersteps 5 to 12. An alternating amount has Pproc = 1/4 after the first interval. If Pproc started
        // again, 7 errors of 8 would leave 1/8.
        let calls = PolicyCase::new(&[0, 1]).decide_first_calls(2, |superstep, measures| {
            let work = if superstep <= 4 { 1e9 } else { 4e9 };
            set_computation(measures, 0, work, 1.0);
            set_computation(measures, 1, alternating_amount(superstep), 1.0);
        });
        let forecast = process_terms(&calls[1].1, "instructions")[0];
        let pattern = |call: usize| process_terms(&calls[call].1, "p_proc")[1];
        let seen = format!(
            "1e9 instructions before a call, 4e9 after it: PI = {forecast:e}; Pproc at two calls {}, {}",
            pattern(0),
            pattern(1)
        );
        let holds = forecast == 4e9 && pattern(0) == 0.25 && pattern(1) == 0.0;
        decide(holds, seen)
    }),
    ("w07-c07", |_, _| {
        let decision =
            PolicyCase::new(&[0, 1, 2]).first_decision(set_three_computations([1.0, 2.0, 4.0]));
        let all = process_terms(&decision, "ip");
        decide(
            all == [0.25, 0.5, 1.0],
            format!("1, 2 and 4 s: IP = {all:?}"),
        )
    }),
    ("w07-c08", |_, _| {
        // A long interval is needed: in an interval of 1, every forecast is the value itself and is correct.
        let mut case = PolicyCase::new(&[0, 1, 2]);
        case.config.alpha = 40;
        let decision = case.first_decision(|superstep, measures| {
            set_computation(measures, 0, 1e9, 1.0);
            set_computation(measures, 1, alternating_amount(superstep), 1.0);
            set_computation(measures, 2, 1e7, 0.01);
        });
        let p = process_terms(&decision, "processing");
        let (slow, irregular, quick) = (p[0], p[1], p[2]);
        let seen = format!("P = {slow} regular and slow, {irregular} irregular, {quick} quick");
        decide(slow == 1.0 && irregular < 0.05 && quick < 0.05, seen)
    }),
    ("w07-c09", |_, _| {
        let decision = PolicyCase::new(&[0, 1]).first_decision(|_, measures| {
            set_received(measures, 0, LABTEC, 1e3, 0.1);
            set_received(measures, 0, ICE, 1e3, 0.4);
            set_received(measures, 1, ICE, 1e3, 1.0);
            set_received(measures, 1, AQUARIO, 1e3, 5.0);
        });
        let all: Vec<Vec<f64>> = (0..2)
            .map(|process| cluster_terms(&decision, process, "ic"))
            .collect();
        let holds = all.iter().all(|of_one| largest(of_one) == 1.0);
        decide(
            holds,
            format!("IC of two processes over the clusters: {all:?}"),
        )
    }),
    ("w07-c10", |_, _| {
        let mut case = PolicyCase::new(&[0]);
        case.config.alpha = 40;
        let decision = case.first_decision(|superstep, measures| {
            set_computation(measures, 0, 1e9, 1.0);
            set_received(measures, 0, ICE, 1e6, 1.0);
            set_received(measures, 0, CORISCO, alternating_amount(superstep), 1.0);
            set_received(measures, 0, AQUARIO, 1e6, 0.01);
        });
        let c = cluster_terms(&decision, 0, "communication");
        let (slow, irregular, quick) = (c[ICE], c[CORISCO], c[AQUARIO]);
        let seen = format!("C = {slow} regular and slow, {irregular} irregular, {quick} quick");
        decide(slow == 1.0 && irregular < 0.05 && quick < 0.05, seen)
    }),
    ("w07-c11", |_, _| {
        let decision = PolicyCase::new(&[0]).first_decision(|_, measures| {
            *measures.traffic_mut(0, ICE) = Traffic {
                sent_bytes: Bytes::of(300.0),
                received_bytes: Bytes::of(100.0),
                send_time: Seconds::of(1.0),
                receive_time: Seconds::of(2.0),
                ..Traffic::default()
            };
        });
        let bytes = cluster_terms(&decision, 0, "bytes")[ICE];
        let time = cluster_terms(&decision, 0, "communication_s")[ICE];
        let seen = format!("300 B in 1 s sent, 100 B in 2 s received: {bytes} B, {time} s");
        decide(bytes == 300.0 && time == 2.0, seen)
    }),
    ("w07-c12", |_, _| {
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
        decide(moved == [ProcessId(0)] && goes_there, seen)
    }),
    ("w07-c13", |_, _| {
        let mut case = PolicyCase::new(&[0, 1, 2]);
        case.memory = [1e6, 4e6, 2e6].map(Bytes::of).to_vec();
        let decision = case.first_decision(set_three_computations(BALANCED));
        let all = process_terms(&decision, "im");
        decide(
            all == [0.25, 1.0, 0.5],
            format!("1, 4 and 2 MB: IM = {all:?}"),
        )
    }),
    ("w07-c14", |_, _| {
        let example: Vec<f64> = relative_to_maximum([10.0, 20.0, 15.0]).collect();
        let decision = PolicyCase::new(&[0, FIRST_OF_ICE]).first_decision(|_, _| ());
        let each = (0..2).all(|process| largest(&cluster_terms(&decision, process, "it")) == 1.0);
        let holds = example == [0.5, 1.0, 0.75] && each;
        decide(holds, format!("10, 20 and 15 s: IT = {example:?}"))
    }),
    ("w07-c15", |_, _| {
        // From Labtec (1 Gbps) to Corisco (100 Mbps) and Aquario (1 Gbps).
        let mut case = PolicyCase::new(&[0, 1]);
        case.memory = [1e9, 1e6].map(Bytes::of).to_vec();
        let decision = case.first_decision(|_, _| ());
        let m =
            |process: usize, cluster: usize| cluster_terms(&decision, process, "memory")[cluster];
        let (both, small, near) = (m(0, CORISCO), m(1, CORISCO), m(0, AQUARIO));
        let seen = format!("M = {both} large and slow, {small:.3} small, {near:.3} quick");
        decide(both > 0.95 && small < 0.05 && near < 0.2, seen)
    }),
    ("w07-c16", |_, _| {
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
        decide(least == -1.0 && most == 2.0, seen)
    }),
    ("w07-c17", |_, _| {
        let case = PolicyCase::new(&[0, 1, 2]);
        let decision = case.first_decision(set_three_computations(BALANCED));
        let count = decision.explanation_json()["potentials"]
            .as_array()
            .map_or(0, Vec::len);
        let clusters = case.platform.clusters.len();
        decide(
            count == 3 * clusters,
            format!("3 processes, {clusters} clusters: {count} PM in a call"),
        )
    }),
    ("w07-c18", |_, _| {
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
        decide((first, second, none) == (Some(1), Some(2), None), seen)
    }),
    ("w07-c19", |_, _| {
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
        decide(holds, seen)
    }),
    // No run can show that a programmer needs to do nothing.
    ("w07-c20", |_, _| {
        Ok((
            None,
            "an application has no call of the scheduler (trait `Workload`)".into(),
        ))
    }),
];
