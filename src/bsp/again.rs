//! A superstep again: one that repeats the one before it is not simulated a second time.
//!
//! ```text
//! plan(k) = plan(k-1), placement(k) = placement(k-1)  =>  duration(k) = duration(k-1), measures(k) = measures(k-1)
//! ```
//! It holds on a platform whose capacities are constant, if all begin and end both supersteps together and nothing else is in progress:
//! a superstep then depends on its plan and placement only, to the bit, since local time starts from zero. The workload says
//! which plans repeat ([`crate::workload::Workload::repeats`]). What was measured is still where it was measured.
//!
//! Cost: the comparison of the placements. Twin: the superstep itself, simulated again (`shortcuts` of the runtime: `at-once`).

use super::at_once::Passed;
use crate::units::HostId;

/// The superstep before this one, if all began and ended it together.
#[derive(Debug, Default)]
pub(super) struct Again {
    passed: Option<Passed>,
    placement: Vec<HostId>,
}

impl Again {
    /// What a superstep with the plan of the one before it comes to with these places.
    pub(super) fn recall(&self, placement: &[HostId]) -> Option<Passed> {
        self.passed.filter(|_| self.placement == placement)
    }

    /// Takes note of a superstep that has been simulated.
    pub(super) fn remember(&mut self, passed: Passed, placement: &[HostId]) {
        self.passed = Some(passed);
        self.placement.clear();
        self.placement.extend_from_slice(placement);
    }

    /// The superstep before this one is not as it was noted.
    pub(super) fn forget(&mut self) {
        self.passed = None;
    }
}
