//! The platform format for trees of zones, which can express everything that `SimGrid`'s files can.
//!
//! The reader of `SimGrid`'s files decides what a file means (`zone_file.rs` translates).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::format::ProfileEntry;
use migsim_base::units::{BytesPerSecond, InstructionsPerSecond, Seconds};

/// A platform as a tree of zones. Every quantity is a text with its unit.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZonesFile {
    /// The schema for editors; it does not affect the platform.
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
    /// The name of trees of zones before they became a part of the platform format.
    #[serde(rename = "migsim-zones-1")]
    Zones1,
}

/// A zone. Its members are numbered in the order routers, hosts, peers, clusters, zones; this order decides ties between shortest routes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneEntry {
    /// The name of the zone, unique on the platform.
    pub name: String,
    /// The rule by which routes between its members are found.
    #[serde(default)]
    pub routing: RoutingKind,
    /// Members that only forward messages.
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
    /// The links that routes name.
    #[serde(default)]
    pub links: Vec<ZoneLink>,
    /// The links of each host; only with the routing `cluster`.
    #[serde(default)]
    pub host_links: Vec<HostLinkEntry>,
    /// The link that joins all links of hosts; only with the routing `cluster`.
    pub backbone: Option<BackboneEntry>,
    /// Routes between members.
    #[serde(default)]
    pub routes: Vec<ZoneRouteEntry>,
    /// Routes that replace the routes found by the rule, each in one direction only.
    #[serde(default)]
    pub bypasses: Vec<ZoneRouteEntry>,
}

/// The rule by which routes between the members of a zone are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoutingKind {
    /// Every route is given.
    #[default]
    Full,
    /// Routes of the fewest given routes, by the algorithm of Floyd.
    Floyd,
    /// Routes of the fewest links, by the algorithm of Dijkstra.
    Dijkstra,
    /// Hosts have links of their own (`host_links`), joined by a `backbone`.
    Cluster,
    /// Delays are distances of the coordinates of peers.
    Vivaldi,
    /// There are no routes.
    None,
}

/// A host.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneHost {
    /// The name of the host, unique on the platform.
    pub name: String,
    /// The speed of one core.
    pub speed: InstructionsPerSecond,
    /// The cores of the host. Default 1.
    #[schemars(range(min = 1))]
    pub cores: Option<u32>,
    /// The profile of the available fraction of its speed.
    pub speed_profile: Option<String>,
}

/// A host with coordinates: its distance to other hosts is the delay.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerEntry {
    /// The name of the host, unique on the platform.
    pub name: String,
    /// The speed of its core.
    pub speed: InstructionsPerSecond,
    /// The capacity of its incoming and of its outgoing link.
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
    /// The name of the cluster, unique on the platform.
    pub name: String,
    /// The beginning of the names of its hosts. Default: the name and a dash.
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
    /// The link that all messages between hosts cross; if absent, there is none.
    pub backbone: Option<LinkParameters>,
    /// The link of each host for messages to itself; if absent, they cross its link.
    pub loopback: Option<LinkParameters>,
    /// The maximum total rate of all messages of a host; not limited if absent.
    pub limiter: Option<BytesPerSecond>,
    /// The name of its router, as a gateway of routes.
    pub router: Option<String>,
    /// The network between the hosts, if it is not a single switch.
    pub topology: Option<Topology>,
}

/// The network between the hosts of a cluster.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Topology {
    /// A grid whose rows are rings; routes follow one dimension after the other.
    Torus {
        /// Number of hosts in each dimension.
        dimensions: Vec<u32>,
    },
    /// Levels of switches, with routes by d-mod-k.
    FatTree {
        /// For each level, from the hosts up: number of nodes below each switch.
        down: Vec<u32>,
        /// For each level: number of switches above each node.
        up: Vec<u32>,
        /// For each level: number of parallel links between two nodes.
        parallel: Vec<u32>,
    },
    /// Groups of chassis of blades, with routes of the fewest links.
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
    /// The rule by which flows share it.
    #[serde(default)]
    pub sharing: Sharing,
}

/// The rule by which flows share a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// All flows share the capacity.
    #[default]
    Shared,
    /// Each direction has the whole capacity for itself (`SPLITDUPLEX`). A route names `NAME_UP` or `NAME_DOWN`; its reverse has the other direction.
    Duplex,
    /// Every flow may use the whole capacity (`FATPIPE`).
    Unshared,
}

/// A link that routes name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneLink {
    /// The name of the link, unique on the platform.
    pub name: String,
    /// The capacity.
    pub bandwidth: BytesPerSecond,
    /// The one-way delay. Default 0 s.
    #[serde(default)]
    pub latency: Seconds,
    /// The rule by which flows share it.
    #[serde(default)]
    pub sharing: Sharing,
    /// The profile of the capacity.
    pub bandwidth_profile: Option<String>,
    /// The profile of the delay.
    pub latency_profile: Option<String>,
}

/// The link that joins all links of the hosts of a zone.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackboneEntry {
    /// The name of the link, unique on the platform.
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
    /// The outgoing link.
    pub up: String,
    /// The incoming link.
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
    /// The hosts or routers where the route leaves the first zone and enters the second one; not needed between hosts and routers, or if a
    /// zone has only one.
    pub gateways: Option<[String; 2]>,
    /// The names of its links, in order; a direction of a duplex link is `NAME_UP` or `NAME_DOWN`.
    pub links: Vec<String>,
    /// Whether the route back is the reverse. Default true; for a bypass false.
    pub symmetrical: Option<bool>,
}
