//! Explains one superstep of a run: why each process moved or stayed, in sentences with numbers.
//!
//! ```text
//! trigger    was a call due, and why                                  the policy ([`Narrator`])
//! selection  which processes were candidates                          the policy
//! placement  destination, t1 against t2, verdict
//! outcome    the cost, the predicted and the realised gain of the moves, and when the gain has compensated the cost
//! ```
//! Here t1 is the predicted time of a candidate on its present host, and t2 the predicted time on its destination. If no
//! superstep is chosen, the explanation is an [`Overview`] of all rescheduling calls. The sentences state only what the records
//! of the run (`Run`) contain. If a policy does not provide sentences, its records are listed. Processes and supersteps are
//! counted from 1.
//!
//! [`Narrator`]: migsim_policies::explain::Narrator

mod case;
mod duration;
mod outcome;
mod overview;
mod page;
mod placement;
mod question;
mod story;

pub use case::EvaluatedCall;
pub use duration::describe_superstep_time;
pub use overview::Overview;
pub(super) use question::AnswerData;
pub use question::Question;
pub use story::CallExplanation;
