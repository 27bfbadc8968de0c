//! The common frame of all HTML pages (report, sweep, tune, explain): head of the file, styles, table of contents, tables,
//! scripts.
//!
//! A page is one file that needs no network. The layout follows the light or dark mode of the system, fits the screen of a phone,
//! and has a white background in print. The table of contents of a page is made from the headings of the page (`<h2 id>`). The
//! script `frame.js` makes tables of class `sortable` sortable, and marks elements of class `wide` or `tall` that scroll.
//!
//! A page lists the hashes of its scripts (Content-Security-Policy), so that a browser runs no other script. This blocks even a
//! script in a text that was not escaped by mistake. Styles are not restricted.

mod parts;
mod settings;

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

use super::{base64::encode_base64, html::escape_html};
pub use parts::{list_html, picture_html, section_html, sections_page, sentence_html};
pub use settings::settings_table;

const TEMPLATE: &str = include_str!("frame.html");
const STYLE: &str = include_str!("frame.css");
const SCRIPT: &str = include_str!("frame.js");
const START: &str = include_str!("start.js");

/// The content from which an HTML page with the common frame is assembled. All parts except the title are HTML.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page<'a> {
    /// Title of the page as plain text; it is escaped when the page is written.
    pub title: &'a str,
    /// Checksum of the settings of the run that the page shows, by which the page is recognised later; empty if the page does not
    /// show a single run.
    pub settings_checksum_mark: &'a str,
    /// HTML between the title and the first section of the page.
    pub introduction: &'a str,
    /// HTML of the sections of the page.
    pub body: &'a str,
    /// Additional CSS rules of this page; the rules of the common frame are always included.
    pub styles: &'a [&'a str],
    /// HTML elements with the data and the additional scripts of the page; these scripts must also start the page. `None` if the
    /// scripts of the common frame suffice.
    pub script_elements: Option<&'a str>,
    /// Source texts of all scripts that this page adds to the scripts of the common frame; the browser runs no other scripts.
    pub allowed_script_texts: &'a [&'a str],
    /// HTML at the end of the page, after the sections.
    pub footer: &'a str,
}

impl Page<'_> {
    /// Assembles the page and returns the text of the HTML file.
    pub fn to_html(&self) -> String {
        let start = script_element(START);
        let own = self.script_elements.unwrap_or(&start);
        let styles = [self.styles, &[STYLE]].concat();
        let hashes: Vec<String> = self
            .allowed_script_texts
            .iter()
            .chain(&[SCRIPT, START])
            .map(|text| script_hash(text))
            .collect();
        fill_template(
            TEMPLATE,
            &[
                ("hashes", &hashes.join(" ")),
                ("title", &escape_html(self.title)),
                ("version", &crate::version_and_commit()),
                ("mark", self.settings_checksum_mark),
                ("styles", &styles.join("\n")),
                ("lead", self.introduction),
                ("contents", &table_of_contents(self.body)),
                ("body", self.body.trim_end()),
                ("footer", self.footer),
                ("scripts", &format!("{}\n{own}", script_element(SCRIPT))),
            ],
        )
    }
}

/// Returns an HTML `<script>` element with the given source text.
pub fn script_element(text: &str) -> String {
    format!("<script>{}</script>", script_content(text))
}

/// Returns the source text of a script exactly as it stands inside its HTML element; the hash of the script is computed from this
/// text.
fn script_content(text: &str) -> String {
    format!("\n{}\n", text.trim())
}

/// Computes the hash that allows a browser to run a script (Content-Security-Policy): the SHA-256 of the content of the HTML
/// element of the script.
fn script_hash(text: &str) -> String {
    let digest = Sha256::digest(script_content(text).as_bytes());
    format!("'sha256-{}'", encode_base64(&digest))
}

/// Replaces each name in double braces of a template by its value; a name without a value is removed. Inserted values are not
/// searched for further names.
pub fn fill_template(template: &str, values: &[(&str, &str)]) -> String {
    let values: BTreeMap<&str, &str> = values.iter().copied().collect();
    let mut parts = template.split("{{");
    let mut html = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        html.push_str(values.get(name).copied().unwrap_or_default());
        html.push_str(rest);
    }
    html
}

/// Creates the table of contents of a page: a link to each heading of `body`. If a heading contains a colon, the text of the link
/// ends before the colon.
fn table_of_contents(body: &str) -> String {
    let mut html = "<nav class=\"contents\" aria-label=\"Contents\"><ol>\n".to_owned();
    for part in body.split("<h2 id=\"").skip(1) {
        let found = part.split_once("\">");
        let Some((id, (title, _))) =
            found.and_then(|(id, rest)| Some((id, rest.split_once("</h2>")?)))
        else {
            continue;
        };
        let title = title.split(':').next().unwrap_or_default();
        put!(html, "<li><a href=\"#{id}\">{title}</a></li>\n");
    }
    html.push_str("</ol></nav>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_built_in_ends_its_element() {
        for text in [SCRIPT, START] {
            assert!(!text.to_lowercase().contains("</script") && !text.contains("<!--"));
        }
        assert!(!STYLE.to_lowercase().contains("</style"));
    }

    #[test]
    fn inserted_values_are_not_searched_for_names() {
        let page = fill_template(
            "<title>{{title}} {{facts}}",
            &[("title", "{{facts}}"), ("facts", "secret")],
        );
        assert_eq!(page, "<title>{{facts}} secret");
    }

    #[test]
    fn the_hash_is_that_of_the_content_of_the_element() {
        // Computed with: printf '\nalert(1)\n' | openssl dgst -sha256 -binary | base64
        assert_eq!(
            script_hash(" alert(1)\n"),
            "'sha256-J8+4/wmqNoqVGih0Xof49bzVEIwR8aHhR5HvZK1wlzY='"
        );
        let page = Page {
            body: "<script>alert(1)</script>",
            allowed_script_texts: &["own()"],
            ..Page::default()
        }
        .to_html();
        for text in [SCRIPT, START, "own()"] {
            assert!(page.contains(&script_hash(text)));
        }
        assert!(!page.contains(&script_hash("alert(1)")));
        assert!(!page.contains("script-src 'unsafe-inline'"));
    }

    #[test]
    fn headings_become_contents() {
        let body =
            section_html("a", "First: with more", "<p>x</p>") + &section_html("b", "S <2>", "");
        let page = Page {
            title: "T & U",
            body: &body,
            ..Page::default()
        }
        .to_html();
        assert!(page.contains("<title>T &amp; U</title>") && page.contains("<h1>T &amp; U</h1>"));
        assert!(page.contains(
            "<li><a href=\"#h-a\">First</a></li>\n<li><a href=\"#h-b\">S &lt;2&gt;</a></li>"
        ));
    }
}
