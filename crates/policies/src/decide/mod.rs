//! Decisions of policies without a simulation: answers to questions about one barrier or one history.
//!
//! | a case has | question | answer |
//! |---|---|---|
//! | `speeds`, `current`, `work` or `time` | the placement of processes at this barrier | [`Judged`] per strategy |
//! | `average`, `residual`, `increments` | the supersteps at which triggers balance | [`Told`] per trigger |
//! | `max`, `avg`, `strategy_cost` | the plan of the meta-balancer | [`crate::trigger::Plan`] |
//! | `initial_total_work`, `growth_per_iteration` | the best supersteps to balance at | [`crate::trigger::WhenOptimum`] |
//!
//! A file has one case, a list of cases, or `{"cases": [...]}`. Numbers have no units, as in the recorded decisions of the original
//! programs: seconds on a host of speed 1, bytes, bytes per second.

mod case;
mod check;
mod choice;
mod history;
mod judged;
mod snapshot;

pub use case::{Case, Content, cases};
pub use choice::{Asked, Choice};
pub use history::{Growth, History, Measured, Told, optimum_of_growth, tell};
pub use judged::{Judged, Verdict, judge, judge_triggers};
pub use snapshot::Snapshot;
