//! The trait of rescheduling policies, and the view of the application that a policy receives.
//!
//! After each superstep, the runtime gives the policy a [`View`] of the quantities that a real runtime could measure. If the
//! policy requests a rescheduling call, the runtime calls [`Policy::decide`] and simulates the cost of the call. A policy itself
//! changes nothing: it returns a [`Decision`], and the scenario determines whether the migrations are executed.

use std::fmt;

use super::{
    decision::Decision,
    measures::Measures,
    workload::{Plan, Workload},
};
use migsim_base::{
    error::Result,
    random::Stream,
    units::{Bytes, ClusterId, HostId, Instructions, Seconds, Time},
};
use migsim_engine::{Message, NetworkModel};
use migsim_platform::Platform;

/// A rescheduling policy: decides when a rescheduling call takes place, which processes migrate, and to which hosts.
pub trait Policy: fmt::Debug + Send {
    /// Observes the superstep that has just ended, and returns whether a rescheduling call is due at the barrier of this
    /// superstep.
    fn is_call_due(&mut self, view: &View<'_>) -> bool;

    /// Returns whether a rescheduling call after a given superstep (counted from 0) is certain in advance. Without barriers, all
    /// processes then wait for each other after that superstep. A call that becomes due without being certain takes place after
    /// the last superstep that any process has begun.
    fn is_call_planned(&self, _superstep: usize) -> bool {
        false
    }

    /// Returns whether processes may send their reports for a planned call before all of them have ended the superstep. Only a
    /// repetition of another run answers that they do not.
    fn reports_early(&self, _superstep: usize) -> bool {
        true
    }

    /// Returns whether the policy will request no more calls, whatever happens in the `left` remaining supersteps. From then on
    /// the policy is not called, and measurements that only policies read are no longer taken ([`Measures::traffic`]).
    fn is_done(&self, _left: usize) -> bool {
        false
    }

    /// Decides in a rescheduling call which migrations to start now (an empty list means that all processes stay), and why.
    ///
    /// # Errors
    /// The policy cannot decide, for example because its options do not fit the platform; this ends the run.
    fn decide(&mut self, view: &View<'_>, random: &mut Stream) -> Result<Decision>;

    /// Returns whether the policy may use random numbers; if not, its runs are the same for all seeds.
    fn uses_seed(&self) -> bool {
        true
    }

    /// Returns the memory \[B\] that the policy needs for its own data, given the number of pairs of a process and a cluster and
    /// the number of supersteps. It is added to the memory that every policy needs (see [`migsim_base::memory`]).
    fn memory(&self, _pairs: f64, _supersteps: f64) -> f64 {
        0.0
    }

    /// Informs the policy after each rescheduling call of the number of its migrations that are executed: all in scenario iii,
    /// none in scenario ii.
    fn on_migrations_executed(&mut self, _moved: usize) {}

    /// Leaves the terms of single processes and clusters out of the explanations of all later decisions, since no output shows them.
    fn omit_terms(&mut self) {}

    /// Returns a copy that decides as this policy from here on; `None` if the policy cannot be copied.
    fn copy(&self) -> Option<Box<dyn Policy>> {
        None
    }

    /// Returns a description of a fault in the policy's own state; `None` if the state is valid. The runtime checks this after
    /// each call, and a fault stops the run.
    fn fault(&self) -> Option<String> {
        None
    }
}

/// What other programs take of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExternalLoad {
    /// Share of the speed of the host that is not there for the application, whatever runs; from 0 to 1.
    pub reserved: f64,
    /// Number of cores that other work keeps busy; it shares the cores with the processes of the application.
    pub busy_cores: f64,
}

impl ExternalLoad {
    /// Creates the load that `available`, the available fraction of the speed of a host, and `busy_cores` describe.
    pub(super) fn from_state([available, busy_cores]: [f64; 2]) -> Self {
        Self {
            reserved: (1.0 - available).clamp(0.0, 1.0),
            busy_cores,
        }
    }

    /// Creates a load that reserves a share of the speed.
    pub fn reserved(share: f64) -> Self {
        Self {
            reserved: share,
            ..Self::default()
        }
    }

    /// Returns the load with both parts multiplied by `factor`; the reserved share is at most 1.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self {
            reserved: (self.reserved * factor).clamp(0.0, 1.0),
            busy_cores: self.busy_cores * factor,
        }
    }
}

/// Everything that a policy may know at the barrier of a superstep: platform, placement, measurements and loads.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The platform, with the nominal speeds of its hosts.
    pub platform: &'a Platform,
    /// The network model, from which a policy can compute the duration of a message without other traffic.
    pub network: &'a NetworkModel,
    /// Number of the superstep that has just ended, counted from 0.
    pub superstep: usize,
    /// The present simulated time: the time of the barrier in [`Policy::is_call_due`], the time of the call in
    /// [`Policy::decide`].
    pub now: Time,
    /// The host on which each process runs.
    pub placement: &'a [HostId],
    /// The measurements of this superstep.
    pub measurements: &'a Measures,
    /// The memory of each process, which a migration transfers.
    pub process_memory: &'a [Bytes],
    /// The mean external load of each host since the last rescheduling call; [`View::process_speed`] says what it leaves.
    pub external_load: &'a [ExternalLoad],
    /// Clock cycles per instruction of the application; a host of 1 GHz executes 1e9 cycles per second.
    pub cycles_per_instruction: f64,
    /// Whether migrations are executed (scenario iii) or only decided (scenario ii).
    pub executes_migrations: bool,
    /// The messages of the application in this superstep.
    pub messages: &'a [Message],
    /// Number of supersteps of the application.
    pub total_supersteps: usize,
    /// Cost of the last rescheduling call, including its migrations; zero before the first call.
    pub last_call_cost: Seconds,
    /// For each process, whether it must not migrate; empty if all processes may migrate.
    pub pinned_processes: &'a [bool],
    /// The seed of the run, for a policy that draws random numbers outside of [`Policy::decide`].
    pub seed: u64,
    /// The application, from which [`View::next_work`] reads the next superstep; `None` if the next superstep cannot be known.
    pub workload: Option<&'a dyn Workload>,
}

impl View<'_> {
    /// Returns the number of processes.
    pub fn processes(&self) -> usize {
        self.placement.len()
    }

    /// Whether a process must not migrate.
    pub fn is_pinned(&self, process: usize) -> bool {
        self.pinned_processes.get(process).copied().unwrap_or(false)
    }

    /// Returns the cluster of the host on which a process runs.
    pub fn cluster_of(&self, process: usize) -> ClusterId {
        self.platform.cluster_of(self.placement[process])
    }

    /// Returns the work of each process in the next superstep, which no real runtime could know; `None` after the last superstep
    /// or if the next superstep cannot be known.
    pub fn next_work(&self) -> Option<Vec<Instructions>> {
        let next = self.superstep + 1;
        let workload = self.workload.filter(|_| next < self.total_supersteps)?;
        let mut plan = Plan::default();
        plan.clear(self.processes());
        workload.fill(next, &mut plan);
        Some(plan.work)
    }

    /// Returns the factor by which each of `processes` processes of the application is slower on a host than with a core of its
    /// own, given the other work on the host ([`migsim_platform::Host::slowdown`]).
    pub fn slowdown(&self, host: HostId, processes: f64) -> f64 {
        let busy = self.external_load[host.index()].busy_cores;
        self.platform.hosts[host.index()].slowdown(processes, busy)
    }

    /// Returns the speed of each of `processes` processes of the application on a host, given the external load of the host
    /// \[instructions/s\].
    pub fn process_speed(&self, host: HostId, processes: f64) -> f64 {
        let left = (1.0 - self.external_load[host.index()].reserved).max(1e-9);
        self.platform.hosts[host.index()].speed.get() * left / self.slowdown(host, processes)
    }

    /// Returns the time that `work` would take on a host that executes no other process of the application, given the external
    /// load of the host.
    pub fn execution_time(&self, work: Instructions, host: HostId) -> Seconds {
        Seconds::of(work.get() * self.cycles_per_instruction / self.process_speed(host, 1.0))
    }
}

/// Helpers for the tests of policies.
#[cfg(any(test, feature = "testing"))]
pub mod testing {
    use super::{Bytes, ExternalLoad, HostId, Measures, Platform, Seconds, Time, View};

    /// Creates a view of the first superstep for tests, in which the hosts have no load and the processes have no memory.
    pub fn test_view<'a>(
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
            measurements: measures,
            process_memory: vec![Bytes::default(); placement.len()].leak(),
            external_load: vec![ExternalLoad::default(); platform.hosts.len()].leak(),
            cycles_per_instruction: 1.0,
            executes_migrations: true,
            messages: &[],
            total_supersteps: usize::MAX,
            last_call_cost: Seconds::default(),
            pinned_processes: &[],
            seed: 1,
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
        let mut load = vec![ExternalLoad::default(); platform.hosts.len()];
        load[at.index()] = ExternalLoad::reserved(0.5);
        let (measures, placement) = (Measures::default(), [at]);
        let view = View {
            external_load: &load,
            cycles_per_instruction: 3.0,
            ..testing::test_view(&platform, &placement, &measures)
        };
        let time = view.execution_time(Instructions::of(1e9), at);
        assert_eq!(time, Seconds::of(4.0));
        // Half of 1.5 GHz for one of 2 processes beside other work for 2 cores, on 1 core: a quarter of the core each.
        let mut load = load.clone();
        load[at.index()].busy_cores = 2.0;
        let view = View {
            external_load: &load,
            ..view
        };
        assert_eq!(view.process_speed(at, 2.0), 1.5e9 * 0.5 / 4.0);
    }

    /// A policy that uses the defaults for its seed and its memory.
    #[derive(Debug)]
    struct Silent;

    impl Policy for Silent {
        fn is_call_due(&mut self, _view: &View<'_>) -> bool {
            false
        }

        fn decide(&mut self, _view: &View<'_>, _random: &mut Stream) -> Result<Decision> {
            Ok(Decision::default())
        }
    }

    #[test]
    fn who_says_nothing_of_it_may_draw_and_holds_nothing() {
        assert!(Silent.uses_seed());
        assert_eq!(Silent.memory(10.0, 10.0), 0.0);
    }
}
