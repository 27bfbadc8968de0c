//! The bundled font, `DejaVu` Sans Condensed: widths and outlines of its glyphs. Its licence stands beside it.
//!
//! What it cannot write, letters outside the European languages, is an empty box in PDF and PNG; SVG leaves it to the reader's fonts.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The file, as it is embedded.
pub(super) const BYTES: &[u8] = include_bytes!("font/DejaVuSansCondensed.ttf");

/// The name under which SVG and PDF know it.
pub(super) const NAME: &str = "DejaVu Sans Condensed";

/// The font, read.
pub(super) static FACE: LazyLock<Face<'static>> =
    LazyLock::new(|| Face::parse(BYTES, 0).expect("the bundled font is whole"));

/// The glyph of a letter; that of unknown letters is an empty box.
pub(super) fn glyph(letter: char) -> GlyphId {
    FACE.glyph_index(letter).unwrap_or(GlyphId(0))
}

/// The width of a glyph, as a share of the size of the letters.
pub(super) fn advance(glyph: GlyphId) -> f64 {
    let units = FACE.glyph_hor_advance(glyph).unwrap_or_default();
    f64::from(units) / f64::from(FACE.units_per_em())
}

/// The width of a text in letters of a size \[pt\].
pub(super) fn width(text: &str, size: f64) -> f64 {
    size * text
        .chars()
        .map(|letter| advance(glyph(letter)))
        .sum::<f64>()
}

/// Draws the outline of a glyph.
pub(super) fn outline(glyph: GlyphId, builder: &mut dyn OutlineBuilder) {
    // Spaces have none.
    let _ = FACE.outline_glyph(glyph, builder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_the_letters_of_labels() {
        let letters = "aZ09 [%]·±×−–…ãçéõÁµαβωδ≤≥→";
        for letter in letters.chars() {
            assert_ne!(glyph(letter), GlyphId(0), "{letter}");
        }
        // Ten digits of 1172 units each, of 2048: condensed to 9/10.
        assert!((width("0123456789", 10.0) - 57.3).abs() < 0.1);
        assert_eq!(glyph('漢'), GlyphId(0));
    }
}
