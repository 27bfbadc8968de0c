//! Tests that each row of a sweep equals the result of `migsim run` with the varied key set by `--set`.
//!
//! Keys are drawn at random from the published schema, and each key varies between two of its values. The other settings are
//! fixed by flags, by `--set` of an object around the key, by an experiment file, by a sweep file, or as part of a whole load.
//! Seeds are also drawn: for the sweep as `--seeds` or `--seed`, for the run as `--seed`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde_json::{Map, Value, json};

use super::{args::Command, run::join_settings, sweep::sweep_from_arguments};
use crate::{
    Registry,
    document::format_typed_value,
    error::Error,
    experiment::{Experiment, Limits, Progress, json_schema, value_at_path},
    random::{Stream, StreamPurpose},
    sweep::{Plan, Sweep, keys, run::simulate_run},
};

/// Number of keys that the test draws by default. If the environment variable `MIGSIM_DRAWS` is `full`, it draws `ALL_DRAWS`
/// keys.
const DEFAULT_DRAWS: usize = 150;
const ALL_DRAWS: usize = 600;

/// Number of comparisons after which one comparison also simulates the runs, instead of comparing only the settings.
const SIMULATION_INTERVAL: usize = 10;

/// Beginnings of the keys that are not drawn, because these keys have no effect on a run, name files, or belong to `--seeds`.
const EXCLUDED_KEY_PREFIXES: [&str; 8] = [
    "$schema",
    "schema",
    "description",
    "extends",
    "origins",
    "seed",
    "policy.replay",
    "load.file",
];

/// Arguments of `migsim run` for small experiments whose keys are varied.
const BASE_EXPERIMENTS: [&str; 8] = [
    "--app lu --n 40 --procs 10",
    "--app lu --n 40 --procs 10 --network lv08 --load walk,on=Aquario",
    "--app sw --n 8 --load ar --policy migbsp-2007",
    "--app synthetic --procs 6 --set workload.supersteps=5 --load on-off,on=links --platform ufrgs",
    "--app lbm --procs 9 --set workload.supersteps=3 --load daily --mapping round-robin --network simgrid-3.3",
    "--app synthetic --procs 6 --set workload.supersteps=5 --load constant --load walk,on=links --platform ufrgs --policy never",
    "--app synthetic --procs 6 --set workload.supersteps=5 --set workload.spread=0.5 --platform ufrgs --policy c-random/every=2",
    "--app synthetic --procs 6 --set workload.supersteps=5 --set workload.spread=0.5 --set workload.seed=3 --load walk --platform ufrgs",
];

/// Lists all keys of the schema with the values that it names for each key. For a key without named values, the list contains
/// some values of its type.
fn values_by_key(root: &Value) -> BTreeMap<String, Vec<Value>> {
    let mut found = BTreeMap::new();
    collect_keys(root, root, "", &mut found);
    let is_left_out = |key: &str| EXCLUDED_KEY_PREFIXES.iter().any(|one| key.starts_with(one));
    found.retain(|key, _| !key.is_empty() && !is_left_out(key));
    found
}

/// Adds the keys below the node `node` of the schema, and their values, to `found`; `path` is the key of the node.
fn collect_keys(root: &Value, node: &Value, path: &str, found: &mut BTreeMap<String, Vec<Value>>) {
    if let Some(name) = node["$ref"].as_str() {
        let node = root.pointer(name.trim_start_matches('#'));
        return collect_keys(root, node.expect("the schema is complete"), path, found);
    }
    for (name, inner) in node["properties"].as_object().into_iter().flatten() {
        let dot = if path.is_empty() { "" } else { "." };
        collect_keys(root, inner, &format!("{path}{dot}{name}"), found);
    }
    for kind in ["anyOf", "oneOf", "allOf"] {
        for inner in node[kind].as_array().into_iter().flatten() {
            collect_keys(root, inner, path, found);
        }
    }
    let mut add = |values: &[Value]| {
        let all = found.entry(path.to_owned()).or_default();
        all.extend(values.iter().cloned());
    };
    add(node["enum"].as_array().map_or(&[][..], Vec::as_slice));
    if let Some(value) = node.get("const") {
        add(std::slice::from_ref(value));
    }
    let types = match &node["type"] {
        Value::Array(types) => types.clone(),
        one => vec![one.clone()],
    };
    for kind in types.iter().filter_map(Value::as_str) {
        match kind {
            "integer" => add(&[1, 2, 3, 5, 9].map(Value::from)),
            "number" => add(&[0.05, 0.25, 0.5, 0.75, 2.0].map(Value::from)),
            "boolean" => add(&[true, false].map(Value::from)),
            "string" if node["enum"].is_null() && node.get("const").is_none() => add(&[json!("")]),
            _ => {}
        }
    }
}

/// Lists the values that are tried for a key: the values `named` in the schema, and values derived from the present value `now`
/// if it is a number.
fn values_to_try(key: &str, named: &[Value], now: &Value) -> Vec<Value> {
    let names = match key {
        "platform" => &["ufrgs", "ufrgs-sw"][..],
        "mapping" => &["contiguous", "round-robin"],
        "network.model" => &["cm02", "lv08", "simgrid-3.3"],
        _ if key.rsplit('.').next() == Some("on") => &["hosts", "Aquario", "links"],
        _ => &[],
    };
    let mut all: Vec<Value> = names.iter().map(|name| json!(name)).collect();
    all.extend(named.iter().filter(|value| **value != json!("")).cloned());
    if let Some((number, unit)) = now.as_str().and_then(|text| text.split_once(' '))
        && let Ok(number) = number.parse::<f64>()
    {
        all.extend([2.0, 3.0].map(|by| json!(format!("{} {unit}", by * (number + 1.0)))));
    }
    if let Some(number) = now.as_f64() {
        all.extend([json!(number * 2.0 + 1.0), json!(number / 2.0)]);
    }
    all
}

/// Parses the words as the command line of `migsim`.
fn parse_command(words: &[String]) -> Command {
    let words = words.iter().map(Into::into);
    let words: Vec<_> = ["migsim".into()].into_iter().chain(words).collect();
    let command = super::command::command_for_registry(&Registry::standard()).unwrap();
    super::parse_arguments(command, &words).unwrap().command
}

/// Returns the experiment that `migsim run` creates from these arguments.
fn experiment_of_run(words: &[String]) -> Result<Experiment, Error> {
    let Command::Run(arguments) = parse_command(&[&["run".to_owned()], words].concat()) else {
        unreachable!("the words say run");
    };
    let layers = join_settings(&Registry::standard(), &arguments.settings)?;
    Experiment::load(&layers, Limits::default())
}

/// Returns the sweep that `migsim sweep` creates from these arguments, and the plan of the sweep.
fn plan_of_sweep(words: &[String]) -> Result<(Sweep, Plan), Error> {
    let Command::Sweep(arguments) = parse_command(&[&["sweep".to_owned()], words].concat()) else {
        unreachable!("the words say sweep");
    };
    let sweep = sweep_from_arguments(&Registry::standard(), &arguments)?;
    let plan = Plan::new(&sweep)?;
    Ok((sweep, plan))
}

/// Returns the complete settings of an experiment without the keys that have no effect on a run.
fn effective_settings(experiment: &Experiment) -> Value {
    let mut settings = experiment.resolved_settings.clone();
    if let Some(keys) = settings.as_object_mut() {
        keys.retain(|key, _| !["$schema", "description", "origins"].contains(&&**key));
    }
    settings
}

/// Returns the arguments `--set KEY=VALUE` that set a key to a value.
fn set_arguments(key: &str, value: &Value) -> [String; 2] {
    [
        "--set".into(),
        format!("{key}={}", format_typed_value(value)),
    ]
}

/// Lists the paths of the objects of the experiment that contain a key; the innermost object comes first.
fn enclosing_objects(key: &str) -> Vec<&str> {
    let ends = key.match_indices(['.', '[']).map(|(end, _)| end);
    let mut objects: Vec<&str> = ends.map(|end| &key[..end]).collect();
    objects.reverse();
    objects
}

/// Draws keys at random, compares the rows of sweeps with single runs, and counts the comparisons.
struct RandomComparison<'a> {
    /// Folder for the experiment files and sweep files that the test writes.
    folder: &'a Path,
    /// Source of the random numbers of the test.
    random: Stream,
    /// All combinations that were compared up to now: how the other settings were fixed, and how the key was varied.
    compared_combinations: BTreeSet<String>,
    /// Number of comparisons up to now.
    comparison_count: usize,
    seeded_row_count: usize,
}

impl RandomComparison<'_> {
    /// Draws a random whole number from 0 to `count` - 1.
    fn draw_below(&mut self, count: usize) -> usize {
        self.random.draw_below(count)
    }

    /// Draws how the settings of `base` are fixed: by flags, by an experiment file or by a sweep file. Returns the name of this
    /// choice, the arguments for `migsim sweep`, and the equivalent arguments for `migsim run`.
    fn draw_fixed_settings(
        &mut self,
        base: &[String],
        resolved: &Value,
        key: &str,
    ) -> (String, [Vec<String>; 2]) {
        let file = |name: &str, value: Value| {
            let file = self.folder.join(name);
            std::fs::write(&file, value.to_string()).unwrap();
            vec![file.display().to_string()]
        };
        let (name, mut both) = match self.random.draw_below(3) {
            0 => ("flags", [base.to_vec(), base.to_vec()]),
            1 => {
                let words = file("experiment.json", resolved.clone());
                ("file", [words.clone(), words])
            }
            _ => {
                let sweep = json!({ "schema": "migsim-sweep-1", "experiment": resolved });
                let words = file("sweep.json", sweep);
                (
                    "sweep file",
                    [words, file("experiment.json", resolved.clone())],
                )
            }
        };
        let objects = enclosing_objects(key);
        if objects.is_empty() || self.draw_below(2) == 0 {
            return (name.to_owned(), both);
        }
        let object = objects[self.draw_below(objects.len())];
        let value = value_at_path(resolved, object).unwrap();
        for words in &mut both {
            words.extend(set_arguments(object, value));
        }
        (format!("object, {name}"), both)
    }

    /// Draws arguments for `migsim sweep` that set no seed, one seed or two seeds.
    fn draw_seed_arguments(&mut self) -> Vec<String> {
        let [one, other] =
            [self.draw_below(1000), 1000 + self.draw_below(1000)].map(|seed| seed.to_string());
        match self.draw_below(4) {
            0 => vec![],
            1 => vec!["--seed".to_owned(), one],
            2 => vec!["--seed".to_owned(), format!("{one},{other}")],
            _ => vec!["--seeds".to_owned(), format!("{one},{other}")],
        }
    }

    /// Draws a key and seeds, and compares the rows of a sweep over two values of the key with single runs; does nothing if the
    /// experiment cannot be run with two values.
    fn draw_and_compare(&mut self, keys: &BTreeMap<String, Vec<Value>>) {
        let base = BASE_EXPERIMENTS[self.draw_below(BASE_EXPERIMENTS.len())];
        let base: Vec<String> = base.split(' ').map(str::to_owned).collect();
        let resolved = experiment_of_run(&base).unwrap().resolved_settings;
        // List the keys of this experiment that are in the schema; for a list of loads, the keys of each load.
        let mut own: Vec<(String, &[Value])> = Vec::new();
        for (key, named) in keys {
            let parts = match key.strip_prefix("load.") {
                Some(rest) if resolved["load"].is_array() => {
                    vec![format!("load[0].{rest}"), format!("load[1].{rest}")]
                }
                _ => vec![key.clone()],
            };
            let is_there = |key: &String| {
                value_at_path(&resolved, key).is_some_and(|value| !value.is_object())
            };
            own.extend(
                parts
                    .into_iter()
                    .filter(is_there)
                    .map(|key| (key, &named[..])),
            );
        }
        for key in resolved["network"].as_object().unwrap().keys() {
            own.push((format!("network.{key}"), &[]));
        }
        let (key, named) = own.swap_remove(self.draw_below(own.len()));
        let now = value_at_path(&resolved, &key).unwrap();
        let (way, [mut sweep_words, run_words]) = self.draw_fixed_settings(&base, &resolved, &key);
        let mut candidates = values_to_try(&key, named, now);
        let mut able: Vec<(Value, Experiment)> = Vec::new();
        while able.len() < 2 {
            if candidates.is_empty() {
                return;
            }
            let value = candidates.swap_remove(self.draw_below(candidates.len()));
            let single =
                experiment_of_run(&[&run_words[..], &set_arguments(&key, &value)].concat());
            able.extend(single.ok().map(|single| (value, single)));
        }
        let texts = [&able[0].0, &able[1].0].map(format_typed_value);
        if texts[0] == texts[1] {
            return;
        }
        let runs = [&able[0].1, &able[1].1];
        let registry = Registry::standard();
        let name = if self.draw_below(2) == 0 {
            keys::short_parameter_name(&registry, &key)
        } else {
            &key
        };
        sweep_words.extend(["--vary".into(), format!("{name}={}", texts.join(","))]);
        let seeds = self.draw_seed_arguments();
        sweep_words.extend(seeds.clone());
        let is_same = effective_settings(runs[0]) == effective_settings(runs[1]);
        let (sweep, plan) = match plan_of_sweep(&sweep_words) {
            Ok(planned) => planned,
            Err(error) => {
                let told = error.to_string();
                assert_eq!(error.exit_code(), 2, "{told}");
                if way.ends_with("flags") && told.contains(" fixes it") {
                    return; // a flag sets the same key
                }
                assert!(is_same, "{sweep_words:?}: {told}");
                assert!(told.contains("changes nothing"), "{told}");
                return;
            }
        };
        assert!(!is_same, "{sweep_words:?} is not refused");
        let distinct: BTreeSet<&String> = plan.runs.iter().collect();
        assert_eq!(distinct.len(), plan.runs.len(), "{sweep_words:?}");
        let singles: Vec<Experiment> = (0..plan.runs.len())
            .map(|index| {
                let (setting, seed) = plan.setting_and_seed(index);
                // The last setting may be the defaults, which are run as the baseline.
                let value = able[..2].get(setting);
                let mut words = run_words.clone();
                words.extend(
                    value
                        .into_iter()
                        .flat_map(|one| set_arguments(&key, &one.0)),
                );
                if !seeds.is_empty() {
                    words.extend(["--seed".to_owned(), seed.to_string()]);
                    self.seeded_row_count += 1;
                }
                experiment_of_run(&words).unwrap()
            })
            .collect();
        self.compare_rows_with_runs(&sweep, &plan, &singles, &sweep_words);
        self.compared_combinations.insert(way);
    }

    /// Checks that the rows of a sweep have the same settings, and in some comparisons the same results, as the experiments of
    /// single runs.
    fn compare_rows_with_runs(
        &mut self,
        sweep: &Sweep,
        plan: &Plan,
        runs: &[Experiment],
        words: &[String],
    ) {
        for (index, single) in runs.iter().enumerate() {
            let (setting, seed) = plan.setting_and_seed(index);
            let of_sweep = plan.experiment(sweep, setting, seed).unwrap();
            assert_eq!(
                effective_settings(&of_sweep),
                effective_settings(single),
                "{words:?}"
            );
            assert_eq!(of_sweep.input_files.len(), single.input_files.len());
        }
        self.comparison_count += 1;
        if !self.comparison_count.is_multiple_of(SIMULATION_INTERVAL) {
            return;
        }
        for (index, single) in runs.iter().enumerate() {
            let row = simulate_run(sweep, plan, index);
            match single.run(&Progress::default()) {
                Ok(results) => {
                    for run in &results.scenario_runs {
                        let makespan = run.outcome.makespan.get();
                        assert_eq!(row.makespan(run.scenario), Some(makespan), "{words:?}");
                    }
                }
                Err(_) => assert!(row.error.is_some(), "{words:?}"),
            }
        }
    }
}

#[test]
fn every_row_of_a_sweep_equals_a_run_with_the_key_set() {
    let folder = tempfile::tempdir().unwrap();
    let schema: Value = serde_json::from_str(&json_schema(&Registry::standard())).unwrap();
    let keys = values_by_key(&schema);
    assert!(keys.len() > 60, "{:?}", keys.keys());
    let mut draw = RandomComparison {
        folder: folder.path(),
        random: Stream::new(1, StreamPurpose::SweepSampling),
        compared_combinations: BTreeSet::new(),
        comparison_count: 0,
        seeded_row_count: 0,
    };
    let is_full = std::env::var("MIGSIM_DRAWS").is_ok_and(|draws| draws == "full");
    let count = if is_full { ALL_DRAWS } else { DEFAULT_DRAWS };
    for _ in 0..count {
        draw.draw_and_compare(&keys);
    }
    // At least 5 of 6 draws can be compared, with as many rows that have a drawn seed.
    assert!(
        6 * draw.comparison_count >= 5 * count,
        "{} compared",
        draw.comparison_count
    );
    assert!(
        6 * draw.seeded_row_count >= 5 * count,
        "{} rows",
        draw.seeded_row_count
    );
    assert_eq!(
        draw.compared_combinations.len(),
        6,
        "{:?}",
        draw.compared_combinations
    );
}

#[test]
fn a_varied_whole_load_equals_that_of_a_run_and_keeps_settings_inside_it() {
    let base = ["--app", "sw", "--n", "8"].map(str::to_owned);
    let inside = ["--set", "load.on=Aquario"].map(str::to_owned);
    let loads = ["walk,step=0.3", "ar", "on-off,busy=5 s,idle=3 s"];
    for given in [
        ["--load".to_owned(), loads.join(",")],
        ["--vary".to_owned(), format!("load={}", loads.join(","))],
    ] {
        let words = [&base[..], &given, &inside].concat();
        let (sweep, plan) = plan_of_sweep(&words).unwrap();
        assert_eq!(plan.settings.len(), 3);
        for (index, load) in loads.iter().enumerate() {
            assert_eq!(plan.settings[index], [Some(json!(load))]);
            let load = ["--load".to_owned(), (*load).to_owned()];
            let single = experiment_of_run(&[&base[..], &load, &inside].concat()).unwrap();
            let (setting, seed) = plan.setting_and_seed(index);
            let of_sweep = plan.experiment(&sweep, setting, seed).unwrap();
            assert_eq!(effective_settings(&of_sweep), effective_settings(&single));
        }
        // Compare with the same sweep as a sweep file.
        let file: Map<String, Value> =
            serde_json::from_value(serde_json::to_value(sweep.to_sweep_file().unwrap()).unwrap())
                .unwrap();
        assert_eq!(file["set"], json!({ "load.on": "Aquario" }));
        let document =
            crate::document::Document::parse("sweep.json", Value::Object(file).to_string());
        let again = Sweep::from_file(&sweep.registry, &document.unwrap()).unwrap();
        let again = Plan::new(&again).unwrap();
        assert_eq!(again.runs, plan.runs);
    }
}
