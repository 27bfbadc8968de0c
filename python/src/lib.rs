//! The compiled part of the Python package `migsim`; what users call is in `python/migsim`.
//!
//! | module | content |
//! |---|---|
//! | `experiment` | settings from keywords; runs, stopped by Ctrl-C |
//! | `environment` | a run that stops at each barrier |
//! | `run` | a simulated run: summary, tables, explanations, report, folder |
//! | `table` | tables as Arrow and NumPy |
//! | `plugin` | plug-ins written in Python: classes by name, and their exceptions |
//! | `policy`, `trigger`, `application` | the three kinds of plug-ins |
//! | `view` | the data that policies see |
//! | `threads` | the threads that simulate |
//! | `errors` | errors of the library as `migsim.Error` |

mod application;
mod environment;
mod errors;
mod experiment;
mod plugin;
mod policy;
mod run;
mod table;
mod threads;
mod trigger;
mod view;

use std::ffi::OsString;

use migsim::experiment::Progress;
use migsim::output::without_colours;
use pyo3::prelude::*;

/// Runs the command line of a process (with the program name first); returns the exit code.
#[pyfunction]
fn run_in_process(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| migsim::cli::run_in_process(&migsim::Registry::standard(), arguments))
}

/// Runs a command line (with the program name first); returns exit code, output without colours, and notes. `on_poll` is called while the
/// command runs.
#[pyfunction]
#[pyo3(signature = (arguments, plugins=Vec::new(), on_poll=None))]
fn command(
    py: Python<'_>,
    arguments: Vec<OsString>,
    plugins: Vec<Py<plugin::Plugin>>,
    on_poll: Option<Bound<'_, PyAny>>,
) -> PyResult<(u8, String, String)> {
    let registry = plugin::registry(&plugins);
    migsim::cli::leave_signals_alone();
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let run = || migsim::cli::try_run_with(&registry, arguments, &mut out, &mut errors);
    let poll = || {
        on_poll
            .as_ref()
            .map_or(Ok(()), |tell| tell.call0().map(drop))
    };
    let code = threads::watched(py, run, poll, || Progress::stop_all(true));
    Progress::stop_all(false);
    let code = plugin::or_raise(py, &plugins, code?)?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((code, without_colours(&text(out)), text(errors)))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<experiment::Experiment>()?;
    module.add_class::<environment::Environment>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<plugin::Plugin>()?;
    module.add_class::<view::View>()?;
    module.add_class::<trigger::Observed>()?;
    module.add_class::<application::Plan>()?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(run_in_process, module)?)?;
    module.add_function(wrap_pyfunction!(table::read_csv, module)?)?;
    Ok(())
}
