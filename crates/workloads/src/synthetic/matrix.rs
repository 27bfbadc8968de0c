//! Reads the messages of a superstep from a CSV file with the columns `from`, `to`, `bytes` and one row per message. Every
//! superstep of the application has these messages.

use super::config::MAX_MESSAGES;
use crate::{
    Message,
    table::{
        column::{Column, FieldError, parse_size},
        read::{TableFile, parse_quantity},
    },
};
use migsim_base::{
    document::{read_bytes, sha256},
    error::{Error, Problem, Result},
    units::ProcessId,
};

/// Reads the messages of a superstep between `processes` processes from a CSV file; also returns the SHA-256 of the file.
pub(super) fn read_messages_and_hash(
    file: &str,
    processes: usize,
) -> Result<(Vec<Message>, String)> {
    let bytes = read_bytes(file.as_ref()).map_err(|problem| problem.key("workload.messages"))?;
    Ok((parse_messages(file, &bytes, processes)?, sha256(&bytes)))
}

/// Parses the bytes of a CSV file as the messages of a superstep; `file` is its path in error messages.
fn parse_messages(file: &str, bytes: &[u8], processes: usize) -> Result<Vec<Message>> {
    let table = TableFile {
        path: file,
        first: 1,
    };
    let mut problems = Vec::new();
    let known = (["from", "to", "bytes"], 0);
    let messages = table.read_rows(bytes, known, &mut problems, |row, [from, to, bytes]| {
        let process = |column: &Option<Column>| -> Result<ProcessId, FieldError> {
            let index = table.parse_index(row, column.as_ref(), "process")?;
            if index < processes {
                return Ok(ProcessId::from_index(index));
            }
            let what = format!("the application has no process `p{}`", index + 1);
            Err((what, format!("write a process from p1 to p{processes}")))
        };
        let from = process(from)?;
        let to = process(to)?;
        if from == to {
            let what = format!("the message goes from process `p{}` to itself", from.0 + 1);
            return Err((what, "remove this line, or name another receiver".into()));
        }
        let size = parse_quantity(row, bytes.as_ref(), parse_size)?.unwrap_or_default();
        Ok(Message { from, to, size })
    });
    if messages.len() as u64 > MAX_MESSAGES {
        let count = messages.len();
        let problem = Problem::new(format!(
            "the file has {count} messages, too many for a superstep"
        ));
        let hint = format!("reduce the file to at most {MAX_MESSAGES} messages");
        problems.push(problem.source(file).hint(hint));
    }
    Error::unless_empty(problems).map(|()| messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_messages_and_count_from_one() {
        let read = parse_messages("m.csv", b"from,to,bytes\np1, 2 ,100\n3,p1,0\n", 3).unwrap();
        let messages = read.iter();
        let messages = messages.map(|one| (one.from.index(), one.to.index(), one.size.get()));
        assert_eq!(messages.collect::<Vec<_>>(), [(0, 1, 100.0), (2, 0, 0.0)]);
    }

    #[test]
    fn a_message_has_two_different_processes_of_the_application() {
        let refused = parse_messages("m.csv", b"from,to,bytes\np1,p4,1\np2,p2,1\n", 3);
        let refused = refused.unwrap_err().to_string();
        for (line, what) in [
            (2, "the application has no process `p4`"),
            (3, "the message goes from process `p2` to itself"),
        ] {
            let place = format!("m.csv:{line}:1");
            assert!(
                refused.contains(what) && refused.contains(&place),
                "{refused}"
            );
        }
    }
}
