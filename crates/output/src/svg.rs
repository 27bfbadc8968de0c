//! Common parts of the SVG drawings that do not use the module `figure`, which draws charts for articles.

use super::html;

pub(super) fn open_svg(width: f64, height: f64, name: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
        font-family=\"system-ui, sans-serif\" role=\"img\" aria-label=\"{}\">\n\
        <style>.page{{fill:#fff}}text{{fill:#222}}.label{{stroke:#fff;stroke-width:4px;paint-order:stroke}}.cluster{{fill:#eef3f7;stroke:#333}}\
        .axis{{stroke:#888}}@media(prefers-color-scheme:dark){{.page{{fill:#181818}}text{{fill:#ddd}}.label{{stroke:#181818}}\
        .cluster{{fill:#263238;stroke:#aaa}}}}</style>\n\
        <rect class=\"page\" width=\"{width:.0}\" height=\"{height:.0}\"/>\n",
        escape_svg(name)
    )
}

/// Computes the width with which a link or route of the given bandwidth is drawn \[px\]: 1 px for 1 Mbps and less, and 1 px more
/// for each factor of 10.
pub(super) fn stroke_width(bytes_per_second: f64) -> f64 {
    (bytes_per_second * 8e-6).max(1.0).log10() + 1.0
}

pub(super) fn escape_svg(text: &str) -> String {
    html::escape_html(&replace_characters_not_in_xml(text))
}

fn replace_characters_not_in_xml(text: &str) -> String {
    let is_bad = |letter: char| match letter {
        '\n' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        other => other.is_control(),
    };
    text.replace(is_bad, " ")
}
