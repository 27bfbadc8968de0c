//! Parses the lines of a trace before its first `step`: processes, hosts, memory, and settings of the runtime.

use super::{
    line::{
        TraceLine, WordError, fail_at_word, parse_nonnegative_number, parse_quantity,
        parse_whole_bytes, parse_whole_number,
    },
    parse::{TraceParser, line_syntax},
};
use migsim_base::{
    document::parse_typed_value,
    setting::KeySetting,
    units::{Bytes, CYCLES, CYCLES_HINT},
    words::{format_count, singular_or_plural},
};

/// Number of processes up to which the header of a trace is accepted without a check. A larger number is accepted only if the
/// file has as many lines.
const MAX_UNCHECKED_PROCESSES: usize = 100_000;

impl TraceParser<'_> {
    /// Parses `bsp 1 P S`, the first line of version 1. The numbers P of processes and S of supersteps are accepted only if
    /// enough lines follow.
    pub(super) fn parse_bsp_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        if line.words[1] != "1" {
            return fail_at_word(
                1,
                format!("unknown version `{}` of the trace format", line.words[1]),
                "write `bsp 1 P S`, or begin with `migsim-trace 2` for version 2",
            );
        }
        let left = self.line_count - line.line_number;
        let processes = parse_header_count(line, 2, "processes", left, "host")?;
        let supersteps = parse_header_count(line, 3, "supersteps", left - processes, "step")?;
        self.set_process_count(2, processes)?;
        self.announced_superstep_count = Some(supersteps);
        self.trace.host_name_ranges.resize(processes, 0..0);
        self.trace.steps.reserve_supersteps(supersteps);
        self.trace.move_range_of_superstep.reserve_exact(supersteps);
        Ok(())
    }

    /// Parses the line `processes P`. The number P is accepted only if it is small or the file has as many lines.
    pub(super) fn parse_processes_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        if !self.trace.memory.is_empty() {
            return fail_at_word(
                0,
                "there is a second `processes` line",
                "remove one of the lines",
            );
        }
        let count = parse_whole_number(line, 1, "processes")?;
        match usize::try_from(count) {
            Ok(count) if count <= self.line_count.max(MAX_UNCHECKED_PROCESSES) => {
                self.set_process_count(1, count)
            }
            _ => fail_at_word(
                1,
                format!(
                    "the line `processes` states {count} processes, but the file has only {} lines",
                    self.line_count
                ),
                format!(
                    "correct the number, or check whether the file is cut off: above {MAX_UNCHECKED_PROCESSES} processes, the file needs at least one line for each process"
                ),
            ),
        }
    }

    /// Sets the number of processes that the header states, and reserves memory for them; `word` is the index of this number in
    /// its line.
    fn set_process_count(&mut self, word: usize, processes: usize) -> Result<(), WordError> {
        if processes == 0 {
            return fail_at_word(word, "the trace has 0 processes", "set P to at least 1");
        }
        // Ids have 32 bits; a file with more lines would have tens of gigabytes.
        if u32::try_from(processes).is_err() {
            return fail_at_word(
                word,
                format!("the header states {processes} processes, more than migsim reads"),
                format!("set P to at most {}", u32::MAX),
            );
        }
        self.trace.memory.resize(processes, None);
        self.largest_memory_images.resize(processes, None);
        self.last_computation_step.resize(processes, 0);
        self.last_move_step.resize(processes, 0);
        Ok(())
    }

    /// Parses the line `barrier KIND BYTES`. Version 1 allows only `barrier ideal` and `barrier central B`; from version 2 on any
    /// kind is allowed, and the bytes may be missing.
    pub(super) fn parse_barrier_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        if self.format_version == 1 && !["ideal", "central"].contains(&line.words[1]) {
            return fail_at_word(
                1,
                format!("unknown barrier `{}`", line.words[1]),
                "known barriers: central, ideal",
            );
        }
        let size = match line.word_count {
            2 => None,
            _ => Some(self.parse_size(line, 2)?.to_string()),
        };
        self.add_runtime_setting(line, 1, "runtime.barrier.kind", line.words[1])?;
        match size {
            Some(size) => self.add_runtime_setting(line, 2, "runtime.barrier.bytes", &size),
            None => Ok(()),
        }
    }

    /// Parses the line `recv early` or `recv late`, which states when receives begin.
    pub(super) fn parse_receives_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        let kind = line.words[1];
        if !["early", "late"].contains(&kind) {
            return fail_at_word(
                1,
                format!("unknown kind `{kind}` in the `recv` line"),
                "known kinds: early, late",
            );
        }
        self.add_runtime_setting(line, 1, "runtime.receives", kind)
    }

    /// Parses the line `runtime KEY VALUE`, a setting of the runtime. The value is checked only when the experiment uses it.
    pub(super) fn parse_runtime_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        let key = line.words[1];
        if key.split('.').any(str::is_empty) {
            return fail_at_word(
                1,
                format!("`{key}` is not a key of the object `runtime`"),
                "write a key of `runtime` in an experiment, such as `sends` or `barrier.kind`",
            );
        }
        self.add_runtime_setting(line, 2, &format!("runtime.{key}"), line.words[2])
    }

    fn has_runtime_setting(&self, key: &str) -> bool {
        self.trace.settings.iter().any(|one| one.key == key)
    }

    fn add_runtime_setting(
        &mut self,
        line: &TraceLine<'_>,
        word: usize,
        key: &str,
        value: &str,
    ) -> Result<(), WordError> {
        if self.has_runtime_setting(key) {
            return fail_at_word(
                0,
                format!("`{key}` is given twice"),
                "remove one of the lines",
            );
        }
        let number = line.line_number;
        let column = line.column_of_word(word);
        self.trace.settings.push(KeySetting::new(
            key,
            format!("{}:{number}:{column}", self.trace_name),
            parse_typed_value(value),
        ));
        Ok(())
    }

    /// Parses the line `cycles X`, the number of clock cycles per instruction.
    pub(super) fn parse_cycles_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        if std::mem::replace(&mut self.has_cycles_line, true) {
            return fail_at_word(
                0,
                "there is a second `cycles` line",
                "remove one of the lines",
            );
        }
        let cycles = parse_nonnegative_number(line, 1, "cycles")?;
        if !CYCLES.contains(&cycles) {
            return fail_at_word(
                1,
                format!(
                    "the cycles per instruction are `{}`, which is out of range",
                    line.words[1]
                ),
                CYCLES_HINT,
            );
        }
        self.trace.cycles_per_instruction = cycles;
        Ok(())
    }

    /// Parses the line `host p NAME`, the host on which process p starts.
    pub(super) fn parse_host_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        let process = self.parse_process_number(line, 1)?;
        self.trace
            .host_name_ranges
            .resize(self.trace.memory.len(), 0..0);
        let place = &mut self.trace.host_name_ranges[process.index()];
        if place.end > 0 {
            return fail_at_word(
                1,
                format!("process {} has a second `host` line", process.0),
                "remove one of the lines: a process starts on one host",
            );
        }
        let start = self.trace.concatenated_host_names.len();
        self.trace.concatenated_host_names.push_str(line.words[2]);
        *place = start..self.trace.concatenated_host_names.len();
        Ok(())
    }

    /// Parses the line `memory p SIZE`, the memory of process p from the present superstep on, or `memory SIZE` above the steps,
    /// the memory of all processes without a line of the first form.
    pub(super) fn parse_memory_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        let size = self.parse_size(line, line.word_count - 1)?;
        let superstep = self.trace.steps.len().checked_sub(1);
        if line.word_count == 2 {
            if superstep.is_some() {
                return fail_at_word(
                    0,
                    "the line `memory` is after the first `step` line, but must be before it",
                    "move this line above `step 0`, or name a process: `memory p bytes`",
                );
            }
            return match self.default_memory.replace(size) {
                None => Ok(()),
                Some(_) => fail_at_word(
                    0,
                    "there is a second `memory` line for all processes",
                    "remove one of the lines, or name a process: `memory p bytes`",
                ),
            };
        }
        let process = self.parse_process_number(line, 1)?;
        if let Some(superstep) = superstep {
            self.stated_memory.push((superstep, process, size));
            return Ok(());
        }
        match self.trace.memory[process.index()].replace(size) {
            None => Ok(()),
            Some(_) => fail_at_word(
                1,
                format!("process {} has a second `memory` line", process.0),
                "remove one of the lines, or move it below the `step` line from which on it holds",
            ),
        }
    }

    /// Parses a word of a line as a size: whole bytes in version 1; from version 2 on a number of bytes, or a number with a unit.
    pub(super) fn parse_size(&self, line: &TraceLine<'_>, word: usize) -> Result<Bytes, WordError> {
        if self.format_version == 1 {
            parse_whole_bytes(line, word)
        } else {
            parse_quantity(line, word, "bytes", Bytes::new, Bytes::parse)
        }
    }

    /// Checks, before the first `step` or `end`, that the required lines are present, and that a host is given for all processes
    /// or for none.
    pub(super) fn check_header(&mut self, line: &TraceLine<'_>) {
        let required: &[_] = match self.format_version {
            1 => &[
                ("barrier", "runtime.barrier.kind"),
                ("recv", "runtime.receives"),
            ],
            _ => &[],
        };
        for (name, key) in required {
            if !self.has_runtime_setting(key) {
                self.add_problem(
                    line,
                    0,
                    format!("the trace has no `{name}` line above its first `step` line"),
                    format!("add the line `{}`", line_syntax(name, self.format_version)),
                );
            }
        }
        let mut homeless = (0..self.trace.host_name_ranges.len())
            .filter(|&process| self.trace.host_name_ranges[process].end == 0);
        if let Some(first) = homeless.next() {
            let more = homeless.count();
            let others = if more > 0 {
                format!(" and for {}", format_count(more, "more process"))
            } else {
                String::new()
            };
            let hint = if self.format_version == 1 {
                format!(
                    "add the line `host {first} NAME` above the first `step` line, with the name of a host"
                )
            } else {
                format!(
                    "add the line `host {first} NAME` with the name of a host, or remove the `host` lines of all processes"
                )
            };
            let message = format!("the trace names no host for process {first}{others}");
            self.add_problem(line, 0, message, hint);
        }
    }
}

/// Parses a number of processes or supersteps in the first line of version 1. Each of them needs a line (`record`), so that the
/// number may be at most the number `left` of remaining lines.
fn parse_header_count(
    line: &TraceLine<'_>,
    word: usize,
    what: &str,
    left: usize,
    record: &str,
) -> Result<usize, WordError> {
    let count = parse_whole_number(line, word, what)?;
    match usize::try_from(count) {
        Ok(count) if count <= left => Ok(count),
        _ => fail_at_word(
            word,
            format!(
                "the first line states {count} {what}, but only {} {} for them",
                format_count(left, "line"),
                singular_or_plural(left as u64, ["follows", "follow"])
            ),
            format!(
                "correct the number in the first line, or check whether the file is cut off (each needs a `{record}` line)"
            ),
        ),
    }
}
