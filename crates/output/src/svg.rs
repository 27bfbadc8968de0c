//! Common parts of the SVG drawings that are written without the charts library of this crate.

use super::html;

/// Returns the first lines of an SVG drawing: its size in pixels, its styles for light and dark mode, and its name for screen
/// readers.
pub(super) fn open_svg(width: f64, height: f64, name: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
        font-family=\"system-ui, sans-serif\" role=\"img\" aria-label=\"{}\">\n\
        <style>.page{{fill:#fff}}text{{fill:#222}}.label{{stroke:#fff;stroke-width:4px;paint-order:stroke}}.cluster{{fill:#eef3f7;stroke:#333}}\
        .axis{{stroke:#888}}@media(prefers-color-scheme:dark){{.page{{fill:#181818}}text{{fill:#ddd}}.label{{stroke:#181818}}\
        .cluster{{fill:#263238;stroke:#aaa}}}}</style>\n\
        <rect class=\"page\" width=\"{width:.0}\" height=\"{height:.0}\"/>\n",
        escaped(name)
    )
}

/// Computes the width of the line of a link or route from its bandwidth \[px\]: 1 px for 1 Mbps, and 1 px more for each factor of
/// 10.
pub(super) fn stroke_width(bytes_per_second: f64) -> f64 {
    (bytes_per_second * 8e-6).max(1.0).log10() + 1.0
}

/// Escapes a text for XML.
pub(super) fn escaped(text: &str) -> String {
    html::escaped(&without_controls(text))
}

/// Removes all characters that XML does not allow even as character references: control characters and two others.
fn without_controls(text: &str) -> String {
    let is_bad = |letter: char| match letter {
        '\n' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        other => other.is_control(),
    };
    text.replace(is_bad, " ")
}
