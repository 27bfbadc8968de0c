//! Triggers written in Python.

use std::sync::Arc;

use migsim::error::Error;
use migsim::plugin::PluginFactory;
use migsim::policy::trigger;
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::plugin::{Class, Failure, place, true_or_false};

impl PluginFactory<Box<dyn trigger::Trigger>> for Class {
    fn resolve_options(&self, options: &Map<String, Value>) -> Result<Map<String, Value>, Error> {
        self.resolve(options)
    }

    fn create_plugin(
        &self,
        options: &Map<String, Value>,
    ) -> Result<Box<dyn trigger::Trigger>, Error> {
        self.make(options, "the trigger", |object| {
            Ok(Box::new(Trigger {
                object: object.clone().unbind(),
                failure: Arc::clone(&self.failure),
                error: None,
            }) as Box<dyn trigger::Trigger>)
        })
    }
}

/// A trigger in a run.
#[derive(Debug)]
struct Trigger {
    object: Py<PyAny>,
    failure: Arc<Failure>,
    /// An error in a method that can only return yes or no.
    error: Option<Error>,
}

/// The times of the hosts in the superstep that has just ended.
#[pyclass(frozen, module = "migsim._core")]
#[derive(Debug)]
pub(crate) struct Observed {
    /// The superstep, counted from 0.
    #[pyo3(get)]
    superstep: usize,
    /// The maximum computing time of a host \[s\].
    #[pyo3(get)]
    max_s: f64,
    /// The mean computing time of the hosts \[s\].
    #[pyo3(get)]
    mean_s: f64,
    /// The minimum computing time of a host \[s\].
    #[pyo3(get)]
    min_s: f64,
    /// The price of the last balancing \[s\].
    #[pyo3(get)]
    price_s: f64,
    /// Whether it is the first superstep of the run, or the first after a balancing.
    #[pyo3(get)]
    is_first: bool,
}

impl trigger::Trigger for Trigger {
    fn is_due(&mut self, observed: &trigger::ObservedSuperstep) -> bool {
        let seen = Observed {
            superstep: observed.superstep,
            max_s: observed.max_host_time.get(),
            mean_s: observed.mean_host_time.get(),
            min_s: observed.min_host_time.get(),
            price_s: observed.balancing_cost.get(),
            is_first: observed.is_first_with_placement(),
        };
        Python::attach(|py| {
            let object = self.object.bind(py);
            let answer = object.call_method1(pyo3::intern!(py, "is_due"), (seen,));
            let is_due = answer.and_then(|answer| true_or_false(&answer));
            is_due.unwrap_or_else(|error| {
                let place = place("is_due", observed.superstep);
                self.error = Some(self.failure.keep(py, error, "the trigger", &place));
                true
            })
        })
    }

    fn on_outcome(&mut self, moved: usize) {
        Python::attach(|py| {
            let object = self.object.bind(py);
            if let Err(error) = object.call_method1(pyo3::intern!(py, "on_outcome"), (moved,)) {
                self.error = Some(self.failure.keep(py, error, "the trigger", "on_outcome"));
            }
        });
    }

    fn failure(&mut self) -> Option<Error> {
        self.error.take()
    }
}
