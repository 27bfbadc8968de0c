//! Figures of a sweep: the results by each parameter, and heat maps over two parameters.
//!
//! *Lines* (`lines.svg`): a row for each value of a parameter, with the mean over all other parameters and its 95 % confidence
//! interval over the seeds. If a parameter has many values (as in a random sample), they are grouped into ranges. *Heat maps*
//! (`heat.svg`): two parameters at a time (`heat.rs`).

use std::collections::BTreeMap;

use super::heat::HeatMaps;
use super::plan::Plan;
use super::row::RunRow;
use super::spec::value_label;
use super::stats::{Sample, mean};
use super::summary::Summary;
use super::values::{MAX_DRAWN_VALUES, ParameterValues};
use migsim_bsp::Scenario;
use migsim_output::figure::{
    self, Dot, DotRowChart, Drawing, Figure, FigureStyle, LegendSeries, RowGroup, scenario_label,
};

/// Number of ranges into which the values of a parameter are grouped if there are too many.
const RANGES: usize = 12;

/// The name of the figure of results by parameter, and a sentence that describes it.
const LINES: (&str, &str) = (
    "lines",
    "the mean for each value of each parameter, with the 95 % interval over the seeds",
);

/// The name of the figure of heat maps, and a sentence that describes it.
const HEAT: (&str, &str) = ("heat", "maps of the two parameters that matter most");

/// Returns the name of a figure of a sweep, and the sentence that describes it.
pub(super) fn figure_description(name: &str) -> (&'static str, &'static str) {
    if name == HEAT.0 { HEAT } else { LINES }
}

/// Draws the figures `lines` and `heat`; none if the sweep varies no parameter.
pub fn draw_figures(
    plan: &Plan,
    rows: &BTreeMap<String, RunRow>,
    summary: &Summary,
    style: &FigureStyle,
) -> Vec<Figure> {
    if summary.best_settings.is_empty() || summary.parameter_effects.is_empty() {
        return Vec::new();
    }
    let mut figures = vec![Figure::new(
        LINES.0,
        draw_lines_figure(plan, rows, summary, style),
    )];
    if let Some(maps) = HeatMaps::from_summary(plan, summary) {
        figures.push(Figure::new(HEAT.0, maps.draw(style)));
    }
    figures
}

/// Function that extracts from a row the number that is drawn as a dot.
type Number = Box<dyn Fn(&RunRow) -> Option<f64>>;

fn lines_figure_series(
    plan: &Plan,
    rows: &BTreeMap<String, RunRow>,
    summary: &Summary,
    style: &FigureStyle,
) -> Vec<(LegendSeries, Number)> {
    if summary.goal.is_gain() {
        let goal = summary.goal;
        let number: Number = Box::new(move |row| goal.value(row));
        return vec![(LegendSeries::from_index(goal.name(), 2), number)];
    }
    let own = || plan.runs.iter().filter_map(|id| rows.get(id));
    let is_there = |scenario: Scenario| own().any(|row| row.makespan(scenario).is_some());
    let all = Scenario::ALL.into_iter().enumerate();
    all.filter(|(_, one)| is_there(*one))
        .map(|(place, one)| {
            let number: Number = Box::new(move |row: &RunRow| row.makespan(one));
            (
                LegendSeries::from_index(scenario_label(style, one.name()), place),
                number,
            )
        })
        .collect()
}

fn sample_over_seeds(
    plan: &Plan,
    rows: &BTreeMap<String, RunRow>,
    settings: &[usize],
    number: &dyn Fn(&RunRow) -> Option<f64>,
) -> Option<Sample> {
    let seeds = plan.seeds.len();
    let of_seed = |seed: usize| {
        let numbers: Vec<f64> = settings
            .iter()
            .filter_map(|setting| number(rows.get(&plan.runs[setting * seeds + seed])?))
            .collect();
        (!numbers.is_empty()).then(|| mean(&numbers))
    };
    Sample::from_numbers(&(0..seeds).filter_map(of_seed).collect::<Vec<_>>())
}

fn draw_lines_figure(
    plan: &Plan,
    rows: &BTreeMap<String, RunRow>,
    summary: &Summary,
    style: &FigureStyle,
) -> Drawing {
    let (keys, numbers): (Vec<LegendSeries>, Vec<Number>) =
        lines_figure_series(plan, rows, summary, style)
            .into_iter()
            .unzip();
    let groups = summary.parameter_effects.iter().map(|effect| {
        let values = values_or_ranges_with_settings(&ParameterValues::of_parameter(
            plan,
            effect.parameter_index,
        ));
        let row = |(label, settings): (String, Vec<usize>)| {
            let dots = numbers.iter().enumerate().filter_map(|(key, number)| {
                let sample = sample_over_seeds(plan, rows, &settings, number)?;
                let half = sample.confidence_half_width().filter(|half| *half > 0.0);
                Some(Dot::from_half_width(key, sample.mean, half))
            });
            figure::ChartRow {
                label,
                dots: dots.collect(),
            }
        };
        RowGroup {
            heading: plan.names[effect.parameter_index].clone(),
            rows: values.into_iter().map(row).collect(),
        }
    });
    let what = if summary.goal.is_gain() {
        summary.goal.name()
    } else {
        style.translate("makespan [s]", "makespan [s]")
    };
    let chart = DotRowChart {
        name: format!("{what} by parameter"),
        axis_title: match (
            plan.seeds.len(),
            style.translate("mean and 95 % interval", "média e intervalo de 95 %"),
        ) {
            (0 | 1, _) => what.to_owned(),
            (_, interval) => format!("{what}, {interval}"),
        },
        row_groups: groups.collect(),
        legend_series: keys,
        ..DotRowChart::default()
    };
    chart.draw(style)
}

fn values_or_ranges_with_settings(values: &ParameterValues<'_>) -> Vec<(String, Vec<usize>)> {
    let text = |rank: usize| value_label(values.distinct_values[rank]);
    let settings = values.settings_by_value();
    if values.count_distinct_values() <= MAX_DRAWN_VALUES {
        return settings
            .into_iter()
            .enumerate()
            .map(|(rank, with)| (text(rank), with))
            .collect();
    }
    let mut ranks: Vec<usize> = (0..values.count_distinct_values()).collect();
    let number = |rank: usize| values.distinct_values[rank].as_f64().unwrap_or(0.0);
    ranks.sort_by(|a, b| number(*a).total_cmp(&number(*b)));
    let together = |ranks: &[usize]| {
        let [first, .., last] = ranks else {
            return (text(ranks[0]), settings[ranks[0]].clone());
        };
        let with = ranks
            .iter()
            .flat_map(|rank| settings[*rank].iter().copied());
        (
            format!("{} … {}", text(*first), text(*last)),
            with.collect(),
        )
    };
    ranks
        .chunks(values.count_distinct_values().div_ceil(RANGES))
        .map(together)
        .collect()
}
