//! The paper on irregular Smith-Waterman (da Rosa Righi et al., *Applying Processes Rescheduling over Irregular BSP Application*),
//! reproduced by the built-in experiment `sw`: its Table 1 and the decisions that its text tells.
//!
//! The paper on dynamic applications and platforms (Righi et al.), reproduced by the built-in experiments `sw-dynamic` and
//! `sw-dynamic-static`: its Table 2, and the calls, dates and decisions that its text tells.
//!
//! The tolerances were fixed with a feasibility study before the application existed here; they are not to be widened. What lies
//! beyond them is listed with its error and its reason. `cargo test sw_papers -- --nocapture` prints all cells.

use std::path::Path;
use std::sync::OnceLock;

use migsim::bsp::{CallRecord, Outcome, Scenario};
use migsim::experiment::{Experiment, Flag, Layers, Limits, Progress, Results, built_in};

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

/// A run of the paper on dynamic platforms: platform (`static` or when two clusters lose half of their power), n, α.
type Dynamic = (&'static str, u64, u64);

/// Table 2 [s], t = 10 s: n, scenario i, scenario iii with α = 4 and 16.
const TABLE_2: [(u64, f64, [f64; 2]); 5] = [
    (10, 15.17, [14.04, 14.43]),
    (25, 45.32, [41.34, 42.98]),
    (50, 124.56, [102.50, 102.95]),
    (100, 269.29, [257.58, 263.46]),
    (200, 564.79, [579.34, 572.82]),
];

/// The tolerance of Table 2 in scenarios i and iii.
const WITHIN_2: [(Scenario, f64); 2] = [(Scenario::I, 0.025), (Scenario::Iii, 0.05)];

const EXCEPTIONS_2: [Exception; 4] = [
    (10, 4, Scenario::I, -0.104, SLOWER_ALONE),
    (25, 4, Scenario::I, -0.083, SLOWER_ALONE),
    (
        10,
        16,
        Scenario::Iii,
        0.056,
        "p7 to p10 are on E for less than 0.3 s before it loses half of its power",
    ),
    (
        50,
        16,
        Scenario::Iii,
        0.191,
        "p49 and p50 begin after the call at 48 and stay on the slow D; a call near 64 is needed, and none comes",
    ),
];
const SLOWER_ALONE: &str = "what scenario iii of the same size takes leaves no room for more";

/// A scenario of a run of the paper on dynamic platforms. What the text calls A to E has other names on the static platform.
fn dynamic(run: Dynamic, scenario: Scenario) -> (Experiment, Outcome) {
    let (platform, n, alpha) = run;
    let flag = |key: &str, value: serde_json::Value| Flag {
        key: key.into(),
        flag: format!("--{key} {value}"),
        value,
    };
    let mut flags = vec![
        flag("workload.n", n.into()),
        flag("policy.migbsp.alpha", alpha.into()),
    ];
    let name = if platform == "static" {
        "sw-dynamic-static"
    } else {
        flags.push(flag("platform", format!("sw-dynamic-{platform}").into()));
        "sw-dynamic"
    };
    let mut layers = Layers::default();
    layers.push_file(built_in(name).expect("it is read").expect("it is built in"));
    layers.push_flags(flags);
    let experiment = Experiment::load(&layers, Limits::default()).expect("it is built in");
    let run = experiment.run_scenario(scenario, &Progress::default(), &mut ());
    let outcome = run.expect("it runs").outcome;
    (experiment, outcome)
}

fn dynamic_makespan(run: Dynamic, scenario: Scenario) -> f64 {
    dynamic(run, scenario).1.makespan.get()
}

#[test]
#[expect(clippy::print_stdout, reason = "the table is to be seen")]
fn table_2_of_the_paper_on_dynamic_platforms_is_reproduced_but_four_cells() {
    println!("scenario    n  alpha  published  simulated    error");
    let mut beyond = Vec::new();
    for (n, alone, [often, rarely]) in TABLE_2 {
        for (scenario, alpha, published) in [
            (Scenario::I, 4, alone),
            (Scenario::Iii, 4, often),
            (Scenario::Iii, 16, rarely),
        ] {
            let simulated = dynamic_makespan(("t10", n, alpha), scenario);
            let error = simulated / published - 1.0;
            let exception = EXCEPTIONS_2
                .iter()
                .find(|known| (known.0, known.1, known.2) == (n, alpha, scenario));
            let (_, within) = WITHIN_2
                .iter()
                .find(|(which, _)| *which == scenario)
                .expect("each scenario has a tolerance");
            println!(
                "{:>8} {n:>4} {alpha:>6} {published:>10.2} {simulated:>10.2} {:>+7.2} %  {}",
                scenario.name(),
                error * 100.0,
                exception.map_or("", |known| known.4),
            );
            let is_fine = match exception {
                Some(known) => error.abs() > *within && (error - known.3).abs() <= EXCEPTION_WITHIN,
                None => error.abs() <= *within,
            };
            if !is_fine {
                beyond.push((n, alpha, scenario, error));
            }
        }
    }
    assert!(beyond.is_empty(), "{beyond:?}");
}

/// The calls of the paper on dynamic platforms: after which supersteps. The first calls of 200 processes come every four supersteps, so
/// that supersteps are unstable there in which processes compute equally long.
const CHAINS: [(Dynamic, &[usize]); 7] = [
    (("t10", 25, 4), &[4, 12, 28]),
    (("t25", 50, 4), &[4, 12, 28, 60]),
    (("t75", 50, 16), &[16, 48]),
    (("t100", 100, 4), &[4, 10, 22, 46, 94, 190]),
    (("t25", 100, 16), &[16, 46, 106]),
    // Published: 66 and 114 follow. Ours come at 62 and 66: what moves at 42 makes supersteps unstable.
    (("t25", 200, 4), &[4, 8, 12, 16, 20, 24, 30, 42]),
    (
        ("static", 200, 4),
        &[4, 8, 12, 16, 20, 28, 44, 76, 140, 268],
    ),
];

#[test]
fn all_calls_of_the_paper_on_dynamic_platforms_come_but_the_last_two_of_one_run() {
    for (run, published) in CHAINS {
        let calls = dynamic(run, Scenario::Iii).1.calls;
        let found: Vec<usize> = calls.iter().map(|call| call.superstep + 1).collect();
        assert_eq!(found[..published.len()], *published, "{run:?}");
    }
}

/// The dates that the text tells [s]: run, superstep, published, and our error.
const DATES: [(Dynamic, usize, f64, f64); 9] = [
    (("t10", 25, 4), 12, 3.18, -0.077),
    (("t10", 25, 4), 28, 13.61, 0.092),
    (("t25", 50, 4), 28, 8.68, -0.042),
    (("t25", 50, 4), 60, 40.99, 0.014),
    (("t75", 50, 16), 16, 2.2, 0.041),
    (("t25", 100, 16), 16, 1.95, -0.116),
    (("t25", 100, 16), 46, 12.87, -0.009),
    (("t25", 100, 16), 68, 25.0, 0.043),
    (("t25", 200, 4), 66, 25.0, -0.058),
];

#[test]
#[expect(clippy::print_stdout, reason = "the dates are to be seen")]
fn the_dates_of_calls_on_dynamic_platforms_are_as_recorded() {
    for (run, superstep, published, expected) in DATES {
        let outcome = dynamic(run, Scenario::Iii).1;
        let found = outcome.supersteps[superstep - 1].end.get();
        let error = found / published - 1.0;
        println!(
            "{run:?} {superstep}: {published} s, {found:.2} s, {:+.1} %",
            error * 100.0
        );
        assert!(
            (error - expected).abs() <= EXCEPTION_WITHIN,
            "{run:?} {superstep}: {error}"
        );
    }
}

/// What a call moves: the first and last process of each group, from 1, and the cluster to which it goes.
type Moves = &'static [(u32, u32, &'static str)];

/// All calls of which the text tells what moves, but the one at 114 of 200 processes, which does not come here. Where it gives a number of processes only, they are the first of that cluster.
const TOLD_ON_DYNAMIC: [(Dynamic, usize, Moves); 37] = [
    (("t10", 25, 4), 4, &[(1, 3, "E")]),
    (("t10", 25, 4), 12, &[(4, 10, "E")]),
    (("t10", 25, 4), 28, &[(4, 10, "A"), (21, 23, "A")]),
    (("t25", 50, 4), 4, &[(1, 2, "E")]),
    (("t25", 50, 4), 12, &[(3, 9, "E")]),
    (("t25", 50, 4), 28, &[(21, 24, "E")]),
    (("t25", 50, 4), 60, &[(43, 50, "A")]),
    (("t75", 50, 16), 16, &[(1, 15, "E")]),
    (("t75", 50, 16), 48, &[(37, 42, "A")]),
    (("t100", 100, 4), 4, &[]),
    (("t100", 100, 4), 10, &[(1, 7, "E")]),
    (("t100", 100, 4), 22, &[(8, 18, "E"), (21, 21, "E")]),
    (("t100", 100, 4), 46, &[(37, 42, "A")]),
    (("t100", 100, 4), 94, &[(43, 56, "A")]),
    (("t100", 100, 4), 190, &[(91, 100, "A")]),
    (("t25", 100, 16), 16, &[(1, 14, "E")]),
    (("t25", 100, 16), 46, &[(37, 42, "A")]),
    (("t25", 100, 16), 106, &[(43, 51, "A")]),
    (("t25", 200, 4), 4, &[]),
    (("t25", 200, 4), 8, &[]),
    (("t25", 200, 4), 12, &[]),
    (("t25", 200, 4), 16, &[]),
    (("t25", 200, 4), 20, &[(1, 18, "E")]),
    (("t25", 200, 4), 24, &[(21, 22, "E")]),
    (("t25", 200, 4), 30, &[(21, 28, "A")]),
    (("t25", 200, 4), 42, &[(37, 40, "A")]),
    (("t25", 200, 4), 66, &[(41, 42, "A")]),
    (("static", 200, 4), 4, &[]),
    (("static", 200, 4), 8, &[]),
    (("static", 200, 4), 12, &[]),
    (("static", 200, 4), 16, &[]),
    (("static", 200, 4), 20, &[]),
    (("static", 200, 4), 28, &[]),
    (("static", 200, 4), 44, &[(37, 42, "Aquario")]),
    (("static", 200, 4), 76, &[(23, 36, "Aquario")]),
    (("static", 200, 4), 140, &[(1, 12, "ICE"), (21, 22, "ICE")]),
    (("static", 200, 4), 268, &[(175, 200, "ICE")]),
];

/// The calls that come out otherwise, and what moves there.
const OTHERWISE_ON_DYNAMIC: [(Dynamic, usize, &str); 17] = [
    (("t10", 25, 4), 28, "4-10 > A"),
    // Cut-offs differ by one process or two: p10 has three supersteps of data here, and at 12 of 25 processes it moves.
    (("t25", 50, 4), 12, "3-10 > E"),
    (("t25", 50, 4), 28, "21-26 > E"),
    (("t75", 50, 16), 16, "1-14 > E"),
    // C goes to A while the faster D and E have hosts for all six: no index of clusters that we know prefers A. Likewise below.
    (("t75", 50, 16), 48, "37-42 > E"),
    (("t100", 100, 4), 10, "1-8 > E"),
    (("t100", 100, 4), 22, "21-21 > E"),
    (("t100", 100, 4), 46, "37-42 > E"),
    // Before t = 100 s nothing is won by leaving D for A. With t = 10 s p46 to p50 go to A.
    (("t100", 100, 4), 94, "32-36 > E"),
    (("t25", 100, 16), 46, "37-42 > E"),
    (("t25", 100, 16), 106, "43-54 > A, 56-57 > A"),
    (("t25", 200, 4), 20, "1-17 > E"),
    (("t25", 200, 4), 30, "25-25 > E"),
    (("t25", 200, 4), 42, "37-40 > D"),
    (("t25", 200, 4), 66, "41-42 > D"),
    // p1 to p12 and p175 to p194 have 0.8 of the time of those of B and would have to be candidates beside them.
    (("static", 200, 4), 140, "21-22 > ICE"),
    (("static", 200, 4), 268, "195-200 > ICE"),
];

/// What a call moves, in groups: `1-3 > E`.
fn groups(call: &CallRecord, experiment: &Experiment) -> Vec<(u32, u32, String)> {
    let platform = &experiment.platform.platform;
    let mut moves: Vec<(u32, String)> = (call.decision.migrations.iter())
        .map(|wanted| {
            let cluster = platform.cluster_of(wanted.to).index();
            let name = platform.clusters[cluster].name.clone();
            (wanted.process.0 + 1, name)
        })
        .collect();
    moves.sort();
    let mut groups: Vec<(u32, u32, String)> = Vec::new();
    for (process, to) in moves {
        match groups.last_mut() {
            Some(last) if last.1 + 1 == process && last.2 == to => last.1 = process,
            _ => groups.push((process, process, to)),
        }
    }
    groups
}

#[test]
fn the_told_decisions_on_dynamic_platforms_come_out_or_are_recorded() {
    let mut otherwise = Vec::new();
    for (run, superstep, told) in TOLD_ON_DYNAMIC {
        let (experiment, outcome) = dynamic(run, Scenario::Iii);
        let mut calls = outcome.calls.iter();
        let call = calls.find(|call| call.superstep + 1 == superstep);
        let call = call.unwrap_or_else(|| panic!("no call at {superstep} of {run:?}"));
        let found = groups(call, &experiment);
        let expected = told.iter().map(|group| (group.0, group.1, group.2.into()));
        if !found.iter().cloned().eq(expected) {
            let shown: Vec<String> = (found.iter())
                .map(|(first, last, to)| format!("{first}-{last} > {to}"))
                .collect();
            otherwise.push((run, superstep, shown.join(", ")));
        }
    }
    let expected = OTHERWISE_ON_DYNAMIC.map(|(run, at, moves)| (run, at, moves.to_owned()));
    assert_eq!(otherwise, expected);
}

#[test]
fn gains_and_overheads_on_the_static_platform_are_as_told() {
    let mut gains = Vec::new();
    for alpha in [4, 16] {
        let mut overheads = Vec::new();
        for (n, ..) in TABLE_2 {
            let run = ("static", n, alpha);
            let alone = dynamic_makespan(run, Scenario::I);
            overheads.push(dynamic_makespan(run, Scenario::Ii) / alone - 1.0);
            gains.push(1.0 - dynamic_makespan(run, Scenario::Iii) / alone);
            assert!(alone < 500.0); // the axis of figure 10
        }
        // "The larger the matrix, the lower the overhead"; 10 processes with α = 16 have their one call in a long superstep.
        assert!(overheads[1..].is_sorted_by(|a, b| a > b), "{overheads:?}");
    }
    // Published: 9.58 % on average, 12.2 % for 50 processes (here with α = 16), 5.6 % for 200 (which does not come: 10.7 and 13 %).
    let mean = gains.iter().sum::<f64>() / gains.len() as f64;
    assert!((mean - 0.0958).abs() < 0.005, "{mean}");
    assert!((gains[7] - 0.122).abs() < 0.005, "{}", gains[7]);
}

#[test]
fn the_gain_of_50_processes_is_as_told_when_power_falls_late() {
    // Published: 13.33 % with t = 75, α = 16, and 4 % for 100 processes with t = 25, α = 16, which does not come: 0.4 %.
    let gain =
        |run| 1.0 - dynamic_makespan(run, Scenario::Iii) / dynamic_makespan(run, Scenario::I);
    let late = gain(("t75", 50, 16));
    assert!((late - 0.1333).abs() < 0.01, "{late}");
    let early = gain(("t25", 100, 16));
    assert!((early - 0.004).abs() < 0.002, "{early}");
}

#[test]
fn no_published_time_reaches_the_simulator() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let published: Vec<String> = cells()
        .iter()
        .map(|cell| format!("{:.2}", cell.3))
        .collect();
    let table_2 = TABLE_2
        .iter()
        .flat_map(|&(_, alone, rest)| [alone, rest[0], rest[1]]);
    let published: Vec<String> = published
        .into_iter()
        .chain(table_2.map(|time| format!("{time:.2}")))
        .collect();
    for name in [
        "src/workload/sw.rs",
        "workloads/sw.json",
        "workloads/sw-dynamic.json",
        "workloads/sw-dynamic-static.json",
        "platforms/ufrgs-sw.json",
        "platforms/sw-dynamic-t10.json",
    ] {
        let text = std::fs::read_to_string(root.join(name)).expect("it is there");
        for time in &published {
            assert!(!text.contains(time.as_str()), "{time} in {name}");
        }
    }
}
