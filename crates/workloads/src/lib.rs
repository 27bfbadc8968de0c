//! Workloads: the computation and messages of the processes, superstep by superstep.
//!
//! A workload fills a reused [`Plan`] for each superstep; the runtime asks for the supersteps in order, but a workload may
//! be asked for any of them again (three scenarios run the same workload). To add one, write a file here and a row in
//! the registry.

pub mod lbm;
pub mod lu;
pub mod record;
mod recorded;
pub mod registry;
pub mod sw;
pub mod synthetic;
pub mod table;
pub mod trace;
pub mod vt;

pub use migsim_bsp::{Extent, Labels, Message, Plan, PrescribedMove, Setting, Workload};
