//! Memoized rates: the rates of the flows are computed once for each set of active flows, and stored.
//!
//! While no link changes, the rates of the active flows are determined by the set of their paths alone:
//!
//! ```text
//! rates(set) = max-min(links, paths of the set)      key(set) = Σ random number(path) mod 2^128
//! ```
//! The key, by which a set of flows is found, is a sum, since a path may occur several times in a set. The rates of the flows of
//! a set form a row, in the order of the set's paths. To compute a row, the max-min problem is always set up in the order of the
//! pairs of hosts, so that the rates are the same to the last bit whenever the row is computed. Rows can therefore be removed at
//! any time.
//!
//! Cost: about 20 ns to find a row, 60 ns per flow to compute one. The reference implementation is [`crate::transport`], which
//! computes the rates at every event.

use hashbrown::HashTable;

use super::{flow::ActiveFlow, path_table::PathTable};
use crate::{checks::InvariantViolation, maxmin::SharingProblem, transport::LinkState};
use migsim_base::units::LinkId;

/// Cache of the rates of the flows, for all sets of active flows for which rates have been computed so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateCache {
    /// The number of the row of rates of each set of flows, found by the key of the set (the sum of the random numbers of its
    /// paths).
    row_of_flow_set: HashTable<u32>,
    /// For each row: the key of the set of flows, and the index of the row's first number in the list of stored numbers. A row
    /// contains the rates \[B/s\] of the flows, followed by the inverses of the rates \[s/B\].
    set_keys_and_row_starts: Vec<(u128, usize)>,
    rates_and_inverses: Vec<f64>,
    sharing_problem: SharingProblem,
    /// The flows of the present max-min problem, ordered by pair of hosts. Each entry combines the pair and, in the lower 32
    /// bits, the position of the flow in the row.
    flow_sort_keys: Vec<u128>,
    /// Rates of the flows in the order of the present max-min problem, before the bandwidth factor is applied \[B/s\].
    rates_in_problem_order: Vec<f64>,
    /// Rates of the flows in the order of their row, before the bandwidth factor is applied \[B/s\].
    rates_in_row_order: Vec<f64>,
    last_problem_with_link: Vec<LastProblemWithLink>,
    problem_count: u64,
    /// The first link that was found to carry more than its capacity; `None` if no link did.
    overloaded_link: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LastProblemWithLink {
    /// Number of the max-min problem, counted from 1; 0 if no problem has contained the link.
    problem_number: u64,
    link_index_in_problem: u32,
}

/// Maximum number of stored rates and inverses, which take 64 MB; when the number is exceeded, all rows are removed.
const MAX_STORED_NUMBERS: usize = 8 << 20;

impl RateCache {
    /// Returns the rates of the flows in the set with the key `name` \[B/s\], and the inverses of the rates \[s/B\]; `flows` are
    /// the flows of the set in increasing order of paths.
    pub(crate) fn rates_of_set(
        &mut self,
        name: u128,
        flows: &[ActiveFlow],
        paths: &PathTable,
        links: &[LinkState],
    ) -> (&[f64], &[f64]) {
        let rows = &self.set_keys_and_row_starts;
        let is_it = |row: &u32| rows[*row as usize].0 == name;
        let first = match self.row_of_flow_set.find(hash_of_set_key(name), is_it) {
            Some(&row) => self.set_keys_and_row_starts[row as usize].1,
            None => self.add_rate_row(name, flows, paths, links),
        };
        self.rates_and_inverses[first..first + 2 * flows.len()].split_at(flows.len())
    }

    /// Computes the rates of the flows of a set and stores them as a new row; returns the index of the row's first number in the
    /// list of stored numbers. `name` is the key of the set.
    fn add_rate_row(
        &mut self,
        name: u128,
        flows: &[ActiveFlow],
        paths: &PathTable,
        links: &[LinkState],
    ) -> usize {
        if self.rates_and_inverses.len() + 2 * flows.len() > MAX_STORED_NUMBERS {
            self.row_of_flow_set.clear();
            self.set_keys_and_row_starts.clear();
            self.rates_and_inverses.clear();
        }
        self.solve_sharing_problem(flows, paths, links);
        let first = self.rates_and_inverses.len();
        let rates = self
            .rates_in_row_order
            .iter()
            .map(|share| share * paths.bandwidth_factor());
        self.rates_and_inverses.extend(rates.clone());
        self.rates_and_inverses.extend(rates.map(|rate| 1.0 / rate));
        let row =
            u32::try_from(self.set_keys_and_row_starts.len()).expect("at most MOST_NUMBERS rows");
        self.set_keys_and_row_starts.push((name, first));
        let rows = &self.set_keys_and_row_starts;
        let hash_of = |row: &u32| hash_of_set_key(rows[*row as usize].0);
        self.row_of_flow_set
            .insert_unique(hash_of_set_key(name), row, hash_of);
        first
    }

    /// Returns the first violated invariant of the engine that was found in a max-min problem; `None` if there is none.
    pub(crate) fn first_violation(&self) -> Option<InvariantViolation> {
        self.overloaded_link.map(InvariantViolation::LinkOverloaded)
    }

    fn solve_sharing_problem(
        &mut self,
        flows: &[ActiveFlow],
        paths: &PathTable,
        links: &[LinkState],
    ) {
        self.problem_count += 1;
        self.last_problem_with_link
            .resize(links.len(), LastProblemWithLink::default());
        self.sharing_problem.clear();
        self.flow_sort_keys.clear();
        let key = |(flow, place): (&ActiveFlow, u32)| {
            u128::from(paths.get(flow.path).endpoint_pair) << 32 | u128::from(place)
        };
        self.flow_sort_keys.extend(flows.iter().zip(0..).map(key));
        self.flow_sort_keys.sort_unstable();
        for &key in &self.flow_sort_keys {
            let flow = flows[flow_position_in_row(key)].path;
            for &(link, _) in paths.uses(flow) {
                let last_use = &mut self.last_problem_with_link[link as usize];
                if last_use.problem_number != self.problem_count {
                    let capacity = links[link as usize].bandwidth;
                    *last_use = LastProblemWithLink {
                        problem_number: self.problem_count,
                        link_index_in_problem: self.sharing_problem.add_link(capacity),
                    };
                }
            }
            let path = paths.get(flow);
            let last_uses = &self.last_problem_with_link;
            let uses = paths.uses(flow).iter();
            self.sharing_problem.add_flow(
                path.weight,
                path.max_rate,
                uses.map(|&(link, share)| (last_uses[link as usize].link_index_in_problem, share)),
            );
        }
        self.sharing_problem.solve(&mut self.rates_in_problem_order);
        if cfg!(debug_assertions)
            && let Some(link) = self
                .sharing_problem
                .find_overloaded_link(&self.rates_in_problem_order)
        {
            let last_use = LastProblemWithLink {
                problem_number: self.problem_count,
                link_index_in_problem: link,
            };
            self.overloaded_link = self.overloaded_link.or(self
                .last_problem_with_link
                .iter()
                .position(|one| *one == last_use)
                .map(|at| LinkId::from_index(at).0));
        }
        self.rates_in_row_order.resize(flows.len(), 0.0);
        for (&key, &rate) in self.flow_sort_keys.iter().zip(&self.rates_in_problem_order) {
            self.rates_in_row_order[flow_position_in_row(key)] = rate;
        }
    }
}

fn flow_position_in_row(key: u128) -> usize {
    (key & 0xffff_ffff) as usize
}

/// Returns a hash of the key of a set of flows. Since the key is a sum of pseudo-random numbers, its upper 64 bits serve as the
/// hash.
fn hash_of_set_key(name: u128) -> u64 {
    u64::try_from(name >> 64).expect("64 bits are left")
}
