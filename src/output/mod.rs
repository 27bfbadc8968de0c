//! Results in, bytes out: the run folder, the summary, the table; and a run folder read again, and explained.
//!
//! ```text
//! run.json          manifest: version, inputs with hashes, resolved settings, summary
//! supersteps.csv    when each superstep began and ended
//! calls.jsonl       a decision record per rescheduling call
//! migrations.csv    every migration that happened
//! processes.csv     (optional) what each process did in each superstep
//! trace-*.*         (optional) the same for viewers, a file per scenario
//! ```
//! CSV follows RFC 4180 and carries units in its column names; floats read back exactly. Nothing here prints.

mod explain;
mod folder;
mod platform;
mod processes;
mod quantities;
mod read;
mod records;
mod sheet;
mod summary;
mod svg;
mod table;
mod traces;
mod words;
mod workload;

pub use explain::{Question, Story};
pub use folder::{Drafts, RunFolder, write_file};
pub use platform::{draw, platform_sheet};
pub use processes::ProcessTable;
pub use read::{Call, Decided, Judged, Moved, Run, RunOfScenario, Superstep};
pub use sheet::{Cell, Column, Form, Sheet, Table, Tone, numbers, words};
pub use summary::{manifest, summary};
pub(crate) use svg::escaped;
pub use table::table;
pub use traces::{Draft, Trace, TraceFormat, Traced};
pub(crate) use words::{counted, of_number};
pub use workload::{Load, loads, picture, workload_sheet};

use crate::error::{Error, Problem};

/// The error of an output that cannot be written.
pub(crate) fn cannot_write(what: &str, error: &dyn std::fmt::Display) -> Error {
    let problem = Problem::new(format!("cannot write `{what}`: {error}"));
    Error::Output(problem.hint("choose a folder that can be written to, with enough space"))
}
