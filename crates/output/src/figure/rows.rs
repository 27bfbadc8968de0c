//! A chart of categories: one row for each, with values as dots and intervals as whiskers. Rows of a group have a common heading.

use super::SCENARIOS;
use super::axis::{Axis, Entry, Look, legend, radius};
use super::drawing::{AXIS, Anchor, BLACK, Colour, Drawing, GRID, Mark, fitted};
use super::font;
use super::style::Style;

/// Maximum share of the width for labels.
const LABELS: f64 = 0.42;

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// The index of the series of the dot.
    pub key: usize,
    /// The value of the dot, in the unit of the axis.
    pub value: f64,
    /// The ends of its interval, in the unit of the axis.
    pub interval: Option<(f64, f64)>,
}

/// A category.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The label of the row.
    pub label: String,
    /// The values of the row.
    pub dots: Vec<Dot>,
}

/// Rows under a heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The heading.
    pub heading: String,
    /// The rows, from top to bottom.
    pub rows: Vec<Row>,
}

/// A series of dots in the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The name of the series.
    pub name: String,
    /// The colour of the series.
    pub colour: Colour,
    /// The shape of the series.
    pub mark: Mark,
    /// Whether the shape is filled.
    pub is_filled: bool,
}

impl Dot {
    /// Creates a dot from a mean and half the width of its interval, if there is one, in the unit of the axis.
    pub fn with_half(key: usize, value: f64, half: Option<f64>) -> Self {
        Self {
            key,
            value,
            interval: half.map(|half| (value - half, value + half)),
        }
    }
}

impl Key {
    /// Creates the series number `place`: it has the colour and shape of a scenario; the first three are filled.
    pub fn of(name: impl Into<String>, place: usize) -> Self {
        let (colour, mark) = SCENARIOS[place % SCENARIOS.len()];
        Self {
            name: name.into(),
            colour,
            mark,
            is_filled: place < SCENARIOS.len(),
        }
    }
}

/// The chart of categories, with values as dots and intervals as whiskers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The title for screen readers.
    pub name: String,
    /// The title of the axis of values, with its unit.
    pub axis: String,
    /// The series.
    pub keys: Vec<Key>,
    /// The categories.
    pub groups: Vec<Group>,
    /// Whether the dots of a row are on one line, joined by a stroke, or below each other.
    pub is_joined: bool,
    /// Whether 0 is marked.
    pub has_zero: bool,
    /// Whether the axis is logarithmic.
    pub is_log: bool,
}

impl Rows {
    /// Draws the chart.
    pub fn draw(&self, style: &Style) -> Drawing {
        let size = style.size();
        let mut drawing = Drawing::new(&self.name, style.width.points());
        let entries: Vec<Entry> = self.keys.iter().map(entry).collect();
        let shown = if entries.len() > 1 { &entries[..] } else { &[] };
        let top = legend(&mut drawing, shown, 2.0, style);
        let rows = || self.groups.iter().flat_map(|group| &group.rows);
        let widths = rows().map(|row| font::width(&row.label, size));
        let left = widths.fold(0.0, f64::max).min(LABELS * drawing.width) + 5.0;
        let values = rows().flat_map(|row| &row.dots).flat_map(|dot| {
            let (low, high) = dot.interval.unwrap_or((dot.value, dot.value));
            [low, high, dot.value]
        });
        let zero = self.has_zero.then_some(0.0);
        let edge = radius(style) + 2.0;
        let ends = (left, drawing.width - edge);
        let axis = Axis::new(values.chain(zero), self.is_log, ends);
        let bottom = top + self.heights(size).iter().sum::<f64>();
        axis.grid(&mut drawing, (top, bottom), style);
        if self.has_zero {
            let x = axis.place(0.0);
            drawing.line((x, top), (x, bottom), (AXIS, 0.8));
        }
        self.draw_rows(&mut drawing, &axis, (left, top), style);
        let edges = (1.0, drawing.width - 1.0);
        let height = axis.level(&mut drawing, bottom, &self.axis, edges, style);
        drawing.height = bottom + height + 1.0;
        drawing
    }

    /// Computes the distance between two rows.
    fn pitch(&self, size: f64) -> f64 {
        let lines = if self.is_joined { 1 } else { self.keys.len() };
        size * (0.45 * lines as f64 + 0.65).max(1.3)
    }

    /// Computes the height of each group.
    fn heights(&self, size: f64) -> Vec<f64> {
        let heading = |group: &Group| {
            if group.heading.is_empty() {
                0.0
            } else {
                1.5 * size
            }
        };
        let height = |group: &Group| heading(group) + group.rows.len() as f64 * self.pitch(size);
        self.groups.iter().map(height).collect()
    }

    fn draw_rows(
        &self,
        drawing: &mut Drawing,
        axis: &Axis,
        (left, top): (f64, f64),
        style: &Style,
    ) {
        let size = style.size();
        let pitch = self.pitch(size);
        let mut y = top;
        for group in &self.groups {
            if !group.heading.is_empty() {
                let heading = fitted(&group.heading, size, left + 0.4 * drawing.width);
                drawing.text(
                    (1.0, y + 1.1 * size),
                    Anchor::Start,
                    &heading,
                    (size, BLACK),
                );
                let after = 4.0 + font::width(&heading, size);
                let line = y + 0.8 * size;
                drawing.line((after, line), (drawing.width - 2.0, line), (GRID, 0.8));
                y += 1.5 * size;
            }
            for row in &group.rows {
                let middle = y + pitch / 2.0;
                let label = fitted(&row.label, size, left - 5.0);
                let base = (left - 4.0, middle + 0.35 * size);
                drawing.text(base, Anchor::End, &label, (size, BLACK));
                self.draw_dots(drawing, axis, (row, middle), style);
                y += pitch;
            }
        }
    }

    fn draw_dots(&self, drawing: &mut Drawing, axis: &Axis, (row, y): (&Row, f64), style: &Style) {
        if self.is_joined
            && let [first, .., last] = &row.dots[..]
        {
            let ends = [first, last].map(|dot| (axis.place(dot.value), y));
            drawing.line(ends[0], ends[1], (AXIS, 0.6));
        }
        let middle = (self.keys.len() as f64 - 1.0) / 2.0;
        for dot in &row.dots {
            let key = &self.keys[dot.key];
            let shift = if self.is_joined {
                0.0
            } else {
                dot.key as f64 - middle
            };
            let y = y + 0.45 * style.size() * shift;
            if let Some((low, high)) = dot.interval {
                let pen = (key.colour, 0.9);
                drawing.line((axis.place(low), y), (axis.place(high), y), pen);
                for end in [low, high] {
                    let x = axis.place(end);
                    drawing.line((x, y - 1.4), (x, y + 1.4), pen);
                }
            }
            let radius = if key.is_filled { 0.8 } else { 1.1 } * radius(style);
            let at = (axis.place(dot.value), y);
            drawing.mark(key.mark, at, radius, key.colour, key.is_filled);
        }
    }
}

fn entry(key: &Key) -> Entry {
    Entry {
        name: key.name.clone(),
        colour: key.colour,
        look: Look::Mark(key.mark, key.is_filled),
    }
}
