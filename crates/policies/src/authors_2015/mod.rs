//! `MigBSP` as the authors' own simulation program of 2015 decides it, including its errors, which are called slips here.
//!
//! ```text
//! observe ──> interval     aged times and bytes, patterns; a call every α supersteps
//! decide  ──> potential    PM(i,j) = Comp(i,j) + Comm(i,j) - Mem(i,j); ISet(j) by the power that processes leave
//!         ├─> ranking      the Set that each process prefers; the order by decreasing PM
//!         ├─> heuristic    candidates: one, percentage, migcube, or mighull
//!         └─> destination  the host of the Set with the fewest processes
//! ```
//! Source: the simulation program of `MigBSP`'s authors, `migcubemighull/heuristics`, 2015. This edition was written from a description of
//! what the program computes, and no line of the program is here. PM is the potential of migration, α the number of supersteps between
//! calls, D the tolerance of the stability test.
//!
//! ## What it is for
//!
//! It serves to check and to predict. [Stored calls](../../results/authors-2015.md) of the program are decided again: each PM to the last
//! bit, and each order, candidate and host. Do not use it as a policy of your own: it keeps the slips listed below because the program has
//! them, and no other policy here has them.
//!
//! ## What it does
//!
//! - A call comes after every α supersteps. The program computes a new α but does not use it.
//! - Times and bytes age from zero, the last superstep with weight 1/2. Patterns start at 1 in each call.
//! - The Set index ISet(j) sums `power / (processes + 1)` over the declared hosts of Set j, and divides by the largest sum. A process counts
//!   on its own host. External load is ignored.
//! - Each process prefers the Set with its largest PM above 0. Its own Set competes.
//! - `one` chooses the first process in the order, `percentage` each process whose PM is above x times that of the first.
//! - `migcube` chooses the processes in a cube around the first one, in the space of (Comp, Comm, Mem). Half the edge is the mean distance of
//!   the other processes to the first.
//! - `mighull` chooses the processes near a line through two of them, in all three planes of that space.
//! - Managers decide in increasing order of their Sets, and each takes its candidates in increasing order. There is no test whether a move
//!   pays, a move has no price, and a host is never full.
//!
//! ## Its slips, and what they do
//!
//! | slip | effect |
//! |---|---|
//! | Mem penalises staying | Bytes are counted for the process's own Set, so that Mem is 0 for every other Set. With messages of 1 MB, staying costs a process 0.996 s of PM. Nearly every candidate leaves its Set at nearly every call, and runs oscillate. |
//! | marks are never cleared | A candidate remains one in all later calls. `one` moves 1, 2, 3, 4, ... processes at successive calls. |
//! | a move counts twice | If moves happen, a process counts twice on the host to which it is sent. Later candidates of the call avoid this host more than they should. |
//! | Comm of a Set left behind | The time of communication with a Set that a process has left is never cleared. It attracts the process back to that Set. |
//! | an exchange sort that is not stable | The order of equal PM depends on the positions of all other processes, and decides which process is a candidate. |
//! | the last Set of `migcube` | The coordinates are those of the last Set, whichever Set a process prefers. |
//! | the variables of `mighull` | Numbers of processes are used as positions in the order. Two of three limits are written into the wrong variable. A cross product \[s²\] is compared with a standard deviation \[s\]. Of 60 processes 59 or 60 are chosen. |
//!
//! The program itself gains about 40 % with these slips on its own cases, since its first moves empty slow hosts that up to four processes share.
//!
//! ## Differences of a run here
//!
//! The program measures the time of communication from posting the own message to the end of the receive. Here it is the time from the end
//! of the computation to the barrier, and 0 if the process received nothing. Patterns compare instructions and received bytes. If no PM is
//! above 0, the program would send uninitialised memory; here the process stays.

mod call;
mod config;
mod destination;
mod heuristic;
mod interval;
mod potential;
mod ranking;

use std::sync::Arc;

use serde_json::{Map, Value, json};

pub use call::{Answer, Call};
pub use config::{Authors2015Config, DeclaredSet};
pub use destination::Move;
pub use heuristic::Heuristic;
pub use interval::{age, outside};
pub use potential::{Report, Set, Terms};
pub use ranking::Wish;

use self::config::Deployment;
use self::interval::Interval;
use super::migbsp::{ALPHA, ALPHAS, LISTED_PAIRS};
use crate::{Candidate, Decision, Migration, Policy, PolicyOptions, View};
use migsim_base::error::Error;
use migsim_base::plugin::OptionFlag;
use migsim_base::random::Stream;
use migsim_base::units::{ClusterId, HostId, ProcessId};

/// Number of calls, from the first on, whose record has every term of every potential of migration (PM).
const EXPLAINED_CALLS: u32 = 64;

/// Size of the terms of a PM(i,j) as JSON \[B\].
const RECORD: f64 = 900.0;

/// The policy of the authors' program of 2015.
#[derive(Debug)]
pub struct Authors2015 {
    config: Authors2015Config,
    /// The Sets, once a platform was observed.
    deployment: Option<Deployment>,
    interval: Interval,
    /// Whether each process was ever a candidate.
    marked: Vec<bool>,
    calls: u32,
    /// A contradiction between the Sets and the platform, which the next call reports.
    failure: Option<Error>,
}

impl Authors2015 {
    /// Creates the policy with these options.
    ///
    /// # Errors
    /// Options are out of range; the error names all of them.
    pub fn new(config: Authors2015Config) -> Result<Self, Error> {
        let problems = config.problems();
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        Ok(Self {
            config,
            deployment: None,
            interval: Interval::default(),
            marked: Vec::new(),
            calls: 0,
            failure: None,
        })
    }

    /// Adds the measures of a superstep to the Sets in which the processes are.
    fn observe(&mut self, view: &View<'_>) -> Result<(), Error> {
        let deployment = match self.deployment.take() {
            Some(deployment) => deployment,
            None => Deployment::new(&self.config, view)?,
        };
        let places = deployment.places(view)?;
        let sets: Vec<usize> = places.iter().map(|&(set, _)| set).collect();
        let count = deployment.sets.len();
        self.interval.observe(view, self.config.d, count, &sets);
        self.deployment = Some(deployment);
        Ok(())
    }

    /// Returns the reports of all processes.
    fn reports(&self, deployment: &Deployment, view: &View<'_>) -> Result<Vec<Report>, Error> {
        let places = deployment.places(view)?.into_iter().enumerate();
        let report = |(process, (set, host))| {
            let aged = self.interval.aged(process, self.config.pattern_margin);
            let mut communication_patterns = vec![1.0; deployment.sets.len()];
            communication_patterns[set] = aged.communication_pattern;
            Report {
                set,
                host,
                computation_pattern: aged.computation_pattern,
                computation: aged.computation,
                communication_patterns,
                communication: aged.communication,
                bytes: aged.bytes,
            }
        };
        Ok(places.map(report).collect())
    }

    /// Returns the decision record.
    fn explain(
        &self,
        answer: &Answer,
        deployment: &Deployment,
        view: &View<'_>,
    ) -> Map<String, Value> {
        let name = |set: usize| &view.platform.clusters[deployment.cluster(set)].name;
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put("alpha", json!(self.config.alpha));
        put("outside_d", json!(self.interval.outside()));
        let indices = answer.indices.iter().enumerate();
        let indices = indices.map(|(set, index)| (name(set).clone(), json!(index)));
        put("set_indices", Value::Object(indices.collect()));
        let largest = answer.order.first().map(|wish| wish.potential);
        put("largest_potential_s", json!(largest));
        let kept = self.marked.iter().filter(|is_marked| **is_marked).count();
        put("candidates_of_earlier_calls", json!(kept));
        if self.calls < EXPLAINED_CALLS
            && answer.terms.len() * deployment.sets.len() <= LISTED_PAIRS
        {
            let terms = answer.terms.iter().enumerate().flat_map(|(process, sets)| {
                sets.iter().enumerate().map(move |(set, terms)| {
                    let [computation, communication, memory] = terms.metrics;
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
            put("potentials", terms.collect());
        }
        fields
    }
}

/// Returns the candidates with their verdicts, and the migrations in the order in which managers decide them.
fn verdicts(
    answer: &Answer,
    deployment: &Deployment,
    view: &View<'_>,
) -> (Vec<Candidate>, Vec<Migration>) {
    let host = |one: &Move| {
        let cluster = &view.platform.clusters[deployment.cluster(one.set)];
        HostId(
            cluster.hosts.start + u32::try_from(one.host).expect("hosts have numbers of 32 bits"),
        )
    };
    let mut destinations = vec![None; answer.candidates.len()];
    for one in &answer.moves {
        destinations[one.process] = Some(host(one));
    }
    let candidates = answer
        .order
        .iter()
        .filter(|wish| answer.candidates[wish.process]);
    let candidates = candidates.map(|wish| {
        let to = destinations[wish.process];
        let own = view.cluster_of(wish.process);
        let wanted = wish
            .set
            .map(|set| ClusterId::from_index(deployment.cluster(set)));
        let reason = match (to, wanted) {
            (Some(_), _) => "it prefers this cluster, and there is no test whether the move pays",
            (None, None) => "no PM is above 0",
            (None, Some(wanted)) if wanted == own => "it prefers its own cluster",
            (None, Some(_)) => "it must stay where it is",
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
    const FLAGS: &'static [OptionFlag] = &[ALPHA];
    const RANGES: &'static [(&'static str, &'static str)] = &[ALPHAS, ("x", "0.1..1.0:0.05")];
    const SHARES: &'static [&'static str] = &["d"];

    fn moves_between_clusters(&self) -> bool {
        true
    }

    fn policy(self) -> Result<Box<dyn Policy>, Error> {
        Ok(Box::new(Authors2015::new(self)?))
    }
}

impl Policy for Authors2015 {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.failure = self.observe(view).err();
        self.failure.is_some() || self.is_call_planned(view.superstep)
    }

    fn is_call_planned(&self, superstep: usize) -> bool {
        (superstep + 1).is_multiple_of(self.config.alpha as usize)
    }

    fn decide(&mut self, view: &View<'_>, _: &mut Stream) -> Result<Decision, Error> {
        self.failure.take().map_or(Ok(()), Err)?;
        let Some(deployment) = self.deployment.take() else {
            return Ok(Decision::default()); // no superstep was seen
        };
        let reports = self.reports(&deployment, view)?;
        self.marked.resize(reports.len(), false);
        let call = Call {
            sets: &deployment.sets,
            reports: &reports,
            heuristic: self.config.heuristic,
            x: self.config.x,
            marked: &self.marked,
            pinned: view.pinned,
            moves_happen: view.migrations_happen,
        };
        let answer = call.decide();
        let explanation = self.explain(&answer, &deployment, view);
        let (candidates, migrations) = verdicts(&answer, &deployment, view);
        self.marked = answer.candidates;
        self.calls = self.calls.saturating_add(1);
        self.deployment = Some(deployment);
        Ok(Decision {
            migrations,
            candidates,
            explanation: Some(Arc::new(explanation)),
            procedure: None,
        })
    }

    fn on_outcome(&mut self, _: usize) {
        self.interval.restart();
    }

    /// Counts the times on each Set, the terms of a call, and the records of the first calls as JSON.
    fn memory(&self, pairs: f64, supersteps: f64) -> f64 {
        let calls = (supersteps / f64::from(self.config.alpha)).floor();
        let records = calls.min(f64::from(EXPLAINED_CALLS));
        let listed = if pairs > LISTED_PAIRS as f64 {
            0.0
        } else {
            pairs
        };
        let state = 3.0 * size_of::<f64>() as f64 + size_of::<Terms>() as f64;
        pairs * state + listed * records * RECORD
    }

    fn uses_seed(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
