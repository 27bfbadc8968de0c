//! Laws of nothing: what changes nothing leaves every time as it is. A profile of present values, a load of 0 and a change by 0 % hold in
//! all scenarios; hosts without processes and another order of clusters in scenario i, since they give a policy other choices.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::support::{draws, migsim_in, split_mix, succeeded};

/// Loads of 0 of every kind that can be 0.
const LOADS: &[&str] = &[
    "constant,load=0",
    "constant,load=0,on=links",
    "on-off,load=0",
    "on-off,load=0,on=links",
    "ar,mean=0,deviation=0",
    "ar,mean=0,deviation=0,on=links",
    "daily,mean=0,amplitude=0",
    "file,file=idle.csv",
];

const CHANGES: &[&str] = &[
    "cluster a speed +0%",
    "cluster a links bandwidth +0%",
    "cluster b links latency -0%",
    "link w bandwidth +0%",
    "link w latency -0%",
    "overhead +0%",
    "moves +0%",
    "calls -0%",
    "barrier -0%",
    "imbalance -0%",
];

/// Settings of options that disturb nothing.
const SETTINGS: &[&str] = &[
    "runtime.noise=0",
    "view.noise=0",
    "view.delay=0",
    "view.window=1",
    "view.missing=0",
];

/// Random choices of a case.
struct Choices(u64);

impl Choices {
    fn number(&mut self, count: usize) -> usize {
        usize::try_from(split_mix(&mut self.0) % count as u64).unwrap()
    }

    fn one<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.number(list.len())]
    }
}

/// A platform of two clusters, and the flags of a run on it.
struct Drawn {
    platform: Value,
    flags: Vec<String>,
}

fn draw(seed: u64) -> Drawn {
    let mut choices = Choices(seed);
    let latencies = ["0.1 ms", "5 ms", "20 ms"];
    let sizes = [1 + choices.number(4), 1 + choices.number(4)];
    let mut cluster = |name: &str, hosts: usize| {
        json!({
            "name": name, "hosts": hosts, "cores": 1 + choices.number(2), "router": format!("R{name}"),
            "speed": choices.one(&["1 GHz", "1.5 GHz", "0.7 GHz"]),
            "link": {"bandwidth": "12.5 MB/s", "latency": choices.one(&latencies)},
        })
    };
    let clusters = [cluster("a", sizes[0]), cluster("b", sizes[1])];
    let platform = json!({
        "schema": "migsim-platform-1", "name": "drawn", "clusters": clusters, "routers": ["Ra", "Rb"],
        "links": [{"name": "w", "from": "Ra", "to": "Rb", "bandwidth": choices.one(&["12.5 MB/s", "1.25 MB/s"]), "latency": choices.one(&latencies)}],
        "profiles": {},
    });
    let processes = 2 + choices.number(13);
    let host = |choices: &mut Choices| {
        let cluster = choices.number(2);
        format!("{}-{}", ["a", "b"][cluster], choices.number(sizes[cluster]))
    };
    let hosts: Vec<String> = (0..processes).map(|_| host(&mut choices)).collect();
    let mut flags = format!(
        "--app synthetic --procs {processes} --seed {} --policy {} --set workload.supersteps={} --set workload.spread=0.53 \
         --set workload.drift=0.3 --set workload.pattern={} --set runtime.barrier.kind={} --mapping {} --network {}",
        1 + choices.number(999),
        choices.one(&["migbsp", "refine/every=2", "greedy/every=3", "prefix/menon"]),
        4 + choices.number(6),
        choices.one(&["ring", "none", "line"]),
        choices.one(&[
            "library",
            "recursive-doubling",
            "dissemination",
            "double-ring",
            "ideal",
            "none",
            "central",
            "tree",
            "sequential"
        ]),
        hosts.join(","),
        choices.one(&["cm02", "cm02", "lv08", "ideal"]),
    );
    flags += ["", " --library open-mpi", " --library mpich"][choices.number(3)];
    let mut flags: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
    let bytes = choices.one(&["100 kB", "20 kB", "200 B"]);
    let work = choices.one(&["1e8 instr", "2.3e7 instr"]);
    for setting in [
        format!("workload.bytes={bytes}"),
        format!("workload.instructions={work}"),
    ] {
        flags.extend(["--set".to_owned(), setting]);
    }
    Drawn { platform, flags }
}

/// Returns the makespans of scenarios i, ii and iii.
fn makespans(folder: &Path, platform: &Value, flags: &[String], more: &[&str]) -> [f64; 3] {
    fs::write(folder.join("p.json"), platform.to_string()).unwrap();
    let start = [
        "run",
        "--platform",
        "p.json",
        "--json",
        "--no-static-starts",
    ];
    let flags = flags.iter().map(String::as_str);
    let all: Vec<&str> = start
        .into_iter()
        .chain(flags)
        .chain(more.iter().copied())
        .collect();
    let output = succeeded(migsim_in(folder, &all));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    [0, 1, 2].map(|scenario| found["scenarios"][scenario]["makespan_s"].as_f64().unwrap())
}

/// Returns the platforms that differ from a platform by a profile of the values that it has anyway, or by its whole speed.
fn with_profiles(platform: &Value) -> Vec<(&'static str, Value)> {
    let profiled = |what, edit: &dyn Fn(&mut Value) -> Value| {
        let mut other = platform.clone();
        let value = edit(&mut other);
        let steps = json!([["0.05 s", value], ["0.09 s", value]]);
        other["profiles"] = json!({"same": {"steps": steps, "period": "0.11 s"}});
        (what, other)
    };
    let of = |part: &mut Value, key: &str| {
        part[format!("{key}_profile")] = json!("same");
        part[key].clone()
    };
    vec![
        profiled("profile of a speed", &|other| {
            of(&mut other["clusters"][1], "speed");
            json!(1)
        }),
        profiled("profile of the links of hosts", &|other| {
            of(&mut other["clusters"][1]["link"], "bandwidth");
            of(&mut other["clusters"][0]["link"], "bandwidth")
        }),
        profiled("profile of a bandwidth", &|other| {
            of(&mut other["links"][0], "bandwidth")
        }),
        profiled("profile of a latency", &|other| {
            of(&mut other["links"][0], "latency")
        }),
    ]
}

/// Returns the platforms that differ from a platform by an unused host, an unused cluster, or the order of clusters.
fn with_other_hosts(platform: &Value) -> Vec<(&'static str, Value)> {
    let edited = |what, edit: &dyn Fn(&mut Vec<Value>)| {
        let mut other = platform.clone();
        edit(other["clusters"].as_array_mut().unwrap());
        (what, other)
    };
    vec![
        edited("unused host", &|clusters| {
            clusters[0]["hosts"] = json!(clusters[0]["hosts"].as_u64().unwrap() + 1);
        }),
        edited("unused cluster", &|clusters| {
            let mut unused = clusters[0].clone();
            unused["name"] = json!("z");
            clusters.push(unused);
        }),
        edited("order of clusters", &|clusters| clusters.reverse()),
    ]
}

#[test]
fn what_changes_nothing_changes_no_time() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("idle.csv"),
        "time,load\n0,0\n0.07,0\n0.3,0\n",
    )
    .unwrap();
    for seed in 0..draws(5, 200) {
        let Drawn { platform, flags } = draw(seed);
        let run =
            |platform: &Value, more: &[&str]| makespans(folder.path(), platform, &flags, more);
        let base = run(&platform, &[]);
        let loads = LOADS
            .iter()
            .map(|load| (*load, run(&platform, &["--load", load])));
        let changes = CHANGES
            .iter()
            .map(|change| (*change, run(&platform, &["--change", change])));
        let settings = SETTINGS
            .iter()
            .map(|setting| (*setting, run(&platform, &["--set", setting])));
        let profiles = with_profiles(&platform)
            .into_iter()
            .map(|(what, other)| (what, run(&other, &[])));
        let in_all = loads
            .chain(changes)
            .chain(settings)
            .chain(profiles)
            .map(|(what, found)| (what, found, 3));
        let hosts = with_other_hosts(&platform)
            .into_iter()
            .map(|(what, other)| (what, run(&other, &[]), 1));
        for (what, found, scenarios) in in_all.chain(hosts) {
            for (found, base) in found.iter().zip(&base).take(scenarios) {
                let difference = (found - base).abs();
                assert!(
                    difference <= 1e-12 * base,
                    "seed {seed}, {what}: {found} and {base}\n{platform}\n{}",
                    flags.join(" ")
                );
            }
        }
    }
}
