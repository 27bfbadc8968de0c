//! The tests of the whole: one line per capability.

mod cli; // the command: transcripts, folders, determinism
mod lu; // the application `lu` against closed forms
mod oracle; // 38 simulations done with SimGrid, every date
mod platform_oracle; // the platforms of the oracle read the same from XML and JSON
mod trace_format; // traces: read, written, refused; `lu` against the oracle
