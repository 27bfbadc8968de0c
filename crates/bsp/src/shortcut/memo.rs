//! Stores results for reuse: the results of the previous superstep, of the same superstep in other runs, and of the messages of
//! rescheduling calls.
//!
//! ```text
//! superstep k of run a, superstep k of run b; equal placements         =>  equal durations, measurements and digests, to the last bit
//! superstep k, superstep k + 1 of one run; equal plans and placements  =>  equal durations, measurements and digests
//! a step of a call, a step of any call; equal messages                 =>  equal durations
//! ```
//! A digest is a hash of messages and times with the longest computation of a superstep. The equality holds on a platform whose
//! capacities are constant, if all processes begin the superstep together and nothing else is in progress. Local time then starts
//! from zero, so that neither earlier supersteps nor the policy change the result. The runs have the same workload and equal
//! runtime options. The workload reports which plans repeat ([`crate::Workload::repeats`]). Results do not depend on which run or
//! thread computes a superstep first.
//!
//! Memory: 24 B per process and 8 B per message of a superstep, 16 B per message of a call. Once the [`MemoBudget`] is used up,
//! no further result is stored. Cost: the comparison of placements, 100 ns per superstep, and the copy for other runs. The
//! reference implementation simulates each superstep again (runtime option `shortcuts`: `at-once`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::result::SuperstepResult;
use crate::Measures;
use crate::Plan;
use migsim_base::memory::MEMO;
use migsim_base::units::{Bytes, HostId, Seconds};
use migsim_engine::EventHash;
use migsim_platform::Platform;

/// The memory \[B\] that is still available for stored results; all memos and threads share this budget.
#[derive(Clone, Debug)]
pub struct MemoBudget(Arc<AtomicUsize>);

impl Default for MemoBudget {
    fn default() -> Self {
        Self::new(MEMO)
    }
}

impl MemoBudget {
    /// Creates a budget of `bytes` bytes for stored results.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    /// Subtracts `bytes` from the budget and returns true, if enough bytes are available; otherwise returns false.
    fn try_reserve_bytes(&self, bytes: usize) -> bool {
        let left = |left: usize| left.checked_sub(bytes);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left)
            .is_ok()
    }
}

/// Results of supersteps that are stored for all runs of one workload on one platform with the same runtime options.
#[derive(Debug)]
pub struct Memo {
    results_by_placement: Mutex<BTreeMap<Vec<HostId>, Arc<PlacementResults>>>,
    budget: MemoBudget,
}

/// The stored results of supersteps and of steps of rescheduling calls for one placement of the processes.
#[derive(Debug, Default)]
struct PlacementResults {
    superstep_results: Mutex<BTreeMap<usize, Arc<StoredSuperstep>>>,
    /// The stored steps of rescheduling calls, in a list that is searched from the beginning because it is short.
    call_steps: Mutex<Vec<StoredCallStep>>,
}

/// A group of messages of a rescheduling call that are sent at the same time, with the stored result of this group.
#[derive(Debug)]
struct StoredCallStep {
    messages: Box<[CallMessage]>,
    result: SuperstepResult,
}

/// A message of a rescheduling call: the host that sends it, the host that receives it, and its size.
pub(crate) type CallMessage = (HostId, HostId, Bytes);

/// The stored result of a superstep, with its measurements.
#[derive(Debug)]
pub(super) struct StoredSuperstep {
    pub result: SuperstepResult,
    /// The hash of messages and times for the event log of the run, and the duration of the longest computation of the superstep.
    pub digest: (EventHash, Seconds),
    /// Duration of the computation of each process, as in [`Measures`].
    pub computation_times: Box<[Seconds]>,
    /// Duration of the communication of each process, as in [`Measures`].
    pub communication_times: Box<[Seconds]>,
    /// Duration until the messages that each process sent were delivered, as in [`Measures`].
    pub send_times: Box<[Seconds]>,
    /// Duration of each message of the superstep, in the order of its plan.
    pub message_durations: Box<[Seconds]>,
}

impl Memo {
    /// Creates a memo without results, which may use the memory in the given budget.
    pub fn new(budget: MemoBudget) -> Self {
        Self {
            results_by_placement: Mutex::default(),
            budget,
        }
    }

    /// Returns the stored results of supersteps and calls for a placement; if the placement is new, these results are empty.
    fn results_for_placement(&self, placement: &[HostId]) -> Arc<PlacementResults> {
        let mut places = self
            .results_by_placement
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.get(placement) {
            return Arc::clone(place);
        }
        let place = Arc::new(PlacementResults::default());
        if self
            .budget
            .try_reserve_bytes(size_of_val(placement) + size_of::<PlacementResults>())
        {
            places.insert(placement.to_vec(), Arc::clone(&place));
        }
        place
    }
}

/// The access of one run to the results that a memo stores for the present placement of the run.
#[derive(Clone, Debug)]
pub(super) struct MemoAccess<'a> {
    memo: &'a Memo,
    placement: Vec<HostId>,
    placement_results: Arc<PlacementResults>,
}

impl<'a> MemoAccess<'a> {
    pub(super) fn new(all: &'a Memo, placement: &[HostId]) -> Self {
        Self {
            memo: all,
            placement: placement.to_vec(),
            placement_results: all.results_for_placement(placement),
        }
    }

    /// Returns the stored result of a superstep for this placement, which becomes the present placement. Returns `None` if no
    /// result is stored.
    pub(super) fn find_superstep(
        &mut self,
        superstep: usize,
        placement: &[HostId],
    ) -> Option<Arc<StoredSuperstep>> {
        if !are_equal_placements(&self.placement, placement) {
            *self = Self::new(self.memo, placement);
        }
        let supersteps = self.placement_results.superstep_results.lock();
        let supersteps = supersteps.unwrap_or_else(PoisonError::into_inner);
        supersteps.get(&superstep).cloned()
    }

    /// Returns the stored result of the same messages of a rescheduling call, for the placement of the last call of
    /// [`find_superstep`](Self::find_superstep); `None` if no result is stored.
    pub(super) fn find_call_step(&self, messages: &[CallMessage]) -> Option<SuperstepResult> {
        let steps = self.placement_results.call_steps.lock();
        let steps = steps.unwrap_or_else(PoisonError::into_inner);
        let known = steps.iter().find(|step| *step.messages == *messages)?;
        Some(known.result)
    }

    /// Stores the result of a group of messages of a rescheduling call that are sent at the same time, if the budget has enough
    /// memory.
    pub(super) fn store_call_step(&self, messages: &[CallMessage], result: SuperstepResult) {
        let bytes = size_of_val(messages) + size_of::<StoredCallStep>();
        if !self.memo.budget.try_reserve_bytes(bytes) {
            return;
        }
        let steps = self.placement_results.call_steps.lock();
        let mut steps = steps.unwrap_or_else(PoisonError::into_inner);
        steps.push(StoredCallStep {
            messages: messages.into(),
            result,
        });
    }

    /// Stores the result of a superstep, for the placement of the last call of [`find_superstep`](Self::find_superstep), if the
    /// budget has enough memory. `bytes` is the size of the arrays of the result \[B\].
    pub(super) fn store_superstep(
        &self,
        superstep: usize,
        entry: impl FnOnce() -> StoredSuperstep,
        bytes: usize,
    ) {
        if !self
            .memo
            .budget
            .try_reserve_bytes(bytes + size_of::<StoredSuperstep>())
        {
            return;
        }
        let entry = Arc::new(entry());
        let supersteps = self.placement_results.superstep_results.lock();
        let mut supersteps = supersteps.unwrap_or_else(PoisonError::into_inner);
        supersteps.entry(superstep).or_insert(entry);
    }
}

impl StoredSuperstep {
    /// Writes the stored measurements to `measures`. The traffic of processes is included only if a policy needs it.
    pub(super) fn restore_measurements(
        &self,
        (platform, placement): (&Platform, &[HostId]),
        plan: &Plan,
        has_policy: bool,
        measures: &mut Measures,
    ) {
        measures.clear(placement.len());
        measures.work.clone_from(&plan.work);
        measures
            .computation_times
            .copy_from_slice(&self.computation_times);
        measures
            .communication_times
            .copy_from_slice(&self.communication_times);
        measures.send_times.copy_from_slice(&self.send_times);
        if has_policy {
            let cluster = |process: usize| platform.cluster_of(placement[process]).index();
            measures.add_traffic(plan, cluster, self.message_durations.iter().copied());
        }
    }
}

/// Returns whether two placements are equal. The function compares several hosts at a time and does not stop at the first
/// difference, because nearly all compared placements are equal.
pub(crate) fn are_equal_placements(one: &[HostId], other: &[HostId]) -> bool {
    let difference = |all: u32, at: usize| all | (one[at].0 ^ other[at].0);
    one.len() == other.len() && (0..one.len()).fold(0, difference) == 0
}

/// The stored result of the previous superstep, for use if the next superstep is equal. It is stored only if all processes began
/// and ended that superstep together.
#[derive(Clone, Debug, Default)]
pub(super) struct PreviousResult {
    result: Option<SuperstepResult>,
    placement: Vec<HostId>,
}

impl PreviousResult {
    /// Returns the stored result of the previous superstep if the next superstep has the same placement; otherwise `None`. The
    /// plans of both supersteps are equal, because the stored result is removed when the plan changes.
    pub(super) fn find_result(&self, placement: &[HostId]) -> Option<SuperstepResult> {
        self.result
            .filter(|_| are_equal_placements(&self.placement, placement))
    }

    /// Stores the result of a superstep, with its placement, as the result of the previous superstep.
    pub(super) fn store_result(&mut self, result: SuperstepResult, placement: &[HostId]) {
        self.result = Some(result);
        self.placement.clear();
        self.placement.extend_from_slice(placement);
    }

    /// Removes the stored result, because the plan of the open superstep differs from the previous plan or its processes do not
    /// begin together.
    pub(super) fn remove_result(&mut self) {
        self.result = None;
    }
}
