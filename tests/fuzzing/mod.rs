//! The fuzz targets: a function per kind of input. It accepts any bytes, must not panic, and asserts the promised properties of such an
//! input.
//!
//! The fuzzer (`fuzz/`) calls these functions with its own inputs, the tests call them with those in `corpus/`.

#![expect(clippy::result_large_err, reason = "the error of the library as it is")]

mod data;
mod drawn;
mod folders;
mod loads;
mod platforms;
mod runs;
mod settings;
pub(crate) mod traces;

use std::path::Path;

use migsim::error::{Error, Problem};
use tempfile::TempDir;

/// The function of a target.
pub(crate) type Target = fn(&[u8]);

/// The targets by name; each has a folder with its name in `corpus/`.
pub(crate) const TARGETS: &[(&str, Target)] = &[
    ("platform", platforms::json),
    ("simgrid", platforms::simgrid),
    ("trace", traces::trace),
    ("vt", data::vt),
    ("table", data::table),
    ("settings", settings::settings),
    ("load", loads::load),
    ("folder", folders::folder),
    ("runs", runs::runs),
    ("extremes", runs::extremes),
];

/// Checks that an error has a message and a place, and that a place in `source` lies in its text.
fn check_told(error: &Error, source: &str, text: &str) {
    let problems = match error {
        Error::Input(problems) => &problems[..],
        Error::SimulationFailure(problem) | Error::Output(problem) => std::slice::from_ref(problem),
        Error::InternalFault(broken) => unreachable!("a fault of ours: {}", broken.problem),
    };
    assert!(!problems.is_empty(), "an error without a problem");
    for problem in problems {
        assert!(!problem.message.is_empty(), "{problem:?}");
        let place = &problem.location;
        // The last of many problems counts the further ones in all places.
        let is_count = problem.message.ends_with("more problems were found");
        assert!(
            is_count || place.source.is_some() || place.key.is_some(),
            "no place: {problem}"
        );
        if place.source.as_deref() == Some(source) {
            check_place(problem, text);
        }
    }
}

fn check_place(problem: &Problem, text: &str) {
    if let Some((line, column)) = problem.location.line_column {
        let found = line.checked_sub(1).and_then(|line| {
            // A problem may also lie after the last line, where something is missing.
            let mut lines = text.split('\n').chain([""]);
            lines.nth(line)
        });
        let columns = found.map_or(0, |line| line.chars().count() + 1);
        assert!(
            (1..=columns).contains(&column),
            "not in the text: {problem}"
        );
    }
}

/// Makes a folder for the files of an input, in memory if possible.
fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    folder.expect("a folder can be made")
}

/// Returns the name of a file in a folder as text.
fn name(folder: &TempDir, file: &str) -> String {
    folder.path().join(file).display().to_string()
}
