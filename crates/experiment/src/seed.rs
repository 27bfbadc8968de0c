//! The seed of the application: the seed of the run, unless the settings contain a separate seed for the application.
//!
//! The key `seed` seeds every random choice of a run. The key `workload.seed` sets a separate seed for the application:
//!
//! | keys that are set | seed that the application uses |
//! |---|---|
//! | neither, or only `seed` | `seed` |
//! | `workload.seed`, by a flag or in a file | `workload.seed` |
//! | `workload.seed` by a built-in experiment, and no `seed` | `workload.seed` |
//! | `workload.seed` by a built-in experiment, and `seed` by the user | `seed` |
//!
//! A seed that the application takes from the run is not written under `workload` in the resolved settings. If these settings are
//! run with another seed, the application therefore changes as well.

use serde_json::Value;

use super::{basis::CompleteSettings, config::ExperimentConfig};
use migsim_workloads::registry::Entry;

/// The key of the seed of a run in an experiment; the seed of the application has the same key in the object `workload`.
pub(super) const SEED_KEY: &str = "seed";
/// The key of an experiment that sets a separate seed for the application (`workload.seed`).
const WORKLOAD_SEED_KEY: &str = "workload.seed";

/// Writes the seed of the run into `keys`, the settings of the application, unless the application has a separate seed or draws
/// no random numbers. Returns whether the seed was written.
pub(super) fn share_seed_with_workload(
    whole: &CompleteSettings,
    config: &ExperimentConfig,
    app: &Entry,
    keys: &mut Value,
) -> bool {
    let is_own = config.workload.contains_key(SEED_KEY)
        && (whole.is_set_by_user(WORKLOAD_SEED_KEY) || !whole.is_set_by_user(SEED_KEY));
    let is_shared = app.has_seed() && !is_own;
    if is_shared {
        keys[SEED_KEY] = config.seed.into();
    }
    is_shared
}

/// Removes the seed of the application and its origin from the settings. The seed is only a copy of the seed of the run and is
/// not written to resolved settings.
pub(super) fn remove_shared_seed(config: &mut ExperimentConfig) {
    config.workload.remove(SEED_KEY);
    config.origins.remove(WORKLOAD_SEED_KEY);
}

/// Which parts of a run draw random numbers, and from which seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct RandomDraws {
    /// Whether the policy, its measurements, the disturbances of the work or the load draw random numbers.
    pub is_policy_or_load_random: bool,
    /// Whether the application draws random numbers.
    pub is_workload_random: bool,
    /// Whether the application would draw its random numbers from the seed of the run, because it has no separate seed.
    pub does_workload_share_seed: bool,
}

impl RandomDraws {
    /// Returns whether the seed of the run has an effect.
    pub(super) fn uses_seed(self) -> bool {
        self.is_policy_or_load_random || self.does_workload_share_seed && self.is_workload_random
    }

    /// Returns a note for the user that the seed has no effect; `None` if the seed has an effect or if the user did not choose
    /// the seed.
    pub(super) fn note_on_unused_seed(self, whole: &CompleteSettings, seed: u64) -> Option<String> {
        let is_in_vain = !self.uses_seed() && whole.is_chosen_by_user(SEED_KEY);
        is_in_vain.then(|| {
            let why = if self.is_workload_random {
                "only the application is random, and its own seed, `workload.seed`, is set"
            } else {
                "nothing in this run is random"
            };
            format!("seed {seed} has no effect: {why}")
        })
    }
}
