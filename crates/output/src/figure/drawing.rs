//! Drawings that consist of shapes and texts, with coordinates in points (1/72 inch) from the upper left corner. Items that are
//! added later cover earlier items.

use super::font;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    },
    Circle {
        centre: Position,
        radius: f64,
        fill: Option<Colour>,
        pen: Option<Pen>,
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
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) items: Vec<DrawingItem>,
}

impl Drawing {
    /// Creates an empty drawing of the given width \[pt\] and of height 0; `name` is the title for screen readers. The caller
    /// sets the height when the content is complete.
    pub(super) fn new(name: &str, width: f64) -> Self {
        Self {
            name: replace_control_characters(name),
            width,
            height: 0.0,
            items: Vec::new(),
        }
    }

    pub(super) fn add_line(&mut self, from: Position, to: Position, pen: Pen) {
        self.add_path(vec![from, to], pen);
    }

    pub(super) fn add_path(&mut self, points: Vec<Position>, pen: Pen) {
        self.items.push(DrawingItem::Path {
            points,
            is_closed: false,
            fill: None,
            pen: Some(pen),
        });
    }

    /// Adds a polygon with the corners `points`. `fill` is the colour of its interior (`None`: not filled), `pen` the line around
    /// it (`None`: no outline).
    pub(super) fn add_polygon(
        &mut self,
        points: Vec<Position>,
        fill: Option<Colour>,
        pen: Option<Pen>,
    ) {
        self.items.push(DrawingItem::Path {
            points,
            is_closed: true,
            fill,
            pen,
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
        self.add_polygon(corners, Some(fill), None);
    }

    /// Adds the mark of a data point with its centre at `at`; if `filled` is false, only the outline of the mark is drawn.
    pub(super) fn add_mark(
        &mut self,
        mark: Mark,
        at: Position,
        radius: f64,
        colour: Colour,
        filled: bool,
    ) {
        let (x, y) = at;
        let fill = Some(if filled { colour } else { WHITE });
        let pen = Some((colour, 0.8));
        match mark {
            Mark::Circle => self.items.push(DrawingItem::Circle {
                centre: at,
                radius,
                fill,
                pen,
            }),
            Mark::Square => {
                let half = 0.89 * radius;
                let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
                let corners = corners.map(|(dx, dy)| (x + dx * half, y + dy * half));
                self.add_polygon(corners.to_vec(), fill, pen);
            }
            Mark::Triangle => {
                // The corners of an equilateral triangle around its centre.
                let (half, up, down) = (1.1 * radius, 1.27 * radius, 0.64 * radius);
                let corners = vec![(x, y - up), (x + half, y + down), (x - half, y + down)];
                self.add_polygon(corners, fill, pen);
            }
        }
    }

    /// Adds a text with its baseline at the position `at`; `anchor` tells whether `at` is the start, the middle or the end of the
    /// text.
    pub(super) fn add_text(
        &mut self,
        at: Position,
        anchor: TextAlignment,
        text: &str,
        (size, colour): (f64, Colour),
    ) {
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
        let (head, tail) = (kept.div_ceil(2), kept / 2);
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
