//! Triggers: they determine when a load balancer is called, independently of its decisions.
//!
//! A [`Trigger`] observes the host times of each superstep and returns whether to balance the load before the next superstep. On
//! a real machine this costs one all-reduce of maximum, sum and minimum (24 B) per superstep, or nothing if the barrier carries
//! these values.
//!
//! To add a trigger, write one source file in this directory and one row of the table in `table.rs`.

mod boulmier;
mod entry;
mod every;
mod listed;
mod marquez;
mod menon;
mod menon_offline;
mod meta_balancer;
mod never;
mod procassini;
mod table;
mod when_optimum;
mod zhai;

use std::fmt;

pub use boulmier::BoulmierOptions;
pub use entry::{Entry, Table, TriggerKind, TriggerOptions, entry_from_maker, table_entry};
pub use every::EveryOptions;
pub use listed::ListedCallsTrigger;
pub use marquez::MarquezOptions;
pub use menon::{ImprovedMenonOptions, MenonOptions};
pub use menon_offline::{MenonOfflineEdition, MenonOfflineOptions};
pub use meta_balancer::{BalancingPlan, HostTimeSample, MetaBalancerOptions, plan_next_balancing};
pub use never::NeverOptions;
pub use procassini::ProcassiniOptions;
pub use table::standard;
pub use when_optimum::{BestBalancings, best_balancings};
pub use zhai::ZhaiOptions;

use migsim_base::{error::Error, quantities::format_time, units::Seconds};

/// The name of the default trigger of a strategy. Of all triggers it has the lowest mean ratio of the makespan to the best known
/// makespan, over all strategies and the public cases of the benchmark (`results/rivals.md`).
pub const DEFAULT_TRIGGER: &str = "boulmier";

/// A rule that decides after each superstep whether the load is balanced before the next superstep.
pub trait Trigger: fmt::Debug + Send {
    /// Observes the superstep that has just ended, and returns whether to balance the load before the next superstep.
    ///
    /// If the function returns `true`, the trigger assumes that the balancing takes place, and restarts its measurements.
    fn is_due(&mut self, observed: &ObservedSuperstep) -> bool;

    /// Prepares the trigger for a first balancing that is not due by its rule, and returns whether the trigger needs this
    /// balancing to measure its effect. The caller invokes this function after the first superstep with computation.
    ///
    /// If the trigger needs no such balancing, its state does not change.
    fn prepare_first_balancing(&mut self) -> bool {
        false
    }

    /// Explains the call that the trigger requested last: a part of a sentence, `since ...`, with the numbers of its rule. Empty by
    /// default, so that `migsim explain` names only the trigger and the superstep.
    fn reason(&self) -> Reason {
        Reason::default()
    }

    /// Informs the trigger of the result of a call that it has requested: the number of processes that moved.
    fn on_outcome(&mut self, _moved: usize) {}

    /// Returns the error because of which the last result of [`Self::is_due`] is invalid; `None` if there is no error. Only a
    /// trigger in another language can fail.
    ///
    /// The caller invokes this function before the rescheduling call.
    fn failure(&mut self) -> Option<Error> {
        None
    }
}

/// The reason for a call: a part of a sentence, `since ...`, and its times \[s\] by their keys in the record of the call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reason {
    /// The part of a sentence.
    pub text: String,
    /// The times in the text \[s\].
    pub times: Vec<(&'static str, f64)>,
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        let times = Vec::new();
        Self { text, times }
    }
}

/// Returns the reason of a trigger that compares a time with the cost of the last call: `what`, a time of `seconds`, reached it.
fn reached_cost(what: &str, seconds: f64, cost: f64) -> Reason {
    let unknown = if cost == 0.0 {
        " (no call has been measured yet)"
    } else {
        ""
    };
    Reason {
        text: format!(
            "{what}, {}, reached the cost of a call, {}{unknown}",
            format_time(seconds),
            format_time(cost)
        ),
        times: vec![("trigger_time_s", seconds), ("call_cost_s", cost)],
    }
}

/// Adds a time to a sum, which restarts with a balancing as soon as it reaches the cost of the last balancing.
fn add_until_cost(
    sum: &mut f64,
    more: f64,
    observed: &ObservedSuperstep,
    what: &str,
) -> Option<Reason> {
    *sum += more;
    let cost = observed.balancing_cost.get();
    (*sum >= cost).then(|| reached_cost(what, std::mem::take(sum), cost))
}

/// A rule that gives the reason of each balancing when it requests the balancing.
trait Criterion: fmt::Debug + Send {
    /// Observes the superstep that has just ended, and returns the reason if the load is to be balanced.
    fn reason_if_due(&mut self, observed: &ObservedSuperstep) -> Option<Reason>;

    /// As [`Trigger::prepare_first_balancing`].
    fn prepare_first_balancing(&mut self) -> bool {
        false
    }
}

#[derive(Debug)]
struct CriterionTrigger<C> {
    criterion: C,
    last_reason: Option<Reason>,
}

/// Creates the trigger that follows a criterion.
fn trigger_of(criterion: impl Criterion + 'static) -> Box<dyn Trigger> {
    let last_reason = None;
    Box::new(CriterionTrigger {
        criterion,
        last_reason,
    })
}

impl<C: Criterion> Trigger for CriterionTrigger<C> {
    fn is_due(&mut self, observed: &ObservedSuperstep) -> bool {
        self.last_reason = self.criterion.reason_if_due(observed);
        self.last_reason.is_some()
    }

    fn prepare_first_balancing(&mut self) -> bool {
        self.criterion.prepare_first_balancing()
    }

    fn reason(&self) -> Reason {
        self.last_reason.clone().unwrap_or_default()
    }
}

/// The host times of a superstep that a trigger observes, and the cost of the last balancing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ObservedSuperstep {
    /// The superstep that has just ended, counted from 0.
    pub superstep: usize,
    /// Maximum time of a host in the superstep: its computation time, or the time until it reaches the barrier.
    pub max_host_time: Seconds,
    /// Mean time of the hosts in the superstep.
    pub mean_host_time: Seconds,
    /// Minimum time of a host in the superstep.
    pub min_host_time: Seconds,
    /// Cost of the last balancing, including migrations; zero if there was no balancing yet.
    pub balancing_cost: Seconds,
    /// Whether this is the first superstep after a balancing; false for the first superstep of the run.
    pub is_first_after_balancing: bool,
}

impl ObservedSuperstep {
    /// Returns whether this is the first superstep with the present placement, either after a balancing or at the start of the
    /// run.
    pub fn is_first_with_placement(&self) -> bool {
        self.is_first_after_balancing || self.superstep == 0
    }

    /// Returns the time that the superstep lost to imbalance \[s\]: the maximum minus the mean of the host times.
    pub fn lost_time(&self) -> f64 {
        self.max_host_time.get() - self.mean_host_time.get()
    }
}

/// Helpers for the unit tests of triggers.
#[cfg(test)]
mod testing {
    use super::*;

    /// Creates the observation of a superstep with the maximum and mean host time `max` and `avg` \[s\]; `price` is the cost of
    /// the last balancing \[s\].
    pub(super) fn superstep_with_times(max: f64, avg: f64, price: f64) -> ObservedSuperstep {
        ObservedSuperstep {
            max_host_time: Seconds::of(max),
            mean_host_time: Seconds::of(avg),
            min_host_time: Seconds::of(avg),
            balancing_cost: Seconds::of(price),
            ..ObservedSuperstep::default()
        }
    }

    /// Returns whether a trigger requests a balancing after each of the supersteps `steps`; each requested balancing is assumed
    /// to take place.
    pub(super) fn is_due_after_each(
        options: impl TriggerOptions,
        steps: &[ObservedSuperstep],
    ) -> Vec<bool> {
        let mut trigger = options.trigger().unwrap();
        let mut was_due = false;
        let ask = |(superstep, step): (usize, &ObservedSuperstep)| {
            was_due = trigger.is_due(&ObservedSuperstep {
                superstep,
                is_first_after_balancing: was_due,
                ..*step
            });
            was_due
        };
        steps.iter().enumerate().map(ask).collect()
    }
}
