//! A run that was simulated, or was read from its folder.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use migsim::bsp::{CriticalPath, PathPiece, Recorder, Scenario};
use migsim::experiment::{Experiment as Settings, Progress, ReschedulingPlan, Results};
use migsim::output::{self, CallExplanation, EvaluatedCall, Overview, Question, Report, RunFolder};
use migsim::policy::Measures;
use migsim::units::{HostId, ProcessId};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::exception;
use crate::experiment::{Experiment, Recorded, Wanted};
use crate::plugin::{Plugin, or_raise};
use crate::table::{Column, Table};
use crate::threads::watched;

/// The activity of each process in each superstep: the columns of `processes.csv`.
#[derive(Debug)]
pub(crate) struct Processes {
    scenario: i32,
    scenarios: Vec<i32>,
    supersteps: Vec<Option<i64>>,
    processes: Vec<Option<i64>>,
    hosts: Vec<i32>,
    numbers: [Vec<f64>; 6],
}

/// The columns of numbers, as in `processes.csv`.
const NUMBERS: [&str; 6] = [
    "delay_s",
    "instructions",
    "compute_s",
    "send_s",
    "communication_s",
    "message_wait_s",
];

impl Processes {
    pub(crate) fn new(settings: &Settings, scenario: Scenario) -> Self {
        let rows = settings.placement.len() * settings.workload.supersteps();
        let number = Scenario::ALL.iter().position(|one| *one == scenario);
        Self {
            scenario: number.map_or(0, |number| i32::try_from(number).unwrap_or(0)),
            scenarios: Vec::with_capacity(rows),
            supersteps: Vec::with_capacity(rows),
            processes: Vec::with_capacity(rows),
            hosts: Vec::with_capacity(rows),
            numbers: std::array::from_fn(|_| Vec::with_capacity(rows)),
        }
    }

    pub(crate) fn append(&mut self, mut more: Self) {
        self.scenarios.append(&mut more.scenarios);
        self.supersteps.append(&mut more.supersteps);
        self.processes.append(&mut more.processes);
        self.hosts.append(&mut more.hosts);
        for (all, more) in self.numbers.iter_mut().zip(&mut more.numbers) {
            all.append(more);
        }
    }

    fn table(&self, settings: &Settings) -> PyResult<Table> {
        let platform = &settings.platform.platform;
        let scenarios = Scenario::ALL.map(|one| one.name().to_owned()).to_vec();
        let clusters = platform
            .clusters
            .iter()
            .map(|one| one.name.clone())
            .collect();
        let of_host = platform
            .hosts
            .iter()
            .map(|host| i32::try_from(host.cluster.index()).unwrap_or(0));
        let of_host: Vec<i32> = of_host.collect();
        let hosts = platform
            .hosts
            .iter()
            .map(|host| host.name.clone())
            .collect();
        let cluster = |host: &i32| of_host[usize::try_from(*host).unwrap_or(0)];
        let mut columns = vec![
            ("scenario", Column::Names(self.scenarios.clone(), scenarios)),
            ("superstep", Column::Counts(self.supersteps.clone())),
            ("process", Column::Counts(self.processes.clone())),
            (
                "cluster",
                Column::Names(self.hosts.iter().map(cluster).collect(), clusters),
            ),
            ("host", Column::Names(self.hosts.clone(), hosts)),
        ];
        let numbers = NUMBERS.iter().zip(&self.numbers);
        columns.extend(numbers.map(|(name, values)| (*name, Column::Full(values.clone()))));
        Table::new(columns)
    }
}

impl Recorder for Processes {
    fn on_superstep(&mut self, superstep: usize, measures: &Measures, placement: &[HostId]) {
        let count = placement.len();
        self.scenarios
            .extend(std::iter::repeat_n(self.scenario, count));
        self.supersteps
            .extend(std::iter::repeat_n(Some(superstep as i64 + 1), count));
        self.processes.extend((1..=count as i64).map(Some));
        self.hosts
            .extend(placement.iter().map(|host| host.0 as i32));
        let [delay, work, compute, send, transfer, wait] = &mut self.numbers;
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

/// A run: its scenarios, tables and explanations.
#[pyclass(frozen, module = "migsim._core")]
#[derive(Debug)]
pub(crate) struct Run {
    settings: Arc<Settings>,
    results: Results,
    /// The activity of each process, and the critical path, recorded in the run or when they are first needed.
    processes: OnceLock<Processes>,
    path: OnceLock<CriticalPath>,
    /// The run as read from its folder, created when it is first needed.
    told: OnceLock<output::Run>,
    plugins: Vec<Py<Plugin>>,
}

impl Run {
    pub(crate) fn done(
        settings: Arc<Settings>,
        results: Results,
        recorded: Recorded,
        plugins: Vec<Py<Plugin>>,
    ) -> Self {
        Self {
            settings,
            results,
            processes: recorded.processes.map(OnceLock::from).unwrap_or_default(),
            path: OnceLock::new(),
            told: OnceLock::new(),
            plugins,
        }
    }

    /// Returns the run as read from its folder.
    fn told(&self, py: Python<'_>) -> PyResult<&output::Run> {
        if let Some(told) = self.told.get() {
            return Ok(told);
        }
        // Other threads may call applications in Python.
        let told = py.detach(|| output::Run::from_results(&self.settings, &self.results));
        let told = told.map_err(|error| exception(py, &error))?;
        Ok(self.told.get_or_init(|| told))
    }

    /// Repeats the run with its recorded calls, and records the requested data.
    fn again(&self, py: Python<'_>, wanted: Wanted<'_>) -> PyResult<Recorded> {
        let plugins = self
            .plugins
            .iter()
            .map(|plugin| plugin.clone_ref(py))
            .collect();
        let experiment = Experiment::of(Arc::clone(&self.settings), plugins);
        let wanted = Wanted {
            repeated: Some(&self.results),
            ..wanted
        };
        let (results, recorded) = experiment.run_recorded(py, wanted, None)?;
        let hashes = |results: &Results| -> Vec<String> {
            let runs = results.scenario_runs.iter();
            runs.map(|run| run.outcome.event_hash.clone()).collect()
        };
        if hashes(&results) != hashes(&self.results) {
            return Err(is_another_run());
        }
        Ok(recorded)
    }

    fn supersteps(&self, py: Python<'_>) -> PyResult<Table> {
        let told = self.told(py)?;
        let rows = || told.scenarios.iter().flat_map(|one| &one.supersteps);
        Table::new(vec![
            scenarios(rows().map(|row| row.scenario)),
            ("superstep", counts(rows().map(|row| row.superstep))),
            (
                "start_s",
                Column::Full(rows().map(|row| row.start_s).collect()),
            ),
            ("end_s", Column::Full(rows().map(|row| row.end_s).collect())),
            (
                "computed_s",
                Column::Full(rows().map(|row| row.computed_s).collect()),
            ),
        ])
    }

    fn calls(&self, py: Python<'_>) -> PyResult<Table> {
        let told = self.told(py)?;
        let rows = || told.scenarios.iter().flat_map(|one| &one.calls);
        let full =
            |value: fn(&output::RecordedCall) -> f64| Column::Full(rows().map(value).collect());
        Table::new(vec![
            scenarios(rows().map(|row| row.scenario)),
            ("superstep", counts(rows().map(|row| row.superstep))),
            ("start_s", full(|row| row.start_s)),
            ("cost_s", full(|row| row.cost_s)),
            ("migration_s", full(|row| row.migration_s)),
            (
                "candidates",
                counts(rows().map(|row| row.candidates.len() as u64)),
            ),
            (
                "migrations",
                counts(rows().map(|row| row.migrations.len() as u64)),
            ),
            (
                "t1_minus_t2_sum_s",
                Column::Numbers(rows().map(|row| row.t1_minus_t2_sum_s).collect()),
            ),
            (
                "gain_on_i_until_next_call_s",
                Column::Numbers(rows().map(|row| row.gain_on_i_until_next_call_s).collect()),
            ),
        ])
    }

    fn migrations(&self, py: Python<'_>) -> PyResult<Table> {
        let told = self.told(py)?;
        let rows = || told.scenarios.iter().flat_map(|one| &one.migrations);
        let full =
            |value: fn(&output::MigrationRow) -> f64| Column::Full(rows().map(value).collect());
        let texts = |value: fn(&output::MigrationRow) -> &String| {
            Column::Texts(rows().map(|row| Some(value(row).clone())).collect())
        };
        Table::new(vec![
            scenarios(rows().map(|row| row.scenario)),
            ("superstep", counts(rows().map(|row| row.superstep))),
            ("process", counts(rows().map(|row| row.process))),
            ("from_cluster", texts(|row| &row.from_cluster)),
            ("from_host", texts(|row| &row.from_host)),
            ("to_cluster", texts(|row| &row.to_cluster)),
            ("to_host", texts(|row| &row.to_host)),
            ("size_bytes", full(|row| row.size_bytes)),
            ("start_s", full(|row| row.start_s)),
            ("end_s", full(|row| row.end_s)),
            ("cause", texts(|row| &row.cause)),
        ])
    }

    /// Returns the pieces of the critical path of the last scenario, which is repeated by events.
    fn critical_path(&self, py: Python<'_>) -> PyResult<Table> {
        let settings = &self.settings;
        let last = settings.config.scenarios.last().copied();
        let scenario = last.unwrap_or(Scenario::I);
        if self.path.get().is_none() {
            let progress = Progress::default();
            let was = self.results.scenario_runs.last().map(|run| &run.outcome);
            let plan = was.filter(|_| scenario != Scenario::I);
            let plan = plan.map(ReschedulingPlan::from_outcome).unwrap_or_default();
            let run = || {
                let mut path: Option<CriticalPath> = None;
                let run = settings.run_with_plan(scenario, &plan, &progress, &mut path, None)?;
                Ok((run, path))
            };
            let run = watched(py, run, || Ok(()), || progress.stop())?;
            let (repeated, path) = or_raise(py, &self.plugins, run)?;
            let path = path.ok_or_else(|| {
                PyValueError::new_err("the run has no critical path, since nothing takes time")
            })?;
            // Times by events and computed directly differ by rounding.
            let is_same = was.is_some_and(|was| {
                let (was_s, now_s) = (was.makespan.get(), repeated.outcome.makespan.get());
                (was_s - now_s).abs() <= 1e-9 * was_s
                    && was.migrations.len() == repeated.outcome.migrations.len()
            });
            if !is_same {
                return Err(is_another_run());
            }
            self.path.get_or_init(|| path);
        }
        let path = self.path.get().expect("it was recorded above");
        let pieces = || path.pieces.iter();
        let texts = |of: &dyn Fn(&PathPiece) -> String| {
            Column::Texts(pieces().map(|one| Some(of(one))).collect())
        };
        let number =
            |process: Option<ProcessId>| process.map(|process| (process.index() + 1) as f64);
        Table::new(vec![
            ("kind", texts(&|one| one.kind.name().to_owned())),
            ("resource", texts(&|one| settings.piece_resource_name(one))),
            (
                "process",
                Column::Numbers(pieces().map(|one| number(one.process)).collect()),
            ),
            (
                "to_process",
                Column::Numbers(pieces().map(|one| number(one.receiver)).collect()),
            ),
            (
                "superstep",
                counts(pieces().map(|one| one.superstep as u64 + 1)),
            ),
            (
                "begin_s",
                Column::Full(pieces().map(|one| one.begin.get()).collect()),
            ),
            (
                "end_s",
                Column::Full(pieces().map(|one| one.end.get()).collect()),
            ),
        ])
    }

    fn links(&self, py: Python<'_>) -> PyResult<Table> {
        let rows = py.detach(|| output::compute_link_traffic(&self.settings, &self.results));
        Table::new(vec![
            scenarios(rows.iter().map(|row| row.scenario)),
            (
                "first_superstep",
                counts(rows.iter().map(|row| row.first_superstep)),
            ),
            (
                "last_superstep",
                counts(rows.iter().map(|row| row.last_superstep)),
            ),
            (
                "link",
                Column::Texts(rows.iter().map(|row| Some(row.link.clone())).collect()),
            ),
            (
                "bandwidth_bytes_per_s",
                Column::Full(rows.iter().map(|row| row.bandwidth_bytes_per_s).collect()),
            ),
            (
                "bytes",
                Column::Full(rows.iter().map(|row| row.bytes).collect()),
            ),
            ("flows", counts(rows.iter().map(|row| row.flows))),
        ])
    }
}

/// The exception of a table for which the run was repeated, with another result.
fn is_another_run() -> PyErr {
    PyRuntimeError::new_err(
        "the run cannot be repeated for this table, since its application now fills other supersteps, or a file that it reads has changed: record the table in the run with `processes=True`",
    )
}

/// Creates the column of scenarios.
fn scenarios(of_rows: impl Iterator<Item = Scenario>) -> (&'static str, Column) {
    let number = |scenario| Scenario::ALL.iter().position(|one| *one == scenario);
    let numbers = of_rows.map(|one| number(one).map_or(0, |number| number as i32));
    let names = Scenario::ALL.map(|one| one.name().to_owned()).to_vec();
    ("scenario", Column::Names(numbers.collect(), names))
}

fn counts(values: impl Iterator<Item = u64>) -> Column {
    Column::Counts(
        values
            .map(|value| Some(i64::try_from(value).unwrap_or(i64::MAX)))
            .collect(),
    )
}

fn scenario(name: Option<&str>) -> PyResult<Option<Scenario>> {
    let Some(name) = name else {
        return Ok(None);
    };
    let found = Scenario::ALL.into_iter().find(|one| one.name() == name);
    found.map(Some).ok_or_else(|| {
        PyValueError::new_err(format!(
            "unknown scenario `{name}`; known scenarios: i, ii, iii"
        ))
    })
}

#[pymethods]
impl Run {
    /// Returns the manifest as JSON, with settings and summary.
    #[getter]
    fn manifest(&self) -> String {
        let manifest = output::manifest(&self.settings, &self.results);
        serde_json::to_string(&manifest).expect("a text takes everything")
    }

    /// Returns the table that the command prints, without colours.
    #[getter]
    fn text(&self) -> String {
        let table = output::results_sheet(&self.settings, &self.results);
        output::without_colours(&table.render(output::OutputForm::Table))
    }

    /// Returns the decision records of all calls as JSON, one per line.
    #[getter]
    fn records(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let calls = self.told(py)?.scenarios.iter().flat_map(|one| &one.calls);
        let text = |call| {
            serde_json::to_string(call).map_err(|error| PyValueError::new_err(error.to_string()))
        };
        calls.map(text).collect()
    }

    /// Returns a table by its name.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        match name {
            "supersteps" => self.supersteps(py),
            "calls" => self.calls(py),
            "migrations" => self.migrations(py),
            "links" => self.links(py),
            "processes" => {
                if self.processes.get().is_none() {
                    let wanted = Wanted {
                        processes: true,
                        ..Wanted::default()
                    };
                    let recorded = self.again(py, wanted)?;
                    let none = || Processes::new(&self.settings, Scenario::I);
                    self.processes
                        .get_or_init(|| recorded.processes.unwrap_or_else(none));
                }
                let processes = self.processes.get().expect("they were recorded above");
                processes.table(&self.settings)
            }
            "critical_path" => self.critical_path(py),
            other => Err(PyValueError::new_err(format!(
                "unknown table `{other}`; known tables: calls, critical_path, links, migrations, processes, supersteps"
            ))),
        }
    }

    /// Explains the reason and the decision of a call, in words or as JSON; without a superstep, gives an overview of all calls.
    #[pyo3(signature = (superstep=None, process=None, why_not=false, scenario=None, as_json=false))]
    fn explain(
        &self,
        py: Python<'_>,
        superstep: Option<u64>,
        process: Option<u64>,
        why_not: bool,
        scenario: Option<&str>,
        as_json: bool,
    ) -> PyResult<String> {
        let scenario = self::scenario(scenario)?;
        let run = self.told(py)?;
        let told = py.detach(|| {
            let Some(superstep) = superstep else {
                let overview = Overview::new(run, scenario)?;
                let json = || overview.to_json().to_string();
                return Ok(if as_json { json() } else { overview.to_text() });
            };
            let question = Question {
                superstep,
                process,
                asks_why_not_moved: why_not,
                scenario,
            };
            let case = EvaluatedCall::find_by_question(run, question)?;
            let effect =
                case.map(|case| case.simulate_effect(&self.settings, &Progress::default()));
            let story = CallExplanation::new(run, question, effect.as_ref())?;
            Ok(if as_json {
                story.to_json().to_string()
            } else {
                story.to_text()
            })
        });
        let told = told.map(|text| output::without_colours(&text));
        told.map_err(|error: migsim::error::Problem| exception(py, &error.into()))
    }

    /// Returns the report as one HTML page.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let wanted = Wanted {
            activities: true,
            ..Wanted::default()
        };
        let recorded = self.again(py, wanted)?;
        let page = py.detach(|| {
            let report = Report::from_results(&self.settings, &self.results, recorded.activities)?;
            Ok(report.to_html())
        });
        page.map_err(|error| exception(py, &error))
    }

    /// Writes the folder of `migsim run --out`.
    #[pyo3(signature = (folder, processes=false, force=false))]
    fn save(&self, py: Python<'_>, folder: PathBuf, processes: bool, force: bool) -> PyResult<()> {
        let open = || {
            let opened = RunFolder::create(&folder)?;
            if !force {
                output::check_settings_are_equal(&folder, &self.settings)?;
            }
            Ok(opened)
        };
        let opened = open().map_err(|error| exception(py, &error))?;
        let drafts = if processes {
            let wanted = Wanted {
                table_in: Some(&opened),
                ..Wanted::default()
            };
            self.again(py, wanted)?.drafts
        } else {
            output::PendingResults::default()
        };
        let written = py.detach(|| opened.write_results(&self.settings, &self.results, drafts));
        written.map_err(|error| exception(py, &error))
    }
}
