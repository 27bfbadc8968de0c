//! The simulated platform: clusters, hosts, links, routes, and the initial mapping of processes.
//!
//! ```text
//!  Labtec-0 --link--+                             +--link-- ICE-0
//!  Labtec-1 --link--+-- R1 ==== R1-R2 ==== R2 ----+--link-- ICE-1
//!  Corisco-0 -link--+       (links between        +--link-- Frontal-0
//!                             routers)
//! ```
//!
//! A message crosses the access link of the sending host, the links between the two clusters, and the access link of the
//! receiving host. In a cluster with a shared medium, the message crosses that medium instead of the access link. Both directions
//! share the bandwidth of a link, unless the link is duplex.
//!
//! | where | what |
//! | --- | --- |
//! | [`Platform`] | the complete and checked platform |
//! | [`open`] | finds a platform by name: a file, a file in `platforms/`, or a built-in platform |
//! | [`from_json`], [`schema`] | the format `migsim-platform-1`: clusters, or a tree of zones |
//! | [`from_simgrid`], [`to_simgrid`] | `SimGrid` XML, versions 3 and 4 |
//! | [`Mapping`] | the initial mapping: the host on which each process starts |
//!
//! The central type is [`Platform`]. Background load is in [`load`]. The fair shares of capacities among flows and processes are
//! computed by the simulation engine, not here.
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
#[cfg(test)]
mod built_in_tests;
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
mod row;
mod shortest;
mod simgrid;
mod zone_file;
pub mod zone_format;
mod zones;

use std::collections::BTreeMap;

use migsim_base::setting::KeySetting;

pub use assemble::estimated_platform_bytes;
pub use built_in::built_in_platforms;
pub use capacity::BackgroundLoad;
pub use find::{display_name, is_experiment_text, is_json_text, open, open_within_limits};
pub use groups::{GroupingRule, HostGrouping};
pub use mapping::{Mapping, MappingRule};
pub use model::{Cluster, Failure, Host, Link, Platform, Route, Routes};
pub use profile::{
    BufferedSteps, Profile, ProfileSteps, SHORTEST_PERIOD, StepFunctionIntegral, Steps,
};
pub use read::from_json;
pub use router_paths::{ClusterPath, RouterPaths};
pub use simgrid::{
    SimgridExport, ZoneTreeText, from_simgrid, read_profile, to_simgrid, to_simgrid_as_read,
};
pub use zone_format::schema;
pub use zones::{DefinedRoute, ZoneMember, ZoneOutline, Zones};

/// A platform that was read from a file, with the description, origins and other properties of that file.
#[derive(Clone, Debug)]
pub struct LoadedPlatform {
    /// The platform that was read.
    pub platform: Platform,
    /// Description of the platform as written in its file; `None` if the file has none.
    pub description: Option<String>,
    /// Origin of each value of the platform: the key is the path of the value in the file (`clusters[1].speed`); the text begins
    /// with `stated`, `inferred` or `fitted`.
    pub origins: BTreeMap<String, String>,
    /// Path of the file as it was found, or another description of the source, for messages and the manifest.
    pub source_description: String,
    /// SHA-256 of the content of the file, in hexadecimal.
    pub file_sha256: String,
    /// Name of the built-in platform of which the file is a copy (`ufrgs`): all values are equal, whatever the layout. `None` if
    /// the file is no copy.
    pub equal_built_in_platform: Option<&'static str>,
    /// Settings of an experiment that the platform file contains (`SimGrid`'s `<config>`). Settings in
    /// experiment files and flags take precedence.
    pub experiment_settings: Vec<KeySetting>,
    /// Text of the platform in `SimGrid`'s format, either as read or as translated from JSON; `None` if the platform is not a
    /// tree of zones.
    pub zone_tree_text: Option<ZoneTreeText>,
    /// Notes for the user about how the file was interpreted.
    pub user_notes: Vec<String>,
    /// Profile files that the platform file refers to: path and SHA-256 of each.
    pub profile_files: Vec<(String, String)>,
}
