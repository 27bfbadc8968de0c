//! Mends texts that SimGrid's parser reads although they are no XML. Lines and columns stay.

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
