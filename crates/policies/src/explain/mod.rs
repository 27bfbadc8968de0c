//! The explanations of a policy's decisions after a run, written from the decision records ([`super::Explain`]).
//!
//! ```text
//! trigger    whether a call was due, and the reason
//! selection  which processes were candidates
//! placement  the destination of each candidate, and whether it was accepted
//! outcome    the cost of the call, and the effect of the moves   (the same for all policies: migsim_output)
//! ```
//! `migsim explain`, the page of a run and traces use a [`Narrator`]. All methods of a narrator have defaults, which list a
//! record unchanged. The numbers of the sentences are keys of the record, or differences of them.

mod narrator;
mod plain;
mod record;
mod scene;

pub(crate) use narrator::describe_saving;
pub use narrator::{Narrator, PlainNarrator, time_ratio};
pub(crate) use plain::describe_requested_call;
pub use plain::{REASON_KEY, describe_no_call, list_explanation_values};
pub(crate) use record::explanation_fields;
pub use record::{DecisionRecord, RecordedCandidate, RecordedMigration, TRIGGER_KEY};
pub use scene::{
    CallInterval, ExplainContext, MigrationScore, NoMoveReason, ScoreHeadings, Shortfall,
};
