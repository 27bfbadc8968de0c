//! Traces for external viewers, written during the simulation: the activity and the host of each process over time.
//!
//! ```text
//! runtime ── times, calls, migrations ──> TraceWriter ── "p7 waits from 1.25 s on" ──> Perfetto  trace-iii.perfetto.json
//!                                                                                 └──> Paje      trace-iii.paje
//! ```
//! A process computes, communicates, waits (for messages, at the barrier, or for other processes), takes part in a
//! rescheduling call, or migrates. There is one file per scenario, because Paje requires times that rise through the file, and
//! because viewers load whole files. To compare scenarios, open each file in its own window. A file gets its final name at the
//! end of the run, when it is complete.

mod format;
mod paje;
mod perfetto;
mod timeline;

pub use format::{TraceFormat, TraceSubject};
pub use timeline::TraceWriter;
