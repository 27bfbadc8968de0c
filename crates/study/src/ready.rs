//! Experiments that the plan of a sweep has loaded and that will soon run, so that they are not loaded a second time.
//!
//! Experiments are kept as long as they fit into 16 MB, as estimated; further experiments are loaded again. The results are the
//! same in both cases.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use migsim_experiment::Experiment;
use migsim_platform::{LoadedPlatform, memory_of};

/// Maximum estimated memory of the kept experiments \[B\].
const MAX_MEMORY: f64 = 16e6;
/// Estimated memory of the settings of an experiment \[B\]; its platform, its application and its lists per process are added to
/// this value.
const SETTINGS_MEMORY: f64 = 16e3;
const PROCESS: f64 = 64.0;

/// Loaded experiments by the identities of their runs, for any thread.
#[derive(Debug, Default)]
pub(super) struct Ready(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// The loaded experiments; the key is the identity of the run for which an experiment was loaded.
    experiments: BTreeMap<String, Experiment>,
    /// Estimated memory of the kept experiments \[B\].
    used_memory: f64,
    /// The platform of the experiment that was kept last; the next experiment often shares it.
    platform: Option<Arc<LoadedPlatform>>,
}

impl Ready {
    /// Keeps a loaded experiment for its run, if there is enough room.
    pub(super) fn keep(&self, run: &str, experiment: Experiment) {
        let mut kept = self.lock();
        let platform = &experiment.platform;
        let is_shared = |last: &Arc<LoadedPlatform>| Arc::ptr_eq(last, platform);
        let processes = PROCESS * experiment.workload.processes() as f64;
        let own = SETTINGS_MEMORY + experiment.workload.extent().bytes + processes;
        let needed = if kept.platform.as_ref().is_some_and(is_shared) {
            own
        } else {
            own + memory_of(&platform.platform)
        };
        if kept.used_memory + needed > MAX_MEMORY {
            return;
        }
        kept.used_memory += needed;
        kept.platform = Some(Arc::clone(platform));
        kept.experiments.insert(run.to_owned(), experiment);
    }

    /// Returns the experiment that was kept for a run, and removes it.
    pub(super) fn take(&self, run: &str) -> Option<Experiment> {
        self.lock().experiments.remove(run)
    }

    /// Drops all kept experiments.
    pub(super) fn clear(&self) {
        *self.lock() = Kept::default();
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
