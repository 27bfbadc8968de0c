//! Chart of the activity of processes over time: one row per process, with coloured bars along the time axis.

use super::axis::{Axis, LegendEntry, LegendSymbol, draw_colour_bar, draw_legend};
use super::drawing::{BLACK, Colour, Drawing, TextAlignment, shorten_to_width};
use super::font;
use super::heat::label_interval;
use super::style::FigureStyle;

/// A coloured bar in a row of the chart: an interval of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Time at which the bar starts, in the unit of the time axis.
    pub start_time: f64,
    /// Time at which the bar ends, in the unit of the time axis.
    pub end_time: f64,
    /// Colour with which the bar is filled.
    pub colour: Colour,
}

/// Meaning of the colours of the bars, which the chart shows as a legend or as a colour bar.
#[derive(Clone, Debug, PartialEq)]
pub enum ColourMeaning {
    /// Each colour stands for a name, such as an activity; the pairs are shown as a legend.
    NamedColours(Vec<(String, Colour)>),
    /// The colours of the colour map viridis stand for the values of a quantity: its title with the unit, and its smallest and
    /// largest value.
    ColourScale(String, (f64, f64)),
}

/// A chart of the activity of each process over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityChart {
    /// Title of the chart for screen readers; it is not visible.
    pub name: String,
    /// Title of the time axis with its unit, and title of the rows.
    pub axis_titles: [String; 2],
    /// Meaning of the colours of the bars.
    pub colour_meaning: ColourMeaning,
    /// Name and bars of each row; the first row is at the top.
    pub named_rows: Vec<(String, Vec<Bar>)>,
}

impl ActivityChart {
    /// Draws the chart in the given style.
    pub fn draw(&self, style: &FigureStyle) -> Drawing {
        let size = style.font_points();
        let mut drawing = Drawing::new(&self.name, style.width.to_points());
        let top = match &self.colour_meaning {
            ColourMeaning::NamedColours(keys) => {
                let entries = keys.iter().map(|(name, colour)| LegendEntry {
                    name: name.clone(),
                    colour: *colour,
                    symbol: LegendSymbol::Area,
                });
                draw_legend(&mut drawing, &entries.collect::<Vec<_>>(), 2.0, style) + size
            }
            ColourMeaning::ColourScale(title, range) => {
                draw_colour_bar(&mut drawing, title, *range, style) + 0.9 * size
            }
        };
        let most = drawing.width - 2.0;
        let title = shorten_to_width(&self.axis_titles[1], size, most);
        drawing.add_text((1.0, top), TextAlignment::Start, &title, (size, BLACK));
        let (top, right) = (top + 0.6 * size, drawing.width - 2.0);
        let count = self.named_rows.len().max(1) as f64;
        let pitch = (1.35 * size).min(1.2 * drawing.width.min(260.0) / count);
        let bottom = top + pitch * count;
        let widths = self
            .named_rows
            .iter()
            .map(|(name, _)| font::text_width(name, size));
        let left = widths.fold(0.0, f64::max).min(0.3 * drawing.width) + 5.0;
        let ends = self
            .named_rows
            .iter()
            .flat_map(|(_, bars)| bars)
            .map(|bar| bar.end_time);
        let axis = Axis::from_zero(ends, (left, right));
        let each = label_interval(1.15 * size, pitch);
        // Rows that are high enough have a thin gap between them.
        let height = if pitch > 4.0 { 0.84 * pitch } else { pitch };
        for (row, (name, bars)) in self.named_rows.iter().enumerate() {
            let y = top + row as f64 * pitch;
            for bar in bars.iter().filter(|bar| bar.end_time > bar.start_time) {
                let x = axis.position_of(bar.start_time);
                // A bar reaches a little below the next one, so that there is no gap between them.
                let end = (axis.position_of(bar.end_time) + 0.2).min(right);
                drawing.add_rectangle((x, y), (end - x, height), bar.colour);
            }
            if row % each == 0 {
                let base = (left - 3.0, y + height / 2.0 + 0.35 * size);
                let name = shorten_to_width(name, size, left - 5.0);
                drawing.add_text(base, TextAlignment::End, &name, (size, BLACK));
            }
        }
        let bottom = bottom + 0.4 * size;
        let edges = (1.0, drawing.width - 1.0);
        let height = axis.draw_horizontal(&mut drawing, bottom, &self.axis_titles[0], edges, style);
        drawing.height = bottom + height + 1.0;
        drawing
    }
}
