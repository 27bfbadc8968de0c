//! Batch transfer: flows on links that do not change, solved together without a queue of all events.
//!
//! ```text
//!                   equal flows that end at one time                        ──> together: closed form
//!                   few flows, or sets of active flows recur (transfer)  ──> memoized (rate_cache)
//! known starts ─ contention ─ group by group ┤
//!                   crowds: many flows on each link                         ──> bottleneck (maxmin::bottleneck, service)
//!                   everything else                                         ──> incremental (maxmin::incremental, completion)
//! ```
//! If the capacities of links change by profiles meanwhile, all flows go to the bottleneck solver ([`FlowBatch::solve_through`]).
//! [`FlowBatch`] chooses the solver of each group, and `path_table` has the constants of each route. The choice depends on the flows alone,
//! never on what was simulated before. Completion times of all solvers agree to 1e-13, not to the last bit. The slow twin is
//! [`super::Simulation`].
//!
//! A batch gives the same times, to the last bit, whatever batches were solved before it. Superstep memory relies on this, because the
//! supersteps solved so far in this operating-system process may belong to other runs.

mod bottleneck;
mod contention;
mod flow;
mod incremental;
mod memoized;
mod path_table;
mod rate_cache;
mod together;
mod transfer;

pub use flow::Start;
pub use path_table::{PathId, PathTable};
pub use transfer::FlowBatch;
