//! A chart of one quantity against another of the same unit, on logarithmic axes, with the diagonal where both are equal.

use super::axis::{Axis, Entry, Look, legend, radius};
use super::drawing::{AXIS, Anchor, BLACK, Colour, Drawing, Mark, fitted};
use super::style::Style;

/// A point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The index of the series of the point.
    pub key: usize,
    /// The position of the point, in the units of the axes.
    pub at: (f64, f64),
}

/// The chart of one quantity against another, on logarithmic axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// The title for screen readers.
    pub name: String,
    /// The titles of the horizontal and the vertical axis, with their unit.
    pub axes: [String; 2],
    /// The series: name, colour and shape.
    pub keys: Vec<(String, Colour, Mark)>,
    /// The points.
    pub points: Vec<Point>,
    /// Distance from the diagonal at which two more lines are drawn, as a fraction.
    pub margin: f64,
}

impl Scatter {
    /// Draws the chart.
    pub fn draw(&self, style: &Style) -> Drawing {
        let size = style.size();
        let mut drawing = Drawing::new(&self.name, style.width.points());
        let mut entries: Vec<Entry> = self.keys.iter().map(entry).collect();
        let percent = style.number(&format!("{}", 100.0 * self.margin));
        let equal = style.say("equal, and ±", "igual, e ±");
        entries.push(Entry {
            name: format!("{equal}{percent} %"),
            colour: AXIS,
            look: Look::Line,
        });
        let top = legend(&mut drawing, &entries, 2.0, style) + size;
        let most = drawing.width - 2.0;
        let title = fitted(&self.axes[1], size, most);
        drawing.text((1.0, top), Anchor::Start, &title, (size, BLACK));
        let top = top + 0.8 * size;
        let values = self
            .points
            .iter()
            .flat_map(|point| [point.at.0, point.at.1]);
        let axis = Axis::new(values, true, (0.0, 100.0));
        let left = axis.label_width(style) + 5.0;
        let right = drawing.width - radius(style) - 1.0;
        // The height is limited to the width of a page.
        let bottom = top + (right - left).min(300.0);
        let (level, upright) = (axis.at((left, right)), axis.at((bottom, top)));
        level.grid(&mut drawing, (top, bottom), style);
        upright.upright(&mut drawing, (left, right), style);
        self.diagonals(&mut drawing, &level, &upright);
        for point in &self.points {
            let (_, colour, mark) = &self.keys[point.key];
            let at = (level.place(point.at.0), upright.place(point.at.1));
            drawing.mark(*mark, at, 0.9 * radius(style), *colour, false);
        }
        let edges = (1.0, drawing.width - 1.0);
        let height = level.level(&mut drawing, bottom, &self.axes[0], edges, style);
        drawing.height = bottom + height + 1.0;
        drawing
    }

    fn diagonals(&self, drawing: &mut Drawing, level: &Axis, upright: &Axis) {
        let (low, high) = level.range();
        for (factor, width) in [
            (1.0, 0.9),
            (1.0 + self.margin, 0.4),
            (1.0 / (1.0 + self.margin), 0.4),
        ] {
            // The line is drawn from its first to its last point inside the square.
            let (first, last) = (low.max(low / factor), high.min(high / factor));
            let place = |x: f64| (level.place(x), upright.place(x * factor));
            drawing.line(place(first), place(last), (AXIS, width));
        }
    }
}

fn entry((name, colour, mark): &(String, Colour, Mark)) -> Entry {
    Entry {
        name: name.clone(),
        colour: *colour,
        look: Look::Mark(*mark, false),
    }
}
