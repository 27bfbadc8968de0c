//! Chart of the activity of processes over time: one row per process, with coloured bars along the time axis.

use super::{
    axis::{Axis, LegendSymbol, draw_colour_bar, draw_legend, label_interval},
    drawing::{Colour, Drawing, TextAlignment},
    style::FigureStyle,
};

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
        let size = style.font_size;
        let mut drawing = Drawing::new(&self.name, style);
        let top = match &self.colour_meaning {
            ColourMeaning::NamedColours(keys) => {
                let entries = keys
                    .iter()
                    .map(|(name, colour)| (&**name, *colour, LegendSymbol::Area));
                draw_legend(&mut drawing, entries, 2.0) + size
            }
            ColourMeaning::ColourScale(title, range) => {
                draw_colour_bar(&mut drawing, title, *range) + 0.9 * size
            }
        };
        drawing.add_upper_title(top, &self.axis_titles[1]);
        let top = top + 0.6 * size;
        let right = drawing.width - 2.0;
        let count = self.named_rows.len().max(1) as f64;
        let pitch = (1.35 * size).min(1.2 * drawing.width.min(260.0) / count);
        let bottom = top + pitch * count;
        let names = self.named_rows.iter().map(|(name, _)| name);
        let left = drawing.widest(names).min(0.3 * drawing.width) + 5.0;
        let bars = self.named_rows.iter().flat_map(|(_, bars)| bars);
        let axis = Axis::from_zero(bars.map(|bar| bar.end_time), (left, right));
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
                drawing.add_label(base, TextAlignment::End, name, left - 5.0);
            }
        }
        let bottom = bottom + 0.4 * size;
        drawing.height = axis.draw_horizontal(&mut drawing, bottom, &self.axis_titles[0]) + 1.0;
        drawing
    }
}
