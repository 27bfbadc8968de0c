//! Draws the work, imbalance, messages and h-relation of an application over its supersteps as SVG.

use super::{SuperstepLoad, table::means_of_equal_parts};
use crate::svg::{escape_svg, open_svg};
use migsim_base::quantities::{format_data_size, format_four_digits, format_work};

const PANEL: (f64, f64) = (560.0, 110.0);
const LEFT: f64 = 110.0;
const TOP: f64 = 48.0;
/// Vertical space between two panels of the drawing \[px\].
const PANEL_GAP: f64 = 34.0;
/// Maximum number of points of a curve in the drawing; more points could not be distinguished.
const MAX_CURVE_POINTS: usize = 560;

/// A panel of the drawing: the name of a quantity, the function that returns its value for a superstep, and the function that
/// formats a value.
type QuantityPanel = (&'static str, fn(&SuperstepLoad) -> f64, fn(f64) -> String);

/// Returns a drawing of an application as SVG, with one panel over the supersteps for each of its quantities.
pub fn workload_svg(title: &str, loads: &[SuperstepLoad]) -> String {
    let panels: [QuantityPanel; 4] = [
        ("work [instr]", |load| load.total_work, format_work),
        (
            "imbalance (largest / mean - 1)",
            |load| load.imbalance,
            format_four_digits,
        ),
        (
            "messages",
            |load| load.message_count as f64,
            format_four_digits,
        ),
        ("h-relation [B]", |load| load.h_relation, format_data_size),
    ];
    let width = LEFT + PANEL.0 + 30.0;
    let height = TOP + panels.len() as f64 * (PANEL.1 + PANEL_GAP) + 24.0;
    let mut svg = open_svg(width, height, title);
    put!(
        svg,
        "<text x=\"20\" y=\"26\" font-size=\"15\" font-weight=\"bold\">{}</text>\n",
        escape_svg(title)
    );
    for (index, (name, of, shown)) in panels.into_iter().enumerate() {
        let top = TOP + index as f64 * (PANEL.1 + PANEL_GAP) + 16.0;
        let values: Vec<f64> = loads.iter().map(of).collect();
        draw_quantity_panel(
            &mut svg,
            top,
            name,
            &means_of_equal_parts(&values, MAX_CURVE_POINTS),
            shown,
        );
    }
    put!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"12\" text-anchor=\"middle\">superstep 1 to {}</text>\n</svg>\n",
        LEFT + PANEL.0 / 2.0,
        height - 10.0,
        loads.len()
    );
    svg
}

fn draw_quantity_panel(
    svg: &mut String,
    top: f64,
    name: &str,
    values: &[f64],
    shown: fn(f64) -> String,
) {
    let highest = values.iter().copied().fold(0.0, f64::max);
    let bottom = top + PANEL.1;
    put!(
        svg,
        "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"12\">{name}</text>\n\
        <path class=\"axis\" fill=\"none\" d=\"M{LEFT} {top:.1}V{bottom:.1}h{}\"/>\n\
        <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"end\">{}</text>\n\
        <text x=\"{:.1}\" y=\"{bottom:.1}\" font-size=\"11\" text-anchor=\"end\">0</text>\n",
        top - 6.0,
        PANEL.0,
        LEFT - 6.0,
        top + 9.0,
        escape_svg(&shown(highest)),
        LEFT - 6.0
    );
    let mut path = String::new();
    for (index, value) in values.iter().enumerate() {
        let x = LEFT + PANEL.0 * (index as f64 + 0.5) / values.len() as f64;
        let share = if highest > 0.0 { value / highest } else { 0.0 };
        let letter = if index == 0 { 'M' } else { 'L' };
        put!(path, "{letter}{x:.1} {:.1}", bottom - PANEL.1 * share);
    }
    put!(
        svg,
        "<path fill=\"none\" stroke=\"#0072b2\" stroke-width=\"1.4\" d=\"{path}\"/>\n"
    );
}
