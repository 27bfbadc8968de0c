//! Building blocks of HTML pages: sections, framed drawings, and lists of sentences.

use super::{Page, escape_html};

/// Returns the HTML of a section with a heading that appears in the table of contents; `html` is the content of the section.
pub fn section_html(id: &str, heading: &str, html: &str) -> String {
    format!(
        "<section id=\"{id}\" aria-labelledby=\"h-{id}\">\n<h2 id=\"h-{id}\">{}</h2>\n{html}\n</section>\n",
        escape_html(heading)
    )
}

/// Creates an HTML page from sections, each given by its id, its heading and its content. Sections without content are omitted.
/// `code` contains the source texts of the scripts in the sections.
pub fn sections_page<'a>(
    title: &str,
    lead: &str,
    sections: impl IntoIterator<Item = (&'a str, &'a str, String)>,
    code: &[&str],
) -> String {
    let body: String = sections
        .into_iter()
        .filter(|(_, _, html)| !html.is_empty())
        .map(|(id, heading, html)| section_html(id, heading, &html))
        .collect();
    Page {
        title,
        introduction: lead,
        body: &body,
        allowed_script_texts: code,
        ..Page::default()
    }
    .to_html()
}

/// Returns the HTML of a figure: the SVG drawing on a white background, in an area that scrolls. `label` describes the drawing
/// for screen readers; `widths` are its minimum and maximum width \[pixels\].
pub fn picture_html(name: &str, label: &str, svg: &str) -> String {
    let svg = svg.split_once("<svg ").map_or("", |(_, rest)| rest);
    format!(
        "<figure class=\"picture\" data-name=\"{name}\"><div class=\"wide\" aria-label=\"{label}\"><div class=\"sheet\">\
         <svg role=\"img\" aria-label=\"{label}\" {svg}</div></div></figure>\n"
    )
}

/// Formats sentences as an HTML list with one entry per sentence. A sentence that begins with blanks becomes an indented entry.
pub fn list_html(sentences: &[String]) -> String {
    let mut html = "<ul class=\"told\">\n".to_owned();
    for sentence in sentences {
        let class = if sentence.starts_with(' ') {
            " class=\"deeper\""
        } else {
            ""
        };
        put!(html, "<li{class}>{}</li>\n", sentence_html(sentence.trim()));
    }
    html.push_str("</ul>\n");
    html
}

/// Formats a sentence as HTML. A command or key in backticks is set as code; other text in backticks keeps its backticks.
pub fn sentence_html(sentence: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " ._=/-+%".contains(letter);
    let text = escape_html(sentence);
    let mut html = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('`') {
        html.push_str(before);
        rest = match after.split_once('`') {
            Some((code, after)) if code.trim() == code && code.chars().all(is_plain) => {
                put!(html, "<code>{code}</code>");
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
            list_html(&["`a <b>` and`c-c`, `d".to_owned(), "  deeper".to_owned()]),
            "<ul class=\"told\">\n<li>`a &lt;b&gt;` and<code>c-c</code>, `d</li>\n<li class=\"deeper\">deeper</li>\n</ul>\n"
        );
    }
}
