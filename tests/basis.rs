//! The settings below a run: those of a paper on the platforms of their fit, neutral ones elsewhere, and the notes about them.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::support::{command, done, read, said, succeeded};

/// A platform that no paper used.
const LAB: &str = "tests/transcripts/files/own.json";

/// The options of a small run of `lu`; the platform follows.
const LU: &str = "--n 100 --procs 25 --platform";

/// Returns what a command prints as JSON, and its messages.
fn json_of(line: &str) -> (Value, String) {
    let output = succeeded(command(Path::new("."), &format!("{line} --json")));
    let printed = serde_json::from_slice(&output.stdout).expect("JSON");
    (printed, said(&output))
}

fn shown(flags: &str) -> Value {
    let shown = done(Path::new("."), &format!("run {flags} --show"));
    serde_json::from_str(&shown).expect("JSON")
}

/// The hash of each scenario.
fn hashes(summary: &Value) -> Vec<&str> {
    let scenarios = summary["scenarios"].as_array().expect("a list").iter();
    scenarios
        .map(|one| one["event_hash"].as_str().expect("a hash"))
        .collect()
}

/// All settings of the paper's run with another platform, which is what a former `--app lu` meant on every platform.
fn settings_of_the_paper(platform: &str, folder: &Path) -> String {
    let mut settings = shown(&format!("--app lu {LU} ufrgs"));
    settings["platform"] = json!(platform);
    let file = folder.join("settings.json");
    fs::write(&file, settings.to_string()).expect("a scratch file");
    file.display().to_string()
}

#[test]
fn on_another_platform_messages_carry_their_bytes_with_a_note() {
    let line = format!("run --app lu --platform {LAB} --n 1000 --procs 50");
    let (summary, errors) = json_of(&line);
    // Stage k sends 999 - k elements of 8 B to 4 + 9 processes, 499 500 elements in total for each, and single elements besides.
    assert!(summary["application"]["bytes"].as_f64().unwrap() > 499_500.0 * 13.0 * 8.0);
    assert_eq!(summary["basis"], "neutral settings, fitted to no platform");
    let of_settings = errors
        .lines()
        .filter(|line| line.starts_with("note: neutral"));
    assert_eq!(of_settings.count(), 1, "{errors}");
    assert!(
        errors.starts_with("note: neutral settings (fitted to no platform) are used for `lu` on "),
        "{errors}"
    );
    assert!(errors.contains("`--set extends=lu`"), "{errors}");

    let settings = shown(&format!("--app lu {LU} {LAB}"));
    assert_eq!(settings["basis"], json!({ "experiment": "neutral" }));
    assert_eq!(settings["workload"]["bytes_per_element"], "8 B");
    assert_eq!(settings["costs"]["call"]["model"], "messages");
    assert_eq!(settings["costs"]["move"]["transfer"], "flow");
    assert_eq!(settings["runtime"]["sends"], "concurrent");
    assert_eq!(settings["policy"]["migbsp"]["x"], 0.68);
}

#[test]
fn the_settings_of_a_paper_hold_on_every_platform_on_request() {
    let scratch = tempfile::tempdir().unwrap();
    let former = settings_of_the_paper(LAB, scratch.path());
    let (expected, _) = json_of(&format!("run {former}"));
    let own = scratch.path().join("own.json");
    fs::write(&own, r#"{"extends": "lu", "workload": {"app": "lu"}}"#).unwrap();
    for asked in [
        "--app lu --set extends=lu",
        "lu",
        "workloads/lu.json",
        own.to_str().unwrap(),
    ] {
        let (summary, errors) = json_of(&format!("run {asked} {LU} {LAB}"));
        assert_eq!(hashes(&summary), hashes(&expected), "{asked}");
        assert_eq!(
            summary["basis"],
            "settings of the experiment lu, fitted to other platforms"
        );
        let what = "note: the settings of the experiment `lu` are fitted to `ufrgs`";
        assert!(errors.starts_with(what), "{errors}");
    }
    let (neutral, _) = json_of(&format!("run --app lu {LU} {LAB}"));
    assert_ne!(hashes(&neutral), hashes(&expected));
}

#[test]
fn there_is_no_note_on_the_platform_of_the_paper() {
    for run in [
        "--app lu --n 100 --procs 25",
        "--app lu --n 100 --procs 25 --platform ufrgs-as-printed",
        "--app sw --n 10 --platform platforms/ufrgs-sw.json",
        "lbm-b1 --set workload.supersteps=4",
        "sw-dynamic --n 10 --platform sw-dynamic-t75",
        &format!("--app synthetic --procs 4 --platform {LAB}"),
    ] {
        let output = succeeded(command(Path::new("."), &format!("run {run}")));
        assert_eq!(said(&output), "", "{run}");
    }
}

#[test]
fn a_copy_is_the_paper_s_machine_and_an_edited_copy_is_another_one() {
    let scratch = tempfile::tempdir().unwrap();
    let text = fs::read_to_string("platforms/ufrgs.json").unwrap();
    let platform: Value = serde_json::from_str(&text).unwrap();
    fs::write(scratch.path().join("copy.json"), platform.to_string()).unwrap();
    let edited = text.replace("\"1.2 GHz\"", "\"1.21 GHz\"");
    assert_ne!(edited, text);
    fs::write(scratch.path().join("ufrgs.json"), edited).unwrap();
    let run = |platform: &str| {
        let line = format!("run --app lu --json {LU} {platform}");
        let output = succeeded(command(scratch.path(), &line));
        let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
        (summary["scenarios"][0]["event_hash"].clone(), said(&output))
    };
    let (own, _) = json_of(&format!("run --app lu {LU} ufrgs"));
    assert_eq!(run("copy.json"), (json!(hashes(&own)[0]), String::new()));
    let (_, errors) = run("ufrgs.json");
    assert!(
        errors.contains("on `ufrgs.json` (not the built-in `ufrgs`)"),
        "{errors}"
    );
}

#[test]
fn a_row_of_a_sweep_over_platforms_is_the_run_that_it_names() {
    let scratch = tempfile::tempdir().unwrap();
    let platforms = ["ufrgs", LAB];
    let line = format!(
        "sweep --app lu --n 100 --procs 25 --vary platform={} --out {}",
        platforms.join(","),
        scratch.path().display()
    );
    let output = succeeded(command(Path::new("."), &line));
    let notes = said(&output);
    assert_eq!(
        notes
            .matches("neutral settings (fitted to no platform) are used for `lu` on `tests/")
            .count(),
        1,
        "{notes}"
    );
    let table = read(scratch.path(), "runs.csv");
    let mut rows = table.lines();
    let names: Vec<&str> = rows.next().unwrap().split(',').collect();
    let column = |name: &str| names.iter().position(|own| *own == name).unwrap();
    for (row, platform) in rows.zip(platforms) {
        let cells: Vec<&str> = row.split(',').collect();
        assert_eq!(cells[column("platform")], platform);
        let (run, _) = json_of(&format!("run --app lu {LU} {platform}"));
        for (at, name) in ["makespan_i_s", "makespan_ii_s", "makespan_iii_s"]
            .into_iter()
            .enumerate()
        {
            let found: f64 = cells[column(name)].parse().unwrap();
            let expected = run["scenarios"][at]["makespan_s"].as_f64().unwrap();
            assert_eq!(found.to_bits(), expected.to_bits(), "{platform}, {name}");
        }
    }
}

#[test]
fn a_manifest_runs_again_with_the_settings_that_it_had() {
    let scratch = tempfile::tempdir().unwrap();
    for (platform, basis) in [
        (LAB, "neutral settings, fitted to no platform"),
        (
            "ufrgs",
            "settings of the experiment lu, fitted to this platform",
        ),
    ] {
        let folder = |name: &str| scratch.path().join(format!("{name}-{}", platform.len()));
        let (first, second) = (folder("first"), folder("second"));
        let into = |folder: &Path| format!("--quiet --out {}", folder.display());
        let run = format!("run --app lu {LU} {platform} --report {}", into(&first));
        done(Path::new("."), &run);
        let again = format!("run {} {}", first.display(), into(&second));
        let output = succeeded(command(Path::new("."), &again));
        assert_eq!(said(&output), "");
        let [one, other] = [&first, &second]
            .map(|folder| serde_json::from_str::<Value>(&read(folder, "run.json")).unwrap());
        assert_eq!(one["experiment"], other["experiment"]);
        assert_eq!(one["summary"]["scenarios"], other["summary"]["scenarios"]);
        assert_eq!(other["summary"]["basis"], basis);
        assert!(read(&first, "report.html").contains(&format!("Run with {basis}.")));
    }
}

#[test]
fn tune_and_explain_print_the_same_note() {
    for kind in ["tune --alpha 2,4 --budget 8", "explain --superstep 4"] {
        let line = format!("{kind} --app lu {LU} {LAB}");
        let errors = said(&succeeded(command(Path::new("."), &line)));
        let notes = errors
            .matches("note: neutral settings (fitted to no platform) are used for `lu` on ")
            .count();
        assert_eq!(notes, 1, "{kind}: {errors}");
    }
}

#[test]
fn a_setting_that_is_set_back_to_its_default_has_no_origin() {
    // The experiment gives the reason why `runtime.load` is `present`; the default is not written.
    let origin = |shown: &Value| shown["origins"]["runtime.load"].clone();
    assert!(origin(&shown("sw-dynamic")).is_string());
    let back = shown("sw-dynamic --set runtime.load=since-call");
    assert_eq!(origin(&back), Value::Null);
}

#[test]
fn the_table_names_the_readings_of_migbsp_off_the_platforms_of_the_papers() {
    let table = |line: &str| done(Path::new("."), &format!("run {line}"));
    let own = format!("--app synthetic --procs 4 --platform {LAB}");
    let named = "choices of this run for rules that the papers on migbsp leave open: t2, the predicted time after a move, without the cost of the move; ";
    assert!(table(&own).contains(named));
    let counted = "--set policy.migbsp.viability_transfer=true";
    let told = table(&format!("{own} {counted}"));
    assert!(
        told.contains("choices of this run for rules that the papers on migbsp leave open: t2, the predicted time after a move, with the transfer of the memory; "),
        "{told}"
    );
    // There is no such line for a policy without readings, for a run that calls no policy, and for a run of a paper.
    let paper = "--app sw --n 10 --procs 10";
    for silent in [
        &format!("{own} --policy never"),
        &format!("{own} --scenario i"),
        paper,
    ] {
        assert!(!table(silent).contains("leave open: "), "{silent}");
    }
    let (summary, _) = json_of(&format!("run {own}"));
    assert_eq!(
        summary["readings"][0],
        "t2, the predicted time after a move, without the cost of the move"
    );
    let (summary, _) = json_of(&format!("run {paper}"));
    assert_eq!(summary["readings"], Value::Null);
}
