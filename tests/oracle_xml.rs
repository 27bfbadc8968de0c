//! The 57 simulations done with SimGrid on its own platform files: every route is compared link by link, and every time within 1e-9.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test; it says how near it came"
)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use migsim::platform::{Platform, from_simgrid, open, to_simgrid_as_read};
use serde_json::Value;

use super::oracle::{TOLERANCE, difference, network, run};

/// Cases whose routes or times differ from SimGrid's; the list may only shrink.
const MISSING: [&str; 0] = [];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle-xml")
}

fn cases() -> Vec<String> {
    let index = fs::read_to_string(folder().join("index.txt")).unwrap();
    index.lines().map(str::to_owned).collect()
}

/// The properties of a link without its name, since SimGrid makes up some names.
type Kind = (f64, f64, bool);

/// Whether two links differ at most by the rounding of their written units.
fn are_equal(a: Kind, b: Kind) -> bool {
    difference(a.0, b.0) < 1e-12 && difference(a.1, b.1) < 1e-12 && a.2 == b.2
}

/// The lines of `routes.txt` that begin with a word.
fn lines<'t>(text: &'t str, word: &str) -> impl Iterator<Item = Vec<&'t str>> {
    let word = word.to_owned();
    text.lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .filter(move |words| words[0] == word)
        .map(|words| words[1..].to_vec())
}

/// Checks that every host, and the route between each pair of hosts, is that of SimGrid.
fn check_routes(platform: &Platform, text: &str) -> Result<usize, String> {
    let number = |text: &str| text.parse::<f64>().unwrap();
    for words in lines(text, "host") {
        let id = platform
            .host_named(words[0])
            .ok_or_else(|| format!("no host {}", words[0]))?;
        let host = &platform.hosts[id.index()];
        if (host.speed.get(), f64::from(host.cores)) != (number(words[1]), number(words[2])) {
            return Err(format!("host {}: {host:?}", words[0]));
        }
    }
    let kinds: BTreeMap<&str, Kind> = lines(text, "link")
        .map(|words| {
            let (bandwidth, latency) = (number(words[1]), number(words[2]));
            (words[0], (bandwidth, latency, words[3] == "SHARED"))
        })
        .collect();
    // Names that SimGrid makes up differ here, but each has one counterpart everywhere.
    let mut theirs_by_ours: BTreeMap<String, String> = BTreeMap::new();
    let mut count = 0;
    for words in lines(text, "route") {
        let what = format!("{} to {}", words[0], words[1]);
        let [from, to] = [words[0], words[1]].map(|name| platform.host_named(name).unwrap());
        if from == to && words[3..] == ["__loopback__"] {
            if platform.has_loopback_route(from) {
                return Err(format!("{what}: a loopback of its own"));
            }
            continue;
        }
        // The route to a gateway that is the origin itself.
        let (loopbacks, theirs): (Vec<&str>, Vec<&str>) = words[3..]
            .iter()
            .copied()
            .partition(|link| *link == "__loopback__");
        let route = platform
            .route(from, to)
            .ok_or_else(|| format!("{what}: no route"))?;
        if loopbacks.len() != route.loopback_crossings as usize {
            return Err(format!(
                "{what}: {} loopbacks instead of {}",
                route.loopback_crossings,
                loopbacks.len()
            ));
        }
        let ours: Vec<_> = route
            .links()
            .map(|link| &platform.links[link.index()])
            .collect();
        let names: Vec<&str> = ours.iter().map(|link| link.name.as_str()).collect();
        if names.len() != theirs.len() {
            return Err(format!("{what}: {names:?} instead of {theirs:?}"));
        }
        for (link, other) in ours.iter().zip(&theirs) {
            let kind = (link.bandwidth.get(), link.latency.get(), link.is_shared);
            let known = theirs_by_ours
                .entry(link.name.clone())
                .or_insert_with(|| (*other).to_owned());
            if known != other || !are_equal(kinds[other], kind) {
                return Err(format!("{what}: {names:?} instead of {theirs:?}"));
            }
        }
        let latency = platform.route_latency(&route).get();
        if difference(latency, number(words[2])) > 1e-12 {
            return Err(format!("{what}: {latency} s instead of {}", words[2]));
        }
        count += 1;
    }
    let mut theirs: Vec<&String> = theirs_by_ours.values().collect();
    theirs.sort_unstable();
    theirs.dedup();
    if theirs.len() != theirs_by_ours.len() {
        return Err("two links of one name in SimGrid".to_owned());
    }
    Ok(count)
}

/// Returns the largest difference of a time.
fn check_dates(case: &Path) -> Result<f64, String> {
    let text = fs::read_to_string(case.join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let (ends, makespan) = run(case, &network(&expected["model"]))?;
    let theirs = expected["step_end"].as_array().unwrap();
    if ends.len() != theirs.len() {
        return Err(format!("{} supersteps", ends.len()));
    }
    let theirs = theirs.iter().chain([&expected["finish"]]);
    let ours = ends.iter().chain([&makespan]);
    let differences = ours
        .zip(theirs)
        .map(|(ours, theirs)| difference(*ours, theirs.as_f64().unwrap()));
    Ok(differences.fold(0.0, f64::max))
}

#[test]
fn every_route_and_time_of_every_case_is_simgrids() {
    let mut worst: f64 = 0.0;
    let (mut routes, mut wrong) = (0, Vec::new());
    for case in cases() {
        let folder = folder().join(&case);
        let text = fs::read_to_string(folder.join("routes.txt")).unwrap();
        let checked = match open(folder.join("platform.xml").to_str().unwrap()) {
            Ok(loaded) => check_routes(&loaded.platform, &text),
            Err(error) => Err(error.to_string()),
        };
        match checked {
            Ok(count) => routes += count,
            Err(message) => {
                wrong.push((case, message));
                continue;
            }
        }
        match check_dates(&folder) {
            Ok(difference) if difference <= TOLERANCE => worst = worst.max(difference),
            Ok(difference) => wrong.push((case, format!("a date differs by {difference:.2e}"))),
            Err(message) => wrong.push((case, message)),
        }
    }
    let names: Vec<&str> = wrong.iter().map(|(case, _)| case.as_str()).collect();
    for (case, message) in &wrong {
        println!("{case}: {message}");
    }
    println!("{routes} routes, worst relative difference of a date {worst:.2e}");
    assert_eq!(names, MISSING, "{wrong:#?}");
}

#[test]
fn no_case_of_platform_files_is_missing() {
    let folders = fs::read_dir(folder()).unwrap();
    let folders = folders.filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert_eq!((cases().len(), folders.count()), (57, 57));
}

#[test]
fn both_versions_of_a_platform_are_the_same() {
    for case in ["v3-clusters", "v3-floyd"] {
        let [three, four] = ["platform.xml", "platform-v4.xml"].map(|file| {
            let path = folder().join(case).join(file);
            let loaded = open(path.to_str().unwrap()).unwrap_or_else(|error| panic!("{error}"));
            let routes = fs::read_to_string(folder().join(case).join("routes.txt")).unwrap();
            check_routes(&loaded.platform, &routes)
        });
        assert_eq!(three, four, "{case}");
    }
}

#[test]
fn the_export_of_every_case_has_the_routes_of_simgrid_and_is_no_longer_than_the_file() {
    for case in cases() {
        let folder = folder().join(&case);
        let routes = fs::read_to_string(folder.join("routes.txt")).unwrap();
        let loaded = open(folder.join("platform.xml").to_str().unwrap()).unwrap();
        let export = to_simgrid_as_read(&loaded).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("export.xml");
        fs::write(&path, &export.xml).unwrap();
        for (name, text) in &export.profile_files {
            fs::write(scratch.path().join(name), text).unwrap();
        }
        let again = open(path.to_str().unwrap()).unwrap();
        let [before, after] =
            [&loaded, &again].map(|loaded| check_routes(&loaded.platform, &routes).unwrap());
        assert_eq!(before, after, "{case}");
        assert!(export.xml.contains("version=\"4"), "{case}: {}", export.xml);
        let read = fs::read_to_string(folder.join("platform.xml")).unwrap();
        assert!(
            export.xml.lines().count() <= 2 * read.lines().count() + 10,
            "{case}"
        );
        let profiles = |platform: &Platform| -> Vec<_> {
            let hosts = platform.hosts.iter();
            hosts.map(|host| host.speed_profile.clone()).collect()
        };
        assert_eq!(
            profiles(&loaded.platform),
            profiles(&again.platform),
            "{case}"
        );
        assert_eq!(
            loaded.platform.first_failure, again.platform.first_failure,
            "{case}"
        );
    }
}

/// Three flows under LV08, of which one crosses a link twice; another one crosses a fat pipe. SimGrid 3.32 ends them at this time \[s\].
#[test]
fn a_link_that_is_crossed_twice_counts_twice_in_the_weight_of_a_flow() {
    const THEIRS: f64 = 0.505_308_577_457_044_6;
    let model = serde_json::json!({
        "network": "LV08", "latency_factor": 13.01, "bandwidth_factor": 0.97, "weight_S": 20537.0, "tcp_gamma": 4_194_304.0,
        "crosstraffic": true, "loopback_bandwidth": 1e10, "loopback_latency": 0.0
    });
    let platform = r#"<platform version="4.1"><zone id="w" routing="Full">
        <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/>
        <link id="la" bandwidth="10MBps" latency="17us"/><link id="lb" bandwidth="10MBps" latency="17us"/>
        <link id="lc" bandwidth="80MBps" latency="6ms"/><link id="p" bandwidth="1341MBps" latency="432us" sharing_policy="FATPIPE"/>
        <route src="a" dst="a" symmetrical="NO"><link_ctn id="la"/><link_ctn id="la"/></route>
        <route src="a" dst="b"><link_ctn id="la"/><link_ctn id="lb"/></route>
        <route src="c" dst="b"><link_ctn id="lc"/><link_ctn id="p"/><link_ctn id="lb"/></route>
        <route src="c" dst="a"><link_ctn id="lc"/><link_ctn id="p"/><link_ctn id="la"/></route></zone></platform>"#;
    let trace = "migsim-trace 2\nprocesses 3\nhost 0 a\nhost 1 b\nhost 2 c\nruntime barrier.kind ideal\nstep 0\n\
        m 0 1 1125000\nm 2 1 3025000\nm 0 0 725000\nend\n";
    // The fat pipe is wide: it changes only the way in which rates are computed.
    for text in [platform.to_owned(), platform.replace("FATPIPE", "SHARED")] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("platform.xml"), text).unwrap();
        fs::write(folder.path().join("trace.txt"), trace).unwrap();
        for shortcuts in ["all", "none"] {
            let mut flags = network(&model);
            flags.extend(["--set".to_owned(), format!("runtime.shortcuts={shortcuts}")]);
            let (_, makespan) = run(folder.path(), &flags).unwrap();
            assert!(difference(makespan, THEIRS) < TOLERANCE, "{makespan}");
        }
    }
}

/// The platforms have routes with gaps: hosts that no explicit route joins to a gateway, hosts without links, coordinates only, and
/// gateways of bypass routes that send messages themselves. `dates.txt` has the end of the trace under each model, simulated with `SimGrid`
/// 3.32 \[s\].
#[test]
fn routes_with_gaps_and_their_times_are_simgrids() {
    let models = [
        serde_json::json!({
            "network": "CM02", "latency_factor": 1.0, "bandwidth_factor": 1.0, "weight_S": 0.0, "tcp_gamma": 1e20,
            "crosstraffic": false, "loopback_bandwidth": 1e10, "loopback_latency": 0.0
        }),
        serde_json::json!({
            "network": "LV08", "latency_factor": 13.01, "bandwidth_factor": 0.97, "weight_S": 20537.0, "tcp_gamma": 4_194_304.0,
            "crosstraffic": true, "loopback_bandwidth": 1e10, "loopback_latency": 0.0
        }),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/gaps");
    let mut cases = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let case = entry.unwrap().path();
        let read = |file: &str| fs::read_to_string(case.join(file)).unwrap();
        let what = case.display();
        let routes = read("routes.txt");
        let loaded = open(case.join("platform.xml").to_str().unwrap()).unwrap();
        let count =
            check_routes(&loaded.platform, &routes).unwrap_or_else(|e| panic!("{what}: {e}"));
        // A message that SimGrid refuses is refused here, too.
        let named = |name: &str| loaded.platform.host_named(name).unwrap();
        let hosts: Vec<&str> = loaded
            .platform
            .hosts
            .iter()
            .map(|host| &*host.name)
            .collect();
        let theirs: Vec<Vec<&str>> = lines(&routes, "route").collect();
        for (from, to) in hosts
            .iter()
            .flat_map(|a| hosts.iter().map(move |b| (*a, *b)))
        {
            let is_sent = theirs.iter().any(|words| words[..2] == [from, to]);
            let has_none = loaded.platform.has_loopback_route(named(from)) || from != to;
            let has_none = has_none && loaded.platform.route(named(from), named(to)).is_none();
            assert_eq!(is_sent, !has_none, "{what}: {from} to {to}");
        }
        let export = to_simgrid_as_read(&loaded).unwrap();
        let again = from_simgrid("export.xml", &export.xml).unwrap();
        assert_eq!(check_routes(&again.platform, &routes), Ok(count), "{what}");
        for (model, line) in models.iter().zip(read("dates.txt").lines()) {
            let name = model["network"].as_str().unwrap();
            let theirs: f64 = line.strip_prefix(name).unwrap().trim().parse().unwrap();
            let flags = network(model);
            for shortcuts in ["all", "none"] {
                let shortcuts = format!("runtime.shortcuts={shortcuts}");
                let flags = [&flags[..], &["--set".to_owned(), shortcuts]].concat();
                let (_, makespan) = run(&case, &flags).unwrap();
                let difference = difference(makespan, theirs);
                assert!(
                    difference < TOLERANCE,
                    "{what}: {makespan} instead of {theirs}"
                );
            }
        }
        cases += 1;
    }
    assert_eq!(cases, 9);
}

/// The variable for a folder of platforms `NAME.xml`, each with the routes that SimGrid finds in it as `NAME.routes`, in the form of
/// `routes.txt` of the cases.
const FOLDER: &str = "MIGSIM_ROUTES";

#[test]
#[ignore = "needs a folder made with SimGrid"]
fn the_routes_of_a_folder_are_simgrids() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind == "xml"));
    files.sort();
    let (mut count, mut wrong) = (0, 0);
    for file in files {
        let text = fs::read_to_string(file.with_extension("routes")).unwrap();
        let checked = match open(file.to_str().unwrap()) {
            Ok(loaded) => check_routes(&loaded.platform, &text),
            Err(error) => Err(error.to_string()),
        };
        match checked {
            Ok(routes) => count += routes,
            Err(message) => {
                wrong += 1;
                println!("{}: {message}", file.display());
            }
        }
    }
    println!("{count} routes are SimGrid's; {wrong} files have others");
    assert_eq!(wrong, 0);
}

/// The platforms of the oracle, as trees of zones in JSON: `tests/data/zones/CASE.json`.
#[test]
fn trees_of_zones_in_json_have_the_routes_of_simgrid_and_so_have_their_exports() {
    let twins = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/zones");
    let mut checked = 0;
    for entry in fs::read_dir(twins).unwrap() {
        let path = entry.unwrap().path();
        let case = path.file_stem().unwrap().to_str().unwrap();
        let routes = fs::read_to_string(folder().join(case).join("routes.txt")).unwrap();
        let twin = open(path.to_str().unwrap()).unwrap();
        let routes_of = |platform: &Platform| check_routes(platform, &routes).unwrap();
        assert!(routes_of(&twin.platform) > 0, "{case}");
        let export = to_simgrid_as_read(&twin).unwrap();
        let again = from_simgrid("export.xml", &export.xml).unwrap().platform;
        assert_eq!(routes_of(&again), routes_of(&twin.platform), "{case}");
        checked += 1;
    }
    assert!(checked >= 18, "{checked}");
}
