//! `MigBSP` on hand-worked cases, with the view that the runtime would give it. For each option there is a case in which it changes the
//! outcome.

mod when;
mod whether;
mod which;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use migsim::{
    bsp::Scenario,
    engine::NetworkModel,
    error::Error,
    platform::Platform,
    policy::{
        Decision, ExternalLoad, Measures, MigBsp, MigBspConfig, Policy, Traffic, View,
        migbsp::{
            Ageing, CallingSuperstep, CandidateOrder, CommunicationTime, FirstTest, Floor,
            FreeHost, Heuristic, Horizon, MemoryRate, OwnCluster, Patterns, Population,
            ProcessTime, QuietCall, SetIndex, Sharing, ThresholdMeaning, ToleranceGrowth,
        },
    },
    random::{Stream, StreamPurpose},
    units::{Bytes, HostId, Time},
};

use crate::support::{
    Case, Plans, ROUNDING, Wire, assert_close, bytes, instructions, machine, plan, seconds,
};

/// 1e6 B/s, no delay: a memory of 1e6 B takes 1 s.
const WIRE: Wire = Wire(1e6, 0.0);

/// The state that the runtime would know: processes that compute on a platform.
struct World {
    platform: Platform,
    network: NetworkModel,
    placement: Vec<HostId>,
    memory: Vec<Bytes>,
    external_load: Vec<ExternalLoad>,
    measures: Measures,
    superstep: usize,
}

impl World {
    /// Makes a world in which process i is on host `placement[i]` and computes 1 s in every superstep.
    fn new(clusters: &[&[f64]], placement: &[u32]) -> Self {
        let platform = machine(clusters, WIRE, WIRE);
        let mut measures = Measures::default();
        measures.clear(placement.len());
        let mut world = Self {
            placement: placement.iter().copied().map(HostId).collect(),
            memory: vec![Bytes::default(); placement.len()],
            external_load: vec![ExternalLoad::default(); platform.hosts.len()],
            platform,
            network: NetworkModel::default(),
            measures,
            superstep: 0,
        };
        world.compute(&vec![1.0; placement.len()]);
        world
    }

    /// Sets the computation time of each process [s] at the speed of its host.
    fn compute(&mut self, times: &[f64]) {
        for (process, &time) in times.iter().enumerate() {
            let speed = self.platform.hosts[self.placement[process].index()]
                .speed
                .get();
            self.measures.work[process] = instructions(time * speed);
            self.measures.computation_times[process] = seconds(time);
        }
    }

    /// Sets the exchange of a process with a cluster: bytes sent and received, and the times for them [s].
    fn exchange(&mut self, process: usize, cluster: usize, size: [f64; 2], time: [f64; 2]) {
        *self.measures.traffic_mut(process, cluster) = Traffic {
            sent_bytes: bytes(size[0]),
            received_bytes: bytes(size[1]),
            send_time: seconds(time[0]),
            receive_time: seconds(time[1]),
            sent_messages: 1,
            received_messages: 1,
        };
    }

    fn view(&self) -> View<'_> {
        View {
            platform: &self.platform,
            network: &self.network,
            superstep: self.superstep,
            now: Time::ZERO,
            placement: &self.placement,
            measurements: &self.measures,
            process_memory: &self.memory,
            external_load: &self.external_load,
            seed: 0,
            cycles_per_instruction: 1.0,
            executes_migrations: true,
            messages: &[],
            total_supersteps: usize::MAX,
            last_call_cost: seconds(0.0),
            pinned_processes: &[],
            workload: None,
        }
    }

    fn observe(&mut self, policy: &mut MigBsp) -> bool {
        let is_due = policy.is_call_due(&self.view());
        self.superstep += 1;
        is_due
    }

    fn decide(&self, policy: &mut MigBsp) -> Decision {
        let mut random = Stream::new(1, StreamPurpose::PolicyDecisions);
        policy
            .decide(&self.view(), &mut random)
            .expect("a decision")
    }

    /// Returns the decision of the next call, with equal supersteps until then.
    fn call(&mut self, policy: &mut MigBsp) -> Decision {
        while !self.observe(policy) {}
        self.decide(policy)
    }

    /// Returns the decision of the first call with `config`.
    fn first_call(&mut self, config: MigBspConfig) -> Decision {
        self.call(&mut policy(config))
    }

    /// Returns the decision of a call after supersteps in which process 1 computes for these times [s] and the others do not compute.
    fn call_after(&mut self, policy: &mut MigBsp, times: &[f64]) -> Decision {
        let mut all = vec![0.0; self.placement.len()];
        for (index, &time) in times.iter().enumerate() {
            all[0] = time;
            self.compute(&all);
            assert_eq!(self.observe(policy), index + 1 == times.len());
        }
        self.decide(policy)
    }
}

fn policy(config: MigBspConfig) -> MigBsp {
    MigBsp::new(config).expect("options in range")
}

fn default() -> MigBspConfig {
    MigBspConfig::default()
}

/// Makes one cluster of three hosts, where no process can migrate.
fn still() -> World {
    World::new(&[&[1e9; 3]], &[0, 1, 2])
}

/// Lists the supersteps (from 1) before the first `count` calls, and D at each call. `times` gives the computation of each superstep, and
/// `moved` the number of processes that move after each call.
fn calls(
    config: MigBspConfig,
    world: &mut World,
    count: usize,
    times: impl Fn(usize) -> [f64; 3],
    moved: impl Fn(usize) -> usize,
) -> (Vec<usize>, Vec<f64>) {
    let mut policy = policy(config);
    let (mut dates, mut tolerances) = (Vec::new(), Vec::new());
    while dates.len() < count {
        world.compute(&times(world.superstep + 1)[..world.placement.len()]);
        if world.observe(&mut policy) {
            let decision = world.decide(&mut policy);
            dates.push(world.superstep);
            tolerances.push(decision.explanation_json()["d"].as_f64().expect("a number"));
            policy.on_migrations_executed(moved(dates.len()));
        }
    }
    (dates, tolerances)
}

/// Lists the supersteps before the first three calls in a world where no process can migrate.
fn dates(config: MigBspConfig, times: impl Fn(usize) -> [f64; 3]) -> Vec<usize> {
    calls(config, &mut still(), 3, times, |_| 0).0
}

/// Lists the D of the first seven calls, with equal supersteps.
fn tolerances(config: MigBspConfig, times: [f64; 3], moved: impl Fn(usize) -> usize) -> Vec<f64> {
    calls(config, &mut still(), 7, |_| times, moved).1
}

const STABLE: [f64; 3] = [1.0, 1.0, 1.0];
/// The mean is 1: stable for a D above 0.9.
const UNSTABLE: [f64; 3] = [0.1, 1.0, 1.9];

/// Puts process 1 on the slow host of cluster a; cluster b is twice as fast.
fn two_clusters() -> World {
    World::new(&[&[1e9, 1e9], &[2e9, 2e9]], &[0])
}

/// Lists the processes that move and their hosts, from 0.
fn moves(decision: &Decision) -> Vec<(u32, u32)> {
    let all = decision.migrations.iter();
    all.map(|wanted| (wanted.process.0, wanted.to.0)).collect()
}
