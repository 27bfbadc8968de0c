//! A second simulator, slow and obvious, and comparisons of migsim with it.
//!
//! The simulator was written only from documents, without knowledge of `crates/engine/src` and `crates/bsp/src`: from the rules in
//! `tests/oracle/README.md`, the format of traces, the settings, and the chapters of the book on platforms, scenarios and the engine. It
//! keeps one list of all activities in progress. At the time of each event, it computes all rates from scratch by progressive filling. Then
//! it ends all activities that end at that time, all processes react, and so on. It has no queue, no shortcut and no memory of earlier
//! rates.
//!
//! | file | content |
//! |---|---|
//! | `case.rs` | a case as data, its three files, its settings |
//! | `draw.rs` | cases from seeds; round numbers, so that many events are simultaneous |
//! | `machine.rs` | hosts, links, routes; speeds and bandwidths over time |
//! | `fluid.rs` | computations, flows, delays and their rates |
//! | `simulator.rs` | processes, barriers, calls and moves |
//! | `order.rs` | the law of order |
//!
//! Where the documents leave a choice, the simulator does the same as migsim:
//!
//! - After a superstep the prescribed moves come first, then the call, then its migrations.
//! - Without barriers, all processes meet before prescribed moves start.
//! - No flow starts for a migration without memory, nor for a decision to the host where the process already is.
//! - The superstep that hides a call lasts until the call begins (`costs.call.model=overlapped`).
//! - The handshake of `late_above` is part of the latency phase of a flow. The transfer of a moving process's memory has one, too.
//!
//! The second simulator does not support: background loads, latency profiles, barriers other than `ideal`, `central` and `none`, calls by
//! messages, calls that are waited for later (`costs.call.waiting`), libraries, queues, trees of zones, `SimGrid`'s files, `cycles`, memory
//! limits of hosts, and unshared links under `lv08`. The law of order covers all barriers and prices of calls.
//!
//! `MIGSIM_DRAWS=1000` sets the number of drawn cases of each test, and `MIGSIM_FIRST_DRAW` the first seed.

#![expect(
    clippy::panic,
    reason = "a case that migsim refuses is shown with its command"
)]

mod case;
mod draw;
mod fluid;
mod machine;
mod order;
mod simulator;

use std::path::Path;

use migsim::{
    bsp::RunOutcome,
    experiment::{Experiment, Layers, Limits, Progress},
};
use serde_json::{Value, json};

use self::case::{Case, Cluster, Forced, Group, Local, Moves, Network, Step, Transfer, Wire};
use crate::support::{ROUNDING, assert_close, draws};

/// Returns the seeds of the drawn cases.
fn seeds() -> std::ops::Range<u64> {
    let first = std::env::var("MIGSIM_FIRST_DRAW").ok();
    let first = first.map_or(1, |seed| seed.parse().expect("a seed"));
    first..first + draws(200, 2000)
}

/// Runs a case with its trace given as text.
fn run(case: &Case, trace: &str, folder: &Path) -> RunOutcome {
    let write = |name: &str, text: &str| -> Value {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a file can be written");
        json!(path.to_str().expect("a path in UTF-8"))
    };
    let mut settings = vec![
        ("platform", write("platform.json", &case.platform())),
        ("workload.app", json!("trace")),
        ("workload.trace", write("app.trace", trace)),
        ("policy.name", json!("replay")),
        ("policy.replay.decisions", case.decisions_json()),
        ("costs.call.after_last", json!(true)),
    ];
    settings.extend(case.settings());
    let experiment = Experiment::load(&Layers::from_pairs(settings), Limits::default());
    let experiment = experiment.unwrap_or_else(|error| panic!("{error}\n{}", keep(case, trace)));
    let run = experiment.run_scenario(case.scenario(), &Progress::default(), &mut (), None);
    run.unwrap_or_else(|error| panic!("{error}\n{}", keep(case, trace)))
        .outcome
}

/// Writes a case into a folder that is kept, and returns the command that runs it there.
fn keep(case: &Case, trace: &str) -> String {
    let text = format!("{}{trace}{:?}", case.platform(), case.settings());
    let name = text.bytes().fold(0_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("reference-{name:016x}"));
    case.write(&folder, trace)
}

/// Lists the ends of all supersteps, and the makespan.
fn times(outcome: &RunOutcome) -> Vec<f64> {
    let ends = outcome.supersteps.iter().map(|dates| dates.end.get());
    ends.chain([outcome.makespan.get()]).collect()
}

/// Computes the largest relative difference of the times of two runs.
fn difference(found: &[f64], expected: &[f64]) -> f64 {
    if found.len() != expected.len() {
        return f64::INFINITY;
    }
    let relative = |(found, expected): (&f64, &f64)| {
        (found - expected).abs() / expected.max(f64::MIN_POSITIVE)
    };
    found.iter().zip(expected).map(relative).fold(0.0, f64::max)
}

/// Fails with a list of all differing cases, with at most ten of them in full.
fn assert_none(differing: &[String], cases: u64) {
    let shown = differing.iter().take(10).cloned().collect::<Vec<_>>();
    let count = differing.len();
    assert!(
        differing.is_empty(),
        "{count} of {cases} cases differ\n{}",
        shown.join("\n")
    );
}

#[test]
fn drawn_replays_take_the_time_that_the_second_simulator_computes() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut differing = Vec::new();
    for seed in seeds() {
        let case = draw::case(seed);
        let trace = case.trace();
        let found = times(&run(&case, &trace, folder.path()));
        let expected = simulator::simulate(&case);
        let difference = difference(&found, &expected);
        if difference > ROUNDING {
            let command = keep(&case, &trace);
            differing.push(format!(
                "seed {seed} differs by {difference:.1e}: {found:?} instead of {expected:?}\n{command}"
            ));
        }
    }
    assert_none(&differing, seeds().count() as u64);
}

/// Makes hosts of 1 GHz: two with links of 1 MB/s, three with links of 100 MB/s. Two processes move from the slow links to the fast ones
/// after 1 s; then one sends 1e7 B to the other.
fn two_movers(sender: usize) -> Case {
    let cluster = |name: &str, hosts: usize, bandwidth: f64| Cluster {
        name: name.to_owned(),
        groups: vec![Group {
            hosts,
            speed: 1e9,
            cores: 1,
            profile: None,
        }],
        local: Local::Switch,
        wire: Wire {
            bandwidth,
            latency: 0.0,
            is_duplex: false,
            profile: None,
        },
        router: 0,
    };
    let step = |work: [f64; 2], messages: Vec<(usize, usize, f64)>| Step {
        work: work.to_vec(),
        messages,
        moves: Vec::new(),
    };
    let forced = |process: usize| Forced {
        superstep: 1,
        process,
        to: format!("b-{process}"),
    };
    Case {
        clusters: vec![cluster("a", 2, 1e6), cluster("b", 3, 1e8)],
        network: Network::Cm02,
        start: vec!["a-0".to_owned(), "a-1".to_owned()],
        steps: vec![
            step([1e9, 0.0], Vec::new()),
            step([0.0; 2], vec![(sender, 1 - sender, 1e7)]),
        ],
        decisions: vec![forced(0), forced(1)],
        ..Case::default()
    }
}

#[test]
fn a_message_after_moves_that_end_at_one_time_goes_to_the_new_host_of_its_receiver() {
    // The time is 1 s of work, the fixed part of the moves, and 1e7 B at 1e8 B/s. A message to the old host of the receiver would take 10
    // s.
    let folder = tempfile::tempdir().expect("a folder");
    for sender in [0, 1] {
        for is_reversed in [false, true] {
            for (only_movers_wait, fixed) in [(false, 0.3), (true, 0.3), (true, 0.0)] {
                let mut case = two_movers(sender);
                case.moves = Moves {
                    transfer: Transfer::None,
                    fixed,
                    is_serial: false,
                    only_movers_wait,
                };
                if is_reversed {
                    case.decisions.reverse();
                }
                let what = format!("from {sender}, reversed {is_reversed}, {:?}", case.moves);
                let expected = 1.0 + fixed + 0.1;
                let second = simulator::simulate(&case)[2];
                assert_close(second, expected, ROUNDING, &format!("by hand, {what}"));
                let found = run(&case, &case.trace(), folder.path()).makespan.get();
                assert_close(found, expected, ROUNDING, &what);
            }
        }
    }
}
