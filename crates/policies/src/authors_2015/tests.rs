//! Tests of the policy over supersteps and calls, on two clusters of two hosts.

use super::*;
use crate::{Measures, testing::test_view};
use migsim_base::{
    random::StreamPurpose,
    units::{Bytes, Instructions, InstructionsPerSecond, Seconds},
};
use migsim_bsp::Message;
use migsim_engine::testing::single_cluster_platform;
use migsim_platform::{Cluster, Platform};

/// Returns the clusters `slow` (1 Ginstr/s) and `fast` (2 Ginstr/s), of two hosts each.
fn platform() -> Platform {
    let mut platform = single_cluster_platform(&[1e9, 1e9, 2e9, 2e9], 1e6, 0.0);
    let cluster = |(name, hosts): (&str, std::ops::Range<u32>)| Cluster {
        name: name.into(),
        hosts,
    };
    platform.clusters = [("slow", 0..2), ("fast", 2..4)].map(cluster).to_vec();
    for host in &mut platform.hosts[2..] {
        host.cluster = ClusterId(1);
    }
    platform
}

/// Shows supersteps to the policy until it requests a call, applies its moves, and returns the decision. p0 sends 1 MB to p1 in each
/// superstep; both compute 1 Ginstr.
fn call(policy: &mut Authors2015, placement: &mut [HostId], first: usize) -> Decision {
    let platform = platform();
    let mut measures = Measures::default();
    measures.clear(2);
    let messages = [Message {
        from: ProcessId(0),
        to: ProcessId(1),
        size: Bytes::of(1e6),
    }];
    let work = Instructions::of(1e9);
    for superstep in first..first + 4 {
        measures.work = vec![work; 2];
        measures.computation_times = (placement.iter())
            .map(|host| work / platform.hosts[host.index()].speed)
            .collect();
        measures.communication_times = vec![Seconds::of(0.25); 2];
        let view = View {
            superstep,
            messages: &messages,
            ..test_view(&platform, placement, &measures)
        };
        if policy.is_call_due(&view) {
            let decision =
                policy.decide(&view, &mut Stream::new(1, StreamPurpose::PolicyDecisions));
            let decision = decision.unwrap();
            policy.on_migrations_executed(decision.migrations.len());
            for migration in &decision.migrations {
                placement[migration.process.index()] = migration.to;
            }
            return decision;
        }
    }
    panic!("no call came")
}

fn policy(heuristic: Heuristic) -> Authors2015 {
    let config = Authors2015Config {
        heuristic,
        alpha: 4,
        ..Authors2015Config::default()
    };
    Authors2015::new(config).unwrap()
}

#[test]
fn one_moves_one_process_more_at_each_call_since_marks_stay() {
    let mut policy = policy(Heuristic::One);
    let mut placement = [HostId(0), HostId(1)];
    let first = call(&mut policy, &mut placement, 0);
    let moved = |decision: &Decision| -> Vec<(usize, HostId)> {
        let moves = decision.migrations.iter();
        moves.map(|one| (one.process.index(), one.to)).collect()
    };
    // ISet: 1/2 + 1/2 of slow against 2 + 2 of fast. Both processes have PM 15/16 s on fast, and two equal ones keep their order.
    assert_eq!(moved(&first), [(0, HostId(2))]);
    // p0 has 15/32 s there and stays. p1 has 15/16 s, is the first, and goes to the host of fast that is empty.
    let second = call(&mut policy, &mut placement, 4);
    let marks = second.explanation_json()["candidates_of_earlier_calls"].as_u64();
    assert_eq!(marks, Some(1));
    assert_eq!(moved(&second), [(1, HostId(3))]);
    let third = call(&mut policy, &mut placement, 8);
    // Both processes are on fast, so that both Sets have the same index, and p0 prefers the first. p1 at home: 15/32 + 15/64 - 15/16 s,
    // below 0. The time of communication on slow, which it has left, attracts it to slow: 15/32 + 15/64 s. p0 has the lower number and
    // takes the first host.
    assert_eq!(moved(&third), [(0, HostId(0)), (1, HostId(1))]);
    let scores: Vec<f64> = third.candidates.iter().map(|one| one.score).collect();
    assert_eq!(scores, [45.0 / 64.0, 30.0 / 64.0]);
}

#[test]
fn a_process_in_a_cluster_that_is_no_set_ends_the_run_with_its_place() {
    let platform = platform();
    let mut measures = Measures::default();
    measures.clear(1);
    let view = test_view(&platform, &[HostId(0)], &measures);
    let set = |cluster: &str, hosts| DeclaredSet {
        cluster: cluster.into(),
        hosts,
        power: InstructionsPerSecond::of(1e9),
    };
    let error = |sets: Vec<DeclaredSet>| {
        let config = Authors2015Config {
            sets,
            ..Authors2015Config::default()
        };
        let mut policy = Authors2015::new(config).unwrap();
        assert!(policy.is_call_due(&view));
        let error = policy.decide(&view, &mut Stream::new(1, StreamPurpose::PolicyDecisions));
        error.unwrap_err().to_string()
    };
    let found = error(vec![set("fast", 2)]);
    assert!(
        found.contains("process p1 is in cluster `slow`, which `sets` does not list"),
        "{found}"
    );
    let found = error(vec![set("slow", 3)]);
    assert!(
        found.contains("cluster `slow` has 2 hosts, but `hosts` of its entry is 3"),
        "{found}"
    );
    let found = error(vec![set("slow", 2), set("fats", 2)]);
    assert!(
        found.contains("sets[1].cluster") && found.contains("did you mean `fast`"),
        "{found}"
    );
    let found = error(vec![set("slow", 2), set("slow", 1)]);
    assert!(
        found.contains("the list `sets` names the cluster `slow` twice"),
        "{found}"
    );
}

#[test]
fn options_out_of_range_are_named() {
    let config = Authors2015Config {
        alpha: 0,
        x: 1.5,
        d: -1.0,
        pattern_margin: f64::NAN,
        ..Authors2015Config::default()
    };
    let error = Authors2015::new(config).unwrap_err().to_string();
    for key in ["alpha", "x", "d", "pattern_margin"] {
        assert!(error.contains(&format!("`{key}` is")), "{key}: {error}");
    }
}
