//! Determines which character separates the fields of a table, and whether the numbers of the table may have a decimal comma.
//!
//! | the first line has | fields are separated by | a number may be written as |
//! |---|---|---|
//! | a comma | commas | `1.5` |
//! | no comma, a semicolon | semicolons, as spreadsheets of many countries write them | `1.5` or `1,5` |
//! | neither, a tab | tabs | `1.5` or `1,5` |

use std::borrow::Cow;

/// The character that separates the fields of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separator(char);

impl Separator {
    /// Returns the separator of a table whose first line is `line`: a comma if the line contains a comma, otherwise a semicolon
    /// if the line contains a semicolon, otherwise a tab.
    pub fn from_heading_line(line: &str) -> Self {
        Self(
            [',', ';', '\t']
                .into_iter()
                .find(|&letter| line.contains(letter))
                .unwrap_or(','),
        )
    }

    /// Returns the separator of a table whose first line may contain numbers instead of headings. A semicolon or tab in the line
    /// takes precedence over a comma, which then is a decimal comma.
    pub fn from_number_line(line: &str) -> Self {
        Self(
            [';', '\t', ',']
                .into_iter()
                .find(|&letter| line.contains(letter))
                .unwrap_or(','),
        )
    }

    /// Returns the separator character as a byte.
    pub fn as_byte(self) -> u8 {
        u8::try_from(self.0).unwrap_or(b',')
    }

    /// Splits a line of the table into its fields and returns an iterator over the fields.
    pub fn split_fields(self, line: &str) -> std::str::Split<'_, char> {
        line.split(self.0)
    }

    /// Splits a line of CSV into its fields, without surrounding spaces and quotation marks. Inside quotation marks, a separator
    /// belongs to the field, and `""` stands for one quotation mark.
    pub fn split_quoted_fields(self, line: &str) -> Vec<String> {
        let mut fields = Vec::new();
        let mut rest = line;
        loop {
            let (field, after) = rest
                .trim_start_matches(' ')
                .strip_prefix('"')
                .and_then(read_quoted)
                .filter(|(_, after)| {
                    let after = after.trim_start_matches(' ');
                    after.is_empty() || after.starts_with(self.0)
                })
                .unwrap_or_else(|| {
                    let (field, after) = rest.split_at(rest.find(self.0).unwrap_or(rest.len()));
                    (field.trim().to_owned(), after)
                });
            fields.push(field);
            let Some(next) = after.trim_start_matches(' ').strip_prefix(self.0) else {
                return fields;
            };
            rest = next;
        }
    }

    /// Returns the field with a decimal point in place of its decimal comma. The field is returned unchanged if commas separate
    /// the fields of the table.
    pub fn replace_decimal_comma(self, field: &str) -> Cow<'_, str> {
        if self.0 != ',' && has_decimal_comma(field) {
            field.replacen(',', ".", 1).into()
        } else {
            field.into()
        }
    }
}

/// Reads the text behind an opening quotation mark; returns the text inside the marks, and the rest behind the closing mark.
fn read_quoted(text: &str) -> Option<(String, &str)> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let (part, after) = rest.split_once('"')?;
        field.push_str(part);
        let Some(next) = after.strip_prefix('"') else {
            return Some((field, after));
        };
        field.push('"');
        rest = next;
    }
}

/// Returns whether a field begins with a number that is written with a decimal comma, such as `1,5` or `1,5 Ginstr`.
pub fn has_decimal_comma(field: &str) -> bool {
    let Some((before, after)) = field.split_once(',') else {
        return false;
    };
    let whole = before.strip_prefix(['-', '+']).unwrap_or(before);
    let is_whole = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
    is_whole && after.starts_with(|c: char| c.is_ascii_digit()) && !after.contains([',', '.'])
}

/// Returns whether a column heading is empty or a placeholder. A placeholder such as `Unnamed: 0` is the heading that pandas
/// writes above an index column.
pub fn is_placeholder_heading(heading: &str) -> bool {
    let heading = heading.trim().trim_matches('"');
    heading.is_empty() || heading == "Unnamed: 0"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_says_what_separates_fields() {
        let separator = |line| Separator::from_heading_line(line).0;
        assert_eq!(
            ["a,b;c", "a;b", "a\tb", "a"].map(separator),
            [',', ';', '\t', ',']
        );
        assert_eq!(Separator::from_number_line("0;0,5"), Separator(';'));
        let fields = |line| Separator(',').split_quoted_fields(line);
        assert_eq!(fields(" a , \"b, c\" ,"), ["a", "b, c", ""]);
        assert_eq!(fields(r#"1,"h ""0""""#), ["1", r#"h "0""#]);
        assert_eq!(fields("\"a\"b,c\""), ["\"a\"b", "c\""]);
        let semicolon = Separator(';');
        let numbers = ["1,5", "-1,5 Ginstr", "1,5,0", "1.000,5", ",5", "1,x"];
        let read = numbers.map(|field| semicolon.replace_decimal_comma(field).into_owned());
        assert_eq!(
            read,
            ["1.5", "-1.5 Ginstr", "1,5,0", "1.000,5", ",5", "1,x"]
        );
        assert_eq!(Separator(',').replace_decimal_comma("1,5"), "1,5");
    }
}
