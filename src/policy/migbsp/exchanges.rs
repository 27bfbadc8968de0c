//! A table of forecasts by process and cluster without gaps: the pairs of each process stand together, in the order in which they came.
//!
//! ```text
//! memory = 4 B · processes + 28 B · pairs
//! ```
//! All processes of a superstep enter in one pass. Pairs that are new make room for themselves in a second one, from the last process to the
//! first. What a pass costs grows with the pairs that there are.

use crate::policy::{Pairs, Traffic};
use crate::units::to_u32;

/// The predicted traffic of a process with a cluster in a superstep.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::policy) struct Exchange {
    pub(in crate::policy) bytes: f64,
    /// BTP(i,j) \[s\].
    pub(in crate::policy) time: f64,
    /// Pcomm(i,j), dimensionless.
    pub(in crate::policy) regularity: f64,
}

impl Exchange {
    /// The state of a pair that never had traffic.
    pub(super) fn none(absent: f64) -> Self {
        Self {
            bytes: 0.0,
            time: 0.0,
            regularity: absent,
        }
    }
}

/// The pairs of a process and a cluster that have had traffic.
#[derive(Clone, Debug, Default)]
pub(super) struct Exchanges {
    /// The first pair of each process, and behind them the number of pairs.
    starts: Vec<u32>,
    clusters: Vec<u32>,
    /// An [`Exchange`] per pair.
    bytes: Vec<f64>,
    time: Vec<f64>,
    regularity: Vec<f64>,
    /// Per process, which of its clusters with traffic are new: a bit each.
    new: Vec<u32>,
    /// What became of the pairs with traffic of the processes in hand.
    changed: Vec<(usize, Exchange)>,
}

/// The bit of all clusters from the 32nd on.
const LAST_BIT: usize = 31;
/// So many processes enter together: their silent pairs in one pass.
const TOGETHER: usize = 64;

impl Exchanges {
    /// Forgets all pairs and prepares for `processes`, keeping the memory.
    pub(super) fn clear(&mut self, processes: usize) {
        self.starts.clear();
        self.starts.resize(processes + 1, 0);
        self.resize(0);
    }

    /// Forgets all pairs, keeping the memory.
    pub(super) fn forget(&mut self) {
        self.starts.fill(0);
        self.resize(0);
    }

    fn resize(&mut self, pairs: usize) {
        self.clusters.resize(pairs, 0);
        for values in [&mut self.bytes, &mut self.time, &mut self.regularity] {
            values.resize(pairs, 0.0);
        }
    }

    /// The pair of a process and a cluster, if it has had traffic.
    pub(super) fn get(&self, process: usize, cluster: usize) -> Option<Exchange> {
        let row = self.row(process);
        let clusters = &self.clusters[row.clone()];
        let at = clusters.iter().position(|&of| of as usize == cluster)?;
        Some(self.at(row.start + at))
    }

    /// The clusters of the pairs of a process, and what is foreseen of each.
    pub(super) fn of(&self, process: usize) -> impl Iterator<Item = (usize, Exchange)> {
        self.row(process)
            .map(|at| (self.clusters[at] as usize, self.at(at)))
    }

    /// Lets the traffic of a superstep enter: `enter` sees each pair that has some, `silent` all others, many at a time. A pair that had none
    /// so far begins as `first`.
    pub(super) fn observe(
        &mut self,
        traffic: &Pairs<Traffic>,
        first: Exchange,
        enter: impl Fn(Exchange, &Traffic) -> Exchange,
        silent: impl Fn(&mut [f64], &mut [f64], &mut [f64]),
    ) {
        let processes = self.starts.len() - 1;
        let mut added = 0;
        self.new.clear();
        for begin in (0..processes).step_by(TOGETHER) {
            let end = processes.min(begin + TOGETHER);
            self.changed.clear();
            for process in begin..end {
                added += self.change(process, traffic, &enter);
            }
            let pairs = self.starts[begin] as usize..self.starts[end] as usize;
            silent(
                &mut self.bytes[pairs.clone()],
                &mut self.time[pairs.clone()],
                &mut self.regularity[pairs],
            );
            while let Some((at, exchange)) = self.changed.pop() {
                self.set(at, exchange);
            }
        }
        if added > 0 {
            self.insert(traffic, added, first, enter);
        }
    }

    /// Notes what becomes of the pairs of a process that have traffic, and returns how many are new.
    fn change(
        &mut self,
        process: usize,
        traffic: &Pairs<Traffic>,
        enter: &impl Fn(Exchange, &Traffic) -> Exchange,
    ) -> usize {
        let row = self.row(process);
        let known = &self.clusters[row.clone()];
        let (mut added, mut new) = (0, 0_u32);
        for (index, (cluster, traffic)) in traffic.of(process).enumerate() {
            let cluster = to_u32(cluster);
            if let Some(at) = known.iter().position(|&of| of == cluster) {
                let at = row.start + at;
                self.changed.push((at, enter(self.at(at), traffic)));
            } else {
                added += 1;
                new |= bit(index);
            }
        }
        self.new.push(new);
        added
    }

    /// Makes room for so many new pairs and fills it, from the last process to the first.
    fn insert(
        &mut self,
        traffic: &Pairs<Traffic>,
        added: usize,
        first: Exchange,
        enter: impl Fn(Exchange, &Traffic) -> Exchange,
    ) {
        // All from a new pair on up to `end` moves by as many places as new pairs stand before it.
        let (mut end, mut places) = (self.clusters.len(), added);
        self.resize(end + added);
        for process in (0..self.starts.len() - 1).rev() {
            let row = self.row(process);
            self.starts[process + 1] = to_u32(row.end + places);
            if self.new[process] == 0 {
                continue;
            }
            self.relocate(row.end..end, row.end + places);
            end = row.end;
            // The new ones stand behind the others, in the order in which they came.
            self.changed.clear();
            for (index, (cluster, traffic)) in traffic.of(process).enumerate() {
                let is_new = self.new[process] & bit(index) != 0
                    && (index < LAST_BIT || !self.clusters[row.clone()].contains(&to_u32(cluster)));
                if is_new {
                    self.changed.push((cluster, enter(first, traffic)));
                }
            }
            while let Some((cluster, exchange)) = self.changed.pop() {
                places -= 1;
                let at = end + places;
                self.clusters[at] = to_u32(cluster);
                self.set(at, exchange);
            }
        }
    }

    /// Moves pairs to a later place.
    fn relocate(&mut self, pairs: std::ops::Range<usize>, to: usize) {
        self.clusters.copy_within(pairs.clone(), to);
        for values in [&mut self.bytes, &mut self.time, &mut self.regularity] {
            values.copy_within(pairs.clone(), to);
        }
    }

    /// Keeps the pairs of which `is_kept` is true, in their order.
    pub(super) fn retain(&mut self, is_kept: impl Fn(Exchange) -> bool) {
        let mut to = 0;
        for process in 0..self.starts.len().saturating_sub(1) {
            let row = self.row(process);
            self.starts[process] = to_u32(to);
            for from in row {
                let exchange = self.at(from);
                if is_kept(exchange) {
                    self.clusters[to] = self.clusters[from];
                    self.set(to, exchange);
                    to += 1;
                }
            }
        }
        if let Some(end) = self.starts.last_mut() {
            *end = to_u32(to);
        }
        self.resize(to);
    }

    #[inline]
    fn row(&self, process: usize) -> std::ops::Range<usize> {
        self.starts[process] as usize..self.starts[process + 1] as usize
    }

    #[inline]
    fn at(&self, at: usize) -> Exchange {
        Exchange {
            bytes: self.bytes[at],
            time: self.time[at],
            regularity: self.regularity[at],
        }
    }

    #[inline]
    fn set(&mut self, at: usize, exchange: Exchange) {
        self.bytes[at] = exchange.bytes;
        self.time[at] = exchange.time;
        self.regularity[at] = exchange.regularity;
    }
}

/// The bit of a cluster with traffic; all from the 32nd on share one.
#[inline]
fn bit(index: usize) -> u32 {
    1 << index.min(LAST_BIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn pairs_are_a_map_whose_entries_each_superstep_changes(
            supersteps in prop::collection::vec(prop::collection::vec((0_usize..4, 0_usize..6, 1_u32..9), 0..20), 1..8),
            divisor in 2_u32..5,
        ) {
            let enter = |exchange: Exchange, traffic: &Traffic| Exchange {
                bytes: exchange.bytes + traffic.sent.get(),
                ..exchange
            };
            let silent = |bytes: &mut [f64], _: &mut [f64], _: &mut [f64]| {
                for bytes in bytes {
                    *bytes -= 1.0;
                }
            };
            let is_kept = |exchange: Exchange| exchange.bytes % f64::from(divisor) != 0.0;
            let mut table = Exchanges::default();
            table.clear(4);
            let mut map: BTreeMap<(usize, usize), Exchange> = BTreeMap::new();
            for adds in supersteps {
                let mut traffic = Pairs::default();
                traffic.clear(4);
                for (process, cluster, bytes) in adds {
                    let sent = &mut traffic.get_or_insert(process, cluster, Traffic::default()).sent;
                    *sent = *sent + Bytes::of(f64::from(bytes));
                }
                for ((process, cluster), exchange) in &mut map {
                    match traffic.get(*process, *cluster) {
                        Some(traffic) => *exchange = enter(*exchange, traffic),
                        None => exchange.bytes -= 1.0,
                    }
                }
                for process in 0..4 {
                    for (cluster, traffic) in traffic.of(process) {
                        map.entry((process, cluster)).or_insert_with(|| enter(Exchange::none(100.0), traffic));
                    }
                }
                table.observe(&traffic, Exchange::none(100.0), enter, silent);
                for round in 0..2 {
                    for process in 0..4 {
                        let mut of: Vec<_> = table.of(process).map(|(cluster, value)| (cluster, value.bytes)).collect();
                        of.sort_by_key(|(cluster, _)| *cluster);
                        let expected: Vec<_> = map.range((process, 0)..(process + 1, 0)).map(|(key, value)| (key.1, value.bytes)).collect();
                        for (cluster, bytes) in &expected {
                            prop_assert_eq!(table.get(process, *cluster).unwrap().bytes, *bytes);
                        }
                        prop_assert_eq!(of, expected, "round {}", round);
                    }
                    table.retain(is_kept);
                    map.retain(|_, exchange| is_kept(*exchange));
                }
            }
            table.forget();
            prop_assert!((0..4).all(|process| table.of(process).next().is_none()));
        }
    }
}
