//! Workloads: applications that state the computation and messages of their processes, superstep by superstep.
//!
//! A workload fills a [`Plan`], the work and messages of a superstep, for each superstep; the same object is reused for all
//! supersteps. The runtime requests the supersteps in order, but it may request any superstep again, because the three scenarios
//! run the same workload. To add a workload, write a file here and a row in the registry.
//!
//! The trait [`Workload`] is defined in another crate. This crate contains the applications, and the readers of files that
//! describe applications. The placement and migration of processes belong to other crates.
//!
//! ```
//! use migsim_workloads::{Plan, registry};
//!
//! let keys = serde_json::json!({ "n": 60, "procs": 6, "grid": [2, 3] });
//! let lu = registry::standard().find("lu")?.build(&keys)?.workload;
//! let mut plan = Plan::default();
//! plan.clear(lu.processes());
//! lu.fill(0, &mut plan);
//! assert_eq!((lu.processes(), lu.supersteps()), (6, 121));
//! assert!(!plan.messages.is_empty());
//! # Ok::<(), migsim_base::error::Error>(())
//! ```

pub mod lbm;
pub mod lu;
mod ranges;
pub mod record;
mod recorded;
pub mod registry;
pub mod sw;
pub mod synthetic;
pub mod table;
pub mod trace;
pub mod vt;

pub use migsim_bsp::{ApplicationSize, Message, Plan, PrescribedMigration, VtLabels, Workload};
