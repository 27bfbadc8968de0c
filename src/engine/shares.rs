//! Remembered shares: the rates of a set of flows, solved once per set.
//!
//! While no link changes, the rates of the flows in transfer are a function of the set of their paths alone. A set is named by
//! the sum, modulo 2^128, of a fixed number per path (a sum, since a path may occur twice); its rates stand in a row, in the order of
//! the paths. A row is the same whenever it is solved, so it may be forgotten at any time.
//!
//! Cost: about 20 ns to find a row, 40 ns per flow to solve one.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::maxmin::SharingProblem;
use super::paths::{Mixer, PathId, Paths};
use crate::platform::Platform;

/// Where a row stands: its rates at `first..first + count`, their inverses after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    first: usize,
    count: usize,
}

/// All rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    places: HashMap<u128, Row, BuildHasherDefault<Mixer>>,
    rows: Vec<f64>,
    problem: SharingProblem,
    rates: Vec<f64>,
    /// Per link of the platform: its number in the problem at hand, if `seen` is the number of that problem.
    local: Vec<u32>,
    seen: Vec<u64>,
    solved: u64,
}

/// Numbers that are kept before all rows are forgotten (64 MB).
const MOST_NUMBERS: usize = 8 << 20;

impl Shares {
    /// The row of the set `name`, whose flows have these paths, in rising order.
    pub(super) fn row(
        &mut self,
        name: u128,
        flows: &[PathId],
        paths: &Paths,
        platform: &Platform,
        factor: f64,
    ) -> Row {
        if let Some(&row) = self.places.get(&name) {
            debug_assert_eq!(row.count, flows.len(), "two sets have one name");
            return row;
        }
        if self.rows.len() + 2 * flows.len() > MOST_NUMBERS {
            self.rows.clear();
            self.places.clear();
        }
        self.solve(flows, paths, platform);
        let row = Row {
            first: self.rows.len(),
            count: flows.len(),
        };
        self.rows
            .extend(self.rates.iter().map(|share| share * factor));
        self.rows
            .extend(self.rates.iter().map(|share| 1.0 / (share * factor)));
        self.places.insert(name, row);
        row
    }

    /// The rates of a row \[B/s\] and their inverses.
    pub(super) fn of(&self, row: Row) -> (&[f64], &[f64]) {
        self.rows[row.first..row.first + 2 * row.count].split_at(row.count)
    }

    fn solve(&mut self, flows: &[PathId], paths: &Paths, platform: &Platform) {
        self.solved += 1;
        self.local.resize(platform.links.len(), 0);
        self.seen.resize(platform.links.len(), 0);
        self.problem.clear();
        for &flow in flows {
            for &(link, _) in paths.uses(flow) {
                let at = link as usize;
                if self.seen[at] != self.solved {
                    self.seen[at] = self.solved;
                    self.local[at] = self.problem.add_link(platform.links[at].bandwidth.get());
                }
            }
        }
        for &flow in flows {
            let path = paths.get(flow);
            let local = &self.local;
            let uses = paths.uses(flow).iter();
            self.problem.add_flow(
                path.weight,
                path.bound,
                uses.map(|&(link, share)| (local[link as usize], share)),
            );
        }
        self.problem.solve(&mut self.rates);
    }
}
