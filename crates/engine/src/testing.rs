//! Small platforms, random flows and a function that runs a simulation, for unit tests.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::fmt::Debug;

#[cfg(test)]
use proptest::prelude::*;

use super::Simulation;
use migsim_base::units::{BytesPerSecond, ClusterId, InstructionsPerSecond, LinkId, Seconds};
use migsim_platform::{Cluster, ClusterPath, Host, Link, Platform, Routes};

/// Returns a platform with one cluster, whose hosts are connected by a switch. The hosts have the given speeds \[instr/s\], and
/// each host has a link with `bandwidth` \[B/s\] and `latency` \[s\].
pub fn single_cluster_platform(speeds: &[f64], bandwidth: f64, latency: f64) -> Platform {
    let host = |(index, speed): (usize, &f64)| Host {
        name: format!("h{index}"),
        cluster: ClusterId(0),
        speed: InstructionsPerSecond::new(*speed).unwrap(),
        cores: 1,
        memory: None,
        speed_profile: None,
        loads: Vec::new(),
        busy_cores: 0.0,
        other_work: Vec::new(),
    };
    let link = |index: usize| Link {
        name: format!("l{index}"),
        bandwidth: BytesPerSecond::of(bandwidth),
        latency: Seconds::of(latency),
        is_shared: true,
        is_duplex: false,
        bandwidth_profile: None,
        latency_profile: None,
        loads: Vec::new(),
    };
    Platform {
        name: "line".into(),
        clusters: vec![Cluster {
            name: "h".into(),
            hosts: 0..u32::try_from(speeds.len()).unwrap(),
        }],
        hosts: speeds.iter().enumerate().map(host).collect(),
        links: (0..speeds.len()).map(link).collect(),
        routes: Routes::StoredClusterPaths {
            access_links: (0..speeds.len())
                .map(|index| Some(LinkId::from_index(index)))
                .collect(),
            cluster_paths: vec![Some(ClusterPath {
                link_range: 0..0,
                latency: None,
            })],
            path_links: Vec::new(),
        },
        loopback_links: Vec::new(),
        first_failure: None,
    }
}

/// Returns a test-data generator (a `proptest` strategy) for random flows `(start, from, to, bytes)` between eight hosts, which
/// start within the given number of quarters of a second.
#[cfg(test)]
pub fn random_flows(quarters: u32) -> impl Strategy<Value = Vec<(f64, u32, u32, f64)>> {
    let flow = (0..quarters, 0_u32..8, 1_u32..8, 1_u32..40).prop_map(|(date, from, on, size)| {
        let to = (from + on) % 8;
        (f64::from(date) / 4.0, from, to, f64::from(size) * 50.0)
    });
    prop::collection::vec(flow, 1..60)
}

/// Runs a simulation until no activity is in progress; returns the token and the end time \[s\] of each activity, in the order of
/// ends.
pub fn run_to_end<'p, T: Copy + Debug + Send + 'p>(
    simulation: &mut Simulation<'p, T>,
) -> Vec<(T, f64)> {
    let mut ended = Vec::new();
    while let Some(token) = simulation.next_ended().unwrap() {
        ended.push((token, simulation.now().get()));
    }
    ended
}
