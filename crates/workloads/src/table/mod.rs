//! `table`: an application as CSV tables, one of the work and, if there are messages, one of those.
//!
//! ```text
//! superstep,process,work [Ginstr],memory [MB]      superstep,from,to,bytes
//! 1,p1,1.5,200                                     1,p1,p2,500000
//! 1,p2,3,200                                       2,p2,p1,64 kB
//! ```
//! Columns and rows may stand in any order. The unit of a column follows its name, as `work [Ginstr]` or `work_Ginstr`; a field may have a unit of
//! its own. Without a unit, work counts in instructions, or in seconds if the column says so (`work [s]`), and sizes in bytes. Work in seconds is
//! that on hosts of `speed`. A process without a row in a superstep computes nothing there.
//! `memory` may be left out or empty; the largest of a process counts.

mod application;
mod column;
mod config;
mod read;

pub use application::Table;
pub use config::TableConfig;

#[cfg(test)]
mod tests;
