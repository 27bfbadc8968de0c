//! The view of policies in Python: the barrier of a superstep as arrays.

use std::collections::BTreeMap;

use migsim::policy;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Numbers of a barrier, copied into an array when Python reads them, since most policies read few of them, and rarely.
#[derive(Debug)]
struct Shown<T> {
    values: Vec<T>,
    array: Py<PyArray1<T>>,
    /// The array as a read-only object.
    shown: Py<PyAny>,
    /// Whether the array has the present values.
    is_fresh: bool,
}

impl<T: numpy::Element + Copy + Default> Shown<T> {
    fn new(py: Python<'_>, length: usize) -> PyResult<Self> {
        let array = PyArray1::from_vec(py, vec![T::default(); length]);
        let shown = array.call_method0("view")?;
        shown.getattr("flags")?.setattr("writeable", false)?;
        Ok(Self {
            values: Vec::with_capacity(length),
            array: array.unbind(),
            shown: shown.unbind(),
            is_fresh: true,
        })
    }

    fn note(&mut self, values: impl Iterator<Item = T>) {
        self.values.clear();
        self.values.extend(values);
        self.is_fresh = false;
    }

    fn get(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if !self.is_fresh {
            let mut array = self.array.bind(py).try_readwrite()?;
            array.as_slice_mut()?.copy_from_slice(&self.values);
            self.is_fresh = true;
        }
        Ok(self.shown.clone_ref(py))
    }
}

/// The data that a policy may use at the barrier of a superstep; arrays are refilled at each barrier.
#[pyclass(module = "migsim._core")]
#[derive(Debug)]
pub(crate) struct View {
    /// Whether the data that only a decision needs is that of this barrier.
    is_decision: bool,
    /// The superstep that has just ended, counted from 0.
    #[pyo3(get)]
    pub(crate) superstep: usize,
    /// The number of supersteps of the application.
    #[pyo3(get)]
    supersteps: usize,
    /// The time \[s\].
    #[pyo3(get)]
    now_s: f64,
    /// The price of the last call, including its migrations \[s\].
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
    /// Delay, work, compute, send and communication.
    measures: [Shown<f64>; 5],
    messages: Vec<(i64, i64, f64)>,
    /// The seeds of the generator: of the run and its superstep, or of the decision.
    seeds: Vec<u64>,
    /// The generator of this barrier or decision, created when it is first read.
    random: Option<Py<PyAny>>,
    reasons: Reasons,
    platform: Py<PyDict>,
}

/// The reasons that a policy has given since its last decision.
#[derive(Debug, Default)]
pub(crate) struct Reasons {
    /// The reasons for the call.
    pub(crate) of_call: Vec<String>,
    /// The reasons for the decision about each process.
    pub(crate) of_process: BTreeMap<usize, Vec<String>>,
}

impl View {
    pub(crate) fn new(py: Python<'_>, seen: &policy::View<'_>) -> PyResult<Self> {
        let (processes, hosts) = (seen.processes(), seen.platform.hosts.len());
        let numbers = || Shown::new(py, processes);
        let all = &seen.platform.hosts;
        let platform = PyDict::new(py);
        platform.set_item("speed", fixed(py, all.iter().map(|host| host.speed.get()))?)?;
        platform.set_item(
            "cores",
            fixed(py, all.iter().map(|host| i64::from(host.cores)))?,
        )?;
        let cluster = |host: &migsim::platform::Host| host.cluster.index() as i64;
        platform.set_item("cluster", fixed(py, all.iter().map(cluster))?)?;
        let names: Vec<&str> = all.iter().map(|host| host.name.as_str()).collect();
        platform.set_item("hosts", names)?;
        let clusters = seen.platform.clusters.iter();
        platform.set_item(
            "clusters",
            clusters.map(|one| one.name.as_str()).collect::<Vec<_>>(),
        )?;
        Ok(Self {
            is_decision: false,
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
            seeds: Vec::new(),
            random: None,
            reasons: Reasons::default(),
            platform: platform.unbind(),
        })
    }

    /// Copies the data that is cheap, at each barrier.
    pub(crate) fn note(&mut self, seen: &policy::View<'_>) {
        self.is_decision = false;
        self.superstep = seen.superstep;
        self.seeds = vec![seen.seed, seen.superstep as u64];
        self.random = None;
        self.supersteps = seen.total_supersteps;
        self.now_s = seen.now.get();
        self.last_price_s = seen.last_call_cost.get();
        self.migrations_happen = seen.executes_migrations;
        self.cycles_per_instruction = seen.cycles_per_instruction;
        let hosts = seen.placement.iter().map(|host| host.index() as i64);
        self.placement.note(hosts);
        let [delay, work, compute, send, communication] = &mut self.measures;
        let measures = seen.measurements;
        delay.note(measures.begin_delays.iter().map(|value| value.get()));
        work.note(measures.work.iter().map(|value| value.get()));
        compute.note(measures.computation_times.iter().map(|value| value.get()));
        send.note(measures.send_times.iter().map(|value| value.get()));
        communication.note(measures.communication_times.iter().map(|value| value.get()));
        self.external_load.note(seen.external_load.iter().copied());
    }

    /// Begins a decision, whose generator has a seed of its own.
    pub(crate) fn seed_decision(&mut self, seed: u64) {
        self.seeds = vec![seed];
        self.random = None;
    }

    /// Copies the data that only a decision needs.
    pub(crate) fn look_closer(&mut self, seen: &policy::View<'_>) {
        self.is_decision = true;
        let processes = 0..seen.processes();
        self.pinned
            .note(processes.map(|process| seen.is_pinned(process)));
        self.memory
            .note(seen.process_memory.iter().map(|bytes| bytes.get()));
        self.messages.clear();
        let ends = |one: &migsim::workload::Message| {
            (
                one.from.index() as i64,
                one.to.index() as i64,
                one.size.get(),
            )
        };
        self.messages.extend(seen.messages.iter().map(ends));
    }

    fn check_decision(&self, name: &str) -> PyResult<()> {
        if self.is_decision {
            return Ok(());
        }
        let message = format!("`{name}` is known in `decide` only, not in `is_call_due`");
        Err(PyRuntimeError::new_err(message))
    }

    /// Removes and returns the reasons given so far.
    pub(crate) fn take_reasons(&mut self) -> Reasons {
        std::mem::take(&mut self.reasons)
    }
}

/// Returns a generator of NumPy, which is created at the first call.
pub(crate) fn generator(
    py: Python<'_>,
    kept: &mut Option<Py<PyAny>>,
    seeds: &[u64],
) -> PyResult<Py<PyAny>> {
    if let Some(known) = kept {
        return Ok(known.clone_ref(py));
    }
    let module = py.import("numpy.random")?;
    let made = match seeds {
        [seed] => module.call_method1("default_rng", (*seed,))?,
        _ => module.call_method1("default_rng", (seeds.to_vec(),))?,
    };
    Ok(kept.insert(made.unbind()).clone_ref(py))
}

/// Creates an array that never changes.
fn fixed<T: numpy::Element + Copy + Default>(
    py: Python<'_>,
    values: impl Iterator<Item = T>,
) -> PyResult<Py<PyAny>> {
    let values: Vec<T> = values.collect();
    let mut shown = Shown::new(py, values.len())?;
    shown.note(values.into_iter());
    shown.get(py)
}

#[pymethods]
impl View {
    #[getter]
    fn placement(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.placement.get(py)
    }

    #[getter]
    fn pinned(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.check_decision("pinned")?;
        self.pinned.get(py)
    }

    #[getter]
    fn external_load(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.external_load.get(py)
    }

    #[getter]
    fn memory_bytes(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.check_decision("memory_bytes")?;
        self.memory.get(py)
    }

    #[getter]
    fn delay_s(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.measures[0].get(py)
    }

    #[getter]
    fn work(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.measures[1].get(py)
    }

    #[getter]
    fn compute_s(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.measures[2].get(py)
    }

    #[getter]
    fn send_s(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.measures[3].get(py)
    }

    #[getter]
    fn communication_s(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.measures[4].get(py)
    }

    /// Returns the messages of the superstep: sender, receiver, size \[B\]; only during a decision.
    #[getter]
    fn messages(&self) -> PyResult<Vec<(i64, i64, f64)>> {
        self.check_decision("messages")?;
        Ok(self.messages.clone())
    }

    /// Returns the hosts: speed \[instr/s\], cores, cluster, names; and the names of clusters.
    #[getter]
    fn platform(&self, py: Python<'_>) -> Py<PyDict> {
        self.platform.clone_ref(py)
    }

    fn __repr__(&self) -> String {
        format!(
            "<migsim.View of superstep {} at {} s>",
            self.superstep, self.now_s
        )
    }

    /// Adds a reason: for the call, or for its decision about a process.
    #[pyo3(signature = (reason, process=None))]
    fn explain(&mut self, reason: String, process: Option<i64>) -> PyResult<()> {
        let Some(number) = process else {
            self.reasons.of_call.push(reason);
            return Ok(());
        };
        let processes = self.placement.values.len();
        let index = usize::try_from(number).ok();
        let index = index.filter(|index| *index < processes).ok_or_else(|| {
            PyIndexError::new_err(format!(
                "there is no process {number}: there are {processes}, counted from 0"
            ))
        })?;
        let known = self.reasons.of_process.entry(index).or_default();
        known.push(reason);
        Ok(())
    }

    /// Returns the generator of NumPy of this barrier or decision, seeded by the run: equal seeds give equal numbers.
    #[getter]
    fn random(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        generator(py, &mut self.random, &self.seeds)
    }
}
