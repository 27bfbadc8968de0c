//! Weighted max-min fair sharing of links.
//!
//! `solve` computes all rates from scratch ([`SharingProblem`]). `incremental` and `bottleneck` update rates where a flow or a capacity
//! changes: `incremental` visits the flows of each link, `bottleneck` only bottleneck links. Both are tested against `solve`. `pipes`
//! solves problems with closed pipes (SimGrid's `FATPIPE`). `tables` holds the links and groups of `incremental`, `segment` computes the
//! level of one link, and `worklist` orders the links to update.

pub(super) mod bottleneck;
pub(super) mod incremental;
pub(super) mod pipes;
mod segment;
mod solve;
mod tables;
mod worklist;

pub use solve::SharingProblem;
use solve::held;
