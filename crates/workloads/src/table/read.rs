//! Reads the CSV tables of the application `table`, and reports all problems together, each with its line.

use super::{
    application::Table,
    column::{Column, FieldError, find_columns, parse_size, parse_work},
    config::TableConfig,
};
use crate::{Message, recorded::StoredSupersteps};
use migsim_base::{
    document::{FileKind, MOST_PROBLEMS, Separator, has_decimal_comma, is_placeholder_heading},
    error::{Error, Problem, Result},
    units::{Bytes, Instructions, ProcessId},
};

const MAX_PROCESSES_OR_SUPERSTEPS: u64 = 10_000_000;

#[derive(Clone, Copy, Debug)]
struct WorkRow {
    superstep: usize,
    process: usize,
    /// Work of the process in the superstep \[instructions\].
    work: Instructions,
    /// Memory of the process; `None` if the row does not state it.
    memory: Option<Bytes>,
    line_number: usize,
}

impl Table {
    /// Reads the application from the contents of the two CSV files that `config` names.
    ///
    /// # Errors
    /// All problems of the tables, each with its line.
    pub fn from_csv_bytes(
        work: &[u8],
        messages: Option<&[u8]>,
        config: &TableConfig,
    ) -> Result<Self> {
        if config.first > 1 {
            return Err(Problem::new(format!(
                "`first` (number of the first superstep and process) is {}, but must be 0 or 1",
                config.first
            ))
            .key("workload.first")
            .hint("set `first` to 1, or to 0 if the tables count from 0")
            .into());
        }
        let mut problems = Vec::new();
        let first = config.first;
        let work_file = TableFile {
            path: &config.work,
            first,
        };
        let rows = work_file.read_work(work, config.speed.get(), &mut problems);
        let message_rows = match (messages, &config.messages) {
            (Some(bytes), Some(path)) => {
                TableFile { path, first }.read_messages(bytes, &mut problems)
            }
            _ => Vec::new(),
        };
        if !problems.is_empty() {
            let other = file_kind_problems(work, messages, config);
            return Err(Error::Input(if other.is_empty() {
                problems
            } else {
                other
            }));
        }
        if rows.is_empty() {
            let problem =
                work_file.problem_at(1, 1, "the table has no line after its heading".to_owned());
            let hint =
                "write one line for each process in each superstep in which the process computes";
            return Err(problem.hint(hint).into());
        }
        Ok(table_from_rows(rows, message_rows, config))
    }
}

/// Returns the problems of files that are no tables of the expected kind, for example because the two tables are swapped or a
/// file is a trace.
fn file_kind_problems(work: &[u8], messages: Option<&[u8]>, config: &TableConfig) -> Vec<Problem> {
    let places = [
        (
            Some(work),
            Some(&config.work),
            FileKind::WorkTable,
            "a table of work",
        ),
        (
            messages,
            config.messages.as_ref(),
            FileKind::MessageTable,
            "a table of messages",
        ),
    ];
    let problem = |(bytes, name, wanted, words): (Option<&[u8]>, Option<&String>, _, _)| {
        let kind = FileKind::detect_from_bytes(bytes?)?;
        let problem = kind.wrong_kind_error(words, name.filter(|_| kind != wanted)?);
        Some(
            if matches!(kind, FileKind::WorkTable | FileKind::MessageTable) {
                problem.hint("check whether `--work` and `--messages` are swapped")
            } else {
                problem
            },
        )
    };
    places.into_iter().filter_map(problem).collect()
}

fn table_from_rows(
    mut work: Vec<WorkRow>,
    mut messages: Vec<(usize, Message)>,
    config: &TableConfig,
) -> Table {
    let ends = messages
        .iter()
        .flat_map(|(_, message)| [message.from.index(), message.to.index()]);
    let processes = work.iter().map(|row| row.process).chain(ends).max();
    let supersteps = work
        .iter()
        .map(|row| row.superstep)
        .chain(messages.iter().map(|message| message.0))
        .max();
    work.sort_by_key(|row| (row.superstep, row.process));
    messages.sort_by_key(|message| message.0);
    let mut memory = vec![None; processes.map_or(0, |last| last + 1)];
    let mut steps = StoredSupersteps::default();
    let stated = work.iter().filter_map(|row| {
        let process = ProcessId::from_index(row.process);
        Some((row.superstep, process, row.memory?))
    });
    steps.set_memory(stated.collect(), &mut memory);
    for memory in &mut memory {
        *memory = memory.or(config.memory);
    }
    let mut work = work.into_iter().peekable();
    let mut messages = messages.into_iter().peekable();
    for superstep in 0..supersteps.map_or(0, |last| last + 1) {
        steps.open_superstep();
        while let Some(row) = work.next_if(|row| row.superstep == superstep) {
            steps.add_work(ProcessId::from_index(row.process), row.work);
        }
        while let Some((_, message)) = messages.next_if(|message| message.0 == superstep) {
            steps.add_message(message);
        }
        steps.close_superstep();
    }
    Table { steps, memory }
}

pub(crate) struct TableFile<'a> {
    pub path: &'a str,
    pub first: u64,
}

pub(crate) struct TableRow<'r> {
    line_number: usize,
    separator: Separator,
    fields: &'r csv::StringRecord,
}

impl TableRow<'_> {
    /// Returns the field with the index `at`, without surrounding space; an empty text if the row has fewer fields.
    fn field_at(&self, at: usize) -> &str {
        self.fields.get(at).unwrap_or_default().trim()
    }
}

impl TableFile<'_> {
    fn problem_at(&self, line: usize, column: usize, what: String) -> Problem {
        Problem::new(what)
            .source(self.path)
            .at_line_column(line, column)
    }

    /// Reads the table of work and returns its rows; problems are appended to `problems`.
    fn read_work(&self, bytes: &[u8], speed: f64, problems: &mut Vec<Problem>) -> Vec<WorkRow> {
        let known = ["superstep", "process", "work", "memory"];
        let mut rows: Vec<WorkRow> = self.read_rows(bytes, (known, 1), problems, |row, columns| {
            let [superstep, process, work_at, memory] = columns;
            Ok(WorkRow {
                superstep: self.parse_index(row, superstep.as_ref(), "superstep")?,
                process: self.parse_index(row, process.as_ref(), "process")?,
                work: parse_quantity(row, work_at.as_ref(), |text: &str, unit: Option<&str>| {
                    parse_work(text, unit, speed)
                })?
                .unwrap_or_default(),
                memory: parse_quantity(row, memory.as_ref(), parse_size)?,
                line_number: row.line_number,
            })
        });
        rows.sort_by_key(|row| (row.superstep, row.process, row.line_number));
        for pair in rows.windows(2) {
            let [one, other] = [pair[0], pair[1]];
            if (one.superstep, one.process) == (other.superstep, other.process)
                && problems.len() < MOST_PROBLEMS
            {
                let process = other.process as u64 + self.first;
                let superstep = other.superstep as u64 + self.first;
                problems.push(
                    self.problem_at(other.line_number, 1, format!(
                    "this line has the same process ({process}) and superstep ({superstep}) as line {}",
                    one.line_number
                ))
                        .hint("replace the two lines by one with the sum of their work"),
                );
            }
        }
        rows
    }

    /// Reads the table of messages and returns each message with its superstep, counted from 0; problems are appended to
    /// `problems`.
    fn read_messages(&self, bytes: &[u8], problems: &mut Vec<Problem>) -> Vec<(usize, Message)> {
        let known = ["superstep", "from", "to", "bytes"];
        self.read_rows(bytes, (known, 0), problems, |row, columns| {
            let [superstep, from, to, bytes] = columns;
            let process = |column: &Option<Column>| -> Result<ProcessId, FieldError> {
                let index = self.parse_index(row, column.as_ref(), "process")?;
                Ok(ProcessId::from_index(index))
            };
            let message = Message {
                from: process(from)?,
                to: process(to)?,
                size: parse_quantity(row, bytes.as_ref(), parse_size)?.unwrap_or_default(),
            };
            let superstep = self.parse_index(row, superstep.as_ref(), "superstep")?;
            Ok((superstep, message))
        })
    }

    /// Reads the rows of a table with the columns `known`, of which the last `optional` may be missing, and returns the rows as
    /// `read` converts them; problems are appended to `problems`.
    pub(crate) fn read_rows<T, const N: usize>(
        &self,
        bytes: &[u8],
        (known, optional): ([&'static str; N], usize),
        problems: &mut Vec<Problem>,
        read: impl Fn(&TableRow<'_>, &[Option<Column>; N]) -> Result<T, FieldError>,
    ) -> Vec<T> {
        let mut rows = Vec::new();
        let separator = Separator::from_heading_line(&first_content_line(bytes));
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::Headers)
            .comment(Some(b'#'))
            .delimiter(separator.as_byte())
            .from_reader(bytes);
        let heading = reader
            .headers()
            .cloned()
            .map_err(|error| vec![self.unreadable_row_problem(&error, &known)]);
        let columns = heading.and_then(|heading| {
            let heading: Vec<&str> = heading.iter().collect();
            let has_index = heading
                .first()
                .is_some_and(|name| is_placeholder_heading(name));
            Ok((find_columns(&heading, known, optional)?, has_index))
        });
        let (columns, has_index) = match columns {
            Ok(columns) => columns,
            Err(found) => {
                let placed = found
                    .into_iter()
                    .map(|problem| self.with_place_at_heading(problem));
                problems.extend(placed.take(MOST_PROBLEMS));
                return rows;
            }
        };
        let mut fields = csv::StringRecord::new();
        for number in 0.. {
            let found = match reader.read_record(&mut fields) {
                Ok(false) => break,
                Ok(true) => Ok(()),
                Err(error) => Err(self.unreadable_row_problem(&error, &known)),
            };
            let row = found.and_then(|()| {
                let line = fields
                    .position()
                    .map_or(1, |place| to_line_number(place.line()));
                let row = TableRow {
                    line_number: line,
                    separator,
                    fields: &fields,
                };
                check_index_column(&row, has_index.then_some(number))
                    .and_then(|()| read(&row, &columns))
                    .map_err(|(what, hint)| self.problem_at(line, 1, what).hint(hint))
            });
            match row {
                Ok(row) => rows.push(row),
                Err(problem) => problems.push(problem),
            }
            if problems.len() >= MOST_PROBLEMS {
                break;
            }
        }
        rows
    }

    fn with_place_at_heading(&self, problem: Problem) -> Problem {
        match problem.location.source {
            Some(_) => problem,
            None => problem.source(self.path).at_line_column(1, 1),
        }
    }

    fn unreadable_row_problem(&self, error: &csv::Error, known: &[&str]) -> Problem {
        let line = error
            .position()
            .map_or(1, |place| to_line_number(place.line()));
        let what = match error.kind() {
            csv::ErrorKind::UnequalLengths {
                expected_len, len, ..
            } => {
                format!("this line has {len} fields, but the heading has {expected_len}")
            }
            csv::ErrorKind::Utf8 { .. } => "this line is not text in UTF-8".to_owned(),
            _ => "this line cannot be read".to_owned(),
        };
        self.problem_at(line, 1, what).hint(format!(
            "write one field for each column of the first line (known columns: `{}`)",
            known.join(",")
        ))
    }

    /// Parses the number of a superstep or process (`what`); returns it counted from 0.
    pub(crate) fn parse_index(
        &self,
        row: &TableRow<'_>,
        column: Option<&Column>,
        what: &str,
    ) -> Result<usize, FieldError> {
        let first = self.first;
        let text = row.field_at(column.map_or(0, |column| column.index));
        let digits = if what == "process" {
            text.strip_prefix('p').unwrap_or(text)
        } else {
            text
        };
        let digits = row.separator.replace_decimal_comma(digits);
        // Programs write 1 as `1.0` in tables of numbers with gaps.
        let digits = match digits.split_once('.') {
            Some((whole, zeros)) if zeros.bytes().all(|byte| byte == b'0') => whole,
            _ => &digits,
        };
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<u64> = digits.parse().ok().filter(|_| is_number);
        let wrong = |what: String, hint: &str| Err((what, hint.to_owned()));
        match number.map(|number| number.checked_sub(first)) {
            None => wrong(
                format!("`{text}` is not the number of a {what}"),
                "write a whole number",
            ),
            Some(None) => wrong(
                format!("there is no {what} {text}, since the tables count from 1"),
                "add `--set workload.first=0` if the tables count supersteps and processes from 0",
            ),
            Some(Some(index)) if index < MAX_PROCESSES_OR_SUPERSTEPS => {
                Ok(usize::try_from(index).unwrap_or(usize::MAX))
            }
            Some(Some(_)) => wrong(
                format!("the number {text} of a {what} is too large"),
                "reduce the numbers: at most 10 million processes and supersteps are possible",
            ),
        }
    }
}

/// Parses a field as a quantity; `None` if the field is empty or the table does not have the column.
pub(crate) fn parse_quantity<T>(
    row: &TableRow<'_>,
    column: Option<&Column>,
    read: impl Fn(&str, Option<&str>) -> Result<T, FieldError>,
) -> Result<Option<T>, FieldError> {
    let Some(column) = column else {
        return Ok(None);
    };
    let text = row.field_at(column.index);
    if text.is_empty() {
        return Ok(None);
    }
    let number = row.separator.replace_decimal_comma(text);
    read(&number, column.unit.as_deref()).map(Some).map_err(|(what, hint)| {
        if has_decimal_comma(text) {
            let point = text.replacen(',', ".", 1);
            (what, format!(
                "write the number with a decimal point, `{point}`, or separate the fields by `;`"
            ))
        } else {
            (what, hint)
        }
    })
}

fn check_index_column(row: &TableRow<'_>, number: Option<usize>) -> Result<(), FieldError> {
    let Some(number) = number else {
        return Ok(());
    };
    let text = row.field_at(0);
    if text == number.to_string() {
        return Ok(());
    }
    let what = format!(
        "the first column has no name and so must count the rows from 0, but it has `{text}` instead of {number}"
    );
    let hint = "name this column in the first line, or write the table without it (`to_csv(..., index=False)` in pandas)";
    Err((what, hint.to_owned()))
}

fn first_content_line(bytes: &[u8]) -> String {
    let mut lines = bytes
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"));
    String::from_utf8_lossy(line.unwrap_or_default()).into_owned()
}

/// Converts the line number that the CSV parser reports to the type that problems use.
fn to_line_number(line: u64) -> usize {
    usize::try_from(line).unwrap_or(usize::MAX)
}
