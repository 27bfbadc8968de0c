//! Repairs texts that SimGrid's parser accepts although they are not valid XML. Lines and columns of the text do not change.

use regex_lite::{Captures, Regex};
use roxmltree::{Document, ParsingOptions};

use migsim_base::{document::line_column, error::Problem};

/// Maximum number of attributes of an element. The XML parser compares each attribute with all others, so that more would take
/// too long; SimGrid's elements have at most 22.
const MAX_ATTRIBUTES: usize = 1000;

/// Parses the text of an XML file. If the text is not valid XML, a repaired text is written to `into` and parsed instead, because
/// SimGrid's parser accepts such texts.
pub(super) fn parse_leniently<'t>(
    source: &str,
    text: &'t str,
    into: &'t mut String,
) -> Result<Document<'t>, Problem> {
    let options = || ParsingOptions {
        allow_dtd: true,         // the line `<!DOCTYPE platform ...>`; nothing is fetched
        nodes_limit: 40_000_000, // 2.9 GB
        ..ParsingOptions::default()
    };
    check_attribute_counts(source, text)?;
    match Document::parse_with_options(text, options()) {
        Ok(document) => Ok(document),
        Err(error) => {
            *into = repair_xml(text);
            Document::parse_with_options(into, options())
                .map_err(|_| invalid_xml_error(source, text, &error))
        }
    }
}

fn invalid_xml_error(source: &str, text: &str, error: &roxmltree::Error) -> Problem {
    let full = error.to_string();
    // The position is removed from the text: `attribute 'speed' at 3:9 is already defined`.
    let message = match full.rsplit_once(" at ") {
        Some((before, after)) => {
            let rest = after.find(' ').map_or("", |end| &after[end..]);
            format!("{before}{rest}")
        }
        None => full.clone(),
    };
    let (line, column) = match error {
        // The parser reports the beginning, whatever is missing.
        roxmltree::Error::UnexpectedEndOfStream => line_column(text, text.len()),
        _ => (error.pos().row as usize, error.pos().col as usize),
    };
    Problem::new(format!("not valid XML: {message}"))
        .source(source)
        .at_line_column(line, column)
}

/// Returns an error if an element has too many attributes. The time is proportional to the length of the text, which need not be
/// valid XML.
fn check_attribute_counts(source: &str, text: &str) -> Result<(), Problem> {
    for (start, _) in text.match_indices('<') {
        // An attribute has two quotation marks, and no value contains a `<`.
        let tag = text[start + 1..].split('<').next().unwrap_or("");
        if tag.matches(['"', '\'']).count() > 2 * MAX_ATTRIBUTES {
            let name = tag.split_ascii_whitespace().next().unwrap_or("");
            let (line, column) = line_column(text, start);
            return Err(Problem::new(format!(
                "the element `<{name}>` has more than {MAX_ATTRIBUTES} attributes, the most that migsim reads"
            ))
            .source(source)
            .at_line_column(line, column));
        }
    }
    Ok(())
}

/// Returns the text with blanks in place of what XML does not allow: a declaration that is not at the beginning of the text, and
/// `--` in comments.
pub(super) fn repair_xml(text: &str) -> String {
    let pattern = Regex::new(r"(?s)<!--(.*?)-->|<\?xml .*?\?>").expect("a valid pattern");
    let repair = |found: &Captures<'_>| match found.get(1) {
        Some(comment) => {
            let mut inside = comment.as_str().replace("--", "  ");
            // Otherwise the last one would join the `-->`.
            if inside.ends_with('-') {
                inside.pop();
                inside.push(' ');
            }
            format!("<!--{inside}-->")
        }
        None => found[0].replace(|letter| letter != '\n', " "),
    };
    pattern.replace_all(text, repair).into_owned()
}

#[cfg(test)]
mod tests {
    use super::repair_xml;

    #[test]
    fn comments_lose_their_dashes_and_a_late_declaration_goes() {
        let text = "\n<!-- a -- b --->\n<?xml version='1.0'\n?><a/><!--";
        assert_eq!(
            repair_xml(text),
            "\n<!-- a    b  -->\n                   \n  <a/><!--"
        );
    }
}
