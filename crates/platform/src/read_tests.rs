//! Tests of the reader of platforms in JSON: small handwritten platforms and invalid platforms.

use proptest::prelude::*;

use super::{Host, Platform, from_json};
use migsim_base::{
    error::{Error, Problem},
    units::{Bytes, HostId},
};

/// Platform of four clusters: a and b at router R1, c (with a shared medium) at R2, d at R3; links join the routers in a
/// triangle.
const FOUR: &str = r#"{
  "schema": "migsim-platform-1",
  "name": "four",
  "clusters": [
    {"name": "a", "hosts": 2, "speed": "1 GHz", "link": {"bandwidth": "1 Gbps", "latency": "1 us"}, "router": "R1"},
    {"name": "b", "hosts": 1, "speed": "2 GHz", "cores": 4, "memory": "2 GB", "link": {"bandwidth": "100 Mbps", "latency": "2 us"}, "router": "R1"},
    {"name": "c", "hosts": 2, "speed": "500 MHz", "network": "shared-medium", "link": {"bandwidth": "10 MB/s", "latency": "4 us"}, "router": "R2"},
    {"name": "d", "hosts": 1, "speed": "1 GHz", "link": {"bandwidth": "1 Gbps", "latency": "0 s"}, "router": "R3"}
  ],
  "links": [
    {"name": "R1-R3", "from": "R1", "to": "R3", "bandwidth": "1 Gbps", "latency": "100 us"},
    {"name": "R1-R2", "from": "R1", "to": "R2", "bandwidth": "1 Gbps", "latency": "10 us"},
    {"name": "R3-R2", "from": "R3", "to": "R2", "bandwidth": "1 Gbps", "latency": "20 us"}
  ]
}"#;

fn four_cluster_platform() -> Platform {
    from_json("four.json", FOUR).unwrap().platform
}

fn route_link_names(platform: &Platform, from: &str, to: &str) -> Vec<String> {
    let [from, to] = [from, to].map(|name| platform.host_named(name).unwrap());
    let route = platform.route(from, to).unwrap();
    let names = route
        .links()
        .map(|link| platform.links[link.index()].name.clone());
    names.collect()
}

fn problems_of_platform_text(text: &str) -> Vec<Problem> {
    match from_json("four.json", text) {
        Err(Error::Input(problems)) => problems,
        other => panic!("{other:?}"),
    }
}

/// Returns the platform file `FOUR` in which the text `old` is replaced by `new`.
fn four_clusters_with_replacement(old: &str, new: &str) -> String {
    assert!(FOUR.contains(old), "{old}");
    FOUR.replacen(old, new, 1)
}

/// Returns the platform file `FOUR` in which cluster `c` consists of the given groups on the given kind of network.
fn four_clusters_with_groups(network: &str, groups: &str) -> String {
    let old = r#""hosts": 2, "speed": "500 MHz", "network": "shared-medium","#;
    four_clusters_with_replacement(
        old,
        &format!(r#""network": "{network}", "groups": [{groups}],"#),
    )
}

/// Returns the platform file `FOUR` with the keys `keys` added at its end.
fn four_clusters_with_keys(keys: &str) -> String {
    four_clusters_with_replacement("\n  ]\n}", &format!("\n  ],\n  {keys}\n}}"))
}

#[test]
fn hosts_are_counted_through_the_clusters() {
    let platform = four_cluster_platform();
    let names: Vec<&str> = platform.hosts.iter().map(|host| &*host.name).collect();
    assert_eq!(names, ["a-0", "a-1", "b-0", "c-0", "c-1", "d-0"]);
    assert_eq!(platform.clusters[2].hosts, 3..5);
    assert_eq!(platform.hosts[2].cores, 4);
    assert_eq!(platform.hosts[2].memory.unwrap().get(), 2e9);
    assert_eq!(platform.hosts[0].memory, None);
}

#[test]
fn groups_of_a_cluster_are_its_hosts_in_their_order() {
    let groups = r#"{"hosts": 1, "speed": "2.4 GHz", "cores": 16, "memory": "64 GB"},
        {"hosts": 2, "speed": "1 GHz", "speed_profile": "half", "link": {"bandwidth": "8 Mbps", "latency": "9 us"}}"#;
    let half = r#""profiles": {"half": {"steps": [["5 s", 0.5]]}}"#;
    let text = four_clusters_with_groups("switch", groups).replacen(
        "\n  ]\n}",
        &format!("\n  ],\n  {half}\n}}"),
        1,
    );
    let platform = from_json("four.json", &text).unwrap().platform;
    // a: 0 and 1, b: 2, c: 3 to 5, d: 6.
    let c = &platform.clusters[2];
    assert_eq!((&*c.name, &c.hosts), ("c", &(3..6)));
    let of = |host: &Host| {
        let memory = host.memory.map(Bytes::get);
        (
            host.name.clone(),
            host.speed.get(),
            host.cores,
            memory,
            host.speed_profile.is_some(),
        )
    };
    let found: Vec<_> = platform.hosts[3..6].iter().map(of).collect();
    let expected = [
        ("c-0".to_owned(), 2.4e9, 16, Some(64e9), false),
        ("c-1".to_owned(), 1e9, 1, None, true),
        ("c-2".to_owned(), 1e9, 1, None, true),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        route_link_names(&platform, "c-0", "c-2"),
        ["c-0-link", "c-2-link"]
    );
    assert_eq!(
        route_link_names(&platform, "a-0", "c-1"),
        ["a-0-link", "R1-R2", "c-1-link"]
    );
    // 4 us and 10 MB/s from the cluster's link, 9 us and 1 MB/s from the group's.
    let [first, last] = ["c-0", "c-2"].map(|name| platform.host_named(name).unwrap());
    let way = platform.route(first, last).unwrap();
    assert_eq!(platform.route_latency(&way).get(), 4e-6 + 9e-6);
    assert_eq!(platform.bottleneck_bandwidth(&way).unwrap().get(), 1e6);
    assert_eq!(
        platform.manager_host(platform.cluster_named("c").unwrap()),
        first
    );
}

#[test]
fn groups_share_the_medium_of_their_cluster() {
    let groups = r#"{"hosts": 1, "speed": "2 GHz"}, {"hosts": 1, "speed": "1 GHz"}"#;
    let platform = from_json(
        "four.json",
        &four_clusters_with_groups("shared-medium", groups),
    )
    .unwrap()
    .platform;
    assert_eq!(route_link_names(&platform, "c-0", "c-1"), ["c-medium"]);
    assert_eq!(
        route_link_names(&platform, "c-1", "d-0"),
        ["c-medium", "R3-R2", "d-0-link"]
    );
}

#[test]
fn a_cluster_of_one_group_is_the_cluster_of_equal_hosts() {
    let text = four_clusters_with_groups("shared-medium", r#"{"hosts": 2, "speed": "500 MHz"}"#);
    let platform = from_json("four.json", &text).unwrap().platform;
    assert_eq!(
        format!("{platform:?}"),
        format!("{:?}", four_cluster_platform())
    );
}

#[test]
fn routes_are_shortest_and_the_same_both_ways() {
    let platform = four_cluster_platform();
    assert_eq!(
        route_link_names(&platform, "a-0", "a-1"),
        ["a-0-link", "a-1-link"]
    );
    assert_eq!(
        route_link_names(&platform, "a-0", "b-0"),
        ["a-0-link", "b-0-link"]
    );
    // R1-R2-R3 takes 30 us, R1-R3 takes 100 us; the route does not cross the medium of c.
    assert_eq!(
        route_link_names(&platform, "a-0", "d-0"),
        ["a-0-link", "R1-R2", "R3-R2", "d-0-link"]
    );
    assert_eq!(
        route_link_names(&platform, "d-0", "a-0"),
        ["d-0-link", "R3-R2", "R1-R2", "a-0-link"]
    );
}

#[test]
fn a_shared_medium_is_crossed_once_by_whatever_touches_it() {
    let platform = four_cluster_platform();
    assert_eq!(route_link_names(&platform, "c-0", "c-1"), ["c-medium"]);
    assert_eq!(
        route_link_names(&platform, "a-0", "c-1"),
        ["a-0-link", "R1-R2", "c-medium"]
    );
    assert_eq!(
        route_link_names(&platform, "c-1", "d-0"),
        ["c-medium", "R3-R2", "d-0-link"]
    );
    let way = platform.route(HostId(0), HostId(4)).unwrap();
    // 1 us + 10 us + 4 us
    assert!((platform.route_latency(&way).get() - 15e-6).abs() < 1e-18);
    assert_eq!(platform.bottleneck_bandwidth(&way).unwrap().get(), 10e6);
}

#[test]
fn a_given_route_wins_and_is_reversed_unless_that_is_given_too() {
    let text =
        four_clusters_with_keys(r#""routes": [{"from": "a", "to": "d", "links": ["R1-R3"]}]"#);
    let platform = from_json("four.json", &text).unwrap().platform;
    assert_eq!(
        route_link_names(&platform, "a-0", "d-0"),
        ["a-0-link", "R1-R3", "d-0-link"]
    );
    assert_eq!(
        route_link_names(&platform, "d-0", "a-0"),
        ["d-0-link", "R1-R3", "a-0-link"]
    );
    assert_eq!(route_link_names(&platform, "b-0", "d-0").len(), 4);
    let text = four_clusters_with_keys(
        r#""routes": [{"from": "a", "to": "d", "links": ["R1-R3"]}, {"from": "d", "to": "a", "links": ["R3-R2", "R1-R2"]}]"#,
    );
    let platform = from_json("four.json", &text).unwrap().platform;
    assert_eq!(route_link_names(&platform, "d-0", "a-1").len(), 4);
    assert_eq!(route_link_names(&platform, "a-0", "d-0").len(), 3);
}

#[test]
fn a_duplex_link_is_two_links_and_a_route_crosses_one_of_them() {
    let text = r#"{"schema": "migsim-platform-1", "name": "duplex", "clusters": [
        {"name": "a", "hosts": 2, "speed": "1 GHz", "router": "R", "link": {"bandwidth": "1 Gbps", "latency": "5 us", "duplex": true}},
        {"name": "b", "hosts": 1, "speed": "1 GHz", "router": "S", "link": {"bandwidth": "1 Gbps", "latency": "5 us"}},
        {"name": "c", "hosts": 1, "speed": "1 GHz", "router": "T", "link": {"bandwidth": "1 Gbps", "latency": "5 us"}}],
        "links": [{"name": "RS", "from": "R", "to": "S", "bandwidth": "1 Gbps", "latency": "5 us", "duplex": true},
            {"name": "TS", "from": "T", "to": "S", "bandwidth": "1 Gbps", "latency": "5 us", "duplex": true}],
        "routes": [{"from": "a", "to": "c", "links": ["RS", "TS"]}]}"#;
    let platform = from_json("duplex.json", text).unwrap().platform;
    assert_eq!(
        route_link_names(&platform, "a-0", "a-1"),
        ["a-0-link_UP", "a-1-link_DOWN"]
    );
    assert_eq!(
        route_link_names(&platform, "a-1", "b-0"),
        ["a-1-link_UP", "RS_UP", "b-0-link"]
    );
    assert_eq!(
        route_link_names(&platform, "b-0", "a-1"),
        ["b-0-link", "RS_DOWN", "a-1-link_DOWN"]
    );
    // A given route, and its reverse; the shortest path from b to c.
    assert_eq!(
        route_link_names(&platform, "a-0", "c-0"),
        ["a-0-link_UP", "RS_UP", "TS_DOWN", "c-0-link"]
    );
    assert_eq!(
        route_link_names(&platform, "c-0", "a-0"),
        ["c-0-link", "TS_UP", "RS_DOWN", "a-0-link_DOWN"]
    );
    assert_eq!(
        route_link_names(&platform, "b-0", "c-0"),
        ["b-0-link", "TS_DOWN", "c-0-link"]
    );
    assert!(platform.links.iter().all(|link| link.is_shared));
    let hub = text.replacen(
        r#""router": "R","#,
        r#""router": "R", "network": "shared-medium","#,
        1,
    );
    let error = from_json("duplex.json", &hub).unwrap_err().to_string();
    assert!(
        error.contains("duplex link, but its network is not `switch`"),
        "{error}"
    );
}

#[test]
fn a_latency_of_a_pair_replaces_those_of_the_links_both_ways() {
    let text = four_clusters_with_keys(
        r#""latencies": [{"between": ["d", "a"], "latency": "7 us"}, {"between": ["a", "a"], "latency": "3 us"}]"#,
    );
    let platform = from_json("four.json", &text).unwrap().platform;
    let latency = |from, to| {
        let route = platform.route(HostId(from), HostId(to)).unwrap();
        platform.route_latency(&route).get()
    };
    assert_eq!(latency(0, 5), 7e-6);
    assert_eq!(latency(5, 0), 7e-6);
    assert_eq!(latency(0, 1), 3e-6);
    assert_eq!(latency(0, 2), 3e-6); // a to b: 1 us + 2 us by the links
}

#[test]
fn profiles_are_read_by_what_refers_to_them() {
    let text = four_clusters_with_replacement(
        r#""speed": "1 GHz", "link": {"#,
        r#""speed": "1 GHz", "speed_profile": "load", "link": {"bandwidth_profile": "busy", "#,
    );
    let keys = r#""profiles": {"load": {"steps": [["10 s", 0.5]], "period": "1 min"}, "busy": {"steps": [["0 s", "50 Mbps"]]}}"#;
    let text = text.replacen("\n  ]\n}", &format!("\n  ],\n  {keys}\n}}"), 1);
    let platform = from_json("four.json", &text).unwrap().platform;
    let load = platform.hosts[1].speed_profile.as_ref().unwrap();
    assert_eq!(load.step(1), Some((70.0, 0.5)));
    let link = platform
        .links
        .iter()
        .find(|link| link.name == "a-1-link")
        .unwrap();
    let busy = link.bandwidth_profile.as_ref().unwrap();
    assert_eq!(busy.step(0), Some((0.0, 6.25e6))); // 50 Mbps
    assert!(platform.hosts[2].speed_profile.is_none());
}

/// A platform file that cannot be read, with its first problem: the message, the line and column, and the key.
type BrokenFile<'a> = (String, &'a str, (usize, usize), &'a str);

fn assert_first_problems(cases: &[BrokenFile<'_>]) {
    for (text, message, place, key) in cases {
        let first = &problems_of_platform_text(text)[0];
        assert!(first.message.contains(message), "{message}\n{first:#?}");
        assert_eq!(first.location.line_column, Some(*place), "{first:#?}");
        assert_eq!(
            first.location.key.as_deref().unwrap_or(""),
            *key,
            "{first:#?}"
        );
    }
}

#[test]
fn broken_routes_say_what_and_where() {
    assert_first_problems(&[
        (
            four_clusters_with_replacement("\"cores\": 4", "\"cores\": 0"),
            "have 0 cores",
            (6, 58),
            "clusters[1].cores",
        ),
        (
            four_clusters_with_replacement("\"name\": \"b\"", "\"name\": \"b b\""),
            "is not a valid name",
            (6, 14),
            "clusters[1].name",
        ),
        (
            four_clusters_with_replacement("\"name\": \"R1-R3\"", "\"name\": \"a-0-link\""),
            "migsim itself gives the name `a-0-link` to a link of a cluster",
            (11, 14),
            "links[0].name",
        ),
        (
            four_clusters_with_replacement("\"to\": \"R2\"", "\"to\": \"R1\""),
            "joins router `R1` to itself",
            (12, 43),
            "links[1].to",
        ),
        (
            four_clusters_with_keys(r#""routers": ["R1", "R2"]"#),
            "unknown router `R3`",
            (8, 110),
            "clusters[3].router",
        ),
        (
            four_clusters_with_keys(r#""routes": [{"from": "x", "to": "d", "links": []}]"#),
            "unknown cluster `x`",
            (15, 23),
            "routes[0].from",
        ),
        (
            four_clusters_with_keys(r#""routes": [{"from": "a", "to": "d", "links": ["R1-R2"]}]"#),
            "ends at router `R2`",
            (15, 48),
            "routes[0].links",
        ),
    ]);
}

#[test]
fn broken_profiles_and_origins_say_what_and_where() {
    let twice = r#""latencies": [{"between": ["a", "d"], "latency": "7 us"}, {"between": ["d", "a"], "latency": "3 us"}]"#;
    assert_first_problems(&[
        (
            four_clusters_with_keys(r#""routes": [{"from": "a", "to": "a", "links": []}]"#),
            "leads to the same cluster",
            (15, 34),
            "routes[0].to",
        ),
        (
            four_clusters_with_keys(twice),
            "given twice",
            (15, 61),
            "latencies[1]",
        ),
        (
            four_clusters_with_keys(r#""profiles": {"p": {"steps": [["2 s", "fast"]]}}"#),
            "`fast` is not a number",
            (15, 40),
            "profiles.p.steps[0][1]",
        ),
        (
            four_clusters_with_keys(r#""profiles": {"p": {"steps": []}}"#),
            "has no steps",
            (15, 31),
            "profiles.p.steps",
        ),
        (
            four_clusters_with_keys(r#""origins": {"clusters[9].speed": "stated: here"}"#),
            "this file has no such key",
            (15, 36),
            "origins.clusters[9].speed",
        ),
        (
            four_clusters_with_keys(r#""origins": {"clusters[0].speed": "guessed"}"#),
            "does not begin with `stated`, `inferred` or `fitted`",
            (15, 36),
            "origins.clusters[0].speed",
        ),
        ("{".to_owned(), "not valid JSON", (1, 1), ""),
    ]);
}

#[test]
fn all_problems_of_a_platform_are_reported_together() {
    let text = four_clusters_with_replacement("\"hosts\": 2", "\"hosts\": 0")
        .replace("\"cores\": 4", "\"cores\": 0");
    let text = text.replace("\"name\": \"d\"", "\"name\": \"a\"");
    assert_eq!(problems_of_platform_text(&text).len(), 3);
}

#[test]
fn a_hidden_latency_profile_of_a_group_is_refused() {
    let groups = r#"{"hosts": 2, "speed": "1 GHz"}, {"hosts": 2, "speed": "1 GHz", "link": {"bandwidth": "1 Gbps", "latency": "1 us", "latency_profile": "slow"}}, {"hosts": 2, "speed": "1 GHz"}"#;
    let more = r#""profiles": {"slow": {"steps": [["5 s", "1 ms"]]}}, "latencies": [{"between": ["a", "c"], "latency": "20 us"}]"#;
    let text = four_clusters_with_groups("switch", groups).replacen(
        "\n  ]\n}",
        &format!("\n  ],\n  {more}\n}}"),
        1,
    );
    let problems = problems_of_platform_text(&text);
    assert!(
        problems[0]
            .message
            .contains("overrides the latency profile of link `c-2-link`"),
        "{problems:?}"
    );
}

proptest! {
    #[test]
    fn no_damage_makes_it_panic(at in 0..FOUR.len(), length in 0_usize..40, new in "[\\[\\]{}\":,0-9a-zR \\-]{0,8}") {
        let end = (at + length).min(FOUR.len());
        let damaged = format!("{}{new}{}", &FOUR[..at], &FOUR[end..]);
        let _ = from_json("four.json", &damaged);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = from_json("a", &text);
        let _ = super::from_simgrid("a", &text);
    }
}

#[test]
fn links_that_are_not_shared_have_no_profiles() {
    let unshared = FOUR.replace("\"shared-medium\"", "\"unshared\"");
    let platform = from_json("four.json", &unshared).unwrap().platform;
    let is_shared = |name: &str| {
        let found = platform.links.iter().find(|link| link.name == name);
        found.unwrap().is_shared
    };
    assert!(!is_shared("c-0-link") && is_shared("a-0-link"));
    let profile = unshared
        .replace(
            "\"latency\": \"4 us\"",
            "\"latency\": \"4 us\", \"bandwidth_profile\": \"p\"",
        )
        .replace(
            "\"links\": [",
            "\"profiles\": {\"p\": {\"steps\": [[\"1 s\", \"1 MB/s\"]]}}, \"links\": [",
        );
    let found = problems_of_platform_text(&profile);
    assert!(
        found[0].message.contains("its network is `unshared`"),
        "{found:?}"
    );
}

/// Tests that the time to read a file grows in proportion to the size of the file, whatever errors the file has. The time to read
/// each of these files once grew with the product of two numbers of several thousand.
#[test]
fn many_wrong_names_are_found_in_a_moment() {
    let list =
        |entry: &dyn Fn(usize) -> String| (0..20_000).map(entry).collect::<Vec<_>>().join(",\n");
    let routers = list(&|index| format!("\"R{index}\""));
    let origins = list(&|index| format!("\"routers[{index}]\": \"stated: here\""));
    let links = list(&|index| {
        let ends = r#""from": "A", "to": "B", "bandwidth": "1 Gbps", "latency": "0 s""#;
        format!("{{\"name\": \"l{index}\", {ends}}}")
    });
    let text = four_clusters_with_keys(&format!(
        "\"routers\": [{routers}],\n\"origins\": {{{origins}}}"
    ));
    let text = text.replacen("\"links\": [", &format!("\"links\": [\n{links},"), 1);
    let found = problems_of_platform_text(&text);
    assert_eq!(found[0].message, "unknown router `A`");
    assert_eq!(
        found.last().unwrap().message,
        "39980 more problems were found, which are not listed"
    );
}
