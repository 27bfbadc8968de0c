//! Reads a trace: one pass over the lines, nothing allocated per line of computation or message.
//!
//! The reader goes on after an error, to report up to [`MAX_PROBLEMS`] together; only a header that cannot be
//! believed stops it. Nothing is allocated for the numbers of the header before the file is seen to be long enough for them.

use std::ops::Range;
use std::path::Path;

use super::line::{Complaint, Line, bytes, complaint, number, whole};
use super::{Records, Trace, TraceBarrier, TraceReceives};
use crate::document::read_bytes;
use crate::error::{Error, Problem};
use crate::units::{Bytes, Instructions, ProcessId, Seconds};
use crate::workload::{Message, PrescribedMove};

/// So many problems of a file are reported; more are rarely read.
const MAX_PROBLEMS: usize = 20;

/// The records: name, the words that follow it, and how to write it.
const RECORDS: [(&str, &[&str], &str); 9] = [
    ("bsp", &["version", "processes", "supersteps"], "bsp 1 P S"),
    ("barrier", &["kind"], "barrier ideal, or barrier central B"),
    ("recv", &["kind"], "recv early, or recv late"),
    ("host", &["process", "host"], "host p h"),
    ("step", &["superstep"], "step k"),
    ("c", &["process", "flops"], "c p flops"),
    ("m", &["source", "destination", "bytes"], "m src dst bytes"),
    (
        "g",
        &["process", "host", "bytes", "delay"],
        "g p h bytes delay",
    ),
    ("end", &[], "end"),
];

impl Trace {
    /// Reads the trace `text`; `source` is its name in messages.
    ///
    /// # Errors
    /// Up to 20 problems, each with line, column (of the word, in characters from 1) and a hint.
    pub fn parse(source: &str, text: &str) -> Result<Self, Error> {
        Reader::new(source, text).read(text)
    }

    /// Reads the trace in the bytes of a file; `source` is its name in messages.
    ///
    /// # Errors
    /// The bytes are not UTF-8, or as [`Trace::parse`].
    pub fn parse_bytes(source: &str, bytes: &[u8]) -> Result<Self, Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::parse(source, text),
            Err(error) => Err(not_text(source, &bytes[..error.valid_up_to()]).into()),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or as [`Trace::parse_bytes`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let bytes = read_bytes(path.as_ref())?;
        Self::parse_bytes(&path.as_ref().display().to_string(), &bytes)
    }
}

fn not_text(source: &str, valid: &[u8]) -> Problem {
    let valid = String::from_utf8_lossy(valid);
    let (before, last) = valid
        .rsplit_once('\n')
        .map_or((0, &*valid), |(before, last)| {
            (before.matches('\n').count() + 1, last)
        });
    Problem::new("the trace is not a text in UTF-8")
        .source(source)
        .at(before + 1, last.chars().count() + 1)
        .hint("the format is plain text: is this another file, or a compressed one?")
}

/// What has been read so far.
#[derive(Debug)]
struct Reader<'a> {
    source: &'a str,
    problems: Vec<Problem>,
    trace: Trace,
    /// Lines of the whole file.
    lines: usize,
    /// S of the header; P is the length of `trace.hosts`, which is 0 until the header has been read.
    supersteps: usize,
    barrier: Option<TraceBarrier>,
    receives: Option<TraceReceives>,
    /// The number that the next `step` must have.
    next_step: usize,
    /// The steps are not to be counted: one of them was refused.
    is_step_wrong: bool,
    /// For each process, the number of `step` lines at its last `c` and `g`.
    computed: Vec<usize>,
    moved: Vec<usize>,
    is_ended: bool,
}

impl<'a> Reader<'a> {
    fn new(source: &'a str, text: &str) -> Self {
        Self {
            source,
            problems: Vec::new(),
            trace: Trace {
                barrier: TraceBarrier::Ideal,
                receives: TraceReceives::Early,
                host_names: String::new(),
                hosts: Vec::new(),
                memory: Vec::new(),
                work: Vec::new(),
                messages: Vec::new(),
                moves: Vec::new(),
                steps: Vec::new(),
            },
            lines: text.lines().count(),
            supersteps: 0,
            barrier: None,
            receives: None,
            next_step: 0,
            is_step_wrong: false,
            computed: Vec::new(),
            moved: Vec::new(),
            is_ended: false,
        }
    }

    fn read(mut self, text: &str) -> Result<Trace, Error> {
        let mut last = Line::new(1, "");
        for (index, text) in text.lines().enumerate() {
            let line = Line::new(index + 1, text);
            if line.count == 0 {
                continue;
            }
            last = line;
            if let Err((word, message, hint)) = self.record(&line) {
                self.complain(&line, word, message, hint);
                let is_hopeless = self.trace.hosts.is_empty() || self.is_ended;
                if is_hopeless || self.problems.len() == MAX_PROBLEMS {
                    return Err(Error::Input(self.problems));
                }
            }
        }
        if !self.is_ended {
            self.complain(
                &last,
                last.count,
                "the trace stops before its `end`".to_owned(),
                "the file is cut off, or its last line `end` was forgotten".to_owned(),
            );
        }
        if self.problems.is_empty() {
            Ok(self.trace)
        } else {
            Err(Error::Input(self.problems))
        }
    }

    fn complain(&mut self, line: &Line<'_>, word: usize, message: String, hint: String) {
        let problem = Problem::new(message)
            .source(self.source)
            .at(line.number, line.column(word))
            .hint(hint);
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    /// Takes one line in.
    fn record(&mut self, line: &Line<'_>) -> Result<(), Complaint> {
        if self.is_ended {
            return complaint(
                0,
                "nothing may follow `end`",
                "remove this line, or the `end` above",
            );
        }
        let name = line.words[0];
        if self.trace.hosts.is_empty() && name != "bsp" {
            return complaint(
                0,
                "a trace begins with `bsp 1 P S`",
                "P is the number of processes and S that of supersteps",
            );
        }
        self.check_words(line)?;
        match name {
            "bsp" => self.bsp(line),
            "barrier" => self.barrier(line),
            "recv" => self.recv(line),
            "host" => self.host(line),
            "step" => self.step(line),
            "c" => self.compute(line),
            "m" => self.message(line),
            "g" => self.migrate(line),
            _ => {
                self.end(line);
                Ok(())
            }
        }
    }

    /// Whether the record exists, has its words, and stands where it may.
    fn check_words(&self, line: &Line<'_>) -> Result<(), Complaint> {
        let Some((name, words, form)) = RECORDS.iter().find(|(name, ..)| *name == line.words[0])
        else {
            let known = Problem::unknown("record", line.words[0])
                .known("records", RECORDS.map(|(name, ..)| name))
                .hint
                .map_or_else(String::new, String::from);
            return Err((0, format!("unknown record `{}`", line.words[0]), known));
        };
        let (missing, expected) = (
            line.count - 1,
            words.len() + usize::from(line.words[..2] == ["barrier", "central"]),
        );
        if missing < expected {
            let word = words.get(missing).unwrap_or(&"bytes");
            return complaint(
                line.count,
                format!("`{name}` without its {word}"),
                format!("write `{form}`"),
            );
        }
        if line.count > expected + 1 {
            return complaint(
                expected + 1,
                format!("`{}` is too much for `{name}`", line.words[expected + 1]),
                format!("write `{form}`"),
            );
        }
        let is_in_steps = !self.trace.steps.is_empty();
        match *name {
            "barrier" | "recv" | "host" if is_in_steps => complaint(
                0,
                format!("`{name}` after the first `step`"),
                "move it up, above `step 0`",
            ),
            "c" | "m" | "g" if !is_in_steps => complaint(
                0,
                format!("`{name}` before the first `step`"),
                "a `step` line opens each superstep",
            ),
            _ => Ok(()),
        }
    }

    /// `bsp 1 P S`: believes P and S only if enough lines follow.
    fn bsp(&mut self, line: &Line<'_>) -> Result<(), Complaint> {
        if !self.trace.hosts.is_empty() {
            return complaint(0, "a second `bsp` line", "a file holds one trace");
        }
        if line.words[1] != "1" {
            return complaint(
                1,
                format!("unknown version `{}` of the format", line.words[1]),
                "known versions: 1",
            );
        }
        let left = self.lines - line.number;
        let processes = announced(line, 2, "processes", left, "host")?;
        if processes == 0 {
            return complaint(2, "a trace without processes", "P must be at least 1");
        }
        // Ids are 32 bits; so many lines would be a file of tens of gigabytes.
        if u32::try_from(processes).is_err() {
            return complaint(
                2,
                format!("{processes} processes are too many"),
                format!("P must be at most {}", u32::MAX),
            );
        }
        let supersteps = announced(line, 3, "supersteps", left - processes, "step")?;
        self.supersteps = supersteps;
        self.trace.hosts.resize(processes, 0..0);
        self.trace.memory.resize(processes, Bytes::default());
        self.trace.steps.reserve_exact(supersteps);
        self.computed.resize(processes, 0);
        self.moved.resize(processes, 0);
        Ok(())
    }

    fn barrier(&mut self, line: &Line<'_>) -> Result<(), Complaint> {
        let barrier = match line.words[1] {
            "ideal" => TraceBarrier::Ideal,
            "central" => TraceBarrier::Central(bytes(line, 2)?),
            other => {
                return complaint(
                    1,
                    format!("unknown barrier `{other}`"),
                    "known barriers: central, ideal",
                );
            }
        };
        self.trace.barrier = barrier;
        match self.barrier.replace(barrier) {
            None => Ok(()),
            Some(_) => complaint(
                0,
                "a second `barrier` line",
                "a trace has one barrier: keep one of the lines",
            ),
        }
    }

    fn recv(&mut self, line: &Line<'_>) -> Result<(), Complaint> {
        let receives = match line.words[1] {
            "early" => TraceReceives::Early,
            "late" => TraceReceives::Late,
            other => {
                return complaint(
                    1,
                    format!("unknown kind of receives `{other}`"),
                    "known kinds: early, late",
                );
            }
        };
        self.trace.receives = receives;
        match self.receives.replace(receives) {
            None => Ok(()),
            Some(_) => complaint(
                0,
                "a second `recv` line",
                "a trace has one kind of receives: keep one of the lines",
            ),
        }
    }

    fn host(&mut self, line: &Line<'_>) -> Result<(), Complaint> {
        let process = self.process(line, 1)?;
        let place = &mut self.trace.hosts[process.index()];
        if place.end > 0 {
            return complaint(
                1,
                format!("a second host for process {}", process.0),
                "a process starts on one host: keep one of the lines",
            );
        }
        let start = self.trace.host_names.len();
        self.trace.host_names.push_str(line.words[2]);
        *place = start..self.trace.host_names.len();
        Ok(())
    }

    /// `step k`: the records that follow belong to a superstep of their own even if its number is wrong.
    fn step(&mut self, line: &Line<'_>) -> Result<(), Complaint> {
        if self.trace.steps.is_empty() {
            self.check_preamble(line);
        }
        self.close_step();
        let none = self.no_records();
        self.trace.steps.push(none);
        let expected = self.next_step;
        let result = self.check_step(line);
        match result {
            // After a gap go on from where it ends; after a number that cannot be, as if it were right.
            Ok(given) if given < expected => (),
            Ok(given) => self.next_step = given + 1,
            Err(_) => self.next_step = expected + 1,
        }
        self.is_step_wrong |= result != Ok(expected);
        if result? == expected {
            return Ok(());
        }
        complaint(
            1,
            format!("superstep {} where {expected} should be", line.words[1]),
            "supersteps stand in order, from 0, and none is left out",
        )
    }

    /// The number of a `step` line, if the header has such a superstep.
    fn check_step(&self, line: &Line<'_>) -> Result<usize, Complaint> {
        let given = whole(line, 1, "superstep")?;
        match usize::try_from(given) {
            Ok(given) if given < self.supersteps => Ok(given),
            _ => complaint(
                1,
                format!("superstep {given} is out of range"),
                format!(
                    "the header announces {} supersteps, counted from 0",
                    self.supersteps
                ),
            ),
        }
    }

    /// What must stand above the first `step` (or the `end`).
    fn check_preamble(&mut self, line: &Line<'_>) {
        for (name, is_missing) in [
            ("barrier", self.barrier.is_none()),
            ("recv", self.receives.is_none()),
        ] {
            if is_missing {
                let form = RECORDS
                    .iter()
                    .find(|record| record.0 == name)
                    .map_or("", |record| record.2);
                self.complain(
                    line,
                    0,
                    format!("no `{name}` line above the first `step`"),
                    format!("write `{form}`"),
                );
            }
        }
        let mut homeless =
            (0..self.trace.hosts.len()).filter(|&process| self.trace.hosts[process].end == 0);
        if let Some(first) = homeless.next() {
            let more = homeless.count();
            let others = if more > 0 {
                format!(" and {more} more processes")
            } else {
                String::new()
            };
            self.complain(
                line,
                0,
                format!("no host for process {first}{others}"),
                format!("write `host {first} h` above the first `step`"),
            );
        }
    }

    /// Moves the end of the current superstep behind what has just been added.
    fn extend_step(&mut self) {
        let behind = self.no_records();
        if let Some(last) = self.trace.steps.last_mut() {
            last.work.end = behind.work.end;
            last.messages.end = behind.messages.end;
            last.moves.end = behind.moves.end;
        }
    }

    /// No records, behind all that there are.
    fn no_records(&self) -> Records {
        let behind = |count: usize| count..count;
        Records {
            work: behind(self.trace.work.len()),
            messages: behind(self.trace.messages.len()),
            moves: behind(self.trace.moves.len()),
        }
    }

    /// Keeps what the current superstep has in common with the one before it once.
    fn close_step(&mut self) {
        let Trace {
            work,
            messages,
            steps,
            ..
        } = &mut self.trace;
        if let [.., before, last] = &mut **steps {
            share(work, &before.work, &mut last.work);
            share(messages, &before.messages, &mut last.messages);
        }
    }

    fn compute(&mut self, line: &Line<'_>) -> Result<(), Complaint> {
        let process = self.process(line, 1)?;
        let work = number(line, 2, "flops")
            .map(Instructions::new)?
            .unwrap_or_default();
        let step = self.trace.steps.len();
        if std::mem::replace(&mut self.computed[process.index()], step) == step {
            return complaint(
                1,
                format!("process {} computes twice in a superstep", process.0),
                "add the two `c` lines up",
            );
        }
        self.trace.work.push((process, work));
        self.extend_step();
        Ok(())
    }

    fn message(&mut self, line: &Line<'_>) -> Result<(), Complaint> {
        let (from, to) = (self.process(line, 1)?, self.process(line, 2)?);
        let size = bytes(line, 3)?;
        self.trace.messages.push(Message { from, to, size });
        self.extend_step();
        Ok(())
    }

    fn migrate(&mut self, line: &Line<'_>) -> Result<(), Complaint> {
        let process = self.process(line, 1)?;
        let size = bytes(line, 3)?;
        let delay = number(line, 4, "delay")
            .map(Seconds::new)?
            .unwrap_or_default();
        let step = self.trace.steps.len();
        if std::mem::replace(&mut self.moved[process.index()], step) == step {
            return complaint(
                1,
                format!("process {} moves twice after a superstep", process.0),
                "keep the last of the `g` lines",
            );
        }
        let memory = &mut self.trace.memory[process.index()];
        if size > *memory {
            *memory = size;
        }
        self.trace.moves.push(PrescribedMove {
            process,
            to: line.words[2].to_owned(),
            size,
            delay,
        });
        self.extend_step();
        Ok(())
    }

    fn end(&mut self, line: &Line<'_>) {
        if self.trace.steps.is_empty() {
            self.check_preamble(line);
        }
        let is_short = self.next_step < self.supersteps && !self.is_step_wrong;
        if is_short {
            self.complain(
                line,
                0,
                format!(
                    "`end` after {} of {} supersteps",
                    self.next_step, self.supersteps
                ),
                "write the missing `step` lines, or correct S in the header".to_owned(),
            );
        }
        self.close_step();
        self.is_ended = true;
    }

    fn process(&self, line: &Line<'_>, word: usize) -> Result<ProcessId, Complaint> {
        let id = whole(line, word, "process")?;
        let count = self.trace.hosts.len();
        match u32::try_from(id) {
            Ok(small) if (small as usize) < count => Ok(ProcessId(small)),
            _ => complaint(
                word,
                format!("process {id} is out of range"),
                format!("the header announces {count} processes, counted from 0"),
            ),
        }
    }
}

/// Takes the last of the records out if they are those before them.
fn share<T: PartialEq>(records: &mut Vec<T>, before: &Range<usize>, last: &mut Range<usize>) {
    if records[before.clone()] == records[last.clone()] {
        records.truncate(last.start);
        *last = before.clone();
    }
}

/// A count of the header, each of which needs a line of its own among those `left`.
fn announced(
    line: &Line<'_>,
    word: usize,
    what: &str,
    left: usize,
    record: &str,
) -> Result<usize, Complaint> {
    let count = whole(line, word, what)?;
    match usize::try_from(count) {
        Ok(count) if count <= left => Ok(count),
        _ => complaint(
            word,
            format!("{count} {what} are more than the {left} lines left for them"),
            format!("each needs a `{record}` line: correct the header, or the file is cut off"),
        ),
    }
}
