//! The folders that version 0.2.0 wrote (`tests/data/0.2.0`): two runs and a sweep. They are read, and the runs are repeated.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{command, done, said, succeeded};

/// A copy of the folders, since some commands write into them.
fn folders() -> TempDir {
    let scratch = tempfile::tempdir().unwrap();
    copy(Path::new("tests/data/0.2.0"), scratch.path());
    scratch
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn manifest(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("run.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn folders_of_version_0_2_are_read() {
    let scratch = folders();
    let text = |line: &str| done(scratch.path(), line);
    assert_eq!(manifest(&scratch.path().join("migbsp"))["version"], "0.2.0");
    let overview = text("explain migbsp");
    assert!(overview.contains("1 of them made 2 moves"), "{overview}");
    let call = text("explain migbsp --superstep 4");
    assert!(call.contains("p5") && call.contains("realised"), "{call}");
    let table = text("compare migbsp never");
    assert!(
        table.contains("1=  migbsp") && table.contains("15.87"),
        "{table}"
    );
    for folder in ["migbsp", "sweep"] {
        text(&format!("report {folder}"));
        let page = fs::read_to_string(scratch.path().join(folder).join("report.html")).unwrap();
        assert!(
            page.len() > 10_000 && page.contains("two-sites"),
            "{folder}"
        );
    }
}

#[test]
fn runs_of_version_0_2_are_repeated_to_the_last_digit() {
    let scratch = folders();
    for policy in ["migbsp", "never"] {
        let again = format!("run {policy}/run.json --out again --force");
        let output = succeeded(command(scratch.path(), &again));
        let note = "`policy.migbsp.communication_pattern=one-kept` is a setting of migsim up to version 0.2.0";
        assert_eq!(
            said(&output).contains(note),
            policy == "migbsp",
            "{}",
            said(&output)
        );
        let (before, again) = (scratch.path().join(policy), scratch.path().join("again"));
        for file in ["supersteps.csv", "migrations.csv"] {
            let read = |folder: &Path| fs::read_to_string(folder.join(file)).unwrap();
            assert!(read(&before) == read(&again), "{policy}: {file}");
        }
        let (before, again) = (manifest(&before), manifest(&again));
        let scenarios = before["summary"]["scenarios"].as_array().unwrap().iter();
        for (before, again) in scenarios.zip(again["summary"]["scenarios"].as_array().unwrap()) {
            for key in ["makespan_s", "event_hash", "messages", "moved"] {
                assert!(
                    !before[key].is_null() && before[key] == again[key],
                    "{policy}: {key}"
                );
            }
        }
    }
}
