//! Traces for external viewers, written during the run: the activity and the place of every process over time.
//!
//! ```text
//! runtime ── dates, calls, migrations ──> Timeline ── "p7 waits from 1.25 s on" ──> Perfetto  trace-iii.perfetto.json
//!                                                                              └──> Paje      trace-iii.paje
//! ```
//! A process computes, communicates, waits (at the barrier, or for others after it), takes part in a rescheduling call, or migrates.
//! There is a file per scenario: Paje wants dates that rise through the file, and viewers load whole files; whoever compares scenarios
//! opens one in each window. A file appears under its name when it is complete, at the end of the run.

mod format;
mod lines;
mod paje;
mod perfetto;
mod timeline;
mod writer;

pub use format::{TraceFormat, Traced};
pub use writer::Trace;
