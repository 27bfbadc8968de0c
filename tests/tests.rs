//! The tests of the whole: one line per capability.

mod lu; // the application `lu` against closed forms
mod trace_format; // traces: read, written, refused; `lu` against the oracle
