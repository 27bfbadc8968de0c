//! The solvers of batches and flows between eight hosts, for tests that compare the solvers.

use super::{
    flow::{DependentFlows, FlowStart},
    grouped::GroupedBatch,
    incremental::IncrementalFlows,
    memoized::MemoizedBatch,
    path_table::PathTable,
};
use crate::{
    NetworkModel, service::BottleneckedFlows, testing::single_cluster_platform,
    transport::LinkState,
};
use migsim_base::units::{BytesPerSecond, HostId, Seconds};
use migsim_platform::Platform;

/// A flow: start \[s\], sender, receiver, size \[B\].
pub(super) type Flow = (f64, u32, u32, f64);

#[derive(Default)]
pub(super) struct Solvers {
    memoized: MemoizedBatch,
    incremental: GroupedBatch<IncrementalFlows>,
    bottleneck: GroupedBatch<BottleneckedFlows>,
}

pub(super) const SOLVERS: [&str; 3] = ["memoized", "incremental", "bottleneck"];

impl Solvers {
    pub(super) fn solve(
        &mut self,
        solver: &str,
        platform: &Platform,
        paths: &PathTable,
        starts: &mut [FlowStart],
        mut ended: impl FnMut(u32, f64) -> Option<FlowStart>,
    ) {
        let ended = |flow, now, later: &mut DependentFlows| {
            if let Some(start) = ended(flow, now) {
                later.push(start, now);
            }
        };
        let links = &LinkState::all(platform);
        match solver {
            "memoized" => self.memoized.solve(links, paths, starts, ended),
            "incremental" => self.incremental.solve(links, None, paths, starts, ended),
            _ => self.bottleneck.solve(links, None, paths, starts, ended),
        }
    }
}

/// Eight hosts whose links have 1 000 B/s, two of them `narrow` times as much, and the last four this latency \[s\], the others 1 ms.
pub(super) fn uneven_platform(latency: f64, narrow: f64) -> Platform {
    let mut platform = single_cluster_platform(&[1e9; 8], 1e3, 1e-3);
    for link in &mut platform.links[4..] {
        link.latency = Seconds::of(latency);
    }
    for link in &mut platform.links[2..4] {
        link.bandwidth = BytesPerSecond::of(1e3 * narrow);
    }
    platform
}

pub(super) fn starts(flows: &[Flow], platform: &Platform, paths: &mut PathTable) -> Vec<FlowStart> {
    let start = |(flow_id, &(start_time, from, to, bytes))| FlowStart {
        start_time,
        path: paths
            .find_or_add_path(
                platform,
                &LinkState::all(platform),
                HostId(from),
                HostId(to),
            )
            .expect("all have a route"),
        bytes,
        flow_id,
    };
    (0..).zip(flows).map(start).collect()
}

/// Returns the ends of the flows by one of the [`SOLVERS`]. When a flow ends, one of half its bytes starts in the opposite direction.
pub(super) fn ends(
    flows: &[Flow],
    platform: &Platform,
    model: NetworkModel,
    solver: &str,
) -> Vec<f64> {
    let mut paths = PathTable::new(platform, model);
    let reply = |&(date, from, to, bytes): &Flow| (date, to, from, bytes / 2.0);
    let all: Vec<Flow> = flows
        .iter()
        .copied()
        .chain(flows.iter().map(reply))
        .collect();
    let all = starts(&all, platform, &mut paths);
    let (first, replies) = all.split_at(flows.len());
    let mut ends = vec![f64::NAN; all.len()];
    Solvers::default().solve(
        solver,
        platform,
        &paths,
        &mut first.to_vec(),
        |flow, date| {
            ends[flow as usize] = date;
            replies.get(flow as usize).map(|reply| FlowStart {
                start_time: date + 0.125,
                flow_id: flow + u32::try_from(flows.len()).unwrap(),
                ..*reply
            })
        },
    );
    ends
}
