//! Parses the lines of a trace that describe its supersteps: computations, messages and moves.

use super::{
    line::{
        TraceLine, WordError, fail_at_word, parse_nonnegative_number, parse_quantity,
        parse_whole_number,
    },
    parse::TraceParser,
};
use crate::{Message, PrescribedMigration};
use migsim_base::units::{Instructions, Seconds};

impl TraceParser<'_> {
    /// Parses the line `step k`, which opens superstep k. A superstep is opened even if its number is wrong, so that the
    /// following lines can be checked.
    pub(super) fn parse_step_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        if self.trace.steps.is_empty() {
            self.check_header(line);
        }
        self.trace.steps.close_superstep();
        self.trace.steps.open_superstep();
        let behind = self.trace.prescribed_moves.len();
        self.trace.move_range_of_superstep.push(behind..behind);
        let expected = self.next_step_number;
        let result = self.parse_step_number(line);
        match result {
            // After a gap, counting continues from the given number; after an impossible number, as if it were correct.
            Ok(given) if given < expected => (),
            Ok(given) => self.next_step_number = given + 1,
            Err(_) => self.next_step_number = expected + 1,
        }
        self.has_wrong_step_number |= result != Ok(expected);
        if result? == expected {
            return Ok(());
        }
        fail_at_word(
            1,
            format!(
                "the `step` line has superstep {}, but superstep {expected} is next",
                line.words[1]
            ),
            "write all supersteps in order, counted from 0",
        )
    }

    /// Parses the number in a `step` line. The number must be less than the number of supersteps in the header or, if the header
    /// does not state this number, less than the number of lines of the file.
    fn parse_step_number(&self, line: &TraceLine<'_>) -> Result<usize, WordError> {
        let given = parse_whole_number(line, 1, "superstep")?;
        let hint = match self.announced_superstep_count {
            Some(announced) => {
                format!(
                    "write a superstep number below {announced}, the number of supersteps in the header"
                )
            }
            None => "write all supersteps in order, counted from 0".to_owned(),
        };
        match usize::try_from(given) {
            Ok(given) if given < self.announced_superstep_count.unwrap_or(self.line_count) => {
                Ok(given)
            }
            _ => fail_at_word(
                1,
                format!("the trace has no superstep {given} (supersteps are counted from 0)"),
                hint,
            ),
        }
    }

    /// Parses the line `c p WORK`, the computation of process p in the superstep.
    pub(super) fn parse_computation_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        let process = self.parse_process_number(line, 1)?;
        let work = if self.format_version == 1 {
            parse_nonnegative_number(line, 2, "flops")
                .map(Instructions::new)?
                .unwrap_or_default()
        } else {
            parse_quantity(
                line,
                2,
                "instructions",
                Instructions::new,
                Instructions::parse,
            )?
        };
        let step = self.trace.steps.len();
        if std::mem::replace(&mut self.last_computation_step[process.index()], step) == step {
            return fail_at_word(
                1,
                format!("process {} has two `c` lines in one superstep", process.0),
                "replace the two lines by one `c` line with the sum of their work",
            );
        }
        self.trace.steps.add_work(process, work);
        Ok(())
    }

    /// Parses the line `m p q SIZE`, a message from process p to process q.
    pub(super) fn parse_message_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        let from = self.parse_process_number(line, 1)?;
        let to = self.parse_process_number(line, 2)?;
        let size = self.parse_size(line, 3)?;
        self.trace.steps.add_message(Message { from, to, size });
        Ok(())
    }

    /// Parses the line `g p NAME SIZE DELAY`, the move of process p to the host NAME after the superstep.
    pub(super) fn parse_move_line(&mut self, line: &TraceLine<'_>) -> Result<(), WordError> {
        let process = self.parse_process_number(line, 1)?;
        let size = self.parse_size(line, 3)?;
        let delay = if self.format_version == 1 {
            parse_nonnegative_number(line, 4, "delay")
                .map(Seconds::new)?
                .unwrap_or_default()
        } else {
            parse_quantity(line, 4, "delay", Seconds::new, Seconds::parse)?
        };
        let step = self.trace.steps.len();
        if std::mem::replace(&mut self.last_move_step[process.index()], step) == step {
            return fail_at_word(
                1,
                format!(
                    "process {} has two `g` lines (moves) in one superstep",
                    process.0
                ),
                "keep only the last of the `g` lines",
            );
        }
        let image = &mut self.largest_memory_images[process.index()];
        if size > image.unwrap_or_default() {
            *image = Some(size);
        }
        self.trace.prescribed_moves.push(PrescribedMigration {
            process,
            destination_host: line.words[2].to_owned(),
            transferred_bytes: size,
            wait_after_transfer: delay,
        });
        if let Some(last) = self.trace.move_range_of_superstep.last_mut() {
            last.end = self.trace.prescribed_moves.len();
        }
        Ok(())
    }

    /// Checks at the line `end` that no supersteps are missing, and records that the trace has ended.
    pub(super) fn parse_end_line(&mut self, line: &TraceLine<'_>) {
        if self.trace.steps.is_empty() {
            self.check_header(line);
        }
        let announced = self
            .announced_superstep_count
            .unwrap_or(self.next_step_number);
        let is_short = self.next_step_number < announced && !self.has_wrong_step_number;
        if is_short {
            self.add_problem(
                line,
                0,
                format!(
                    "the trace ends after {} of the {announced} supersteps that its header states",
                    self.next_step_number
                ),
                "add the missing `step` lines, or correct the number of supersteps S in the line `bsp 1 P S`".to_owned(),
            );
        }
        self.trace.steps.close_superstep();
        self.has_end_line = true;
    }
}
