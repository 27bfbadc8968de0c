//! Errors of the library as `migsim.Error`, with the same messages, places and hints.

use migsim::error::{Error, Problem};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Creates the exception of an error.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let problems: Vec<&Problem> = match error {
        Error::Input(problems) => problems.iter().collect(),
        Error::SimulationFailure(problem) | Error::Output(problem) => vec![problem],
        Error::InternalFault(broken) => vec![&broken.problem],
    };
    let made = || -> PyResult<PyErr> {
        let told: Vec<Bound<'_, PyDict>> = problems
            .into_iter()
            .map(|problem| told(py, problem))
            .collect::<PyResult<_>>()?;
        let class = py.import("migsim._errors")?.getattr("Error")?;
        Ok(PyErr::from_value(class.call1((error.to_string(), told))?))
    };
    made().unwrap_or_else(|failure| failure)
}

fn told<'py>(py: Python<'py>, problem: &Problem) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("message", &problem.message)?;
    told.set_item("source", &problem.location.source)?;
    let (line, column) = problem.location.line_column.unzip();
    told.set_item("line", line)?;
    told.set_item("column", column)?;
    told.set_item("key", &problem.location.key)?;
    told.set_item("hint", problem.hint.as_deref())?;
    Ok(told)
}
