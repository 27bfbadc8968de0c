//! Fair sharing with pipes: a pipe is a link (SimGrid's `FATPIPE`) whose capacity limits the fastest of its flows, not the sum of
//! all flows.
//!
//! The expressions are SimGrid's. With p the weight of a flow, b its maximum rate (its bound) and c the load on a link per unit
//! of its rate:
//!
//! ```text
//! level of a link:  capacity left / Σ c/p        of a pipe: capacity / max c/p        over the flows without a rate
//! ```
//! The links with the lowest level L are saturated. If b p < L for some flow on them, only the flows with the smallest b p get
//! their bound as rate, and levels are computed again. Otherwise every flow on these links gets the rate L / p: on a pipe, a flow
//! with twice the weight gets half of the capacity, although nothing else limits it. A `FATPIPE` of SimGrid therefore limits
//! flows more than a link that gives each flow its whole capacity (`fatpipe = whole`).
//!
//! All rates are recomputed from scratch each time, in O(rounds · uses).

use migsim_base::units::to_u32;

#[derive(Clone, Copy, Debug)]
struct LinkState {
    capacity: f64,
    is_pipe: bool,
    capacity_left: f64,
    pull: f64,
    unfixed_flow_count: u32,
}

/// Problem of fair sharing with links and pipes; its arrays are reused for the next problem.
#[derive(Clone, Debug, Default)]
pub(crate) struct PipesProblem {
    links: Vec<LinkState>,
    /// For each flow: its weight, its maximum rate \[B/s\], its rate \[B/s\] once it is fixed, and the index of its first use of
    /// a link.
    flows: Vec<(f64, f64, Option<f64>, usize)>,
    uses: Vec<(u32, f64)>,
    used_links: Vec<u32>,
}

/// Ratio up to which the maximum rate of a flow counts as equal to the smallest maximum rate of any flow.
const SAME_BOUND_RATIO: f64 = 1.0 + 1e-12;
const MAX_UNUSED_FRACTION_OF_SATURATED: f64 = 1e-9;

impl PipesProblem {
    /// Creates a problem without flows; each link is given by its capacity \[B/s\] and whether it is a pipe.
    pub(crate) fn new(links: impl Iterator<Item = (f64, bool)>) -> Self {
        Self {
            links: links
                .map(|(capacity, is_pipe)| LinkState {
                    capacity,
                    is_pipe,
                    capacity_left: 0.0,
                    pull: 0.0,
                    unfixed_flow_count: 0,
                })
                .collect(),
            ..Self::default()
        }
    }

    /// Changes the capacity of a link or pipe \[B/s\].
    pub(crate) fn set_capacity(&mut self, link: usize, capacity: f64) {
        self.links[link].capacity = capacity;
    }

    pub(crate) fn clear_flows(&mut self) {
        self.flows.clear();
        self.uses.clear();
    }

    /// Adds a flow with a weight and the maximum rate `bound` \[B/s\]; `uses` are the links of the flow's route, each with the
    /// load on the link per unit of the flow's rate.
    pub(crate) fn add_flow(
        &mut self,
        weight: f64,
        bound: f64,
        uses: impl Iterator<Item = (u32, f64)>,
    ) {
        let weight = super::clamped_weight(weight, bound);
        self.flows.push((weight, bound, None, self.uses.len()));
        self.uses.extend(uses);
    }

    /// Computes the rates of all flows; returns the rate of each flow \[B/s\] in the order in which the flows were added.
    pub(crate) fn solve(&mut self) -> impl Iterator<Item = f64> + '_ {
        self.used_links.clear();
        self.used_links.extend(self.uses.iter().map(|used| used.0));
        self.used_links.sort_unstable();
        self.used_links.dedup();
        for &link in &self.used_links {
            let link = &mut self.links[link as usize];
            link.capacity_left = link.capacity;
        }
        while let Some(level) = self.lowest_unfixed_level() {
            self.fix_rates_at_level(level);
        }
        // The rate of a flow without links is its bound.
        self.flows.iter().map(|flow| flow.2.unwrap_or(flow.1))
    }

    fn link_uses_of_flow(&self, flow: usize) -> &[(u32, f64)] {
        let end = self
            .flows
            .get(flow + 1)
            .map_or(self.uses.len(), |next| next.3);
        &self.uses[self.flows[flow].3..end]
    }

    /// Returns the lowest fair-share level of all links with flows whose rate is not fixed yet; `None` if all rates are fixed.
    fn lowest_unfixed_level(&mut self) -> Option<f64> {
        for &link in &self.used_links {
            let link = &mut self.links[link as usize];
            (link.pull, link.unfixed_flow_count) = (0.0, 0);
        }
        for flow in 0..self.flows.len() {
            let (weight, _, rate, first) = self.flows[flow];
            let count = self.link_uses_of_flow(flow).len();
            for at in first..first + if rate.is_none() { count } else { 0 } {
                let (link, share) = self.uses[at];
                let link = &mut self.links[link as usize];
                link.unfixed_flow_count += 1;
                link.pull = if link.is_pipe {
                    link.pull.max(share / weight)
                } else {
                    link.pull + share / weight
                };
            }
        }
        self.used_links
            .iter()
            .map(|&link| &self.links[link as usize])
            .filter(|link| link.unfixed_flow_count > 0)
            .map(LinkState::fair_share_level)
            .reduce(f64::min)
    }

    /// Fixes the rates of the flows on the links that have the lowest fair-share level `level`. If some of these flows reach
    /// their maximum rate below this level, only the flows with the smallest maximum rate get their rates.
    fn fix_rates_at_level(&mut self, level: f64) {
        let is_full = |link: u32| {
            let link = &self.links[link as usize];
            link.unfixed_flow_count > 0 && link.fair_share_level() <= level
        };
        let full: Vec<u32> = (0..to_u32(self.flows.len()))
            .filter(|&flow| {
                let is_open = self.flows[flow as usize].2.is_none();
                is_open
                    && self
                        .link_uses_of_flow(flow as usize)
                        .iter()
                        .any(|used| is_full(used.0))
            })
            .collect();
        let bound = |flow: &u32| self.flows[*flow as usize].0 * self.flows[*flow as usize].1;
        let least = full
            .iter()
            .map(bound)
            .filter(|bound| *bound < level)
            .reduce(f64::min);
        for flow in full {
            let (weight, bound, rate, _) = &mut self.flows[flow as usize];
            let found = match least {
                None => level / *weight,
                Some(least) if *bound * *weight <= least * SAME_BOUND_RATIO => *bound,
                Some(_) => continue,
            };
            *rate = Some(found);
            for at in 0..self.link_uses_of_flow(flow as usize).len() {
                let (link, share) = self.link_uses_of_flow(flow as usize)[at];
                let link = &mut self.links[link as usize];
                if !link.is_pipe {
                    link.capacity_left -= share * found;
                    if link.capacity_left < MAX_UNUSED_FRACTION_OF_SATURATED * link.capacity {
                        link.capacity_left = 0.0;
                    }
                }
            }
        }
    }
}

impl LinkState {
    fn fair_share_level(&self) -> f64 {
        if self.is_pipe {
            self.capacity / self.pull
        } else {
            self.capacity_left / self.pull
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(links: &[(f64, bool)], flows: &[(f64, f64, &[u32])]) -> Vec<f64> {
        let mut problem = PipesProblem::new(links.iter().copied());
        for (weight, bound, uses) in flows {
            problem.add_flow(*weight, *bound, uses.iter().map(|link| (*link, 1.0)));
        }
        problem.solve().collect()
    }

    #[test]
    fn flows_of_a_pipe_get_its_capacity_in_proportion_to_their_weights() {
        // L = 8 / max(1, 1/2, 1/4) = 8: rates 8, 4, 2. Then the pipe has capacity left, but all flows have their rates.
        let pipe = [(8.0, true)];
        let flows: [(f64, f64, &[u32]); 3] = [(1.0, 8.0, &[0]), (2.0, 8.0, &[0]), (4.0, 8.0, &[0])];
        assert_eq!(rates(&pipe, &flows), [8.0, 4.0, 2.0]);
        assert_eq!(rates(&pipe, &flows[1..]), [8.0, 4.0]);
    }

    #[test]
    fn a_flow_that_is_bound_first_leaves_the_pipe_to_the_others() {
        // 1 · 2 < 8: bound at 2; then L = 8 / (1/4) = 32: the whole capacity.
        let pipe = [(8.0, true)];
        assert_eq!(
            rates(&pipe, &[(1.0, 2.0, &[0]), (4.0, 8.0, &[0])]),
            [2.0, 8.0]
        );
    }

    #[test]
    fn shared_links_are_shared_as_ever() {
        // Link 0: level 3 / (1 + 1/2) = 2: rates 2 and 1.
        let links = [(3.0, false), (9.0, true)];
        assert_eq!(
            rates(&links, &[(1.0, 9.0, &[0, 1]), (2.0, 9.0, &[0, 1])]),
            [2.0, 1.0]
        );
        assert_eq!(rates(&links, &[(1.0, 5.0, &[])]), [5.0]);
    }
}
