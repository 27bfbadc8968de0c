//! Rescheduling calls of a simulated run in the terms of the papers: supersteps and processes are counted from 1, and clusters
//! and hosts have names.

use std::{collections::BTreeSet, fmt};

use serde_json::Value;

use migsim_base::units::HostId;
use migsim_bsp::{CallRecord, Scenario};
use migsim_experiment::{Experiment, Results};

/// A rescheduling call with its candidates and moves, in the terms of the papers (processes counted from 1, hosts by name).
#[derive(Clone, Debug, PartialEq)]
pub struct PaperCall {
    /// Superstep after which the call took place, counted from 1.
    pub superstep: u64,
    /// Time of the simulated run at which this superstep ended and the call began \[s\].
    pub superstep_end_s: f64,
    /// Interval α between rescheduling calls \[supersteps\] before and after this call; `None` if the policy has no such
    /// interval.
    pub alpha_before_and_after: Option<(u64, u64)>,
    /// Candidates for a move in this call: the number of the process (from 1), and the name of the cluster of its present host.
    pub candidates_with_clusters: Vec<(u64, String)>,
    /// Migrations that the call decided.
    pub moves: Vec<PaperMove>,
    /// Smallest |t1 - t2| of a candidate \[s\], where t1 is the predicted time if the process stays and t2 the time if it moves.
    /// A small value means that the decision was close. `None` if the policy computes no such times.
    pub smallest_decision_margin_s: Option<f64>,
}

/// A migration that a rescheduling call decided, in the terms of the papers (process counted from 1, hosts by name).
#[derive(Clone, Debug, PartialEq)]
pub struct PaperMove {
    /// Number of the process, counted from 1.
    pub process: u64,
    /// Name of the cluster that the process leaves.
    pub from_cluster: String,
    /// Name of the cluster to which the process moves.
    pub to_cluster: String,
    /// Name of the host that the process leaves.
    pub from_host: String,
    /// Name of the host to which the process moves.
    pub to_host: String,
}

impl fmt::Display for PaperMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "p{}: {} to {}",
            self.process, self.from_host, self.to_host
        )
    }
}

/// All rescheduling calls of a run, ordered by time.
pub type Calls = Vec<PaperCall>;

pub(super) fn calls_of_scenario(
    experiment: &Experiment,
    results: &Results,
    scenario: Scenario,
) -> Calls {
    let calls = results
        .get(scenario)
        .map_or(&[][..], |run| &run.outcome.calls);
    calls
        .iter()
        .map(|call| call_in_paper_terms(experiment, call))
        .collect()
}

fn call_in_paper_terms(experiment: &Experiment, call: &CallRecord) -> PaperCall {
    let platform = &experiment.platform.platform;
    let cluster = |host: HostId| {
        platform.clusters[platform.cluster_of(host).index()]
            .name
            .clone()
    };
    let name = |host: HostId| platform.hosts[host.index()].name.clone();
    let number = |process: migsim_base::units::ProcessId| u64::from(process.0) + 1;
    let decision = &call.decision;
    let terms = decision.outline_json();
    let explained = |key: &str| terms.get(key).and_then(Value::as_u64);
    let distance = |candidate: &migsim_policies::Candidate| {
        Some((candidate.stay?.get() - candidate.go?.get()).abs())
    };
    PaperCall {
        superstep: call.superstep as u64 + 1,
        superstep_end_s: call.start.get(),
        alpha_before_and_after: explained("alpha").zip(explained("next_alpha")),
        candidates_with_clusters: decision
            .candidates
            .iter()
            .map(|one| (number(one.process), cluster(one.from)))
            .collect(),
        moves: decision
            .migrations
            .iter()
            .zip(&call.migration_origins)
            .map(|(wanted, &origin)| PaperMove {
                process: number(wanted.process),
                from_cluster: cluster(origin),
                to_cluster: cluster(wanted.to),
                from_host: name(origin),
                to_host: name(wanted.to),
            })
            .collect(),
        smallest_decision_margin_s: decision
            .candidates
            .iter()
            .filter_map(distance)
            .reduce(f64::min),
    }
}

impl PaperCall {
    /// Returns the numbers (from 1) of the processes that move in this call.
    pub fn moved_processes(&self) -> BTreeSet<u64> {
        self.moves.iter().map(|one| one.process).collect()
    }

    /// Describes the call in a short sentence: its superstep, its number of candidates, and its moves.
    pub fn describe_in_sentence(&self) -> String {
        if self.moves.is_empty() {
            return format!(
                "{}: {} candidates, none moves",
                self.superstep,
                self.candidates_with_clusters.len()
            );
        }
        let processes: Vec<String> = self
            .moved_processes()
            .iter()
            .map(|process| format!("p{process}"))
            .collect();
        let clusters: BTreeSet<String> = self
            .moves
            .iter()
            .map(|one| format!("{} to {}", one.from_cluster, one.to_cluster))
            .collect();
        let clusters: Vec<String> = clusters.into_iter().collect();
        format!(
            "{}: {} of {} candidates, {}: {}",
            self.superstep,
            self.moves.len(),
            self.candidates_with_clusters.len(),
            clusters.join(" and "),
            shortened_list(&processes)
        )
    }
}

fn shortened_list(names: &[String]) -> String {
    match names {
        [first, .., last] if names.len() > 4 => format!("{first} ... {last}"),
        _ => names.join(", "),
    }
}
