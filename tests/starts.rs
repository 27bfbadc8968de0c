//! The default start of processes: the rules measured on drawn platforms, and the output of runs and comparisons about other starts.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use migsim::{
    experiment::{Experiment, Layers, Limits, Progress},
    platform::MappingRule,
    prelude::Scenario,
    random::{Stream, StreamPurpose},
};
use serde_json::{Value, json};

use crate::support::{done, json, refused};

/// Draws one of some values.
fn one_of<T: Copy>(random: &mut Stream, values: &[T]) -> T {
    values[random.draw_below(values.len())]
}

/// Draws a number between two powers of ten, uniform in its logarithm.
fn between(random: &mut Stream, low: f64, high: f64) -> f64 {
    10_f64.powf(low + (high - low) * random.draw_from_zero_to_one())
}

/// Draws no load, or a load on some of the clusters.
fn drawn_load(random: &mut Stream, clusters: usize) -> Value {
    let on = (0..clusters).filter(|_| random.draw_below(2) == 0);
    let on: Vec<String> = on.map(|cluster| format!("c{cluster}")).collect();
    let load = (10.0 * random.draw_from_zero_to_one()).round() / 10.0;
    let mut loads = vec![
        json!({ "kind": "constant", "load": load }),
        json!({ "kind": "walk", "period": one_of(random, &["1 s", "60 s"]) }),
        json!({ "kind": "on-off", "load": load, "busy": one_of(random, &["30 s", "10 min"]) }),
        json!({ "kind": "ar", "mean": load, "period": one_of(random, &["1 s", "60 s"]) }),
    ];
    let mut load = loads.swap_remove(random.draw_below(loads.len()));
    if on.is_empty() {
        return json!([]);
    }
    load["on"] = json!(on);
    json!([load])
}

/// Draws a platform of 1 to 4 clusters around one router, a synthetic application with up to 1.5 processes per core, and at most 128, and a
/// load.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a small number of processes"
)]
fn drawn(random: &mut Stream) -> [Value; 3] {
    let (mut clusters, mut routers, mut links, mut cores) = (vec![], vec![], vec![], 0);
    for cluster in 0..=random.draw_below(4) {
        let groups: Vec<Value> = (0..one_of(random, &[1, 1, 2]))
            .map(|_| {
                let hosts = 2 + random.draw_below(15);
                let of_host = one_of(random, &[1, 1, 2, 4, 8, 16]);
                cores += hosts * of_host;
                let speed = format!("{:.1} GHz", 0.8 + 2.8 * random.draw_from_zero_to_one());
                json!({ "hosts": hosts, "cores": of_host, "speed": speed })
            })
            .collect();
        let wire = |random: &mut Stream, latencies: &[&'static str]| {
            let bandwidth = one_of(random, &["100 Mbps", "1 Gbps", "10 Gbps"]);
            json!({ "bandwidth": bandwidth, "latency": one_of(random, latencies) })
        };
        let router = format!("R{cluster}");
        let link = wire(random, &["5 us", "10 us", "50 us"]);
        clusters.push(json!({ "name": format!("c{cluster}"), "router": router, "link": link, "groups": groups }));
        if cluster > 0 {
            let mut link = wire(random, &["100 us", "1 ms", "10 ms"]);
            link["name"] = json!(format!("wan{cluster}"));
            link["from"] = json!("R0");
            link["to"] = json!(router);
            links.push(link);
        }
        routers.push(router);
    }
    let names = routers.len();
    let mut platform = json!({ "schema": "migsim-platform-1", "name": "drawn", "clusters": clusters, "routers": routers });
    if !links.is_empty() {
        platform["links"] = json!(links);
    }
    let wanted = cores as f64 * 2_f64.powf(3.6 * random.draw_from_zero_to_one() - 3.0);
    let workload = json!({
        "app": "synthetic",
        "procs": (wanted as u64).clamp(4, 128),
        "pattern": one_of(random, &["none", "line", "ring", "stencil", "all-to-all"]),
        "instructions": format!("{:.0} instr", between(random, 7.5, 9.5)),
        "spread": one_of(random, &[0.0, 0.3, 0.8]),
        "bytes": format!("{:.0} B", between(random, 3.0, 6.0)),
    });
    [platform, workload, drawn_load(random, names)]
}

/// Simulates scenario i of `count` drawn cases; returns for each rule its makespan over that of the best rule, case by case.
fn ratios(seed: u64, count: usize, folder: &Path) -> Vec<(&'static str, Vec<f64>)> {
    let mut random = Stream::for_object(seed, StreamPurpose::SweepSampling, "drawn machines");
    let mut all: Vec<(&'static str, Vec<f64>)> = Vec::new();
    for case in 0..count {
        let [platform, workload, load] = drawn(&mut random);
        let file = folder.join(format!("{seed}-{case}.json"));
        fs::write(&file, platform.to_string()).unwrap();
        let layers = Layers::from_pairs([
            ("platform", json!(file.to_str().unwrap())),
            ("workload", workload),
            ("load", load),
        ]);
        let experiment = Experiment::load(&layers, Limits::default()).unwrap();
        let starts = experiment.initial_placements_to_compare().unwrap();
        let starts = experiment.simulate_initial_placements(&starts, &Progress::default());
        let starts = starts.unwrap();
        let best = starts.iter().map(|one| one.makespan_s);
        let best = best.fold(f64::INFINITY, f64::min);
        for start in &starts {
            let (rule, ratio) = (start.rule_name(), start.makespan_s / best);
            match all.iter_mut().find(|one| one.0 == rule) {
                Some((_, known)) => known.push(ratio),
                None => all.push((rule, vec![ratio])),
            }
        }
    }
    all
}

/// Makes the table of the guide: geometric mean and worst ratio to the best rule, and the number of cases in which the rule is the best.
fn table(ratios: &[(&'static str, Vec<f64>)]) -> String {
    let mut text =
        String::from("| mapping | mean ratio to the best | worst | best in |\n|---|---|---|---|\n");
    for (rule, ratios) in ratios {
        let _ = writeln!(
            text,
            "| `{rule}` | {:.2} | {:.1} | {} |",
            mean(ratios),
            ratios.iter().copied().fold(0.0, f64::max),
            ratios.iter().filter(|ratio| **ratio < 1.0 + 1e-9).count()
        );
    }
    text
}

/// Computes the geometric mean.
fn mean(ratios: &[f64]) -> f64 {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (sum / ratios.len() as f64).exp()
}

#[test]
fn the_default_start_is_the_best_rule_on_50_machines_that_did_not_choose_it() {
    let scratch = tempfile::tempdir().unwrap();
    // The rule was chosen with seed 1; seed 2 tests the choice.
    for seed in [1, 2] {
        let ratios = ratios(seed, 50, scratch.path());
        assert_eq!(ratios[0].0, "fast-first"); // the start of the run comes first
        let others = ratios[1..].iter().map(|one| mean(&one.1));
        let best_other = others.fold(f64::INFINITY, f64::min);
        let table = table(&ratios);
        assert!(mean(&ratios[0].1) < best_other, "seed {seed}\n{table}");
        if seed == 2 {
            let guide = fs::read_to_string("docs/guide/run.md").unwrap();
            assert!(guide.contains(&table), "docs/guide/run.md lacks\n{table}");
        }
    }
}

/// Three sites of unlike hosts, joined by a WAN.
const SITES: &str = r#"{ "schema": "migsim-platform-1", "name": "coc", "clusters": [
    { "name": "north", "hosts": 6, "cores": 4, "speed": "2.6 GHz", "router": "RN", "link": { "bandwidth": "1 Gbps", "latency": "50 us" } },
    { "name": "east", "router": "RE", "link": { "bandwidth": "1 Gbps", "latency": "50 us" },
      "groups": [{ "hosts": 4, "cores": 2, "speed": "3 GHz" }, { "hosts": 4, "cores": 8, "speed": "2 GHz" }] },
    { "name": "south", "hosts": 8, "speed": "0.9 GHz", "router": "RS", "link": { "bandwidth": "100 Mbps", "latency": "50 us" } }],
  "routers": ["RN", "RE", "RS"],
  "links": [{ "name": "wan-east", "from": "RN", "to": "RE", "bandwidth": "1 Gbps", "latency": "10 ms" },
            { "name": "wan-south", "from": "RN", "to": "RS", "bandwidth": "200 Mbps", "latency": "10 ms" }] }"#;

/// A heat stencil of 4 x 5 processes whose last column becomes four times as slow, in 60 supersteps.
fn heat(folder: &Path) {
    let (mut work, mut messages) = (
        "process,superstep,work [Minstr]\n".to_owned(),
        "superstep,from,to,bytes\n".to_owned(),
    );
    for superstep in 1..=60 {
        for process in 0..20_i32 {
            let (row, column) = (process / 5, process % 5);
            let grown = if column == 4 { 3.0 } else { 0.0 };
            let work_now = 200.0 * (1.0 + grown * f64::from(superstep) / 60.0);
            let _ = writeln!(work, "p{},{superstep},{work_now}", process + 1);
            for (to_row, to_column) in [
                (row, column + 1),
                (row + 1, column),
                (row, column - 1),
                (row - 1, column),
            ] {
                if (0..4).contains(&to_row) && (0..5).contains(&to_column) {
                    let to = to_row * 5 + to_column + 1;
                    let _ = writeln!(messages, "{superstep},{},{to},8000", process + 1);
                }
            }
        }
    }
    fs::write(folder.join("coc.json"), SITES).unwrap();
    fs::write(folder.join("work.csv"), work).unwrap();
    fs::write(folder.join("messages.csv"), messages).unwrap();
}

/// Arguments for the heat stencil on the three sites.
const HEAT: &str = "--platform coc.json --app table --work work.csv --messages messages.csv --set 'workload.memory=16 MB'";

#[test]
fn a_gain_over_a_poor_start_is_shown_beside_the_best_start() {
    let scratch = tempfile::tempdir().unwrap();
    heat(scratch.path());
    let here = scratch.path();
    let poor = format!("run {HEAT} --mapping contiguous");
    let table = done(here, &format!("{poor} --out run"));
    // Slow hosts compute longest: 60 x 0.2 x 2.525 / 0.9 = 33.7 s. With 20 cores of 2.6 GHz it is 11.7 s.
    assert!(table.contains("gain     33.5 %"), "{table}");
    let line = "fastest start without moves: 11.68 s with `--mapping by-core`; scenario iii takes 2.0 times as long\n";
    assert!(table.contains(line), "{table}");
    done(here, "report run");
    let page = fs::read_to_string(scratch.path().join("run/report.html")).unwrap();
    assert!(page.contains("Migration pays only in comparison with the initial placement of this run: scenario iii (with migrations) takes 23.25 s instead of 34.95 s in scenario i (application only), a gain of 33.5 %"));
    assert!(page.contains("Scenario iii takes 2.0 times as long as the application without moves after a start of one process per core (<code>--mapping by-core</code>, makespan 11.68 s), the fastest of the built-in initial placements."));
    assert!(page.contains("data-name=\"static_starts\""));
    let summary = json(here, &poor);
    let starts = summary["static_starts"].as_array().unwrap();
    assert_eq!(starts.len(), 5);
    // The makespan from the start of the run is scenario i itself.
    assert_eq!(starts[0]["rule"], "contiguous");
    assert_eq!(
        starts[0]["makespan_s"],
        summary["scenarios"][0]["makespan_s"]
    );
    let (best, iii) = (&summary["best_static_start"], &summary["scenarios"][2]);
    let ratio = iii["makespan_s"].as_f64().unwrap() / best["makespan_s"].as_f64().unwrap();
    let gain = best["gain_percent"].as_f64().unwrap();
    assert!((gain - 100.0 * (1.0 - ratio)).abs() < 1e-9);
    // Each start is the one that `--mapping` makes with its rule.
    for start in starts {
        let rule = start["rule"].as_str().unwrap();
        let run = format!("run {HEAT} --mapping {rule} --scenario i --no-static-starts");
        let alone = json(here, &run);
        assert_eq!(
            alone["scenarios"][0]["makespan_s"], start["makespan_s"],
            "{rule}"
        );
        assert!(alone.get("static_starts").is_none() && alone.get("best_static_start").is_none());
    }
}

#[test]
fn every_rule_respects_memory_under_every_load() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("sites.json");
    let limited = SITES.replace(r#""cores""#, r#""memory": "1 GB", "cores""#);
    fs::write(&file, limited).unwrap();
    let load = |kind: &str, rule: MappingRule, memory: &str| {
        let load = match kind {
            "file" => {
                json!([{ "kind": kind, "file": "built-in:build-0", "period": "1 s", "values": "load-average" }])
            }
            _ => json!([{ "kind": kind }]),
        };
        let layers = Layers::from_pairs([
            ("platform", json!(file.to_str().unwrap())),
            (
                "workload",
                json!({ "app": "synthetic", "procs": 28, "memory": memory }),
            ),
            ("mapping", json!(rule.name())),
            ("load", load),
        ]);
        Experiment::load(&layers, Limits::default())
    };
    for kind in ["constant", "walk", "on-off", "ar", "daily", "file"] {
        for rule in MappingRule::ALL {
            // Two of 14 limited hosts, and the 8 of `south`, which have no limit.
            let experiment = load(kind, rule, "400 MB").unwrap();
            for host in experiment.placement.iter().filter(|host| host.0 < 14) {
                let beside = experiment.placement.iter().filter(|one| *one == host);
                assert!(beside.count() <= 2, "{kind} {rule:?}");
            }
            let runs = experiment.run(&Progress::default()).unwrap();
            assert!(runs.get(Scenario::I).unwrap().outcome.makespan.get() > 0.0);
        }
    }
    let line = "run --platform sites.json --app synthetic --procs 28 --set 'workload.memory=400 MB' --mapping by-core:north";
    let told = refused(scratch.path(), line);
    let expected =
        "host `north-0` has 1 GB of memory, but the processes that start there need 3.2 GB";
    assert!(told.contains(expected), "{told}");
    assert!(
        told.contains(
            "the hosts with a limit have 14 GB of memory in all, and all processes need 11.2 GB: "
        ),
        "{told}"
    );
}

#[test]
fn the_start_of_the_run_is_one_of_the_starts() {
    let scratch = tempfile::tempdir().unwrap();
    let files = [
        ("c.prof", "0 0.001\n"),
        (
            "slow.xml",
            r#"<platform version="4.1"><zone id="z" routing="Full">
            <host id="a-0" speed="4Gf" speed_file="c.prof"/><host id="b-0" speed="1Gf"/>
            <link id="l" bandwidth="125MBps" latency="10us"/>
            <route src="a-0" dst="b-0"><link_ctn id="l"/></route></zone></platform>"#,
        ),
        (
            "w.trace",
            "migsim-trace 2\nprocesses 2\nhost 0 b-0\nhost 1 b-0\nstep 0\nc 0 18000000000\nc 1 18000000000\nend\n",
        ),
    ];
    for (name, text) in files {
        fs::write(scratch.path().join(name), text).unwrap();
    }
    let run =
        "run --platform slow.xml --app trace --trace w.trace --set extends=none --policy never";
    let best = &json(scratch.path(), run)["best_static_start"];
    // Both processes share b-0: 2 x 18e9 / 1e9 s. The host a-0 works at 4 MHz.
    assert_eq!(
        (&best["makespan_s"], &best["own"]),
        (&json!(36.0), &json!(true))
    );
    // A list of hosts that no rule yields is a start of its own.
    let listed = format!("{run} --set mapping=b-0,a-0");
    let starts = &json(scratch.path(), &listed)["static_starts"];
    let own = json!({ "rule": "own", "makespan_s": 4500.0, "own": true });
    assert_eq!(starts[0], own, "{starts}");
}

#[test]
fn the_default_start_has_no_such_gain() {
    let scratch = tempfile::tempdir().unwrap();
    heat(scratch.path());
    let table = done(scratch.path(), &format!("run {HEAT}"));
    assert!(
        table.contains("processes per cluster at the start: north 12, east 8"),
        "{table}"
    );
    let line = "fastest start without moves: 11.68 s with `--mapping by-core`; scenario iii takes 5.7 % longer\n";
    assert!(table.contains(line), "{table}");
}

#[test]
fn a_comparison_has_the_best_start_as_a_row_and_in_its_verdict() {
    let scratch = tempfile::tempdir().unwrap();
    heat(scratch.path());
    let here = scratch.path();
    let line = format!("compare {HEAT} --policies never,migbsp --mapping contiguous");
    let told = done(here, &line);
    assert!(
        told.contains("      never from by-core             11.68"),
        "{told}"
    );
    assert!(told.contains("The best policy takes 33.48 % less time than the application without rescheduling (scenario i) from the same initial placement. `migbsp` takes 2.0 times as long as the application without moves after a start of one process per core (`never from by-core`, mean makespan 11.68 s)."), "{told}");
    let off = done(here, &format!("{line} --no-static-starts"));
    assert!(!off.contains("never from"), "{off}");
    // The comparison of two folders gives the same.
    for policy in ["never", "migbsp"] {
        let own = format!("--policy {policy} --mapping contiguous --out {policy}");
        done(here, &format!("run {HEAT} {own}"));
    }
    let folders = done(here, "compare never migbsp");
    assert_eq!(folders, told);
}

#[test]
fn the_machines_of_the_papers_keep_their_start_and_are_compared_with_no_other() {
    let here = Path::new(".");
    for line in [
        "--app lu --n 100 --procs 25",
        "--app synthetic --platform ufrgs-sw",
    ] {
        let summary = json(here, &format!("run {line}"));
        assert!(summary.get("static_starts").is_none(), "{line}");
        let shown = done(here, &format!("run {line} --show"));
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["mapping"], "contiguous");
    }
}

/// Makes two clusters of two hosts, and a ring of 8 processes; the load changes sides at every second superstep.
fn swinging(folder: &Path) {
    let cluster = |name: &str| json!({ "name": name, "hosts": 2, "speed": "1 GHz", "router": "R", "link": { "bandwidth": "1 Gbps", "latency": "10 us" } });
    let platform = json!({ "schema": "migsim-platform-1", "name": "two", "clusters": [cluster("a"), cluster("b")], "routers": ["R"] });
    fs::write(folder.join("two.json"), platform.to_string()).unwrap();
    let (mut work, mut messages) = (
        "process,superstep,work [instr]\n".to_owned(),
        "superstep,from,to,bytes\n".to_owned(),
    );
    for superstep in 0..60 {
        for process in 0..8 {
            let is_light = (process + superstep / 2) % 2 == 1;
            let instructions = if is_light { 4e8 } else { 1e9 };
            let _ = writeln!(work, "{},{},{instructions}", process + 1, superstep + 1);
            let next = (process + 1) % 8 + 1;
            let _ = writeln!(messages, "{},{},{next},1000", superstep + 1, process + 1);
        }
    }
    fs::write(folder.join("work.csv"), work).unwrap();
    fs::write(folder.join("messages.csv"), messages).unwrap();
}

#[test]
fn moves_straight_back_are_counted() {
    let scratch = tempfile::tempdir().unwrap();
    swinging(scratch.path());
    let line = "--platform two.json --app table --work work.csv --messages messages.csv --set 'workload.memory=200 MB' \
        --mapping contiguous --no-static-starts";
    let (here, policy) = (scratch.path(), "--policy greedy-comm/every");
    let table = done(here, &format!("run {line} {policy} --out run"));
    let counted = "2 of 18 moves go back to the host that the process left in its previous move\n";
    assert!(table.contains(counted), "{table}");
    // Count the moves again, in the table of migrations.
    let text = fs::read_to_string(scratch.path().join("run/migrations.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|row| row.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|one| *one == name).unwrap();
    let [process, from, to] = ["process", "from_host", "to_host"].map(column);
    let (mut left, mut returns) = (BTreeMap::new(), 0);
    for row in &rows[1..] {
        let before = left.insert(row[process], row[from]);
        returns += usize::from(before == Some(row[to]));
    }
    assert_eq!((rows.len() - 1, returns), (18, 2));
    let manifest = fs::read_to_string(scratch.path().join("run/run.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let iii = &manifest["summary"]["scenarios"][2];
    assert_eq!(iii["straight_returns"], 2);
    // The page, a comparison and a row of a sweep have the same number.
    done(here, "report run");
    let page = fs::read_to_string(scratch.path().join("run/report.html")).unwrap();
    assert!(page.contains(counted.trim_end()));
    let name = "greedy-comm/every";
    let compared = json(here, &format!("compare {line} --policies {name}"));
    assert_eq!(compared["policies"][0]["straight_returns"], 2.0);
    let line = line.replace("--no-static-starts", "");
    done(here, &format!("sweep {line} {policy} --out sweep --quiet"));
    let runs = fs::read_to_string(scratch.path().join("sweep/runs.csv")).unwrap();
    assert!(runs.lines().nth(1).unwrap().ends_with(",2"), "{runs}");
}
