//! The answer of a policy to a rescheduling call: the migrations, the reasons for them, and the cost of the decision.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use migsim_base::units::{ClusterId, HostId, ProcessId, Seconds};

/// A migration that a policy requests: `process` moves to host `to`.
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

/// A policy's explanation of one call: its state, thresholds and the terms of its decision, converted to JSON only on request.
pub trait Explain: fmt::Debug + Send + Sync {
    /// Returns the whole explanation, for the record of the decision.
    fn to_json(&self) -> Map<String, Value>;

    /// Returns the explanation without its entries per process and per cluster.
    fn outline(&self) -> Map<String, Value> {
        self.to_json()
    }
}

impl Explain for Map<String, Value> {
    fn to_json(&self) -> Map<String, Value> {
        self.clone()
    }
}

/// The answer of a policy to a rescheduling call.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// The migrations to start after the call, in this order.
    pub migrations: Vec<Migration>,
    /// Every process that was considered for migration, with the reason why it moves or stays.
    pub candidates: Vec<Candidate>,
    /// The policy's explanation of the call; `None` if it gives none.
    pub explanation: Option<Arc<dyn Explain>>,
    /// The messages and operations of this call, used if calls are simulated as messages; `None` for the messages and operations
    /// of MigBSP.
    pub procedure: Option<Procedure>,
}

/// The messages and the computation of a rescheduling call, which are simulated if `costs.call.model` is `messages`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Procedure {
    /// Which hosts send their loads to which deciding hosts, and receive the decision from them.
    pub gather: Gather,
    /// Number of elementary operations that each deciding host executes.
    pub operations: u64,
}

impl Decision {
    /// Creates a decision with these migrations, without candidates and explanation.
    pub fn from_migrations(migrations: Vec<Migration>) -> Self {
        Self {
            migrations,
            ..Self::default()
        }
    }

    /// Returns the explanation of the policy as JSON; empty if there is none.
    pub fn explanation_json(&self) -> Map<String, Value> {
        let explanation = self.explanation.as_ref();
        explanation.map_or_else(Map::new, |explanation| explanation.to_json())
    }

    /// Returns the explanation as JSON without its entries per process and per cluster, which is much cheaper to compute for many
    /// calls.
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

/// A process that a policy considered for migration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The process that was considered.
    pub process: ProcessId,
    /// The host on which the process is at the call.
    pub from: HostId,
    /// The cluster to which the process would migrate.
    pub to_cluster: ClusterId,
    /// The destination that was chosen in that cluster; `None` if no host was found.
    pub to: Option<HostId>,
    /// The policy's measure of the benefit of the migration (the potential of migration PM in MigBSP), in the policy's own unit.
    pub score: f64,
    /// Predicted time of the process if it stays on its host (t1 of the papers); `None` if it was not predicted.
    pub stay: Option<Seconds>,
    /// Predicted time of the process if it migrates, including the cost of the migration (t2 of the papers); `None` if it was not
    /// predicted.
    pub go: Option<Seconds>,
    /// Whether the policy decided to migrate the process.
    pub accepted: bool,
    /// Why the process migrates or stays.
    pub reason: Cow<'static, str>,
}

/// The hosts whose loads a strategy needs before the decision, and the hosts that receive the decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gather {
    /// No messages: each host knows in advance what it has to do.
    #[default]
    None,
    /// All hosts send their loads to one host, which decides for all and sends the decision to them: a gather and a scatter.
    Central,
    /// As `central`, but loads and decisions are sent through the managers of the clusters.
    Managers,
    /// Each host sends short messages to some other hosts; every host decides for itself.
    Neighbours {
        /// Number of rounds of messages; each round lasts as long as its slowest message.
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
        let (stay, go) = (Decision::default(), Decision::from_migrations(vec![wanted]));
        let mut told = go.clone();
        told.explanation = Some(Arc::new(Map::from_iter([("why".to_owned(), 1.into())])));
        assert_eq!(go, go.clone());
        assert_eq!(told, told.clone());
        assert_ne!(go, stay);
        assert_ne!(go, told);
    }
}
