//! Plug-ins written in Python: classes by name, and their exceptions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use migsim::Registry;
use migsim::error::{Error, Problem};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

use crate::errors::exception;

/// A plug-in in Python: its kind, its name, its summary, its class.
#[pyclass(frozen, module = "migsim._core")]
#[derive(Debug)]
pub(crate) struct Plugin {
    kind: String,
    /// The class; it exists as long as the program, because every registry refers to it.
    class: &'static Class,
    name: &'static str,
    summary: &'static str,
}

#[pymethods]
impl Plugin {
    /// Creates a plug-in; `kind` is `policy`, `trigger` or `application`, `defaults` are the options with their defaults, as JSON.
    ///
    /// Names that migsim itself uses, or that are not allowed in settings, are refused.
    #[new]
    fn new(
        py: Python<'_>,
        kind: String,
        name: String,
        summary: String,
        class: Py<PyAny>,
        defaults: &str,
        source_sha256: String,
    ) -> PyResult<Self> {
        let defaults = serde_json::from_str(defaults)
            .map_err(|error| PyTypeError::new_err(error.to_string()))?;
        let class = Class {
            class,
            defaults,
            source_sha256,
            failure: Arc::default(),
        };
        let plugin = Self {
            kind,
            class: Box::leak(Box::new(class)),
            name: name.leak(),
            summary: summary.leak(),
        };
        plugin
            .add_to(Registry::standard())
            .check()
            .map_err(|error| exception(py, &error))?;
        Ok(plugin)
    }
}

impl Plugin {
    fn add_to(&self, registry: Registry) -> Registry {
        let (class, name, summary) = (self.class, self.name, self.summary);
        match self.kind.as_str() {
            "policy" => registry.policy_from_maker(class, name, summary, "-"),
            "trigger" => registry.trigger_from_maker(class, name, summary, "-"),
            _ => registry.workload_from_maker(class, name, summary, "-"),
        }
    }
}

/// Returns the registry with all plug-ins.
pub(crate) fn registry(plugins: &[Py<Plugin>]) -> Registry {
    let add = |registry, plugin: &Py<Plugin>| plugin.get().add_to(registry);
    plugins.iter().fold(Registry::standard(), add)
}

/// Returns the exception that a plug-in raised in the run that ended with this error; each run takes its own exceptions.
pub(crate) fn raised(plugins: &[Py<Plugin>], error: &Error) -> Option<PyErr> {
    let text = error.to_string();
    plugins.iter().find_map(|plugin| {
        let mut kept = lock(&plugin.get().class.failure.0);
        let is_own = |(message, _): &(String, PyErr)| text.contains(message.as_str());
        let at = kept.iter().position(is_own)?;
        Some(kept.remove(at).1)
    })
}

/// Returns what a run returned, or raises the exception of the plug-in that failed, or that of its error.
pub(crate) fn or_raise<T>(
    py: Python<'_>,
    plugins: &[Py<Plugin>],
    result: Result<T, Error>,
) -> PyResult<T> {
    result.map_err(|error| raised(plugins, &error).unwrap_or_else(|| exception(py, &error)))
}

/// A class whose objects are plug-ins.
#[derive(Debug)]
pub(crate) struct Class {
    class: Py<PyAny>,
    /// The parameters of its constructor with their defaults.
    defaults: Map<String, Value>,
    /// The SHA-256 of the code that it executes, or `unknown-` and a number that no other class has. It is one of the settings of a run,
    /// because the results of another class differ.
    source_sha256: String,
    /// The exceptions of its objects.
    pub(crate) failure: Arc<Failure>,
}

/// The option with the SHA-256 of the class in settings.
const SOURCE: &str = "source_sha256";

/// Exceptions with the messages of the errors that replace them, the last ones only.
#[derive(Debug, Default)]
pub(crate) struct Failure(Mutex<Vec<(String, PyErr)>>);

/// Maximum number of exceptions that wait for their run to end.
const MAX_KEPT_FAILURES: usize = 64;

impl Failure {
    /// Stores an exception of `who`; returns an error that replaces it.
    pub(crate) fn keep(&self, py: Python<'_>, error: PyErr, who: &str, place: &str) -> Error {
        let message = format!("{who} raised {}, in {place}", error.value(py));
        let _ = error
            .value(py)
            .call_method1("add_note", (format!("in {place}"),));
        let mut kept = lock(&self.0);
        if kept.len() == MAX_KEPT_FAILURES {
            kept.remove(0);
        }
        kept.push((message.clone(), error));
        Error::SimulationFailure(Problem::new(message))
    }
}

/// Describes the place of an exception: a method and the superstep in which it was called, counted as in the method.
pub(crate) fn place(method: &str, superstep: usize) -> String {
    format!("{method} at superstep {superstep}, counted from 0")
}

/// Returns the type of an option, given by its default, if the value has another type.
fn kind_other_than_of(value: &Value, default: &Value) -> Option<&'static str> {
    let (is_right, kind) = match default {
        Value::Bool(_) => (value.is_boolean(), "true or false"),
        Value::String(_) => (value.is_string(), "a text"),
        Value::Number(default) if !default.is_f64() => {
            (value.is_i64() || value.is_u64(), "a whole number")
        }
        Value::Number(_) => (value.is_number(), "a number"),
        _ => (true, ""),
    };
    (!is_right).then_some(kind)
}

impl Class {
    /// Returns the options with all defaults.
    pub(crate) fn resolve(
        &self,
        options: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Error> {
        let is_known = |key: &str| self.defaults.contains_key(key) || key == SOURCE;
        let unknown = options.keys().filter(|key| !is_known(key));
        let problem = |key: &String| {
            let known = self.defaults.keys().map(String::as_str);
            Problem::unknown_name("key", key)
                .key(key)
                .with_known_names("keys", known)
        };
        let wrong = options.iter().filter_map(|(key, value)| {
            let kind = kind_other_than_of(value, self.defaults.get(key)?)?;
            let problem = Problem::new(format!(
                "`{value}` is no value of this option: its default is {kind}"
            ));
            Some(problem.key(key).hint(
                "give a value of this type, or another default to the parameter of the constructor",
            ))
        });
        let problems: Vec<Problem> = unknown.map(problem).chain(wrong).collect();
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        let mut resolved = self.defaults.clone();
        resolved.extend(options.clone());
        let given = resolved.get(SOURCE).and_then(Value::as_str);
        if given.is_some_and(|given| given != self.source_sha256 && !given.starts_with("unknown-"))
        {
            let problem = Problem::new("the class has changed since these settings were written");
            let hint = "restore the earlier class, or leave the key out to run the present class";
            return Err(problem.key(SOURCE).hint(hint).into());
        }
        resolved.insert(SOURCE.to_owned(), self.source_sha256.clone().into());
        Ok(resolved)
    }

    /// Creates an object of the class from options with all defaults, and passes it to `finish`; `who` is the name of the plug-in in errors.
    pub(crate) fn make<T>(
        &self,
        options: &Map<String, Value>,
        who: &str,
        finish: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, Error> {
        let mut options = options.clone();
        options.remove(SOURCE);
        let text = Value::Object(options).to_string();
        Python::attach(|py| {
            let make = || -> PyResult<T> {
                let keywords = py.import("json")?.call_method1("loads", (text,))?;
                let keywords = keywords.cast::<PyDict>()?;
                finish(&self.class.bind(py).call((), Some(keywords))?)
            };
            make().map_err(|error| {
                let place = format!("the constructor of {who}");
                self.failure.keep(py, error, who, &place)
            })
        })
    }
}

/// Returns the answer of a method that must be True or False, of Python or NumPy.
pub(crate) fn true_or_false(answer: &Bound<'_, PyAny>) -> PyResult<bool> {
    answer.extract().or_else(|_| {
        let text = answer.repr()?;
        let message = format!("the answer is {text}: True or False is expected");
        Err(PyTypeError::new_err(message))
    })
}

/// Locks a mutex; a panic of another thread does not matter.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
