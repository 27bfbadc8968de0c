//! Experiments that a plan has loaded and that are soon to run: they need not be loaded a second time.
//!
//! There is room for as many as fit into [`ROOM`]; the others are loaded again. Results are the same either way.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Experiment;
use crate::platform::{LoadedPlatform, memory_of};

/// The memory that they may take \[B\], as estimated.
const ROOM: f64 = 16e6;
/// The memory of the settings of an experiment, and of its lists per process \[B\].
const SETTINGS: f64 = 16e3;
const PROCESS: f64 = 64.0;

/// Experiments by the identities of their runs.
#[derive(Debug, Default)]
pub(super) struct Ready {
    experiments: BTreeMap<String, Experiment>,
    /// Their memory \[B\].
    taken: f64,
    /// The platform of the last one: the next one often shares it.
    platform: Option<Arc<LoadedPlatform>>,
}

impl Ready {
    /// Keeps an experiment for its run, if there is room.
    pub(super) fn keep(&mut self, run: &str, experiment: Experiment) {
        let platform = &experiment.platform;
        let is_shared = self.platform.as_ref();
        let is_shared = is_shared.is_some_and(|last| Arc::ptr_eq(last, platform));
        let processes = PROCESS * experiment.workload.processes() as f64;
        let own = SETTINGS + experiment.workload.extent().bytes + processes;
        let needed = if is_shared {
            own
        } else {
            own + memory_of(&platform.platform)
        };
        if self.taken + needed > ROOM {
            return;
        }
        self.taken += needed;
        self.platform = Some(Arc::clone(platform));
        self.experiments.insert(run.to_owned(), experiment);
    }

    /// The experiment of a run, if it was kept; it is kept no longer.
    pub(super) fn take(&mut self, run: &str) -> Option<Experiment> {
        self.experiments.remove(run)
    }
}
