//! Tests of the rules that place processes on hosts.

use super::*;
use proptest::prelude::*;

/// Returns a platform of clusters a (2 hosts) and b (3 hosts).
fn platform() -> Platform {
    let text = r#"{"schema": "migsim-platform-1", "name": "five", "clusters": [
            {"name": "a", "hosts": 2, "speed": "1 GHz", "cores": 4, "link": {"bandwidth": "1 Gbps", "latency": "0 s"}, "router": "R"},
            {"name": "b", "hosts": 3, "speed": "1 GHz", "link": {"bandwidth": "1 Gbps", "latency": "0 s"}, "router": "R"}]}"#;
    crate::from_json("five.json", text).unwrap().platform
}

fn place(mapping: &str, processes: usize) -> Result<Vec<u32>, String> {
    let mapping: Mapping = mapping.parse().unwrap();
    match mapping.place(&platform(), processes) {
        Ok(hosts) => Ok(hosts.into_iter().map(|host| host.0).collect()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn contiguous_fills_hosts_and_wraps_around() {
    assert_eq!(place("contiguous", 7).unwrap(), [0, 1, 2, 3, 4, 0, 1]);
    assert!(place("contiguous", 0).unwrap().is_empty());
}

#[test]
fn round_robin_deals_to_clusters() {
    // a: 0 1, b: 2 3 4
    assert_eq!(place("round-robin", 8).unwrap(), [0, 2, 1, 3, 0, 4, 1, 2]);
}

#[test]
fn explicit_names_hosts_ranges_and_clusters() {
    assert_eq!(place("b-2, a, b-0..b-1", 5).unwrap(), [4, 0, 1, 2, 3]);
    assert_eq!(place("a-0,a-0", 2).unwrap(), [0, 0]);
}

#[test]
fn by_core_fills_the_cores_of_a_host_then_the_next_one() {
    // a-0 and a-1 have 4 cores, the hosts of b one each: 11 cores.
    let expected = [0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 4, 0, 0];
    assert_eq!(place("by-core", 13).unwrap(), expected);
    assert_eq!(place("by-core:b,a-1", 8).unwrap(), [2, 3, 4, 1, 1, 1, 1, 2]);
    assert_eq!(place("by-core: a", 9).unwrap(), [0, 0, 0, 0, 1, 1, 1, 1, 0]);
}

#[test]
fn rules_keep_to_the_hosts_that_are_named() {
    assert_eq!(place("contiguous:b", 4).unwrap(), [2, 3, 4, 2]);
    assert_eq!(
        place("round-robin:b-1..b-2,a-0", 5).unwrap(),
        [3, 0, 4, 0, 3]
    );
    assert_eq!(place("by-speed:b-2,a-1", 5).unwrap(), [4, 1, 1, 1, 1]);
    assert_eq!(place("fast-first:b-2,a-1", 5).unwrap(), [4, 1, 1, 1, 1]);
    let error = place("by-core:c", 2).unwrap_err();
    assert!(
        error.contains("the mapping names the unknown host `c`"),
        "{error}"
    );
}

#[test]
fn by_speed_shares_in_proportion_to_speed_and_cores() {
    // Powers 4 4 1 1 1 of 11: 22 processes are 8 8 2 2 2.
    let eight = |host| [host; 8];
    let expected = [&eight(0)[..], &eight(1), &[2, 2, 3, 3, 4, 4]].concat();
    assert_eq!(place("by-speed", 22).unwrap(), expected);
    // Quotas of 7: 2.55 2.55 0.64 0.64 0.64; whole 2 2 0 0 0, and the three left go to b-0, b-1, b-2 (0.64 is more than 0.55).
    assert_eq!(place("by-speed", 7).unwrap(), [0, 0, 1, 1, 2, 3, 4]);
    // Quotas of 5: 1.82 1.82 0.45 0.45 0.45; whole 1 1, two left for a-0, a-1, and the last for the first of b.
    assert_eq!(place("by-speed", 5).unwrap(), [0, 0, 1, 1, 2]);
    assert!(place("by-speed", 0).unwrap().is_empty());
}

#[test]
fn speeds_at_the_ends_of_their_range_are_shared_like_others() {
    let mut platform = platform();
    for (host, speed) in platform.hosts.iter_mut().zip([1e21, 1e21, 5e20, 1e-9, 1.0]) {
        host.speed = migsim_base::units::InstructionsPerSecond::new(speed).unwrap();
    }
    // Powers of 4, 4, 0.5 and almost 0.
    let places = Mapping::Rule(MappingRule::BySpeed, Vec::new())
        .place(&platform, 17)
        .unwrap();
    let count = |host| places.iter().filter(|place| place.0 == host).count();
    assert_eq!([0, 1, 2, 3, 4].map(count), [8, 8, 1, 0, 0]);
}

#[test]
fn processes_without_room_go_where_they_compute_fastest() {
    let place = |mapping: &str, memory: &[f64]| {
        let mut platform = platform();
        for host in &mut platform.hosts[..2] {
            host.memory = Some(Bytes::of(2.0));
        }
        let memory: Vec<Bytes> = memory.iter().map(|bytes| Bytes::of(*bytes)).collect();
        let mapping: Mapping = mapping.parse().unwrap();
        let places = mapping.place_with_memory(&platform, &memory).unwrap();
        places.into_iter().map(|host| host.0).collect::<Vec<_>>()
    };
    // Each host of a holds two of its four processes; b-0, b-1, b-2 get one each, and b-0 the last.
    for rule in ["by-core", "fast-first"] {
        assert_eq!(place(rule, &[1.0; 8]), [0, 0, 2, 3, 1, 1, 4, 2], "{rule}");
    }
    assert_eq!(place("contiguous:a", &[1.0; 4]), [0, 1, 0, 1]);
    // The largest is placed first. Where no host has room, a process keeps its host.
    assert_eq!(place("by-core:a", &[1.0, 1.0, 2.0]), [1, 1, 0]);
    assert_eq!(place("by-core:a", &[1.0, 2.0, 2.0]), [0, 0, 1]);
    assert_eq!(place("a-0,a-0,a-0", &[1.0; 3]), [0; 3]);
}

#[test]
fn rules_by_speed_see_a_profile_and_a_load_that_last() {
    let places = |rule, profiles: [&[(f64, f64)]; 2], load: Option<f64>| {
        let mut platform = platform();
        for (host, steps) in platform.hosts.iter_mut().zip(profiles) {
            host.speed_profile = Some(crate::Profile::new(steps.to_vec(), None).unwrap());
        }
        if let Some(load) = load {
            let key = serde_json::json!({ "kind": "constant", "load": load, "on": "a", "values": "reserved" });
            let key = serde_json::from_value(key).unwrap();
            let loads = crate::load::Loads::read(&crate::load::standard(), Some(&key)).unwrap();
            loads.put_on(&mut platform, 1).unwrap();
        }
        let mapping = Mapping::Rule(rule, Vec::new());
        let places = mapping.place(&platform, 4).unwrap();
        let names = places
            .into_iter()
            .map(|host| platform.hosts[host.index()].cluster.0);
        names.collect::<Vec<u32>>()
    };
    for rule in [MappingRule::BySpeed, MappingRule::FastFirst] {
        // The hosts of cluster a (0) work at a thousandth of their speed, or from 1 s on, or only until then.
        assert_eq!(places(rule, [&[(0.0, 0.001)]; 2], None), [1; 4], "{rule:?}");
        assert_ne!(places(rule, [&[(1.0, 0.001)]; 2], None), [1; 4], "{rule:?}");
        let until = [(0.0, 0.001), (1.0, 1.0)];
        assert_ne!(places(rule, [&until; 2], None), [1; 4], "{rule:?}");
        assert_eq!(places(rule, [&[]; 2], Some(0.98)), [1; 4], "{rule:?}");
    }
}

proptest! {
    #[test]
    fn shares_are_whole_quotas_give_or_take_one(
        weights in prop::collection::vec(1_u32..1000, 1..40),
        count in 0_usize..10_000,
    ) {
        let total: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
        let shares = proportional_shares(weights.iter().map(|weight| f64::from(*weight)), count);
        prop_assert_eq!(shares.iter().sum::<usize>(), count);
        for (at, (&weight, &share)) in weights.iter().zip(&shares).enumerate() {
            // The result is the quota, weight · count / total, rounded down or up.
            let product = u64::from(weight) * count as u64;
            prop_assert!(share as u64 * total < product + total);
            prop_assert!((share as u64 + 1) * total > product);
            // Of equal weights, an earlier one never gets less.
            for (other, more) in weights[..at].iter().zip(&shares) {
                prop_assert!(*other != weight || *more >= share);
            }
        }
    }

    #[test]
    fn every_rule_places_every_process_and_by_core_crowds_no_host_before_all_are_full(
        processes in 0_usize..60,
        list in prop::sample::subsequence(vec!["a-0", "a-1", "b-0", "b-1", "b-2"], 0..=5),
    ) {
        let platform = platform();
        let entries: Vec<String> = list.iter().map(|name| (*name).to_owned()).collect();
        let allowed = |host: &HostId| {
            let name = &*platform.hosts[host.index()].name;
            list.is_empty() || list.contains(&name)
        };
        for rule in MappingRule::ALL {
            let places = Mapping::Rule(rule, entries.clone()).place(&platform, processes);
            let places = places.unwrap();
            prop_assert_eq!(places.len(), processes);
            prop_assert!(places.iter().all(allowed));
            if rule == MappingRule::ByCore {
                let hosts = (0..5).map(HostId).filter(|host| allowed(host));
                let rounds = hosts.map(|host| {
                    let count = places.iter().filter(|place| **place == host).count();
                    count.div_ceil(platform.hosts[host.index()].cores as usize)
                });
                let rounds: Vec<usize> = rounds.collect();
                prop_assert!(rounds.iter().max().unwrap() - rounds.iter().min().unwrap() <= 1);
            }
        }
    }
}
