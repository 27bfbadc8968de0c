//! Drawings that consist of shapes and texts, with coordinates in points (1/72 inch) from the upper left corner. Items that are
//! added later cover earlier items.

use super::{font, style::FigureStyle};

/// A colour by its red, green and blue components, each from 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

pub(super) const BLACK: Colour = Colour(0, 0, 0);
pub(super) const WHITE: Colour = Colour(255, 255, 255);
/// Colour of the lines of axes.
pub(super) const AXIS_COLOUR: Colour = Colour(90, 90, 90);
/// Colour of grid lines.
pub(super) const GRID_COLOUR: Colour = Colour(221, 221, 221);

/// Shape that marks a data point in a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A circle around the data point.
    Circle,
    /// A triangle with a horizontal base and the tip upwards.
    Triangle,
    /// A square with horizontal and vertical sides.
    Square,
}

/// A position in a drawing: the distances to the right of and below the upper left corner \[pt\].
pub(super) type Position = (f64, f64);

/// Colour and width \[pt\] of a line, or of the outline of an area.
pub(super) type Pen = (Colour, f64);

/// Alignment of a text: whether the given position is the start, the middle or the end of the text.
#[derive(Clone, Copy)]
pub(super) enum TextAlignment {
    Start,
    Middle,
    End,
}

/// A shape or a text in a drawing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DrawingItem {
    Path {
        points: Vec<Position>,
        is_closed: bool,
        fill: Option<Colour>,
        pen: Option<Pen>,
        /// Length of the dashes of the line and of the gaps between them \[pt\]; 0 for a solid line.
        dash: f64,
    },
    Circle {
        centre: Position,
        radius: f64,
        fill: Colour,
        pen: Pen,
    },
    Text {
        /// Position of the left end of the baseline of the text.
        baseline_start: Position,
        text: String,
        size: f64,
        width: f64,
        colour: Colour,
    },
}

/// A drawing: its shapes and texts in the order in which they are drawn, and the width and height of the canvas \[pt\].
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Title of the drawing for screen readers; it is not visible.
    pub(super) name: String,
    pub(super) style: FigureStyle,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) items: Vec<DrawingItem>,
}

impl Drawing {
    pub(super) fn new(name: &str, style: &FigureStyle) -> Self {
        Self {
            name: replace_control_characters(name),
            style: *style,
            width: style.width,
            height: 0.0,
            items: Vec::new(),
        }
    }

    /// Returns the width of the widest of several texts \[pt\].
    pub(super) fn widest<'t>(&self, texts: impl Iterator<Item = &'t String>) -> f64 {
        texts
            .map(|text| font::text_width(text, self.style.font_size))
            .fold(0.0, f64::max)
    }

    /// Adds a text in black, which is shortened if it is wider than `most` \[pt\]; returns its width.
    pub(super) fn add_label(
        &mut self,
        at: Position,
        anchor: TextAlignment,
        text: &str,
        most: f64,
    ) -> f64 {
        let text = shorten_to_width(text, self.style.font_size, most);
        self.add_text(at, anchor, &text, BLACK);
        font::text_width(&text, self.style.font_size)
    }

    /// Adds a text in the middle of `x`, shifted if necessary so that it stays between `low` and `high` \[pt\].
    pub(super) fn add_label_between(
        &mut self,
        (x, y): Position,
        text: &str,
        (low, high): (f64, f64),
        most: f64,
    ) {
        let text = shorten_to_width(text, self.style.font_size, most);
        let half = font::text_width(&text, self.style.font_size) / 2.0;
        let x = x.clamp(low + half, (high - half).max(low + half));
        self.add_text((x, y), TextAlignment::Middle, &text, BLACK);
    }

    /// Adds the heading of a group of rows, with a line to the right, below the height `y`.
    pub(super) fn add_heading(&mut self, y: f64, heading: &str) {
        let size = self.style.font_size;
        let at = (1.0, y + 1.1 * size);
        let width = self.add_label(at, TextAlignment::Start, heading, 0.6 * self.width);
        let line = y + 0.8 * size;
        let right = self.width - 2.0;
        self.add_line((4.0 + width, line), (right, line), (GRID_COLOUR, 0.8));
    }

    pub(super) fn add_upper_title(&mut self, y: f64, title: &str) {
        self.add_label((1.0, y), TextAlignment::Start, title, self.width - 2.0);
    }

    pub(super) fn add_lower_title(&mut self, at: Position, title: &str) {
        let edges = self.edges();
        self.add_label_between(at, title, edges, edges.1 - edges.0);
    }

    /// Returns the radius of the marks of data points \[pt\].
    pub(super) fn mark_radius(&self) -> f64 {
        0.27 * self.style.font_size
    }

    /// Returns the horizontal positions between which texts stay \[pt\].
    pub(super) fn edges(&self) -> (f64, f64) {
        (1.0, self.width - 1.0)
    }

    pub(super) fn add_line(&mut self, from: Position, to: Position, pen: Pen) {
        self.add_path(vec![from, to], pen);
    }

    pub(super) fn add_path(&mut self, points: Vec<Position>, pen: Pen) {
        self.add_dashed_path(points, pen, 0.0);
    }

    pub(super) fn add_dashed_path(&mut self, points: Vec<Position>, pen: Pen, dash: f64) {
        self.items.push(DrawingItem::Path {
            points,
            is_closed: false,
            fill: None,
            pen: Some(pen),
            dash,
        });
    }

    fn add_polygon(&mut self, points: Vec<Position>, fill: Colour, pen: Option<Pen>) {
        self.items.push(DrawingItem::Path {
            points,
            is_closed: true,
            fill: Some(fill),
            pen,
            dash: 0.0,
        });
    }

    pub(super) fn add_rectangle(
        &mut self,
        (x, y): Position,
        (width, height): Position,
        fill: Colour,
    ) {
        let corners = vec![
            (x, y),
            (x + width, y),
            (x + width, y + height),
            (x, y + height),
        ];
        self.add_polygon(corners, fill, None);
    }

    pub(super) fn add_mark(
        &mut self,
        mark: Mark,
        at: Position,
        radius: f64,
        colour: Colour,
        filled: bool,
    ) {
        let (x, y) = at;
        let fill = if filled { colour } else { WHITE };
        let pen = (colour, 0.8);
        let corners = match mark {
            Mark::Circle => {
                self.items.push(DrawingItem::Circle {
                    centre: at,
                    radius,
                    fill,
                    pen,
                });
                return;
            }
            Mark::Square => {
                let half = 0.89 * radius;
                [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
                    .map(|(dx, dy)| (x + dx * half, y + dy * half))
                    .to_vec()
            }
            Mark::Triangle => {
                // The corners of an equilateral triangle around its centre.
                let half = 1.1 * radius;
                let up = 1.27 * radius;
                let down = 0.64 * radius;
                vec![(x, y - up), (x + half, y + down), (x - half, y + down)]
            }
        };
        self.add_polygon(corners, fill, Some(pen));
    }

    pub(super) fn add_text(
        &mut self,
        at: Position,
        anchor: TextAlignment,
        text: &str,
        colour: Colour,
    ) {
        let size = self.style.font_size;
        let text = replace_control_characters(text);
        let width = font::text_width(&text, size);
        let shift = match anchor {
            TextAlignment::Start => 0.0,
            TextAlignment::Middle => width / 2.0,
            TextAlignment::End => width,
        };
        if !text.is_empty() {
            self.items.push(DrawingItem::Text {
                baseline_start: (at.0 - shift, at.1),
                text,
                size,
                width,
                colour,
            });
        }
    }
}

/// Replaces each control character of a text by a space, because XML does not allow control characters and fonts do not contain
/// them.
fn replace_control_characters(text: &str) -> String {
    let is_bad = |letter: char| letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}');
    text.replace(is_bad, " ")
}

/// Shortens a text by an ellipsis in its middle if it is wider than `most` \[pt\] at the font size `size`.
pub(super) fn shorten_to_width(text: &str, size: f64, most: f64) -> String {
    if font::text_width(text, size) <= most {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    for kept in (0..letters.len()).rev() {
        let head = kept.div_ceil(2);
        let tail = kept / 2;
        let cut: String = letters[..head]
            .iter()
            .chain(&['…'])
            .chain(&letters[letters.len() - tail..])
            .collect();
        if font::text_width(&cut, size) <= most {
            return cut;
        }
    }
    String::new()
}
