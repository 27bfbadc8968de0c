//! Applications written in Python.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use migsim::error::Error;
use migsim::plugin::PluginFactory;
use migsim::units::{Bytes, Instructions, ProcessId};
use migsim::workload::registry::BuiltWorkload;
use migsim::workload::{self, Workload};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::plugin::{Class, Failure, attribute, lock, place};
use crate::view::generator;

impl PluginFactory<BuiltWorkload> for Class {
    fn resolve_options(&self, options: &Map<String, Value>) -> Result<Map<String, Value>, Error> {
        self.resolve(options)
    }

    fn create_plugin(&self, options: &Map<String, Value>) -> Result<BuiltWorkload, Error> {
        let seed = options.get("seed").and_then(Value::as_u64);
        self.make(options, "the application", |object| {
            let application = Application::new(object, seed, Arc::clone(&self.failure))?;
            Ok(BuiltWorkload::new(application))
        })
    }
}

/// An application in a run.
#[derive(Debug)]
struct Application {
    object: Py<PyAny>,
    processes: usize,
    supersteps: usize,
    memory: Vec<Bytes>,
    cycles_per_instruction: f64,
    /// The option `seed`, if there is one.
    seed: Option<u64>,
    failure: Arc<Failure>,
    /// An error that occurred while a plan was filled.
    error: Mutex<Option<Error>>,
    /// The hash of each plan, which must be the same whenever the superstep is filled.
    plans: Mutex<BTreeMap<usize, u64>>,
}

impl Application {
    fn new(object: &Bound<'_, PyAny>, seed: Option<u64>, failure: Arc<Failure>) -> PyResult<Self> {
        let count = |name: &str, least: usize| -> PyResult<usize> {
            let value = attribute(object, name)?.ok_or_else(|| {
                let message =
                    format!("the application has no attribute `{name}`: set it in its constructor");
                PyAttributeError::new_err(message)
            })?;
            let count: usize = value.extract()?;
            if count < least {
                return Err(PyValueError::new_err(format!(
                    "`{name}` is {count}; at least {least} is needed"
                )));
            }
            Ok(count)
        };
        let (processes, supersteps) = (count("processes", 1)?, count("supersteps", 0)?);
        let cycles = attribute(object, "cycles_per_instruction")?;
        let cycles_per_instruction = cycles.map_or(Ok(1.0), |value| value.extract::<f64>())?;
        if !(cycles_per_instruction.is_finite() && cycles_per_instruction > 0.0) {
            let message = format!(
                "`cycles_per_instruction` is {cycles_per_instruction}; it must be positive"
            );
            return Err(PyValueError::new_err(message));
        }
        Ok(Self {
            object: object.clone().unbind(),
            processes,
            supersteps,
            memory: memory(object, processes)?,
            cycles_per_instruction,
            seed,
            failure,
            error: Mutex::default(),
            plans: Mutex::default(),
        })
    }

    /// Calls Python for a plan.
    fn ask(&self, py: Python<'_>, superstep: usize, into: &mut workload::Plan) -> PyResult<()> {
        let plan = Plan {
            work: PyArray1::zeros(py, self.processes, false).unbind(),
            messages: Vec::new(),
            seeds: (self.seed.unwrap_or(0), superstep as u64 + 1),
            random: None,
        };
        let plan = Bound::new(py, plan)?;
        let object = self.object.bind(py);
        object.call_method1(pyo3::intern!(py, "fill"), (superstep, &plan))?;
        let mut plan = plan.borrow_mut();
        let work = plan.work.bind(py).try_readonly()?;
        for (process, (place, value)) in into.work.iter_mut().zip(work.as_slice()?).enumerate() {
            *place = not_negative(*value, Instructions::new, || {
                format!("the work of process {process}")
            })?;
        }
        drop(work);
        into.messages = std::mem::take(&mut plan.messages);
        let mut hasher = DefaultHasher::new();
        for work in &into.work {
            hasher.write_u64(work.get().to_bits());
        }
        for message in &into.messages {
            (message.from.0, message.to.0, message.size.get().to_bits()).hash(&mut hasher);
        }
        let hash = hasher.finish();
        let before = lock(&self.plans).insert(superstep, hash);
        if before.is_some_and(|before| before != hash) {
            return Err(PyValueError::new_err(
                "`fill` wrote another plan for this superstep before: a plan must depend on the options and the superstep alone",
            ));
        }
        Ok(())
    }
}

/// Returns the memory of each process: `memory_bytes`, one number for all or an array.
fn memory(object: &Bound<'_, PyAny>, processes: usize) -> PyResult<Vec<Bytes>> {
    let Some(value) = attribute(object, "memory_bytes")? else {
        return Ok(vec![Bytes::default(); processes]);
    };
    let sizes = match value.extract::<f64>() {
        Ok(size) => vec![size; processes],
        Err(_) => value.extract::<Vec<f64>>()?,
    };
    if sizes.len() != processes {
        let message = format!(
            "`memory_bytes` has {} numbers for {processes} processes",
            sizes.len()
        );
        return Err(PyValueError::new_err(message));
    }
    let size = |value: f64| not_negative(value, Bytes::new, || "`memory_bytes`".to_owned());
    sizes.into_iter().map(size).collect()
}

/// Creates the quantity of this value.
fn not_negative<T>(
    value: f64,
    quantity: fn(f64) -> Option<T>,
    what: impl Fn() -> String,
) -> PyResult<T> {
    quantity(value).ok_or_else(|| {
        let what = what();
        let message = format!("{what} is {value}; it must be from 0 to 1e21");
        PyValueError::new_err(message)
    })
}

impl Workload for Application {
    fn processes(&self) -> usize {
        self.processes
    }

    fn supersteps(&self) -> usize {
        self.supersteps
    }

    fn fill(&self, superstep: usize, plan: &mut workload::Plan) {
        if self.failure().is_some() {
            return;
        }
        Python::attach(|py| {
            if let Err(error) = self.ask(py, superstep, plan) {
                plan.clear(self.processes);
                let place = place("fill", superstep);
                let told = self.failure.keep(py, error, "the application", &place);
                *lock(&self.error) = Some(told);
            }
        });
    }

    fn memory(&self, process: ProcessId) -> Bytes {
        self.memory[process.index()]
    }

    fn failure(&self) -> Option<Error> {
        lock(&self.error).clone()
    }

    fn uses_seed(&self) -> bool {
        self.seed.is_some()
    }

    fn cycles_per_instruction(&self) -> f64 {
        self.cycles_per_instruction
    }
}

/// A superstep to be filled: the computation of each process, and the messages.
#[pyclass(module = "migsim._core")]
#[derive(Debug)]
pub(crate) struct Plan {
    work: Py<PyArray1<f64>>,
    messages: Vec<workload::Message>,
    /// The seeds of its generator: the option `seed`, and the superstep counted from 1.
    seeds: (u64, u64),
    /// The generator, created when it is first read.
    random: Option<Py<PyAny>>,
}

impl Plan {
    fn push(&mut self, processes: usize, from: i64, to: i64, size: f64) -> PyResult<()> {
        let process = |number: i64| {
            let index = usize::try_from(number)
                .ok()
                .filter(|index| *index < processes);
            index.ok_or_else(|| {
                PyIndexError::new_err(format!(
                    "there is no process {number}: there are {processes}, counted from 0"
                ))
            })
        };
        let size = not_negative(size, Bytes::new, || "the size of a message".to_owned())?;
        self.messages.push(workload::Message {
            from: ProcessId::from_index(process(from)?),
            to: ProcessId::from_index(process(to)?),
            size,
        });
        Ok(())
    }
}

#[pymethods]
impl Plan {
    /// Returns the instructions of each process, initially zero.
    #[getter]
    fn work(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.work.clone_ref(py)
    }

    #[setter]
    fn set_work(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<()> {
        self.work.bind(py).set_item(py.Ellipsis(), values)
    }

    /// Adds messages: numbers, or arrays of the same length.
    fn send(
        &mut self,
        sender: &Bound<'_, PyAny>,
        receiver: &Bound<'_, PyAny>,
        bytes: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = sender.py();
        let processes = self.work.bind(py).len()?;
        if let (Ok(from), Ok(to), Ok(size)) =
            (sender.extract(), receiver.extract(), bytes.extract())
        {
            return self.push(processes, from, to, size);
        }
        let numpy = py.import("numpy")?;
        let arrays = numpy.call_method1("broadcast_arrays", (sender, receiver, bytes))?;
        let column = |index: usize, kind: &str| -> PyResult<Bound<'_, PyAny>> {
            let array = arrays.get_item(index)?.call_method0("ravel")?;
            let found: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
            let is_empty = array.getattr("size")?.extract::<usize>()? == 0;
            if kind == "int64" && !is_empty && !["i", "u"].contains(&found.as_str()) {
                return Err(PyTypeError::new_err(
                    "processes are whole numbers, counted from 0",
                ));
            }
            array.call_method1("astype", (kind,))
        };
        let (from, to) = (column(0, "int64")?, column(1, "int64")?);
        let (from, to) = (
            from.cast::<PyArray1<i64>>()?.readonly(),
            to.cast::<PyArray1<i64>>()?.readonly(),
        );
        let sizes = column(2, "float64")?;
        let sizes = sizes.cast::<PyArray1<f64>>()?.readonly();
        for ((from, to), size) in from
            .as_slice()?
            .iter()
            .zip(to.as_slice()?)
            .zip(sizes.as_slice()?)
        {
            self.push(processes, *from, *to, *size)?;
        }
        Ok(())
    }

    /// Returns the generator of NumPy of this superstep, seeded by the option `seed` and the superstep.
    #[getter]
    fn random(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let seeds = [self.seeds.0, self.seeds.1];
        generator(py, &mut self.random, &seeds)
    }
}
