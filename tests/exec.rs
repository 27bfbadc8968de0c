//! The policy `exec`: a program in another language is a policy, its failure loses no results, and no file starts a program without
//! permission.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::Path, process::Command, thread, time::Duration};

use crate::support::{command, done, json, lacks, refused};

/// Returns the output of a command, its errors, and its exit code.
fn printed(line: &str) -> (String, String, i32) {
    let output = command(Path::new("."), line);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        text(output.stdout),
        text(output.stderr),
        output.status.code().unwrap(),
    )
}

const RIVAL: &str = "exec:python3 examples/exec-policy/rival.py";
const CASE: &str = "--platform lbm --app lu --n 200";

#[test]
fn a_rival_in_python_runs_and_repeats_exactly() {
    if lacks("python3") {
        return;
    }
    let scenarios = |more: &str| {
        let run = format!("run {CASE} --policy '{RIVAL}' {more}");
        json(Path::new("."), &run)["scenarios"].clone()
    };
    let first = scenarios("");
    assert!(first == scenarios("--threads 1"), "the same decisions");
    assert!(first[2]["moved"].as_u64().unwrap() > 0, "its moves happen");
    let [i, iii] = [0, 2].map(|at| first[at]["makespan_s"].as_f64().unwrap());
    assert!(iii < i, "{iii} s after {i} s");
}

#[test]
fn rivals_of_a_list_run_beside_built_in_policies() {
    if lacks("python3") {
        return;
    }
    let compare = format!("compare {CASE} --policies 'never,{RIVAL},greedy'");
    let out = done(Path::new("."), &compare);
    assert!(out.contains("rival.py"), "{out}");
}

#[test]
fn a_policy_that_fails_in_a_comparison_is_named_without_a_rank() {
    let policies = "--policies never,greedy,exec:false/every=50";
    let (out, _, code) = printed(&format!("compare {CASE} {policies}"));
    assert_eq!(code, 1);
    assert!(
        out.lines().any(|line| line.trim() == "exec:false/every=50"),
        "{out}"
    );
    let verdict = "failed, so that they have no rank: `exec:false/every=50`.";
    assert!(out.contains(verdict), "{out}");
}

#[test]
fn a_program_that_fails_ends_the_run_with_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.sh");
    fs::write(&file, "read line; echo 'I am lost' >&2; exit 7\n").unwrap();
    let run = format!("run {CASE} --policy 'exec:sh {}'", file.display());
    let (_, errors, code) = printed(&run);
    assert_ne!(code, 0);
    for words in ["I am lost", "exit status: 7", "call after superstep"] {
        assert!(errors.contains(words), "{errors}");
    }
    fs::write(&file, "sleep 30\n").unwrap();
    let (_, errors, code) = printed(&format!("{run} --set 'policy.exec.timeout=0.2 s'"));
    assert_ne!(code, 0);
    assert!(errors.contains("did not answer within 1 s"), "{errors}");
}

#[test]
fn a_note_names_a_program_that_does_not_answer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("silent.sh");
    fs::write(&file, "while read line; do sleep 30; done\n").unwrap();
    let policy = format!("--policy 'exec:sh {}/every=50'", file.display());
    let limit = "--set 'policy.exec.timeout=1.2 s'";
    let (_, errors, _) = printed(&format!("run {CASE} {policy} {limit}"));
    let note = format!(
        "note: waiting for the answer of `sh {}` to the call after superstep 50;",
        file.display()
    );
    assert_eq!(errors.matches(&note).count(), 1, "{errors}");
}

#[test]
fn the_error_output_of_a_program_is_shown_or_kept() {
    if lacks("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["remark.py", "out"].map(|name| folder.path().join(name));
    let program = "import json, sys\nfor line in sys.stdin:\n    barrier = json.loads(line)\n    print('call', barrier['call'], file=sys.stderr)\n    print(json.dumps({'call': barrier['call'], 'assignment': barrier['current']}), flush=True)\n";
    fs::write(&file, program).unwrap();
    let policy = format!("exec:python3 {}/every=50", file.display());
    let run = format!("run {CASE} --scenario i,iii --policy '{policy}'");
    // 401 supersteps
    let lines = (1..=8).map(|call| format!("scenario iii: call {call}\n"));
    let expected: String = lines.collect();
    let (_, errors, _) = printed(&run);
    assert!(errors.contains(&expected), "{errors}");
    for _ in 0..2 {
        let (_, errors, _) = printed(&format!("{run} --out {}", out.display()));
        assert!(!errors.contains("scenario iii:"), "{errors}");
        assert_eq!(fs::read_to_string(out.join("exec.log")).unwrap(), expected);
    }
}

#[test]
fn a_run_that_is_killed_leaves_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let (file, mark) = (folder.path().join("hang.sh"), folder.path().join("id"));
    let script = format!(
        "sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait\n",
        mark.display()
    );
    fs::write(&file, script).unwrap();
    let policy = format!("exec:sh {}", file.display());
    let mut run = Command::new(env!("CARGO_BIN_EXE_migsim"));
    let run = run.arg("run").args(CASE.split(' '));
    let mut run = run.args(["--policy", &policy]).spawn().unwrap();
    let eventually = |is_true: &dyn Fn() -> bool| {
        (0..2000).any(|_| {
            is_true() || {
                thread::sleep(Duration::from_millis(10));
                false
            }
        })
    };
    assert!(eventually(&|| mark.exists()), "the program starts");
    let status = format!("/proc/{}/stat", fs::read_to_string(&mark).unwrap().trim());
    assert!(Path::new(&status).exists());
    run.kill().unwrap();
    run.wait().unwrap();
    // A process that nobody waits for any more is a zombie.
    let is_gone = || fs::read_to_string(&status).map_or(true, |stat| stat.contains(") Z "));
    assert!(eventually(&is_gone), "the program of a killed run goes on");
}

#[test]
fn a_program_decides_about_a_barrier_from_a_file() {
    if lacks("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("barrier.json");
    let barrier =
        r#"{"speeds": [1, 1], "current": [0, 0, 0], "work": [3, 2, 1], "time": [3, 2, 1]}"#;
    fs::write(&file, barrier).unwrap();
    let decide = |policy: &str| {
        let decide = format!("decide {} --policy '{policy}'", file.display());
        json(Path::new("."), &decide)
    };
    let (answer, greedy) = (decide(RIVAL), decide("greedy"));
    assert_eq!(
        answer["policies"][0]["assignment"],
        greedy["policies"][0]["assignment"]
    );
    assert_eq!(answer["policies"][0]["policy"], RIVAL);
    let missing = format!("decide {} --policy exec:./no-such-program", file.display());
    let (_, errors, code) = printed(&missing);
    assert!(code != 0 && errors.contains("no-such-program"), "{errors}");
}

#[test]
fn no_file_starts_a_program_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("started");
    let command = format!("touch {}", mark.display());
    let experiment = folder.path().join("experiment.json");
    let of_name = format!(
        r#"{{"workload": {{"app": "lu", "n": 200}}, "policy": {{"name": "exec:{command}"}}}}"#
    );
    let of_option = format!(
        r#"{{"workload": {{"app": "lu", "n": 200}}, "policy": {{"name": "exec", "exec": {{"command": "{command}"}}}}}}"#
    );
    let file = experiment.display();
    for text in [of_name, of_option] {
        fs::write(&experiment, text).unwrap();
        for command in ["run", "sweep"] {
            let errors = refused(Path::new("."), &format!("{command} {file}"));
            assert!(errors.contains("--allow-exec"), "{errors}");
        }
    }
    let sweep = r#"{"schema": "migsim-sweep-1", "experiment": {"workload": {"app": "lu", "n": 200}}, "vary": {"policy": "never,exec:COMMAND"}}"#;
    let sweep = sweep.replace("COMMAND", &command);
    fs::write(&experiment, sweep).unwrap();
    let errors = refused(Path::new("."), &format!("sweep {file}"));
    assert!(errors.contains("--allow-exec"), "{errors}");
    assert!(!Path::new(&mark).exists(), "nothing was started");
    let (_, errors, _) = printed(&format!("sweep {file} --allow-exec"));
    assert!(mark.exists(), "{errors}");
}

#[test]
fn a_trigger_may_follow_the_command() {
    if lacks("python3") {
        return;
    }
    let run = format!("run {CASE} --policy '{RIVAL}/every=100'");
    let value = json(Path::new("."), &run);
    let calls = value["scenarios"][2]["calls"].as_array().unwrap();
    assert!(
        calls
            .iter()
            .all(|call| call["superstep"].as_u64().unwrap() % 100 == 0)
    );
    assert!(!calls.is_empty());
}
