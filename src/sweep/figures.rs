//! Figures of a sweep as SVG: results over each parameter, and heat maps of two.
//!
//! *Lines* (`lines.svg`): a panel per parameter, the mean over all other parameters, with the 95 % confidence interval over the seeds.
//! Parameters with many values (drawn ones) become points.
//! *Heat maps* (`heat.svg`): two parameters at a time (`heat.rs`).

use std::collections::BTreeMap;

use plotters::prelude::*;

use super::drawing::{Area, Drawn, MOST_VALUES, PANEL, named, pixels};
use super::heat::Maps;
use super::plan::Plan;
use super::row::Row;
use super::spec::label;
use super::stats::{Sample, mean};
use super::summary::Summary;
use super::values::Values;
use crate::bsp::Scenario;
use crate::error::{Error, Problem};
use crate::output::without_controls;

/// Colours that differ for colour-blind readers too (Okabe and Ito), for scenarios i, ii and iii.
const COLOURS: [RGBColor; 3] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
];

/// The pictures: the name of each file, and its text. None where nothing varies.
///
/// # Errors
/// The drawing library fails.
pub fn figures(
    plan: &Plan,
    rows: &BTreeMap<String, Row>,
    summary: &Summary,
) -> Result<Vec<(&'static str, String)>, Error> {
    let mut pictures = Vec::new();
    if summary.best.is_empty() || summary.effects.is_empty() {
        return Ok(pictures);
    }
    let mut draw = |name, draw: &dyn Fn(&mut String) -> Drawn| {
        let mut text = String::new();
        draw(&mut text).map_err(|error| {
            Error::Output(Problem::new(format!("cannot draw a figure: {error}")))
        })?;
        // The library escapes marks; names of files may have worse.
        pictures.push((name, without_controls(&text)));
        Ok::<(), Error>(())
    };
    draw("lines.svg", &|text| draw_lines(plan, rows, summary, text))?;
    if let Some(maps) = Maps::of(plan, summary) {
        draw("heat.svg", &|text| maps.draw(text))?;
    }
    Ok(pictures)
}

/// A number of a row that has a line, its name and colour.
type Series = (String, RGBColor, Box<dyn Fn(&Row) -> Option<f64>>);

fn series(plan: &Plan, rows: &BTreeMap<String, Row>, summary: &Summary) -> Vec<Series> {
    if summary.goal.is_gain() {
        let goal = summary.goal;
        return vec![(
            goal.name().to_owned(),
            COLOURS[2],
            Box::new(move |row| goal.of(row)),
        )];
    }
    let all = Scenario::ALL.into_iter().zip(COLOURS);
    let own = || plan.runs.iter().filter_map(|id| rows.get(id));
    let is_there = |scenario: Scenario| own().any(|row| row.makespan(scenario).is_some());
    all.filter(|(scenario, _)| is_there(*scenario))
        .map(|(scenario, colour)| -> Series {
            (
                format!("scenario {}", scenario.name()),
                colour,
                Box::new(move |row| row.makespan(scenario)),
            )
        })
        .collect()
}

/// The mean of a number over some settings, seed by seed, as a sample over the seeds.
fn over_seeds(
    plan: &Plan,
    rows: &BTreeMap<String, Row>,
    settings: &[usize],
    number: &dyn Fn(&Row) -> Option<f64>,
) -> Option<Sample> {
    let seeds = plan.seeds.len();
    let of_seed = |seed: usize| {
        let numbers: Vec<f64> = settings
            .iter()
            .filter_map(|setting| number(rows.get(&plan.runs[setting * seeds + seed])?))
            .collect();
        (!numbers.is_empty()).then(|| mean(&numbers))
    };
    Sample::of(&(0..seeds).filter_map(of_seed).collect::<Vec<_>>())
}

fn draw_lines(
    plan: &Plan,
    rows: &BTreeMap<String, Row>,
    summary: &Summary,
    text: &mut String,
) -> Drawn {
    let series = series(plan, rows, summary);
    let panels = summary.effects.len();
    let columns = panels.min(3);
    let size = (
        PANEL.0 * pixels(columns),
        PANEL.1 * pixels(panels.div_ceil(columns)) + 30,
    );
    let root = SVGBackend::with_string(text, size).into_drawing_area();
    root.fill(&WHITE)?;
    let unit = if summary.goal.is_gain() {
        summary.goal.name()
    } else {
        "makespan [s] of scenarios i (blue), ii (orange), iii (green)"
    };
    let root = root.titled(
        &format!("{unit} by parameter, mean and 95 % interval"),
        ("sans-serif", 16),
    )?;
    let areas = root.split_evenly((panels.div_ceil(columns), columns));
    for (effect, area) in summary.effects.iter().zip(&areas) {
        let values = Values::of(plan, effect.parameter);
        let name = &plan.names[effect.parameter];
        if values.count() > MOST_VALUES {
            draw_points(summary, (name, &values), area)?;
        } else {
            let with = values.settings();
            let lines: Vec<(&Series, Vec<(usize, Sample)>)> = series
                .iter()
                .map(|one| {
                    let point = |(at, settings): (usize, &Vec<usize>)| {
                        Some((at, over_seeds(plan, rows, settings, &one.2)?))
                    };
                    (one, with.iter().enumerate().filter_map(point).collect())
                })
                .collect();
            let labels: Vec<String> = values.distinct.iter().map(|value| label(value)).collect();
            draw_panel(name, &labels, &lines, area)?;
        }
    }
    root.present()?;
    Ok(())
}

fn draw_panel(
    name: &str,
    labels: &[String],
    lines: &[(&Series, Vec<(usize, Sample)>)],
    area: &Area<'_>,
) -> Drawn {
    let all = || {
        lines
            .iter()
            .flat_map(|(_, points)| points.iter().map(|(_, sample)| sample))
    };
    let ends = all().flat_map(|sample| {
        let half = sample.half_width().unwrap_or(0.0);
        [sample.mean - half, sample.mean + half]
    });
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d((0..labels.len() - 1).into_segmented(), range(ends))?;
    chart
        .configure_mesh()
        .x_labels(labels.len())
        .x_label_formatter(&|at| named(labels, at))
        .x_desc(name)
        .disable_x_mesh()
        .max_light_lines(1)
        .draw()?;
    for ((_, colour, _), points) in lines {
        let colour = *colour;
        let line = points
            .iter()
            .map(|(at, sample)| (SegmentValue::CenterOf(*at), sample.mean));
        chart.draw_series(LineSeries::new(line.clone(), colour.stroke_width(2)))?;
        chart.draw_series(line.map(|point| Circle::new(point, 3, colour.filled())))?;
        let bars = points
            .iter()
            .filter_map(|(at, sample)| Some((*at, sample.mean, sample.half_width()?)));
        chart.draw_series(bars.map(|(at, mean, half)| {
            let at = SegmentValue::CenterOf(at);
            PathElement::new(
                [(at.clone(), mean - half), (at, mean + half)],
                colour.stroke_width(1),
            )
        }))?;
    }
    Ok(())
}

/// Each setting as a point, over a parameter with many values.
fn draw_points(summary: &Summary, (name, values): (&str, &Values<'_>), area: &Area<'_>) -> Drawn {
    let place = |rank: usize| values.distinct[rank].as_f64().unwrap_or(rank as f64);
    let settings = values.ranks.iter().zip(&summary.settings);
    let points: Vec<(f64, f64)> = settings
        .filter_map(|(rank, setting)| Some((place((*rank)?), setting.goal?.mean)))
        .collect();
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d(
            range(points.iter().map(|point| point.0)),
            range(points.iter().map(|point| point.1)),
        )?;
    chart
        .configure_mesh()
        .x_desc(name)
        .y_desc(summary.goal.name())
        .draw()?;
    chart.draw_series(
        points
            .iter()
            .map(|point| Circle::new(*point, 3, COLOURS[2].filled())),
    )?;
    Ok(())
}

/// A little more than what is to be seen.
fn range(numbers: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (least, most) = numbers.fold((f64::MAX, f64::MIN), |(least, most), number| {
        (least.min(number), most.max(number))
    });
    let edge = (0.06 * (most - least)).max(1e-3 * most.abs()).max(1e-9);
    least - edge..most + edge
}
