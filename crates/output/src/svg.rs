//! Common parts of the hand-written drawings.

use super::html;

/// The beginning of a drawing: its size in pixels, how it looks on light and dark, and its name for those who do not see it.
pub(super) fn open(width: f64, height: f64, name: &str) -> String {
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

/// The width of the line of a link or route: 1 px for 1 Mbps, and one more for each factor of 10.
pub(super) fn stroke(bytes_per_second: f64) -> f64 {
    (bytes_per_second * 8e-6).max(1.0).log10() + 1.0
}

/// Text as it stands in XML.
pub(super) fn escaped(text: &str) -> String {
    html::escaped(&without_controls(text))
}

/// XML has no place for control characters and two more, not even written as numbers.
fn without_controls(text: &str) -> String {
    let is_bad = |letter: char| match letter {
        '\n' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        other => other.is_control(),
    };
    text.replace(is_bad, " ")
}
