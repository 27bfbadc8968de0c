//! Weighted max-min fair sharing of links as a pure function, which computes rates from capacities, routes, weights and maximum
//! rates.
//!
//! A fair-share level x rises from 0 for all flows at the same time; flow f runs at the rate `x / w_f`, where `w_f` is its
//! weight. The rate of a flow stops rising at its maximum, the bound `b_f`, or when a link of its route is saturated: `Σ c_fl ·
//! r_f = C_l` over the flows of link l with capacity `C_l`. Here `c_fl` is the load of flow f on link l per unit of its rate
//! `r_f`: 1 or, with cross-traffic, 0.05 or 1.05. This is progressive filling (Bertsekas & Gallager, *Data Networks*, 1992,
//! §6.5.2) with weights, the sharing of SimGrid's CM02 and LV08 models.
//!
//! Cost: O(rounds · links + uses), where a round fixes the flows of all links that become saturated at the same level.

use migsim_base::units::{lesser, to_u32};

/// Problem of sharing links fairly among flows; its arrays are reused for the next problem.
#[derive(Clone, Debug, Default)]
pub struct SharingProblem {
    /// Capacity of each link \[B/s\].
    capacity: Vec<f64>,
    /// Weight of each flow \[s\]; the rate of a flow is the fair-share level divided by its weight.
    weight: Vec<f64>,
    /// Maximum rate of each flow \[B/s\].
    bound: Vec<f64>,
    /// The links on the routes of all flows, each with the load on the link per unit of the flow's rate. The links of flow f are
    /// at `first_use[f]..first_use[f + 1]`.
    uses: Vec<(u32, f64)>,
    /// For each flow, the index of its first link in the list of link uses; one more entry contains the length of the list.
    first_use: Vec<u32>,
    scratch: FillingScratch,
}

#[derive(Clone, Debug, Default)]
struct FillingScratch {
    links: Vec<Link>,
    /// Fair-share level at which each link becomes saturated; infinite if the rates of all flows on the link are fixed.
    saturation_level_of_link: Vec<f64>,
    /// For each use of a link by a flow: the load c per unit of rate divided by the weight w, which is the load per unit of the
    /// level.
    load_per_level_of_use: Vec<f64>,
    flows_by_link: Vec<u32>,
    first_flow_of_link: Vec<u32>,
    /// The flows that may reach their maximum rate before a link of their route is saturated, each with the fair-share level at
    /// which it reaches that rate; ordered by level.
    flows_with_reachable_max_rate: Vec<(f64, u32)>,
    is_rate_fixed: Vec<bool>,
    /// Sum of the loads that the flows put on each link \[B/s\].
    load_of_link: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Link {
    /// Capacity of the link that is not used by flows with a fixed rate \[B/s\].
    capacity_left: f64,
    /// Load on the link per unit of the fair-share level: sum of c/w over the flows whose rate is not fixed yet and still rises
    /// with the level.
    pull: f64,
    load_per_level_at_last_sum: f64,
    /// Number of flows on the link whose rate is not fixed yet and still rises with the fair-share level.
    rising_flow_count: u32,
}

impl Link {
    fn saturation_level(&self) -> f64 {
        if self.rising_flow_count > 0 {
            self.capacity_left / self.pull
        } else {
            f64::INFINITY
        }
    }
}

/// Ratio of load to capacity of a link beyond which the link counts as overloaded, which would be an error of this program.
pub(crate) const OVERLOAD_RATIO: f64 = 1.0 + 1e-6;
/// Ratio to the lowest fair-share level up to which links count as becoming saturated at this level.
const SAME_LEVEL_RATIO: f64 = 1.0 + 1e-13;
/// Fraction of its initial value below which a sum that has been reduced by subtractions is recomputed, because of rounding
/// errors.
const RECOMPUTE_SUM_BELOW_FRACTION: f64 = 1e-4;
/// Maximum of a fair-share level (rate in B/s times weight in s), so that products with a level stay finite.
pub(super) const MAX_FAIR_SHARE_LEVEL: f64 = 1e300;
/// Maximum weight of a flow \[s\]. This value replaces an infinite weight, which a flow has on a link that is down in models
/// whose weights depend on bandwidths.
const MAX_FLOW_WEIGHT: f64 = 1e300;
/// Minimum weight of a flow \[s\], so that the inverse is finite. This value replaces the weight of a flow with almost no
/// latency.
const MIN_FLOW_WEIGHT: f64 = 1e-300;

impl SharingProblem {
    /// Removes all links and flows from the problem.
    pub fn clear(&mut self) {
        self.capacity.clear();
        self.weight.clear();
        self.bound.clear();
        self.uses.clear();
        self.first_use.clear();
        self.first_use.push(0);
    }

    /// Adds to the problem a link of `capacity` \[B/s\]; returns its number.
    #[inline]
    pub fn add_link(&mut self, capacity: f64) -> u32 {
        self.capacity.push(capacity);
        to_u32(self.capacity.len() - 1)
    }

    /// Adds a flow with the given weight and the maximum rate `bound` \[B/s\]. `links` are the links of its route, each with the
    /// capacity that the flow uses on the link at a rate of 1 B/s.
    #[inline]
    pub fn add_flow(
        &mut self,
        weight: f64,
        bound: f64,
        links: impl IntoIterator<Item = (u32, f64)>,
    ) {
        self.weight.push(clamped_weight(weight, bound));
        self.bound.push(bound);
        self.uses.extend(links);
        self.first_use.push(to_u32(self.uses.len()));
    }

    /// Computes the rate of each flow \[B/s\], and writes the rates to `rates` in the order in which the flows were added.
    pub fn solve(&mut self, rates: &mut Vec<f64>) {
        rates.clear();
        rates.resize(self.weight.len(), 0.0);
        self.prepare_progressive_filling();
        let mut next_bounded = 0;
        loop {
            let level = self.next_saturation_level();
            // Bounds reached before the next link is saturated, in the order of their levels.
            let mut fixed_by_bound = false;
            while let Some(&(bound_level, flow)) =
                self.scratch.flows_with_reachable_max_rate.get(next_bounded)
            {
                if bound_level > level {
                    break;
                }
                next_bounded += 1;
                if !self.scratch.is_rate_fixed[flow as usize] {
                    rates[flow as usize] = self.bound[flow as usize];
                    self.fix_flow_rate(flow, rates[flow as usize]);
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
            self.fix_rates_at_level(level, rates);
        }
    }

    /// Returns a link on which flows with the given rates exceed the capacity by more than a millionth, so that `Σ c · r > C`.
    /// Returns `None` if there is no such link.
    pub(crate) fn find_overloaded_link(&mut self, rates: &[f64]) -> Option<u32> {
        let taken = &mut self.scratch.load_of_link;
        taken.clear();
        taken.resize(self.capacity.len(), 0.0);
        for (uses, rate) in self.first_use.windows(2).zip(rates) {
            for &(link, share) in &self.uses[uses[0] as usize..uses[1] as usize] {
                taken[link as usize] += share * rate;
            }
        }
        (0..to_u32(self.capacity.len()))
            .find(|link| taken[*link as usize] > self.capacity[*link as usize] * OVERLOAD_RATIO)
    }

    /// Prepares progressive filling: lists the flows of each link, and the flows that may reach their maximum rate.
    fn prepare_progressive_filling(&mut self) {
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
            capacity_left: left,
            ..Link::default()
        }));
        scratch.is_rate_fixed.clear();
        scratch.is_rate_fixed.resize(weight.len(), false);
        scratch.flows_with_reachable_max_rate.clear();
        scratch.load_per_level_of_use.clear();
        scratch.load_per_level_of_use.resize(uses.len(), 0.0);
        let links = &mut *scratch.links;
        let limits = weight.iter().zip(&*bound);
        for ((flow, ends), (&weight, &bound)) in (0..).zip(first_use.windows(2)).zip(limits) {
            let range = ends[0] as usize..ends[1] as usize;
            let whole = 1.0 / weight;
            let mut ceiling = f64::INFINITY;
            for (&(link, share), pull) in uses[range.clone()]
                .iter()
                .zip(&mut scratch.load_per_level_of_use[range])
            {
                let link = &mut links[link as usize];
                let is_whole = share == 1.0; // most are: no need to divide
                *pull = if is_whole { whole } else { share / weight };
                link.pull += *pull;
                link.rising_flow_count += 1;
                let most = if is_whole {
                    link.capacity_left
                } else {
                    link.capacity_left / share
                };
                ceiling = lesser(most, ceiling);
            }
            if bound < ceiling {
                scratch
                    .flows_with_reachable_max_rate
                    .push((bound * weight, flow));
            }
        }
        scratch
            .flows_with_reachable_max_rate
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        scratch.first_flow_of_link.clear();
        scratch.first_flow_of_link.push(0);
        scratch.saturation_level_of_link.clear();
        let mut total = 0;
        let ends = links.iter_mut().map(|link| {
            link.load_per_level_at_last_sum = link.pull;
            scratch
                .saturation_level_of_link
                .push(link.saturation_level());
            total += link.rising_flow_count;
            total
        });
        scratch.first_flow_of_link.extend(ends);
        scratch.flows_by_link.clear();
        scratch.flows_by_link.resize(total as usize, 0);
        // Fill from the back: `first_flow[l + 1]` walks down to the first entry of link l and becomes `first_flow[l]`.
        let flow_of = &mut *scratch.flows_by_link;
        let first_flow = &mut scratch.first_flow_of_link[1..];
        for (flow, ends) in (0..to_u32(weight.len())).zip(first_use.windows(2)).rev() {
            for &(link, _) in &uses[ends[0] as usize..ends[1] as usize] {
                let end = &mut first_flow[link as usize];
                *end -= 1;
                flow_of[*end as usize] = flow;
            }
        }
        scratch.first_flow_of_link.remove(0);
        scratch.first_flow_of_link.push(total);
    }

    /// Returns the fair-share level at which the next link becomes saturated; infinite if no other link becomes saturated.
    fn next_saturation_level(&self) -> f64 {
        let mut lanes = [f64::INFINITY; 8];
        let (chunks, rest) = self.scratch.saturation_level_of_link.as_chunks::<8>();
        for chunk in chunks {
            for (least, level) in lanes.iter_mut().zip(chunk) {
                *least = lesser(*level, *least);
            }
        }
        rest.iter()
            .chain(&lanes)
            .fold(f64::INFINITY, |least, level| lesser(*level, least))
    }

    /// Fixes the rates of the flows on all links that become saturated at the fair-share level `level`.
    fn fix_rates_at_level(&mut self, level: f64, rates: &mut [f64]) {
        let full = level * SAME_LEVEL_RATIO;
        for link in 0..self.scratch.saturation_level_of_link.len() {
            if self.scratch.saturation_level_of_link[link] <= full
                && self.scratch.links[link].rising_flow_count > 0
            {
                for entry in
                    self.scratch.first_flow_of_link[link]..self.scratch.first_flow_of_link[link + 1]
                {
                    let flow = self.scratch.flows_by_link[entry as usize];
                    if !self.scratch.is_rate_fixed[flow as usize] {
                        rates[flow as usize] =
                            (level / self.weight[flow as usize]).min(self.bound[flow as usize]);
                        self.fix_flow_rate(flow, rates[flow as usize]);
                    }
                }
            }
        }
    }

    /// Records that the rate of a flow is final, and removes the flow from the sums over the rising flows on its links.
    fn fix_flow_rate(&mut self, flow: u32, rate: f64) {
        self.scratch.is_rate_fixed[flow as usize] = true;
        let first = self.first_use[flow as usize];
        let end = self.first_use[flow as usize + 1];
        for at in first as usize..end as usize {
            let (link, share) = self.uses[at];
            let link = link as usize;
            let pull = self.scratch.load_per_level_of_use[at];
            let state = &mut self.scratch.links[link];
            state.capacity_left = (state.capacity_left - share * rate).max(0.0);
            state.pull -= pull;
            state.rising_flow_count -= 1;
            self.scratch.saturation_level_of_link[link] = state.saturation_level();
            if state.rising_flow_count > 0
                && state.pull < RECOMPUTE_SUM_BELOW_FRACTION * state.load_per_level_at_last_sum
            {
                self.recompute_load_per_level(link);
            }
        }
    }

    /// Recomputes the load on a link per unit of the fair-share level as a sum over its flows, because repeated subtractions have
    /// made it inaccurate.
    #[cold]
    fn recompute_load_per_level(&mut self, link: usize) {
        let Self {
            weight,
            uses,
            first_use,
            scratch,
            ..
        } = self;
        let mut pull = 0.0;
        for &flow in &scratch.flows_by_link[scratch.first_flow_of_link[link] as usize
            ..scratch.first_flow_of_link[link + 1] as usize]
        {
            let flow = flow as usize;
            if !scratch.is_rate_fixed[flow] {
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
        (state.pull, state.load_per_level_at_last_sum) = (pull, pull);
        scratch.saturation_level_of_link[link] = state.saturation_level();
    }
}

/// Returns `weight`, limited to a range in which the inverse of the weight and the level at which the flow reaches its maximum
/// rate are finite.
#[inline]
pub(crate) fn clamped_weight(weight: f64, bound: f64) -> f64 {
    let weight = weight.clamp(MIN_FLOW_WEIGHT, MAX_FLOW_WEIGHT);
    if weight * bound <= MAX_FAIR_SHARE_LEVEL || !bound.is_finite() {
        weight
    } else {
        weight_at_max_level(bound)
    }
}

/// Returns the weight with which a flow of the maximum rate `bound` \[B/s\] reaches this rate at the maximum fair-share level.
#[cold]
fn weight_at_max_level(bound: f64) -> f64 {
    MAX_FAIR_SHARE_LEVEL / bound
}

#[cfg(test)]
mod tests;
