//! Scatter chart that compares two quantities of the same unit on logarithmic axes; on its diagonal both quantities are equal.

use super::axis::{Axis, LegendEntry, LegendSymbol, data_mark_radius, draw_legend};
use super::drawing::{AXIS_COLOUR, BLACK, Colour, Drawing, Mark, TextAlignment, shorten_to_width};
use super::style::FigureStyle;

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
        let size = style.font_points();
        let mut drawing = Drawing::new(&self.name, style.width.to_points());
        let mut entries: Vec<LegendEntry> = self.legend_series.iter().map(legend_entry).collect();
        let percent = style.localise_decimal_mark(&format!("{}", 100.0 * self.marked_deviation));
        let equal = style.translate("equal, and ±", "igual, e ±");
        entries.push(LegendEntry {
            name: format!("{equal}{percent} %"),
            colour: AXIS_COLOUR,
            symbol: LegendSymbol::Line,
        });
        let top = draw_legend(&mut drawing, &entries, 2.0, style) + size;
        let most = drawing.width - 2.0;
        let title = shorten_to_width(&self.axis_titles[1], size, most);
        drawing.add_text((1.0, top), TextAlignment::Start, &title, (size, BLACK));
        let top = top + 0.8 * size;
        let values = self
            .points
            .iter()
            .flat_map(|point| [point.coordinates.0, point.coordinates.1]);
        let axis = Axis::new(values, true, (0.0, 100.0));
        let left = axis.label_width(style) + 5.0;
        let right = drawing.width - data_mark_radius(style) - 1.0;
        // The height is limited to the width of a page.
        let bottom = top + (right - left).min(300.0);
        let (level, upright) = (axis.with_ends((left, right)), axis.with_ends((bottom, top)));
        level.draw_vertical_grid_lines(&mut drawing, (top, bottom), style);
        upright.draw_vertical(&mut drawing, (left, right), style);
        self.draw_diagonals(&mut drawing, &level, &upright);
        for point in &self.points {
            let (_, colour, mark) = &self.legend_series[point.series_index];
            let at = (
                level.position_of(point.coordinates.0),
                upright.position_of(point.coordinates.1),
            );
            drawing.add_mark(*mark, at, 0.9 * data_mark_radius(style), *colour, false);
        }
        let edges = (1.0, drawing.width - 1.0);
        let height =
            level.draw_horizontal(&mut drawing, bottom, &self.axis_titles[0], edges, style);
        drawing.height = bottom + height + 1.0;
        drawing
    }

    fn draw_diagonals(&self, drawing: &mut Drawing, level: &Axis, upright: &Axis) {
        let (low, high) = level.range();
        for (factor, width) in [
            (1.0, 0.9),
            (1.0 + self.marked_deviation, 0.4),
            (1.0 / (1.0 + self.marked_deviation), 0.4),
        ] {
            // The line is drawn from its first to its last point inside the square.
            let (first, last) = (low.max(low / factor), high.min(high / factor));
            let place = |x: f64| (level.position_of(x), upright.position_of(x * factor));
            drawing.add_line(place(first), place(last), (AXIS_COLOUR, width));
        }
    }
}

fn legend_entry((name, colour, mark): &(String, Colour, Mark)) -> LegendEntry {
    LegendEntry {
        name: name.clone(),
        colour: *colour,
        symbol: LegendSymbol::Mark(*mark, false),
    }
}
