//! Rows of a small benchmark, worked by hand.

use serde_json::json;

use super::*;
use crate::{plan::Plan, row::RunRow};
use migsim_experiment::suite::BenchmarkSuite;

fn request(rivals: &[&str], cases: u64) -> BenchRequest {
    BenchRequest {
        suite: BenchmarkSuite::find("lb-1").unwrap(),
        case_draw: 7.into(),
        draw_source: None,
        case_count: cases,
        start: migsim_experiment::suite::Start::Drawn,
        best_rules: Vec::new(),
        rival_policies: rivals.iter().map(|name| (*name).to_owned()).collect(),
        seeds: None,
        answer_time_limit: None,
    }
}

/// A plan of `settings` settings with two seeds; its runs are numbered from `first`.
fn plan(settings: usize, first: usize) -> Plan {
    serde_json::from_value(json!({
        "schema": "migsim-plan-1",
        "version": "0",
        "sweep": { "schema": "migsim-sweep-1" },
        "names": ["extends", "policy"],
        "settings": vec![json!(["a", "b"]); settings],
        "seeds": [1, 2],
        "is_random": true,
        "runs": (0..2 * settings).map(|run| (first + run).to_string()).collect::<Vec<_>>(),
    }))
    .unwrap()
}

fn row(makespan: f64, calls: u64) -> RunRow {
    RunRow {
        makespan_s: [Some(makespan), None, Some(makespan)],
        calls: [None, Some(calls)],
        migrations: Some(2 * calls),
        cost_s: [Some(0.1 * makespan), Some(0.2 * makespan)],
        straight_returns: Some(0),
        error: None,
        note: None,
        is_input: false,
    }
}

/// A benchmark in which policy `p` of case `c` takes `time(c, p, seed)`, and no run fails.
fn bench(
    request: &BenchRequest,
    time: impl Fn(usize, usize, usize) -> Option<f64>,
    start: f64,
) -> BenchResults {
    let policies = request.policy_names().len();
    let cases = usize::try_from(request.case_count).unwrap();
    let rules = migsim_platform::MappingRule::ALL.len();
    let (own, starts) = (plan(cases * policies, 0), plan(cases * rules, 100_000));
    let mut rows = Rows::new();
    for case in 0..cases {
        for seed in 0..2 {
            for policy in 0..policies {
                let id = ((case * policies + policy) * 2 + seed).to_string();
                let found = match time(case, policy, seed) {
                    Some(time) => row(time, policy as u64),
                    None => RunRow::failed("it hangs".into(), false),
                };
                rows.insert(id, found);
            }
            for rule in 0..rules {
                let id = 100_000 + (case * rules + rule) * 2 + seed;
                rows.insert(id.to_string(), row(start + rule as f64, 0));
            }
        }
    }
    BenchResults::from_rows(request, [&own, &starts], &rows)
}

fn standing<'b>(bench: &'b BenchResults, policy: &str) -> &'b PolicyStatistics {
    bench
        .policies
        .iter()
        .find(|one| one.policy == policy)
        .unwrap()
}

#[test]
fn ratios_are_taken_seed_by_seed_to_the_best_of_the_default_set() {
    let request = request(&["mine"], 2);
    let (first, mine) = (&request.policy_names()[0], request.policy_names().len() - 1);
    // The first policy takes 10 and 20 s in the first case, 30 and 30 s in the second; the rival takes 12 and 16 s, 30 and 45 s; all
    // others take 40 s.
    let time = |case: usize, policy: usize, seed: usize| {
        Some(match policy {
            0 => [[10.0, 20.0], [30.0, 30.0]][case][seed],
            policy if policy == mine => [[12.0, 16.0], [30.0, 45.0]][case][seed],
            _ => 40.0,
        })
    };
    let bench = bench(&request, time, 35.0);
    assert_eq!(
        (
            standing(&bench, first).mean_ratio,
            standing(&bench, first).worst_ratio
        ),
        (1.0, 1.0)
    );
    // Case 1: (12/10 + 16/20) / 2 = 1; case 2: (1 + 1.5) / 2 = 1.25.
    let mine = standing(&bench, "mine");
    assert_eq!(
        (
            mine.mean_ratio,
            mine.median_ratio,
            mine.worst_ratio,
            mine.worst_case
        ),
        (1.125, 1.125, 1.25, 2)
    );
    assert_eq!(
        [
            mine.percent_of_cases_within(1.0),
            mine.percent_of_cases_within(1.2),
            mine.percent_of_cases_within(1.25)
        ],
        [50.0, 50.0, 100.0]
    );
    // Its makespan in case 1 has the mean 14 s, less than 15 s. One of its runs is below the best known.
    assert_eq!(
        (
            mine.wins,
            mine.new_best_cases_and_runs,
            mine.is_in_default_set
        ),
        (1, [1, 1], false)
    );
    assert_eq!(standing(&bench, first).wins, 1);
    let [share, _] = mine.cost_percent;
    assert!((share - 10.0).abs() < 1e-12, "{share}");
    // The best start takes 35 s: 3.5 and 1.75 times the best known in case 1, and 7/6 of it in case 2.
    let start = standing(&bench, BEST_START);
    assert!((start.mean_ratio - f64::midpoint(2.625, 35.0 / 30.0)).abs() < 1e-12);
    assert_eq!([start.calls, start.moves, start.straight_returns], [0.0; 3]);
    // Two cases are too few for an interval.
    assert_eq!(mine.mean_ratio_ci95, [f64::INFINITY; 2]);
    assert!(bench.best_makespans_csv().contains("\n1,2,mine,16\n"));
}

#[test]
fn a_policy_that_failed_has_no_rank_and_no_factor_covers_it() {
    let request = request(&["mine"], 1);
    let mine = request.policy_names().len() - 1;
    let time = |_, policy: usize, seed: usize| {
        let fails = policy == mine && seed == 1;
        (!fails).then_some(10.0 + policy as f64)
    };
    let bench = bench(&request, time, 10.0);
    let row = standing(&bench, "mine");
    assert_eq!((row.failures, row.wins), (1, 0));
    assert_eq!(bench.policies.last(), Some(row));
    let json = bench.to_json();
    let json = json["policies"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&json["policy"], &json["mean_ratio"], &json["failures"]),
        (&json!("mine"), &json!(null), &json!(1))
    );
    assert!(bench.policies_csv().contains("\nmine,,,,,,,,1,0,0,"));
    assert_eq!(row.percent_of_cases_within(1e9), 0.0);
    assert!(bench.first_error.as_deref().unwrap().contains("it hangs"));
    assert!(
        bench
            .remarks()
            .iter()
            .any(|line| line.contains("`mine` failed in 1 case"))
    );
}

#[test]
fn three_failed_runs_stop_a_rival() {
    let request = request(&["mine"], 9);
    assert_eq!(request.case_stages(), [0..1, 1..2, 2..4, 4..8, 8..9]);
    let policies = request.policy_names().len();
    let plan = plan(9 * policies, 0);
    let spared = request.suite.suite_file().policies.len();
    let mut rows = Rows::new();
    let left = |rows: &Rows| {
        let left = request.missing_runs_of_cases(&plan, spared, &(4..8), Shard::WHOLE, rows);
        left.len() / 2
    };
    let fail = |rows: &mut Rows, setting: usize, seed: usize| {
        let id = (2 * setting + seed).to_string();
        rows.insert(id, RunRow::failed("it hangs".into(), false));
    };
    // Of each case, the last policy is the rival; failures of the default set stop nothing.
    for (case, seed) in [(0, 0), (0, 1)] {
        fail(&mut rows, (case + 1) * policies - 1, seed);
        fail(&mut rows, case * policies, seed);
        fail(&mut rows, (case + 1) * policies, seed);
    }
    assert_eq!(left(&rows), 4 * policies);
    fail(&mut rows, 4 * policies - 1, 1); // in case 4
    assert_eq!(left(&rows), 4 * (policies - 1));
}

#[test]
fn the_interval_is_that_of_resampled_means() {
    // Of eight cases, four have the ratio 3 and four the ratio 1. A resample has k ratios of 3 with the probability (8 over k)/256:
    // 0.4 % for k = 0, and 3.5 % for k up to 1.
    let time = |case: usize, policy: usize, _| match (case % 2, policy) {
        (1, 1) => Some(3.0),
        _ => Some(1.0),
    };
    let request = request(&[], 8);
    let bench = bench(&request, time, 1.0);
    assert_eq!(
        standing(&bench, &request.policy_names()[1]).mean_ratio_ci95,
        [1.25, 2.75]
    );
    assert_eq!(
        standing(&bench, &request.policy_names()[0]).mean_ratio_ci95,
        [1.0, 1.0]
    );
}
