//! The papers on Smith-Waterman (da Rosa Righi et al.): facts that `migsim reproduce` does not judge.
//!
//! These are, in the paper on dynamic platforms: the time of a point that is not a call, the axis of a figure, and a paragraph that
//! describes another run than it states.

use std::path::Path;

use migsim::bsp::{RunOutcome, Scenario};
use migsim::experiment::{Experiment, Progress};

use crate::support::experiment;
use migsim::paper::{Facts, find_paper};

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
    // With 100 processes, α = 16, t = 25 s: published 25 s, simulated with an error of -0.8 %.
    let platform = Some("sw-dynamic-t25");
    let (_, outcome) = outcome("sw-dynamic", (100, 16), platform, Scenario::Iii);
    let error = outcome.supersteps[67].end.get() / 25.0 - 1.0;
    assert!((-0.01..0.0).contains(&error), "{error}");
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
    // The text says t = 100 s. With t = 10 s some processes leave D for A at 94, as reported, and p91 to p100 at 190, exactly.
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
    let early = from_d_to_a(&moves("sw-dynamic-t10", 190));
    assert_eq!(early, (91..=100).collect::<Vec<_>>());
}

#[test]
fn no_published_time_reaches_the_simulator() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (paper, files) in [
        (
            "sw-irregular",
            &[
                "crates/workloads/src/sw.rs",
                "workloads/sw.json",
                "platforms/ufrgs-sw.json",
            ][..],
        ),
        (
            "sw-dynamic",
            &[
                "crates/workloads/src/sw.rs",
                "workloads/sw-dynamic.json",
                "workloads/sw-dynamic-static.json",
                "platforms/sw-dynamic.json",
                "platforms/sw-dynamic-t10.json",
                "platforms/sw-dynamic-t25.json",
                "platforms/sw-dynamic-t75.json",
                "platforms/sw-dynamic-t100.json",
            ],
        ),
    ] {
        let paper = find_paper(paper).expect("it is a paper");
        let facts = Facts::parse(paper.name, paper.facts_json).expect("they are its facts");
        for name in files {
            let text = std::fs::read_to_string(root.join(name)).expect("it is there");
            for cell in &facts.tables {
                let time = format!("{:.2}", cell.seconds);
                assert!(!text.contains(&time), "{time} in {name}");
            }
        }
    }
}
