//! The connections between processes, from whose use the network model decides on slow start.
//!
//! ```text
//! idle(c, t) = no message of c that started before t is still in progress at t, or ended less than 0.2 s before t
//! ```
//! In this equation, c is a connection and t the start of a message. Messages that start at the same time therefore find the same
//! state. As in Open MPI, each process has one connection to each process to which it sends; after a migration, the process opens
//! new connections. Messages that belong to no pair of processes (those of rescheduling calls) have one connection for each pair
//! of hosts.
//!
//! Sources: RFC 5681 (restart after idle time), RFC 6298 with Linux's minimum timeout.

use hashbrown::HashTable;

use migsim_base::units::{HostId, ProcessId, greater, to_u32};

/// Time without a message after which a connection counts as idle \[s\]: the minimum retransmission timeout of Linux. The small
/// fraction is for rounding errors.
const MIN_IDLE_TIME: f64 = 0.2 * (1.0 + 1e-9);
/// Tolerance within which two messages start at the same time, relative to the time since the start of the run.
const SAME_START_TOLERANCE: f64 = 1e-12;

/// The sender and the receiver of a message, which determine its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageEnds {
    /// The hosts of sender and receiver.
    pub hosts: (HostId, HostId),
    /// The processes that send and receive the message; `None` for a message of the runtime.
    pub processes: Option<(ProcessId, ProcessId)>,
}

impl MessageEnds {
    /// Returns the ends of a message of the runtime between two hosts.
    pub const fn of_hosts(from: HostId, to: HostId) -> Self {
        Self {
            hosts: (from, to),
            processes: None,
        }
    }

    /// Returns the ends of a message from process `from` to process `to`, given the host of each process.
    pub fn of_processes(from: ProcessId, to: ProcessId, placement: &[HostId]) -> Self {
        Self {
            hosts: (placement[from.index()], placement[to.index()]),
            processes: Some((from, to)),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Connections {
    index_by_ends: HashTable<u32>,
    connections: Vec<Connection>,
    /// Instant to which the local time 0 corresponds, counted from the start of the run \[s\].
    time_origin: f64,
}

/// State of a connection; all times are counted from the start of the run \[s\].
#[derive(Clone, Copy, Debug)]
struct Connection {
    ends: MessageEnds,
    last_start: f64,
    was_idle: bool,
    last_end: f64,
    /// Latest time at which a message has joined or joins its first queue, if packets wait in queues.
    last_transfer_start: f64,
    messages_in_progress: u32,
}

impl Connection {
    fn is_idle_at(&self, now: f64) -> bool {
        if (now - self.last_start).abs() <= SAME_START_TOLERANCE * now {
            return self.was_idle;
        }
        self.messages_in_progress == 0 && now - self.last_end > MIN_IDLE_TIME
    }

    fn start_message(&mut self, now: f64) -> bool {
        (self.was_idle, self.last_start) = (self.is_idle_at(now), now);
        self.was_idle
    }
}

impl Connections {
    /// Returns the index of the connection between these ends; adds the connection if it is new.
    pub(super) fn find_or_add(&mut self, ends: MessageEnds) -> u32 {
        if let Some(place) = self.find(ends) {
            return place;
        }
        let list = &mut self.connections;
        let place = to_u32(list.len());
        list.push(Connection {
            ends,
            last_start: f64::NEG_INFINITY,
            was_idle: true,
            last_end: f64::NEG_INFINITY,
            last_transfer_start: f64::NEG_INFINITY,
            messages_in_progress: 0,
        });
        self.index_by_ends
            .insert_unique(hash_of_ends(ends), place, |place: &u32| {
                hash_of_ends(list[*place as usize].ends)
            });
        place
    }

    fn find(&self, ends: MessageEnds) -> Option<u32> {
        let is_it = |place: &u32| self.connections[*place as usize].ends == ends;
        self.index_by_ends.find(hash_of_ends(ends), is_it).copied()
    }

    /// Records that a message of the connection `place` starts at local time `now` \[s\]; returns whether the connection was idle
    /// before.
    pub(super) fn start_message(&mut self, place: u32, now: f64) -> bool {
        let connection = &mut self.connections[place as usize];
        let was_idle = connection.start_message(self.time_origin + now);
        connection.messages_in_progress += 1;
        was_idle
    }

    /// Returns the delay of a message of the connection `place` that starts at local time `now` \[s\] and would have the delay
    /// `delay` without other messages \[s\]. Its packets do not overtake those of messages that started before.
    pub(super) fn delay_in_order(&mut self, place: u32, now: f64, delay: f64) -> f64 {
        let now = self.time_origin + now;
        let last = &mut self.connections[place as usize].last_transfer_start;
        let delay = greater(delay, *last - now);
        *last = greater(*last, now + delay);
        delay
    }

    /// Records that a message in progress of the connection `place` ends at local time `now` \[s\].
    pub(super) fn end_message(&mut self, place: u32, now: f64) {
        let connection = &mut self.connections[place as usize];
        connection.messages_in_progress -= 1;
        connection.last_end = greater(self.time_origin + now, connection.last_end);
    }

    /// Records the local times at which a message of the connection `place` starts and ends \[s\], which may be in the future.
    pub(super) fn record_message(&mut self, place: u32, start: f64, end: f64) {
        let connection = &mut self.connections[place as usize];
        let start = self.time_origin + start;
        if start > connection.last_start {
            connection.start_message(start);
        }
        connection.last_end = greater(self.time_origin + end, connection.last_end);
    }

    /// Whether the connection between these ends is idle for a message that starts at local time `now` \[s\], after all messages
    /// that have been recorded or at the same time as the last of them.
    pub(super) fn is_idle(&self, ends: MessageEnds, now: f64) -> bool {
        self.find(ends)
            .is_none_or(|place| self.connections[place as usize].is_idle_at(self.time_origin + now))
    }

    /// Moves the instant to which the local time 0 corresponds to a time that is later by `elapsed` \[s\].
    pub(super) fn shift_time_origin(&mut self, elapsed: f64) {
        self.time_origin += elapsed;
    }
}

#[inline]
fn hash_of_ends(ends: MessageEnds) -> u64 {
    let pair = |a: u32, b: u32| u64::from(a) << 32 | u64::from(b);
    let mix = |bits: u64| (bits ^ bits >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (from, to) = ends.hosts;
    mix(mix(ends.processes.map_or(0, |(from, to)| pair(from.0, to.0))) ^ pair(from.0, to.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(from: u32, to: u32) -> MessageEnds {
        MessageEnds {
            hosts: (HostId(0), HostId(1)),
            processes: Some((ProcessId(from), ProcessId(to))),
        }
    }

    #[test]
    fn a_connection_is_idle_a_while_after_its_last_message() {
        let mut connections = Connections::default();
        let there = connections.find_or_add(ends(0, 1));
        assert!(connections.start_message(there, 0.0));
        assert!(!connections.start_message(there, 9.0), "one is on its way");
        let other = connections.find_or_add(ends(2, 1));
        assert!(connections.start_message(other, 9.0) && connections.start_message(other, 9.0));
        connections.end_message(there, 9.5);
        connections.end_message(there, 10.0);
        connections.shift_time_origin(10.0);
        assert!(!connections.start_message(there, 0.1));
        connections.end_message(there, 0.1);
        let back = connections.find_or_add(ends(1, 0));
        assert!(back != there && connections.start_message(back, 0.1));
        assert_eq!(connections.find_or_add(ends(0, 1)), there);
        assert!(!connections.start_message(there, 0.3), "0.2 s are no pause");
        connections.end_message(there, 0.3);
        assert!(connections.start_message(there, 0.6));
        connections.end_message(there, 0.6);
        assert!(connections.is_idle(ends(7, 1), 0.0));
    }

    #[test]
    fn a_message_that_was_computed_counts_from_its_start_on() {
        let mut connections = Connections::default();
        let there = connections.find_or_add(ends(0, 1));
        connections.record_message(there, 0.5, 1.0);
        // What starts at the same time finds the state before, whether it ends later or not.
        assert!(connections.is_idle(ends(0, 1), 0.5) && connections.start_message(there, 0.5));
        connections.end_message(there, 0.7);
        for (time, is_idle) in [(0.6, false), (1.1, false), (1.3, true)] {
            assert_eq!(connections.is_idle(ends(0, 1), time), is_idle, "{time}");
        }
    }
}
