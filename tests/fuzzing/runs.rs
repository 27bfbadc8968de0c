//! Whole runs: a machine, an application, a policy and all their options are drawn; then the run must be what is promised.
//!
//! Settings that do not fit together are refused, which is told as for any file. What fits is run in all scenarios with every
//! check that debug builds have, and:
//!
//! - superstep memory changes nothing;
//! - without shortcuts scenario i ends at the same dates within rounding, but for supersteps that rounding decides;
//! - the terms of each ledger add up to the last bit;
//! - dates go on, and every process is on one host of the machine;
//! - the settings with all defaults written out are the same experiment;
//! - all that is written of the run can be written, and is read as it was.

use std::sync::{Arc, LazyLock};

use migsim::bsp::{Memo, MemoBudget, MigrationRecord, Outcome, Recorder, Scenario, Shortcuts};
use migsim::document::Document;
use migsim::error::Error;
use migsim::experiment::{Experiment, Layers, Limits, Progress, Results, ScenarioRun};
use migsim::output::{
    Activity, Case, Form, Overview, Question, Report, Run, Story, summary, table,
};
use migsim::platform::Profile;
use migsim::policy::Measures;
use migsim::random::{Purpose, Stream};
use migsim::units::{Bytes, BytesPerSecond, HostId, InstructionsPerSecond, ProcessId};
use migsim::workload::{Plan, PrescribedMove, Workload};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::drawn::{Choices, Drawer};
use super::{check_told, name, scratch};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let text = migsim::experiment::schema(&migsim::Registry::standard());
    serde_json::from_str(&text).expect("a schema is JSON")
});

/// How near the dates without shortcuts must be, relative to the whole run.
const ROUNDING: f64 = 1e-9;

/// How far, relatively, the capacities of a machine are moved to each side to see which supersteps rounding decides.
const CAPACITY_NUDGES: [f64; 4] = [1e-14, 2e-14, 3e-14, 4e-14];

/// How far, relatively, the sizes of messages are moved, each by itself: up to what all ways to compute a superstep promise to agree to.
const SIZE_NUDGE: f64 = 1e-12;

/// The number of such draws. If several messages end at one date, few draws let one of them end before or after all others.
const SIZE_DRAWS: u64 = 8;

/// A superstep that rounding decides is at most so many times as far away by shortcuts as rounding moves it: it jumps by whole messages.
const MOST_APART: f64 = 10.0;

pub(super) fn runs(data: &[u8]) {
    run_drawn(data, false);
}

/// The same with numbers of any size. Nothing varies for ever there: in a run of 1e100 s it would be followed 200 million times, until
/// that is refused.
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
            let again = load(&experiment.resolved.to_string()).expect("it is an experiment, too");
            assert_eq!(again.resolved, experiment.resolved);
            if let Some((results, activities)) = run(&experiment, &text) {
                // A page takes longer than a run.
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
            memory: Some(1e8),
            ..Limits::default()
        },
    )
}

// What is drawn.

/// Up to four clusters with a router each; which routers are linked is drawn.
fn machine(drawer: &mut Drawer<'_, '_>) -> Value {
    let count = 1 + drawer.choices.below(4);
    let clusters: Vec<Value> = (0..count).map(|index| cluster(drawer, index)).collect();
    let mut links = Vec::new();
    for to in 1..count {
        // To any router before it, so that all are connected; sometimes to one more.
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

/// One of each kind, once or repeated; nothing stands still for ever.
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
        "extends": drawer.choices.one(&["none", "one-reading"]),
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
    // One version and its liberties, or the other; what is drawn is the same.
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

// What must hold.

/// Follows a run: where everybody is, and what each did.
#[derive(Debug)]
struct Watcher<'a> {
    experiment: &'a Experiment,
    placement: Vec<HostId>,
    next: usize,
    activity: Activity,
}

impl<'a> Watcher<'a> {
    fn new(experiment: &'a Experiment) -> Self {
        Self {
            experiment,
            placement: experiment.placement.clone(),
            next: 0,
            activity: Activity::default(),
        }
    }
}

impl Recorder for Watcher<'_> {
    fn superstep(&mut self, superstep: usize, measures: &Measures, placement: &[HostId]) {
        assert_eq!(superstep, self.next, "supersteps come in order");
        assert_eq!(placement, self.placement, "who moved has a migration");
        let hosts = self.experiment.platform.platform.hosts.len();
        assert!(placement.iter().all(|host| host.index() < hosts));
        self.next += 1;
        self.activity.superstep(superstep, measures, placement);
    }

    fn migration(&mut self, migration: &MigrationRecord) {
        let place = &mut self.placement[migration.process.index()];
        assert_eq!(*place, migration.from);
        assert!(migration.start <= migration.end);
        *place = migration.to;
    }
}

/// All scenarios, if the policy does not ask for the impossible.
fn run(experiment: &Experiment, text: &str) -> Option<(Results, Vec<Activity>)> {
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
        runs,
        static_starts: Vec::new(),
    };
    for run in &results.runs {
        if let Some(ledger) = results.ledger(run) {
            assert_eq!(ledger.ticks.iter().sum::<i64>(), ledger.difference);
        }
    }
    Some((results, activities))
}

fn simulate(
    experiment: &Experiment,
    scenario: Scenario,
    remembered: Option<&Memo>,
) -> Result<(ScenarioRun, Activity), Error> {
    let mut watcher = Watcher::new(experiment);
    let progress = Progress::default();
    let run = experiment.run_scenario(scenario, &progress, &mut watcher, remembered)?;
    assert_eq!(watcher.next, experiment.workload.supersteps());
    Ok((run, watcher.activity))
}

fn check_dates(outcome: &Outcome) {
    for one in &outcome.supersteps {
        assert!(
            one.start <= one.computed && one.computed <= one.end,
            "{one:?}"
        );
        assert!(one.end <= outcome.makespan, "{one:?}");
    }
    for pair in outcome.supersteps.windows(2) {
        assert!(pair[0].end <= pair[1].end, "{pair:?}");
    }
}

/// Event by event scenario i ends at the same dates, but for supersteps that rounding decides ([`moved_by_rounding`]).
///
/// Such a superstep is taken out with its whole duration; what all others add up to must agree after each of them. If none is taken out, these
/// sums are the dates themselves.
fn check_slowly(text: &str, fast: &Outcome) {
    let slow = event_by_event(text, Nudge::None);
    assert_eq!(slow.flows, fast.flows);
    let allowed = ROUNDING * slow.makespan.get();
    let (slow_steps, fast_steps) = (durations(&slow), durations(fast));
    let of_each = allowed / slow_steps.len() as f64;
    let mut moved = vec![0.0_f64; slow_steps.len()];
    let mut taken_out = vec![false; slow_steps.len()];
    let mut apart = farthest(&slow_steps, &fast_steps, &taken_out);
    for kind in [Kind::Capacities, Kind::Sizes] {
        if apart > allowed {
            keep_largest(
                &mut moved,
                moved_by_rounding(text, &slow_steps, of_each, kind),
            );
            let steps = slow_steps.iter().zip(&fast_steps).zip(&moved);
            taken_out = steps
                .map(|((a, b), &moved)| moved > of_each && (a - b).abs() <= MOST_APART * moved)
                .collect();
            apart = farthest(&slow_steps, &fast_steps, &taken_out);
        }
    }
    assert!(
        apart <= allowed,
        "without shortcuts dates differ by {apart} s; {allowed} s can be rounding; supersteps taken out: {taken_out:?}"
    );
}

/// The time from the start of the run or the end of a superstep to the end of the next one \[s\].
fn durations(outcome: &Outcome) -> Vec<f64> {
    let mut before = 0.0;
    let ends = outcome.supersteps.iter().map(|one| one.end.get());
    ends.map(|end| end - std::mem::replace(&mut before, end))
        .collect()
}

/// How far apart the sums of the durations that are not taken out ever get \[s\].
fn farthest(one: &[f64], other: &[f64], taken_out: &[bool]) -> f64 {
    let (mut apart, mut most) = (0.0_f64, 0.0_f64);
    for ((a, b), is_out) in one.iter().zip(other).zip(taken_out) {
        if !is_out {
            apart += a - b;
            most = most.max(apart.abs());
        }
    }
    most
}

/// The time by which rounding moves each superstep \[s\]: event by event its numbers are moved a little, to one side and to the other.
///
/// First all capacities are multiplied by one number. Without latencies that changes nothing but the unit of time, so a duration that moves
/// by more does so by rounding. Two causes are known:
///
/// - Each meeting of two messages magnifies a difference of dates. One superstep of the input `sensitive-to-dates` ends 88 500 s earlier for
///   each second by which a latency changes later, as long as that is less than some microseconds.
/// - A message is nearly through when one of far less weight joins it. Few digits of its last bytes are right, and they may take as long as
///   the other message. Weights differ by up to a factor of 1e62 in the input `few-digits-left`, where five supersteps are taken out.
///   An independent simulation with 15 digits jumps in these five as well; with 60 digits it does not.
///
/// Last, the sizes of messages are moved, each by itself, by up to what all ways to compute a superstep promise to agree to.
///
/// Dates that jump because a tie is broken differently do so on one side only, and are not excused: both sides must move. Once nothing changes any more at which a date could jump ([`jumps_until`]), ties do not matter. A message that is just through, or just not, moves a
/// superstep on one side only. So it is in superstep 8 of `just-through`: the independent simulation has 2.283325e299 s with 16 and 18
/// digits, and 2.285920e299 s with 15 and 17.
fn moved_by_rounding(text: &str, slow: &[f64], allowed: f64, kind: Kind) -> Vec<f64> {
    let moved_by = |nudges: &[Nudge]| {
        let mut moved = vec![0.0_f64; slow.len()];
        for &nudge in nudges {
            let nudged = durations(&event_by_event(text, nudge));
            let differences = slow.iter().zip(nudged).map(|(a, b)| (a - b).abs());
            keep_largest(&mut moved, differences);
        }
        moved
    };
    // Pairs of what is moved to one side and to the other.
    let pairs: Vec<[Vec<Nudge>; 2]> = match kind {
        Kind::Capacities => {
            let to = |side| CAPACITY_NUDGES.map(|nudge| Nudge::Capacities(side * nudge));
            vec![[-1.0, 1.0].map(|side| to(side).to_vec())]
        }
        Kind::Sizes => {
            let to = |most, draws| vec![Nudge::Sizes { most, draws }];
            let pair = |draws| [-SIZE_NUDGE, SIZE_NUDGE].map(|most| to(most, draws));
            (0..SIZE_DRAWS).map(pair).collect()
        }
    };
    let jumps_until = jumps_until(text);
    let mut moved = vec![0.0_f64; slow.len()];
    for pair in pairs {
        let [lower, upper] = pair.map(|nudges| moved_by(&nudges));
        let mut start = 0.0;
        for (((moved, duration), lower), upper) in moved.iter_mut().zip(slow).zip(lower).zip(upper)
        {
            if start >= jumps_until || lower.min(upper) > allowed {
                *moved = moved.max(lower).max(upper);
            }
            start += duration;
        }
    }
    moved
}

/// Keeps the larger of two numbers, one by one.
fn keep_largest(largest: &mut [f64], others: impl IntoIterator<Item = f64>) {
    for (largest, other) in largest.iter_mut().zip(others) {
        *largest = largest.max(other);
    }
}

/// The date from which on dates follow capacities and sizes without a jump \[s\]: nothing stands still for a while, and no latency or weight
/// changes, of which a message has the old or the new one.
fn jumps_until(text: &str) -> f64 {
    let experiment = load(text).expect("it was loaded before");
    if experiment.config.load.is_some() {
        return f64::INFINITY;
    }
    let platform = &experiment.platform.platform;
    let is_weighed = experiment.network.weight_s > 0.0;
    let of_hosts = platform
        .hosts
        .iter()
        .map(|host| (&host.speed_profile, false));
    let of_links = platform.links.iter().flat_map(|link| {
        [
            (&link.bandwidth_profile, is_weighed),
            (&link.latency_profile, true),
        ]
    });
    let profiles = of_hosts.chain(of_links);
    let jumping = profiles.filter_map(|(profile, is_of_weights)| {
        let profile = profile.as_ref()?;
        (is_of_weights || profile.least() <= 0.0).then_some(profile)
    });
    let last = |profile: &Profile| match (profile.period(), profile.once().last()) {
        (Some(_), _) => f64::INFINITY,
        (None, last) => last.map_or(0.0, |step| step.0),
    };
    jumping.map(last).fold(0.0, f64::max)
}

/// The numbers that are moved.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Capacities,
    Sizes,
}

/// By how much numbers are moved (relative).
#[derive(Clone, Copy, Debug)]
enum Nudge {
    None,
    /// All speeds and bandwidths.
    Capacities(f64),
    /// The size of each message, by up to this much.
    Sizes {
        most: f64,
        draws: u64,
    },
}

/// A workload whose messages have sizes of their own, a little more or less than they had.
#[derive(Debug)]
struct NudgedSizes {
    workload: Box<dyn Workload>,
    most: f64,
    draws: u64,
}

impl Workload for NudgedSizes {
    fn processes(&self) -> usize {
        self.workload.processes()
    }

    fn supersteps(&self) -> usize {
        self.workload.supersteps()
    }

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        self.workload.fill(superstep, plan);
        let mut draws = Stream::at(self.draws, Purpose::Messages, superstep as u64);
        for message in &mut plan.messages {
            let factor = 1.0 + self.most * draws.symmetric();
            message.size = Bytes::new(message.size.get() * factor).unwrap_or(message.size);
        }
    }

    fn repeats(&self, superstep: usize) -> bool {
        self.workload.repeats(superstep)
    }

    fn memory(&self, process: ProcessId) -> Bytes {
        self.workload.memory(process)
    }

    fn is_memory_known(&self, process: ProcessId) -> bool {
        self.workload.is_memory_known(process)
    }

    fn is_movable(&self, process: ProcessId) -> bool {
        self.workload.is_movable(process)
    }

    fn prescribes_moves(&self) -> bool {
        self.workload.prescribes_moves()
    }

    fn prescribed_moves(&self, superstep: usize) -> &[PrescribedMove] {
        self.workload.prescribed_moves(superstep)
    }

    fn failure(&self) -> Option<Error> {
        self.workload.failure()
    }
}

/// Scenario i without shortcuts, with its numbers moved.
fn event_by_event(text: &str, nudge: Nudge) -> Outcome {
    let mut settings: Value = serde_json::from_str(text).expect("it is JSON");
    settings["runtime"]["shortcuts"] = json!(Shortcuts::None);
    let mut experiment = load(&settings.to_string()).expect("it was loaded before");
    match nudge {
        Nudge::None => {}
        Nudge::Capacities(nudge) => scale(&mut experiment, 1.0 + nudge),
        Nudge::Sizes { most, draws } => {
            let workload = experiment.workload;
            experiment.workload = Box::new(NudgedSizes {
                workload,
                most,
                draws,
            });
        }
    }
    let run = simulate(&experiment, Scenario::I, None).expect("it ends as well");
    run.0.outcome
}

/// Multiplies all capacities.
fn scale(experiment: &mut Experiment, factor: f64) {
    let platform = &mut Arc::make_mut(&mut experiment.platform).platform;
    for host in &mut platform.hosts {
        host.speed = InstructionsPerSecond::new(host.speed.get() * factor).unwrap_or(host.speed);
    }
    for link in &mut platform.links {
        link.bandwidth =
            BytesPerSecond::new(link.bandwidth.get() * factor).unwrap_or(link.bandwidth);
    }
}

/// What users are shown of it.
fn check_output(experiment: &Experiment, results: &Results, activities: Vec<Activity>) {
    serde_json::to_string(&summary(experiment, results)).expect("a text takes everything");
    table(experiment, results).render(Form::Table);
    let run = Run::of(experiment, results).expect("what is written is read");
    for call in run.scenarios.iter().flat_map(|run| &run.calls).take(3) {
        let question = Question {
            superstep: call.superstep,
            process: Some(1),
            why_not: true,
            scenario: Some(call.scenario),
        };
        // The same run again, but for the moves of the call.
        let case = Case::of(&run, question).expect("there was such a call");
        let effect = case.map(|case| case.judge(experiment, &Progress::default()));
        assert!(!matches!(effect, Some(Err(_))), "{effect:?}");
        Story::new(&run, question, effect.as_ref())
            .expect("there was such a call")
            .text();
    }
    if run.scenarios.iter().any(|run| run.scenario != Scenario::I) {
        let overview = Overview::new(&run, None).expect("there is a scenario with calls");
        overview.text();
        overview.json();
    }
    let report = Report::of(experiment, results, activities).expect("what is written is read");
    report.html();
}
