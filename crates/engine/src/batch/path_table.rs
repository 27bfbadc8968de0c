//! Route parameters per ordered pair of endpoint classes, computed once while links do not change.
//!
//! Delay, weight and bound are those of [`NetworkModel`]. The twin is [`crate::transport`], which computes them afresh for each flow.
//! Hosts of a cluster that cannot be told apart by their way out (no access link, or equal ones that are not shared) form one endpoint class: a platform of such clusters has a
//! path per pair of clusters. Cost: a look-up in a table (few classes) or a hash table; about 64 bytes per pair in use.

use hashbrown::HashTable;

use crate::model::{ACKNOWLEDGEMENTS, NetworkModel};
use migsim_base::memory::MOST_PATHS;
use migsim_base::units::{HostId, LinkId};
use migsim_platform::Platform;

/// Names a path, in the order in which paths were first asked for.
pub type PathId = u32;

/// The way from one host to another.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// From the start of a flow until its transfer begins \[s\].
    pub delay: f64,
    /// Its weight in the sharing, a factor: a flow of weight w gets 1/w of the fair share.
    pub weight: f64,
    /// The largest rate before the bandwidth factor \[B/s\].
    pub bound: f64,
    /// The rate of a flow that meets no other one, after the bandwidth factor \[B/s\].
    pub rate_alone: f64,
    /// The endpoint classes of sender and receiver: an order of paths that does not depend on when they were first asked for.
    pub pair: u64,
    first_use: u32,
    uses: u32,
}

impl Path {
    /// Whether it crosses links that flows share.
    #[inline]
    pub fn is_shared(&self) -> bool {
        self.uses > 0
    }

    /// The endpoint classes of sender and receiver.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "two numbers of 32 bits in one of 64"
    )]
    fn ends(&self) -> (usize, usize) {
        ((self.pair >> 32) as usize, self.pair as u32 as usize)
    }
}

/// More of a path.
#[derive(Clone, Copy, Debug)]
struct Details {
    /// Of the route \[s\]; none inside a host, where messages cost nothing more.
    latency: Option<f64>,
    /// The delay of a message of no packet, if no factor depends on its size \[s\].
    fixed: f64,
    /// The wait of a byte of a packet in routers \[s/B\].
    hop: f64,
    /// The least bandwidth of its links \[B/s\].
    narrowest: f64,
    /// Whether slow start may hold up a message of an idle connection.
    may_be_slow: bool,
}

/// All paths that were asked for.
#[derive(Clone, Debug)]
pub struct PathTable {
    model: NetworkModel,
    /// The endpoint class of each host.
    endpoint_class: Vec<u32>,
    endpoint_classes: usize,
    /// For few classes: path + 1 by `row[from] + to`, 0 if not asked for yet.
    table: Vec<u32>,
    /// Start of the row of each class in the table; 0, a row of zeros, until first used.
    row: Vec<u32>,
    /// For many classes; and the path after the one that was found last.
    lookup: HashTable<PathId>,
    next: PathId,
    list: Vec<Path>,
    /// The most shared links of a path.
    widest: usize,
    /// Of each path, if messages ask for them.
    details: Vec<Details>,
    has_details: bool,
    /// Whether the delay of a message does not depend on its size.
    is_plain: bool,
    /// Links and what a flow takes there of its rate.
    uses: Vec<(u32, f64)>,
    /// Per link: whether a path crosses it, shared or not.
    is_crossed: Vec<bool>,
}

/// Up to this many classes, paths are found in a table (16 MB, if all of them send).
const MOST_CLASSES_OF_TABLE: usize = 2048;
/// There is room for so many paths from the first one on (memory that is not used is not there, either).
const ROOM: usize = 1024;
/// And for so many places of the table.
const ROOM_OF_TABLE: usize = 16 * ROOM;
/// The path of a host to itself.
const LOOPBACK: PathId = 0;
/// No pair of endpoint classes.
const PAIR_OF_LOOPBACK: u64 = u64::MAX;

impl PathTable {
    /// An empty table of the paths of `platform` under `model`.
    pub fn new(platform: &Platform, model: NetworkModel) -> Self {
        let endpoint_class = endpoint_classes(platform);
        let endpoint_classes = endpoint_class.last().map_or(0, |last| *last as usize + 1);
        let is_small = endpoint_classes <= MOST_CLASSES_OF_TABLE;
        let mut table = Vec::new();
        if is_small {
            table.reserve(ROOM_OF_TABLE);
            table.resize(endpoint_classes, 0);
        }
        let mut paths = Self {
            model,
            endpoint_class,
            endpoint_classes,
            table,
            row: vec![0; if is_small { endpoint_classes } else { 0 }],
            lookup: HashTable::new(),
            next: LOOPBACK,
            list: Vec::with_capacity(ROOM),
            widest: 0,
            details: Vec::new(),
            has_details: !model.is_plain() || model.slow_start,
            is_plain: model.is_plain(),
            uses: Vec::with_capacity(2 * ROOM),
            is_crossed: vec![false; platform.links.len()],
        };
        paths.add_loopback();
        paths
    }

    /// The same for messages that may wait for a handshake ([`Self::round_trip`]).
    pub fn with_handshakes(platform: &Platform, model: NetworkModel) -> Self {
        let mut paths = Self::new(platform, model);
        paths.has_details = true;
        paths.forget();
        paths
    }

    /// Multiplies the share of a flow; dimensionless.
    pub(super) fn bandwidth_factor(&self) -> f64 {
        self.model.bandwidth_factor
    }

    /// The path between two hosts, which may be one; `None` if the platform has no route.
    #[inline]
    pub fn find(&mut self, platform: &Platform, from: HostId, to: HostId) -> Option<PathId> {
        if from != to {
            let out = self.endpoint_class[from.index()];
            let into = self.endpoint_class[to.index()];
            if let Some(&row) = self.row.get(out as usize)
                && let Some(known) = self.table[(row + into) as usize].checked_sub(1)
            {
                return Some(known);
            }
        }
        self.find_unknown(platform, from, to)
    }

    /// The same for a path that is not in the table of paths between hosts.
    #[inline(never)]
    fn find_unknown(&mut self, platform: &Platform, from: HostId, to: HostId) -> Option<PathId> {
        if from == to && !platform.has_own_loopback(from) {
            return Some(LOOPBACK);
        }
        let (out, into) = (
            self.endpoint_class[from.index()],
            self.endpoint_class[to.index()],
        );
        if let Some(&row) = self.row.get(out as usize) {
            let known = self.table[(row + into) as usize].checked_sub(1);
            return known.or_else(|| self.add_to_table(platform, from, to));
        }
        self.look_up(platform, from, to)
    }

    #[inline(never)]
    fn look_up(&mut self, platform: &Platform, from: HostId, to: HostId) -> Option<PathId> {
        let pair = self.pair(from, to);
        let list = &self.list;
        let is_it = |path: &PathId| list[*path as usize].pair == pair;
        // Those who send to the same ones again ask in the same order.
        let next = list
            .get(self.next as usize)
            .filter(|next| next.pair == pair);
        let known = match next {
            Some(_) => Some(self.next),
            None => self.lookup.find(hash(pair), is_it).copied(),
        };
        let found = known.or_else(|| {
            let path = self.add(platform, from, to)?;
            let list = &self.list;
            let hash_of = |path: &PathId| hash(list[*path as usize].pair);
            self.lookup.insert_unique(hash(pair), path, hash_of);
            Some(path)
        })?;
        self.next = found + 1;
        Some(found)
    }

    /// Makes room for so many paths, unless there are any yet.
    pub fn expect(&mut self, paths: usize) {
        if self.list.len() <= LOOPBACK as usize + 1 && paths > ROOM {
            self.list.reserve(paths);
            self.uses.reserve(2 * paths);
            let list = &self.list;
            let hash_of = |path: &PathId| hash(list[*path as usize].pair);
            let room = if self.row.is_empty() { paths } else { 0 };
            self.lookup.reserve(room, hash_of);
        }
    }

    /// The pair of endpoint classes, as a number.
    fn pair(&self, from: HostId, to: HostId) -> u64 {
        let (from, to) = (
            self.endpoint_class[from.index()],
            self.endpoint_class[to.index()],
        );
        u64::from(from) << 32 | u64::from(to)
    }

    #[cold]
    fn add_to_table(&mut self, platform: &Platform, from: HostId, to: HostId) -> Option<PathId> {
        let path = self.add(platform, from, to)?;
        let row = &mut self.row[self.endpoint_class[from.index()] as usize];
        if *row == 0 {
            *row = u32::try_from(self.table.len()).expect("fewer than 2048² places");
            self.table
                .resize(self.table.len() + self.endpoint_classes, 0);
        }
        self.table[(*row + self.endpoint_class[to.index()]) as usize] = path + 1;
        Some(path)
    }

    /// Forgets all paths once they take much memory; whether it has.
    pub fn forget_many(&mut self) -> bool {
        let are_many = self.list.len() > MOST_PATHS;
        if are_many {
            self.forget();
        }
        are_many
    }

    /// The number that stands for a path in the names of sets of flows.
    pub(super) fn number(&self, path: PathId) -> u128 {
        match self.list[path as usize].pair {
            PAIR_OF_LOOPBACK => 0,
            pair => number_of(pair),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Forgets all paths: links have changed.
    pub fn forget(&mut self) {
        if self.row.is_empty() {
            self.lookup.clear();
        } else {
            for path in &self.list[LOOPBACK as usize + 1..] {
                let (from, to) = path.ends();
                self.table[self.row[from] as usize + to] = 0;
            }
        }
        self.list.clear();
        self.details.clear();
        self.uses.clear();
        self.is_crossed.fill(false);
        self.add_loopback();
    }

    /// Whether a path depends on a link.
    pub fn crosses(&self, link: LinkId) -> bool {
        self.is_crossed[link.index()]
    }

    /// From the sending of a message until its transfer begins \[s\], and the bytes that its flow moves.
    #[inline]
    pub fn delay_and_amount(&self, (path, way): (PathId, &Path), bytes: f64) -> (f64, f64) {
        if self.is_plain {
            return (way.delay, bytes);
        }
        self.delay_and_amount_of_library(path, bytes)
    }

    /// The same with what a library costs.
    #[inline(never)] // so that it takes no registers of the loop that has no library
    fn delay_and_amount_of_library(&self, path: PathId, bytes: f64) -> (f64, f64) {
        let details = &self.details[path as usize];
        if self.model.factors.is_empty() {
            let packet = self.model.packet_of(bytes);
            return (details.fixed + details.hop * packet, bytes);
        }
        details
            .latency
            .map_or((self.get(path).delay, bytes), |latency| {
                let delay = self.model.delay_of(latency, details.hop, bytes);
                (delay, self.model.amount(bytes))
            })
    }

    /// The handshake of a message that waits for its receiver \[s\], if there can be any.
    pub fn round_trip(&self, path: PathId) -> f64 {
        self.round_trip_of(self.details[path as usize].latency)
    }

    fn round_trip_of(&self, latency: Option<f64>) -> f64 {
        latency.map_or(0.0, |latency| self.model.round_trip(latency))
    }

    /// Whether slow start may hold up a message of an idle connection.
    #[inline]
    pub fn may_be_slow(&self, path: PathId) -> bool {
        self.model.slow_start && self.details[path as usize].may_be_slow
    }

    fn may_be_slow_on(&self, narrowest: f64, latency: Option<f64>) -> bool {
        let round_trip = self.round_trip_of(latency);
        self.model.may_be_slow(narrowest, round_trip)
    }

    /// How long slow start holds up a message of an idle connection \[s\].
    pub fn slow_start(&self, path: PathId, bytes: f64) -> f64 {
        if NetworkModel::fits_first_window(bytes) || !self.may_be_slow(path) {
            return 0.0;
        }
        let narrowest = self.details[path as usize].narrowest;
        self.model
            .slow_start(bytes, narrowest, self.round_trip(path))
    }

    /// The path with this id.
    #[inline]
    pub fn get(&self, path: PathId) -> &Path {
        &self.list[path as usize]
    }

    /// The most shared links that a path has had.
    pub(super) fn widest(&self) -> usize {
        self.widest
    }

    /// How many endpoint classes there are.
    pub(super) fn endpoint_classes(&self) -> usize {
        self.endpoint_classes
    }

    /// The endpoint classes of sender and receiver; none if the path has no shared links.
    #[inline]
    pub(super) fn ends(&self, path: PathId) -> Option<(usize, usize)> {
        let path = &self.list[path as usize];
        path.is_shared().then(|| path.ends())
    }

    /// The shared links of a path, each with what a flow takes there of its rate.
    #[inline]
    pub fn uses(&self, path: PathId) -> &[(u32, f64)] {
        let path = &self.list[path as usize];
        let first = path.first_use as usize;
        &self.uses[first..first + path.uses as usize]
    }

    fn add(&mut self, platform: &Platform, from: HostId, to: HostId) -> Option<PathId> {
        let pair = self.pair(from, to);
        let id = u32::try_from(self.list.len()).expect("fewer than 2^32 pairs of hosts");
        let first_use = self.uses.len();
        let path = self.measure(platform, from, to)?;
        self.widest = self.widest.max(self.uses.len() - first_use);
        self.list.push(Path {
            pair,
            first_use: u32::try_from(first_use).expect("fewer than 2^32 uses of links"),
            uses: u32::try_from(self.uses.len() - first_use).expect("fewer than 2^32 links"),
            ..path
        });
        Some(id)
    }

    /// Adds the path of hosts to themselves, the first one.
    fn add_loopback(&mut self) {
        if self.has_details {
            self.details.push(Details {
                latency: None,
                fixed: 0.0,
                hop: 0.0,
                narrowest: f64::INFINITY, // nothing waits inside a host
                may_be_slow: self.may_be_slow_on(f64::INFINITY, None),
            });
        }
        self.list.push(Path {
            delay: 0.0,
            weight: 1.0,
            bound: self.model.loopback_bandwidth,
            rate_alone: self.model.loopback_rate(),
            pair: PAIR_OF_LOOPBACK,
            first_use: 0,
            uses: 0,
        });
    }

    fn measure(&mut self, platform: &Platform, from: HostId, to: HostId) -> Option<Path> {
        let route = platform.route(from, to)?;
        let first_use = self.uses.len();
        let (mut narrowest, mut latency) = (self.model.bound_of(route.loopbacks), 0.0);
        for id in route.links() {
            let link = &platform.links[id.index()];
            narrowest = narrowest.min(link.bandwidth.get());
            latency += link.latency.get();
            self.is_crossed[id.index()] = true;
            if link.is_shared {
                self.add_use(first_use, id.0, 1.0);
            }
        }
        if self.model.crosstraffic
            && let Some(back) = platform.route(to, from)
        {
            for id in back.links() {
                self.is_crossed[id.index()] = true;
                if platform.links[id.index()].is_shared {
                    self.add_use(first_use, id.0, ACKNOWLEDGEMENTS);
                }
            }
        }
        let latency = route
            .latency
            .map_or(latency, migsim_base::units::Seconds::get);
        let bandwidths = || {
            let links = route.links();
            links.map(|id| platform.links[id.index()].bandwidth.get())
        };
        let of_links = self.model.weight_of_links(bandwidths(), route.loopbacks);
        let is_linkless = self.uses.len() == first_use && narrowest.is_infinite();
        let window = if is_linkless && NetworkModel::frees_linkless(platform) {
            f64::INFINITY
        } else {
            self.model.window(latency)
        };
        let bound = narrowest.min(window);
        let capacities = self.uses[first_use..]
            .iter()
            .map(|&(link, share)| platform.links[link as usize].bandwidth.get() / share);
        let alone = capacities.fold(bound, f64::min);
        if !self.model.sharing {
            self.uses.truncate(first_use);
        }
        if self.has_details {
            let latency = (from != to).then_some(latency);
            self.details.push(Details {
                latency,
                fixed: latency.map_or(0.0, |latency| self.model.fixed_delay(latency)),
                hop: latency.map_or(0.0, |_| self.model.hop(bandwidths())),
                narrowest,
                may_be_slow: self.may_be_slow_on(narrowest, latency),
            });
        }
        Some(Path {
            delay: self.model.delay(latency),
            weight: self.model.weight(latency, of_links, false),
            bound,
            rate_alone: alone * self.model.bandwidth_factor,
            pair: 0,
            first_use: 0,
            uses: 0,
        })
    }

    fn add_use(&mut self, first: usize, link: u32, share: f64) {
        match self.uses[first..].iter_mut().find(|used| used.0 == link) {
            Some(used) => used.1 += share,
            None => self.uses.push((link, share)),
        }
    }
}

/// The endpoint class of each host, counted from 0 in host order.
fn endpoint_classes(platform: &Platform) -> Vec<u32> {
    let mut last = 0;
    let mut endpoint_class = |at: usize| {
        let has_own = at > 0 && {
            let (a, b) = (HostId::from_index(at - 1), HostId::from_index(at));
            platform.cluster_of(a) != platform.cluster_of(b) || !platform.have_one_way_out(a, b)
        };
        last += u32::from(has_own);
        last
    };
    (0..platform.hosts.len()).map(&mut endpoint_class).collect()
}

/// A fixed number that looks random, of 128 bits: sums of a few of them never meet by chance.
fn number_of(pair: u64) -> u128 {
    // Two rounds of SplitMix64 (Steele, Lea and Flood 2014) with different seeds.
    u128::from(hash(pair)) << 64 | u128::from(mix(pair, 0x6a09_e667_f3bc_c909))
}

fn hash(pair: u64) -> u64 {
    mix(pair, 1)
}

fn mix(pair: u64, seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(pair + 1));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::line;

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
            let path = paths.find(&platform, HostId(from), HostId(to));
            path.expect("all have a route")
        };
        assert_eq!(find(0, 6), find(2, 8));
        assert_ne!(find(0, 6), find(6, 0));
        assert_ne!(find(0, 3), find(0, 4));
        assert_eq!(find(0, 1), find(2, 0));
        assert_eq!((find(0, 0), find(4, 4)), (LOOPBACK, LOOPBACK));
        // Forgotten paths are found afresh.
        let before = find(3, 7);
        paths.forget();
        assert_ne!(paths.find(&platform, HostId(3), HostId(7)), Some(before));
        assert_eq!(paths.len(), 2);
    }

    #[test]
    fn pairs_of_many_classes_are_found_by_hash() {
        let platform = line(&vec![1e9; MOST_CLASSES_OF_TABLE + 1], 1e3, 0.0);
        let mut paths = PathTable::new(&platform, NetworkModel::default());
        let mut find = |from: u32, to: u32| {
            let path = paths.find(&platform, HostId(from), HostId(to)).unwrap();
            let uses: Vec<u32> = paths.uses(path).iter().map(|used| used.0).collect();
            (path, uses)
        };
        let pairs: Vec<(u32, u32)> = (0..200).map(|at| (at, (at * 37 + 1) % 2049)).collect();
        let found: Vec<_> = pairs.iter().map(|&(from, to)| find(from, to)).collect();
        for (&(from, to), (path, uses)) in pairs.iter().zip(&found) {
            assert_eq!(uses, &[from, to]);
            assert_eq!(find(from, to).0, *path);
        }
    }

    #[test]
    fn a_path_has_the_constants_of_the_model() {
        // Two links of 1 MB/s and 0.5 s.
        let platform = line(&[1e9; 2], 1e6, 0.5);
        let path = |model: NetworkModel| {
            let mut paths = PathTable::new(&platform, model);
            let path = paths.find(&platform, HostId(0), HostId(1)).unwrap();
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
        assert_eq!((found.bound, found.rate_alone), (5e4, 2.5e4));
        // Without a window: 5 % of the way back are the flow's own, too.
        let found = path(NetworkModel {
            tcp_gamma: None,
            ..model
        });
        assert_eq!((found.bound, found.rate_alone), (1e6, 1e6 / 1.05 * 0.5));
    }

    #[test]
    fn hosts_with_links_of_their_own_have_classes_of_their_own() {
        assert_eq!(endpoint_classes(&line(&[1e9; 3], 1e3, 0.0)), [0, 1, 2]);
    }
}
