//! The commands that each help and each page shows: they run in an empty folder, with the files that most of them name.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::Path, process::Command};

use rayon::prelude::*;

use crate::{
    book::{COMMANDS, blocks, pages},
    support::{migsim, succeeded},
};

/// Seconds after which a command that has found no fault in its input is stopped.
const LIMIT: &str = "0.4";

/// Words of an error that only says that a file of the reader is missing.
const MISSING: [&str; 7] = [
    "No such file or directory",
    "there is neither a file nor a built-in",
    "there is no such folder",
    "there is no file `",
    "does not exist",
    "the folder has no results",
    "the named folders lack",
];

/// Returns the commands in the examples of a help, whose lines are wrapped.
fn examples(help: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut indent_of_last = 0;
    let (_, shown) = help.split_once("Examples:\n").unwrap_or_default();
    for line in shown.lines() {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        if indent > 0 && text.starts_with("migsim ") {
            let command = text.split_once("  ").map_or(text, |(command, _)| command);
            commands.push(command.to_owned());
            indent_of_last = indent;
        } else if indent > 0 && indent == indent_of_last {
            let command = commands.last_mut().unwrap();
            command.push(' ');
            command.push_str(text);
        } else {
            indent_of_last = 0;
        }
    }
    commands
}

/// Returns the commands in the blocks of a page that are no transcripts, which other tests run.
fn commands(page: &str) -> Vec<String> {
    let page = page.replace("\\\n", "");
    let lines = blocks(&page, "sh").into_iter().flat_map(str::lines);
    let own = lines.filter(|line| line.starts_with("migsim "));
    own.map(str::to_owned).collect()
}

/// Writes files with the names that examples use.
fn write_inputs(folder: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (from, to) in [
        ("tests/transcripts/files/zones.xml", "platform.xml"),
        ("tests/transcripts/files/barrier.json", "barrier.json"),
        ("tests/policies/assignments-random.json", "cases.json"),
        ("tests/policies/triggers.json", "history.json"),
        ("crates/papers/src/reality/two.json", "mine.json"),
        ("crates/papers/src/reality/pingpong.csv", "pingpong.csv"),
    ] {
        fs::copy(root.join(from), folder.join(to)).unwrap();
    }
    let shown = ["run", "--app", "lu", "--n", "500", "--show"];
    let experiment = succeeded(migsim(&shown)).stdout;
    fs::write(folder.join("experiment.json"), experiment).unwrap();
    let sweep = r#"{"schema": "migsim-sweep-1", "experiment": {"workload": {"app": "sw", "n": 25}}, "vary": {"policy.migbsp.d": [0.1, 0.2]}}"#;
    fs::write(folder.join("sweep.json"), sweep).unwrap();
    let trace = "migsim-trace 2\nprocesses 2\nmemory 1MB\nstep 0\nc 0 1000000\nc 1 1000000\nm 0 1 1kB\nend\n";
    for name in ["trace.txt", "app.trace"] {
        fs::write(folder.join(name), trace).unwrap();
    }
    let completions = ".local/share/bash-completion/completions";
    fs::create_dir_all(folder.join(completions)).unwrap();
}

/// Runs a command and returns its error, unless only a file of the reader is missing.
fn fault(folder: &Path, command: &str) -> Option<String> {
    // Commands that need other programs.
    if [" -- ", "| man"].iter().any(|part| command.contains(part)) {
        return None;
    }
    let path = Path::new(env!("CARGO_BIN_EXE_migsim")).parent().unwrap();
    let path = format!("{}:{}", path.display(), std::env::var("PATH").unwrap());
    let limited = command.replacen("migsim ", &format!("timeout {LIMIT} migsim "), 1);
    let output = Command::new("sh")
        .args(["-c", &limited])
        .current_dir(folder)
        .env("PATH", path)
        .env("HOME", folder)
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let is_right = matches!(output.status.code(), Some(0 | 124))
        || MISSING.iter().any(|words| errors.contains(words));
    (!is_right).then(|| format!("{command}\n{errors}"))
}

#[test]
fn the_commands_of_each_help_and_page_run() {
    let of_help = |command: &&str| {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        examples(&String::from_utf8(succeeded(migsim(&words)).stdout).unwrap())
    };
    let mut groups: Vec<Vec<String>> = COMMANDS.iter().chain(&["bench"]).map(of_help).collect();
    let texts = pages()
        .into_iter()
        .map(|page| fs::read_to_string(page).unwrap());
    groups.extend(texts.map(|text| commands(&text)));
    let count: usize = groups.iter().map(Vec::len).sum();
    assert!(count > 130, "{count}");
    let inputs = tempfile::tempdir().unwrap();
    write_inputs(inputs.path());
    let faults_of = |group: &Vec<String>| -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let copy = ["-r", inputs.path().to_str().unwrap()];
        let copied = Command::new("cp")
            .args(copy)
            .arg(folder.path().join("in"))
            .status();
        assert!(copied.unwrap().success());
        let faults = group
            .iter()
            .filter_map(|command| fault(&folder.path().join("in"), command));
        faults.collect()
    };
    let faults = groups.par_iter().with_max_len(1).flat_map_iter(faults_of);
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
