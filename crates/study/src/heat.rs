//! Heat maps of a sweep: the goal (the result that is compared) over the two parameters with the largest effects. There is a
//! panel for each combination of the other parameters' values.
//!
//! If there were more than 24 panels, the goal is averaged over further parameters, and the title says so.

use std::collections::BTreeMap;

use super::plan::Plan;
use super::spec::value_label;
use super::stats::{format_short, mean};
use super::summary::Summary;
use super::values::{MAX_DRAWN_VALUES, ParameterValues};
use migsim_output::figure::{Drawing, FigureStyle, HeatMapChart, HeatMapPanel};

/// Maximum number of panels in the figure of heat maps.
const MAX_PANELS: usize = 24;

/// The cells of a panel, as a value for each pair of a column and a row.
type PanelCells<T> = BTreeMap<(usize, usize), T>;

/// Heat maps of the goal (the result that is compared) over two parameters of a sweep.
pub(super) struct HeatMaps {
    /// The title of the figure: the goal, and the parameters over which it is averaged.
    title: String,
    /// The names of the parameters of the columns and of the rows, each with the labels of its values.
    axes: [(String, Vec<String>); 2],
    /// The name of each panel, and the mean of the goal in each cell of the panel by column and row.
    panels: Vec<(String, PanelCells<f64>)>,
}

impl HeatMaps {
    /// Creates the heat maps over the two parameters with the largest effects; `None` if there are fewer than two parameters, or
    /// if these two have too many values.
    pub(super) fn from_summary(plan: &Plan, summary: &Summary) -> Option<Self> {
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
        let panels = mean_goals_by_panel(summary, &values, (*x, *y), &apart);
        if panels.is_empty() {
            return None; // no setting has both parameters, or none could be run
        }
        let panel_name = |ranks: &[usize]| {
            let pairs = apart.iter().zip(ranks);
            let given = pairs.filter_map(|(parameter, rank)| {
                let value = values[*parameter].distinct_values.get(*rank)?;
                Some(format!(
                    "{} = {}",
                    plan.names[*parameter],
                    value_label(value)
                ))
            });
            given.collect::<Vec<_>>().join(", ")
        };
        let axis = |parameter: usize| {
            let labels = values[parameter].distinct_values.iter();
            let labels = labels.map(|value| value_label(value)).collect();
            (plan.names[parameter].clone(), labels)
        };
        let is_averaged = |parameter: &&usize| !apart.contains(parameter);
        let averaged = rest.iter().filter(is_averaged);
        let averaged: Vec<&str> = averaged.map(|one| plan.names[*one].as_str()).collect();
        let over = match averaged[..] {
            [] => String::new(),
            _ => format!(", mean over {}", averaged.join(", ")),
        };
        Some(Self {
            title: format!("{}{over}", summary.goal.name()),
            axes: [axis(*x), axis(*y)],
            panels: panels
                .into_iter()
                .map(|(ranks, cells)| (panel_name(&ranks), cells))
                .collect(),
        })
    }

    /// Draws the heat maps as a figure.
    pub(super) fn draw(self, style: &FigureStyle) -> Drawing {
        let panels = self.panels.into_iter().map(|(name, cells)| HeatMapPanel {
            name,
            cells: cells
                .into_iter()
                .map(|((column, row), goal)| (column, row, goal))
                .collect(),
        });
        let heat = HeatMapChart {
            name: format!(
                "{} by {} and {}",
                self.title, self.axes[0].0, self.axes[1].0
            ),
            quantity_title: self.title,
            axis_parameters: self.axes,
            panels: panels.collect(),
            format_cell: format_short,
        };
        heat.draw(style)
    }
}

/// Returns the indices of the parameters, sorted by their effect on the goal, the largest effect first.
fn parameters_by_effect(summary: &Summary) -> Vec<usize> {
    let effects = summary.parameter_effects.iter();
    let mut by_share: Vec<(usize, f64)> = effects
        .map(|effect| (effect.parameter_index, effect.variance_share.unwrap_or(0.0)))
        .collect();
    by_share.sort_by(|a, b| b.1.total_cmp(&a.1));
    let parameters = by_share.into_iter().map(|(parameter, _)| parameter);
    parameters.collect()
}

/// Returns the parameters of `rest` that get a separate panel for each combination of their values, as long as the number of
/// panels does not exceed the maximum.
fn panel_parameters(rest: &[usize], values: &[ParameterValues<'_>]) -> Vec<usize> {
    let (mut apart, mut panels) = (Vec::new(), 1);
    for &parameter in rest {
        if panels * values[parameter].count_distinct_values() <= MAX_PANELS {
            panels *= values[parameter].count_distinct_values();
            apart.push(parameter);
        }
    }
    apart.sort_unstable();
    apart
}

/// Returns the mean of the goal for each panel, and in each panel by column and row. A panel is a combination of values of the
/// parameters `apart`; `x` and `y` are the parameters of columns and rows.
fn mean_goals_by_panel(
    summary: &Summary,
    values: &[ParameterValues<'_>],
    (x, y): (usize, usize),
    apart: &[usize],
) -> BTreeMap<Vec<usize>, PanelCells<f64>> {
    let mut goals: BTreeMap<Vec<usize>, PanelCells<Vec<f64>>> = BTreeMap::new();
    for (setting, summed) in summary.settings.iter().enumerate() {
        let rank = |parameter: usize| values[parameter].value_indices[setting];
        let (Some(column), Some(row), Some(goal)) = (rank(x), rank(y), summed.goal_statistics)
        else {
            continue;
        };
        let panel = apart.iter().map(|one| rank(*one).unwrap_or(usize::MAX));
        let cells = goals.entry(panel.collect()).or_default();
        cells.entry((column, row)).or_default().push(goal.mean);
    }
    let means = |cells: PanelCells<Vec<f64>>| {
        let cells = cells.into_iter();
        cells.map(|(at, goals)| (at, mean(&goals))).collect()
    };
    let panels = goals.into_iter();
    panels.map(|(ranks, cells)| (ranks, means(cells))).collect()
}
