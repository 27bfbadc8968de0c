//! Parses a trace in one pass over its lines, without allocating memory for single computations or messages.
//!
//! The parser continues after an error, to report up to [`MAX_PROBLEMS`] problems together; it stops early only if the header is
//! implausible. Memory for the numbers in the header is allocated only after the file is known to be long enough for them.

use std::path::Path;

use super::{
    RecordingFacts, Trace,
    line::{TraceLine, WordError, fail_at_word, parse_whole_number},
};
use crate::recorded::StoredSupersteps;
use migsim_base::{
    document::{FileKind, read_bytes},
    error::{Error, Problem, Result},
    units::{Bytes, ProcessId},
};

const MAX_PROBLEMS: usize = 20;

/// A kind of line in a trace, such as `memory`, with its syntax.
#[derive(Debug)]
struct LineKind {
    /// First word of lines of this kind, which identifies them.
    keyword: &'static str,
    /// Names of the values that follow the first word, for error messages.
    value_names: &'static [&'static str],
    /// Syntax of the line in version 1, and from version 2 of the format on; empty if the version does not have this kind of
    /// line.
    syntax_by_version: [&'static str; 2],
    allowed_place: AllowedPlace,
}

/// The part of a trace in which a kind of line is allowed: everywhere, before the first `step`, or after it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AllowedPlace {
    Anywhere,
    AboveSteps,
    InSteps,
}

const LINE_KINDS: [LineKind; 14] = [
    line_kind(
        "m",
        &["source", "destination", "bytes"],
        ["m src dst bytes", "m src dst bytes"],
        AllowedPlace::InSteps,
    ),
    line_kind(
        "c",
        &["process", "flops"],
        ["c p flops", "c p instructions"],
        AllowedPlace::InSteps,
    ),
    line_kind(
        "step",
        &["superstep"],
        ["step k"; 2],
        AllowedPlace::Anywhere,
    ),
    line_kind(
        "g",
        &["process", "host", "bytes", "delay"],
        ["g p h bytes delay"; 2],
        AllowedPlace::InSteps,
    ),
    line_kind(
        "host",
        &["process", "host"],
        ["host p h"; 2],
        AllowedPlace::AboveSteps,
    ),
    line_kind(
        "memory",
        &["process", "bytes"],
        ["", "memory p bytes, or memory bytes"],
        AllowedPlace::Anywhere,
    ),
    line_kind(
        "barrier",
        &["kind", "bytes"],
        [
            "barrier ideal, or barrier central B",
            "barrier kind, or barrier kind bytes",
        ],
        AllowedPlace::AboveSteps,
    ),
    line_kind(
        "recv",
        &["kind"],
        ["recv early, or recv late"; 2],
        AllowedPlace::AboveSteps,
    ),
    line_kind(
        "runtime",
        &["key", "value"],
        ["", "runtime key value"],
        AllowedPlace::AboveSteps,
    ),
    line_kind(
        "recorded",
        &["key", "value"],
        ["", "recorded key value"],
        AllowedPlace::AboveSteps,
    ),
    line_kind(
        "cycles",
        &["number"],
        ["", "cycles x"],
        AllowedPlace::AboveSteps,
    ),
    line_kind(
        "processes",
        &["number"],
        ["", "processes P"],
        AllowedPlace::Anywhere,
    ),
    line_kind(
        "bsp",
        &["version", "processes", "supersteps"],
        ["bsp 1 P S", ""],
        AllowedPlace::Anywhere,
    ),
    line_kind("end", &[], ["end"; 2], AllowedPlace::Anywhere),
];

const fn line_kind(
    name: &'static str,
    words: &'static [&'static str],
    forms: [&'static str; 2],
    place: AllowedPlace,
) -> LineKind {
    LineKind {
        keyword: name,
        value_names: words,
        syntax_by_version: forms,
        allowed_place: place,
    }
}

/// Returns the syntax of the kind of line that begins with `name`, in this version of the format.
pub(super) fn line_syntax(name: &str, version: usize) -> &'static str {
    LINE_KINDS
        .iter()
        .find(|record| record.keyword == name)
        .map_or("", |record| record.syntax_by_version[version - 1])
}

impl Trace {
    /// Parses the text of a trace; `source` is the name of the trace in error messages.
    ///
    /// # Errors
    /// Up to 20 problems, each with line, column (of the word, in characters from 1) and a hint.
    pub fn parse(source: &str, text: &str) -> Result<Self> {
        TraceParser::new(source, text)
            .parse_all(text)
            .map_err(|error| match FileKind::detect_from_text(text) {
                None | Some(FileKind::Trace) => error,
                Some(kind) => kind.wrong_kind_error("a trace", source).into(),
            })
    }

    /// Parses the bytes of a trace file; `source` is the name of the trace in error messages.
    ///
    /// # Errors
    /// The bytes are not UTF-8, or the errors of [`Trace::parse`].
    pub fn parse_bytes(source: &str, bytes: &[u8]) -> Result<Self> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::parse(source, text),
            Err(error) => Err(not_utf8_error(source, &bytes[..error.valid_up_to()]).into()),
        }
    }

    /// Reads a trace from a file.
    ///
    /// # Errors
    /// The file cannot be read, or the errors of [`Trace::parse_bytes`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let bytes = read_bytes(path.as_ref())?;
        Self::parse_bytes(&path.as_ref().display().to_string(), &bytes)
    }
}

/// Creates the error that a file is not a text in UTF-8; `valid` are the bytes before the first byte that is not valid.
fn not_utf8_error(source: &str, valid: &[u8]) -> Problem {
    let valid = String::from_utf8_lossy(valid);
    let (before, last) = valid
        .rsplit_once('\n')
        .map_or((0, &*valid), |(before, last)| {
            (before.matches('\n').count() + 1, last)
        });
    Problem::new("the trace is not text in UTF-8")
        .source(source)
        .at_line_column(before + 1, last.chars().count() + 1)
        .hint("check that this is the right file, and unpack it if it is compressed: a trace is plain text")
}

/// The state of parsing a trace: what was parsed so far, and what the next lines may contain.
#[derive(Debug)]
pub(super) struct TraceParser<'a> {
    pub trace_name: &'a str,
    problems: Vec<Problem>,
    pub trace: Trace,
    /// Number of lines of the whole file, against which numbers in the header are checked.
    pub line_count: usize,
    pub format_version: usize,
    /// Number of supersteps that the header of version 1 states; `None` in later versions, whose headers do not state it.
    pub announced_superstep_count: Option<usize>,
    /// Memory of each process without a separate `memory` line, from the line `memory SIZE`; `None` if there is no such line.
    pub default_memory: Option<Bytes>,
    /// Memory of processes from `memory p SIZE` lines below a `step` line: the superstep, the process and its memory.
    pub stated_memory: Vec<(usize, ProcessId, Bytes)>,
    /// Whether the trace had a `cycles` line so far.
    pub has_cycles_line: bool,
    /// Number that the next `step` line must have, counted from 0.
    pub next_step_number: usize,
    /// Whether a `step` line had a wrong number; the number of supersteps is then not checked.
    pub has_wrong_step_number: bool,
    /// For each process, the number of supersteps opened so far when its last `c` line was parsed; finds repeated lines in a
    /// superstep.
    pub last_computation_step: Vec<usize>,
    /// For each process, the number of supersteps opened so far when its last `g` line was parsed; finds repeated lines in a
    /// superstep.
    pub last_move_step: Vec<usize>,
    /// For each process, the size of the largest memory image with which the trace moves it; `None` if the trace does not move
    /// it.
    pub largest_memory_images: Vec<Option<Bytes>>,
    /// Whether the line `end` was parsed.
    pub has_end_line: bool,
}

impl<'a> TraceParser<'a> {
    fn new(source: &'a str, text: &str) -> Self {
        Self {
            trace_name: source,
            problems: Vec::new(),
            trace: Trace {
                settings: Vec::new(),
                recording_facts: RecordingFacts::default(),
                cycles_per_instruction: 1.0,
                concatenated_host_names: String::new(),
                host_name_ranges: Vec::new(),
                memory: Vec::new(),
                steps: StoredSupersteps::default(),
                prescribed_moves: Vec::new(),
                move_range_of_superstep: Vec::new(),
            },
            // This equals the number of `lines`, but is faster.
            line_count: text.bytes().filter(|&byte| byte == b'\n').count()
                + usize::from(!text.is_empty() && !text.ends_with('\n')),
            format_version: 0,
            announced_superstep_count: None,
            default_memory: None,
            stated_memory: Vec::new(),
            has_cycles_line: false,
            next_step_number: 0,
            has_wrong_step_number: false,
            last_computation_step: Vec::new(),
            last_move_step: Vec::new(),
            largest_memory_images: Vec::new(),
            has_end_line: false,
        }
    }

    /// Parses all lines and returns the trace.
    ///
    /// # Errors
    /// All problems of the lines that were found, up to [`MAX_PROBLEMS`].
    fn parse_all(mut self, text: &str) -> Result<Trace> {
        let mut last = TraceLine::new(1, "");
        for (index, text) in text.lines().enumerate() {
            let line = TraceLine::new(index + 1, text);
            if line.word_count == 0 {
                continue;
            }
            last = line;
            if let Err((word, message, hint)) = self.parse_line(&line) {
                self.add_problem(&line, word, message, hint);
                let is_hopeless = self.trace.memory.is_empty() || self.has_end_line;
                if is_hopeless || self.problems.len() == MAX_PROBLEMS {
                    return Err(Error::Input(self.problems));
                }
            }
        }
        if !self.has_end_line {
            self.add_problem(
                &last,
                last.word_count,
                "the trace does not end with the line `end`".to_owned(),
                "check whether the file is cut off; if it is complete, add the line `end` at its end"
                    .to_owned(),
            );
        }
        Error::unless_empty(self.problems)?;
        let memory = &mut self.trace.memory;
        let mut stated = Vec::new();
        for &(_, process, _) in &self.stated_memory {
            let at_start = memory[process.index()].or(self.default_memory);
            stated.extend(at_start.map(|size| (0, process, size)));
        }
        stated.append(&mut self.stated_memory);
        self.trace.steps.set_memory(stated, memory);
        for (memory, image) in memory.iter_mut().zip(&self.largest_memory_images) {
            *memory = memory.or(self.default_memory).or(*image);
        }
        Ok(self.trace)
    }

    /// Stores a problem with its line and column; `word` is the index of the faulty word. Problems beyond [`MAX_PROBLEMS`] are
    /// ignored.
    pub(super) fn add_problem(
        &mut self,
        line: &TraceLine<'_>,
        word: usize,
        message: String,
        hint: String,
    ) {
        let problem = Problem::new(message)
            .source(self.trace_name)
            .at_line_column(line.line_number, line.column_of_word(word))
            .hint(hint);
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    fn parse_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        if self.has_end_line {
            return fail_at_word(
                0,
                "the trace continues after its line `end`",
                "remove this line, or move the line `end` below it",
            );
        }
        let name = line.words[0];
        if self.format_version == 0 {
            return self.parse_first_line(line);
        }
        if self.trace.memory.is_empty() && name != "processes" {
            return fail_at_word(
                0,
                format!("the line `{name}` is before the line `processes`"),
                "write the line `processes P` below the first line, where P is the number of processes",
            );
        }
        // Most lines are of these kinds and correct: a large trace is read faster without a look-up.
        match (name.as_bytes(), line.word_count) {
            (b"m", 4) if !self.trace.steps.is_empty() => return self.parse_message_line(line),
            (b"c", 3) if !self.trace.steps.is_empty() => return self.parse_computation_line(line),
            _ => self.check_line_kind(line)?,
        }
        match name {
            "m" => self.parse_message_line(line),
            "c" => self.parse_computation_line(line),
            "step" => self.parse_step_line(line),
            "g" => self.parse_move_line(line),
            "host" => self.parse_host_line(line),
            "memory" => self.parse_memory_line(line),
            "barrier" => self.parse_barrier_line(line),
            "recv" => self.parse_receives_line(line),
            "runtime" => self.parse_runtime_line(line),
            "recorded" => self.trace.recording_facts.parse_line(line),
            "cycles" => self.parse_cycles_line(line),
            "processes" => self.parse_processes_line(line),
            "bsp" => fail_at_word(
                0,
                "the trace has a second `bsp` line",
                "remove this line, or write the second trace into another file",
            ),
            _ => {
                self.parse_end_line(line);
                Ok(())
            }
        }
    }

    fn parse_first_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        match line.words[0] {
            "migsim-trace" if line.word_count > 1 && line.words[1] != "2" => fail_at_word(
                1,
                format!("unknown version `{}` of the trace format", line.words[1]),
                "write `migsim-trace 2`; a trace of version 1 begins with `bsp 1 P S`",
            ),
            "migsim-trace" if line.word_count != 2 => fail_at_word(
                line.word_count.min(2),
                "the first line is not `migsim-trace 2`",
                "write `migsim-trace 2`, and `processes P` in the next line",
            ),
            "migsim-trace" => {
                self.format_version = 2;
                Ok(())
            }
            "bsp" => {
                self.format_version = 1;
                self.check_line_kind(line)?;
                self.parse_bsp_line(line)
            }
            _ => fail_at_word(
                0,
                "the first line is not `migsim-trace 2`",
                "write `migsim-trace 2`, and `processes P` in the next line; a trace of version 1 begins with `bsp 1 P S`",
            ),
        }
    }

    /// Checks that the kind of line exists in this version of the format, has the right number of words, and is allowed at this
    /// place.
    fn check_line_kind(&self, line: &TraceLine<'_>) -> Result<(), WordError> {
        let form_of = |record: &LineKind| record.syntax_by_version[self.format_version - 1];
        let found = LINE_KINDS
            .iter()
            .find(|record| record.keyword == line.words[0]);
        let Some(record) = found.filter(|record| !form_of(record).is_empty()) else {
            return Err(self.unknown_line_kind_error(line));
        };
        let name = record.keyword;
        let form = form_of(record);
        let all = record.value_names.len();
        // The last value may be missing; version 1 has only `barrier ideal` and `barrier central B`.
        let is_optional = matches!(name, "memory" | "barrier");
        let (least, most) = match (self.format_version, &line.words[..2]) {
            (1, ["barrier", "central"]) => (all, all),
            (1, _) if is_optional => (all - 1, all - 1),
            _ => (all - usize::from(is_optional), all),
        };
        let given = line.word_count - 1;
        if given < least {
            let word = record.value_names[given];
            return fail_at_word(
                line.word_count,
                format!("the line `{name}` lacks the value of `{word}`"),
                format!("write `{form}`"),
            );
        }
        if given > most {
            let extra = line.words[most + 1];
            let is_unit = self.format_version > 1 && extra.starts_with(char::is_alphabetic);
            let hint = if is_unit {
                format!("write `{form}`, without a space between a number and its unit: `1.5MB`")
            } else {
                format!("write `{form}`")
            };
            return fail_at_word(
                most + 1,
                format!("the line `{name}` has the additional word `{extra}` after its values"),
                hint,
            );
        }
        let is_in_steps = !self.trace.steps.is_empty();
        match record.allowed_place {
            AllowedPlace::AboveSteps if is_in_steps => fail_at_word(
                0,
                format!("the line `{name}` is after the first `step` line, but must be before it"),
                "move this line above `step 0`",
            ),
            AllowedPlace::InSteps if !is_in_steps => fail_at_word(
                0,
                format!("the line `{name}` is before the first `step` line, but must be after it"),
                "write the line `step 0` above this line, since a `step` line begins each superstep",
            ),
            _ => Ok(()),
        }
    }

    fn unknown_line_kind_error(&self, line: &TraceLine<'_>) -> WordError {
        let known = LINE_KINDS
            .iter()
            .filter(|record| !record.syntax_by_version[self.format_version - 1].is_empty());
        let hint = Problem::new("")
            .with_known_names("kinds of lines", known.map(|record| record.keyword))
            .hint
            .map_or_else(String::new, String::from);
        (0, format!("unknown kind of line `{}`", line.words[0]), hint)
    }

    pub(super) fn parse_process_number(
        &self,
        line: &TraceLine<'_>,
        word: usize,
    ) -> Result<ProcessId, WordError> {
        let id = parse_whole_number(line, word, "process")?;
        let count = self.trace.memory.len();
        match u32::try_from(id) {
            Ok(small) if (small as usize) < count => Ok(ProcessId(small)),
            _ => fail_at_word(
                word,
                format!("the trace has no process {id} (processes are counted from 0)"),
                format!(
                    "write a process number below {count}, the number of processes in the header"
                ),
            ),
        }
    }
}
