//! Background load: what other users take of hosts and links while the application runs.
//!
//! ```text
//! values=utilisation    u of the cores of a host are busy: L = u · c
//! values=load-average   L cores of a host are busy
//! values=reserved       the share 1 - u of the speed of a host is left, whatever runs on it; always so on links
//!
//! seed, `hosts`, name of the host ──> Stream ──> Load::steps ──> (0 s, u), (1 s, u), ...   generated on demand
//!                                                      │
//!            profile of the platform ──> platform::Capacity: base · (1 - u_1) · (1 - u_2) · ...,   busy cores: L_1 + L_2 + ...
//! ```
//! The system of a host shares its c cores equally among all that is ready to run: p processes of the application and other work
//! that keeps L cores busy. Nothing runs on more than one core at a time, so that each process gets min(1, c / (p + L)) of a core:
//! it waits for nobody while p + L is at most c. Busy cores add up, and reserved shares multiply.
//!
//! A load is a function of time that is constant between its steps. The steps are generated while the run proceeds, so that a
//! load never ends and need not be stored as a whole. The steps depend only on the seed and the name of the host or link. All
//! policies and scenarios therefore face the same load, and an additional host does not change the loads of the other hosts. A
//! constant load changes the platform before the run.
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
pub use file::{FileConfig, FileValues, Format, MeasuredLoad, Scale, Start};
pub use flag::from_flag;
pub use on_off::OnOffConfig;
pub use registry::standard;
pub use walk::WalkConfig;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Steps;
use migsim_base::{random::Stream, units::Seconds};

/// Largest share of a host or link that can be reserved: a larger one counts as this. More would leave practically no capacity.
pub const MAX_LOAD: f64 = 0.99;

/// Largest number of cores of a host that a load can keep busy.
const MAX_LOAD_AVERAGE: f64 = 1e6;

/// Meaning of the values of a load on a host. On a link, the values are always the reserved share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// The share of all cores of the host that other work keeps busy, from 0 to 1; it shares the cores with the application.
    #[default]
    Utilisation,
    /// The number of cores that other work keeps busy; it shares the cores with the application.
    LoadAverage,
    /// The share of the speed that is not there for the application, whatever runs; at most 0.99.
    Reserved,
}

impl Values {
    /// Returns the largest value of a load.
    fn most(self) -> f64 {
        match self {
            Self::Utilisation | Self::Reserved => 1.0,
            Self::LoadAverage => MAX_LOAD_AVERAGE,
        }
    }
}

/// A kind of background load with its parameters, independent of the hosts and links to which the load applies.
pub trait Load: fmt::Debug + Send + Sync {
    /// Returns the load over time as (time \[s\], value) from 0 s on, drawn from `random`. Each value is from 0 to 1, or a number
    /// of cores if the load is a load average, and holds until the next time.
    fn steps(&self, random: Stream) -> Box<dyn Steps>;

    /// Returns the loads of single hosts and links, by name, if the file of the load states a load for each of them; empty if the
    /// load applies to all its hosts and links.
    fn loads_by_name(&self) -> Vec<(&str, Arc<dyn Load>)> {
        Vec::new()
    }

    /// Returns the value of the load if it never changes; `None` if it can change.
    fn constant_value(&self) -> Option<f64> {
        None
    }

    /// Returns the meaning of the values, if the load has a key `values` of its own; `None` if the experiment determines it.
    fn values(&self) -> Option<Values> {
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
    /// begins with "values of the load". `is_reserved` says whether the load reserves a share of a host or link. Notes about
    /// several files are joined.
    fn notes(&self, _is_reserved: bool) -> Vec<(usize, &'static str)> {
        Vec::new()
    }
}
