//! Tests of the built-in platforms: the machine of the papers, and the origins of all values.

use super::format::PlatformFile;
use super::{LoadedPlatform, open};
use migsim_base::document::Document;

#[test]
fn the_machine_of_the_papers_is_as_in_figure_3() {
    let LoadedPlatform {
        platform, origins, ..
    } = open("ufrgs").unwrap();
    let clusters: Vec<(&str, usize, f64)> = (platform.clusters.iter())
        .map(|cluster| {
            let speed = platform.hosts[cluster.hosts.start as usize].speed.get();
            (&*cluster.name, cluster.hosts.len(), speed)
        })
        .collect();
    assert_eq!(
        clusters,
        [
            ("Labtec", 20, 1.5e9),
            ("Corisco", 16, 1.2e9),
            ("Frontal", 6, 1e9),
            ("ICE", 112, 1.6e9),
            ("Aquario", 20, 2e9)
        ]
    );
    let between = |from: &str, to: &str| {
        let [from, to] = [from, to].map(|name| platform.host_named(name).unwrap());
        let route = platform.route(from, to).unwrap();
        let bandwidth = platform.bottleneck_bandwidth(&route).unwrap().get();
        (
            platform.route_latency(&route).get(),
            bandwidth,
            route.links().count(),
        )
    };
    assert_eq!(between("Labtec-0", "Corisco-3"), (5.55e-6, 12.5e6, 2));
    assert_eq!(between("Labtec-0", "ICE-0"), (46.2e-6, 125e6, 3));
    assert_eq!(between("Aquario-19", "Labtec-0"), (21.7e-6, 125e6, 4));
    assert!(origins["clusters[1].speed"].starts_with("inferred"));
    let printed = open("ufrgs-as-printed").unwrap().platform;
    assert_eq!(printed.hosts[20].speed.get(), 1e9);
}

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
