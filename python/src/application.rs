//! Applications written in Python.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use migsim::error::Error;
use migsim::plugin::PluginFactory;
use migsim::units::{Bytes, Instructions, ProcessId};
use migsim::workload::registry::BuiltWorkload;
use migsim::workload::{self, Workload};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::plugin::{Class, Failure, lock, place};
use crate::view::{generator, process_index};

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
        let module = object.py().import("migsim._application")?;
        let described = module.call_method1("described", (object,))?;
        let (processes, supersteps, sizes, cycles_per_instruction): (_, _, Vec<f64>, _) =
            described.extract()?;
        let size = |value: f64| not_negative(value, Bytes::new, || "`memory_bytes`".to_owned());
        Ok(Self {
            object: object.clone().unbind(),
            processes,
            supersteps,
            memory: sizes.into_iter().map(size).collect::<PyResult<_>>()?,
            cycles_per_instruction,
            seed,
            failure,
            error: Mutex::default(),
            plans: Mutex::default(),
        })
    }

    /// Calls Python for a plan.
    fn ask(&self, py: Python<'_>, superstep: usize, into: &mut workload::Plan) -> PyResult<()> {
        let plan = Bound::new(
            py,
            Plan {
                work: PyArray1::zeros(py, self.processes, false).unbind(),
                messages: Vec::new(),
                seeds: [self.seed.unwrap_or(0), superstep as u64 + 1],
                random: None,
            },
        )?;
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

/// Creates the quantity of this value.
fn not_negative<T>(
    value: f64,
    quantity: fn(f64) -> Option<T>,
    what: impl Fn() -> String,
) -> PyResult<T> {
    quantity(value).ok_or_else(|| {
        PyValueError::new_err(format!("{} is {value}; it must be from 0 to 1e21", what()))
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
    seeds: [u64; 2],
    /// The generator, created when it is first read.
    random: Option<Py<PyAny>>,
}

impl Plan {
    fn push(&mut self, processes: usize, from: i64, to: i64, size: f64) -> PyResult<()> {
        let size = not_negative(size, Bytes::new, || "the size of a message".to_owned())?;
        self.messages.push(workload::Message {
            from: ProcessId::from_index(process_index(from, processes)?),
            to: ProcessId::from_index(process_index(to, processes)?),
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
        let (from, to): (PyReadonlyArray1<'_, i64>, PyReadonlyArray1<'_, i64>) =
            (from.extract()?, to.extract()?);
        let sizes: PyReadonlyArray1<'_, f64> = column(2, "float64")?.extract()?;
        let ends = from.as_slice()?.iter().zip(to.as_slice()?);
        for ((from, to), size) in ends.zip(sizes.as_slice()?) {
            self.push(processes, *from, *to, *size)?;
        }
        Ok(())
    }

    /// Returns the generator of NumPy of this superstep, seeded by the option `seed` and the superstep.
    #[getter]
    fn random(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        generator(py, &mut self.random, &self.seeds)
    }
}
