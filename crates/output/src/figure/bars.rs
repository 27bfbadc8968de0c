//! Chart of the activity of processes over time: one row per process, with coloured bars along the time axis.

use super::{
    axis::{Axis, LegendSymbol, draw_colour_bar, draw_legend, label_interval},
    drawing::{BLACK, Colour, Drawing, Mark, TextAlignment, WHITE},
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

/// A row of the chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActivityRow {
    /// Heading of a group of rows above this row; empty if the row belongs to the group of the row above it.
    pub heading: String,
    /// Name of the row.
    pub name: String,
    /// The bars of the row.
    pub bars: Vec<Bar>,
    /// Times of events, shown as triangles.
    pub event_times: Vec<f64>,
}

/// A chart of the activity of each process over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityChart {
    /// Title of the time axis with its unit, and title of the rows.
    pub axis_titles: [String; 2],
    /// Meaning of the colours of the bars.
    pub colour_meaning: ColourMeaning,
    /// Name of the events in the legend.
    pub event_name: String,
    /// The rows from top to bottom.
    pub rows: Vec<ActivityRow>,
}

impl ActivityChart {
    /// Draws charts one below the other, with the first chart's legend, as a drawing with the title `name`.
    pub fn draw_all(charts: &[Self], name: &str, style: &FigureStyle) -> Drawing {
        let mut drawing = Drawing::new(name, style);
        let mut bottom = charts[0].draw_key(&mut drawing);
        for chart in charts {
            bottom = chart.draw_rows(&mut drawing, bottom + style.font_size);
        }
        drawing.height = bottom + 1.0;
        drawing
    }

    /// Draws the meaning of the colours and of the triangles; returns the position of the lower end \[pt\].
    fn draw_key(&self, drawing: &mut Drawing) -> f64 {
        let has_events = self.rows.iter().any(|row| !row.event_times.is_empty());
        let event = (
            &*self.event_name,
            BLACK,
            LegendSymbol::Mark(Mark::Triangle, true),
        );
        let events = has_events.then_some(event).into_iter();
        match &self.colour_meaning {
            ColourMeaning::NamedColours(keys) => {
                let keys = keys
                    .iter()
                    .map(|(name, colour)| (&**name, *colour, LegendSymbol::Area));
                draw_legend(drawing, keys.chain(events), 2.0)
            }
            ColourMeaning::ColourScale(title, range) => {
                let bottom = draw_colour_bar(drawing, title, *range);
                draw_legend(drawing, events, bottom)
            }
        }
    }

    /// Draws the rows and the time axis below `top`; returns the position of the lower end \[pt\].
    fn draw_rows(&self, drawing: &mut Drawing, top: f64) -> f64 {
        let size = drawing.style.font_size;
        drawing.add_upper_title(top, &self.axis_titles[1]);
        let mut y = top + 0.6 * size;
        let right = drawing.width - 2.0;
        let count = self.rows.len().max(1) as f64;
        let pitch = (1.35 * size).min(1.2 * drawing.width.min(260.0) / count);
        let left = drawing.widest(self.rows.iter().map(|row| &row.name));
        let left = left.min(0.3 * drawing.width) + 5.0;
        let bars = self.rows.iter().flat_map(|row| &row.bars);
        let axis = Axis::from_zero(bars.map(|bar| bar.end_time), (left, right));
        let each = label_interval(1.15 * size, pitch);
        // Rows that are high enough have a thin gap between them.
        let height = if pitch > 4.0 { 0.84 * pitch } else { pitch };
        let mut since_heading = 0;
        for row in &self.rows {
            if !row.heading.is_empty() {
                drawing.add_heading(y, &row.heading);
                y += 1.5 * size;
                since_heading = 0;
            }
            for bar in &row.bars {
                let x = axis.position_of(bar.start_time);
                // A bar reaches a little below the next one, so that there is no gap between them.
                let end = (axis.position_of(bar.end_time) + 0.2).min(right);
                drawing.add_rectangle((x, y), (end - x, height), bar.colour);
            }
            let middle = y + height / 2.0;
            let radius = drawing.mark_radius().min(0.6 * pitch);
            for time in &row.event_times {
                let at = (axis.position_of(*time), middle);
                // The white border separates the triangle from the bars.
                drawing.add_mark(Mark::Triangle, at, 1.5 * radius, WHITE, true);
                drawing.add_mark(Mark::Triangle, at, radius, BLACK, true);
            }
            if since_heading % each == 0 {
                let base = (left - 3.0, middle + 0.35 * size);
                drawing.add_label(base, TextAlignment::End, &row.name, left - 5.0);
            }
            since_heading += 1;
            y += pitch;
        }
        axis.draw_horizontal(drawing, y + 0.4 * size, &self.axis_titles[0])
    }
}
