//! The LU paper (da Rosa Righi et al., *Applying Process Migration on a BSP-Based LU Decomposition Application*), reproduced by the
//! built-in experiment: the times of its Table 2 and Figure 6, and the decisions in its text.
//!
//! The tolerances were fixed before this program existed, with the first reproduction of the paper. Do not widen them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use migsim::bsp::{CallRecord, Scenario};
use migsim::experiment::{Experiment, Progress, Results};

use crate::support::experiment;

/// The tolerances of the three scenarios, and of the median error of scenario i.
const WITHIN: [(Scenario, f64); 3] = [
    (Scenario::I, 0.035),
    (Scenario::Ii, 0.05),
    (Scenario::Iii, 0.07),
];
const MEDIAN_WITHIN: f64 = 0.01;
/// The two cells beyond the tolerances (n, processes, scenario, error). The largest run is extrapolated from n <= 1000. Without p195-p200
/// its slowest host has two processes at 0.75 instead of 0.6 GHz each, which removes 70 s of computation; the published total falls by 10.5
/// s only.
const EXCEPTIONS: [(u64, u64, Scenario, f64); 2] = [
    (5000, 200, Scenario::I, 0.036),
    (5000, 200, Scenario::Iii, -0.087),
];
const EXCEPTION_WITHIN: f64 = 0.001;

/// The published times [s]: n, processes, scenarios i, ii and iii. Table 2 of the paper for n up to 2000, Figure 6 for n = 5000
/// (which has no scenario ii). The text gives 56.18 s for 2000/50 iii; the gains that it states fit the 54.18 s of the table.
const PUBLISHED: [(u64, u64, [Option<f64>; 3]); 14] = [
    (500, 25, [Some(1.68), Some(2.42), Some(2.42)]),
    (500, 50, [Some(2.59), Some(3.54), Some(3.34)]),
    (500, 100, [Some(6.70), Some(7.81), Some(7.65)]),
    (500, 200, [Some(13.23), Some(14.89), Some(14.89)]),
    (1000, 25, [Some(11.65), Some(13.13), Some(10.24)]),
    (1000, 50, [Some(10.10), Some(11.18), Some(9.63)]),
    (1000, 100, [Some(15.22), Some(16.21), Some(16.21)]),
    (1000, 200, [Some(28.21), Some(30.46), Some(30.46)]),
    (2000, 25, [Some(90.11), Some(91.26), Some(76.20)]),
    (2000, 50, [Some(60.23), Some(61.98), Some(54.18)]),
    (2000, 100, [Some(48.79), Some(50.25), Some(46.87)]),
    (2000, 200, [Some(74.14), Some(76.97), Some(76.97)]),
    (5000, 50, [Some(852.31), None, Some(723.64)]),
    (5000, 200, [Some(460.85), None, Some(450.33)]),
];

/// The experiments; each runs once, when the first test requests it.
struct Cell {
    n: u64,
    procs: u64,
    done: OnceLock<(Experiment, Results)>,
}

const fn cell(n: u64, procs: u64) -> Cell {
    Cell {
        n,
        procs,
        done: OnceLock::new(),
    }
}

static CELLS: [Cell; 15] = [
    cell(500, 25),
    cell(500, 50),
    cell(500, 100),
    cell(500, 200),
    cell(1000, 25),
    cell(1000, 50),
    cell(1000, 100),
    cell(1000, 200),
    cell(2000, 25),
    cell(2000, 50),
    cell(2000, 100),
    cell(2000, 200),
    cell(5000, 25),
    cell(5000, 50),
    cell(5000, 200),
];

fn lu(n: u64, procs: u64) -> &'static (Experiment, Results) {
    let cell = CELLS
        .iter()
        .find(|cell| (cell.n, cell.procs) == (n, procs))
        .expect("a cell of the paper");
    cell.done.get_or_init(|| {
        let experiment = experiment(
            "lu",
            &[("workload.n", n.into()), ("workload.procs", procs.into())],
        );
        let results = experiment.run(&Progress::default()).expect("it runs");
        (experiment, results)
    })
}

fn makespan(n: u64, procs: u64, scenario: Scenario) -> f64 {
    let (_, results) = lu(n, procs);
    let run = results.get(scenario).expect("all scenarios are run");
    run.outcome.makespan.get()
}

/// Lists the errors of a scenario: n, processes, simulated over published less 1.
fn errors(scenario: Scenario) -> Vec<(u64, u64, f64)> {
    let error = |&(n, procs, published): &(u64, u64, [Option<f64>; 3])| {
        let published = published[scenario as usize]?;
        Some((n, procs, makespan(n, procs, scenario) / published - 1.0))
    };
    PUBLISHED.iter().filter_map(error).collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "the gaps are to be seen")]
fn all_published_times_are_reproduced_but_those_of_the_largest_run() {
    let mut beyond = Vec::new();
    for (scenario, tolerance) in WITHIN {
        for (n, procs, error) in errors(scenario) {
            if error.abs() > tolerance {
                beyond.push((n, procs, scenario, error));
            }
        }
    }
    assert_eq!(beyond.len(), EXCEPTIONS.len(), "{beyond:?}");
    for ((n, procs, scenario, error), expected) in beyond.into_iter().zip(EXCEPTIONS) {
        println!(
            "beyond the tolerance: {n}/{procs} {}, {:+.1} %",
            scenario.name(),
            error * 100.0
        );
        assert_eq!((n, procs, scenario), (expected.0, expected.1, expected.2));
        assert!((error - expected.3).abs() <= EXCEPTION_WITHIN, "{error}");
    }
}

#[test]
fn the_median_error_of_the_application_alone_is_at_most_one_percent() {
    let mut sizes: Vec<f64> = errors(Scenario::I)
        .iter()
        .map(|(.., error)| error.abs())
        .collect();
    sizes.sort_by(f64::total_cmp);
    let middle = sizes.len() / 2;
    let median = f64::midpoint(sizes[middle - 1], sizes[middle]);
    assert!(median <= MEDIAN_WITHIN, "{median}");
}

#[test]
fn the_published_gains_at_order_5000_come_out_rounded() {
    // The paper says "19 %" with 25 processes. With 50 it has (852.31 - 723.64)/852.31 = 15.1 %, and the simulation 15.5 %.
    let gain =
        |procs| 1.0 - makespan(5000, procs, Scenario::Iii) / makespan(5000, procs, Scenario::I);
    assert_eq!((gain(25) * 100.0).round(), 19.0);
    assert!((gain(50) - 0.151).abs() < 0.01, "{}", gain(50));
}

/// A rescheduling call in the terms of the paper, with all counts from 1.
#[derive(Debug, PartialEq)]
struct Told {
    /// The superstep before the call.
    call: usize,
    /// Number of candidates, and their clusters.
    candidates: usize,
    from: BTreeSet<String>,
    /// The processes that move, in rising order, and their destination clusters.
    moved: Vec<u32>,
    to: BTreeSet<String>,
}

fn told(call: &CallRecord, experiment: &Experiment) -> Told {
    let platform = &experiment.platform.platform;
    let name = |host| {
        platform.clusters[platform.cluster_of(host).index()]
            .name
            .clone()
    };
    let migrations = &call.decision.migrations;
    let mut moved: Vec<u32> = migrations
        .iter()
        .map(|wanted| wanted.process.0 + 1)
        .collect();
    moved.sort_unstable();
    let candidates = &call.decision.candidates;
    Told {
        call: call.superstep + 1,
        candidates: candidates.len(),
        from: candidates
            .iter()
            .map(|candidate| name(candidate.from))
            .collect(),
        moved,
        to: migrations.iter().map(|wanted| name(wanted.to)).collect(),
    }
}

fn calls(n: u64, procs: u64, scenario: Scenario) -> Vec<Told> {
    let (experiment, results) = lu(n, procs);
    let run = results.get(scenario).expect("all scenarios are run");
    let calls = &run.outcome.calls;
    calls.iter().map(|call| told(call, experiment)).collect()
}

/// Makes a call with candidates of one cluster, of which `moved` go to Aquario.
fn moves(call: usize, candidates: usize, from: &str, moved: impl IntoIterator<Item = u32>) -> Told {
    let moved: Vec<u32> = moved.into_iter().collect();
    let to = if moved.is_empty() {
        None
    } else {
        Some("Aquario".to_owned())
    };
    Told {
        call,
        candidates,
        from: [from.to_owned()].into(),
        moved,
        to: to.into_iter().collect(),
    }
}

/// Makes a call without candidates.
fn none(call: usize) -> Told {
    Told {
        call,
        candidates: 0,
        from: BTreeSet::new(),
        moved: Vec::new(),
        to: BTreeSet::new(),
    }
}

/// Lists the calls with moves.
fn moving(n: u64, procs: u64) -> Vec<Told> {
    let mut all = calls(n, procs, Scenario::Iii);
    all.retain(|told| !told.moved.is_empty());
    all
}

fn dates(calls: &[Told]) -> Vec<usize> {
    calls.iter().map(|told| told.call).collect()
}

#[test]
fn nothing_migrates_at_order_500() {
    for procs in [25, 50, 100, 200] {
        assert_eq!(moving(500, procs), [], "{procs} processes");
    }
}

#[test]
fn at_order_1000_with_25_processes_corisco_moves_at_the_second_call() {
    let all = calls(1000, 25, Scenario::Iii);
    assert_eq!(all[..2], [none(4), moves(11, 5, "Corisco", 21..=25)]);
    assert_eq!(dates(&all[2..5]), [25, 53, 109]);
    assert!(all[2..].iter().all(|told| told.moved.is_empty()));
}

#[test]
fn at_order_1000_with_50_processes_frontal_moves_at_the_second_call_and_nothing_later() {
    let all = calls(1000, 50, Scenario::Iii);
    assert_eq!(all[..2], [none(4), moves(9, 6, "Frontal", 37..=42)]);
    // At "calls 15, 21 and 27" there are candidates, but no move pays.
    for (told, call) in all[2..].iter().zip([15, 21, 27, 33, 41, 53, 77]) {
        assert_eq!(*told, moves(call, 16, "Corisco", []));
    }
    assert!(all[2..].iter().all(|told| told.moved.is_empty()));
}

#[test]
fn nothing_migrates_at_order_1000_with_100_and_200_processes() {
    assert_eq!(moving(1000, 100), []);
    assert_eq!(moving(1000, 200), []);
}

#[test]
fn at_order_2000_with_25_processes_corisco_moves_at_the_first_call() {
    // The paper reports the first move. It neither reports nor excludes the later move of Labtec, with which the time agrees.
    let expected = [
        moves(4, 5, "Corisco", 21..=25),
        moves(11, 20, "Labtec", 6..=20),
    ];
    assert_eq!(moving(2000, 25), expected);
}

#[test]
fn at_order_2000_with_50_and_100_processes_frontal_moves_first_and_then_14_of_corisco() {
    let expected = [
        moves(4, 6, "Frontal", 37..=42),
        moves(9, 16, "Corisco", 23..=36),
    ];
    assert_eq!(calls(2000, 50, Scenario::Iii)[..2], expected);
    assert_eq!(moving(2000, 50), expected);
    assert_eq!(calls(2000, 100, Scenario::Iii)[..2], expected);
    assert_eq!(moving(2000, 100), expected);
}

#[test]
fn nothing_migrates_at_order_2000_with_200_processes() {
    assert_eq!(moving(2000, 200), []);
}

#[test]
fn at_order_5000_the_same_processes_move_with_25_and_50_processes() {
    // With 25 processes the later move of Labtec is unreported, as at order 2000. With 50, supersteps of type 2 are stable at this grain,
    // so that the second call comes at 11.
    let expected = [
        moves(4, 5, "Corisco", 21..=25),
        moves(11, 20, "Labtec", 6..=20),
    ];
    assert_eq!(moving(5000, 25), expected);
    let expected = [
        moves(4, 6, "Frontal", 37..=42),
        moves(11, 16, "Corisco", 23..=36),
    ];
    assert_eq!(calls(5000, 50, Scenario::Iii)[..2], expected);
    assert_eq!(moving(5000, 50), expected);
}

#[test]
fn at_order_5000_with_200_processes_exactly_the_doubled_corisco_processes_move() {
    let all = calls(5000, 200, Scenario::Iii);
    assert_eq!(all[0], moves(4, 12, "Corisco", 195..=200));
    assert_eq!(moving(5000, 200).len(), 1);
    // The paper says: "Later Labtec has the highest PM, but is not profitable."
    let later: Vec<&Told> = all[1..].iter().filter(|told| told.candidates > 0).collect();
    assert!(later.len() >= 10);
    for told in later {
        assert_eq!(*told, moves(told.call, 40, "Labtec", []));
    }
}

#[test]
fn scenario_ii_takes_the_same_decisions_until_something_would_move_and_moves_nothing() {
    for cell in &CELLS {
        let (n, procs) = (cell.n, cell.procs);
        let [second, third] = [Scenario::Ii, Scenario::Iii].map(|which| calls(n, procs, which));
        let same = third
            .iter()
            .position(|told| !told.moved.is_empty())
            .map_or(third.len(), |first| first + 1);
        assert_eq!(second[..same], third[..same], "{n}/{procs}");
        let (_, results) = lu(n, procs);
        let run = results.get(Scenario::Ii).expect("all scenarios are run");
        assert_eq!(run.outcome.migrations, [], "{n}/{procs}");
        assert!(
            run.outcome
                .calls
                .iter()
                .all(|call| !call.migrations_applied)
        );
    }
}

#[test]
fn no_published_time_reaches_the_simulator() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "crates", "platforms", "workloads"] {
        list(&root.join(folder), &mut files);
    }
    // Only the crate that compares with the papers contains their numbers; it lies above everything that simulates.
    files.retain(|file| !file.starts_with(root.join("crates/papers")));
    // A font is not text, and recorded programs are compressed.
    files.retain(|file| {
        file.extension()
            .is_none_or(|kind| kind != "ttf" && kind != "br")
    });
    assert!(files.len() > 50, "{} files", files.len());
    let times = PUBLISHED.iter().flat_map(|(.., times)| times).flatten();
    let times: Vec<String> = times.map(|time| format!("{time:.2}")).collect();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        for time in &times {
            // The number must be complete: `0.46.70` or `216.700` would be another one.
            let stands = text.match_indices(time.as_str()).any(|(at, _)| {
                let before = text[..at].chars().next_back();
                let after = text[at + time.len()..].chars().next();
                !before.is_some_and(|c| c.is_ascii_digit() || c == '.')
                    && !after.is_some_and(|c| c.is_ascii_digit())
            });
            assert!(!stands, "{time} in {}", file.display());
        }
    }
}

pub(crate) fn list(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            list(&path, files);
        } else {
            files.push(path);
        }
    }
}
