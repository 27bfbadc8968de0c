//! Chart of heat maps: each panel shows a quantity as colours over two parameters, for one combination of the other parameters.
//! All panels share one colour bar.

use super::axis::{draw_colour_bar, draw_title, viridis_colour};
use super::drawing::{BLACK, Drawing, TextAlignment, WHITE, shorten_to_width};
use super::font;
use super::style::FigureStyle;

/// Maximum number of panels that are drawn side by side.
const MAX_PANELS_PER_ROW: usize = 4;
/// Horizontal and vertical space between panels \[pt\].
const PANEL_GAP: f64 = 6.0;

/// One heat map of the chart, for one combination of the parameters that are not on its axes.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMapPanel {
    /// Title of the panel: the values of the parameters that are not on its axes.
    pub name: String,
    /// Cells for which the value of the quantity is known: column from the left, row from below (both counted from 0), and the
    /// value in the unit of the quantity.
    pub cells: Vec<(usize, usize, f64)>,
}

/// A chart of heat maps, which show a quantity over two parameters; all maps have the same colour bar.
#[derive(Clone, Debug)]
pub struct HeatMapChart {
    /// Title of the chart for screen readers; it is not visible.
    pub name: String,
    /// Name of the quantity with its unit, shown as the title of the colour bar.
    pub quantity_title: String,
    /// The parameters of the horizontal and of the vertical axis: the name of each parameter, and its values as text.
    pub axis_parameters: [(String, Vec<String>); 2],
    /// The heat maps of the chart, row by row from the upper left.
    pub panels: Vec<HeatMapPanel>,
    /// Function that formats the value of a cell as the text that is written into the cell.
    pub format_cell: fn(f64) -> String,
}

/// Positions and sizes of the panels in the drawing \[pt\].
#[derive(Clone, Copy, Debug)]
struct PanelLayout {
    panels_per_row: usize,
    left_of_panels: f64,
    top_of_panels: f64,
    panel_width: f64,
    panel_height: f64,
    /// Height of the title above each panel \[pt\]; 0 if no panel has a title.
    title_height: f64,
}

impl HeatMapChart {
    /// Draws the chart in the given style.
    pub fn draw(&self, style: &FigureStyle) -> Drawing {
        let size = style.font_points();
        let mut drawing = Drawing::new(&self.name, style.width.to_points());
        let values = self.panels.iter().flat_map(|panel| &panel.cells);
        let (least, most) = values.fold((f64::MAX, f64::MIN), |(least, most), cell| {
            (least.min(cell.2), most.max(cell.2))
        });
        let top = draw_colour_bar(&mut drawing, &self.quantity_title, (least, most), style);
        let most_wide = drawing.width - 2.0;
        let title = shorten_to_width(&self.axis_parameters[1].0, size, most_wide);
        drawing.add_text(
            (1.0, top + 0.9 * size),
            TextAlignment::Start,
            &title,
            (size, BLACK),
        );
        let layout = self.compute_layout(&drawing, top + 1.4 * size, style);
        let share = |value: f64| {
            if most > least {
                (value - least) / (most - least)
            } else {
                0.5
            }
        };
        let labels = self.do_labels_fit(&layout, style);
        for (index, panel) in self.panels.iter().enumerate() {
            let at = layout.panel_position(index);
            let middle = at.0 + layout.panel_width / 2.0;
            let name = shorten_to_width(&panel.name, size, layout.panel_width);
            drawing.add_text(
                (middle, at.1 - 0.4 * size),
                TextAlignment::Middle,
                &name,
                (size, BLACK),
            );
            self.draw_cells(&mut drawing, (panel, at), (&layout, labels), &share, style);
            self.draw_parameter_labels(&mut drawing, index, &layout, style);
        }
        let rows = self.panels.len().div_ceil(layout.panels_per_row);
        let bottom = layout.top_of_panels
            + rows as f64 * (layout.title_height + layout.panel_height + PANEL_GAP)
            - PANEL_GAP;
        let middle = f64::midpoint(layout.left_of_panels, drawing.width);
        let edges = (1.0, drawing.width - 1.0);
        let below = (middle, bottom + 2.4 * size);
        draw_title(
            &mut drawing,
            below,
            &self.axis_parameters[0].0,
            edges,
            style,
        );
        drawing.height = bottom + 2.8 * size;
        drawing
    }

    fn compute_layout(&self, drawing: &Drawing, top: f64, style: &FigureStyle) -> PanelLayout {
        let size = style.font_points();
        let widest = |texts: &mut dyn Iterator<Item = &String>| {
            texts
                .map(|text| font::text_width(text, size))
                .fold(0.0, f64::max)
        };
        let labels = widest(&mut self.axis_parameters[1].1.iter()).min(0.3 * drawing.width);
        let left = labels + 5.0;
        let room = drawing.width - left - 2.0;
        let name = widest(&mut self.panels.iter().map(|panel| &panel.name));
        let value = widest(&mut self.axis_parameters[0].1.iter());
        let wide = |columns: usize| (room + PANEL_GAP) / columns as f64 - PANEL_GAP;
        let fits = |columns: &usize| wide(*columns) >= name.max(2.5 * value);
        let most = MAX_PANELS_PER_ROW.min(self.panels.len()).max(1);
        let columns = (1..=most).rev().find(fits).unwrap_or(1);
        let width = wide(columns);
        let rows = self.axis_parameters[1].1.len().max(1) as f64;
        // Cells are as high as a line of text; wide maps are flat.
        let height = (rows * 1.5 * size).clamp(0.5 * width.min(120.0), 160.0_f64.max(rows * 3.0));
        let is_named = self.panels.iter().any(|panel| !panel.name.is_empty());
        PanelLayout {
            panels_per_row: columns,
            left_of_panels: left,
            top_of_panels: top,
            panel_width: width,
            panel_height: height,
            title_height: if is_named { 1.4 * size } else { 0.0 },
        }
    }

    /// Returns whether all cells are large enough for the text of their value; otherwise the texts are not drawn.
    fn do_labels_fit(&self, layout: &PanelLayout, style: &FigureStyle) -> bool {
        let size = style.font_points();
        let (width, height) = self.cell_size(layout);
        let values = self.panels.iter().flat_map(|panel| &panel.cells);
        let texts = values.map(|cell| {
            font::text_width(
                &style.localise_decimal_mark(&(self.format_cell)(cell.2)),
                size,
            )
        });
        height >= 1.15 * size && texts.fold(0.0, f64::max) + 2.0 <= width
    }

    fn cell_size(&self, layout: &PanelLayout) -> (f64, f64) {
        let [columns, rows] =
            [0, 1].map(|axis: usize| self.axis_parameters[axis].1.len().max(1) as f64);
        (layout.panel_width / columns, layout.panel_height / rows)
    }

    fn draw_cells(
        &self,
        drawing: &mut Drawing,
        (panel, at): (&HeatMapPanel, (f64, f64)),
        (layout, labels): (&PanelLayout, bool),
        share: &dyn Fn(f64) -> f64,
        style: &FigureStyle,
    ) {
        let (width, height) = self.cell_size(layout);
        for &(column, row, value) in &panel.cells {
            let x = at.0 + column as f64 * width;
            let y = at.1 + layout.panel_height - (row + 1) as f64 * height;
            // A cell reaches a little over the next one, so that there is no gap between them.
            let columns = self.axis_parameters[0].1.len();
            let over = |is_last: bool| if is_last { 0.0 } else { 0.2 };
            let size = (width + over(column + 1 == columns), height + over(row == 0));
            drawing.add_rectangle((x, y), size, viridis_colour(share(value)));
            if labels {
                let colour = if share(value) < 0.55 { WHITE } else { BLACK };
                let middle = (
                    x + width / 2.0,
                    y + height / 2.0 + 0.35 * style.font_points(),
                );
                let text = style.localise_decimal_mark(&(self.format_cell)(value));
                drawing.add_text(
                    middle,
                    TextAlignment::Middle,
                    &text,
                    (style.font_points(), colour),
                );
            }
        }
    }

    /// Draws the values of both parameters as labels at one panel: left of a panel in the first column, and below the last panel
    /// of each column.
    fn draw_parameter_labels(
        &self,
        drawing: &mut Drawing,
        index: usize,
        layout: &PanelLayout,
        style: &FigureStyle,
    ) {
        let size = style.font_points();
        let (width, height) = self.cell_size(layout);
        let at = layout.panel_position(index);
        if index.is_multiple_of(layout.panels_per_row) {
            let labels = &self.axis_parameters[1].1;
            let each = label_interval(1.1 * size, height);
            for (row, label) in labels.iter().enumerate().step_by(each) {
                let y = at.1 + layout.panel_height - (row as f64 + 0.5) * height + 0.35 * size;
                let text = shorten_to_width(label, size, layout.left_of_panels - 5.0);
                drawing.add_text((at.0 - 3.0, y), TextAlignment::End, &text, (size, BLACK));
            }
        }
        if index + layout.panels_per_row >= self.panels.len() {
            let labels = &self.axis_parameters[0].1;
            let widest = labels.iter().map(|label| font::text_width(label, size));
            let each = label_interval(widest.fold(0.0, f64::max) + 0.5 * size, width);
            for (column, label) in labels.iter().enumerate().step_by(each) {
                let x = at.0 + (column as f64 + 0.5) * width;
                let text = shorten_to_width(label, size, (each as f64 * width).max(3.0 * size));
                let half = font::text_width(&text, size) / 2.0;
                let x = x.clamp(half, (drawing.width - half).max(half));
                let y = at.1 + layout.panel_height + 1.1 * size;
                drawing.add_text((x, y), TextAlignment::Middle, &text, (size, BLACK));
            }
        }
    }
}

impl PanelLayout {
    fn panel_position(&self, index: usize) -> (f64, f64) {
        let (column, row) = (index % self.panels_per_row, index / self.panels_per_row);
        (
            self.left_of_panels + column as f64 * (self.panel_width + PANEL_GAP),
            self.top_of_panels
                + row as f64 * (self.title_height + self.panel_height + PANEL_GAP)
                + self.title_height,
        )
    }
}

/// Computes the smallest n such that every n-th label can be drawn without overlap, if a label needs the length `needed` and
/// neighbouring labels have the distance `pitch` \[pt\].
pub(super) fn label_interval(needed: f64, pitch: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small count"
    )]
    let each = (needed / pitch).ceil() as usize;
    each.max(1)
}
