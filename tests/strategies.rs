//! The decisions of other projects' load balancers, repeated: each assignment to the last tie, each trigger and each optimum.
//!
//! Cases are left out that are marked `tie_sensitive` (a hash table of the original decides) or `reference_only`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on stops; it says how many decisions are equal"
)]

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use migsim::{
    Registry,
    bsp::Scenario,
    document::Document,
    experiment::{Experiment, Layers, Limits, Progress, SharedInputs},
    policy::{
        decide::{
            self, Case, CaseContent, PolicyOrTriggerSelection, best_balancings_of_growth,
            decide_with_strategies, simulate_triggers,
        },
        strategy, trigger,
    },
};
use serde_json::{Value, json};

use super::support::{ROUNDING, assert_close, migsim, succeeded};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/policies")
}

/// Reads the cases of a file, each with the decisions of the originals.
fn cases(file: &str) -> Vec<(Case, Value)> {
    let text = fs::read_to_string(folder().join(file)).unwrap();
    let document = Document::parse(file, text).unwrap();
    let mut cases = Vec::new();
    let keep = |case| {
        cases.push(case);
        Ok(())
    };
    decide::for_each_case(&document, &[], keep).unwrap();
    let expected = document.value.as_array().unwrap().iter();
    let expected = expected.map(|case| case["expected"].clone());
    cases.into_iter().zip(expected).collect()
}

fn places(value: &Value) -> Vec<usize> {
    let list = value.as_array().unwrap();
    let place = |number: &Value| usize::try_from(number.as_u64().unwrap()).unwrap();
    list.iter().map(place).collect()
}

/// For each original, the number of equal decisions, the number of decisions, and the names of the cases that differ.
#[derive(Default)]
struct Counts(BTreeMap<String, (usize, usize, String)>);

impl Counts {
    fn add(&mut self, original: &str, case: &str, is_equal: bool) {
        let (equal, of, differ) = self.0.entry(original.to_owned()).or_default();
        *of += 1;
        if is_equal {
            *equal += 1;
        } else {
            write!(differ, " {case}").unwrap();
        }
    }

    fn all_equal(&self, originals: usize) {
        for (original, (equal, of, differ)) in &self.0 {
            println!("{original}: {equal} of {of}{differ}");
        }
        assert_eq!(self.0.len(), originals);
        assert!(self.0.values().all(|(equal, of, _)| equal == of && *of > 0));
    }
}

/// Equal processes that stand right: 8 on 4 hosts of 2.7 GHz and 4 slower ones. At 26 speeds, rounding once decided that they
/// swap their places for nothing.
#[test]
fn equal_processes_stay_whatever_the_last_digit_of_a_speed() {
    let policies = [
        "greedy",
        "greedy-refine",
        "greedy-comm",
        "tempered",
        "hierarchical",
        "refine",
        "refine-b",
        "inform-and-transfer",
        "prefix",
        "diffusion",
        "receiver-initiated",
        "migcube",
        "migpf",
    ];
    let mut moved = Vec::new();
    for step in 0..26 {
        let cluster = |name: &str, speed: f64| {
            let link = json!({ "bandwidth": "1 Gbps", "latency": "50 us" });
            json!({ "name": name, "hosts": 4, "speed": format!("{speed} GHz"), "link": link, "router": "r" })
        };
        let slow = 1.5 + 0.02 * f64::from(step);
        let platform = json!({ "schema": "migsim-platform-1", "name": "two",
            "clusters": [cluster("a", 2.7), cluster("b", slow)], "routers": ["r"] });
        let shared = SharedInputs::default();
        let platform = migsim::platform::from_json("two", &platform.to_string()).unwrap();
        shared.store_platform("two", platform);
        for policy in policies
            .iter()
            .map(|name| format!("{name}/every=10"))
            .chain(["migbsp".into(), "ulba".into()])
        {
            let app = json!({ "app": "synthetic", "procs": 8, "supersteps": 40,
                "instructions": "1e8 instr", "memory": "20 MB" });
            let settings = Layers::from_pairs([
                ("extends", json!("none")),
                ("platform", json!("two")),
                ("workload", app),
                ("mapping", json!("contiguous")),
                ("policy.name", json!(policy)),
            ]);
            let experiment = Experiment::load_shared(
                &Registry::standard(),
                &settings,
                Limits::default(),
                &shared,
            )
            .unwrap();
            let results = experiment.run(&Progress::default()).unwrap();
            let moves = results.get(Scenario::Iii).unwrap().outcome.migrations.len();
            if moves > 0 {
                moved.push(format!("{policy} at {slow} GHz: {moves}"));
            }
        }
    }
    assert_eq!(moved, [""; 0]);
}

#[test]
fn the_oracle_gains_nothing_where_work_is_constant() {
    let run = |work: &str, forecast: &str| {
        let policy = format!("refine/every=5/{forecast}");
        let app = [
            "run",
            "--app",
            "synthetic",
            "--procs",
            "12",
            "--set",
            "workload.supersteps=30",
        ];
        let how = ["--set", work, "--policy", &policy, "--json"];
        let output = succeeded(migsim(&[&app[..], &how].concat()));
        let run: Value = serde_json::from_slice(&output.stdout).unwrap();
        run["scenarios"].clone()
    };
    for (work, is_constant) in [("workload.spread=0.5", true), ("workload.drift=0.5", false)] {
        let is_same = run(work, "oracle") == run(work, "last");
        assert_eq!(is_same, is_constant, "{work}");
    }
}

#[test]
fn decisions_are_equal_to_those_of_the_originals() {
    let (mut counts, question) = (Counts::default(), PolicyOrTriggerSelection::default());
    for file in ["assignments.json", "assignments-random.json"] {
        for (case, expected) in cases(file) {
            let CaseContent::Barrier(snapshot) = &case.content else {
                panic!("{} is a barrier", case.name);
            };
            let verdict =
                decide_with_strategies(&strategy::standard_table(), snapshot, &question).unwrap();
            for judged in &verdict.decisions {
                let expected = &expected[judged.strategy.original_program];
                let is_left_out = |key: &str| expected[key].as_bool() == Some(true);
                if expected.is_null()
                    || is_left_out("tie_sensitive")
                    || is_left_out("reference_only")
                {
                    continue;
                }
                let is_equal = judged.assignment.assigned_hosts == places(&expected["assignment"]);
                counts.add(judged.strategy.original_program, &case.name, is_equal);
                if is_equal {
                    assert_eq!(Some(judged.move_count as u64), expected["moves"].as_u64());
                    let max = expected["max_time"].as_f64().unwrap();
                    assert_close(
                        judged.max_host_time.get(),
                        max,
                        ROUNDING,
                        judged.strategy.original_program,
                    );
                }
            }
        }
    }
    counts.all_equal(17);
}

#[test]
fn no_decision_beats_the_optimum_and_no_optimum_the_bound() {
    let question = PolicyOrTriggerSelection::default();
    for file in ["assignments.json", "assignments-random.json"] {
        for (case, _) in cases(file) {
            let CaseContent::Barrier(snapshot) = &case.content else {
                panic!("{} is a barrier", case.name);
            };
            let verdict =
                decide_with_strategies(&strategy::standard_table(), snapshot, &question).unwrap();
            let above = |time: f64, limit: f64| time >= limit * (1.0 - ROUNDING);
            let least = verdict
                .optimal_max_host_time
                .unwrap_or(verdict.max_host_time_lower_bound)
                .get();
            assert!(
                above(least, verdict.max_host_time_lower_bound.get()),
                "{}",
                case.name
            );
            for judged in &verdict.decisions {
                assert!(
                    above(judged.max_host_time.get(), least),
                    "{}: {}",
                    case.name,
                    judged.strategy.name
                );
            }
        }
    }
}

#[test]
fn triggers_fire_at_the_same_supersteps_as_the_originals() {
    let (mut counts, question) = (Counts::default(), PolicyOrTriggerSelection::default());
    for (case, expected) in cases("triggers.json") {
        let CaseContent::LoadHistory(history) = &case.content else {
            panic!("{} is a history", case.name);
        };
        let best = history.best_balancings().unwrap();
        for (choice, told) in simulate_triggers(&trigger::standard(), history, &question).unwrap() {
            assert!(
                told.total_time >= best.total_time * (1.0 - ROUNDING),
                "{}",
                choice.name
            );
            if choice.original_program.is_empty() {
                continue;
            }
            let expected = &expected[choice.original_program];
            let is_equal =
                told.balancing_supersteps == places(&expected["balances_before_iteration"]);
            counts.add(choice.original_program, &case.name, is_equal);
            if is_equal {
                let total = expected["total_time"].as_f64().unwrap();
                assert_close(told.total_time, total, ROUNDING, choice.original_program);
            }
        }
    }
    counts.all_equal(10);
}

#[test]
fn plans_are_those_of_the_meta_balancer() {
    let mut counts = Counts::default();
    for (case, expected) in cases("meta-balancer.json") {
        let CaseContent::MeasuredTimes(measured) = &case.content else {
            panic!("{} has samples", case.name);
        };
        let found = measured.plan_next_balancing();
        let period = found.map(|plan| i64::from(plan.period));
        counts.add(
            "meta-balancer",
            &case.name,
            period == expected["period"].as_i64(),
        );
        if let Some(found) = found {
            let ratio = expected["ratio_at_period"].as_f64().unwrap();
            assert_close(found.predicted_imbalance, ratio, ROUNDING, "ratio");
        }
    }
    counts.all_equal(1);
}

#[test]
fn the_best_supersteps_to_balance_take_as_long_as_proven() {
    let all = cases("when-optimum.json");
    for (case, expected) in &all {
        let CaseContent::GrowingLoad(growth) = &case.content else {
            panic!("{} is a growing load", case.name);
        };
        let proven = expected["optimal_time"].as_f64().unwrap();
        assert_close(
            best_balancings_of_growth(growth).total_time,
            proven,
            1e-9,
            &case.name,
        );
    }
    println!("when-optimum: {} of {0}", all.len());
}

#[test]
fn the_command_decides_as_the_library() {
    let file = folder().join("assignments.json");
    let file = file.to_str().unwrap();
    let arguments = [
        "decide", file, "--case", "c07", "--policy", "refine", "--set",
    ];
    let output = migsim(&[&arguments[..], &["edition=charm-6.10.2", "--json"]].concat());
    let answer: Value = serde_json::from_slice(&succeeded(output).stdout).unwrap();
    let [row] = &answer["policies"].as_array().unwrap()[..] else {
        panic!("one policy was named");
    };
    assert_eq!(row["policy"], "refine/charm-6.10.2");
    let all = cases("assignments.json");
    let (_, expected) = all.iter().find(|(case, _)| case.name == "c07").unwrap();
    assert_eq!(
        row["assignment"],
        expected["charm-6.10.2/RefineLB"]["assignment"]
    );
}
