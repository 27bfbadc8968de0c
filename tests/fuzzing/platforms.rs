//! Platforms in JSON and SimGrid XML: names and routes are consistent, and the export for SimGrid describes the same platform.

use migsim::{
    output::{OutputForm, platform_sheet, platform_svg},
    platform::{LoadedPlatform, Platform, from_json, from_simgrid, to_simgrid},
    units::{BytesPerSecond, HostId},
};
use serde_json::Value;

use super::{check_told, name, scratch};

/// Maximum number of hosts that are checked. Larger platforms are accepted but need time and memory; their limit has its own tests.
const MOST_HOSTS: u64 = 2000;
const MOST_CLUSTERS: u64 = 100;

/// Maximum number of hosts of a platform whose routes are all checked.
const FEW: usize = 24;

pub(super) fn json(data: &[u8]) {
    const SOURCE: &str = "fuzzed.json";
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if is_large_json(text) {
        return;
    }
    match from_json(SOURCE, text) {
        Err(error) => check_told(&error, SOURCE, text),
        Ok(loaded) => check(&loaded),
    }
}

/// Checks a platform file; after each line `== NAME` follows a profile that it may refer to.
pub(super) fn simgrid(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if is_large_radical(text) {
        return;
    }
    let folder = scratch();
    let mut parts = text.split("\n== ");
    let text = parts.next().unwrap_or_default();
    for part in parts {
        let (file, profile) = part.split_once('\n').unwrap_or((part, ""));
        if !file.contains(['/', '\0']) {
            // The name may be too long for a file.
            let _ = std::fs::write(folder.path().join(file), profile);
        }
    }
    let source = name(&folder, "fuzzed.xml");
    match from_simgrid(&source, text) {
        Err(error) => check_told(&error, &source, text),
        Ok(loaded) => check(&loaded),
    }
}

fn is_large_json(text: &str) -> bool {
    let Ok(file) = serde_json::from_str::<Value>(text) else {
        return false;
    };
    let of = |entry: &Value, key: &str| entry[key].as_u64().unwrap_or(1);
    let entries = |list: &str| file[list].as_array().cloned().unwrap_or_default();
    let (mut hosts, mut clusters) = (0_u64, 0_u64);
    for entry in entries("clusters") {
        clusters = clusters.saturating_add(of(&entry, "copies"));
        let of_copies = of(&entry, "hosts").saturating_mul(of(&entry, "copies"));
        hosts = hosts.saturating_add(of_copies);
    }
    let links = entries("links")
        .iter()
        .map(|entry| of(entry, "copies"))
        .max();
    hosts > MOST_HOSTS || clusters > MOST_CLUSTERS || links > Some(MOST_CLUSTERS)
}

/// Whether a list of hosts in the text has a number of four digits.
fn is_large_radical(text: &str) -> bool {
    text.split("radical").skip(1).any(|rest| {
        let list = rest.split(['<', '>']).next().unwrap_or_default();
        let mut numbers = list.split(|letter: char| !letter.is_ascii_digit());
        numbers.any(|number| number.trim_start_matches('0').len() > 3)
    })
}

fn check(loaded: &LoadedPlatform) {
    let platform = &loaded.platform;
    for (index, host) in platform.hosts.iter().enumerate() {
        let id = HostId::from_index(index);
        assert_eq!(platform.host_named(&host.name), Some(id));
        assert_eq!(platform.cluster_of(id), host.cluster);
        assert!(
            platform.clusters[host.cluster.index()]
                .hosts
                .contains(&id.0)
        );
    }
    platform_sheet(loaded, false, 3).render(OutputForm::Table);
    platform_svg(platform);
    if platform.hosts.len() <= FEW {
        check_export(platform);
    }
}

/// Checks that the export describes the same hosts, with routes of equal latency and bandwidth between them.
fn check_export(platform: &Platform) {
    let Ok(export) = to_simgrid(platform) else {
        return; // some platforms cannot be written
    };
    let folder = scratch();
    for (file, profile) in &export.profile_files {
        std::fs::write(folder.path().join(file), profile).expect("a file can be written");
    }
    let again = from_simgrid(&name(&folder, "export.xml"), &export.xml);
    let again = again.expect("what was written is read").platform;
    assert_eq!(again.hosts.len(), platform.hosts.len());
    let there = |id: HostId| {
        let name = &platform.hosts[id.index()].name;
        again.host_named(name).expect("the same names")
    };
    let ids = || (0..platform.hosts.len()).map(HostId::from_index);
    for from in ids() {
        let (host, other) = (
            &platform.hosts[from.index()],
            &again.hosts[there(from).index()],
        );
        assert_eq!((host.speed, host.cores), (other.speed, other.cores));
        assert_eq!(host.speed_profile, other.speed_profile);
        for to in ids().filter(|to| *to != from) {
            let way = way(platform, from, to);
            let other = self::way(&again, there(from), there(to));
            match (way, other) {
                (Some((latency, bandwidth)), Some((other, width))) => {
                    assert!(
                        (latency - other).abs() <= 1e-12 * latency,
                        "{latency} {other}"
                    );
                    assert_eq!(bandwidth, width);
                }
                (way, other) => assert_eq!(way, other),
            }
        }
    }
}

/// Returns latency \[s\] and bandwidth \[B/s\] of the route between two hosts.
fn way(platform: &Platform, from: HostId, to: HostId) -> Option<(f64, Option<f64>)> {
    let route = platform.route(from, to)?;
    let bandwidth = platform
        .bottleneck_bandwidth(&route)
        .map(BytesPerSecond::get);
    Some((platform.route_latency(&route).get(), bandwidth))
}
