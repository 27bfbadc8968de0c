//! The published sources: the citation of their version, and what they are built with.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::PathBuf};

use super::source::all_files;

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[test]
fn the_citation_is_of_this_version() {
    let citation = fs::read_to_string("CITATION.cff").unwrap();
    let is_current = citation.contains(&format!("\nversion: {VERSION}\n"));
    assert!(is_current, "CITATION.cff: write `version: {VERSION}`");
    let readme = fs::read_to_string("README.md").unwrap();
    let is_current = readme.contains(&format!("version {VERSION}"));
    assert!(
        is_current,
        "README.md, how to cite: write version {VERSION}"
    );
    let changelog = fs::read_to_string("CHANGELOG.md").unwrap();
    // The next version may come before it, with `(unreleased)`.
    let is_version = |line: &&str| line.starts_with("## ") && !line.ends_with("(unreleased)");
    let newest = changelog.lines().find(is_version);
    let newest = newest.unwrap().split_whitespace().nth(1);
    assert_eq!(newest, Some(VERSION), "CHANGELOG.md");
}

#[test]
fn the_container_is_built_with_the_oldest_supported_compiler() {
    let container = fs::read_to_string("Containerfile").unwrap();
    let image = format!("library/rust:{}-", env!("CARGO_PKG_RUST_VERSION"));
    assert!(container.contains(&image), "Containerfile: no {image}");
}

/// Lists the files that the program includes, as paths from the root. Tests are left out, since the published package does not build them.
fn included() -> Vec<PathBuf> {
    let root = fs::canonicalize(".").unwrap();
    let mut found = Vec::new();
    for file in all_files() {
        let source = fs::read_to_string(&file).unwrap();
        let program = source.split("#[cfg(test)]\nmod tests").next().unwrap();
        if file.ends_with("tests.rs") {
            continue;
        }
        for call in ["include_str!(", "include_bytes!("] {
            for rest in program.split(call).skip(1) {
                let name = rest.split('"').nth(1).unwrap();
                let target = fs::canonicalize(file.with_file_name(name)).unwrap();
                found.push(target.strip_prefix(&root).unwrap().to_owned());
            }
        }
    }
    found
}

#[test]
fn the_container_has_all_files_that_the_program_includes() {
    let container = fs::read_to_string("Containerfile").unwrap();
    let copied: Vec<&str> = container
        .lines()
        .filter_map(|line| line.strip_prefix("COPY "))
        .flat_map(|line| line.split_whitespace().rev().skip(1))
        .collect();
    let included = included();
    assert!(included.len() > 50, "{included:?}");
    for file in included {
        let is_copied = copied.iter().any(|from| file.starts_with(from));
        assert!(is_copied, "Containerfile: no COPY of {}", file.display());
    }
}
