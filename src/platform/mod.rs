//! The machine that is simulated: clusters, hosts, links, routes, and how processes are placed on it at first.

mod model;
mod profile;

pub use model::{Cluster, ClusterPath, Host, Link, Platform, Route, Routes};
pub use profile::Profile;
