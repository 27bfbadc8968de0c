//! The simulated platform: clusters, hosts, links, routes, and the initial mapping of processes.
//!
//! ```text
//!  Labtec-0 --link--+                             +--link-- ICE-0
//!  Labtec-1 --link--+-- R1 ==== R1-R2 ==== R2 ----+--link-- ICE-1
//!  Corisco-0 -link--+       (links between        +--link-- Frontal-0
//!                             routers)
//! ```
//!
//! A message crosses the access link of its host, the links between the two clusters, and the access link of the other host. In a cluster
//! with a shared medium it crosses the medium instead of the access link. Every link has one capacity for both directions, unless it is
//! duplex.
//!
//! | where | what |
//! | --- | --- |
//! | [`Platform`] | the complete and checked platform |
//! | [`open`] | finds a platform by name: a file, `platforms/`, or built in |
//! | [`from_json`], [`schema`] | the format `migsim-platform-1`: clusters, or a tree of zones |
//! | [`from_simgrid`], [`to_simgrid`] | `SimGrid` XML, versions 3 and 4 |
//! | [`Mapping`] | the first host of every process |
//!
//! The central type is [`Platform`]. Background load is in [`load`]; the engine computes how capacities are shared.
//!
//! ```
//! let ufrgs = migsim_platform::open("ufrgs")?.platform;
//! let host = ufrgs.host_named("Corisco-0").ok_or("no such host")?;
//! assert_eq!(ufrgs.clusters[ufrgs.cluster_of(host).index()].name, "Corisco");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assemble;
mod backbone;
mod built_in;
mod capacity;
mod copies;
mod find;
pub mod format;
mod groups;
pub mod load;
mod mapping;
mod model;
mod profile;
mod read;
mod read_hosts;
mod read_paths;
mod read_profiles;
#[cfg(test)]
mod read_tests;
mod router_paths;
mod shortest;
mod simgrid;
mod zone_file;
pub mod zone_format;
mod zones;

use std::collections::BTreeMap;

pub use assemble::memory_of;
pub use built_in::built_in;
pub use capacity::Background;
pub use find::{is_experiment, is_text, shown_name};
pub use find::{open, open_within};
pub use format::schema;
pub use groups::{Clusters, Grouping};
pub use mapping::{Mapping, Rule};
pub use model::{Cluster, ClusterPath, Failure, Host, Link, Platform, Route, Routes};
pub use profile::SHORTEST_PERIOD;
pub use profile::{Integral, Profile, ProfileSteps, Steps, StepsAhead};
pub use read::from_json;
pub use router_paths::RouterPaths;
pub use simgrid::TreeText;
pub use simgrid::read_profile;
pub use simgrid::{Export, from_simgrid, to_simgrid, to_simgrid_as_read};
pub use zones::Zones;
pub use zones::{Inside, WrittenRoute, ZoneOutline};

/// A platform with the properties of its file.
#[derive(Clone, Debug)]
pub struct LoadedPlatform {
    /// The platform.
    pub platform: Platform,
    /// The description in the file.
    pub description: Option<String>,
    /// The origins of values: the key of a value in the file, and a text that begins with `stated`, `inferred` or `fitted`.
    pub origins: BTreeMap<String, String>,
    /// The file as it was found, for messages and the manifest.
    pub source: String,
    /// The SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// The built-in platform (`ufrgs`) that the file copies: all values are equal, whatever the layout.
    pub built_in: Option<&'static str>,
    /// The settings of an experiment in the file (`SimGrid`'s `<config>`): key and value. Files and flags of the experiment take precedence.
    pub settings: Vec<(String, String)>,
    /// The platform in `SimGrid`'s format, if it is a tree of zones that was read from such a text or translated to one.
    pub tree: Option<TreeText>,
    /// Notes for the user on how the file was read.
    pub notes: Vec<String>,
    /// The profile files that the platform file refers to, with their SHA-256.
    pub profile_files: Vec<(String, String)>,
}
