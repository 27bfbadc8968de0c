//! The policy `MigBSP` as the authors' own simulation program of 2015 decides it, including the program's errors, which are
//! called slips here.
//!
//! ```text
//! observe ──> interval     aged times and bytes, patterns; a call every α supersteps
//! decide  ──> potential    PM(i,j) = Comp(i,j) + Comm(i,j) - Mem(i,j); ISet(j) by the power that processes leave
//!         ├─> ranking      the Set that each process prefers; the order by decreasing PM
//!         ├─> heuristic    candidates: one, percentage, migcube, or mighull
//!         └─> destination  the host of the Set with the fewest processes
//! ```
//! PM(i,j) is the potential of migration of process i to Set (cluster) j, α the number of supersteps between rescheduling calls,
//! and D the tolerance of the stability test. Source: the simulation program of `MigBSP`'s authors, `migcubemighull/heuristics`,
//! 2015. This policy was written from a description of what the program computes; it contains no line of the program.
//!
//! ## What it is for
//!
//! The policy serves to check recorded runs of the program and to predict new ones. It decides the program's [stored
//! calls](../../results/authors-2015.md) again and reproduces the potentials of migration to the last bit, as well as the order
//! of the processes, the candidates and the hosts. Do not use it as a policy for your own experiments: it keeps the slips listed
//! below because the program has them, and no other policy of migsim has them.
//!
//! ## What it does
//!
//! - A rescheduling call takes place after every α supersteps. The program computes a new α but does not use it.
//! - An aged value is a mean over the supersteps since the last call, in which the last superstep has weight 1/2. Aged times and
//!   bytes start from zero at each call. Patterns (measures of regularity) start at 1.
//! - The Set index ISet(j) is the sum of `power / (processes + 1)` over the declared hosts of Set j, divided by the largest such
//!   sum. A process is also counted on its own host. External load is ignored.
//! - Each process prefers the Set with the largest PM above 0. The Set in which the process already is competes with the others.
//! - `one` chooses the first process in the order, `percentage` each process whose PM is above x times the PM of the first
//!   process.
//! - `migcube` chooses the processes in a cube around the first process of the order, in the space of the terms (Comp, Comm,
//!   Mem). Half the edge of the cube is the mean distance of the other processes to the first.
//! - `mighull` chooses the processes near a line through two processes, in all three planes of that space.
//! - The managers of the Sets decide in increasing order of Sets, and each takes its candidates in increasing order of process
//!   numbers. The program does not test whether a move reduces the time of the application, a move costs nothing, and a host has
//!   no limit for its number of processes.
//!
//! ## Its slips, and what they do
//!
//! | slip | effect |
//! |---|---|
//! | Mem penalises staying | Bytes are counted for the process's own Set, so that Mem is 0 for every other Set. With messages of 1 MB, staying costs a process 0.996 s of PM. Nearly every candidate leaves its Set at nearly every call, and runs oscillate. |
//! | marks are never cleared | A process that was a candidate once remains a candidate in all later calls. `one` moves 1, 2, 3, 4, ... processes at successive calls. |
//! | a move counts twice | If moves happen, a process counts twice on the host to which it is sent. Later candidates of the call avoid this host more than they should. |
//! | Comm of a Set left behind | The time of communication with a Set that a process has left is never cleared. It attracts the process back to that Set. |
//! | an exchange sort that is not stable | The order of equal PM depends on the positions of all other processes, and decides which process is a candidate. |
//! | the last Set of `migcube` | The coordinates are the terms of PM for the last Set, whichever Set a process prefers. |
//! | the variables of `mighull` | Numbers of processes are used as positions in the order. Two of three limits are written into the wrong variable. A cross product \[s²\] is compared with a standard deviation \[s\]. Of 60 processes 59 or 60 are chosen. |
//!
//! Despite these slips the program itself gains about 40 % on its own cases, since its first moves empty slow hosts that up to
//! four processes share.
//!
//! ## Differences of a run here
//!
//! The program measures the communication time of a process from posting its message to the end of its receive. In migsim it is
//! the time from the end of the computation to the barrier, or 0 if the process received nothing. Patterns compare instructions
//! and received bytes. If no PM of a process is above 0, the program would send uninitialised memory; in migsim the process
//! stays.

mod call;
mod config;
mod destination;
mod heuristic;
mod interval;
mod potential;
mod ranking;

use std::sync::Arc;

use serde_json::{Map, Value, json};

pub use call::{ReschedulingCall, ReschedulingCallResult};
pub use config::{Authors2015Config, DeclaredSet};
pub use destination::Move;
pub use heuristic::Heuristic;
pub use interval::{count_unbalanced_processes, next_aged_value};
pub use potential::{HostSet, PotentialTerms, ProcessReport};
pub use ranking::SetPreference;

use self::{config::Deployment, interval::IntervalMeasures};
use super::{
    explain::explanation_fields,
    migbsp::{ALPHA_FLAG, ALPHA_RANGE, MAX_LISTED_PAIRS},
};
use crate::{
    Candidate, Decision, Migration, Policy, PolicyOptions, View, strategy::refuse_problems,
};
use migsim_base::{
    error::{Error, Result},
    plugin::OptionFlag,
    random::Stream,
    units::{ClusterId, HostId, ProcessId},
};

/// Number of rescheduling calls at the start of a run whose decision records list every term of every potential of migration
/// (PM).
const EXPLAINED_CALLS: u32 = 64;

/// Size of the record of the terms of one PM(i,j) as JSON \[B\], for the estimate of the memory of a run.
const TERMS_RECORD_SIZE: f64 = 900.0;

/// The policy `authors-2015`, with its state: it decides as the simulation program of 2015 by the authors of `MigBSP`.
#[derive(Debug)]
pub struct Authors2015 {
    config: Authors2015Config,
    /// The Sets (clusters) of the run; `None` until the first superstep is observed.
    deployment: Option<Deployment>,
    interval_measures: IntervalMeasures,
    was_candidate: Vec<bool>,
    call_count: u32,
    /// An error that was found at a barrier because the declared Sets contradict the platform; the next call returns it.
    pending_error: Option<Error>,
}

impl Authors2015 {
    /// Creates the policy with its options.
    ///
    /// # Errors
    /// Options are out of range; the error names all of them.
    pub fn new(config: Authors2015Config) -> Result<Self> {
        refuse_problems(config.problems())?;
        Ok(Self {
            config,
            deployment: None,
            interval_measures: IntervalMeasures::default(),
            was_candidate: Vec::new(),
            call_count: 0,
            pending_error: None,
        })
    }

    /// Adds the measures of the superstep that has just ended. Communication is counted for the Set in which the process is.
    fn observe(&mut self, view: &View<'_>) -> Result {
        if self.deployment.is_none() {
            self.deployment = Some(Deployment::new(&self.config, view)?);
        }
        let deployment = self.deployment.as_ref().expect("it was created");
        let sets: Vec<usize> = deployment
            .sets_and_hosts_of_processes(view)?
            .iter()
            .map(|&(set, _)| set)
            .collect();
        let d = self.config.d;
        let count = deployment.sets.len();
        self.interval_measures.observe(view, d, count, &sets);
        Ok(())
    }

    fn decision_record(
        &self,
        answer: &ReschedulingCallResult,
        deployment: &Deployment,
        view: &View<'_>,
    ) -> Map<String, Value> {
        let name = |set: usize| &view.platform.clusters[deployment.cluster_of_set(set)].name;
        let indices: Map<String, Value> = answer
            .set_indices
            .iter()
            .enumerate()
            .map(|(set, index)| (name(set).clone(), json!(index)))
            .collect();
        let marked = self.was_candidate.iter().filter(|is_marked| **is_marked);
        let mut fields = json!({
            "alpha": self.config.alpha,
            "outside_d": self.interval_measures.unbalanced_process_counts(),
            "set_indices": indices,
            "largest_potential_s": answer.preference_order.first().map(|wish| wish.potential),
            "candidates_of_earlier_calls": marked.count(),
        });
        let pairs = answer.potential_terms.len() * deployment.sets.len();
        if self.call_count < EXPLAINED_CALLS && pairs <= MAX_LISTED_PAIRS {
            let terms = answer.potential_terms.iter().enumerate();
            let terms = terms.flat_map(|(process, sets)| {
                sets.iter().enumerate().map(move |(set, terms)| {
                    let [computation, communication, memory] = terms.comp_comm_mem;
                    json!({
                        "process": process + 1,
                        "cluster": name(set),
                        "compute_s": computation,
                        "communication_s": communication,
                        "memory_s": memory,
                        "potential_s": terms.potential(),
                    })
                })
            });
            fields["potentials"] = terms.collect();
        }
        explanation_fields(fields)
    }
}

/// Returns the candidates of a call, each with the reason why it moves or stays, and the migrations in the order in which the
/// managers of the Sets decide them.
fn candidates_and_migrations(
    answer: &ReschedulingCallResult,
    deployment: &Deployment,
    view: &View<'_>,
) -> (Vec<Candidate>, Vec<Migration>) {
    let host = |one: &Move| {
        let cluster = &view.platform.clusters[deployment.cluster_of_set(one.destination_set)];
        HostId::from_index(cluster.hosts.start as usize + one.destination_host)
    };
    let mut destinations = vec![None; answer.is_candidate.len()];
    for one in &answer.moves {
        destinations[one.process] = Some(host(one));
    }
    let candidates = answer
        .preference_order
        .iter()
        .filter(|wish| answer.is_candidate[wish.process]);
    let candidates = candidates.map(|wish| {
        let to = destinations[wish.process];
        let own = view.cluster_of(wish.process);
        let wanted = wish
            .preferred_set
            .map(|set| ClusterId::from_index(deployment.cluster_of_set(set)));
        let reason = match (to, wanted) {
            (Some(_), _) => {
                "the process prefers this cluster, and the policy does not compare predicted times"
            }
            (None, None) => "no potential of migration (PM) is above 0",
            (None, Some(wanted)) if wanted == own => "the process prefers its present cluster",
            (None, Some(_)) => "the process must stay on its host, as the application says",
        };
        Candidate {
            process: ProcessId::from_index(wish.process),
            from: view.placement[wish.process],
            to_cluster: wanted.unwrap_or(own),
            to,
            score: wish.potential,
            stay: None,
            go: None,
            accepted: to.is_some(),
            reason: reason.into(),
        }
    });
    let migrations = answer.moves.iter().map(|one| Migration {
        process: ProcessId::from_index(one.process),
        to: host(one),
    });
    (candidates.collect(), migrations.collect())
}

impl PolicyOptions for Authors2015Config {
    const FLAGS: &'static [OptionFlag] = &[ALPHA_FLAG];
    const RANGES: &'static [(&'static str, &'static str)] = &[ALPHA_RANGE, ("x", "0.1..1.0:0.05")];
    const SHARES: &'static [&'static str] = &["d"];

    fn moves_only_between_clusters(&self) -> bool {
        true
    }

    fn policy(self) -> Result<Box<dyn Policy>> {
        Ok(Box::new(Authors2015::new(self)?))
    }
}

impl Policy for Authors2015 {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.pending_error = self.observe(view).err();
        self.pending_error.is_some() || self.is_call_planned(view.superstep)
    }

    fn is_call_planned(&self, superstep: usize) -> bool {
        (superstep + 1).is_multiple_of(self.config.alpha as usize)
    }

    fn decide(&mut self, view: &View<'_>, _: &mut Stream) -> Result<Decision> {
        self.pending_error.take().map_or(Ok(()), Err)?;
        let Some(deployment) = self.deployment.take() else {
            return Ok(Decision::default()); // no superstep was seen
        };
        let places = deployment.sets_and_hosts_of_processes(view)?.into_iter();
        let margin = self.config.pattern_margin;
        let reports: Vec<ProcessReport> = places
            .enumerate()
            .map(|(process, place)| self.interval_measures.report(process, place, margin))
            .collect();
        self.was_candidate.resize(reports.len(), false);
        let call = ReschedulingCall {
            sets: &deployment.sets,
            reports: &reports,
            heuristic: self.config.heuristic,
            percentage_x: self.config.x,
            was_candidate: &self.was_candidate,
            is_pinned: view.pinned_processes,
            are_moves_carried_out: view.executes_migrations,
        };
        let answer = call.decide();
        let explanation = self.decision_record(&answer, &deployment, view);
        let (candidates, migrations) = candidates_and_migrations(&answer, &deployment, view);
        self.was_candidate = answer.is_candidate;
        self.call_count = self.call_count.saturating_add(1);
        self.deployment = Some(deployment);
        Ok(Decision {
            migrations,
            candidates,
            explanation: Some(Arc::new(explanation)),
            procedure: None,
        })
    }

    fn omit_terms(&mut self) {
        self.call_count = EXPLAINED_CALLS;
    }

    fn on_migrations_executed(&mut self, _: usize) {
        self.interval_measures.restart_interval();
    }

    /// Returns the memory that the policy needs in a run \[B\]: for the times on each Set, the terms of a call, and the records
    /// of the first calls as JSON.
    fn memory(&self, pairs: f64, supersteps: f64) -> f64 {
        let records = (supersteps / f64::from(self.config.alpha))
            .floor()
            .min(f64::from(EXPLAINED_CALLS));
        let listed = if pairs > MAX_LISTED_PAIRS as f64 {
            0.0
        } else {
            pairs
        };
        let state = 3.0 * size_of::<f64>() as f64 + size_of::<PotentialTerms>() as f64;
        pairs * state + listed * records * TERMS_RECORD_SIZE
    }

    fn uses_seed(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
