//! Ways between hosts, measured once: what a message takes from its route while no link changes.
//!
//! ```text
//! way(from, to) = latency, narrowest link, window, weight, rate alone, delay and amount of the last size, connection, shared links
//! ```
//! The event path measures the first message of each pair of hosts ([`super::network`]) and keeps what it found, to the bit. Cost: a look-up
//! in a hash table instead of a route and some divisions. When the ways take much memory, all are forgotten and measured again.

use hashbrown::HashTable;

use super::model::NetworkModel;
use super::uses::Uses;
use crate::memory::MOST_PATHS;
use crate::units::{HostId, to_u32};

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
