//! The explanations of a policy after the run: the other half of its decision records ([`super::Explain`]).
//!
//! ```text
//! trigger    was a call due, and why
//! selection  which processes were candidates
//! placement  where each wanted to go, and the verdict
//! outcome    the price, and what came of the moves   (the same for all policies: crate::output)
//! ```
//! `migsim explain`, the page of a run and traces ask a [`Narrator`]. All its methods have defaults, which list a record as it is.

mod narrator;
mod numbers;
mod plain;
mod record;
mod scene;

pub use narrator::{Narrator, Plain};
pub use numbers::{duration, plain, ratio};
pub use plain::{REASON, listed, no_call};
pub use record::{Decided, Judged, Record};
pub use scene::{Interval, Quiet, Scene, Score, ScoreWords, Short};
