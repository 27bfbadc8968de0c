//! The costs of a message in addition to its flow: overhead, store and forward, handshake, slow start, and factors that depend on
//! the size.
//!
//! ```text
//! delay      = latency_factor(m) · L + overhead + h · (min(m, packet) + headers)     h = Σ 1/bandwidth - 1/narrowest
//! round trip = latency_factor(0) · 2L + overhead + o_send + o_receive                 added before the delay of a message with handshake
//! slow start : w = initial window; while m > w and w / r < round trip:
//!              wait (round trip - w / r), m -= w, w doubles                           r the narrowest bandwidth, times its factor
//! bytes      = m / bandwidth_factor(m)                                               bytes that the flow transfers
//! ```
//! In these equations, m is the size of the message, L the latency of its route, and h the time per byte that packets wait in
//! routers. Store and forward: each router forwards a packet once it has received the whole packet; the flow itself accounts for
//! the slowest link. Slow start applies again to a connection that was idle for 0.2 s ([`super::connections`]). A message inside a host has a separate
//! overhead, and none of the other costs.
//!
//! Source: RFC 6928 (initial window). No network preset sets these costs; the settings of a message library do (`migsim list
//! libraries`).

use super::{model::NetworkModel, processor_time::ProcessorTime};
use migsim_base::units::lesser;

/// Size of the headers of a packet on the wire \[B\]: Ethernet with its gap 38, IP 20, TCP with timestamps 32.
pub(super) const HEADER_BYTES: f64 = 90.0;
/// Initial congestion window of TCP \[B\]: 10 segments of 1448 B.
const INITIAL_WINDOW_BYTES: f64 = 14_480.0;

impl NetworkModel {
    /// Whether the ends of messages take processor time.
    #[inline]
    pub fn has_processor_times(&self) -> bool {
        [
            self.o_send,
            self.o_receive,
            self.loopback_o_send,
            self.loopback_o_receive,
        ] != [ProcessorTime::ZERO; 4]
    }

    /// Returns the processor times of the sender and of the receiver of a message of `bytes` bytes, inside a host or between hosts
    /// \[s\].
    #[inline]
    pub fn processor_times(&self, is_inside: bool, bytes: f64) -> (f64, f64) {
        let (send, receive) = if is_inside {
            (&self.loopback_o_send, &self.loopback_o_receive)
        } else {
            (&self.o_send, &self.o_receive)
        };
        (send.of_bytes(bytes), receive.of_bytes(bytes))
    }

    /// Multiplies the processor times of all ends of messages by `factor`.
    pub fn multiply_processor_times(&mut self, factor: f64) {
        for time in [
            &mut self.o_send,
            &mut self.o_receive,
            &mut self.loopback_o_send,
            &mut self.loopback_o_receive,
        ] {
            *time = time.times(factor);
        }
    }

    /// Returns the model of a run that uses `cores` cores: multiplies the processor times of messages between hosts by their
    /// growth.
    #[must_use]
    pub fn for_cores_in_use(self, cores: f64) -> Self {
        let growth = 1.0 + self.o_per_core * (cores - 1.0);
        Self {
            o_send: self.o_send.times(growth),
            o_receive: self.o_receive.times(growth),
            o_per_core: 0.0,
            ..self
        }
    }

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
        let mut sum = 0.0;
        let mut slowest = 0.0_f64;
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
            + self.o_send.of_bytes(0.0)
            + self.o_receive.of_bytes(0.0)
    }

    /// Returns the time by which slow start delays a message whose connection was idle \[s\]. `narrowest` is the smallest
    /// bandwidth of the route \[B/s\], and `round_trip` the time until an acknowledgement arrives \[s\].
    pub(super) fn slow_start_delay(&self, bytes: f64, narrowest: f64, round_trip: f64) -> f64 {
        let rate = narrowest * self.bandwidth_factor;
        let mut window = INITIAL_WINDOW_BYTES;
        let mut left = bytes;
        let mut waited = 0.0;
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
}
