//! Data of DARMA/vt and tables as applications: run, explained, exported and read again.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};

use crate::support::{command, done, json, lacks, refused, said, succeeded};

const PAGE: &str = include_str!("../docs/guide/data.md");

const RANKS: usize = 32;
const TASKS: usize = 15;
const PHASES: usize = 40;

fn entity(rank: usize, task: usize) -> Value {
    json!({ "id": 4 * (rank * TASKS + task) + 3, "home": rank, "type": "object", "migratable": !task.is_multiple_of(3) })
}

/// The load of a task \[s\]; its maximum moves over the ranks, as in the script of the guide.
fn load(rank: usize, task: usize, phase: usize) -> f64 {
    let place = (rank + RANKS - phase / 2 % RANKS) % RANKS;
    let factor = if place < 7 { 8.0 } else { 1.0 };
    0.002 * (1 + task % 5) as f64 * factor
}

/// Data of 32 ranks and 480 tasks, with the prefix `wave` in a folder.
fn write_wave(folder: &Path) {
    for rank in 0..RANKS {
        let phase = |phase: usize| {
            let task = |task: usize| {
                json!({
                    "entity": entity(rank, task), "node": rank, "resource": "cpu", "time": load(rank, task, phase),
                    "user_defined": { "task_footprint_bytes": 2e5 },
                })
            };
            let edge = |task: usize| {
                json!({
                    "type": "SendRecv", "from": entity(rank, task), "to": entity((rank + 1) % RANKS, task),
                    "messages": 1, "bytes": 4000.0,
                })
            };
            json!({
                "id": phase,
                "tasks": (0..TASKS).map(task).collect::<Value>(),
                "communications": (0..TASKS).map(edge).collect::<Value>(),
            })
        };
        let data =
            json!({ "type": "LBDatafile", "phases": (0..PHASES).map(phase).collect::<Value>() });
        fs::write(folder.join(format!("wave.{rank}.json")), data.to_string()).unwrap();
    }
}

fn hashes(folder: &Path, line: &str) -> Vec<String> {
    let summary = json(folder, &format!("run --platform ufrgs {line}"));
    let scenarios = summary["scenarios"].as_array().unwrap().iter();
    scenarios.map(|one| one["event_hash"].to_string()).collect()
}

/// Lists the processes that a run moved, counted from 1.
fn moved(folder: &Path) -> Vec<usize> {
    let table = fs::read_to_string(folder.join("migrations.csv")).unwrap();
    let mut lines = table.lines();
    let place = lines
        .next()
        .unwrap()
        .split(',')
        .position(|name| name == "process")
        .unwrap();
    let process = |line: &str| {
        line.split(',')
            .nth(place)
            .unwrap()
            .trim_start_matches('p')
            .parse()
            .unwrap()
    };
    lines.map(process).collect()
}

/// Whether the process with this number, counted from 1, may migrate.
fn may_move(process: usize) -> bool {
    !((process - 1) % TASKS).is_multiple_of(3)
}

#[test]
fn a_recorded_run_of_480_tasks_is_balanced_reported_and_explained() {
    let folder = tempfile::tempdir().unwrap();
    write_wave(folder.path());
    let here = folder.path();
    let settings = "--platform ufrgs --app vt --data wave";
    let run = format!("run --out run --report {settings} --alpha 4");
    let output = succeeded(command(here, &run));
    let notes = said(&output);
    assert!(
        notes.contains("has 32 ranks, 480 tasks (160 of them may not migrate), 40 phases"),
        "{notes}"
    );
    assert_eq!(notes.matches("has 32 ranks").count(), 1);
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.ends_with("</html>\n"));
    let moves = moved(&folder.path().join("run"));
    assert!(!moves.is_empty(), "MigBSP moves something");
    assert!(moves.iter().all(|process| may_move(*process)), "{moves:?}");
    let story = done(here, "explain run --superstep 4 --why-not p1");
    assert!(
        story.contains("p1 must stay on its host, as the data of the application says"),
        "{story}"
    );
    for policy in ["greedy", "greedy-refine", "refine", "prefix", "migbsp-2007"] {
        let asked = format!("--policy {policy} --trigger every=4 --scenario iii --out {policy}");
        done(here, &format!("run {settings} {asked}"));
        let moves = moved(&here.join(policy));
        assert!(moves.iter().all(|process| may_move(*process)), "{policy:?}");
    }
}

#[test]
fn an_export_for_vt_runs_as_the_same_application() {
    let folder = tempfile::tempdir().unwrap();
    write_wave(folder.path());
    let here = folder.path();
    let of = |data: &str| hashes(here, &format!("--app vt --data {data} --alpha 4"));
    let export = "trace export --platform ufrgs --app vt --data wave --format vt";
    done(here, &format!("{export} --out lb/again"));
    assert_eq!(of("wave"), of("lb/again"));
    let policy = "--policy greedy-refine --trigger every=4 --moves --out lb/moved";
    done(here, &format!("{export} {policy}"));
    // Each task is in one file per phase; a task that may not migrate is in the file of its own rank.
    let ranks = fs::read_dir(folder.path().join("lb")).unwrap().count() - RANKS;
    let mut places = vec![vec![Vec::new(); RANKS * TASKS]; PHASES];
    for rank in 0..ranks {
        let text = fs::read_to_string(here.join(format!("lb/moved.{rank}.json"))).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        for (phase, data) in value["phases"].as_array().unwrap().iter().enumerate() {
            for task in data["tasks"].as_array().unwrap() {
                let id = task["entity"]["id"].as_u64().unwrap();
                places[phase][usize::try_from((id - 3) / 4).unwrap()].push(rank);
                assert_eq!(task["node"], rank);
            }
        }
    }
    assert!(places.iter().flatten().all(|ranks| ranks.len() == 1));
    let own = |phase: &Vec<Vec<usize>>| {
        phase
            .iter()
            .enumerate()
            .filter(|(task, ranks)| ranks[0] != task / TASKS)
            .count()
    };
    assert_eq!(own(&places[3]), 0, "the first call comes after superstep 4");
    assert!(own(&places[4]) > 0);
    // Files of more ranks would be read together with those of fewer ranks, so they are refused.
    let few = "trace export --platform ufrgs --app lu --n 20 --procs 4 --format vt --out lb/moved";
    let errors = refused(here, few);
    assert!(errors.contains("would be read as a part of the written data"));
}

#[test]
fn an_application_of_ours_becomes_data_and_stays_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let export = "trace export --app lbm --platform lbm --format vt --out lbm";
    done(here, export);
    let [ours, theirs] = ["lbm", "vt --data lbm"].map(|app| {
        let show = "workload show --platform lbm --mapping by-core:n --format csv";
        done(here, &format!("{show} --app {app}"))
    });
    assert_eq!(ours.lines().last(), theirs.lines().last());
}

#[test]
fn tables_run_and_are_found_beside_their_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "work.csv",
        "superstep,process,work [Ginstr],memory [MB]\n1,p1,1,5\n1,p2,2,5\n2,p1,1,5\n",
    );
    write("messages.csv", "superstep,from,to,bytes\n1,p1,p2,1 MB\n");
    write(
        "app.json",
        r#"{"schema": "migsim-experiment-1", "platform": "ufrgs", "workload": {"app": "table", "work": "work.csv", "messages": "messages.csv"}}"#,
    );
    let flags = "--app table --work work.csv --messages messages.csv";
    let from_flags = hashes(folder.path(), flags);
    assert_eq!(from_flags.len(), 3);
    assert_eq!(hashes(folder.path(), "app.json"), from_flags);
    write_wave(folder.path());
    write(
        "vt.json",
        r#"{"schema": "migsim-experiment-1", "platform": "ufrgs", "workload": {"app": "vt", "data": "wave"}}"#,
    );
    assert_eq!(hashes(folder.path(), "vt.json").len(), 3);
}

#[test]
fn the_script_of_the_guide_writes_the_data_of_these_tests_where_there_is_python() {
    if lacks("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (_, script) = PAGE.split_once("```python\n").unwrap();
    let (script, _) = script.split_once("```").unwrap();
    let mut python = Command::new("python3");
    let python = python.args(["-c", script]).current_dir(folder.path());
    let output = python.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let written =
        |rank: usize| fs::read_to_string(folder.path().join(format!("wave.{rank}.json"))).unwrap();
    let by_script: Vec<Value> = (0..RANKS)
        .map(|rank| serde_json::from_str(&written(rank)).unwrap())
        .collect();
    write_wave(folder.path());
    let loads = |value: &Value| -> Vec<f64> {
        let phases = value["phases"].as_array().unwrap().iter();
        let tasks = phases.flat_map(|phase| phase["tasks"].as_array().unwrap());
        tasks
            .map(|task| (task["time"].as_f64().unwrap() * 1e6).round())
            .collect()
    };
    for (rank, script) in by_script.iter().enumerate() {
        let ours: Value = serde_json::from_str(&written(rank)).unwrap();
        assert_eq!(loads(&ours), loads(script), "rank {rank}");
    }
}
