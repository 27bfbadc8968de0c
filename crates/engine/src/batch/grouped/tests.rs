//! Tests of the batch solver for crowds.

use proptest::prelude::*;

use super::super::incremental::IncrementalBatch;
use super::*;
use crate::testing::single_cluster_platform;
use crate::{NetworkModel, Simulation};
use migsim_base::units::{BytesPerSecond, HostId, LinkId, Seconds};
use migsim_platform::Profile;

/// Returns the end times of flows `(start, from, to, bytes)`. When a flow ends, one of half its bytes starts in the opposite direction.
fn ends(
    flows: &[(f64, u32, u32, f64)],
    platform: &Platform,
    model: NetworkModel,
    is_crowd: bool,
) -> Vec<f64> {
    let mut paths = PathTable::new(platform, model);
    let mut path = |from, to| {
        let path = paths.find_or_add_path(platform, HostId(from), HostId(to));
        path.expect("all have a route")
    };
    let (mut starts, mut replies) = (Vec::new(), Vec::new());
    for (name, &(date, from, to, bytes)) in (0..).zip(flows) {
        let (path, back) = (path(from, to), path(to, from));
        starts.push(FlowStart {
            start_time: date,
            path,
            bytes,
            flow_id: name,
        });
        replies.push(FlowStart {
            start_time: date,
            path: back,
            bytes: bytes / 2.0,
            flow_id: name + 1000,
        });
    }
    let mut ends = vec![f64::NAN; 2 * flows.len()];
    let ended = |name: u32, date: f64| {
        if name >= 1000 {
            ends[flows.len() + name as usize - 1000] = date;
            return None;
        }
        ends[name as usize] = date;
        let date = date + 0.125;
        Some(FlowStart {
            start_time: date,
            ..replies[name as usize]
        })
    };
    if is_crowd {
        BottleneckBatch::default().solve((platform, None), &paths, &mut starts, ended);
    } else {
        IncrementalBatch::default().solve(platform, &paths, &mut starts, ended);
    }
    ends
}

/// Flows between the eight hosts of two clusters, and the capacity of the link between the clusters, relative to the link of a host.
fn crowds() -> impl Strategy<Value = Vec<(f64, u32, u32, f64)>> {
    crate::testing::random_flows(12)
}

/// Returns the end time of each flow, solved as a crowd and by the twin.
fn both_ends(
    flows: &[(f64, u32, u32, f64)],
    latency: f64,
    narrow: f64,
    preset: &str,
) -> Vec<(f64, f64)> {
    let mut platform = single_cluster_platform(&[1e9; 8], 1e3, 1e-3);
    for link in &mut platform.links[4..] {
        link.latency = Seconds::of(latency);
    }
    for link in &mut platform.links[2..4] {
        link.bandwidth = BytesPerSecond::of(1e3 * narrow);
    }
    let model = NetworkModel::preset(preset).unwrap();
    let ends = |is_crowd| ends(flows, &platform, model, is_crowd);
    ends(true).into_iter().zip(ends(false)).collect()
}

#[test]
fn flows_go_on_at_the_capacity_of_each_time() {
    let ends = |steps: &[(f64, f64)], sizes: &[f64]| {
        let mut platform = single_cluster_platform(&[1e9; 2], 1e3, 0.0);
        platform.links[0].bandwidth_profile = Some(Profile::new(steps.to_vec(), None).unwrap());
        let model = NetworkModel::default();
        let simulation = Simulation::<u32>::new(&platform, model);
        let changes = simulation.future_bandwidth_changes(&[LinkId(0)]);
        let mut paths = PathTable::new(&platform, model);
        let path = paths
            .find_or_add_path(&platform, HostId(0), HostId(1))
            .unwrap();
        let flows = (0..).zip(sizes).map(|(name, &bytes)| FlowStart {
            start_time: 0.0,
            path,
            bytes,
            flow_id: name,
        });
        let mut starts: Vec<FlowStart> = flows.collect();
        let mut ends = vec![f64::NAN; sizes.len()];
        let input = (&platform, changes);
        BottleneckBatch::default().solve(input, &paths, &mut starts, |name, time| {
            ends[name as usize] = time;
            None
        });
        ends
    };
    // 500 B/s each for 1 s, 250 for 1.6 s; then 500 for 0.4 s and 1 000 for 0.7 s.
    let steps = [(1.0, 500.0), (3.0, 1e3)];
    assert_eq!(ends(&steps, &[1800.0, 900.0]), [3.7, 2.6]);
    assert_eq!(ends(&[(1.0, 0.0)], &[1500.0]), [f64::INFINITY]);
}

#[test]
fn links_that_a_flow_of_next_to_no_latency_fills_go_on_after_it() {
    // At 1 s all levels are recomputed: the last flow saturates two links at one level, and no capacity is left on the second link.
    let flows = [
        (0.0, 1, 0, 400.0),
        (1.0, 1, 2, 50.0),
        (0.0, 5, 3, 200.0),
        (0.0, 0, 2, 250.0),
        (0.0, 2, 3, 200.0),
        (0.0, 3, 1, 300.0),
        (1.0, 1, 7, 50.0),
        (1.0, 0, 5, 50.0),
        (0.5, 6, 2, 150.0),
        (0.75, 4, 1, 150.0),
        (0.0, 7, 5, 300.0),
        (1.0, 0, 6, 50.0),
        (0.25, 3, 6, 300.0),
        (0.0, 2, 5, 300.0),
        (1.0, 4, 5, 50.0),
    ];
    let ends = both_ends(&flows, 1e-150, 1.0, "simgrid-3.3");
    assert!((ends[14].0 - 1.05).abs() < 1e-12);
    for (crowd, single) in ends {
        assert!((crowd - single).abs() <= 1e-11 * single, "{crowd} {single}");
    }
}

proptest! {
    #[test]
    fn flows_of_a_crowd_end_when_they_do_one_by_one(
        flows in crowds(),
        latency in prop_oneof![Just(1e-3), Just(0.2), Just(1e-150)],
        narrow in prop_oneof![Just(1.0), Just(0.1), Just(3.0)],
        preset in prop_oneof![Just("cm02"), Just("lv08"), Just("simgrid-3.3")],
    ) {
        for (a, b) in both_ends(&flows, latency, narrow, preset) {
            prop_assert!((a - b).abs() <= 1e-11 * b, "{} {}", a, b);
        }
    }
}
