//! Reads the messages of a superstep from a CSV file with the columns `from`, `to`, `bytes` and one row per message. Every
//! superstep of the application has these messages.

use crate::Message;
use migsim_base::document::{read_bytes, sha256};
use migsim_base::error::{Error, Problem};
use migsim_base::units::{Bytes, InvalidProcessNumber, ProcessId};

use super::config::MAX_MESSAGES;

const COLUMNS: [&str; 3] = ["from", "to", "bytes"];
/// Maximum number of problems in one file that are reported.
const MAX_PROBLEMS: usize = 20;

/// Reads the messages of a superstep between `processes` processes from a CSV file; also returns the SHA-256 of the file.
pub(super) fn read_messages_and_file_hash(
    file: &str,
    processes: usize,
) -> Result<(Vec<Message>, String), Error> {
    let bytes = read_bytes(file.as_ref()).map_err(|problem| problem.key("workload.messages"))?;
    Ok((parse_messages(file, &bytes, processes)?, sha256(&bytes)))
}

/// Parses the bytes of a CSV file as the messages of a superstep; `file` is its path in error messages.
fn parse_messages(file: &str, bytes: &[u8], processes: usize) -> Result<Vec<Message>, Error> {
    let problem = |line: u64, what: String| {
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        Problem::new(what).source(file).at_line_column(line, 1)
    };
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let unreadable = |error: &csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        problem(line, "the row cannot be read".into()).hint(
            "write three fields in UTF-8, for example `p1,p2,500000`: sender, receiver and bytes",
        )
    };
    let heading = reader.headers().map_err(|error| unreadable(&error))?;
    if heading.iter().ne(COLUMNS) {
        let what = "the first line is not the heading `from,to,bytes`".to_owned();
        let hint = "begin the file with this heading, and write one line for each message, for example `p1,p2,500000`";
        return Err(problem(1, what).hint(hint).into());
    }
    let mut messages = Vec::new();
    let mut problems = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| unreadable(&error))?;
        let line = row.position().map_or(1, csv::Position::line);
        match parse_message_row(&row, processes) {
            Ok(message) => messages.push(message),
            Err((what, hint)) => problems.push(problem(line, what).hint(hint)),
        }
        if problems.len() == MAX_PROBLEMS {
            break;
        }
    }
    if messages.len() as u64 > MAX_MESSAGES {
        let what = format!(
            "the file has {} messages, too many for a superstep",
            messages.len()
        );
        problems.push(problem(1, what).hint(format!(
            "reduce the file to at most {MAX_MESSAGES} messages"
        )));
    }
    if problems.is_empty() {
        Ok(messages)
    } else {
        Err(Error::Input(problems))
    }
}

/// Parses one row as a message between two processes; an error consists of a text for the user and a hint.
fn parse_message_row(
    row: &csv::StringRecord,
    processes: usize,
) -> Result<Message, (String, String)> {
    let process = |text: &str| -> Result<ProcessId, (String, String)> {
        let hint = format!("write a process from p1 to p{processes}");
        let found: ProcessId = text
            .parse()
            .map_err(|error: InvalidProcessNumber| (error.to_string(), hint.clone()))?;
        if found.index() < processes {
            Ok(found)
        } else {
            Err((format!("the application has no process `{text}`"), hint))
        }
    };
    let (from, to) = (process(&row[0])?, process(&row[1])?);
    if from == to {
        let what = format!("the message goes from process `{}` to itself", &row[0]);
        return Err((what, "remove this line, or name another receiver".into()));
    }
    let size: u64 = row[2].parse().map_err(|_| {
        let what = format!("`{}` is not a number of bytes", &row[2]);
        (
            what,
            "write a whole number of bytes, without a unit".to_owned(),
        )
    })?;
    Ok(Message {
        from,
        to,
        size: Bytes::of(size as f64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_messages_and_count_from_one() {
        let read = parse_messages("m.csv", b"from,to,bytes\np1, 2 ,100\n3,p1,0\n", 3).unwrap();
        let told: Vec<_> = read
            .iter()
            .map(|one| (one.from.index(), one.to.index(), one.size.get()))
            .collect();
        assert_eq!(told, [(0, 1, 100.0), (2, 0, 0.0)]);
    }

    #[test]
    fn what_is_no_message_is_named_with_its_line() {
        let refused = |text: &str| {
            parse_messages("m.csv", text.as_bytes(), 3)
                .unwrap_err()
                .to_string()
        };
        let told = refused("from,to,bytes\np1,p4,1\np0,p1,1\np2,p2,1\np1,p2,1 kB\n");
        for (line, what) in [
            (2, "the application has no process `p4`"),
            (3, "`p0` is not a process number"),
            (4, "the message goes from process `p2` to itself"),
            (5, "`1 kB` is not a number of bytes"),
        ] {
            assert!(
                told.contains(what) && told.contains(&format!("m.csv:{line}:1")),
                "{told}"
            );
        }
        assert!(refused("a,b,c\n").contains("the first line is not the heading"));
        assert!(refused("from,to,bytes\n1,2\n").contains("m.csv:2:1"));
        assert!(refused("").contains("the first line is not the heading"));
    }
}
