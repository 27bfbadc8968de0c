//! Heat maps of a sweep: the goal (the result that is compared) over the two parameters with the largest effects. There is a
//! panel for each combination of the other parameters' values.
//!
//! If there were more than 24 panels, the goal is averaged over further parameters, and the title says so.

use std::collections::BTreeMap;

use super::{
    plan::Plan,
    spec::value_label,
    stats::{format_short, mean},
    summary::Summary,
    values::{MAX_DRAWN_VALUES, ParameterValues},
};
use migsim_output::figure::{Drawing, FigureStyle, HeatMapChart, HeatMapPanel};

/// Maximum number of panels in the figure of heat maps.
const MAX_PANELS: usize = 24;

/// The cells of a panel, as the goals at each pair of a column and a row.
type PanelCells = BTreeMap<(usize, usize), Vec<f64>>;

/// Returns the name of a parameter on an axis: symbols of papers in place of their names in commands.
pub(super) fn axis_name(parameter: &str) -> &str {
    match parameter {
        "alpha" => "α",
        "omega" => "ω",
        "d" => "D",
        other => other,
    }
}

/// Draws the heat maps over the two parameters with the largest effects; `None` if there are fewer than two parameters, or if
/// these two have too many values.
pub(super) fn draw_heat_maps(
    plan: &Plan,
    summary: &Summary,
    style: &FigureStyle,
) -> Option<Drawing> {
    let parameters = parameters_by_effect(summary);
    let [x, y, rest @ ..] = &parameters[..] else {
        return None;
    };
    let values = ParameterValues::of_all_parameters(plan);
    let is_long = |axis: &&usize| values[**axis].count_distinct_values() > MAX_DRAWN_VALUES;
    if [x, y].iter().any(is_long) {
        return None;
    }
    let apart = panel_parameters(rest, &values);
    let panels = goals_by_panel(summary, &values, *x, *y, &apart);
    if panels.is_empty() {
        return None; // no setting has both parameters, or none could be run
    }
    let panel = |(ranks, cells): (Vec<usize>, PanelCells)| {
        let given = apart.iter().zip(ranks).filter_map(|(parameter, rank)| {
            Some(format!(
                "{} = {}",
                axis_name(&plan.names[*parameter]),
                value_label(values[*parameter].distinct_values.get(rank)?)
            ))
        });
        let cells = cells.into_iter();
        HeatMapPanel {
            name: given.collect::<Vec<_>>().join(", "),
            cells: cells
                .map(|((column, row), goals)| (column, row, mean(&goals)))
                .collect(),
        }
    };
    let axis = |parameter: usize| {
        let labels = values[parameter]
            .distinct_values
            .iter()
            .map(|value| value_label(value))
            .collect();
        (axis_name(&plan.names[parameter]).to_owned(), labels)
    };
    let averaged: Vec<&str> = rest
        .iter()
        .filter(|parameter| !apart.contains(parameter))
        .map(|one| axis_name(&plan.names[*one]))
        .collect();
    let title = match averaged[..] {
        [] => summary.goal.name().to_owned(),
        _ => format!("{}, mean over {}", summary.goal.name(), averaged.join(", ")),
    };
    let chart = HeatMapChart {
        name: format!("{title} by {} and {}", plan.names[*x], plan.names[*y]),
        quantity_title: title,
        axis_parameters: [axis(*x), axis(*y)],
        panels: panels.into_iter().map(panel).collect(),
        format_cell: format_short,
    };
    Some(chart.draw(style))
}

fn parameters_by_effect(summary: &Summary) -> Vec<usize> {
    let effects = summary.parameter_effects.iter();
    let mut by_share: Vec<(usize, f64)> = effects
        .map(|effect| (effect.parameter_index, effect.variance_share.unwrap_or(0.0)))
        .collect();
    by_share.sort_by(|a, b| b.1.total_cmp(&a.1));
    by_share
        .into_iter()
        .map(|(parameter, _)| parameter)
        .collect()
}

/// Returns the parameters of `rest` that get a separate panel for each combination of their values, as long as the number of
/// panels does not exceed the maximum.
fn panel_parameters(rest: &[usize], values: &[ParameterValues<'_>]) -> Vec<usize> {
    let mut apart = Vec::new();
    let mut panels = 1;
    for &parameter in rest {
        if panels * values[parameter].count_distinct_values() <= MAX_PANELS {
            panels *= values[parameter].count_distinct_values();
            apart.push(parameter);
        }
    }
    apart.sort_unstable();
    apart
}

/// Returns the goals for each panel, and in each panel by column and row. A panel is a combination of values of the
/// parameters `apart`; `x` and `y` are the parameters of columns and rows.
fn goals_by_panel(
    summary: &Summary,
    values: &[ParameterValues<'_>],
    x: usize,
    y: usize,
    apart: &[usize],
) -> BTreeMap<Vec<usize>, PanelCells> {
    let mut goals: BTreeMap<Vec<usize>, PanelCells> = BTreeMap::new();
    for (setting, summed) in summary.settings.iter().enumerate() {
        let rank = |parameter: usize| values[parameter].value_indices[setting];
        let (Some(column), Some(row), Some(goal)) = (rank(x), rank(y), summed.goal) else {
            continue;
        };
        let panel = apart.iter().map(|one| rank(*one).unwrap_or(usize::MAX));
        goals
            .entry(panel.collect())
            .or_default()
            .entry((column, row))
            .or_default()
            .push(goal.mean);
    }
    goals
}
