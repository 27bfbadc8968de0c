//! The papers on Smith-Waterman (da Rosa Righi et al.): what `migsim reproduce` does not judge.
//!
//! The paper on dynamic applications and platforms (Righi et al.), reproduced by the built-in experiments `sw-dynamic` and
//! `sw-dynamic-static`: its Table 2, and the calls, dates and decisions that its text tells.
//!
//! The tolerances were fixed with a feasibility study before the application existed here; they are not to be widened. What lies
//! beyond them is listed with its error and its reason. `cargo test sw_papers -- --nocapture` prints all cells.

use std::path::Path;

use migsim::bsp::{CallRecord, Outcome, Scenario};
use migsim::experiment::{Experiment, Flag, Layers, Limits, Progress, built_in};
use migsim::paper::{Facts, find};

/// A cell beyond its tolerance: n, α, scenario, error, reason.
type Exception = (u64, u64, Scenario, f64, &'static str);
/// By how much the error of an exception may differ from the recorded one.
const EXCEPTION_WITHIN: f64 = 0.005;

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
    (("static", 200, 4), 44, &[(37, 42, "E")]),
    (("static", 200, 4), 76, &[(23, 36, "E")]),
    (("static", 200, 4), 140, &[(1, 12, "D"), (21, 22, "D")]),
    (("static", 200, 4), 268, &[(175, 200, "D")]),
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
    (("static", 200, 4), 140, "21-22 > D"),
    (("static", 200, 4), 268, "195-200 > D"),
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
    let paper = find("sw-irregular").expect("it is a paper");
    let facts = Facts::parse(paper.name, paper.facts).expect("they are its facts");
    let published: Vec<String> = facts
        .tables
        .iter()
        .map(|cell| format!("{:.2}", cell.seconds))
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
