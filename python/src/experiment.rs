//! Experiments: settings from keywords, and their runs.

use std::ffi::OsString;
use std::sync::Arc;

use migsim::bsp::{Recorder, Scenario};
use migsim::document::Document;
use migsim::error::Error;
use migsim::experiment::{Experiment as Settings, Progress, ReschedulingPlan, Results};
use migsim::output::{PendingResults, ProcessTableWriter, ProcessTimes, RunFolder};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::plugin::{self, Plugin};
use crate::run::{Processes, Run};
use crate::threads::watched;

/// Checked settings, ready to be run.
#[pyclass(frozen, module = "migsim._core")]
#[derive(Debug)]
pub(crate) struct Experiment {
    settings: Arc<Settings>,
    plugins: Vec<Py<Plugin>>,
}

/// Data that is recorded while scenarios run, in addition to their results.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) processes: Option<Processes>,
    pub(crate) activities: Vec<ProcessTimes>,
    pub(crate) drafts: PendingResults,
}

/// The data to be recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted<'f> {
    pub(crate) processes: bool,
    pub(crate) activities: bool,
    pub(crate) table_in: Option<&'f RunFolder>,
    /// The run that is repeated: its calls are made again, and no policy is asked.
    pub(crate) repeated: Option<&'f Results>,
    /// Whether scenario i is run from the starts of the built-in mappings.
    pub(crate) static_starts: bool,
}

#[pymethods]
impl Experiment {
    /// Creates the experiment of the flags of `migsim run`, which modify settings given as JSON.
    #[new]
    #[pyo3(signature = (arguments, settings=None, plugins=None))]
    fn new(
        py: Python<'_>,
        arguments: Vec<OsString>,
        settings: Option<(String, String)>,
        plugins: Option<Vec<Py<Plugin>>>,
    ) -> PyResult<Self> {
        let plugins = plugins.unwrap_or_default();
        let registry = plugin::registry(py, &plugins);
        let words = ["migsim", "run"].map(OsString::from);
        let arguments = words.into_iter().chain(arguments);
        let made = py.detach(|| {
            let beneath = settings.map(|(name, text)| Document::parse(name, text));
            migsim::cli::experiment_from_arguments(&registry, arguments, beneath.transpose()?)
        });
        let settings = plugin::or_raise(py, &plugins, made)?;
        Ok(Self {
            settings: Arc::new(settings),
            plugins,
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

    /// Returns the numbers of supersteps, of processes and of scenarios.
    #[getter]
    fn size(&self) -> (usize, usize, usize) {
        let scenarios = self.settings.config.scenarios.len();
        (
            self.settings.workload.supersteps(),
            self.settings.placement.len(),
            scenarios,
        )
    }

    /// Runs all scenarios, and scenario i from other starts; calls `on_progress` with the number of supersteps done so far.
    #[pyo3(signature = (processes=false, on_progress=None, static_starts=true))]
    fn run(
        &self,
        py: Python<'_>,
        processes: bool,
        on_progress: Option<Bound<'_, PyAny>>,
        static_starts: bool,
    ) -> PyResult<Run> {
        let wanted = Wanted {
            processes,
            static_starts,
            ..Wanted::default()
        };
        let (results, recorded) = self.run_recorded(py, wanted, on_progress.as_ref())?;
        let (settings, plugins) = (Arc::clone(&self.settings), self.plugins(py));
        Ok(Run::done(settings, results, recorded, plugins))
    }
}

impl Experiment {
    pub(crate) fn of(settings: Arc<Settings>, plugins: Vec<Py<Plugin>>) -> Self {
        Self { settings, plugins }
    }

    pub(crate) fn shared(&self) -> Arc<Settings> {
        Arc::clone(&self.settings)
    }

    pub(crate) fn plugins(&self, py: Python<'_>) -> Vec<Py<Plugin>> {
        self.plugins
            .iter()
            .map(|plugin| plugin.clone_ref(py))
            .collect()
    }

    /// Runs all scenarios on other threads, while this thread handles Ctrl-C and reports the progress.
    pub(crate) fn run_recorded(
        &self,
        py: Python<'_>,
        wanted: Wanted<'_>,
        on_progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Results, Recorded)> {
        let progress = Progress::default();
        let work = || run(&self.settings, wanted, &progress);
        let poll = || {
            on_progress.map_or(Ok(()), |tell| {
                tell.call1((progress.simulated_supersteps(),)).map(drop)
            })
        };
        let outcome = watched(py, work, poll, || progress.stop())?;
        plugin::or_raise(py, &self.plugins, outcome)
    }
}

/// Runs all scenarios, and records the requested data.
fn run(
    settings: &Settings,
    wanted: Wanted<'_>,
    progress: &Progress,
) -> Result<(Results, Recorded), Error> {
    let (mut results, recorded) = run_scenarios(settings, wanted, progress)?;
    if wanted.static_starts {
        results.static_placement_makespans = settings.simulate_initial_placements(
            &settings.initial_placements_to_compare()?,
            Some(&results),
            progress,
        )?;
    }
    Ok((results, recorded))
}

/// Runs the scenarios, and records the requested data.
fn run_scenarios(
    settings: &Settings,
    wanted: Wanted<'_>,
    progress: &Progress,
) -> Result<(Results, Recorded), Error> {
    let scenarios = &settings.config.scenarios;
    let is_watched = wanted.processes || wanted.activities || wanted.table_in.is_some();
    if !is_watched {
        return Ok((settings.run(progress)?, Recorded::default()));
    }
    let memo = settings.new_superstep_cache();
    let one = |&scenario: &Scenario| {
        let mut processes = wanted.processes.then(|| Processes::new(settings, scenario));
        let mut activity = wanted.activities.then(ProcessTimes::default);
        let platform = &settings.platform.platform;
        let table = wanted.table_in;
        let mut table = table
            .map(|folder| ProcessTableWriter::create(folder, platform, scenario))
            .transpose()?;
        let mut watchers: Vec<&mut dyn Recorder> = Vec::new();
        watchers.extend(processes.as_mut().map(|one| one as &mut dyn Recorder));
        watchers.extend(activity.as_mut().map(|one| one as &mut dyn Recorder));
        watchers.extend(table.as_mut().map(|one| one as &mut dyn Recorder));
        let repeated = wanted.repeated.and_then(|results| {
            let mut runs = results.scenario_runs.iter();
            runs.find(|run| run.scenario == scenario && scenario != Scenario::I)
        });
        let memo = memo.as_ref();
        let run = match repeated.map(|run| ReschedulingPlan::from_outcome(&run.outcome)) {
            Some(plan) => settings.run_with_plan(scenario, &plan, progress, &mut watchers, memo),
            None => settings.run_scenario(scenario, progress, &mut watchers, memo),
        }?;
        drop(watchers);
        Ok((
            run,
            processes,
            activity,
            table.map(ProcessTableWriter::finish).transpose()?,
        ))
    };
    let done: Vec<Result<_, Error>> = scenarios.par_iter().map(one).collect();
    let (mut runs, mut recorded) = (Vec::new(), Recorded::default());
    for one in done {
        let (run, processes, activity, table) = one?;
        runs.push(run);
        recorded.activities.extend(activity);
        recorded.drafts.process_table_parts.extend(table);
        if let Some(more) = processes {
            match &mut recorded.processes {
                Some(all) => all.append(more),
                none => *none = Some(more),
            }
        }
    }
    Ok((settings.collect_results(runs)?, recorded))
}
