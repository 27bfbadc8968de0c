//! A run that was simulated.

use std::path::PathBuf;

use migsim::bsp::{CriticalPath, PathPiece, Recorder};
use migsim::experiment::{Experiment as Settings, Progress, ReschedulingPlan, Results};
use migsim::output::{self, PendingResults, ProcessTableWriter, ProcessTimes, Report, RunFolder};
use migsim::policy::Measures;
use migsim::units::{HostId, ProcessId};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::exception;
use crate::experiment::Experiment;
use crate::table::{Table, counts, names, numbers};

/// The activity of each process in each superstep of a scenario: rows of `processes.csv`.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    supersteps: Vec<i64>,
    hosts: Vec<i32>,
    measures: [Vec<f64>; 6],
}

/// The columns of measures, as in `processes.csv`.
const MEASURES: [&str; 6] = [
    "delay_s",
    "instructions",
    "compute_s",
    "send_s",
    "communication_s",
    "message_wait_s",
];

impl Recorder for Activity {
    fn on_superstep(&mut self, superstep: usize, measures: &Measures, placement: &[HostId]) {
        self.supersteps.push(superstep as i64 + 1);
        self.hosts
            .extend(placement.iter().map(|host| host.0 as i32));
        let [delay, work, compute, send, transfer, wait] = &mut self.measures;
        delay.extend(measures.begin_delays.iter().map(|value| value.get()));
        work.extend(measures.work.iter().map(|value| value.get()));
        compute.extend(measures.computation_times.iter().map(|value| value.get()));
        send.extend(measures.send_times.iter().map(|value| value.get()));
        transfer.extend(measures.transfer_times.iter().map(|value| value.get()));
        wait.extend(measures.message_waits.iter().map(|value| value.get()));
    }

    fn wants_transfer_times(&self) -> bool {
        true
    }
}

/// Creates the table of the activity in all scenarios.
pub(crate) fn processes_table(settings: &Settings, scenarios: &[Activity]) -> PyResult<Table> {
    let platform = &settings.platform.platform;
    let count = settings.placement.len();
    let number = scenarios.iter().zip(0..);
    let scenario = number.flat_map(|(one, number)| vec![number; one.hosts.len()]);
    let supersteps = || scenarios.iter().flat_map(|one| &one.supersteps);
    let superstep = supersteps().flat_map(|superstep| vec![*superstep; count]);
    let process = supersteps().flat_map(|_| 1..=count as i64);
    let hosts = || scenarios.iter().flat_map(|one| one.hosts.iter().copied());
    let cluster = |host: i32| platform.cluster_of(HostId(host as u32)).index() as i32;
    let known = settings.config.scenarios.iter();
    let mut columns = vec![
        ("scenario", names(scenario, known.map(|one| one.name()))?),
        ("superstep", counts(superstep)),
        ("process", counts(process)),
        (
            "cluster",
            names(
                hosts().map(cluster),
                platform.clusters.iter().map(|one| &one.name),
            )?,
        ),
        (
            "host",
            names(hosts(), platform.hosts.iter().map(|one| &one.name))?,
        ),
    ];
    for (index, name) in MEASURES.into_iter().enumerate() {
        let values = scenarios.iter().flat_map(|one| &one.measures[index]);
        columns.push((name, numbers(values.copied())));
    }
    Table::new(columns)
}

/// A run: its scenarios and tables.
#[pyclass(frozen, module = "migsim._core")]
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) experiment: Experiment,
    pub(crate) results: Results,
    /// The activity of each process, if it was recorded in the run.
    pub(crate) processes: Option<Table>,
}

/// The exception of a table for which the run was repeated, with another result.
pub(crate) fn is_another_run() -> PyErr {
    PyRuntimeError::new_err(
        "the run cannot be repeated for this table, since its application now fills other supersteps, or a file that it reads has changed: record the table in the run with `processes=True`",
    )
}

#[pymethods]
impl Run {
    /// Returns the manifest as JSON, with settings and summary.
    #[getter]
    fn manifest(&self) -> String {
        let manifest = output::manifest(&self.experiment.settings, &self.results);
        serde_json::to_string(&manifest).expect("a text takes everything")
    }

    /// Returns the table that the command prints, without colours.
    #[getter]
    fn text(&self) -> String {
        let table = output::results_sheet(&self.experiment.settings, &self.results);
        output::without_colours(&table.render(output::OutputForm::Table))
    }

    /// Whether the activity of each process was recorded in the run.
    #[getter]
    fn has_processes(&self) -> bool {
        self.processes.is_some()
    }

    /// Returns the content of a file of its folder: `supersteps.csv`, `calls.jsonl`, `migrations.csv` or `links.csv`.
    fn file(&self, py: Python<'_>, name: &str) -> PyResult<Vec<u8>> {
        let mut text = Vec::new();
        let settings = &self.experiment.settings;
        // Other threads may call applications in Python.
        py.detach(|| output::write_table(name, settings, &self.results, &mut text))?;
        Ok(text)
    }

    /// Returns the activity of each process in each superstep.
    fn processes(&self, py: Python<'_>) -> PyResult<Table> {
        if let Some(table) = &self.processes {
            return Ok(table.clone());
        }
        let again = self
            .experiment
            .again(py, &self.results, |_| Ok(Activity::default()))?;
        processes_table(&self.experiment.settings, &again)
    }

    /// Returns the pieces of the critical path of the last scenario, which is repeated by events.
    fn critical_path(&self, py: Python<'_>) -> PyResult<Table> {
        let settings = &self.experiment.settings;
        let none =
            || PyValueError::new_err("the run has no critical path, since nothing takes time");
        let last = self.results.scenario_runs.last().ok_or_else(none)?;
        let plan = ReschedulingPlan::from_outcome(&last.outcome);
        let run = |progress: &Progress| {
            let mut path: Option<CriticalPath> = None;
            let run = settings.run_with_plan(last.scenario, &plan, progress, &mut path, None)?;
            Ok((run.outcome, path))
        };
        let (repeated, path) = self.experiment.watched(py, run, None)?;
        let path = path.ok_or_else(none)?;
        // Times by events and computed directly differ by rounding.
        let (was_s, now_s) = (last.outcome.makespan.get(), repeated.makespan.get());
        let has_same_moves = last.outcome.migrations.len() == repeated.migrations.len();
        if (was_s - now_s).abs() > 1e-9 * was_s || !has_same_moves {
            return Err(is_another_run());
        }
        let column = |name: &str, value: &dyn Fn(&PathPiece) -> String| {
            (name.to_owned(), path.pieces.iter().map(value).collect())
        };
        let number = |process: Option<ProcessId>| {
            process.map_or_else(String::new, |process| (process.index() + 1).to_string())
        };
        let columns = vec![
            column("kind", &|one| one.kind.name().to_owned()),
            column("resource", &|one| settings.piece_resource_name(one)),
            column("process", &|one| number(one.process)),
            column("to_process", &|one| number(one.receiver)),
            column("superstep", &|one| (one.superstep + 1).to_string()),
            column("begin_s", &|one| one.begin.get().to_string()),
            column("end_s", &|one| one.end.get().to_string()),
        ];
        Table::of_texts("critical_path", columns)
    }

    /// Returns the report as one HTML page.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let (experiment, results) = (&self.experiment, &self.results);
        let activities = experiment.again(py, results, |_| Ok(ProcessTimes::default()))?;
        let page = py.detach(|| Report::from_results(&experiment.settings, results, activities));
        Ok(page.map_err(|error| exception(py, &error))?.to_html())
    }

    /// Writes the folder of `migsim run --out`.
    fn save(&self, py: Python<'_>, folder: PathBuf, processes: bool, force: bool) -> PyResult<()> {
        let settings = &self.experiment.settings;
        let open = || {
            let opened = RunFolder::create(&folder)?;
            if !force {
                output::check_settings_are_equal(&folder, settings)?;
            }
            Ok(opened)
        };
        let opened = open().map_err(|error| exception(py, &error))?;
        let mut parts = Vec::new();
        if processes {
            let platform = &settings.platform.platform;
            let create = |scenario| ProcessTableWriter::create(&opened, platform, scenario);
            parts = self.experiment.again(py, &self.results, create)?;
        }
        let write = || {
            let parts = parts.into_iter().map(ProcessTableWriter::finish);
            let drafts = PendingResults {
                process_table_parts: parts.collect::<Result<_, _>>()?,
                ..PendingResults::default()
            };
            opened.write_results(settings, &self.results, drafts)
        };
        py.detach(write).map_err(|error| exception(py, &error))
    }
}
