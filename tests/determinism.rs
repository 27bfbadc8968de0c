//! The same input gives the same events. Golden hashes have one run for each application and policy. The hashes do not depend on the number
//! of threads, on the cache of supersteps, on folder, language and time zone, nor on the order of keys in the input files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use migsim::{
    Registry,
    experiment::{Experiment, Progress, find_built_in_experiment},
};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::support::{done, experiment, of_flags, read, succeeded};

/// The golden hashes, one line per run and scenario.
const GOLDEN: &str = include_str!("data/golden.csv");
/// The changelog, which reports changes of the hashes.
const CHANGELOG: &str = include_str!("../CHANGELOG.md");

/// The instruction for renewing both.
const RENEW: &str = "event hashes have changed. If that is meant: run this test with UPDATE_GOLDEN=1, which writes tests/data/golden.csv, and \
    write a line into CHANGELOG.md, at the top of *Results* of the newest version: which results moved and why, and at its end";

/// A run: its name, and its settings.
type Run = (&'static str, Experiment);

/// Makes a run of an application on the platform of the papers, with settings.
fn small(app: &str, settings: &[(&str, Value)]) -> Experiment {
    let all: Vec<(&str, Value)> = [("platform", json!("ufrgs")), ("workload.app", json!(app))]
        .into_iter()
        .chain(settings.iter().cloned())
        .collect();
    of_flags(&all)
}

/// Lists the chosen runs: applications, policies, and background load with random numbers.
fn runs() -> Vec<Run> {
    applications().into_iter().chain(policies()).collect()
}

fn applications() -> Vec<Run> {
    let synthetic: [(&str, Value); 4] = [
        ("workload.procs", json!(20)),
        ("workload.supersteps", json!(30)),
        ("workload.spread", json!(0.5)),
        (
            "load",
            json!([
                { "kind": "walk", "values": "reserved" }, { "kind": "ar", "on": "links", "mean": 0.2 },
                { "kind": "on-off", "values": "reserved" }, { "kind": "daily", "values": "reserved" }
            ]),
        ),
    ];
    let case = "tests/oracle/rnd-migrations";
    vec![
        (
            "lu",
            experiment(
                "lu",
                &[("workload.n", json!(1000)), ("workload.procs", json!(25))],
            ),
        ),
        ("sw", experiment("sw", &[("workload.n", json!(25))])),
        (
            "sw-dynamic",
            experiment("sw-dynamic", &[("workload.n", json!(25))]),
        ),
        (
            "lbm",
            experiment("lbm", &[("workload.supersteps", json!(50))]),
        ),
        ("synthetic", small("synthetic", &synthetic)),
        (
            "trace",
            of_flags(&[
                ("platform", json!(format!("{case}/platform.xml"))),
                ("workload.app", json!("trace")),
                ("workload.trace", json!(format!("{case}/trace.txt"))),
                ("policy.name", json!("never")),
            ]),
        ),
        (
            "vt",
            small("vt", &[("workload.data", json!("tests/data/vt/lu"))]),
        ),
        (
            "table",
            small(
                "table",
                &[
                    ("workload.work", json!("tests/data/table/work.csv")),
                    ("workload.messages", json!("tests/data/table/messages.csv")),
                ],
            ),
        ),
    ]
}

fn policies() -> Vec<Run> {
    let replay = (
        "policy.replay.decisions",
        json!([{ "superstep": 5, "process": 3, "to": "Aquario" }]),
    );
    let never = ("policy.name", json!("never"));
    vec![
        (
            "never",
            small(
                "lu",
                &[
                    ("workload.n", json!(100)),
                    ("workload.procs", json!(25)),
                    never,
                ],
            ),
        ),
        (
            "migbsp-2007",
            small(
                "lu",
                &[
                    ("workload.n", json!(200)),
                    ("workload.procs", json!(25)),
                    ("policy.name", json!("migbsp-2007")),
                ],
            ),
        ),
        (
            "brute-force",
            small(
                "synthetic",
                &[
                    ("platform", json!("lbm")),
                    ("workload.procs", json!(2)),
                    ("workload.supersteps", json!(40)),
                    ("workload.spread", json!(0.5)),
                    ("policy.name", json!("brute-force")),
                ],
            ),
        ),
        (
            "replay",
            small(
                "lu",
                &[
                    ("workload.n", json!(100)),
                    ("workload.procs", json!(25)),
                    ("policy.name", json!("replay")),
                    replay,
                ],
            ),
        ),
    ]
}

/// Computes the hashes of the scenarios of an experiment; with `is_alone`, scenarios share no cache.
fn hashes(experiment: &Experiment, is_alone: bool) -> Vec<(&'static str, String)> {
    let remembered = experiment.new_superstep_cache().filter(|_| !is_alone);
    let run = |scenario: &migsim::bsp::Scenario| {
        let run = experiment.run_scenario(
            *scenario,
            &Progress::default(),
            &mut (),
            remembered.as_ref(),
        );
        (scenario.name(), run.unwrap().outcome.event_hash)
    };
    experiment.config.scenarios.iter().map(run).collect()
}

/// Lists a small run of each policy and each application that no other run has; applications use their defaults.
fn others(runs: &[Run]) -> Vec<Run> {
    let registry = Registry::standard();
    let is_run = |key: &str, name: &str| {
        let has = |run: &Run| {
            run.1
                .resolved_settings
                .pointer(key)
                .is_some_and(|value| value == name)
        };
        runs.iter().any(has)
    };
    let small = |name, settings: &[(&str, Value)]| {
        let all = [&[("platform", json!("ufrgs"))], settings].concat();
        (name, of_flags(&all))
    };
    let policies = registry.policies().names();
    // The policy `exec` needs a program, and has that program's decisions.
    let policies = policies.filter(|name| *name != "exec" && !is_run("/policy/name", name));
    // With this spread of the work, each strategy moves processes.
    let work = [
        ("workload.app", json!("synthetic")),
        ("workload.procs", json!(20)),
        ("workload.supersteps", json!(30)),
        ("workload.spread", json!(0.5)),
    ];
    let policies =
        policies.map(|name| small(name, &[&work[..], &[("policy.name", json!(name))]].concat()));
    let apps = registry.workloads().names();
    let apps = apps.filter(|name| !is_run("/workload/app", name));
    let apps = apps.map(|name| small(name, &[("workload.app", json!(name))]));
    policies.chain(apps).collect()
}

#[test]
fn event_hashes_are_the_golden_ones_with_and_without_the_cache() {
    let renews = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut runs = runs();
    runs.extend(others(&runs));
    let mut golden = "run,scenario,event_hash\n".to_owned();
    for (name, experiment) in runs {
        let found = hashes(&experiment, true);
        assert_eq!(found, hashes(&experiment, false), "{name}");
        // A new run has no golden hash until the file is renewed.
        let is_known = GOLDEN.contains(&format!("\n{name},"));
        for (scenario, hash) in found.into_iter().filter(|_| is_known || renews) {
            writeln!(golden, "{name},{scenario},{hash}").unwrap();
        }
    }
    if renews {
        fs::write(
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/golden.csv"),
            &golden,
        )
        .unwrap();
    }
    let moved: Vec<&str> = golden
        .lines()
        .filter(|line| !GOLDEN.contains(line))
        .collect();
    assert!(
        golden == GOLDEN,
        "{RENEW} `{}`. Moved: {moved:#?}",
        mark(&golden)
    );
}

/// Returns the end of the line in the changelog.
fn mark(golden: &str) -> String {
    let digest = Sha256::digest(golden.as_bytes());
    let digits = digest
        .iter()
        .take(8)
        .fold(0, |digits, byte| digits << 8 | u64::from(*byte));
    format!("(golden hashes {digits:016x})")
}

#[test]
fn the_changelog_has_the_current_golden_hashes() {
    // The first line that mentions hashes is the newest one.
    let newest = CHANGELOG
        .split_once("(golden hashes ")
        .map(|(_, rest)| rest.split(')').next().unwrap());
    let newest = newest.map(|digest| format!("(golden hashes {digest})"));
    assert_eq!(newest, Some(mark(GOLDEN)), "{RENEW} `{}`", mark(GOLDEN));
}

/// Writes the settings of a run into files in a folder: an experiment, a platform, a load.
fn inputs(folder: &Path, order: fn(&Value) -> Value) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let json = |name: &str| {
        serde_json::from_str::<Value>(&fs::read_to_string(root.join(name)).unwrap()).unwrap()
    };
    fs::create_dir_all(folder).unwrap();
    let mut experiment = find_built_in_experiment("lu").unwrap().unwrap().value;
    experiment["platform"] = json!("mine.json");
    experiment["workload"]["n"] = json!(200);
    experiment["workload"]["procs"] = json!(25);
    experiment["load"] = json!([{ "kind": "walk", "values": "reserved", "on": "hosts", "most": 0.6 }, { "kind": "on-off", "on": "links" }]);
    // This platform has clusters, links, latencies and profiles.
    let mut platform = json("platforms/ufrgs.json");
    platform["profiles"] = json(r"platforms/sw-dynamic-t10.json")["profiles"].clone();
    let write = |name: &str, value: &Value| {
        fs::write(folder.join(name), format!("{:#}\n", order(value))).unwrap();
    };
    write("mine.json", &platform);
    write("experiment.json", &experiment);
    folder.join("experiment.json")
}

/// Returns the same value with the keys of all objects in reverse order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(keys) => Value::Object(
            keys.iter()
                .rev()
                .map(|(key, value)| (key.clone(), reversed(value)))
                .collect::<Map<_, _>>(),
        ),
        Value::Array(values) => values.iter().map(reversed).collect(),
        other => other.clone(),
    }
}

/// Returns the results in a run folder without the values that may differ: the time of the machine and the hashes of input files.
fn outputs(folder: &Path) -> Vec<(String, String)> {
    let manifest: Value = serde_json::from_str(&read(folder, "run.json")).unwrap();
    let mark = manifest["settings_sha256"].as_str().unwrap(); // of the input files too
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut files: Vec<(String, String)> = entries
        .filter(|entry| entry.file_name() != "inputs")
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            let text = read(folder, &name).replace(mark, "");
            (name, text)
        })
        .collect();
    for (name, text) in &mut files {
        if name == "run.json" {
            let mut manifest: Value = serde_json::from_str(text).unwrap();
            manifest["inputs"] = Value::Null;
            manifest["summary"]["simulator"]["loop_cpu_s"] = Value::Null;
            *text = format!("{manifest:#}");
        }
    }
    files.sort();
    files
}

/// Runs an experiment file, with its results in the folder `out` beside it.
fn run(file: &Path, prepare: impl FnOnce(&mut Command)) -> Vec<(String, String)> {
    let out = file.with_file_name("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_migsim"));
    command
        .arg("run")
        .arg(file)
        .args([
            "--processes",
            "--report",
            "--write-trace",
            "perfetto,paje",
            "--force",
            "--out",
        ])
        .arg(&out);
    prepare(&mut command);
    succeeded(command.output().unwrap());
    outputs(&out)
}

#[test]
fn the_order_of_keys_in_input_files_has_no_meaning() {
    let scratch = tempfile::tempdir().unwrap();
    let written = run(&inputs(&scratch.path().join("a"), Value::clone), |_| {});
    let turned = run(&inputs(&scratch.path().join("a"), reversed), |_| {});
    for (one, other) in written.iter().zip(&turned) {
        let differs = one.1.lines().zip(other.1.lines()).find(|(a, b)| a != b);
        assert!(one == other, "{}: {differs:.300?}", one.0);
    }
    assert_eq!(written.len(), turned.len());
}

#[test]
fn a_sweep_file_means_the_same_in_any_order_of_its_keys() {
    let scratch = tempfile::tempdir().unwrap();
    let sweep = json!({
        "schema": "migsim-sweep-1",
        "experiment": { "workload": { "app": "synthetic", "procs": 6, "supersteps": 8, "spread": 0.5 }, "platform": "ufrgs", "scenarios": ["i", "iii"] },
        "vary": { "policy.migbsp.alpha": [2, 4] },
        "seeds": "1..2"
    });
    let runs = |name: &str, sweep: &Value| {
        let (file, out) = (scratch.path().join("sweep.json"), scratch.path().join(name));
        fs::write(&file, sweep.to_string()).unwrap();
        let sweep = format!("sweep {} --quiet --out {}", file.display(), out.display());
        done(Path::new("."), &sweep);
        read(&out, "runs.csv")
    };
    assert_eq!(runs("a", &sweep), runs("b", &reversed(&sweep)));
}

#[test]
fn folder_language_time_zone_terminal_and_threads_have_no_influence() {
    let scratch = tempfile::tempdir().unwrap();
    let file = inputs(&scratch.path().join("a"), Value::clone);
    let plain = run(&file, |command| {
        command.env_clear().current_dir("/");
    });
    let strange = run(&file, |command| {
        let variables = [
            ("LC_ALL", "tr_TR.UTF-8"),
            ("LANG", "de_DE.UTF-8"),
            ("LC_NUMERIC", "de_DE.UTF-8"),
            ("TZ", "Pacific/Apia"),
            ("TERM", "dumb"),
            ("NO_COLOR", "1"),
            ("COLUMNS", "20"),
            ("HOME", "/nowhere"),
            ("RAYON_NUM_THREADS", "7"),
            ("RUST_BACKTRACE", "full"),
        ];
        command
            .envs(variables)
            .args(["--threads", "1"])
            .current_dir(scratch.path());
    });
    assert!(plain == strange);
    assert!(
        plain
            .iter()
            .any(|(name, text)| name == "run.json" && text.contains("event_hash"))
    );
}
