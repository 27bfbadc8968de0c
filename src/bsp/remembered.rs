//! Supersteps that were simulated, remembered for other runs: the scenarios of an experiment, and the runs of a sweep.
//!
//! ```text
//! superstep k of run a, superstep k of run b; equal placements  =>  equal durations, measures and digests, to the bit
//! ```
//! It holds for runs of one workload with the same runtime options on one platform whose capacities are constant, if all begin the superstep
//! together and nothing else is in progress: local time starts from zero, so that neither what was before nor the policy matters. Who
//! simulates a superstep first does not matter either, so results do not depend on threads.
//!
//! Memory: 24 B per process and 8 B per message of a superstep, until the [`Room`] is full; from then on nothing new is remembered.
//! Cost: 100 ns a superstep, and the copy. Twin: the superstep itself, simulated again (`shortcuts` of the runtime: `at-once`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::at_once::Passed;
use crate::engine::EventLog;
use crate::platform::Platform;
use crate::policy::Measures;
use crate::units::{HostId, Seconds};
use crate::workload::Plan;

/// Bytes that may still be used to remember supersteps, by any number of memories and threads.
#[derive(Clone, Debug)]
pub struct Room(Arc<AtomicUsize>);

/// 64 MiB.
impl Default for Room {
    fn default() -> Self {
        Self::new(64 << 20)
    }
}

impl Room {
    /// Room for so many bytes.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    /// Takes bytes, if there are so many.
    fn take(&self, bytes: usize) -> bool {
        let left = |left: usize| left.checked_sub(bytes);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left)
            .is_ok()
    }
}

/// The memory of the runs of one workload on one platform with the same runtime options.
#[derive(Debug)]
pub struct Remembered {
    places: Mutex<BTreeMap<Vec<HostId>, Arc<Place>>>,
    room: Room,
}

/// What is known of the supersteps with one placement.
#[derive(Debug, Default)]
struct Place(Mutex<BTreeMap<usize, Arc<Kept>>>);

/// A superstep.
#[derive(Debug)]
pub(super) struct Kept {
    pub passed: Passed,
    /// What it adds to the log, and its longest computation.
    pub digest: (EventLog, Seconds),
    /// Per process, as in [`Measures`].
    pub compute: Box<[Seconds]>,
    pub communication: Box<[Seconds]>,
    pub send: Box<[Seconds]>,
    /// How long each message took.
    pub durations: Box<[Seconds]>,
}

impl Remembered {
    /// An empty memory that may use this room.
    pub fn new(room: Room) -> Self {
        Self {
            places: Mutex::default(),
            room,
        }
    }

    fn place(&self, placement: &[HostId]) -> Arc<Place> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.get(placement) {
            return Arc::clone(place);
        }
        let place = Arc::new(Place::default());
        if self.room.take(size_of_val(placement) + size_of::<Place>()) {
            places.insert(placement.to_vec(), Arc::clone(&place));
        }
        place
    }
}

/// The part of a memory that a run looks at: what belongs to its placement.
#[derive(Debug)]
pub(super) struct Remembering<'a> {
    all: &'a Remembered,
    placement: Vec<HostId>,
    place: Arc<Place>,
}

impl<'a> Remembering<'a> {
    pub(super) fn new(all: &'a Remembered, placement: &[HostId]) -> Self {
        Self {
            all,
            placement: placement.to_vec(),
            place: all.place(placement),
        }
    }

    /// What superstep `superstep` comes to with these places.
    pub(super) fn recall(&mut self, superstep: usize, placement: &[HostId]) -> Option<Arc<Kept>> {
        if self.placement != placement {
            *self = Self::new(self.all, placement);
        }
        let Place(supersteps) = &*self.place;
        let supersteps = supersteps.lock().unwrap_or_else(PoisonError::into_inner);
        supersteps.get(&superstep).cloned()
    }

    /// Keeps a superstep with the placement that was last asked for.
    pub(super) fn keep(&self, superstep: usize, kept: impl FnOnce() -> Kept, bytes: usize) {
        if !self.all.room.take(bytes + size_of::<Kept>()) {
            return;
        }
        let kept = Arc::new(kept());
        let Place(supersteps) = &*self.place;
        let mut supersteps = supersteps.lock().unwrap_or_else(PoisonError::into_inner);
        supersteps.entry(superstep).or_insert(kept);
    }
}

impl Kept {
    /// What was measured; traffic only for a policy.
    pub(super) fn tell(
        &self,
        (platform, placement): (&Platform, &[HostId]),
        plan: &Plan,
        has_policy: bool,
        measures: &mut Measures,
    ) {
        measures.clear(placement.len());
        measures.work.clone_from(&plan.work);
        measures.compute.copy_from_slice(&self.compute);
        measures.communication.copy_from_slice(&self.communication);
        measures.send.copy_from_slice(&self.send);
        if has_policy {
            let cluster = |process: usize| platform.cluster_of(placement[process]).index();
            measures.add_traffic(plan, cluster, self.durations.iter().copied());
        }
    }
}
