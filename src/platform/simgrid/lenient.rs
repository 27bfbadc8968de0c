//! Mends texts that SimGrid's parser reads although they are no XML. Lines and columns stay.

use roxmltree::{Document, ParsingOptions};

use crate::document::line_column;
use crate::error::Problem;

/// Parses a file; `into` holds it if it is XML for `SimGrid` only.
pub(super) fn parse<'t>(
    source: &str,
    text: &'t str,
    into: &'t mut String,
) -> Result<Document<'t>, Problem> {
    let options = || ParsingOptions {
        allow_dtd: true,         // the line `<!DOCTYPE platform ...>`; nothing is fetched
        nodes_limit: 40_000_000, // 2.9 GB
        ..ParsingOptions::default()
    };
    match Document::parse_with_options(text, options()) {
        Ok(document) => Ok(document),
        Err(error) => {
            *into = mended(text);
            Document::parse_with_options(into, options()).map_err(|_| not_xml(source, text, &error))
        }
    }
}

fn not_xml(source: &str, text: &str, error: &roxmltree::Error) -> Problem {
    let full = error.to_string();
    let message = full.rfind(" at ").map_or(&*full, |end| &full[..end]);
    let (line, column) = match error {
        // Its position is the beginning, whatever is missing.
        roxmltree::Error::UnexpectedEndOfStream => line_column(text, text.len()),
        _ => (error.pos().row as usize, error.pos().col as usize),
    };
    Problem::new(format!("not valid XML: {message}"))
        .source(source)
        .at(line, column)
}

/// The text with a blank in the place of what XML forbids: a declaration that is not at the beginning, and `--` in comments.
pub(super) fn mended(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest
        .find("<!--")
        .into_iter()
        .chain(rest.find("<?xml "))
        .min()
    {
        let is_comment = rest[start..].starts_with("<!--");
        let (open, close) = if is_comment { (4, "-->") } else { (0, "?>") };
        let Some(length) = rest[start + open..].find(close) else {
            break;
        };
        let end = start + open + length;
        mended.push_str(&rest[..start + open]);
        let inside = &rest[start + open..end];
        if is_comment {
            // The last one would touch the `-->`.
            let inside = inside.replace("--", "  ");
            let (inside, last) = inside
                .strip_suffix('-')
                .map_or((&*inside, ""), |inside| (inside, " "));
            mended.extend([inside, last, close]);
        } else {
            let blank = |letter: char| if letter == '\n' { letter } else { ' ' };
            mended.extend(inside.chars().chain(close.chars()).map(blank));
        }
        rest = &rest[end + close.len()..];
    }
    mended.push_str(rest);
    mended
}

#[cfg(test)]
mod tests {
    use super::mended;

    #[test]
    fn comments_lose_their_dashes_and_a_late_declaration_goes() {
        let text = "\n<!-- a -- b --->\n<?xml version='1.0'\n?><a/><!--";
        assert_eq!(
            mended(text),
            "\n<!-- a    b  -->\n                   \n  <a/><!--"
        );
    }
}
