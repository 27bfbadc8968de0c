//! Tests of the solvers with one group per path, against each other and against stored rates.

use proptest::prelude::*;

use super::{
    super::testing::{Flow, SOLVERS, Solvers, ends, starts, uneven_platform},
    *,
};
use crate::{
    NetworkModel, Simulation,
    service::BottleneckedFlows,
    testing::{random_flows, single_cluster_platform},
};
use migsim_base::units::LinkId;
use migsim_platform::Profile;

#[test]
fn flows_go_on_at_the_capacity_of_each_time() {
    let ends = |steps: &[(f64, f64)], flows: &[Flow]| {
        let mut platform = single_cluster_platform(&[1e9; 2], 1e3, 0.0);
        platform.links[0].bandwidth_profile = Some(Profile::new(steps.to_vec(), None).unwrap());
        let model = NetworkModel::default();
        let simulation = Simulation::<u32>::new(&platform, model);
        let changes = simulation.future_bandwidth_changes(&[LinkId(0)]);
        let mut paths = PathTable::new(&platform, model);
        let mut starts = starts(flows, &platform, &mut paths);
        let mut ends = vec![f64::NAN; flows.len()];
        let mut batch = GroupedBatch::<BottleneckedFlows>::default();
        batch.solve(
            &LinkState::all(&platform),
            changes,
            &paths,
            &mut starts,
            |name, time, _| ends[name as usize] = time,
        );
        ends
    };
    // 500 B/s each for 1 s, 250 for 1.6 s; then 500 for 0.4 s and 1 000 for 0.7 s.
    let steps = [(1.0, 500.0), (3.0, 1e3)];
    let flows = [(0.0, 0, 1, 1800.0), (0.0, 0, 1, 900.0)];
    assert_eq!(ends(&steps, &flows), [3.7, 2.6]);
    assert_eq!(ends(&[(1.0, 0.0)], &[(0.0, 0, 1, 1500.0)]), [f64::INFINITY]);
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
    let model = NetworkModel::preset("simgrid-3.3").unwrap();
    let platform = uneven_platform(1e-150, 1.0);
    let ends = ["bottleneck", "incremental"].map(|solver| ends(&flows, &platform, model, solver));
    assert!((ends[0][14] - 1.05).abs() < 1e-12);
    for (crowd, single) in ends[0].iter().zip(&ends[1]) {
        assert!((crowd - single).abs() <= 1e-11 * single, "{crowd} {single}");
    }
}

#[test]
fn ends_and_starts_that_are_near_are_not_at_one_date() {
    let platform = uneven_platform(1e-3, 1.0);
    for solver in SOLVERS {
        let ends = |flows: &[Flow]| {
            ends(
                flows,
                &platform,
                NetworkModel::preset("lv08").unwrap(),
                solver,
            )
        };
        // The second flow has 1e-7 B left when the first one ends, which takes 1e-10 s at the full rate.
        let together = ends(&[(0.0, 0, 1, 1e3), (0.0, 0, 1, 1e3 + 1e-7)]);
        let apart = together[1] - together[0];
        assert!((apart / 1e-10 - 1.0).abs() < 0.15, "{solver}: {apart:e}");
        // Two links: one flow starts 1e-9 s after the other.
        let alone = ends(&[(1.0, 0, 1, 1e3), (1.0 + 1e-9, 4, 5, 1e3)]);
        let apart = alone[1] - alone[0];
        assert!((apart / 1e-9 - 1.0).abs() < 1e-3, "{solver}: {apart:e}");
    }
}

#[test]
fn flows_of_one_path_share_it_and_what_never_ends_leaves_nothing_behind() {
    for (bandwidth, sizes, expected) in [
        // A third of 1e3 B/s each: two end after 3 s; the other has 2e3 B left, for 2 s.
        (1e3, [3e3, 1e3, 1e3], [6.0, 4.0, 4.0]),
        // The end of 1e200 B exceeds the largest number.
        (1e-200, [1e200; 3], [f64::INFINITY; 3]),
        (1e-200, [1e-200; 3], [4.0; 3]),
    ] {
        let platform = single_cluster_platform(&[1e9; 2], bandwidth, 0.0);
        let mut paths = PathTable::new(&platform, NetworkModel::default());
        let mut solvers = Solvers::default();
        for solver in ["incremental", "bottleneck", "incremental", "bottleneck"] {
            let mut starts = starts(
                &sizes.map(|bytes| (1.0, 0, 1, bytes)),
                &platform,
                &mut paths,
            );
            let mut ends = [f64::NAN; 3];
            solvers.solve(solver, &platform, &paths, &mut starts, |flow, date| {
                ends[flow as usize] = date;
                None
            });
            assert_eq!(ends, expected, "{solver}");
        }
    }
}

proptest! {
    #[test]
    fn flows_end_at_the_same_times_by_all_solvers(
        flows in random_flows(40),
        latency in prop_oneof![Just(1e-3), Just(0.2), Just(1e-150)],
        narrow in prop_oneof![Just(1.0), Just(0.1), Just(3.0)],
        preset in prop_oneof![Just("cm02"), Just("lv08"), Just("simgrid-3.3")],
    ) {
        let platform = uneven_platform(latency, narrow);
        let model = NetworkModel::preset(preset).unwrap();
        let [memoized, incremental, crowd] =
            SOLVERS.map(|solver| ends(&flows, &platform, model, solver));
        for ((memoized, incremental), crowd) in memoized.iter().zip(incremental).zip(crowd) {
            prop_assert!((crowd - incremental).abs() <= 1e-11 * crowd, "{} {}", crowd, incremental);
            prop_assert!((memoized - incremental).abs() <= 1e-11 * incremental, "{} {}", memoized, incremental);
        }
    }
}
