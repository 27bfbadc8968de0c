//! Cases can be drawn again and loaded, and stay within the limits of their suite.

use std::collections::BTreeSet;

use super::*;
use crate::{Experiment, Layers, Limits};

fn lb_1() -> BenchmarkSuite {
    BenchmarkSuite::find("lb-1").unwrap()
}

#[test]
fn the_supersteps_of_lb_2_are_log_uniform_and_its_cases_load_from_each_start() {
    let suite = BenchmarkSuite::find("lb-2").unwrap();
    let mut supersteps = Vec::new();
    for number in 1..=200 {
        let name = format!("lb-2.9.{number}");
        let workload = loaded(&name).workload;
        let size = workload.processes() * workload.supersteps();
        assert!(size as u64 <= suite.suite_file().process_supersteps);
        let case = suite.case(9, number).unwrap();
        let own = ["papers' applications", "recorded programs"];
        if !case.classes.iter().any(|class| own.contains(&&**class)) {
            supersteps.push(workload.supersteps() as f64);
        }
    }
    supersteps.sort_by(f64::total_cmp);
    // The quantile q of the distribution is 30 · 100^q; four standard deviations of a share of 150 cases are 0.16.
    for quantile in [0.25, 0.5, 0.75] {
        let limit = 30.0 * 100_f64.powf(quantile);
        let below = supersteps.partition_point(|count| *count < limit);
        let share = below as f64 / supersteps.len() as f64;
        assert!((share - quantile).abs() < 0.16, "{quantile}: {share}");
    }
    assert!(supersteps.len() > 150);
    let placement = |name: &str| loaded(name).placement;
    assert_ne!(
        placement("lb-2.9.1+by-speed"),
        placement("lb-2.9.1+contiguous")
    );
    assert!(find_case_by_name("lb-2.9.1+best").is_none());
}

fn loaded(name: &str) -> Experiment {
    let settings = Layers::from_pairs([("extends", name.into())]);
    Experiment::load(&settings, Limits::default()).expect(name)
}

#[test]
fn every_case_of_some_draws_loads_and_stays_within_the_limits() {
    let suite = lb_1();
    for draw in [1, 9] {
        for number in 1..=100 {
            let name = format!("lb-1.{draw}.{number}");
            let experiment = loaded(&name);
            assert_eq!(experiment.built_in_basis.experiment, name);
            let workload = &experiment.workload;
            let size = workload.processes() as u64 * workload.supersteps() as u64;
            assert!(
                size <= suite.suite_file().process_supersteps,
                "{name}: {size}"
            );
            let hosts = experiment.platform.platform.hosts.len();
            assert!((8..=512).contains(&hosts), "{name}: {hosts} hosts");
            assert!((1..=6).contains(&experiment.platform.platform.clusters.len()));
        }
    }
}

#[test]
fn a_case_is_the_same_whenever_it_is_drawn_and_another_in_another_draw() {
    let case = |draw, number| lb_1().case(draw, number).unwrap().experiment.to_string();
    assert_eq!(case(1, 17), case(1, 17));
    let cases = (1..=3).flat_map(|draw| (1..=3).map(move |number| (draw, number)));
    let different: BTreeSet<String> = cases.map(|(draw, number)| case(draw, number)).collect();
    assert_eq!(different.len(), 9);
}

#[test]
fn draws_cover_every_class() {
    BenchmarkSuite::names().for_each(check_classes);
}

fn check_classes(suite: &str) {
    let suite = BenchmarkSuite::find(suite).unwrap();
    let cases: Vec<BenchmarkCase> = (1..=200)
        .map(|number| suite.case(1, number).unwrap())
        .collect();
    let drawn: BTreeSet<&str> = cases
        .iter()
        .flat_map(|case| &case.classes)
        .map(|one| &**one)
        .collect();
    let choices = suite
        .suite_file()
        .parts
        .iter()
        .flat_map(|part| &part.choices);
    let named = choices.filter_map(|choice| choice.class.as_deref());
    let derived = [
        "one cluster",
        "several clusters, LAN",
        "several clusters, WAN",
        "short runs",
        "long runs",
        "cheap moves",
        "dear moves",
    ];
    for class in named.chain(derived) {
        assert!(drawn.contains(class), "{class}");
    }
}

#[test]
fn only_whole_names_are_cases() {
    assert_eq!(find_case_by_name("lb-1.2.17").unwrap().case_number, 17);
    for name in [
        "lb-1",
        "lb-1.1",
        "lb-1.0.1",
        "lb-1.1.0",
        "lb-1.01.1",
        "lb-9.1.1",
        "lb-1.1.x",
        "lb-1.fixed.0",
        "lb-1.fixed.999",
        "ufrgs.json",
    ] {
        assert!(find_case_by_name(name).is_none(), "{name}");
    }
}

#[test]
fn every_fixed_case_loads_and_names_its_source() {
    let suite = lb_1();
    let mut classes = BTreeSet::new();
    for number in 1..=suite.fixed_case_count() {
        let case = suite.case(CaseSet::Fixed, number).unwrap();
        let experiment = loaded(&case.name);
        assert_eq!(experiment.built_in_basis.experiment, case.name);
        let description = case.experiment["description"].as_str().unwrap();
        assert!(description.ends_with('.'), "{description}");
        let is_measured = case.classes.iter().any(|class| class == "measured load");
        assert_eq!(experiment.uses_seed(), is_measured, "{}", case.name);
        classes.extend(case.classes);
    }
    assert!((16..=24).contains(&suite.fixed_case_count()));
    for class in ["recorded programs", "papers' applications", "measured load"] {
        assert!(classes.contains(class), "{class}");
    }
    assert!(
        suite
            .case(CaseSet::Fixed, suite.fixed_case_count() + 1)
            .is_none()
    );
}
