//! Figures of a reproduction as SVG: published times beside simulated ones, and the errors.
//!
//! Four pictures per paper. *Times*: published as circles, simulated as crosses, on a logarithmic axis, the scenarios of a case
//! side by side. *Errors*: every cell in its order, scenario by scenario. *Gains* and *overheads*: scenarios iii and ii against i.

use plotters::coord::ranged1d::{KeyPointHint, Ranged};
use plotters::prelude::*;

use super::cells::{CellResult, against_i};
use super::page::Page;
use super::reproduce::PaperResults;
use crate::error::{Error, Problem};

/// Colours that differ for colour-blind readers too (Okabe and Ito), by scenario.
const COLOURS: [(&str, RGBColor); 3] = [
    ("i", RGBColor(0, 114, 178)),
    ("ii", RGBColor(230, 159, 0)),
    ("iii", RGBColor(0, 158, 115)),
];

/// A picture: the end of its file's name, and what draws it.
type Picture = (&'static str, fn(&PaperResults, &mut String) -> Drawn);

const PICTURES: [Picture; 4] = [
    ("times", draw_times),
    ("errors", draw_errors),
    ("gains", |paper, text| {
        draw_relative(paper, "iii", "gain of scenario iii over i", -1.0, text)
    }),
    ("overheads", |paper, text| {
        draw_relative(paper, "ii", "overhead of scenario ii over i", 1.0, text)
    }),
];

/// The names of the figures of a paper.
pub(super) fn names(paper: &PaperResults) -> impl Iterator<Item = &'static str> {
    let has = |scenario: &str| !against_i(&paper.cells, scenario).is_empty();
    let (gains, overheads) = (has("iii"), has("ii"));
    let is_empty = paper.cells.is_empty();
    PICTURES
        .iter()
        .map(|(name, _)| *name)
        .filter(move |name| match *name {
            "gains" => gains,
            "overheads" => overheads,
            _ => !is_empty,
        })
}

/// The figures of a paper.
///
/// # Errors
/// The drawing library fails.
pub(super) fn figures(paper: &PaperResults) -> Result<Vec<Page>, Error> {
    let mut pages = Vec::new();
    for wanted in names(paper) {
        for (name, draw) in PICTURES.iter().filter(|(name, _)| *name == wanted) {
            let mut text = String::new();
            draw(paper, &mut text).map_err(|error| {
                Error::Output(Problem::new(format!("cannot draw a figure: {error}")))
            })?;
            pages.push(Page {
                name: format!("{}-{name}.svg", paper.paper),
                text,
            });
        }
    }
    Ok(pages)
}

/// The cells of a scenario, each with the number of its case.
type Series<'p> = Vec<(f64, &'p CellResult)>;

type Drawn = Result<(), Box<dyn std::error::Error>>;

/// An axis with a tick for each case and its name.
#[derive(Clone, Debug)]
struct Cases(Vec<String>);

impl Ranged for Cases {
    type FormatOption = plotters::coord::ranged1d::NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value + 0.7) / (self.0.len() as f64 + 0.4);
        let pixel = f64::from(limit.0) + share * f64::from(limit.1 - limit.0);
        // A pixel of a picture of a few thousand: it fits.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a pixel of a small picture"
        )]
        let pixel = pixel.round() as i32;
        pixel
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        (0..self.0.len()).map(|case| case as f64).collect()
    }

    fn range(&self) -> std::ops::Range<f64> {
        -0.7..self.0.len() as f64 - 0.3
    }
}

impl plotters::coord::ranged1d::ValueFormatter<f64> for Cases {
    fn format_ext(&self, value: &f64) -> String {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index that was a count"
        )]
        let index = value.round().max(0.0) as usize;
        self.0.get(index).cloned().unwrap_or_default()
    }
}

/// The cases of some cells, shortened to the values that tell them apart, the name of their axis, and per scenario the cells of each.
fn by_case<'c>(cells: &[&'c CellResult]) -> (Vec<String>, String, Vec<Series<'c>>) {
    let pairs = |case: &str| -> Vec<(String, String)> {
        case.split(' ')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    };
    let all: Vec<(String, String)> = cells.iter().flat_map(|cell| pairs(&cell.case)).collect();
    let varies = |key: &str| {
        all.iter()
            .filter(|pair| pair.0 == key)
            .any(|pair| all.iter().any(|other| other.0 == key && other.1 != pair.1))
    };
    let mut axis: Vec<String> = Vec::new();
    let mut label = |case: &str| -> String {
        let kept: Vec<(String, String)> = pairs(case)
            .into_iter()
            .filter(|(key, _)| varies(key))
            .collect();
        for (key, _) in &kept {
            if !axis.contains(key) {
                axis.push(key.clone());
            }
        }
        kept.into_iter()
            .map(|(_, value)| value)
            .collect::<Vec<_>>()
            .join("/")
    };
    let mut cases: Vec<String> = Vec::new();
    let mut series: Vec<Series<'_>> = vec![Vec::new(); COLOURS.len()];
    for cell in cells {
        let name = label(&cell.case);
        let at = cases
            .iter()
            .position(|case| *case == name)
            .unwrap_or_else(|| {
                cases.push(name);
                cases.len() - 1
            });
        if let Some(scenario) = COLOURS.iter().position(|(name, _)| *name == cell.scenario) {
            series[scenario].push((at as f64, cell));
        }
    }
    (cases, axis.join("/"), series)
}

fn draw_times(paper: &PaperResults, text: &mut String) -> Drawn {
    let all: Vec<&CellResult> = paper.cells.iter().collect();
    let (cases, axis, series) = by_case(&all);
    let times = || {
        paper
            .cells
            .iter()
            .flat_map(|cell| [cell.published_s, cell.simulated_s])
    };
    let (least, most) = (
        times().fold(f64::MAX, f64::min),
        times().fold(0.0, f64::max),
    );
    let root = SVGBackend::with_string(text, (width(&cases), 520)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(
            format!(
                "{}: published (circles) and simulated (crosses) times",
                paper.paper
            ),
            ("sans-serif", 18),
        )
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d(Cases(cases.clone()), (least / 1.5..most * 1.5).log_scale())?;
    chart
        .configure_mesh()
        .x_labels(cases.len())
        .x_desc(axis)
        .y_desc("time [s]")
        .disable_x_mesh()
        .draw()?;
    for (scenario, ((name, colour), cells)) in COLOURS.iter().zip(&series).enumerate() {
        // The three scenarios of a case side by side.
        let shift = (scenario as f64 - 1.0) * 0.22;
        let crosses = cells.iter().map(|(at, cell)| {
            Cross::new((at + shift, cell.simulated_s), 4, colour.stroke_width(2))
        });
        chart
            .draw_series(crosses)?
            .label(format!("scenario {name}"))
            .legend(|(x, y)| Cross::new((x + 8, y), 4, colour.stroke_width(2)));
        chart.draw_series(cells.iter().map(|(at, cell)| {
            Circle::new((at + shift, cell.published_s), 6, colour.stroke_width(1))
        }))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK.mix(0.3))
        .background_style(WHITE)
        .draw()?;
    root.present()?;
    Ok(())
}

fn draw_errors(paper: &PaperResults, text: &mut String) -> Drawn {
    let all: Vec<&CellResult> = paper.cells.iter().collect();
    let (cases, axis, series) = by_case(&all);
    let most = paper
        .cells
        .iter()
        .map(|cell| 100.0 * cell.error.abs())
        .fold(5.0, f64::max)
        * 1.1;
    let root = SVGBackend::with_string(text, (width(&cases), 420)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(
            format!(
                "{}: simulated against published, error of each cell",
                paper.paper
            ),
            ("sans-serif", 18),
        )
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d(Cases(cases.clone()), -most..most)?;
    chart
        .configure_mesh()
        .x_labels(cases.len())
        .x_desc(axis)
        .y_desc("error [%]")
        .disable_x_mesh()
        .draw()?;
    for (scenario, ((name, colour), cells)) in COLOURS.iter().zip(&series).enumerate() {
        let shift = (scenario as f64 - 1.0) * 0.26;
        let bar = |(at, cell): &(f64, &CellResult)| {
            Rectangle::new(
                [
                    (at + shift - 0.12, 0.0),
                    (at + shift + 0.12, 100.0 * cell.error),
                ],
                colour.filled(),
            )
        };
        chart
            .draw_series(cells.iter().map(bar))?
            .label(format!("scenario {name}"))
            .legend(|(x, y)| Rectangle::new([(x, y - 5), (x + 14, y + 5)], colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .border_style(BLACK.mix(0.3))
        .background_style(WHITE)
        .draw()?;
    root.present()?;
    Ok(())
}

/// The times of a scenario against those of scenario i, published (circles) and simulated (crosses) \[%\]; `sign` makes a gain of
/// what is faster.
fn draw_relative(
    paper: &PaperResults,
    scenario: &str,
    title: &str,
    sign: f64,
    text: &mut String,
) -> Drawn {
    let relative = against_i(&paper.cells, scenario);
    let all: Vec<&CellResult> = relative.iter().map(|one| one.cell).collect();
    let (cases, axis, _) = by_case(&all);
    let values = || {
        relative
            .iter()
            .flat_map(|one| [sign * one.published, sign * one.simulated])
    };
    let (least, most) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
    let edge = 0.08 * (most - least).max(1.0);
    let root = SVGBackend::with_string(text, (width(&cases), 420)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(
            format!(
                "{}: {title}, published (circles) and simulated (crosses)",
                paper.paper
            ),
            ("sans-serif", 18),
        )
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d(Cases(cases.clone()), least - edge..most + edge)?;
    chart
        .configure_mesh()
        .x_labels(cases.len())
        .x_desc(axis)
        .y_desc("of scenario i [%]")
        .disable_x_mesh()
        .draw()?;
    let colour = COLOURS
        .iter()
        .find(|(name, _)| *name == scenario)
        .map_or(BLACK, |(_, colour)| *colour);
    for (at, one) in relative.iter().enumerate() {
        let at = at as f64;
        chart.draw_series([Cross::new(
            (at, sign * one.simulated),
            4,
            colour.stroke_width(2),
        )])?;
        chart.draw_series([Circle::new(
            (at, sign * one.published),
            6,
            colour.stroke_width(1),
        )])?;
    }
    root.present()?;
    Ok(())
}

/// Wide enough for every case.
fn width(cases: &[String]) -> u32 {
    let cases = u32::try_from(cases.len()).unwrap_or(u32::MAX / 64);
    (cases * 64).clamp(640, 4000)
}
