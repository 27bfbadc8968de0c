//! Figures of a sweep: the results by each parameter, and heat maps over two parameters.
//!
//! *Lines* (`lines.svg`): a row for each value of a parameter, with the mean over all other parameters and its 95 % confidence
//! interval over the seeds. If a parameter has many values (as in a random sample), they are grouped into ranges. *Heat maps*
//! (`heat.svg`): two parameters at a time (`heat.rs`).

use super::{
    compare::{AdditionalResults, Comparison},
    goal::{MEASURES, Measure},
    heat::{axis_name, draw_heat_maps},
    plan::Plan,
    spec::value_label,
    stats::{Sample, mean},
    store::Rows,
    summary::Summary,
    values::{MAX_DRAWN_VALUES, ParameterValues},
};
use migsim_bsp::Scenario;
use migsim_output::figure::{
    ChartRow, Dot, DotRowChart, Drawing, Figure, FigureStyle, LegendSeries, RowGroup,
    scenario_label,
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

/// The name of the figure of compared policies, and a sentence that describes it.
const RANKING: (&str, &str) = (
    "ranking",
    "the makespans of the policies from best to worst, with gains and the margin of indifference",
);

/// Returns the name of a figure of a sweep, and the sentence that describes it.
pub(super) fn figure_description(name: &str) -> (&'static str, &'static str) {
    let known = [HEAT, RANKING].into_iter();
    known.fold(LINES, |found, one| if one.0 == name { one } else { found })
}

/// Draws the figure `ranking` if only the policy varies, otherwise `lines` and `heat`; none if the sweep varies no parameter.
pub(super) fn draw_figures(
    plan: &Plan,
    rows: &Rows,
    summary: &Summary,
    style: &FigureStyle,
) -> Vec<Figure> {
    if summary.best_settings.is_empty() || summary.parameter_effects.is_empty() {
        return Vec::new();
    }
    if plan.names == ["policy"] {
        let compared = Comparison::from_rows(plan, rows, &AdditionalResults::default());
        if !compared.policies.is_empty() {
            return vec![compared.ranking_figure(style)];
        }
    }
    let lines = Figure::new(LINES.0, draw_lines_figure(plan, rows, summary, style));
    let heat = draw_heat_maps(plan, summary, style);
    [lines]
        .into_iter()
        .chain(heat.map(|heat| Figure::new(HEAT.0, heat)))
        .collect()
}

fn lines_figure_series(
    plan: &Plan,
    rows: &Rows,
    summary: &Summary,
    style: &FigureStyle,
) -> Vec<(LegendSeries, Measure)> {
    let goal = summary.goal;
    if goal.is_gain() {
        return vec![(
            LegendSeries::from_index(goal.name(), 2),
            MEASURES[goal.measure].2,
        )];
    }
    let own = || plan.runs.iter().filter_map(|id| rows.get(id));
    let is_there = |scenario: &Scenario| own().any(|row| row.makespan(*scenario).is_some());
    let present: Vec<_> = Scenario::ALL.into_iter().filter(is_there).collect();
    let is_any_shown = present.iter().any(|scenario| style.shows(*scenario));
    present
        .into_iter()
        .filter(|scenario| style.shows(*scenario) || !is_any_shown)
        .map(|scenario| {
            let label = scenario_label(style, scenario.name());
            let place = scenario as usize;
            (LegendSeries::from_index(label, place), MEASURES[place].2)
        })
        .collect()
}

fn sample_over_seeds(
    plan: &Plan,
    rows: &Rows,
    settings: &[usize],
    measure: Measure,
) -> Option<Sample> {
    let of_seed = |seed: usize| {
        let numbers: Vec<f64> = settings
            .iter()
            .map(|setting| &plan.runs_of(*setting)[seed])
            .filter_map(|id| measure(rows.get(id)?))
            .collect();
        (!numbers.is_empty()).then(|| mean(&numbers))
    };
    let seeds = 0..plan.seeds.len();
    Sample::from_numbers(&seeds.filter_map(of_seed).collect::<Vec<_>>())
}

fn draw_lines_figure(plan: &Plan, rows: &Rows, summary: &Summary, style: &FigureStyle) -> Drawing {
    let (legend_series, measures): (Vec<_>, Vec<Measure>) =
        lines_figure_series(plan, rows, summary, style)
            .into_iter()
            .unzip();
    let groups = summary.parameter_effects.iter().map(|effect| {
        let parameter = effect.parameter_index;
        let values = ParameterValues::of_parameter(plan, parameter);
        let are_rows_joined = values.distinct_values.iter().all(|value| value.is_number());
        let values = values_or_ranges_with_settings(&values);
        RowGroup {
            are_rows_joined,
            heading: axis_name(&plan.names[parameter]).to_owned(),
            rows: values
                .into_iter()
                .map(|(label, settings)| {
                    let dots = measures.iter().enumerate().filter_map(|(key, measure)| {
                        let sample = sample_over_seeds(plan, rows, &settings, *measure)?;
                        let half = sample.ci95.filter(|half| *half > 0.0);
                        Some(Dot::from_half_width(key, sample.mean, half))
                    });
                    ChartRow {
                        label,
                        dots: dots.collect(),
                        ..ChartRow::default()
                    }
                })
                .collect(),
        }
    });
    let what = if summary.goal.is_gain() {
        summary.goal.name()
    } else {
        "makespan [s]"
    };
    let interval = style.translate("mean and 95 % interval", "média e intervalo de 95 %");
    let chart = DotRowChart {
        name: format!("{what} by parameter"),
        axis_title: match plan.seeds.len() {
            0 | 1 => what.to_owned(),
            _ => format!("{what}, {interval}"),
        },
        row_groups: groups.collect(),
        legend_series,
        ..DotRowChart::default()
    };
    chart.draw(style)
}

/// Returns the values of a parameter, or ranges of them if there are too many, each with the settings that have such a value.
fn values_or_ranges_with_settings(values: &ParameterValues<'_>) -> Vec<(String, Vec<usize>)> {
    let text = |rank: &usize| value_label(values.distinct_values[*rank]);
    let settings = values.settings_by_value();
    let count = values.count_distinct_values();
    let mut ranks: Vec<usize> = (0..count).collect();
    let number = |rank: &usize| values.distinct_values[*rank].as_f64().unwrap_or(0.0);
    let size = if count <= MAX_DRAWN_VALUES {
        1
    } else {
        ranks.sort_by(|a, b| number(a).total_cmp(&number(b)));
        count.div_ceil(RANGES)
    };
    ranks
        .chunks(size.max(1))
        .map(|ranks| {
            let with = ranks
                .iter()
                .flat_map(|rank| settings[*rank].iter().copied());
            let label = match ranks {
                [first, .., last] => format!("{} … {}", text(first), text(last)),
                _ => text(&ranks[0]),
            };
            (label, with.collect())
        })
        .collect()
}
