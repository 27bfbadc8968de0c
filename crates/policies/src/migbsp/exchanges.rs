//! A table of forecasts by process and cluster, for the pairs that have had traffic.
//!
//! ```text
//! memory = processes · 4 B + 44 B · nodes of six pairs + 44 B · states,   states <= pairs
//! ```
//! The forecast of a pair is its state. If there are many pairs, those with equal traffic share a state, since messages of one size get
//! equal forecasts. A superstep without traffic changes a state once for all its pairs and visits no pair. So the cost of a superstep grows
//! with its traffic and with the number of states.

use std::collections::BTreeMap;

use crate::{Pairs, Traffic, refill};
use migsim_base::units::to_u32;

/// The predicted traffic of a process with a cluster in a superstep.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exchange {
    pub(crate) bytes: f64,
    /// BTP(i,j) \[s\].
    pub(crate) time: f64,
    /// Pcomm(i,j), dimensionless.
    pub(crate) regularity: f64,
    /// Number of messages that took `time`, and their bytes.
    pub(crate) messages: f64,
    pub(crate) volume: f64,
}

impl Exchange {
    /// The state of a pair that never had traffic.
    pub(super) const fn none(regularity: f64) -> Self {
        Self {
            bytes: 0.0,
            time: 0.0,
            regularity,
            messages: 0.0,
            volume: 0.0,
        }
    }
}

/// The state of a pair and its traffic, which determine its next state.
#[derive(Clone, Copy, Debug, Default)]
struct Entrance {
    /// The previous state; `NONE` if the pair is new.
    before: u32,
    traffic: Traffic,
}

impl Entrance {
    /// Whether both are equal to the last bit.
    #[inline]
    fn is_same(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.bits(), other.bits());
        let differing = (0..ours.len()).map(|at| ours[at] ^ theirs[at]);
        differing.fold(0, |all, bits| all | bits) == 0
    }

    #[inline]
    fn bits(&self) -> [u64; 6] {
        let traffic = &self.traffic;
        [
            u64::from(self.before),
            u64::from(traffic.sent_messages) << 32 | u64::from(traffic.received_messages),
            traffic.sent.get().to_bits(),
            traffic.received.get().to_bits(),
            traffic.send_time.get().to_bits(),
            traffic.receive_time.get().to_bits(),
        ]
    }

    /// Returns a number below [`RECENT`] that is equal for equal values.
    #[inline]
    fn hash(&self) -> usize {
        // The multiplication, by 2^64 over the golden ratio, moves all bits to the highest ones (Knuth 1973, section 6.4).
        let spread = |hash: u64| hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let [before, messages, sent, received, send_time, receive_time] = self.bits();
        let bytes = spread(before ^ messages ^ sent ^ received.rotate_left(29));
        let hash = spread(bytes ^ send_time ^ receive_time.rotate_left(29));
        (hash >> (u64::BITS - RECENT_BITS)) as usize
    }
}

/// The pairs of a process and a cluster that have had traffic.
#[derive(Clone, Debug, Default)]
pub(super) struct Exchanges {
    /// The state of each pair.
    pairs: Pairs<u32, 6>,
    /// For each process, the remainders by 32 of the clusters of its pairs, as bits: most pairs are new, and need no search.
    clusters: Vec<u32>,
    states: States,
}

/// The forecasts; each state has at least one pair.
#[derive(Clone, Debug, Default)]
struct States {
    /// The [`Exchange`] of each state.
    bytes: Vec<f64>,
    time: Vec<f64>,
    regularity: Vec<f64>,
    messages: Vec<f64>,
    volume: Vec<f64>,
    /// Number of pairs in each state, with the bit [`FRESH`].
    pairs: Vec<u32>,
    /// If pairs share states: the states that began in this superstep, by the hash of the entrance.
    recent: Vec<(Entrance, u32)>,
}

/// Number of states from which on pairs share states; below it, one state per pair is faster.
const MANY: usize = if cfg!(test) { 8 } else { 1 << 16 };
/// Number of places where a shared state is searched; a state that is not found there is stored again.
const RECENT: usize = 1 << RECENT_BITS;
const RECENT_BITS: u32 = 10;
/// The bit of a state that includes the traffic of this superstep.
const FRESH: u32 = 1 << 31;
const NONE: u32 = u32::MAX;

impl Exchanges {
    /// Removes all pairs and prepares for `processes` processes, keeping the memory.
    pub(super) fn clear(&mut self, processes: usize) {
        self.pairs.clear(processes);
        refill(&mut self.clusters, processes, 0);
        self.states.resize(0);
    }

    /// Removes all pairs, keeping the memory.
    pub(super) fn forget(&mut self) {
        self.clear(self.pairs.processes());
    }

    /// Returns the forecast of a process and a cluster, if they have had traffic.
    pub(super) fn get(&self, process: usize, cluster: usize) -> Option<Exchange> {
        let state = self.pairs.get(process, cluster)?;
        Some(self.states.at(*state))
    }

    /// Returns the clusters of the pairs of a process, with their forecasts.
    #[inline]
    pub(super) fn of(&self, process: usize) -> impl Iterator<Item = (usize, Exchange)> {
        let pairs = self.pairs.of(process);
        pairs.map(|(cluster, &state)| (cluster, self.states.at(state)))
    }

    /// Adds the traffic of a superstep: `enter` changes each pair with traffic, `silent` all others. A new pair begins as `first`.
    pub(super) fn observe(
        &mut self,
        traffic: &Pairs<Traffic>,
        first: Exchange,
        enter: impl Fn(Exchange, &Traffic) -> Exchange,
        silent: impl Fn(Exchange) -> Exchange,
    ) {
        let (pairs, states) = (&mut self.pairs, &mut self.states);
        for (process, clusters) in self.clusters.iter_mut().enumerate() {
            for (cluster, traffic) in traffic.of(process) {
                let bit = bit(cluster);
                let known = if *clusters & bit == 0 {
                    None
                } else {
                    pairs.get_mut(process, cluster)
                };
                let before = known.as_deref().copied();
                if before.is_some_and(|state| states.change(state, traffic, &enter)) {
                    continue;
                }
                let state = states.enter(before, first, traffic, &enter);
                if let Some(known) = known {
                    *known = state;
                } else {
                    *clusters |= bit;
                    pairs.push(process, cluster, state);
                }
            }
        }
        states.end_superstep(silent);
    }

    /// Keeps the pairs for whose regularity `is_kept` is true, in their order; of their forecasts it keeps the regularity alone.
    pub(super) fn retain(&mut self, is_kept: impl Fn(f64) -> bool) {
        let becomes = self.states.retain(is_kept);
        let in_state = &mut self.states.pairs;
        self.pairs.retain(|state| {
            *state = becomes[*state as usize];
            let is_kept = *state != NONE;
            if is_kept {
                in_state[*state as usize] += 1;
            }
            is_kept
        });
        for (process, clusters) in self.clusters.iter_mut().enumerate() {
            let bits = self.pairs.of(process).map(|(cluster, _)| bit(cluster));
            *clusters = bits.fold(0, |all, bit| all | bit);
        }
    }
}

/// Returns the remainder of a cluster by 32, as one of 32 bits.
#[inline]
fn bit(cluster: usize) -> u32 {
    1 << (cluster % 32)
}

impl States {
    fn resize(&mut self, states: usize) {
        let values = [
            &mut self.bytes,
            &mut self.time,
            &mut self.regularity,
            &mut self.messages,
            &mut self.volume,
        ];
        for values in values {
            values.resize(states, 0.0);
        }
        self.pairs.resize(states, 0);
    }

    /// Returns the forecast of a state.
    #[inline]
    fn at(&self, state: u32) -> Exchange {
        let at = state as usize;
        Exchange {
            bytes: self.bytes[at],
            time: self.time[at],
            regularity: self.regularity[at],
            messages: self.messages[at],
            volume: self.volume[at],
        }
    }

    /// Changes a state by traffic if only one pair is in it; otherwise removes that pair from it. Returns whether the pair is still in it.
    #[inline]
    fn change(
        &mut self,
        state: u32,
        traffic: &Traffic,
        enter: impl Fn(Exchange, &Traffic) -> Exchange,
    ) -> bool {
        let pairs = &mut self.pairs[state as usize];
        let is_alone = *pairs & !FRESH == 1;
        if is_alone {
            *pairs |= FRESH;
            self.set(state, enter(self.at(state), traffic));
        } else {
            *pairs -= 1;
        }
        is_alone
    }

    /// Returns the new state of a pair after traffic has changed the state `before`, or `first` for a new pair.
    #[inline]
    fn enter(
        &mut self,
        before: Option<u32>,
        first: Exchange,
        traffic: &Traffic,
        enter: impl Fn(Exchange, &Traffic) -> Exchange,
    ) -> u32 {
        let after = |states: &Self| {
            let exchange = before.map_or(first, |state| states.at(state));
            enter(exchange, traffic)
        };
        if self.recent.is_empty() {
            return self.push(after(self));
        }
        let entrance = Entrance {
            before: before.unwrap_or(NONE),
            traffic: *traffic,
        };
        let hash = entrance.hash();
        let (recent, state) = &self.recent[hash];
        if *state != NONE && recent.is_same(&entrance) {
            self.pairs[*state as usize] += 1;
            return *state;
        }
        let state = self.push(after(self));
        self.recent[hash] = (entrance, state);
        state
    }

    /// Adds a state for one pair.
    fn push(&mut self, exchange: Exchange) -> u32 {
        let state = to_u32(self.pairs.len());
        if self.pairs.len() == MANY {
            self.recent.resize(RECENT, (Entrance::default(), NONE));
        }
        self.bytes.push(exchange.bytes);
        self.time.push(exchange.time);
        self.regularity.push(exchange.regularity);
        self.messages.push(exchange.messages);
        self.volume.push(exchange.volume);
        self.pairs.push(FRESH | 1);
        state
    }

    #[inline]
    fn set(&mut self, state: u32, exchange: Exchange) {
        let at = state as usize;
        self.bytes[at] = exchange.bytes;
        self.time[at] = exchange.time;
        self.regularity[at] = exchange.regularity;
        self.messages[at] = exchange.messages;
        self.volume[at] = exchange.volume;
    }

    /// Changes all states that do not include traffic of this superstep.
    fn end_superstep(&mut self, silent: impl Fn(Exchange) -> Exchange) {
        self.recent.fill((Entrance::default(), NONE));
        let count = self.pairs.len();
        let (bytes, time) = (&mut self.bytes[..count], &mut self.time[..count]);
        let (messages, volume) = (&mut self.messages[..count], &mut self.volume[..count]);
        let (regularity, pairs) = (&mut self.regularity[..count], &mut self.pairs[..count]);
        for at in 0..count {
            let before = Exchange {
                bytes: bytes[at],
                time: time[at],
                regularity: regularity[at],
                messages: messages[at],
                volume: volume[at],
            };
            let after = silent(before);
            let is_fresh = pairs[at] & FRESH != 0;
            bytes[at] = if is_fresh { before.bytes } else { after.bytes };
            time[at] = if is_fresh { before.time } else { after.time };
            messages[at] = if is_fresh {
                before.messages
            } else {
                after.messages
            };
            volume[at] = if is_fresh {
                before.volume
            } else {
                after.volume
            };
            regularity[at] = if is_fresh {
                before.regularity
            } else {
                after.regularity
            };
            pairs[at] &= !FRESH;
        }
    }

    /// Keeps the states for whose regularity `is_kept` is true, as states without pairs and with the regularity alone. Returns the new
    /// number of each state.
    fn retain(&mut self, is_kept: impl Fn(f64) -> bool) -> Vec<u32> {
        let is_shared = !self.recent.is_empty();
        let mut known = BTreeMap::new();
        let mut kept = 0;
        let mut becomes = Vec::with_capacity(self.pairs.len());
        for at in 0..self.pairs.len() {
            let regularity = self.regularity[at];
            if !is_kept(regularity) {
                becomes.push(NONE);
                continue;
            }
            let next = to_u32(kept);
            let state = if is_shared {
                *known.entry(regularity.to_bits()).or_insert(next)
            } else {
                next
            };
            if state == next {
                self.regularity[kept] = regularity;
                kept += 1;
            }
            becomes.push(state);
        }
        self.resize(kept);
        for values in [
            &mut self.bytes,
            &mut self.time,
            &mut self.messages,
            &mut self.volume,
        ] {
            values.fill(0.0);
        }
        self.pairs.fill(0);
        becomes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::units::Bytes;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pairs_are_a_map_whose_entries_each_superstep_changes(
            supersteps in prop::collection::vec(prop::collection::vec((0_usize..4, 0_usize..20, 1_u32..4), 0..60), 1..8),
            divisor in 2_u32..5,
            calls in 1_usize..4,
        ) {
            let enter = |exchange: Exchange, traffic: &Traffic| Exchange {
                bytes: exchange.bytes + traffic.sent.get(),
                regularity: exchange.regularity + traffic.sent.get(),
                ..exchange
            };
            let silent = |exchange: Exchange| Exchange {
                regularity: exchange.regularity - 1.0,
                ..exchange
            };
            let is_kept = |regularity: f64| regularity % f64::from(divisor) != 0.0;
            let mut table = Exchanges::default();
            table.clear(4);
            let mut map: BTreeMap<(usize, usize), Exchange> = BTreeMap::new();
            for (superstep, adds) in supersteps.into_iter().enumerate() {
                let mut traffic: Pairs<Traffic> = Pairs::default();
                traffic.clear(4);
                for (process, cluster, bytes) in adds {
                    let sent = &mut traffic.get_or_default(process, cluster).sent;
                    *sent = *sent + Bytes::of(f64::from(bytes));
                }
                for ((process, cluster), exchange) in &mut map {
                    match traffic.get(*process, *cluster) {
                        Some(traffic) => *exchange = enter(*exchange, traffic),
                        None => *exchange = silent(*exchange),
                    }
                }
                for process in 0..4 {
                    for (cluster, traffic) in traffic.of(process) {
                        map.entry((process, cluster)).or_insert_with(|| enter(Exchange::none(100.0), traffic));
                    }
                }
                table.observe(&traffic, Exchange::none(100.0), enter, silent);
                // A call removes some pairs, and the bytes of the others.
                for round in 0..2 {
                    for process in 0..4 {
                        let values = |of: Exchange| (of.bytes, of.regularity);
                        let mut of: Vec<_> = table.of(process).map(|(cluster, of)| (cluster, values(of))).collect();
                        of.sort_by_key(|(cluster, _)| *cluster);
                        let expected: Vec<_> = map.range((process, 0)..(process + 1, 0)).map(|(key, of)| (key.1, values(*of))).collect();
                        for (cluster, of) in &expected {
                            prop_assert_eq!(table.get(process, *cluster).map(values), Some(*of));
                        }
                        prop_assert_eq!(of, expected, "round {}", round);
                    }
                    if superstep % calls == 0 {
                        table.retain(is_kept);
                        map.retain(|_, exchange| is_kept(exchange.regularity));
                        for exchange in map.values_mut() {
                            exchange.bytes = 0.0;
                        }
                    }
                }
            }
            table.forget();
            prop_assert!((0..4).all(|process| table.of(process).next().is_none()));
        }
    }
}
