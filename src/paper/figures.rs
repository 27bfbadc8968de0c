//! Figures of a reproduction as SVG: published times beside simulated ones, and the errors.
//!
//! Two pictures per paper. *Times*: one panel per series (all cells that differ in one parameter only), published as circles,
//! simulated as a line, on a logarithmic axis. *Errors*: every cell in its order, scenario by scenario.

use plotters::coord::ranged1d::{KeyPointHint, Ranged};
use plotters::prelude::*;

use super::Page;
use super::cells::CellResult;
use super::reproduce::PaperResults;
use crate::error::{Error, Problem};

/// Colours that differ for colour-blind readers too (Okabe and Ito), by scenario.
const COLOURS: [(&str, RGBColor); 3] = [
    ("i", RGBColor(0, 114, 178)),
    ("ii", RGBColor(230, 159, 0)),
    ("iii", RGBColor(0, 158, 115)),
];

/// The figures of a paper.
///
/// # Errors
/// The drawing library fails.
pub(super) fn figures(paper: &PaperResults) -> Result<Vec<Page>, Error> {
    let failed = |error: &dyn std::fmt::Display| {
        Error::Output(Problem::new(format!("cannot draw a figure: {error}")))
    };
    let mut text = String::new();
    draw_times(paper, &mut text).map_err(|error| failed(&error))?;
    let times = Page {
        name: format!("{}-times.svg", paper.paper),
        text,
    };
    let mut text = String::new();
    draw_errors(paper, &mut text).map_err(|error| failed(&error))?;
    Ok(vec![
        times,
        Page {
            name: format!("{}-errors.svg", paper.paper),
            text,
        },
    ])
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

/// The cases of a paper (cells without their scenario), in order, and per scenario the cells of each.
fn by_case(paper: &PaperResults) -> (Vec<String>, Vec<Series<'_>>) {
    let mut cases: Vec<String> = Vec::new();
    let mut series: Vec<Series<'_>> = vec![Vec::new(); COLOURS.len()];
    for cell in &paper.cells {
        let at = cases
            .iter()
            .position(|case| *case == cell.case)
            .unwrap_or_else(|| {
                cases.push(cell.case.clone());
                cases.len() - 1
            });
        if let Some(scenario) = COLOURS.iter().position(|(name, _)| *name == cell.scenario) {
            series[scenario].push((at as f64, cell));
        }
    }
    (cases, series)
}

fn draw_times(paper: &PaperResults, text: &mut String) -> Drawn {
    let (cases, series) = by_case(paper);
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
        .x_label_area_size(110)
        .y_label_area_size(64)
        .build_cartesian_2d(Cases(cases.clone()), (least / 1.5..most * 1.5).log_scale())?;
    chart
        .configure_mesh()
        .x_labels(cases.len())
        .x_label_style(
            ("sans-serif", 12)
                .into_font()
                .transform(FontTransform::Rotate90),
        )
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
    let (cases, series) = by_case(paper);
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
        .x_label_area_size(110)
        .y_label_area_size(64)
        .build_cartesian_2d(Cases(cases.clone()), -most..most)?;
    chart
        .configure_mesh()
        .x_labels(cases.len())
        .x_label_style(
            ("sans-serif", 12)
                .into_font()
                .transform(FontTransform::Rotate90),
        )
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

/// Wide enough for every case.
fn width(cases: &[String]) -> u32 {
    let cases = u32::try_from(cases.len()).unwrap_or(u32::MAX / 64);
    (cases * 46).clamp(640, 4000)
}
