//! Map that shows the fastest policy (the winner) for each pair of values of two parameters.
//!
//! The colour and the letter of a cell name the winner. Hatching marks a winner that is not clearly faster than the other
//! policies.

use super::axis::draw_title;
use super::drawing::{Anchor, BLACK, Colour, Drawing, WHITE, shortened};
use super::font;
use super::heat::label_interval;
use super::style::Style;

/// Colours of the winners, which colour-blind readers can distinguish (Okabe and Ito 2008). If there are more winners than
/// colours, colours are used repeatedly; letters are unique.
const COLOURS: [Colour; 8] = [
    Colour(0, 114, 178),
    Colour(230, 159, 0),
    Colour(0, 158, 115),
    Colour(204, 121, 167),
    Colour(86, 180, 233),
    Colour(213, 94, 0),
    Colour(240, 228, 66),
    Colour(120, 120, 120),
];
/// Distance between two lines of the hatching \[pt\].
const HATCH: f64 = 4.0;
/// Side length of a coloured square in the legend, as a multiple of the font size.
const BOX_SIDE: f64 = 1.1;

/// A cell of the map, which shows the fastest policy for one pair of parameter values.
#[derive(Clone, Debug, PartialEq)]
pub struct WinnerCell {
    /// Column of the cell, counted from the left, and row of the cell, counted from below; both start at 0.
    pub column_and_row: [usize; 2],
    /// Index of the fastest policy of this cell in the list of policies of the map.
    pub winner: usize,
    /// Text after the letter of the fastest policy: by how much this policy is faster than the second fastest.
    pub text: String,
    /// Whether the fastest policy is clearly faster than all other policies: by more than the margin of indifference and, if the
    /// results depend on seeds, with a significant difference.
    pub is_separated: bool,
}

/// A map that shows the fastest policy for each pair of values of two parameters.
#[derive(Clone, Debug)]
pub struct Winners {
    /// Title of the map for screen readers; it is not visible.
    pub name: String,
    /// Names of the policies that were compared.
    pub names: Vec<String>,
    /// Sentence that is shown below the legend of the map.
    pub remark: String,
    /// The parameters of the horizontal and of the vertical axis: the name of each parameter, and its values as text.
    pub axes: [(String, Vec<String>); 2],
    /// The cells of the map for which the fastest policy is known.
    pub cells: Vec<WinnerCell>,
}

impl Winners {
    /// Draws the map in the given style.
    pub fn draw(&self, style: &Style) -> Drawing {
        let size = style.font_points();
        let mut drawing = Drawing::new(&self.name, style.width.points());
        let top = self.draw_legend(&mut drawing, style) + 1.4 * size;
        let title = shortened(&self.axes[1].0, size, drawing.width - 2.0);
        drawing.text((1.0, top), Anchor::Start, &title, (size, BLACK));
        let rows = &self.axes[1].1;
        let labels = rows.iter().map(|label| font::width(label, size));
        let left = labels.fold(0.0, f64::max).min(0.3 * drawing.width) + 5.0;
        let (top, cell) = (
            top + 0.5 * size,
            (
                (drawing.width - left - 2.0) / self.axes[0].1.len().max(1) as f64,
                2.2 * size,
            ),
        );
        let bottom = top + rows.len() as f64 * cell.1;
        for won in &self.cells {
            let x = left + won.column_and_row[0] as f64 * cell.0;
            let y = bottom - (won.column_and_row[1] + 1) as f64 * cell.1;
            draw_cell(&mut drawing, won, ((x, y), cell), style);
        }
        for (row, label) in rows.iter().enumerate() {
            let y = bottom - (row as f64 + 0.5) * cell.1 + 0.35 * size;
            let text = shortened(label, size, left - 5.0);
            drawing.text((left - 3.0, y), Anchor::End, &text, (size, BLACK));
        }
        let labels = &self.axes[0].1;
        let widest = labels.iter().map(|label| font::width(label, size));
        let each = label_interval(widest.fold(0.0, f64::max) + 0.5 * size, cell.0);
        for (column, label) in labels.iter().enumerate().step_by(each) {
            let text = shortened(label, size, (each as f64 * cell.0).max(3.0 * size));
            let half = font::width(&text, size) / 2.0;
            let x = left + (column as f64 + 0.5) * cell.0;
            let x = x.clamp(half, (drawing.width - half).max(half));
            drawing.text(
                (x, bottom + 1.1 * size),
                Anchor::Middle,
                &text,
                (size, BLACK),
            );
        }
        let below = (f64::midpoint(left, drawing.width), bottom + 2.4 * size);
        let edges = (1.0, drawing.width - 1.0);
        draw_title(&mut drawing, below, &self.axes[0].0, edges, style);
        drawing.height = bottom + 2.8 * size;
        drawing
    }

    /// Draws the legend at the top of the map: the colour, letter and name of each policy that wins in at least one cell, and the
    /// remark. Returns the position of the lower end \[pt\].
    fn draw_legend(&self, drawing: &mut Drawing, style: &Style) -> f64 {
        let size = style.font_points();
        let side = BOX_SIDE * size;
        let (mut x, mut y) = (1.0, 2.0);
        for winner in 0..self.names.len() {
            if self.cells.iter().all(|won| won.winner != winner) {
                continue;
            }
            let text = shortened(
                &format!("{}  {}", letter(winner), self.names[winner]),
                size,
                drawing.width - side - 6.0,
            );
            let width = side + 4.0 + font::width(&text, size) + size;
            if x > 1.0 && x + width > drawing.width {
                (x, y) = (1.0, y + 1.5 * size);
            }
            drawing.rectangle((x, y), (side, side), colour(winner));
            let at = (x + side + 3.0, y + 0.9 * size);
            drawing.text(at, Anchor::Start, &text, (size, BLACK));
            x += width;
        }
        let remark = shortened(&self.remark, size, drawing.width - 2.0);
        let at = (1.0, y + side + 1.2 * size);
        drawing.text(at, Anchor::Start, &remark, (size, BLACK));
        at.1
    }
}

fn draw_cell(
    drawing: &mut Drawing,
    won: &WinnerCell,
    ((x, y), (width, height)): ((f64, f64), (f64, f64)),
    style: &Style,
) {
    let size = style.font_points();
    let fill = colour(won.winner);
    drawing.rectangle((x, y), (width - 1.0, height - 1.0), fill);
    let (width, height) = (width - 1.0, height - 1.0);
    let long = format!("{} {}", letter(won.winner), won.text);
    let text = if font::width(&long, size) + 4.0 <= width {
        long
    } else {
        letter(won.winner)
    };
    if !won.is_separated {
        let mut start = -height + HATCH / 2.0;
        while start < width {
            let from = (x + start.max(0.0), y + (-start).max(0.0));
            let to = (
                x + (start + height).min(width),
                y + height.min(width - start),
            );
            drawing.line(from, to, (WHITE, 0.8));
            start += HATCH;
        }
        // A box behind the text keeps it legible on the lines.
        let half = font::width(&text, size) / 2.0 + 1.5;
        let corner = (x + width / 2.0 - half, y + height / 2.0 - 0.6 * size);
        drawing.rectangle(corner, (2.0 * half, 1.2 * size), fill);
    }
    let at = (x + width / 2.0, y + height / 2.0 + 0.35 * size);
    drawing.text(at, Anchor::Middle, &text, (size, text_colour(fill)));
}

fn colour(winner: usize) -> Colour {
    COLOURS[winner % COLOURS.len()]
}

/// Returns the text colour with the higher contrast to the given background colour: black or white.
fn text_colour(Colour(red, green, blue): Colour) -> Colour {
    let light = 0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue);
    if light < 115.0 { WHITE } else { BLACK }
}

/// Returns the letters that stand for the policy with the given index on the map: A, B, ... Z, AA, AB, ...
fn letter(index: usize) -> String {
    let own = char::from(b'A' + u8::try_from(index % 26).unwrap_or(0));
    match index / 26 {
        0 => own.to_string(),
        rounds => format!("{}{own}", letter(rounds - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_a_letter_and_unseparated_winners_are_hatched() {
        let won = |column, winner, is_separated| WinnerCell {
            column_and_row: [column, 0],
            winner,
            text: "3.1 %".into(),
            is_separated,
        };
        let chart = Winners {
            name: "Winners".into(),
            names: ["never", "migbsp", "refine"].map(String::from).to_vec(),
            remark: "hatched: not separated".into(),
            axes: [
                ("costs.move".into(), ["0", "1"].map(String::from).to_vec()),
                ("workload.spread".into(), vec!["0.5".into()]),
            ],
            cells: vec![won(0, 0, true), won(1, 2, false)],
        };
        let drawing = chart.draw(&Style::default());
        assert!(drawing.clipped_texts().is_empty());
        assert!(drawing.smallest_font_size() >= Some(6.0));
        let svg = super::super::Figure::new("winners", drawing).svg();
        assert!(svg.contains("A 3.1 %") && svg.contains("C 3.1 %") && svg.contains("C  refine"));
        assert!(!svg.contains("migbsp"), "it wins nowhere");
        assert_eq!([letter(25), letter(26)], ["Z", "AA"]);
    }
}
