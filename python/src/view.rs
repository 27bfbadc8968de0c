//! The view of policies in Python: the barrier of a superstep as arrays.

use std::collections::BTreeMap;

use migsim::{policy, units::HostId};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice};

/// The data that a policy may use at the barrier of a superstep; arrays are refilled at each barrier.
#[pyclass(module = "migsim._core")]
#[derive(Debug)]
pub(crate) struct View {
    /// Whether the data that only a decision needs is that of this barrier.
    is_decision: bool,
    processes: usize,
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
    /// Six numbers of each process and two of each host, whose parts policies see as read-only arrays.
    numbers: Py<PyArray1<f64>>,
    #[pyo3(get)]
    delay_s: Py<PyAny>,
    #[pyo3(get)]
    work: Py<PyAny>,
    #[pyo3(get)]
    compute_s: Py<PyAny>,
    #[pyo3(get)]
    send_s: Py<PyAny>,
    #[pyo3(get)]
    communication_s: Py<PyAny>,
    #[pyo3(get)]
    external_load: Py<PyAny>,
    #[pyo3(get)]
    busy_cores: Py<PyAny>,
    memory_bytes: Py<PyAny>,
    hosts: Py<PyArray1<i64>>,
    #[pyo3(get)]
    placement: Py<PyAny>,
    is_pinned: Py<PyArray1<bool>>,
    pinned: Py<PyAny>,
    messages: Vec<(usize, usize, f64)>,
    /// The seeds of the generator: of the run and its superstep, or of the decision.
    seeds: Vec<u64>,
    /// The generator of this barrier or decision, created when it is first read.
    random: Option<Py<PyAny>>,
    reasons: Reasons,
    /// The hosts: speed \[instr/s\], cores, cluster, names; and the names of clusters.
    #[pyo3(get)]
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
    fn new(py: Python<'_>, seen: &policy::View<'_>) -> PyResult<Self> {
        let (processes, hosts) = (seen.processes(), &seen.platform.hosts);
        let platform = PyDict::new(py);
        let show = |name: &str, array: Bound<'_, PyAny>| {
            platform.set_item(name, read_only(&array, 0, hosts.len())?)
        };
        let speeds = hosts.iter().map(|host| host.speed.get());
        show("speed", PyArray1::from_iter(py, speeds).into_any())?;
        let cores = hosts.iter().map(|host| i64::from(host.cores));
        show("cores", PyArray1::from_iter(py, cores).into_any())?;
        let clusters = hosts.iter().map(|host| host.cluster.index() as i64);
        show("cluster", PyArray1::from_iter(py, clusters).into_any())?;
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        platform.set_item("hosts", names)?;
        let clusters = seen.platform.clusters.iter();
        let names: Vec<&str> = clusters.map(|cluster| cluster.name.as_str()).collect();
        platform.set_item("clusters", names)?;
        let numbers = PyArray1::zeros(py, 6 * processes + 2 * hosts.len(), false);
        let of_processes = |row: usize| read_only(&numbers, row * processes, processes);
        let placement = PyArray1::zeros(py, processes, false);
        let is_pinned = PyArray1::zeros(py, processes, false);
        Ok(Self {
            is_decision: false,
            processes,
            // No barrier has been noted.
            superstep: usize::MAX,
            supersteps: seen.total_supersteps,
            now_s: 0.0,
            last_price_s: 0.0,
            migrations_happen: seen.executes_migrations,
            cycles_per_instruction: seen.cycles_per_instruction,
            memory_bytes: of_processes(0)?,
            delay_s: of_processes(1)?,
            work: of_processes(2)?,
            compute_s: of_processes(3)?,
            send_s: of_processes(4)?,
            communication_s: of_processes(5)?,
            external_load: read_only(&numbers, 6 * processes, hosts.len())?,
            busy_cores: read_only(&numbers, 6 * processes + hosts.len(), hosts.len())?,
            numbers: numbers.unbind(),
            placement: read_only(&placement, 0, processes)?,
            hosts: placement.unbind(),
            pinned: read_only(&is_pinned, 0, processes)?,
            is_pinned: is_pinned.unbind(),
            messages: Vec::new(),
            seeds: Vec::new(),
            random: None,
            reasons: Reasons::default(),
            platform: platform.unbind(),
        })
    }

    /// Returns the view that is kept; creates it at the first barrier.
    pub(crate) fn kept<'py>(
        py: Python<'py>,
        kept: &mut Option<Py<Self>>,
        seen: &policy::View<'_>,
    ) -> PyResult<Bound<'py, Self>> {
        let view = match kept {
            Some(view) => view,
            None => kept.insert(Py::new(py, Self::new(py, seen)?)?),
        };
        Ok(view.bind(py).clone())
    }

    /// Copies the data that is cheap, at each barrier.
    pub(crate) fn note(&mut self, py: Python<'_>, seen: &policy::View<'_>) -> PyResult<()> {
        self.is_decision = false;
        self.superstep = seen.superstep;
        self.seeds = vec![seen.seed, seen.superstep as u64];
        self.random = None;
        self.now_s = seen.now.get();
        self.last_price_s = seen.last_call_cost.get();
        let hosts = seen.placement.iter().map(|host| host.index() as i64);
        write(self.hosts.bind(py), 0, hosts)?;
        let measures = seen.measurements;
        let numbers = measures.begin_delays.iter().map(|value| value.get());
        let numbers = numbers.chain(measures.work.iter().map(|value| value.get()));
        let numbers = numbers.chain(measures.computation_times.iter().map(|value| value.get()));
        let numbers = numbers.chain(measures.send_times.iter().map(|value| value.get()));
        let numbers = numbers.chain(measures.communication_times.iter().map(|value| value.get()));
        let missing = seen.external_load.iter().enumerate().map(|(host, load)| {
            let slowdown = seen.slowdown(HostId::from_index(host), 1.0);
            if slowdown > 1.0 {
                1.0 - (1.0 - load.reserved) / slowdown
            } else {
                load.reserved
            }
        });
        let numbers = numbers.chain(missing);
        let numbers = numbers.chain(seen.external_load.iter().map(|load| load.busy_cores));
        write(self.numbers.bind(py), self.processes, numbers)
    }

    /// Begins a decision, whose generator has a seed of its own.
    pub(crate) fn seed_decision(&mut self, seed: u64) {
        self.seeds = vec![seed];
        self.random = None;
    }

    /// Copies the data that only a decision needs.
    pub(crate) fn look_closer(&mut self, py: Python<'_>, seen: &policy::View<'_>) -> PyResult<()> {
        self.is_decision = true;
        let processes = 0..self.processes;
        let is_pinned = processes.map(|process| seen.is_pinned(process));
        write(self.is_pinned.bind(py), 0, is_pinned)?;
        let sizes = seen.process_memory.iter().map(|size| size.get());
        write(self.numbers.bind(py), 0, sizes)?;
        self.messages.clear();
        let sent = seen.messages.iter();
        let sent = sent.map(|one| (one.from.index(), one.to.index(), one.size.get()));
        self.messages.extend(sent);
        Ok(())
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
    let made = module.call_method1("default_rng", (seeds.to_vec(),))?;
    Ok(kept.insert(made.unbind()).clone_ref(py))
}

/// Returns the number of a process, given by Python, if there is such a process.
pub(crate) fn process_index(number: i64, processes: usize) -> PyResult<usize> {
    let index = usize::try_from(number).ok();
    index.filter(|index| *index < processes).ok_or_else(|| {
        PyIndexError::new_err(format!(
            "there is no process {number}: there are {processes}, counted from 0"
        ))
    })
}

/// Returns a part of an array as an array that cannot be written.
fn read_only(array: &Bound<'_, PyAny>, start: usize, count: usize) -> PyResult<Py<PyAny>> {
    let end = (start + count) as isize;
    let part = array.get_item(PySlice::new(array.py(), start as isize, end, 1))?;
    part.getattr("flags")?.setattr("writeable", false)?;
    Ok(part.unbind())
}

/// Writes values into an array, from a place on.
fn write<T: Element>(
    array: &Bound<'_, PyArray1<T>>,
    start: usize,
    values: impl Iterator<Item = T>,
) -> PyResult<()> {
    let mut array = array.try_readwrite()?;
    let mut places = array.as_slice_mut()?[start..].iter_mut();
    values.for_each(|value| {
        if let Some(place) = places.next() {
            *place = value;
        }
    });
    Ok(())
}

#[pymethods]
impl View {
    #[getter]
    fn pinned(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.check_decision("pinned")?;
        Ok(self.pinned.clone_ref(py))
    }

    #[getter]
    fn memory_bytes(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.check_decision("memory_bytes")?;
        Ok(self.memory_bytes.clone_ref(py))
    }

    /// Returns the messages of the superstep: sender, receiver, size \[B\].
    #[getter]
    fn messages(&self) -> PyResult<Vec<(usize, usize, f64)>> {
        self.check_decision("messages")?;
        Ok(self.messages.clone())
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
        let index = process_index(number, self.processes)?;
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
