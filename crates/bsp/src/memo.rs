//! Stores results of supersteps for reuse in other runs.
//!
//! ```text
//! superstep k of run a, superstep k of run b; equal placements         =>  equal durations, measurements and digests, to the last bit
//! superstep k, superstep k + 1 of one run; equal plans and placements  =>  equal durations, measurements and digests
//! ```
//! A digest is a hash of messages and times with the longest computation of a superstep. The equality holds on a platform whose
//! capacities are constant, if all processes begin the superstep together and nothing else is in progress. Local time then starts
//! from zero, so that neither earlier supersteps nor the policy change the result. The runs have the same workload and equal
//! runtime options. The workload reports which plans repeat ([`crate::Workload::repeats`]). Results do not depend on which run or
//! thread computes a superstep first.
//!
//! Memory: 24 B per process and 16 B per message of a superstep. Once the [`MemoBudget`] is used up,
//! no further result is stored. Cost: the comparison of placements, 100 ns per superstep, and the copy for other runs. The
//! reference implementation simulates each superstep again (runtime option `shortcuts`: `at-once`).

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{measures::Measures, workload::Plan};
use migsim_base::{
    memory::MEMO,
    units::{HostId, Seconds},
};
use migsim_engine::EventHash;

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
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left: usize| {
                left.checked_sub(bytes)
            })
            .is_ok()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SuperstepResult {
    /// Time from the begin of the superstep to the first departure of a process \[s\].
    pub duration: f64,
    /// Number of flows, including those of the barrier.
    pub flow_count: u64,
}

pub(super) type SuperstepDigest = (EventHash, Seconds);

/// Results of supersteps that are stored for all runs of one workload on one platform with the same runtime options.
#[derive(Debug)]
pub struct Memo {
    results: Mutex<ResultsByPlacement>,
    budget: MemoBudget,
}

type ResultsByPlacement = BTreeMap<Vec<HostId>, BTreeMap<usize, Arc<StoredSuperstep>>>;

#[derive(Debug)]
pub(super) struct StoredSuperstep {
    pub result: SuperstepResult,
    pub digest: SuperstepDigest,
    /// Duration of the computation of each process, as in [`Measures`].
    pub computation_times: Box<[Seconds]>,
    /// Duration of the communication of each process, as in [`Measures`].
    pub communication_times: Box<[Seconds]>,
    /// Duration until the messages that each process sent were delivered, as in [`Measures`].
    pub send_times: Box<[Seconds]>,
    /// The times at which each message of the superstep starts and ends, in the order of its plan \[s\].
    pub message_periods: Box<[(f64, f64)]>,
}

impl Memo {
    /// Creates a memo without results, which may use the memory in the given budget.
    pub fn new(budget: MemoBudget) -> Self {
        Self {
            results: Mutex::default(),
            budget,
        }
    }

    fn results(&self) -> MutexGuard<'_, ResultsByPlacement> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find(
        &self,
        superstep: usize,
        placement: &[HostId],
    ) -> Option<Arc<StoredSuperstep>> {
        self.results().get(placement)?.get(&superstep).cloned()
    }

    /// Stores the result of a superstep if the budget has enough memory. `bytes` is the size of the arrays of the result \[B\].
    pub(super) fn store(
        &self,
        superstep: usize,
        placement: &[HostId],
        bytes: usize,
        result: impl FnOnce() -> StoredSuperstep,
    ) {
        let bytes = bytes + size_of::<StoredSuperstep>();
        if !self.budget.try_reserve_bytes(bytes) {
            return;
        }
        let result = Arc::new(result());
        let mut results = self.results();
        if !results.contains_key(placement) && self.budget.try_reserve_bytes(size_of_val(placement))
        {
            results.insert(placement.to_vec(), BTreeMap::new());
        }
        if let Some(supersteps) = results.get_mut(placement) {
            supersteps.entry(superstep).or_insert(result);
        }
    }
}

impl StoredSuperstep {
    pub(super) fn restore_measurements(&self, plan: &Plan, measures: &mut Measures) {
        measures.clear(plan.work.len());
        measures.work.clone_from(&plan.work);
        measures
            .computation_times
            .copy_from_slice(&self.computation_times);
        measures
            .communication_times
            .copy_from_slice(&self.communication_times);
        measures.send_times.copy_from_slice(&self.send_times);
    }
}
