//! The frame of all pages (report, sweep, tune, explain): head, styles, contents, tables, scripts.
//!
//! A page is one file that needs no network. It follows the light or dark mode of the system, fits a phone, and prints on white. Its
//! headings (`<h2 id>`) make its table of contents. The script `frame.js` makes tables of class `sortable` sortable, and marks elements of
//! class `wide` or `tall` that scroll.
//!
//! A page lists the hashes of its scripts (Content-Security-Policy), so that a browser runs no other script. This blocks even a script in a
//! text that was not escaped by mistake. Styles may be anywhere.

mod parts;
mod settings;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::base64::base64;
use super::html::escaped;
pub use parts::{list, picture, prose, section, sections_page};
pub use settings::settings;

const TEMPLATE: &str = include_str!("frame.html");
const STYLE: &str = include_str!("frame.css");
const SCRIPT: &str = include_str!("frame.js");
const START: &str = include_str!("start.js");

/// A page; all its parts except the title are HTML.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page<'a> {
    /// The title of the page, as text.
    pub title: &'a str,
    /// The mark of the run's settings; empty if the page does not show one run.
    pub mark: &'a str,
    /// The text below the title.
    pub lead: &'a str,
    /// The sections.
    pub body: &'a str,
    /// Additional styles of the page.
    pub styles: &'a [&'a str],
    /// Data and scripts of the page, which then start the page; without them the frame starts the page.
    pub scripts: Option<&'a str>,
    /// The texts of all scripts in `scripts` and in the body; the browser runs no other script.
    pub code: &'a [&'a str],
    /// The text at the end of the page.
    pub footer: &'a str,
}

impl Page<'_> {
    /// Returns the page as one file.
    pub fn html(&self) -> String {
        let start = script(START);
        let own = self.scripts.unwrap_or(&start);
        let styles = [self.styles, &[STYLE]].concat();
        let code = self.code.iter().chain(&[SCRIPT, START]);
        let hashes: Vec<String> = code.map(|text| hash(text)).collect();
        fill(
            TEMPLATE,
            &[
                ("hashes", &hashes.join(" ")),
                ("title", &escaped(self.title)),
                ("version", env!("CARGO_PKG_VERSION")),
                ("mark", self.mark),
                ("styles", &styles.join("\n")),
                ("lead", self.lead),
                ("contents", &contents(self.body)),
                ("body", self.body.trim_end()),
                ("footer", self.footer),
                ("scripts", &format!("{}\n{own}", script(SCRIPT))),
            ],
        )
    }
}

/// Returns a script as an element.
pub fn script(text: &str) -> String {
    format!("<script>{}</script>", content(text))
}

/// Returns the content of the element of a script.
fn content(text: &str) -> String {
    format!("\n{}\n", text.trim())
}

/// Returns the source of a script for a Content-Security-Policy: the SHA-256 of the content of its element.
fn hash(text: &str) -> String {
    let digest = Sha256::digest(content(text).as_bytes());
    format!("'sha256-{}'", base64(&digest))
}

/// Replaces the names in double braces of a template. Inserted values are not searched for names.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
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

/// Makes links to the headings of a body; a link text ends before the colon of its heading.
fn contents(body: &str) -> String {
    let mut html = "<nav class=\"contents\" aria-label=\"Contents\"><ol>\n".to_owned();
    for part in body.split("<h2 id=\"").skip(1) {
        let found = part.split_once("\">");
        let Some((id, (title, _))) =
            found.and_then(|(id, rest)| Some((id, rest.split_once("</h2>")?)))
        else {
            continue;
        };
        let title = title.split(':').next().unwrap_or_default();
        writeln!(html, "<li><a href=\"#{id}\">{title}</a></li>")
            .expect("a string can be written to");
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
        let page = fill(
            "<title>{{title}} {{facts}}",
            &[("title", "{{facts}}"), ("facts", "secret")],
        );
        assert_eq!(page, "<title>{{facts}} secret");
    }

    #[test]
    fn the_hash_is_that_of_the_content_of_the_element() {
        // Computed with: printf '\nalert(1)\n' | openssl dgst -sha256 -binary | base64
        assert_eq!(
            hash(" alert(1)\n"),
            "'sha256-J8+4/wmqNoqVGih0Xof49bzVEIwR8aHhR5HvZK1wlzY='"
        );
        let page = Page {
            body: "<script>alert(1)</script>",
            code: &["own()"],
            ..Page::default()
        }
        .html();
        for text in [SCRIPT, START, "own()"] {
            assert!(page.contains(&hash(text)));
        }
        assert!(!page.contains(&hash("alert(1)")));
        assert!(!page.contains("script-src 'unsafe-inline'"));
    }

    #[test]
    fn headings_become_contents() {
        let body = section("a", "First: with more", "<p>x</p>") + &section("b", "S <2>", "");
        let page = Page {
            title: "T & U",
            body: &body,
            ..Page::default()
        }
        .html();
        assert!(page.contains("<title>T &amp; U</title>") && page.contains("<h1>T &amp; U</h1>"));
        assert!(page.contains(
            "<li><a href=\"#h-a\">First</a></li>\n<li><a href=\"#h-b\">S &lt;2&gt;</a></li>"
        ));
    }
}
