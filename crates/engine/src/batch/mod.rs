//! Batch transfer: flows whose links do not change are solved together, without a queue of all events.
//!
//! ```text
//!                   equal flows that end at the same time                   ──> together: closed form
//!                   few flows, or sets of active flows recur (transfer)     ──> memoized (rate_cache)
//! known starts ─ contention ─ group by group ┤
//!                   crowds: many flows on each link                         ──> grouped (service, maxmin::bottleneck)
//!                   everything else                                         ──> grouped (incremental, maxmin::incremental)
//! ```
//! If the capacities of links change during the transfer because of profiles, all flows are solved by the bottleneck solver
//! (`FlowBatch::solve_while_capacities_change`). [`FlowBatch`] chooses the solver of each group, and `path_table` has the
//! constants of each route. The choice depends on the flows alone, never on what was simulated before. The times at which flows
//! end agree between all solvers to a relative difference of 1e-13, but not to the last bit. The slower reference implementation
//! is [`super::Simulation`].
//!
//! A batch yields the same times, to the last bit, whatever batches were solved before it. The storage of superstep results
//! relies on this, because the supersteps solved so far in this operating-system process may belong to other runs.

mod contention;
mod flow;
mod grouped;
mod incremental;
mod memoized;
mod path_table;
mod rate_cache;
#[cfg(test)]
mod testing;
mod together;
mod transfer;

pub(crate) use flow::FlowStart;
pub(crate) use path_table::{PathId, PathTable, add_load};
pub(crate) use transfer::FlowBatch;
