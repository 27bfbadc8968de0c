//! Weighted max-min fair sharing of links.
//!
//! `solve` computes all rates from scratch ([`SharingProblem`]). `incremental` and `bottleneck` update them where a flow or a capacity changes,
//! the one by the flows of each link, the other by their bottleneck links; both are tested against `solve`. `pipes` solves what has closed
//! pipes (SimGrid's `FATPIPE`). `tables` holds the links and groups of `incremental`, `segment` finds the level of one link, `worklist` orders
//! the links to update.

pub(super) mod bottleneck;
pub(super) mod incremental;
pub(super) mod pipes;
mod segment;
mod solve;
mod tables;
mod worklist;

pub use solve::SharingProblem;
use solve::held;
