//! The tests of the whole: one line per capability.

mod lu; // the application `lu` against closed forms
mod platform_oracle; // the platforms of the oracle read the same from XML and JSON
mod trace_format; // traces: read, written, refused; `lu` against the oracle

// SimGrid: 38 simulations, every date.
mod oracle;
