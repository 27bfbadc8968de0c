//! Weighted max-min fair sharing of links.
//!
//! `solve` computes all rates from scratch ([`SharingProblem`]); `incremental` repairs them where a flow or a capacity changes, and is
//! tested against `solve`.

pub(super) mod incremental;
mod solve;

pub use solve::SharingProblem;
