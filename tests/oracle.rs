//! The 38 simulations done with SimGrid, run with the command: every time is within 1e-9 of SimGrid's.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on stops; it says how near it came"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Maximum relative difference of times that count as equal, fixed in advance.
pub(crate) const TOLERANCE: f64 = 1e-9;

fn cases() -> Vec<String> {
    let index = fs::read_to_string(folder().join("index.txt")).unwrap();
    index
        .lines()
        .map(str::to_owned)
        .filter(|line| !line.is_empty())
        .collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle")
}

/// Returns the flags for the network with which a case was simulated.
pub(crate) fn network(model: &Value) -> Vec<String> {
    let preset = if model["network"] == "LV08" {
        "lv08"
    } else {
        "cm02"
    };
    let constants = [
        ("latency_factor", "latency_factor"),
        ("bandwidth_factor", "bandwidth_factor"),
        ("weight_S", "weight_s"),
        ("tcp_gamma", "tcp_gamma"),
        ("crosstraffic", "crosstraffic"),
        ("loopback_bandwidth", "loopback_bandwidth"),
    ];
    assert_eq!(
        model["loopback_latency"], 0.0,
        "the rules of the oracle have no other"
    );
    let mut flags = vec!["--network".to_owned(), preset.to_owned()];
    for (theirs, ours) in constants {
        flags.extend(["--net".to_owned(), format!("{ours}={}", model[theirs])]);
    }
    flags
}

/// Runs the case in a folder; returns the ends of its supersteps and the makespan.
pub(crate) fn run(case_folder: &Path, network: &[String]) -> Result<(Vec<f64>, f64), String> {
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_migsim"))
        .arg("run")
        .arg("--platform")
        .arg(case_folder.join("platform.xml"))
        .args(["--app", "trace", "--trace"])
        .arg(case_folder.join("trace.txt"))
        .args(["--scenario", "i", "--json", "--out"])
        .arg(out.path())
        .args(network)
        .output()
        .unwrap();
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {message}", case_folder.display()));
    }
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut table = csv::Reader::from_path(out.path().join("supersteps.csv")).unwrap();
    let ends = table
        .records()
        .map(|row| row.unwrap()[3].parse().unwrap())
        .collect();
    let makespan = summary["scenarios"][0]["makespan_s"].as_f64();
    Ok((ends, makespan.unwrap()))
}

/// Computes the relative difference of two times.
pub(crate) fn difference(ours: f64, theirs: f64) -> f64 {
    if theirs == 0.0 {
        ours.abs()
    } else {
        ((ours - theirs) / theirs).abs()
    }
}

#[test]
fn every_time_of_every_case_is_simgrids() {
    let mut worst: (f64, String) = (0.0, String::new());
    for case in cases() {
        let text = fs::read_to_string(folder().join(&case).join("expected.json")).unwrap();
        let expected: Value = serde_json::from_str(&text).unwrap();
        let (ends, makespan) = run(&folder().join(&case), &network(&expected["model"])).unwrap();
        let theirs: Vec<f64> = expected["step_end"]
            .as_array()
            .unwrap()
            .iter()
            .map(|end| end.as_f64().unwrap())
            .collect();
        assert_eq!(ends.len(), theirs.len(), "{case}");
        let finish = (
            makespan,
            expected["finish"].as_f64().unwrap(),
            "finish".to_owned(),
        );
        let steps = ends.iter().zip(&theirs).enumerate();
        let steps =
            steps.map(|(step, (ours, theirs))| (*ours, *theirs, format!("superstep {}", step + 1)));
        for (ours, theirs, what) in steps.chain([finish]) {
            let difference = difference(ours, theirs);
            assert!(
                difference <= TOLERANCE,
                "{case}, {what}: {ours} instead of {theirs} ({difference:.2e})"
            );
            if difference > worst.0 {
                worst = (difference, format!("{case}, {what}"));
            }
        }
    }
    println!(
        "{} cases, worst relative difference {:.2e} ({})",
        cases().len(),
        worst.0,
        worst.1
    );
}

#[test]
fn no_case_is_missing() {
    let folders = fs::read_dir(folder())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().is_dir())
        .count();
    assert_eq!((cases().len(), folders), (38, 38));
}

#[test]
fn changes_of_weight_have_the_side_effects_that_they_have_in_simgrid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle-reweigh");
    let cases = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir());
    let mut count = 0;
    for case in cases {
        let expected: Value =
            serde_json::from_str(&fs::read_to_string(case.join("expected.json")).unwrap()).unwrap();
        let preset = [
            "--network".to_owned(),
            expected["network"].as_str().unwrap().to_owned(),
        ];
        let theirs: Vec<f64> = expected["step_end"]
            .as_array()
            .unwrap()
            .iter()
            .map(|end| end.as_f64().unwrap())
            .collect();
        let (ends, _) = run(&case, &preset).unwrap();
        assert_eq!(ends.len(), theirs.len());
        for (ours, theirs) in ends.iter().zip(&theirs) {
            assert!(
                difference(*ours, *theirs) <= TOLERANCE,
                "{}: {ours} instead of {theirs}",
                case.display()
            );
        }
        // Without these flags some time differs, so that the case tests them.
        let (plain, _) = run(
            &case,
            &[
                &preset[..],
                &["--net".to_owned(), "reweigh_slip=false".to_owned()],
            ]
            .concat(),
        )
        .unwrap();
        assert!(
            plain
                .iter()
                .zip(&theirs)
                .any(|(ours, theirs)| difference(*ours, *theirs) > TOLERANCE),
            "{}",
            case.display()
        );
        count += 1;
    }
    assert_eq!(count, 4);
}
