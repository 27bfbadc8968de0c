//! Packets in queues: each link sends one packet after the other, first come, first served.
//!
//! ```text
//! message of m bytes    ⌈m / packet⌉ packets (at least one), of `packet` bytes (at least 1 B) each and the rest in the last, each with headers
//! packet                waits in the queue of a link, takes size / bandwidth on the link, then the link's latency, and joins the next queue
//! message ends          when its last packet has passed the last link
//! ```
//! Fluid flows share a link, so that four equal messages that start at the same time also end at the same time. A switch,
//! however, first serves the message that arrives first. The difference matters for messages of a few packets. On a network whose
//! emulation is not the bottleneck, LAMMPS takes 21 to 24 % more with equal shares than measured, and 1 to 3 % less with packets
//! (`results/reality.md`).
//!
//! All packets of a message join the first queue at the same time. A packet is sent at the bandwidth that the link had when the
//! sending of the packet began; a link without bandwidth sends no packet. On a link that flows do not share, each message has a
//! separate queue. There are no windows, losses or acknowledgements, and a queue may have any length. The reference
//! implementation is `first_come` in the tests.
//!
//! Cost: 2 events per packet and link.

use std::collections::VecDeque;

use super::{
    event::{Event, EventList},
    message::HEADER_BYTES,
    queue::EventKey,
};
use migsim_base::units::{greater, to_u32};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PacketStep {
    PacketSent(u32),
    /// The packets of the burst with this index join the next queue on their route: a single packet, or all packets of a message
    /// that starts.
    BurstJoinsQueue(u32),
}

impl PacketStep {
    fn event<T>(self) -> Event<T> {
        Event::NetworkStep(match self {
            Self::PacketSent(queue) => 2 * queue,
            Self::BurstJoinsQueue(packets) => 2 * packets + 1,
        })
    }

    pub(super) fn from_number(number: u32) -> Self {
        if number.is_multiple_of(2) {
            Self::PacketSent(number / 2)
        } else {
            Self::BurstJoinsQueue(number / 2)
        }
    }
}

/// Packets of a message that wait in the same queue: before the first link all packets of the message, after it each packet
/// separately.
#[derive(Clone, Copy, Debug)]
struct PacketBurst {
    message: u32,
    hop: u32,
    count: u32,
    has_last_packet: bool,
}

#[derive(Clone, Debug)]
struct Message<T> {
    token: T,
    /// The queues on the route of the message, in order; each with the latency of its link \[s\].
    queues_and_latencies: Vec<(u32, f64)>,
    /// Size of the last packet on the wire, including its headers \[B\].
    last_packet_bytes: f64,
    packets_left: u32,
    connection: Option<u32>,
}

#[derive(Clone, Debug)]
struct PacketQueue {
    link: u32,
    waiting_bursts: VecDeque<u32>,
    /// Index of the burst with the packet that is being sent; `None` if the queue sends nothing.
    sending_burst: Option<u32>,
    /// Key of the event at infinite time that stands for the queue while the queue waits until its link has bandwidth; otherwise
    /// `None`.
    stopped_event_key: Option<EventKey>,
}

impl PacketQueue {
    fn new(link: u32) -> Self {
        Self {
            link,
            waiting_bursts: VecDeque::new(),
            sending_burst: None,
            stopped_event_key: None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MessageStart {
    pub bytes: f64,
    /// Time from the sending of the message until its packets join the first queue \[s\].
    pub delay: f64,
    pub connection: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct EndedMessage<T> {
    message: u32,
    pub token: T,
    pub connection: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct PacketQueues<T> {
    /// Maximum payload of a packet \[B\].
    max_payload: f64,
    /// The queue of each link, in the order of links, followed by the queues that serve a single message each.
    queues: Vec<PacketQueue>,
    link_count: usize,
    free_exclusive_queues: Vec<u32>,
    bursts: Vec<PacketBurst>,
    free_bursts: Vec<u32>,
    messages: Vec<Message<T>>,
    free_messages: Vec<u32>,
}

/// Maximum number of packets of a message; larger messages are rejected with an error, since each packet causes several events.
pub(super) const MAX_PACKETS: f64 = 1e7;

/// Returns the number of packets into which a message of `bytes` bytes is divided, where `payload` is the payload of a packet
/// \[B\].
pub(super) fn packet_count(bytes: f64, payload: f64) -> f64 {
    greater((bytes / payload).ceil(), 1.0)
}

impl<T: Copy> PacketQueues<T> {
    /// Creates empty queues for `links` links, for packets with a payload of at most `packet` bytes.
    pub(super) fn new(links: usize, packet: f64) -> Self {
        Self {
            max_payload: packet,
            queues: (0..to_u32(links)).map(PacketQueue::new).collect(),
            link_count: links,
            free_exclusive_queues: Vec::new(),
            bursts: Vec::new(),
            free_bursts: Vec::new(),
            messages: Vec::new(),
            free_messages: Vec::new(),
        }
    }

    /// Starts a message on a route, which is a list of links, each with its latency \[s\] and whether messages share it. `event`
    /// converts a step of a packet into an event of the event list.
    pub(super) fn start_message(
        &mut self,
        start: MessageStart,
        route: impl Iterator<Item = (u32, f64, bool)>,
        token: T,
        now: f64,
        events: &mut EventList<T>,
    ) {
        let packets = packet_count(start.bytes, self.max_payload);
        debug_assert!(packets <= MAX_PACKETS, "it was refused");
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number between 1 and the most"
        )]
        let count = packets as u32;
        let message = self.free_messages.pop().unwrap_or_else(|| {
            self.messages.push(Message {
                token,
                queues_and_latencies: Vec::new(),
                last_packet_bytes: 0.0,
                packets_left: 0,
                connection: None,
            });
            to_u32(self.messages.len() - 1)
        });
        let mut way = std::mem::take(&mut self.messages[message as usize].queues_and_latencies);
        way.clear();
        for (link, latency, is_shared) in route {
            let own = if is_shared {
                link
            } else {
                self.open_exclusive_queue(link)
            };
            way.push((own, latency));
        }
        self.messages[message as usize] = Message {
            token,
            queues_and_latencies: way,
            last_packet_bytes: start.bytes - self.max_payload * (packets - 1.0) + HEADER_BYTES,
            packets_left: count,
            connection: start.connection,
        };
        let burst = self.add_burst(PacketBurst {
            message,
            hop: 0,
            count,
            has_last_packet: true,
        });
        // Even without a delay it joins after all other events of this time.
        events.push(
            now + start.delay,
            PacketStep::BurstJoinsQueue(burst).event(),
        );
    }

    /// Performs a step of a packet at local time `now` \[s\]; returns the message that ends as a result, or `None`.
    pub(super) fn perform_packet_step(
        &mut self,
        step: PacketStep,
        now: f64,
        bandwidth: &impl Fn(u32) -> f64,
        events: &mut EventList<T>,
    ) -> Option<EndedMessage<T>> {
        match step {
            PacketStep::BurstJoinsQueue(burst) => self.enqueue_burst(burst, now, bandwidth, events),
            PacketStep::PacketSent(at) => {
                let sent = self.queues[at as usize].sending_burst.take()?;
                let PacketBurst { message, hop, .. } = self.bursts[sent as usize];
                self.bursts[sent as usize].hop += 1;
                let (_, latency) =
                    self.messages[message as usize].queues_and_latencies[hop as usize];
                events.push(now + latency, PacketStep::BurstJoinsQueue(sent).event());
                self.send_next_packet(at, now, bandwidth, events);
                None
            }
        }
    }

    /// Adds a burst to the next queue on the route of its message. If there is no next queue, the packets of the burst have
    /// arrived at the receiver. Returns the message if all its packets have arrived, otherwise `None`.
    fn enqueue_burst(
        &mut self,
        burst: u32,
        now: f64,
        bandwidth: &impl Fn(u32) -> f64,
        events: &mut EventList<T>,
    ) -> Option<EndedMessage<T>> {
        let PacketBurst {
            message,
            hop,
            count,
            ..
        } = self.bursts[burst as usize];
        let state = &mut self.messages[message as usize];
        let Some(&(at, _)) = state.queues_and_latencies.get(hop as usize) else {
            state.packets_left -= count;
            self.free_bursts.push(burst);
            return (self.messages[message as usize].packets_left == 0)
                .then(|| self.remove_ended_message(message));
        };
        let next = &mut self.queues[at as usize];
        next.waiting_bursts.push_back(burst);
        if next.sending_burst.is_none() && next.stopped_event_key.is_none() {
            self.send_next_packet(at, now, bandwidth, events);
        }
        None
    }

    /// Starts sending the first packet in a queue if the link has bandwidth; otherwise the queue waits for bandwidth.
    fn send_next_packet(
        &mut self,
        at: u32,
        now: f64,
        bandwidth: &impl Fn(u32) -> f64,
        events: &mut EventList<T>,
    ) {
        let state = &mut self.queues[at as usize];
        let Some(&first) = state.waiting_bursts.front() else {
            return;
        };
        let bandwidth = bandwidth(state.link);
        if bandwidth <= 0.0 {
            state.stopped_event_key =
                Some(events.push(f64::INFINITY, PacketStep::PacketSent(at).event()));
            return;
        }
        let burst = self.bursts[first as usize];
        let is_last = burst.has_last_packet && burst.count == 1;
        let sent = if burst.count == 1 {
            state.waiting_bursts.pop_front();
            first
        } else {
            self.bursts[first as usize].count -= 1;
            self.add_burst(PacketBurst {
                count: 1,
                has_last_packet: false,
                ..burst
            })
        };
        self.queues[at as usize].sending_burst = Some(sent);
        let size = if is_last {
            self.messages[burst.message as usize].last_packet_bytes
        } else {
            self.max_payload + HEADER_BYTES
        };
        events.push(now + size / bandwidth, PacketStep::PacketSent(at).event());
    }

    /// Restarts the queues of a link that have waited for bandwidth, when the bandwidth of the link has changed to `bandwidth`
    /// \[B/s\].
    pub(super) fn resume_queues_of_link(
        &mut self,
        link: u32,
        bandwidth: f64,
        now: f64,
        events: &mut EventList<T>,
    ) {
        if bandwidth <= 0.0 {
            return;
        }
        let own = to_u32(self.link_count)..to_u32(self.queues.len());
        for at in std::iter::once(link).chain(own) {
            let state = &mut self.queues[at as usize];
            if state.link == link
                && let Some(key) = state.stopped_event_key.take()
            {
                events.cancel(key);
                self.send_next_packet(at, now, &|_| bandwidth, events);
            }
        }
    }

    pub(super) fn links_on_route(&self, ended: &EndedMessage<T>) -> impl Iterator<Item = u32> + '_ {
        self.messages[ended.message as usize]
            .queues_and_latencies
            .iter()
            .map(|&(queue, _)| self.queues[queue as usize].link)
    }

    fn remove_ended_message(&mut self, message: u32) -> EndedMessage<T> {
        let state = &self.messages[message as usize];
        let own = state.queues_and_latencies.iter().map(|&(queue, _)| queue);
        self.free_exclusive_queues
            .extend(own.filter(|&queue| queue as usize >= self.link_count));
        self.free_messages.push(message);
        EndedMessage {
            message,
            token: state.token,
            connection: state.connection,
        }
    }

    fn open_exclusive_queue(&mut self, link: u32) -> u32 {
        if let Some(queue) = self.free_exclusive_queues.pop() {
            self.queues[queue as usize].link = link;
            return queue;
        }
        self.queues.push(PacketQueue::new(link));
        to_u32(self.queues.len() - 1)
    }

    fn add_burst(&mut self, burst: PacketBurst) -> u32 {
        if let Some(free) = self.free_bursts.pop() {
            self.bursts[free as usize] = burst;
            return free;
        }
        self.bursts.push(burst);
        to_u32(self.bursts.len() - 1)
    }
}

#[cfg(test)]
mod tests;
