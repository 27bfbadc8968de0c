//! Weighted max-min fair sharing of links as a pure function: capacities, routes, weights and bounds in, rates out.
//!
//! One level x rises from 0 for all flows together; flow f runs at `x / w_f`. A flow stops rising at its bound `b_f`, or
//! when a link of its route is full: `Σ c_fl · r_f = C_l` over the flows of link l, where `c_fl` is 1, or what the flow takes
//! there with cross-traffic (0.05, 1.05). This is progressive filling (Bertsekas & Gallager, *Data Networks*, 1992, §6.5.2)
//! with weights, the sharing of SimGrid's CM02 and LV08 models.
//!
//! Cost: O(rounds · links + uses), where a round fixes the flows of all links that fill up at the same level.

use migsim_base::units::{lesser, to_u32};

/// One sharing problem; its arrays are reused from one to the next.
#[derive(Clone, Debug, Default)]
pub struct SharingProblem {
    /// The capacity of each link \[B/s\].
    capacity: Vec<f64>,
    /// The weight of each flow (a larger weight gets a smaller share).
    weight: Vec<f64>,
    /// The bound of each flow \[B/s\].
    bound: Vec<f64>,
    /// The links of flow f are `uses[first_use[f]..first_use[f + 1]]`, each with what the flow takes of its rate there.
    uses: Vec<(u32, f64)>,
    first_use: Vec<u32>,
    scratch: Scratch,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    links: Vec<Link>,
    /// The level at which each link fills up; infinite if nothing rises there.
    level: Vec<f64>,
    /// Per use: c/w.
    pulls: Vec<f64>,
    /// The flows of link l are `flow_of[first_flow[l]..first_flow[l + 1]]`.
    flow_of: Vec<u32>,
    first_flow: Vec<u32>,
    /// Flows whose bound can bind before any link does, by the level of the bound.
    bounded: Vec<(f64, u32)>,
    is_fixed: Vec<bool>,
    /// The sum of the rates on each link.
    taken: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Link {
    /// Capacity left, sum of c/w of the flows that still rise, that sum when it was last summed afresh.
    left: f64,
    pull: f64,
    summed: f64,
    /// The number of flows that still rise.
    rising: u32,
}

impl Link {
    fn level(&self) -> f64 {
        if self.rising > 0 {
            self.left / self.pull
        } else {
            f64::INFINITY
        }
    }
}

/// A link that carries more than this (relative to its capacity) is a fault of ours.
pub(crate) const OVER: f64 = 1.0 + 1e-6;
/// Links within this of the least level fill up together.
const SAME_LEVEL: f64 = 1.0 + 1e-13;
/// A running difference that has lost this much of its value is summed afresh.
const RESUM_BELOW: f64 = 1e-4;
/// A level \[B\] above this counts as this: more would soon be no number.
pub(super) const HIGHEST: f64 = 1e300;
/// An infinite weight (a link that is down, in the models that weigh with bandwidths) counts as this.
const HEAVIEST: f64 = 1e300;
/// A weight whose inverse no number could hold (a latency next to nothing) counts as this.
const LIGHTEST: f64 = 1e-300;

impl SharingProblem {
    /// Empties the problem.
    pub fn clear(&mut self) {
        self.capacity.clear();
        self.weight.clear();
        self.bound.clear();
        self.uses.clear();
        self.first_use.clear();
        self.first_use.push(0);
    }

    /// Adds a link of `capacity` \[B/s\] and returns its number.
    #[inline]
    pub fn add_link(&mut self, capacity: f64) -> u32 {
        self.capacity.push(capacity);
        to_u32(self.capacity.len() - 1)
    }

    /// Adds a flow of the given weight and bound \[B/s\] that uses `links`, each with a share of its rate.
    #[inline]
    pub fn add_flow(
        &mut self,
        weight: f64,
        bound: f64,
        links: impl IntoIterator<Item = (u32, f64)>,
    ) {
        self.weight.push(held(weight, bound));
        self.bound.push(bound);
        self.uses.extend(links);
        self.first_use.push(to_u32(self.uses.len()));
    }

    /// The rate of each flow \[B/s\], in the order in which they were added.
    pub fn solve(&mut self, rates: &mut Vec<f64>) {
        rates.clear();
        rates.resize(self.weight.len(), 0.0);
        self.prepare();
        let mut next_bounded = 0;
        loop {
            let level = self.least_level();
            // Bounds that are met before the next link fills up, in the order of their levels.
            let mut fixed_by_bound = false;
            while let Some(&(bound_level, flow)) = self.scratch.bounded.get(next_bounded) {
                if bound_level > level {
                    break;
                }
                next_bounded += 1;
                if !self.scratch.is_fixed[flow as usize] {
                    rates[flow as usize] = self.bound[flow as usize];
                    self.fix(flow, rates[flow as usize]);
                    fixed_by_bound = true;
                    break; // levels of links may have risen
                }
            }
            if fixed_by_bound {
                continue;
            }
            if level == f64::INFINITY {
                break;
            }
            self.fill_links(level, rates);
        }
    }

    /// A link that `rates` would overload by more than a millionth: `Σ c · r > C`.
    pub(crate) fn overloaded(&mut self, rates: &[f64]) -> Option<u32> {
        let taken = &mut self.scratch.taken;
        taken.clear();
        taken.resize(self.capacity.len(), 0.0);
        for (uses, rate) in self.first_use.windows(2).zip(rates) {
            for &(link, share) in &self.uses[uses[0] as usize..uses[1] as usize] {
                taken[link as usize] += share * rate;
            }
        }
        let over = |link: &u32| taken[*link as usize] > self.capacity[*link as usize] * OVER;
        (0..to_u32(self.capacity.len())).find(over)
    }

    /// Lists the flows of each link and finds the bounds that matter.
    fn prepare(&mut self) {
        let Self {
            capacity,
            weight,
            bound,
            uses,
            first_use,
            scratch,
        } = self;
        scratch.links.clear();
        scratch.links.extend(capacity.iter().map(|&left| Link {
            left,
            ..Link::default()
        }));
        scratch.is_fixed.clear();
        scratch.is_fixed.resize(weight.len(), false);
        scratch.bounded.clear();
        scratch.pulls.clear();
        scratch.pulls.resize(uses.len(), 0.0);
        let links = &mut *scratch.links;
        let limits = weight.iter().zip(&*bound);
        for ((flow, ends), (&weight, &bound)) in (0..).zip(first_use.windows(2)).zip(limits) {
            let range = ends[0] as usize..ends[1] as usize;
            let whole = 1.0 / weight;
            let mut ceiling = f64::INFINITY;
            for (&(link, share), pull) in uses[range.clone()].iter().zip(&mut scratch.pulls[range])
            {
                let link = &mut links[link as usize];
                let is_whole = share == 1.0; // most are: no need to divide
                *pull = if is_whole { whole } else { share / weight };
                link.pull += *pull;
                link.rising += 1;
                let most = if is_whole {
                    link.left
                } else {
                    link.left / share
                };
                ceiling = lesser(most, ceiling);
            }
            if bound < ceiling {
                scratch.bounded.push((bound * weight, flow));
            }
        }
        scratch
            .bounded
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        scratch.first_flow.clear();
        scratch.first_flow.push(0);
        scratch.level.clear();
        let mut total = 0;
        let ends = links.iter_mut().map(|link| {
            link.summed = link.pull;
            scratch.level.push(link.level());
            total += link.rising;
            total
        });
        scratch.first_flow.extend(ends);
        scratch.flow_of.clear();
        scratch.flow_of.resize(total as usize, 0);
        // Fill from the back: `first_flow[l + 1]` walks down to the first entry of link l and becomes `first_flow[l]`.
        let flow_of = &mut *scratch.flow_of;
        let first_flow = &mut scratch.first_flow[1..];
        for (flow, ends) in (0..to_u32(weight.len())).zip(first_use.windows(2)).rev() {
            for &(link, _) in &uses[ends[0] as usize..ends[1] as usize] {
                let end = &mut first_flow[link as usize];
                *end -= 1;
                flow_of[*end as usize] = flow;
            }
        }
        scratch.first_flow.remove(0);
        scratch.first_flow.push(total);
    }

    /// The level at which the next link fills up; infinite if none will.
    fn least_level(&self) -> f64 {
        let mut lanes = [f64::INFINITY; 8];
        let (chunks, rest) = self.scratch.level.as_chunks::<8>();
        for chunk in chunks {
            for (least, level) in lanes.iter_mut().zip(chunk) {
                *least = lesser(*level, *least);
            }
        }
        let lanes = rest.iter().chain(&lanes);
        lanes.fold(f64::INFINITY, |least, level| lesser(*level, least))
    }

    /// Fixes the flows of all links that are full at `level`.
    fn fill_links(&mut self, level: f64, rates: &mut [f64]) {
        let full = level * SAME_LEVEL;
        for link in 0..self.scratch.level.len() {
            if self.scratch.level[link] <= full && self.scratch.links[link].rising > 0 {
                for entry in self.scratch.first_flow[link]..self.scratch.first_flow[link + 1] {
                    let flow = self.scratch.flow_of[entry as usize];
                    if !self.scratch.is_fixed[flow as usize] {
                        rates[flow as usize] =
                            (level / self.weight[flow as usize]).min(self.bound[flow as usize]);
                        self.fix(flow, rates[flow as usize]);
                    }
                }
            }
        }
    }

    /// Takes `flow`, which has reached its rate, out of the sums of its links.
    fn fix(&mut self, flow: u32, rate: f64) {
        self.scratch.is_fixed[flow as usize] = true;
        let first = self.first_use[flow as usize];
        let end = self.first_use[flow as usize + 1];
        for at in first as usize..end as usize {
            let (link, share) = self.uses[at];
            let link = link as usize;
            let pull = self.scratch.pulls[at];
            let state = &mut self.scratch.links[link];
            state.left = (state.left - share * rate).max(0.0);
            state.pull -= pull;
            state.rising -= 1;
            self.scratch.level[link] = state.level();
            if state.rising > 0 && state.pull < RESUM_BELOW * state.summed {
                self.resum(link);
            }
        }
    }

    /// Sums the pull of a link afresh: the running difference has lost its digits.
    #[cold]
    fn resum(&mut self, link: usize) {
        let Self {
            weight,
            uses,
            first_use,
            scratch,
            ..
        } = self;
        let mut pull = 0.0;
        for &flow in &scratch.flow_of
            [scratch.first_flow[link] as usize..scratch.first_flow[link + 1] as usize]
        {
            let flow = flow as usize;
            if !scratch.is_fixed[flow] {
                let links = &uses[first_use[flow] as usize..first_use[flow + 1] as usize];
                let share: f64 = links
                    .iter()
                    .filter(|used| used.0 as usize == link)
                    .map(|used| used.1)
                    .sum();
                pull += share / weight[flow];
            }
        }
        let state = &mut scratch.links[link];
        (state.pull, state.summed) = (pull, pull);
        scratch.level[link] = state.level();
    }
}

/// A weight as it is, unless a number cannot hold its inverse or its level at a bound: then one with which it can.
#[inline]
pub(crate) fn held(weight: f64, bound: f64) -> f64 {
    let weight = weight.clamp(LIGHTEST, HEAVIEST);
    if weight * bound <= HIGHEST || !bound.is_finite() {
        weight
    } else {
        weight_at_highest(bound)
    }
}

/// The weight with which the level at a bound is [`HIGHEST`].
#[cold]
fn weight_at_highest(bound: f64) -> f64 {
    HIGHEST / bound
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A system written plainly: capacities, and per flow its weight, bound and links.
    /// Weight, bound, and the share of the rate that is taken on each link.
    type Flow = (f64, f64, Vec<(u32, f64)>);

    #[derive(Clone, Debug)]
    struct System {
        capacity: Vec<f64>,
        flows: Vec<Flow>,
    }

    fn solve(system: &System) -> Vec<f64> {
        let mut problem = SharingProblem::default();
        problem.clear();
        for &capacity in &system.capacity {
            problem.add_link(capacity);
        }
        for (weight, bound, links) in &system.flows {
            problem.add_flow(*weight, *bound, links.iter().copied());
        }
        let mut rates = Vec::new();
        problem.solve(&mut rates);
        rates
    }

    /// The slow twin: everything summed afresh in each round, one link or bound at a time.
    fn solve_slowly(system: &System) -> Vec<f64> {
        let mut rate: Vec<Option<f64>> = vec![None; system.flows.len()];
        let share = |flow: usize, link: usize| -> f64 {
            system.flows[flow]
                .2
                .iter()
                .filter(|used| used.0 as usize == link)
                .map(|used| used.1)
                .sum()
        };
        while rate.iter().any(Option::is_none) {
            let rising: Vec<usize> = (0..rate.len())
                .filter(|&flow| rate[flow].is_none())
                .collect();
            let mut best = (f64::INFINITY, Vec::new());
            for link in 0..system.capacity.len() {
                let pull: f64 = rising
                    .iter()
                    .map(|&flow| share(flow, link) / system.flows[flow].0)
                    .sum();
                if pull > 0.0 {
                    let used: f64 = (0..rate.len())
                        .filter_map(|flow| rate[flow].map(|r| r * share(flow, link)))
                        .sum();
                    let level = (system.capacity[link] - used).max(0.0) / pull;
                    if level < best.0 {
                        best = (
                            level,
                            rising
                                .iter()
                                .copied()
                                .filter(|&flow| share(flow, link) > 0.0)
                                .collect(),
                        );
                    }
                }
            }
            for &flow in &rising {
                let level = system.flows[flow].0 * system.flows[flow].1;
                if level < best.0 {
                    best = (level, vec![flow]);
                }
            }
            for flow in best.1 {
                rate[flow] = Some((best.0 / system.flows[flow].0).min(system.flows[flow].1));
            }
        }
        rate.into_iter().map(Option::unwrap).collect()
    }

    fn systems() -> impl Strategy<Value = System> {
        // Few distinct values make ties frequent; wide ranges test the digits.
        let capacity = prop_oneof![Just(1e6), Just(1.25e7), Just(1.25e8), 1e3..1e9];
        let weight = prop_oneof![Just(1.0), Just(1e-4), Just(2e-4), 1e-7..1.0];
        let bound = prop_oneof![Just(1e20), Just(1e6), 1e2..1e9];
        let share = prop_oneof![4 => Just(1.0), 1 => Just(0.05), 1 => Just(1.05)];
        prop::collection::vec(capacity, 1..12).prop_flat_map(move |capacity| {
            let links = to_u32(capacity.len());
            let route =
                prop::collection::btree_map(0..links, share.clone(), 1..=4.min(links as usize));
            let flow = (weight.clone(), bound.clone(), route)
                .prop_map(|(w, b, route)| (w, b, route.into_iter().collect()));
            prop::collection::vec(flow, 0..40).prop_map(move |flows| System {
                capacity: capacity.clone(),
                flows,
            })
        })
    }

    fn used(system: &System, rates: &[f64], link: usize) -> f64 {
        let share = |flow: usize| {
            system.flows[flow]
                .2
                .iter()
                .filter(move |used| used.0 as usize == link)
                .map(|used| used.1)
        };
        (0..rates.len())
            .map(|flow| rates[flow] * share(flow).sum::<f64>())
            .sum()
    }

    #[test]
    fn a_link_is_shared_even_if_the_levels_of_its_flows_are_no_numbers() {
        let mut problem = SharingProblem::default();
        problem.clear();
        problem.add_link(1e306);
        for _ in 0..2 {
            problem.add_flow(1e31, 1e306, [(0, 1.0)]);
        }
        let mut rates = Vec::new();
        problem.solve(&mut rates);
        let half = |rate: &f64| (rate - 5e305).abs() < 1e292;
        assert!(rates.iter().all(half), "{rates:?}");
    }

    #[test]
    fn rates_above_a_capacity_are_found() {
        let mut problem = SharingProblem::default();
        problem.clear();
        let links = [problem.add_link(10.0), problem.add_link(4.0)];
        problem.add_flow(1.0, 1e20, [(links[0], 1.0), (links[1], 0.05)]);
        problem.add_flow(1.0, 1e20, [(links[1], 1.0)]);
        assert_eq!(problem.overloaded(&[10.0, 3.5]), None);
        assert_eq!(problem.overloaded(&[10.1, 3.4]), Some(0));
        assert_eq!(problem.overloaded(&[10.0, 3.6]), Some(1));
    }

    #[test]
    fn two_flows_share_a_link_equally_and_a_third_takes_what_is_left_elsewhere() {
        // Link 0 carries 10 for flows 0 and 1: 5 each. Link 1 carries 20 for flows 1 and 2: 5 and 15.
        let flow = |links: &[u32]| (1.0, 1e20, links.iter().map(|&link| (link, 1.0)).collect());
        let system = System {
            capacity: vec![10.0, 20.0],
            flows: vec![flow(&[0]), flow(&[0, 1]), flow(&[1])],
        };
        assert_eq!(solve(&system), [5.0, 5.0, 15.0]);
    }

    #[test]
    fn a_flow_of_four_times_the_weight_gets_a_quarter() {
        // 10 = x/1 + x/4: x = 8.
        let system = System {
            capacity: vec![10.0],
            flows: vec![(1.0, 1e20, vec![(0, 1.0)]), (4.0, 1e20, vec![(0, 1.0)])],
        };
        assert_eq!(solve(&system), [8.0, 2.0]);
    }

    #[test]
    fn a_flow_that_rises_alone_has_all_digits_of_what_the_others_leave() {
        // The first one wants 1 of 10 and pulls 1e16 times as much: beside it the pull of the other, 1.25, is lost in rounding.
        let system = System {
            capacity: vec![10.0],
            flows: vec![(3e-16, 1.0, vec![(0, 1.0)]), (0.8, 1e20, vec![(0, 1.0)])],
        };
        assert_eq!(solve(&system), [1.0, 9.0]);
    }

    #[test]
    fn what_a_bounded_flow_leaves_goes_to_the_others() {
        let system = System {
            capacity: vec![10.0],
            flows: vec![(1.0, 2.0, vec![(0, 1.0)]), (1.0, 1e20, vec![(0, 1.0)])],
        };
        assert_eq!(solve(&system), [2.0, 8.0]);
    }

    proptest! {
        #[test]
        fn the_solver_agrees_with_its_slow_twin(system in systems()) {
            let (fast, slow) = (solve(&system), solve_slowly(&system));
            for (flow, (a, b)) in fast.iter().zip(&slow).enumerate() {
                prop_assert!((a - b).abs() <= 1e-9 * b.abs(), "flow {flow}: {a} against {b}");
            }
        }

        #[test]
        fn no_link_is_over_capacity_and_every_flow_has_a_reason_not_to_be_faster(system in systems()) {
            let rates = solve(&system);
            let full: Vec<bool> = (0..system.capacity.len())
                .map(|link| {
                    let used = used(&system, &rates, link);
                    assert!(used <= system.capacity[link] * (1.0 + 1e-9), "link {link} carries {used}");
                    used >= system.capacity[link] * (1.0 - 1e-9)
                })
                .collect();
            for (flow, (weight, bound, links)) in system.flows.iter().enumerate() {
                let level = rates[flow] * weight;
                let is_fastest = |link: usize| {
                    system.flows.iter().zip(&rates).filter(|(other, _)| other.2.iter().any(|used| used.0 as usize == link))
                        .all(|(other, rate)| rate * other.0 <= level * (1.0 + 1e-9))
                };
                let has_bottleneck = links.iter().any(|used| full[used.0 as usize] && is_fastest(used.0 as usize));
                prop_assert!(rates[flow] >= bound * (1.0 - 1e-12) || has_bottleneck, "flow {flow} could be faster");
            }
        }

        #[test]
        fn doubling_every_capacity_and_bound_doubles_every_rate(system in systems()) {
            let mut double = system.clone();
            double.capacity.iter_mut().for_each(|capacity| *capacity *= 2.0);
            double.flows.iter_mut().for_each(|flow| flow.1 *= 2.0);
            // A power of two changes no digit.
            prop_assert_eq!(solve(&double), solve(&system).iter().map(|rate| rate * 2.0).collect::<Vec<_>>());
        }
    }
}
