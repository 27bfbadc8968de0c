//! A probe: records the barrier of one superstep of a run, as strategies see it, for `migsim decide`.
//!
//! It wraps the policy of the run, which decides as usual. At its superstep it requests a call, so that loads are measured as at any call,
//! and keeps the instance. The rest of the run has no effect. A policy that is no strategy (MigBSP) decides from the times of many
//! supersteps, which no instance has. So it is called at that barrier as well, and its decision is kept.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::balancer::{Cores, movable_processes, with_instance};
use super::strategy::Instance;
use super::window::Window;
use super::{Decision, Policy, View};
use migsim_base::error::Error;
use migsim_base::random::Stream;
use migsim_base::units::{Bytes, Seconds};

/// The shared place of the snapshot.
pub type Snapshot = Arc<Mutex<Option<Value>>>;

/// Maximum number of cores for which a snapshot has the latency and bandwidth of each pair.
const MOST_PAIRED: usize = 500;

/// The policy of a run, and the superstep of the snapshot.
#[derive(Debug)]
pub struct Probe {
    policy: Box<dyn Policy>,
    /// The superstep, counted from 0.
    superstep: usize,
    snapshot: Snapshot,
    /// The name of the policy, if its decision is kept.
    kept: Option<String>,
    /// The measures that strategies use.
    window: Window,
}

impl Probe {
    /// Creates a probe of the barrier of `superstep`, counted from 0, of a run under `policy`. It also keeps the decision of the policy,
    /// under the name `kept`.
    pub fn new(
        policy: Box<dyn Policy>,
        superstep: usize,
        snapshot: Snapshot,
        kept: Option<String>,
    ) -> Self {
        Self {
            policy,
            superstep,
            snapshot,
            kept,
            window: Window::default(),
        }
    }
}

impl Policy for Probe {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.window.note(view, true);
        let is_due = self.policy.is_call_due(view);
        is_due && view.superstep < self.superstep || view.superstep == self.superstep
    }

    fn decide(&mut self, view: &View<'_>, random: &mut Stream) -> Result<Decision, Error> {
        if view.superstep < self.superstep {
            self.window = Window::default();
            return self.policy.decide(view, random);
        }
        let mut value = with_instance(view, &self.window, |instance, _| barrier(instance, view));
        if let Some(name) = &self.kept {
            let decision = self.policy.decide(view, random)?;
            let cores = with_instance(view, &self.window, |instance, cores| {
                on_cores(&decision, view, instance, cores)
            });
            value["decisions"] = json!([{ "policy": name, "assignment": cores }]);
        }
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        Ok(Decision::default())
    }

    fn on_outcome(&mut self, moved: usize) {
        self.policy.on_outcome(moved);
    }
}

/// Returns the barrier as `migsim snapshot` writes it and `migsim decide` reads it: the instance, and the names and cores of hosts.
/// Processes that may not migrate are left out; then it has the numbers of the other processes, from 1.
pub(super) fn barrier(instance: &Instance<'_>, view: &View<'_>) -> Value {
    let mut value = json_of(instance);
    value["superstep"] = json!(view.superstep + 1);
    let hosts = view.platform.hosts.iter();
    let hosts = hosts.map(|host| json!({ "name": host.name, "cores": host.cores }));
    value["hosts"] = hosts.collect();
    let movable = movable_processes(view);
    if movable.len() < view.processes() {
        value["processes"] = movable.iter().map(|process| json!(process + 1)).collect();
    }
    value
}

/// Returns the core of each process that may migrate after a decision: each process that moves gets the core of its new host with the least load.
fn on_cores(
    decision: &Decision,
    view: &View<'_>,
    instance: &Instance<'_>,
    cores: &Cores,
) -> Vec<usize> {
    let movable = movable_processes(view);
    let mut places = instance.current.clone();
    for wanted in &decision.migrations {
        let Ok(process) = movable.binary_search(&wanted.process.index()) else {
            continue;
        };
        let first = cores.first_core[wanted.to.index()];
        let count = view.platform.hosts[wanted.to.index()].cores as usize;
        let times = instance.host_times(&places);
        let least =
            (first..first + count).min_by(|&a, &b| times[a].get().total_cmp(&times[b].get()));
        places[process] = least.unwrap_or(first);
    }
    places
}

/// Returns the fields that `migsim decide` reads.
pub(super) fn json_of(instance: &Instance<'_>) -> Value {
    let seconds = |list: &[Seconds]| -> Vec<f64> { list.iter().map(|time| time.get()).collect() };
    let bytes = |list: &[Bytes]| -> Vec<f64> { list.iter().map(|size| size.get()).collect() };
    let rows = instance.communication.iter();
    let rows: Vec<Value> = rows
        .map(|row| json!([row.from, row.to, row.messages, row.bytes.get()]))
        .collect();
    let mut value = json!({
        "speeds": instance.speeds,
        "background": seconds(&instance.background),
        "current": instance.current,
        "work": seconds(&instance.work),
        "time": seconds(&instance.time),
        "communication": rows,
        "memory": bytes(&instance.memory),
        "clusters": instance.clusters,
    });
    let limits = instance.host_memory.iter();
    let limits: Vec<Option<f64>> = limits.map(|limit| limit.map(Bytes::get)).collect();
    if limits.iter().any(Option::is_some) {
        value["host_memory"] = json!(limits);
    }
    let hosts = instance.hosts();
    if let Some(paths) = instance.paths.filter(|_| hosts <= MOST_PAIRED) {
        let grid = |of: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            let row = |from| (0..hosts).map(|to| of(from, to)).collect();
            (0..hosts).map(row).collect()
        };
        value["latency"] = json!(grid(&|from, to| paths.latency(from, to).get()));
        value["bandwidth"] = json!(grid(&|from, to| paths.bandwidth(from, to).get()));
    }
    value
}
