//! Writes figures as PDF 1.7: one page of the size of the figure, with the font embedded. The file contains no date, so that
//! equal figures have equal files.

use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish as _, Name, Pdf, Rect, Ref, Str, TextStr};

use super::drawing::{Colour, Drawing, DrawingItem, Pen};
use super::font::{self, PARSED_FONT};
use super::style::Language;

/// Name of the embedded font in the PDF file.
const FONT: Name<'static> = Name(b"DejaVuSansCondensed");
/// Short name with which text operators of the page refer to the embedded font.
const FONT_ON_PAGE: Name<'static> = Name(b"F1");
/// Declaration of the character collection of the font in PDF: characters are identified by the numbers of their glyphs
/// (`Identity`).
const GLYPHS: SystemInfo<'static> = SystemInfo {
    registry: Str(b"Adobe"),
    ordering: Str(b"Identity"),
    supplement: 0,
};
/// Distance of the control points from the end points of the Bézier curve that approximates a quarter circle, relative to the
/// radius: 4/3 (√2 − 1).
pub(super) const CIRCLE_CONTROL: f64 = 0.552_284_75;

/// Number of the document catalogue among the objects of the PDF file. The constants from `PAGES` to `INFO` are the numbers of
/// the other objects: the page tree, the page, its content, five objects of the font, and the document information.
const CATALOGUE_OBJECT: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const TYPE0: Ref = Ref::new(5);
const CID: Ref = Ref::new(6);
const DESCRIPTOR: Ref = Ref::new(7);
const FILE: Ref = Ref::new(8);
const UNICODE: Ref = Ref::new(9);
const INFO: Ref = Ref::new(10);

/// Returns the content of a PDF file that shows the drawing; `language` is stored as the language of its text.
pub(super) fn to_pdf(drawing: &Drawing, language: Language) -> Vec<u8> {
    let mut pdf = Pdf::new();
    let mut catalog = pdf.catalog(CATALOGUE_OBJECT);
    catalog.pages(PAGES).lang(TextStr(language.code()));
    catalog.finish();
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let mut page = pdf.page(PAGE);
    page.media_box(Rect::new(
        0.0,
        0.0,
        to_pdf_length(drawing.width),
        to_pdf_length(drawing.height),
    ));
    page.parent(PAGES).contents(CONTENT);
    page.resources().fonts().pair(FONT_ON_PAGE, TYPE0);
    page.finish();
    let content = compress_with_zlib(&content_stream(drawing));
    pdf.stream(CONTENT, &content).filter(Filter::FlateDecode);
    write_embedded_font(&mut pdf, drawing);
    let mut info = pdf.document_info(INFO);
    info.title(TextStr(&drawing.name))
        .creator(TextStr(concat!("migsim ", env!("CARGO_PKG_VERSION"))));
    info.finish();
    pdf.finish()
}

fn write_embedded_font(pdf: &mut Pdf, drawing: &Drawing) {
    let mut font = pdf.type0_font(TYPE0);
    font.base_font(FONT)
        .encoding_predefined(Name(b"Identity-H"));
    font.descendant_font(CID).to_unicode(UNICODE);
    font.finish();
    let per_em = 1000.0 / f32::from(PARSED_FONT.units_per_em());
    let mut cid = pdf.cid_font(CID);
    cid.subtype(CidFontType::Type2)
        .base_font(FONT)
        .system_info(GLYPHS);
    cid.font_descriptor(DESCRIPTOR).default_width(0.0);
    cid.cid_to_gid_map_predefined(Name(b"Identity"));
    let glyphs = (0..PARSED_FONT.number_of_glyphs()).map(ttf_parser::GlyphId);
    let widths = glyphs.map(|glyph| to_pdf_length(1000.0 * font::relative_glyph_width(glyph)));
    cid.widths().consecutive(0, widths);
    cid.finish();
    let scaled = |value: i16| f32::from(value) * per_em;
    let frame = PARSED_FONT.global_bounding_box();
    let mut descriptor = pdf.font_descriptor(DESCRIPTOR);
    descriptor
        .name(FONT)
        .flags(FontFlags::SYMBOLIC)
        .italic_angle(0.0)
        .stem_v(80.0);
    descriptor.bbox(Rect::new(
        scaled(frame.x_min),
        scaled(frame.y_min),
        scaled(frame.x_max),
        scaled(frame.y_max),
    ));
    descriptor
        .ascent(scaled(PARSED_FONT.ascender()))
        .descent(scaled(PARSED_FONT.descender()));
    descriptor.cap_height(scaled(
        PARSED_FONT
            .capital_height()
            .unwrap_or(PARSED_FONT.ascender()),
    ));
    descriptor.font_file2(FILE);
    descriptor.finish();
    let length = i32::try_from(font::FONT_FILE.len()).expect("a small font");
    let file = compress_with_zlib(font::FONT_FILE);
    pdf.stream(FILE, &file)
        .filter(Filter::FlateDecode)
        .pair(Name(b"Length1"), length);
    let mut unicode = UnicodeCmap::new(Name(b"Custom"), GLYPHS);
    for letter in letters_of_drawing(drawing) {
        unicode.pair(font::glyph_of_letter(letter).0, letter);
    }
    pdf.cmap(UNICODE, &unicode.finish());
}

/// Returns the set of letters that occur in the texts of a drawing.
fn letters_of_drawing(drawing: &Drawing) -> std::collections::BTreeSet<char> {
    let texts = drawing.items.iter().filter_map(|item| match item {
        DrawingItem::Text { text, .. } => Some(text.chars()),
        _ => None,
    });
    texts.flatten().collect()
}

/// Returns the content stream of the page: the PDF operators that draw the shapes and texts. PDF counts vertical positions
/// upwards from the lower left corner.
fn content_stream(drawing: &Drawing) -> Vec<u8> {
    let mut content = Content::new();
    let place = |(x, y): (f64, f64)| (to_pdf_length(x), to_pdf_length(drawing.height - y));
    for item in &drawing.items {
        match item {
            DrawingItem::Path {
                points,
                is_closed,
                fill,
                pen,
            } => {
                set_colours(&mut content, *fill, *pen);
                for (index, point) in points.iter().enumerate() {
                    let (x, y) = place(*point);
                    if index == 0 {
                        content.move_to(x, y);
                    } else {
                        content.line_to(x, y);
                    }
                }
                if *is_closed {
                    content.close_path();
                }
                paint_path(&mut content, *fill, *pen);
            }
            DrawingItem::Circle {
                centre,
                radius,
                fill,
                pen,
            } => {
                set_colours(&mut content, *fill, *pen);
                add_circle(&mut content, place(*centre), to_pdf_length(*radius));
                paint_path(&mut content, *fill, *pen);
            }
            DrawingItem::Text {
                baseline_start: at,
                text,
                size,
                colour,
                ..
            } => {
                let glyphs = text
                    .chars()
                    .flat_map(|letter| font::glyph_of_letter(letter).0.to_be_bytes());
                let bytes: Vec<u8> = glyphs.collect();
                let (x, y) = place(*at);
                let [red, green, blue] = rgb_as_fractions(*colour);
                content.set_fill_rgb(red, green, blue).begin_text();
                content
                    .set_font(FONT_ON_PAGE, to_pdf_length(*size))
                    .next_line(x, y);
                content.show(Str(&bytes)).end_text();
            }
        }
    }
    content.finish().to_vec()
}

/// Sets the colours and the line width of the path that follows; PDF requires this before the path begins.
fn set_colours(content: &mut Content, fill: Option<Colour>, pen: Option<Pen>) {
    if let Some(colour) = fill {
        let [red, green, blue] = rgb_as_fractions(colour);
        content.set_fill_rgb(red, green, blue);
    }
    if let Some((colour, width)) = pen {
        let [red, green, blue] = rgb_as_fractions(colour);
        content
            .set_stroke_rgb(red, green, blue)
            .set_line_width(to_pdf_length(width));
    }
}

/// Paints the current path: fills its area if `fill` is not `None`, and draws its outline if `pen` is not `None`.
fn paint_path(content: &mut Content, fill: Option<Colour>, pen: Option<Pen>) {
    match (fill, pen) {
        (Some(_), Some(_)) => content.fill_nonzero_and_stroke(),
        (Some(_), None) => content.fill_nonzero(),
        (None, Some(_)) => content.stroke(),
        (None, None) => content.end_path(),
    };
}

/// Adds a circle as a path of four Bézier curves.
fn add_circle(content: &mut Content, (x, y): (f32, f32), radius: f32) {
    let bow = radius * to_pdf_length(CIRCLE_CONTROL);
    content.move_to(x + radius, y);
    content.cubic_to(x + radius, y + bow, x + bow, y + radius, x, y + radius);
    content.cubic_to(x - bow, y + radius, x - radius, y + bow, x - radius, y);
    content.cubic_to(x - radius, y - bow, x - bow, y - radius, x, y - radius);
    content.cubic_to(x + bow, y - radius, x + radius, y - bow, x + radius, y);
    content.close_path();
}

fn rgb_as_fractions(Colour(red, green, blue): Colour) -> [f32; 3] {
    [red, green, blue].map(|part| f32::from(part) / 255.0)
}

pub(super) fn compress_with_zlib(bytes: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(bytes, 9)
}

/// Rounds a length in points to three decimals and converts it to the 32-bit float that the PDF writer takes.
#[expect(
    clippy::cast_possible_truncation,
    reason = "seven digits are enough for a page"
)]
fn to_pdf_length(value: f64) -> f32 {
    ((1000.0 * value).round() / 1000.0) as f32
}
