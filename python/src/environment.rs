//! A run that stops at each barrier, where Python decides, and that can be copied there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use migsim::bsp::{Scenario, Setup, Stepper};
use migsim::error::Error;
use migsim::experiment::Experiment as Settings;
use migsim::policy::{Decision, Policy};
use migsim::random::{Stream, StreamPurpose};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use self_cell::self_cell;

use crate::errors::exception;
use crate::experiment::Experiment;
use crate::plugin::{self, Plugin, lock, truth};
use crate::policy::{procedure, wishes};
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

/// The runs by place, and the next place. A run is taken out while it is used, so that nothing is locked while Python code runs.
#[derive(Default)]
struct Places<'a>(Mutex<(BTreeMap<usize, Box<Stepper<'a>>>, usize)>);

impl<'a> Places<'a> {
    /// Calls `action` with the run at a place; returns none if the run is being used.
    fn with<R>(&self, place: usize, action: impl FnOnce(&mut Stepper<'a>) -> R) -> Option<R> {
        let mut run = lock(&self.0).0.remove(&place)?;
        let result = action(&mut run);
        lock(&self.0).0.insert(place, run);
        Some(result)
    }

    /// Adds a run; returns its place.
    fn add(&self, run: Stepper<'a>) -> usize {
        let mut places = lock(&self.0);
        let place = places.1;
        places.0.insert(place, Box::new(run));
        places.1 += 1;
        place
    }
}

/// The policy of the settings, which decides when the caller asks it.
struct Adviser {
    /// The mutex is never contended: it only lets threads share the environment.
    policy: Mutex<Box<dyn Policy>>,
    random: Stream,
}

impl Adviser {
    fn new(settings: &Settings) -> Result<Self, Error> {
        Ok(Self {
            policy: settings.create_called_policy()?.into(),
            random: Stream::new(settings.config.seed, StreamPurpose::PolicyDecisions),
        })
    }

    fn copy(&self) -> Option<Self> {
        Some(Self {
            policy: lock(&self.policy).copy()?.into(),
            random: self.random.clone(),
        })
    }

    fn policy(&mut self) -> (&mut dyn Policy, &mut Stream) {
        let policy = self
            .policy
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        (policy.as_mut(), &mut self.random)
    }
}

/// A run at a barrier.
#[pyclass(module = "migsim._core")]
pub(crate) struct Environment {
    runs: Arc<Runs>,
    place: usize,
    /// The policy of the settings; none if it cannot be copied.
    adviser: Option<Adviser>,
    /// The last proposal, with its superstep; a call with its moves has its price.
    proposed: Option<(usize, Decision)>,
    /// The view; created when it is first read, and refilled at each barrier.
    view: Option<Py<View>>,
    plugins: Arc<Vec<Py<Plugin>>>,
    /// Whether a plug-in raised an exception, after which the run cannot go on.
    #[pyo3(get)]
    has_failed: bool,
}

impl Drop for Environment {
    fn drop(&mut self) {
        let place = self.place;
        self.runs
            .with_dependent(|_, places| lock(&places.0).0.remove(&place));
    }
}

/// The result of a step: the seconds that passed, whether the run is over, the price of the call and that of its moves, and the time.
type Step = (f64, bool, f64, f64, f64);

#[pymethods]
impl Environment {
    /// Creates the run of scenario iii of an experiment, at its first barrier.
    #[new]
    fn new(py: Python<'_>, experiment: &Experiment) -> PyResult<Self> {
        let Experiment { settings, plugins } = experiment.clone();
        let made = py.detach(|| -> Result<_, Error> {
            let adviser = Adviser::new(&settings)?;
            let prepared =
                Prepared::new(settings, |settings| settings.scenario_setup(Scenario::Iii));
            let runs = Runs::try_new(prepared, |prepared| {
                let first = Stepper::new(prepared.borrow_dependent())?;
                let places = Places::default();
                places.add(first);
                Ok::<_, Error>(places)
            })?;
            Ok((adviser, runs))
        });
        let (adviser, runs) = plugin::or_raise(py, &plugins, made)?;
        let mut environment = Self {
            runs: Arc::new(runs),
            place: 0,
            adviser: Some(adviser),
            proposed: None,
            view: None,
            plugins,
            has_failed: false,
        };
        environment.note(py)?;
        Ok(environment)
    }

    /// Returns the time \[s\]: of the barrier, or of the end.
    #[getter]
    fn now_s(&self) -> PyResult<f64> {
        self.with(|stepper| stepper.now().get())
    }

    /// Whether the run is over.
    #[getter]
    fn is_over(&self) -> PyResult<bool> {
        self.with(|stepper| stepper.is_over())
    }

    /// Returns the barrier as a policy sees it.
    #[getter]
    fn view(&mut self, py: Python<'_>) -> PyResult<Py<View>> {
        let shown = self.view.as_ref().map(|view| view.clone_ref(py));
        let is_new = shown.is_none();
        let shown = self.with(|stepper| -> PyResult<_> {
            let seen = stepper.view().map_err(|error| exception(py, &error))?;
            let shown = shown.map_or_else(|| Py::new(py, View::new(py, &seen)?), Ok)?;
            let mut view = shown.borrow_mut(py);
            if view.superstep != seen.superstep || is_new {
                view.note(&seen);
                view.look_closer(&seen);
            }
            drop(view);
            Ok(shown)
        })??;
        self.view = Some(shown.clone_ref(py));
        Ok(shown)
    }

    /// Returns the moves that the policy would decide at this barrier, as pairs of a process and a host. Nothing changes.
    fn propose(&mut self, py: Python<'_>) -> PyResult<Vec<(u32, u32)>> {
        let mut copy = self.adviser.as_ref().and_then(Adviser::copy);
        let decision = self.advised(py, &mut copy)?;
        let superstep = self.with(|stepper| stepper.view().map(|view| view.superstep))?;
        let superstep = superstep.map_err(|error| exception(py, &error))?;
        let moves = decision.migrations.iter();
        let moves = moves.map(|one| (one.process.0, one.to.0)).collect();
        self.proposed = Some((superstep, decision));
        Ok(moves)
    }

    /// Advances to the next barrier, and after the last barrier but one to the end. The action is no call (None or False), a call of the
    /// strategy (True), or a call with these moves and the procedure that `costs` has as attributes. Returns the seconds that passed,
    /// whether the run is over, the price of the call and that of its moves, and the time.
    fn step(
        &mut self,
        py: Python<'_>,
        action: &Bound<'_, PyAny>,
        costs: &Bound<'_, PyAny>,
    ) -> PyResult<Step> {
        let decision = self.decision(py, action, costs)?;
        // The number of moves that the policy has decided; none if there is no call.
        let is_own = truth(action)?.is_none();
        let decided = decision.as_ref().map(|call| call.migrations.len());
        let decided = decided.map(|count| if is_own { 0 } else { count });
        let advance = |stepper: &mut Stepper<'_>| -> Result<Step, Error> {
            let before = stepper.now();
            let calls = stepper.calls().len();
            if !stepper.advance(decision)? && stepper.is_at_last_barrier() {
                stepper.advance(None)?;
            }
            let made = stepper.calls()[calls..].iter();
            let prices = made.map(|call| (call.cost.get(), call.migration_duration.get()));
            let (call, moves) = prices.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            stepper.forget_history();
            let now = stepper.now();
            let passed = now.since(before).get();
            Ok((passed, stepper.is_over(), call, moves, now.get()))
        };
        let (runs, place) = (&self.runs, self.place);
        let result = py.detach(|| runs.with_dependent(|_, places| places.with(place, advance)));
        let result = result.ok_or_else(is_used)?;
        let was_raised = plugin::raise_if_failed(py, &self.plugins, result.as_ref().err());
        self.has_failed = was_raised.is_err();
        was_raised?;
        let step = result.map_err(|error| exception(py, &error))?;
        if let (Some(adviser), Some(moved)) = (&mut self.adviser, decided) {
            adviser.policy().0.on_migrations_executed(moved);
        }
        self.note(py)?;
        Ok(step)
    }

    /// Returns an independent copy, which continues from this barrier.
    #[pyo3(name = "clone")]
    fn copy(&self) -> PyResult<Self> {
        let copy = |places: &Places<'_>| {
            let copy = places.with(self.place, |stepper| stepper.clone())?;
            Some(places.add(copy))
        };
        let place = self.runs.with_dependent(|_, places| copy(places));
        Ok(Self {
            runs: Arc::clone(&self.runs),
            place: place.ok_or_else(is_used)?,
            adviser: self.adviser.as_ref().and_then(Adviser::copy),
            proposed: self.proposed.clone(),
            view: None,
            plugins: Arc::clone(&self.plugins),
            has_failed: self.has_failed,
        })
    }
}

/// The exception of a run that another thread, or code that this step calls, uses at the same time.
fn is_used() -> PyErr {
    PyRuntimeError::new_err("this environment is being stepped: use a `clone` in each thread")
}

impl Environment {
    fn with<R>(&self, action: impl FnOnce(&mut Stepper<'_>) -> R) -> PyResult<R> {
        let place = self.place;
        let result = self
            .runs
            .with_dependent(|_, places| places.with(place, |stepper| action(stepper)));
        result.ok_or_else(is_used)
    }

    /// Lets the policy observe the barrier.
    fn note(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(mut adviser) = self.adviser.take() else {
            return Ok(());
        };
        let noted = self.with(|stepper| {
            let view = stepper.view()?;
            adviser.policy().0.is_call_due(&view);
            Ok(())
        });
        self.adviser = Some(adviser);
        plugin::or_raise(py, &self.plugins, noted?)
    }

    /// Returns the decision of the policy at this barrier.
    fn advised(&self, py: Python<'_>, adviser: &mut Option<Adviser>) -> PyResult<Decision> {
        let Some(adviser) = adviser else {
            let message = "the policy of the settings cannot be copied, so that `propose` and copies of this environment cannot call it: give the moves";
            return Err(PyValueError::new_err(message));
        };
        let decided = self.with(|stepper| {
            let (policy, random) = adviser.policy();
            policy.decide(&stepper.view()?, random)
        });
        plugin::or_raise(py, &self.plugins, decided?)
    }

    /// Returns the decision of an action; none if it requests no call.
    fn decision(
        &mut self,
        py: Python<'_>,
        action: &Bound<'_, PyAny>,
        costs: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Decision>> {
        if self.has_failed {
            return Err(PyRuntimeError::new_err(
                "the run ended with an error: call `reset` to begin another run",
            ));
        }
        if self.is_over()? {
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
        let procedure = procedure(costs)?;
        self.with(|stepper| {
            let seen = stepper.view().map_err(|error| exception(py, &error))?;
            let wishes = wishes(action, &seen)?;
            let proposed = self.proposed.as_ref().filter(|(superstep, decision)| {
                *superstep == seen.superstep && decision.migrations == wishes
            });
            Ok(Some(proposed.map_or_else(
                || Decision {
                    procedure,
                    ..Decision::from_migrations(wishes)
                },
                |(_, decision)| decision.clone(),
            )))
        })?
    }
}
