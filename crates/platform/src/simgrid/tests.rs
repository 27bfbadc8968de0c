//! Tests on small files: their platforms, and the positions of their errors.

use super::*;
use migsim_base::units::HostId;

fn zone(version: &str, inside: &str) -> Result<LoadedPlatform, Error> {
    let text = format!(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"{version}\">\n<zone id=\"z\" routing=\"Full\">\n{inside}\n</zone>\n</platform>"
    );
    from_simgrid("a.xml", &text)
}

/// Returns the first problem: message and place.
fn broken(inside: &str) -> (String, (usize, usize)) {
    match zone("4.1", inside) {
        Err(Error::Input(problems)) => {
            let place = problems[0].location.line_column;
            (problems[0].to_string(), place.unwrap())
        }
        other => panic!("{other:?}"),
    }
}

const PAIR: &str =
    "<host id='a-0' speed='1Gf'/><host id='b-0' speed='1Gf'/><host id='a-1' speed='2Gf' core='4'/>
<link id='l' bandwidth='1MBps' latency='1ms'/><link id='k' bandwidth='8Mbps' latency='10us'/>
<route src='a-0' dst='b-0'><link_ctn id='l'/><link_ctn id='k'/></route>";

#[test]
fn hosts_are_grouped_by_name_and_ordered_by_cluster() {
    let platform = zone("4.1", PAIR).unwrap().platform;
    let names: Vec<&str> = platform.hosts.iter().map(|host| &*host.name).collect();
    assert_eq!(names, ["a-0", "a-1", "b-0"]);
    assert_eq!(platform.clusters[0].hosts, 0..2);
    assert_eq!(platform.clusters[1].name, "b");
    assert_eq!(platform.hosts[1].cores, 4);
    let back = platform.route(HostId(2), HostId(0)).unwrap();
    let links: Vec<u32> = back.links().map(|link| link.0).collect();
    assert_eq!(links, [1, 0]);
    // 1 ms + 10 us
    assert!((platform.route_latency(&back).get() - 1.01e-3).abs() < 1e-15);
    assert!(platform.route(HostId(0), HostId(1)).is_none());
}

/// Asserts that the content of a zone has the expected problem at a line and column; the content begins on line 5.
fn assert_broken(cases: &[(&str, &str, (usize, usize))]) {
    for (inside, message, place) in cases {
        let found = broken(inside);
        assert!(found.0.contains(message), "{inside}\n{found:?}");
        assert_eq!(found.1, *place, "{inside}\n{found:?}");
    }
}

#[test]
fn errors_of_hosts_links_and_routes_say_what_and_where() {
    assert_broken(&[
        (
            "<host id='a'/>",
            "attribute `speed` of the element `<host>` is missing",
            (5, 1),
        ),
        (
            "<host id='a' speed='1f' core='0'/>",
            "not a number of cores",
            (5, 31),
        ),
        (
            "<host id='a' speed='1f' state_file='x'/>",
            "cannot read `x`",
            (5, 37),
        ),
        ("<host id='a ' speed='1f'/>", "is not a valid name", (5, 11)),
        (
            "<link id='l' bandwidth='1Bps' latency='1s' sharing_policy='WIFI'/>",
            "`WIFI` is not supported",
            (5, 60),
        ),
        (
            "<host id='a' speed='1f'/><route src='a' dst='x'/>",
            "unknown host `x`",
            (5, 46),
        ),
        (
            "<host id='a' speed='1f' pstate='1'/>",
            "no power state `1`",
            (5, 33),
        ),
        (
            "<host id='a' speed='1f'/><link id='l' bandwidth='1Bps' sharing_policy='SPLITDUPLEX'/><route src='a' dst='a'><link_ctn id='l'/></route>",
            "link `l` is duplex",
            (5, 123),
        ),
        (
            "<zone id='y' routing='Full'><host id='a' speed='1f'/></zone><host id='b' speed='1f'/><route src='a' dst='b'/>",
            "`a` is not an element directly inside the zone `z`",
            (5, 98),
        ),
        (
            "<zone id='y' routing='Full'><host id='a' speed='1f'/></zone><host id='b' speed='1f'/><zoneRoute src='y' dst='b' gw_src='b' gw_dst='b'/>",
            "gateway `b` is not a host or router in zone `y`",
            (5, 121),
        ),
    ]);
}

#[test]
fn a_cluster_with_a_topology_has_no_router() {
    let text = "<cluster id='t' radical='0-3' prefix='t-' suffix='' speed='1Gf' bw='1MBps' lat='1ms' topology='TORUS' topo_parameters='2,2'/>\
        <zone id='m' routing='Full'><host id='h' speed='1f'/></zone><link id='w' bandwidth='1Bps'/>\
        <zoneRoute src='t' dst='m' gw_src='GATEWAY' gw_dst='h'><link_ctn id='w'/></zoneRoute>";
    let error = zone("4.1", &text.replace("GATEWAY", "t-t_router")).unwrap_err();
    assert!(error.to_string().contains("such as `t-0`"), "{error}");
    zone("4.1", &text.replace("GATEWAY", "t-0")).unwrap();
}

#[test]
fn errors_of_zones_and_cabinets_say_what_and_where() {
    assert_broken(&[
        (
            "<zone id='y' routing='Full'><host id='a' speed='1f'/><host id='c' speed='1f'/></zone><host id='b' speed='1f'/><zoneRoute src='y' dst='b'/>",
            "attribute `gw_src` is missing",
            (5, 111),
        ),
        (
            "<zone id='y' routing='Quick'/>",
            "unknown routing `Quick`",
            (5, 23),
        ),
        (
            "<zone id='y' routing='None'><host id='a' speed='1f'/><route src='a' dst='a'/></zone>",
            "cannot have explicit routes",
            (5, 54),
        ),
        (
            "<peer id='p' speed='1f' bw_in='1Bps' bw_out='1Bps' coordinates='1 2 3'/>",
            "this `<peer>` is not in a zone with routing `Vivaldi`",
            (5, 1),
        ),
        (
            "<cabinet id='c' prefix='c' suffix='' radical='0-9' speed='1f' bw='1Bps' lat='1s'/>",
            "this `<cabinet>` is not in a zone with routing `Cluster`",
            (5, 1),
        ),
        (
            "<zone id='y' routing='Cluster'><host id='a' speed='1f'/><link id='l' bandwidth='1Bps' sharing_policy='SPLITDUPLEX'/><host_link id='a' up='l' down='l'/></zone>",
            "link `l` is duplex, but its direction is not stated here",
            (5, 139),
        ),
        (
            "<cluster id='c' prefix='c' suffix='' radical='0-9' speed='1f' bw='1Bps' lat='1s' topology='TORUS' topo_parameters='4,4'/>",
            "the topology has room for 16 hosts, but `radical` has only 10 numbers of hosts",
            (5, 47),
        ),
        (
            "<cluster id='c' prefix='c' suffix='' radical='0-9' speed='1f' bw='1Bps' lat='1s' topology='TORUS' topo_parameters='4,0'/>",
            "`0` is not a number of at least 1",
            (5, 116),
        ),
    ]);
}

#[test]
fn errors_of_clusters_and_profiles_say_what_and_where() {
    assert_broken(&[
        (
            "<cluster id='c' prefix='c' suffix='' radical='0-9' speed='1f' bw='1Bps' lat='1s' topology='FAT_TREE' topo_parameters='2;4,4;1;1,1'/>",
            "the list of parents has 1 value, but needs one value for each level (levels: 2)",
            (5, 119),
        ),
        (
            "<cluster id='c' prefix='c' suffix='' radical='0-9' speed='1f' bw='1Bps' lat='1s' topology='DRAGONFLY' topo_parameters='3,1;2,1;2,1;1'/>",
            "the number of groups, 3, is greater than the number of blades of a chassis, 2",
            (5, 120),
        ),
        (
            "<cluster id='c' prefix='c' suffix='' radical='0-9' speed='1f' bw='1Bps' lat='1s' topology='HYPERCUBE'/>",
            "unknown topology `HYPERCUBE` of a `<cluster>`",
            (5, 92),
        ),
        (
            "<host id='a' speed='1f'/><trace_connect kind='SPEED' trace='t' element='a'/>",
            "unknown trace `t`",
            (5, 61),
        ),
        (
            "<host id='a' speed='1f'/><trace_connect kind='SPEED' trace='t' element='b'/>",
            "`b` is not the name of a host (for a trace of speeds) or link",
            (5, 73),
        ),
        (
            "hello",
            "contains text, but may contain only elements",
            (4, 1),
        ),
        ("", "the outermost zone has no hosts", (4, 1)),
        (
            "<cluster id='c' prefix='c' suffix='' radical='0-9' speed='1f' bw='1Bps' lat='1s' sharing_policy='HALF'/>",
            "unknown sharing policy `HALF`",
            (5, 98),
        ),
        (
            "<cluster id='c' prefix='c' suffix='' radical='0' speed='1f' bw='1Bps' lat='1s' loopback_lat='1s'/>",
            "attribute `loopback_bw` of the element `<cluster>` is missing",
            (5, 1),
        ),
    ]);
}

#[test]
fn what_has_no_meaning_here_is_noted() {
    let inside = "<host id='a' speed='5'><disk id='d' read_bw='1Bps' write_bw='1Bps'/><prop id='x' value='y'/></host><storage id='s'/>";
    let notes = zone("4.1", inside).unwrap().user_notes;
    assert_eq!(
        notes,
        [
            "the platform file has 1 number without unit, which migsim reads as speeds in flop/s (f), bandwidths in bytes per second (Bps) or latencies in seconds",
            "migsim ignores these elements of the platform file, since they have no effect on its simulations: 1 `<disk>`, 1 `<prop>`, 1 `<storage>`"
        ]
    );
    let text = "<platform version='4'><config id='General'><prop id='network/TCP-gamma' value='20000'/><prop id='tracing' value='1'/></config>
        <zone id='z' routing='Full'><host id='a' speed='1f'/></zone></platform>";
    let notes = from_simgrid("a.xml", text).unwrap().user_notes;
    assert!(
        notes[0].contains("uses like the flag `--net tcp_gamma=20000`"),
        "{notes:?}"
    );
    assert!(notes[1].ends_with("1 `<config>`"), "{notes:?}");
}

#[test]
fn the_first_failure_is_kept() {
    let trace = |values: &str| {
        let inside = format!(
            "<host id='a' speed='1f'/><host id='b' speed='1f'/><trace id='t' periodicity='9'>{values}</trace><trace_connect kind='HOST_AVAIL' trace='t' element='b'/>"
        );
        zone("4.1", &inside).unwrap().platform.first_failure
    };
    assert_eq!(trace("0 1\n5 1"), None);
    let failure = trace("0 1\n5 -1\n6 1").unwrap();
    assert_eq!(
        (&*failure.host_or_link_name, failure.time.get()),
        ("b", 5.0)
    );
}

#[test]
fn what_is_no_platform_is_an_error() {
    for text in [
        "",
        "<",
        "<a/>",
        "<platform/>",
        "<platform version='2'/>",
        "<platform version='4.1'/>",
        "<platform version='4.1'><zone id='z' routing='Floyd'/></platform>",
        "<platform version='4.1'><zone id='z' routing='Floyd'/><zone id='y' routing='Floyd'/></platform>",
        "<platform version='4.1'><zone id='z' routing='Full'><zone/></zone></platform>",
        "<!DOCTYPE x [<!ENTITY a '&b;'><!ENTITY b '&a;'>]><platform version='&a;'/>",
    ] {
        let error = from_simgrid("a.xml", text).unwrap_err().to_string();
        assert!(error.contains("a.xml:"), "{error}");
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let text = "<platform version='4.1'>".to_owned() + &"<zone>".repeat(200_000);
    assert!(from_simgrid("a.xml", &text).is_err());
}

#[test]
fn many_unknown_names_are_found_in_a_moment() {
    let hosts = (0..20_000).map(|host| format!("<host id='h{host}' speed='1Gf'/>\n"));
    let routes =
        (0..20_000).map(|_| "<route src='a' dst='b'><link_ctn id='l'/></route>\n".to_owned());
    let text: String = hosts.chain(routes).collect();
    let Err(Error::Input(found)) = zone("4", &text) else {
        unreachable!()
    };
    // The known hosts are listed only with the 20 problems that are printed; for each of 40 000 problems that would be 20 000 names.
    assert_eq!(
        found.last().unwrap().message,
        "59980 more problems were found, which are not listed"
    );
}

#[test]
fn a_profile_of_version_3_may_be_longer_than_its_period() {
    let inside = "<host id='a' power='1e9'/><trace id='t' periodicity='1.0'>\n0 0.5\n20 1\n</trace>
        <trace_connect kind='POWER' trace='t' element='a'/>";
    let loaded = zone("3", inside).unwrap();
    // The last event is at 20 s, so the next round begins at 20 + 1 = 21 s.
    let profile = loaded.platform.hosts[0].speed_profile.as_ref().unwrap();
    assert_eq!(profile.step(2), Some((21.0, 0.5)));
    assert!(loaded.user_notes[0].contains("longer than its period"));
    assert!(zone("4.1", &inside.replace("power", "speed")).is_err());
}

#[test]
fn a_problem_in_what_an_element_stands_for_is_placed_on_its_line() {
    let inside = "<set id='s' prefix='h' suffix='' radical='0-9'/>
<foreach set_id='s'><host id='$1' speed='1'/></foreach><host/>";
    let (_, (line, column)) = broken(inside);
    // The column is at most after the end of the line; 4 lines precede.
    assert_eq!((line, column), (6, 63));
}

#[test]
fn gaps_that_simgrid_takes_for_no_links_are_noted() {
    let notes = |inside: &str| zone("4.1", inside).unwrap().user_notes;
    let host = |name: &str| format!("<host id='{name}' speed='1Gf'/>");
    let pair = |routing: &str, inside: &str| {
        let hosts = [host("b"), host("c")].concat();
        format!(
            "<zone id='left' routing='Full'>{}</zone><zone id='right' routing='{routing}'>{hosts}{inside}</zone>
            <link id='l' bandwidth='1GBps' latency='1ms'/>
            <zoneRoute src='left' dst='right' gw_src='a' gw_dst='b'><link_ctn id='l'/></zoneRoute>",
            host("a")
        )
    };
    assert_eq!(
        notes(&pair("Full", "")),
        [
            "zone `right` with routing `Full` has no route from `c` to `b`: messages between such hosts cross no link, as in SimGrid"
        ]
    );
    let one_way = "<link id='k' bandwidth='1GBps' latency='1ms'/><route src='c' dst='b' symmetrical='NO'><link_ctn id='k'/></route>";
    let found = notes(&pair("Full", one_way));
    assert!(found[0].contains("from `b` to `c`"), "{found:?}");
    let both = one_way.replace(" symmetrical='NO'", "");
    assert!(notes(&pair("Full", &both)).is_empty());
    // The other routings refuse such a zone.
    for routing in ["Floyd", "Dijkstra", "None"] {
        let loaded = zone("4.1", &pair(routing, "")).unwrap();
        assert!(loaded.user_notes.is_empty());
        let (a, c) = (HostId(0), HostId(2));
        assert!(loaded.platform.route(a, c).is_none(), "{routing}");
        assert!(loaded.platform.route(a, HostId(1)).is_some(), "{routing}");
    }
    let found = notes(&pair("Cluster", ""));
    assert!(
        found[0].contains("no `<host_link>` for the host `b`"),
        "{found:?}"
    );
    let found = notes(&pair("Vivaldi", ""));
    assert!(
        found[0].contains("no coordinates for the host `b`"),
        "{found:?}"
    );
    // Two equal zones give one note.
    let inner = |name: &str| {
        format!(
            "<zone id='{name}' routing='Cluster'>{}</zone>",
            host(&format!("{name}h"))
        )
    };
    let found = notes(&[inner("x"), inner("y")].concat());
    assert!(
        found.len() == 1 && found[0].contains("(the same holds in 1 more zone)"),
        "{found:?}"
    );
}

#[test]
fn coordinates_stand_in_the_export_of_version_3_too() {
    let inside = "<AS id='v' routing='Vivaldi'><host id='a' power='1e9' coordinates='3  4 1'/><host id='b' power='1e9' coordinates='0 0 2'/></AS>";
    let loaded = zone("3", inside).unwrap();
    let export = to_simgrid_as_read(&loaded).unwrap();
    assert!(
        export.xml.contains("coordinates=\"3 4 1\""),
        "{}",
        export.xml
    );
    let again = from_simgrid("b.xml", &export.xml).unwrap().platform;
    // (√(3² + 4²) + 1 + 2) ms, and (1 + 1) ms
    for (to, latency) in [(1, 8e-3), (0, 2e-3)] {
        let route = again.route(HostId(0), HostId(to)).unwrap();
        assert_eq!(route.links().count(), 0);
        assert_eq!(again.route_latency(&route).get(), latency);
    }
    let far = inside.replace("3  4 1", "1e308 -1e308 1e308");
    let far = zone("3", &far).unwrap().platform;
    let route = far.route(HostId(0), HostId(1)).unwrap();
    assert!(far.route_latency(&route).get().is_finite());
}
