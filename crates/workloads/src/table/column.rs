//! Finds the columns of a table by their names, and parses quantities in the units of their columns.

use migsim_base::{
    document::{MOST_PROBLEMS, is_placeholder_heading},
    error::Problem,
    units::{Bytes, Instructions, Seconds},
};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub index: usize,
    /// Unit of the numbers in the column, from its heading; `None` if the heading has no unit.
    pub unit: Option<String>,
}

/// Finds the columns with the names `known` in the heading of a table, and returns them in this order. The last `optional` of
/// these columns may be missing. A first column without a name is ignored.
///
/// # Errors
/// A column is missing, repeated or unknown; the caller adds the line and the column to the problems.
pub(super) fn find_columns<const N: usize>(
    heading: &[&str],
    known: [&'static str; N],
    optional: usize,
) -> Result<[Option<Column>; N], Vec<Problem>> {
    let mut found = [const { None }; N];
    let mut problems = Vec::new();
    let has_index = heading
        .first()
        .is_some_and(|name| is_placeholder_heading(name));
    for (index, text) in heading.iter().enumerate().skip(usize::from(has_index)) {
        if problems.len() >= MOST_PROBLEMS {
            break;
        }
        let (name, unit) = split_heading(text, &known);
        let Some(place) = known.iter().position(|known| *known == name) else {
            problems.push(unknown_column_problem(text, &known, heading.len()));
            continue;
        };
        let column = Column {
            index,
            unit: unit.map(str::to_owned),
        };
        if found[place].replace(column).is_some() {
            let problem = Problem::new(format!("column `{name}` appears twice"));
            problems.push(problem.hint("remove or rename one of the two columns"));
        }
    }
    let required = known.iter().zip(&found).take(N - optional);
    for (name, _) in required.filter(|(_, found)| found.is_none()) {
        let problem = Problem::new(format!("column `{name}` is missing"));
        let hint = format!("name all columns in the first line: `{}`", known.join(","));
        problems.push(problem.hint(hint));
    }
    if problems.is_empty() {
        Ok(found)
    } else {
        Err(problems)
    }
}

/// Creates the problem that a table of `columns` columns has an unknown column `name`.
fn unknown_column_problem(name: &str, known: &[&str], columns: usize) -> Problem {
    let problem = Problem::unknown_name("column", name);
    if columns == 1 {
        let names = known.join(",");
        problem.hint(format!(
            "separate the names and fields by commas, semicolons or tabs: `{names}`"
        ))
    } else {
        problem.with_known_names("columns", known.iter().copied())
    }
}

/// Splits the heading of a column into name and unit: `work [Ginstr]`, `work (Ginstr)`, `work_Ginstr` or `work`.
fn split_heading<'t>(text: &'t str, known: &[&str]) -> (&'t str, Option<&'t str>) {
    let text = text.trim();
    for (open, close) in [('[', ']'), ('(', ')')] {
        if let Some((name, unit)) = text.split_once(open)
            && let Some(unit) = unit.trim_end().strip_suffix(close)
        {
            return (name.trim_end(), Some(unit.trim()));
        }
    }
    match text.split_once('_') {
        Some((name, unit)) if known.contains(&name) => (name, Some(unit)),
        _ => (text, None),
    }
}

pub(crate) type FieldError = (String, String);

/// Parses the work in a field, written in instructions or as a time in seconds on hosts of speed `speed` \[instructions/s\].
pub(super) fn parse_work(
    text: &str,
    unit: Option<&str>,
    speed: f64,
) -> Result<Instructions, FieldError> {
    if let Some(work) =
        parse_plain_number(text, unit, Instructions::UNIT).and_then(Instructions::new)
    {
        return Ok(work);
    }
    let whole = append_unit(text, unit.unwrap_or(Instructions::UNIT));
    let seconds = Seconds::parse(&whole).ok();
    let read = match seconds {
        Some(seconds) => Instructions::new(seconds.get() * speed)
            .ok_or_else(|| format!("`{whole}` is out of range")),
        None => Instructions::parse(&whole).map_err(|error| error.to_string()),
    };
    read.map_err(|what| {
        let hint = "write the number with its unit (`1.5 Ginstr`), or name the unit of all numbers in the heading of the column: `work \
        [Ginstr]`, `work [s]`";
        (what, hint.to_owned())
    })
}

pub(crate) fn parse_size(text: &str, unit: Option<&str>) -> Result<Bytes, FieldError> {
    if let Some(size) = parse_plain_number(text, unit, Bytes::UNIT).and_then(Bytes::new) {
        return Ok(size);
    }
    Bytes::parse(&append_unit(text, unit.unwrap_or(Bytes::UNIT))).map_err(|error| {
        let hint = "write the number with its unit (`64 kB`), or name the unit of all numbers in the heading of the column: `bytes [kB]`";
        (error.to_string(), hint.to_owned())
    })
}

/// Parses a field that is a plain number in the unit `own`, which is the most common case. Returns `None` if the field is not a
/// plain number, or if the column has another unit.
fn parse_plain_number(text: &str, unit: Option<&str>, own: &str) -> Option<f64> {
    let mut letters = text.bytes();
    let is_plain = letters.all(|letter| letter.is_ascii_digit() || letter == b'.');
    (is_plain && unit.is_none_or(|unit| unit == own)).then(|| text.parse().ok())?
}

fn append_unit(text: &str, unit: &str) -> String {
    if text.parse::<f64>().is_ok() {
        format!("{text} {unit}")
    } else {
        text.to_owned()
    }
}
