//! Background load: laws and twins of whole runs, notes about it, and equal loads for all scenarios.

use std::sync::Arc;

use migsim::{
    Registry,
    bsp::{RuntimeConfig, ShortcutChoice},
    document::Document,
    experiment::{Experiment, KeySetting, Layers, Limits, Progress, ScenarioRun},
    load::{LoadKey, Loads},
    platform::{Platform, Profile},
    units::{BytesPerSecond, InstructionsPerSecond},
};
use serde_json::{Value, json};

use crate::support::{
    Case, Plans, ROUNDING, Wire, assert_close, draws, experiment, machine, plan, split_mix, switch,
};

/// Makes a built-in experiment of order `n` under a load.
fn under(name: &str, n: u64, load: Value, more: &[(&str, Value)]) -> Experiment {
    let first = [("workload.n", json!(n)), ("load", load)];
    experiment(name, &[&first, more].concat())
}

/// Asserts that outcomes are equal, to the bit.
fn assert_same(first: &Experiment, second: &Experiment) {
    let outcomes = |experiment: &Experiment| {
        let results = experiment.run(&Progress::default()).expect("it runs");
        let outcomes = results.scenario_runs.into_iter().map(|run| run.outcome);
        outcomes.collect::<Vec<_>>()
    };
    let (first, second) = (outcomes(first), outcomes(second));
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(first.makespan, second.makespan);
        assert!(*first == *second, "the outcomes differ");
    }
}

/// Returns the platform with its loads written out as profiles, up to a time \[s\].
fn written_out(platform: &Platform, until: f64) -> Platform {
    let mut written = platform.clone();
    for (host, loaded) in written.hosts.iter_mut().zip(&platform.hosts) {
        let steps = loaded.availability_over_time().into_iter().flatten();
        let steps: Vec<_> = steps.take_while(|step| step.0 <= until).collect();
        host.speed_profile = Profile::new(steps, None)
            .ok()
            .filter(|_| loaded.speed_varies());
        host.loads.clear();
    }
    for (link, loaded) in written.links.iter_mut().zip(&platform.links) {
        let steps = loaded.bandwidth_over_time().into_iter().flatten();
        let steps: Vec<_> = steps.take_while(|step| step.0 <= until).collect();
        link.bandwidth_profile = Profile::new(steps, None)
            .ok()
            .filter(|_| loaded.varies_over_time());
        link.loads.clear();
    }
    written
}

#[test]
fn a_constant_load_is_a_slower_platform_to_the_bit() {
    let load = json!([{ "kind": "constant", "load": 0.25, "values": "reserved" }, { "kind": "constant", "load": 0.5, "on": "links" }]);
    let loaded = under("sw", 10, load, &[]);
    let mut slower = under("sw", 10, Value::Null, &[]);
    let platform = &mut Arc::make_mut(&mut slower.platform).platform;
    for host in &mut platform.hosts {
        let speed = host.speed.get() * 0.75;
        host.speed = InstructionsPerSecond::new(speed).expect("a speed");
    }
    for link in &mut platform.links {
        let bandwidth = link.bandwidth.get() * 0.5;
        link.bandwidth = BytesPerSecond::new(bandwidth).expect("a bandwidth");
    }
    assert!(!loaded.uses_seed());
    assert_same(&loaded, &slower);
}

#[test]
fn a_generated_load_is_its_profile_written_out_to_the_bit() {
    let loads = json!([
        { "kind": "walk", "values": "reserved" },
        { "kind": "on-off", "values": "reserved", "on": ["Aquario", "Labtec"], "busy": "2 s", "idle": "3 s" },
        { "kind": "ar", "on": "links", "period": "0.5 s" },
        { "kind": "daily", "values": "reserved", "period": "1 s", "day": "60 s", "peak": "5 s", "start": "0 s", "spread": "10 s" },
    ]);
    for policy in ["migbsp", "migbsp-2007"] {
        let settings = [("policy.name", json!(policy))];
        let loaded = under("sw", 10, loads.clone(), &settings);
        let mut twin = under("sw", 10, Value::Null, &settings);
        Arc::make_mut(&mut twin.platform).platform = written_out(&loaded.platform.platform, 1e4);
        assert!(loaded.uses_seed() && !twin.uses_seed());
        assert_same(&loaded, &twin);
    }
}

#[test]
fn a_load_multiplies_the_profile_of_the_platform() {
    let loaded = experiment(
        "sw-dynamic",
        &[("load", json!({ "kind": "walk", "values": "reserved" }))],
    );
    let mut twin = experiment("sw-dynamic", &[]);
    Arc::make_mut(&mut twin.platform).platform = written_out(&loaded.platform.platform, 1e4);
    assert_same(&loaded, &twin);
}

#[test]
fn other_seeds_are_other_loads_and_the_same_seed_is_the_same_run() {
    let run = |seed: u64| under("sw", 10, json!({ "kind": "ar" }), &[("seed", json!(seed))]);
    assert_same(&run(1), &run(1));
    let makespan = |seed| {
        let results = run(seed).run(&Progress::default()).expect("it runs");
        results.scenario_runs[0].outcome.makespan
    };
    assert_ne!(makespan(1), makespan(2));
}

#[test]
fn the_resolved_load_is_complete_and_means_the_same_again() {
    let registry = Registry::standard();
    for entry in registry.loads().iter().filter(|entry| entry.name != "file") {
        let given = under("sw", 10, json!({ "kind": entry.name }), &[]);
        let load = &given.resolved_settings["load"];
        let origins = &given.resolved_settings["origins"];
        assert_eq!(origins["load.kind"], "stated: given by command line");
        assert_eq!(
            origins["load.on"],
            format!("inferred: default of the load \"{}\"", entry.name)
        );
        for parameter in entry.parameters() {
            assert!(!load[&parameter.name].is_null(), "{parameter:?}");
            let origin = &origins[format!("load.{}", parameter.name)];
            assert!(
                origin
                    .as_str()
                    .is_some_and(|text| text.starts_with("inferred: default"))
            );
        }
        let settings = [("origins", origins.clone())];
        let again = under("sw", 10, load.clone(), &settings);
        assert_eq!(again.resolved_settings["load"], *load);
        assert_same(&given, &again);
    }
}

#[test]
fn supersteps_between_two_changes_and_through_them_are_done_at_once_with_the_same_result() {
    let host = |process: u64| format!("Aquario-{}", process / 2);
    let run = |(name, n): (&str, u64), load: &Value, shortcuts: &str| {
        let settings = [
            ("workload.procs", json!(10)),
            ("runtime.shortcuts", json!(shortcuts)),
            ("mapping", json!((0..10).map(host).collect::<Vec<_>>())),
        ];
        let results = under(name, n, load.clone(), &settings).run(&Progress::default());
        results.expect("it runs").scenario_runs
    };
    let two = json!([{ "kind": "walk", "period": "10 ms" }, { "kind": "on-off", "busy": "1 s" }]);
    // If one load acts alone, many changes are precomputed.
    let one = json!({ "kind": "walk", "period": "0.5 s" });
    let other = json!({ "kind": "ar", "period": "70 ms" });
    let cases = [("lu", 200), ("sw", 10)].map(|app| [(app, &two), (app, &one), (app, &other)]);
    let runs = cases.as_flattened().iter().flat_map(|&(app, load)| {
        let [fast, slow] = ["all", "none"].map(|shortcuts| run(app, load, shortcuts));
        fast.into_iter().zip(slow)
    });
    for (fast, slow) in runs {
        assert_eq!(fast.outcome.migrations.len(), slow.outcome.migrations.len());
        let ends = |run: &ScenarioRun| {
            let dates = run.outcome.supersteps.iter().map(|dates| dates.end.get());
            dates.collect::<Vec<_>>()
        };
        for (fast, slow) in ends(&fast).iter().zip(ends(&slow)) {
            assert_close(*fast, slow, ROUNDING, "the end of a superstep");
        }
    }
}

#[test]
fn the_origin_of_a_parameter_is_that_of_the_load_it_belongs_to() {
    let document = |text: &str| Document::parse("mine.json", text).expect("JSON");
    let flag = |key: &str, value: Value| KeySetting {
        key: key.into(),
        source_text: format!("--set {key}"),
        value,
    };
    let origin = |flags: Vec<KeySetting>| {
        let mut layers = Layers::default();
        layers.push_file(document(
            r#"{ "workload": { "app": "sw", "n": 10 }, "load": { "kind": "walk", "step": 0.2, "most": 0.5 },
                 "origins": { "load.most": "fitted: to see it" } }"#,
        ));
        layers.push_flags(flags);
        let experiment = Experiment::load(&layers, Limits::default()).expect("it is right");
        let resolved = &experiment.resolved_settings;
        ["load.step", "load.most", "load.mean"].map(|key| {
            let origin = resolved["origins"][key].as_str().unwrap_or("-");
            origin.split(' ').take(4).collect::<Vec<_>>().join(" ")
        })
    };
    let given = ["stated: given by mine.json", "fitted: to see it", "-"];
    assert_eq!(origin(vec![]), given);
    let given = ["stated: given by command", "fitted: to see it", "-"];
    assert_eq!(origin(vec![flag("load.step", json!(0.3))]), given);
    // The kind is the same, but the load is another one.
    let usual = ["inferred: default of the", "inferred: default of the", "-"];
    assert_eq!(origin(vec![flag("load", json!({ "kind": "walk" }))]), usual);
    let given = ["-", "inferred: default of the", "inferred: default of the"];
    assert_eq!(origin(vec![flag("load.kind", json!("ar"))]), given);
    assert_eq!(origin(vec![flag("load", Value::Null)]), ["-", "-", "-"]);
}

#[test]
fn a_trace_is_found_beside_its_experiment_and_listed_in_the_manifest() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("trace.csv"), "date_s,load\n0,0.5\n3,0.1\n").expect("it is written");
    let text = r#"{ "workload": { "app": "sw", "n": 5 }, "load": [{ "kind": "file", "file": "trace.csv", "repeat": "5 s" }] }"#;
    std::fs::write(path("mine.json"), text).expect("it is written");
    let (mine, out) = (path("mine.json"), path("out"));
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_migsim"))
        .args(["run", &mine, "--quiet", "--out", &out])
        .status();
    assert!(run.expect("it starts").success());
    let manifest = std::fs::read_to_string(path("out/run.json")).expect("it is there");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    let inputs = manifest["inputs"].as_array().expect("a list");
    let is_load = |input: &&Value| input["role"] == "load";
    let load = inputs.iter().find(is_load).expect("the trace");
    assert_eq!(load["source"], "inputs/trace.csv");
    let load = &manifest["experiment"]["load"][0];
    assert_eq!(
        (&load["format"], &load["values"]),
        (&json!("csv"), &json!("utilisation"))
    );
}

/// Applies the loads of the key `load` to a platform.
fn put(load: Value, platform: &mut Platform, seed: u64) {
    let key: LoadKey = serde_json::from_value(load).expect("a load");
    let loads = Loads::read(Registry::standard().loads(), Some(&key)).expect("it is right");
    loads.put_on(platform, seed).expect("it fits");
}

#[test]
fn other_work_fills_free_cores_first_and_then_shares_them_equally() {
    for cores in [1_u32, 4, 16] {
        for others in [0, cores / 2, cores - 1, cores, 2 * cores] {
            for processes in [1, cores, 2 * cores] {
                let [c, l, p] = [cores, others, processes].map(f64::from);
                let expected = ((p + l) / c).max(1.0);
                let constant = json!({ "kind": "constant", "load": l, "values": "load-average" });
                let mut loads = vec![constant];
                if l <= c {
                    loads.push(json!({ "kind": "constant", "load": l / c }));
                    let always = ["1e9 s", "1 us"];
                    loads.push(json!({ "kind": "on-off", "load": l / c, "busy": always[0], "idle": always[1], "period": "1 us" }));
                }
                for load in loads {
                    let mut platform = switch(1, Wire(1e6, 1e-3));
                    platform.hosts[0].cores = cores;
                    put(load.clone(), &mut platform, 1);
                    let plans = Plans::repeat(plan(&vec![1e9; processes as usize], &[]), 1);
                    let mut case = Case::new(&platform, &plans, vec![0; processes as usize]);
                    for shortcuts in [ShortcutChoice::All, ShortcutChoice::None] {
                        case.runtime.shortcuts = shortcuts;
                        let what = format!("{c} cores, {p} processes, {load}");
                        assert_close(case.run().makespan.get(), expected, ROUNDING, &what);
                    }
                }
            }
        }
    }
}

#[test]
fn direct_evaluation_and_events_agree_under_loads_of_every_kind() {
    for seed in 0..draws(40, 400) {
        let mut state = seed;
        let mut below =
            |count: u64| u32::try_from(split_mix(&mut state) % count).expect("a small number");
        let mut platform = machine(&[&[1e9; 3], &[2e9; 2]], Wire(1e8, 1e-4), Wire(1e7, 1e-3));
        for host in &mut platform.hosts {
            host.cores = 1 + below(16);
        }
        let mut loads = Vec::new();
        for values in ["utilisation", "load-average", "reserved"] {
            let period = format!("{} ms", 50 + below(400));
            loads.push(match below(4) {
                0 => json!({ "kind": "constant", "load": 0.5, "values": values, "on": "a" }),
                1 => json!({ "kind": "walk", "most": 1, "period": period, "values": values }),
                2 => json!({ "kind": "ar", "mean": 0.7, "most": 1, "period": period, "values": values }),
                _ => json!({ "kind": "on-off", "load": 1, "busy": "0.7 s", "idle": "0.5 s", "values": values, "period": period }),
            });
        }
        put(loads.into(), &mut platform, seed);
        let processes = 1 + below(40);
        let work: Vec<f64> = (0..processes).map(|_| 1e8 * f64::from(below(20))).collect();
        let messages: Vec<(u32, u32, f64)> = (1..processes)
            .map(|to| (to - 1, to, 1e3 * f64::from(below(100))))
            .collect();
        let places: Vec<u32> = (0..processes).map(|_| below(5)).collect();
        let plans = Plans::repeat(plan(&work, &messages), 20);
        let [fast, slow] = [ShortcutChoice::All, ShortcutChoice::None].map(|shortcuts| {
            let case = Case {
                runtime: RuntimeConfig {
                    shortcuts,
                    ..RuntimeConfig::default()
                },
                ..Case::new(&platform, &plans, places.iter().copied())
            };
            case.run().supersteps
        });
        for (fast, slow) in fast.iter().zip(&slow) {
            assert_close(
                fast.end.get(),
                slow.end.get(),
                ROUNDING,
                &format!("seed {seed}"),
            );
        }
    }
}
