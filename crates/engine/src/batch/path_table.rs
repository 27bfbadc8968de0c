//! Parameters of the route between each ordered pair of endpoint classes, computed once and kept while links do not change.
//!
//! The delay, the weight and the maximum rate of a route are defined by [`NetworkModel`]. The reference implementation is
//! [`crate::transport`], which recomputes them for each flow. An endpoint class is a set of hosts whose routes to any other host
//! have equal parameters: hosts of a cluster form one class if their access links are equal and not shared, or if they have no
//! access links. A platform of such clusters has one path per pair of clusters. Cost: a look-up in a hash
//! table; about 64 bytes per pair in use.

use hashbrown::HashTable;

use crate::{
    model::{ACKNOWLEDGEMENT_LOAD, NetworkModel},
    transport::LinkState,
};
use migsim_base::{
    memory::MOST_PATHS,
    units::{HostId, LinkId},
};
use migsim_platform::Platform;

/// Number of a path in a path table, in the order in which paths were first requested; counted from 0.
pub(crate) type PathId = u32;

/// The parameters of the route from one host to another, on which the duration of a message depends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// Time from the sending of a message until the transfer of its flow begins \[s\], for network models in which this time does
    /// not depend on the size of the message.
    pub delay: f64,
    /// Weight of a flow on the path in the sharing of links: a flow of weight w gets 1/w of the fair share of a link.
    pub weight: f64,
    /// Maximum rate of a flow on the path, before the bandwidth factor is applied \[B/s\].
    pub max_rate: f64,
    /// Rate of a flow on the path that shares links with no other flow, after the bandwidth factor is applied \[B/s\].
    pub uncontended_rate: f64,
    /// The endpoint classes of sender and receiver, combined into one number. Paths are ordered by this number, so that their
    /// order does not depend on when each path was first requested.
    pub endpoint_pair: u64,
    first_link_use: u32,
    link_use_count: u32,
}

impl Path {
    /// Whether the path crosses at least one link whose capacity several flows share.
    #[inline]
    pub(crate) fn has_shared_links(&self) -> bool {
        self.link_use_count > 0
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "two numbers of 32 bits in one of 64"
    )]
    fn endpoint_classes(&self) -> (usize, usize) {
        (
            (self.endpoint_pair >> 32) as usize,
            self.endpoint_pair as u32 as usize,
        )
    }
}

/// Additional parameters of a path, which are stored only for network models that need them.
#[derive(Clone, Copy, Debug)]
struct PathDetails {
    /// Latency of the route \[s\]; `None` for a message inside a host, which costs nothing besides the delay of the path.
    latency: Option<f64>,
    /// Constant part of the delay of a message \[s\], without the time that its packets wait in routers; used if no factor
    /// depends on the size of the message.
    fixed_delay: f64,
    /// Time that a packet waits in the routers of the route, per byte of the packet \[s/B\].
    router_time_per_byte: f64,
    /// Smallest bandwidth of the links on the route \[B/s\].
    min_bandwidth: f64,
    /// Whether slow start can delay a message on this path, if the connection of the message was idle before.
    is_slow_start_possible: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct PathTable {
    model: NetworkModel,
    class_of_host: Vec<u32>,
    endpoint_class_count: usize,
    path_by_class_pair: HashTable<PathId>,
    /// The number of the path after the path that was found last. It is tried first because paths are often requested in the same
    /// order.
    next_path_guess: PathId,
    paths: Vec<Path>,
    /// Additional parameters of each path; empty if the network model does not need them.
    path_details: Vec<PathDetails>,
    has_path_details: bool,
    has_fixed_delays: bool,
    /// The shared links of all paths, path by path: the number of the link, and the load on it per unit of the rate of a flow.
    all_link_uses: Vec<(u32, f64)>,
    /// For each link, whether at least one path of the table crosses it, even if flows do not share the link.
    link_is_crossed: Vec<bool>,
}

const LOOPBACK_PATH: PathId = 0;
/// Value of `endpoint_pair` for the path from a host to itself, which belongs to no pair of endpoint classes.
const LOOPBACK_PAIR: u64 = u64::MAX;

impl PathTable {
    /// Creates a table for `platform` with the network model `model`; the only path in it leads from a host to itself.
    pub(crate) fn new(platform: &Platform, model: NetworkModel) -> Self {
        let endpoint_class = endpoint_classes(platform);
        let endpoint_class_count = endpoint_class.last().map_or(0, |last| *last as usize + 1);
        let mut paths = Self {
            model,
            class_of_host: endpoint_class,
            endpoint_class_count,
            path_by_class_pair: HashTable::new(),
            next_path_guess: LOOPBACK_PATH,
            paths: Vec::new(),
            path_details: Vec::new(),
            has_path_details: !model.has_fixed_delay() || model.slow_start,
            has_fixed_delays: model.has_fixed_delay(),
            all_link_uses: Vec::new(),
            link_is_crossed: vec![false; platform.links.len()],
        };
        paths.add_loopback();
        paths
    }

    /// Stores the latency of each path from now on, for messages that begin with a handshake of one round trip; returns whether
    /// the known paths have been removed for this purpose.
    pub(crate) fn store_latencies(&mut self) -> bool {
        let is_new = !std::mem::replace(&mut self.has_path_details, true);
        if is_new {
            self.clear();
        }
        is_new
    }

    /// Returns the bandwidth factor of the network model, by which the fair share of a flow is multiplied to give its rate;
    /// dimensionless.
    pub(super) fn bandwidth_factor(&self) -> f64 {
        self.model.bandwidth_factor
    }

    /// Returns the number of the path from one host to another, and adds the path to the table if it is new. The hosts may be the
    /// same. Returns `None` if the platform has no route.
    #[inline]
    pub(crate) fn find_or_add_path(
        &mut self,
        platform: &Platform,
        links: &[LinkState],
        from: HostId,
        to: HostId,
    ) -> Option<PathId> {
        if from == to && !platform.has_loopback_route(from) {
            return Some(LOOPBACK_PATH);
        }
        let pair = self.endpoint_pair_of(from, to);
        // Hosts that send to the same hosts again request the paths in the same order.
        let next = self.paths.get(self.next_path_guess as usize);
        let found = if next.is_some_and(|next| next.endpoint_pair == pair) {
            self.next_path_guess
        } else {
            self.look_up_or_add_path(platform, links, from, to, pair)?
        };
        self.next_path_guess = found + 1;
        Some(found)
    }

    fn look_up_or_add_path(
        &mut self,
        platform: &Platform,
        links: &[LinkState],
        from: HostId,
        to: HostId,
        pair: u64,
    ) -> Option<PathId> {
        let list = &self.paths;
        let is_it = |path: &PathId| list[*path as usize].endpoint_pair == pair;
        if let Some(path) = self.path_by_class_pair.find(hash_of_pair(pair), is_it) {
            return Some(*path);
        }
        let path = self.add_path(platform, links, (from, to), pair)?;
        let list = &self.paths;
        let hash_of = |path: &PathId| hash_of_pair(list[*path as usize].endpoint_pair);
        self.path_by_class_pair
            .insert_unique(hash_of_pair(pair), path, hash_of);
        Some(path)
    }

    #[inline]
    fn endpoint_pair_of(&self, from: HostId, to: HostId) -> u64 {
        let from = self.class_of_host[from.index()];
        let to = self.class_of_host[to.index()];
        u64::from(from) << 32 | u64::from(to)
    }

    /// Removes all paths if the table has more than [`MOST_PATHS`]; returns whether the paths were removed.
    pub(crate) fn clear_if_large(&mut self) -> bool {
        let are_many = self.paths.len() > MOST_PATHS;
        if are_many {
            self.clear();
        }
        are_many
    }

    /// Returns a fixed pseudo-random number for a path; the sum of the numbers of the paths of a set of flows identifies the set.
    pub(super) fn random_number(&self, path: PathId) -> u128 {
        match self.paths[path as usize].endpoint_pair {
            LOOPBACK_PAIR => 0,
            pair => random_number_of_pair(pair),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    /// Removes all paths between hosts from the table; this is necessary when links have changed.
    pub(crate) fn clear(&mut self) {
        self.path_by_class_pair.clear();
        self.paths.clear();
        self.path_details.clear();
        self.all_link_uses.clear();
        self.link_is_crossed.fill(false);
        self.add_loopback();
    }

    pub(crate) fn is_link_crossed(&self, link: LinkId) -> bool {
        self.link_is_crossed[link.index()]
    }

    /// Returns the time from the sending of a message of `bytes` bytes until its transfer begins \[s\], and the number of bytes
    /// that the flow of the message transfers.
    #[inline]
    pub(crate) fn delay_and_flow_bytes(&self, path: PathId, bytes: f64) -> (f64, f64) {
        if self.has_fixed_delays {
            return (self.get(path).delay, bytes);
        }
        self.delay_and_flow_bytes_by_size(path, bytes)
    }

    /// Returns the delay of a message \[s\] and the number of bytes that its flow transfers, for network models in which they
    /// depend on the message's size. The delay is the time from the sending of the message until its transfer begins.
    #[inline(never)] // so that it takes no registers of the loop that has no library
    fn delay_and_flow_bytes_by_size(&self, path: PathId, bytes: f64) -> (f64, f64) {
        let details = &self.path_details[path as usize];
        if self.model.factors.is_empty() {
            let packet = self.model.packet_size(bytes);
            return (
                details.fixed_delay + details.router_time_per_byte * packet,
                bytes,
            );
        }
        details
            .latency
            .map_or((self.get(path).delay, bytes), |latency| {
                let delay = self
                    .model
                    .message_delay(latency, details.router_time_per_byte, bytes);
                (delay, self.model.flow_bytes(bytes))
            })
    }

    /// Returns the duration of the handshake of a message that waits for its receiver \[s\], if handshakes can occur.
    pub(crate) fn handshake_duration(&self, path: PathId) -> f64 {
        self.round_trip_time_of(self.path_details[path as usize].latency)
    }

    fn round_trip_time_of(&self, latency: Option<f64>) -> f64 {
        latency.map_or(0.0, |latency| self.model.round_trip_time(latency))
    }

    #[inline]
    pub(crate) fn is_slow_start_possible(&self, path: PathId) -> bool {
        self.model.slow_start && self.path_details[path as usize].is_slow_start_possible
    }

    fn is_slow_start_possible_for(&self, narrowest: f64, latency: Option<f64>) -> bool {
        let round_trip = self.round_trip_time_of(latency);
        self.model.is_slow_start_possible(narrowest, round_trip)
    }

    /// Returns the time by which slow start delays a message of `bytes` bytes on a path, if its connection was idle \[s\].
    pub(crate) fn slow_start_delay(&self, path: PathId, bytes: f64) -> f64 {
        if NetworkModel::fits_initial_window(bytes) || !self.is_slow_start_possible(path) {
            return 0.0;
        }
        let narrowest = self.path_details[path as usize].min_bandwidth;
        self.model
            .slow_start_delay(bytes, narrowest, self.handshake_duration(path))
    }

    /// Returns the duration of a message of `bytes` bytes that does not share links \[s\]; its delay is multiplied by
    /// `delay_factor`.
    #[inline]
    pub(crate) fn uncontended_duration(&self, path: PathId, bytes: f64, delay_factor: f64) -> f64 {
        let (delay, bytes) = self.delay_and_flow_bytes(path, bytes);
        let transfer = if bytes > 0.0 {
            bytes / self.get(path).uncontended_rate
        } else {
            0.0
        };
        delay * delay_factor + transfer
    }

    #[inline]
    pub(crate) fn get(&self, path: PathId) -> &Path {
        &self.paths[path as usize]
    }

    pub(super) fn endpoint_class_count(&self) -> usize {
        self.endpoint_class_count
    }

    /// Returns the endpoint classes of sender and receiver of a path; `None` if the path has no shared links.
    #[inline]
    pub(super) fn endpoint_classes_of(&self, path: PathId) -> Option<(usize, usize)> {
        let path = &self.paths[path as usize];
        path.has_shared_links().then(|| path.endpoint_classes())
    }

    /// Returns the shared links of a path: for each, the number of the link and the load on it per unit of the rate of a flow.
    #[inline]
    pub(crate) fn uses(&self, path: PathId) -> &[(u32, f64)] {
        let path = &self.paths[path as usize];
        let first = path.first_link_use as usize;
        &self.all_link_uses[first..first + path.link_use_count as usize]
    }

    fn add_path(
        &mut self,
        platform: &Platform,
        links: &[LinkState],
        (from, to): (HostId, HostId),
        endpoint_pair: u64,
    ) -> Option<PathId> {
        let id = u32::try_from(self.paths.len()).expect("fewer than 2^32 pairs of hosts");
        let first_use = self.all_link_uses.len();
        let path = self.compute_path(platform, links, from, to)?;
        self.paths.push(Path {
            endpoint_pair,
            first_link_use: u32::try_from(first_use).expect("fewer than 2^32 uses of links"),
            link_use_count: u32::try_from(self.all_link_uses.len() - first_use)
                .expect("fewer than 2^32 links"),
            ..path
        });
        Some(id)
    }

    /// Adds the path from a host to itself, which is always the first path of the table and has no shared links.
    fn add_loopback(&mut self) {
        let delay = self.model.loopback_delay(self.model.loopback_latency.get());
        if self.has_path_details {
            self.path_details.push(PathDetails {
                latency: None,
                fixed_delay: delay,
                router_time_per_byte: 0.0,
                min_bandwidth: f64::INFINITY, // nothing waits inside a host
                is_slow_start_possible: self.is_slow_start_possible_for(f64::INFINITY, None),
            });
        }
        self.paths.push(Path {
            delay,
            weight: 1.0,
            max_rate: self.model.loopback_bandwidth,
            uncontended_rate: self.model.loopback_rate(),
            endpoint_pair: LOOPBACK_PAIR,
            first_link_use: 0,
            link_use_count: 0,
        });
    }

    fn compute_path(
        &mut self,
        platform: &Platform,
        links: &[LinkState],
        from: HostId,
        to: HostId,
    ) -> Option<Path> {
        let route = platform.route(from, to)?;
        let first_use = self.all_link_uses.len();
        let mut narrowest = self.model.loopback_max_rate(route.loopback_crossings);
        let mut latency = 0.0;
        for id in route.links() {
            let link = &links[id.index()];
            narrowest = narrowest.min(link.bandwidth);
            latency += link.latency;
            self.link_is_crossed[id.index()] = true;
            if link.is_shared {
                add_load(&mut self.all_link_uses, first_use, id.0, 1.0);
            }
        }
        if self.model.crosstraffic
            && let Some(back) = platform.route(to, from)
        {
            for id in back.links() {
                self.link_is_crossed[id.index()] = true;
                if links[id.index()].is_shared {
                    add_load(
                        &mut self.all_link_uses,
                        first_use,
                        id.0,
                        ACKNOWLEDGEMENT_LOAD,
                    );
                }
            }
        }
        let latency = route
            .latency
            .map_or(latency, migsim_base::units::Seconds::get);
        let bandwidths = || route.links().map(|id| links[id.index()].bandwidth);
        let of_links = self
            .model
            .weight_from_links(bandwidths(), route.loopback_crossings);
        let is_linkless = self.all_link_uses.len() == first_use && narrowest.is_infinite();
        let window = if is_linkless && NetworkModel::has_instant_linkless_transfer(platform) {
            f64::INFINITY
        } else {
            self.model.max_share_of_tcp_window(latency)
        };
        let bound = narrowest.min(window);
        let alone = self.all_link_uses[first_use..]
            .iter()
            .map(|&(link, share)| links[link as usize].bandwidth / share)
            .fold(bound, f64::min);
        if !self.model.sharing {
            self.all_link_uses.truncate(first_use);
        }
        let delay = if from == to {
            self.model.loopback_delay(latency)
        } else {
            self.model.flow_delay(latency)
        };
        if self.has_path_details {
            let latency = (from != to).then_some(latency);
            self.path_details.push(PathDetails {
                latency,
                fixed_delay: latency
                    .map_or(delay, |latency| self.model.fixed_message_delay(latency)),
                router_time_per_byte: latency
                    .map_or(0.0, |_| self.model.router_time_per_byte(bandwidths())),
                min_bandwidth: narrowest,
                is_slow_start_possible: self.is_slow_start_possible_for(narrowest, latency),
            });
        }
        Some(Path {
            delay,
            weight: self.model.flow_weight(latency, of_links, false),
            max_rate: bound,
            uncontended_rate: alone * self.model.bandwidth_factor,
            endpoint_pair: 0,
            first_link_use: 0,
            link_use_count: 0,
        })
    }
}

/// Adds `share` to the load on a link per unit of a flow's rate; adds the link if it is not in the list from index `first` on.
pub(crate) fn add_load(uses: &mut Vec<(u32, f64)>, first: usize, link: u32, share: f64) {
    match uses[first..].iter_mut().find(|used| used.0 == link) {
        Some(used) => used.1 += share,
        None => uses.push((link, share)),
    }
}

fn endpoint_classes(platform: &Platform) -> Vec<u32> {
    let mut last = 0;
    let mut endpoint_class = |at: usize| {
        let has_own = at > 0 && {
            let a = HostId::from_index(at - 1);
            let b = HostId::from_index(at);
            platform.cluster_of(a) != platform.cluster_of(b)
                || !platform.have_equivalent_routes(a, b)
        };
        last += u32::from(has_own);
        last
    };
    (0..platform.hosts.len()).map(&mut endpoint_class).collect()
}

/// Returns a fixed pseudo-random number for a pair of endpoint classes. With 128 bits, it is practically impossible that sums of a
/// few such numbers are equal by chance.
fn random_number_of_pair(pair: u64) -> u128 {
    // Two rounds of SplitMix64 (Steele, Lea and Flood 2014) with different seeds.
    u128::from(hash_of_pair(pair)) << 64 | u128::from(mix_bits(pair, 0x6a09_e667_f3bc_c909))
}

fn hash_of_pair(pair: u64) -> u64 {
    mix_bits(pair, 1)
}

fn mix_bits(pair: u64, seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(pair + 1));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::single_cluster_platform;

    #[test]
    fn hosts_that_share_nothing_on_their_way_out_form_one_endpoint_class() {
        let cluster = |name: &str, network: &str| {
            let link = r#"{ "bandwidth": "1 Gbps", "latency": "50 us" }"#;
            format!(
                r#"{{ "name": "{name}", "hosts": 3, "speed": "1 GHz", "link": {link}, "router": "core", "network": "{network}" }}"#
            )
        };
        let clusters = [
            cluster("plain", "unshared"),
            cluster("apart", "switch"),
            cluster("medium", "shared-medium"),
        ];
        let text = format!(
            r#"{{ "schema": "migsim-platform-1", "name": "endpoint_classes", "clusters": [{}], "links": [] }}"#,
            clusters.join(",")
        );
        let platform = migsim_platform::from_json("endpoint_classes.json", &text)
            .unwrap()
            .platform;
        assert_eq!(endpoint_classes(&platform), [0, 0, 0, 1, 2, 3, 4, 4, 4]);

        let mut paths = PathTable::new(&platform, NetworkModel::default());
        let mut find = |from: u32, to: u32| {
            let path = paths.find_or_add_path(
                &platform,
                &LinkState::all(&platform),
                HostId(from),
                HostId(to),
            );
            path.expect("all have a route")
        };
        assert_eq!(find(0, 6), find(2, 8));
        assert_ne!(find(0, 6), find(6, 0));
        assert_ne!(find(0, 3), find(0, 4));
        assert_eq!(find(0, 1), find(2, 0));
        assert_eq!((find(0, 0), find(4, 4)), (LOOPBACK_PATH, LOOPBACK_PATH));
        // Paths are found again after the table was emptied.
        let before = find(3, 7);
        paths.clear();
        assert_ne!(
            paths.find_or_add_path(&platform, &LinkState::all(&platform), HostId(3), HostId(7)),
            Some(before)
        );
        assert_eq!(paths.len(), 2);
    }

    #[test]
    fn pairs_of_many_classes_are_found_again() {
        let platform = single_cluster_platform(&[1e9; 200], 1e3, 0.0);
        let mut paths = PathTable::new(&platform, NetworkModel::default());
        let mut find = |from: u32, to: u32| {
            let path = paths
                .find_or_add_path(
                    &platform,
                    &LinkState::all(&platform),
                    HostId(from),
                    HostId(to),
                )
                .unwrap();
            let uses: Vec<u32> = paths.uses(path).iter().map(|used| used.0).collect();
            (path, uses)
        };
        let pairs: Vec<(u32, u32)> = (0..200).map(|at| (at, (at * 37 + 1) % 200)).collect();
        let found: Vec<_> = pairs.iter().map(|&(from, to)| find(from, to)).collect();
        for (&(from, to), (path, uses)) in pairs.iter().zip(&found) {
            assert_eq!(uses, &[from, to]);
            assert_eq!(find(from, to).0, *path);
        }
    }

    #[test]
    fn a_path_has_the_constants_of_the_model() {
        // Two links of 1 MB/s and 0.5 s.
        let platform = single_cluster_platform(&[1e9; 2], 1e6, 0.5);
        let path = |model: NetworkModel| {
            let mut paths = PathTable::new(&platform, model);
            let path = paths
                .find_or_add_path(&platform, &LinkState::all(&platform), HostId(0), HostId(1))
                .unwrap();
            *paths.get(path)
        };
        let model = NetworkModel {
            latency_factor: 13.0,
            bandwidth_factor: 0.5,
            weight_s: 2e6,
            tcp_gamma: Some(1e5),
            crosstraffic: true,
            ..NetworkModel::default()
        };
        let found = path(model);
        // Latency 1 s; weight 1 + 2 · 2; a window of 100 kB per 2 s of round trip.
        assert_eq!((found.delay, found.weight), (13.0, 5.0));
        assert_eq!((found.max_rate, found.uncontended_rate), (5e4, 2.5e4));
        // Without a window: the flow also takes 5 % of its rate on the way back.
        let found = path(NetworkModel {
            tcp_gamma: None,
            ..model
        });
        assert_eq!(
            (found.max_rate, found.uncontended_rate),
            (1e6, 1e6 / 1.05 * 0.5)
        );
    }

    #[test]
    fn hosts_with_links_of_their_own_have_classes_of_their_own() {
        assert_eq!(
            endpoint_classes(&single_cluster_platform(&[1e9; 3], 1e3, 0.0)),
            [0, 1, 2]
        );
    }
}
