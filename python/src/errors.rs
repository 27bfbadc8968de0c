//! Errors of the library as `migsim.Error`, with the same messages, places and hints.

use migsim::error::{Error, Problem};
use pyo3::prelude::*;

/// Creates the exception of an error.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let problems: Vec<&Problem> = match error {
        Error::Input(problems) => problems.iter().collect(),
        Error::SimulationFailure(problem) | Error::Output(problem) => vec![problem],
        Error::InternalFault(broken) => vec![&broken.problem],
    };
    let told = problems.into_iter().map(|problem| {
        let (source, key) = (&problem.location.source, &problem.location.key);
        let (line, column) = problem.location.line_column.unzip();
        let hint = problem.hint.as_deref();
        (&problem.message, source, line, column, key, hint)
    });
    let told: Vec<_> = told.collect();
    let made = || -> PyResult<PyErr> {
        let class = py.import("migsim._errors")?.getattr("Error")?;
        Ok(PyErr::from_value(class.call1((error.to_string(), told))?))
    };
    made().unwrap_or_else(|failure| failure)
}
