//! The fuzz targets of migsim; their functions are in the tests, which call them as well.

#[path = "../../tests/fuzzing/mod.rs"]
mod fuzzing;

/// Returns the function of the target of this name, which takes an input.
///
/// # Panics
/// The target does not exist.
pub fn target(name: &str) -> fn(&[u8]) {
    let found = fuzzing::TARGETS.iter().find(|(known, _)| *known == name);
    found.expect("the target is in the table").1
}
