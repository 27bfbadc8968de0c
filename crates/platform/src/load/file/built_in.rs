//! The measured loads that come with migsim. `built-in:build-0` stands where the name of a file can stand.
//!
//! `workloads/measured/README.md` names the computer and the way in which they were measured.

use migsim_base::document::{BUILT_IN, read_text};
use migsim_base::error::Problem;

/// Name and text of each load: one value per second.
const LOADS: [(&str, &str); 2] = [
    (
        "build-0",
        include_str!("../../../../../workloads/measured/build-0.txt"),
    ),
    (
        "build-1",
        include_str!("../../../../../workloads/measured/build-1.txt"),
    ),
];

/// Returns the text of the load `file`: a built-in load, or a file.
///
/// # Errors
/// There is no built-in load of this name, or the file cannot be read.
pub(super) fn read(file: &str) -> Result<String, Problem> {
    let Some(name) = file.strip_prefix(BUILT_IN) else {
        return read_text(file);
    };
    let names = LOADS.iter().map(|load| load.0);
    let found = LOADS.iter().find(|load| load.0 == name);
    let unknown = || Problem::unknown("built-in load", name).known("built-in loads", names);
    Ok(found.ok_or_else(unknown)?.1.to_owned())
}
