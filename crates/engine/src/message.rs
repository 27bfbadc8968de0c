//! The costs of a message beside its flow: overhead, store and forward, handshake, slow start, factors by size.
//!
//! ```text
//! delay      = latency_factor(m) · L + overhead + h · (min(m, packet) + HEADERS)     h = Σ 1/bandwidth - 1/narrowest
//! round trip = latency_factor(0) · 2L + overhead                                     of a late message, before its delay
//! slow start : w = WINDOW; while m > w and w / r < round trip:
//!              wait (round trip - w / r), m -= w, w doubles                           r the narrowest bandwidth, times its factor
//! bytes      = m / bandwidth_factor(m)                                               that the flow moves
//! ```
//! Store and forward: each router passes on a packet when it has it whole; the flow itself covers the slowest link. Slow start begins anew on
//! a connection that was idle for [`IDLE`]. A message inside a host has none of these costs.
//!
//! Sources: RFC 6928 (initial window), RFC 5681 (restart after idleness), RFC 6298 with Linux's least timeout. None of these settings is in a
//! preset: a library has them (`migsim list libraries`).

use std::sync::Arc;

use hashbrown::HashTable;

use super::model::NetworkModel;
use migsim_base::units::{HostId, greater, lesser, to_u32};

/// The headers of a packet on the wire \[B\]: Ethernet with its gap 38, IP 20, TCP with timestamps 32.
pub(super) const HEADERS: f64 = 90.0;
/// The initial window of TCP \[B\]: 10 segments of 1448 B.
const WINDOW: f64 = 14_480.0;
/// A connection that has sent nothing for so long is idle \[s\]: the least retransmission timeout of Linux.
const IDLE: f64 = 0.2;

impl NetworkModel {
    /// Whether the delay of a message depends on its latency alone.
    pub(super) fn is_plain(&self) -> bool {
        self.overhead.get() <= 0.0 && self.packet.is_none() && self.factors.is_empty()
    }

    /// What a byte of a packet waits in routers \[s/B\]; 0 without store and forward.
    pub(super) fn hop(&self, bandwidths: impl Iterator<Item = f64>) -> f64 {
        if self.packet.is_none() {
            return 0.0;
        }
        let (mut sum, mut slowest) = (0.0, 0.0_f64);
        for bandwidth in bandwidths.filter(|bandwidth| *bandwidth > 0.0) {
            sum += 1.0 / bandwidth;
            slowest = slowest.max(1.0 / bandwidth);
        }
        sum - slowest
    }

    /// From the start of a flow of `bytes` until its transfer begins \[s\].
    pub(super) fn delay_of(&self, latency: f64, hop: f64, bytes: f64) -> f64 {
        let latency = self.delay(latency) * self.factors.of(bytes).latency;
        latency + self.overhead.get() + hop * self.packet_of(bytes)
    }

    /// The same of a message of no packet, where no factor depends on its size.
    pub(super) fn fixed_delay(&self, latency: f64) -> f64 {
        self.delay(latency) + self.overhead.get()
    }

    /// The bytes of the packet of a message that waits in routers.
    #[inline]
    pub(super) fn packet_of(&self, bytes: f64) -> f64 {
        self.packet
            .map_or(0.0, |packet| lesser(bytes, packet.get()) + HEADERS)
    }

    /// The bytes that the flow of a message moves.
    pub(super) fn amount(&self, bytes: f64) -> f64 {
        if self.factors.is_empty() {
            return bytes;
        }
        bytes / self.factors.of(bytes).bandwidth
    }

    /// The round trip of a handshake \[s\].
    pub(super) fn round_trip(&self, latency: f64) -> f64 {
        2.0 * self.delay(latency) * self.factors.of(0.0).latency + self.overhead.get()
    }

    /// How long slow start holds up a message of an idle connection \[s\].
    pub(super) fn slow_start(&self, bytes: f64, narrowest: f64, round_trip: f64) -> f64 {
        let rate = narrowest * self.bandwidth_factor;
        let (mut window, mut left, mut waited) = (WINDOW, bytes, 0.0);
        while left > window && window < rate * round_trip {
            waited += round_trip - window / rate;
            left -= window;
            window *= 2.0;
        }
        waited
    }

    /// Returns whether a message of `bytes` \[B\] is sent at once, however slow the start is.
    #[inline]
    pub fn fits_first_window(bytes: f64) -> bool {
        bytes <= WINDOW
    }

    /// Whether slow start holds up any message of an idle connection: the first window does not fill the pipe.
    pub(super) fn may_be_slow(&self, narrowest: f64, round_trip: f64) -> bool {
        WINDOW < narrowest * self.bandwidth_factor * round_trip
    }

    /// The largest factor of any bandwidth.
    pub fn most_bandwidth_factor(&self) -> f64 {
        // In queues headers are counted instead.
        let of_link = if self.queues {
            1.0
        } else {
            self.bandwidth_factor
        };
        of_link * self.factors.most_bandwidth()
    }
}

/// The connections between hosts: which are idle.
#[derive(Clone, Debug, Default)]
pub(super) struct Connections {
    /// Connections by their ends, as places in `list`.
    lookup: HashTable<u32>,
    list: Vec<Connection>,
    /// What local dates are counted from \[s\].
    zero: f64,
    /// Messages of which the list of connections is not told yet.
    untold: Untold,
}

/// The messages of a barrier, which come again with each barrier: of each connection one counts, and a later barrier has it later. So they are
/// kept as they are until somebody asks.
#[derive(Clone, Debug, Default)]
struct Untold {
    /// Pairs of a message and its connection.
    messages: Option<Arc<[(u32, u32)]>>,
    /// Per message: its end, counted from `zero` \[s\].
    ends: Vec<f64>,
    zero: f64,
}

/// No message.
const NOTHING: u32 = u32::MAX;

/// The messages from one host to another.
#[derive(Clone, Copy, Debug)]
struct Connection {
    ends: (HostId, HostId),
    /// Messages on their way, and when the first of them started \[s\].
    open: u32,
    since: f64,
    /// When the last one ended \[s\], but for the message that is untold.
    last: f64,
    untold: u32,
}

impl Connections {
    /// The connection between two hosts.
    pub(super) fn find(&mut self, ends: (HostId, HostId)) -> u32 {
        let Self { lookup, list, .. } = self;
        let is_it = |place: &u32| list[*place as usize].ends == ends;
        if let Some(place) = lookup.find(hash_of(ends), is_it) {
            return *place;
        }
        let place = to_u32(list.len());
        list.push(Connection {
            ends,
            open: 0,
            since: 0.0,
            last: f64::NEG_INFINITY,
            untold: NOTHING,
        });
        let hash = |place: &u32| hash_of(list[*place as usize].ends);
        lookup.insert_unique(hash_of(ends), place, hash);
        place
    }

    /// A message of a connection starts; whether that was idle. Of messages that start at one date none is the first.
    #[inline]
    pub(super) fn start(&mut self, place: u32, now: f64) -> bool {
        if self.untold.messages.is_some() {
            self.tell();
        }
        let now = self.zero + now;
        let connection = &mut self.list[place as usize];
        connection.open += 1;
        if connection.open == 1 {
            connection.since = now;
        }
        connection.since.total_cmp(&now).is_eq() && now - connection.last > IDLE
    }

    /// Whether a connection would be idle at a date, while no message is on its way.
    pub(super) fn is_idle(&self, ends: (HostId, HostId), now: f64) -> bool {
        let is_it = |place: &u32| self.list[*place as usize].ends == ends;
        let known = self.lookup.find(hash_of(ends), is_it);
        known.is_none_or(|place| {
            let Connection { last, untold, .. } = self.list[*place as usize];
            let untold = self.untold.ends.get(untold as usize);
            let last = untold.map_or(last, |end| last.max(self.untold.zero + end));
            self.zero + now - last > IDLE
        })
    }

    /// Messages that were simulated elsewhere have ended, or will: pairs of a message and its connection, each of another one. If the same ones
    /// come again, each ends later. `ends` has their local dates \[s\], and any numbers afterwards.
    pub(super) fn note_all(&mut self, messages: &Arc<[(u32, u32)]>, ends: &mut Vec<f64>) {
        let known = self.untold.messages.as_ref();
        if !known.is_some_and(|known| Arc::ptr_eq(known, messages)) {
            self.tell();
            for &(message, connection) in &**messages {
                self.list[connection as usize].untold = message;
            }
            self.untold.messages = Some(messages.clone());
            self.untold.ends.resize(ends.len(), f64::NEG_INFINITY);
        }
        std::mem::swap(&mut self.untold.ends, ends);
        self.untold.zero = self.zero;
    }

    /// Tells the list of what it is not told yet.
    fn tell(&mut self) {
        let Some(messages) = self.untold.messages.take() else {
            return;
        };
        for &(message, connection) in &*messages {
            let connection = &mut self.list[connection as usize];
            let end = self.untold.zero + self.untold.ends[message as usize];
            connection.last = connection.last.max(end);
            connection.untold = NOTHING;
        }
        self.untold.ends.clear();
    }

    /// A message that was simulated elsewhere has ended.
    pub(super) fn note(&mut self, place: u32, date: f64) {
        let connection = &mut self.list[place as usize];
        connection.last = greater(self.zero + date, connection.last);
    }

    /// A message of a connection ends.
    pub(super) fn end(&mut self, place: u32, now: f64) {
        let connection = &mut self.list[place as usize];
        connection.open -= 1;
        connection.last = connection.last.max(self.zero + now); // a packet may still be on its way
    }

    /// Local time begins anew, after so long.
    pub(super) fn rebase(&mut self, elapsed: f64) {
        self.zero += elapsed;
    }
}

/// Returns a hash of two hosts.
#[inline]
fn hash_of((from, to): (HostId, HostId)) -> u64 {
    let pair = u64::from(from.0) << 32 | u64::from(to.0);
    (pair ^ pair >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factors::tests::factors;
    use migsim_base::units::{Bytes, Seconds};

    #[test]
    fn a_delay_has_latency_overhead_and_packets() {
        let model = NetworkModel {
            overhead: Seconds::of(0.5),
            packet: Some(Bytes::of(910.0)),
            factors: factors(&[(100.0, 3.0, 0.5)]),
            ..NetworkModel::default()
        };
        // Links of 1000, 2000 and 4000 B/s: the last two add 0.5 and 0.25 ms per byte.
        let hop = model.hop([1e3, 2e3, 4e3].into_iter());
        assert!((hop - 0.75e-3).abs() < 1e-18);
        assert_eq!(model.delay_of(1.0, hop, 10.0), 1.0 + 0.5 + hop * 100.0);
        assert_eq!(model.delay_of(1.0, hop, 5e3), 3.0 + 0.5 + hop * 1000.0);
        assert_eq!((model.amount(10.0), model.amount(5e3)), (10.0, 1e4));
        assert_eq!(model.round_trip(1.0), 2.5);
        assert!(NetworkModel::default().is_plain() && !model.is_plain());
        assert_eq!(NetworkModel::default().hop([1e3, 2e3].into_iter()), 0.0);
    }

    #[test]
    fn slow_start_waits_until_the_window_fills_the_pipe() {
        let model = NetworkModel::default();
        // 1e5 B/s and 1 s: 14480 B are sent in 0.1448 s, then 28960, 57920 and 115840: the last fills the second.
        let waited = model.slow_start(1e6, 1e5, 1.0);
        assert!(
            (waited - (3.0 - 0.1448 - 0.2896 - 0.5792)).abs() < 1e-12,
            "{waited}"
        );
        // Two windows are enough for 40 kB, one for 14480 B.
        assert!((model.slow_start(4e4, 1e5, 1.0) - (1.0 - 0.1448)).abs() < 1e-12);
        assert_eq!(model.slow_start(14_480.0, 1e5, 1.0), 0.0);
        assert_eq!(model.slow_start(1e6, 1e4, 1.0), 0.0);
    }

    #[test]
    fn a_connection_is_idle_a_while_after_its_last_message() {
        let mut connections = Connections::default();
        let there = connections.find((HostId(0), HostId(1)));
        assert!(connections.start(there, 0.0));
        assert!(!connections.start(there, 9.0), "one is on its way");
        let both = connections.find((HostId(2), HostId(1)));
        assert!(connections.start(both, 9.0) && connections.start(both, 9.0));
        connections.end(there, 9.5);
        connections.end(there, 10.0);
        connections.rebase(10.0);
        assert!(!connections.start(there, 0.1));
        connections.end(there, 0.1);
        let back = connections.find((HostId(1), HostId(0)));
        assert!(back != there && connections.start(back, 0.1));
        assert_eq!(connections.find((HostId(0), HostId(1))), there);
        assert!(connections.start(there, 0.4));
        connections.end(there, 0.4);
        // One that was simulated elsewhere counts as any other.
        connections.note(there, 1.0);
        connections.note(there, 0.9);
        let is_idle = |date| connections.is_idle((HostId(0), HostId(1)), date);
        assert!(!is_idle(1.1) && is_idle(1.3));
        assert!(connections.is_idle((HostId(7), HostId(1)), 0.0));
    }

    #[test]
    fn messages_of_barriers_count_as_if_they_were_told_one_by_one() {
        let ends = [(0, 1), (1, 0), (1, 2)].map(|(from, to)| (HostId(from), HostId(to)));
        let (mut kept, mut told) = (Connections::default(), Connections::default());
        for ends in ends {
            assert_eq!(kept.find(ends), told.find(ends));
        }
        // Message 1 goes over connection 0, 2 over 1; then other ones over 1 and 2.
        let lists: [Arc<[(u32, u32)]>; 2] = [[(1, 0), (2, 1)], [(0, 1), (2, 2)]].map(Arc::from);
        let barriers = [
            (&lists[0], [9.0, 0.25, 0.5]),
            (&lists[0], [9.0, 0.5, 0.75]),
            (&lists[1], [0.25, 9.0, 1.0]),
            (&lists[0], [9.0, 0.125, 0.5]),
        ];
        for (list, dates) in barriers {
            kept.note_all(list, &mut dates.to_vec());
            for &(message, connection) in &**list {
                told.note(connection, dates[message as usize]);
            }
            for quarter in 0..10 {
                let date = 0.05 + 0.25 * f64::from(quarter);
                for ends in ends {
                    assert_eq!(kept.is_idle(ends, date), told.is_idle(ends, date), "{date}");
                }
            }
            for connections in [&mut kept, &mut told] {
                connections.rebase(1.0);
            }
        }
        for connection in 0..3 {
            assert_eq!(kept.start(connection, 0.2), told.start(connection, 0.2));
        }
    }
}
