//! Weighted max-min fair sharing of links as a pure function: capacities, routes, weights and bounds in, rates out.
//!
//! One level x rises from 0 for all flows together; flow f runs at `x / w_f`. A flow stops rising at its bound `b_f`, or when a link of its
//! route is saturated: `Σ c_fl · r_f = C_l` over the flows of link l. Here `c_fl` is 1 or, with cross-traffic, the share of its rate that
//! the flow takes there (0.05, 1.05). This is progressive filling (Bertsekas & Gallager, *Data Networks*, 1992, §6.5.2)
//! with weights, the sharing of SimGrid's CM02 and LV08 models.
//!
//! Cost: O(rounds · links + uses), where a round fixes the flows of all links that become saturated at the same level.

use migsim_base::units::{lesser, to_u32};

/// One sharing problem; its arrays are reused by the next problem.
#[derive(Clone, Debug, Default)]
pub struct SharingProblem {
    /// The capacity of each link \[B/s\].
    capacity: Vec<f64>,
    /// The weight of each flow (a larger weight gets a smaller share).
    weight: Vec<f64>,
    /// The bound of each flow \[B/s\].
    bound: Vec<f64>,
    /// The links of flow f are `uses[first_use[f]..first_use[f + 1]]`, each with the share of its rate that the flow takes there.
    uses: Vec<(u32, f64)>,
    first_use: Vec<u32>,
    scratch: Scratch,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    links: Vec<Link>,
    /// The level at which each link becomes saturated; infinite if none of its flows rises.
    level: Vec<f64>,
    /// c/w of each use.
    pulls: Vec<f64>,
    /// The flows of link l are `flow_of[first_flow[l]..first_flow[l + 1]]`.
    flow_of: Vec<u32>,
    first_flow: Vec<u32>,
    /// Flows whose bound may be reached before any link is saturated, by the level of the bound.
    bounded: Vec<(f64, u32)>,
    is_fixed: Vec<bool>,
    /// The sum of the rates on each link.
    taken: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Link {
    /// Capacity left; sum of c/w of the flows that still rise; and this sum when it was last recomputed.
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

/// Tolerance beyond which the load of a link is a fault of this program, relative to its capacity.
pub(crate) const OVER: f64 = 1.0 + 1e-6;
/// Tolerance within which links become saturated together, relative to the least level.
const SAME_LEVEL: f64 = 1.0 + 1e-13;
/// Part of its value below which a running difference is recomputed, because of rounding.
const RESUM_BELOW: f64 = 1e-4;
/// Maximum of a level \[B\], so that products stay finite.
pub(super) const HIGHEST: f64 = 1e300;
/// Maximum of a weight; it stands for an infinite weight (a link that is down, in models that weigh with bandwidths).
const HEAVIEST: f64 = 1e300;
/// Minimum of a weight, so that its inverse is finite; it stands for a weight of almost no latency.
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
            // Bounds reached before the next link is saturated, in the order of their levels.
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

    /// Finds a link that `rates` would overload by more than a millionth: `Σ c · r > C`.
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

    /// Lists the flows of each link, and finds the bounds that may be reached.
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

    /// Returns the level at which the next link becomes saturated; infinite if none will.
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

    /// Fixes the flows of all links that are saturated at `level`.
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

    /// Removes `flow`, which has reached its rate, from the sums of its links.
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

    /// Recomputes the pull of a link from its flows, because the running difference has lost precision.
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

/// Returns the weight, or the nearest weight for which the inverse and the level at the bound are finite.
#[inline]
pub(crate) fn held(weight: f64, bound: f64) -> f64 {
    let weight = weight.clamp(LIGHTEST, HEAVIEST);
    if weight * bound <= HIGHEST || !bound.is_finite() {
        weight
    } else {
        weight_at_highest(bound)
    }
}

/// Returns the weight with which the level at a bound is [`HIGHEST`].
#[cold]
fn weight_at_highest(bound: f64) -> f64 {
    HIGHEST / bound
}

#[cfg(test)]
mod tests;
