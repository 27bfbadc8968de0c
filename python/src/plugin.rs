//! Policies that are written in Python.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use migsim::Registry;
use migsim::error::{Error, Problem};
use migsim::policy::{self, Decision, Migration, PolicyMaker};
use migsim::random::Stream;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Map, Value};

/// A policy of Python: its name, what it does, its class.
#[pyclass(frozen, module = "migsim._core")]
#[derive(Debug)]
pub(crate) struct Plugin {
    /// It lives as long as the program: the registry names it from everywhere.
    maker: &'static Maker,
    name: &'static str,
    summary: &'static str,
}

#[pymethods]
impl Plugin {
    /// `defaults` are the options with their usual values, as JSON.
    #[new]
    fn new(name: String, summary: String, class: Py<PyAny>, defaults: &str) -> PyResult<Self> {
        let defaults = serde_json::from_str(defaults)
            .map_err(|error| PyTypeError::new_err(error.to_string()))?;
        let maker = Maker {
            class,
            defaults,
            failure: Arc::default(),
        };
        Ok(Self {
            maker: Box::leak(Box::new(maker)),
            name: name.leak(),
            summary: summary.leak(),
        })
    }

    /// Its name in settings.
    #[getter]
    fn name(&self) -> &str {
        self.name
    }
}

/// The registry with all plug-ins.
pub(crate) fn registry(py: Python<'_>, plugins: &[Py<Plugin>]) -> Registry {
    plugins
        .iter()
        .fold(Registry::standard(), |registry, plugin| {
            let plugin = plugin.bind(py).get();
            registry.policy_of(plugin.maker, plugin.name, plugin.summary, "-")
        })
}

/// Raises what a plug-in raised in a run.
pub(crate) fn raise_if_failed(py: Python<'_>, plugins: &[Py<Plugin>]) -> PyResult<()> {
    let mut failures = plugins.iter().map(|plugin| {
        let failure = &plugin.bind(py).get().maker.failure;
        failure
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    });
    // All are taken, so that none is raised by a later run.
    let first = failures.by_ref().flatten().next();
    failures.for_each(drop);
    first.map_or(Ok(()), Err)
}

/// Makes policies of a class.
struct Maker {
    class: Py<PyAny>,
    defaults: Map<String, Value>,
    failure: Arc<Failure>,
}

/// The first exception since somebody asked.
#[derive(Debug, Default)]
struct Failure(Mutex<Option<PyErr>>);

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Maker")
            .field("defaults", &self.defaults)
            .finish_non_exhaustive()
    }
}

impl Failure {
    /// Keeps an exception; an error in its place.
    fn keep(&self, py: Python<'_>, error: PyErr, place: &str) -> Error {
        let message = format!("the policy raised {}", error.value(py));
        let _ = error
            .value(py)
            .call_method1("add_note", (format!("in {place}"),));
        let mut failure = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
        Error::Run(Problem::new(message))
    }
}

impl PolicyMaker for Maker {
    fn resolve(&self, options: &Map<String, Value>) -> Result<Map<String, Value>, Error> {
        let unknown = options
            .keys()
            .filter(|key| !self.defaults.contains_key(*key));
        let problem = |key: &String| {
            let known = self.defaults.keys().map(String::as_str);
            Problem::unknown("key", key).key(key).known("keys", known)
        };
        let problems: Vec<Problem> = unknown.map(problem).collect();
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        let mut resolved = self.defaults.clone();
        resolved.extend(options.clone());
        Ok(resolved)
    }

    fn policy(&self, options: &Map<String, Value>) -> Result<Box<dyn policy::Policy>, Error> {
        let text = Value::Object(options.clone()).to_string();
        Python::attach(|py| {
            let make = || -> PyResult<(Py<PyAny>, bool)> {
                let keywords = py.import("json")?.call_method1("loads", (text,))?;
                let object = self
                    .class
                    .bind(py)
                    .call((), Some(keywords.cast::<PyDict>()?))?;
                let uses_seed = match object.getattr("uses_seed") {
                    Ok(value) => value.is_truthy()?,
                    Err(error) if error.is_instance_of::<PyAttributeError>(py) => true,
                    Err(error) => return Err(error),
                };
                Ok((object.unbind(), uses_seed))
            };
            let (object, uses_seed) = make().map_err(|error| {
                self.failure
                    .keep(py, error, "the constructor of the policy")
            })?;
            let policy = Policy {
                object,
                uses_seed,
                view: None,
                failure: Arc::clone(&self.failure),
                error: None,
            };
            Ok(Box::new(policy) as Box<dyn policy::Policy>)
        })
    }
}

/// A policy in a run.
#[derive(Debug)]
struct Policy {
    object: Py<PyAny>,
    uses_seed: bool,
    /// Made at the first barrier, refilled at each.
    view: Option<Py<View>>,
    failure: Arc<Failure>,
    /// What could not be said where only yes and no can be.
    error: Option<Error>,
}

impl Policy {
    /// The view of this barrier.
    fn view<'py>(
        &mut self,
        py: Python<'py>,
        seen: &policy::View<'_>,
    ) -> PyResult<Bound<'py, View>> {
        if let Some(view) = &self.view {
            let view = view.bind(py);
            view.borrow_mut().fill(py, seen)?;
            return Ok(view.clone());
        }
        let view = Bound::new(py, View::new(py, seen)?)?;
        view.borrow_mut().fill(py, seen)?;
        self.view = Some(view.clone().unbind());
        Ok(view)
    }
}

impl policy::Policy for Policy {
    fn is_call_due(&mut self, seen: &policy::View<'_>) -> bool {
        Python::attach(|py| {
            let ask = |policy: &mut Self| -> PyResult<bool> {
                let view = policy.view(py, seen)?;
                let object = policy.object.bind(py);
                object
                    .call_method1(pyo3::intern!(py, "is_call_due"), (view,))?
                    .is_truthy()
            };
            ask(self).unwrap_or_else(|error| {
                let place = format!("is_call_due after superstep {}", seen.superstep + 1);
                self.error = Some(self.failure.keep(py, error, &place));
                true
            })
        })
    }

    fn decide(&mut self, seen: &policy::View<'_>, random: &mut Stream) -> Result<Decision, Error> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        Python::attach(|py| {
            let mut ask = || -> PyResult<Decision> {
                let view = self.view(py, seen)?;
                view.borrow_mut().look_closer(py, seen, random.bits());
                let answer = self.object.bind(py).call_method1("decide", (view,))?;
                decision(&answer, seen)
            };
            ask().map_err(|error| {
                let place = format!("decide after superstep {}", seen.superstep + 1);
                self.failure.keep(py, error, &place)
            })
        })
    }

    fn uses_seed(&self) -> bool {
        self.uses_seed
    }
}

/// The decision that an answer means: nothing, pairs of process and host, a dict of them, or an array with the host of each process.
fn decision(answer: &Bound<'_, PyAny>, seen: &policy::View<'_>) -> PyResult<Decision> {
    if answer.is_none() {
        return Ok(Decision::default());
    }
    let pairs: Vec<(usize, usize)> = if let Ok(placement) = answer.cast::<PyArray1<i64>>() {
        let placement = placement.readonly();
        let placement = placement.as_slice()?;
        if placement.len() != seen.processes() {
            let message = format!(
                "an array of {} hosts for {} processes",
                placement.len(),
                seen.processes()
            );
            return Err(PyValueError::new_err(message));
        }
        let moved = placement.iter().zip(seen.placement).enumerate();
        let moved = moved.filter(|(_, (to, from))| usize::try_from(**to) != Ok(from.index()));
        moved
            .map(|(process, (to, _))| Ok((process, usize::try_from(*to)?)))
            .collect::<Result<_, std::num::TryFromIntError>>()
            .map_err(|_| PyValueError::new_err("a host is negative"))?
    } else if let Ok(wishes) = answer.cast::<PyDict>() {
        wishes.items().extract()?
    } else if let Ok(wishes) = answer.cast::<PyList>() {
        wishes.extract()?
    } else {
        answer
            .try_iter()?
            .map(|wish| wish?.extract())
            .collect::<PyResult<_>>()?
    };
    let hosts = seen.platform.hosts.len();
    for &(process, host) in &pairs {
        if process >= seen.processes() || host >= hosts {
            let message = format!(
                "process {process} cannot go to host {host}: there are {} processes and {hosts} hosts, counted from 0",
                seen.processes()
            );
            return Err(PyValueError::new_err(message));
        }
    }
    let wish = |(process, host)| Migration::new(process, host);
    Ok(Decision::moves(pairs.into_iter().map(wish).collect()))
}

/// An array that is refilled at each barrier, and what Python may see of it.
#[derive(Debug)]
struct Shown<T> {
    array: Py<PyArray1<T>>,
    /// The same numbers, not to be written.
    shown: Py<PyAny>,
}

impl<T: numpy::Element + Copy + Default> Shown<T> {
    fn new(py: Python<'_>, length: usize) -> PyResult<Self> {
        let array = PyArray1::from_vec(py, vec![T::default(); length]);
        let shown = array.call_method0("view")?;
        shown.getattr("flags")?.setattr("writeable", false)?;
        Ok(Self {
            array: array.unbind(),
            shown: shown.unbind(),
        })
    }

    fn fill(&self, py: Python<'_>, values: impl Iterator<Item = T>) -> PyResult<()> {
        let mut array = self.array.bind(py).try_readwrite()?;
        for (place, value) in array.as_slice_mut()?.iter_mut().zip(values) {
            *place = value;
        }
        Ok(())
    }
}

/// All that a policy may see at the barrier of a superstep; arrays are refilled at each barrier.
#[pyclass(module = "migsim._core")]
#[derive(Debug)]
pub(crate) struct View {
    /// The superstep that has just ended, counted from 1.
    #[pyo3(get)]
    superstep: usize,
    /// The number of supersteps of the application.
    #[pyo3(get)]
    supersteps: usize,
    /// The date \[s\].
    #[pyo3(get)]
    now_s: f64,
    /// The price of the last call, its migrations included \[s\].
    #[pyo3(get)]
    last_price_s: f64,
    /// Whether migrations happen (scenario iii).
    #[pyo3(get)]
    migrations_happen: bool,
    /// Clock cycles per instruction.
    #[pyo3(get)]
    cycles_per_instruction: f64,
    placement: Shown<i64>,
    pinned: Shown<bool>,
    external_load: Shown<f64>,
    memory: Shown<f64>,
    /// delay, work, compute, send, communication
    measures: [Shown<f64>; 5],
    messages: Vec<(i64, i64, f64)>,
    seed: u64,
    platform: Py<PyDict>,
}

impl View {
    fn new(py: Python<'_>, seen: &policy::View<'_>) -> PyResult<Self> {
        let (processes, hosts) = (seen.processes(), seen.platform.hosts.len());
        let numbers = || Shown::new(py, processes);
        let fixed = |values: Vec<f64>| -> PyResult<Py<PyAny>> {
            let shown = Shown::new(py, values.len())?;
            shown.fill(py, values.into_iter())?;
            Ok(shown.shown)
        };
        let whole = |values: Vec<i64>| -> PyResult<Py<PyAny>> {
            let shown = Shown::new(py, values.len())?;
            shown.fill(py, values.into_iter())?;
            Ok(shown.shown)
        };
        let all = &seen.platform.hosts;
        let platform = PyDict::new(py);
        platform.set_item(
            "speed",
            fixed(all.iter().map(|host| host.speed.get()).collect())?,
        )?;
        platform.set_item(
            "cores",
            whole(all.iter().map(|host| i64::from(host.cores)).collect())?,
        )?;
        let cluster = |host: &migsim::platform::Host| host.cluster.index() as i64;
        platform.set_item("cluster", whole(all.iter().map(cluster).collect())?)?;
        let names: Vec<&str> = all.iter().map(|host| host.name.as_str()).collect();
        platform.set_item("hosts", names)?;
        let clusters = seen.platform.clusters.iter();
        platform.set_item(
            "clusters",
            clusters.map(|one| one.name.as_str()).collect::<Vec<_>>(),
        )?;
        Ok(Self {
            superstep: 0,
            supersteps: 0,
            now_s: 0.0,
            last_price_s: 0.0,
            migrations_happen: false,
            cycles_per_instruction: 1.0,
            placement: Shown::new(py, processes)?,
            pinned: Shown::new(py, processes)?,
            external_load: Shown::new(py, hosts)?,
            memory: numbers()?,
            measures: [numbers()?, numbers()?, numbers()?, numbers()?, numbers()?],
            messages: Vec::new(),
            seed: 0,
            platform: platform.unbind(),
        })
    }

    /// What is cheap: for each barrier.
    fn fill(&mut self, py: Python<'_>, seen: &policy::View<'_>) -> PyResult<()> {
        self.superstep = seen.superstep + 1;
        self.supersteps = seen.supersteps;
        self.now_s = seen.now.get();
        self.last_price_s = seen.last_price.get();
        self.migrations_happen = seen.migrations_happen;
        self.cycles_per_instruction = seen.cycles_per_instruction;
        let hosts = seen.placement.iter().map(|host| host.index() as i64);
        self.placement.fill(py, hosts)?;
        let [delay, work, compute, send, communication] = &self.measures;
        let measures = seen.measures;
        delay.fill(py, measures.delay.iter().map(|value| value.get()))?;
        work.fill(py, measures.work.iter().map(|value| value.get()))?;
        compute.fill(py, measures.compute.iter().map(|value| value.get()))?;
        send.fill(py, measures.send.iter().map(|value| value.get()))?;
        communication.fill(py, measures.communication.iter().map(|value| value.get()))?;
        self.external_load
            .fill(py, seen.external_load.iter().copied())
    }

    /// What only a decision needs.
    fn look_closer(&mut self, py: Python<'_>, seen: &policy::View<'_>, seed: u64) {
        let pinned = (0..seen.processes()).map(|process| seen.is_pinned(process));
        let memory = seen.memory.iter().map(|bytes| bytes.get());
        // Arrays of their own that nobody writes: filling them cannot fail.
        let _ = self.pinned.fill(py, pinned);
        let _ = self.memory.fill(py, memory);
        self.messages.clear();
        let ends = |one: &migsim::workload::Message| {
            (
                one.from.index() as i64,
                one.to.index() as i64,
                one.size.get(),
            )
        };
        self.messages.extend(seen.messages.iter().map(ends));
        self.seed = seed;
    }
}

#[pymethods]
impl View {
    #[getter]
    fn placement(&self, py: Python<'_>) -> Py<PyAny> {
        self.placement.shown.clone_ref(py)
    }

    #[getter]
    fn pinned(&self, py: Python<'_>) -> Py<PyAny> {
        self.pinned.shown.clone_ref(py)
    }

    #[getter]
    fn external_load(&self, py: Python<'_>) -> Py<PyAny> {
        self.external_load.shown.clone_ref(py)
    }

    #[getter]
    fn memory_bytes(&self, py: Python<'_>) -> Py<PyAny> {
        self.memory.shown.clone_ref(py)
    }

    #[getter]
    fn delay_s(&self, py: Python<'_>) -> Py<PyAny> {
        self.measures[0].shown.clone_ref(py)
    }

    #[getter]
    fn work(&self, py: Python<'_>) -> Py<PyAny> {
        self.measures[1].shown.clone_ref(py)
    }

    #[getter]
    fn compute_s(&self, py: Python<'_>) -> Py<PyAny> {
        self.measures[2].shown.clone_ref(py)
    }

    #[getter]
    fn send_s(&self, py: Python<'_>) -> Py<PyAny> {
        self.measures[3].shown.clone_ref(py)
    }

    #[getter]
    fn communication_s(&self, py: Python<'_>) -> Py<PyAny> {
        self.measures[4].shown.clone_ref(py)
    }

    /// The messages of the superstep: sender, receiver, size \[B\]; only in a decision.
    #[getter]
    fn messages(&self) -> Vec<(i64, i64, f64)> {
        self.messages.clone()
    }

    /// The hosts: speed \[instr/s\], cores, cluster, names; names of clusters.
    #[getter]
    fn platform(&self, py: Python<'_>) -> Py<PyDict> {
        self.platform.clone_ref(py)
    }

    /// A generator of NumPy, seeded by the run: the same for the same seed.
    #[getter]
    fn random<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("numpy.random")?
            .call_method1("default_rng", (self.seed,))
    }
}
