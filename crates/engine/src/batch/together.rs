//! Recognises flows that all end at the same time: equal flows that start at the same time, each on a link with the lowest fair
//! share.
//!
//! If a link is the bottleneck link of all its flows, the fair share of the link is its capacity divided by the sum of the
//! inverses of their weights. No flow gets less than x, the lowest fair share of all links, and a flow on a link with this fair
//! share gets no more. Therefore, if each flow crosses a link with the fair share x, and no flow is limited to a lower rate by
//! anything else,
//!
//! ```text
//! rate(f) = factor · x / w(f)        end = start + B · w / (factor · x), the same for all flows if B · w is the same
//! ```
//! where `factor` is the bandwidth factor, w the weight of a flow and B its size. All-to-all exchanges of equal messages in a
//! cluster consist of such flows. Cost: 4 ns per use of a link. The reference implementation is [`super::incremental`].

use super::{flow::FlowStart, path_table::PathTable};
use crate::transport::LinkState;

/// Ratio up to which two fair shares count as equal. Fair shares that are equal in theory may differ slightly, since the weights
/// of the flows may be added in different orders.
const MAX_EQUAL_SHARE_RATIO: f64 = 1.0 + 1e-15;

/// Finds the time at which a set of flows ends, if all flows end at the same time; the arrays are reused from batch to batch.
#[derive(Clone, Debug, Default)]
pub(super) struct CommonEndFinder {
    /// For each link: during a search first the sum of the inverses of the weights of its flows, then its fair share \[B/s\]; 0
    /// between two searches.
    fair_shares: Vec<f64>,
    used_links: Vec<u32>,
}

impl CommonEndFinder {
    /// Returns the time at which all flows of `starts` end \[s\]; `None` if it is not certain that they all end at the same time.
    pub(super) fn find_common_end_time(
        &mut self,
        links: &[LinkState],
        paths: &PathTable,
        starts: &[FlowStart],
    ) -> Option<f64> {
        let first = starts.first()?;
        let price = |start: &FlowStart| start.bytes * paths.get(start.path).weight;
        let is_equal = |start: &FlowStart| {
            start.start_time == first.start_time && price(start) == price(first)
        };
        if !starts.iter().all(is_equal) {
            return None;
        }
        let lowest = self.compute_fair_shares(links, paths, starts);
        let is_held = |start: &FlowStart| {
            let path = paths.get(start.path);
            let mut links = paths.uses(start.path).iter();
            let is_on_lowest = |&(link, _): &(u32, f64)| {
                self.fair_shares[link as usize] <= lowest * MAX_EQUAL_SHARE_RATIO
            };
            links.any(is_on_lowest) && lowest / path.weight <= path.max_rate
        };
        let are_held = starts.iter().all(is_held);
        for link in self.used_links.drain(..) {
            self.fair_shares[link as usize] = 0.0;
        }
        let end = first.start_time + price(first) / (paths.bandwidth_factor() * lowest);
        (are_held && end.is_finite() && price(first).is_normal()).then_some(end)
    }

    /// Computes the fair share of each used link \[B/s\], and returns the lowest fair share \[B/s\].
    fn compute_fair_shares(
        &mut self,
        links: &[LinkState],
        paths: &PathTable,
        starts: &[FlowStart],
    ) -> f64 {
        self.fair_shares.resize(links.len(), 0.0);
        for start in starts {
            let inverse = paths.get(start.path).weight.recip();
            for &(link, share) in paths.uses(start.path) {
                let sum = &mut self.fair_shares[link as usize];
                if *sum <= 0.0 {
                    self.used_links.push(link);
                }
                *sum += share * inverse;
            }
        }
        let mut lowest = f64::INFINITY;
        for &link in &self.used_links {
            let level = &mut self.fair_shares[link as usize];
            *level = links[link as usize].bandwidth / *level;
            lowest = lowest.min(*level);
        }
        lowest
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::testing::{Solvers, starts, uneven_platform},
        *,
    };
    use crate::{NetworkModel, testing::single_cluster_platform};
    use migsim_base::units::BytesPerSecond;
    use migsim_platform::Platform;

    /// Returns the common end of equal flows between these hosts, and the end of each flow by the twin.
    fn ends(
        platform: &Platform,
        model: NetworkModel,
        pairs: &[(u32, u32)],
    ) -> (Option<f64>, Vec<f64>) {
        let mut paths = PathTable::new(platform, model);
        let flows: Vec<_> = pairs
            .iter()
            .map(|&(from, to)| (0.25, from, to, 1e3))
            .collect();
        let mut starts = starts(&flows, platform, &mut paths);
        let mut search = CommonEndFinder::default();
        let end = search.find_common_end_time(&LinkState::all(platform), &paths, &starts);
        assert_eq!(
            search.find_common_end_time(&LinkState::all(platform), &paths, &starts),
            end,
            "nothing is left of a search"
        );
        let mut ends = vec![f64::NAN; pairs.len()];
        Solvers::default().solve(
            "incremental",
            platform,
            &paths,
            &mut starts,
            |name, date| {
                ends[name as usize] = date;
                None
            },
        );
        (end, ends)
    }

    fn all_pairs(hosts: std::ops::Range<u32>) -> Vec<(u32, u32)> {
        let from = hosts.clone();
        from.flat_map(|a| hosts.clone().map(move |b| (a, b)))
            .filter(|(a, b)| a != b)
            .collect()
    }

    #[test]
    fn an_exchange_of_all_in_a_cluster_ends_together_and_one_over_unlike_links_does_not() {
        let mut platform = single_cluster_platform(&[1e9; 8], 1e3, 0.0);
        // Four hosts of a cluster: each link carries three messages out and three in.
        let (end, ends) = ends(&platform, NetworkModel::default(), &all_pairs(0..4));
        assert_eq!(end, Some(0.25 + 6.0));
        assert!(
            ends.iter().all(|other| (other - 6.25).abs() < 1e-12),
            "{ends:?}"
        );
        let find = |platform: &Platform, pairs: &[(u32, u32)]| {
            super::tests::ends(platform, NetworkModel::default(), pairs).0
        };
        // A line: the two links in the middle have two flows each, and each flow is on one of them.
        assert!(find(&platform, &[(0, 1), (1, 2), (2, 3)]).is_some());
        assert_eq!(
            find(&platform, &[(0, 1), (1, 2), (3, 3), (2, 3), (3, 0), (0, 2)]),
            None
        );
        platform.links[0].bandwidth = BytesPerSecond::of(2e3);
        assert_eq!(find(&platform, &all_pairs(0..2)), Some(0.25 + 2.0));
        assert_eq!(find(&platform, &[(0, 1), (0, 4), (2, 1)]), None);
    }

    proptest! {
        #[test]
        fn what_ends_together_does_so_one_by_one(
            pairs in prop::collection::vec((0..8_u32, 0..8_u32), 1..12),
            narrow in prop_oneof![Just(1.0), Just(0.1), Just(3.0)],
            latency in prop_oneof![Just(0.0), Just(1e-3), Just(1.0)],
            preset in prop_oneof![Just("cm02"), Just("lv08"), Just("simgrid-3.3")],
        ) {
            let platform = uneven_platform(latency, narrow);
            let pairs: Vec<_> = pairs.into_iter().filter(|(from, to)| from != to).collect();
            let (end, ends) = ends(&platform, NetworkModel::preset(preset).unwrap(), &pairs);
            if let Some(end) = end {
                for other in ends {
                    prop_assert!((end - other).abs() <= 1e-13 * end, "{} {}", end, other);
                }
            }
        }
    }
}
