//! The BSP runtime: supersteps of processes on hosts, and what happens between them.
//!
//! ```text
//! compute (shared host) -> send all -> receive all -> barrier -> (call -> migrations) -> next superstep
//!    runtime                 exchange                barrier      reschedule
//!    at_once: the four together, without events, where a superstep allows it; again: one that repeats the one before it;
//!    remembered: one that another run has done
//! ```
//!
//! Where the papers leave a choice, it is an option: sends `concurrent` or `sequential`, receives `early` or `late`, six barriers,
//! named models of what a call and a move cost ([`Costs`]). The runtime calls a [`crate::policy::Policy`] and never knows its name.

mod again;
mod at_once;
mod barrier;
mod config;
mod deadlock;
mod exchange;
mod invariants;
mod record;
mod remembered;
mod reschedule;
mod runtime;

pub use config::{
    BarrierConfig, BarrierKind, CallCost, CallModel, CallWaiting, Costs, GatherOrder, LoadMeasure,
    MoveCost, MoveOrder, Receives, Release, RuntimeConfig, Scenario, Sends, Shortcuts, Transfer,
    Waiting,
};
pub use record::{
    Beginnings, CallRecord, Cause, MigrationRecord, Outcome, Recorder, SuperstepDates, Wait,
};
pub use remembered::{Remembered, Room};
pub use runtime::{Setup, simulate};
