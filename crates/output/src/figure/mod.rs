//! Figures for articles: size in millimetres, letters in points, as SVG, PDF and PNG.
//!
//! ```text
//! style.rs     width, size of letters, language, resolution: what a user chooses
//! font.rs      the bundled font: widths and outlines, the same on every machine
//! drawing.rs   shapes and texts in points; what all charts are made of
//! axis.rs      ticks, grid lines and titles of an axis; legends
//! rows.rs      chart: categories as rows, values as dots with intervals
//! scatter.rs   chart: one quantity against another, with the diagonal
//! heat.rs      chart: maps of two parameters with a colour bar
//! winners.rs   chart: the winner at each pair of values of two parameters
//! series.rs    chart: curves over supersteps
//! bars.rs      chart: what each process does over time
//! svg.rs, pdf.rs, png.rs   the formats
//! ```
//! No letter is smaller than 6 pt. Series differ in shape and in lightness, so that they are distinct in grey and for colour-blind readers
//! (colours of Okabe and Ito 2008; viridis of Smith and van der Walt 2015). Figures have no title, because it belongs to the caption of the
//! article.

mod axis;
mod bars;
mod drawing;
mod font;
mod heat;
mod pdf;
mod png;
mod rows;
mod scatter;
mod series;
mod style;
mod svg;
mod winners;

pub use axis::{round_ticks, viridis};
pub use bars::{Bar, Bars, Meaning};
pub use drawing::{Colour, Drawing, Mark};
pub use heat::{Heat, Panel};
pub use rows::{Dot, Group, Key, Row, Rows};
pub use scatter::{Point, Scatter};
pub use series::{Curve, Series};
pub use style::chosen;
pub use style::{Format, Language, Length, Points, Style};
pub use winners::{Winners, Won};

/// The colour and the shape of scenarios i, ii and iii; in grey they are dark, light and medium.
pub const SCENARIOS: [(Colour, Mark); 3] = [
    (Colour(0, 74, 124), Mark::Circle),
    (Colour(230, 159, 0), Mark::Triangle),
    (Colour(0, 158, 115), Mark::Square),
];

/// Returns the name of a scenario for a legend.
pub fn scenario(style: &Style, name: &str) -> String {
    format!("{} {name}", style.say("scenario", "cenário"))
}

/// A figure: its name, and its drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The name of the figure, as `--figure` accepts it.
    pub name: String,
    drawing: Drawing,
}

impl Figure {
    /// Creates a figure with this name.
    pub fn new(name: impl Into<String>, drawing: Drawing) -> Self {
        let name = name.into();
        Self { name, drawing }
    }

    /// Returns the figure as SVG.
    pub fn svg(&self) -> String {
        svg::write(&self.drawing)
    }

    /// Returns the figure as a file.
    pub fn file(&self, format: Format, style: &Style) -> Vec<u8> {
        match format {
            Format::Svg => self.svg().into_bytes(),
            Format::Pdf => pdf::write(&self.drawing, style.language),
            Format::Png => png::write(&self.drawing, style.dpi),
        }
    }

    /// Returns the size of the smallest letter \[pt\]; none if there is no text.
    pub fn smallest_letter(&self) -> Option<f64> {
        self.drawing.smallest_letter()
    }

    /// Lists the texts that are partly outside the canvas.
    pub fn clipped(&self) -> Vec<&str> {
        self.drawing.clipped()
    }
}
