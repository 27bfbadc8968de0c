//! Background load: the share of hosts and links that other users take while the application runs.
//!
//! ```text
//! load(t) = u, from 0 to less than 1: the share 1 - u of the capacity of the host or link is left from t on
//!
//! seed, `hosts`, name of the host ──> Stream ──> Load::steps ──> (0 s, u), (1 s, u), ...   generated on demand
//!                                                      │
//!                       profile of the platform ──> platform::Capacity: base · (1 - u_1) · (1 - u_2) · ...
//! ```
//! A load is a function of time that is constant between its steps. It is generated while the run proceeds, so it never ends and takes no
//! memory. It depends on the seed and the name of its host or link alone. So all policies and scenarios face the same load, and an
//! additional host changes nothing for the others. Several loads on one host, and the profile of the platform, multiply: each takes a share
//! of the capacity that the earlier ones leave. A constant load reduces the speeds and bandwidths of the platform in advance.
//!
//! Latencies are not affected. A policy sees the loads as a real one could measure them (`external_load` of its view).
//!
//! | where | what |
//! | --- | --- |
//! | [`Table`] | the kinds by name: summary, source, parameters |
//! | [`Loads`] | the key `load` of an experiment, and its application to a platform |
//! | [`Load`] | the interface of a kind; one file each |
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

/// Maximum load, a share; above it practically no capacity would be left.
pub const MOST_LOAD: f64 = 0.99;

/// A load with its parameters, not yet on any host or link.
pub trait Load: fmt::Debug + Send + Sync {
    /// Returns the load over time, from time 0 s on: each value is from 0 to [`MOST_LOAD`].
    fn steps(&self, random: Stream) -> Box<dyn Steps>;

    /// Returns the load, a share, if it is constant.
    fn constant(&self) -> Option<f64> {
        None
    }

    /// Returns the time of its first positive load, if that is known and the same for all hosts and seeds.
    fn begins(&self) -> Option<Seconds> {
        None
    }

    /// Whether the load depends on the seed.
    fn uses_seed(&self) -> bool {
        true
    }

    /// Returns the file it was read from, and the SHA-256 of the file.
    fn file(&self) -> Option<(&str, &str)> {
        None
    }

    /// Returns a note for the user, in a sentence.
    fn note(&self) -> Option<String> {
        None
    }
}
