//! Scatter chart that compares two quantities of the same unit on logarithmic axes; on its diagonal both quantities are equal.

use super::{
    axis::{Axis, LegendSymbol, draw_legend},
    drawing::{AXIS_COLOUR, Colour, Drawing, Mark},
    style::FigureStyle,
};

/// A data point of the scatter chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScatterPoint {
    /// Index of the data series to which the point belongs, in the list of series of the chart.
    pub series_index: usize,
    /// Value on the horizontal axis and value on the vertical axis, in the units of the axes.
    pub coordinates: (f64, f64),
}

/// A scatter chart of one quantity against another, both on logarithmic axes in the same unit.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterChart {
    /// Title of the chart for screen readers; it is not visible.
    pub name: String,
    /// Title of the horizontal axis and title of the vertical axis, each with its unit.
    pub axis_titles: [String; 2],
    /// Name, colour and shape of each data series, in the order of the legend.
    pub legend_series: Vec<(String, Colour, Mark)>,
    /// The data points of all series.
    pub points: Vec<ScatterPoint>,
    /// Relative deviation from the diagonal that two further lines mark: with 0.1, one line is at 1.1 times and the other at 1 /
    /// 1.1 times the horizontal value.
    pub marked_deviation: f64,
}

impl ScatterChart {
    /// Draws the chart in the given style.
    pub fn draw(&self, style: &FigureStyle) -> Drawing {
        let size = style.font_size;
        let mut drawing = Drawing::new(&self.name, style);
        let percent = style.localise_decimal_mark(&format!("{}", 100.0 * self.marked_deviation));
        let lines = style.translate("equal, and ±", "igual, e ±").to_owned() + &percent + " %";
        let entries = self
            .legend_series
            .iter()
            .map(|(name, colour, mark)| (&**name, *colour, LegendSymbol::Mark(*mark, false)))
            .chain([(&*lines, AXIS_COLOUR, LegendSymbol::Line(0.0))]);
        let top = draw_legend(&mut drawing, entries, 2.0) + size;
        drawing.add_upper_title(top, &self.axis_titles[1]);
        let top = top + 0.8 * size;
        let points = self.points.iter().map(|point| point.coordinates);
        let axis = Axis::new(points.flat_map(|(x, y)| [x, y]), true, (0.0, 100.0));
        let left = axis.label_width(&drawing) + 5.0;
        let right = drawing.width - drawing.mark_radius() - 1.0;
        // The height is limited to the width of a page.
        let bottom = top + (right - left).min(300.0);
        let level = axis.with_ends((left, right));
        let upright = axis.with_ends((bottom, top));
        level.draw_vertical_grid_lines(&mut drawing, top, bottom);
        upright.draw_vertical(&mut drawing, left, right);
        self.draw_diagonals(&mut drawing, &level, &upright);
        for point in &self.points {
            let (_, colour, mark) = &self.legend_series[point.series_index];
            let (x, y) = point.coordinates;
            let at = (level.position_of(x), upright.position_of(y));
            drawing.add_mark(*mark, at, 0.9 * drawing.mark_radius(), *colour, false);
        }
        drawing.height = level.draw_horizontal(&mut drawing, bottom, &self.axis_titles[0]) + 1.0;
        drawing
    }

    fn draw_diagonals(&self, drawing: &mut Drawing, level: &Axis, upright: &Axis) {
        let (low, high) = level.range;
        for (factor, width) in [
            (1.0, 0.9),
            (1.0 + self.marked_deviation, 0.4),
            (1.0 / (1.0 + self.marked_deviation), 0.4),
        ] {
            // The line is drawn from its first to its last point inside the square.
            let first = low.max(low / factor);
            let last = high.min(high / factor);
            let place = |x: f64| (level.position_of(x), upright.position_of(x * factor));
            drawing.add_line(place(first), place(last), (AXIS_COLOUR, width));
        }
    }
}
