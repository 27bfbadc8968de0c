//! The crates are floors of a tower: each uses only the crates below it, and each stays below a size that a reader can know.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::fs;
use std::path::Path;

use super::source::files;

/// The crates from the lowest to the highest; the root package is above them.
const FLOORS: [&str; 11] = [
    "base",
    "platform",
    "engine",
    "bsp",
    "workloads",
    "strategies",
    "policies",
    "experiment",
    "output",
    "study",
    "papers",
];

/// Maximum number of lines of a crate, with its tests.
const CRATE: usize = 20_000;

/// Maximum number of lines of the root package, without `tests`.
const ROOT: usize = 12_000;

/// Lists the crates that a manifest names as dependencies of a build, without tests.
fn dependencies(manifest: &str) -> Vec<String> {
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap();
    let section = section.split("\n[").next().unwrap();
    let named = section
        .lines()
        .filter_map(|line| line.strip_prefix("migsim-"));
    named
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect()
}

/// Checks what the compiler allows: a crate that uses another on the same floor, or a crate that is missing in this list.
#[test]
fn crates_use_only_those_below_them() {
    let mut found: Vec<String> = fs::read_dir("crates")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut known = FLOORS.map(str::to_owned);
    found.sort();
    known.sort();
    assert_eq!(found, known);
    for (at, floor) in FLOORS.iter().enumerate() {
        let manifest = fs::read_to_string(format!("crates/{floor}/Cargo.toml")).unwrap();
        assert!(manifest.contains("publish = false"), "{floor}");
        for used in dependencies(&manifest) {
            assert!(FLOORS[..at].contains(&used.as_str()), "{floor} uses {used}");
        }
    }
    let policies = fs::read_to_string("crates/policies/Cargo.toml").unwrap();
    assert!(!dependencies(&policies).contains(&"workloads".to_owned()));
    assert!(dependencies(&policies).contains(&"bsp".to_owned()));
}

#[test]
fn crates_stay_below_their_sizes() {
    let lines = |folder: &Path| -> usize {
        let texts = files(folder)
            .into_iter()
            .map(|file| fs::read_to_string(file).unwrap());
        texts.map(|text| text.lines().count()).sum()
    };
    for floor in FLOORS {
        let count = lines(&Path::new("crates").join(floor).join("src"));
        assert!(count > 1_000 && count <= CRATE, "{floor}: {count} lines");
    }
    let count = lines(Path::new("src"));
    assert!(count <= ROOT, "src: {count} lines");
}
