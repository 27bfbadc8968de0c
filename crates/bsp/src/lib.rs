//! The BSP runtime: supersteps of processes on hosts, with barriers and rescheduling between them.
//!
//! ```text
//! run: for each superstep
//!   it is the one before once more (repeat), a shortcut computes it (direct evaluation, memo), or its events do:
//!   compute (shared host) -> send all -> receive all -> barrier                 superstep, exchange, barrier
//!   then rescheduling: is a call due? decision -> price -> migrations           reschedule, call, migration
//! ```
//!
//! Where the papers leave a choice, it is an option: sends `concurrent` or `sequential`, receives `early` or `late`, ten barriers,
//! named models of what a call and a move cost ([`Costs`]). The runtime calls a [`Policy`] and never knows its name.

mod ahead;
mod barrier;
mod call;
mod config;
mod decision;
mod event;
mod exchange;
mod foreseen;
mod free;
mod invariants;
mod leaving;
mod measures;
mod migration;
mod never;
mod packets;
mod pairs;
mod patience;
mod policy;
mod record;
mod repeat;
mod reschedule;
mod run;
mod script;
mod shortcut;
mod superstep;
mod waves;
mod workload;
mod world;

pub use config::{
    BarrierConfig, BarrierKind, CallCost, CallModel, CallWaiting, Costs, GatherOrder, LoadMeasure,
    MoveCost, MoveOrder, Notices, Receives, Release, RuntimeConfig, Scenario, Sends, Shortcuts,
    Transfer, Waiting,
};
pub use decision::{Candidate, Decision, Explain, Gather, Migration, Procedure};
pub use measures::refill;
pub use measures::{Measures, Traffic};
pub use never::Never;
pub use pairs::Pairs;
#[cfg(any(test, feature = "testing"))]
pub use policy::testing;
pub use policy::{Policy, View};
pub use record::{
    Beginnings, CallRecord, Cause, MigrationRecord, Outcome, Recorder, Sent, SuperstepDates, Wait,
};
pub use run::simulate;
pub use shortcut::{Memo, MemoBudget};
pub use workload::{Extent, Labels, Message, Plan, PrescribedMove, Setting, Workload};
pub use world::Setup;
