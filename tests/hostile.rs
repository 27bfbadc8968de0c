//! Broken inputs of every kind, each refused with a place and a hint: `tests/hostile/*.trycmd` lists them, one file per kind.
//!
//! All commands run in a scratch folder with the inputs beside the catalogue and those made here (`made/`): inputs that are too large or
//! not text, and folders of runs or sweeps with one error each. Each command has limits of memory and time, so that an input that makes it
//! grow without bound fails the test. The transcripts contain the exact messages. A test asserts for the whole catalogue that each refusal
//! has all its parts.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::support::{self, done};

const KINDS: [&str; 13] = [
    "clusters",
    "data",
    "experiment",
    "flags",
    "folder",
    "load",
    "mapping",
    "place",
    "platform",
    "simgrid",
    "sweep",
    "trace",
    "zones",
];

/// Limits of a command: its address space [KiB], its CPU time [s], and its threads if it sets none. Memory that threads reserve counts as
/// well.
const BOUNDS: &str = "ulimit -v 3047000 -t 10; export RAYON_NUM_THREADS=2";

/// Maximum duration of a command, which may wait for a pipe.
const TIME_LIMIT: Duration = Duration::from_mins(1);

fn catalogue() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile")
}

#[test]
fn every_broken_input_is_refused_with_its_place_and_a_hint() {
    if support::lacks("mkfifo") {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let bins = tempfile::tempdir().unwrap();
    for kind in KINDS {
        copy(&catalogue().join(kind), &scratch.path().join(kind));
    }
    make(scratch.path());
    let cases = trycmd::TestCases::new();
    let program = env!("CARGO_BIN_EXE_migsim");
    let here = format!("cd '{}'; {BOUNDS}", scratch.path().display());
    for (name, start) in [
        ("migsim", format!("{here}; set -- '{program}' \"$@\"")),
        // A file cannot grow beyond 4 KiB; the ignored signal makes the write fail with an error instead.
        (
            "on-a-full-disk",
            format!("{here}; ulimit -f 4; trap '' XFSZ; shift; set -- '{program}' \"$@\""),
        ),
        (
            "into-a-full-disk",
            format!("{here}; shift; set -- '{program}' \"$@\"; exec >/dev/full"),
        ),
    ] {
        let script = bins.path().join(name);
        fs::write(
            &script,
            format!("#!/usr/bin/env bash\n{start}\nexec \"$@\"\n"),
        )
        .unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        cases.register_bin(name, script);
    }
    for kind in KINDS {
        cases.case(catalogue().join(format!("{kind}.trycmd")));
    }
    cases.timeout(TIME_LIMIT).run();
}

#[test]
fn every_refusal_has_its_code_place_and_hint() {
    let mut count = 0;
    for kind in KINDS {
        let text = fs::read_to_string(catalogue().join(format!("{kind}.trycmd"))).unwrap();
        for transcript in text.split("\n$ ").skip(1) {
            count += 1;
            let transcript = transcript.split("\n```").next().unwrap();
            let (command, rest) = transcript.split_once('\n').unwrap();
            // Notes about settings are printed before an error of the run.
            let mut said = rest.lines().filter(|line| !line.starts_with("note: "));
            assert_eq!(said.next(), Some("? 2"), "{command}: {rest}");
            let is_error = said.next().is_some_and(|line| line.starts_with("error: "));
            assert!(is_error, "{command}: {rest}");
            for problem in rest.split("error: ").skip(1) {
                assert!(
                    problem.contains("\n  --> "),
                    "{command}: no place: {problem}"
                );
                assert!(
                    problem.contains("\n  hint: "),
                    "{command}: no hint: {problem}"
                );
            }
            for word in [
                "panicked",
                "RUST_BACKTRACE",
                "overflow",
                "memory allocation of",
            ] {
                assert!(!rest.contains(word), "{command}: {rest}");
            }
        }
    }
    assert!(count >= 300, "{count} commands");
}

/// Returns the estimate in the refusal of a command with almost no memory [B].
fn estimated(arguments: &str) -> f64 {
    let all = arguments.split(' ').chain(["--memory-limit", "1 kB"]);
    let output = support::migsim(&all.collect::<Vec<_>>());
    let text = String::from_utf8(output.stderr).unwrap();
    let figure = text.split("would need about ").nth(1);
    assert!(figure.is_some(), "{arguments}: {text}");
    let mut words = figure.unwrap().split(' ');
    let number: f64 = words.next().unwrap().parse().unwrap();
    number * if words.next() == Some("GB") { 1e9 } else { 1e6 }
}

#[test]
fn every_command_that_may_need_much_is_estimated_before_it_starts() {
    let scratch = tempfile::tempdir().unwrap();
    let run = scratch.path().join("run");
    let run = run.to_str().unwrap();
    done(scratch.path(), "run --app sw --n 10 --quiet --out run");
    for command in [
        "run --app sw --n 25",
        "run --app sw --n 25 --report page.html",
        "sweep --app sw --n 25 --alpha 2,4",
        "tune --app sw --n 25",
        "explain --app sw --n 25 --superstep 4",
        "workload show --app sw --n 25",
        "trace export --app lbm --platform lbm",
        "platform show ufrgs",
        "platform export ufrgs",
        "reproduce",
        "reproduce one-reading",
        &format!("report {run}"),
    ] {
        assert!(estimated(command) > 0.0, "{command}");
    }
    // The memory limit is not part of the simulated settings.
    done(
        scratch.path(),
        "run --app sw --n 10 --quiet --memory-limit 1GB --out limited",
    );
    let manifest = |name: &str| {
        let text = fs::read_to_string(scratch.path().join(name).join("run.json")).unwrap();
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.contains("loop_cpu_s"))
            .collect();
        lines.join("\n")
    };
    assert_eq!(manifest("run"), manifest("limited"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_gets_along_with_a_quarter_more_than_is_estimated() {
    if support::lacks("bash") {
        return;
    }
    for command in [
        "run --threads 1 --app synthetic --platform ufrgs --procs 100000 --set workload.supersteps=5",
        "run --threads 1 --app lu --n 2000 --procs 100",
    ] {
        // The address space also holds the program (larger without optimisation), and the memory that the thread reserves which watches
        // for Ctrl-C.
        let room = (1.25 * estimated(command) + 220e6) / 1024.0;
        let script = format!("ulimit -v {room:.0}; exec \"$@\" >/dev/null");
        let mut shell = Command::new("bash");
        shell.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_migsim")]);
        let output = shell
            .args(command.split(' '))
            .env("MALLOC_ARENA_MAX", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_in_little_address_space_runs_or_reports_its_need() {
    if support::lacks("bash") {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let (mut refused, mut done) = (0, 0);
    // The limits go from little more than the program itself takes to enough for all commands.
    for megabytes in (60..400).step_by(20) {
        for command in [
            "run --app lu --n 100 --procs 25",
            "run --app lu --n 100 --procs 25 --threads 1",
            "run --app sw --n 10 --report page.html --out run",
            "sweep --app sw --n 10 --alpha 2,4 --threads 3 --out sweep",
            "tune --app sw --n 10 --alpha 2,4 --budget 8 --seeds 1 --fresh 5..6",
            "reproduce sw-dynamic --threads 1",
            "reproduce sw-dynamic --threads 2",
        ] {
            let script = format!("ulimit -v {}; exec \"$@\" >/dev/null", megabytes * 1000);
            let mut shell = Command::new("bash");
            shell.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_migsim")]);
            let shell = shell.args(command.split(' ')).current_dir(scratch.path());
            let output = shell.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => done += 1,
                Some(2) if said.contains("would need about") => refused += 1,
                other => panic!("{megabytes} MB, {command}: {other:?}, {said}"),
            }
        }
    }
    assert!(done > 20 && refused > 20, "{done} done, {refused} refused");
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).into_iter().flatten() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// Makes the inputs that cannot be stored beside the catalogue.
fn make(scratch: &Path) {
    let made = scratch.join("made");
    fs::create_dir_all(made.join("folder")).unwrap();
    let deep = 100_000;
    let write = |name: &str, bytes: &[u8]| fs::write(made.join(name), bytes).unwrap();
    write("deep.json", "[".repeat(deep).as_bytes());
    write(
        "deep.xml",
        ["<a>".repeat(deep), "</a>".repeat(deep)]
            .concat()
            .as_bytes(),
    );
    let attributes: Vec<String> = (0..300_000).map(|index| format!(" a{index}='1'")).collect();
    let attributes = attributes.concat();
    let text =
        format!("<platform version='4.1'>\n <zone{attributes} id='z' routing='Full'/></platform>");
    write("attributes.xml", text.as_bytes());
    for (name, start) in [
        ("json", "{\"name\":\n \""),
        (
            "xml",
            "<?xml version=\"1.0\"?>\n<platform version=\"4.1\" name=\"",
        ),
        ("trace", "bsp 1 2 1\nbarrier "),
        ("csv", "date_s,load\n0,"),
    ] {
        let bytes = |last: u8| [start.as_bytes(), &[last]].concat();
        write(&format!("not-utf8.{name}"), &bytes(0xff));
        write(&format!("nul.{name}"), &bytes(0));
    }
    symlink("loop", made.join("loop")).unwrap();
    let pipe = Command::new("mkfifo").arg(made.join("pipe")).status();
    assert!(pipe.unwrap().success());
    make_runs(scratch);
    make_sweeps(scratch);
}

/// Makes folders of a run, each with one error.
fn make_runs(scratch: &Path) {
    done(
        scratch,
        "run --app sw --n 25 --processes --quiet --out made/run",
    );
    let run = scratch.join("made/run");
    let damaged = |name: &str, file: &str, damage: &dyn Fn(&str) -> Vec<u8>| {
        let folder = scratch.join("made").join(name);
        copy(&run, &folder);
        let text = fs::read_to_string(run.join(file)).unwrap();
        fs::write(folder.join(file), damage(&text)).unwrap();
    };
    let replaced = |name: &str, file: &str, old: &str, new: &str| {
        damaged(name, file, &|text| {
            assert!(text.contains(old), "{name}: `{old}` stands in {file}");
            text.replacen(old, new, 1).into_bytes()
        });
    };
    let cut = |name: &str, file: &str| {
        damaged(name, file, &|text| {
            text.as_bytes()[..text.len() / 2].to_vec()
        });
    };
    fs::create_dir(scratch.join("made/empty")).unwrap();
    for (name, file) in [
        ("manifest-cut", "run.json"),
        ("supersteps-cut", "supersteps.csv"),
        ("calls-cut", "calls.jsonl"),
        ("platform-cut", "platform.json"),
        ("processes-cut", "processes.csv"),
        ("links-cut", "links.csv"),
    ] {
        cut(name, file);
    }
    let others = br#"{"lockfileVersion": 3, "packages": {}}"#;
    damaged("manifest-of-others", "run.json", &|_| others.to_vec());
    damaged("platform-of-others", "platform.json", &|_| others.to_vec());
    damaged("manifest-deep", "run.json", &|_| {
        "[".repeat(100_000).into_bytes()
    });
    damaged("calls-not-utf8", "calls.jsonl", &|text| {
        [text.as_bytes(), &[0xff]].concat()
    });
    let version = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
    replaced(
        "of-another-version",
        "run.json",
        version,
        "\"version\": \"9.9.9\"",
    );
    replaced(
        "supersteps-nan",
        "supersteps.csv",
        "i,2,",
        "i,2,NaN,1,1\ni,2,",
    );
    replaced("supersteps-going-back", "supersteps.csv", "i,2,", "i,1,");
    damaged("supersteps-too-few", "supersteps.csv", &|text| {
        let rows: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("i,7,"))
            .collect();
        format!("{}\n", rows.join("\n")).into_bytes()
    });
    replaced(
        "calls-of-superstep-0",
        "calls.jsonl",
        "\"superstep\":4,",
        "\"superstep\":0,",
    );
    replaced(
        "migrations-unknown-column",
        "migrations.csv",
        "size_bytes",
        "size_miles",
    );
    damaged("migrations-negative", "migrations.csv", &|text| {
        let (head, rows) = text.split_once('\n').unwrap();
        let column = head
            .split(',')
            .position(|name| name == "size_bytes")
            .unwrap();
        let (first, rest) = rows.split_once('\n').unwrap();
        let mut values: Vec<&str> = first.split(',').collect();
        values[column] = "-1.0";
        format!("{head}\n{}\n{rest}", values.join(",")).into_bytes()
    });
    replaced("migrations-to-nowhere", "migrations.csv", "Aquario", "Moon");
    replaced("processes-nan", "processes.csv", "i,2,1,", "i,2,1,NaN,");
    replaced("links-nan", "links.csv", "\ni,1,", "\ni,NaN,");
    damaged("platform-missing", "platform.json", &|_| Vec::new());
    fs::remove_file(scratch.join("made/platform-missing/platform.json")).unwrap();
    damaged("folder-in-place", "calls.jsonl", &|_| Vec::new());
    fs::remove_file(scratch.join("made/folder-in-place/calls.jsonl")).unwrap();
    fs::create_dir(scratch.join("made/folder-in-place/calls.jsonl")).unwrap();
}

/// Makes folders of a sweep, each with one error.
fn make_sweeps(scratch: &Path) {
    let made = |name: &str| scratch.join("made").join(name);
    done(
        scratch,
        "sweep --app sw --n 10 --alpha 2,4 --quiet --out made/sweep",
    );
    done(
        scratch,
        "sweep --app sw --n 10 --alpha 8,16 --quiet --out made/other-sweep",
    );
    done(
        scratch,
        "sweep --app sw --n 10 --alpha 2,4 --shard 1/2 --quiet --out made/sweep-half",
    );
    for name in [
        "cut",
        "of-others",
        "without-plan",
        "without-runs",
        "with-folder",
    ] {
        copy(&made("sweep"), &made(&format!("sweep-{name}")));
    }
    let plan = fs::read_to_string(made("sweep/plan.json")).unwrap();
    fs::write(made("sweep-cut/plan.json"), &plan[..plan.len() / 2]).unwrap();
    fs::write(
        made("sweep-of-others/plan.json"),
        "{\"steps\": [\"drink coffee\"]}",
    )
    .unwrap();
    fs::remove_file(made("sweep-without-plan/plan.json")).unwrap();
    fs::remove_file(made("sweep-without-runs/runs.jsonl")).unwrap();
    fs::remove_file(made("sweep-with-folder/runs.jsonl")).unwrap();
    fs::create_dir(made("sweep-with-folder/runs.jsonl")).unwrap();
}
