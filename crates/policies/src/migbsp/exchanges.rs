//! The forecasts of communication for each pair of a process and a cluster that have exchanged messages; pairs with equal
//! forecasts can share memory.
//!
//! The forecast of a pair is called its state. If there are many pairs, pairs with equal traffic share a state, since messages of
//! one size have equal forecasts. A superstep without traffic changes a state once for all its pairs and visits no pair.
//! Therefore the cost of a superstep grows with its traffic and with the number of states. The pairs of a process are stored in a
//! linked list of blocks, each with up to six pairs:
//!
//! ```text
//! memory = processes · 4 B + 44 B · blocks of six pairs + 44 B · states,   states <= pairs
//! ```

use std::collections::BTreeMap;

use crate::{ProcessClusterTable, Traffic, resize_and_fill};
use migsim_base::units::to_u32;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExchangeForecast {
    pub(crate) exchanged_bytes: f64,
    /// BTP(i,j), the predicted communication time of process i with cluster j in a superstep \[s\].
    pub(crate) communication_time: f64,
    /// Pcomm(i,j), a measure of how well the communication of process i with cluster j could be predicted, from 0 to 1.
    pub(crate) regularity: f64,
    pub(crate) timed_messages: f64,
    /// The predicted total size of the messages to which the predicted communication time `time` belongs \[B\].
    pub(crate) timed_bytes: f64,
}

impl ExchangeForecast {
    pub(super) const fn without_traffic(regularity: f64) -> Self {
        Self {
            exchanged_bytes: 0.0,
            communication_time: 0.0,
            regularity,
            timed_messages: 0.0,
            timed_bytes: 0.0,
        }
    }
}

/// The previous state (forecast) of a pair of a process and a cluster and the traffic of this pair in a superstep, which together
/// determine the next state.
#[derive(Clone, Copy, Debug, Default)]
struct Transition {
    previous_state: u32,
    traffic: Traffic,
}

impl Transition {
    #[inline]
    fn is_bitwise_equal(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.field_bits(), other.field_bits());
        let differing = (0..ours.len()).map(|at| ours[at] ^ theirs[at]);
        differing.fold(0, |all, bits| all | bits) == 0
    }

    #[inline]
    fn field_bits(&self) -> [u64; 6] {
        let traffic = &self.traffic;
        [
            u64::from(self.previous_state),
            u64::from(traffic.sent_messages) << 32 | u64::from(traffic.received_messages),
            traffic.sent_bytes.get().to_bits(),
            traffic.received_bytes.get().to_bits(),
            traffic.send_time.get().to_bits(),
            traffic.receive_time.get().to_bits(),
        ]
    }

    /// Returns the place of the transition in the hash table of recent transitions, below the number of places of this table.
    #[inline]
    fn hash_index(&self) -> usize {
        // The multiplication, by 2^64 over the golden ratio, moves all bits to the highest ones (Knuth 1973, section 6.4).
        let spread = |hash: u64| hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let [before, messages, sent, received, send_time, receive_time] = self.field_bits();
        let bytes = spread(before ^ messages ^ sent ^ received.rotate_left(29));
        let hash = spread(bytes ^ send_time ^ receive_time.rotate_left(29));
        (hash >> (u64::BITS - RECENT_BITS)) as usize
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct ExchangeForecasts {
    pair_states: ProcessClusterTable<u32>,
    /// For each process, a set of 32 bits: bit k is set if there is a pair of the process and a cluster whose number modulo 32 is
    /// k. A bit that is not set shows without a search that a pair is new, which is the most frequent case.
    cluster_bit_sets: Vec<u32>,
    forecast_states: ForecastStates,
}

#[derive(Clone, Copy, Debug)]
struct ForecastState {
    forecast: ExchangeForecast,
    pair_count: u32,
    is_fresh: bool,
}

#[derive(Clone, Debug, Default)]
struct ForecastStates {
    states: Vec<ForecastState>,
    /// The states that were created in the present superstep, in a hash table by their transition; empty as long as pairs share
    /// no states.
    recent_transitions: Vec<(Transition, u32)>,
}

/// Number of states from which on pairs with equal forecasts share a state. With fewer states, one state per pair is faster.
const SHARING_THRESHOLD: usize = if cfg!(test) { 8 } else { 1 << 16 };
/// Number of places of the hash table in which a state is searched before a new state is created. A state that is not found is
/// stored a second time.
const RECENT_PLACES: usize = 1 << RECENT_BITS;
const RECENT_BITS: u32 = 10;
const NONE: u32 = u32::MAX;

impl ExchangeForecasts {
    pub(super) fn reset_for_run(&mut self, processes: usize) {
        self.pair_states.clear(processes);
        resize_and_fill(&mut self.cluster_bit_sets, processes, 0);
        self.forecast_states.states.clear();
    }

    pub(super) fn remove_all_pairs(&mut self) {
        self.reset_for_run(self.pair_states.processes());
    }

    /// Returns the forecast of the communication of a process with a cluster; `None` if they have exchanged no messages.
    pub(super) fn get(&self, process: usize, cluster: usize) -> Option<ExchangeForecast> {
        let state = self.pair_states.get(process, cluster)?;
        Some(self.forecast_states.forecast(*state))
    }

    #[inline]
    pub(super) fn exchanges_of_process(
        &self,
        process: usize,
    ) -> impl Iterator<Item = (usize, ExchangeForecast)> {
        let pairs = self.pair_states.iter_clusters_of_process(process);
        pairs.map(|(cluster, &state)| (cluster, self.forecast_states.forecast(state)))
    }

    /// Updates all forecasts with the traffic of a superstep.
    ///
    /// `enter` computes the next forecast of a pair with traffic, and `silent` the next forecast of a pair without traffic; a new
    /// pair starts from `first`.
    pub(super) fn observe(
        &mut self,
        traffic: &ProcessClusterTable<Traffic>,
        first: ExchangeForecast,
        enter: impl Fn(ExchangeForecast, &Traffic) -> ExchangeForecast,
        silent: impl Fn(ExchangeForecast) -> ExchangeForecast,
    ) {
        let (pairs, states) = (&mut self.pair_states, &mut self.forecast_states);
        for (process, clusters) in self.cluster_bit_sets.iter_mut().enumerate() {
            for (cluster, traffic) in traffic.iter_clusters_of_process(process) {
                let bit = cluster_bit(cluster);
                let known = if *clusters & bit == 0 {
                    None
                } else {
                    pairs.get_mut(process, cluster)
                };
                let before = known.as_deref().copied();
                if before.is_some_and(|state| states.update_or_leave_state(state, traffic, &enter))
                {
                    continue;
                }
                let state = states.assign_state(before, first, traffic, &enter);
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

    /// Removes the pairs for whose regularity `is_kept` is false. The remaining pairs keep only their regularity; all other
    /// predicted values become 0.
    pub(super) fn retain_by_regularity(&mut self, is_kept: impl Fn(f64) -> bool) {
        let becomes = self.forecast_states.retain_by_regularity(is_kept);
        let states = &mut self.forecast_states.states;
        self.pair_states.retain(|state| {
            *state = becomes[*state as usize];
            let is_kept = *state != NONE;
            if is_kept {
                states[*state as usize].pair_count += 1;
            }
            is_kept
        });
        for (process, clusters) in self.cluster_bit_sets.iter_mut().enumerate() {
            let bits = self
                .pair_states
                .iter_clusters_of_process(process)
                .map(|(cluster, _)| cluster_bit(cluster));
            *clusters = bits.fold(0, |all, bit| all | bit);
        }
    }
}

/// Returns a bit mask with one bit set, whose position is the number of the cluster modulo 32.
#[inline]
fn cluster_bit(cluster: usize) -> u32 {
    1 << (cluster % 32)
}

impl ForecastStates {
    #[inline]
    fn forecast(&self, state: u32) -> ExchangeForecast {
        self.states[state as usize].forecast
    }

    /// Updates the state of a pair with the pair's traffic if no other pair has this state; otherwise removes the pair from the
    /// state. Returns whether the pair still has this state.
    #[inline]
    fn update_or_leave_state(
        &mut self,
        state: u32,
        traffic: &Traffic,
        enter: impl Fn(ExchangeForecast, &Traffic) -> ExchangeForecast,
    ) -> bool {
        let state = &mut self.states[state as usize];
        let is_alone = state.pair_count == 1;
        if is_alone {
            state.is_fresh = true;
            state.forecast = enter(state.forecast, traffic);
        } else {
            state.pair_count -= 1;
        }
        is_alone
    }

    #[inline]
    fn assign_state(
        &mut self,
        before: Option<u32>,
        first: ExchangeForecast,
        traffic: &Traffic,
        enter: impl Fn(ExchangeForecast, &Traffic) -> ExchangeForecast,
    ) -> u32 {
        let after = |states: &Self| {
            let exchange = before.map_or(first, |state| states.forecast(state));
            enter(exchange, traffic)
        };
        if self.recent_transitions.is_empty() {
            return self.push_state(after(self));
        }
        let entrance = Transition {
            previous_state: before.unwrap_or(NONE),
            traffic: *traffic,
        };
        let hash = entrance.hash_index();
        let (recent, state) = &self.recent_transitions[hash];
        if *state != NONE && recent.is_bitwise_equal(&entrance) {
            self.states[*state as usize].pair_count += 1;
            return *state;
        }
        let state = self.push_state(after(self));
        self.recent_transitions[hash] = (entrance, state);
        state
    }

    fn push_state(&mut self, forecast: ExchangeForecast) -> u32 {
        let state = to_u32(self.states.len());
        if self.states.len() == SHARING_THRESHOLD {
            self.recent_transitions
                .resize(RECENT_PLACES, (Transition::default(), NONE));
        }
        self.states.push(ForecastState {
            forecast,
            pair_count: 1,
            is_fresh: true,
        });
        state
    }

    /// Ends a superstep: updates all states that do not include traffic of this superstep with the function `silent`.
    fn end_superstep(&mut self, silent: impl Fn(ExchangeForecast) -> ExchangeForecast) {
        self.recent_transitions.fill((Transition::default(), NONE));
        for state in &mut self.states {
            if !std::mem::take(&mut state.is_fresh) {
                state.forecast = silent(state.forecast);
            }
        }
    }

    /// Keeps only the states for whose regularity `is_kept` is true, with their regularity but without pairs and predicted
    /// traffic.
    ///
    /// Returns the new number of each old state, or `NONE` if the state was removed.
    fn retain_by_regularity(&mut self, is_kept: impl Fn(f64) -> bool) -> Vec<u32> {
        let is_shared = !self.recent_transitions.is_empty();
        let (mut known, mut kept) = (BTreeMap::new(), Vec::new());
        let becomes = self.states.iter().map(|state| {
            let regularity = state.forecast.regularity;
            if !is_kept(regularity) {
                return NONE;
            }
            let next = to_u32(kept.len());
            let state = if is_shared {
                *known.entry(regularity.to_bits()).or_insert(next)
            } else {
                next
            };
            if state == next {
                kept.push(ForecastState {
                    forecast: ExchangeForecast::without_traffic(regularity),
                    pair_count: 0,
                    is_fresh: false,
                });
            }
            state
        });
        let becomes = becomes.collect();
        self.states = kept;
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
            let enter = |exchange: ExchangeForecast, traffic: &Traffic| ExchangeForecast {
                exchanged_bytes: exchange.exchanged_bytes + traffic.sent_bytes.get(),
                regularity: exchange.regularity + traffic.sent_bytes.get(),
                ..exchange
            };
            let silent = |exchange: ExchangeForecast| ExchangeForecast {
                regularity: exchange.regularity - 1.0,
                ..exchange
            };
            let is_kept = |regularity: f64| regularity % f64::from(divisor) != 0.0;
            let mut table = ExchangeForecasts::default();
            table.reset_for_run(4);
            let mut map: BTreeMap<(usize, usize), ExchangeForecast> = BTreeMap::new();
            for (superstep, adds) in supersteps.into_iter().enumerate() {
                let mut traffic: ProcessClusterTable<Traffic> = ProcessClusterTable::default();
                traffic.clear(4);
                for (process, cluster, bytes) in adds {
                    let sent = &mut traffic.get_or_default(process, cluster).sent_bytes;
                    *sent = *sent + Bytes::of(f64::from(bytes));
                }
                for ((process, cluster), exchange) in &mut map {
                    let now = traffic.get(*process, *cluster);
                    *exchange = now.map_or_else(|| silent(*exchange), |traffic| enter(*exchange, traffic));
                }
                for process in 0..4 {
                    for (cluster, traffic) in traffic.iter_clusters_of_process(process) {
                        map.entry((process, cluster)).or_insert_with(|| enter(ExchangeForecast::without_traffic(100.0), traffic));
                    }
                }
                table.observe(&traffic, ExchangeForecast::without_traffic(100.0), enter, silent);
                // A call removes some pairs, and the bytes of the others.
                for round in 0..2 {
                    for process in 0..4 {
                        let values = |of: ExchangeForecast| (of.exchanged_bytes, of.regularity);
                        let mut of: Vec<_> = table.exchanges_of_process(process).map(|(cluster, of)| (cluster, values(of))).collect();
                        of.sort_by_key(|(cluster, _)| *cluster);
                        let expected: Vec<_> = map.range((process, 0)..(process + 1, 0)).map(|(key, of)| (key.1, values(*of))).collect();
                        for (cluster, of) in &expected {
                            prop_assert_eq!(table.get(process, *cluster).map(values), Some(*of));
                        }
                        prop_assert_eq!(of, expected, "round {}", round);
                    }
                    if superstep % calls == 0 {
                        table.retain_by_regularity(is_kept);
                        map.retain(|_, exchange| is_kept(exchange.regularity));
                        for exchange in map.values_mut() {
                            exchange.exchanged_bytes = 0.0;
                        }
                    }
                }
            }
            table.remove_all_pairs();
            prop_assert!((0..4).all(|process| table.exchanges_of_process(process).next().is_none()));
        }
    }
}
