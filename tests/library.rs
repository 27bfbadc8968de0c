//! Libraries: the costs of messages worked by hand, and the order in which settings win.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::Path, process::Command};

use migsim::{
    bsp::{
        BarrierConfig, BarrierKind, CallCostConfig, CallModel, CallWaiting, ControlTransport,
        Costs, RuntimeConfig, Scenario, ShortcutChoice, TransferStart,
    },
    engine::{NetworkModel, Weights},
    experiment::BUILT_IN_LIBRARIES,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    self, Case, Plans, ROUNDING, Script, Wire, assert_close, bytes, command, done, json, plan,
    read, refused, seconds, succeeded, switch,
};

/// Links of 1e6 B/s and 1 ms: a message of 1e6 B over two of them takes 1.002 s.
const WIRE: Wire = Wire(1e6, 1e-3);

/// The time of a list of supersteps, with shortcuts and event by event.
fn times(plans: &Plans, network: NetworkModel, runtime: RuntimeConfig) -> [f64; 2] {
    let platform = switch(plans.cycle[0].work.len(), WIRE);
    [ShortcutChoice::All, ShortcutChoice::None].map(|shortcuts| {
        let hosts = (0..).take(plans.cycle[0].work.len());
        let case = Case {
            network,
            runtime: RuntimeConfig {
                shortcuts,
                ..runtime
            },
            ..Case::new(&platform, plans, hosts)
        };
        case.run().makespan.get()
    })
}

fn assert_time(plans: &Plans, network: NetworkModel, runtime: RuntimeConfig, expected: f64) {
    for time in times(plans, network, runtime) {
        assert_close(time, expected, ROUNDING, "time");
    }
}

fn above(size: f64) -> RuntimeConfig {
    RuntimeConfig {
        receives: TransferStart::Above {
            late_above: bytes(size),
        },
        ..RuntimeConfig::default()
    }
}

#[test]
fn a_large_message_shakes_hands_with_a_receiver_that_is_there() {
    let network = NetworkModel {
        overhead: seconds(0.01),
        ..NetworkModel::default()
    };
    let one = |size: f64| Plans::new(vec![plan(&[0.0, 3e9], &[(0, 1, size)])]);
    // The message starts at 3 s: a round trip of 4 ms + 10 ms, then 2 ms + 10 ms and 1 s.
    assert_time(&one(1e6), network, above(65_536.0), 4.026);
    // A message at the limit has arrived long before 3 s.
    assert_time(&one(65_536.0), network, above(65_536.0), 3.0);
    // The sender waits for its large message, although no process sends to it.
    let back = Plans::new(vec![
        plan(&[0.0, 0.0, 0.0], &[(0, 1, 1e6)]),
        plan(&[0.0, 0.0, 0.0], &[]),
    ]);
    assert_time(&back, network, above(1e3), 1.026);
}

#[test]
fn equal_shares_do_not_look_at_latency() {
    // On three hosts, two flows of 1e6 B share a link. Their latencies differ only by the overhead, and each gets half of the link.
    let two = Plans::new(vec![plan(&[0.0, 0.0, 0.0], &[(0, 2, 1e6), (1, 2, 1e6)])]);
    let network = NetworkModel {
        weights: Weights::Equal,
        ..NetworkModel::default()
    };
    assert_time(&two, network, RuntimeConfig::default(), 2.002);
}

#[test]
fn packets_in_queues_are_served_as_they_come() {
    let network = NetworkModel {
        overhead: seconds(0.5),
        packet: Some(bytes(910.0)),
        queues: true,
        // Headers count as bytes instead.
        bandwidth_factor: 0.5,
        ..NetworkModel::default()
    };
    let run = |messages: &[(u32, u32, f64)]| {
        let plans = Plans::new(vec![plan(&[0.0; 4], messages)]);
        times(&plans, network, RuntimeConfig::default())
    };
    // Ten packets of 1000 B take 1 ms each on either link; the last one follows the others over the second link.
    let one = 0.5 + 0.002 + 0.011;
    let two = one + 0.01;
    for (messages, expected) in [
        (vec![(0, 2, 9100.0)], one),
        // One byte more makes one packet more, of 91 B.
        (
            vec![(0, 2, 9101.0)],
            0.5 + 0.002 + 0.01 + 2.0 * 91e-6 + 0.001 - 91e-6,
        ),
        (vec![(0, 2, 9100.0), (1, 2, 9100.0)], two),
        (vec![(0, 2, 9100.0), (1, 3, 9100.0)], one),
        // An empty message is one packet of headers.
        (vec![(0, 2, 0.0)], 0.5 + 0.002 + 2.0 * 90e-6),
    ] {
        for time in run(&messages) {
            assert_close(time, expected, ROUNDING, "time");
        }
    }
}

#[test]
fn packets_in_queues_may_saturate_a_link_for_any_bandwidth_factor() {
    let network = NetworkModel {
        packet: Some(bytes(910.0)),
        queues: true,
        bandwidth_factor: 0.5,
        ..NetworkModel::default()
    };
    let plans = Plans::new(vec![plan(&[0.0, 0.0], &[(0, 1, 91_000.0)])]);
    assert_time(&plans, network, RuntimeConfig::default(), 0.002 + 0.101);
}

#[test]
fn a_message_of_too_many_packets_is_refused_at_once() {
    let run = "run --app synthetic --procs 2 --set 'workload.bytes=1e20 B' --net queues=true --scenario i";
    let output = command(Path::new("."), run);
    let errors = support::said(&output);
    assert!(
        !output.status.success() && errors.contains("packets, too many to simulate them in queues"),
        "{errors}"
    );
    assert!(errors.contains("set `network.queues` to false"), "{errors}");
}

#[test]
fn overhead_and_packets_are_paid_for_each_message_of_a_barrier() {
    let network = NetworkModel {
        overhead: seconds(0.5),
        packet: Some(bytes(1448.0)),
        ..NetworkModel::default()
    };
    let runtime = RuntimeConfig {
        barrier: BarrierConfig {
            kind: BarrierKind::Library,
            bytes: bytes(10.0),
            ..BarrierConfig::default()
        },
        ..RuntimeConfig::default()
    };
    // Two processes exchange a control message: 2 ms, 0.5 s, 100 B at 1e6 B/s in the router. Then the links have 10 B in each direction:
    // 20 us.
    let none = Plans::new(vec![plan(&[0.0, 0.0], &[])]);
    assert_time(&none, network, runtime, 0.002 + 0.5 + 1e-4 + 2e-5);
}

#[test]
fn notices_that_are_packets_share_no_link() {
    // Each of three processes notifies the ones 1 and 2 positions on: 2 ms and 0.1 s each.
    let runtime = |notices| RuntimeConfig {
        barrier: BarrierConfig {
            kind: BarrierKind::Dissemination,
            bytes: bytes(1e5),
            notices,
            ..BarrierConfig::default()
        },
        ..RuntimeConfig::default()
    };
    let none = Plans::new(vec![plan(&[0.0, 0.0, 0.0], &[])]);
    let network = NetworkModel::default();
    assert_time(
        &none,
        network,
        runtime(ControlTransport::Packets),
        2.0 * 0.102,
    );
    // Process 3 arrives last, at 1 s, and leaves last: it needs a control message of process 1, which first needs one of process 3.
    let one_works = Plans::new(vec![plan(&[0.0, 0.0, 1e9], &[]); 2]);
    let twice = 1.0 + 0.204 + 1.0 + 0.204;
    assert_time(
        &one_works,
        network,
        runtime(ControlTransport::Packets),
        twice,
    );
    // As flows, the control message that a process sends and the one that it receives have half of its link each.
    assert_time(
        &none,
        network,
        runtime(ControlTransport::Flows),
        2.0 * 0.202,
    );
}

#[test]
fn a_call_beside_a_superstep_that_is_a_barrier_alone_starts_with_it() {
    let platform = switch(3, WIRE);
    let plans = Plans::new(vec![
        plan(&[1e9, 0.0, 0.0], &[]),
        plan(&[0.0, 0.0, 0.0], &[]),
    ]);
    let both = [ShortcutChoice::All, ShortcutChoice::None];
    for (shortcuts, call) in both.into_iter().flat_map(|one| [(one, 0.5), (one, 0.001)]) {
        let case = Case {
            runtime: RuntimeConfig {
                barrier: BarrierConfig {
                    kind: BarrierKind::Dissemination,
                    notices: ControlTransport::Packets,
                    ..BarrierConfig::default()
                },
                shortcuts,
                ..RuntimeConfig::default()
            },
            costs: Costs {
                call: CallCostConfig {
                    model: CallModel::Additive,
                    fixed: seconds(call),
                    waiting: CallWaiting::Overlapped,
                    ..CallCostConfig::default()
                },
                ..Costs::default()
            },
            scenario: Scenario::Ii,
            ..Case::new(&platform, &plans, 0..3)
        };
        let outcome = case.run_with(Script(vec![(0, vec![])])).unwrap();
        // The time is 1 s and two rounds of 2 ms; then the longer of the call and the barrier beside it.
        let expected = 1.004 + f64::max(call, 0.004);
        assert_close(outcome.makespan.get(), expected, ROUNDING, "time");
    }
}

#[test]
fn a_single_byte_takes_its_time() {
    let plans = Plans::new(vec![plan(&[0.0, 0.0], &[(0, 1, 1.0)])]);
    let (network, runtime) = (NetworkModel::default(), RuntimeConfig::default());
    assert_time(&plans, network, runtime, 0.002 + 1e-6);
}

#[test]
fn slow_start_of_a_message_that_waits_counts_one_before_it_that_does_not() {
    let network = NetworkModel {
        overhead: seconds(0.05),
        slow_start: true,
        ..NetworkModel::default()
    };
    // The connection is in use, has a short pause, or is idle when the receiver has computed.
    let ends = [1e7, 1e8, 1e9].map(|work| {
        let plans = Plans::new(vec![plan(&[0.0, work], &[(0, 1, 1e4), (0, 1, 1e6)])]);
        let [by_shortcuts, by_events] = times(&plans, network, above(2e4));
        assert_close(by_shortcuts, by_events, ROUNDING, "time");
        by_events - work / 1e9
    });
    assert!(ends[1] < ends[2], "{ends:?}");
}

#[test]
fn slow_start_comes_again_after_a_pause() {
    // A round trip of 4 ms equals 4000 B, so no window waits. With an overhead of 96 ms it equals 1e5 B: windows of 14480, 28960 and 57920
    // B wait for the rest of 0.1 s each.
    let network = NetworkModel {
        overhead: seconds(0.096),
        slow_start: true,
        ..NetworkModel::default()
    };
    let slow = 0.3 - (14_480.0 + 28_960.0 + 57_920.0) / 1e6;
    let one = 0.002 + 0.096 + 1.0;
    let work = |work: f64| plan(&[work, 0.0], &[(0, 1, 1e6)]);
    let at_once = Plans::new(vec![work(0.0), work(0.0)]);
    assert_time(
        &at_once,
        network,
        RuntimeConfig::default(),
        2.0 * one + slow,
    );
    let after_a_pause = Plans::new(vec![work(0.0), work(1e9)]);
    let expected = 1.0 + 2.0 * (one + slow);
    assert_time(&after_a_pause, network, RuntimeConfig::default(), expected);
}

const TRACE: &str =
    "bsp 1 2 1\nbarrier central 8\nrecv late\nhost 0 p-0\nhost 1 p-1\nstep 0\nm 0 1 100000\nend\n";
const PLATFORM: &str = r#"{"schema": "migsim-platform-1", "name": "pair",
  "clusters": [{"name": "p", "hosts": 2, "speed": "1 GHz", "link": {"bandwidth": "100 Mbps", "latency": "1 ms", "duplex": true}}]}"#;

/// Writes the files of these tests, and returns their folder.
fn files() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mine = r#"{"schema": "migsim-library-1", "name": "mine", "network": {"overhead": "7 us"}, "runtime": {"receives": "early"}}"#;
    for (name, text) in [
        ("app.trace", TRACE),
        ("pair.json", PLATFORM),
        ("mine.json", mine),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Returns the settings of a run of the trace with these flags.
fn shown_in(folder: &Path, flags: &str) -> Value {
    let run = "run --app trace --trace app.trace --platform pair.json --show";
    serde_json::from_str(&done(folder, &format!("{run} {flags}"))).unwrap()
}

fn shown(flags: &str) -> Value {
    shown_in(files().path(), flags)
}

#[test]
fn a_library_wins_over_a_trace_and_flags_win_over_a_library() {
    let without = shown("");
    assert_eq!(without["runtime"]["receives"], "late");
    assert_eq!(without["runtime"]["barrier"]["kind"], "central");
    assert_eq!(without.get("library"), None);
    let with = shown("--library open-mpi");
    assert_eq!(with["library"], "open-mpi");
    assert_eq!(
        with["runtime"]["receives"],
        json!({"late_above": "65536 B"})
    );
    assert_eq!(with["runtime"]["barrier"]["kind"], "library");
    assert_eq!(with["network"]["weights"], "equal");
    assert!(
        with["origins"]["network.packet"]
            .as_str()
            .unwrap()
            .starts_with("stated")
    );
    let flags = "--library open-mpi --net packet=none --set runtime.barrier.kind=tree";
    let over = shown(flags);
    assert_eq!(over["runtime"]["barrier"]["kind"], "tree");
    assert_eq!(over["runtime"]["barrier"]["bytes"], "80 B");
    assert_eq!(over["network"].get("packet"), None);
    assert_eq!(over["origins"].get("network.packet"), None);
    // The trace sets `late`; a size replaces it.
    let above = shown("--set runtime.receives.late_above=1KiB");
    assert_eq!(
        above["runtime"]["receives"],
        json!({"late_above": "1024 B"})
    );
    let mine = shown("--library mine.json");
    assert_eq!(mine["network"]["overhead"], "0.000007 s");
    assert_eq!(mine["runtime"]["receives"], "early");
    assert_eq!(mine["runtime"]["barrier"]["kind"], "central");
}

/// Returns the printed settings of an experiment that was printed before, with flags above them.
fn shown_again(shown: &Value, flags: &str) -> Value {
    let folder = files();
    fs::write(folder.path().join("shown.json"), shown.to_string()).unwrap();
    let line = format!("run shown.json --show {flags}");
    serde_json::from_str(&done(folder.path(), &line)).unwrap()
}

#[test]
fn a_library_adds_to_the_chosen_network() {
    let with = shown("--library open-mpi --network lv08 --net packet=9000B");
    let network = &with["network"];
    assert_eq!(network["model"], "lv08");
    assert_eq!(network["latency_factor"], 13.01);
    assert_eq!(network["bandwidth_factor"], 0.94);
    assert_eq!(network["overhead"], "0.000147 s");
    assert_eq!(network["packet"], "9000 B");
    let origin = |key: &str| with["origins"][key].as_str().map(str::to_owned);
    assert!(origin("network.overhead").is_some_and(|text| text.starts_with("fitted")));
    // Another library replaces the one of an experiment that was printed.
    let mpich = shown_again(&with, "--library mpich");
    assert_eq!(mpich["network"]["model"], "cm02");
    assert_eq!(mpich["network"].get("overhead"), None);
    assert_eq!(mpich["origins"].get("network.overhead"), None);
    // A constant that was switched off stays off.
    let without = shown("--library open-mpi --net overhead=0s");
    assert_eq!(without["network"].get("overhead"), None);
    assert_eq!(shown_again(&without, "")["network"], without["network"]);
}

#[test]
fn the_settings_that_are_shown_give_the_same_run() {
    let with = shown("--library open-mpi");
    let shown = shown_again(&with, "");
    for key in ["network", "runtime", "library"] {
        assert_eq!(shown[key], with[key], "{key}");
    }
}

#[test]
fn the_libraries_are_listed() {
    let listed = json(Path::new("."), "list libraries");
    let rows = listed["known"].as_array().unwrap();
    let names: Vec<&str> = rows
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, BUILT_IN_LIBRARIES.map(|library| library.name));
    let errors = refused(Path::new("."), "run --app lu --library openmpi");
    assert!(errors.contains("unknown library `openmpi`"), "{errors}");
}

#[test]
fn a_calibrated_library_is_written_and_run() {
    let folder = files();
    let here = folder.path();
    // The one-way time as osu_latency prints it: 2 ms and 30 us, packets of 1538 B through a switch, 12.5 MB/s times 0.9.
    let time = |bytes: f64| 2030.0 + (bytes.min(1448.0) + 90.0) / 12.5 + bytes / 11.25;
    let rows = [8.0, 1e3, 1e4, 6e4].map(|bytes| format!("{bytes} {}\n", time(bytes)));
    let head = "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n";
    fs::write(here.join("osu.txt"), head.to_owned() + &rows.concat()).unwrap();
    let start = "calibrate --platform pair.json --table";
    let between = "--between p-0,p-1";
    let said = done(
        here,
        &format!("{start} osu.txt {between} --out fitted.json"),
    );
    assert!(said.contains("overhead per message: 30.0 us"), "{said}");
    assert!(said.contains("bandwidth factor: 0.9\n"), "{said}");
    assert!(
        said.contains("the measurements do not determine the size from which receives are late"),
        "{said}"
    );
    let shown = shown_in(here, "--library fitted.json");
    assert_eq!(shown["network"]["overhead"], "0.00003 s");
    assert_eq!(shown["network"]["bandwidth_factor"], 0.9);
    let origin = shown["origins"]["network.overhead"].as_str();
    assert!(origin.unwrap().starts_with("fitted"));
    fs::write(
        here.join("small.txt"),
        "# Size  Latency (us)\n8 2150\n9 2150\n",
    )
    .unwrap();
    let output = command(here, &format!("{start} small.txt {between}"));
    let printed = String::from_utf8(output.stdout).unwrap();
    let kept = "bandwidth factor: 0.94 (the value of the library `open-mpi`, since the table does not determine it)\n";
    assert!(printed.contains(kept), "{printed}");
    let rows = "from,to,bytes,time_s\np-0,p-1,1,2.1\np-0,p-1,60000,7.5\n";
    fs::write(here.join("ms.csv"), rows).unwrap();
    let doubtful = format!("{start} ms.csv --out doubted.json");
    let output = command(here, &doubtful);
    let errors = support::said(&output);
    assert!(errors.contains("warning: the overhead of "), "{errors}");
    assert!(
        errors.contains("error: the fitted values are doubtful"),
        "{errors}"
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(!here.join("doubted.json").exists(), "nothing was accepted");
    let accepted = succeeded(command(here, &format!("{doubtful} --accept")));
    let errors = support::said(&accepted);
    assert!(errors.contains("warning: the overhead of "), "{errors}");
    assert!(read(here, "doubted.json").contains("doubtful"));
    let mut default = Command::new(env!("CARGO_BIN_EXE_migsim"));
    let line = format!("{start} osu.txt {between} --default");
    default.args(line.split(' ')).current_dir(here);
    let output = default.env("XDG_CONFIG_HOME", here.join("config")).output();
    let errors = support::said(&output.unwrap());
    assert!(
        errors.starts_with("note: recorded traces that name no library"),
        "{errors}"
    );
    // The transport of the messages in the table is unknown.
    let kept: Value = serde_json::from_str(&read(here, "config/migsim/library.json")).unwrap();
    assert_eq!(kept["machine"], json!({ "library": "open-mpi" }));
    let errors = refused(here, &format!("{start} ms.csv --out ms.csv"));
    assert!(
        errors.contains("`--out` names the file of the table, which the library would overwrite"),
        "{errors}"
    );
    assert_eq!(read(here, "ms.csv"), rows);
    let errors = refused(here, &format!("{start} osu.txt --between p-0"));
    assert!(errors.contains("--between a-0,a-1"), "{errors}");
}

#[test]
fn a_constant_of_zero_may_have_an_origin() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let zero = r#""network": { "overhead": "0 us" }, "origins": { "network.overhead": "fitted: a ping-pong" }"#;
    let library = format!(r#"{{ "schema": "migsim-library-1", "name": "mine", {zero} }}"#);
    fs::write(here.join("mine.json"), library).unwrap();
    let case = format!(r#"{{ "schema": "migsim-experiment-1", "extends": "lu", {zero} }}"#);
    fs::write(here.join("case.json"), case).unwrap();
    for given in ["--app lu --library mine.json", "case.json"] {
        let shown = json(here, &format!("run {given} --show"));
        assert_eq!(shown["network"].get("overhead"), None, "{given}");
        assert_eq!(shown["origins"].get("network.overhead"), None, "{given}");
    }
}

#[test]
fn the_decisions_of_a_policy_are_measured_once() {
    let told = refused(
        Path::new("."),
        "calibrate --decisions greedy,greedy/every=2",
    );
    assert!(
        told.contains("the decisions of `greedy` would be measured twice"),
        "{told}"
    );
}
