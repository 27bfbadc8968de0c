//! The tests of the whole: one line per capability.

mod call_options; // waiting for calls, their answers, ping-pong, moves as if alone
mod cli; // the command: transcripts, folders, determinism
mod lbm_paper; // the Lattice Boltzmann paper: its times within tolerances, its decisions
mod lu; // the application `lu` against closed forms
mod lu_paper; // the LU paper: its times within tolerances, its decisions exactly
mod oracle; // 38 simulations done with SimGrid, every date
mod platform_oracle; // the platforms of the oracle read the same from XML and JSON
mod runtime; // supersteps, barriers, calls and migrations worked out by hand
mod support; // what the tests share
mod trace_format; // traces: read, written, refused; `lu` against the oracle
