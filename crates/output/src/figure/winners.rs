//! Map that shows the fastest policy (the winner) for each pair of values of two parameters.
//!
//! The colour and the letter of a cell name the winner. Hatching marks a winner that is not clearly faster than the other
//! policies.

use super::{
    axis::{draw_column_labels, draw_row_labels},
    drawing::{BLACK, Colour, Drawing, TextAlignment, WHITE, shorten_to_width},
    font,
    style::FigureStyle,
};

/// Colours of the winners, which colour-blind readers can distinguish (Okabe and Ito 2008). If there are more winners than
/// colours, colours are used repeatedly; letters are unique.
const WINNER_COLOURS: [Colour; 8] = [
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
const HATCH_DISTANCE: f64 = 4.0;
/// Side length of a coloured square in the legend, as a multiple of the font size.
const LEGEND_SQUARE_SIDE: f64 = 1.1;

/// A cell of the map, which shows the fastest policy for one pair of parameter values.
#[derive(Clone, Debug, PartialEq)]
pub struct WinnerCell {
    /// Column of the cell, counted from 0 at the left, and row of the cell, counted from 0 at the bottom.
    pub column_and_row: [usize; 2],
    /// Index of the fastest policy of this cell in the list of policies of the map.
    pub winner_index: usize,
    /// Text after the letter of the fastest policy: by how much this policy is faster than the second fastest.
    pub winner_margin_text: String,
    /// Whether the fastest policy is clearly faster than all other policies. The difference must exceed the margin of
    /// indifference, below which policies count as equally fast, and must be statistically significant if the results depend on
    /// seeds.
    pub is_clear_winner: bool,
}

/// A map that shows the fastest policy for each pair of values of two parameters.
#[derive(Clone, Debug)]
pub struct WinnerMap {
    /// Title of the map for screen readers; it is not visible.
    pub name: String,
    /// Names of the policies that were compared.
    pub policy_names: Vec<String>,
    /// String that is shown below the legend of the map.
    pub remark_below_legend: String,
    /// The parameters of the horizontal and of the vertical axis: the name of each parameter, and its values as text.
    pub axis_parameters: [(String, Vec<String>); 2],
    /// The cells of the map for which the fastest policy is known.
    pub winner_cells: Vec<WinnerCell>,
}

impl WinnerMap {
    /// Draws the map in the given style.
    pub fn draw(&self, style: &FigureStyle) -> Drawing {
        let size = style.font_size;
        let mut drawing = Drawing::new(&self.name, style);
        let [columns, rows] = &self.axis_parameters;
        let top = self.draw_legend(&mut drawing) + 1.4 * size;
        drawing.add_upper_title(top, &rows.0);
        let left = drawing.widest(rows.1.iter()).min(0.3 * drawing.width) + 5.0;
        let width = (drawing.width - left - 2.0) / columns.1.len().max(1) as f64;
        let height = 2.2 * size;
        let bottom = top + 0.5 * size + rows.1.len() as f64 * height;
        for won in &self.winner_cells {
            let [column, row] = won.column_and_row;
            let corner = (
                left + column as f64 * width,
                bottom - (row + 1) as f64 * height,
            );
            draw_cell(&mut drawing, won, corner, (width - 1.0, height - 1.0));
        }
        draw_row_labels(&mut drawing, &rows.1, (left, bottom), height);
        draw_column_labels(&mut drawing, &columns.1, (left, bottom), width);
        let below = (f64::midpoint(left, drawing.width), bottom + 2.4 * size);
        drawing.add_lower_title(below, &columns.0);
        drawing.height = bottom + 2.8 * size;
        drawing
    }

    /// Draws the legend at the top of the map: the colour, letter and name of each policy that wins in at least one cell, and the
    /// remark. Returns the position of the lower end \[pt\].
    fn draw_legend(&self, drawing: &mut Drawing) -> f64 {
        let size = drawing.style.font_size;
        let side = LEGEND_SQUARE_SIDE * size;
        let mut x = 1.0;
        let mut y = 2.0;
        for (winner, policy) in self.policy_names.iter().enumerate() {
            if self
                .winner_cells
                .iter()
                .all(|won| won.winner_index != winner)
            {
                continue;
            }
            let text = shorten_to_width(
                &format!("{}  {policy}", policy_letters(winner)),
                size,
                drawing.width - side - 6.0,
            );
            let width = side + 4.0 + font::text_width(&text, size) + size;
            if x > 1.0 && x + width > drawing.width {
                (x, y) = (1.0, y + 1.5 * size);
            }
            drawing.add_rectangle((x, y), (side, side), winner_colour(winner));
            let at = (x + side + 3.0, y + 0.9 * size);
            drawing.add_text(at, TextAlignment::Start, &text, BLACK);
            x += width;
        }
        let bottom = y + side + 1.2 * size;
        drawing.add_upper_title(bottom, &self.remark_below_legend);
        bottom
    }
}

fn draw_cell(
    drawing: &mut Drawing,
    won: &WinnerCell,
    (x, y): (f64, f64),
    (width, height): (f64, f64),
) {
    let size = drawing.style.font_size;
    let fill = winner_colour(won.winner_index);
    drawing.add_rectangle((x, y), (width, height), fill);
    let letters = policy_letters(won.winner_index);
    let long = format!("{letters} {}", won.winner_margin_text);
    let fits = font::text_width(&long, size) + 4.0 <= width;
    let text = if fits { long } else { letters };
    if !won.is_clear_winner {
        let mut start = -height + HATCH_DISTANCE / 2.0;
        while start < width {
            let from = (x + start.max(0.0), y + (-start).max(0.0));
            let to = (
                x + (start + height).min(width),
                y + height.min(width - start),
            );
            drawing.add_line(from, to, (WHITE, 0.8));
            start += HATCH_DISTANCE;
        }
        // A box behind the text keeps it legible on the lines.
        let half = font::text_width(&text, size) / 2.0 + 1.5;
        let corner = (x + width / 2.0 - half, y + height / 2.0 - 0.6 * size);
        drawing.add_rectangle(corner, (2.0 * half, 1.2 * size), fill);
    }
    let at = (x + width / 2.0, y + height / 2.0 + 0.35 * size);
    drawing.add_text(at, TextAlignment::Middle, &text, text_colour(fill));
}

fn winner_colour(winner: usize) -> Colour {
    WINNER_COLOURS[winner % WINNER_COLOURS.len()]
}

fn text_colour(Colour(red, green, blue): Colour) -> Colour {
    let light = 0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue);
    if light < 115.0 { WHITE } else { BLACK }
}

/// Returns the letters that stand for the policy with the given index on the map: A, B, ... Z, AA, AB, ...
fn policy_letters(index: usize) -> String {
    let own = char::from(b'A' + u8::try_from(index % 26).unwrap_or(0));
    match index / 26 {
        0 => own.to_string(),
        rounds => format!("{}{own}", policy_letters(rounds - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_a_letter_and_unseparated_winners_are_hatched() {
        let won = |column, winner, is_separated| WinnerCell {
            column_and_row: [column, 0],
            winner_index: winner,
            winner_margin_text: "3.1 %".into(),
            is_clear_winner: is_separated,
        };
        let chart = WinnerMap {
            name: "Winners".into(),
            policy_names: ["never", "migbsp", "refine"].map(String::from).to_vec(),
            remark_below_legend: "hatched: not separated".into(),
            axis_parameters: [
                ("costs.move".into(), ["0", "1"].map(String::from).to_vec()),
                ("workload.spread".into(), vec!["0.5".into()]),
            ],
            winner_cells: vec![won(0, 0, true), won(1, 2, false)],
        };
        let drawing = chart.draw(&FigureStyle::default());
        let svg = crate::figure::Figure::new("winners", drawing).to_svg();
        assert!(svg.contains("A 3.1 %") && svg.contains("C 3.1 %") && svg.contains("C  refine"));
        assert!(!svg.contains("migbsp"), "it wins nowhere");
        assert_eq!([policy_letters(25), policy_letters(26)], ["Z", "AA"]);
    }
}
