//! Pieces of pages: sections, lists of sentences.

use std::fmt::Write as _;

use super::escaped;

/// A section with a heading that the contents name; `html` is what stands in it.
pub(crate) fn section(id: &str, heading: &str, html: &str) -> String {
    format!(
        "<section id=\"{id}\" aria-labelledby=\"h-{id}\">\n<h2 id=\"h-{id}\">{}</h2>\n{html}\n</section>\n",
        escaped(heading)
    )
}

/// Sentences as a list; those that begin with blanks belong to the one before.
pub(crate) fn list(sentences: &[String]) -> String {
    let mut html = "<ul class=\"told\">\n".to_owned();
    for sentence in sentences {
        let class = if sentence.starts_with(' ') {
            " class=\"deeper\""
        } else {
            ""
        };
        writeln!(html, "<li{class}>{}</li>", prose(sentence.trim()))
            .expect("a string can be written to");
    }
    html.push_str("</ul>\n");
    html
}

/// A sentence as HTML: what stands between backticks is code.
pub(crate) fn prose(sentence: &str) -> String {
    let mut html = String::new();
    let mut parts = escaped(sentence);
    while let Some((before, rest)) = parts.split_once('`')
        && let Some((code, after)) = rest.split_once('`')
    {
        write!(html, "{before}<code>{code}</code>").expect("a string can be written to");
        parts = after.to_owned();
    }
    html.push_str(&parts);
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_are_code_and_marks_are_escaped() {
        assert_eq!(
            list(&["`a <b>` and `c`, `d".to_owned(), "  deeper".to_owned()]),
            "<ul class=\"told\">\n<li><code>a &lt;b&gt;</code> and <code>c</code>, `d</li>\n<li class=\"deeper\">deeper</li>\n</ul>\n"
        );
    }
}
