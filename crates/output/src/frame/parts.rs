//! Pieces of pages: sections, lists of sentences.

use std::fmt::Write as _;

use super::escaped;

/// A section with a heading that the contents name; `html` is what stands in it.
pub fn section(id: &str, heading: &str, html: &str) -> String {
    format!(
        "<section id=\"{id}\" aria-labelledby=\"h-{id}\">\n<h2 id=\"h-{id}\">{}</h2>\n{html}\n</section>\n",
        escaped(heading)
    )
}

/// Sentences as a list; those that begin with blanks belong to the one before.
pub fn list(sentences: &[String]) -> String {
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

/// A sentence as HTML: a command or key between backticks is code; a name with other marks stays as it is.
pub fn prose(sentence: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " ._=/-".contains(letter);
    let text = escaped(sentence);
    let mut html = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('`') {
        html.push_str(before);
        rest = match after.split_once('`') {
            Some((code, after)) if code.trim() == code && code.chars().all(is_plain) => {
                write!(html, "<code>{code}</code>").expect("a string can be written to");
                after
            }
            _ => {
                html.push('`');
                after
            }
        };
    }
    html.push_str(rest);
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_between_backticks_are_code_and_marks_are_escaped() {
        assert_eq!(
            list(&["`a <b>` and`c-c`, `d".to_owned(), "  deeper".to_owned()]),
            "<ul class=\"told\">\n<li>`a &lt;b&gt;` and<code>c-c</code>, `d</li>\n<li class=\"deeper\">deeper</li>\n</ul>\n"
        );
    }
}
