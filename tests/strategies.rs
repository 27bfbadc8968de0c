//! The decisions of other people's load balancers, taken once more: each assignment to the last tie, each trigger and each optimum.
//!
//! Left out are decisions that their cases mark `tie_sensitive` (a hash table of the original decides) or `reference_only`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on stops; it says how many decisions are equal"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use migsim::policy::strategy::{self, Instance, Row};
use migsim::policy::trigger::{self, Observed, Sample, Trigger, plan, when_optimum};
use migsim::random::{Purpose, Stream};
use migsim::units::{Bytes, Seconds};
use serde_json::Value;

use super::support::{ROUNDING, assert_close};

/// The cases of a file of the oracle.
fn cases(file: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/policies");
    let text = fs::read_to_string(folder.join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|number| number.as_f64().unwrap()).collect()
}

fn places(value: &Value) -> Vec<usize> {
    let list = value.as_array().unwrap();
    let place = |number: &Value| usize::try_from(number.as_u64().unwrap()).unwrap();
    list.iter().map(place).collect()
}

fn instance(case: &Value) -> Instance<'static> {
    let seconds = |key: &str| -> Vec<Seconds> {
        let all = numbers(&case[key]).into_iter();
        all.map(|number| Seconds::new(number).unwrap()).collect()
    };
    let row = |row: &Value| Row {
        from: places(row)[0],
        to: places(row)[1],
        messages: numbers(row)[2],
        bytes: Bytes::new(numbers(row)[3]).unwrap(),
    };
    Instance {
        speeds: numbers(&case["speeds"]),
        background: seconds("background"),
        current: places(&case["current"]),
        time: seconds("time"),
        work: seconds("work"),
        communication: case["communication"]
            .as_array()
            .unwrap()
            .iter()
            .map(row)
            .collect(),
        ..Instance::default()
    }
}

#[test]
fn decisions_are_equal_to_those_of_the_originals() {
    let table = strategy::standard();
    let all = [cases("assignments.json"), cases("assignments-random.json")].concat();
    // Equal, all, and the names of the cases that differ, by original.
    let mut counts: BTreeMap<&str, (usize, usize, Vec<&str>)> = BTreeMap::new();
    for entry in &table {
        for variant in entry
            .variants()
            .iter()
            .filter(|variant| !variant.original.is_empty())
        {
            for case in &all {
                let expected = &case["expected"][variant.original];
                let is_left_out = |key: &str| expected[key].as_bool() == Some(true);
                if expected.is_null()
                    || is_left_out("tie_sensitive")
                    || is_left_out("reference_only")
                {
                    continue;
                }
                let mut strategy = entry.build(&variant.value()).unwrap();
                let mut random = Stream::new(1, Purpose::Policy);
                let found = strategy.assign(&instance(case), &mut random).unwrap();
                let (equal, of, differ) = counts.entry(variant.original).or_default();
                *of += 1;
                if found.hosts == places(&expected["assignment"]) {
                    *equal += 1;
                } else {
                    differ.push(case["name"].as_str().unwrap());
                }
            }
        }
    }
    for (original, (equal, of, differ)) in &counts {
        println!("{original}: {equal} of {of} {}", differ.join(" "));
    }
    assert!(counts.values().all(|(equal, of, _)| equal == of));
}

/// The history of a case: what each superstep adds to the deviation of each processor, and what a balancing leaves.
fn history(case: &Value, trigger: &mut dyn Trigger) -> (Vec<usize>, f64) {
    let (average, residual) = (numbers(&case["average"]), numbers(&case["residual"]));
    let increments: Vec<Vec<f64>> = case["increments"]
        .as_array()
        .unwrap()
        .iter()
        .map(numbers)
        .collect();
    let price = case["balancing_cost"].as_f64().unwrap();
    let (mut deviation, mut total, mut balances) = (residual.clone(), 0.0, Vec::new());
    let mut last: Option<Observed> = None;
    for t in 0..average.len() {
        let is_due = last.is_some_and(|observed| trigger.is_due(&observed));
        if is_due {
            balances.push(t);
            deviation.clone_from(&residual);
            total += price;
        } else if t > 0 {
            for (deviation, more) in deviation.iter_mut().zip(&increments[t]) {
                *deviation += more;
            }
        }
        let times: Vec<f64> = deviation
            .iter()
            .map(|more| f64::max(0.0, average[t] + more))
            .collect();
        let max = times.iter().copied().fold(0.0, f64::max);
        let second = |value: f64| Seconds::new(value).unwrap();
        last = Some(Observed {
            superstep: t,
            max: second(max),
            avg: second(times.iter().sum::<f64>() / times.len() as f64),
            min: second(times.iter().copied().fold(f64::INFINITY, f64::min)),
            price: second(price),
            is_first_after_balancing: is_due,
        });
        total += max;
    }
    (balances, total)
}

#[test]
fn triggers_say_yes_when_the_originals_do() {
    let all = cases("triggers.json");
    let mut counts: BTreeMap<&str, (usize, usize, Vec<String>)> = BTreeMap::new();
    for entry in &trigger::standard() {
        let main = [(entry.original(), serde_json::json!({}))];
        let variants = entry
            .variants()
            .iter()
            .map(|variant| (variant.original, variant.value()));
        for (original, options) in main.into_iter().chain(variants) {
            if original.is_empty() {
                continue;
            }
            for case in &all {
                let expected = &case["expected"][original];
                let (balances, total) = history(case, &mut *entry.build(&options).unwrap());
                let (equal, of, differ) = counts.entry(original).or_default();
                *of += 1;
                if balances == places(&expected["balances_before_iteration"]) {
                    assert_close(
                        total,
                        expected["total_time"].as_f64().unwrap(),
                        ROUNDING,
                        original,
                    );
                    *equal += 1;
                } else {
                    differ.push(format!(
                        "{}: {balances:?} {}",
                        case["name"], expected["balances_before_iteration"]
                    ));
                }
            }
        }
    }
    for (original, (equal, of, differ)) in &counts {
        println!("{original}: {equal} of {of} {}", differ.join("\n"));
    }
    assert_eq!(counts.len(), 10);
    assert!(counts.values().all(|(equal, of, _)| equal == of && *of > 0));
}

#[test]
fn plans_are_those_of_the_meta_balancer() {
    let all = cases("meta-balancer.json");
    for case in &all {
        let pairs = numbers(&case["max"]).into_iter().zip(numbers(&case["avg"]));
        let samples: Vec<Sample> = pairs
            .map(|(max, avg)| Sample {
                max: Seconds::new(max).unwrap(),
                avg: Seconds::new(avg).unwrap(),
            })
            .collect();
        let price = ["strategy_cost", "migration_cost"].map(|key| case[key].as_f64().unwrap());
        let previous = i32::try_from(case["previous_period"].as_i64().unwrap()).unwrap();
        let found = plan(
            &samples,
            Seconds::new(price.iter().sum()).unwrap(),
            previous,
            case["first_ratio"].as_f64().unwrap(),
        );
        let expected = &case["expected"];
        assert_eq!(
            found.is_some(),
            expected["plan"].as_bool().unwrap(),
            "{}",
            case["name"]
        );
        if let Some(found) = found {
            assert_eq!(
                i64::from(found.period),
                expected["period"].as_i64().unwrap(),
                "{}",
                case["name"]
            );
            let ratio = expected["ratio_at_period"].as_f64().unwrap();
            assert_close(found.ratio, ratio, ROUNDING, "ratio");
        }
    }
    println!("meta-balancer: {} of {0}", all.len());
}

#[test]
fn the_best_supersteps_to_balance_take_as_long_as_proven() {
    let all = cases("when-optimum.json");
    for case in &all {
        let number = |key: &str| case[key].as_f64().unwrap();
        let (processors, growth) = (number("processors"), number("growth_per_iteration"));
        let average = |t: usize| (number("initial_total_work") + growth * t as f64) / processors;
        let duration = |made: usize, t: usize| average(made) + growth * (t - made) as f64;
        let iterations = usize::try_from(case["iterations"].as_u64().unwrap()).unwrap();
        let found = when_optimum(iterations, |_| number("balancing_cost"), duration);
        let expected = case["expected"]["optimal_time"].as_f64().unwrap();
        assert_close(found.total, expected, 1e-9, "optimal time");
    }
    println!("when-optimum: {} of {0}", all.len());
}
