//! Reuses results: of the previous superstep, of the same superstep in other runs, and of the messages of calls.
//!
//! ```text
//! superstep k of run a, superstep k of run b; equal placements  =>  equal durations, measures and digests, to the last bit
//! superstep k, superstep k + 1 of one run; equal plans and placements  =>  likewise
//! a step of a call, a step of any call; equal messages                 =>  likewise
//! ```
//! This holds on a platform whose capacities are constant, if all processes begin the superstep together and nothing else is in progress.
//! Local time then starts from zero, so that neither earlier supersteps nor the policy change the result. The runs have one workload and
//! equal runtime options. The workload reports which plans repeat ([`crate::Workload::repeats`]). Results do not depend on which run or
//! thread computes a superstep first.
//!
//! Memory: 24 B per process and 8 B per message of a superstep, 16 B per message of a call. Once the [`MemoBudget`] is used up, no further
//! result is stored. Cost: the comparison of placements, 100 ns per superstep, and the copy for other runs. Twin: the superstep itself,
//! simulated again (`shortcuts` of the runtime: `at-once`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::result::SuperstepResult;
use crate::Measures;
use crate::Plan;
use migsim_base::memory::MEMO;
use migsim_base::units::{Bytes, HostId, Seconds};
use migsim_engine::EventLog;
use migsim_platform::Platform;

/// Number of bytes that memos may still use; shared by all memos and threads.
#[derive(Clone, Debug)]
pub struct MemoBudget(Arc<AtomicUsize>);

impl Default for MemoBudget {
    fn default() -> Self {
        Self::new(MEMO)
    }
}

impl MemoBudget {
    /// Creates a budget of `bytes`.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    /// Subtracts bytes from the budget; returns whether enough were left.
    fn take(&self, bytes: usize) -> bool {
        let left = |left: usize| left.checked_sub(bytes);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left)
            .is_ok()
    }
}

/// Supersteps kept for all runs of one workload on one platform with the same runtime options.
#[derive(Debug)]
pub struct Memo {
    places: Mutex<BTreeMap<Vec<HostId>, Arc<Place>>>,
    budget: MemoBudget,
}

/// The supersteps and steps of calls that are kept for one placement.
#[derive(Debug, Default)]
struct Place {
    supersteps: Mutex<BTreeMap<usize, Arc<Entry>>>,
    /// The steps of calls; there are few.
    steps: Mutex<Vec<Step>>,
}

/// Messages of a call that were sent together, and their result.
#[derive(Debug)]
struct Step {
    messages: Box<[CallMessage]>,
    result: SuperstepResult,
}

/// A message of a call: from, to, size.
pub(crate) type CallMessage = (HostId, HostId, Bytes);

/// A superstep that was computed before.
#[derive(Debug)]
pub(super) struct Entry {
    pub result: SuperstepResult,
    /// The part of the event log that belongs to the superstep, and the longest computation of the superstep.
    pub digest: (EventLog, Seconds),
    /// Measures of each process, as in [`Measures`].
    pub compute: Box<[Seconds]>,
    pub communication: Box<[Seconds]>,
    pub send: Box<[Seconds]>,
    /// The duration of each message.
    pub durations: Box<[Seconds]>,
}

impl Memo {
    /// Creates an empty memo with this budget.
    pub fn new(budget: MemoBudget) -> Self {
        Self {
            places: Mutex::default(),
            budget,
        }
    }

    fn place(&self, placement: &[HostId]) -> Arc<Place> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.get(placement) {
            return Arc::clone(place);
        }
        let place = Arc::new(Place::default());
        if self
            .budget
            .take(size_of_val(placement) + size_of::<Place>())
        {
            places.insert(placement.to_vec(), Arc::clone(&place));
        }
        place
    }
}

/// The part of a memo that a run uses: the supersteps for its placement.
#[derive(Clone, Debug)]
pub(super) struct SharedMemo<'a> {
    all: &'a Memo,
    placement: Vec<HostId>,
    place: Arc<Place>,
}

impl<'a> SharedMemo<'a> {
    pub(super) fn new(all: &'a Memo, placement: &[HostId]) -> Self {
        Self {
            all,
            placement: placement.to_vec(),
            place: all.place(placement),
        }
    }

    /// Returns the kept result of superstep `superstep` for this placement.
    pub(super) fn recall(&mut self, superstep: usize, placement: &[HostId]) -> Option<Arc<Entry>> {
        if !are_equal(&self.placement, placement) {
            *self = Self::new(self.all, placement);
        }
        let supersteps = self.place.supersteps.lock();
        let supersteps = supersteps.unwrap_or_else(PoisonError::into_inner);
        supersteps.get(&superstep).cloned()
    }

    /// Returns the kept result of equal messages of a call, for the placement of the last [`Self::recall`].
    pub(super) fn recall_step(&self, messages: &[CallMessage]) -> Option<SuperstepResult> {
        let steps = self.place.steps.lock();
        let steps = steps.unwrap_or_else(PoisonError::into_inner);
        let known = steps.iter().find(|step| *step.messages == *messages)?;
        Some(known.result)
    }

    /// Keeps the result of messages of a call.
    pub(super) fn keep_step(&self, messages: &[CallMessage], result: SuperstepResult) {
        let bytes = size_of_val(messages) + size_of::<Step>();
        if !self.all.budget.take(bytes) {
            return;
        }
        let steps = self.place.steps.lock();
        let mut steps = steps.unwrap_or_else(PoisonError::into_inner);
        steps.push(Step {
            messages: messages.into(),
            result,
        });
    }

    /// Keeps a superstep for the placement of the last [`Self::recall`].
    pub(super) fn keep(&self, superstep: usize, entry: impl FnOnce() -> Entry, bytes: usize) {
        if !self.all.budget.take(bytes + size_of::<Entry>()) {
            return;
        }
        let entry = Arc::new(entry());
        let supersteps = self.place.supersteps.lock();
        let mut supersteps = supersteps.unwrap_or_else(PoisonError::into_inner);
        supersteps.entry(superstep).or_insert(entry);
    }
}

impl Entry {
    /// Restores the measures; traffic only if a policy reads it.
    pub(super) fn restore(
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

/// Whether two placements are equal. Nearly all are, so all hosts are compared, several at a time.
pub(crate) fn are_equal(one: &[HostId], other: &[HostId]) -> bool {
    let difference = |all: u32, at: usize| all | (one[at].0 ^ other[at].0);
    one.len() == other.len() && (0..one.len()).fold(0, difference) == 0
}

/// The previous superstep, if all processes began it together and ended it together.
#[derive(Clone, Debug, Default)]
pub(super) struct Previous {
    result: Option<SuperstepResult>,
    placement: Vec<HostId>,
}

impl Previous {
    /// Returns its result if the next superstep has the same placement. The plans are equal unless [`Self::forget`] was called since.
    pub(super) fn recall(&self, placement: &[HostId]) -> Option<SuperstepResult> {
        self.result
            .filter(|_| are_equal(&self.placement, placement))
    }

    /// Keeps a superstep that has been computed.
    pub(super) fn keep(&mut self, result: SuperstepResult, placement: &[HostId]) {
        self.result = Some(result);
        self.placement.clear();
        self.placement.extend_from_slice(placement);
    }

    /// Drops the result, because the plan of the open superstep differs or its processes do not begin together.
    pub(super) fn forget(&mut self) {
        self.result = None;
    }
}
