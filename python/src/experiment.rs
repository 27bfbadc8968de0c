//! Experiments: settings from keywords, and their runs.

use std::ffi::OsString;
use std::sync::Arc;

use migsim::bsp::{Recorder, Scenario};
use migsim::error::Error;
use migsim::experiment::{Experiment as Settings, Progress, Results};
use pyo3::prelude::*;

use crate::plugin::{self, Plugin};
use crate::run::{Activity, Run, processes_table};
use crate::threads::watched;

/// Checked settings, ready to be run.
#[pyclass(frozen, module = "migsim._core")]
#[derive(Clone, Debug)]
pub(crate) struct Experiment {
    pub(crate) settings: Arc<Settings>,
    pub(crate) plugins: Arc<Vec<Py<Plugin>>>,
}

#[pymethods]
impl Experiment {
    /// Creates the experiment of the flags of `migsim run`.
    #[new]
    fn new(py: Python<'_>, arguments: Vec<OsString>, plugins: Vec<Py<Plugin>>) -> PyResult<Self> {
        let registry = plugin::registry(&plugins);
        let made = py.detach(|| migsim::cli::experiment_from_arguments(&registry, arguments));
        Ok(Self {
            settings: Arc::new(plugin::or_raise(py, &plugins, made)?),
            plugins: Arc::new(plugins),
        })
    }

    /// Returns all settings as JSON, including defaults.
    #[getter]
    fn settings(&self) -> String {
        self.settings.resolved_settings.to_string()
    }

    /// Returns notes for the user on how the settings were read.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.settings.notes()
    }

    /// Returns the number of supersteps of all scenarios.
    #[getter]
    fn supersteps(&self) -> usize {
        self.settings.workload.supersteps() * self.settings.config.scenarios.len()
    }

    /// Runs all scenarios, and scenario i from other starts; calls `on_progress` with the number of supersteps done so far.
    fn run(
        &self,
        py: Python<'_>,
        processes: bool,
        on_progress: Option<Bound<'_, PyAny>>,
        static_starts: bool,
    ) -> PyResult<Run> {
        let work = |progress: &Progress| {
            let (mut results, activities) = if processes {
                let record = |_| Ok(Activity::default());
                let (results, all) = self.settings.run_with_recorders(progress, None, record)?;
                (results, Some(all))
            } else {
                (self.settings.run(progress)?, None)
            };
            if static_starts {
                let starts = self.settings.initial_placements_to_compare()?;
                self.settings
                    .add_static_starts(&mut results, &starts, progress)?;
            }
            Ok((results, activities))
        };
        let (results, activities) = self.watched(py, work, on_progress.as_ref())?;
        let table = |all: Vec<Activity>| processes_table(&self.settings, &all);
        Ok(Run {
            experiment: self.clone(),
            results,
            processes: activities.map(table).transpose()?,
        })
    }
}

impl Experiment {
    /// Simulates on other threads, while this thread handles Ctrl-C and reports the progress.
    pub(crate) fn watched<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Progress) -> Result<T, Error> + Send,
        on_progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<T> {
        let progress = Progress::default();
        let poll = || {
            on_progress.map_or(Ok(()), |tell| {
                tell.call1((progress.simulated_supersteps(),)).map(drop)
            })
        };
        let outcome = watched(py, || work(&progress), poll, || progress.stop())?;
        plugin::or_raise(py, &self.plugins, outcome)
    }

    /// Repeats a run with its calls, and returns what was recorded in each scenario.
    pub(crate) fn again<R: Recorder>(
        &self,
        py: Python<'_>,
        run: &Results,
        recorder_of: impl Fn(Scenario) -> Result<R, Error> + Send + Sync,
    ) -> PyResult<Vec<R>> {
        let work = |progress: &Progress| {
            self.settings
                .run_with_recorders(progress, Some(run), recorder_of)
        };
        let (results, recorded) = self.watched(py, work, None)?;
        let hashes = |results: &Results| -> Vec<String> {
            let runs = results.scenario_runs.iter();
            runs.map(|run| run.outcome.event_hash.clone()).collect()
        };
        if hashes(&results) == hashes(run) {
            Ok(recorded)
        } else {
            Err(crate::run::is_another_run())
        }
    }
}
