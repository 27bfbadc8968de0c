//! Policies that are written in Python.

use std::sync::Arc;

use migsim::error::Error;
use migsim::plugin::Maker;
use migsim::policy::{self, Decision, Migration};
use migsim::random::Stream;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Map, Value};

use crate::plugin::{Class, Failure, attribute};
use crate::view::View;

impl Maker<Box<dyn policy::Policy>> for Class {
    fn resolve(&self, options: &Map<String, Value>) -> Result<Map<String, Value>, Error> {
        self.resolve(options)
    }

    fn make(&self, options: &Map<String, Value>) -> Result<Box<dyn policy::Policy>, Error> {
        self.make(options, "the policy", |object| {
            let uses_seed = attribute(object, "uses_seed")?;
            Ok(Box::new(Policy {
                object: object.clone().unbind(),
                uses_seed: uses_seed.map_or(Ok(true), |value| value.is_truthy())?,
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
            view.borrow_mut().note(seen);
            return Ok(view.clone());
        }
        let view = Bound::new(py, View::new(py, seen)?)?;
        view.borrow_mut().note(seen);
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
                view.borrow_mut().look_closer(seen, random.bits());
                let answer = self.object.bind(py).call_method1("decide", (view,))?;
                decision(&answer, seen)
            };
            ask().map_err(|error| {
                let place = format!("decide after superstep {}", seen.superstep + 1);
                self.failure.keep(py, error, "the policy", &place)
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
