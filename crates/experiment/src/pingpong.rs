//! Reads tables of measured single messages: a CSV file, or the output of the OSU and Intel MPI benchmarks.
//!
//! | text | meaning of a row |
//! |---|---|
//! | CSV with the columns `from,to,bytes,time_s` in any order; `kind` is `ping`, `exchange` for two messages at the same time, one in each direction, inside a host, or `stream` for the time of a long stream of messages divided by their number | a message in one direction between two named hosts, or inside one host |
//! | OSU MPI Latency Test | size and latency in microseconds of a message in one direction |
//! | Intel MPI Benchmarks, `PingPong` | `#bytes` and `t[usec]` of a message in one direction; other benchmarks in the file are skipped |

use std::collections::BTreeMap;

use migsim_base::{
    error::{Error, Problem, Result},
    units::HostId,
};
use migsim_platform::Platform;

/// The measured time of messages of one size between two hosts, or inside one host.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredMessages {
    /// The host of the sender.
    pub sender_host: HostId,
    /// The host of the receiver.
    pub receiver_host: HostId,
    /// The size of each message \[B\].
    pub message_size: f64,
    /// Median of the measured times of the messages in one direction \[s\].
    pub median_time: f64,
    /// Number of measured messages.
    pub message_count: usize,
    /// What was measured.
    pub kind: MeasurementKind,
}

/// What the time of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MeasurementKind {
    /// The time of one message.
    Ping,
    /// The time until two messages have arrived that are sent at the same time, one in each direction.
    Exchange,
    /// The time of a long stream of messages in one direction, divided by their number.
    Stream,
}

impl MeasurementKind {
    /// Returns the name of the kind in tables: `ping`, `exchange` or `stream`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ping => "ping",
            Self::Exchange => "exchange",
            Self::Stream => "stream",
        }
    }
}

/// A row of the table: line number, names of the two hosts, size \[B\], time \[s\], and what the time is.
type MessageRow<'t> = (usize, Option<(&'t str, &'t str)>, f64, f64, MeasurementKind);

fn row_problem(source: &str, line: usize, message: impl Into<String>, hint: &str) -> Problem {
    Problem::new(message)
        .source(source)
        .at_line_column(line, 1)
        .hint(hint)
}

/// Reads a table of measured messages; `between` gives the names of the two hosts for tables without host names.
///
/// # Errors
/// The table has no known format, a value is invalid, or a host is unknown. All problems are reported together.
pub fn read_measured_messages(
    source: &str,
    text: &str,
    platform: &Platform,
    between: Option<(&str, &str)>,
) -> Result<Vec<MeasuredMessages>> {
    let mut problems = Vec::new();
    let rows = parse_message_rows(source, text, &mut problems);
    let mut groups: BTreeMap<(HostId, HostId, MeasurementKind, u64), Vec<f64>> = BTreeMap::new();
    for (line, hosts, bytes, time, measurement) in rows {
        if let (Some((from, to)), Some(between)) = (hosts, between)
            && (from, to) != between
        {
            let message = format!(
                "the row is about the hosts `{from}` and `{to}`, but `--between` names other hosts"
            );
            let hint = "leave out `--between`: the columns `from` and `to` of the table already name the hosts";
            problems.push(row_problem(source, line, message, hint));
            break;
        }
        let Some((from, to)) = hosts.or(between) else {
            return Err(Error::input(
                "the table does not name the hosts between which it was measured",
                source,
                "name the two hosts with `--between HOST,HOST`",
            ));
        };
        let mut host = |name: &str| {
            let found = platform.host_named(name);
            if found.is_none() {
                let known = platform.hosts.iter().map(|host| host.name.as_str());
                let problem = Problem::unknown_name("host", name)
                    .source(source)
                    .at_line_column(line, 1);
                problems.push(problem.with_known_names("hosts", known));
            }
            found
        };
        let (Some(from), Some(to)) = (host(from), host(to)) else {
            continue;
        };
        groups
            .entry((from, to, measurement, bytes.to_bits()))
            .or_default()
            .push(time);
    }
    Error::unless_empty(problems)?;
    let pings: Vec<MeasuredMessages> = groups
        .into_iter()
        .map(|((from, to, kind, bytes), mut times)| MeasuredMessages {
            sender_host: from,
            receiver_host: to,
            message_size: f64::from_bits(bytes),
            message_count: times.len(),
            median_time: median(&mut times),
            kind,
        })
        .collect();
    if pings.is_empty() {
        return Err(Error::input(
            "the table has no rows with measured messages",
            source,
            "name a CSV file with the columns from,to,bytes,time_s, or the output of osu_latency or IMB PingPong",
        ));
    }
    Ok(pings)
}

/// Returns the median of a nonempty list of numbers, and sorts the list.
pub(super) fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    let count = numbers.len();
    if count % 2 == 1 {
        numbers[half]
    } else {
        f64::midpoint(numbers[half - 1], numbers[half])
    }
}

/// Parses the rows of a table of measured messages in any known format; problems of faulty rows are appended to `problems`.
fn parse_message_rows<'t>(
    source: &str,
    text: &'t str,
    problems: &mut Vec<Problem>,
) -> Vec<MessageRow<'t>> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    let is_benchmark = first.trim_start().starts_with('#') || !first.contains(',');
    if is_benchmark {
        parse_benchmark_rows(source, text, problems)
    } else {
        parse_csv_rows(source, text, problems)
    }
}

/// The columns that a CSV table must have.
const REQUIRED_COLUMNS: [&str; 4] = ["from", "to", "bytes", "time_s"];

/// Splits a line of a CSV table into its cells, without spaces and quotation marks around them.
fn split_cells(line: &str) -> Vec<&str> {
    line.split(',')
        .map(|cell| cell.trim().trim_matches('"'))
        .collect()
}

/// Parses the rows of a CSV table of measured messages; problems of faulty rows are appended to `problems`.
fn parse_csv_rows<'t>(
    source: &str,
    text: &'t str,
    problems: &mut Vec<Problem>,
) -> Vec<MessageRow<'t>> {
    let mut lines = (1..).zip(text.lines());
    let mut lines = lines.by_ref().filter(|(_, line)| !line.trim().is_empty());
    let names = split_cells(lines.next().map_or("", |(_, line)| line));
    let places = REQUIRED_COLUMNS.map(|column| names.iter().position(|name| *name == column));
    let [Some(from), Some(to), Some(bytes), Some(time)] = places else {
        for (column, _) in REQUIRED_COLUMNS
            .iter()
            .zip(places)
            .filter(|(_, place)| place.is_none())
        {
            let message = format!("the table has no column `{column}`");
            let columns = REQUIRED_COLUMNS.join(",");
            let hint = format!("name the columns in the first line: `{columns}`");
            problems.push(row_problem(source, 1, message, &hint));
        }
        return Vec::new();
    };
    let kind = names.iter().position(|name| *name == "kind");
    let mut rows = Vec::new();
    for (number, line) in lines {
        let cells = split_cells(line);
        if cells.len() > names.len() {
            let fields = cells.len();
            let columns = names.len();
            let message =
                format!("the row has {fields} fields, but the table has {columns} columns");
            let hint = "write numbers with a decimal point instead of a comma, and name each column in the first line";
            problems.push(row_problem(source, number, message, hint));
            continue;
        }
        let cell = |place: usize| cells.get(place).copied().unwrap_or_default();
        match (parse_nonnegative(cell(bytes)), parse_positive(cell(time))) {
            (Some(bytes), Some(time)) => {
                let kind = match kind.map(cell) {
                    Some("exchange") => MeasurementKind::Exchange,
                    Some("stream") => MeasurementKind::Stream,
                    _ => MeasurementKind::Ping,
                };
                rows.push((number, Some((cell(from), cell(to))), bytes, time, kind));
            }
            _ => problems.push(row_problem(
                source,
                number,
                "the row lacks a size in bytes or a time in seconds above 0",
                "write the size in bytes and the time in seconds, for example `1024` and `0.0004`",
            )),
        }
    }
    rows
}

/// Parses the output of a benchmark: rows of sizes and times in microseconds, below a heading that names these columns.
fn parse_benchmark_rows<'t>(
    source: &str,
    text: &'t str,
    problems: &mut Vec<Problem>,
) -> Vec<MessageRow<'t>> {
    let mut rows = Vec::new();
    // The column of the time, until the table of the benchmark ends.
    let mut place = None;
    let mut is_other = false;
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.contains("Benchmarking") {
            is_other = words.last() != Some(&"PingPong");
            place = None;
        } else if line.contains("Size") && line.contains("(us)") && line.contains("atency") {
            place = Some(1); // OSU; later columns are percentiles
        } else if line.contains("(MB/s)") && line.contains("Size") {
            problems.push(row_problem(
                source,
                number,
                "the table holds bandwidths, not times of messages",
                "run osu_latency or IMB PingPong, which measure times",
            ));
            return rows;
        } else if line.contains("#bytes") {
            place = words
                .iter()
                .position(|word| *word == "t[usec]")
                .filter(|_| !is_other);
        } else if let (Some(place), Some(bytes)) =
            (place, words.first().and_then(|w| parse_nonnegative(w)))
        {
            match words.get(place).and_then(|word| parse_positive(word)) {
                Some(time) => {
                    rows.push((number, None, bytes, time * 1e-6, MeasurementKind::Ping));
                }
                None => problems.push(row_problem(
                    source,
                    number,
                    "the row lacks a time in microseconds above 0",
                    "repeat the benchmark so that it prints more digits of the times, or remove the row",
                )),
            }
        } else {
            place = place.filter(|_| !words.is_empty() && line.trim_start().starts_with('#'));
        }
    }
    rows
}

/// Parses a finite number that is not negative; otherwise `None`.
fn parse_nonnegative(text: &str) -> Option<f64> {
    let number = text.parse::<f64>().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// Parses a finite number above zero; otherwise `None`.
fn parse_positive(text: &str) -> Option<f64> {
    parse_nonnegative(text).filter(|time| *time > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_engine::testing::single_cluster_platform;

    fn sizes(text: &str) -> Vec<(f64, f64, usize)> {
        let platform = single_cluster_platform(&[1e9; 2], 1e6, 0.0);
        let pings = read_measured_messages("t", text, &platform, Some(("h0", "h1"))).unwrap();
        pings
            .iter()
            .map(|one| (one.message_size, one.median_time, one.message_count))
            .collect()
    }

    fn refusal(text: &str) -> String {
        let platform = single_cluster_platform(&[1e9; 2], 1e6, 0.0);
        read_measured_messages("t", text, &platform, None)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_table_has_the_median_of_each_size() {
        let text = "time_s,to,from,bytes\n0.5,h1,h0,8\n0.25,h1,h0,8\n9,h1,h0,8\n1,h1,h0,16\n";
        assert_eq!(sizes(text), [(8.0, 0.5, 3), (16.0, 1.0, 1)]);
        assert_eq!(sizes(&text.replace('\n', "\r\n")), sizes(text));
    }

    #[test]
    fn benchmarks_print_microseconds_one_way() {
        let osu = "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n0  2.0\n1024   4.0\n";
        assert_eq!(sizes(osu), [(0.0, 2e-6, 1), (1024.0, 4e-6, 1)]);
        let imb = "# Benchmarking PingPong\n# #processes = 2\n#-----\n       #bytes #repetitions      t[usec]   Mbytes/sec\n            0  1000  0.5  0.00\n            4  1000  1.5  5.0\n\n# Benchmarking PingPing\n       #bytes #repetitions      t[usec]   Mbytes/sec\n            0  1000  7.0  0.00\n";
        let found = sizes(imb);
        assert_eq!(found.len(), 2);
        assert!((found[1].1 - 1.5e-6).abs() < 1e-18);
    }

    #[test]
    fn an_incomplete_table_is_refused() {
        assert!(refusal("from,to,bytes\nh0,h1,3\n").contains("no column `time_s`"));
        assert!(refusal("from,to,bytes,time_s\nh0,h7,3,1\n").contains("unknown host `h7`"));
        assert!(
            refusal("from,to,bytes,time_s\nh0,h1,3,0\n")
                .contains("lacks a size in bytes or a time in seconds above 0")
        );
        let negative = refusal("from,to,bytes,time_s\nh0,h1,3,-0.0004\n");
        assert!(negative.contains("hint: write the size"), "{negative}");
        assert!(
            refusal("# Size  Latency (us)\n1 -2\n")
                .contains("hint: repeat the benchmark so that it prints more digits")
        );
        assert!(refusal("# Size  Bandwidth (MB/s)\n1 2\n").contains("bandwidths"));
        assert!(refusal("# Size  Latency (us)\n1 2\n").contains("--between HOST,HOST"));
        assert!(refusal("").contains("no rows with measured messages"));
        let longer = refusal("from,to,bytes,time_s\nh0,h1,3,1\nh0,h1,3,0,5\n");
        assert!(longer.contains("the row has 5 fields, but the table has 4 columns"));
        assert!(longer.contains("--> t:3:1"), "{longer}");
        let platform = single_cluster_platform(&[1e9; 2], 1e6, 0.0);
        let text = "from,to,bytes,time_s\nh0,h1,3,1\n";
        let told = read_measured_messages("t", text, &platform, Some(("h1", "h0"))).unwrap_err();
        assert!(told.to_string().contains("leave out `--between`"), "{told}");
    }
}
