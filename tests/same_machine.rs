//! A platform and its export for `SimGrid` are the same platform: they have the same tables, times and decisions.

use std::fs;

use migsim::{
    bsp::Scenario,
    error::Error,
    experiment::{Experiment, Layers, Progress, Results},
    memory::Limits,
    output::{OutputForm, platform_sheet},
    platform::{open_within_limits, to_simgrid},
};
use proptest::{prelude::*, test_runner::RngSeed};
use serde_json::{Value, json};

use crate::support::{ROUNDING, assert_close, draws};

const NETWORKS: [&str; 3] = ["switch", "shared-medium", "unshared"];
const BANDWIDTHS: [&str; 5] = ["10 Mbps", "100 Mbps", "333 Mbps", "500 Mbps", "1 Gbps"];
const LATENCIES: [&str; 5] = ["1 us", "50 us", "100 us", "333 us", "2 ms"];
const SPEEDS: [&str; 4] = ["0.6 GHz", "1 GHz", "1.7 GHz", "3.8 GHz"];

/// Draws one of these texts.
fn any_of<const N: usize>(texts: [&'static str; N]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(texts.to_vec())
}

prop_compose! {
    fn any_link(may_be_duplex: bool)(
        bandwidth in any_of(BANDWIDTHS),
        latency in any_of(LATENCIES),
        is_duplex in any::<bool>(),
    ) -> Value {
        json!({ "bandwidth": bandwidth, "latency": latency, "duplex": is_duplex && may_be_duplex })
    }
}

prop_compose! {
    /// Draws equal hosts: a cluster, or a group of one host.
    fn any_hosts()(
        hosts in 1_u32..5,
        speed in any_of(SPEEDS),
        cores in 1_u32..5,
        has_memory in prop::bool::weighted(0.2),
    ) -> Value {
        let mut hosts = json!({ "hosts": hosts, "speed": speed, "cores": cores });
        if has_memory {
            hosts["memory"] = json!("1.2 MB");
        }
        hosts
    }
}

prop_compose! {
    fn any_cluster()(network in any_of(NETWORKS))(
        router in 0_u32..3,
        link in any_link(network == "switch"),
        own in prop::option::of(any_link(network == "switch")),
        equal in any_hosts(),
        groups in prop::option::weighted(0.3, prop::collection::vec(any_hosts(), 1..3)),
        network in Just(network),
    ) -> Value {
        let mut cluster = json!({ "network": network, "router": format!("R{router}"), "link": link });
        if let Some(mut groups) = groups {
            if let Some(own) = own.filter(|_| network != "shared-medium") {
                groups[0]["link"] = own;
            }
            cluster["groups"] = json!(groups);
        } else if let Some(equal) = equal.as_object() {
            equal.iter().for_each(|(key, value)| cluster[key] = value.clone());
        }
        cluster
    }
}

prop_compose! {
    /// Draws up to five clusters at three routers in a row, or in a ring.
    fn any_platform()(
        mut clusters in prop::collection::vec(any_cluster(), 1..6),
        links in prop::collection::vec(any_link(true), 3),
        is_ring in any::<bool>(),
    ) -> Value {
        for (cluster, name) in clusters.iter_mut().zip(["a", "b", "c1", "c2", "d-e"]) {
            cluster["name"] = json!(name);
        }
        let ends = [("R0", "R1"), ("R1", "R2"), ("R2", "R0")];
        let links = links.into_iter().zip(ends).enumerate().take(if is_ring { 3 } else { 2 });
        let links = links.map(|(index, (mut link, (from, to)))| {
            link["name"] = json!(format!("L{index}"));
            link["from"] = json!(from);
            link["to"] = json!(to);
            link
        });
        let links: Vec<Value> = links.collect();
        json!({ "schema": "migsim-platform-1", "name": "drawn", "clusters": clusters, "links": links })
    }
}

/// Runs the platform in this file; returns the reason of a refusal, without the name of the file.
fn results(platform: &str, policy: &str, network: &str) -> Result<Results, String> {
    let settings = [
        ("platform", json!(platform)),
        ("workload.app", json!("synthetic")),
        ("workload.procs", json!(6)),
        ("workload.spread", json!(0.5)),
        ("mapping", json!("contiguous")),
        ("network.model", json!(network)),
        ("policy.name", json!(policy)),
        ("policy.migbsp.alpha", json!(2)),
        ("policy.migbsp.memory_rate", json!("backbone")),
    ];
    let reason = |error: Error| error.to_string().replace(platform, "PLATFORM");
    let experiment =
        Experiment::load(&Layers::from_pairs(settings), Limits::default()).map_err(reason)?;
    experiment.run(&Progress::default()).map_err(reason)
}

fn check(platform: &Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let name = |file: &str| folder.path().join(file).display().to_string();
    let (ours, theirs) = (name("drawn.json"), name("drawn.xml"));
    fs::write(&ours, platform.to_string()).expect("a file");
    let loaded = open_within_limits(&ours, Limits::default()).expect("a platform");
    let export = to_simgrid(&loaded.platform).expect("it can be written");
    assert!(export.profile_files.is_empty());
    fs::write(&theirs, &export.xml).expect("a file");
    let again = open_within_limits(&theirs, Limits::default()).expect("the export");
    assert_eq!(again.user_notes, [""; 0]);
    // Only zones leave their clusters open, so clusters from names are not judged.
    let table = |loaded| platform_sheet(loaded, true, usize::MAX).render(OutputForm::Table);
    assert_eq!(table(&loaded), table(&again), "{platform}");
    for (policy, network) in [
        ("never", "cm02"),
        ("migbsp", "lv08"),
        ("greedy-refine", "lv08"),
    ] {
        let both = [&ours, &theirs].map(|file| results(file, policy, network));
        let [ours, theirs] = &both;
        let (Ok(ours), Ok(theirs)) = (ours, theirs) else {
            assert_eq!(ours.as_ref().err(), theirs.as_ref().err(), "{platform}");
            continue;
        };
        for scenario in [Scenario::I, Scenario::Ii, Scenario::Iii] {
            let (ours, theirs) = (ours.get(scenario), theirs.get(scenario));
            let (Some(ours), Some(theirs)) = (ours, theirs) else {
                assert!(ours.is_none() && theirs.is_none());
                continue;
            };
            let what = format!("{policy}, {scenario:?} of {platform}");
            let (ours, theirs) = (&ours.outcome, &theirs.outcome);
            let [expected, found] = [ours, theirs].map(|one| one.makespan.get());
            assert_close(found, expected, ROUNDING, &what);
            assert_eq!(ours.migrations.len(), theirs.migrations.len(), "{what}");
        }
    }
}

#[test]
fn a_platform_and_its_export_are_the_same_machine() {
    let config = ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        cases: u32::try_from(draws(40, 1000)).expect("a number of cases"),
        ..ProptestConfig::default()
    };
    proptest!(config, |(platform in any_platform())| check(&platform));
}
