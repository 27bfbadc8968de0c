//! Draws the figures of the study: performance profiles of policies on the public draw (random sample of cases), and mean ratios
//! of strategies and triggers.

use super::StudyOutcome;
use super::page::{mean_ratio_by_name, statistics_of_policy};
use migsim_base::error::Error;
use migsim_output::figure::{
    ChartRow, Dot, DotRowChart, Figure, FigureStyle, LegendSeries, RowGroup, select_figures,
};
use migsim_study::bench::draw_performance_profiles;

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
pub fn draw_figures(
    outcome: &StudyOutcome,
    wanted: &str,
    style: &FigureStyle,
) -> Result<Vec<Figure>, Error> {
    let wanted = select_figures(wanted, &FIGURE_NAMES)?;
    let draw = |name: &&str| {
        let drawing = match *name {
            "means" => means_chart(outcome).draw(style),
            _ => draw_performance_profiles(&outcome.public_draw_results, style),
        };
        Figure::new(format!("rivals-{name}"), drawing)
    };
    Ok(wanted.iter().map(draw).collect())
}

/// Creates the chart of mean ratios: the default policies with their intervals, and the mean of each strategy and each trigger.
fn means_chart(outcome: &StudyOutcome) -> DotRowChart {
    let bench = &outcome.public_draw_results;
    let defaults = bench
        .ranked_policy_statistics
        .iter()
        .filter(|one| one.is_in_default_set)
        .map(|one| ChartRow {
            label: one.policy.clone(),
            dots: vec![Dot {
                series_index: 0,
                value: one.mean_ratio,
                whisker_limits: Some((one.mean_ratio_ci95[0], one.mean_ratio_ci95[1])),
            }],
        });
    let part = |names: &[String], name: &dyn Fn(&str) -> Vec<String>| -> Vec<ChartRow> {
        let ranked = mean_ratio_by_name(bench, names, name);
        let row = |(name, mean): (String, f64)| ChartRow {
            label: name,
            dots: vec![Dot {
                series_index: 0,
                value: mean,
                whisker_limits: None,
            }],
        };
        ranked.into_iter().map(row).collect()
    };
    let study = &outcome.study;
    let migbsp = bench
        .ranked_policy_statistics
        .iter()
        .filter(|one| one.policy.starts_with("migbsp,"));
    let migbsp = migbsp
        .chain(statistics_of_policy(bench, "migbsp"))
        .map(|one| ChartRow {
            label: one.policy.clone(),
            dots: vec![Dot {
                series_index: 0,
                value: one.mean_ratio,
                whisker_limits: None,
            }],
        });
    let group = |heading: &str, rows: Vec<ChartRow>| RowGroup {
        heading: heading.into(),
        rows,
    };
    DotRowChart {
        name: "mean makespan over the best known, on the public draw".into(),
        axis_title: "mean ratio to the best known makespan".into(),
        legend_series: vec![LegendSeries::from_index("mean", 0)],
        row_groups: vec![
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
        ..DotRowChart::default()
    }
}
