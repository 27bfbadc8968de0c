//! Background load: the share of hosts and links that other users take while the application runs.
//!
//! ```text
//! load(t) = u, from 0 to less than 1: of the capacity of its host or link the share 1 - u is left from t on
//!
//! seed, `hosts`, name of the host ──> Stream ──> Load::steps ──> (0 s, u), (1 s, u), ...   as many as the run asks for
//!                                                      │
//!                       profile of the platform ──> platform::Capacity: base · (1 - u_1) · (1 - u_2) · ...
//! ```
//! A load is a function of the date that is constant between its steps, generated while the run goes on: it never ends and takes no
//! memory. It is drawn from the seed, the name of its host or link and nothing else, so that all policies and scenarios face the same
//! load, and a further host changes nothing for the others. Several loads on one host, and the profile of the platform, multiply: each
//! takes its part of what those before it leave. A load that is constant is put into the speeds and bandwidths of the platform.
//!
//! Latencies are not touched. What a policy sees of all this is what it could measure (`external_load` of its view).
//!
//! | where | what |
//! | --- | --- |
//! | [`Table`] | the kinds by name: sentence, source, parameters |
//! | [`Loads`] | the key `load` of an experiment, and putting it on a platform |
//! | [`Load`] | what a kind must be able to do; one file each |
//! | [`from_flag`] | `--load ar,mean=0.3` |

mod ar;
mod config;
mod constant;
mod course;
mod daily;
mod entry;
mod file;
mod flag;
mod lines;
mod on_off;
mod place;
mod range;
mod registry;
mod sampled;
mod walk;

use std::fmt;

pub use ar::{Ar, ArConfig};
pub use config::schema;
pub use config::{LoadKey, Loads};
pub use constant::{Constant, ConstantConfig};
pub use daily::{Daily, DailyConfig};
pub use entry::row;
pub use entry::{Entry, Kind, LoadOptions, Loaded, Parameter, Table};
pub use file::{FileConfig, Format, Measured, Scale, Start, Values};
pub use flag::from_flag;
pub use on_off::{OnOff, OnOffConfig};
pub use registry::standard;
pub use walk::{Walk, WalkConfig};

use crate::Steps;
use migsim_base::random::Stream;
use migsim_base::units::Seconds;

/// The largest load, a share: a larger one leaves nothing that could be called a capacity.
pub const MOST_LOAD: f64 = 0.99;

/// A load with its parameters, not yet on any host or link.
pub trait Load: fmt::Debug + Send + Sync {
    /// The load over time, from date 0 s on: each from 0 to [`MOST_LOAD`].
    fn steps(&self, random: Stream) -> Box<dyn Steps>;

    /// The load, if it is one for ever.
    fn constant(&self) -> Option<f64> {
        None
    }

    /// The time at which it first takes anything, if that is known and the same for all hosts and seeds.
    fn begins(&self) -> Option<Seconds> {
        None
    }

    /// Whether another seed gives another load.
    fn uses_seed(&self) -> bool {
        true
    }

    /// The file it was read from and its SHA-256.
    fn file(&self) -> Option<(&str, &str)> {
        None
    }

    /// A note for the user, in a sentence.
    fn note(&self) -> Option<String> {
        None
    }
}
