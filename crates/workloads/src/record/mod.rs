//! Records of MPI programs: what each process computed, sent and received, cut into supersteps and written as a trace.
//!
//! [`RECORDER`] is the source of a library that is preloaded into the program and writes a record for each process. [`convert`] reads
//! the records, replaces each collective by the messages of its algorithm, and cuts by a logical clock: a message that is sent in
//! superstep s is received in a later one, and computation after a send opens a superstep.
//!
//! Left out: one-sided communication, inter-communicators, dynamic processes. A record that has them is refused with rank and call.

mod clock;
mod collective;
mod read;

use std::fmt::Write as _;

use migsim_base::error::{Error, Problem};
use migsim_base::units::InstructionsPerSecond;
use read::Record;

/// The source of the recorder, in C.
pub const RECORDER: &str = include_str!("recorder.c");

/// A trace made of records.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversion {
    /// The text of the trace.
    pub trace: String,
    /// The number of processes.
    pub processes: usize,
    /// The number of supersteps.
    pub supersteps: usize,
    /// The number of messages, those of collectives included.
    pub messages: usize,
    /// The time that the recorder takes for a call \[ns\], the largest of all processes.
    pub overhead: u64,
}

/// Why the recorder could not write a record, if its text says so.
pub fn failure(text: &str) -> Option<&str> {
    text.strip_prefix("migsim-record failed ")
        .map(str::trim_end)
}

/// Cuts the records (name and text, one for each process) into supersteps. Work is measured time x `speed`.
///
/// # Errors
/// A record is incomplete or wrong, holds a call that cannot be cut, or receives a message that nobody sent.
pub fn convert(
    records: &[(String, String)],
    speed: InstructionsPerSecond,
) -> Result<Conversion, Error> {
    let (mut read, mut problems) = (Vec::new(), Vec::new());
    let (started, records): (Vec<_>, Vec<_>) = (records.iter())
        .partition(|(_, text)| Record::headed(text).is_ok_and(|head| head.is_started));
    let is_first = |text: &str| Record::headed(text).is_ok_and(|head| head.rank == 0);
    let programs = (records.iter().filter(|(_, text)| is_first(text))).count();
    if programs > 1 {
        let message = format!("{programs} MPI programs ran: each has a rank 0");
        return Err(Problem::new(message).hint("record one at a time").into());
    }
    for (name, text) in records {
        match Record::parse(name, text) {
            Ok(record) => read.push(record),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() && !started.is_empty() {
        let message =
            "the program starts processes (`MPI_Comm_spawn`), which cannot be cut into supersteps";
        problems.push(Problem::new(message).hint("start all processes with `mpirun` at once"));
    }
    if !problems.is_empty() {
        return Err(Error::Input(problems));
    }
    read.sort_by_key(|record| record.rank);
    let expected = read.first().map_or(1, |record| record.size);
    let are_all = read.len() == expected
        && (read.iter().enumerate())
            .all(|(at, record)| record.rank == at && record.size == expected);
    if !are_all {
        let problem = Problem::new(format!(
            "{} records that are not those of {expected} processes",
            read.len()
        ));
        return Err(problem
            .hint("the program writes one record for each process: record it again")
            .into());
    }
    let operations: Vec<_> = read.iter().map(Record::operations).collect();
    let cut = clock::cut(&operations)?;
    let mut trace = format!("migsim-trace 2\nprocesses {expected}\n");
    for record in read.iter().filter(|record| record.memory > 0) {
        let _ = writeln!(trace, "memory {} {}B", record.rank, record.memory);
    }
    trace.push_str("runtime barrier.kind none\n");
    cut.write(speed, &mut trace);
    Ok(Conversion {
        trace,
        processes: expected,
        supersteps: cut.supersteps,
        messages: cut.messages.len(),
        overhead: read.iter().map(|record| record.overhead).max().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload;
    use crate::trace::Trace;

    const SENDER: &str =
        "migsim-record 1 0 2\ng 0 2 0 1\nw 1000000\ns 0 1 5 800\nw 2000000\nm 4096\no 90\nend\n";
    const RECEIVER: &str = "migsim-record 1 1 2\ng 0 2 0 1\nr 0 0 0 5\nw 3000000\nend\n";

    fn converted(texts: &[&str]) -> Result<Conversion, Error> {
        let names = texts.iter().enumerate();
        let records: Vec<_> = names
            .map(|(at, text)| (format!("{at}.record"), (*text).to_owned()))
            .collect();
        convert(&records, InstructionsPerSecond::new(1e9).unwrap())
    }

    #[test]
    fn a_message_arrives_a_superstep_later() {
        let made = converted(&[SENDER, RECEIVER]).unwrap();
        assert_eq!(
            made.trace,
            "migsim-trace 2\nprocesses 2\nmemory 0 4096B\nruntime barrier.kind none\n\
             step 0\nc 0 1000000\nm 0 1 800\nstep 1\nc 0 2000000\nc 1 3000000\nend\n"
        );
        let trace = Trace::parse("made", &made.trace).unwrap();
        assert_eq!(
            (trace.supersteps(), made.messages, made.overhead),
            (2, 1, 90)
        );
    }

    #[test]
    fn receives_match_in_the_order_of_posting() {
        // The receive that was posted second completes first: it still takes the second message.
        let sender = "migsim-record 1 0 2\ng 0 2 0 1\ns 0 1 5 1\nw 900000\ns 0 1 5 2\nend\n";
        let receiver = "migsim-record 1 1 2\ng 0 2 0 1\nr 1 0 0 5\nw 500000\nr 0 0 0 5\nend\n";
        let made = converted(&[sender, receiver]).unwrap();
        assert!(
            made.trace.contains("step 2\nc 1 500000\n"),
            "{}",
            made.trace
        );
    }

    #[test]
    fn neighbours_exchange_at_once_and_their_messages_match_by_collective() {
        // A ring of two: each is both neighbours of the other. The second collective is complete first.
        let two = |rank: usize, first: usize, then: usize| {
            let other = 1 - rank;
            format!(
                "migsim-record 1 {rank} 2\ng 0 2 0 1\nn 0 0 2 {other} 8 {other} 8 {other} {other}\n\
                 n 0 1 1 {other} 9 {other}\ne {first}\nw 1000000\ne {then}\nend\n"
            )
        };
        let made = converted(&[&two(0, 0, 1), &two(1, 0, 1)]).unwrap();
        assert_eq!((made.supersteps, made.messages), (3, 6));
        assert!(made.trace.contains("m 0 1 8\nm 0 1 8\nm 1 0 8\nm 1 0 8\n"));
        let made = converted(&[&two(0, 1, 0), &two(1, 1, 0)]).unwrap();
        assert!(made.trace.contains("step 0\nm 0 1 9\n"), "{}", made.trace);
        let wrong = "migsim-record 1 1 2\ng 0 2 0 1\nn 0 0 1 2 8\nend\n";
        let error = converted(&[SENDER, wrong]).unwrap_err().to_string();
        assert!(error.contains("there is no member 2"), "{error}");
    }

    #[test]
    fn what_cannot_be_cut_is_told_with_rank_and_call() {
        let error = |other: &str| converted(&[SENDER, other]).unwrap_err().to_string();
        let one_sided = error("migsim-record 1 1 2\ng 0 2 0 1\nx MPI_Win_create\nend\n");
        assert!(
            one_sided.contains("rank 1 calls `MPI_Win_create`"),
            "{one_sided}"
        );
        assert!(
            one_sided.ends_with(
                "--> rank 1\n  hint: use messages or collectives instead of one-sided communication"
            ),
            "{one_sided}"
        );
        let thread =
            error("migsim-record 1 1 2\ng 0 2 0 1\nx MPI_Send from a second thread\nend\n");
        assert!(
            thread.contains("rank 1 calls `MPI_Send` from a second thread, which cannot")
                && thread.contains("hint: let one thread"),
            "{thread}"
        );
        let damaged = error("migsim-record 1 1 2\nz 0 2 0 1\nend\n");
        assert!(
            damaged.ends_with("--> 1.record:2:1\n  hint: the recorder wrote it otherwise: record the program again"),
            "{damaged}"
        );
        let spawn = error("migsim-record 1 1 2\ng 0 2 0 1\nx MPI_Comm_spawn\nend\n");
        assert!(
            spawn.contains("rank 1 calls `MPI_Comm_spawn`, which starts processes"),
            "{spawn}"
        );
        let unsent = error("migsim-record 1 1 2\ng 0 2 0 1\nr 0 0 0 6\nend\n");
        assert!(unsent.contains("rank 1 waits"), "{unsent}");
    }

    #[test]
    fn records_of_processes_that_the_program_starts_replace_none_of_its_own() {
        let child = "migsim-record 1 0 1 started\ng 0 1 0\nx MPI_Bcast\nend\n";
        let error = converted(&[SENDER, RECEIVER, child]).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("the program starts processes"), "{error}");
        let parent = "migsim-record 1 1 2\ng 0 2 0 1\nx MPI_Comm_spawn\nend\n";
        let error = converted(&[SENDER, parent, child]).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("rank 1 calls `MPI_Comm_spawn`"), "{error}");
        assert_eq!(error.matches("error: ").count(), 1, "{error}");
    }

    #[test]
    fn several_programs_are_refused() {
        let other = "migsim-record 1 0 1\ng 0 1 0\n";
        let error = converted(&[SENDER, RECEIVER, other]).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("2 MPI programs ran"), "{error}");
    }

    #[test]
    fn every_cut_and_every_wrong_byte_is_refused_or_read_without_a_panic() {
        let collective = "migsim-record 1 1 2\ng 0 2 0 1\nc alltoall 0 0 0 0 2 3 4\ne 0\nn 0 1 1 0 8\nr 0 0 0 5\nend\n";
        for text in [RECEIVER, collective] {
            for at in 0..text.len() {
                let whole = at + 1 == text.len();
                assert!(converted(&[SENDER, &text[..at]]).is_err() || whole, "{at}");
                for byte in ["9", "-", "x", " ", "\n"] {
                    let _ =
                        converted(&[SENDER, &format!("{}{byte}{}", &text[..at], &text[at + 1..])]);
                }
            }
        }
    }
}
