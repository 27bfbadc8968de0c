//! The JSON platform format for trees of zones, which can express everything that the platform files of `SimGrid` can express; and
//! the schema of both forms of the platform format.
//!
//! The meaning of a file is defined by the reader of `SimGrid`'s format, into which `zone_file.rs` translates the file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::format::{PlatformFile, ProfileEntry};
use migsim_base::units::{BytesPerSecond, InstructionsPerSecond, Seconds};

/// A platform as a tree of zones. Every quantity is a text with its unit.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZonesFile {
    /// Address of the JSON Schema with which an editor checks this file; the simulation ignores it.
    #[serde(rename = "$schema", default)]
    pub editor_schema: Option<String>,
    /// Name and version of the file format, `migsim-platform-1`.
    pub schema: ZonesSchemaName,
    /// Description of the platform, and of the sources of its numbers.
    pub description: Option<String>,
    /// Outermost zone, which contains all other zones; its name is the name of the platform.
    pub zone: ZoneEntry,
    /// Named changes of speed, bandwidth or latency over time. Hosts and links refer to these profiles by name.
    #[serde(default)]
    pub profiles: BTreeMap<String, ProfileEntry>,
}

/// Name and version of the file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum ZonesSchemaName {
    /// Version 1 of the platform format, the name for all platforms.
    #[serde(rename = "migsim-platform-1")]
    Version1,
    /// Former name of the format for trees of zones, before they became part of the platform format.
    #[serde(rename = "migsim-zones-1")]
    Zones1,
}

/// A zone: hosts, routers and inner zones (its members) with a rule for the routes between them. Members are numbered in the
/// order routers, hosts, peers, clusters, zones; if several routes are equally short, this order decides.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneEntry {
    /// Name of the zone, unique on the platform.
    pub name: String,
    /// Rule by which the routes between the members of the zone are found.
    #[serde(default)]
    pub routing: RoutingKind,
    /// Names of the routers: members that only forward messages.
    #[serde(default)]
    pub routers: Vec<String>,
    /// Hosts of the zone that are described one by one.
    #[serde(default)]
    pub hosts: Vec<ZoneHost>,
    /// Peers: hosts with coordinates, between which the latency is the distance between their coordinates. Only with the routing
    /// `vivaldi`.
    #[serde(default)]
    pub peers: Vec<PeerEntry>,
    /// Clusters of equal hosts with a network between them; each cluster is an inner zone.
    #[serde(default)]
    pub clusters: Vec<ZoneCluster>,
    /// Zones inside this zone.
    #[serde(default)]
    pub zones: Vec<ZoneEntry>,
    /// Links of the zone, to which routes refer by name.
    #[serde(default)]
    pub links: Vec<ZoneLink>,
    /// Outgoing and incoming link of each host; only with the routing `cluster`.
    #[serde(default)]
    pub host_links: Vec<HostLinkEntry>,
    /// Link that joins the links of all hosts; only with the routing `cluster`.
    pub backbone: Option<BackboneEntry>,
    /// Routes between members of the zone.
    #[serde(default)]
    pub routes: Vec<ZoneRouteEntry>,
    /// Bypass routes: routes that replace the routes found by the rule of the zone; each holds for one direction only.
    #[serde(default)]
    pub bypasses: Vec<ZoneRouteEntry>,
}

/// Rule by which the routes between the members of a zone are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoutingKind {
    /// Every route between two members is listed in `routes`.
    #[default]
    Full,
    /// A route combines listed routes so that it has the fewest links (algorithm of Floyd).
    Floyd,
    /// A route combines listed routes so that it has the fewest links (algorithm of Dijkstra).
    Dijkstra,
    /// Each host has an outgoing and an incoming link (`host_links`), joined by a `backbone`.
    Cluster,
    /// Each peer has coordinates; the latency between two peers is the distance between their coordinates.
    Vivaldi,
    /// There are no routes in the zone.
    None,
}

/// A single host of a zone.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneHost {
    /// Name of the host, unique on the platform.
    pub name: String,
    /// Speed of one core of the host.
    pub speed: InstructionsPerSecond,
    /// Number of cores of the host. Default 1.
    #[schemars(range(min = 1))]
    pub cores: Option<u32>,
    /// Name of the entry in `profiles` that defines which fraction of its nominal speed the host has over time.
    pub speed_profile: Option<String>,
}

/// A host with coordinates: its latency to another peer is the distance between the coordinates of the two hosts.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerEntry {
    /// Name of the host, unique on the platform.
    pub name: String,
    /// Speed of the only core of the host.
    pub speed: InstructionsPerSecond,
    /// Bandwidth of the incoming link of the host.
    pub bandwidth_in: BytesPerSecond,
    /// Bandwidth of the outgoing link of the host.
    pub bandwidth_out: BytesPerSecond,
    /// Coordinates of the host: x and y in a plane, and a height, each in ms.
    pub coordinates: [f64; 3],
}

/// A cluster of equal hosts. Hosts are numbered from 0: host 3 of cluster `ice` is `ice-3`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneCluster {
    /// Name of the cluster, unique on the platform.
    pub name: String,
    /// Beginning of the names of the hosts, before the number. Default: the name of the cluster and a dash.
    pub prefix: Option<String>,
    /// Number of hosts of the cluster.
    #[schemars(range(min = 1))]
    pub hosts: u64,
    /// Speed of one core of each host.
    pub speed: InstructionsPerSecond,
    /// Number of cores of each host. Default 1.
    #[schemars(range(min = 1))]
    pub cores: Option<u32>,
    /// Bandwidth, latency and sharing (`shared` or `duplex`) of the access link of each host, or of each link of the topology.
    pub link: LinkParameters,
    /// Link that all messages between hosts of the cluster cross, `shared` or `unshared`; there is no such link if absent.
    pub backbone: Option<LinkParameters>,
    /// Loopback link of each host, for messages between processes on the host; if absent, these messages cross the access link.
    /// Each message has the whole bandwidth of the loopback link.
    pub loopback: Option<LoopbackParameters>,
    /// Maximum total rate of all messages from and to a host; not limited if absent.
    pub limiter: Option<BytesPerSecond>,
    /// Name of the router of the cluster, for routes that use the router as gateway. The router of a `topology` is attached to
    /// host 0 by a link like the others, which has the name of the router.
    pub router: Option<String>,
    /// Network between the hosts of the cluster; a single switch if absent.
    pub topology: Option<Topology>,
}

/// Network between the hosts of a cluster, other than a single switch.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Topology {
    /// A torus: a grid in which each row is closed to a ring. Routes follow one dimension after the other.
    Torus {
        /// Number of hosts in each dimension.
        dimensions: Vec<u32>,
    },
    /// A fat tree: levels of switches above the hosts. The destination determines the links on the way up (d-mod-k routing).
    FatTree {
        /// Number of nodes below each switch, for each level of switches from the hosts up.
        down: Vec<u32>,
        /// Number of switches above each node, for each level of switches from the hosts up.
        up: Vec<u32>,
        /// Number of parallel links between a node and a switch above it, for each level of switches from the hosts up.
        parallel: Vec<u32>,
    },
    /// A dragonfly: groups that consist of chassis, which consist of blades with hosts. Routes have the fewest links.
    Dragonfly {
        /// Two numbers: the number of groups, and the number of parallel links between two groups.
        groups: [u32; 2],
        /// Two numbers: the number of chassis in a group, and the number of parallel links between two chassis.
        chassis: [u32; 2],
        /// Two numbers: the number of blades in a chassis, and the number of parallel links between two blades.
        blades: [u32; 2],
        /// Number of hosts on a blade.
        hosts: u32,
    },
}

/// Bandwidth, latency and sharing of links that have no names.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkParameters {
    /// Bandwidth of the link.
    pub bandwidth: BytesPerSecond,
    /// One-way latency of the link. Default 0 s.
    #[serde(default)]
    pub latency: Seconds,
    /// Rule by which flows share the bandwidth of the link.
    #[serde(default)]
    pub sharing: Sharing,
}

/// Bandwidth and latency of the loopback link of a host.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopbackParameters {
    /// Bandwidth of the link.
    pub bandwidth: BytesPerSecond,
    /// Latency of the link. Default 0 s.
    #[serde(default)]
    pub latency: Seconds,
}

/// Rule by which flows share the bandwidth of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// All flows, in both directions, share the bandwidth.
    #[default]
    Shared,
    /// Each direction has the whole bandwidth for itself (`SPLITDUPLEX`). A route names the direction `NAME_UP` or `NAME_DOWN`;
    /// the reverse of the route uses the other direction.
    Duplex,
    /// Every flow may use the whole bandwidth (`FATPIPE`).
    Unshared,
}

/// A link to which routes refer by name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneLink {
    /// Name of the link, unique on the platform.
    pub name: String,
    /// Bandwidth of the link.
    pub bandwidth: BytesPerSecond,
    /// One-way latency of the link. Default 0 s.
    #[serde(default)]
    pub latency: Seconds,
    /// Rule by which flows share the bandwidth of the link.
    #[serde(default)]
    pub sharing: Sharing,
    /// Name of the entry in `profiles` that defines the bandwidth of the link over time.
    pub bandwidth_profile: Option<String>,
    /// Name of the entry in `profiles` that defines the latency of the link over time.
    pub latency_profile: Option<String>,
}

/// The link that joins the links of all hosts in a zone with the routing `cluster`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackboneEntry {
    /// Name of the link, unique on the platform.
    pub name: String,
    /// Bandwidth of the link, which all flows share.
    pub bandwidth: BytesPerSecond,
    /// One-way latency of the link. Default 0 s.
    #[serde(default)]
    pub latency: Seconds,
}

/// The outgoing and the incoming link of a host in a zone with the routing `cluster`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostLinkEntry {
    /// Name of the host to which the two links belong.
    pub host: String,
    /// Name of the outgoing link of the host.
    pub up: String,
    /// Name of the incoming link of the host.
    pub down: String,
}

/// A route between two members of a zone.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneRouteEntry {
    /// Name of the member at which the route begins: a host, router, cluster or zone.
    pub from: String,
    /// Name of the member at which the route ends. A host may have a route to itself.
    pub to: String,
    /// Names of the hosts or routers at which the route leaves the zone `from` and enters the zone `to`. Not needed if `from` and
    /// `to` are hosts or routers, or if each zone has only one host or router.
    pub gateways: Option<[String; 2]>,
    /// Names of the links of the route, in the order in which a message crosses them. A direction of a duplex link is `NAME_UP`
    /// or `NAME_DOWN`.
    pub links: Vec<String>,
    /// Whether the route back uses the same links in reverse order. Default true. A bypass holds for one direction only and does
    /// not have this key.
    pub symmetrical: Option<bool>,
}

/// A platform: clusters of hosts with links and routes between them, or a tree of zones (`zone`).
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    reason = "only its schema is used; readers know which of the two a file is"
)]
enum Platform {
    Clusters(PlatformFile),
    Zones(ZonesFile),
}

/// Returns the JSON Schema of the platform format, which is also in `platforms/platform.schema.json`.
///
/// ```
/// let schema = migsim_platform::schema();
/// assert!(schema.contains("migsim-platform-1") && schema.contains("ZoneEntry"));
/// ```
pub fn schema() -> String {
    format!("{:#}\n", schemars::schema_for!(Platform).as_value())
}
