//! Batch transfer: flows on links that do not change, solved together without a queue of all events.
//!
//! ```text
//!                   equal flows that end at one date                        ──> together: closed form
//!                   few flows, or sets of active flows recur (transfer)  ──> memoized (rate_cache)
//! known starts ─ contention ─ group by group ┤
//!                   crowds: many flows on each link                         ──> bottleneck (maxmin::bottleneck, service)
//!                   everything else                                         ──> incremental (maxmin::incremental, completion)
//! ```
//! If links change by profiles meanwhile, all flows go to the bottleneck solver ([`FlowBatch::solve_through`]).
//! [`FlowBatch`] chooses between the four, and `path_table` has the constants of each route. The choice depends on the flows alone, never on
//! what was simulated before. Completion times of all agree to 1e-13, not to the bit. The slow twin is [`super::Simulation`].
//!
//! A batch ends to the last bit as if it were the first one. Superstep memory relies on it: which supersteps are solved at all depends on
//! what other runs of the process have solved already.

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
