//! The platforms of the oracle: the XML that `SimGrid` simulated describes the same platform as `platform.json` beside it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::float_cmp,
    reason = "a test; what both files say is read exactly"
)]

use std::{collections::BTreeMap, path::PathBuf};

use migsim::platform::{Platform, Profile, open};
use serde_json::Value;

/// Lists the folders of all cases.
fn cases() -> Vec<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle"));
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    cases
}

fn names(value: &Value) -> Vec<String> {
    let list = value.as_array().unwrap();
    list.iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// Lists the links between two groups, reversed if they are given in the other direction.
fn between(json: &Value, a: &str, b: &str) -> Vec<String> {
    for path in json["paths"].as_array().unwrap() {
        let groups = names(&path["groups"]);
        let mut links = names(&path["links"]);
        if groups == [a, b] {
            return links;
        }
        if groups == [b, a] {
            links.reverse();
            return links;
        }
    }
    Vec::new()
}

/// Asserts that a profile is that of the JSON file: it has the same steps for three rounds.
fn assert_profile(json: &Value, name: &Value, profile: Option<&Profile>, what: &str) {
    let Some(name) = name.as_str() else {
        assert!(profile.is_none(), "{what}");
        return;
    };
    let profile = profile.unwrap_or_else(|| panic!("{what} has no profile"));
    let events = json["profiles"][name]["events"].as_array().unwrap();
    let period = json["profiles"][name]["period"].as_f64();
    for index in 0..events.len() * 3 {
        let event = &events[index % events.len()];
        let round = index / events.len();
        let date = event[0].as_f64().unwrap() + round as f64 * period.unwrap_or(0.0);
        let expected = (round == 0 || period.is_some()).then(|| (date, event[1].as_f64().unwrap()));
        assert_eq!(profile.step(index), expected, "{what}");
    }
}

fn assert_same(platform: &Platform, json: &Value, case: &str) {
    let hosts = json["hosts"].as_array().unwrap();
    let links = json["links"].as_array().unwrap();
    assert_eq!(platform.hosts.len(), hosts.len(), "{case}");
    assert_eq!(platform.links.len(), links.len(), "{case}");
    let mut latencies = BTreeMap::new();
    for (link, expected) in platform.links.iter().zip(links) {
        let what = format!("{case}: link {}", link.name);
        assert_eq!(link.name, expected["name"].as_str().unwrap());
        assert_eq!(
            Some(link.bandwidth.get()),
            expected["bandwidth"].as_f64(),
            "{what}"
        );
        assert_eq!(
            Some(link.latency.get()),
            expected["latency"].as_f64(),
            "{what}"
        );
        assert_profile(
            json,
            &expected["bandwidth_profile"],
            link.bandwidth_profile.as_ref(),
            &what,
        );
        assert_profile(
            json,
            &expected["latency_profile"],
            link.latency_profile.as_ref(),
            &what,
        );
        latencies.insert(link.name.as_str(), link.latency.get());
    }
    for expected in hosts {
        let name = expected["name"].as_str().unwrap();
        let what = format!("{case}: host {name}");
        let host = &platform.hosts[platform.host_named(name).unwrap().index()];
        assert_eq!(Some(host.speed.get()), expected["speed"].as_f64(), "{what}");
        assert_profile(
            json,
            &expected["speed_profile"],
            host.speed_profile.as_ref(),
            &what,
        );
    }
    for from in hosts {
        for to in hosts.iter().filter(|to| to["name"] != from["name"]) {
            let ends =
                [from, to].map(|host| platform.host_named(host["name"].as_str().unwrap()).unwrap());
            let route = platform.route(ends[0], ends[1]).unwrap();
            let found: Vec<&str> = route
                .links()
                .map(|link| platform.links[link.index()].name.as_str())
                .collect();
            let groups = [from, to].map(|host| host["group"].as_str().unwrap());
            let mut expected = names(&from["access"]);
            expected.extend(between(json, groups[0], groups[1]));
            expected.extend(names(&to["access"]).into_iter().rev());
            assert_eq!(
                found, expected,
                "{case}: {} to {}",
                from["name"], to["name"]
            );
            let sum = expected
                .iter()
                .fold(0.0, |sum, link| sum + latencies[link.as_str()]);
            assert_eq!(platform.route_latency(&route).get(), sum, "{case}");
        }
    }
}

#[test]
fn every_oracle_platform_in_xml_is_the_one_in_json() {
    let cases = cases();
    assert_eq!(cases.len(), 38);
    for folder in cases {
        let case = folder.file_name().unwrap().to_str().unwrap();
        let loaded = open(folder.join("platform.xml").to_str().unwrap()).unwrap();
        let text = std::fs::read_to_string(folder.join("platform.json")).unwrap();
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_same(&loaded.platform, &json, case);
        let profiles = json["profiles"].as_object().map_or(0, serde_json::Map::len);
        assert_eq!(loaded.profile_files.len(), profiles, "{case}");
    }
}
