//! Chart of one or more quantities over the supersteps of a run, drawn as curves.

use super::{
    axis::{Axis, LegendSymbol, draw_legend},
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
    /// The curves in the order in which they are drawn; a later curve covers earlier curves.
    pub curves: Vec<Curve>,
}

impl CurveChart {
    /// Draws the chart in the given style.
    pub fn draw(&self, style: &FigureStyle) -> Drawing {
        let size = style.font_size;
        let mut drawing = Drawing::new(&self.name, style);
        let entries = self
            .curves
            .iter()
            .map(|curve| (&*curve.name, curve.colour, LegendSymbol::Line));
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
        // Lower curves are thicker, so that two equal curves are both visible.
        let thickest = 1.0 + 0.7 * self.curves.len().saturating_sub(1) as f64;
        for (index, curve) in self.curves.iter().enumerate() {
            let place = |(x, y): &(f64, f64)| (level.position_of(*x), upright.position_of(*y));
            let width = thickest - 0.7 * index as f64;
            let points: Vec<(f64, f64)> = curve.curve_points.iter().map(place).collect();
            drawing.add_path(points, (curve.colour, width.max(0.6)));
        }
        drawing.height = level.draw_horizontal(&mut drawing, bottom, &self.axis_titles[0]) + 1.0;
        drawing
    }
}
