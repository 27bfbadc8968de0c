//! Chart of heat maps: each panel shows a quantity as colours over two parameters, for one combination of the other parameters.
//! All panels share one colour bar.

use super::{
    axis::{draw_colour_bar, draw_column_labels, draw_row_labels, min_and_max, viridis_colour},
    drawing::{BLACK, Drawing, TextAlignment, WHITE},
    style::FigureStyle,
};

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
struct PanelLayout {
    panels_per_row: usize,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    /// Height of the title above each panel \[pt\]; 0 if no panel has a title.
    title_height: f64,
    /// Width and height of a cell.
    cell: (f64, f64),
}

impl HeatMapChart {
    /// Draws the chart in the given style.
    pub fn draw(&self, style: &FigureStyle) -> Drawing {
        let size = style.font_size;
        let mut drawing = Drawing::new(&self.name, style);
        let [columns, rows] = &self.axis_parameters;
        let cells = self.panels.iter().flat_map(|panel| &panel.cells);
        let (least, most) = min_and_max(cells.map(|cell| cell.2)).unwrap_or_default();
        let top = draw_colour_bar(&mut drawing, &self.quantity_title, (least, most));
        drawing.add_upper_title(top + 0.9 * size, &rows.0);
        let layout = self.compute_layout(&drawing, top + 1.4 * size);
        let share = |value: f64| {
            if most > least {
                (value - least) / (most - least)
            } else {
                0.5
            }
        };
        let labels = self.do_labels_fit(&drawing, layout.cell);
        for (index, panel) in self.panels.iter().enumerate() {
            let at = layout.panel_position(index);
            let middle = (at.0 + layout.width / 2.0, at.1 - 0.4 * size);
            drawing.add_label(middle, TextAlignment::Middle, &panel.name, layout.width);
            let corner = (at.0, at.1 + layout.height);
            self.draw_cells(&mut drawing, panel, corner, (layout.cell, labels), &share);
            if index.is_multiple_of(layout.panels_per_row) {
                draw_row_labels(&mut drawing, &rows.1, corner, layout.cell.1);
            }
            if index + layout.panels_per_row >= self.panels.len() {
                draw_column_labels(&mut drawing, &columns.1, corner, layout.cell.0);
            }
        }
        let lines = self.panels.len().div_ceil(layout.panels_per_row);
        let bottom = layout.top + lines as f64 * (layout.title_height + layout.height + PANEL_GAP)
            - PANEL_GAP;
        let middle = f64::midpoint(layout.left, drawing.width);
        drawing.add_lower_title((middle, bottom + 2.4 * size), &columns.0);
        drawing.height = bottom + 2.8 * size;
        drawing
    }

    fn compute_layout(&self, drawing: &Drawing, top: f64) -> PanelLayout {
        let size = drawing.style.font_size;
        let [columns, rows] = self.axis_parameters.each_ref().map(|(_, values)| values);
        let left = drawing.widest(rows.iter()).min(0.3 * drawing.width) + 5.0;
        let room = drawing.width - left - 2.0;
        let name = drawing.widest(self.panels.iter().map(|panel| &panel.name));
        let value = drawing.widest(columns.iter());
        let wide = |columns: usize| (room + PANEL_GAP) / columns as f64 - PANEL_GAP;
        let fits = |columns: &usize| wide(*columns) >= name.max(2.5 * value);
        let most = MAX_PANELS_PER_ROW.min(self.panels.len()).max(1);
        let panels_per_row = (1..=most).rev().find(fits).unwrap_or(1);
        let width = wide(panels_per_row);
        let [columns, rows] = [columns, rows].map(|values| values.len().max(1) as f64);
        // Cells are as high as a line of text; wide maps are flat.
        let height = (rows * 1.5 * size).clamp(0.5 * width.min(120.0), 160.0_f64.max(rows * 3.0));
        let is_named = self.panels.iter().any(|panel| !panel.name.is_empty());
        PanelLayout {
            panels_per_row,
            left,
            top,
            width,
            height,
            title_height: if is_named { 1.4 * size } else { 0.0 },
            cell: (width / columns, height / rows),
        }
    }

    fn cell_text(&self, drawing: &Drawing, value: f64) -> String {
        drawing
            .style
            .localise_decimal_mark(&(self.format_cell)(value))
    }

    fn do_labels_fit(&self, drawing: &Drawing, (width, height): (f64, f64)) -> bool {
        let texts: Vec<String> = self
            .panels
            .iter()
            .flat_map(|panel| &panel.cells)
            .map(|cell| self.cell_text(drawing, cell.2))
            .collect();
        height >= 1.15 * drawing.style.font_size && drawing.widest(texts.iter()) + 2.0 <= width
    }

    fn draw_cells(
        &self,
        drawing: &mut Drawing,
        panel: &HeatMapPanel,
        (left, bottom): (f64, f64),
        ((width, height), labels): ((f64, f64), bool),
        share: &dyn Fn(f64) -> f64,
    ) {
        let columns = self.axis_parameters[0].1.len();
        for &(column, row, value) in &panel.cells {
            let x = left + column as f64 * width;
            let y = bottom - (row + 1) as f64 * height;
            // A cell reaches a little over the next one, so that there is no gap between them.
            let over = |is_last: bool| if is_last { 0.0 } else { 0.2 };
            let size = (width + over(column + 1 == columns), height + over(row == 0));
            drawing.add_rectangle((x, y), size, viridis_colour(share(value)));
            if labels {
                let colour = if share(value) < 0.55 { WHITE } else { BLACK };
                let base = y + height / 2.0 + 0.35 * drawing.style.font_size;
                let text = self.cell_text(drawing, value);
                drawing.add_text(
                    (x + width / 2.0, base),
                    TextAlignment::Middle,
                    &text,
                    colour,
                );
            }
        }
    }
}

impl PanelLayout {
    fn panel_position(&self, index: usize) -> (f64, f64) {
        let column = index % self.panels_per_row;
        let row = index / self.panels_per_row;
        (
            self.left + column as f64 * (self.width + PANEL_GAP),
            self.top
                + row as f64 * (self.title_height + self.height + PANEL_GAP)
                + self.title_height,
        )
    }
}
