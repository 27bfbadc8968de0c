//! Background load: the share of hosts and links that other users take while the application runs.
//!
//! ```text
//! load(t) = u, from 0 to less than 1: the share 1 - u of the capacity of the host or link is left from time t on
//!
//! seed, `hosts`, name of the host ──> Stream ──> Load::steps ──> (0 s, u), (1 s, u), ...   generated on demand
//!                                                      │
//!                       profile of the platform ──> platform::Capacity: base · (1 - u_1) · (1 - u_2) · ...
//! ```
//! A load is a function of time that is constant between its steps. The steps are generated while the run proceeds, so that a
//! load never ends and need not be stored as a whole. The steps depend only on the seed and the name of the host or link. All
//! policies and scenarios therefore face the same load, and an additional host does not change the loads of the other hosts. If
//! several loads apply to one host, each load takes a share of the capacity that the profile of the platform and the earlier
//! loads leave. A constant load reduces the speeds and bandwidths of the platform before the run.
//!
//! Latencies are not affected. A policy sees the loads as a real policy could measure them (`external_load` in the view of the
//! platform that the policy gets).
//!
//! | where | what |
//! | --- | --- |
//! | [`Table`] | the kinds of load by name: summary, source, parameters |
//! | [`Loads`] | the key `load` of an experiment, and its application to a platform |
//! | [`Load`] | the interface that every kind of load implements, each in a file of its name |
//! | [`from_flag`] | converts flags such as `--load ar,mean=0.3` into the key `load` |

mod ar;
mod config;
mod constant;
mod course;
mod daily;
mod dates;
mod entry;
mod file;
mod flag;
mod lines;
mod on_off;
mod place;
mod range;
mod registry;
mod sampled;
mod scaled;
mod walk;

use std::{fmt, sync::Arc};

pub use ar::ArConfig;
pub use config::{LoadKey, Loads, load_key_schema};
pub use constant::ConstantConfig;
pub use daily::DailyConfig;
pub use entry::{
    Entry, LoadKind, LoadOptions, LoadWithParameters, ParameterDescription, Table, load_entry,
};
pub use file::{FileConfig, Format, MeasuredLoad, Scale, Start, Values};
pub use flag::from_flag;
pub use on_off::OnOffConfig;
pub use registry::standard;
pub use walk::WalkConfig;

use crate::Steps;
use migsim_base::{random::Stream, units::Seconds};

/// Maximum load, as a share of a host or link. A larger load would leave practically no capacity.
pub const MAX_LOAD: f64 = 0.99;

/// A kind of background load with its parameters, independent of the hosts and links to which the load applies.
pub trait Load: fmt::Debug + Send + Sync {
    /// Returns the load over time as (time \[s\], value) from 0 s on, drawn from `random`. Each value is from 0 to 0.99, the
    /// maximum load, and holds until the next time.
    fn steps(&self, random: Stream) -> Box<dyn Steps>;

    /// Returns the loads of single hosts and links, by name, if the file of the load states a load for each of them; empty if the
    /// load applies to all its hosts and links.
    fn loads_by_name(&self) -> Vec<(&str, Arc<dyn Load>)> {
        Vec::new()
    }

    /// Returns the share of the host or link that the load takes if this share never changes; `None` if it can change.
    fn constant_share(&self) -> Option<f64> {
        None
    }

    /// Returns the time of the first positive value of the load; `None` if that time is unknown, or differs between hosts or
    /// seeds.
    fn first_positive_time(&self) -> Option<Seconds> {
        None
    }

    /// Whether the load depends on the seed of the random numbers.
    fn uses_seed(&self) -> bool {
        true
    }

    /// Returns the path and the SHA-256 of the file from which the load was read; `None` if the load has no file.
    fn file_and_sha256(&self) -> Option<(&str, &str)> {
        None
    }

    /// Returns notes for the user about values of the file: their number, and what happens to them, as the rest of a sentence that
    /// begins with "values of the load". Notes about several files are joined.
    fn notes(&self) -> Vec<(usize, &'static str)> {
        Vec::new()
    }
}
