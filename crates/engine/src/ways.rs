//! Ways between hosts, measured once: what a message takes from its route while no link changes.
//!
//! ```text
//! way(from, to) = latency, narrowest link, window, weight, rate alone, delay and amount of the last size, connection, shared links
//! ```
//! The event path measures the first message of each pair of hosts ([`super::transport`]) and keeps what it found, to the bit. Cost: a look-up
//! in a hash table instead of a route and some divisions. When the ways take much memory, all are forgotten and measured again.

use hashbrown::HashTable;

use super::model::NetworkModel;
use super::uses::Uses;
use migsim_base::memory::MOST_PATHS;
use migsim_base::units::{HostId, to_u32};

/// The way from one host to another.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) ends: (HostId, HostId),
    /// Of the route \[s\].
    pub(super) latency: f64,
    /// What a byte of a packet waits in routers \[s/B\].
    pub(super) hop: f64,
    /// Of a handshake \[s\].
    pub(super) round_trip: f64,
    /// The least bandwidth, and the bound of the TCP window \[B/s\].
    pub(super) narrowest: f64,
    pub(super) window: f64,
    pub(super) weight: f64,
    /// The share of a flow that meets no other one \[B/s\].
    pub(super) alone: f64,
    /// Its connection, if that counts.
    pub(super) connection: Option<u32>,
    /// How many links of the way out flows share.
    pub(super) outward: usize,
    /// The size of the last message \[B\], its delay \[s\] and the bytes that its flow moved.
    last: (f64, f64, f64),
    /// Its shared links.
    pub(super) uses: Uses,
}

impl Way {
    /// A way without shared links that no message has gone; the rest is to be set.
    pub(super) fn new(ends: (HostId, HostId), latency: f64, hop: f64, round_trip: f64) -> Self {
        Self {
            ends,
            latency,
            hop,
            round_trip,
            narrowest: f64::INFINITY,
            window: f64::INFINITY,
            weight: 1.0,
            alone: f64::INFINITY,
            connection: None,
            outward: 0,
            last: (f64::NAN, 0.0, 0.0),
            uses: Uses::default(),
        }
    }

    /// The delay of a message \[s\], and the bytes that its flow moves.
    #[inline]
    pub(super) fn delay_and_amount(&mut self, bytes: f64, model: &NetworkModel) -> (f64, f64) {
        if self.last.0.to_bits() != bytes.to_bits() {
            let (delay, amount) = if model.is_plain() {
                (model.delay(self.latency), bytes)
            } else {
                let delay = model.delay_of(self.latency, self.hop, bytes);
                (delay, model.amount(bytes))
            };
            self.last = (bytes, delay, amount);
        }
        (self.last.1, self.last.2)
    }
}

/// All ways that were measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways {
    lookup: HashTable<u32>,
    list: Vec<Way>,
}

impl Ways {
    /// The number of a way, if it was measured.
    #[inline]
    pub(super) fn find(&self, ends: (HostId, HostId)) -> Option<u32> {
        let is_it = |way: &u32| self.list[*way as usize].ends == ends;
        self.lookup.find(hash_of(ends), is_it).copied()
    }

    #[inline]
    pub(super) fn get(&mut self, way: u32) -> &mut Way {
        &mut self.list[way as usize]
    }

    /// Keeps a way that is new.
    pub(super) fn add(&mut self, way: Way) {
        let Self { lookup, list } = self;
        if list.len() >= MOST_PATHS {
            lookup.clear();
            list.clear();
        }
        let number = to_u32(list.len());
        list.push(way);
        let hash = |way: &u32| hash_of(list[*way as usize].ends);
        lookup.insert_unique(hash(&number), number, hash);
    }
}

/// A hash of two hosts.
#[inline]
pub(super) fn hash_of((from, to): (HostId, HostId)) -> u64 {
    let pair = u64::from(from.0) << 32 | u64::from(to.0);
    (pair ^ pair >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Simulation;
    use super::super::factors::Weights;
    use super::super::testing::{flows, line};
    use super::*;
    use migsim_base::units::{Bytes, BytesPerSecond, Seconds};

    /// When messages (start, from, to, bytes) end \[s\]; the large ones begin with a handshake. With `is_plain` by the twin.
    fn ends(flows: &[(f64, u32, u32, f64)], model: NetworkModel, is_plain: bool) -> Vec<f64> {
        let mut platform = line(&[1e9; 8], 1e3, 1e-3);
        for link in &mut platform.links[5..] {
            link.bandwidth = BytesPerSecond::of(4e3);
            link.latency = Seconds::of(0.25);
        }
        platform.links[6].is_shared = false;
        let mut simulation = Simulation::new(&platform, model);
        if is_plain {
            simulation.use_levels_alone();
        }
        for (at, flow) in flows.iter().enumerate() {
            simulation.wait(Seconds::of(flow.0), at);
        }
        let mut ends = vec![f64::NAN; flows.len()];
        while let Some(token) = simulation.next_ended().unwrap() {
            let Some(&(_, from, to, bytes)) = flows.get(token) else {
                ends[token - flows.len()] = simulation.local_now();
                continue;
            };
            let message = (Bytes::of(bytes), bytes > 1000.0);
            let token = token + flows.len();
            simulation
                .send_message(HostId(from), HostId(to), message, token)
                .unwrap();
        }
        assert_eq!(simulation.fault(), None);
        ends
    }

    proptest! {
        #[test]
        fn messages_end_as_those_that_are_measured_and_share_by_levels(
            flows in flows(40),
            preset in prop::sample::select(vec!["cm02", "lv08", "simgrid-3.3"]),
            (is_equal, slow_start) in any::<(bool, bool)>(),
            overhead in prop::sample::select(vec![0.0, 0.5]),
            packet in prop::option::of(Just(Bytes::of(500.0))),
            size in prop::sample::select(vec![1.0, 20.0]),
        ) {
            let flows: Vec<_> = flows.into_iter().map(|(date, from, to, bytes)| (date, from, to, size * bytes)).collect();
            let model = NetworkModel {
                weights: if is_equal { Weights::Equal } else { Weights::Latency },
                overhead: Seconds::of(overhead),
                packet,
                slow_start,
                ..NetworkModel::preset(preset).unwrap()
            };
            for (end, twin) in ends(&flows, model, false).into_iter().zip(ends(&flows, model, true)) {
                prop_assert!((end - twin).abs() <= 1e-12 * twin, "{} {}", end, twin);
            }
        }
    }
}
