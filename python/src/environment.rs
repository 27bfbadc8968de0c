//! A run that stops at each barrier, where Python decides, and that can be copied there.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use migsim::bsp::{Scenario, Setup, Stepper};
use migsim::error::Error;
use migsim::experiment::Experiment as Settings;
use migsim::policy::{Decision, StrategyAdviser};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use self_cell::self_cell;

use crate::errors::exception;
use crate::experiment::Experiment;
use crate::plugin::{self, Plugin};
use crate::policy::wishes;
use crate::view::View;

self_cell!(
    /// A scenario with the settings that it refers to.
    struct Prepared {
        owner: Arc<Settings>,
        #[covariant]
        dependent: Setup,
    }
);

self_cell!(
    /// The runs of a scenario; each is a copy of another one, except the first.
    struct Runs {
        owner: Prepared,
        #[not_covariant]
        dependent: Places,
    }
);

/// The places of the runs; free places have none.
struct Places<'a>(Mutex<Vec<Option<Stepper<'a>>>>);

impl<'a> Places<'a> {
    fn lock(&self) -> MutexGuard<'_, Vec<Option<Stepper<'a>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `action` with the run at a place.
    fn with<R>(&self, place: usize, action: impl FnOnce(&mut Stepper<'a>) -> R) -> R {
        let mut all = self.lock();
        action(
            all[place]
                .as_mut()
                .expect("a run has its place until it is dropped"),
        )
    }

    /// Copies the run at a place; returns the place of the copy.
    fn copy(&self, place: usize) -> usize {
        let mut all = self.lock();
        let copy = all[place].clone();
        let free = all.iter().position(Option::is_none).unwrap_or(all.len());
        if free == all.len() {
            all.push(copy);
        } else {
            all[free] = copy;
        }
        free
    }
}

/// A run at a barrier.
#[pyclass(module = "migsim._core")]
pub(crate) struct Environment {
    runs: Arc<Runs>,
    place: usize,
    /// The strategy of the policy; none if it is no strategy.
    adviser: Option<StrategyAdviser>,
    /// The view; created when it is first read, and refilled at each barrier.
    view: Option<Py<View>>,
    plugins: Arc<Vec<Py<Plugin>>>,
}

impl Drop for Environment {
    fn drop(&mut self) {
        let place = self.place;
        self.runs
            .with_dependent(|_, places| places.lock()[place] = None);
    }
}

/// The result of a step: the seconds that passed, whether the run is over, the price of the call and that of its moves, and the time.
type Step = (f64, bool, f64, f64, f64);

#[pymethods]
impl Environment {
    /// Creates the run of scenario iii of an experiment, at its first barrier.
    #[new]
    fn new(py: Python<'_>, experiment: &Experiment) -> PyResult<Self> {
        let (settings, plugins) = (experiment.shared(), experiment.plugins(py));
        let made = py.detach(|| -> Result<_, Error> {
            let adviser = settings.strategy_as_adviser()?;
            let prepared =
                Prepared::new(settings, |settings| settings.scenario_setup(Scenario::Iii));
            let runs = Runs::try_new(prepared, |prepared| {
                let first = Stepper::new(prepared.borrow_dependent())?;
                Ok::<_, Error>(Places(Mutex::new(vec![Some(first)])))
            })?;
            Ok((adviser, runs))
        });
        plugin::raise_if_failed(py, &plugins)?;
        let (adviser, runs) = made.map_err(|error| exception(py, &error))?;
        let mut environment = Self {
            runs: Arc::new(runs),
            place: 0,
            adviser,
            view: None,
            plugins: Arc::new(plugins),
        };
        environment.note(py)?;
        Ok(environment)
    }

    /// Returns the time \[s\]: of the barrier, or of the end.
    #[getter]
    fn now_s(&self) -> f64 {
        self.with(|stepper| stepper.now().get())
    }

    /// Whether the run is over.
    #[getter]
    fn is_over(&self) -> bool {
        self.with(|stepper| stepper.is_over())
    }

    /// Returns the barrier as a policy sees it.
    #[getter]
    fn view(&mut self, py: Python<'_>) -> PyResult<Py<View>> {
        let shown = self.view.as_ref().map(|view| view.clone_ref(py));
        let shown = self.with(|stepper| -> PyResult<_> {
            let seen = stepper.view().map_err(|error| exception(py, &error))?;
            let shown = shown.map_or_else(|| Py::new(py, View::new(py, &seen)?), Ok)?;
            let mut view = shown.borrow_mut(py);
            view.note(&seen);
            view.look_closer(&seen, 0);
            drop(view);
            Ok(shown)
        })?;
        self.view = Some(shown.clone_ref(py));
        Ok(shown)
    }

    /// Returns the moves that the strategy of the policy would decide at this barrier, as pairs of a process and a host. Nothing changes.
    fn propose(&self, py: Python<'_>) -> PyResult<Vec<(u32, u32)>> {
        let decision = self.advised(py, &mut self.adviser.clone())?;
        let moves = decision.migrations.iter();
        Ok(moves.map(|one| (one.process.0, one.to.0)).collect())
    }

    /// Advances to the next barrier, and after the last barrier but one to the end. The action is no call (None or False), a call of the
    /// strategy (True), or a call with these moves. Returns the seconds that passed, whether the run is over, the price of the call and
    /// that of its moves, and the time.
    fn step(&mut self, py: Python<'_>, action: &Bound<'_, PyAny>) -> PyResult<Step> {
        let decision = self.decision(py, action)?;
        let is_call = decision.is_some();
        let result = self.with(|stepper| {
            let before = stepper.now();
            let calls = stepper.calls().len();
            if !stepper.advance(decision)? && stepper.is_at_last_barrier() {
                stepper.advance(None)?;
            }
            let made = stepper.calls()[calls..].iter();
            let prices = made.map(|call| (call.cost.get(), call.migration_duration.get()));
            let (call, moves) = prices.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            let now = stepper.now();
            Ok((
                now.since(before).get(),
                stepper.is_over(),
                call,
                moves,
                now.get(),
            ))
        });
        plugin::raise_if_failed(py, &self.plugins)?;
        let step = result.map_err(|error: Error| exception(py, &error))?;
        if let Some(adviser) = self.adviser.as_mut().filter(|_| is_call) {
            adviser.restart_load_measurement();
        }
        self.note(py)?;
        Ok(step)
    }

    /// Returns an independent copy, which continues from this barrier.
    #[pyo3(name = "clone")]
    fn copy(&self) -> Self {
        let place = self.place;
        Self {
            runs: Arc::clone(&self.runs),
            place: self.runs.with_dependent(|_, places| places.copy(place)),
            adviser: self.adviser.clone(),
            view: None,
            plugins: Arc::clone(&self.plugins),
        }
    }
}

impl Environment {
    fn with<R>(&self, action: impl FnOnce(&mut Stepper<'_>) -> R) -> R {
        let place = self.place;
        self.runs
            .with_dependent(|_, places| places.with(place, |stepper| action(stepper)))
    }

    /// Lets the strategy observe the barrier.
    fn note(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(mut adviser) = self.adviser.take() else {
            return Ok(());
        };
        let noted = self.with(|stepper| stepper.view().map(|view| adviser.observe(&view)));
        self.adviser = Some(adviser);
        noted.map_err(|error| exception(py, &error))
    }

    /// Returns the decision of the strategy at this barrier.
    fn advised(&self, py: Python<'_>, adviser: &mut Option<StrategyAdviser>) -> PyResult<Decision> {
        let Some(adviser) = adviser else {
            let message = "the policy of the settings is no strategy: give the moves, or choose a policy that a trigger calls, such as `refine`";
            return Err(PyValueError::new_err(message));
        };
        let decided = self.with(|stepper| stepper.view().and_then(|view| adviser.decide(&view)));
        decided.map_err(|error| exception(py, &error))
    }

    /// Returns the decision of an action; none if it requests no call.
    fn decision(
        &mut self,
        py: Python<'_>,
        action: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Decision>> {
        if self.is_over() {
            return Err(PyValueError::new_err(
                "the run is over: call `reset` to begin another run",
            ));
        }
        if let Some(is_call) = truth(action)? {
            if !is_call {
                return Ok(None);
            }
            let mut adviser = self.adviser.take();
            let decision = self.advised(py, &mut adviser);
            self.adviser = adviser;
            return decision.map(Some);
        }
        if action.is_none() {
            return Ok(None);
        }
        let is_answer = action.is_instance_of::<PyDict>()
            || action.hasattr("dtype")?
            || action.try_iter().is_ok();
        if !is_answer {
            let message = format!(
                "the action is {}; give None or False (no call), True (a call of the strategy), or the moves of a call",
                action.repr()?
            );
            return Err(PyTypeError::new_err(message));
        }
        self.with(|stepper| {
            let seen = stepper.view().map_err(|error| exception(py, &error))?;
            Ok(Some(Decision::from_migrations(wishes(action, &seen)?)))
        })
    }
}

/// Returns whether a call of the strategy is requested, if the action is a truth value of Python or NumPy.
fn truth(action: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    let kind = action.get_type().name()?;
    let is_truth = ["bool", "bool_"].contains(&kind.to_cow()?.as_ref());
    is_truth.then(|| action.is_truthy()).transpose()
}
