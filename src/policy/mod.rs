//! Rescheduling policies: the view of a policy, its possible answers, and the table of policies.
//!
//! After each superstep the runtime shows the policy a [`View`] of what a real runtime could have measured. When the policy says
//! that a rescheduling call is due, the runtime charges the costs of a call and asks it to [`Policy::decide`]. A policy changes
//! nothing itself: it returns a [`Decision`], and the scenario says whether the migrations happen.
//!
//! To add a policy, write one file here and one row of the table in `registry.rs`.

mod balancer;
pub mod decide;
mod entry;
pub mod explain;
pub mod migbsp;
pub mod migbsp_2007;
mod never;
mod pairs;
mod probe;
mod registry;
mod replay;
pub mod strategy;
pub mod trigger;
mod triggered;
mod window;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

pub use entry::{Entry, Kind, PolicyOptions, Table};
pub(crate) use entry::{made_by, of_strategy, row};
pub use migbsp::{MigBsp, MigBspConfig};
pub use migbsp_2007::{MigBsp2007, MigBsp2007Config};
pub use never::Never;
pub use pairs::Pairs;
pub(crate) use probe::{Probe, Snapshot};
pub(crate) use registry::standard;
pub use registry::{NEVER, USUAL};
pub use replay::{ForcedMove, Replay, ReplayConfig};
pub use strategy::Gather;
pub(crate) use triggered::Triggered;

use crate::error::Error;
use crate::platform::Platform;
use crate::random::Stream;
use crate::units::{Bytes, ClusterId, HostId, Instructions, ProcessId, Seconds, Time};
use crate::workload::{Message, Plan};

/// Decides which processes move, and where.
pub trait Policy: fmt::Debug + Send {
    /// Takes note of the superstep that has just ended; returns whether a rescheduling call is due at its barrier.
    fn is_call_due(&mut self, view: &View<'_>) -> bool;

    /// Whether it is certain in advance that a call comes after a superstep (counted from 0). Without barriers all processes meet there.
    /// A call that becomes due later comes after the furthest superstep that a process has begun.
    fn is_call_planned(&self, _superstep: usize) -> bool {
        false
    }

    /// Whether it can ask for no more calls, whatever happens in the supersteps that are left. It is not told of them then, and what policies alone
    /// look at is not measured any more ([`Measures::traffic`]).
    fn is_done(&self, _left: usize) -> bool {
        false
    }

    /// The rescheduling call: which migrations to start now (none means "stay"), and why.
    ///
    /// # Errors
    /// The policy cannot decide (its options do not fit the platform); this ends the run.
    fn decide(&mut self, view: &View<'_>, random: &mut Stream) -> Result<Decision, Error>;

    /// Whether it may draw from its random stream: without that, a run with it is the same for all seeds.
    fn uses_seed(&self) -> bool {
        true
    }

    /// The memory for each pair of a process and a cluster, and for its calls, beyond that of any policy \[B\]: see [`crate::memory`].
    fn memory(&self, _pairs: f64, _supersteps: f64) -> f64 {
        0.0
    }

    /// Told after each call how many of the migrations happen: all in scenario iii, none in scenario ii.
    fn on_outcome(&mut self, _moved: usize) {}

    /// The fault of its own state, if there is one: asked after each call. A fault stops the run.
    fn fault(&self) -> Option<String> {
        None
    }
}

/// All that a policy may see at the barrier of a superstep.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The machine, with its nominal speeds.
    pub platform: &'a Platform,
    /// The superstep that has just ended, counted from 0.
    pub superstep: usize,
    /// The date: of the barrier in [`Policy::is_call_due`], of the call in [`Policy::decide`].
    pub now: Time,
    /// The host of each process.
    pub placement: &'a [HostId],
    /// The measures of this superstep.
    pub measures: &'a Measures,
    /// The memory of each process, which a migration carries.
    pub memory: &'a [Bytes],
    /// The load that is not ours on each host, as a fraction of its speed, averaged since the last call; in `[0, 1]`.
    pub external_load: &'a [f64],
    /// Clock cycles per instruction of the application.
    pub cycles_per_instruction: f64,
    /// Whether migrations happen (scenario iii); otherwise they are decided only (scenario ii).
    pub migrations_happen: bool,
    /// The messages of this superstep.
    pub messages: &'a [Message],
    /// The number of supersteps of the application.
    pub supersteps: usize,
    /// The price of the last call, its migrations included; zero before the first one.
    pub last_price: Seconds,
    /// Whether each process must stay where it is; empty: all may move.
    pub pinned: &'a [bool],
}

impl View<'_> {
    /// The number of processes.
    pub fn processes(&self) -> usize {
        self.placement.len()
    }

    /// Whether a process must stay where it is.
    pub fn is_pinned(&self, process: usize) -> bool {
        self.pinned.get(process).copied().unwrap_or(false)
    }

    /// The cluster in which a process is.
    pub fn cluster_of(&self, process: usize) -> ClusterId {
        self.platform.cluster_of(self.placement[process])
    }

    /// The time of `work` alone on a host, its external load taken off.
    pub fn execution_time(&self, work: Instructions, host: HostId) -> Seconds {
        let left = (1.0 - self.external_load[host.index()]).max(1e-9);
        let speed = self.platform.hosts[host.index()].speed.get() * left;
        Seconds::of(work.get() * self.cycles_per_instruction / speed)
    }
}

/// The measures of one superstep; the arrays are reused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// Instructions of each process (I of the papers).
    pub work: Vec<Instructions>,
    /// The delay of each process against the first one at the start of the superstep.
    pub delay: Vec<Seconds>,
    /// Time of the computation of each process, slowed by what shared its host (CT of the papers).
    pub compute: Vec<Seconds>,
    /// From the end of a process's computation until its last own message was delivered.
    pub send: Vec<Seconds>,
    /// From the end of a process's computation until it reached the barrier: its sends and receives.
    pub communication: Vec<Seconds>,
    /// The traffic of each process with those clusters with which it had any; not measured where no policy
    /// looks at it: in scenario i, and when no more calls can come ([`Policy::is_done`]).
    pub traffic: Pairs<Traffic>,
}

/// The traffic of a process with the processes of one cluster in one superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Bytes sent to the cluster.
    pub sent: Bytes,
    /// Bytes received from it.
    pub received: Bytes,
    /// Summed durations of the messages sent to it.
    pub send_time: Seconds,
    /// Summed durations of the messages received from it.
    pub receive_time: Seconds,
}

impl Measures {
    /// Empties the measures for a superstep of `processes`, keeping their memory.
    pub fn clear(&mut self, processes: usize) {
        refill(&mut self.work, processes, Instructions::default());
        refill(&mut self.compute, processes, Seconds::default());
        refill(&mut self.communication, processes, Seconds::default());
        self.clear_sums(processes);
    }

    /// The same for what is added up in the course of a superstep; the others are to be written.
    pub(crate) fn clear_sums(&mut self, processes: usize) {
        refill(&mut self.delay, processes, Seconds::default());
        refill(&mut self.send, processes, Seconds::default());
        self.traffic.clear(processes);
    }

    /// The traffic of `process` with `cluster`.
    pub fn traffic(&self, process: usize, cluster: usize) -> Traffic {
        self.traffic
            .get(process, cluster)
            .copied()
            .unwrap_or_default()
    }

    /// The traffic of `process` with `cluster`, to be added to.
    #[inline]
    pub fn traffic_mut(&mut self, process: usize, cluster: usize) -> &mut Traffic {
        self.traffic.get_or_default(process, cluster)
    }

    /// Adds the messages of `plan`, with the cluster of each process and what each took.
    pub(crate) fn add_traffic(
        &mut self,
        plan: &Plan,
        cluster: impl Fn(usize) -> usize,
        durations: impl Iterator<Item = Seconds>,
    ) {
        for (message, duration) in plan.messages.iter().zip(durations) {
            let (from, to) = (message.from.index(), message.to.index());
            self.add_message(
                (from, cluster(from)),
                (to, cluster(to)),
                message.size,
                duration,
            );
        }
    }

    /// Adds a message that took `duration`; each end is a process and its cluster.
    pub(crate) fn add_message(
        &mut self,
        from: (usize, usize),
        to: (usize, usize),
        size: Bytes,
        duration: Seconds,
    ) {
        let sent = self.traffic_mut(from.0, to.1);
        sent.sent = sent.sent + size;
        sent.send_time += duration;
        let received = self.traffic_mut(to.0, from.1);
        received.received = received.received + size;
        received.receive_time += duration;
    }
}

/// Makes a list that is used again in each superstep `count` times `value`.
#[inline]
pub(crate) fn refill<T: Copy>(list: &mut Vec<T>, count: usize, value: T) {
    if list.len() != count {
        list.resize(count, value);
    }
    list.fill(value);
}

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

/// Helpers of the tests of policies.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// The first superstep on quiet hosts, of processes without memory.
    pub(crate) fn view<'a>(
        platform: &'a Platform,
        placement: &'a [HostId],
        measures: &'a Measures,
    ) -> View<'a> {
        View {
            platform,
            superstep: 0,
            now: Time::ZERO,
            placement,
            measures,
            memory: vec![Bytes::default(); placement.len()].leak(),
            external_load: vec![0.0; platform.hosts.len()].leak(),
            cycles_per_instruction: 1.0,
            migrations_happen: true,
            messages: &[],
            supersteps: usize::MAX,
            last_price: Seconds::default(),
            pinned: &[],
        }
    }
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

    #[test]
    fn work_takes_its_cycles_over_what_others_leave() {
        let platform = crate::platform::open("lbm").unwrap().platform;
        let at = platform.host_named("n-0").unwrap(); // 1.5 GHz
        let mut load = vec![0.0; platform.hosts.len()];
        load[at.index()] = 0.5;
        let (measures, placement) = (Measures::default(), [at]);
        let view = View {
            external_load: &load,
            cycles_per_instruction: 3.0,
            ..testing::view(&platform, &placement, &measures)
        };
        let time = view.execution_time(Instructions::of(1e9), at);
        assert_eq!(time, Seconds::of(4.0));
    }

    #[test]
    fn who_never_moves_anybody_needs_no_seed() {
        assert!(!never::Never::default().uses_seed());
    }

    /// Says nothing of its seed and its memory.
    #[derive(Debug)]
    struct Silent;

    impl Policy for Silent {
        fn is_call_due(&mut self, _view: &View<'_>) -> bool {
            false
        }

        fn decide(&mut self, _view: &View<'_>, _random: &mut Stream) -> Result<Decision, Error> {
            Ok(Decision::default())
        }
    }

    #[test]
    fn who_says_nothing_of_it_may_draw_and_holds_nothing() {
        assert!(Silent.uses_seed());
        assert_eq!(Silent.memory(10.0, 10.0), 0.0);
    }

    #[test]
    fn traffic_is_told_as_it_was_measured_and_makes_measures_differ() {
        let mut measures = Measures::default();
        measures.clear(2);
        let quiet = measures.clone();
        measures.traffic_mut(1, 3).sent = Bytes::of(7.0);
        assert_eq!(measures.traffic(1, 3).sent, Bytes::of(7.0));
        assert_eq!(measures.traffic(0, 3), Traffic::default());
        assert_ne!(measures, quiet);
    }

    #[test]
    fn a_list_that_is_used_again_holds_what_it_is_told_to() {
        let mut list = vec![1, 2, 3];
        for (count, value) in [(2, 7), (2, 8), (4, 9), (0, 1)] {
            refill(&mut list, count, value);
            assert_eq!(list, vec![value; count]);
        }
    }
}
