//! Tests of programs as policies.

use super::*;
use crate::{Measures, testing::test_view};
use migsim_base::{
    random::StreamPurpose,
    units::{HostId, Instructions},
};

/// Returns the decisions of a shell script in consecutive calls, or its error.
fn decided(script: &str, calls: usize) -> Result<Vec<Vec<u32>>, String> {
    decided_with_cores(script, calls, 1)
}

/// As [`decided`], on a platform whose first host has this number of cores.
fn decided_with_cores(script: &str, calls: usize, cores: u32) -> Result<Vec<Vec<u32>>, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.sh");
    std::fs::write(&file, script).unwrap();
    let options = ExecOptions {
        command: format!("sh {}", file.display()),
        timeout: Seconds::of(5.0),
        ..ExecOptions::default()
    };
    decisions(&options, calls, cores)
}

/// Returns the decisions of a policy in consecutive calls, or its error.
fn decisions(options: &ExecOptions, calls: usize, cores: u32) -> Result<Vec<Vec<u32>>, String> {
    let mut platform = migsim_platform::open("lbm").unwrap().platform;
    platform.hosts[0].cores = cores;
    let placement = [HostId(0), HostId(0), HostId(1)];
    let mut measures = Measures::default();
    measures.clear(placement.len());
    measures.work.fill(Instructions::of(1e9));
    let view = test_view(&platform, &placement, &measures);
    let mut policy = options.clone().policy().unwrap();
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
fn a_program_may_answer_with_hosts_or_with_cores() {
    for (answer, moves) in [
        ("\"assignment\": [0, 5, 4]", vec![1, 2]),
        ("\"placement\": [0, 2, 1]", vec![1, 2]),
        ("\"placement\": [1, 0, 0]", vec![0, 1, 2, 0]),
    ] {
        let told = "*'\"host_of_core\":[0,0,0,0,1,2,'*'\"placement\":[0,0,1]'*";
        let script = format!(
            "read line\ncase \"$line\" in {told}) ;; *) exit 3;; esac\necho '{{{answer}}}'"
        );
        assert_eq!(decided_with_cores(&script, 1, 4), Ok(vec![moves]));
    }
    let error = decided("read l; echo '{\"call\": 1}'", 1).unwrap_err();
    assert!(
        error.contains("needs `assignment` or `placement`"),
        "{error}"
    );
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
                "assigned cores to 1 process, but the barrier has 3",
                "each entry of `current`",
            ],
        ),
        (
            "read l; echo '{\"assignment\": [0, 0, 99]}'",
            [
                "`assignment[2]` = 99, but the barrier has no core 99",
                "write cores from 0 to",
            ],
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
    let noisy = "read l; head -c 200000 /dev/zero >&2; echo '{\"assignment\": [0, 0, 2]}'";
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
    assert_eq!(options.unwrap().operations, Some(1_000_000_000));
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_is_stopped_takes_its_children_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let [script, child] = ["policy.sh", "child"].map(|name| folder.path().join(name));
    let text = format!("sleep 600 &\necho $! > {}\nwait\n", child.display());
    std::fs::write(&script, text).unwrap();
    let mut program = ExternalProgram::start(&format!("sh {}", script.display()), "").unwrap();
    let limit = Duration::from_millis(400);
    let error = program
        .send_and_receive_line("{}".into(), limit, "p, call")
        .unwrap_err();
    // It uses no CPU time, and may wait for five times as long.
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

/// A program that prints the answer to each call, and further lines.
fn program(answer: &str) -> String {
    format!("n=0; while read l; do n=$((n+1)); {answer}; done")
}

#[test]
fn a_line_without_a_request_is_an_error_of_the_call_that_it_follows() {
    let answer = r#"echo '{"assignment": [0, 0, 1]}'"#;
    let numbered = r#"echo '{"call": '$n', "assignment": [0, 0, 1]}'"#;
    let second = r#"'{"call": '$n', "assignment": [0, 0, '$n']}'"#;
    for text in [
        format!("{answer}; {answer}"),
        format!("{answer}; sleep 0.03; {answer}"),
        format!("{numbered}; sleep 0.2; echo {second}"), // during the next call
        format!("printf '%s\\n%s\\n' {second} {second}"),
    ] {
        let error = decided(&program(&text), 2).unwrap_err();
        let words = "printed more than one line for one barrier";
        assert!(error.contains(words), "{text}: {error}");
    }
    assert_eq!(decided(&program(numbered), 3), Ok(vec![vec![]; 3]));
}

#[test]
fn an_answer_repeats_the_number_of_its_call() {
    for (text, words) in [
        (
            "echo '{\"call\": 7, \"assignment\": [0, 0, 1]}'",
            "has `call` 7, but this is call 1",
        ),
        (
            "test $n = 1 && c='\"call\": 1,' || c=; echo \"{$c \\\"assignment\\\": [0, 0, 1]}\"",
            "has no `call`, but this is call 2",
        ),
    ] {
        let error = decided(&program(text), 2).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_byte_order_mark_before_an_answer_is_no_fault() {
    let script = "read l; printf '\\357\\273\\277{\"assignment\": [0, 0, 1]}\\n'; read l";
    assert_eq!(decided(script, 1), Ok(vec![vec![]]));
}

#[test]
fn the_limit_counts_processor_time() {
    let answer = "echo '{\"call\": 1, \"assignment\": [0, 0, 1]}'";
    let mut options = ExecOptions {
        timeout: Seconds::of(0.2),
        ..ExecOptions::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let script = |text: String| {
        let file = folder.path().join("policy.sh");
        std::fs::write(&file, text).unwrap();
        format!("sh {}", file.display())
    };
    options.command = script(format!("read l; sleep 0.6; {answer}; read l"));
    assert!(decisions(&options, 1, 1).is_ok());
    options.command = script("read l; while :; do :; done".into());
    let error = decisions(&options, 1, 1).unwrap_err();
    assert!(error.contains("within 0.2 s of CPU time"), "{error}");
}

#[test]
fn routes_come_once_by_cluster_and_prices_of_moves_follow_from_them() {
    let platform = migsim_platform::open("lbm").unwrap().platform;
    let placement = [HostId(0), HostId(1)];
    let mut measures = Measures::default();
    measures.clear(2);
    measures.work.fill(Instructions::of(1e9));
    let mut view = test_view(&platform, &placement, &measures);
    let memory = [migsim_base::units::Bytes::of(1e9); 2];
    view.process_memory = &memory;
    view.last_call_cost = Seconds::of(3.0);
    let folder = tempfile::tempdir().unwrap();
    let [script, heard] = ["policy.sh", "heard"].map(|name| folder.path().join(name));
    let tell = format!(
        "echo \"$l\" >> {}; echo '{{\"call\": '$n', \"assignment\": [0, 1]}}'",
        heard.display()
    );
    std::fs::write(&script, program(&tell)).unwrap();
    let options = ExecOptions {
        command: format!("sh {}", script.display()),
        ..ExecOptions::default()
    };
    let mut policy = options.policy().unwrap();
    let mut random = Stream::new(1, StreamPurpose::PolicyDecisions);
    for now in [[2.0, 3.0], [7.0, 9.0]] {
        for now in now {
            view.now = Time::new(now).unwrap();
            policy.is_call_due(&view);
        }
        policy.decide(&view, &mut random).unwrap();
    }
    let lines = std::fs::read_to_string(heard).unwrap();
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let [first, second]: [Value; 2] = lines.collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(
        (&first["protocol"], &second["protocol"]),
        (&json!(2), &Value::Null)
    );
    let routes = &first["routes"];
    let count = platform.clusters.len();
    assert_eq!(routes["latency"].as_array().unwrap().len(), count);
    assert_eq!(routes["clusters"][0], json!(platform.clusters[0].name));
    assert!(first["latency"].is_array() && second["latency"].is_null());
    assert!(second["routes"].is_null());
    // The last call took 3 s: 7 - 3 - 3 s.
    assert_eq!(second["superstep_times"], json!([1.0, 2.0]));
    assert_eq!(second["last_call_price"], json!(3.0));
    let number = |value: &Value| value.as_f64().unwrap();
    for to in 0..count {
        let price = number(&routes["latency"][0][to]) + 1e9 / number(&routes["bandwidth"][0][to]);
        // Numbers of a question have 12 digits.
        let told = number(&second["move_price"][0][to]);
        assert!((told - price).abs() <= 1e-11 * price, "{told} {price}");
    }
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
    let error = ExternalProgram::start(&options.command, "")
        .unwrap_err()
        .to_string();
    assert!(error.contains("no-such-program"), "{error}");
    assert!(ExecOptions::default().policy().is_err());
}
