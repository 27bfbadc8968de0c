//! The traits of rescheduling policies: the view of a policy and its possible answers.
//!
//! After each superstep the runtime shows the policy a [`View`] of what a real runtime could measure. If the policy requests a rescheduling
//! call, the runtime charges the costs of a call and calls [`Policy::decide`]. A policy changes nothing itself: it returns a [`Decision`],
//! and the scenario determines whether the migrations happen.

use std::fmt;

use super::decision::Decision;
use super::measures::Measures;
use super::workload::{Message, Plan, Workload};
use migsim_base::error::Error;
use migsim_base::random::Stream;
use migsim_base::units::{Bytes, ClusterId, HostId, Instructions, Seconds, Time};
use migsim_engine::NetworkModel;
use migsim_platform::Platform;

/// Decides which processes move, and where.
pub trait Policy: fmt::Debug + Send {
    /// Observes the superstep that has just ended; returns whether a rescheduling call is due at its barrier.
    fn is_call_due(&mut self, view: &View<'_>) -> bool;

    /// Returns whether a call after a superstep (counted from 0) is certain in advance. Without barriers all processes then meet there. A
    /// call that becomes due later takes place after the furthest superstep that a process has begun.
    fn is_call_planned(&self, _superstep: usize) -> bool {
        false
    }

    /// Returns whether it will request no more calls, whatever happens in the `left` remaining supersteps. Then it does not observe them,
    /// and measures that only policies read are not taken any more ([`Measures::traffic`]).
    fn is_done(&self, _left: usize) -> bool {
        false
    }

    /// Decides a rescheduling call: which migrations to start now (none means that all processes stay), and why.
    ///
    /// # Errors
    /// The policy cannot decide, for example because its options do not fit the platform; this ends the run.
    fn decide(&mut self, view: &View<'_>, random: &mut Stream) -> Result<Decision, Error>;

    /// Returns whether it may use its random stream; if not, its runs are the same for all seeds.
    fn uses_seed(&self) -> bool {
        true
    }

    /// Returns the additional memory \[B\] for its pairs of a process and a cluster and for its calls, beyond that of any policy: see
    /// [`migsim_base::memory`].
    fn memory(&self, _pairs: f64, _supersteps: f64) -> f64 {
        0.0
    }

    /// Reports after each call how many of the migrations happen: all in scenario iii, none in scenario ii.
    fn on_outcome(&mut self, _moved: usize) {}

    /// Returns a fault of its own state, if there is one. The runtime checks this after each call, and a fault stops the run.
    fn fault(&self) -> Option<String> {
        None
    }
}

/// All that a policy may see at the barrier of a superstep.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The platform, with its nominal speeds.
    pub platform: &'a Platform,
    /// The network model: the duration of a message on a route that it has to itself.
    pub network: &'a NetworkModel,
    /// The superstep that has just ended, counted from 0.
    pub superstep: usize,
    /// The time: of the barrier in [`Policy::is_call_due`], of the call in [`Policy::decide`].
    pub now: Time,
    /// The host of each process.
    pub placement: &'a [HostId],
    /// The measures of this superstep.
    pub measures: &'a Measures,
    /// The memory of each process, which a migration carries.
    pub memory: &'a [Bytes],
    /// External load on each host, as a fraction of its speed, averaged since the last call; in `[0, 1]`.
    pub external_load: &'a [f64],
    /// Clock cycles per instruction of the application.
    pub cycles_per_instruction: f64,
    /// Whether migrations happen (scenario iii) or are only decided (scenario ii).
    pub migrations_happen: bool,
    /// The messages of this superstep.
    pub messages: &'a [Message],
    /// The number of supersteps of the application.
    pub supersteps: usize,
    /// The cost of the last call, its migrations included; zero before the first one.
    pub last_price: Seconds,
    /// Whether each process must stay where it is; empty if all may move.
    pub pinned: &'a [bool],
    /// The application, for [`View::next_work`] alone; none where the next superstep is unknown.
    pub workload: Option<&'a dyn Workload>,
}

impl View<'_> {
    /// Returns the number of processes.
    pub fn processes(&self) -> usize {
        self.placement.len()
    }

    /// Whether a process must stay where it is.
    pub fn is_pinned(&self, process: usize) -> bool {
        self.pinned.get(process).copied().unwrap_or(false)
    }

    /// Returns the cluster in which a process is.
    pub fn cluster_of(&self, process: usize) -> ClusterId {
        self.platform.cluster_of(self.placement[process])
    }

    /// Computes the work of each process in the next superstep, which no real runtime knows; none after the last superstep.
    pub fn next_work(&self) -> Option<Vec<Instructions>> {
        let next = self.superstep + 1;
        let workload = self.workload.filter(|_| next < self.supersteps)?;
        let mut plan = Plan::default();
        plan.clear(self.processes());
        workload.fill(next, &mut plan);
        Some(plan.work)
    }

    /// Returns the duration of `work` alone on a host, given its external load.
    pub fn execution_time(&self, work: Instructions, host: HostId) -> Seconds {
        let left = (1.0 - self.external_load[host.index()]).max(1e-9);
        let speed = self.platform.hosts[host.index()].speed.get() * left;
        Seconds::of(work.get() * self.cycles_per_instruction / speed)
    }
}

/// Helpers for the tests of policies.
#[cfg(any(test, feature = "testing"))]
pub mod testing {
    use super::{Bytes, HostId, Measures, Platform, Seconds, Time, View};

    /// Returns a view of the first superstep, on hosts without load, of processes without memory.
    pub fn view<'a>(
        platform: &'a Platform,
        placement: &'a [HostId],
        measures: &'a Measures,
    ) -> View<'a> {
        View {
            platform,
            network: Box::leak(Box::default()),
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
            workload: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_its_cycles_over_what_others_leave() {
        let platform = migsim_platform::open("lbm").unwrap().platform;
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

    /// A policy that uses the defaults for its seed and its memory.
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
}
