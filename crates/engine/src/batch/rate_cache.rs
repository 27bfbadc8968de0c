//! Memoized rates: each set of active flows is solved once.
//!
//! While no link changes, the rates of the flows in transfer are a function of the set of their paths alone:
//!
//! ```text
//! rates(set) = max-min(links, paths of the set)      name(set) = Σ number(path) mod 2^128
//! ```
//! (a sum, since a path may occur twice). Its rates stand in a row, in the order of the paths. A row is solved in the order of the pairs of
//! hosts, so that it is the same to the bit whenever that is done: rows may be forgotten at any time.
//!
//! Cost: about 20 ns to find a row, 60 ns per flow to solve one. Twin: [`crate::transport`], which solves at every event.

use hashbrown::HashTable;

use super::flow::ActiveFlow;
use super::path_table::PathTable;
use crate::checks::Fault;
use crate::maxmin::SharingProblem;
use migsim_base::units::LinkId;
use migsim_platform::Platform;

/// All rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateCache {
    names: HashTable<u32>,
    /// The name of each row, and where it begins in `numbers`: the rates, then their inverses.
    rows: Vec<(u128, usize)>,
    numbers: Vec<f64>,
    problem: SharingProblem,
    /// The flows of the problem by pair of hosts: the pair, then the place in the row, in the lower 32 bits.
    order: Vec<u128>,
    /// Rates by place in the problem, and in the row.
    solved: Vec<f64>,
    rates: Vec<f64>,
    /// Per link of the platform: the last problem that it was part of, and its number there.
    local: Vec<(u64, u32)>,
    problems: u64,
    /// The first link that was ever found over its capacity.
    overloaded: Option<u32>,
}

/// Numbers that are kept before all rows are forgotten (64 MB).
const MOST_NUMBERS: usize = 8 << 20;

impl RateCache {
    /// The rates of the set `name`, whose flows these are, by rising path \[B/s\], and their inverses.
    pub(crate) fn rates(
        &mut self,
        name: u128,
        flows: &[ActiveFlow],
        paths: &PathTable,
        platform: &Platform,
    ) -> (&[f64], &[f64]) {
        let rows = &self.rows;
        let is_it = |row: &u32| rows[*row as usize].0 == name;
        let first = match self.names.find(hash(name), is_it) {
            Some(&row) => self.rows[row as usize].1,
            None => self.add(name, flows, paths, platform),
        };
        self.numbers[first..first + 2 * flows.len()].split_at(flows.len())
    }

    /// Solves a set and keeps its row.
    fn add(
        &mut self,
        name: u128,
        flows: &[ActiveFlow],
        paths: &PathTable,
        platform: &Platform,
    ) -> usize {
        if self.numbers.len() + 2 * flows.len() > MOST_NUMBERS {
            self.names.clear();
            self.rows.clear();
            self.numbers.clear();
        }
        self.solve(flows, paths, platform);
        let first = self.numbers.len();
        let rates = self
            .rates
            .iter()
            .map(|share| share * paths.bandwidth_factor());
        self.numbers.extend(rates.clone());
        self.numbers.extend(rates.map(|rate| 1.0 / rate));
        let row = u32::try_from(self.rows.len()).expect("at most MOST_NUMBERS rows");
        self.rows.push((name, first));
        let rows = &self.rows;
        let hash_of = |row: &u32| hash(rows[*row as usize].0);
        self.names.insert_unique(hash(name), row, hash_of);
        first
    }

    /// What went wrong first, if anything did.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.overloaded.map(Fault::Overload)
    }

    fn solve(&mut self, flows: &[ActiveFlow], paths: &PathTable, platform: &Platform) {
        self.problems += 1;
        self.local.resize(platform.links.len(), (0, 0));
        self.problem.clear();
        self.order.clear();
        let key = |(flow, place): (&ActiveFlow, u32)| {
            u128::from(paths.get(flow.path).pair) << 32 | u128::from(place)
        };
        self.order.extend(flows.iter().zip(0..).map(key));
        self.order.sort_unstable();
        for &key in &self.order {
            let flow = flows[place(key)].path;
            for &(link, _) in paths.uses(flow) {
                let local = &mut self.local[link as usize];
                if local.0 != self.problems {
                    let capacity = platform.links[link as usize].bandwidth.get();
                    *local = (self.problems, self.problem.add_link(capacity));
                }
            }
            let path = paths.get(flow);
            let local = &self.local;
            let uses = paths.uses(flow).iter();
            self.problem.add_flow(
                path.weight,
                path.bound,
                uses.map(|&(link, share)| (local[link as usize].1, share)),
            );
        }
        self.problem.solve(&mut self.solved);
        if cfg!(debug_assertions)
            && let Some(link) = self.problem.overloaded(&self.solved)
        {
            let is_it = |at: &usize| self.local[*at] == (self.problems, link);
            let link = (0..self.local.len()).find(is_it);
            self.overloaded = self.overloaded.or(link.map(|at| LinkId::from_index(at).0));
        }
        self.rates.resize(flows.len(), 0.0);
        for (&key, &rate) in self.order.iter().zip(&self.solved) {
            self.rates[place(key)] = rate;
        }
    }
}

/// The place in the row of a flow by its key in the order.
fn place(key: u128) -> usize {
    (key & 0xffff_ffff) as usize
}

/// Names are sums of numbers that look random: any part of them does.
fn hash(name: u128) -> u64 {
    u64::try_from(name >> 64).expect("64 bits are left")
}
