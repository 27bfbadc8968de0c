//! Random changes of a sharing problem, for tests that compare a solver that updates rates with one that computes from scratch.

use proptest::prelude::*;

use super::SharingProblem;
use migsim_base::units::to_u32;

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A new group: weight, bound, number of flows, links.
    Put(f64, f64, u32, Vec<(u32, f64)>),
    /// Another number of flows for one of the present groups.
    Count(usize, u32),
    Capacity(u32, f64),
    /// The capacities of all links.
    Capacities(Vec<f64>),
    Reweigh(usize, f64, f64),
    /// No check until the next step.
    Wait,
}

pub(super) const LINKS: u32 = 12;

/// Steps, of which `reweighs` in 20 change the weight of a group.
pub(super) fn steps(reweighs: u32) -> impl Strategy<Value = Vec<Step>> {
    // Few distinct values make ties frequent; wide ranges test the precision; a capacity of 0 is a link that is down.
    let capacity = || prop_oneof![Just(1e6), Just(1.25e7), Just(1.25e8), 1e3..1e9, Just(0.0)];
    let weight = || prop_oneof![Just(1.0), Just(1e-4), Just(2e-4), 1e-7..1.0];
    let bound = || prop_oneof![3 => Just(f64::INFINITY), 1 => Just(1e6), 1 => 1e2..1e9];
    let share = prop_oneof![4 => Just(1.0), 1 => Just(0.05), 1 => Just(1.05)];
    let route = prop::collection::btree_map(0..LINKS, share, 1..=6);
    let put = (weight(), bound(), 1_u32..4, route)
        .prop_map(|(w, b, n, route)| Step::Put(w, b, n, route.into_iter().collect()));
    let step = prop_oneof![
        8 => put,
        4 => (any::<usize>(), 0_u32..4).prop_map(|(group, count)| Step::Count(group, count)),
        1 => (0..LINKS, capacity()).prop_map(|(link, capacity)| Step::Capacity(link, capacity)),
        1 => prop::collection::vec(capacity(), LINKS as usize).prop_map(Step::Capacities),
        reweighs => (any::<usize>(), weight(), bound()).prop_map(|(group, w, b)| Step::Reweigh(group, w, b)),
        2 => Just(Step::Wait),
    ];
    prop::collection::vec(step, 1..120)
}

/// A solver to be tested; the uses of a group are its links, with the load on each per unit of a flow's rate.
pub(super) trait Levels {
    fn put(&mut self, group: u32, weight: f64, bound: f64, uses: &[(u32, f64)]);
    fn set_count(&mut self, group: u32, count: u32);
    fn set_capacity(&mut self, link: u32, capacity: f64);
    fn reweigh(&mut self, group: u32, weight: f64, bound: f64);
}

/// A group: its weight, bound, number of flows and links.
type Group = (f64, f64, u32, Vec<(u32, f64)>);

/// The present state in the plainest form.
pub(super) struct Plain {
    pub(super) capacities: Vec<f64>,
    pub(super) groups: Vec<Option<Group>>,
}

impl Default for Plain {
    fn default() -> Self {
        Self {
            capacities: vec![1e6; LINKS as usize],
            groups: Vec::new(),
        }
    }
}

impl Plain {
    fn alive(&self, which: usize) -> Option<usize> {
        let groups = 0..self.groups.len();
        let alive: Vec<usize> = groups
            .filter(|&group| self.groups[group].is_some())
            .collect();
        (!alive.is_empty()).then(|| alive[which % alive.len()])
    }

    /// Carries out a step here and in `levels`; returns whether the levels are to be checked.
    pub(super) fn apply(&mut self, step: Step, levels: &mut impl Levels) -> bool {
        match step {
            Step::Put(weight, bound, count, uses) => {
                let number = to_u32(self.groups.len());
                levels.put(number, weight, bound, &uses);
                levels.set_count(number, count);
                self.groups.push(Some((weight, bound, count, uses)));
            }
            Step::Count(which, count) => {
                if let Some(group) = self.alive(which) {
                    levels.set_count(to_u32(group), count);
                    self.groups[group] = self.groups[group].take().filter(|_| count > 0);
                    if let Some(state) = &mut self.groups[group] {
                        state.2 = count;
                    }
                }
            }
            Step::Capacity(link, capacity) => {
                levels.set_capacity(link, capacity);
                self.capacities[link as usize] = capacity;
            }
            Step::Capacities(all) => {
                for (link, &capacity) in (0..).zip(&all) {
                    levels.set_capacity(link, capacity);
                }
                self.capacities = all;
            }
            Step::Reweigh(which, weight, bound) => {
                if let Some(group) = self.alive(which) {
                    levels.reweigh(to_u32(group), weight, bound);
                    let state = self.groups[group].as_mut().expect("it is alive");
                    (state.0, state.1) = (weight, bound);
                }
            }
            Step::Wait => return false,
        }
        true
    }

    /// Checks the rates of all groups against the solver that computes from scratch.
    pub(super) fn check(&self, mut rate: impl FnMut(usize) -> f64) -> Result<(), TestCaseError> {
        let mut problem = SharingProblem::default();
        problem.clear();
        for &capacity in &self.capacities {
            problem.add_link(capacity);
        }
        for (weight, bound, count, uses) in self.groups.iter().flatten() {
            for _ in 0..*count {
                problem.add_flow(*weight, *bound, uses.iter().copied());
            }
        }
        let mut solved = Vec::new();
        problem.solve(&mut solved);
        let mut flow = 0;
        for (number, group) in self.groups.iter().enumerate() {
            let Some((_, _, count, uses)) = group else {
                continue;
            };
            let (rate, expected) = (rate(number), solved[flow]);
            flow += *count as usize;
            // In both solutions the capacity left on a link has the rounding error of the sum of the other flows.
            let widest = uses.iter().map(|used| self.capacities[used.0 as usize]);
            let rounding = 1e-12 * widest.fold(0.0, f64::max);
            prop_assert!(
                (rate - expected).abs() <= 1e-9 * expected + rounding,
                "group {number}: {rate} against {expected}"
            );
        }
        Ok(())
    }
}
