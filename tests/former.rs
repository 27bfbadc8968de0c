//! The folders that versions 0.2.0 and 0.3.0 wrote (`tests/data/0.2.0`, `tests/data/0.3.0`): runs and a sweep. They are read, and the
//! runs are repeated, or it is said what moved.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{command, done, refused, said, succeeded};

/// A copy of the folders, since some commands write into them.
fn folders() -> TempDir {
    let scratch = tempfile::tempdir().unwrap();
    for version in ["0.2.0", "0.3.0"] {
        copy(&Path::new("tests/data").join(version), scratch.path());
    }
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

#[test]
fn a_repeated_run_of_version_0_3_says_whether_its_times_moved() {
    let scratch = folders();
    let said_of = |line: &str| said(&succeeded(command(scratch.path(), line)));
    let equal = "equal to the last digit to those of migsim 0.3.0";
    let text = said_of("run greedy/run.json");
    assert!(text.contains(equal), "{text}");
    // The rule for ties of version 0.4 leads to other moves.
    let text = said_of("run hierarchical");
    let moved = "those of migsim 0.3.0: scenario ii takes 7.92824";
    assert!(
        text.contains(moved) && text.contains("scenario iii"),
        "{text}"
    );
    let text = said_of("run greedy --seed 2");
    assert!(!text.contains("migsim 0.3.0"), "{text}");
    for line in [
        "explain hierarchical",
        "report greedy",
        "compare greedy hierarchical",
    ] {
        done(scratch.path(), line);
    }
}

#[test]
fn what_a_version_cannot_repeat_is_refused_in_one_line_that_names_the_writer() {
    let scratch = folders();
    for line in [
        "run sw-dynamic/run.json",
        "snapshot sw-dynamic --superstep 3",
    ] {
        let text = refused(scratch.path(), line);
        let settings = "`policy.migbsp.free_host=quiet`, `policy.migbsp.load_memory=1`";
        assert_eq!(text.matches("error: ").count(), 1, "{text}");
        assert!(
            text.contains("migsim 0.3.0") && text.contains(settings),
            "{text}"
        );
    }
    let sweep =
        "sweep --platform two-sites.json --app synthetic --procs 8 --alpha 2,4 --quiet --out sweep";
    let text = refused(scratch.path(), sweep);
    assert!(text.contains("results of migsim 0.2.0"), "{text}");
}
