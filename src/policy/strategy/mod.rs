//! Strategies: the deciding core of load balancers, apart from when they are called and what a call costs.
//!
//! A [`Strategy`] maps an [`Instance`], the snapshot of a barrier, to an [`Assignment`], the new host of each process. It sees no clock
//! and no engine, so that `migsim decide` can ask it about any barrier. An edition named after a program decides as that program does, to
//! the last tie; the edition `ours` is the same idea made right for unlike hosts.
//!
//! ```text
//! Instance ──> Strategy::assign ──> Assignment ──> price of the call (gather, operations, scatter)
//! ```
//!
//! To add a strategy, write one file here and one row of the table in `table.rs`.

mod assignment;
mod entry;
mod instance;
mod rotate;
mod table;

use std::fmt;

pub use assignment::{Assignment, Gather};
pub use entry::{Entry, Kind, StrategyOptions, Table, Variant};
pub use instance::{Instance, Paths, Row};
pub use rotate::RotateOptions;
pub use table::standard;

use crate::error::Error;
use crate::random::Stream;

/// Decides where each process runs, from the snapshot of a barrier.
pub trait Strategy: fmt::Debug + Send {
    /// The new host of each process, and what the decision took.
    ///
    /// # Errors
    /// The strategy cannot decide about this instance (it lacks communication rows, say).
    fn assign(&mut self, instance: &Instance<'_>, random: &mut Stream)
    -> Result<Assignment, Error>;

    /// Whether it reads [`Instance::communication`], which is collected only for strategies that do.
    fn needs_communication(&self) -> bool {
        false
    }

    /// Whether it draws from its random stream: without that, its decisions are the same for all seeds.
    fn uses_seed(&self) -> bool {
        false
    }
}
