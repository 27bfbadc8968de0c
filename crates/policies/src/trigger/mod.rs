//! Triggers: when a load balancer is called, apart from what it decides.
//!
//! A [`Trigger`] is fed the host times of each superstep and says whether to balance before the next one. Its cost on the machine is one
//! all-reduce of maximum, sum and minimum (24 B) per superstep, or nothing where the barrier carries them.
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

/// The trigger of a strategy that names none: over all strategies it has the least mean ratio on the public draw (`results/rivals.md`).
pub const USUAL: &str = "boulmier";

/// Says when to balance.
pub trait Trigger: fmt::Debug + Send {
    /// Takes note of a superstep; returns whether to balance before the next one. A "yes" is taken as obeyed: the state starts again.
    fn is_due(&mut self, observed: &Observed) -> bool;

    /// Takes note that the run makes a first balancing, which this trigger needs and has not asked for, after the first superstep with
    /// computation; returns `false` if it needs none. Afterwards its state is that after a balancing.
    fn takes_first_balancing(&mut self) -> bool {
        false
    }

    /// Told after each call that it asked for how many processes moved.
    fn on_outcome(&mut self, _moved: usize) {}

    /// The error because of which its last answer, a "yes", means nothing; asked for before the call. A trigger of another language may fail.
    fn failure(&mut self) -> Option<Error> {
        None
    }
}

/// The host times of a superstep, and what is known of the last balancing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observed {
    /// The superstep that has just ended, counted from 0.
    pub superstep: usize,
    /// The largest time of a host: its computation, or until its barrier.
    pub max: Seconds,
    /// The mean over the hosts.
    pub avg: Seconds,
    /// The smallest.
    pub min: Seconds,
    /// The price of the last balancing, migrations included; zero if there was none yet.
    pub price: Seconds,
    /// Whether this is the first superstep after a balancing (not: of the run).
    pub is_first_after_balancing: bool,
}

impl Observed {
    /// Whether no superstep came before under the present map: after a balancing, or at the start of the run.
    pub fn is_first(&self) -> bool {
        self.is_first_after_balancing || self.superstep == 0
    }

    /// The time that the superstep lost to imbalance \[s\]: `max − avg`.
    pub fn imbalance(&self) -> f64 {
        self.max.get() - self.avg.get()
    }
}

/// Helpers of the tests of triggers.
#[cfg(test)]
mod testing {
    use super::*;

    /// A superstep of these times; `price` is that of the last balancing.
    pub(super) fn observed(max: f64, avg: f64, price: f64) -> Observed {
        Observed {
            max: Seconds::of(max),
            avg: Seconds::of(avg),
            min: Seconds::of(avg),
            price: Seconds::of(price),
            ..Observed::default()
        }
    }

    /// The answers of a trigger after each of some supersteps, obeyed.
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
