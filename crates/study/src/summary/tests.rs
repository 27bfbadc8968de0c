//! Tests of the summary of a sweep.

use super::*;
use crate::row::RunRow;
use serde_json::json;

/// Makes two parameters with two values each, and two seeds. The makespan is 10·a + b + seed, so that a explains 100 times as much variance
/// as b.
fn swept() -> (Plan, Rows) {
    let mut plan = Plan {
        names: vec!["a".into(), "b".into()],
        seeds: vec![1, 2],
        ..Plan::default()
    };
    let mut rows = Rows::new();
    for a in [2, 1] {
        for b in [1, 2] {
            plan.settings.push(vec![Some(json!(a)), Some(json!(b))]);
            for seed in [1, 2] {
                let id = format!("{a}{b}{seed}");
                let makespan = f64::from(10 * a + b + seed);
                let row = RunRow {
                    makespan_s: [None, None, Some(makespan)],
                    ..RunRow::default()
                };
                rows.insert(id.clone(), row);
                plan.runs.push(id);
            }
        }
    }
    (plan, rows)
}

#[test]
fn the_best_setting_and_the_effects_worked_by_hand() {
    let (plan, rows) = swept();
    let summary = Summary::from_rows(&plan, &rows);
    // a = 1, b = 1: (12 + 13) / 2.
    assert_eq!(summary.best_settings, [2]);
    assert_eq!(summary.settings[2].goal.unwrap().mean, 12.5);
    // Between settings: 4 · 5² for a, 4 · 0.5² for b.
    assert!((summary.parameter_effects[0].variance_share.unwrap() - 100.0 / 101.0).abs() < 1e-12);
    assert!((summary.parameter_effects[1].variance_share.unwrap() - 1.0 / 101.0).abs() < 1e-12);
    assert!(summary.interaction_share().unwrap() < 1e-12);
    assert_eq!(
        summary.parameter_effects[0].means_by_value[0],
        ("1".into(), 13.0)
    );
}

#[test]
fn differences_are_paired_by_seed() {
    let (mut plan, rows) = swept();
    plan.defaults.clone_from(&plan.settings[0]);
    let summary = Summary::from_rows(&plan, &rows);
    let difference = summary.settings[2].difference.unwrap();
    // The difference is -10 with each seed: it has no deviation, although the makespans have one.
    assert_eq!((difference.mean, difference.deviation), (-10.0, Some(0.0)));
    assert_eq!(
        summary.settings[2].goal.unwrap().deviation,
        Some(0.5_f64.sqrt())
    );
}

#[test]
fn the_baseline_is_never_with_the_same_other_values() {
    let row = |policy: &str, n: i32, alpha: Option<i32>| {
        vec![
            Some(json!(policy)),
            Some(json!(n)),
            alpha.map(|alpha| json!(alpha)),
        ]
    };
    let plan = Plan {
        names: ["policy", "n", "alpha"].map(str::to_owned).to_vec(),
        work: vec!["n".to_owned()],
        settings: vec![
            row("migbsp", 1, Some(4)),
            row("migbsp", 2, Some(4)),
            row("never", 1, None),
            row("never", 2, None),
        ],
        ..Plan::default()
    };
    assert_eq!(
        find_baselines(&plan, &ParameterValues::of_all_parameters(&plan)),
        [2, 3, 2, 3]
    );
}

/// The slow twin of the search for baselines: it compares each setting with all others.
fn baseline_one_by_one(plan: &Plan, setting: usize) -> usize {
    let own = &plan.settings[setting];
    let is_base = |other: &Vec<Option<Value>>| {
        let mut pairs = plan.names.iter().zip(other.iter().zip(own));
        pairs.all(|(name, (theirs, own))| match name.as_str() {
            "policy" => *theirs == Some(json!("never")),
            _ => theirs.is_none() || theirs == own,
        })
    };
    plan.settings.iter().position(is_base).unwrap_or(0)
}

#[test]
fn baselines_are_those_that_are_found_one_by_one() {
    let mut plan = Plan {
        names: ["n", "policy", "alpha", "x"].map(str::to_owned).to_vec(),
        work: vec!["n".to_owned()],
        ..Plan::default()
    };
    for n in [20, 10] {
        for policy in ["migbsp", "never", "replay"] {
            for (alpha, x) in [(2, 0.5), (4, 0.5), (2, 1.0)] {
                plan.settings.push(vec![
                    Some(json!(n)),
                    Some(json!(policy)),
                    (policy == "migbsp").then(|| json!(alpha)),
                    (policy != "never").then(|| json!(x)),
                ]);
            }
        }
    }
    let expected = (0..plan.settings.len()).map(|one| baseline_one_by_one(&plan, one));
    assert_eq!(
        find_baselines(&plan, &ParameterValues::of_all_parameters(&plan)),
        expected.collect::<Vec<_>>()
    );
}

#[test]
fn without_never_the_baseline_has_the_defaults_and_the_same_work_in_any_order() {
    let mut plan = Plan {
        names: ["alpha", "n"].map(str::to_owned).to_vec(),
        work: vec!["n".to_owned()],
        settings: [(2, 10), (2, 20), (4, 10), (4, 20)]
            .map(|(alpha, n)| vec![Some(json!(alpha)), Some(json!(n))])
            .to_vec(),
        defaults: vec![Some(json!(4.0)), Some(json!(99))],
        ..Plan::default()
    };
    let found = |plan: &Plan| find_baselines(plan, &ParameterValues::of_all_parameters(plan));
    assert_eq!(found(&plan), [2, 3, 2, 3]);
    assert!(missing_baselines(&plan).is_empty());
    plan.settings.reverse();
    assert_eq!(found(&plan), [0, 1, 0, 1]);
    // Without the defaults there is no baseline, whatever comes first: they are added, for each work.
    plan.defaults[0] = Some(json!(5));
    assert_eq!(found(&plan), [0, 1, 2, 3]);
    let added = missing_baselines(&plan);
    assert_eq!(
        added,
        [20, 10].map(|n| vec![Some(json!(5)), Some(json!(n))])
    );
    plan.settings.extend(added);
    assert_eq!(found(&plan), [4, 5, 4, 5, 4, 5]);
}

#[test]
fn a_setting_that_failed_is_counted_and_not_judged() {
    let (plan, mut rows) = swept();
    for seed in [1, 2] {
        rows.insert(format!("11{seed}"), RunRow::failed("no".into(), false));
    }
    let summary = Summary::from_rows(&plan, &rows);
    assert_eq!(
        (summary.settings[2].failed_runs, summary.settings[2].goal),
        (2, None)
    );
    assert_eq!(summary.best_settings, [3]);
}

#[test]
fn settings_that_two_seeds_cannot_separate_share_the_first_rank() {
    let mut plan = Plan {
        names: vec!["a".into()],
        seeds: vec![1, 2],
        is_random: true,
        ..Plan::default()
    };
    let mut rows = Rows::new();
    // Differences from the first are 1 and 3 s, which two seeds do not separate, and 20 s with both seeds.
    for (a, times) in [(1, [10.0, 20.0]), (2, [11.0, 23.0]), (3, [30.0, 40.0])] {
        plan.settings.push(vec![Some(json!(a))]);
        for (seed, time) in (1..).zip(times) {
            let row = RunRow {
                makespan_s: [None, None, Some(time)],
                ..RunRow::default()
            };
            rows.insert(format!("{a}{seed}"), row);
            plan.runs.push(format!("{a}{seed}"));
        }
    }
    let summary = Summary::from_rows(&plan, &rows);
    assert_eq!(
        (&*summary.best_settings, &*summary.not_separated_settings),
        (&[0][..], &[1][..])
    );
    let lines = summary.best_setting_lines(&plan).join("\n");
    let expected = "1 other setting is not significantly worse with 2 seeds (at 95 %, corrected for the number of pairs of settings; differences up to 0.5 %, the margin of indifference, count as none).";
    assert!(lines.contains(expected), "{lines}");
    let table = summary.ranking_table(&plan, 9).to_html(9);
    assert_eq!(table.matches("1=").count(), 2, "{table}");
}
