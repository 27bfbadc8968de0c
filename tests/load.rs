//! Background load: laws and twins of whole runs, what is told about it, and that it is the same for all.

use migsim::experiment::{Experiment, Progress};
use migsim::load::KINDS;
use migsim::platform::{Platform, Profile};
use migsim::units::{BytesPerSecond, InstructionsPerSecond};
use serde_json::{Value, json};

use crate::support::experiment;

/// A built-in experiment of order `n` under a load.
fn under(name: &str, n: u64, load: Value, more: &[(&str, Value)]) -> Experiment {
    let first = [("workload.n", json!(n)), ("load", load)];
    experiment(name, &[&first, more].concat())
}

/// The same outcomes, to the bit.
fn assert_same(first: &Experiment, second: &Experiment) {
    let outcomes = |experiment: &Experiment| {
        let results = experiment.run(&Progress::default()).expect("it runs");
        let outcomes = results.runs.into_iter().map(|run| run.outcome);
        outcomes.collect::<Vec<_>>()
    };
    let (first, second) = (outcomes(first), outcomes(second));
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(first.makespan, second.makespan);
        assert!(*first == *second, "the outcomes differ");
    }
}

/// The platform with its loads written out as profiles, up to a date \[s\].
fn written_out(platform: &Platform, until: f64) -> Platform {
    let mut written = platform.clone();
    for (host, loaded) in written.hosts.iter_mut().zip(&platform.hosts) {
        let steps = loaded.availability().into_iter().flatten();
        let steps: Vec<_> = steps.take_while(|step| step.0 <= until).collect();
        host.speed_profile = Profile::new(steps, None).ok().filter(|_| loaded.varies());
        host.loads.clear();
    }
    for (link, loaded) in written.links.iter_mut().zip(&platform.links) {
        let steps = loaded.capacity().into_iter().flatten();
        let steps: Vec<_> = steps.take_while(|step| step.0 <= until).collect();
        link.bandwidth_profile = Profile::new(steps, None).ok().filter(|_| loaded.varies());
        link.loads.clear();
    }
    written
}

#[test]
fn a_constant_load_is_a_slower_platform_to_the_bit() {
    let load = json!([{ "kind": "constant", "load": 0.25 }, { "kind": "constant", "load": 0.5, "on": "links" }]);
    let loaded = under("sw", 10, load, &[]);
    let mut slower = under("sw", 10, Value::Null, &[]);
    for host in &mut slower.platform.platform.hosts {
        let speed = host.speed.get() * 0.75;
        host.speed = InstructionsPerSecond::new(speed).expect("a speed");
    }
    for link in &mut slower.platform.platform.links {
        let bandwidth = link.bandwidth.get() * 0.5;
        link.bandwidth = BytesPerSecond::new(bandwidth).expect("a bandwidth");
    }
    assert!(!loaded.load_uses_seed());
    assert_same(&loaded, &slower);
}

#[test]
fn a_generated_load_is_its_profile_written_out_to_the_bit() {
    let loads = json!([
        { "kind": "walk" },
        { "kind": "on-off", "on": ["Aquario", "Labtec"], "busy": "2 s", "idle": "3 s" },
        { "kind": "ar", "on": "links", "period": "0.5 s" },
        { "kind": "daily", "period": "1 s", "day": "60 s", "peak": "5 s", "start": "0 s", "spread": "10 s" },
    ]);
    for policy in ["migbsp", "migbsp-2007"] {
        let settings = [("policy.name", json!(policy))];
        let loaded = under("sw", 10, loads.clone(), &settings);
        let mut twin = under("sw", 10, Value::Null, &settings);
        twin.platform.platform = written_out(&loaded.platform.platform, 1e4);
        assert!(loaded.load_uses_seed() && !twin.load_uses_seed());
        assert_same(&loaded, &twin);
    }
}

#[test]
fn a_load_multiplies_the_profile_of_the_platform() {
    let loaded = experiment("sw-dynamic", &[("load", json!({ "kind": "walk" }))]);
    let mut twin = experiment("sw-dynamic", &[]);
    twin.platform.platform = written_out(&loaded.platform.platform, 1e4);
    assert_same(&loaded, &twin);
}

#[test]
fn other_seeds_are_other_loads_and_the_same_seed_is_the_same_run() {
    let run = |seed: u64| under("sw", 10, json!({ "kind": "ar" }), &[("seed", json!(seed))]);
    assert_same(&run(1), &run(1));
    let makespan = |seed| {
        let results = run(seed).run(&Progress::default()).expect("it runs");
        results.runs[0].outcome.makespan
    };
    assert_ne!(makespan(1), makespan(2));
}

#[test]
fn the_resolved_load_is_complete_and_means_the_same_again() {
    for entry in KINDS.iter().filter(|entry| entry.name != "file") {
        let given = under("sw", 10, json!({ "kind": entry.name }), &[]);
        let load = &given.resolved["load"];
        let origins = &given.resolved["origins"];
        assert_eq!(origins["load.kind"], "stated: given by command line");
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
        assert_eq!(again.resolved["load"], *load);
        assert_same(&given, &again);
    }
}
