//! Widths of texts in the font of figures, `DejaVu` Sans Condensed, which is embedded in the program with its licence.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId};

/// Name of the font in SVG files.
pub(super) const FONT_NAME: &str = "DejaVu Sans Condensed";

static FONT: LazyLock<Face<'static>> = LazyLock::new(|| {
    let file = include_bytes!("font/DejaVuSansCondensed.ttf");
    Face::parse(file, 0).expect("the bundled font is whole")
});

/// Computes the width of a text \[pt\] at the font size `size` \[pt\]. A letter that the font lacks is as wide as an empty box.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    size * text
        .chars()
        .map(|letter| {
            let glyph = FONT.glyph_index(letter).unwrap_or(GlyphId(0));
            let units = FONT.glyph_hor_advance(glyph).unwrap_or_default();
            f64::from(units) / f64::from(FONT.units_per_em())
        })
        .sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_digits_are_as_wide_as_in_the_font() {
        // Ten digits have 1172 units each, of 2048, and the condensed font is 9/10 as wide.
        assert!((text_width("0123456789", 10.0) - 57.3).abs() < 0.1);
    }
}
