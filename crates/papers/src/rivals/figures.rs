//! The figures of the study: regrets over all cases, and case by case.
//!
//! *means* ranks the policies by their mean regret; the whisker goes from the least to the largest regret of a case. *policies* and
//! *triggers* show makespans over the best known one, with 95 % intervals, of six of them: those with the least mean regret, with MigBSP and
//! the two that a reader compares with.

use super::Outcome;
use super::page::{Ranked, by_regret, standing};
use migsim_base::error::Error;
use migsim_output::figure::{self, Dot, Figure, Group, Key, Rows, Style, chosen};
use migsim_study::compare::Comparison;

/// The names of the figures, as `--figure` takes them.
const NAMES: [&str; 3] = ["means", "policies", "triggers"];
/// So many series fit in one figure.
const SERIES: usize = 6;
/// What is shown whatever its regret.
const SHOWN: [&str; 5] = [
    "migbsp",
    "never",
    "greedy",
    "refine/migbsp",
    "refine/every=50",
];

/// The figures that `wanted` names, or all.
///
/// # Errors
/// There is no figure of this name.
pub fn figures(outcomes: &[Outcome], wanted: &str, style: &Style) -> Result<Vec<Figure>, Error> {
    let wanted = chosen(wanted, &NAMES)?;
    let draw = |name: &&str| {
        let drawing = match *name {
            "means" => means(outcomes).draw(style),
            "policies" => ratios(outcomes, |outcome| &outcome.policies).draw(style),
            _ => ratios(outcomes, |outcome| &outcome.triggers).draw(style),
        };
        Figure::new(format!("rivals-{name}"), drawing)
    };
    Ok(wanted.iter().map(draw).collect())
}

/// A regret as a ratio of makespans.
fn ratio(percent: f64) -> f64 {
    1.0 + percent / 100.0
}

/// The mean of each policy and trigger, from its least to its largest regret.
fn means(outcomes: &[Outcome]) -> Rows {
    let group = |heading: &str, ranked: Vec<Ranked>| Group {
        heading: heading.to_owned(),
        rows: ranked
            .into_iter()
            .map(|one| figure::Row {
                label: one.policy,
                dots: vec![Dot {
                    key: 0,
                    value: ratio(one.mean),
                    interval: Some((ratio(one.least), ratio(one.most))),
                }],
            })
            .collect(),
    };
    Rows {
        name: "mean makespan over the best known, and its range over the cases".into(),
        axis: "makespan over the best known: mean and range of the cases".into(),
        keys: vec![Key::of("mean", 0)],
        groups: vec![
            group("policies", by_regret(outcomes, |outcome| &outcome.policies)),
            group("triggers", by_regret(outcomes, |outcome| &outcome.triggers)),
        ],
        is_log: true,
        ..Rows::default()
    }
}

/// Case by case, a few of the policies.
fn ratios(outcomes: &[Outcome], of: fn(&Outcome) -> &Comparison) -> Rows {
    let ranked = by_regret(outcomes, of);
    let is_shown = |one: &&Ranked| SHOWN.contains(&one.policy.as_str());
    let always = ranked.iter().filter(is_shown).count();
    let best = ranked.iter().filter(|one| !is_shown(one));
    let mut names: Vec<&str> = best
        .take(SERIES.saturating_sub(always))
        .chain(ranked.iter().filter(is_shown))
        .map(|one| one.policy.as_str())
        .collect();
    names.truncate(SERIES);
    let row = |outcome: &Outcome| {
        let dots = names.iter().enumerate().filter_map(|(key, policy)| {
            let regret = standing(of(outcome), policy)?.regret;
            let half = regret.half_width().filter(|half| *half > 0.0);
            Some(Dot {
                key,
                value: ratio(regret.mean),
                interval: half.map(|half| {
                    // On a logarithmic axis an interval cannot reach 0.
                    let low = ratio(regret.mean - half).max(0.5);
                    (low, ratio(regret.mean + half))
                }),
            })
        });
        figure::Row {
            label: outcome.case.name.clone(),
            dots: dots.collect(),
        }
    };
    let group = |heading: &str, name: &str| Group {
        heading: heading.to_owned(),
        rows: outcomes
            .iter()
            .filter(|outcome| outcome.case.group == name)
            .map(row)
            .collect(),
    };
    let keys = names.iter().enumerate();
    Rows {
        name: "makespan over the best known, case by case".into(),
        axis: "makespan over the best known, 95 % interval".into(),
        keys: keys.map(|(place, name)| Key::of(*name, place)).collect(),
        groups: vec![
            group("cases of the papers", "papers"),
            group("synthetic loads", "loads"),
        ],
        is_log: true,
        ..Rows::default()
    }
}
