//! The separator between the fields of a table, and the notation of its numbers.
//!
//! | the first line has | fields are separated by | a number may be |
//! |---|---|---|
//! | a comma | commas | `1.5` |
//! | no comma, a semicolon | semicolons, as spreadsheets of many countries write them | `1.5` or `1,5` |
//! | neither, a tabulator | tabulators | `1.5` or `1,5` |

use std::borrow::Cow;

/// The character between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separator(char);

impl Separator {
    /// Finds the separator of a table with this first line.
    pub fn of(line: &str) -> Self {
        let first = [',', ';', '\t']
            .into_iter()
            .find(|&letter| line.contains(letter));
        Self(first.unwrap_or(','))
    }

    /// Finds the separator of a table whose first line may be numbers, with a decimal comma if semicolons or tabulators separate them.
    pub fn of_numbers(line: &str) -> Self {
        let first = [';', '\t', ',']
            .into_iter()
            .find(|&letter| line.contains(letter));
        Self(first.unwrap_or(','))
    }

    /// Returns the separator as a byte.
    pub fn byte(self) -> u8 {
        u8::try_from(self.0).unwrap_or(b',')
    }

    /// Splits a line into its fields.
    pub fn split(self, line: &str) -> std::str::Split<'_, char> {
        line.split(self.0)
    }

    /// Replaces a decimal comma of a field by a point, unless commas separate fields.
    pub fn number(self, field: &str) -> Cow<'_, str> {
        if self.0 != ',' && has_decimal_comma(field) {
            field.replacen(',', ".", 1).into()
        } else {
            field.into()
        }
    }
}

/// Whether a field begins with a number with a decimal comma: `1,5`, `1,5 Ginstr`.
pub fn has_decimal_comma(field: &str) -> bool {
    let Some((before, after)) = field.split_once(',') else {
        return false;
    };
    let whole = before.strip_prefix(['-', '+']).unwrap_or(before);
    let is_whole = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
    is_whole && after.starts_with(|c: char| c.is_ascii_digit()) && !after.contains([',', '.'])
}

/// Whether a heading names no column, such as the heading of the index of a pandas table.
pub fn is_nameless(heading: &str) -> bool {
    let heading = heading.trim().trim_matches('"');
    heading.is_empty() || heading == "Unnamed: 0"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_says_what_separates_fields() {
        let separator = |line| Separator::of(line).0;
        assert_eq!(
            ["a,b;c", "a;b", "a\tb", "a"].map(separator),
            [',', ';', '\t', ',']
        );
        assert_eq!(Separator::of_numbers("0;0,5"), Separator(';'));
        let semicolon = Separator(';');
        let numbers = ["1,5", "-1,5 Ginstr", "1,5,0", "1.000,5", ",5", "1,x"];
        let read = numbers.map(|field| semicolon.number(field).into_owned());
        assert_eq!(
            read,
            ["1.5", "-1.5 Ginstr", "1,5,0", "1.000,5", ",5", "1,x"]
        );
        assert_eq!(Separator(',').number("1,5"), "1,5");
    }
}
