//! The paper on irregular Smith-Waterman (da Rosa Righi et al., *Applying Processes Rescheduling over Irregular BSP Application*),
//! reproduced by the built-in experiment `sw`: its Table 1 and the decisions that its text tells.
//!
//! Of the paper on dynamic platforms only the dates of the calls are here.
//!
//! The tolerances were fixed with a feasibility study before the application existed here; they are not to be widened. What lies
//! beyond them is listed with its error and its reason. `cargo test sw_papers -- --nocapture` prints all cells.

use std::path::Path;
use std::sync::OnceLock;

use migsim::bsp::{CallRecord, Scenario};
use migsim::experiment::{Experiment, Flag, Layers, Limits, Progress, Results};

/// The tolerances of the three scenarios.
const WITHIN: [(Scenario, f64); 3] = [
    (Scenario::I, 0.015),
    (Scenario::Ii, 0.015),
    (Scenario::Iii, 0.035),
];

/// The initial α of the four rows of scenarios ii and iii.
const ALPHAS: [u64; 4] = [2, 4, 8, 16];

/// Table 1 [s]: n, scenario i, scenarios ii and iii by α.
const PUBLISHED: [(u64, f64, [f64; 4], [f64; 4]); 5] = [
    (
        10,
        13.34,
        [14.15, 14.71, 13.78, 13.42],
        [13.09, 11.94, 13.82, 12.40],
    ),
    (
        25,
        40.74,
        [43.05, 42.24, 41.63, 41.28],
        [35.97, 34.82, 41.64, 40.64],
    ),
    (
        50,
        92.59,
        [95.70, 94.84, 94.03, 93.36],
        [85.95, 84.65, 83.00, 85.21],
    ),
    (
        100,
        162.66,
        [166.57, 165.66, 164.80, 164.04],
        [150.57, 148.89, 146.55, 162.49],
    ),
    (
        200,
        389.91,
        [394.68, 393.75, 392.85, 392.01],
        [374.62, 375.53, 374.38, 374.40],
    ),
];

/// A cell beyond its tolerance: n, α, scenario, error, reason.
type Exception = (u64, u64, Scenario, f64, &'static str);

const EXCEPTIONS: [Exception; 4] = [
    (10, 2, Scenario::Ii, 0.051, SWAPPED),
    (10, 4, Scenario::Ii, -0.029, SWAPPED),
    (
        50,
        16,
        Scenario::Iii,
        -0.064,
        "no placement without shared hosts gives it; the text is silent",
    ),
    (
        100,
        16,
        Scenario::Iii,
        -0.105,
        "the moves that the text names, and that we make, give 15 s less",
    ),
];
const SWAPPED: &str =
    "the rows for alpha 2 and 4 are swapped in the table: three calls cost less than two";
const EXCEPTION_WITHIN: f64 = 0.005;

/// The experiments, each run once and only when a test asks for it.
fn sw(n: u64, alpha: u64) -> &'static (Experiment, Results) {
    static CELLS: [OnceLock<(Experiment, Results)>; 20] = [const { OnceLock::new() }; 20];
    let row = PUBLISHED.iter().position(|row| row.0 == n);
    let column = ALPHAS.iter().position(|&other| other == alpha);
    let (row, column) = row.zip(column).expect("a cell of the paper");
    CELLS[row * ALPHAS.len() + column].get_or_init(|| {
        let flag = |key: &str, value: serde_json::Value| Flag {
            key: key.into(),
            flag: format!("--{key} {value}"),
            value,
        };
        let mut layers = Layers::default();
        layers.push_flags(vec![
            flag("workload.app", "sw".into()),
            flag("workload.n", n.into()),
            flag("policy.migbsp.alpha", alpha.into()),
        ]);
        let experiment = Experiment::load(&layers, Limits::default()).expect("it is built in");
        let results = experiment.run(&Progress::default()).expect("it runs");
        (experiment, results)
    })
}

fn makespan(n: u64, alpha: u64, scenario: Scenario) -> f64 {
    let run = sw(n, alpha).1.get(scenario).expect("all scenarios are run");
    run.outcome.makespan.get()
}

/// All 45 cells: n, α (2 for scenario i, which has none), scenario, published and simulated.
fn cells() -> Vec<(u64, u64, Scenario, f64, f64)> {
    let mut cells = Vec::new();
    for (n, first, second, third) in PUBLISHED {
        cells.push((n, ALPHAS[0], Scenario::I, first));
        for (scenario, times) in [(Scenario::Ii, second), (Scenario::Iii, third)] {
            let row = ALPHAS.iter().zip(times);
            cells.extend(row.map(|(&alpha, time)| (n, alpha, scenario, time)));
        }
    }
    let simulated = |(n, alpha, scenario, published)| {
        (n, alpha, scenario, published, makespan(n, alpha, scenario))
    };
    cells.into_iter().map(simulated).collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "the table is to be seen")]
fn all_published_times_are_reproduced_but_four() {
    println!("scenario    n  alpha  published  simulated    error");
    let mut beyond = Vec::new();
    for (n, alpha, scenario, published, simulated) in cells() {
        let error = simulated / published - 1.0;
        let exception = EXCEPTIONS
            .iter()
            .find(|known| (known.0, known.1, known.2) == (n, alpha, scenario));
        let (_, within) = WITHIN
            .iter()
            .find(|(which, _)| *which == scenario)
            .expect("each scenario has a tolerance");
        let shown = if scenario == Scenario::I {
            "-".into()
        } else {
            alpha.to_string()
        };
        println!(
            "{:>8} {n:>4} {shown:>6} {published:>10.2} {simulated:>10.2} {:>+7.2} %  {}",
            scenario.name(),
            error * 100.0,
            exception.map_or("", |known| known.4),
        );
        let is_known = exception.is_some_and(|known| (error - known.3).abs() <= EXCEPTION_WITHIN);
        if error.abs() > *within && !is_known {
            beyond.push((n, alpha, scenario, error));
        }
        if error.abs() <= *within && exception.is_some() {
            beyond.push((n, alpha, scenario, error)); // no exception any more: take it off the list
        }
    }
    assert!(beyond.is_empty(), "{beyond:?}");
}

#[test]
fn the_swapped_rows_come_out_when_swapped_back() {
    let [two, four, ..] = PUBLISHED[0].2;
    for (alpha, published) in [(2, four), (4, two)] {
        let error = makespan(10, alpha, Scenario::Ii) / published - 1.0;
        assert!(error.abs() <= WITHIN[1].1, "α = {alpha}: {error}");
    }
}

/// The numbers of the processes that a call moves, counted from 1, rising; all go to Aquario.
fn moved(call: &CallRecord, experiment: &Experiment) -> Vec<u32> {
    let platform = &experiment.platform.platform;
    let to_aquario = |host| platform.clusters[platform.cluster_of(host).index()].name == "Aquario";
    let migrations = &call.decision.migrations;
    assert!(migrations.iter().all(|wanted| to_aquario(wanted.to)));
    let mut moved: Vec<u32> = migrations
        .iter()
        .map(|wanted| wanted.process.0 + 1)
        .collect();
    moved.sort_unstable();
    moved
}

fn call_at(n: u64, alpha: u64, superstep: usize) -> Option<&'static CallRecord> {
    let run = sw(n, alpha).1.get(Scenario::Iii)?;
    let mut calls = run.outcome.calls.iter();
    calls.find(|call| call.superstep + 1 == superstep)
}

/// What the text tells of a call: n, α, after which superstep, the first and last of the processes that move.
type Told = (u64, u64, usize, Option<(u32, u32)>);

/// All calls that the text tells with their processes but the one at 388 of 200x200, which does not come here, and two that only the times tell (10x10 at 16, 25x25 at 4 with α = 4).
/// At 126 "five of p30 to p36" move, see the next test.
const TOLD: [Told; 38] = [
    (10, 2, 2, None),
    (10, 2, 6, None),
    (10, 2, 14, Some((5, 10))),
    (10, 4, 4, None),
    (10, 4, 12, Some((3, 10))),
    (10, 16, 16, Some((7, 10))),
    (25, 2, 2, None),
    (25, 2, 6, None),
    (25, 2, 14, Some((1, 12))),
    (25, 2, 30, Some((21, 25))),
    (25, 4, 4, None),
    (25, 8, 8, Some((1, 1))),
    (25, 8, 24, Some((21, 23))),
    (25, 16, 48, Some((24, 25))),
    (50, 2, 2, None),
    (50, 2, 6, None),
    (50, 2, 14, None),
    (50, 2, 30, Some((21, 29))),
    (50, 2, 62, Some((37, 42))),
    (50, 4, 60, Some((37, 42))),
    (50, 8, 8, None),
    (50, 8, 24, Some((21, 23))),
    (50, 8, 56, Some((37, 42))),
    (100, 2, 2, None),
    (100, 2, 6, None),
    (100, 2, 14, None),
    (100, 2, 30, Some((21, 29))),
    (100, 2, 62, Some((37, 42))),
    (100, 16, 16, Some((1, 11))),
    (100, 16, 48, Some((37, 42))),
    (100, 16, 112, Some((34, 36))),
    (200, 2, 2, None),
    (200, 2, 6, None),
    (200, 2, 14, None),
    (200, 2, 30, Some((21, 31))),
    (200, 2, 62, Some((37, 42))),
    (200, 2, 126, Some((31, 36))),
    (200, 2, 254, None),
];

/// The calls that come out otherwise, and what moves there.
const OTHERWISE: [Told; 2] = [
    // p1 would save 0.0417 s a superstep, at 14 of 50x50 0.0408 s, where the paper moves nobody: no cost that we know separates them.
    (25, 8, 8, None),
    // p29 to p31 have computed in two supersteps at most by then; p31 begins in superstep 31.
    (200, 2, 30, Some((21, 28))),
];

#[test]
fn all_told_decisions_come_out_but_two() {
    let mut otherwise = Vec::new();
    for (n, alpha, superstep, told) in TOLD {
        let expected: Vec<u32> = told.map_or(Vec::new(), |(first, last)| (first..=last).collect());
        let call = call_at(n, alpha, superstep);
        let call = call.unwrap_or_else(|| panic!("no call at {superstep} of {n}, α = {alpha}"));
        let found = moved(call, &sw(n, alpha).0);
        if found != expected {
            let range = found.first().copied().zip(found.last().copied());
            otherwise.push((n, alpha, superstep, range));
        }
    }
    assert_eq!(otherwise, OTHERWISE);
}

#[test]
fn five_of_seven_candidates_move_at_126_of_order_100() {
    let call = call_at(100, 2, 126).expect("a call at 126");
    let mut candidates: Vec<u32> = call
        .decision
        .candidates
        .iter()
        .map(|candidate| candidate.process.0 + 1)
        .collect();
    candidates.sort_unstable();
    assert_eq!(candidates, [30, 31, 32, 33, 34, 35, 36]);
    assert_eq!(moved(call, &sw(100, 2).0).len(), 5);
}

#[test]
fn the_interval_doubles_at_each_call() {
    let dates = |n, alpha, scenario| -> Vec<usize> {
        let run = sw(n, alpha).1.get(scenario).expect("all scenarios are run");
        run.outcome
            .calls
            .iter()
            .map(|call| call.superstep + 1)
            .collect()
    };
    for scenario in [Scenario::Ii, Scenario::Iii] {
        // Published: a further call at 388 with moves. With D grown after three calls without migration the next one would come
        // after the end.
        assert_eq!(dates(200, 2, scenario), [2, 6, 14, 30, 62, 126, 254]);
        assert_eq!(dates(100, 16, scenario), [16, 48, 112]);
        assert_eq!(dates(50, 8, scenario), [8, 24, 56]);
        assert_eq!(dates(25, 4, scenario), [4, 12, 28]);
    }
}

/// The calls of the paper on dynamic platforms (Righi et al.): n, α, after which supersteps. The first calls of 200 processes come every
/// four supersteps, so that supersteps are unstable there in which processes compute equally long.
const CHAINS: [(u64, u64, &[usize]); 6] = [
    (10, 4, &[4, 12]),
    (25, 4, &[4, 12, 28]),
    (50, 4, &[4, 12, 28, 60]),
    (100, 4, &[4, 10, 22, 46, 94, 190]),
    (100, 16, &[16, 46, 106]),
    (200, 4, &[4, 8, 12, 16, 20, 28, 44, 76, 140, 268]),
];

/// Fitted to the six chains together (148 to 150 us are possible): what process 1 pays for each process at the barrier. Messages cost
/// nothing here, nothing moves and D does not grow; the times of that paper are not reproduced.
const ROOT_PAYS: &str = "149 us";

#[test]
fn a_barrier_that_process_1_pays_for_gives_all_calls_of_the_paper_on_dynamic_platforms() {
    for (n, alpha, published) in CHAINS {
        let flag = |key: &str, value: serde_json::Value| Flag {
            key: key.into(),
            flag: key.into(),
            value,
        };
        let mut layers = Layers::default();
        layers.push_flags(vec![
            flag("workload.app", "sw".into()),
            flag("workload.n", n.into()),
            flag("network.bandwidth_factor", 1e9.into()),
            flag("runtime.barrier.kind", "root-serial".into()),
            flag("runtime.barrier.per_process", ROOT_PAYS.into()),
            flag("policy.migbsp.alpha", alpha.into()),
            flag("policy.migbsp.d_factor", 1.into()),
            flag("scenarios", serde_json::json!(["ii"])),
        ]);
        let experiment = Experiment::load(&layers, Limits::default()).expect("it is built in");
        let results = experiment.run(&Progress::default()).expect("it runs");
        let calls = &results.runs[0].outcome.calls;
        let found: Vec<usize> = calls.iter().map(|call| call.superstep + 1).collect();
        assert_eq!(found[..published.len()], *published, "{n}, α = {alpha}");
    }
}

#[test]
fn no_published_time_reaches_the_simulator() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let published: Vec<String> = cells()
        .iter()
        .map(|cell| format!("{:.2}", cell.3))
        .collect();
    for name in [
        "src/workload/sw.rs",
        "workloads/sw.json",
        "platforms/ufrgs-sw.json",
    ] {
        let text = std::fs::read_to_string(root.join(name)).expect("it is there");
        for time in &published {
            assert!(!text.contains(time.as_str()), "{time} in {name}");
        }
    }
}
