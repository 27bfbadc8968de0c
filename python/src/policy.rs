//! Policies written in Python.

use std::sync::Arc;

use migsim::error::Error;
use migsim::plugin::PluginFactory;
use migsim::policy::explain::REASON_KEY;
use migsim::policy::{self, Candidate, Decision, Explain, Migration};
use migsim::random::Stream;
use migsim::units::ProcessId;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::plugin::{Class, Failure, place, true_or_false};
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
            let uses_seed = object.getattr_opt("uses_seed")?;
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
        let view = View::kept(py, &mut self.view, seen)?;
        view.borrow_mut().note(py, seen)?;
        Ok(view)
    }
}

impl policy::Policy for Policy {
    fn copy(&self) -> Option<Box<dyn policy::Policy>> {
        let object = Python::attach(|py| {
            let copied = py.import("copy")?.call_method1("deepcopy", (&self.object,));
            copied.map(Bound::unbind)
        });
        Some(Box::new(Self {
            object: object.ok()?,
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
                let ask = policy.object.bind(py).getattr_opt("is_call_due")?;
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
                view.borrow_mut().look_closer(py, seen)?;
                view.borrow_mut().seed_decision(random.draw_u64());
                let decided = (self.object.bind(py), &view);
                let decided = py
                    .import("migsim._policy")?
                    .call_method1("decided", decided)?;
                let (moves, procedure): (_, String) = decided.extract()?;
                let reasons = view.borrow_mut().take_reasons();
                Ok(with_reasons(decision(moves, &procedure)?, reasons, seen))
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

/// Creates the decision of moves of processes to hosts. Their messages and operations are in JSON; null stands for those of MigBSP.
pub(crate) fn decision(moves: Vec<(usize, usize)>, procedure: &str) -> PyResult<Decision> {
    let procedure = serde_json::from_str(procedure).map_err(|error| {
        PyValueError::new_err(format!(
            "`procedure` is no `gather` of an `exec` program: {error}"
        ))
    })?;
    let moves = moves.into_iter();
    let migrations = moves.map(|(process, host)| Migration::new(process, host));
    Ok(Decision {
        procedure,
        ..Decision::from_migrations(migrations.collect())
    })
}

/// Adds the reasons to a decision: a process with a reason is a candidate of the call.
fn with_reasons(decision: Decision, reasons: Reasons, seen: &policy::View<'_>) -> Decision {
    let migrations = &decision.migrations;
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
        ..decision
    }
}
