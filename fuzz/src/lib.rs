//! The fuzz targets of migsim; what they do stands beside the tests, which call it, too.

#[path = "../../tests/fuzzing/mod.rs"]
mod fuzzing;

/// What the target of this name does with an input.
///
/// # Panics
/// There is no such target.
pub fn target(name: &str) -> fn(&[u8]) {
    let found = fuzzing::TARGETS.iter().find(|(known, _)| *known == name);
    found.expect("the target is in the table").1
}
