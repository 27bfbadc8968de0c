//! Reads the lines of a measured load in CSV: times and values, or values alone.
//!
//! The caller converts each value into a load; see the [kind `file`](super::file).

use migsim_base::document::{Separator, is_placeholder_heading};
use migsim_base::error::Problem;
use migsim_base::units::Seconds;

/// Error in a value of a trace: the message, and a hint that replaces the general hint on the file format; `None` keeps the
/// general hint.
pub(super) type ValueError = (String, Option<&'static str>);

/// Creates a problem with the message `what` and with the hint, if a hint is given.
pub(super) fn problem_with_hint(what: String, hint: Option<&str>) -> Problem {
    let problem = Problem::new(what);
    match hint {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

/// Hint for a file that has values but no times.
pub(super) const VALUES_HINT: &str = "if each line has only a value, state the time between two values and, for percentages, the scale: `period=5min,scale=percent`";

/// Returns the lines of a text with their numbers, counted from 1; empty lines and comments are left out.
fn numbered_lines(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let lines = text.trim_start_matches('\u{feff}').lines().zip(1..);
    lines.filter(|(line, _)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// Reads a trace with one value per line, each of which holds for `period`. Returns the start time of each value \[s\] and the
/// load that `load_of` computes from it.
pub(super) fn read_values_without_times(
    text: &str,
    period: Seconds,
    load_of: &dyn Fn(f64) -> Result<f64, ValueError>,
) -> Result<Vec<(f64, f64)>, Problem> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (at, (line, number)) in numbered_lines(text).enumerate() {
        let line = line.trim();
        let value = match line.parse::<f64>() {
            Ok(value) if value.is_finite() && value >= 0.0 => value,
            Err(_) if at == 0 && !line.starts_with(|c: char| c.is_ascii_digit()) => continue, // the name of the column
            _ => {
                let what = format!("the value `{line}` is not a finite number of at least 0");
                return Err(Problem::new(what).at_line_column(number, 1));
            }
        };
        let load = load_of(value)
            .map_err(|(what, hint)| problem_with_hint(what, hint).at_line_column(number, 1))?;
        steps.push((steps.len() as f64 * period.get(), load));
    }
    if steps.is_empty() {
        return Err(Problem::new("the file has no line with a value").at_line_column(1, 1));
    }
    Ok(steps)
}

/// Reads a trace with a time and a value per line. Returns each time \[s\] and the load that `load_of` computes from the value.
pub(super) fn read_times_and_values(
    text: &str,
    load_of: &dyn Fn(f64) -> Result<f64, ValueError>,
) -> Result<Vec<(f64, f64)>, Problem> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    let mut table = None;
    for (line, number) in numbered_lines(text) {
        let is_first = table.is_none();
        let (separator, has_index) = *table.get_or_insert_with(|| {
            let separator = Separator::from_number_line(line);
            let mut names = separator.split_fields(line);
            (
                separator,
                names.next().is_some_and(is_placeholder_heading) && names.count() == 2,
            )
        });
        let row = Row {
            line_number: number,
            separator,
            fields: separator.split_fields(line).collect(),
        };
        if is_first && row.parse_time(usize::from(has_index)).is_err() && !is_single_number(&row) {
            continue; // the names of the columns
        }
        let (date, value) = row.parse_time_and_value(has_index.then_some(steps.len()))?;
        if let Some((last, _)) = steps.last().filter(|last| date <= last.0) {
            let message =
                format!("the time {date} is not later than the time of the previous line, {last}");
            return Err(row.problem_at_field(0, message));
        }
        let load = load_of(value).map_err(|(what, hint)| {
            let place = row.problem_at_field(row.fields.len() - 1, "").location;
            Problem {
                location: place,
                ..problem_with_hint(what, hint)
            }
        })?;
        steps.push((date, load));
    }
    if steps.is_empty() {
        return Err(
            Problem::new("the file has no line with a time and a value").at_line_column(1, 1)
        );
    }
    Ok(steps)
}

/// Whether a row consists of a single number.
fn is_single_number(row: &Row<'_>) -> bool {
    row.fields.len() == 1 && row.parse_number(0).is_ok()
}

/// One line of a CSV trace, split into its fields.
struct Row<'t> {
    /// Number of the line in the file, counted from 1.
    line_number: usize,
    separator: Separator,
    fields: Vec<&'t str>,
}

impl Row<'_> {
    /// Creates a problem that is located at a field of this row.
    fn problem_at_field(&self, field: usize, what: impl Into<String>) -> Problem {
        let before = self.fields[..field].iter();
        let column = 1 + before.map(|text| text.chars().count() + 1).sum::<usize>();
        Problem::new(what).at_line_column(self.line_number, column)
    }

    /// Reads the time \[s\] and the value of this row. If `index` is given, the row begins with a row number, which must be equal
    /// to `index`.
    fn parse_time_and_value(&self, index: Option<usize>) -> Result<(f64, f64), Problem> {
        let first = usize::from(index.is_some());
        if is_single_number(self) {
            let what = format!(
                "this line has only the value `{}`, without a time",
                self.fields[0].trim()
            );
            return Err(self.problem_at_field(0, what).hint(VALUES_HINT));
        }
        if self.fields.len() != first + 2 {
            let line = self
                .fields
                .join(&char::from(self.separator.as_byte()).to_string());
            let what =
                format!("this line, `{line}`, is not a time and a value, separated by a comma");
            return Err(self.problem_at_field(0, what));
        }
        if let Some(index) = index.filter(|index| self.fields[0].trim() != index.to_string()) {
            let what = format!(
                "the first column has no name and so must count the rows from 0, but it has `{}` instead of {index}",
                self.fields[0].trim()
            );
            return Err(self
                .problem_at_field(0, what)
                .hint("remove the first column from the file"));
        }
        Ok((self.parse_time(first)?, self.parse_number(first + 1)?))
    }

    /// Reads a field as a number, which must be finite and not negative.
    fn parse_number(&self, field: usize) -> Result<f64, Problem> {
        let text = self.fields.get(field).map_or("", |text| text.trim());
        match self.separator.replace_decimal_comma(text).parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => {
                let what = format!("the value `{text}` is not a finite number of at least 0");
                Err(self.problem_at_field(field, what))
            }
        }
    }

    /// Reads a field as a time, written in seconds or as `12:00:05`; returns seconds.
    fn parse_time(&self, field: usize) -> Result<f64, Problem> {
        let text = self.fields.get(field).map_or("", |text| text.trim());
        parse_clock_time(text).map_or_else(|| self.parse_number(field), Ok)
    }
}

/// Converts a time of day such as `12:00:05` to seconds since midnight; `None` if the text is no such time.
fn parse_clock_time(text: &str) -> Option<f64> {
    let parts: Vec<&str> = text.split(':').collect();
    let [hours, minutes, seconds] = parts[..] else {
        return None;
    };
    let whole = |text: &str, most: u32| text.parse().ok().filter(|number| *number <= most);
    let (hours, minutes): (u32, u32) = (whole(hours, u32::MAX)?, whole(minutes, 59)?);
    let seconds: f64 = seconds.parse().ok()?;
    let is_right = (0.0..60.0).contains(&seconds);
    is_right.then(|| f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_has_three_parts() {
        assert_eq!(
            ["0:0:1", "1:60:0", "1:0", "1:0:60", "-1:0:0"].map(parse_clock_time),
            [Some(1.0), None, None, None, None]
        );
    }
}
