//! Heat maps of a sweep: the goal over the two most important parameters, with a panel per combination of the others. Parameters beyond
//! [`MOST_PANELS`] panels are averaged, and the title says so.

use std::collections::BTreeMap;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::drawing::{Area, Drawn, MOST_VALUES, PANEL, named, pixels};
use super::plan::Plan;
use super::spec::label;
use super::stats::{mean, short};
use super::summary::Summary;
use super::values::Values;

/// The most heat maps of a picture.
const MOST_PANELS: usize = 24;

/// Something by column and row.
type Cells<T> = BTreeMap<(usize, usize), T>;

/// Heat maps over two parameters.
pub(super) struct Maps {
    title: String,
    axes: [(String, Vec<String>); 2],
    /// The name of each panel, and the goal of its cells by column and row.
    panels: Vec<(String, Cells<f64>)>,
}

impl Maps {
    /// The maps over the two parameters with the largest effect; none if there are not two or they have too many values.
    pub(super) fn of(plan: &Plan, summary: &Summary) -> Option<Self> {
        let parameters = by_effect(summary);
        let [x, y, rest @ ..] = &parameters[..] else {
            return None;
        };
        let values = Values::of_all(plan);
        let is_long = |axis: &&usize| values[**axis].count() > MOST_VALUES;
        if [x, y].iter().any(is_long) {
            return None;
        }
        let apart = with_panels(rest, &values);
        let panels = cells(summary, &values, (*x, *y), &apart);
        if panels.is_empty() {
            return None; // no setting has both parameters, or none could be run
        }
        let panel_name = |ranks: &[usize]| {
            let pairs = apart.iter().zip(ranks);
            let given = pairs.filter_map(|(parameter, rank)| {
                let value = values[*parameter].distinct.get(*rank)?;
                Some(format!("{} = {}", plan.names[*parameter], label(value)))
            });
            given.collect::<Vec<_>>().join(", ")
        };
        let axis = |parameter: usize| {
            let labels = values[parameter].distinct.iter();
            let labels = labels.map(|value| label(value)).collect();
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

    pub(super) fn draw(&self, text: &mut String) -> Drawn {
        let all = || {
            self.panels
                .iter()
                .flat_map(|(_, cells)| cells.values().copied())
        };
        let (least, most) = (
            all().fold(f64::MAX, f64::min),
            all().fold(f64::MIN, f64::max),
        );
        let columns = self.panels.len().min(4);
        let rows = self.panels.len().div_ceil(columns);
        let root = SVGBackend::with_string(
            text,
            (
                (PANEL.0 * pixels(columns)).max(560),
                PANEL.1 * pixels(rows) + 34,
            ),
        )
        .into_drawing_area();
        root.fill(&WHITE)?;
        let title = format!(
            "{}: dark {}, bright {}",
            self.title,
            short(least),
            short(most)
        );
        let root = root.titled(&title, ("sans-serif", 16))?;
        for ((name, cells), area) in self.panels.iter().zip(root.split_evenly((rows, columns))) {
            self.draw_map(name, cells, (least, most), &area)?;
        }
        root.present()?;
        Ok(())
    }

    fn draw_map(
        &self,
        name: &str,
        cells: &Cells<f64>,
        (least, most): (f64, f64),
        area: &Area<'_>,
    ) -> Drawn {
        let [(x_name, x_labels), (y_name, y_labels)] = &self.axes;
        let mut chart = ChartBuilder::on(area)
            .caption(name, ("sans-serif", 13))
            .margin(6)
            .x_label_area_size(34)
            .y_label_area_size(52)
            .build_cartesian_2d(
                (0..x_labels.len() - 1).into_segmented(),
                (0..y_labels.len() - 1).into_segmented(),
            )?;
        chart
            .configure_mesh()
            .disable_mesh()
            .x_labels(x_labels.len())
            .y_labels(y_labels.len())
            .x_label_formatter(&|at| named(x_labels, at))
            .y_label_formatter(&|at| named(y_labels, at))
            .x_desc(x_name.as_str())
            .y_desc(y_name.as_str())
            .draw()?;
        let share = |goal: f64| {
            if most > least {
                (goal - least) / (most - least)
            } else {
                0.5
            }
        };
        chart.draw_series(cells.iter().map(|(&(column, row), &goal)| {
            let corners = [
                (SegmentValue::Exact(column), SegmentValue::Exact(row)),
                (
                    SegmentValue::Exact(column + 1),
                    SegmentValue::Exact(row + 1),
                ),
            ];
            Rectangle::new(corners, viridis(share(goal)).filled())
        }))?;
        if x_labels.len() <= 10 && y_labels.len() <= 14 {
            chart.draw_series(cells.iter().map(|(&(column, row), &goal)| {
                let place = (SegmentValue::CenterOf(column), SegmentValue::CenterOf(row));
                Text::new(short(goal), place, on(share(goal)))
            }))?;
        }
        Ok(())
    }
}

/// The parameters, the one with the largest effect first.
fn by_effect(summary: &Summary) -> Vec<usize> {
    let effects = summary.effects.iter();
    let mut by_share: Vec<(usize, f64)> = effects
        .map(|effect| (effect.parameter, effect.share.unwrap_or(0.0)))
        .collect();
    by_share.sort_by(|a, b| b.1.total_cmp(&a.1));
    let parameters = by_share.into_iter().map(|(parameter, _)| parameter);
    parameters.collect()
}

/// As many of the parameters `rest` as have their own panels.
fn with_panels(rest: &[usize], values: &[Values<'_>]) -> Vec<usize> {
    let (mut apart, mut panels) = (Vec::new(), 1);
    for &parameter in rest {
        if panels * values[parameter].count() <= MOST_PANELS {
            panels *= values[parameter].count();
            apart.push(parameter);
        }
    }
    apart.sort_unstable();
    apart
}

/// The mean of the goal by the ranks of the parameters `apart`, then by column and row.
fn cells(
    summary: &Summary,
    values: &[Values<'_>],
    (x, y): (usize, usize),
    apart: &[usize],
) -> BTreeMap<Vec<usize>, Cells<f64>> {
    let mut goals: BTreeMap<Vec<usize>, Cells<Vec<f64>>> = BTreeMap::new();
    for (setting, summed) in summary.settings.iter().enumerate() {
        let rank = |parameter: usize| values[parameter].ranks[setting];
        let (Some(column), Some(row), Some(goal)) = (rank(x), rank(y), summed.goal) else {
            continue;
        };
        let panel = apart.iter().map(|one| rank(*one).unwrap_or(usize::MAX));
        let cells = goals.entry(panel.collect()).or_default();
        cells.entry((column, row)).or_default().push(goal.mean);
    }
    let means = |cells: Cells<Vec<f64>>| {
        let cells = cells.into_iter();
        cells.map(|(at, goals)| (at, mean(&goals))).collect()
    };
    let panels = goals.into_iter();
    panels.map(|(ranks, cells)| (ranks, means(cells))).collect()
}

/// How numbers are written on the colour of a share.
fn on(share: f64) -> TextStyle<'static> {
    let colour = if share < 0.55 { WHITE } else { BLACK };
    let centre = Pos::new(HPos::Center, VPos::Center);
    let font = ("sans-serif", 10).into_font();
    font.color(&colour).pos(centre)
}

/// The colour map viridis (Smith and van der Walt 2015) in five steps; even in brightness, so that it reads in grey, too.
fn viridis(share: f64) -> RGBColor {
    const STEPS: [[f64; 3]; 5] = [
        [68.0, 1.0, 84.0],
        [59.0, 82.0, 139.0],
        [33.0, 145.0, 140.0],
        [94.0, 201.0, 98.0],
        [253.0, 231.0, 37.0],
    ];
    let place = share.clamp(0.0, 1.0) * 4.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 3"
    )]
    let step = (place.floor() as usize).min(3);
    let within = place - step as f64;
    let [red, green, blue] = [0, 1, 2].map(|channel| {
        let (from, to) = (STEPS[step][channel], STEPS[step + 1][channel]);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 255"
        )]
        let value = (from + within * (to - from)).round() as u8;
        value
    });
    RGBColor(red, green, blue)
}
