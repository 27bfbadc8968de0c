//! Widths and outlines of the glyphs of the font that is embedded in the program, `DejaVu` Sans Condensed. The licence of the
//! font is in the same folder as the font.
//!
//! Letters that the font lacks, outside the European languages, become an empty box in PDF and PNG. In SVG the fonts of the
//! reader's machine are used for such letters.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The content of the TrueType file of the font, embedded in the program.
pub(super) const FONT_FILE: &[u8] = include_bytes!("font/DejaVuSansCondensed.ttf");

/// Name of the font as it is written into SVG and PDF files.
pub(super) const FONT_NAME: &str = "DejaVu Sans Condensed";

/// The parsed font, from which widths and outlines of glyphs are read.
pub(super) static PARSED_FONT: LazyLock<Face<'static>> =
    LazyLock::new(|| Face::parse(FONT_FILE, 0).expect("the bundled font is whole"));

/// Returns the glyph of a letter in the embedded font; for a letter that the font lacks, returns the glyph of an empty box.
pub(super) fn glyph_of_letter(letter: char) -> GlyphId {
    PARSED_FONT.glyph_index(letter).unwrap_or(GlyphId(0))
}

/// Returns the advance width of a glyph as a fraction of the font size.
pub(super) fn relative_glyph_width(glyph: GlyphId) -> f64 {
    let units = PARSED_FONT.glyph_hor_advance(glyph).unwrap_or_default();
    f64::from(units) / f64::from(PARSED_FONT.units_per_em())
}

/// Computes the width of a text in the embedded font \[pt\] at the font size `size` \[pt\].
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    size * text
        .chars()
        .map(|letter| relative_glyph_width(glyph_of_letter(letter)))
        .sum::<f64>()
}

/// Passes the outline of a glyph to `builder`, in the units of the font file.
pub(super) fn pass_outline_to_builder(glyph: GlyphId, builder: &mut dyn OutlineBuilder) {
    // Spaces have no outline.
    let _ = PARSED_FONT.outline_glyph(glyph, builder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_the_letters_of_labels() {
        let letters = "aZ09 [%]·±×−–…ãçéõÁµαβωδ≤≥→";
        for letter in letters.chars() {
            assert_ne!(glyph_of_letter(letter), GlyphId(0), "{letter}");
        }
        // Ten digits have 1172 units each, of 2048, and the condensed font is 9/10 as wide.
        assert!((text_width("0123456789", 10.0) - 57.3).abs() < 0.1);
        assert_eq!(glyph_of_letter('漢'), GlyphId(0));
    }
}
