//! The published package: its files, its size, and the citation of its version.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::fs;
use std::process::Command;

use crate::support::succeeded;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The largest size of the package as it is compressed \[B\].
const LIMIT: usize = 2_000_000;

/// The files of the package, as cargo lists them.
fn files() -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline", "--quiet"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let list = String::from_utf8(succeeded(output).stdout).unwrap();
    list.lines().map(str::to_owned).collect()
}

#[test]
fn the_package_has_only_the_files_of_a_user() {
    let files = files();
    let folders = ["docs/", "platforms/", "src/", "workloads/"];
    let made_by_cargo = [".cargo_vcs_info.json", "Cargo.toml.orig"];
    let others = [
        "CHANGELOG.md",
        "CITATION.cff",
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
    ];
    let mut size = 0;
    for file in &files {
        if made_by_cargo.contains(&file.as_str()) {
            continue;
        }
        let is_known = folders.iter().any(|folder| file.starts_with(folder));
        assert!(is_known || others.contains(&file.as_str()), "{file}");
        let bytes = fs::read(file).unwrap();
        size += miniz_oxide::deflate::compress_to_vec(&bytes, 6).len();
    }
    for file in others {
        assert!(files.iter().any(|listed| listed == file), "{file}");
    }
    assert!(size < LIMIT, "{size} B");
}

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
    let newest = changelog.lines().find(|line| line.starts_with("## "));
    let newest = newest.unwrap().split_whitespace().nth(1);
    assert_eq!(newest, Some(VERSION), "CHANGELOG.md");
}

#[test]
fn the_container_is_built_with_the_oldest_supported_compiler() {
    let container = fs::read_to_string("Containerfile").unwrap();
    let image = format!("library/rust:{}-", env!("CARGO_PKG_RUST_VERSION"));
    assert!(container.contains(&image), "Containerfile: no {image}");
}
