//! The costs of a message in addition to its flow: overhead, store and forward, handshake, slow start, and factors that depend on
//! the size.
//!
//! ```text
//! delay      = latency_factor(m) · L + overhead + h · (min(m, packet) + headers)     h = Σ 1/bandwidth - 1/narrowest
//! round trip = latency_factor(0) · 2L + overhead                                     added before the delay of a message with handshake
//! slow start : w = initial window; while m > w and w / r < round trip:
//!              wait (round trip - w / r), m -= w, w doubles                           r the narrowest bandwidth, times its factor
//! bytes      = m / bandwidth_factor(m)                                               bytes that the flow transfers
//! ```
//! In these equations, m is the size of the message, L the latency of its route, and h the time per byte that packets wait in
//! routers. Store and forward: each router forwards a packet once it has received the whole packet; the flow itself accounts for
//! the slowest link. Slow start applies again to a connection that was idle for 0.2 s. A message inside a host has a separate
//! overhead, and none of the other costs.
//!
//! Sources: RFC 6928 (initial window), RFC 5681 (restart after idle time), RFC 6298 with Linux's minimum timeout. No network
//! preset sets these costs; the settings of a message library do (`migsim list libraries`).

use std::sync::Arc;

use hashbrown::HashTable;

use super::model::NetworkModel;
use migsim_base::units::{HostId, greater, lesser, to_u32};

/// Size of the headers of a packet on the wire \[B\]: Ethernet with its gap 38, IP 20, TCP with timestamps 32.
pub(super) const HEADER_BYTES: f64 = 90.0;
/// Initial congestion window of TCP \[B\]: 10 segments of 1448 B.
const INITIAL_WINDOW_BYTES: f64 = 14_480.0;
/// Time without a message after which a connection counts as idle \[s\]: the minimum retransmission timeout of Linux.
const MIN_IDLE_TIME: f64 = 0.2;

impl NetworkModel {
    /// Whether the delay of a message depends only on the latency of its route, not on its size.
    pub(super) fn has_fixed_delay(&self) -> bool {
        self.overhead.get() <= 0.0 && self.packet.is_none() && self.factors.is_empty()
    }

    /// Returns the time per byte that a packet waits in the routers of its route \[s/B\], given the bandwidths of the links
    /// \[B/s\]; 0 without store and forward.
    pub(super) fn router_time_per_byte(&self, bandwidths: impl Iterator<Item = f64>) -> f64 {
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

    /// Returns the time from the sending of a message of `bytes` bytes until its transfer begins \[s\]. `latency` is the latency
    /// of its route \[s\], and `hop` the time per byte that packets wait in routers \[s/B\].
    pub(super) fn message_delay(&self, latency: f64, hop: f64, bytes: f64) -> f64 {
        let latency = self.flow_delay(latency) * self.factors.factors_for_bytes(bytes).latency;
        latency + self.overhead.get() + hop * self.packet_size(bytes)
    }

    /// Returns the part of a message's delay that does not depend on its packets \[s\], given the latency of the route \[s\];
    /// used if no factor depends on the size of the message.
    pub(super) fn fixed_message_delay(&self, latency: f64) -> f64 {
        self.flow_delay(latency) + self.overhead.get()
    }

    /// Returns the size of the packet that each router has to receive before it forwards a message of `bytes` bytes \[B\]; 0
    /// without store and forward.
    #[inline]
    pub(super) fn packet_size(&self, bytes: f64) -> f64 {
        self.packet
            .map_or(0.0, |packet| lesser(bytes, packet.get()) + HEADER_BYTES)
    }

    /// Returns the number of bytes that the flow of a message of `bytes` bytes transfers, which is the size divided by the
    /// bandwidth factor for this size.
    pub(super) fn flow_bytes(&self, bytes: f64) -> f64 {
        if self.factors.is_empty() {
            return bytes;
        }
        bytes / self.factors.factors_for_bytes(bytes).bandwidth
    }

    /// Returns the duration of the handshake of a message, which is one round trip on a route with the latency `latency` \[s\].
    pub(super) fn round_trip_time(&self, latency: f64) -> f64 {
        2.0 * self.flow_delay(latency) * self.factors.factors_for_bytes(0.0).latency
            + self.overhead.get()
    }

    /// Returns the time by which slow start delays a message whose connection was idle \[s\]. `narrowest` is the smallest
    /// bandwidth of the route \[B/s\], and `round_trip` the time until an acknowledgement arrives \[s\].
    pub(super) fn slow_start_delay(&self, bytes: f64, narrowest: f64, round_trip: f64) -> f64 {
        let rate = narrowest * self.bandwidth_factor;
        let (mut window, mut left, mut waited) = (INITIAL_WINDOW_BYTES, bytes, 0.0);
        while left > window && window < rate * round_trip {
            waited += round_trip - window / rate;
            left -= window;
            window *= 2.0;
        }
        waited
    }

    /// Whether a message of `bytes` bytes fits into the initial TCP window, so that slow start cannot delay it.
    #[inline]
    pub fn fits_initial_window(bytes: f64) -> bool {
        bytes <= INITIAL_WINDOW_BYTES
    }

    /// Whether slow start can delay messages on a route if the connection is idle, because the initial window is sent before its
    /// first acknowledgement arrives.
    pub(super) fn is_slow_start_possible(&self, narrowest: f64, round_trip: f64) -> bool {
        INITIAL_WINDOW_BYTES < narrowest * self.bandwidth_factor * round_trip
    }

    /// Returns the largest factor by which the bandwidth is multiplied for a message of any size; dimensionless.
    pub fn largest_bandwidth_factor(&self) -> f64 {
        // With queues, headers are counted instead.
        let of_link = if self.queues {
            1.0
        } else {
            self.bandwidth_factor
        };
        of_link * self.factors.largest_bandwidth_factor()
    }
}

/// The connections between hosts, with the end of the last message of each, from which the network model decides on slow start.
#[derive(Clone, Debug, Default)]
pub(super) struct Connections {
    /// Index of each connection in the list of connections, by its sender and receiver.
    index_by_hosts: HashTable<u32>,
    connections: Vec<Connection>,
    /// Instant to which the local time 0 corresponds, counted from the start of the run \[s\].
    time_origin: f64,
    /// Ends of messages that have been recorded but not yet stored in the list of connections.
    pending_message_ends: PendingMessageEnds,
}

/// Ends of the control messages of a barrier, which recur with each barrier, before they are stored in the list of connections.
///
/// Only the last message of each connection matters, and each barrier replaces the recorded ends by later ones. The ends are
/// therefore kept in this form until a connection is read.
#[derive(Clone, Debug, Default)]
struct PendingMessageEnds {
    /// Pairs of the index of a message and the index of its connection; `None` if no ends are pending.
    message_connection_pairs: Option<Arc<[(u32, u32)]>>,
    /// Time at which each message ends, counted from the time origin of these pending ends \[s\].
    message_end_times: Vec<f64>,
    time_origin: f64,
}

/// Index of a message that stands for no pending message.
const NO_MESSAGE: u32 = u32::MAX;

/// State of a connection, which carries the messages from one host to another.
#[derive(Clone, Copy, Debug)]
struct Connection {
    sender_and_receiver: (HostId, HostId),
    /// Number of messages of the connection that are in progress.
    messages_in_progress: u32,
    /// Time at which the connection last became busy, counted from the start of the run \[s\]: the start of the first message
    /// after a time without messages in progress.
    busy_since: f64,
    /// Time at which the last message of the connection ended, counted from the start of the run \[s\], without the message whose
    /// end is still pending.
    last_end_time: f64,
    pending_message_index: u32,
}

impl Connections {
    /// Returns the index of the connection from one host to another; adds the connection if it is new.
    pub(super) fn find_or_add(&mut self, ends: (HostId, HostId)) -> u32 {
        let Self {
            index_by_hosts: lookup,
            connections: list,
            ..
        } = self;
        let is_it = |place: &u32| list[*place as usize].sender_and_receiver == ends;
        if let Some(place) = lookup.find(hash_of_hosts(ends), is_it) {
            return *place;
        }
        let place = to_u32(list.len());
        list.push(Connection {
            sender_and_receiver: ends,
            messages_in_progress: 0,
            busy_since: 0.0,
            last_end_time: f64::NEG_INFINITY,
            pending_message_index: NO_MESSAGE,
        });
        let hash = |place: &u32| hash_of_hosts(list[*place as usize].sender_and_receiver);
        lookup.insert_unique(hash_of_hosts(ends), place, hash);
        place
    }

    /// Records that a message of the connection `place` starts at local time `now` \[s\]; returns whether the connection was idle
    /// before. All messages that start at the same time get the same result.
    #[inline]
    pub(super) fn start_message(&mut self, place: u32, now: f64) -> bool {
        if self.pending_message_ends.message_connection_pairs.is_some() {
            self.store_pending_message_ends();
        }
        let now = self.time_origin + now;
        let connection = &mut self.connections[place as usize];
        connection.messages_in_progress += 1;
        if connection.messages_in_progress == 1 {
            connection.busy_since = now;
        }
        connection.busy_since.total_cmp(&now).is_eq()
            && now - connection.last_end_time > MIN_IDLE_TIME
    }

    /// Whether the connection from one host to another is idle at local time `now` \[s\], on the assumption that none of its
    /// messages is in progress.
    pub(super) fn is_idle(&self, ends: (HostId, HostId), now: f64) -> bool {
        let is_it = |place: &u32| self.connections[*place as usize].sender_and_receiver == ends;
        let known = self.index_by_hosts.find(hash_of_hosts(ends), is_it);
        known.is_none_or(|place| {
            let Connection {
                last_end_time: last,
                pending_message_index: pending,
                ..
            } = self.connections[*place as usize];
            let pending = self
                .pending_message_ends
                .message_end_times
                .get(pending as usize);
            let last = pending.map_or(last, |end| {
                last.max(self.pending_message_ends.time_origin + end)
            });
            self.time_origin + now - last > MIN_IDLE_TIME
        })
    }

    /// Records the end times of messages that were computed without events (by direct evaluation of a superstep); the end times
    /// may be in the future.
    ///
    /// `messages` are pairs of a message and its connection, one per connection. If the same messages are recorded again, each
    /// end must be later than before. `ends` contains the local time at which each message ends \[s\]; its content is undefined
    /// afterwards.
    pub(super) fn record_message_ends(
        &mut self,
        messages: &Arc<[(u32, u32)]>,
        ends: &mut Vec<f64>,
    ) {
        let known = self.pending_message_ends.message_connection_pairs.as_ref();
        if !known.is_some_and(|known| Arc::ptr_eq(known, messages)) {
            self.store_pending_message_ends();
            for &(message, connection) in &**messages {
                self.connections[connection as usize].pending_message_index = message;
            }
            self.pending_message_ends.message_connection_pairs = Some(messages.clone());
            self.pending_message_ends
                .message_end_times
                .resize(ends.len(), f64::NEG_INFINITY);
        }
        std::mem::swap(&mut self.pending_message_ends.message_end_times, ends);
        self.pending_message_ends.time_origin = self.time_origin;
    }

    /// Stores all pending ends of messages in the list of connections.
    fn store_pending_message_ends(&mut self) {
        let Some(messages) = self.pending_message_ends.message_connection_pairs.take() else {
            return;
        };
        for &(message, connection) in &*messages {
            let connection = &mut self.connections[connection as usize];
            let end = self.pending_message_ends.time_origin
                + self.pending_message_ends.message_end_times[message as usize];
            connection.last_end_time = connection.last_end_time.max(end);
            connection.pending_message_index = NO_MESSAGE;
        }
        self.pending_message_ends.message_end_times.clear();
    }

    /// Records that a message of the connection `place`, which was computed without events, ends at local time `date` \[s\].
    pub(super) fn record_message_end(&mut self, place: u32, date: f64) {
        let connection = &mut self.connections[place as usize];
        connection.last_end_time = greater(self.time_origin + date, connection.last_end_time);
    }

    /// Records that a message in progress of the connection `place` ends at local time `now` \[s\].
    pub(super) fn end_message(&mut self, place: u32, now: f64) {
        let connection = &mut self.connections[place as usize];
        connection.messages_in_progress -= 1;
        connection.last_end_time = connection.last_end_time.max(self.time_origin + now); // a packet may still be on its way
    }

    /// Moves the instant to which the local time 0 corresponds to a time that is later by `elapsed` \[s\].
    pub(super) fn shift_time_origin(&mut self, elapsed: f64) {
        self.time_origin += elapsed;
    }
}

/// Returns a hash of the sender and the receiver of a connection.
#[inline]
fn hash_of_hosts((from, to): (HostId, HostId)) -> u64 {
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
        let hop = model.router_time_per_byte([1e3, 2e3, 4e3].into_iter());
        assert!((hop - 0.75e-3).abs() < 1e-18);
        assert_eq!(model.message_delay(1.0, hop, 10.0), 1.0 + 0.5 + hop * 100.0);
        assert_eq!(model.message_delay(1.0, hop, 5e3), 3.0 + 0.5 + hop * 1000.0);
        assert_eq!((model.flow_bytes(10.0), model.flow_bytes(5e3)), (10.0, 1e4));
        assert_eq!(model.round_trip_time(1.0), 2.5);
        assert!(NetworkModel::default().has_fixed_delay() && !model.has_fixed_delay());
        assert_eq!(
            NetworkModel::default().router_time_per_byte([1e3, 2e3].into_iter()),
            0.0
        );
    }

    #[test]
    fn slow_start_waits_until_the_window_fills_the_pipe() {
        let model = NetworkModel::default();
        // 1e5 B/s and 1 s: 14480 B are sent in 0.1448 s, then 28960, 57920 and 115840: the last fills the second.
        let waited = model.slow_start_delay(1e6, 1e5, 1.0);
        assert!(
            (waited - (3.0 - 0.1448 - 0.2896 - 0.5792)).abs() < 1e-12,
            "{waited}"
        );
        // Two windows are enough for 40 kB, one for 14480 B.
        assert!((model.slow_start_delay(4e4, 1e5, 1.0) - (1.0 - 0.1448)).abs() < 1e-12);
        assert_eq!(model.slow_start_delay(14_480.0, 1e5, 1.0), 0.0);
        assert_eq!(model.slow_start_delay(1e6, 1e4, 1.0), 0.0);
    }

    #[test]
    fn a_connection_is_idle_a_while_after_its_last_message() {
        let mut connections = Connections::default();
        let there = connections.find_or_add((HostId(0), HostId(1)));
        assert!(connections.start_message(there, 0.0));
        assert!(!connections.start_message(there, 9.0), "one is on its way");
        let both = connections.find_or_add((HostId(2), HostId(1)));
        assert!(connections.start_message(both, 9.0) && connections.start_message(both, 9.0));
        connections.end_message(there, 9.5);
        connections.end_message(there, 10.0);
        connections.shift_time_origin(10.0);
        assert!(!connections.start_message(there, 0.1));
        connections.end_message(there, 0.1);
        let back = connections.find_or_add((HostId(1), HostId(0)));
        assert!(back != there && connections.start_message(back, 0.1));
        assert_eq!(connections.find_or_add((HostId(0), HostId(1))), there);
        assert!(connections.start_message(there, 0.4));
        connections.end_message(there, 0.4);
        // A message that was simulated elsewhere counts as any other.
        connections.record_message_end(there, 1.0);
        connections.record_message_end(there, 0.9);
        let is_idle = |date| connections.is_idle((HostId(0), HostId(1)), date);
        assert!(!is_idle(1.1) && is_idle(1.3));
        assert!(connections.is_idle((HostId(7), HostId(1)), 0.0));
    }

    #[test]
    fn messages_of_barriers_count_as_if_they_were_told_one_by_one() {
        let ends = [(0, 1), (1, 0), (1, 2)].map(|(from, to)| (HostId(from), HostId(to)));
        let (mut kept, mut told) = (Connections::default(), Connections::default());
        for ends in ends {
            assert_eq!(kept.find_or_add(ends), told.find_or_add(ends));
        }
        // Message 1 uses connection 0 and message 2 uses connection 1; then other messages use connections 1 and 2.
        let lists: [Arc<[(u32, u32)]>; 2] = [[(1, 0), (2, 1)], [(0, 1), (2, 2)]].map(Arc::from);
        let barriers = [
            (&lists[0], [9.0, 0.25, 0.5]),
            (&lists[0], [9.0, 0.5, 0.75]),
            (&lists[1], [0.25, 9.0, 1.0]),
            (&lists[0], [9.0, 0.125, 0.5]),
        ];
        for (list, dates) in barriers {
            kept.record_message_ends(list, &mut dates.to_vec());
            for &(message, connection) in &**list {
                told.record_message_end(connection, dates[message as usize]);
            }
            for quarter in 0..10 {
                let date = 0.05 + 0.25 * f64::from(quarter);
                for ends in ends {
                    assert_eq!(kept.is_idle(ends, date), told.is_idle(ends, date), "{date}");
                }
            }
            for connections in [&mut kept, &mut told] {
                connections.shift_time_origin(1.0);
            }
        }
        for connection in 0..3 {
            assert_eq!(
                kept.start_message(connection, 0.2),
                told.start_message(connection, 0.2)
            );
        }
    }
}
