//! Policies written in Python.

use std::sync::Arc;

use migsim::error::Error;
use migsim::plugin::PluginFactory;
use migsim::policy::explain::REASON_KEY;
use migsim::policy::{self, CallProcedure, Candidate, Decision, Explain, Migration};
use migsim::random::Stream;
use migsim::units::ProcessId;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

use crate::plugin::{Class, Failure, attribute, place, true_or_false};
use crate::view::{Reasons, View};

impl PluginFactory<Box<dyn policy::Policy>> for Class {
    fn resolve_options(&self, options: &Map<String, Value>) -> Result<Map<String, Value>, Error> {
        self.resolve(options)
    }

    fn create_plugin(
        &self,
        options: &Map<String, Value>,
    ) -> Result<Box<dyn policy::Policy>, Error> {
        self.make(options, "the policy", |object| {
            let uses_seed = attribute(object, "uses_seed")?;
            Ok(Box::new(Policy {
                object: object.clone().unbind(),
                uses_seed: uses_seed.map_or(Ok(true), |value| true_or_false(&value))?,
                view: None,
                failure: Arc::clone(&self.failure),
                error: None,
            }) as Box<dyn policy::Policy>)
        })
    }
}

/// A policy in a run.
#[derive(Debug)]
struct Policy {
    object: Py<PyAny>,
    uses_seed: bool,
    /// The view; created at the first barrier, and refilled at each.
    view: Option<Py<View>>,
    failure: Arc<Failure>,
    /// An error in a method that can only return yes or no.
    error: Option<Error>,
}

impl Policy {
    /// Returns the view of this barrier.
    fn view<'py>(
        &mut self,
        py: Python<'py>,
        seen: &policy::View<'_>,
    ) -> PyResult<Bound<'py, View>> {
        let view = match &self.view {
            Some(view) => view.bind(py).clone(),
            None => Bound::new(py, View::new(py, seen)?)?,
        };
        view.borrow_mut().note(seen);
        self.view = Some(view.clone().unbind());
        Ok(view)
    }
}

impl policy::Policy for Policy {
    fn copy(&self) -> Option<Box<dyn policy::Policy>> {
        let copy = |py: Python<'_>| -> PyResult<Py<PyAny>> {
            let copied = py
                .import("copy")?
                .call_method1("deepcopy", (&self.object,))?;
            Ok(copied.unbind())
        };
        let object = Python::attach(copy).ok()?;
        Some(Box::new(Self {
            object,
            uses_seed: self.uses_seed,
            view: None,
            failure: Arc::clone(&self.failure),
            error: None,
        }))
    }

    fn is_call_due(&mut self, seen: &policy::View<'_>) -> bool {
        Python::attach(|py| {
            let ask = |policy: &mut Self| -> PyResult<bool> {
                let view = policy.view(py, seen)?;
                view.borrow_mut().take_reasons();
                let ask = attribute(policy.object.bind(py), "is_call_due")?;
                ask.map_or(Ok(true), |ask| true_or_false(&ask.call1((view,))?))
            };
            ask(self).unwrap_or_else(|error| {
                let place = place("is_call_due", seen.superstep);
                self.error = Some(self.failure.keep(py, error, "the policy", &place));
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
                view.borrow_mut().look_closer(seen);
                view.borrow_mut().seed_decision(random.draw_u64());
                let answer = self.object.bind(py).call_method1("decide", (&view,))?;
                let wishes = wishes(&answer, seen)?;
                let reasons = view.borrow_mut().take_reasons();
                let decision = decision(wishes, reasons, seen);
                Ok(Decision {
                    procedure: procedure(self.object.bind(py))?,
                    ..decision
                })
            };
            ask().map_err(|error| {
                let place = place("decide", seen.superstep);
                self.failure.keep(py, error, "the policy", &place)
            })
        })
    }

    fn uses_seed(&self) -> bool {
        self.uses_seed
    }
}

/// Returns the messages and operations of a call, as the attributes of an object say; none for those of MigBSP.
pub(crate) fn procedure(object: &Bound<'_, PyAny>) -> PyResult<Option<CallProcedure>> {
    let given = attribute(object, "procedure")?.filter(|value| !value.is_none());
    let Some(given) = given else {
        return Ok(None);
    };
    let json = object
        .py()
        .import("json")?
        .call_method1("dumps", (&given,))?;
    let gather = serde_json::from_str(&json.extract::<String>()?).map_err(|error| {
        PyValueError::new_err(format!(
            "`procedure` is no `gather` of an `exec` program: {error}"
        ))
    })?;
    let operations = attribute(object, "operations")?;
    Ok(Some(CallProcedure {
        gather,
        operation_count: operations.map_or(Ok(0), |number| number.extract())?,
    }))
}

/// The allowed forms of an answer.
const FORMS: &str = "answer a dict `{process: host}`, pairs `[(process, host), ...]`, an array of NumPy with the host of each process, or None";

/// Converts an answer into migrations; it is none, pairs of process and host, a dict of these, or an array with the host of each process.
pub(crate) fn wishes(
    answer: &Bound<'_, PyAny>,
    seen: &policy::View<'_>,
) -> PyResult<Vec<Migration>> {
    if answer.is_none() {
        return Ok(Vec::new());
    }
    if answer.hasattr("dtype")? && answer.hasattr("astype")? {
        return of_placement(answer, seen);
    }
    if let Ok(wishes) = answer.cast::<PyDict>() {
        let wish = |(process, host): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            migration(&process, &host, seen)
        };
        return wishes.iter().map(wish).collect();
    }
    let wrong = |what: String| PyTypeError::new_err(format!("{what}; {FORMS}"));
    let Ok(all) = answer.try_iter() else {
        return Err(wrong(format!("the answer is {}", answer.repr()?)));
    };
    let wish = |(place, wish): (usize, PyResult<Bound<'_, PyAny>>)| {
        let wish = wish?;
        let Ok((process, host)) = wish.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
            let what = format!(
                "entry {place} of the answer is {}, not a pair of a process and a host",
                wish.repr()?
            );
            return Err(wrong(what));
        };
        migration(&process, &host, seen)
    };
    all.enumerate().map(wish).collect()
}

/// Converts an array with the host of each process into migrations.
fn of_placement(answer: &Bound<'_, PyAny>, seen: &policy::View<'_>) -> PyResult<Vec<Migration>> {
    let shape = answer.getattr("shape")?;
    let processes = seen.processes();
    if shape.extract::<(usize,)>().ok() != Some((processes,)) {
        let message = format!(
            "the answer is an array of shape {}, and there are {processes} processes; {FORMS}",
            shape.repr()?
        );
        return Err(PyValueError::new_err(message));
    }
    let kind: String = answer.getattr("dtype")?.getattr("kind")?.extract()?;
    if !["i", "u"].contains(&kind.as_str()) {
        let message = format!(
            "the answer is an array of {}; hosts are whole numbers, counted from 0",
            answer.getattr("dtype")?.str()?
        );
        return Err(PyTypeError::new_err(message));
    }
    let hosts = answer.call_method1("astype", ("int64",))?;
    let hosts: Vec<i64> = hosts.call_method0("tolist")?.extract()?;
    let moved = hosts.into_iter().zip(seen.placement).enumerate();
    let moved = moved.filter(|(_, (to, from))| usize::try_from(*to) != Ok(from.index()));
    moved
        .map(|(process, (to, _))| checked(process as i64, to, seen))
        .collect()
}

/// Creates the migration of a process to a host, given as numbers in Python.
fn migration(
    process: &Bound<'_, PyAny>,
    host: &Bound<'_, PyAny>,
    seen: &policy::View<'_>,
) -> PyResult<Migration> {
    let Ok(number) = process.extract::<i64>() else {
        let message = format!(
            "{} is not the number of a process; {FORMS}",
            process.repr()?
        );
        return Err(PyTypeError::new_err(message));
    };
    let Ok(to) = host.extract::<i64>() else {
        let message = format!(
            "process {number} cannot go to host {}: hosts are numbers, counted from 0, and `view.platform[\"hosts\"].index(name)` gives the number of a host",
            host.repr()?
        );
        return Err(PyTypeError::new_err(message));
    };
    checked(number, to, seen)
}

/// Creates the migration of a process to a host, if both exist.
fn checked(process: i64, host: i64, seen: &policy::View<'_>) -> PyResult<Migration> {
    let (processes, hosts) = (seen.processes(), seen.platform.hosts.len());
    let within = |number: i64, count: usize| usize::try_from(number).ok().filter(|at| *at < count);
    match (within(process, processes), within(host, hosts)) {
        (Some(process), Some(host)) => Ok(Migration::new(process, host)),
        _ => Err(PyValueError::new_err(format!(
            "process {process} cannot go to host {host}: there are {processes} processes and {hosts} hosts, counted from 0; leave out a process that is to stay"
        ))),
    }
}

/// Creates the decision with its reasons: a process with a reason is a candidate of the call.
fn decision(migrations: Vec<Migration>, reasons: Reasons, seen: &policy::View<'_>) -> Decision {
    let candidate = |(process, why): (usize, Vec<String>)| {
        let moved = migrations.iter().find(|one| one.process.index() == process);
        let from = seen.placement[process];
        let to = moved.map(|one| one.to);
        Candidate {
            process: ProcessId::from_index(process),
            from,
            to_cluster: seen.platform.cluster_of(to.unwrap_or(from)),
            to,
            score: 0.0,
            stay: None,
            go: None,
            accepted: moved.is_some(),
            reason: why.join("; ").into(),
        }
    };
    let candidates = reasons.of_process.into_iter().map(candidate).collect();
    let explanation = (!reasons.of_call.is_empty()).then(|| {
        let reason = Value::from(reasons.of_call.join("; "));
        Arc::new(Map::from_iter([(REASON_KEY.to_owned(), reason)])) as Arc<dyn Explain>
    });
    Decision {
        candidates,
        explanation,
        ..Decision::from_migrations(migrations)
    }
}
