//! A store of experiments that were loaded for the plan of a sweep and will soon be run, so that they are not loaded a second
//! time.
//!
//! Experiments are stored as long as they fit into 16 MB, as estimated; further experiments are loaded again. The results are the
//! same in both cases.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use migsim_experiment::Experiment;
use migsim_platform::{LoadedPlatform, estimated_platform_bytes};

/// Maximum estimated memory of all stored experiments \[B\].
const MAX_MEMORY: f64 = 16e6;
/// Estimated memory of one experiment for its settings \[B\]; the memory of its platform, its application and its lists per
/// process is added.
const SETTINGS_MEMORY: f64 = 16e3;
const PROCESS: f64 = 64.0;

/// A thread-safe store of loaded experiments, by the identities of the runs for which they were loaded.
#[derive(Debug, Default)]
pub(super) struct LoadedExperiments(Mutex<StoredExperiments>);

#[derive(Debug, Default)]
struct StoredExperiments {
    /// The loaded experiments, by the identity of the run for which each was loaded.
    experiments: BTreeMap<String, Experiment>,
    /// Estimated memory of all stored experiments \[B\].
    used_memory: f64,
    /// The platform of the experiment that was stored last; the next experiment often has the same platform.
    last_platform: Option<Arc<LoadedPlatform>>,
}

impl LoadedExperiments {
    /// Stores a loaded experiment for the run with this identity, unless the stored experiments would need too much memory.
    pub(super) fn store_experiment(&self, run: &str, experiment: Experiment) {
        let mut kept = self.lock();
        let platform = &experiment.platform;
        let is_shared = |last: &Arc<LoadedPlatform>| Arc::ptr_eq(last, platform);
        let processes = PROCESS * experiment.workload.processes() as f64;
        let own = SETTINGS_MEMORY + experiment.workload.extent().data_bytes + processes;
        let needed = if kept.last_platform.as_ref().is_some_and(is_shared) {
            own
        } else {
            own + estimated_platform_bytes(&platform.platform)
        };
        if kept.used_memory + needed > MAX_MEMORY {
            return;
        }
        kept.used_memory += needed;
        kept.last_platform = Some(Arc::clone(platform));
        kept.experiments.insert(run.to_owned(), experiment);
    }

    /// Removes the experiment that was stored for the run with this identity, and returns it; `None` if none was stored.
    pub(super) fn take_experiment(&self, run: &str) -> Option<Experiment> {
        self.lock().experiments.remove(run)
    }

    /// Discards all stored experiments, to release their memory.
    pub(super) fn clear(&self) {
        *self.lock() = StoredExperiments::default();
    }

    fn lock(&self) -> MutexGuard<'_, StoredExperiments> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
