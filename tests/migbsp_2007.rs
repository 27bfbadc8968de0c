//! The first generation of `MigBSP`: the claims of its paper, the bounds of its metrics on any platform and workload, and its options on
//! cases worked by hand. (The numbers of the paper's own examples are checked in unit tests beside the code.)

use migsim::{
    bsp::Scenario,
    experiment::Progress,
    paper::reproduce,
    platform::{Platform, Profile},
    policy::{
        Decision, MigBsp2007, MigBsp2007Config,
        migbsp::OwnCluster,
        migbsp_2007::{Load, OwnPartner},
    },
};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{Case, Plans, Wire, bytes, machine, plan, seconds};

fn policy(config: MigBsp2007Config) -> MigBsp2007 {
    MigBsp2007::new(config).expect("options in range")
}

fn default() -> MigBsp2007Config {
    MigBsp2007Config::default()
}

#[test]
fn the_policy_is_as_the_paper_claims() {
    let results = reproduce("wsppd2007", &Progress::default()).expect("it is a paper");
    let claims = &results.papers[0].claims;
    assert_eq!(claims.len(), 20);
    for claim in claims {
        let wanted = if claim.id == "w07-c20" {
            "not checkable"
        } else {
            "holds"
        };
        assert_eq!(claim.verdict, wanted, "{}: {}", claim.id, claim.value);
    }
}

/// Two clusters of three hosts, 1 and 2 GHz; 1e6 B/s inside, `backbone` B/s between them.
fn pair(backbone: f64) -> Platform {
    machine(&[&[1e9; 3], &[2e9; 3]], Wire(1e6, 0.0), Wire(backbone, 0.0))
}

/// Process 0 on h0 computes 1 s and receives from processes on h3 and h4, which compute little. It therefore prefers the second cluster.
fn drawn() -> Plans {
    let superstep = plan(&[1e9, 1e6, 1e6], &[(1, 0, 1e3), (2, 0, 1e3)]);
    let mut plans = Plans::repeat(superstep, 5);
    plans.memory = vec![1e3; 3];
    plans
}

/// Returns the decision of the first call in a run of `drawn` without moves.
fn first_call(platform: &Platform, config: MigBsp2007Config) -> Decision {
    let workload = drawn();
    let case = Case {
        scenario: Scenario::Ii,
        ..Case::new(platform, &workload, [0, 3, 4])
    };
    let outcome = case.run_with(policy(config)).expect("the run ends");
    outcome.calls[0].decision.clone()
}

/// Returns the destination host of process 0, if it moves.
fn destination(decision: &Decision) -> Option<u32> {
    let mut migrations = decision.migrations.iter();
    migrations
        .find(|wanted| wanted.process.0 == 0)
        .map(|wanted| wanted.to.0)
}

/// Returns a term of process 0 and a cluster.
fn term(decision: &Decision, cluster: &str, key: &str) -> f64 {
    let explained = decision.explanation_json();
    let all = explained["potentials"].as_array();
    let is_it = |terms: &&Value| terms["process"] == 1 && terms["cluster"] == cluster;
    let mut found = all.into_iter().flatten().filter(is_it);
    found.next().expect("a term")[key]
        .as_f64()
        .expect("a number")
}

#[test]
fn the_potential_is_the_sum_of_the_metrics() {
    // IP = 1 and IC(b) = 1, since both are regular. 1e3 B over 1e6 B/s to b and to the next host of a give IT = 1 for both, and IM = 1.
    let decision = first_call(&pair(1e6), default());
    for (cluster, communication) in [("a", 0.0), ("b", 1.0)] {
        assert_eq!(term(&decision, cluster, "processing"), 1.0);
        assert_eq!(term(&decision, cluster, "communication"), communication);
        assert_eq!(term(&decision, cluster, "memory"), 1.0);
        assert_eq!(term(&decision, cluster, "potential"), communication);
    }
    // With a backbone ten times slower, IT(a) = 1/10.
    assert_eq!(term(&first_call(&pair(1e5), default()), "a", "memory"), 0.1);
}

#[test]
fn only_a_potential_above_the_threshold_migrates() {
    let with = |threshold| {
        let config = MigBsp2007Config {
            threshold,
            ..default()
        };
        destination(&first_call(&pair(1e6), config))
    };
    // PM is 1. Host h5 is idle, h3 and h4 are not.
    assert_eq!(with(0.99), Some(5));
    assert_eq!(with(1.0), None);
}

#[test]
fn the_load_may_be_that_of_others_alone_and_is_a_mean_over_a_window() {
    let with = |platform: &Platform, load, window| {
        let config = MigBsp2007Config {
            threshold: 0.9,
            load,
            load_window: seconds(window),
            ..default()
        };
        destination(&first_call(platform, config))
    };
    let mut platform = pair(1e6);
    assert_eq!(with(&platform, Load::Measured, 900.0), Some(5));
    assert_eq!(with(&platform, Load::External, 900.0), Some(3));
    // A call comes after about 4 s. In the first three of them, h3 and h5 are half loaded.
    for host in [3, 5] {
        let profile = Profile::new(vec![(0.0, 0.5), (3.0, 1.0)], None);
        platform.hosts[host].speed_profile = profile.ok();
    }
    assert_eq!(with(&platform, Load::External, 900.0), Some(4));
    assert_eq!(with(&platform, Load::External, 0.5), Some(3));
}

#[test]
fn the_ping_pong_may_carry_other_data_than_the_image() {
    // With 10 ms between the clusters, 1e3 B take 1 ms more than that, and 1e6 B 1 s more; inside a they take 1 ms and 1 s.
    let platform = machine(&[&[1e9; 3], &[2e9; 3]], Wire(1e6, 0.0), Wire(1e6, 0.01));
    let with = |ping| {
        let config = MigBsp2007Config { ping, ..default() };
        term(&first_call(&platform, config), "a", "it")
    };
    assert_eq!(with(None), 0.001 / 0.011);
    assert_eq!(with(Some(bytes(1e6))), 1.0 / 1.01);
}

#[test]
fn the_own_cluster_competes_by_default() {
    // No process communicates, and the other cluster has a slow link: PM(a) = 1 - 1/10, PM(b) = 0.
    let platform = pair(1e5);
    let mut workload = Plans::repeat(plan(&[1e9, 1e6, 1e6], &[]), 5);
    workload.memory = vec![1e3; 3];
    let with = |own_cluster, own_partner| {
        let config = MigBsp2007Config {
            threshold: -0.5,
            own_cluster,
            own_partner,
            ..default()
        };
        let case = Case {
            scenario: Scenario::Ii,
            ..Case::new(&platform, &workload, [0, 3, 4])
        };
        let outcome = case.run_with(policy(config)).expect("the run ends");
        destination(&outcome.calls[0].decision)
    };
    assert_eq!(with(OwnCluster::Competes, OwnPartner::Next), Some(1));
    assert_eq!(with(OwnCluster::Competes, OwnPartner::Random), Some(1));
    assert_eq!(with(OwnCluster::Excluded, OwnPartner::Next), Some(5));
}

#[test]
fn a_drawn_partner_comes_from_the_seed() {
    // The other hosts of a are reached at 1e6 and at 1e5 B/s.
    let mut platform = pair(1e6);
    platform.links[2].bandwidth = migsim::units::BytesPerSecond::new(1e5).expect("a bandwidth");
    let with = |own_partner| {
        let config = MigBsp2007Config {
            own_partner,
            alpha: 1,
            d: 0.0,
            ..default()
        };
        let workload = drawn();
        let case = Case {
            scenario: Scenario::Ii,
            ..Case::new(&platform, &workload, [0, 3, 4])
        };
        let outcome = case.run_with(policy(config)).expect("the run ends");
        let calls = outcome.calls.iter();
        let seen = calls.map(|call| term(&call.decision, "a", "transfer_s"));
        seen.collect::<Vec<f64>>()
    };
    assert_eq!(with(OwnPartner::Next), [0.001; 4]);
    let drawn = with(OwnPartner::Random);
    assert!(drawn.iter().all(|&time| time == 0.001 || time == 0.01));
    assert!(drawn.contains(&0.01), "{drawn:?}");
    assert_eq!(drawn, with(OwnPartner::Random));
}

#[test]
fn several_processes_go_to_several_hosts_while_there_are_some() {
    // Four equal processes on two hosts of a prefer b, where h3 computes for 1 s, too.
    let platform = pair(1e6);
    let messages: Vec<_> = (0..4).map(|to| (4, to, 1e3)).collect();
    let mut workload = Plans::repeat(plan(&[1e9, 1e9, 1e9, 1e9, 2e9], &messages), 5);
    workload.memory = vec![1e3; 5];
    let config = MigBsp2007Config {
        threshold: 0.9,
        ..default()
    };
    let case = Case {
        scenario: Scenario::Ii,
        ..Case::new(&platform, &workload, [0, 0, 1, 1, 3])
    };
    let outcome = case.run_with(policy(config)).expect("the run ends");
    let decision = &outcome.calls[0].decision;
    let moves = decision.migrations.iter();
    let moves: Vec<_> = moves
        .map(|wanted| (wanted.process.0, wanted.to.0))
        .collect();
    // PM is equal, so that the lowest rank comes first. h3 is half busy: the third process goes there, the fourth to the less loaded of h4
    // and h5.
    assert_eq!(moves, [(0, 4), (1, 5), (2, 3), (3, 4)]);
}

#[test]
fn later_calls_are_recorded_without_all_terms() {
    let platform = pair(1e6);
    let workload = drawn();
    let config = MigBsp2007Config {
        alpha: 1,
        d: 0.0,
        explained_calls: 2,
        ..default()
    };
    let case = Case {
        scenario: Scenario::Ii,
        ..Case::new(&platform, &workload, [0, 3, 4])
    };
    let outcome = case.run_with(policy(config)).expect("the run ends");
    let has_terms = |call: &migsim::bsp::CallRecord| {
        call.decision.explanation_json().contains_key("potentials")
            && call.decision.explanation_json().contains_key("processes")
    };
    let explained: Vec<bool> = outcome.calls.iter().map(has_terms).collect();
    assert_eq!(explained, [true, true, false, false]); // no call after the last superstep
}

#[test]
fn options_out_of_range_are_all_named() {
    let config = MigBsp2007Config {
        alpha: 0,
        beta: 2.0,
        threshold: 2.5,
        load_window: seconds(0.0),
        ping: Some(bytes(0.0)),
        ..default()
    };
    let error = MigBsp2007::new(config).unwrap_err().to_string();
    for message in [
        "`alpha` is 0; it must be at least 1",
        "`beta` is 2; it must be from 0 to 1",
        "`threshold` is 2.5; it must be from -1 to 2, the range of the potential of migration",
        "`load_window` is 0 s; it must be longer than 0 s",
        "`ping` is 0 B; it must be more than 0 B",
    ] {
        assert!(error.contains(message), "{message} is not in {error}");
    }
}

/// The messages: `(from, to, bytes)`.
type Sent = (u32, u32, f64);

/// A small run: speeds of two or three clusters, processes with their hosts, work, images and messages, and options.
#[derive(Clone, Debug)]
struct Any {
    clusters: Vec<Vec<f64>>,
    hosts: Vec<u32>,
    cycle: Vec<(Vec<f64>, Vec<Sent>)>,
    memory: Vec<f64>,
    threshold: f64,
    alpha: u32,
}

fn any_run() -> impl Strategy<Value = Any> {
    let speed = prop::sample::select(vec![1e9, 1.5e9, 2e9]);
    let clusters = prop::collection::vec(prop::collection::vec(speed, 1..4), 1..4);
    (clusters, 1..6_usize).prop_flat_map(|(clusters, processes)| {
        let hosts: usize = clusters.iter().map(Vec::len).sum();
        let host = 0..u32::try_from(hosts).expect("a few");
        let rank = 0..u32::try_from(processes).expect("a few");
        let work = prop::sample::select(vec![0.0, 1e6, 1e9, 3e9]);
        let message = (
            rank.clone(),
            rank,
            prop::sample::select(vec![0.0, 1e3, 1e6]),
        );
        let superstep = (
            prop::collection::vec(work, processes),
            prop::collection::vec(message, 0..8),
        );
        let memory = prop::sample::select(vec![0.0, 1e3, 1e6]);
        (
            Just(clusters),
            prop::collection::vec(host, processes),
            prop::collection::vec(superstep, 1..4),
            prop::collection::vec(memory, processes),
            -1.0..2.0,
            1..5_u32,
        )
            .prop_map(|(clusters, hosts, cycle, memory, threshold, alpha)| Any {
                clusters,
                hosts,
                cycle,
                memory,
                threshold,
                alpha,
            })
    })
}

/// Lists all values of a key in a list of the decision record.
fn values(list: &Value, key: &str) -> Vec<f64> {
    let all = list.as_array().into_iter().flatten();
    all.map(|terms| terms[key].as_f64().expect("a number"))
        .collect()
}

/// Whether the largest of some indexes is 1, or all are 0.
fn is_normalised(indexes: &[f64]) -> bool {
    let most = indexes.iter().copied().fold(0.0, f64::max);
    most == 1.0 || indexes.iter().all(|&index| index == 0.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_metrics_are_normalised_and_the_potential_is_within_its_bounds(any in any_run()) {
        let clusters: Vec<&[f64]> = any.clusters.iter().map(Vec::as_slice).collect();
        let platform = machine(&clusters, Wire(1e7, 1e-4), Wire(1e6, 1e-3));
        let plans = any.cycle.iter().map(|(work, messages)| plan(work, messages)).collect();
        let workload = Plans { memory: any.memory.clone(), supersteps: 12, ..Plans::new(plans) };
        let case = Case { scenario: Scenario::Iii, ..Case::new(&platform, &workload, any.hosts.clone()) };
        let config = MigBsp2007Config { threshold: any.threshold, alpha: any.alpha, ..default() };
        let outcome = case.run_with(policy(config.clone())).expect("the run ends");
        for call in &outcome.calls {
            let explained = call.decision.explanation_json();
            let (processes, potentials) = (&explained["processes"], &explained["potentials"]);
            prop_assert!(is_normalised(&values(processes, "ip")) && is_normalised(&values(processes, "im")));
            prop_assert_eq!(values(potentials, "potential").len(), any.hosts.len() * clusters.len());
            for key in ["ic", "it"] {
                for of_one in values(potentials, key).chunks(clusters.len()) {
                    prop_assert!(is_normalised(of_one), "{} {:?}", key, of_one);
                }
            }
            for key in ["p_com", "processing", "communication", "memory"] {
                prop_assert!(values(potentials, key).iter().all(|value| (0.0..=1.0).contains(value)));
            }
            prop_assert!(values(potentials, "potential").iter().all(|value| (-1.0..=2.0).contains(value)));
            let candidates = &call.decision.candidates;
            prop_assert!(candidates.iter().all(|candidate| candidate.score > any.threshold));
            prop_assert!(candidates.is_sorted_by(|a, b| a.score > b.score || (a.score == b.score && a.process < b.process)));
        }
        prop_assert_eq!(outcome, case.run_with(policy(config)).expect("the run ends"));
    }
}
