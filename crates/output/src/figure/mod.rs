//! Figures for articles as SVG files: the width is given in millimetres, the font size in points.
//!
//! ```text
//! style.rs     width, font size, language: what a user chooses
//! font.rs      widths of texts, the same on every machine
//! drawing.rs   shapes and texts in points, of which all charts consist
//! axis.rs      ticks, grid lines and titles of an axis; legends
//! rows.rs      chart: categories as rows, values as dots with intervals
//! scatter.rs   chart: one quantity against another, with the diagonal
//! heat.rs      chart: maps of two parameters with a colour bar
//! winners.rs   chart: the fastest policy for each pair of values of two parameters
//! series.rs    chart: curves over supersteps
//! bars.rs      chart: the activity of each process over time
//! svg.rs       the file format
//! ```
//! No letter is smaller than 6 pt. Series differ in shape and in lightness, so that they are distinct in greyscale and for
//! colour-blind readers (colours of Okabe and Ito 2008; viridis of Smith and van der Walt 2015). Figures have no title, because
//! the title belongs to the caption in the article.

mod axis;
mod bars;
mod drawing;
mod font;
mod heat;
mod rows;
mod scatter;
mod series;
mod style;
mod svg;
mod winners;

pub(crate) use axis::min_and_max;
pub use axis::{round_ticks, viridis_colour};
pub use bars::{ActivityChart, ActivityRow, Bar, ColourMeaning};
pub use drawing::{Colour, Drawing, Mark};
pub use heat::{HeatMapChart, HeatMapPanel};
pub use rows::{ChartRow, Dot, DotRowChart, LegendSeries, RowGroup};
pub use scatter::{ScatterChart, ScatterPoint};
pub use series::{Curve, CurveChart};
pub use style::{FigureStyle, select_figures};
pub use winners::{WinnerCell, WinnerMap};

/// Colour and mark of the data points of scenarios i, ii and iii, in this order. In greyscale the three colours are dark, light
/// and medium.
pub const SCENARIO_COLOURS_AND_MARKS: [(Colour, Mark); 3] = [
    (Colour(0, 74, 124), Mark::Circle),
    (Colour(230, 159, 0), Mark::Triangle),
    (Colour(0, 158, 115), Mark::Square),
];

/// Returns the name of a scenario for a legend, in the language that the style selects: `scenario ii`.
pub fn scenario_label(style: &FigureStyle, name: &str) -> String {
    format!("{} {name}", style.translate("scenario", "cenário"))
}

/// A figure for an article: its name on the command line, and its drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Name of the figure, as the option `--figure` accepts it.
    pub name: String,
    drawing: Drawing,
}

impl Figure {
    /// Creates a figure with the given name and drawing.
    pub fn new(name: impl Into<String>, drawing: Drawing) -> Self {
        let name = name.into();
        Self { name, drawing }
    }

    /// Returns the figure as the text of an SVG file.
    pub fn to_svg(&self) -> String {
        svg::to_svg(&self.drawing)
    }
}
