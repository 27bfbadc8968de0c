//! Reads a mapping from a table with the first host of each process.
//!
//! ```text
//! process,host
//! p1,epyc-0          a process as in the output, or its number; counted from 1
//! 2,epyc-0
//! ```
//! The first line names the columns. Each process has one row, in any order. Empty lines and lines that begin with `#` are
//! skipped, and fields may have the quotes of CSV. All problems are reported together, each with its line and column.

use std::collections::BTreeMap;

use crate::Platform;
use migsim_base::document::{FileKind, Separator, limit_problems, read_text};
use migsim_base::error::{Error, Problem};
use migsim_base::units::{HostId, ProcessId};
use migsim_base::words::format_count;

const COLUMNS: [&str; 2] = ["process", "host"];

/// Reads the table in the file `path`; returns the first host of each process.
pub(super) fn read_mapping_file(
    path: &str,
    platform: &Platform,
    processes: usize,
) -> Result<Vec<HostId>, Error> {
    let text = read_text(path)?;
    parse_mapping(&text, platform, processes).map_err(|problems| {
        if let Some(kind) = FileKind::detect_from_text(&text).filter(|kind| *kind != FileKind::ProcessMapping) {
            return kind
                .wrong_kind_error("a table of processes and their hosts", path)
                .into();
        }
        let located = problems.into_iter().map(|problem| problem.source(path));
        Error::Input(limit_problems(located.collect())).with_default_hint(
            "begin the file with the line `process,host`, and write in each further line a process and its host: `p1,epyc-0`",
        )
    })
}

/// Reads a table from its text; returns the first host of each process, or all problems.
fn parse_mapping(
    text: &str,
    platform: &Platform,
    processes: usize,
) -> Result<Vec<HostId>, Vec<Problem>> {
    let hosts: BTreeMap<&str, HostId> = (platform.hosts.iter().enumerate())
        .map(|(index, host)| (&*host.name, HostId::from_index(index)))
        .collect();
    let mut table = MappingTable {
        platform,
        host_ids_by_name: hosts,
        host_and_line_of_process: vec![None; processes],
        problems: Vec::new(),
    };
    let mut separator = None;
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let is_head = separator.is_none();
        let separator = *separator.get_or_insert_with(|| Separator::from_heading_line(line));
        let row = Row::from_line(line, number, separator);
        if !is_head {
            table.add_row(&row);
            continue;
        }
        if row.fields != COLUMNS {
            table.problems.push(row.problem_at_field(
                0,
                format!("the first line is not the heading `{}`", COLUMNS.join(",")),
            ));
            break; // the rest would be read as what it is not
        }
    }
    if separator.is_none() {
        table
            .problems
            .push(Problem::new("the table is empty").at_line_column(1, 1));
    }
    table.finish()
}

/// One line of a table in a file, split into its fields.
pub(crate) struct Row<'t> {
    line: &'t str,
    /// Number of the line in the file, counted from 1.
    line_number: usize,
    separator: Separator,
    pub(crate) fields: Vec<String>,
}

impl<'t> Row<'t> {
    /// Splits a line into fields, without surrounding spaces and quotes.
    pub(crate) fn from_line(line: &'t str, number: usize, separator: Separator) -> Self {
        Self {
            line,
            line_number: number,
            separator,
            fields: separator.split_quoted_fields(line),
        }
    }

    /// Creates a problem that is located at a field of this row.
    pub(crate) fn problem_at_field(&self, field: usize, message: impl Into<String>) -> Problem {
        let before = self.separator.split_fields(self.line).take(field);
        let column = 1 + before.map(|text| text.chars().count() + 1).sum::<usize>();
        Problem::new(message).at_line_column(self.line_number, column)
    }
}

/// A mapping table while its rows are read: the hosts of the processes so far, and the problems that were found.
struct MappingTable<'p> {
    platform: &'p Platform,
    host_ids_by_name: BTreeMap<&'p str, HostId>,
    /// Host of each process and the line number of its row; `None` for a process without a row so far.
    host_and_line_of_process: Vec<Option<(HostId, usize)>>,
    problems: Vec<Problem>,
}

impl MappingTable<'_> {
    /// Reads a row of the table: stores the host of the process, or the problems of the row.
    fn add_row(&mut self, row: &Row<'_>) {
        let [process, host] = &row.fields[..] else {
            let message = format!(
                "this line, `{}`, is not a process and a host, separated by a comma",
                row.line.trim()
            );
            self.problems.push(row.problem_at_field(0, message));
            return;
        };
        let process = self.find_unassigned_process(row, process);
        let place = self.host_ids_by_name.get(host.as_str()).copied();
        if place.is_none() {
            let problem = self.unknown_host_error(row, host);
            self.problems.push(problem);
        }
        if let (Some(process), Some(place)) = (process, place) {
            self.host_and_line_of_process[process] = Some((place, row.line_number));
        }
    }

    /// Returns the index of the process named `text`; reports a problem and returns `None` if no such process exists or if it
    /// already has a host.
    fn find_unassigned_process(&mut self, row: &Row<'_>, text: &str) -> Option<usize> {
        let count = self.host_and_line_of_process.len();
        // Programs write 1 as `1.0` in tables of numbers with gaps.
        let whole = text.trim_end_matches('0').strip_suffix('.').unwrap_or(text);
        let problem = match whole.parse::<ProcessId>() {
            Err(error) => row.problem_at_field(0, error.to_string()),
            Ok(process) => match self.host_and_line_of_process.get(process.index()) {
                Some(None) => return Some(process.index()),
                Some(Some((_, line))) => row
                    .problem_at_field(
                        0,
                        format!("line {line} already states a host for process `{text}`"),
                    )
                    .hint("remove one of the two lines"),
                None => row
                    .problem_at_field(0, format!("the application has no process `{text}`"))
                    .hint(format!(
                        "write a process from p1 to p{count}: the application has {}",
                        format_count(count, "process")
                    )),
            },
        };
        self.problems.push(problem);
        None
    }

    /// Creates the problem that the platform has no host `name`.
    fn unknown_host_error(&self, row: &Row<'_>, name: &str) -> Problem {
        let problem = Problem::unknown_name("host", name);
        let problem = problem.at_line_column(
            row.line_number,
            row.problem_at_field(1, "")
                .location
                .line_column
                .map_or(1, |at| at.1),
        );
        match self.platform.cluster_named(name) {
            Some(cluster) => {
                let hosts = &self.platform.clusters[cluster.index()].hosts;
                let name_of = |host: u32| &self.platform.hosts[host as usize].name;
                problem.hint(format!(
                    "write one host of the cluster `{name}`, from `{}` to `{}`",
                    name_of(hosts.start),
                    name_of(hosts.end - 1)
                ))
            }
            None => problem.with_known_names("hosts", self.host_ids_by_name.keys().copied()),
        }
    }

    /// Returns the host of each process, or all problems, among them processes without a row.
    fn finish(mut self) -> Result<Vec<HostId>, Vec<Problem>> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let is_missing = |process: &usize| self.host_and_line_of_process[*process].is_none();
        let missing: Vec<usize> = (0..self.host_and_line_of_process.len())
            .filter(is_missing)
            .collect();
        if let Some(first) = missing.first() {
            let message = match missing.len() {
                1 => format!("the table has no line for process p{}", first + 1),
                some => format!(
                    "the table has no lines for {some} processes, the first of which is p{}",
                    first + 1
                ),
            };
            let count = self.host_and_line_of_process.len();
            let problem = Problem::new(message).at_line_column(1, 1);
            self.problems
                .push(problem.hint(format!("write a line for each process from p1 to p{count}")));
            return Err(self.problems);
        }
        Ok(self
            .host_and_line_of_process
            .into_iter()
            .flatten()
            .map(|place| place.0)
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a platform of clusters a (2 hosts) and b (3 hosts).
    fn platform() -> Platform {
        let link = r#""link": {"bandwidth": "1 Gbps", "latency": "0 s"}, "router": "R""#;
        let text = format!(
            r#"{{"schema": "migsim-platform-1", "name": "five", "clusters": [
            {{"name": "a", "hosts": 2, "speed": "1 GHz", {link}}}, {{"name": "b", "hosts": 3, "speed": "1 GHz", {link}}}]}}"#
        );
        let loaded = crate::from_json("five.json", &text).unwrap();
        loaded.platform
    }

    fn places(text: &str, processes: usize) -> Vec<u32> {
        let hosts = parse_mapping(text, &platform(), processes).unwrap();
        hosts.into_iter().map(|host| host.0).collect()
    }

    /// Returns the messages, each with its line and column.
    fn problems(text: &str, processes: usize) -> Vec<(String, (usize, usize))> {
        let found = parse_mapping(text, &platform(), processes).unwrap_err();
        let told = found.into_iter();
        told.map(|problem| (problem.message, problem.location.line_column.unwrap()))
            .collect()
    }

    #[test]
    fn rows_come_in_any_order_and_count_processes_from_one() {
        let text = "process,host\r\n# two on b-2\r\n\r\np3,a-1\r\n1, b-2\r\n\"p2\",\"b-2\"\r\n";
        assert_eq!(places(text, 3), [4, 4, 1]);
        assert_eq!(places("process, host\n", 0), [0_u32; 0]);
    }

    #[test]
    fn all_problems_are_told_with_line_and_column() {
        let text = "process,host\np1,a-0\np1,b-0\nq2,c-0\np4,a-0\np2,b\np2;a-0\n0,a-0\n";
        let expected = [
            ("line 2 already states a host for process `p1`", (3, 1)),
            (
                "`q2` is not a process number; write `p24` or `24` (processes are counted from 1)",
                (4, 1),
            ),
            ("unknown host `c-0`", (4, 4)),
            ("the application has no process `p4`", (5, 1)),
            ("unknown host `b`", (6, 4)),
            (
                "this line, `p2;a-0`, is not a process and a host, separated by a comma",
                (7, 1),
            ),
            (
                "`0` is not a process number; write `p24` or `24` (processes are counted from 1)",
                (8, 1),
            ),
        ];
        let expected = expected.map(|(message, place)| (message.to_owned(), place));
        assert_eq!(problems(text, 3), expected);
    }

    #[test]
    fn a_cluster_in_the_place_of_a_host_is_told_with_its_hosts() {
        let found = parse_mapping("process,host\np1,b\n", &platform(), 1).unwrap_err();
        let hint = found[0].hint.as_deref().unwrap();
        assert_eq!(
            hint,
            "write one host of the cluster `b`, from `b-0` to `b-2`"
        );
    }

    #[test]
    fn processes_without_a_host_are_counted() {
        let of = |text: &str, processes| problems(text, processes).remove(0).0;
        assert_eq!(
            of("process,host\n2,a-0\n", 2),
            "the table has no line for process p1"
        );
        let several = of("process,host\n1,a-0\n", 4);
        assert_eq!(
            several,
            "the table has no lines for 3 processes, the first of which is p2"
        );
        assert_eq!(of("", 1), "the table is empty");
        assert_eq!(
            of("p1,a-0\n", 1),
            "the first line is not the heading `process,host`"
        );
    }
}
