//! The papers as they are reproduced: how many decisions are theirs, the first tolerances of the LU paper, facts that `migsim reproduce`
//! does not judge, and no published number below it.

use std::path::{Path, PathBuf};

use migsim::{
    bsp::{MigrationRecord, RunOutcome, Scenario},
    experiment::{Experiment, Progress},
    paper::{Facts, PAPERS, Verdict, reproduce},
};

use crate::support::experiment;

/// The tolerances of the three scenarios of the LU paper, and of the median error of scenario i. They were fixed before this program
/// existed, with the first reproduction of the paper. Do not widen them.
const WITHIN: [(&str, f64); 3] = [("i", 0.035), ("ii", 0.05), ("iii", 0.07)];
const MEDIAN_WITHIN: f64 = 0.01;
/// The two cells beyond the tolerances, with their errors. The largest run is extrapolated from n <= 1000. Without p195-p200 its slowest
/// host has two processes at 0.75 instead of 0.6 GHz each, which removes 70 s of computation; the published total falls by 10.5 s only.
const EXCEPTIONS: [(&str, &str, f64); 2] = [
    ("n=5000 procs=200", "i", 0.036),
    ("n=5000 procs=200 alpha=4", "iii", -0.087),
];
const EXCEPTION_WITHIN: f64 = 0.001;

#[test]
fn the_times_of_the_lu_paper_are_within_the_first_tolerances_but_two() {
    let lu = &reproduce("lu", &Progress::default())
        .expect("it runs")
        .papers[0];
    let mut beyond = Vec::new();
    let mut alone = Vec::new();
    for cell in &lu.cells {
        let (_, within) = WITHIN[cell.scenario.len() - 1];
        if cell.error.abs() > within {
            beyond.push((cell.case.as_str(), cell.scenario, cell.error));
        }
        if cell.scenario == "i" {
            alone.push(cell.error.abs());
        }
    }
    assert_eq!(beyond.len(), EXCEPTIONS.len(), "{beyond:?}");
    for (found, expected) in beyond.into_iter().zip(EXCEPTIONS) {
        assert_eq!((found.0, found.1), (expected.0, expected.1));
        assert!(
            (found.2 - expected.2).abs() <= EXCEPTION_WITHIN,
            "{found:?}"
        );
    }
    alone.sort_by(f64::total_cmp);
    let middle = alone.len() / 2;
    let median = f64::midpoint(alone[middle - 1], alone[middle]);
    assert!(median <= MEDIAN_WITHIN, "{median} of {}", alone.len());
}

/// Papers with the number of their decisions and of their schedules of calls, all and reproduced.
const DECISIONS: [(&str, [usize; 2], [usize; 2]); 5] = [
    ("lu", [41, 39], [6, 5]),
    ("lbm", [18, 13], [6, 6]),
    ("sw-irregular", [82, 71], [11, 10]),
    ("sw-dynamic", [73, 40], [7, 6]),
    ("wsppd2007", [5, 5], [0, 0]),
];

#[test]
fn no_decision_of_the_papers_is_lost() {
    let all = reproduce("all", &Progress::default()).expect("it runs");
    for (name, decisions, schedules) in DECISIONS {
        let paper = all.papers.iter().find(|paper| paper.paper == name);
        let paper = paper.expect("a paper of this name");
        let counts = |verdicts: Vec<Verdict>| {
            let same = verdicts.iter().filter(|one| **one == Verdict::Match);
            [verdicts.len(), same.count()]
        };
        let found = paper.decisions.iter().map(|one| one.verdict).collect();
        assert_eq!(counts(found), decisions, "{name}");
        let found = paper.call_schedules.iter().map(|one| one.verdict).collect();
        assert_eq!(counts(found), schedules, "{name}");
    }
}

/// Process and Set of the published moves of test B, mapping 2; one misprint (p7) is read as p6 to n5.
const PUBLISHED: [&str; 11] = [
    "p3,a", "p7,a", "p10,n", "p6,n", "p2,n", "p8,a", "p9,a", "p10,a", "p4,a", "p5,a", "p6,a",
];

#[test]
fn in_test_b_on_mapping_2_the_published_processes_move_to_the_published_sets_and_then_none() {
    for (alpha, last) in [(4, 44), (8, 88), (16, 176)] {
        let experiment = experiment(
            "lbm-b2",
            &[
                ("policy.migbsp.alpha", alpha.into()),
                ("workload.supersteps", 2000.into()),
            ],
        );
        let run = experiment.run_scenario(Scenario::Iii, &Progress::default(), &mut (), None);
        let migrations = run.expect("it runs").outcome.migrations;
        // Superstep, process and host as the paper writes them, counted from 1.
        let told = |one: &MigrationRecord| {
            let host = &experiment.platform.platform.hosts[one.to.index()].name;
            let (cluster, number) = host.rsplit_once('-').expect("cluster-number");
            let number = number.parse::<u32>().expect("a number") + 1;
            let text = format!("p{},{cluster}{number}", one.process.0 + 1);
            (one.superstep + 1, text)
        };
        let all: Vec<(usize, String)> = migrations.iter().map(told).collect();
        assert_eq!(all.last().map(|(superstep, _)| *superstep), Some(last));
        // There is one move at each call; the first two are published with their hosts.
        let first = [(alpha, "p3,a4".to_owned()), (2 * alpha, "p7,a5".to_owned())];
        assert_eq!(all[..2], first);
        let set = |text: &str| {
            text.trim_end_matches(|c: char| c.is_ascii_digit())
                .to_owned()
        };
        let mut simulated: Vec<String> = all.iter().map(|(_, text)| set(text)).collect();
        // The order is from lan to a, then three to n, then six to a. Processes with equal potentials move by rank here, and in another
        // order in the paper.
        let mut published = PUBLISHED.map(str::to_owned);
        for block in [0..2, 2..5, 5..11] {
            simulated[block.clone()].sort();
            published[block].sort();
        }
        assert_eq!(simulated, published, "{alpha}");
    }
}

/// Runs a scenario of a built-in experiment with n processes, initial α and other settings.
fn outcome(
    name: &str,
    (n, alpha): (u64, u64),
    platform: Option<&str>,
    scenario: Scenario,
) -> (Experiment, RunOutcome) {
    let mut settings = vec![
        ("workload.n", n.into()),
        ("policy.migbsp.alpha", alpha.into()),
    ];
    settings.extend(platform.map(|platform| ("platform", platform.into())));
    let experiment = experiment(name, &settings);
    let run = experiment.run_scenario(scenario, &Progress::default(), &mut (), None);
    let outcome = run.expect("it runs").outcome;
    (experiment, outcome)
}

#[test]
fn the_point_where_25_seconds_have_passed_is_near_superstep_68() {
    // With 100 processes, α = 16, t = 25 s: published 25 s, simulated with an error of 2.3 %.
    let platform = Some("sw-dynamic-t25");
    let (_, outcome) = outcome("sw-dynamic", (100, 16), platform, Scenario::Iii);
    let error = outcome.supersteps[67].end.get() / 25.0 - 1.0;
    assert!((0.02..0.025).contains(&error), "{error}");
}

#[test]
fn all_runs_on_the_static_platform_end_within_the_axis_of_figure_10() {
    for n in [10, 25, 50, 100, 200] {
        let (_, outcome) = outcome("sw-dynamic-static", (n, 4), None, Scenario::I);
        assert!(outcome.makespan.get() < 500.0, "{n}: {}", outcome.makespan);
    }
}

#[test]
fn the_reported_moves_of_a_late_slowdown_are_those_of_an_early_one() {
    // The text says t = 100 s. With t = 10 s some processes leave D for A at 94, as reported. At 190 eight of the ten reported ones leave.
    let moves = |platform: &str, superstep: usize| -> Vec<(u32, String, String)> {
        let (experiment, outcome) = outcome("sw-dynamic", (100, 4), Some(platform), Scenario::Iii);
        let platform = &experiment.platform.platform;
        let name = |host| {
            platform.clusters[platform.cluster_of(host).index()]
                .name
                .clone()
        };
        let all = outcome.migrations.iter();
        let here = all.filter(|one| one.superstep + 1 == superstep);
        here.map(|one| (one.process.0 + 1, name(one.from), name(one.to)))
            .collect()
    };
    let from_d_to_a = |moves: &[(u32, String, String)]| -> Vec<u32> {
        let those = moves.iter().filter(|one| one.1 == "D" && one.2 == "A");
        let mut processes: Vec<u32> = those.map(|one| one.0).collect();
        processes.sort_unstable();
        processes
    };
    assert!(from_d_to_a(&moves("sw-dynamic-t100", 94)).is_empty());
    let early = from_d_to_a(&moves("sw-dynamic-t10", 94));
    assert_eq!(early, (46..=50).collect::<Vec<_>>());
    let late = from_d_to_a(&moves("sw-dynamic-t100", 190));
    assert_eq!(late, (91..=98).collect::<Vec<_>>());
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            list(&path, files);
        } else {
            files.push(path);
        }
    }
}

#[test]
fn no_published_time_reaches_the_simulator() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "crates", "platforms", "workloads"] {
        list(&root.join(folder), &mut files);
    }
    // Only the crate that compares with the papers contains their numbers; it lies above everything that simulates. A font is not text,
    // and recorded programs are compressed.
    files.retain(|file| {
        let kind = file.extension().and_then(|kind| kind.to_str());
        !file.starts_with(root.join("crates/papers")) && !matches!(kind, Some("ttf" | "br"))
    });
    assert!(files.len() > 50, "{} files", files.len());
    let mut times = Vec::new();
    for paper in PAPERS {
        let facts = Facts::parse(paper.name, paper.facts_json).expect("they are its facts");
        // Shorter times occur in other roles, too.
        let cells = facts.tables.iter().filter(|cell| cell.seconds >= 3.0);
        times.extend(cells.map(|cell| format!("{:.2}", cell.seconds)));
    }
    assert!(times.len() > 170, "{}", times.len());
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
