//! The seed of the application: the seed of the run, unless the settings contain a separate seed for the application.
//!
//! The key `seed` seeds every random choice of a run. The key `workload.seed` sets a separate seed for the application:
//!
//! | keys that are set | seed that the application uses |
//! |---|---|
//! | neither, or `seed` | `seed` |
//! | `workload.seed`, by a flag or in a file | `workload.seed` |
//! | `workload.seed` by a built-in experiment, and no `seed` | `workload.seed` |
//! | `workload.seed` by a built-in experiment, and `seed` | `seed` |
//!
//! A seed that the application takes from the run is not written under `workload` in the resolved settings. Running these
//! settings with another seed therefore also draws another application.

use serde_json::Value;

use super::basis::Whole;
use super::config::ExperimentConfig;
use migsim_workloads::registry::Entry;

/// The key of the seed of a run; under `workload`, the key of the seed of the application has the same name.
pub(super) const KEY: &str = "seed";
/// The key of the separate seed of the application in an experiment.
const WORKLOAD_KEY: &str = "workload.seed";

/// Writes the seed of the run into `keys`, the settings of the application, unless the application has a separate seed. Returns
/// whether the seed was written.
pub(super) fn share_seed(
    whole: &Whole,
    config: &ExperimentConfig,
    app: &Entry,
    keys: &mut Value,
) -> bool {
    let is_own = config.workload.contains_key(KEY)
        && (whole.user_sets(WORKLOAD_KEY) || !whole.user_sets(KEY));
    let is_shared = app.has_seed() && !is_own;
    if is_shared {
        keys[KEY] = config.seed.into();
    }
    is_shared
}

/// Removes the seed of the application from settings if it is only a copy of the seed of the run.
pub(super) fn remove_shared_seed(config: &mut ExperimentConfig) {
    config.workload.remove(KEY);
    config.origins.remove(WORKLOAD_KEY);
}

/// Which parts of a run make random choices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws {
    /// Whether the policy, its measurements or the load draw random numbers.
    pub(super) uses_policy_or_load: bool,
    /// Whether the application draws random numbers.
    pub(super) uses_workload: bool,
    /// Whether the application draws its random numbers from the seed of the run.
    pub(super) is_shared: bool,
}

impl Draws {
    /// Returns whether the seed of the run has an effect.
    pub(super) fn uses_seed(self) -> bool {
        self.uses_policy_or_load || self.is_shared && self.uses_workload
    }

    /// Returns the note that the seed which the user chose has no effect; `None` if it has an effect.
    pub(super) fn note(self, whole: &Whole, seed: u64) -> Option<String> {
        let is_in_vain = !self.uses_seed() && whole.is_chosen(KEY);
        is_in_vain.then(|| {
            let why = if self.uses_workload {
                "only the application is drawn at random, and it has a seed of its own (`workload.seed`)"
            } else {
                "nothing in this run is drawn at random"
            };
            format!("seed {seed} has no effect: {why}")
        })
    }
}
