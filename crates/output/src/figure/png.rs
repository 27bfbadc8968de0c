//! Writes figures as PNG images. For each pixel, the share that a shape covers is computed (`ab_glyph_rasterizer`); later shapes
//! are painted over earlier shapes.

use ab_glyph_rasterizer::{Point, Rasterizer, point};
use ttf_parser::OutlineBuilder;

use super::drawing::{Colour, Drawing, DrawingItem, Pen, Position};
use super::font::{self, PARSED_FONT};
use super::pdf::{CIRCLE_CONTROL, compress_with_zlib};

/// Returns the content of a PNG file that shows the drawing with a resolution of `dpi` pixels per inch.
pub(super) fn to_png(drawing: &Drawing, dpi: u32) -> Vec<u8> {
    let scale = f64::from(dpi) / 72.0;
    let mut image = Image::new(
        round_up_to_pixels(drawing.width * scale),
        round_up_to_pixels(drawing.height * scale),
    );
    for item in &drawing.items {
        draw_item(&mut image, item, scale);
    }
    image.file_content(dpi)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most A3 at 1200 dpi"
)]
fn round_up_to_pixels(length: f64) -> u32 {
    length.ceil().max(1.0) as u32
}

fn draw_item(image: &mut Image, item: &DrawingItem, scale: f64) {
    let placed = |(x, y): Position| (x * scale, y * scale);
    match item {
        DrawingItem::Path {
            points,
            is_closed,
            fill,
            pen,
        } => {
            let points: Vec<Position> = points.iter().map(|one| placed(*one)).collect();
            if let Some(colour) = fill {
                image.fill_outlines(&[Outline::from_points(&points)], *colour);
            }
            if let Some(pen) = pen {
                draw_line(image, &points, *is_closed, *pen, scale);
            }
        }
        DrawingItem::Circle {
            centre,
            radius,
            fill,
            pen,
        } => {
            let (centre, radius) = (placed(*centre), radius * scale);
            if let Some(colour) = fill {
                image.fill_outlines(&[Outline::from_circle(centre, radius)], *colour);
            }
            if let Some((colour, width)) = pen {
                // The outer circle, and the inner circle in the opposite direction.
                let half = width * scale / 2.0;
                let inner = Outline::from_circle(centre, (radius - half).max(0.0)).reversed();
                image.fill_outlines(
                    &[Outline::from_circle(centre, radius + half), inner],
                    *colour,
                );
            }
        }
        DrawingItem::Text {
            baseline_start: at,
            text,
            size,
            colour,
            ..
        } => {
            let (mut x, y) = placed(*at);
            let size = size * scale;
            for letter in text.chars() {
                let glyph = font::glyph_of_letter(letter);
                let mut outline =
                    GlyphBuilder::new((x, y), size / f64::from(PARSED_FONT.units_per_em()));
                font::pass_outline_to_builder(glyph, &mut outline);
                image.fill_outlines(&[outline.outline], *colour);
                x += size * font::relative_glyph_width(glyph);
            }
        }
    }
}

/// Draws the line through `points` with the given width: a rectangle along each segment, and a disc at each bend, so that corners
/// have no gap.
fn draw_line(
    image: &mut Image,
    points: &[Position],
    is_closed: bool,
    (colour, width): Pen,
    scale: f64,
) {
    let half = width * scale / 2.0;
    let mut parts: Vec<(Position, Position)> =
        points.windows(2).map(|pair| (pair[0], pair[1])).collect();
    if let [first, .., last] = points
        && is_closed
    {
        parts.push((*last, *first));
    }
    for ((x0, y0), (x1, y1)) in &parts {
        let length = (x1 - x0).hypot(y1 - y0);
        if length == 0.0 {
            continue;
        }
        let (dx, dy) = (half * (x1 - x0) / length, half * (y1 - y0) / length);
        let corners = [
            (x0 - dy, y0 + dx),
            (x1 - dy, y1 + dx),
            (x1 + dy, y1 - dx),
            (x0 + dy, y0 - dx),
        ];
        image.fill_outlines(&[Outline::from_points(&corners)], colour);
    }
    let bends = if is_closed {
        points
    } else {
        points.get(1..points.len().saturating_sub(1)).unwrap_or(&[])
    };
    for bend in bends {
        image.fill_outlines(&[Outline::from_circle(*bend, half)], colour);
    }
}

/// A piece of an outline: a straight line, or a quadratic or cubic Bézier curve.
#[derive(Clone, Copy, Debug)]
enum OutlineSegment {
    Line(Point, Point),
    Quad(Point, Point, Point),
    Cubic(Point, Point, Point, Point),
}

/// The closed outline of an area, with coordinates in pixels.
#[derive(Clone, Debug, Default)]
struct Outline(Vec<OutlineSegment>);

#[expect(clippy::cast_possible_truncation, reason = "a pixel of an image")]
fn to_point((x, y): Position) -> Point {
    point(x as f32, y as f32)
}

impl Outline {
    fn from_points(points: &[Position]) -> Self {
        let next = points.iter().cycle().skip(1);
        let parts = points.iter().zip(next);
        Self(
            parts
                .map(|(a, b)| OutlineSegment::Line(to_point(*a), to_point(*b)))
                .collect(),
        )
    }

    fn from_circle((x, y): Position, radius: f64) -> Self {
        let bow = radius * CIRCLE_CONTROL;
        let quarter = |a: Position, b: Position, c: Position, d: Position| {
            let moved = |(dx, dy): Position| to_point((x + dx, y + dy));
            OutlineSegment::Cubic(moved(a), moved(b), moved(c), moved(d))
        };
        let r = radius;
        Self(vec![
            quarter((r, 0.0), (r, bow), (bow, r), (0.0, r)),
            quarter((0.0, r), (-bow, r), (-r, bow), (-r, 0.0)),
            quarter((-r, 0.0), (-r, -bow), (-bow, -r), (0.0, -r)),
            quarter((0.0, -r), (bow, -r), (r, -bow), (r, 0.0)),
        ])
    }

    fn reversed(self) -> Self {
        let turned = self.0.into_iter().rev().map(|part| match part {
            OutlineSegment::Line(a, b) => OutlineSegment::Line(b, a),
            OutlineSegment::Quad(a, b, c) => OutlineSegment::Quad(c, b, a),
            OutlineSegment::Cubic(a, b, c, d) => OutlineSegment::Cubic(d, c, b, a),
        });
        Self(turned.collect())
    }

    fn points(&self) -> impl Iterator<Item = Point> {
        self.0.iter().flat_map(|part| match *part {
            OutlineSegment::Line(a, b) => [a, b, b, b],
            OutlineSegment::Quad(a, b, c) => [a, b, c, c],
            OutlineSegment::Cubic(a, b, c, d) => [a, b, c, d],
        })
    }
}

/// Converts the outline of a glyph from the font file into an outline at the position of the glyph in the image.
#[derive(Debug)]
struct GlyphBuilder {
    baseline_origin: Position,
    pixels_per_font_unit: f64,
    contour_start: Point,
    current_point: Point,
    outline: Outline,
}

impl GlyphBuilder {
    fn new(origin: Position, scale: f64) -> Self {
        let nowhere = point(0.0, 0.0);
        let outline = Outline::default();
        Self {
            baseline_origin: origin,
            pixels_per_font_unit: scale,
            contour_start: nowhere,
            current_point: nowhere,
            outline,
        }
    }

    /// Converts a position in font units, whose vertical coordinate increases upwards, to a position in pixels.
    fn to_pixels(&self, x: f32, y: f32) -> Point {
        let (x, y) = (
            f64::from(x) * self.pixels_per_font_unit,
            f64::from(y) * self.pixels_per_font_unit,
        );
        to_point((self.baseline_origin.0 + x, self.baseline_origin.1 - y))
    }

    fn add_outline_segment(&mut self, part: OutlineSegment, end: Point) {
        self.outline.0.push(part);
        self.current_point = end;
    }
}

impl OutlineBuilder for GlyphBuilder {
    fn move_to(&mut self, x: f32, y: f32) {
        self.contour_start = self.to_pixels(x, y);
        self.current_point = self.contour_start;
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let end = self.to_pixels(x, y);
        self.add_outline_segment(OutlineSegment::Line(self.current_point, end), end);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (bow, end) = (self.to_pixels(x1, y1), self.to_pixels(x, y));
        self.add_outline_segment(OutlineSegment::Quad(self.current_point, bow, end), end);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (b, c, end) = (
            self.to_pixels(x1, y1),
            self.to_pixels(x2, y2),
            self.to_pixels(x, y),
        );
        self.add_outline_segment(OutlineSegment::Cubic(self.current_point, b, c, end), end);
    }

    fn close(&mut self) {
        self.add_outline_segment(
            OutlineSegment::Line(self.current_point, self.contour_start),
            self.contour_start,
        );
    }
}

/// An image with three bytes per pixel (red, green, blue); all pixels are white at first.
#[derive(Debug)]
struct Image {
    width: u32,
    height: u32,
    pixel_bytes: Vec<u8>,
}

impl Image {
    fn new(width: u32, height: u32) -> Self {
        let bytes = vec![255; 3 * width as usize * height as usize];
        Self {
            width,
            height,
            pixel_bytes: bytes,
        }
    }

    /// Fills the area that the outlines enclose with a colour; a pixel at the edge gets a mixture of this colour and its previous
    /// colour.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "pixels of an image, parts of a colour"
    )]
    fn fill_outlines(&mut self, outlines: &[Outline], Colour(red, green, blue): Colour) {
        let points = || outlines.iter().flat_map(Outline::points);
        let least =
            |one: fn(&Point) -> f32| points().map(|point| one(&point)).fold(f32::MAX, f32::min);
        let most =
            |one: fn(&Point) -> f32| points().map(|point| one(&point)).fold(f32::MIN, f32::max);
        // The buffer has one more pixel on each side. Parts outside the image are computed and then dropped.
        let (left, top) = (
            least(|point| point.x).floor() - 1.0,
            least(|point| point.y).floor() - 1.0,
        );
        let (right, bottom) = (
            most(|point| point.x).ceil() + 1.0,
            most(|point| point.y).ceil() + 1.0,
        );
        if left > right || top > bottom {
            return;
        }
        let mut raster = Rasterizer::new((right - left) as usize, (bottom - top) as usize);
        let moved = |one: Point| point(one.x - left, one.y - top);
        for part in outlines.iter().flat_map(|outline| &outline.0) {
            match *part {
                OutlineSegment::Line(a, b) => raster.draw_line(moved(a), moved(b)),
                OutlineSegment::Quad(a, b, c) => raster.draw_quad(moved(a), moved(b), moved(c)),
                OutlineSegment::Cubic(a, b, c, d) => {
                    raster.draw_cubic(moved(a), moved(b), moved(c), moved(d));
                }
            }
        }
        let (left, top) = (left as i64, top as i64);
        let (width, height) = (i64::from(self.width), i64::from(self.height));
        raster.for_each_pixel_2d(|x, y, share| {
            let (x, y) = (left + i64::from(x), top + i64::from(y));
            if share <= 0.0 || !(0..width).contains(&x) || !(0..height).contains(&y) {
                return;
            }
            let share = share.min(1.0);
            let start = 3 * (y * width + x) as usize;
            for (byte, part) in self.pixel_bytes[start..start + 3]
                .iter_mut()
                .zip([red, green, blue])
            {
                let mixed = f32::from(*byte) * (1.0 - share) + f32::from(part) * share;
                *byte = mixed.round() as u8;
            }
        });
    }

    /// Returns the content of the PNG file of the image (ISO/IEC 15948, second edition of the PNG standard), with the resolution
    /// `dpi` in pixels per inch.
    fn file_content(&self, dpi: u32) -> Vec<u8> {
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        let mut header = Vec::new();
        header.extend(self.width.to_be_bytes());
        header.extend(self.height.to_be_bytes());
        // 8 bits, three colours; the standard compression and filters, not interlaced.
        header.extend([8, 2, 0, 0, 0]);
        append_png_chunk(&mut file, *b"IHDR", &header);
        let per_metre = (f64::from(dpi) / 0.0254).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 1200 dpi"
        )]
        let per_metre = (per_metre as u32).to_be_bytes();
        append_png_chunk(
            &mut file,
            *b"pHYs",
            &[&per_metre[..], &per_metre[..], &[1]].concat(),
        );
        let mut rows = Vec::with_capacity(self.pixel_bytes.len() + self.height as usize);
        for row in self.pixel_bytes.chunks(3 * self.width as usize) {
            rows.push(0);
            rows.extend(row);
        }
        append_png_chunk(&mut file, *b"IDAT", &compress_with_zlib(&rows));
        append_png_chunk(&mut file, *b"IEND", &[]);
        file
    }
}

fn append_png_chunk(file: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).expect("an image of a few megabytes");
    file.extend(length.to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend(data);
    let sum = crc32(&file[start..]);
    file.extend(sum.to_be_bytes());
}

/// Computes the CRC-32 checksum (cyclic redundancy check, ISO 3309) of the given bytes.
fn crc32(bytes: &[u8]) -> u32 {
    let sum = bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(sum & 1))
        })
    });
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        // "123456789" is the usual test value; every PNG ends with the chunk IEND, whose checksum is known.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b"IEND"), 0xae42_6082);
    }

    #[test]
    fn a_square_covers_its_pixels() {
        let mut image = Image::new(4, 4);
        let corners = [(1.0, 1.0), (3.0, 1.0), (3.0, 3.0), (1.0, 3.0)];
        image.fill_outlines(&[Outline::from_points(&corners)], Colour(0, 0, 0));
        let dark: Vec<usize> = (0..16)
            .filter(|pixel| image.pixel_bytes[3 * pixel] == 0)
            .collect();
        assert_eq!(dark, [5, 6, 9, 10]);
        let size = (10.0, 10.0);
        image.fill_outlines(
            &[Outline::from_points(&[(-5.0, -5.0), (size.0, -5.0), size])],
            Colour(9, 9, 9),
        );
    }
}
