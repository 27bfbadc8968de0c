//! Chart with one row per category: the values of the category are shown as dots, their intervals as whiskers. Rows of a group
//! have a common heading.

use super::{
    SCENARIO_COLOURS_AND_MARKS,
    axis::{Axis, LegendSymbol, draw_legend},
    drawing::{AXIS_COLOUR, Colour, Drawing, GRID_COLOUR, Mark, TextAlignment},
    style::FigureStyle,
};

/// Maximum share of the width of the chart that the labels of the rows may take.
const MAX_LABEL_SHARE: f64 = 0.42;

/// A value in a row of the chart, drawn as a dot with or without whiskers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// Index of the data series to which the dot belongs, in the list of series of the chart.
    pub series_index: usize,
    /// The value at which the dot is drawn, in the unit of the axis.
    pub value: f64,
    /// Lower and upper limit of the interval around the value, drawn as whiskers, in the unit of the axis; `None` if the dot has
    /// no whiskers.
    pub whisker_limits: Option<(f64, f64)>,
}

/// A category of the chart, drawn as one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChartRow {
    /// Label of the row: the name of the category.
    pub label: String,
    /// The values of the category; each value is drawn as a dot.
    pub dots: Vec<Dot>,
    /// Text at the right end of the row; often empty.
    pub note: String,
}

/// A group of rows of the chart with a common heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowGroup {
    /// Heading above the rows of the group; empty if the group has no heading.
    pub heading: String,
    /// The rows of the group, from top to bottom.
    pub rows: Vec<ChartRow>,
    /// Whether lines join the dots of a series in successive rows; all rows of the chart then lie closer together.
    pub are_rows_joined: bool,
}

/// A data series of the chart as the legend shows it: its name, and the colour and shape of its dots.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendSeries {
    /// Name of the data series.
    pub name: String,
    /// Colour of the dots of the series.
    pub colour: Colour,
    /// Shape of the dots of the series.
    pub mark: Mark,
    /// Whether the dots of the series are filled; otherwise only their outline is drawn.
    pub is_filled: bool,
}

impl Dot {
    /// Creates a dot with whiskers at `value - half` and `value + half`, in the unit of the axis; without whiskers if `half` is
    /// `None`. `key` is the index of the series.
    pub fn from_half_width(key: usize, value: f64, half: Option<f64>) -> Self {
        Self {
            series_index: key,
            value,
            whisker_limits: half.map(|half| (value - half, value + half)),
        }
    }
}

impl LegendSeries {
    /// Creates the legend entry of the data series with the index `place`, counted from 0. The colours and shapes of the three
    /// scenarios are used in turn; only the dots of the first three series are filled.
    pub fn from_index(name: impl Into<String>, place: usize) -> Self {
        let (colour, mark) = SCENARIO_COLOURS_AND_MARKS[place % SCENARIO_COLOURS_AND_MARKS.len()];
        Self {
            name: name.into(),
            colour,
            mark,
            is_filled: place < SCENARIO_COLOURS_AND_MARKS.len(),
        }
    }
}

/// A chart with one row per category, whose values are drawn as dots and their intervals as whiskers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DotRowChart {
    /// Title of the chart for screen readers; it is not visible.
    pub name: String,
    /// Title of the axis of the values, with the unit.
    pub axis_title: String,
    /// The data series of the dots, in the order of the legend.
    pub legend_series: Vec<LegendSeries>,
    /// Groups of rows, from top to bottom.
    pub row_groups: Vec<RowGroup>,
    /// Whether all dots of a row lie at the same height and are joined by a line; otherwise the dots of each series have their
    /// own height.
    pub are_dots_joined: bool,
    /// Range of values behind the dots that is shaded, and its name in the legend.
    pub band: Option<((f64, f64), String)>,
    /// Title above the texts at the right ends of the rows.
    pub note_title: String,
    /// Whether the chart marks the value 0 by a vertical line.
    pub has_zero_line: bool,
    /// Whether the axis of the values is logarithmic.
    pub is_logarithmic: bool,
}

impl DotRowChart {
    /// Draws the chart in the given style.
    pub fn draw(&self, style: &FigureStyle) -> Drawing {
        let size = style.font_size;
        let mut drawing = Drawing::new(&self.name, style);
        let entries = self.legend_series.iter().map(|key| {
            let symbol = LegendSymbol::Mark(key.mark, key.is_filled);
            (&*key.name, key.colour, symbol)
        });
        let has_legend = self.legend_series.len() > 1;
        let band = self.band.iter();
        let band = band.map(|(_, name)| (&**name, GRID_COLOUR, LegendSymbol::Area));
        let entries = entries.filter(|_| has_legend).chain(band);
        let mut top = draw_legend(&mut drawing, entries, 2.0);
        if !self.note_title.is_empty() {
            let at = (drawing.width - 1.0, top + 0.9 * size);
            drawing.add_label(at, TextAlignment::End, &self.note_title, drawing.width);
            top += 1.3 * size;
        }
        let rows = || self.row_groups.iter().flat_map(|group| &group.rows);
        let left = drawing
            .widest(rows().map(|row| &row.label))
            .min(MAX_LABEL_SHARE * drawing.width)
            + 5.0;
        let values = rows().flat_map(|row| &row.dots).flat_map(|dot| {
            let (low, high) = dot.whisker_limits.unwrap_or((dot.value, dot.value));
            [low, high, dot.value]
        });
        let zero = self.has_zero_line.then_some(0.0);
        let notes = drawing.widest(rows().map(|row| &row.note));
        let edge = drawing.mark_radius() + 2.0 + 1.1 * notes;
        let ends = (left, drawing.width - edge);
        let axis = Axis::new(values.chain(zero), self.is_logarithmic, ends);
        let heights = self.row_groups.iter().map(|group| {
            let heading = if group.heading.is_empty() {
                0.0
            } else {
                1.5 * size
            };
            heading + group.rows.len() as f64 * self.row_distance(size)
        });
        let bottom = top + heights.sum::<f64>();
        if let Some(((low, high), _)) = &self.band {
            let x = axis.position_of(*low);
            let width = axis.position_of(*high) - x;
            drawing.add_rectangle((x, top), (width, bottom - top), GRID_COLOUR);
        }
        axis.draw_vertical_grid_lines(&mut drawing, top, bottom);
        if self.has_zero_line {
            let x = axis.position_of(0.0);
            drawing.add_line((x, top), (x, bottom), (AXIS_COLOUR, 0.8));
        }
        self.draw_rows(&mut drawing, &axis, left, top);
        drawing.height = axis.draw_horizontal(&mut drawing, bottom, &self.axis_title) + 1.0;
        drawing
    }

    fn is_compact(&self) -> bool {
        self.row_groups.iter().any(|group| group.are_rows_joined)
    }

    /// Computes the vertical distance between two rows \[pt\] at the font size `size` \[pt\].
    fn row_distance(&self, size: f64) -> f64 {
        if self.is_compact() {
            return 1.15 * size;
        }
        let lines = if self.are_dots_joined {
            1
        } else {
            self.legend_series.len()
        };
        size * (0.45 * lines as f64 + 0.65).max(1.3)
    }

    fn draw_rows(&self, drawing: &mut Drawing, axis: &Axis, left: f64, top: f64) {
        let size = drawing.style.font_size;
        let pitch = self.row_distance(size);
        let mut y = top;
        for group in &self.row_groups {
            if !group.heading.is_empty() {
                drawing.add_heading(y, &group.heading);
                y += 1.5 * size;
            }
            if group.are_rows_joined {
                self.join_rows(drawing, axis, group, y + pitch / 2.0);
            }
            for row in &group.rows {
                let middle = y + pitch / 2.0;
                let base = (left - 4.0, middle + 0.35 * size);
                drawing.add_label(base, TextAlignment::End, &row.label, left - 5.0);
                let end = (drawing.width - 1.0, base.1);
                drawing.add_label(end, TextAlignment::End, &row.note, drawing.width);
                self.draw_dots(drawing, axis, row, middle);
                y += pitch;
            }
        }
    }

    /// Draws a line for each series through its dots in a group, whose first row has the height `y`.
    fn join_rows(&self, drawing: &mut Drawing, axis: &Axis, group: &RowGroup, y: f64) {
        let size = drawing.style.font_size;
        for (index, key) in self.legend_series.iter().enumerate() {
            let points = group.rows.iter().enumerate().filter_map(|(row, one)| {
                let dot = one.dots.iter().find(|dot| dot.series_index == index)?;
                let below = row as f64 * self.row_distance(size) + self.dot_shift(size, index);
                Some((axis.position_of(dot.value), y + below))
            });
            drawing.add_path(points.collect(), (key.colour, 0.8));
        }
    }

    /// Returns by how much the dots of a series lie below the middle of their row \[pt\].
    fn dot_shift(&self, size: f64, series: usize) -> f64 {
        let lines = self.legend_series.len() as f64;
        let distance = match (self.are_dots_joined, self.is_compact()) {
            (true, _) => 0.0,
            (_, true) => 0.5 / lines,
            _ => 0.45,
        };
        distance * size * (series as f64 - (lines - 1.0) / 2.0)
    }

    fn draw_dots(&self, drawing: &mut Drawing, axis: &Axis, row: &ChartRow, y: f64) {
        if self.are_dots_joined
            && let [first, .., last] = &row.dots[..]
        {
            let ends = [first, last].map(|dot| (axis.position_of(dot.value), y));
            drawing.add_line(ends[0], ends[1], (AXIS_COLOUR, 0.6));
        }
        for dot in &row.dots {
            let key = &self.legend_series[dot.series_index];
            let y = y + self.dot_shift(drawing.style.font_size, dot.series_index);
            if let Some((low, high)) = dot.whisker_limits {
                let pen = (key.colour, 0.9);
                drawing.add_line((axis.position_of(low), y), (axis.position_of(high), y), pen);
                for end in [low, high] {
                    let x = axis.position_of(end);
                    drawing.add_line((x, y - 1.4), (x, y + 1.4), pen);
                }
            }
            let radius = if key.is_filled { 0.8 } else { 1.1 } * drawing.mark_radius();
            let at = (axis.position_of(dot.value), y);
            drawing.add_mark(key.mark, at, radius, key.colour, key.is_filled);
        }
    }
}
