//! Measured loads that are part of the program. A name such as `built-in:build-0` selects a built-in load wherever the path of a
//! file is expected.
//!
//! `workloads/measured/README.md` describes the computer and the method of the measurement.

use migsim_base::{
    document::{BUILT_IN, read_text},
    error::Problem,
};

const BUILT_IN_LOADS: [(&str, &str); 2] = [
    (
        "build-0",
        include_str!("../../../../../workloads/measured/build-0.txt"),
    ),
    (
        "build-1",
        include_str!("../../../../../workloads/measured/build-1.txt"),
    ),
];

/// Returns the text of the measured load `file`, which is the name of a built-in load or the path of a file.
///
/// # Errors
/// There is no built-in load of this name, or the file cannot be read.
pub(super) fn read_trace(file: &str) -> Result<String, Problem> {
    let Some(name) = file.strip_prefix(BUILT_IN) else {
        return read_text(file);
    };
    let names = BUILT_IN_LOADS.iter().map(|load| load.0);
    let found = BUILT_IN_LOADS.iter().find(|load| load.0 == name);
    let unknown =
        || Problem::unknown_name("built-in load", name).with_known_names("built-in loads", names);
    Ok(found.ok_or_else(unknown)?.1.to_owned())
}
