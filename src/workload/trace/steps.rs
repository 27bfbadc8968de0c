//! The supersteps of a trace: computations, messages and moves.

use std::ops::Range;

use super::line::{Complaint, Line, complaint, number, quantity, whole};
use super::parse::Reader;
use super::{Records, Trace};
use crate::units::{Instructions, Seconds};
use crate::workload::{Message, PrescribedMove};

impl Reader<'_> {
    /// `step k`: the records that follow belong to a superstep of their own even if its number is wrong.
    pub(super) fn step(&mut self, line: &Line<'_>) -> Result<(), Complaint> {
        if self.trace.steps.is_empty() {
            self.check_header(line);
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

    /// The number of a `step` line, if there can be such a superstep: where the header does not say how many there are, each has a line.
    fn check_step(&self, line: &Line<'_>) -> Result<usize, Complaint> {
        let given = whole(line, 1, "superstep")?;
        let hint = match self.supersteps {
            Some(announced) => {
                format!("the header announces {announced} supersteps, counted from 0")
            }
            None => "supersteps stand in order, from 0, and none is left out".to_owned(),
        };
        match usize::try_from(given) {
            Ok(given) if given < self.supersteps.unwrap_or(self.lines) => Ok(given),
            _ => complaint(1, format!("superstep {given} is out of range"), hint),
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

    pub(super) fn compute(&mut self, line: &Line<'_>) -> Result<(), Complaint> {
        let process = self.process(line, 1)?;
        let work = if self.version == 1 {
            number(line, 2, "flops")
                .map(Instructions::new)?
                .unwrap_or_default()
        } else {
            quantity(
                line,
                2,
                "instructions",
                Instructions::new,
                Instructions::parse,
            )?
        };
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

    pub(super) fn message(&mut self, line: &Line<'_>) -> Result<(), Complaint> {
        let (from, to) = (self.process(line, 1)?, self.process(line, 2)?);
        let size = self.bytes(line, 3)?;
        self.trace.messages.push(Message { from, to, size });
        self.extend_step();
        Ok(())
    }

    pub(super) fn migrate(&mut self, line: &Line<'_>) -> Result<(), Complaint> {
        let process = self.process(line, 1)?;
        let size = self.bytes(line, 3)?;
        let delay = if self.version == 1 {
            number(line, 4, "delay")
                .map(Seconds::new)?
                .unwrap_or_default()
        } else {
            quantity(line, 4, "delay", Seconds::new, Seconds::parse)?
        };
        let step = self.trace.steps.len();
        if std::mem::replace(&mut self.moved[process.index()], step) == step {
            return complaint(
                1,
                format!("process {} moves twice after a superstep", process.0),
                "keep the last of the `g` lines",
            );
        }
        let image = &mut self.images[process.index()];
        if size > image.unwrap_or_default() {
            *image = Some(size);
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

    pub(super) fn end(&mut self, line: &Line<'_>) {
        if self.trace.steps.is_empty() {
            self.check_header(line);
        }
        let announced = self.supersteps.unwrap_or(self.next_step);
        let is_short = self.next_step < announced && !self.is_step_wrong;
        if is_short {
            self.complain(
                line,
                0,
                format!("`end` after {} of {announced} supersteps", self.next_step),
                "write the missing `step` lines, or correct S in the header".to_owned(),
            );
        }
        self.close_step();
        self.is_ended = true;
    }
}

/// Takes the last of the records out if they are those before them.
fn share<T: PartialEq>(records: &mut Vec<T>, before: &Range<usize>, last: &mut Range<usize>) {
    if records[before.clone()] == records[last.clone()] {
        records.truncate(last.start);
        *last = before.clone();
    }
}
