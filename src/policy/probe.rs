//! A probe: the barrier of one superstep of a run, as strategies see it, for `migsim decide`.
//!
//! It stands before the policy of the run and lets that decide as always. At its superstep it asks for a call, so that loads are measured as
//! at any call, and keeps the instance; what comes later in the run is of no use.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::balancer::with_instance;
use super::strategy::Instance;
use super::window::Window;
use super::{Decision, Policy, View};
use crate::error::Error;
use crate::random::Stream;
use crate::units::{Bytes, Seconds};

/// The place of the snapshot.
pub(crate) type Snapshot = Arc<Mutex<Option<Value>>>;

/// Up to so many cores latency and bandwidth stand in a snapshot, a number for each pair.
const MOST_PAIRED: usize = 500;

/// The policy of a run, and the superstep to look at.
#[derive(Debug)]
pub(crate) struct Probe {
    policy: Box<dyn Policy>,
    /// Counted from 0.
    superstep: usize,
    snapshot: Snapshot,
    /// The knowledge of strategies.
    window: Window,
}

impl Probe {
    /// Looks at the barrier of `superstep`, counted from 0, of a run under `policy`.
    pub(crate) fn new(policy: Box<dyn Policy>, superstep: usize, snapshot: Snapshot) -> Self {
        Self {
            policy,
            superstep,
            snapshot,
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
        let value = with_instance(view, &self.window, json_of);
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        Ok(Decision::default())
    }

    fn on_outcome(&mut self, moved: usize) {
        self.policy.on_outcome(moved);
    }
}

/// The fields that `migsim decide` reads.
fn json_of(instance: &Instance<'_>) -> Value {
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
