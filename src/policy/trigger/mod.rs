//! Triggers: when a load balancer is called, apart from what it decides.
//!
//! A [`Trigger`] is fed the host times of each superstep and says whether to balance before the next one. Its cost on the machine is one
//! all-reduce of maximum, sum and minimum (24 B) per superstep, or nothing where the barrier carries them.
//!
//! To add a trigger, write one file here and one row of the table in `table.rs`.

mod entry;
mod every;
mod never;
mod table;

use std::fmt;

pub use entry::{Entry, Kind, Table, TriggerOptions};
pub use every::EveryOptions;
pub use never::NeverOptions;
pub use table::standard;

use crate::units::Seconds;

/// Says when to balance.
pub trait Trigger: fmt::Debug + Send {
    /// Takes note of a superstep; returns whether to balance before the next one. A "yes" is taken as obeyed: the state starts again.
    fn is_due(&mut self, observed: &Observed) -> bool;

    /// Told after each call that it asked for how many processes moved.
    fn on_outcome(&mut self, _moved: usize) {}
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
