//! Widths and outlines of the glyphs of the font that is embedded in the program, `DejaVu` Sans Condensed. Its licence is in the
//! same folder.
//!
//! Letters that the font lacks, outside the European languages, become an empty box in PDF and PNG. In SVG the fonts of the
//! reader's machine are used for such letters.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The content of the TrueType file of the font, embedded in the program.
pub(super) const BYTES: &[u8] = include_bytes!("font/DejaVuSansCondensed.ttf");

/// Name of the font as it is written into SVG and PDF files.
pub(super) const NAME: &str = "DejaVu Sans Condensed";

/// The parsed font, from which widths and outlines of glyphs are read.
pub(super) static FACE: LazyLock<Face<'static>> =
    LazyLock::new(|| Face::parse(BYTES, 0).expect("the bundled font is whole"));

/// Returns the glyph of a letter in the embedded font; for a letter that the font lacks, returns the glyph of an empty box.
pub(super) fn glyph(letter: char) -> GlyphId {
    FACE.glyph_index(letter).unwrap_or(GlyphId(0))
}

/// Returns the advance width of a glyph as a fraction of the font size.
pub(super) fn advance(glyph: GlyphId) -> f64 {
    let units = FACE.glyph_hor_advance(glyph).unwrap_or_default();
    f64::from(units) / f64::from(FACE.units_per_em())
}

/// Computes the width of a text in the embedded font \[pt\] at the font size `size` \[pt\].
pub(super) fn width(text: &str, size: f64) -> f64 {
    size * text
        .chars()
        .map(|letter| advance(glyph(letter)))
        .sum::<f64>()
}

/// Passes the outline of a glyph to `builder`, in the units of the font file.
pub(super) fn outline(glyph: GlyphId, builder: &mut dyn OutlineBuilder) {
    // Spaces have no outline.
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
        // Ten digits have 1172 units each, of 2048, and the condensed font is 9/10 as wide.
        assert!((width("0123456789", 10.0) - 57.3).abs() < 0.1);
        assert_eq!(glyph('漢'), GlyphId(0));
    }
}
