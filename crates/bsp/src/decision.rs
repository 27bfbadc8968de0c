//! The answer of a policy to a rescheduling call.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use migsim_base::units::{ClusterId, HostId, ProcessId, Seconds};

/// One wish of a policy: `process` goes to host `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The process that moves.
    pub process: ProcessId,
    /// Its destination.
    pub to: HostId,
}

impl Migration {
    /// The process with this number goes to the host with this one, both counted from 0.
    pub fn new(process: usize, to: usize) -> Self {
        Self {
            process: ProcessId::from_index(process),
            to: HostId::from_index(to),
        }
    }
}

/// A policy's account of a call: its state, thresholds and terms, made into JSON only when somebody reads it.
pub trait Explain: fmt::Debug + Send + Sync {
    /// The explanation, for the decision record.
    fn to_json(&self) -> Map<String, Value>;

    /// The same without what has an entry per process and cluster.
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
    /// Every process that was considered, with the reason of its verdict.
    pub candidates: Vec<Candidate>,
    /// The policy's further account of this call.
    pub explanation: Option<Arc<dyn Explain>>,
    /// The procedure of this call, where calls are simulated as messages; none: as in MigBSP.
    pub procedure: Option<Procedure>,
}

/// The procedure of a call: its messages and its work, which are simulated where `costs.call.model` is `messages`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Procedure {
    /// The way of the loads to those who decide, and of the decision to the hosts.
    pub gather: Gather,
    /// Elementary operations of who decides.
    pub operations: u64,
}

impl Decision {
    /// A decision of migrations alone, without explanation.
    pub fn moves(migrations: Vec<Migration>) -> Self {
        Self {
            migrations,
            ..Self::default()
        }
    }

    /// The explanation of the policy; empty without one.
    pub fn explained(&self) -> Map<String, Value> {
        let explanation = self.explanation.as_ref();
        explanation.map_or_else(Map::new, |explanation| explanation.to_json())
    }

    /// The explanation without what has an entry per process and cluster: for many calls this is much less work.
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
    /// Who.
    pub process: ProcessId,
    /// The host where it is.
    pub from: HostId,
    /// The cluster that it wants to go to.
    pub to_cluster: ClusterId,
    /// The host chosen there, if any.
    pub to: Option<HostId>,
    /// The policy's measure of the benefit (PM of MigBSP), in the policy's own unit.
    pub score: f64,
    /// Predicted time where it is (t1 of the papers).
    pub stay: Option<Seconds>,
    /// Predicted time at the destination, with the costs of migration (t2 of the papers).
    pub go: Option<Seconds>,
    /// Whether it is to move.
    pub accepted: bool,
    /// Why.
    pub reason: Cow<'static, str>,
}

/// The hosts that must know the loads before the decision, and those that the decision must reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gather {
    /// Nobody: each host knows its part of the decision beforehand.
    #[default]
    None,
    /// All hosts send to one, which decides for all: a gather and a scatter.
    Central,
    /// The same through the managers of the clusters.
    Managers,
    /// Each host sends short messages to some others, which decide for themselves.
    Neighbours {
        /// Rounds in a row, each as long as its slowest message.
        rounds: u32,
        /// Messages that a host sends in a round, at most.
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
