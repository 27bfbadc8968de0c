//! The seed of the application: that of the run, unless the application was given one of its own.
//!
//! The key `seed` seeds every random choice of a run. An application with a key `seed` can be drawn from another one, `workload.seed`:
//!
//! | what was given | the application is drawn from |
//! |---|---|
//! | neither, or `seed` | `seed` |
//! | `workload.seed`, by a flag or in a file | `workload.seed` |
//! | `workload.seed` by a built-in experiment, and no `seed` | `workload.seed` |
//! | `workload.seed` by a built-in experiment, and `seed` | `seed` |
//!
//! A seed that the application has from the run is not written under `workload` in the resolved settings. Those settings run again with
//! another seed then draw another application, too.

use serde_json::Value;

use super::basis::Whole;
use super::config::ExperimentConfig;
use migsim_workloads::registry::Entry;

/// The key of the seed of a run, and of that of an application among its keys.
pub(super) const KEY: &str = "seed";
/// The key of the seed of the application in an experiment.
const OF_WORKLOAD: &str = "workload.seed";

/// Gives the application the seed of the run in `keys`, its own keys, unless it was given one. Returns whether it did.
pub(super) fn share(
    whole: &Whole,
    config: &ExperimentConfig,
    app: &Entry,
    keys: &mut Value,
) -> bool {
    let is_own =
        config.workload.contains_key(KEY) && (whole.gives(OF_WORKLOAD) || !whole.gives(KEY));
    let is_shared = app.has_seed() && !is_own;
    if is_shared {
        keys[KEY] = config.seed.into();
    }
    is_shared
}

/// Takes the seed of the application out of settings in which it is that of the run.
pub(super) fn leave_out(config: &mut ExperimentConfig) {
    config.workload.remove(KEY);
    config.origins.remove(OF_WORKLOAD);
}

/// The random choices of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws {
    /// Whether the policy or the load draws anything.
    pub(super) beside: bool,
    /// Whether the application draws anything.
    pub(super) of_workload: bool,
    /// Whether the application is drawn from the seed of the run.
    pub(super) is_shared: bool,
}

impl Draws {
    /// Whether the seed of the run changes anything.
    pub(super) fn uses_seed(self) -> bool {
        self.beside || self.is_shared && self.of_workload
    }

    /// The note about a seed that was chosen and changes nothing.
    pub(super) fn note(self, whole: &Whole, seed: u64) -> Option<String> {
        let is_in_vain = !self.uses_seed() && whole.is_chosen(KEY);
        is_in_vain.then(|| {
            let why = if self.of_workload {
                "only the application is drawn at random, and it has a seed of its own (`workload.seed`)"
            } else {
                "nothing in this run is drawn at random"
            };
            format!("seed {seed} changes nothing: {why}")
        })
    }
}
