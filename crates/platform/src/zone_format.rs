//! The part of the platform format for trees of zones, with all that `SimGrid`'s files can say.
//!
//! What a file means is decided by the reader of `SimGrid`'s files (`zone_file.rs` translates).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::format::ProfileEntry;
use migsim_base::units::{BytesPerSecond, InstructionsPerSecond, Seconds};

/// A platform as a tree of zones. Every quantity is a text with its unit.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZonesFile {
    /// The schema for editors; has no meaning for the platform.
    #[serde(rename = "$schema", default)]
    pub editor_schema: Option<String>,
    /// The format and its version.
    pub schema: ZonesSchemaName,
    /// A description of the platform and of the source of its numbers.
    pub description: Option<String>,
    /// The outermost zone; its name is that of the platform.
    pub zone: ZoneEntry,
    /// Capacities over time, by name; hosts and links refer to them.
    #[serde(default)]
    pub profiles: BTreeMap<String, ProfileEntry>,
}

/// The format and its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum ZonesSchemaName {
    /// The version of all platforms.
    #[serde(rename = "migsim-platform-1")]
    Version1,
    /// The name that trees of zones had before they were a part of the platform format.
    #[serde(rename = "migsim-zones-1")]
    Zones1,
}

/// A zone. Its members are numbered in the order routers, hosts, peers, clusters, zones, which decides ties between shortest routes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneEntry {
    /// Its name, unique on the platform.
    pub name: String,
    /// How routes between its members are found.
    #[serde(default)]
    pub routing: RoutingKind,
    /// Members that only pass messages on.
    #[serde(default)]
    pub routers: Vec<String>,
    /// Single hosts.
    #[serde(default)]
    pub hosts: Vec<ZoneHost>,
    /// Hosts whose delays are distances; only with the routing `vivaldi`.
    #[serde(default)]
    pub peers: Vec<PeerEntry>,
    /// Equal hosts with a network of their own; each is a zone.
    #[serde(default)]
    pub clusters: Vec<ZoneCluster>,
    /// The zones inside it.
    #[serde(default)]
    pub zones: Vec<ZoneEntry>,
    /// Links that routes name.
    #[serde(default)]
    pub links: Vec<ZoneLink>,
    /// The links of each host; only with the routing `cluster`.
    #[serde(default)]
    pub host_links: Vec<HostLinkEntry>,
    /// The link between all links of hosts; only with the routing `cluster`.
    pub backbone: Option<BackboneEntry>,
    /// Routes between members.
    #[serde(default)]
    pub routes: Vec<ZoneRouteEntry>,
    /// Routes that replace those which the zone would find, each in its direction only.
    #[serde(default)]
    pub bypasses: Vec<ZoneRouteEntry>,
}

/// How routes between the members of a zone are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoutingKind {
    /// Every route is given.
    #[default]
    Full,
    /// The fewest given routes, by the algorithm of Floyd.
    Floyd,
    /// The fewest links, by the algorithm of Dijkstra.
    Dijkstra,
    /// Hosts have links of their own (`host_links`), joined by a `backbone`.
    Cluster,
    /// Delays are distances of the coordinates of peers.
    Vivaldi,
    /// There are none.
    None,
}

/// A host.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneHost {
    /// Its name, unique on the platform.
    pub name: String,
    /// The speed of one core.
    pub speed: InstructionsPerSecond,
    /// Its cores. Default 1.
    #[schemars(range(min = 1))]
    pub cores: Option<u32>,
    /// The profile of the available fraction of its speed.
    pub speed_profile: Option<String>,
}

/// A host at a place whose distance to others is its delay.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerEntry {
    /// Its name, unique on the platform.
    pub name: String,
    /// The speed of its core.
    pub speed: InstructionsPerSecond,
    /// The capacity of its way in and of its way out.
    pub bandwidth_in: BytesPerSecond,
    /// See `bandwidth_in`.
    pub bandwidth_out: BytesPerSecond,
    /// Two coordinates and a height \[ms\].
    pub coordinates: [f64; 3],
}

/// Equal hosts; host 3 of cluster `ice` is `ice-3`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneCluster {
    /// Its name, unique on the platform.
    pub name: String,
    /// What names of hosts begin with. Default: the name and a dash.
    pub prefix: Option<String>,
    /// The number of hosts.
    #[schemars(range(min = 1))]
    pub hosts: u64,
    /// The speed of one core.
    pub speed: InstructionsPerSecond,
    /// The cores of each host. Default 1.
    #[schemars(range(min = 1))]
    pub cores: Option<u32>,
    /// The link of each host, or each link of a topology.
    pub link: LinkParameters,
    /// The link that all messages between hosts cross; none if absent.
    pub backbone: Option<LinkParameters>,
    /// The link of each host for messages to itself; without it they cross its link.
    pub loopback: Option<LinkParameters>,
    /// What all messages of a host together may have at most; not limited if absent.
    pub limiter: Option<BytesPerSecond>,
    /// The name of its router, as a gateway of routes.
    pub router: Option<String>,
    /// The network between the hosts, if it is more than a switch.
    pub topology: Option<Topology>,
}

/// The network between the hosts of a cluster.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Topology {
    /// A grid whose rows are rings; routes go through one dimension after the other.
    Torus {
        /// Its hosts in each dimension.
        dimensions: Vec<u32>,
    },
    /// Levels of switches, routes by d-mod-k.
    FatTree {
        /// Per level, from the hosts up: nodes below each switch.
        down: Vec<u32>,
        /// Per level: switches above each node.
        up: Vec<u32>,
        /// Per level: parallel links between two nodes.
        parallel: Vec<u32>,
    },
    /// Groups of chassis of blades, routes with the fewest links.
    Dragonfly {
        /// The number of groups, and of parallel links between them.
        groups: [u32; 2],
        /// The number of chassis of a group, and of parallel links between them.
        chassis: [u32; 2],
        /// The number of blades of a chassis, and of parallel links between them.
        blades: [u32; 2],
        /// The number of hosts of a blade.
        hosts: u32,
    },
}

/// The capacity and delay of links that have no names.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkParameters {
    /// The capacity.
    pub bandwidth: BytesPerSecond,
    /// The one-way delay. Default 0 s.
    #[serde(default)]
    pub latency: Seconds,
    /// How flows share it.
    #[serde(default)]
    pub sharing: Sharing,
}

/// How flows share a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// All flows share the capacity.
    #[default]
    Shared,
    /// Each direction has the whole capacity for itself (`SPLITDUPLEX`). A route names `NAME_UP` or `NAME_DOWN`; its way
    /// back has the other one.
    Duplex,
    /// Every flow can have the whole capacity (`FATPIPE`).
    Unshared,
}

/// A link that routes name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneLink {
    /// Its name, unique on the platform.
    pub name: String,
    /// The capacity.
    pub bandwidth: BytesPerSecond,
    /// The one-way delay. Default 0 s.
    #[serde(default)]
    pub latency: Seconds,
    /// How flows share it.
    #[serde(default)]
    pub sharing: Sharing,
    /// The profile of the capacity.
    pub bandwidth_profile: Option<String>,
    /// The profile of the delay.
    pub latency_profile: Option<String>,
}

/// The link between all links of the hosts of a zone.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackboneEntry {
    /// Its name, unique on the platform.
    pub name: String,
    /// The capacity, which all flows share.
    pub bandwidth: BytesPerSecond,
    /// The one-way delay. Default 0 s.
    #[serde(default)]
    pub latency: Seconds,
}

/// The links of a host in a zone with the routing `cluster`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostLinkEntry {
    /// The name of the host.
    pub host: String,
    /// The link of its way out.
    pub up: String,
    /// The link of its way in.
    pub down: String,
}

/// A route between two members of a zone.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneRouteEntry {
    /// The member at the beginning: a host, router, cluster or zone.
    pub from: String,
    /// The member at the end; a host may have a route to itself.
    pub to: String,
    /// The hosts or routers where the route leaves the first zone and enters the second one; not needed between hosts and routers, or where a
    /// zone has one only.
    pub gateways: Option<[String; 2]>,
    /// The names of its links, in order; the direction of a duplex link as `NAME_UP`.
    pub links: Vec<String>,
    /// Whether the way back is the same reversed. Default true; of a bypass false.
    pub symmetrical: Option<bool>,
}
