//! Reads the lines of a measured load in CSV: a table of times and values, or values alone.
//!
//! The caller converts each value into a load; see the [kind `file`](super::file).

use std::collections::BTreeMap;

use super::dates::LoadTime;
use crate::row::Row;
use migsim_base::{
    document::{Separator, is_placeholder_heading},
    error::Problem,
    units::Seconds,
};

/// Loads over time: the start \[s\] and the load of each step.
pub(super) type LoadSteps = Vec<(f64, f64)>;

pub(super) const VALUES_HINT: &str = "if each line has only a value, state the time between two values and, for percentages, the scale: `period=5min,scale=percent`";

/// Headings of a column with times, without units.
const TIME_HEADINGS: [&str; 5] = ["time", "date", "timestamp", "datetime", "t"];
const HOST_HEADINGS: [&str; 4] = ["host", "hostname", "node", "machine"];

fn numbered_lines(text: &str) -> impl Iterator<Item = (&str, usize)> {
    text.lines()
        .zip(1..)
        .filter(|(line, _)| !line.trim().is_empty())
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// Reads a trace with one value per line, each of which holds for `period`. Returns the start time of each value \[s\] and the
/// load that `load_of` computes from it.
pub(super) fn read_values_without_times(
    text: &str,
    period: Seconds,
    load_of: &dyn Fn(f64) -> Result<f64, Problem>,
) -> Result<LoadSteps, Problem> {
    let mut steps: LoadSteps = Vec::new();
    let lines = numbered_lines(text).filter(|(line, _)| !is_comment(line));
    for (at, (line, number)) in lines.enumerate() {
        let line = line.trim();
        let value = match line.parse::<f64>() {
            Ok(value) if value.is_finite() && value >= 0.0 => value,
            Err(_) if at == 0 && !line.starts_with(|c: char| c.is_ascii_digit()) => continue, // the name of the column
            _ => {
                let what = format!("the value `{line}` is not a finite number of at least 0");
                return Err(Problem::new(what).at_line_column(number, 1));
            }
        };
        let load = load_of(value).map_err(|problem| problem.at_line_column(number, 1))?;
        steps.push((steps.len() as f64 * period.get(), load));
    }
    if steps.is_empty() {
        return Err(Problem::new("the file has no line with a value").at_line_column(1, 1));
    }
    Ok(steps)
}

#[derive(Default)]
pub(super) struct LoadTable {
    /// Loads by the name of the host or link; the name is empty in a table that names no hosts.
    pub steps_by_name: BTreeMap<String, LoadSteps>,
    /// Number of fields without a value; the value before them holds on.
    pub gap_count: usize,
    /// Whether the times are calendar dates, which are stored as seconds since 1970.
    pub has_dates: bool,
}

#[derive(Clone, Copy)]
pub(super) struct ValueHeadings<'h> {
    pub chosen: Option<&'h str>,
    /// Headings that usually stand above such values, without units.
    pub usual: &'h [&'h str],
    /// Whether the meaning of the values is a default, which a heading may contradict.
    pub is_meaning_assumed: bool,
}

/// Parts of headings, each with the meaning that the values below it have.
const MEANINGS: [(&str, &str); 6] = [
    ("idle", "idle"),
    ("avail", "available"),
    ("ldav", "load-average"),
    ("loadav", "load-average"),
    ("load1", "load-average"),
    ("load5", "load-average"),
];

/// Reads a table with the times and values of one host or of several hosts. `load_of` computes the load from a value.
pub(super) fn read_times_and_values(
    text: &str,
    headings: ValueHeadings<'_>,
    load_of: &dyn Fn(f64) -> Result<f64, Problem>,
) -> Result<LoadTable, Problem> {
    let mut table = LoadTable::default();
    let mut columns = None;
    let mut comment = None;
    for (line, number) in numbered_lines(text) {
        if is_comment(line) {
            comment = Some((line, number));
            continue;
        }
        let separator = columns.as_ref().map_or_else(
            || Separator::from_number_line(line),
            |(_, separator)| *separator,
        );
        let row = Row::new(line, number, separator);
        if columns.is_none() {
            // `sadf -d` writes the headings as a comment.
            let heading = comment.map(|(text, number): (&str, usize)| {
                Row::new(text.trim_start_matches(['#', ' ']), number, separator)
            });
            let heading = heading.filter(|heading| {
                heading.fields.len() == row.fields.len() && heading.find(&TIME_HEADINGS).is_some()
            });
            let is_number = row.parse_time(0, None).is_ok() || row.is_single_number();
            let is_heading = heading.is_none() && !is_number;
            let found = match &heading {
                Some(heading) => Columns::from_headings(heading, headings)?,
                None if is_heading => Columns::from_headings(&row, headings)?,
                None => Columns {
                    time: 0,
                    host: None,
                    values: vec![(1, String::new())],
                    count: 2,
                },
            };
            columns = Some((found, separator));
            if is_heading {
                continue;
            }
        }
        if let Some((columns, _)) = &columns {
            columns.read_row(&row, load_of, &mut table)?;
        }
    }
    table.steps_by_name.retain(|_, steps| !steps.is_empty());
    if table.steps_by_name.is_empty() {
        return Err(
            Problem::new("the file has no line with a time and a value").at_line_column(1, 1)
        );
    }
    Ok(table)
}

struct Columns {
    time: usize,
    host: Option<usize>,
    /// Columns with values, each with the name of its host or link; the name is empty if the column is not named after a host.
    values: Vec<(usize, String)>,
    /// Number of columns.
    count: usize,
}

impl Columns {
    /// Finds the columns by their headings. Two columns are a time and a value, however they are called. If no column is called as
    /// a value is, each of several columns belongs to the host or link in its heading.
    fn from_headings(row: &Row<'_>, headings: ValueHeadings<'_>) -> Result<Self, Problem> {
        let has_index = is_placeholder_heading(row.text(0));
        let time = row.find(&TIME_HEADINGS);
        let Some(time) = time.or((has_index || row.fields.len() == 2).then_some(0)) else {
            let problem = row.problem_at_field(0, "no column of the table has the name `time`");
            return Err(problem.hint(
                "name the columns in the first line, such as `time,load` or `host,time,load`",
            ));
        };
        let host = row.find(&HOST_HEADINGS).filter(|host| *host != time);
        let is_value = |column: &usize| {
            ![Some(time), host].contains(&Some(*column)) && (*column > 0 || !has_index)
        };
        let rest: Vec<usize> = (0..row.fields.len()).filter(is_value).collect();
        let chosen = match headings.chosen {
            Some(name) => (rest.iter().copied()).find(|column| row.text(*column) == name),
            None => row.find(headings.usual).or(match rest[..] {
                [only] => Some(only),
                _ => None,
            }),
        };
        let values = match chosen {
            Some(column) => {
                let name = row.text(column).to_ascii_lowercase();
                let name = name.replace(['_', ' '], "");
                let other = MEANINGS.iter().find(|(part, _)| name.contains(part));
                if let Some((_, meaning)) = other.filter(|_| headings.is_meaning_assumed) {
                    let what = format!(
                        "the heading `{}` names no utilisation, which values are by default",
                        row.text(column)
                    );
                    return Err(row.problem_at_field(column, what).hint(format!(
                        "add `values={meaning}`; or `values=utilisation` if the values are the share of the host that is in use"
                    )));
                }
                vec![(column, String::new())]
            }
            None if host.is_none() && headings.chosen.is_none() && !rest.is_empty() => rest
                .iter()
                .map(|column| (*column, row.text(*column).to_owned()))
                .collect(),
            None => return Err(row.no_value_column(&rest, headings)),
        };
        Ok(Self {
            time,
            host,
            values,
            count: row.fields.len(),
        })
    }

    fn read_row(
        &self,
        row: &Row<'_>,
        load_of: &dyn Fn(f64) -> Result<f64, Problem>,
        table: &mut LoadTable,
    ) -> Result<(), Problem> {
        if row
            .fields
            .iter()
            .any(|field| field.contains("LINUX-RESTART"))
        {
            return Ok(()); // `sadf -d` writes this line where the computer started
        }
        if row.is_single_number() {
            let what = format!(
                "this line has only the value `{}`, without a time",
                row.text(0)
            );
            return Err(row.problem_at_field(0, what).hint(VALUES_HINT));
        }
        if row.fields.len() != self.count {
            let what = if self.count == 2 {
                let line = row.line;
                format!("this line, `{line}`, is not a time and a value, separated by a comma")
            } else {
                let found = row.fields.len();
                format!("this line has {found} fields instead of {}", self.count)
            };
            return Err(row.problem_at_field(0, what));
        }
        for (column, name) in &self.values {
            let name = self.host.map_or(name.as_str(), |host| row.text(host));
            let steps = table.steps_by_name.entry(name.to_owned()).or_default();
            let last = steps.last().map(|step| step.0);
            let (time, is_date) = row.parse_time(self.time, last)?;
            table.has_dates |= is_date;
            if row.text(*column).is_empty() {
                table.gap_count += 1;
                continue;
            }
            if let Some(last) = last.filter(|last| time <= *last) {
                let line = if name.is_empty() {
                    "line"
                } else {
                    "line of this host"
                };
                let message = format!(
                    "the time {time} is not later than the time of the previous {line}, {last}"
                );
                return Err(row.problem_at_field(self.time, message));
            }
            let load = load_of(row.parse_number(*column)?).map_err(|problem| Problem {
                location: row.problem_at_field(*column, "").location,
                ..problem
            })?;
            steps.push((time, load));
        }
        Ok(())
    }
}

impl Row<'_> {
    fn text(&self, field: usize) -> &str {
        self.fields.get(field).map_or("", String::as_str)
    }

    /// Returns the first column whose heading is one of `names`, in the order of the names. The unit in a heading does not count:
    /// `date_s` is `date`, and `Load [%]` is `load`.
    fn find(&self, names: &[&str]) -> Option<usize> {
        let heading = |field: usize| {
            let text = self
                .text(field)
                .trim_start_matches('%')
                .to_ascii_lowercase();
            let end = text.find(['[', '(', '_', ' ']).unwrap_or(text.len());
            text[..end].to_owned()
        };
        let headings: Vec<String> = (0..self.fields.len()).map(heading).collect();
        names
            .iter()
            .find_map(|name| headings.iter().position(|heading| heading == name))
    }

    fn is_single_number(&self) -> bool {
        self.fields.len() == 1 && self.parse_number(0).is_ok()
    }

    fn no_value_column(&self, rest: &[usize], headings: ValueHeadings<'_>) -> Problem {
        let what = match headings.chosen {
            Some(name) => format!("the table has no column `{name}`"),
            None => "it is not clear which column has the values of the load".to_owned(),
        };
        let names: Vec<&str> = rest.iter().map(|column| self.text(*column)).collect();
        self.problem_at_field(0, what).hint(format!(
            "name one of the columns, such as `column={}`; columns: {}; for `sadf -d`, add `values=idle,scale=percent`",
            names.last().unwrap_or(&"load"),
            names.join(", ")
        ))
    }

    fn parse_number(&self, field: usize) -> Result<f64, Problem> {
        let text = self.text(field);
        match self.separator.replace_decimal_comma(text).parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => {
                let what = format!("the value `{text}` is not a finite number of at least 0");
                Err(self.problem_at_field(field, what))
            }
        }
    }

    fn parse_time(&self, field: usize, previous: Option<f64>) -> Result<(f64, bool), Problem> {
        let Some(time) = LoadTime::parse(self.text(field)) else {
            return Ok((self.parse_number(field)?, false));
        };
        let is_date = matches!(time, LoadTime::Calendar(_));
        Ok((time.seconds_after(previous), is_date))
    }
}
