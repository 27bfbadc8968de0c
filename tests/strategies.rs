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
use migsim::random::{Purpose, Stream};
use migsim::units::{Bytes, Seconds};
use serde_json::Value;

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
