//! The LU paper (da Rosa Righi et al., *Applying Process Migration on a BSP-Based LU Decomposition Application*), reproduced by
//! the built-in experiment: the times of its Table 2 and Figure 6, and the decisions that its text tells.
//!
//! The tolerances were fixed before this program existed, with the first reproduction of the paper; they are not to be widened.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use migsim::bsp::{CallRecord, Scenario};
use migsim::experiment::{Experiment, Flag, Layers, Limits, Progress, Results};

/// The tolerances of the three scenarios, and of the median error of scenario i.
const WITHIN: [(Scenario, f64); 3] = [
    (Scenario::I, 0.035),
    (Scenario::Ii, 0.05),
    (Scenario::Iii, 0.07),
];
const MEDIAN_WITHIN: f64 = 0.01;
/// The one cell beyond them, (n, processes, scenario), and its error. With p195-p200 gone the slowest host has two processes at 0.75
/// instead of 0.6 GHz each, which takes 70 s off the computation; the published total falls by 10.5 s only.
const EXCEPTION: (u64, u64, Scenario) = (5000, 200, Scenario::Iii);
const EXCEPTION_ERROR: f64 = -0.086;
const EXCEPTION_WITHIN: f64 = 0.01;

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

/// The experiments, each run once and only when a test asks for it.
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
        let flag = |key: &str, value: serde_json::Value| Flag {
            key: key.into(),
            flag: format!("--{key} {value}"),
            value,
        };
        let mut layers = Layers::default();
        layers.push_flags(vec![
            flag("workload.app", "lu".into()),
            flag("workload.n", n.into()),
            flag("workload.procs", procs.into()),
        ]);
        let experiment = Experiment::load(&layers, Limits::default()).expect("it is built in");
        let results = experiment.run(&Progress::default()).expect("it runs");
        (experiment, results)
    })
}

fn makespan(n: u64, procs: u64, scenario: Scenario) -> f64 {
    let (_, results) = lu(n, procs);
    let run = results.get(scenario).expect("all scenarios are run");
    run.outcome.makespan.get()
}

/// The errors of a scenario: n, processes, simulated over published less 1.
fn errors(scenario: Scenario) -> Vec<(u64, u64, f64)> {
    let error = |&(n, procs, published): &(u64, u64, [Option<f64>; 3])| {
        let published = published[scenario as usize]?;
        Some((n, procs, makespan(n, procs, scenario) / published - 1.0))
    };
    PUBLISHED.iter().filter_map(error).collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "the one gap is to be seen")]
fn all_published_times_are_reproduced_but_one() {
    let mut beyond = Vec::new();
    for (scenario, tolerance) in WITHIN {
        for (n, procs, error) in errors(scenario) {
            if error.abs() > tolerance {
                beyond.push((n, procs, scenario, error));
            }
        }
    }
    let [(n, procs, scenario, error)] = beyond[..] else {
        panic!("beyond the tolerance: {beyond:?}");
    };
    println!(
        "beyond the tolerance: {n}/{procs} {}, {:+.1} %",
        scenario.name(),
        error * 100.0
    );
    assert_eq!((n, procs, scenario), EXCEPTION);
    assert!(
        (error - EXCEPTION_ERROR).abs() <= EXCEPTION_WITHIN,
        "{error}"
    );
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
    // "19 %" with 25 processes; (852.31 - 723.64)/852.31 = 15.1 % with 50, where we have 15.5 %.
    let gain =
        |procs| 1.0 - makespan(5000, procs, Scenario::Iii) / makespan(5000, procs, Scenario::I);
    assert_eq!((gain(25) * 100.0).round(), 19.0);
    assert!((gain(50) - 0.151).abs() < 0.01, "{}", gain(50));
}

/// A rescheduling call as the paper would tell it, all counted from 1.
#[derive(Debug, PartialEq)]
struct Told {
    /// After which superstep.
    call: usize,
    /// How many candidates, and their clusters.
    candidates: usize,
    from: BTreeSet<String>,
    /// The numbers of the processes that are to move, rising, and the clusters where they go.
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

/// A call with candidates of one cluster, of which `moved` go to Aquario.
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

/// A call without candidates.
fn none(call: usize) -> Told {
    Told {
        call,
        candidates: 0,
        from: BTreeSet::new(),
        moved: Vec::new(),
        to: BTreeSet::new(),
    }
}

/// The calls after which something moves.
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
    // "Calls 15, 21 and 27": candidates, but none that pays.
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
    // The paper tells of the first; the later move of Labtec is not reported there (nor excluded: the time fits with it).
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
    // With 25 the later move of Labtec is unreported, as at order 2000. With 50, supersteps of type 2 are stable at this grain, so
    // the second call comes at 11.
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
    // "Later Labtec has the highest PM, but is not profitable."
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
        assert!(run.outcome.calls.iter().all(|call| !call.applied));
    }
}

#[test]
fn no_published_time_reaches_the_simulator() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "platforms", "workloads"] {
        list(&root.join(folder), &mut files);
    }
    assert!(files.len() > 50, "{} files", files.len());
    let times = PUBLISHED.iter().flat_map(|(.., times)| times).flatten();
    let times: Vec<String> = times.map(|time| format!("{time:.2}")).collect();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        for time in &times {
            // As a number of its own: `0.46.70` or `216.700` would be another one.
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

/// The page `results/lu.md`: what is published, what is simulated, the error, and what does not come out.
fn page() -> String {
    let mut text = String::from(HEAD);
    for (n, procs, published) in PUBLISHED {
        let mut row = format!("| {n} | {procs} |");
        for (scenario, published) in Scenario::ALL.into_iter().zip(published) {
            let simulated = makespan(n, procs, scenario);
            let is_fitted = n <= 1000 && scenario != Scenario::Iii;
            let cells = match published {
                Some(published) => {
                    let error = 100.0 * (simulated / published - 1.0);
                    let mark = if is_fitted { " *" } else { "" };
                    [
                        format!("{published:.2}"),
                        format!("{simulated:.2}"),
                        format!("{error:+.1} %{mark}"),
                    ]
                }
                None => ["-".to_owned(), format!("{simulated:.2}"), String::new()],
            };
            for cell in cells {
                row.push(' ');
                row.push_str(&cell);
                row.push_str(" |");
            }
        }
        text.push_str(&row);
        text.push('\n');
    }
    text.push_str("\nLargest and median absolute errors: ");
    let summaries: Vec<String> = Scenario::ALL.into_iter().map(summary).collect();
    text.push_str(&summaries.join("; "));
    text.push_str(".\n");
    text.push_str(TAIL);
    text
}

fn summary(scenario: Scenario) -> String {
    let mut sizes: Vec<f64> = errors(scenario)
        .iter()
        .map(|(.., error)| 100.0 * error.abs())
        .collect();
    sizes.sort_by(f64::total_cmp);
    let (low, high) = (sizes[(sizes.len() - 1) / 2], sizes[sizes.len() / 2]);
    format!(
        "{} {:.1} % and {:.1} %",
        scenario.name(),
        sizes[sizes.len() - 1],
        f64::midpoint(low, high)
    )
}

const HEAD: &str = "\
# The LU paper, reproduced

da Rosa Righi, Pilla, Carissimi, Navaux, Heiss: *Applying Process Migration on a BSP-Based LU Decomposition Application*, Table 2 and
Figure 6. Each row is `migsim run --app lu --n N --procs P` (seed 1, nothing random); this page is written by
`UPDATE_RESULTS=1 cargo test --locked lu_paper` and checked by the tests. Times in seconds. Cells marked * were used to fit constants; the
others were not, though the structure of the model was chosen while looking at all of them.

| n | p | i published | i simulated | error | ii published | ii simulated | error | iii published | iii simulated | error |
|---|---|---|---|---|---|---|---|---|---|---|
";

const TAIL: &str = "
## Decisions

All published decisions come out, one of them at another call (5000/50, by reference to 2000/50: 11 instead of 9); the tests state them
exactly.

| case | published | simulated |
|---|---|---|
| 500, all | never viable | no migration |
| 1000/25 | calls 4 (nothing), 11: 5 of Corisco to Aquario; later none | 4, 11 (p21-p25), 25, 53, 109, ...; later none |
| 1000/50 | 9: 6 of Frontal to Aquario; 15, 21, 27 not viable | 4, 9 (p37-p42), 15, 21, 27, 33, 41, 53, 77; later none |
| 1000/100, 1000/200 | none | none |
| 2000/25 | 5 of Corisco to Aquario | p21-p25 at 4; and p6-p20 (Labtec) at 11, which the paper does not report |
| 2000/50 | 4: 6 of Frontal; 9: 16 candidates of Corisco, 14 move | 4: p37-p42; 9: 16 candidates, p23-p36 |
| 2000/100 | as with 50 | as with 50 |
| 2000/200 | none | none |
| 5000/25 | Corisco to Aquario, gain 19 % | p21-p25 at 4 (p6-p20 at 11), gain 19 % |
| 5000/50 | as 2000/50 | 4: p37-p42; 11 instead of 9: 16 candidates, p23-p36 |
| 5000/200 | 4: p195-p200; later Labtec, not viable | 4: 12 candidates, p195-p200; later 40 of Labtec, never viable |

## Fitted constants

Nine, with the evidence under `origins` in `workloads/lu.json` and `platforms/ufrgs.json`: instructions per update; three latencies; the
clock of Corisco (1.2 GHz, as another paper of the group prints it); two constants of the cost of a call; one of the cost of a move; and the rule
that the first stability test of a run counts as stable.

## What does not come out

- **5000/200, iii.** Once p195 to p200 have left, the slowest hosts are those of Labtec with two processes (0.75 GHz each) instead of Corisco's (0.6 GHz). The
  computation then takes 70 s less, the published total only 10.5 s. No fair sharing of hosts gives that.
- **500/50 and 500/100, iii.** Published below scenario ii (3.34 against 3.54 s, 7.65 against 7.81 s) although nothing migrates and the text calls the two equal.
- **1000/25.** The published overhead of scenario ii (1.48 s) is twice that of its neighbours, and scenario iii leaves too little for its own calls; no smooth model
  gives both.
- **2000/50, iii.** The table says 54.18 s, the text 56.18 s; the gain of 10 % that the text states is that of the table.
";

#[test]
fn the_page_of_results_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/lu.md");
    if std::env::var_os("UPDATE_RESULTS").is_some() {
        std::fs::write(&path, page()).expect("the folder can be written to");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == page(),
        "{} is not current: run the tests once with UPDATE_RESULTS=1",
        path.display()
    );
}
