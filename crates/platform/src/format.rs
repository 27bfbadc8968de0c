//! The platform format `migsim-platform-1` in JSON: clusters, links and routes here, trees of zones in `zone_format.rs`. Its JSON Schema is
//! generated from these types.
//!
//! `read.rs` decides what a file of clusters means, and whether its parts are consistent.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::zone_format::ZonesFile;
use migsim_base::units::{Bytes, BytesPerSecond, InstructionsPerSecond, Seconds};

/// A cluster of clusters: hosts, links and the routes between them. Every quantity is a text with its unit.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlatformFile {
    /// The schema for editors; it does not affect the platform.
    #[serde(rename = "$schema", default)]
    pub editor_schema: Option<String>,
    /// The format and its version.
    pub schema: SchemaName,
    /// The name of the platform in output.
    pub name: String,
    /// A description of the platform and of the source of its numbers.
    pub description: Option<String>,
    /// The clusters; hosts are counted through all of them in this order.
    pub clusters: Vec<ClusterEntry>,
    /// The routers. If the list is given, clusters and links may name only these routers; otherwise every router that clusters and links
    /// name exists.
    pub routers: Option<Vec<String>>,
    /// The links between routers.
    #[serde(default)]
    pub links: Vec<LinkEntry>,
    /// Routes between clusters that differ from the shortest path.
    #[serde(default)]
    pub routes: Vec<RouteEntry>,
    /// One-way latencies from host to host for pairs of clusters; each replaces the sum of the latencies of the links.
    #[serde(default)]
    pub latencies: Vec<LatencyEntry>,
    /// Capacities over time, by name; clusters and links refer to them.
    #[serde(default)]
    pub profiles: BTreeMap<String, ProfileEntry>,
    /// The origins of values: the key of a value in this file (`clusters[1].speed`), and a text that begins with `stated`, `inferred` or
    /// `fitted`.
    #[serde(default)]
    pub origins: BTreeMap<String, String>,
}

/// The format and its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum SchemaName {
    /// The only version so far.
    #[serde(rename = "migsim-platform-1")]
    Version1,
}

/// Hosts that share a local network and a manager (a "Set" of the papers): equal hosts, or `groups` of equal hosts. They are named after
/// the cluster and counted through all groups: `ice-0`, `ice-1`, and so on. The manager runs on the first host.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["hosts", "speed"] }, { "required": ["groups"] }]))]
pub struct ClusterEntry {
    /// The name of the cluster, unique on the platform.
    pub name: String,
    /// The number of equal clusters; a `#` in `name` and `router` stands for the number of each, from 0 on. Default 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub copies: Option<u64>,
    /// The number of hosts, if they are equal; then `speed` must be given, too.
    #[schemars(range(min = 1))]
    pub hosts: Option<u64>,
    /// The speed of one core.
    pub speed: Option<InstructionsPerSecond>,
    /// The cores of each host; one if absent.
    #[schemars(range(min = 1))]
    pub cores: Option<u32>,
    /// The memory of each host for processes; not limited if absent.
    pub memory: Option<Bytes>,
    /// Hosts of several kinds, in the order in which they are counted; they replace `hosts`, `speed`, `cores`, `memory` and `speed_profile`.
    pub groups: Option<Vec<GroupEntry>>,
    /// The network between the hosts of the cluster.
    #[serde(default)]
    pub network: NetworkKind,
    /// The access link of each host (`switch`, `unshared`), or the medium that all hosts share (`shared-medium`).
    pub link: LinkValues,
    /// The link inside each host, which all messages between its processes share. If absent, each of these messages has the loopback of
    /// the network model to itself.
    pub loopback: Option<LoopbackValues>,
    /// The router to which the cluster is connected. No link lies between clusters at one router.
    pub router: Option<String>,
    /// The profile of the available fraction of the speed of every host.
    pub speed_profile: Option<String>,
}

/// Equal hosts of a cluster.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupEntry {
    /// The number of hosts in the group.
    #[schemars(range(min = 1))]
    pub hosts: u64,
    /// The speed of one core.
    pub speed: InstructionsPerSecond,
    /// The cores of each host.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub cores: u32,
    /// The memory of each host for processes; not limited if absent.
    pub memory: Option<Bytes>,
    /// The profile of the available fraction of the speed of every host.
    pub speed_profile: Option<String>,
    /// The access link of each host of this group, instead of the `link` of the cluster; not with a `shared-medium`.
    pub link: Option<LinkValues>,
}

/// The network between the hosts of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkKind {
    /// Each host has a separate access link; the switch between the access links is never a bottleneck.
    #[default]
    Switch,
    /// Each host has an access link that gives every flow its whole bandwidth, however many flows there are (SimGrid's `FATPIPE`); the
    /// bandwidth is the maximum of one flow. Such a link has no profiles.
    Unshared,
    /// One medium that every flow to, from or inside the cluster crosses once (Ethernet with a hub).
    SharedMedium,
}

/// The capacity and delay of a link.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkValues {
    /// The capacity, shared by both directions unless the link is duplex.
    pub bandwidth: BytesPerSecond,
    /// The one-way delay.
    pub latency: Seconds,
    /// Whether each direction has the whole capacity for itself (Ethernet on a switch; SimGrid's `SPLITDUPLEX`); only with the network
    /// `switch`. Default false.
    #[serde(default)]
    pub duplex: bool,
    /// The profile of the capacity.
    pub bandwidth_profile: Option<String>,
    /// The profile of the delay.
    pub latency_profile: Option<String>,
}

/// The capacity and delay of the link inside a host.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopbackValues {
    /// The capacity that all messages inside the host share.
    pub bandwidth: BytesPerSecond,
    /// The delay of a message.
    pub latency: Seconds,
}

/// A link between two routers.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkEntry {
    /// The name of the link, unique on the platform.
    pub name: String,
    /// The number of equal links; a `#` in `name`, `from` and `to` stands for the number of each, from 0 on. Default 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub copies: Option<u64>,
    /// The router at one end.
    pub from: String,
    /// The router at the other end.
    pub to: String,
    /// The capacity, shared by both directions unless the link is duplex.
    pub bandwidth: BytesPerSecond,
    /// The one-way delay.
    pub latency: Seconds,
    /// Whether each direction has the whole capacity for itself. Default false.
    #[serde(default)]
    pub duplex: bool,
    /// The profile of the capacity.
    pub bandwidth_profile: Option<String>,
    /// The profile of the delay.
    pub latency_profile: Option<String>,
}

/// The links between two clusters, in order. The route back is the reverse, unless it is given, too.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteEntry {
    /// The cluster at the beginning.
    pub from: String,
    /// The cluster at the end.
    pub to: String,
    /// The names of the links between their routers.
    pub links: Vec<String>,
}

/// The one-way latency from any host of a cluster to any host of another cluster, or of the same cluster, in both directions.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyEntry {
    /// The two clusters; the same cluster twice for messages inside the cluster.
    pub between: [String; 2],
    /// The latency of the whole route.
    pub latency: Seconds,
}

/// A capacity over time. A value holds until the time of the next value; before the first value, the nominal value holds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileEntry {
    /// Times since the start of the run, increasing, each with the value from then on: a fraction of the nominal speed (`0.5`), a bandwidth
    /// (`"50 Mbps"`) or a latency (`"1 ms"`).
    pub steps: Vec<(Seconds, StepValue)>,
    /// The time after which the steps repeat; if absent, they happen once.
    pub period: Option<Seconds>,
}

/// The value of a step.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a value is a fraction of the speed (0.5), a bandwidth (\"50 Mbps\") or a latency (\"1 ms\")"
)]
pub enum StepValue {
    /// A fraction of the nominal speed.
    Factor(f64),
    /// A bandwidth or a latency with its unit.
    Quantity(String),
}

fn one() -> u32 {
    1
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
