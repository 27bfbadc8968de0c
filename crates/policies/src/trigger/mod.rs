//! Triggers: the times at which a load balancer is called, independent of its decisions.
//!
//! A [`Trigger`] observes the host times of each superstep and returns whether to balance before the next one. On a real machine it costs
//! one all-reduce of maximum, sum and minimum (24 B) per superstep, or nothing if the barrier carries these values.
//!
//! To add a trigger, write one file here and one row of the table in `table.rs`.

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
pub use entry::{Entry, Kind, Table, TriggerOptions};
pub use entry::{made_by, row};
pub use every::EveryOptions;
pub use listed::Listed;
pub use marquez::MarquezOptions;
pub use menon::{ImprovedMenonOptions, MenonOptions};
pub use menon_offline::{MenonOfflineEdition, MenonOfflineOptions};
pub use meta_balancer::{MetaBalancerOptions, Plan, Sample, plan};
pub use never::NeverOptions;
pub use procassini::ProcassiniOptions;
pub use table::standard;
pub use when_optimum::{WhenOptimum, when_optimum};
pub use zhai::ZhaiOptions;

use migsim_base::error::Error;
use migsim_base::units::Seconds;

/// The default trigger of a strategy: over all strategies it has the least mean ratio on the public draw (`results/rivals.md`).
pub const USUAL: &str = "boulmier";

/// Decides when to balance.
pub trait Trigger: fmt::Debug + Send {
    /// Observes a superstep; returns whether to balance before the next one. After a "yes" the balancing is assumed to happen: the state restarts.
    fn is_due(&mut self, observed: &Observed) -> bool;

    /// Prepares for a first balancing after the first superstep with computation, which the run makes because this trigger needs it.
    /// Returns `false`, without a change, if the trigger needs none. Afterwards its state is that after a balancing.
    fn takes_first_balancing(&mut self) -> bool {
        false
    }

    /// Reports, after each call that it requested, the number of processes that moved.
    fn on_outcome(&mut self, _moved: usize) {}

    /// Returns the error that makes its last "yes" invalid; called before the call. A trigger in another language may fail.
    fn failure(&mut self) -> Option<Error> {
        None
    }
}

/// The host times of a superstep, and the data of the last balancing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observed {
    /// The superstep that has just ended, counted from 0.
    pub superstep: usize,
    /// Maximum time of a host: its computation, or the time until its barrier.
    pub max: Seconds,
    /// Mean time of the hosts.
    pub avg: Seconds,
    /// Minimum time of a host.
    pub min: Seconds,
    /// Price of the last balancing, including migrations; zero if there was none yet.
    pub price: Seconds,
    /// Whether this is the first superstep after a balancing (which excludes the first superstep of the run).
    pub is_first_after_balancing: bool,
}

impl Observed {
    /// Whether this is the first superstep with the present placement: after a balancing, or at the start of the run.
    pub fn is_first(&self) -> bool {
        self.is_first_after_balancing || self.superstep == 0
    }

    /// Returns the time that the superstep lost to imbalance \[s\]: `max − avg`.
    pub fn imbalance(&self) -> f64 {
        self.max.get() - self.avg.get()
    }
}

/// Helpers of the tests of triggers.
#[cfg(test)]
mod testing {
    use super::*;

    /// Creates a superstep of these times; `price` is that of the last balancing.
    pub(super) fn observed(max: f64, avg: f64, price: f64) -> Observed {
        Observed {
            max: Seconds::of(max),
            avg: Seconds::of(avg),
            min: Seconds::of(avg),
            price: Seconds::of(price),
            ..Observed::default()
        }
    }

    /// Returns the answers of a trigger after each of several supersteps; each "yes" leads to a balancing.
    pub(super) fn dues(options: impl TriggerOptions, steps: &[Observed]) -> Vec<bool> {
        let mut trigger = options.trigger().unwrap();
        let mut was_due = false;
        let ask = |(superstep, step): (usize, &Observed)| {
            was_due = trigger.is_due(&Observed {
                superstep,
                is_first_after_balancing: was_due,
                ..*step
            });
            was_due
        };
        steps.iter().enumerate().map(ask).collect()
    }
}
