//! Writes figures as SVG. Text remains text; it is shown in the font `DejaVu` Sans Condensed if this font is installed on the
//! reader's machine. If another font is used, the attribute `textLength` keeps the width of the text.

use std::collections::BTreeMap;

use super::{
    drawing::{Colour, Drawing, DrawingItem, Pen, Position},
    font,
};

/// Number of items in a drawing above which consecutive rectangles of the same colour share one SVG element, which makes the file
/// less than half as large.
const MIN_ITEMS_FOR_MERGING: usize = 20_000;

pub(super) fn to_svg(drawing: &Drawing) -> String {
    let width = format_length(drawing.width);
    let height = format_length(drawing.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}pt\" height=\"{height}pt\" viewBox=\"0 0 {width} {height}\" \
        font-family=\"'{}','DejaVu Sans',Arial,Helvetica,sans-serif\">\n<title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
        font::FONT_NAME,
        escape_xml(&drawing.name)
    );
    if drawing.items.len() <= MIN_ITEMS_FOR_MERGING {
        for item in &drawing.items {
            push_element(&mut svg, item);
        }
    } else {
        let are_both = |a: &DrawingItem, b: &DrawingItem| {
            as_filled_rectangle(a).is_some() && as_filled_rectangle(b).is_some()
        };
        for run in drawing.items.chunk_by(are_both) {
            match run {
                [item] => push_element(&mut svg, item),
                run => push_rectangles(&mut svg, run),
            }
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn as_filled_rectangle(item: &DrawingItem) -> Option<(Position, Position, Colour)> {
    let DrawingItem::Path {
        points,
        is_closed: true,
        fill: Some(fill),
        pen: None,
        ..
    } = item
    else {
        return None;
    };
    let [a, b, c, d] = points[..] else {
        return None;
    };
    let is_upright = a.1 == b.1 && b.0 == c.0 && c.1 == d.1 && d.0 == a.0;
    is_upright.then_some((a, c, *fill))
}

/// Writes rectangles to the text of the SVG file; consecutive rectangles of the same colour share one element.
fn push_rectangles(svg: &mut String, items: &[DrawingItem]) {
    let mut ways: BTreeMap<String, String> = BTreeMap::new();
    for ((x, y), (right, bottom), fill) in items.iter().filter_map(as_filled_rectangle) {
        let [width, height] = [(x, right), (y, bottom)]
            .map(|(from, to)| round_to_hundredths(to) - round_to_hundredths(from));
        let [x, y, width, height] = [x, y, width, height].map(format_length);
        let way = ways.entry(hexadecimal_colour(fill)).or_default();
        put!(way, "M{x} {y}h{width}v{height}h-{width}z");
    }
    for (fill, way) in ways {
        put!(svg, "<path d=\"{way}\" fill=\"{fill}\"/>\n");
    }
}

fn push_element(svg: &mut String, item: &DrawingItem) {
    match item {
        DrawingItem::Path {
            points,
            is_closed,
            fill,
            pen,
            dash,
        } => {
            let mut way = String::new();
            for (index, (x, y)) in points.iter().enumerate() {
                let letter = if index == 0 { 'M' } else { 'L' };
                put!(way, "{letter}{} {}", format_length(*x), format_length(*y));
            }
            if *is_closed {
                way.push('Z');
            }
            put!(svg, "<path d=\"{way}\"{}", fill_and_stroke(*fill, *pen));
            if *dash > 0.0 {
                put!(svg, " stroke-dasharray=\"{}\"", format_length(*dash));
            }
            svg.push_str("/>\n");
        }
        DrawingItem::Circle {
            centre,
            radius,
            fill,
            pen,
        } => put!(
            svg,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>\n",
            format_length(centre.0),
            format_length(centre.1),
            format_length(*radius),
            fill_and_stroke(Some(*fill), Some(*pen))
        ),
        DrawingItem::Text {
            baseline_start: at,
            text,
            size,
            width,
            colour,
        } => put!(
            svg,
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"{}>{}</text>\n",
            format_length(at.0),
            format_length(at.1),
            format_length(*size),
            format_length(*width),
            fill_and_stroke(Some(*colour), None),
            escape_xml(text)
        ),
    }
}

fn fill_and_stroke(fill: Option<Colour>, pen: Option<Pen>) -> String {
    let fill = fill.map_or_else(|| "none".to_owned(), hexadecimal_colour);
    let pen = pen.map(|(colour, width)| {
        format!(
            " stroke=\"{}\" stroke-width=\"{}\"",
            hexadecimal_colour(colour),
            format_length(width)
        )
    });
    format!(" fill=\"{fill}\"{}", pen.unwrap_or_default())
}

fn hexadecimal_colour(Colour(red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn format_length(value: f64) -> String {
    super::axis::format_decimal_number(round_to_hundredths(value))
}

fn round_to_hundredths(value: f64) -> f64 {
    (100.0 * value).round() / 100.0
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::{super::style::FigureStyle, *};

    fn chequered(count: usize) -> String {
        let mut drawing = Drawing::new("d", &FigureStyle::default());
        for at in 0..count {
            let (x, y) = ((at % 200) as f64 * 1.3, (at / 200) as f64 * 0.31);
            let colour = Colour(if at % 2 == 0 { 9 } else { 200 }, 0, 0);
            drawing.add_rectangle((x, y), (1.5, 0.31), colour);
        }
        to_svg(&drawing)
    }

    #[test]
    fn many_rectangles_of_a_colour_share_an_element() {
        let few = chequered(MIN_ITEMS_FOR_MERGING);
        assert_eq!(few.matches("<path").count(), MIN_ITEMS_FOR_MERGING);
        let many = chequered(2 * MIN_ITEMS_FOR_MERGING);
        assert_eq!(many.matches("<path").count(), 2);
        // 200 columns of 1.3 pt, rows of 0.31 pt.
        assert!(many.contains("M2.6 0.31h1.5v0.31h-1.5z"));
        let each = many.len() / (2 * MIN_ITEMS_FOR_MERGING);
        assert!(each < 35, "{each} bytes for each rectangle");
    }
}
