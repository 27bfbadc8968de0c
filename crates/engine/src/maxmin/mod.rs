//! Weighted max-min fair sharing of links.
//!
//! `solve` computes all rates from scratch ([`SharingProblem`]); `incremental` repairs them where a flow or a capacity changes, and is
//! tested against `solve`; `pipes` solves what has closed pipes (SimGrid's `FATPIPE`); `tables` holds its links and groups, `segment` finds the level of one link, `worklist` orders the links to repair.

pub(super) mod holding;
pub(super) mod incremental;
pub(super) mod pipes;
mod segment;
mod solve;
mod tables;
mod worklist;

pub use solve::SharingProblem;
use solve::held;
