//! Chart of one or more quantities over the supersteps of a run, drawn as curves.

use super::{
    axis::{Axis, CURVE_WIDTH, LegendSymbol, draw_legend},
    drawing::{Colour, Drawing},
    style::FigureStyle,
};

/// A curve of the chart: a quantity at successive supersteps.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name of the curve in the legend.
    pub name: String,
    /// Colour with which the curve is drawn.
    pub colour: Colour,
    /// Points of the curve: value on the horizontal axis and value on the vertical axis, in the units of the axes.
    pub curve_points: Vec<(f64, f64)>,
}

/// A chart of quantities over supersteps, drawn as curves.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveChart {
    /// Title of the chart for screen readers; it is not visible.
    pub name: String,
    /// Title of the horizontal axis and title of the vertical axis, each with its unit.
    pub axis_titles: [String; 2],
    /// The curves in the order in which they are drawn. A later curve covers earlier curves; it has other dashes, so that the
    /// earlier curve remains visible.
    pub curves: Vec<Curve>,
}

/// Lengths of the dashes of the curves in turn \[pt\].
const DASHES: [f64; 4] = [0.0, 3.0, 1.2, 5.0];

impl CurveChart {
    /// Draws the chart in the given style.
    pub fn draw(&self, style: &FigureStyle) -> Drawing {
        let size = style.font_size;
        let mut drawing = Drawing::new(&self.name, style);
        let curves = || self.curves.iter().zip(DASHES.into_iter().cycle());
        let entries =
            curves().map(|(curve, dash)| (&*curve.name, curve.colour, LegendSymbol::Line(dash)));
        let top = draw_legend(&mut drawing, entries, 2.0) + size;
        drawing.add_upper_title(top, &self.axis_titles[1]);
        let top = top + 0.8 * size;
        let right = drawing.width - 2.0;
        let bottom = top + (0.5 * drawing.width).clamp(80.0, 220.0);
        let all = || self.curves.iter().flat_map(|curve| &curve.curve_points);
        let upright = Axis::from_zero(all().map(|point| point.1), (bottom, top));
        let left = upright.label_width(&drawing) + 5.0;
        let level = Axis::from_values(all().map(|point| point.0), (left, right));
        upright.draw_vertical(&mut drawing, left, right);
        for (curve, dash) in curves() {
            let place = |(x, y): &(f64, f64)| (level.position_of(*x), upright.position_of(*y));
            let points = curve.curve_points.iter().map(place).collect();
            drawing.add_dashed_path(points, (curve.colour, CURVE_WIDTH), dash);
        }
        drawing.height = level.draw_horizontal(&mut drawing, bottom, &self.axis_titles[0]) + 1.0;
        drawing
    }
}
