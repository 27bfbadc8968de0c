//! Whole runs: a platform, an application, a policy and all their options are drawn, and the run must have the promised properties.
//!
//! Inconsistent settings are refused with a message, as in any file. Consistent ones are run in all scenarios with every check of debug
//! builds, and these properties are asserted:
//!
//! - the cache of supersteps changes no result;
//! - without shortcuts the supersteps of scenario i end at the same times within rounding;
//! - the terms of each ledger add up to the last bit;
//! - times do not go back, and every process is on a host of the platform;
//! - the settings with all defaults written out are the same experiment;
//! - all files of the run can be written, and read back as written.

use std::sync::LazyLock;

use migsim::{
    bsp::{Memo, MemoBudget, MigrationRecord, Recorder, RunOutcome, Scenario, ShortcutChoice},
    document::Document,
    error::Error,
    experiment::{Experiment, Layers, Limits, Progress, Results, ScenarioRun},
    output::{
        CallExplanation, EvaluatedCall, OutputForm, Overview, ProcessTimes, Question, Report, Run,
        results_sheet, summary,
    },
    policy::Measures,
    units::HostId,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    check_told,
    drawn::{Choices, Drawer},
    name, scratch,
};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let text = migsim::experiment::json_schema(&migsim::Registry::standard());
    serde_json::from_str(&text).expect("a schema is JSON")
});

/// Tolerance of the times without shortcuts, relative to the whole run.
const ROUNDING: f64 = 1e-9;

pub(super) fn runs(data: &[u8]) {
    run_drawn(data, false);
}

/// Checks runs with numbers of any size; those beyond the range of their quantity are refused. No quantity varies without
/// end in such a run, because a long run would follow 20 million changes before it is refused.
pub(super) fn extremes(data: &[u8]) {
    run_drawn(data, true);
}

fn run_drawn(data: &[u8], is_extreme: bool) {
    let folder = scratch();
    let mut drawer = Drawer {
        choices: Choices {
            bytes: data,
            is_extreme,
        },
        definitions: &SCHEMA["$defs"],
        names: Vec::new(),
    };
    let platform = machine(&mut drawer);
    write(&folder, "platform.json", &format!("{platform:#}"));
    let settings = experiment(&mut drawer, &folder);
    let text = format!("{settings:#}");
    match load(&text) {
        Err(error) => check_told(&error, "drawn.json", &text),
        Ok(experiment) => {
            let again =
                load(&experiment.resolved_settings.to_string()).expect("it is an experiment, too");
            assert_eq!(again.resolved_settings, experiment.resolved_settings);
            if let Some((results, activities)) = run(&experiment, &text) {
                // Making a page takes longer than a run.
                if data.len().is_multiple_of(4) {
                    check_output(&experiment, &results, activities);
                }
            }
        }
    }
}

fn write(folder: &TempDir, file: &str, text: &str) {
    std::fs::write(folder.path().join(file), text).expect("a file can be written");
}

fn load(text: &str) -> Result<Experiment, Error> {
    let mut layers = Layers::default();
    layers.push_file(Document::parse("drawn.json", text)?);
    Experiment::load(
        &layers,
        Limits {
            max_memory: Some(1e8),
            ..Limits::default()
        },
    )
}

// Drawing of the parts.

/// Draws up to four clusters with a router each, and the links between the routers.
fn machine(drawer: &mut Drawer<'_, '_>) -> Value {
    let count = 1 + drawer.choices.below(4);
    let clusters: Vec<Value> = (0..count).map(|index| cluster(drawer, index)).collect();
    let mut links = Vec::new();
    for to in 1..count {
        // Each router is linked to an earlier one, so that all are connected, and sometimes to one more.
        let from = drawer.choices.below(to);
        links.push(between(drawer, links.len(), from, to));
        if drawer.choices.rarely(4) {
            let from = drawer.choices.below(to);
            links.push(between(drawer, links.len(), from, to));
        }
    }
    let mut latencies = Vec::new();
    if drawer.choices.rarely(4) {
        let pair = [(); 2].map(|()| format!("c{}", drawer.choices.below(count)));
        latencies.push(json!({ "between": pair, "latency": latency(drawer) }));
    }
    let names = links.iter().filter_map(|link| link["name"].as_str());
    drawer.names.extend(names.map(str::to_owned));
    json!({
        "schema": "migsim-platform-1",
        "name": "drawn",
        "clusters": clusters,
        "links": links,
        "latencies": latencies,
        "profiles": profiles(drawer),
    })
}

fn cluster(drawer: &mut Drawer<'_, '_>, index: usize) -> Value {
    let hosts = 1 + drawer.choices.below(5);
    drawer.names.push(format!("c{index}"));
    drawer
        .names
        .extend((0..hosts).map(|host| format!("c{index}-{host}")));
    let choices = &mut drawer.choices;
    let mut cluster = json!({
        "name": format!("c{index}"),
        "hosts": hosts,
        "speed": format!("{} Minstr/s", 100.0 + choices.amount(1.0)),
        "cores": 1 + choices.below(3) * choices.below(3),
        "network": choices.one(&["switch", "unshared", "shared-medium"]),
        "router": format!("r{index}"),
    });
    if choices.rarely(4) {
        cluster["memory"] = json!(format!("{} kB", choices.amount(1.0)));
    }
    if choices.rarely(4) {
        cluster["speed_profile"] = json!("speeds");
    }
    cluster["link"] = link(drawer);
    cluster
}

fn between(drawer: &mut Drawer<'_, '_>, index: usize, from: usize, to: usize) -> Value {
    let mut values = link(drawer);
    values["name"] = json!(format!("l{index}"));
    values["from"] = json!(format!("r{from}"));
    values["to"] = json!(format!("r{to}"));
    values
}

fn link(drawer: &mut Drawer<'_, '_>) -> Value {
    let bandwidth = 1.0 + drawer.choices.amount(1.0);
    let mut link = json!({ "bandwidth": format!("{bandwidth} Mbps"), "latency": latency(drawer) });
    for (key, name) in [
        ("bandwidth_profile", "bandwidths"),
        ("latency_profile", "latencies"),
    ] {
        if drawer.choices.rarely(6) {
            link[key] = json!(name);
        }
    }
    link
}

fn latency(drawer: &mut Drawer<'_, '_>) -> Value {
    json!(format!("{} us", drawer.choices.amount(1.0)))
}

/// Draws one profile of each kind, once or repeated. No capacity stays 0 for ever.
fn profiles(drawer: &mut Drawer<'_, '_>) -> Value {
    let mut profile = |value: &dyn Fn(f64) -> Value| {
        let mut date = 0.0;
        let steps: Vec<Value> = (0..=drawer.choices.below(4))
            .map(|_| {
                date += 0.05 + drawer.choices.amount(0.01);
                json!([
                    format!("{date} s"),
                    value(0.1 + drawer.choices.amount(0.01))
                ])
            })
            .collect();
        let mut profile = json!({ "steps": steps });
        if !drawer.choices.is_extreme && drawer.choices.rarely(2) {
            profile["period"] = json!(format!("{} s", date + 0.5));
        }
        profile
    };
    json!({
        "speeds": profile(&|value| json!(value)),
        "bandwidths": profile(&|value| json!(format!("{value} MB/s"))),
        "latencies": profile(&|value| json!(format!("{value} ms"))),
    })
}

fn experiment(drawer: &mut Drawer<'_, '_>, folder: &TempDir) -> Value {
    let workload = workload(drawer, folder);
    let keys = |key: &str| &SCHEMA["properties"][key];
    let policies = ["migbsp", "migbsp-2007", "replay", "never"];
    let policy = drawer.choices.one(&policies);
    let options = drawer.object(&keys("policy")["properties"][policy], json!({}));
    let mut settings = json!({
        "platform": name(folder, "platform.json"),
        "workload": workload,
        "extends": drawer.choices.one(&["none", "neutral"]),
        "policy": { "name": policy, policy: options },
        "seed": drawer.choices.below(3),
    });
    if drawer.choices.rarely(3) {
        settings["mapping"] = drawer.value(keys("mapping"));
    }
    if drawer.choices.rarely(2) {
        settings["network"] = network(drawer);
    }
    for key in ["runtime", "costs"] {
        if drawer.choices.rarely(2) {
            settings[key] = drawer.value(keys(key));
        }
    }
    if !drawer.choices.is_extreme && drawer.choices.rarely(4) {
        settings["load"] = load_key(drawer);
    }
    settings
}

fn workload(drawer: &mut Drawer<'_, '_>, folder: &TempDir) -> Value {
    let choices = &mut drawer.choices;
    let processes = 1 + choices.below(12);
    let supersteps = 1 + choices.below(24);
    let given = match choices.below(5) {
        0 => json!({ "app": "synthetic", "procs": processes, "supersteps": supersteps }),
        1 => json!({ "app": "lu", "n": processes + choices.below(20), "procs": processes }),
        2 => json!({ "app": "sw", "n": processes, "procs": processes }),
        3 => json!({ "app": "lbm", "procs": processes, "supersteps": supersteps }),
        _ => {
            let text = trace(drawer, processes, supersteps);
            write(folder, "drawn.trace", &text);
            return json!({ "app": "trace", "trace": name(folder, "drawn.trace") });
        }
    };
    let applications = SCHEMA["properties"]["workload"]["anyOf"].as_array();
    let mut applications = applications.into_iter().flatten();
    let schema = applications.find(|schema| schema["title"] == given["app"]);
    drawer.object(schema.expect("it is in the schema"), given)
}

fn trace(drawer: &mut Drawer<'_, '_>, processes: usize, supersteps: usize) -> String {
    let hosts: Vec<String> = drawer
        .names
        .iter()
        .filter(|name| name.contains('-'))
        .cloned()
        .collect();
    let choices = &mut drawer.choices;
    // The trace is in one version of its format, with all its liberties, or in the other; both describe the same application.
    let is_second = supersteps % 2 == 1;
    let mut lines = if is_second {
        vec![
            format!("migsim-trace 2\nprocesses {processes}\nmemory {supersteps}kB"),
            format!("memory 0 {processes}\ncycles 1.5\nruntime barrier.gather arrival"),
        ]
    } else {
        vec![format!("bsp 1 {processes} {supersteps}")]
    };
    lines.push(
        choices
            .one(&["barrier ideal", "barrier central 1000"])
            .into(),
    );
    lines.push(choices.one(&["recv early", "recv late"]).into());
    for process in 0..processes {
        let host = &hosts[choices.below(hosts.len())];
        if !is_second || processes.is_multiple_of(2) {
            lines.push(format!("host {process} {host}"));
        }
    }
    for superstep in 0..supersteps {
        lines.push(format!("step {superstep}"));
        for process in 0..processes {
            match choices.below(8) {
                0 => {}
                1 => {
                    let host = &hosts[choices.below(hosts.len())];
                    let (size, delay) = (choices.amount(100.0).floor(), choices.amount(0.01));
                    lines.push(format!("g {process} {host} {size} {delay}"));
                }
                _ => lines.push(format!("c {process} {}", choices.amount(1e4))),
            }
        }
        for _ in 0..choices.below(20) {
            let (from, to) = (choices.below(processes), choices.below(processes));
            lines.push(format!("m {from} {to} {}", choices.amount(100.0).floor()));
        }
    }
    lines.push("end\n".into());
    lines.join("\n")
}

fn network(drawer: &mut Drawer<'_, '_>) -> Value {
    let choices = &mut drawer.choices;
    let models = ["cm02", "lv08", "ideal", "simgrid-3.4", "simgrid-3.7"];
    let mut network = json!({ "model": choices.one(&models) });
    for (key, values) in [
        ("sharing", [json!(true), json!(false)]),
        ("crosstraffic", [json!(false), json!(true)]),
        ("tcp_gamma", [json!(20_000.0), json!(0)]),
        ("weight_s", [json!(0.0), json!(20_537.0)]),
        ("latency_factor", [json!(1.0), json!(13.01)]),
        ("reweigh_slip", [json!(true), json!(false)]),
    ] {
        if choices.rarely(5) {
            network[key] = values[choices.below(2)].clone();
        }
    }
    network
}

fn load_key(drawer: &mut Drawer<'_, '_>) -> Value {
    let kinds = SCHEMA["properties"]["load"]["anyOf"][1]["anyOf"].as_array();
    let kinds = kinds.expect("loads are in the schema");
    let mut one = || {
        let kind = &kinds[drawer.choices.below(kinds.len())];
        let given = json!({ "kind": kind["title"], "period": "2 s" });
        let mut load = drawer.object(kind, given);
        if kind["title"] == "constant" || kind["title"] == "on-off" {
            load.as_object_mut().map(|load| load.remove("period"));
        }
        load
    };
    (0..2).map(|_| one()).collect()
}

// Checks of the properties.

/// A recorder of the placement and the activity of all processes.
#[derive(Debug)]
struct Watcher<'a> {
    experiment: &'a Experiment,
    placement: Vec<HostId>,
    next: usize,
    activity: ProcessTimes,
}

impl<'a> Watcher<'a> {
    fn new(experiment: &'a Experiment) -> Self {
        Self {
            experiment,
            placement: experiment.placement.clone(),
            next: 0,
            activity: ProcessTimes::default(),
        }
    }
}

impl Recorder for Watcher<'_> {
    fn on_superstep(&mut self, superstep: usize, measures: &Measures, placement: &[HostId]) {
        assert_eq!(superstep, self.next, "supersteps come in order");
        assert_eq!(placement, self.placement, "who moved has a migration");
        let hosts = self.experiment.platform.platform.hosts.len();
        assert!(placement.iter().all(|host| host.index() < hosts));
        self.next += 1;
        self.activity.on_superstep(superstep, measures, placement);
    }

    fn on_migration(&mut self, migration: &MigrationRecord) {
        let place = &mut self.placement[migration.process.index()];
        assert_eq!(*place, migration.from);
        assert!(migration.start <= migration.end);
        *place = migration.to;
    }

    fn wants_transfer_times(&self) -> bool {
        true
    }
}

/// Runs all scenarios, unless the policy requests an impossible move.
fn run(experiment: &Experiment, text: &str) -> Option<(Results, Vec<ProcessTimes>)> {
    let room = Memo::new(MemoBudget::default());
    let (mut runs, mut activities) = (Vec::new(), Vec::new());
    for scenario in Scenario::ALL {
        let alone = simulate(experiment, scenario, None);
        let (run, activity) = match simulate(experiment, scenario, Some(&room)) {
            Ok(done) => done,
            Err(error) => {
                check_told(&error, "", "");
                assert_eq!(alone.err(), Some(error));
                return None;
            }
        };
        let (other, same) = alone.expect("it ends as well without superstep memory");
        assert_eq!((&other.outcome, same), (&run.outcome, activity.clone()));
        check_dates(&run.outcome);
        runs.push(run);
        activities.push(activity);
    }
    check_slowly(text, &runs[0].outcome);
    let results = Results {
        scenario_runs: runs,
        static_placement_makespans: Vec::new(),
        static_start_work: migsim::experiment::SimulatedWork::default(),
        omitted_starts: Vec::new(),
    };
    for run in &results.scenario_runs {
        if let Some(ledger) = results.ledger(run) {
            assert_eq!(
                ledger.term_ticks.iter().sum::<i64>(),
                ledger.difference_ticks
            );
        }
    }
    Some((results, activities))
}

fn simulate(
    experiment: &Experiment,
    scenario: Scenario,
    remembered: Option<&Memo>,
) -> Result<(ScenarioRun, ProcessTimes), Error> {
    let mut watcher = Watcher::new(experiment);
    let progress = Progress::default();
    let run = experiment.run_scenario(scenario, &progress, &mut watcher, remembered)?;
    assert_eq!(watcher.next, experiment.workload.supersteps());
    Ok((run, watcher.activity))
}

fn check_dates(outcome: &RunOutcome) {
    for one in &outcome.supersteps {
        assert!(
            one.start <= one.last_computation_end && one.last_computation_end <= one.end,
            "{one:?}"
        );
        assert!(one.end <= outcome.makespan, "{one:?}");
    }
    for pair in outcome.supersteps.windows(2) {
        assert!(pair[0].end <= pair[1].end, "{pair:?}");
    }
}

/// Asserts that scenario i without shortcuts has the same flows, and supersteps that end at the same times within rounding.
fn check_slowly(text: &str, fast: &RunOutcome) {
    let mut settings: Value = serde_json::from_str(text).expect("it is JSON");
    settings["runtime"]["shortcuts"] = json!(ShortcutChoice::None);
    let experiment = load(&settings.to_string()).expect("it was loaded before");
    let slow = simulate(&experiment, Scenario::I, None).expect("it ends as well");
    let slow = slow.0.outcome;
    assert_eq!(slow.flow_count, fast.flow_count);
    let allowed = ROUNDING * slow.makespan.get();
    for (slow, fast) in slow.supersteps.iter().zip(&fast.supersteps) {
        let apart = (slow.end.get() - fast.end.get()).abs();
        assert!(
            apart <= allowed,
            "without shortcuts {slow:?}, with them {fast:?}"
        );
    }
}

/// Checks the output for users.
fn check_output(experiment: &Experiment, results: &Results, activities: Vec<ProcessTimes>) {
    serde_json::to_string(&summary(experiment, results)).expect("a text takes everything");
    results_sheet(experiment, results).render(OutputForm::Table);
    let run = Run::from_results(experiment, results).expect("what is written is read");
    for call in run.scenarios.iter().flat_map(|run| &run.calls).take(3) {
        let question = Question {
            superstep: call.superstep,
            process: Some(1),
            asks_why_not_moved: true,
            scenario: Some(call.scenario),
        };
        // The second run is the same except for the moves of the call.
        let case = EvaluatedCall::find_by_question(&run, question).expect("there was such a call");
        let effect = case.map(|case| case.simulate_effect(experiment, &Progress::default()));
        assert!(!matches!(effect, Some(Err(_))), "{effect:?}");
        CallExplanation::new(&run, question, effect.as_ref())
            .expect("there was such a call")
            .to_text();
    }
    if run.scenarios.iter().any(|run| run.scenario != Scenario::I) {
        let overview = Overview::new(&run, None).expect("there is a scenario with calls");
        overview.to_text();
        overview.to_json();
    }
    let report =
        Report::from_results(experiment, results, activities).expect("what is written is read");
    report.to_html();
}
