//! Tests of the built-in platforms: the machine of the papers, and the origins of all values.

use super::{format::PlatformFile, open};
use migsim_base::document::Document;

#[test]
fn the_router_of_a_topology_is_attached_to_its_host_0() {
    let platform = open("../../platforms/two-fabrics.json").unwrap().platform;
    let links = |from: &str, to: &str| -> Vec<&str> {
        let [from, to] = [from, to].map(|name| platform.host_named(name).unwrap());
        let route = platform.route(from, to).unwrap();
        let names = route.links().map(|id| &*platform.links[id.index()].name);
        names.collect()
    };
    let between = ["torus-router_UP", "wan", "fat-router_DOWN"];
    assert_eq!(links("torus-0", "fat-0"), between);
    // Host 5 of the torus of 4 x 4 is one step from host 0 in both dimensions; host 7 of the tree is below another switch.
    let mut way = links("torus-5", "torus-0");
    way.extend(between);
    way.extend(links("fat-0", "fat-7"));
    assert_eq!(links("torus-5", "fat-7"), way);
    assert_eq!(way.len(), 2 + 3 + 4);
}

#[test]
fn every_calibrated_value_of_a_built_in_platform_has_its_origin() {
    for (file, text) in super::built_in_platforms() {
        let document = Document::parse(*file, *text).unwrap();
        if document.value.get("zone").is_some() {
            // A tree of zones has no origins: its description names the file of all its values.
            assert!(
                document.value["description"]
                    .as_str()
                    .unwrap()
                    .contains("g5k.xml")
            );
            continue;
        }
        let parsed: PlatformFile = document.deserialize().unwrap();
        let clusters = (0..parsed.clusters.len()).flat_map(|c| {
            ["hosts", "speed", "link.bandwidth", "link.latency"]
                .map(|value| format!("clusters[{c}].{value}"))
        });
        let links = (0..parsed.links.len())
            .flat_map(|l| ["bandwidth", "latency"].map(|value| format!("links[{l}].{value}")));
        let latencies = (0..parsed.latencies.len()).map(|l| format!("latencies[{l}].latency"));
        for key in clusters.chain(links).chain(latencies) {
            assert!(parsed.origins.contains_key(&key), "{file}: {key}");
        }
    }
}
