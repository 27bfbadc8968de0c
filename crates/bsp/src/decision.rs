//! The answer of a policy to a rescheduling call: the migrations, the reasons for them, and the cost of the decision.

use std::{borrow::Cow, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use migsim_base::units::{ClusterId, HostId, ProcessId, Seconds};

/// A migration that a policy requests: the process and the host to which the process moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The process that migrates.
    pub process: ProcessId,
    /// The host to which the process migrates.
    pub to: HostId,
}

impl Migration {
    /// Creates the migration of a process to a host, given their numbers, both counted from 0.
    pub fn new(process: usize, to: usize) -> Self {
        Self {
            process: ProcessId::from_index(process),
            to: HostId::from_index(to),
        }
    }
}

/// A policy's explanation of its decision in one rescheduling call (state of the policy, thresholds, terms of the decision),
/// which is converted to JSON only on request.
pub trait Explain: fmt::Debug + Send + Sync {
    /// Returns the whole explanation as a JSON object, for the record of the decision.
    fn to_json(&self) -> Map<String, Value>;

    /// Returns the explanation as a JSON object in which the parts with an entry for each process or cluster are left out.
    fn outline(&self) -> Map<String, Value> {
        self.to_json()
    }
}

impl Explain for Map<String, Value> {
    fn to_json(&self) -> Map<String, Value> {
        self.clone()
    }
}

/// The answer of a policy to a rescheduling call: the migrations, their explanation and the messages of the call.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// The migrations to start after the call, in this order.
    pub migrations: Vec<Migration>,
    /// Every process that was considered for migration, with the reason why it moves or stays.
    pub candidates: Vec<Candidate>,
    /// The policy's explanation of its decision; `None` if the policy gives no explanation.
    pub explanation: Option<Arc<dyn Explain>>,
    /// The messages and operations that the call needs, if calls are simulated as messages; `None` means the messages and
    /// operations of MigBSP.
    pub procedure: Option<CallProcedure>,
}

/// The messages and the computation that a rescheduling call needs; they are simulated if `costs.call.model` is `messages`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallProcedure {
    /// The communication pattern: the hosts that send their loads, the hosts that receive these loads and decide, and the
    /// messages by which the decision returns to all hosts.
    pub gather: Gather,
    /// Number of elementary operations that each deciding host executes.
    #[serde(rename = "operations")]
    pub operation_count: u64,
}

impl Decision {
    /// Creates a decision with these migrations, without candidates and without an explanation.
    pub fn from_migrations(migrations: Vec<Migration>) -> Self {
        Self {
            migrations,
            ..Self::default()
        }
    }

    /// Returns the explanation of the policy as a JSON object; empty if the policy gives no explanation.
    pub fn explanation_json(&self) -> Map<String, Value> {
        let explanation = self.explanation.as_ref();
        explanation.map_or_else(Map::new, |explanation| explanation.to_json())
    }

    /// Returns the explanation as a JSON object in which the parts with an entry for each process or cluster are left out. This
    /// takes much less time than [`explanation_json`](Self::explanation_json) if there are many calls.
    pub fn outline_json(&self) -> Map<String, Value> {
        let explanation = self.explanation.as_ref();
        explanation.map_or_else(Map::new, |explanation| explanation.outline())
    }
}

impl PartialEq for Decision {
    fn eq(&self, other: &Self) -> bool {
        self.migrations == other.migrations
            && self.candidates == other.candidates
            && self.procedure == other.procedure
            && self.explanation_json() == other.explanation_json()
    }
}

/// A process that a policy considered for migration in one rescheduling call, with the reason why the process moves or stays.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The process that was considered.
    pub process: ProcessId,
    /// The host on which the process runs when the rescheduling call begins.
    pub from: HostId,
    /// The cluster to which the process would migrate.
    pub to_cluster: ClusterId,
    /// The host in that cluster that was chosen as destination; `None` if no suitable host was found.
    pub to: Option<HostId>,
    /// The benefit of the migration by the policy's own measure and in its own unit; in MigBSP the potential of migration (PM).
    pub score: f64,
    /// Predicted time of a superstep of the process if the process stays on its host (t1 of the papers); `None` if it was not
    /// predicted.
    pub stay: Option<Seconds>,
    /// Predicted time of a superstep of the process if the process migrates, including the cost of the migration (t2 of the
    /// papers); `None` if it was not predicted.
    pub go: Option<Seconds>,
    /// Whether the policy decided to migrate the process.
    pub accepted: bool,
    /// Why the process migrates or stays.
    pub reason: Cow<'static, str>,
}

impl Candidate {
    /// Creates the record of a process that migrates from the host `from` to a host in the cluster `to_cluster`, without a score
    /// and predicted times.
    pub fn accepted(
        migration: Migration,
        from: HostId,
        to_cluster: ClusterId,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            process: migration.process,
            from,
            to_cluster,
            to: Some(migration.to),
            score: 0.0,
            stay: None,
            go: None,
            accepted: true,
            reason: reason.into(),
        }
    }
}

/// The pattern of messages by which hosts send their loads to the hosts that decide about migrations, and receive the decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gather {
    /// No messages are sent, because each host knows in advance what it has to do.
    #[default]
    None,
    /// All hosts send their loads to one host, which decides for all hosts and sends the decision to them (gather and scatter).
    Central,
    /// As `central`, but loads and decisions are sent through the managers of the clusters.
    ThroughManagers,
    /// Each host sends messages with its load to some other hosts, and every host decides about its own processes.
    BetweenNeighbours {
        /// Number of rounds of messages; each round lasts as long as its slowest message.
        rounds: u32,
        /// Maximum number of messages that a host sends in a round.
        max_messages_per_round: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_equal_if_all_that_they_say_is() {
        let wanted = Migration {
            process: ProcessId(0),
            to: HostId(1),
        };
        let (stay, go) = (Decision::default(), Decision::from_migrations(vec![wanted]));
        let mut told = go.clone();
        told.explanation = Some(Arc::new(Map::from_iter([("why".to_owned(), 1.into())])));
        assert_eq!(go, go.clone());
        assert_eq!(told, told.clone());
        assert_ne!(go, stay);
        assert_ne!(go, told);
    }
}
