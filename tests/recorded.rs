//! Recorded traces: the library that they use, and the notes about it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fmt::Write as _, fs, process::Command};

use migsim::experiment::{Experiment, Layers, Limits};
use serde_json::json;

const PATH: &str = env!("CARGO_BIN_EXE_migsim");

const RECORDED: &str = "recorded library open-mpi\nrecorded version 4.1.4\nrecorded transport tcp\nrecorded waiting spin\n";

/// Loads an experiment with a trace that has these lines in its header, in a folder with these libraries beside it.
fn loaded(lines: &str, beside: &[(&str, &str)], chosen: Option<&str>) -> Experiment {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("app.trace");
    let steps = "runtime barrier.kind none\nstep 0\nm 0 1 8\nend\n";
    fs::write(
        &trace,
        format!("migsim-trace 2\nprocesses 2\n{lines}{steps}"),
    )
    .unwrap();
    for (name, text) in beside {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let trace = trace.to_str().unwrap();
    let mut settings = vec![
        ("workload.app", json!("trace")),
        ("workload.trace", json!(trace)),
        ("platform", json!("ufrgs")),
    ];
    settings.extend(chosen.map(|name| ("library", json!(name))));
    Experiment::load(&Layers::from_pairs(settings), Limits::default()).unwrap()
}

fn library(name: &str, machine: &str) -> String {
    format!(
        r#"{{ "schema": "migsim-library-1", "name": "{name}", "machine": {machine}, "network": {{ "overhead": "5 us" }}, "runtime": {{ "barrier": {{ "kind": "central" }} }} }}"#
    )
}

#[test]
fn a_recording_takes_the_library_of_its_name_unless_another_one_is_chosen() {
    let plain = loaded("", &[], None);
    assert_eq!(
        (plain.config.library, plain.network.overhead.get()),
        (None, 0.0)
    );
    assert_eq!(
        plain
            .setting_notes
            .iter()
            .filter(|note| note.contains("recorded"))
            .count(),
        0
    );
    let recorded = loaded(RECORDED, &[], None);
    assert_eq!(recorded.config.library.as_deref(), Some("open-mpi"));
    assert_eq!(
        (
            recorded.network.overhead.get(),
            recorded.resolved_settings["network"]["overhead"].as_str()
        ),
        (147e-6, Some("0.000147 s"))
    );
    assert_eq!(
        recorded.resolved_settings["runtime"]["barrier"]["kind"],
        "none"
    );
    let note = &recorded.setting_notes[0];
    assert!(note.contains("open-mpi 4.1.4 over tcp where waiting processes spin; the costs of messages are those of the library model `open-mpi`, whose overhead was measured on another kind of machine (open-mpi over tcp where waiting processes sleep)"), "{note}");
    let ideal = loaded(RECORDED, &[], Some("ideal"));
    assert_eq!(ideal.network.overhead.get(), 0.0);
    let unknown = loaded("recorded library fantasy\n", &[], None);
    assert!(
        unknown.config.library.is_none()
            && unknown.setting_notes[0].contains("whose costs migsim does not know")
    );
}

#[test]
fn a_library_beside_the_trace_is_taken_first() {
    let own = library(
        "own",
        r#"{ "library": "open-mpi", "transport": "tcp", "waiting": "spin" }"#,
    );
    let other = library("other", "{}");
    let files = [
        ("library.json", other.as_str()),
        ("app.library.json", own.as_str()),
    ];
    let found = loaded(RECORDED, &files, None);
    assert_eq!(found.network.overhead.get(), 5e-6);
    assert!(
        found.setting_notes[0].ends_with(
            "the costs of messages are those of the library model `own`, whose overhead was measured on the same kind of machine"
        ),
        "{}",
        found.setting_notes[0]
    );
    assert!(
        found
            .input_files
            .iter()
            .any(|input| input.role == "library" && input.name.ends_with("app.library.json"))
    );
    assert_eq!(
        found.resolved_settings["runtime"]["barrier"]["kind"],
        "none"
    );
    let found = loaded(RECORDED, &files[..1], None);
    assert!(found.setting_notes[0].ends_with(
        "the library model `other`, which does not state on what kind of machine its costs were measured"
    ));
}

#[test]
fn the_default_library_is_taken_by_recordings_of_its_mpi_library() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir_all(path("config/migsim")).unwrap();
    fs::create_dir(path("work")).unwrap();
    let steps = "runtime barrier.kind none\nstep 0\nm 0 1 8\nend\n";
    let text =
        |library: &str| format!("migsim-trace 2\nprocesses 2\nrecorded library {library}\n{steps}");
    fs::write(path("work/mine.trace"), text("open-mpi")).unwrap();
    fs::write(path("work/other.trace"), text("mpich")).unwrap();
    let own = library(
        "measured",
        r#"{ "library": "open-mpi", "transport": "tcp", "waiting": "spin" }"#,
    );
    fs::write(path("config/migsim/library.json"), own).unwrap();
    let said = |trace: &str| {
        let run = Command::new(PATH)
            .arg("run")
            .args(on_ufrgs(trace))
            .env("XDG_CONFIG_HOME", path("config"))
            .output()
            .unwrap();
        String::from_utf8(run.stderr).unwrap()
    };
    let mine = said(&path("work/mine.trace"));
    assert!(
        mine.starts_with(
            "note: the trace was recorded with open-mpi; the costs of messages are those of the library model `measured`,"
        ),
        "{mine}"
    );
    let other = said(&path("work/other.trace"));
    assert!(
        other.contains("the costs of messages are those of the library model `mpich`,"),
        "{other}"
    );
}

/// Returns the arguments that choose a trace on `ufrgs`.
fn on_ufrgs(trace: &str) -> [&str; 6] {
    ["--platform", "ufrgs", "--app", "trace", "--trace", trace]
}

/// Makes the trace of a ring of `processes` processes: two supersteps of work and messages, whose sizes fall with the number of processes.
fn ring(processes: usize) -> String {
    let mut text = format!("migsim-trace 2\nprocesses {processes}\nrecorded library open-mpi\n");
    for step in 0..2 {
        writeln!(text, "step {step}").unwrap();
        for process in 0..processes {
            let (next, work, size) = ((process + 1) % processes, 8e9, 64_000);
            let [work, size] = [work / processes as f64, f64::from(size) / processes as f64];
            write!(text, "c {process} {work}\nm {process} {next} {size}\n").unwrap();
        }
    }
    text + "end\n"
}

#[test]
fn a_comparison_of_a_recording_ends_with_the_length_from_which_moves_pay() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("ring.trace");
    fs::write(&trace, ring(4)).unwrap();
    let trace = trace.to_str().unwrap();
    let run = Command::new(PATH)
        .arg("compare")
        .args(on_ufrgs(trace))
        .args(["--policies", "never,greedy"])
        .output()
        .unwrap();
    let (said, notes) = (
        String::from_utf8(run.stdout).unwrap(),
        String::from_utf8(run.stderr).unwrap(),
    );
    assert!(
        said.contains("so that the comparison does not show how long a run must be for moves to pay for themselves: record more supersteps."),
        "{said}"
    );
    assert!(
        notes.contains("the costs of messages are those of the library model `open-mpi`,"),
        "{notes}"
    );
}
