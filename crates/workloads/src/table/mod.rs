//! `table`: an application that is read from CSV tables: one table of the work of the processes and, if the processes send
//! messages, one table of the messages.
//!
//! ```text
//! superstep,process,work [Ginstr],memory [MB]      superstep,from,to,bytes
//! 1,p1,1.5,200                                     1,p1,p2,500000
//! 1,p2,3,200                                       2,p2,p1,64 kB
//! ```
//! Columns and rows may be in any order. The unit of a column follows its name, as `work [Ginstr]` or `work_Ginstr`; a field may
//! have another unit after its number. Without a unit, work is in instructions, or in seconds if the column is `work [s]`, and
//! sizes are in bytes. Work in seconds is measured on hosts of `speed`. A process without a row in a superstep computes nothing
//! in this superstep. `memory` may be missing or empty; a value holds until the next value
//! of the process, and the first value also in the supersteps before.

mod application;
pub(crate) mod column;
mod config;
pub(crate) mod read;

pub use application::Table;
pub use config::TableConfig;

#[cfg(test)]
mod tests;
