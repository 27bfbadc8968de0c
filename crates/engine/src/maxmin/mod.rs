//! Weighted max-min fair sharing of the capacities of links among flows.
//!
//! `solve` computes all rates from scratch ([`SharingProblem`]). `incremental` and `bottleneck` update the rates that the change
//! of a flow or a capacity affects: `incremental` visits the flows of each affected link, `bottleneck` visits only bottleneck
//! links. Tests compare both with `solve`. `pipes` solves problems with pipes (SimGrid's `FATPIPE`), whose capacity limits each
//! flow instead of the sum of flows. `tables` contains the links and groups of `incremental`, `segment` computes the fair-share
//! level of one link, and `worklist` has the order of the links to be updated.

pub(super) mod bottleneck;
pub(super) mod incremental;
pub(super) mod pipes;
mod segment;
mod solve;
mod tables;
#[cfg(test)]
mod testing;
mod worklist;

pub use solve::SharingProblem;
use solve::clamped_weight;
