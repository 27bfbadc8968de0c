//! Runs drawn at random: the papers' platforms and other ones, applications, loads, all policies and options of MigBSP.

use std::path::Path;

use migsim::{
    Registry,
    experiment::{Experiment, KeySetting, Layers, Limits},
};
use serde_json::{Value, json};

use crate::support::split_mix;

/// Random numbers.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5eed)
    }

    fn next(&mut self) -> u64 {
        split_mix(&mut self.0)
    }

    pub(crate) fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    pub(crate) fn one<T: Clone>(&mut self, choices: &[T]) -> T {
        let index = self.below(choices.len() as u64);
        choices[usize::try_from(index).unwrap()].clone()
    }
}

/// Draws a platform of one to four clusters.
fn machine(dice: &mut Dice) -> Value {
    let count = 1 + dice.below(4);
    let names = ["north", "east", "south", "west"];
    let cluster = |name: &str, dice: &mut Dice| {
        json!({
            "name": name,
            "hosts": 2 + dice.below(5),
            "cores": 1 + dice.below(3),
            "speed": dice.one(&["900 MHz", "2 GHz", "3.1 GHz"]),
            "link": { "bandwidth": dice.one(&["100 Mbps", "1 Gbps"]), "latency": "20 us" },
            "router": format!("r-{name}"),
        })
    };
    let names = &names[..usize::try_from(count).unwrap()];
    let clusters: Vec<Value> = names.iter().map(|name| cluster(name, dice)).collect();
    let links = names.iter().map(|name| {
        let bandwidth = dice.one(&["50 Mbps", "1 Gbps"]);
        json!({ "name": format!("up-{name}"), "from": format!("r-{name}"), "to": "core", "bandwidth": bandwidth, "latency": "1 ms" })
    });
    let links: Vec<Value> = links.collect();
    json!({ "schema": "migsim-platform-1", "name": "own", "clusters": clusters, "links": links })
}

/// Draws a policy: all names of the registry except one that needs a list, and MigBSP more often.
fn policy(dice: &mut Dice, index: u64) -> String {
    let registry = Registry::standard();
    let names = registry.policies().names();
    let names: Vec<String> = names
        .map(str::to_owned)
        .filter(|name| !["replay", "brute-force"].contains(&name.as_str()))
        .collect();
    if index.is_multiple_of(2) {
        return "migbsp".into();
    }
    let all = names.len() as u64;
    let at = (index / 2 + dice.below(2) * all) % all;
    names[usize::try_from(at).unwrap()].clone()
}

/// Draws options of MigBSP that change its sentences.
fn options(dice: &mut Dice) -> Vec<(&'static str, Value)> {
    let mut settings = Vec::new();
    let choices: [(&str, &[Value]); 9] = [
        (
            "own_cluster",
            &[json!("competes"), json!("competes"), json!("excluded")],
        ),
        (
            "sharing",
            &[json!("fair"), json!("fair-and-inflicted"), json!("alone")],
        ),
        ("viability_transfer", &[json!(true), json!(false)]),
        (
            "viability_communication",
            &[json!("ignored"), json!("uncontended")],
        ),
        (
            "viability_horizon",
            &[json!("superstep"), json!("next-interval")],
        ),
        ("index_form", &[json!("of-best"), json!("gain-over-source")]),
        ("floor", &[json!("one"), json!("initial")]),
        ("x", &[json!(0.5), json!(0.68), json!(0.9)]),
        ("viability_cost", &[json!("0 s"), json!("2 ms")]),
    ];
    for (key, values) in choices {
        if dice.below(2) == 0 {
            settings.push((key, dice.one(values)));
        }
    }
    match dice.below(10) {
        0 => settings.push(("heuristic", json!("two"))),
        1 => settings.push(("x_of", json!("of-processes"))),
        _ => {}
    }
    settings
}

/// Returns the settings of run `index`; a platform of its own is written into `folder`.
fn settings(index: u64, folder: &Path) -> Vec<(String, Value)> {
    let dice = &mut Dice::new(index);
    let mut settings: Vec<(String, Value)> = Vec::new();
    let mut put = |key: &str, value: Value| settings.push((key.to_owned(), value));
    let is_paper = dice.below(4) == 0;
    if is_paper {
        put("workload.app", json!("lu"));
        put("workload.n", json!(30 + 10 * dice.below(10)));
        put("workload.procs", json!(25));
    } else {
        let own = folder.join("own.json");
        std::fs::write(&own, machine(dice).to_string()).unwrap();
        let platform = match dice.below(3) {
            0 => json!("ufrgs"),
            _ => json!(own.to_str().unwrap()),
        };
        put("platform", platform);
        put("workload.app", json!("synthetic"));
        put("workload.procs", json!(4 + dice.below(12)));
        put("workload.supersteps", json!(16 + dice.below(40)));
        put("workload.spread", dice.one(&[json!(0.0), json!(0.4)]));
        put(
            "workload.memory",
            dice.one(&[json!("10 kB"), json!("4 MB")]),
        );
        let mapping = dice.one(&[json!("by-core"), json!("round-robin")]);
        if mapping == json!("by-core") {
            put("mapping", mapping);
        }
        if dice.below(2) == 0 {
            put("load", json!({ "kind": "walk" }));
        }
        put("seed", json!(1 + dice.below(9)));
    }
    let policy = policy(dice, index);
    if policy == "migbsp" {
        for (key, value) in options(dice) {
            put(&format!("policy.migbsp.{key}"), value);
        }
    }
    put("policy.name", json!(policy));
    settings
}

/// Loads run `index`; none if its settings are inconsistent.
pub(crate) fn experiment(index: u64, folder: &Path) -> Option<Experiment> {
    experiment_with(index, folder, Vec::new())
}

/// Loads run `index` with further settings, which replace its own.
pub(crate) fn experiment_with(
    index: u64,
    folder: &Path,
    further: Vec<(String, Value)>,
) -> Option<Experiment> {
    let mut all = settings(index, folder);
    all.retain(|(key, _)| {
        let is_replaced = |(other, _): &(String, Value)| other == key;
        !further.iter().any(is_replaced) && (further.is_empty() || !key.starts_with("policy."))
    });
    all.extend(further);
    let flag = |(key, value): (String, Value)| KeySetting {
        source_text: format!("--set {key}={value}"),
        key,
        value,
    };
    let mut layers = Layers::default();
    layers.push_flags(all.into_iter().map(flag).collect());
    Experiment::load(&layers, Limits::default()).ok()
}
