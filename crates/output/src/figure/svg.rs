//! Figures as SVG. Text stays text, in the bundled font if the reader has it; `textLength` keeps the width that was measured with any other.

use std::fmt::{Arguments, Write as _};

use super::drawing::{Colour, Drawing, Item, Pen};
use super::font;

/// The file.
pub(super) fn write(drawing: &Drawing) -> String {
    let (width, height) = (number(drawing.width), number(drawing.height));
    let mut svg = String::new();
    let name = escaped(&drawing.name);
    line(
        &mut svg,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}pt\" height=\"{height}pt\" viewBox=\"0 0 {width} {height}\" \
            font-family=\"'{}','DejaVu Sans',Arial,Helvetica,sans-serif\">",
            font::NAME
        ),
    );
    line(&mut svg, format_args!("<title>{name}</title>"));
    line(
        &mut svg,
        format_args!("<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"),
    );
    for item in &drawing.items {
        element(&mut svg, item);
    }
    svg.push_str("</svg>\n");
    svg
}

fn line(svg: &mut String, text: Arguments<'_>) {
    svg.write_fmt(text).expect("a string can be written to");
    svg.push('\n');
}

fn element(svg: &mut String, item: &Item) {
    match item {
        Item::Path {
            points,
            is_closed,
            fill,
            pen,
        } => {
            let mut way = String::new();
            for (index, (x, y)) in points.iter().enumerate() {
                let letter = if index == 0 { 'M' } else { 'L' };
                write!(way, "{letter}{} {}", number(*x), number(*y))
                    .expect("a string can be written to");
            }
            if *is_closed {
                way.push('Z');
            }
            line(
                svg,
                format_args!("<path d=\"{way}\"{}/>", look(*fill, *pen)),
            );
        }
        Item::Circle {
            centre,
            radius,
            fill,
            pen,
        } => line(
            svg,
            format_args!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>",
                number(centre.0),
                number(centre.1),
                number(*radius),
                look(*fill, *pen)
            ),
        ),
        Item::Text {
            at,
            text,
            size,
            width,
            colour,
        } => line(
            svg,
            format_args!(
                "<text x=\"{}\" y=\"{}\" font-size=\"{}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"{}>{}</text>",
                number(at.0),
                number(at.1),
                number(*size),
                number(*width),
                look(Some(*colour), None),
                escaped(text)
            ),
        ),
    }
}

fn look(fill: Option<Colour>, pen: Option<Pen>) -> String {
    let fill = fill.map_or_else(|| "none".to_owned(), hex);
    let pen = pen.map(|(colour, width)| {
        format!(
            " stroke=\"{}\" stroke-width=\"{}\"",
            hex(colour),
            number(width)
        )
    });
    format!(" fill=\"{fill}\"{}", pen.unwrap_or_default())
}

fn hex(Colour(red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A number with two decimals at most: a hundredth of a point is 3.5 µm.
fn number(value: f64) -> String {
    super::axis::plain((100.0 * value).round() / 100.0)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
