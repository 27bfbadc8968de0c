//! Draws the figures of the study: performance profiles of policies on the public draw (random sample of cases), and mean ratios
//! of strategies and triggers.

use super::Outcome;
use super::page::{mean_ratio_by_name, standing_of_policy};
use migsim_base::error::Error;
use migsim_output::figure::{Dot, Figure, Group, Row, Rows, SeriesKey, Style, select_figures};
use migsim_study::bench::draw_profiles;

/// Names of the figures that the option `--figure` accepts.
const FIGURE_NAMES: [&str; 2] = ["means", "profile"];

/// Checks that `wanted` is `all` or the name of a figure of the study.
///
/// # Errors
/// There is no figure with this name.
pub fn check_figure_name(wanted: &str) -> Result<(), Error> {
    select_figures(wanted, &FIGURE_NAMES)?;
    Ok(())
}

/// Draws the figure with the name `wanted`, or all figures if `wanted` is `all`.
///
/// # Errors
/// There is no figure with this name.
pub fn draw_figures(outcome: &Outcome, wanted: &str, style: &Style) -> Result<Vec<Figure>, Error> {
    let wanted = select_figures(wanted, &FIGURE_NAMES)?;
    let draw = |name: &&str| {
        let drawing = match *name {
            "means" => means_chart(outcome).draw(style),
            _ => draw_profiles(&outcome.public_draw, style),
        };
        Figure::new(format!("rivals-{name}"), drawing)
    };
    Ok(wanted.iter().map(draw).collect())
}

/// Creates the chart of mean ratios: the default policies with their intervals, and the mean of each strategy and each trigger.
fn means_chart(outcome: &Outcome) -> Rows {
    let bench = &outcome.public_draw;
    let defaults = bench
        .standings
        .iter()
        .filter(|one| one.is_default)
        .map(|one| Row {
            label: one.policy.clone(),
            dots: vec![Dot {
                series_index: 0,
                value: one.mean_ratio,
                interval: Some((one.mean_ratio_ci95[0], one.mean_ratio_ci95[1])),
            }],
        });
    let part = |names: &[String], name: &dyn Fn(&str) -> Vec<String>| -> Vec<Row> {
        let ranked = mean_ratio_by_name(bench, names, name);
        let row = |(name, mean): (String, f64)| Row {
            label: name,
            dots: vec![Dot {
                series_index: 0,
                value: mean,
                interval: None,
            }],
        };
        ranked.into_iter().map(row).collect()
    };
    let study = &outcome.study;
    let migbsp = bench
        .standings
        .iter()
        .filter(|one| one.policy.starts_with("migbsp,"));
    let migbsp = migbsp
        .chain(standing_of_policy(bench, "migbsp"))
        .map(|one| Row {
            label: one.policy.clone(),
            dots: vec![Dot {
                series_index: 0,
                value: one.mean_ratio,
                interval: None,
            }],
        });
    let group = |heading: &str, rows: Vec<Row>| Group {
        heading: heading.into(),
        rows,
    };
    Rows {
        name: "mean makespan over the best known, on the public draw".into(),
        axis_title: "mean ratio to the best known makespan".into(),
        series_keys: vec![SeriesKey::from_index("mean", 0)],
        groups: vec![
            group("default set, 95 % interval", defaults.collect()),
            group(
                "strategies, mean over the triggers",
                part(&study.strategies, &|name| {
                    study.combinations_with_strategy(name)
                }),
            ),
            group(
                "triggers, mean over the strategies",
                part(&study.triggers, &|name| {
                    study.combinations_with_trigger(name)
                }),
            ),
            group("MigBSP, reading by reading", migbsp.collect()),
        ],
        is_logarithmic: true,
        ..Rows::default()
    }
}
