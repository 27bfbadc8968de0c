//! The `recorded` lines of a trace: how, where and with which MPI library a program was recorded. These facts do not change
//! results directly, but may select the model of the message-passing library.

use std::collections::BTreeMap;

use super::line::{TraceLine, WordError, fail_at_word};
use migsim_base::error::Problem;

/// Keys of `recorded` lines, each with its meaning in words.
pub const FACT_KEYS: [(&str, &str); 15] = [
    (
        "library",
        "the MPI library: open-mpi, mpich, intel-mpi, mvapich or another name",
    ),
    ("version", "its version"),
    (
        "transport",
        "the transport of the messages: tcp, shared-memory or another name",
    ),
    (
        "waiting",
        "how a waiting process waits: spin, yield or sleep",
    ),
    (
        "collectives",
        "the messages of collectives: sent by the library, or by formulas",
    ),
    (
        "threads",
        "the largest number of threads of a process, if more than 1",
    ),
    (
        "region",
        "the region of the program, if it is not the whole program",
    ),
    ("host", "the host of process 0"),
    ("ranks", "the largest number of processes on one host"),
    (
        "speed",
        "the speed by which measured time was converted to work",
    ),
    (
        "speeds",
        "the slowest and the fastest clock that the recorder measured",
    ),
    ("clock", "the clock of computation: wall or cpu"),
    ("cost", "the time that the recorder adds to a call"),
    (
        "repetitions",
        "the number of runs; each piece of work is the least of these runs",
    ),
    (
        "piece",
        "`median`, if the work of each piece is the median of the runs",
    ),
];

/// Facts about the recording from which a trace comes, by key ([`FACT_KEYS`]); empty for a trace that was not recorded.
///
/// ```
/// use migsim_workloads::trace::Trace;
/// let text = "migsim-trace 2\nprocesses 1\nrecorded library open-mpi\nend\n";
/// assert_eq!(Trace::parse("a.trace", text)?.recording().get("library"), Some("open-mpi"));
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordingFacts {
    /// Value of each fact that is known about the recording, by key.
    facts: BTreeMap<&'static str, String>,
}

impl RecordingFacts {
    /// Returns whether no fact is known, because the trace was not recorded.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Returns the value of the fact with this key; `None` if the trace does not state it.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.facts.get(key).map(String::as_str)
    }

    /// Sets the value of a fact. Blanks and comment signs in the value become `_`; an unknown key or an empty value is ignored.
    pub(crate) fn set_fact(&mut self, key: &str, value: &str) {
        let key = FACT_KEYS.iter().find(|(known, _)| *known == key);
        let value = value
            .trim()
            .replace(|letter: char| letter == '#' || letter.is_whitespace(), "_");
        if let Some((key, _)) = key.filter(|_| !value.is_empty()) {
            self.facts.insert(key, value);
        }
    }

    /// Returns the facts as `recorded` lines of a trace, in the order of [`FACT_KEYS`].
    pub(crate) fn to_trace_lines(&self) -> String {
        let line = |(key, _): &(&str, &str)| Some(format!("recorded {key} {}\n", self.get(key)?));
        FACT_KEYS.iter().filter_map(line).collect()
    }

    /// Parses the line `recorded KEY VALUE`, a fact about the recording.
    pub(super) fn parse_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        let key = line.words[1];
        if !FACT_KEYS.iter().any(|(known, _)| *known == key) {
            let hint = Problem::unknown_name("key", key)
                .with_known_names("keys", FACT_KEYS.map(|(known, _)| known))
                .hint
                .map_or_else(String::new, String::from);
            return fail_at_word(1, format!("unknown key `{key}` in a `recorded` line"), hint);
        }
        if self.get(key).is_some() {
            return fail_at_word(
                1,
                format!("the trace has a second `recorded {key}` line"),
                "remove one of the two lines",
            );
        }
        self.set_fact(key, line.words[2]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Trace;

    #[test]
    fn facts_are_read_once_and_only_known_ones() {
        let read =
            |lines: &str| Trace::parse("t", &format!("migsim-trace 2\nprocesses 1\n{lines}end\n"));
        let lines = "recorded library open-mpi\nrecorded repetitions 5\n";
        let recording = read(lines).unwrap().recording().clone();
        assert_eq!(recording.to_trace_lines(), lines);
        assert_eq!(
            (recording.get("repetitions"), recording.get("host")),
            (Some("5"), None)
        );
        let error = |lines: &str| read(lines).unwrap_err().to_string();
        let twice = error("recorded host a\nrecorded host b\n");
        assert!(
            twice.contains("t:4:10") && twice.contains("a second `recorded host` line"),
            "{twice}"
        );
        let unknown = error("recorded libary a\n");
        assert!(unknown.contains("did you mean `library`?"), "{unknown}");
    }

    #[test]
    fn a_fact_is_one_word() {
        let mut recording = super::RecordingFacts::default();
        recording.set_fact("host", " node #3 ");
        recording.set_fact("version", " ");
        assert_eq!(recording.to_trace_lines(), "recorded host node__3\n");
    }
}
