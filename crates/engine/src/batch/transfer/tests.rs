//! Tests of the choice and the run of a batch.

use proptest::prelude::*;

use super::{
    super::testing::{Flow, SOLVERS, Solvers, starts, uneven_platform},
    *,
};
use crate::{NetworkModel, testing::single_cluster_platform};
use migsim_base::units::{HostId, Seconds};

/// Two flows with high latency (a large weight) end just as a third flow with almost no latency starts and takes their whole link for a
/// second. Returns the expected and the computed end of each flow. The third flow starts at that time up to rounding, or is chained to an
/// end at that time.
fn ends_at_a_start(case: u32, follows: bool, solver: &str) -> [(f64, f64); 3] {
    let mut platform = single_cluster_platform(&[1e9; 6], 1e3, 1e-150);
    platform.links[0].latency = Seconds::new(1.0).unwrap();
    let mut paths = PathTable::new(&platform, NetworkModel::default());
    let mut path = |from, to| {
        paths
            .find_or_add_path(
                &platform,
                &LinkState::all(&platform),
                HostId(from),
                HostId(to),
            )
            .unwrap()
    };
    let (heavy, beside, light, alone) = (path(0, 1), path(0, 3), path(2, 1), path(4, 5));
    let start = |name, path, date, bytes| FlowStart {
        start_time: date,
        path,
        bytes,
        flow_id: name,
    };
    // The first flow has half of a link until the flow beside it ends; then the second flow starts and ends slightly earlier.
    let case = f64::from(case);
    let (date, shared, more) = (0.1 * case, 100.0 + 0.37 * case, 0.0123 * (1.0 + case));
    let end = date + (2.0 * shared + 2.0 * more) / 1e3;
    let rounding = 3e-15 * end;
    let mut starts = vec![
        start(0, heavy, date, shared + more),
        start(1, heavy, date + shared / 500.0, more - 500.0 * rounding),
        start(2, beside, date, shared),
    ];
    let taker = start(4, light, end - rounding, 1e3);
    starts.push(if follows {
        start(3, alone, date, 2.0 * shared + 2.0 * more)
    } else {
        taker
    });
    let mut ends = [f64::NAN; 5];
    let ended = |name: u32, date| {
        ends[name as usize] = date;
        (follows && name == 3).then_some(FlowStart {
            start_time: date,
            ..taker
        })
    };
    Solvers::default().solve(solver, &platform, &paths, &mut starts, ended);
    [(end, ends[0]), (end, ends[1]), (end + 1.0, ends[4])]
}

#[test]
fn a_flow_that_ends_where_another_starts_has_ended_whatever_the_rounding() {
    for case in 0..400 {
        for (follows, solver) in [
            (false, "memoized"),
            (false, "incremental"),
            (true, "memoized"),
            (true, "incremental"),
        ] {
            for (expected, end) in ends_at_a_start(case, follows, solver) {
                assert!(
                    (end - expected).abs() <= 1e-12 * expected,
                    "case {case}, in turn {follows}, {solver}: {end} instead of {expected}"
                );
            }
        }
    }
}

/// A latency ends at its own time, even if it is shorter than the tolerance of equal times.
#[test]
fn a_flow_that_starts_a_little_after_an_end_does_not_start_with_it() {
    let platform = single_cluster_platform(&[1e9; 4], 1e3, 0.0);
    let mut paths = PathTable::new(&platform, NetworkModel::default());
    let path = paths
        .find_or_add_path(&platform, &LinkState::all(&platform), HostId(0), HostId(1))
        .unwrap();
    // The latency is 5e-15 of the time.
    let (first, latency, count) = (1e10, 5e-5, 200);
    let start = |name, date| FlowStart {
        start_time: date,
        path,
        bytes: 1e3,
        flow_id: name,
    };
    let expected = first + f64::from(count) + f64::from(count - 1) * latency;
    for solver in SOLVERS {
        let mut end = f64::NAN;
        let ended = |name: u32, date: f64| {
            end = date;
            (name + 1 < count).then(|| start(name + 1, date + latency))
        };
        Solvers::default().solve(solver, &platform, &paths, &mut [start(0, first)], ended);
        // The tolerance covers the sum of 400 roundings.
        let apart = (end - expected).abs();
        assert!(apart <= 200.0 * 2e-6, "{solver}: {end} {expected}");
    }
}

/// Returns the ends of flows, to the last bit, by each of three solvers that have solved other batches before.
fn ends_after(
    before: &[Vec<Flow>],
    flows: &[Flow],
    (latency, narrow): (f64, f64),
) -> [Vec<u64>; 3] {
    let platform = uneven_platform(latency, narrow);
    let mut paths = PathTable::new(&platform, NetworkModel::preset("lv08").unwrap());
    // The paths are numbered by the last batch, whatever was solved before.
    let last = starts(flows, &platform, &mut paths);
    let before = before
        .iter()
        .map(|flows| starts(flows, &platform, &mut paths));
    let batches: Vec<_> = before
        .collect::<Vec<_>>()
        .into_iter()
        .chain([last])
        .collect();
    let mut solvers = Solvers::default();
    SOLVERS.map(|solver| {
        let mut ends = Vec::new();
        for batch in &batches {
            ends = vec![0; batch.len()];
            solvers.solve(
                solver,
                &platform,
                &paths,
                &mut batch.clone(),
                |flow, date| {
                    ends[flow as usize] = date.to_bits();
                    None
                },
            );
        }
        ends
    })
}

proptest! {
    #[test]
    fn a_batch_ends_to_the_bit_as_if_it_were_the_first(
        before in prop::collection::vec(crate::testing::random_flows(3), 1..4),
        flows in crate::testing::random_flows(3),
        latency in prop_oneof![Just(1e-3), Just(0.2), Just(1e-150)],
        narrow in prop_oneof![Just(1.0), Just(0.1), Just(1e8)],
    ) {
        let machine = (latency, narrow);
        prop_assert_eq!(ends_after(&before, &flows, machine), ends_after(&[], &flows, machine));
    }
}

#[test]
fn equal_flows_of_one_time_to_one_host_end_together_and_no_others() {
    let platform = single_cluster_platform(&[1e9; 6], 1e3, 0.0);
    let mut paths = PathTable::new(&platform, NetworkModel::default());
    let mut start =
        |(from, to), date, bytes| starts(&[(date, from, to, bytes)], &platform, &mut paths)[0];
    let to_one = [(0, 2), (1, 2), (3, 2)].map(|ends| start(ends, 1.0, 10.0));
    let from_one = [(2, 0), (2, 1), (2, 3)].map(|ends| start(ends, 1.0, 10.0));
    let others = [
        vec![to_one[0], start((1, 2), 1.5, 10.0)],
        vec![to_one[0], start((1, 2), 1.0, 11.0)],
        [(0, 1), (1, 2), (2, 3)]
            .map(|ends| start(ends, 1.0, 10.0))
            .to_vec(),
    ];
    assert!(
        do_most_flows_end_together(&to_one, &paths)
            && do_most_flows_end_together(&from_one, &paths)
    );
    for flows in others {
        assert!(!do_most_flows_end_together(&flows, &paths), "{flows:?}");
    }
}

#[test]
fn sets_recur_in_chains_and_multicasts_and_not_between_random_partners() {
    let platform = migsim_platform::open("ufrgs").unwrap().platform;
    let mut paths = PathTable::new(&platform, NetworkModel::default());
    let mut recurs = |pairs: Vec<(u32, u32)>, sizes: usize| {
        let host = |host: u32| HostId(host % 100 + 50);
        let path = |(from, to)| {
            paths
                .find_or_add_path(&platform, &LinkState::all(&platform), host(from), host(to))
                .unwrap()
        };
        let flows: Vec<(PathId, f64)> = pairs
            .into_iter()
            .map(path)
            .zip((0..sizes).cycle().map(|n| n as f64))
            .collect();
        RecurrencePredictor::default().do_active_sets_recur(flows.into_iter(), &paths)
    };
    let chain: Vec<_> = (0..99).map(|n| (n, n + 1)).collect();
    let multicasts: Vec<_> = (0..100)
        .filter(|n| n % 10 != 0)
        .map(|n| (n / 10 * 10, n))
        .collect();
    // Each host sends to three others; the steps are those of a linear congruential generator (Knuth 1997).
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        u32::try_from(state >> 33).unwrap() % 99 + 1
    };
    let partners: Vec<_> = (0..300).map(|n| (n % 100, n % 100 + random())).collect();
    assert!(recurs(chain.clone(), 1) && recurs(multicasts.clone(), 2));
    // Two processes on each host: four flows per receiver, of few senders.
    assert!(recurs([&multicasts[..]; 4].concat(), 1));
    assert!(!recurs([&chain[..]; 3].concat(), 1));
    assert!(!recurs(partners.clone(), 1));
    // Flows of many sizes never end together; a few flows are always memoized, very many never.
    assert!(!recurs(chain.clone(), 20) && recurs(partners[..64].to_vec(), 64));
    assert!(!recurs([&chain[..]; 6].concat(), 1));
}
