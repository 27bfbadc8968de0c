//! The JSON platform format `migsim-platform-1`: this file defines clusters, links and routes; `zone_format.rs` defines trees of
//! zones, and the JSON Schema of both.
//!
//! `read.rs` converts a file of clusters into a platform and checks that its parts are consistent.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use migsim_base::units::{Bytes, BytesPerSecond, InstructionsPerSecond, Seconds};

/// A platform file with clusters: hosts, links and the routes between them. Every quantity is a text with its unit.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlatformFile {
    /// Address of the JSON Schema with which an editor checks this file; the simulation ignores it.
    #[serde(rename = "$schema", default)]
    pub editor_schema: Option<String>,
    /// Name and version of the file format, `migsim-platform-1`.
    pub schema: SchemaName,
    /// Name of the platform, as shown in output.
    pub name: String,
    /// Description of the platform, and of the sources of its numbers.
    pub description: Option<String>,
    /// Clusters of the platform. Hosts are numbered through all clusters, in the order of this list.
    pub clusters: Vec<ClusterEntry>,
    /// Names of the routers. If the list is given, clusters and links may refer only to these routers; otherwise, each name to
    /// which a cluster or link refers is a router.
    pub routers: Option<Vec<String>>,
    /// Links between routers.
    #[serde(default)]
    pub links: Vec<LinkEntry>,
    /// Routes between clusters that differ from the shortest path through the routers.
    #[serde(default)]
    pub routes: Vec<RouteEntry>,
    /// One-way latencies from host to host for pairs of clusters. Each replaces the sum of the latencies of the links on the
    /// route.
    #[serde(default)]
    pub latencies: Vec<LatencyEntry>,
    /// Named changes of speed, bandwidth or latency over time. Clusters and links refer to these profiles by name.
    #[serde(default)]
    pub profiles: BTreeMap<String, ProfileEntry>,
    /// Origin of each value in this file. The key is the path of the value (`clusters[1].speed`); the text begins with `stated`,
    /// `inferred` or `fitted`.
    #[serde(default)]
    pub origins: BTreeMap<String, String>,
}

/// Name and version of the file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum SchemaName {
    /// Version 1 of the platform format, the only version so far.
    #[serde(rename = "migsim-platform-1")]
    Version1,
}

/// A cluster (a "Set" of the papers): hosts that share a local network and a manager process, either all equal or in `groups` of
/// equal hosts. Hosts are named after the cluster and numbered through all groups: `ice-0`, `ice-1`, and so on. The manager runs
/// on the first host.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["hosts", "speed"] }, { "required": ["groups"] }]))]
pub struct ClusterEntry {
    /// Name of the cluster, unique on the platform.
    pub name: String,
    /// Number of equal clusters for which this entry stands. Each `#` in `name` and `router` is replaced by the number of the
    /// copy, counted from 0. Default 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub copies: Option<u64>,
    /// Number of hosts of a cluster whose hosts are all equal; it requires `speed`.
    #[schemars(range(min = 1))]
    pub hosts: Option<u64>,
    /// Speed of one core of each host.
    pub speed: Option<InstructionsPerSecond>,
    /// Number of cores of each host; one if absent.
    #[schemars(range(min = 1))]
    pub cores: Option<u32>,
    /// Memory of each host that is available for processes; not limited if absent.
    pub memory: Option<Bytes>,
    /// Groups of equal hosts, for a cluster with several kinds of hosts. Hosts are numbered in this order. `groups` replaces
    /// `hosts`, `speed`, `cores`, `memory` and `speed_profile`.
    pub groups: Option<Vec<GroupEntry>>,
    /// Kind of network between the hosts of the cluster.
    #[serde(default)]
    pub network: NetworkKind,
    /// Bandwidth and latency of the access link of each host (`switch`, `unshared`), or of the medium that all hosts share
    /// (`shared-medium`).
    pub link: LinkValues,
    /// Link inside each host, whose bandwidth all messages between processes on that host share. If absent, each such message has
    /// the loopback bandwidth of the network model for itself.
    pub loopback: Option<LoopbackValues>,
    /// Router to which the cluster is connected. Messages between clusters at the same router cross no link between routers.
    pub router: Option<String>,
    /// Name of the entry in `profiles` that defines which fraction of its nominal speed every host of the cluster has over time.
    pub speed_profile: Option<String>,
}

/// A group of equal hosts of a cluster.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupEntry {
    /// Number of hosts in the group.
    #[schemars(range(min = 1))]
    pub hosts: u64,
    /// Speed of one core of each host.
    pub speed: InstructionsPerSecond,
    /// Number of cores of each host.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub cores: u32,
    /// Memory of each host that is available for processes; not limited if absent.
    pub memory: Option<Bytes>,
    /// Name of the entry in `profiles` that defines which fraction of its nominal speed every host of the group has over time.
    pub speed_profile: Option<String>,
    /// Bandwidth and latency of the access link of each host of this group, instead of the `link` of the cluster. Not allowed if
    /// the network of the cluster is a `shared-medium`.
    pub link: Option<LinkValues>,
}

/// Kind of network between the hosts of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkKind {
    /// Each host has a separate access link. The switch between the access links is never a bottleneck.
    #[default]
    Switch,
    /// Each host has an access link that gives every flow the whole bandwidth, however many flows cross the link at the same time
    /// (SimGrid's `FATPIPE`). The bandwidth is thus the maximum rate of one flow. Such a link cannot have profiles.
    Unshared,
    /// All hosts share one medium that every flow to, from or inside the cluster crosses once (Ethernet with a hub).
    SharedMedium,
}

/// Bandwidth and latency of the access links or of the shared medium of a cluster.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkValues {
    /// Bandwidth of the link, shared by both directions unless the link is duplex.
    pub bandwidth: BytesPerSecond,
    /// One-way latency of the link.
    pub latency: Seconds,
    /// Whether each direction has the whole bandwidth for itself (Ethernet on a switch; SimGrid's `SPLITDUPLEX`). Allowed only
    /// with the network `switch`. Default false.
    #[serde(default)]
    pub duplex: bool,
    /// Name of the entry in `profiles` that defines the bandwidth of the link over time.
    pub bandwidth_profile: Option<String>,
    /// Name of the entry in `profiles` that defines the latency of the link over time.
    pub latency_profile: Option<String>,
}

/// Bandwidth and latency of the loopback link inside each host of a cluster.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoopbackValues {
    /// Bandwidth that all messages between processes on the same host share.
    pub bandwidth: BytesPerSecond,
    /// Latency of a message between processes on the same host.
    pub latency: Seconds,
}

/// A link between two routers.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkEntry {
    /// Name of the link, unique on the platform.
    pub name: String,
    /// Number of equal links for which this entry stands. Each `#` in `name`, `from` and `to` is replaced by the number of the
    /// copy, counted from 0. Default 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub copies: Option<u64>,
    /// Name of the router at one end of the link.
    pub from: String,
    /// Name of the router at the other end of the link.
    pub to: String,
    /// Bandwidth of the link, shared by both directions unless the link is duplex.
    pub bandwidth: BytesPerSecond,
    /// One-way latency of the link.
    pub latency: Seconds,
    /// Whether each direction has the whole bandwidth for itself. Default false.
    #[serde(default)]
    pub duplex: bool,
    /// Name of the entry in `profiles` that defines the bandwidth of the link over time.
    pub bandwidth_profile: Option<String>,
    /// Name of the entry in `profiles` that defines the latency of the link over time.
    pub latency_profile: Option<String>,
}

/// A route between two clusters: the links in the order in which a message crosses them. The route back uses the same links in
/// reverse order unless another entry defines the route back.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteEntry {
    /// Name of the cluster at which the route begins.
    pub from: String,
    /// Name of the cluster at which the route ends.
    pub to: String,
    /// Names of the links between the routers of the two clusters, in the order in which a message crosses them.
    pub links: Vec<String>,
}

/// One-way latency from any host of a cluster to any host of another cluster, or of the same cluster; it holds for both
/// directions.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyEntry {
    /// Names of the two clusters; the same name twice for messages inside a cluster.
    pub between: [String; 2],
    /// One-way latency of the whole route from host to host.
    pub latency: Seconds,
}

/// A profile: a speed, bandwidth or latency that changes over time. Each value holds until the time of the next value; the
/// nominal value holds before the time of the first value.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileEntry {
    /// Times since the start of the run, in increasing order, each with the value that holds from then on: a fraction of the
    /// nominal speed (`0.5`), a bandwidth (`"50 Mbps"`) or a latency (`"1 ms"`).
    pub steps: Vec<(Seconds, StepValue)>,
    /// Time after which the steps repeat; if absent, they happen only once.
    pub period: Option<Seconds>,
}

/// Value that a speed, bandwidth or latency has from the time of a step on.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a fraction of the speed (0.5), a bandwidth (\"50 Mbps\") or a latency (\"1 ms\")"
)]
pub enum StepValue {
    /// A fraction of the nominal speed, without a unit.
    Factor(f64),
    /// A bandwidth or a latency with its unit.
    Quantity(String),
}

/// Returns the default number of cores of a host.
fn one() -> u32 {
    1
}
