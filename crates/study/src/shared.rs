//! What all runs of a study have in common: files that were read, work that is done only once, and the wish to stop.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock},
};

use migsim_base::error::{Error, Problem, Result};
use migsim_bsp::{Memo, MemoBudget};
use migsim_experiment::{Progress, SharedInputs};

/// The data that all runs of a sweep share, so that files are read and common work is done only once.
#[derive(Debug, Default)]
pub struct SharedRunData {
    /// Platforms and built-in experiments that were already read from files.
    pub shared_inputs: SharedInputs,
    /// The data shared by runs that differ only in their policies; the key is a text of all other settings.
    pub(super) policy_independent_data: Mutex<BTreeMap<String, Arc<PolicyIndependentData>>>,
    /// The memory that is still available for caches of simulated supersteps.
    pub(super) memo_budget: MemoBudget,
}

/// The data shared by runs that differ only in their policies.
#[derive(Debug)]
pub(super) struct PolicyIndependentData {
    /// The makespan of scenario i (no rescheduling) \[s\], which does not depend on the policy; not set before it has been
    /// simulated.
    pub scenario_i_makespan: OnceLock<f64>,
    /// The cache of supersteps that were simulated, by placement.
    pub superstep_memo: Memo,
}

/// Checks that the runs of this program need not stop.
///
/// # Errors
/// They shall stop.
pub(super) fn check_no_stop_is_requested() -> Result {
    if Progress::are_all_stopped() {
        return Err(Error::SimulationFailure(Problem::new("interrupted")));
    }
    Ok(())
}
