//! The answer of a policy to a rescheduling call.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use migsim_base::units::{ClusterId, HostId, ProcessId, Seconds};

/// A move that a policy requests: `process` goes to host `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The process that moves.
    pub process: ProcessId,
    /// The destination of the process.
    pub to: HostId,
}

impl Migration {
    /// Creates a move of the process to the host with these numbers, both counted from 0.
    pub fn new(process: usize, to: usize) -> Self {
        Self {
            process: ProcessId::from_index(process),
            to: HostId::from_index(to),
        }
    }
}

/// The explanation of a call by its policy: its state, thresholds and terms, converted to JSON only when it is read.
pub trait Explain: fmt::Debug + Send + Sync {
    /// Returns the explanation, for the decision record.
    fn to_json(&self) -> Map<String, Value>;

    /// Returns the explanation without the entries per process and cluster.
    fn outline(&self) -> Map<String, Value> {
        self.to_json()
    }
}

impl Explain for Map<String, Value> {
    fn to_json(&self) -> Map<String, Value> {
        self.clone()
    }
}

/// The answer to a rescheduling call.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// The migrations to start now, in this order.
    pub migrations: Vec<Migration>,
    /// Every process that was considered, with the reason for its verdict.
    pub candidates: Vec<Candidate>,
    /// Further explanation of this call by the policy.
    pub explanation: Option<Arc<dyn Explain>>,
    /// The procedure of this call, if calls are simulated as messages; none: as in MigBSP.
    pub procedure: Option<Procedure>,
}

/// The messages and the work of a call, which are simulated if `costs.call.model` is `messages`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Procedure {
    /// The way in which the loads reach the deciding hosts, and the decision reaches the other hosts.
    pub gather: Gather,
    /// Number of elementary operations of a deciding host.
    pub operations: u64,
}

impl Decision {
    /// Creates a decision of migrations without an explanation.
    pub fn moves(migrations: Vec<Migration>) -> Self {
        Self {
            migrations,
            ..Self::default()
        }
    }

    /// Returns the explanation of the policy; empty if there is none.
    pub fn explained(&self) -> Map<String, Value> {
        let explanation = self.explanation.as_ref();
        explanation.map_or_else(Map::new, |explanation| explanation.to_json())
    }

    /// Returns the explanation without the entries per process and cluster, which is much cheaper to compute for many calls.
    pub fn outlined(&self) -> Map<String, Value> {
        let explanation = self.explanation.as_ref();
        explanation.map_or_else(Map::new, |explanation| explanation.outline())
    }
}

impl PartialEq for Decision {
    fn eq(&self, other: &Self) -> bool {
        self.migrations == other.migrations
            && self.candidates == other.candidates
            && self.procedure == other.procedure
            && self.explained() == other.explained()
    }
}

/// A process that a policy considered for migration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The process.
    pub process: ProcessId,
    /// The host where the process is.
    pub from: HostId,
    /// The cluster to which the process would move.
    pub to_cluster: ClusterId,
    /// The host chosen in that cluster; `None` if no host was found.
    pub to: Option<HostId>,
    /// The policy's measure of the benefit (PM of MigBSP), in the policy's own unit.
    pub score: f64,
    /// Predicted time if the process stays on its host (t1 of the papers).
    pub stay: Option<Seconds>,
    /// Predicted time if the process moves to the destination, with the cost of the migration (t2 of the papers).
    pub go: Option<Seconds>,
    /// Whether the process moves.
    pub accepted: bool,
    /// The reason.
    pub reason: Cow<'static, str>,
}

/// The hosts that need the loads before the decision, and the hosts that need the decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gather {
    /// No hosts: each host knows in advance what it has to do.
    #[default]
    None,
    /// All hosts send to one host, which decides for all: a gather and a scatter.
    Central,
    /// As `central`, but the messages go through the managers of the clusters.
    Managers,
    /// Each host sends short messages to some other hosts, which decide for themselves.
    Neighbours {
        /// Number of rounds, each as long as its slowest message.
        rounds: u32,
        /// Maximum number of messages that a host sends in a round.
        messages: u32,
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
        let (stay, go) = (Decision::default(), Decision::moves(vec![wanted]));
        let mut told = go.clone();
        told.explanation = Some(Arc::new(Map::from_iter([("why".to_owned(), 1.into())])));
        assert_eq!(go, go.clone());
        assert_eq!(told, told.clone());
        assert_ne!(go, stay);
        assert_ne!(go, told);
    }
}
