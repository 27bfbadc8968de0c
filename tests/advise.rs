//! Advice as a user meets it: it names the pair that simulations of the whole application confirm, or nothing.

use serde_json::Value;

use crate::support::{json, refused};

const CASE: &str = "advise --app synthetic --procs 12 --set workload.supersteps=60 --set workload.spread=0.6 --policies never,refine,greedy-refine,migbsp";

#[test]
fn the_advised_pair_is_within_the_margin_of_the_best_simulated_one() {
    let scratch = tempfile::tempdir().unwrap();
    let advice = json(scratch.path(), &format!("{CASE} --seed 1 --out a -j 1"));
    let pairs = advice["pairs"].as_array().unwrap();
    let times = pairs.iter().filter_map(|one| one["whole_s"].as_f64());
    let least = times.fold(f64::INFINITY, f64::min);
    let own = pairs.iter().find(|one| {
        one["start"] == advice["advised"]["start"] && one["policy"] == advice["advised"]["policy"]
    });
    let own = own.unwrap();
    let is_confirmed = advice["not_confirmed"].is_null();
    assert!(
        !is_confirmed || own["whole_s"].as_f64().unwrap() <= 1.005 * least,
        "{advice:#}"
    );
    // The runs are judged with seeds and on work that did not choose.
    assert!(own["judged_s"]["ci95"].as_f64().unwrap() > 0.0);
    assert!(scratch.path().join("a/index.html").is_file());
    // Nothing is simulated twice, and threads do not matter.
    assert_eq!(
        json(scratch.path(), &format!("{CASE} --seed 1 --out a -j 2")),
        advice
    );
    assert_eq!(
        json(scratch.path(), &format!("{CASE} --seed 1 -j 2")),
        advice
    );
    // The command repeats the advised run.
    let command = advice["command"]
        .as_str()
        .unwrap()
        .strip_prefix("migsim ")
        .unwrap();
    let run = json(scratch.path(), &format!("{command} --scenario iii"));
    let last = run["scenarios"].as_array().unwrap().last().unwrap();
    assert_eq!(last["makespan_s"], own["whole_s"]);
}

#[test]
fn where_all_hosts_and_processes_are_alike_nothing_is_moved() {
    let scratch = tempfile::tempdir().unwrap();
    let case = "advise --platform lab.json --app synthetic --procs 8 --set workload.supersteps=40 --set workload.spread=0";
    let hosts = r#"{"schema": "migsim-platform-1", "name": "lab", "clusters": [{"name": "lab", "hosts": 8, "speed": "1 GHz", "link": {"bandwidth": "1 Gbps", "latency": "10 us"}}]}"#;
    std::fs::write(scratch.path().join("lab.json"), hosts).unwrap();
    let advice: Value = json(scratch.path(), case);
    assert_eq!(advice["advised"]["policy"], "never", "{advice:#}");
    assert!(advice["gain_percent"].is_null());
}

/// The advice that the first page of the project quotes.
#[test]
fn the_main_example_needs_no_move_from_a_better_start() {
    let scratch = tempfile::tempdir().unwrap();
    let case = "advise --platform ufrgs.json --app lu --n 2000 --procs 50";
    let advice = json(scratch.path(), case);
    let page = std::fs::read_to_string("README.md").unwrap();
    let said = advice["sentences"][0].as_str().unwrap();
    assert!(page.contains(&format!("*{said}*")), "{said}");
    let pairs = advice["pairs"].as_array().unwrap();
    let is_advised = |one: &&Value| {
        ["start", "policy"].map(|key| &one[key])
            == ["start", "policy"].map(|key| &advice["advised"][key])
    };
    let time = pairs.iter().find(is_advised).unwrap()["whole_s"]
        .as_f64()
        .unwrap();
    assert!(page.contains(&format!("ends after {time:.1} s")), "{time}");
}

#[test]
fn a_policy_that_fails_is_named_and_more_noise_stays() {
    let scratch = tempfile::tempdir().unwrap();
    let case = "advise --app synthetic --procs 4 --set workload.supersteps=10 --seeds 1 --policies never,exec:./missing --set runtime.noise=0.1";
    let advice = json(scratch.path(), case);
    assert_eq!(advice["disturbance"], 0.1);
    let failures = advice["failures"].as_array().unwrap();
    assert!(
        failures[0].as_str().unwrap().contains("missing"),
        "{advice:#}"
    );
}

#[test]
fn what_advice_cannot_use_is_refused_with_what_to_do() {
    let scratch = tempfile::tempdir().unwrap();
    for (more, expected) in [
        ("--policy refine", "name the policies among which to choose"),
        ("--first 0%", "write a whole percentage"),
        ("--budget 10", "give a `--budget` of at least"),
        ("--vary workload.spread=0,1", "give each key one value"),
        ("--policies refine,never,refine", "`refine` is named twice"),
    ] {
        let case = CASE.split(" --policies").next().unwrap();
        let text = refused(scratch.path(), &format!("{case} {more}"));
        assert!(text.contains(expected), "{more}: {text}");
    }
}
