//! Tests of programs as policies.

use super::*;
use crate::Measures;
use crate::testing::test_view;
use migsim_base::random::StreamPurpose;
use migsim_base::units::{HostId, Instructions};

/// Returns the decisions of a shell script in consecutive calls, or its error.
fn decided(script: &str, calls: usize) -> Result<Vec<Vec<u32>>, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.sh");
    std::fs::write(&file, script).unwrap();
    let options = ExecOptions {
        command: format!("sh {}", file.display()),
        timeout: Seconds::of(5.0),
        ..ExecOptions::default()
    };
    let platform = migsim_platform::open("lbm").unwrap().platform;
    let placement = [HostId(0), HostId(0), HostId(1)];
    let mut measures = Measures::default();
    measures.clear(placement.len());
    measures.work.fill(Instructions::of(1e9));
    let view = test_view(&platform, &placement, &measures);
    let mut policy = options.policy().unwrap();
    let mut random = Stream::new(1, StreamPurpose::PolicyDecisions);
    let mut all = Vec::new();
    for _ in 0..calls {
        assert!(!policy.is_call_due(&view));
        let decision = policy.decide(&view, &mut random);
        let decision = decision.map_err(|error| error.to_string())?;
        let moves = decision.migrations.iter();
        all.push(moves.flat_map(|one| [one.process.0, one.to.0]).collect());
    }
    Ok(all)
}

#[test]
fn one_program_answers_all_calls_and_may_keep_a_state() {
    let script = "n=0\nwhile read line; do n=$((n+1)); echo '{\"assignment\": [0, '$n', 1]}'; done";
    assert_eq!(decided(script, 2), Ok(vec![vec![1, 1], vec![1, 2]]));
}

#[test]
fn a_program_sees_the_barrier_that_a_snapshot_has() {
    let script = "read line\ncase \"$line\" in *'\"superstep\":1'*) ;; *) echo bad >&2; exit 3;; esac\necho '{\"assignment\": [0, 0, 1]}'";
    assert_eq!(decided(script, 1), Ok(vec![vec![]]));
}

#[test]
fn each_fault_of_a_program_names_the_call_and_its_words() {
    for (script, words) in [
        ("echo lost >&2; exit 3", ["exit status: 3", "lost"]),
        ("read l; echo hello", ["answered `hello`", "one line"]),
        (
            "read l; echo '{\"assignment\": [0]}'",
            [
                "assigned hosts to 1 process, but the barrier has 3",
                "each entry of `current`",
            ],
        ),
        (
            "read l; echo '{\"assignment\": [0, 0, 99]}'",
            ["`assignment[2]` = 99", "write hosts from 0 to"],
        ),
        (
            "read l; echo '{\"assignment\": [0, 0, 1], \"price\": 3}'",
            ["unknown field `price`", "one line"],
        ),
    ] {
        let error = decided(script, 1).unwrap_err();
        assert!(error.contains("call after superstep 1"), "{error}");
        assert!(words.iter().all(|part| error.contains(part)), "{error}");
    }
}

#[test]
fn a_flood_of_output_ends_the_run_and_a_flood_of_errors_does_not() {
    let endless = "echo drowned >&2; read l; tr '\\0' x < /dev/zero";
    let error = decided(endless, 1).unwrap_err();
    for words in ["call after superstep 1", "is longer than", "drowned"] {
        assert!(error.contains(words), "{error}");
    }
    let noisy = "read l; head -c 5000000 /dev/zero >&2; echo '{\"assignment\": [0, 0, 2]}'";
    assert_eq!(decided(noisy, 1), Ok(vec![vec![2, 2]]));
}

#[test]
fn operations_may_be_a_float_without_a_fraction() {
    let read = |text: &str| serde_json::from_str::<ProgramAnswer>(text).map(|one| one.operations);
    let answer = |operations: &str| {
        let text = format!("{{\"assignment\": [], \"operations\": {operations}}}");
        read(&text).map_err(|error| error.to_string())
    };
    assert_eq!(answer("1e9"), Ok(Some(1_000_000_000)));
    assert_eq!(answer("7"), Ok(Some(7)));
    assert_eq!(read("{\"assignment\": []}").unwrap(), None);
    for wrong in ["1.5", "-1", "1e300", "\"7\""] {
        assert!(answer(wrong).is_err(), "{wrong}");
    }
    let options = serde_json::from_str::<ExecOptions>("{\"operations\": 1e9}");
    assert_eq!(options.unwrap().operations, 1_000_000_000);
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_is_stopped_takes_its_children_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let [script, child] = ["policy.sh", "child"].map(|name| folder.path().join(name));
    let text = format!("sleep 600 &\necho $! > {}\nwait\n", child.display());
    std::fs::write(&script, text).unwrap();
    let mut program = ExternalProgram::start(&format!("sh {}", script.display())).unwrap();
    let limit = Duration::from_secs(2);
    let error = program
        .send_and_receive_line("{}".into(), limit)
        .unwrap_err();
    assert!(
        error.to_string().contains("did not answer within 2 s"),
        "{error}"
    );
    let number = std::fs::read_to_string(&child).unwrap();
    let state = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", number.trim()));
        let state = stat.ok()?.rsplit_once(')')?.1.trim().chars().next();
        state.filter(|state| *state != 'Z')
    };
    assert!(state().is_some());
    drop(program);
    for _ in 0..200 {
        if state().is_none() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the child goes on");
}

#[test]
fn a_line_without_a_request_is_refused() {
    let script = "read l; echo '{\"assignment\": [0, 0, 1]}'; echo more; read l; echo '{\"assignment\": [0, 0, 1]}'";
    // The second line may arrive at any time before the second call, or in place of its answer.
    let error = decided(script, 2).unwrap_err();
    assert!(error.contains("more"), "{error}");
}

#[test]
fn settings_that_name_a_program_are_told_from_words_that_begin_alike() {
    for text in [
        r#"{"vary": {"policy": "never,exec:./mylb"}}"#,
        r#"{"vary": {"policy": ["never", "exec/every=5"]}}"#,
        r#"{"set": {"policy.exec.command": "./mylb"}}"#,
        r#"{"experiment": {"policy": {"exec": {"command": "./mylb"}}}}"#,
    ] {
        assert!(
            mentions_exec(&serde_json::from_str(text).unwrap()),
            "{text}"
        );
    }
    let other =
        r#"{"description": "LU Application Execution", "vary": {"policy": "never,migbsp"}}"#;
    assert!(!mentions_exec(&serde_json::from_str(other).unwrap()));
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let options = ExecOptions {
        command: "./no-such-program".into(),
        ..ExecOptions::default()
    };
    let error = ExternalProgram::start(&options.command)
        .unwrap_err()
        .to_string();
    assert!(error.contains("no-such-program"), "{error}");
    assert!(ExecOptions::default().policy().is_err());
}
