//! A policy that records the state at the barrier of one superstep of a run, as strategies receive it, for `migsim decide`.
//!
//! The probe contains the policy of the run, which decides as usual. At the superstep to be recorded the probe requests a call,
//! so that loads are measured as at any call, and stores the state at the barrier. The rest of the run does not affect the
//! snapshot. A policy may decide from the times of many supersteps (MigBSP) or from random numbers, which this state does not
//! contain. Therefore the policy of the run is also called at that barrier, and its decision is stored with the state.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::{
    Decision, Policy, View,
    balancer::{CoreNumbering, call_with_instance, movable_processes},
    strategy::Instance,
    window::LoadWindow,
};
use migsim_base::{
    error::Result,
    random::Stream,
    units::{Bytes, Seconds},
};

/// A variable shared between a probe and its caller: the probe writes the state at a barrier into it as JSON; `None` until then.
pub type SharedSnapshot = Arc<Mutex<Option<Value>>>;

/// Maximum number of cores of a platform for which a snapshot contains the latency and bandwidth of each pair of cores.
const MAX_CORES_WITH_PAIRS: usize = 500;

/// A policy that decides as the policy of the run, and records the state at the barrier of one superstep.
#[derive(Debug)]
pub struct BarrierProbe {
    policy: Box<dyn Policy>,
    /// The superstep whose barrier is recorded, counted from 0.
    recorded_superstep: usize,
    shared_snapshot: SharedSnapshot,
    recorded_policy_name: String,
    /// The measures of the load since the last rescheduling call, from which strategies decide.
    load_window: LoadWindow,
}

impl BarrierProbe {
    /// Creates a probe for a run under `policy`, which writes the state at the barrier of `superstep` (counted from 0) to
    /// `snapshot`, with the decision of the policy under the name `name`.
    pub fn new(
        policy: Box<dyn Policy>,
        superstep: usize,
        snapshot: SharedSnapshot,
        name: String,
    ) -> Self {
        Self {
            policy,
            recorded_superstep: superstep,
            shared_snapshot: snapshot,
            recorded_policy_name: name,
            load_window: LoadWindow::default(),
        }
    }
}

impl Policy for BarrierProbe {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.load_window.observe(view, true);
        let is_due = self.policy.is_call_due(view);
        is_due && view.superstep < self.recorded_superstep
            || view.superstep == self.recorded_superstep
    }

    fn decide(&mut self, view: &View<'_>, random: &mut Stream) -> Result<Decision> {
        if view.superstep < self.recorded_superstep {
            self.load_window = LoadWindow::default();
            return self.policy.decide(view, random);
        }
        let decision = self.policy.decide(view, random)?;
        let value = call_with_instance(view, &self.load_window, |instance, cores| {
            let mut value = barrier_to_json(instance, view);
            add_routes_of_cores(&mut value, instance);
            value["decisions"] = json!([{
                "policy": self.recorded_policy_name,
                "assignment": cores_after_decision(&decision, view, instance, cores),
                "procedure": decision.procedure,
            }]);
            value
        });
        *self
            .shared_snapshot
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(value);
        Ok(Decision::default())
    }

    fn on_migrations_executed(&mut self, moved: usize) {
        self.policy.on_migrations_executed(moved);
    }
}

/// Returns the state at a barrier as the JSON that `migsim snapshot` writes and `migsim decide` reads, without routes: the
/// instance, and the names and cores of hosts.
///
/// If some processes may not migrate, they are omitted, and the JSON contains the numbers of the other processes, counted from 1.
pub(super) fn barrier_to_json(instance: &Instance<'_>, view: &View<'_>) -> Value {
    let mut value = instance_to_json(instance);
    value["superstep"] = json!(view.superstep + 1);
    value["hosts"] = view
        .platform
        .hosts
        .iter()
        .map(|host| json!({ "name": host.name, "cores": host.cores }))
        .collect();
    let movable = movable_processes(view);
    if movable.len() < view.processes() {
        value["processes"] = movable.iter().map(|process| json!(process + 1)).collect();
    }
    value
}

/// Returns the core of each process that may migrate, after the moves of a decision.
fn cores_after_decision(
    decision: &Decision,
    view: &View<'_>,
    instance: &Instance<'_>,
    cores: &CoreNumbering,
) -> Vec<usize> {
    let movable = movable_processes(view);
    let moves = decision.migrations.iter().filter_map(|wanted| {
        let process = movable.binary_search(&wanted.process.index()).ok()?;
        Some((process, wanted.to.index()))
    });
    cores_after_moves(instance, &cores.host_indices(), moves)
}

/// Returns the core of each process after moves of processes to hosts. Each process that moves is assigned to the least loaded core
/// of its new host.
pub(super) fn cores_after_moves(
    instance: &Instance<'_>,
    hosts_by_core: &[usize],
    moves: impl Iterator<Item = (usize, usize)>,
) -> Vec<usize> {
    let mut places = instance.current_hosts.clone();
    for (process, host) in moves {
        let times = instance.host_times(&places);
        places[process] = (0..hosts_by_core.len())
            .filter(|core| hosts_by_core[*core] == host)
            .min_by(|&a, &b| times[a].get().total_cmp(&times[b].get()))
            .expect("a host has a core");
    }
    places
}

pub(super) fn instance_to_json(instance: &Instance<'_>) -> Value {
    let seconds = |list: &[Seconds]| -> Vec<f64> { list.iter().map(|time| time.get()).collect() };
    let bytes = |list: &[Bytes]| -> Vec<f64> { list.iter().map(|size| size.get()).collect() };
    let rows: Vec<Value> = instance
        .communication
        .iter()
        .map(|row| json!([row.from, row.to, row.message_count, row.bytes.get()]))
        .collect();
    let mut value = json!({
        "speeds": instance.host_speeds,
        "background": seconds(&instance.background_times),
        "current": instance.current_hosts,
        "work": seconds(&instance.process_works),
        "time": seconds(&instance.process_times),
        "communication": rows,
        "memory": bytes(&instance.process_memory),
        "clusters": instance.cluster_of_host,
    });
    let limits: Vec<Option<f64>> = instance
        .host_memory
        .iter()
        .map(|limit| limit.map(Bytes::get))
        .collect();
    if limits.iter().any(Option::is_some) {
        value["host_memory"] = json!(limits);
    }
    value
}

/// Adds the latency and bandwidth of each pair of cores to the state at a barrier, unless there are too many cores.
pub(super) fn add_routes_of_cores(value: &mut Value, instance: &Instance<'_>) {
    let hosts = instance.host_count();
    if let Some(paths) = instance.host_paths
        && hosts <= MAX_CORES_WITH_PAIRS
    {
        let grid = |of: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            (0..hosts)
                .map(|from| (0..hosts).map(|to| of(from, to)).collect())
                .collect()
        };
        value["latency"] = json!(grid(&|from, to| paths.latency(from, to).get()));
        value["bandwidth"] = json!(grid(&|from, to| paths.bandwidth(from, to).get()));
    }
}
