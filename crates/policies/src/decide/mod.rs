//! Decisions without a simulation, for `migsim decide`: answers to questions about one barrier or one load history.
//!
//! | a case has | question | answer |
//! |---|---|---|
//! | `speeds`, `current`, `work` or `time` | the placement of processes at this barrier | the decision and largest host time of each strategy |
//! | `average`, `residual`, `increments` | the supersteps at which triggers balance | these supersteps and the total time, for each trigger |
//! | `max`, `avg`, `strategy_cost` | the plan of the meta-balancer | [`crate::trigger::BalancingPlan`] |
//! | `initial_total_work`, `growth_per_iteration` | the best supersteps to balance at | [`crate::trigger::BestBalancings`] |
//!
//! A file has one case, a list of cases, or `{"cases": [...]}`. Numbers have no units, as in the recorded decisions of the
//! original programs: times are seconds on a host of speed 1, and amounts of data are bytes or bytes per second.

mod case;
mod check;
mod choice;
mod history;
mod judged;
mod snapshot;

pub use case::{Case, CaseContent, for_each_case};
pub use choice::{PolicyOrTrigger, PolicyOrTriggerSelection};
pub use history::{
    GrowingLoad, LoadHistory, MeasuredTimes, TriggerOutcome, best_balancings_of_growth,
    simulate_trigger,
};
pub use judged::{BarrierDecisions, StrategyDecision, decide_with_strategies, simulate_triggers};
pub use snapshot::BarrierSnapshot;
