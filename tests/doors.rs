//! The doors of the command: names that are not UTF-8, byte-order marks, and outputs that replace no input.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::Path,
    process::{Command, Output},
};

const MIGSIM: &str = env!("CARGO_BIN_EXE_migsim");
const PLATFORM: &str = r#"{"schema":"migsim-platform-1","name":"p","clusters":[{"name":"a","router":"r","hosts":2,"speed":"1 GHz","link":{"bandwidth":"1 Gbps","latency":"0 s"}}]}"#;
const TRACE: &str = "migsim-trace 2\nprocesses 1\nstep 0\nc 0 450e9\nend\n";
/// Half of the speed for 300 s: 150e9 of 450e9 instructions, and the rest in 300 s.
const LOAD: &str = "host,time,load\na-0,2011-03-03T00:00:00Z,0.5\na-0,2011-03-03T00:05:00Z,0\n";
const FILES: [(&str, &str); 5] = [
    ("p.json", PLATFORM),
    ("t.trace", TRACE),
    ("l.csv", LOAD),
    ("m.csv", "process,host\np1,a-0\n"),
    (
        "e.json",
        r#"{"extends":"none","policy":{"name":"never"},"workload":{"app":"trace","trace":"t.trace"}}"#,
    ),
];

/// Writes all files; the bytes `head` stand before each content, and `tail` before the suffix of each name.
fn write_files(folder: &Path, head: &str, tail: &[u8]) {
    for (name, text) in FILES {
        fs::write(folder.join(named(name, tail)), format!("{head}{text}")).unwrap();
    }
}

fn named(name: &str, tail: &[u8]) -> OsString {
    let (stem, end) = name.split_once('.').unwrap();
    OsString::from_vec([stem.as_bytes(), tail, b".", end.as_bytes()].concat())
}

/// Runs migsim in a folder; `tail` is added to the stem of each word that is one of the files.
fn migsim(folder: &Path, words: &str, tail: &[u8]) -> Output {
    let word = |word: &str| {
        let (before, name) = word.rsplit_once('=').map_or(("", word), |pair| pair);
        let is_file = FILES.iter().any(|file| file.0 == name) || name == "o.json";
        let before = if word.contains('=') {
            format!("{before}=")
        } else {
            String::new()
        };
        let name = if is_file {
            named(name, tail)
        } else {
            name.into()
        };
        OsStr::from_bytes(&[before.as_bytes(), name.as_bytes()].concat()).to_owned()
    };
    let mut command = Command::new(MIGSIM);
    command.current_dir(folder).args(words.split(' ').map(word));
    command.output().unwrap()
}

const RUN: &str = "run --platform p.json --app trace --trace t.trace --policy never --set extends=none --scenario i --mapping m.csv --load file,file=l.csv --json --quiet";

fn makespan(output: &Output) -> f64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let read: Result<serde_json::Value, _> = serde_json::from_str(&text);
    assert!(read.is_ok(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = read.unwrap();
    read["scenarios"][0]["makespan_s"].as_f64().unwrap()
}

#[test]
fn names_need_not_be_utf8_and_files_may_begin_with_a_mark() {
    for (head, tail) in [("", &b"\xe9"[..]), ("\u{feff}", b"")] {
        let folder = tempfile::tempdir().unwrap();
        write_files(folder.path(), head, tail);
        let run = migsim(folder.path(), RUN, tail);
        crate::support::assert_close(makespan(&run), 550.0, 1e-9, "load");
        let run = "run e.json --platform p.json --set workload.trace=t.trace --scenario i --json --quiet --out o.json";
        crate::support::assert_close(
            makespan(&migsim(folder.path(), run, tail)),
            450.0,
            1e-9,
            "file",
        );
        let path = folder.path().join(named("o.json", tail));
        assert!(path.join("run.json").is_file());
        let shown = migsim(
            folder.path(),
            "platform export p.json --out o.json",
            b"\xff",
        );
        assert_ne!(shown.status.code(), Some(0), "no file has this name");
        let shown = migsim(folder.path(), "bottlenecks o.json --json", tail);
        assert!(
            shown.status.success(),
            "{}",
            String::from_utf8_lossy(&shown.stderr)
        );
    }
}

#[test]
fn no_output_replaces_an_input() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), "", b"");
    std::os::unix::fs::symlink("t.trace", folder.path().join("link")).unwrap();
    let run = "--platform p.json --app trace --trace t.trace --policy never --set extends=none";
    for words in [
        format!("trace export {run} --out t.trace"),
        format!("trace export {run} --out link"),
        format!("trace export {run} --out ./p.json"),
        format!("snapshot {run} --superstep 0 --out p.json"),
        format!("run {run} --mapping m.csv --report=m.csv"),
        "platform export p.json --out p.json".to_owned(),
        "platform show p.json --svg p.json".to_owned(),
    ] {
        let said = migsim(folder.path(), &words, b"");
        let text = String::from_utf8_lossy(&said.stderr);
        assert_eq!(said.status.code(), Some(2), "{words}: {text}");
        for (name, content) in FILES {
            let found = fs::read_to_string(folder.path().join(name)).unwrap();
            assert_eq!(found, content, "{words}");
        }
    }
}
