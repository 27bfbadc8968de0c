//! The BSP runtime: simulates supersteps of processes on hosts, with barriers, rescheduling calls and migrations between them.
//!
//! ```text
//! for each superstep of a run
//! the superstep repeats the previous one (repeat), a shortcut computes it (direct evaluation, or stored results: memo), or events
//! simulate it:
//!   compute (shared host) -> send all -> receive all -> barrier                 superstep, exchange, barrier
//!   then rescheduling: is a call due? decision -> cost -> migrations           reschedule, call, migration
//! ```
//! The words on the right are the names of the modules.
//!
//! Where the papers leave a choice, an option decides: sends `concurrent` or `sequential`, receives `early` or `late`, ten
//! barriers, named models of the costs of a call and a migration ([`Costs`]). The runtime calls any [`Policy`] only through its
//! trait.
//!
//! The central traits are [`Workload`], which fills a [`Plan`] for each superstep, and [`Policy`], which receives a [`View`] and
//! returns a [`Decision`]. [`simulate`] runs one scenario. Applications, policies and settings are defined in crates that depend
//! on this one.
//!
//! ```
//! use migsim_base::units::{Bytes, HostId, Instructions, ProcessId};
//! use migsim_bsp::{Costs, Never, RuntimeConfig, Scenario, Setup, Plan, ViewConfig, Workload, simulate};
//!
//! /// Two processes that compute for a second and send each other a message, once.
//! #[derive(Debug)]
//! struct Pair;
//!
//! impl Workload for Pair {
//!     fn processes(&self) -> usize {
//!         2
//!     }
//!
//!     fn supersteps(&self) -> usize {
//!         1
//!     }
//!
//!     fn fill(&self, _superstep: usize, plan: &mut Plan) {
//!         plan.work.fill(Instructions::of(1e9));
//!         plan.send(0, 1, Bytes::of(1e3));
//!         plan.send(1, 0, Bytes::of(1e3));
//!     }
//!
//!     fn memory(&self, _process: ProcessId) -> Bytes {
//!         Bytes::default()
//!     }
//! }
//!
//! let platform = migsim_platform::open("lbm")?.platform;
//! let setup = Setup {
//!     platform: &platform,
//!     network: migsim_engine::NetworkModel::default(),
//!     workload: &Pair,
//!     placement: &[HostId(0), HostId(1)],
//!     runtime: RuntimeConfig::default(),
//!     costs: Costs::default(),
//!     view: ViewConfig::default(),
//!     scenario: Scenario::I,
//!     seed: 1,
//!     memo: None,
//! };
//! let outcome = simulate(&setup, Box::new(Never::default()), &mut ())?;
//! assert_eq!(outcome.supersteps.len(), 1);
//! # Ok::<(), migsim_base::error::Error>(())
//! ```

// A new kind must not run as another one.
#![warn(clippy::wildcard_enum_match_arm)]

mod barrier;
mod call;
mod closing;
mod config;
mod decision;
mod decision_cost;
mod event;
mod exchange;
mod invariants;
mod measures;
mod memo;
mod migration;
mod never;
mod open_supersteps;
mod pairs;
mod path;
mod policy;
mod record;
mod repeat;
mod reports;
mod reschedule;
mod run;
mod script;
mod shortcut;
mod stepper;
mod superstep;
mod workload;
mod world;

pub use config::{
    BarrierConfig, BarrierKind, CallCostConfig, CallModel, CallOrder, CallWaiting,
    ControlTransport, Costs, DelayFactor, GatherOrder, LoadMeasure, MemoryTransfer,
    MigrationCostConfig, MigrationOrder, ReleaseOrder, RuntimeConfig, Scenario, SendOrder,
    ShortcutChoice, TransferStart, WaitingProcesses,
};
pub use decision::{CallProcedure, Candidate, Decision, Explain, Gather, Migration};
pub use decision_cost::{DecisionCost, DecisionSize, OPERATIONS_PER_PROCESS};
pub use measures::{Measures, Traffic, resize_and_fill};
pub use memo::{Memo, MemoBudget};
pub use migsim_engine::Message;
pub use never::Never;
pub use pairs::ProcessClusterTable;
pub use path::{CriticalPath, PathPiece, PieceKind, PieceResources, RateLimit};
#[cfg(any(test, feature = "testing"))]
pub use policy::testing;
pub use policy::{ExternalLoad, Policy, View};
pub use record::{
    CallRecord, MigrationCause, MigrationRecord, Period, Recorder, RunOutcome, SentMessages,
    SuperstepBeginnings, SuperstepTimes,
};
pub use reports::ViewConfig;
pub use run::simulate;
pub use stepper::Stepper;
pub use workload::{ApplicationSize, Plan, PrescribedMigration, VtLabels, Workload};
pub use world::Setup;
