//! The matrix: commands that read a run or settings x policies x platforms x loads x libraries. Each ends well, with the numbers of `run`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, os::unix::fs::PermissionsExt};

use migsim::random::{Stream, StreamPurpose};
use serde_json::{Value, json};

use crate::support::{assert_close, done, draws, json, lacks, read};

// Each case takes the next value of each list. No two lengths have a common divisor, so that 1092 cases are all combinations.
const POLICIES: &str = "migbsp migbsp-2 migpf/every=5 greedy/every=4 exec:./fastest/every=5 greedy-refine/charm-8/every=4 refine/menon migbsp-2007 \
                        greedy/charm-8/every=4 tempered/every=6 prefix/improved-menon c-random/every=3 migcube/procassini=0.9";
const LOADS: &str = "none walk,step=0.3,period=2s constant,load=0.3 ar,mean=0.4,on=links on-off,busy=4s \
                     daily,day=20s,period=1s,peak=9s,start=3s file,file=load.csv,repeat=10s,shift=true";
const LIBRARIES: &str = "neutral open-mpi ideal mpich";
const PLATFORMS: &str = "own.json ufrgs cores.json";

const PLATFORM: &str = r#"{"schema": "migsim-platform-1", "name": "p", "clusters": [
    {"name": "a", "hosts": 3, "cores": CORES, "speed": "1 GHz", "router": "r", "link": {"bandwidth": "1 Gbps", "latency": "50 us"}},
    {"name": "b", "hosts": 2, "cores": CORES, "speed": "1.7 GHz", "router": "s", "link": {"bandwidth": "1 Gbps", "latency": "50 us"}}],
    "links": [{"name": "w", "from": "r", "to": "s", "bandwidth": "100 Mbps", "latency": "2 ms"}]}"#;
/// A policy: each process in turn goes to the core that would finish it first.
const FASTEST: &str = r#"#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    barrier = json.loads(line)
    busy, places = list(barrier["background"]), []
    for work in barrier["work"]:
        ends = [busy[core] + work / speed for core, speed in enumerate(barrier["speeds"])]
        places.append(ends.index(min(ends)))
        busy[places[-1]] = min(ends)
    print(json.dumps({"call": barrier["call"], "assignment": places}), flush=True)
"#;

/// One combination, in a folder with its files.
struct Cell {
    folder: tempfile::TempDir,
    machine: String,
    application: String,
    policy: String,
}

impl Cell {
    fn drawn(case: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("own.json", &*PLATFORM.replace("CORES", "2")),
            ("cores.json", &PLATFORM.replace("CORES", "16")),
            ("load.csv", "date_s,load\n0,0.5\n3,0.1\n7,0.7\n"),
            ("fastest", FASTEST),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        }
        let at = usize::try_from(case).unwrap();
        let [policy, load, library, platform] = [POLICIES, LOADS, LIBRARIES, PLATFORMS]
            .map(|list| list.split_whitespace().cycle().nth(at).unwrap());
        let mut random = Stream::new(case, StreamPurpose::SweepSampling);
        let mut application = "--app synthetic".to_owned();
        for (key, values) in [
            ("--procs ", "8 11 16"),
            ("--mapping ", "fast-first contiguous by-core"),
            ("--set runtime.noise=", "0 0.02"),
            ("--set workload.supersteps=", "20 31"),
            ("--set workload.spread=", "0 0.3 0.7"),
            ("--set workload.drift=", "0 0.2"),
            ("--set workload.pattern=", "ring line none"),
            ("--set workload.bytes=", "200B 500kB"),
            ("--set workload.memory=", "10kB 4MB"),
        ] {
            let values: Vec<&str> = values.split(' ').collect();
            application.push_str(&[" ", key, values[random.draw_below(values.len())]].concat());
        }
        let library = format!(" --library {library}").replace(" --library neutral", "");
        Self {
            folder,
            machine: format!(
                "--platform {platform} --load {load} --seed {}{library}",
                case + 1
            ),
            application,
            policy: policy.to_owned(),
        }
    }

    /// Does a command, which must succeed. In it, `CASE` stands for the settings without the policy.
    fn does(&self, command: &str) -> String {
        let command = command.replace("CASE", &format!("{} {}", self.machine, self.application));
        done(self.folder.path(), &command)
    }

    fn told(&self, command: &str) -> Value {
        serde_json::from_str(&self.does(&format!("{command} --json"))).unwrap()
    }

    fn run(&self, flags: &str) -> Value {
        self.told(
            &format!("run CASE --policy {} {flags}", self.policy)
                .trim_end()
                .replace("  ", " "),
        )
    }

    /// The same run by other ways.
    fn check_runs(&self, run: &Value) {
        let ways = [
            "--out A --processes --report",
            "--out T --write-trace perfetto,paje",
            "--threads 1",
        ];
        for same in ways.map(|flags| self.run(flags)) {
            assert_eq!(same["scenarios"], run["scenarios"]);
        }
        assert_eq!(
            self.told("run A/run.json --allow-exec")["scenarios"],
            run["scenarios"]
        );
        self.does("report A -o A.html");
        let replayed = self.told("run CASE --policy replay:A/calls.jsonl --out R");
        assert_eq!(iii(&replayed)["makespan_s"], iii(run)["makespan_s"]);
        assert_eq!(self.told("explain R")["moved"], iii(run)["moved"]);

        self.does("trace export CASE --out x.trace");
        let of_trace = self.told(&format!(
            "run {} --app trace --trace x.trace --policy {}",
            self.machine, self.policy
        ));
        for other in [of_trace, self.run("--critical-path --report path.html")] {
            for (found, expected) in makespans(&other).into_iter().zip(makespans(run)) {
                assert_close(found, expected, 1e-9, "a trace, or a run with its path");
            }
        }
    }

    /// What `explain` and `decide` say about a call that moves processes, the last call, and a superstep that may have none.
    fn check_decisions(&self, run: &Value) {
        let told = self.told("explain A --allow-exec");
        for key in ["makespan_s", "moved", "scheduling_s", "migration_s"] {
            assert_eq!(told[key], iii(run)[key], "{key}");
        }
        let calls = iii(run)["calls"].as_array().unwrap();
        let moving = calls.iter().find(|call| call["migrations"] != json!([]));
        let supersteps = moving
            .into_iter()
            .chain(calls.last())
            .map(|call| call["superstep"].as_u64().unwrap());
        for superstep in supersteps.chain([7]) {
            let told = self.told(&format!("explain A --allow-exec --superstep {superstep}"));
            let text = told["sentences"].to_string();
            assert!(
                !["cannot be repeated", "unknown", "NaN"]
                    .iter()
                    .any(|words| text.contains(words)),
                "{text}"
            );
            self.does(&format!(
                "snapshot A --allow-exec --superstep {superstep} --out {superstep}.json"
            ));
            let call = calls.iter().find(|call| call["superstep"] == superstep);
            assert_eq!(told["has_call"], call.is_some());
            let Some(call) = call else { continue };
            assert_eq!(told["call"]["migrations"], call["migrations"]);
            assert_eq!(
                told["call"]["realised_gain_s"].is_null(),
                call["migrations"] == json!([]),
                "{text}"
            );
            let strategy = self
                .policy
                .rsplit_once('/')
                .map_or(&*self.policy, |name| name.0);
            let decided = self.told(&format!("decide {superstep}.json --policy {strategy}"));
            let decided = moves(&decided["policies"][0]["moved"], ["process", "from", "to"]);
            assert_eq!(
                decided,
                moves(&call["migrations"], ["process", "from_host", "to_host"])
            );
        }
    }

    /// Comparisons, also of folders, changes of one quantity, and sweeps.
    fn check_comparisons(&self, run: &Value) {
        let compared = self.told(&format!(
            "compare CASE --policies never,rotate/every=7,{}",
            self.policy
        ));
        let rows = compared["policies"].as_array().unwrap();
        let time = |row: &Value| row["makespan_s"]["mean"].as_f64().unwrap();
        assert!(rows.is_sorted_by_key(time), "{compared}");
        for row in rows {
            let name = row["policy"].as_str().unwrap();
            let one = self.told(&format!(
                "run CASE --policy {name} --out {}",
                name.replace('/', "-")
            ));
            assert_eq!(time(row), makespans(&one)[2], "{name}");
            assert_eq!(row["moves"].as_f64(), iii(&one)["moved"].as_f64(), "{name}");
        }
        let of_folders = self.told("compare never rotate-every=7 A --allow-exec");
        assert_eq!(of_folders["policies"], compared["policies"]);
        assert_eq!(of_folders["verdict"], compared["verdict"]);

        let found = self.told("bottlenecks A --allow-exec");
        assert_eq!(found["makespan_s"], iii(run)["makespan_s"]);
        let changes = found["changes"].as_array().unwrap();
        let row = changes.iter().find(|row| row["held_only"] != true).unwrap();
        let name = row["change"].as_str().unwrap();
        let run = format!("run A/run.json --allow-exec --change '{name}'");
        let changed = json(self.folder.path(), &run);
        assert_eq!(iii(&changed)["makespan_s"], row["makespan_s"], "{name}");

        self.does(&format!(
            "sweep CASE --policy {} --vary costs.move.fixed=0s,0.2s --out S",
            self.policy
        ));
        for row in csv::Reader::from_reader(read(self.folder.path(), "S/runs.csv").as_bytes())
            .into_deserialize()
        {
            let row: std::collections::BTreeMap<String, String> = row.unwrap();
            let same = self.run(&format!(
                "--set costs.move.fixed={}",
                row["costs.move.fixed"]
            ));
            assert_eq!(row["makespan_iii_s"].parse(), Ok(makespans(&same)[2]));
        }
    }
}

fn iii(run: &Value) -> &Value {
    &run["scenarios"][2]
}

fn makespans(run: &Value) -> [f64; 3] {
    [0, 1, 2].map(|at| run["scenarios"][at]["makespan_s"].as_f64().unwrap())
}

/// Returns process, source and destination of each move; the file of a barrier has no order of moves.
fn moves(list: &Value, keys: [&str; 3]) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    let mut moves: Vec<String> = list
        .map(|one| keys.map(|key| one[key].to_string()).join(" "))
        .collect();
    moves.sort();
    moves
}

#[test]
fn every_command_agrees_with_the_run() {
    for case in 0..draws(7, 1092) {
        let cell = Cell::drawn(case);
        if cell.policy.starts_with("exec") && lacks("python3") {
            continue;
        }
        let run = cell.run("");
        cell.check_runs(&run);
        cell.check_decisions(&run);
        cell.check_comparisons(&run);
    }
}
