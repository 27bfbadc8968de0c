//! A run that stops at each barrier, where Python decides, and that can be copied there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use migsim::bsp::{Scenario, Setup, Stepper};
use migsim::error::Error;
use migsim::experiment::Experiment as Settings;
use migsim::policy::{Decision, Policy};
use migsim::random::{Stream, StreamPurpose};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use self_cell::self_cell;

use crate::errors::exception;
use crate::experiment::Experiment;
use crate::plugin::{self, Plugin, lock};
use crate::policy::decision;
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

/// One of these runs.
struct Run {
    runs: Arc<Runs>,
    place: usize,
}

impl Run {
    fn with<R>(&self, action: impl FnOnce(&mut Stepper<'_>) -> R) -> PyResult<R> {
        let with = |places: &Places<'_>| places.with(self.place, |stepper| action(stepper));
        let result = self.runs.with_dependent(|_, places| with(places));
        result.ok_or_else(is_used)
    }

    fn copy(&self) -> PyResult<Self> {
        let runs = Arc::clone(&self.runs);
        let place = runs.with_dependent(|_, places| {
            let copy = places.with(self.place, |stepper| stepper.clone())?;
            Some(places.add(copy))
        });
        let place = place.ok_or_else(is_used)?;
        Ok(Self { runs, place })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.runs
            .with_dependent(|_, places| lock(&places.0).0.remove(&self.place));
    }
}

/// The exception of a run that another thread, or code that this step calls, uses at the same time.
fn is_used() -> PyErr {
    PyRuntimeError::new_err("this environment is being stepped: use a `clone` in each thread")
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
}

/// A run at a barrier.
#[pyclass(module = "migsim._core")]
pub(crate) struct Environment {
    run: Run,
    /// The policy of the settings; none if it cannot be copied.
    adviser: Option<Adviser>,
    /// The last proposal at this barrier; a call with its moves has its price.
    proposed: Option<Decision>,
    /// The view; created when it is first read, and refilled at each barrier.
    view: Option<Py<View>>,
    plugins: Arc<Vec<Py<Plugin>>>,
    /// Whether a plug-in raised an exception, after which the run cannot go on.
    #[pyo3(get)]
    has_failed: bool,
}

/// What happens at a barrier: a call of the policy or none, or a call with these moves of processes to hosts.
#[derive(FromPyObject)]
enum Action {
    Call(bool),
    Moves(Vec<(usize, usize)>),
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
            run: Run {
                runs: Arc::new(runs),
                place: 0,
            },
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
        self.run.with(|stepper| stepper.now().get())
    }

    /// Whether the run is over.
    #[getter]
    fn is_over(&self) -> PyResult<bool> {
        self.run.with(|stepper| stepper.is_over())
    }

    /// Returns the barrier as a policy sees it.
    #[getter]
    fn view(&mut self, py: Python<'_>) -> PyResult<Py<View>> {
        let view = &mut self.view;
        self.run.with(|stepper| {
            let seen = stepper.view().map_err(|error| exception(py, &error))?;
            let shown = View::kept(py, view, &seen)?;
            let mut view = shown.borrow_mut();
            if view.superstep != seen.superstep {
                view.note(py, &seen)?;
                view.look_closer(py, &seen)?;
            }
            Ok(shown.clone().unbind())
        })?
    }

    /// Returns the moves that the policy would decide at this barrier, as pairs of a process and a host. Nothing changes.
    fn propose(&mut self, py: Python<'_>) -> PyResult<Vec<(u32, u32)>> {
        let decision = self.advised(py, true)?;
        let moves = decision.migrations.iter();
        let moves = moves.map(|one| (one.process.0, one.to.0)).collect();
        self.proposed = Some(decision);
        Ok(moves)
    }

    /// Advances to the next barrier, and after the last barrier but one to the end. `procedure` is that of own moves, in JSON.
    #[pyo3(signature = (action, procedure))]
    fn step(&mut self, py: Python<'_>, action: Option<Action>, procedure: &str) -> PyResult<Step> {
        // The number of moves that the policy has decided; none if there is no call.
        let is_own = matches!(action, Some(Action::Moves(_)));
        let decision = self.decision(py, action, procedure)?;
        let count = |call: &Decision| if is_own { 0 } else { call.migrations.len() };
        let decided = decision.as_ref().map(count);
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
        let run = &self.run;
        let result = py.detach(|| run.with(advance))?;
        if let Err(error) = &result
            && let Some(raised) = plugin::raised(&self.plugins, error)
        {
            self.has_failed = true;
            return Err(raised);
        }
        let step = result.map_err(|error| exception(py, &error))?;
        self.proposed = None;
        if let (Some(adviser), Some(moved)) = (&mut self.adviser, decided) {
            lock(&adviser.policy).on_migrations_executed(moved);
        }
        self.note(py)?;
        Ok(step)
    }

    /// Returns an independent copy, which continues from this barrier.
    #[pyo3(name = "clone")]
    fn copy(&self) -> PyResult<Self> {
        Ok(Self {
            run: self.run.copy()?,
            adviser: self.adviser.as_ref().and_then(Adviser::copy),
            proposed: self.proposed.clone(),
            view: None,
            plugins: Arc::clone(&self.plugins),
            has_failed: self.has_failed,
        })
    }
}

impl Environment {
    /// Lets the policy observe the barrier.
    fn note(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(adviser) = &mut self.adviser else {
            return Ok(());
        };
        let noted = self.run.with(|stepper| {
            lock(&adviser.policy).is_call_due(&stepper.view()?);
            Ok(())
        });
        plugin::or_raise(py, &self.plugins, noted?)
    }

    /// Returns the decision at this barrier of the policy, or of its copy.
    fn advised(&mut self, py: Python<'_>, of_copy: bool) -> PyResult<Decision> {
        let mut copy;
        let adviser = if of_copy {
            copy = self.adviser.as_ref().and_then(Adviser::copy);
            copy.as_mut()
        } else {
            self.adviser.as_mut()
        };
        let Some(adviser) = adviser else {
            let message = "the policy of the settings cannot be copied, so that `propose` and copies of this environment cannot call it: give the moves";
            return Err(PyValueError::new_err(message));
        };
        let decided = self
            .run
            .with(|stepper| lock(&adviser.policy).decide(&stepper.view()?, &mut adviser.random));
        plugin::or_raise(py, &self.plugins, decided?)
    }

    /// Returns the decision of an action; none if it requests no call.
    fn decision(
        &mut self,
        py: Python<'_>,
        action: Option<Action>,
        procedure: &str,
    ) -> PyResult<Option<Decision>> {
        if self.has_failed {
            let message = "the run ended with an error: call `reset` to begin another run";
            return Err(PyRuntimeError::new_err(message));
        }
        if self.is_over()? {
            let message = "the run is over: call `reset` to begin another run";
            return Err(PyValueError::new_err(message));
        }
        let moves = match action {
            None | Some(Action::Call(false)) => return Ok(None),
            Some(Action::Call(true)) => return self.advised(py, false).map(Some),
            Some(Action::Moves(moves)) => moves,
        };
        let decision = decision(moves, procedure)?;
        let proposed = self.proposed.as_ref();
        let proposed = proposed.filter(|one| one.migrations == decision.migrations);
        Ok(Some(proposed.cloned().unwrap_or(decision)))
    }
}
