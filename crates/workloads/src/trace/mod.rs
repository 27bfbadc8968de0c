//! `trace`: a workload that a text file, the trace, describes superstep by superstep.
//!
//! ```text
//! migsim-trace 2
//! processes P            processes 0..P-1
//! memory p SIZE          memory of process p; without p, of all processes that have no `memory` line; below `step k`, the
//!                        memory of process p from superstep k on
//! host p NAME            process p starts on this host; for all processes, or for none
//! runtime KEY VALUE      a setting of the runtime: `sends sequential`, `barrier.kind central`
//! recorded KEY VALUE     a fact about the recording that the trace comes from: `library open-mpi`
//! cycles X               clock cycles per instruction
//! step k                 opens superstep k; the following lines belong to it
//! c p WORK               process p computes (at most one line per process; none = 0)
//! m p q SIZE             a message from process p to process q (several may have the same ends)
//! g p NAME SIZE DELAY    after superstep k, process p moves to this host (at most one line per process)
//! end
//! ```
//!
//! `docs/trace-format.md` describes the format for authors of traces. Processes and supersteps are counted from 0. Words are
//! separated by blanks; a word that begins with `#` starts a comment; blank lines are allowed. Steps are in order and complete.
//! [`Trace::parse`] refuses missing, repeated or out-of-range lines, with line and column. [`Trace::write`] writes any
//! [`Workload`] so that an equal workload is read back.
//!
//! Version 1 begins with `bsp 1 P S` and is the format of the reference cases that were computed with `SimGrid` (`tests/oracle`).
//! In version 1 the lines on hosts, barrier and receives are required, and numbers have no units.

pub(super) mod built_in;
mod header;
mod line;
mod parse;
mod recording;
mod steps;
mod write;

use std::ops::Range;

pub use recording::{FACT_KEYS as RECORDING_KEYS, RecordingFacts};
pub use write::TracePreamble;

use super::{
    PrescribedMigration, Workload,
    recorded::{StoredSupersteps, recorded_methods},
};
use migsim_base::{
    setting::KeySetting,
    units::{Bytes, ProcessId},
};

/// Maximum size that a trace of version 1 may state \[B\]; larger whole numbers cannot all be represented by floating-point
/// numbers.
const MAX_SIZE_BYTES: u64 = 1 << 53;

/// Text of the manual page that describes the trace format, for authors of traces.
pub const FORMAT_DESCRIPTION: &str = include_str!("../../../../docs/trace-format.md");

/// A workload that was read from the text of a trace.
///
/// ```
/// use migsim_workloads::{Workload, trace::Trace};
/// let text = "migsim-trace 2\nprocesses 2\nmemory 100MB\nstep 0\nc 0 1Ginstr\nm 0 1 8\nend\n";
/// let trace = Trace::parse("two.trace", text)?;
/// assert_eq!((trace.processes(), trace.supersteps()), (2, 1));
/// let error = Trace::parse("two.trace", &text.replace("m 0 1", "m 0 2")).unwrap_err();
/// assert!(error.to_string().contains("two.trace:6:5"));
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    settings: Vec<KeySetting>,
    recording_facts: RecordingFacts,
    cycles_per_instruction: f64,
    concatenated_host_names: String,
    host_name_ranges: Vec<Range<usize>>,
    /// Largest memory of each process: from its `memory` lines, or else the largest memory image with which the trace moves it; `None` if
    /// the trace states neither.
    memory: Vec<Option<Bytes>>,
    steps: StoredSupersteps,
    prescribed_moves: Vec<PrescribedMigration>,
    move_range_of_superstep: Vec<Range<usize>>,
}

impl Trace {
    /// Returns the settings of the runtime that the trace contains.
    pub fn settings(&self) -> &[KeySetting] {
        &self.settings
    }

    /// Returns the facts about the recording from which the trace comes.
    pub fn recording(&self) -> &RecordingFacts {
        &self.recording_facts
    }

    /// Sets the memory of each process for which the trace states no memory, and returns the trace.
    #[must_use]
    pub fn with_default_memory(mut self, memory: Bytes) -> Self {
        for unknown in self.memory.iter_mut().filter(|known| known.is_none()) {
            *unknown = Some(memory);
        }
        self
    }
}

impl Workload for Trace {
    recorded_methods!();

    fn initial_host(&self, process: ProcessId) -> Option<&str> {
        let name = self.host_name_ranges.get(process.index())?;
        Some(&self.concatenated_host_names[name.clone()])
    }

    fn prescribes_moves(&self) -> bool {
        !self.prescribed_moves.is_empty()
    }

    fn prescribed_moves(&self, superstep: usize) -> &[PrescribedMigration] {
        &self.prescribed_moves[self.move_range_of_superstep[superstep].clone()]
    }

    fn cycles_per_instruction(&self) -> f64 {
        self.cycles_per_instruction
    }
}
