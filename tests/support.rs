//! Common code of the tests: the one comparison of floats, small platforms and workloads, runs of one scenario, and calls of the command.

use std::{
    io::Write,
    path::Path,
    process::{Command, Output},
};

use migsim::{
    bsp::{
        ControlTransport, Costs, Memo, Recorder, RunOutcome, RuntimeConfig, Scenario, Setup,
        simulate,
    },
    engine::NetworkModel,
    error::Error,
    experiment::{Experiment, KeySetting, Layers, Limits, find_built_in_experiment},
    platform::{Cluster, ClusterPath, Host, Link, Platform, Routes},
    policy::{Decision, Migration, Never, Policy, View},
    random::Stream,
    units::{
        Bytes, BytesPerSecond, ClusterId, HostId, Instructions, InstructionsPerSecond, LinkId,
        ProcessId, Seconds,
    },
    workload::{Message, Plan, PrescribedMigration, Workload},
};
use proptest::prelude::*;

/// Draws the way in which the control messages of a barrier are sent.
pub(crate) fn any_notices() -> impl Strategy<Value = ControlTransport> {
    prop::sample::select(vec![ControlTransport::Flows, ControlTransport::Packets])
}

/// Returns the number of cases that a test draws: `few` in a usual run, `full` if `MIGSIM_DRAWS` is `full`, or the number in
/// `MIGSIM_DRAWS`.
pub(crate) fn draws(few: u64, full: u64) -> u64 {
    match std::env::var("MIGSIM_DRAWS").as_deref() {
        Err(_) => few,
        Ok("full") => full,
        Ok(number) => number
            .parse()
            .expect("MIGSIM_DRAWS is `full` or a number of cases"),
    }
}

/// Returns whether a program that a test needs is not installed, and then says on standard error that the test is skipped.
pub(crate) fn lacks(program: &str) -> bool {
    let is_missing = Command::new(program).arg("--version").output().is_err();
    if is_missing {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("a test");
        // The output of `eprintln` would be kept from the user.
        let _ = writeln!(std::io::stderr(), "skipped, without {program}: {name}");
    }
    is_missing
}

/// Fails unless `found` is `expected` within the relative `tolerance`.
pub(crate) fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs(),
        "{what}: {found} is not {expected} within {tolerance:e}, but {:+e} off",
        found / expected - 1.0
    );
}

/// Relative tolerance of results worked out by hand: the rounding of a few additions.
pub(crate) const ROUNDING: f64 = 1e-12;

pub(crate) fn bytes(value: f64) -> Bytes {
    Bytes::new(value).expect("a size")
}

pub(crate) fn instructions(value: f64) -> Instructions {
    Instructions::new(value).expect("work")
}

pub(crate) fn seconds(value: f64) -> Seconds {
    Seconds::new(value).expect("a duration")
}

/// Bandwidth [B/s] and latency [s] of a kind of links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire(pub(crate) f64, pub(crate) f64);

/// Makes clusters of hosts with the given speeds [instr/s]: each host has its own link, and each pair of clusters has one link between
/// them. Hosts are named `h0`, `h1`, ..., clusters `a`, `b`, ..., links `l0`, ... (hosts first, then pairs).
pub(crate) fn machine(clusters: &[&[f64]], access: Wire, backbone: Wire) -> Platform {
    let count = clusters.len();
    let mut platform = Platform {
        name: "test".into(),
        clusters: Vec::new(),
        hosts: Vec::new(),
        links: Vec::new(),
        routes: Routes::StoredClusterPaths {
            access_links: Vec::new(),
            cluster_paths: Vec::new(),
            path_links: Vec::new(),
        },
        loopback_links: Vec::new(),
        first_failure: None,
    };
    for (letter, (cluster, speeds)) in ('a'..).zip(clusters.iter().enumerate()) {
        let first = platform.hosts.len();
        for &speed in *speeds {
            platform.hosts.push(Host {
                name: format!("h{}", platform.hosts.len()),
                cluster: ClusterId::from_index(cluster),
                speed: InstructionsPerSecond::new(speed).expect("a speed"),
                cores: 1,
                memory: None,
                speed_profile: None,
                loads: Vec::new(),
                busy_cores: 0.0,
                other_work: Vec::new(),
            });
            add_link(&mut platform, access);
        }
        let hosts = HostId::from_index(first).0..HostId::from_index(platform.hosts.len()).0;
        platform.clusters.push(Cluster {
            name: letter.to_string(),
            hosts,
        });
    }
    let hosts = platform.hosts.len();
    let mut pairs = vec![
        Some(ClusterPath {
            link_range: 0..0,
            latency: None
        });
        count * count
    ];
    let mut links = Vec::new();
    for a in 0..count {
        for b in 0..a {
            let at = LinkId::from_index(links.len()).0;
            let path = ClusterPath {
                link_range: at..at + 1,
                latency: None,
            };
            links.push(add_link(&mut platform, backbone));
            pairs[a * count + b] = Some(path.clone());
            pairs[b * count + a] = Some(path);
        }
    }
    platform.routes = Routes::StoredClusterPaths {
        access_links: (0..hosts)
            .map(|host| Some(LinkId::from_index(host)))
            .collect(),
        cluster_paths: pairs,
        path_links: links,
    };
    platform
}

fn add_link(platform: &mut Platform, Wire(bandwidth, latency): Wire) -> LinkId {
    let id = LinkId::from_index(platform.links.len());
    platform.links.push(Link {
        name: format!("l{}", platform.links.len()),
        bandwidth: BytesPerSecond::new(bandwidth).expect("a bandwidth"),
        latency: seconds(latency),
        is_shared: true,
        is_duplex: false,
        bandwidth_profile: None,
        latency_profile: None,
        loads: Vec::new(),
    });
    id
}

/// Makes one cluster of `hosts` hosts of 1 GHz on a switch.
pub(crate) fn switch(hosts: usize, wire: Wire) -> Platform {
    machine(&[&vec![1e9; hosts]], wire, wire)
}

/// Makes a superstep from work [instructions] by process and messages `(from, to, bytes)`.
pub(crate) fn plan(work: &[f64], messages: &[(u32, u32, f64)]) -> Plan {
    Plan {
        work: work.iter().map(|&work| instructions(work)).collect(),
        messages: messages
            .iter()
            .map(|&(from, to, size)| Message {
                from: ProcessId(from),
                to: ProcessId(to),
                size: bytes(size),
            })
            .collect(),
    }
}

/// A workload with the given supersteps, which repeat if it has more.
#[derive(Clone, Debug)]
pub(crate) struct Plans {
    pub(crate) cycle: Vec<Plan>,
    pub(crate) supersteps: usize,
    pub(crate) memory: Vec<f64>,
    /// The prescribed moves after each superstep; none after supersteps beyond the list.
    pub(crate) moves: Vec<Vec<PrescribedMigration>>,
}

impl Plans {
    pub(crate) fn new(cycle: Vec<Plan>) -> Self {
        Self {
            supersteps: cycle.len(),
            memory: vec![0.0; cycle[0].work.len()],
            moves: Vec::new(),
            cycle,
        }
    }

    /// Makes a workload that repeats a superstep `times` times.
    pub(crate) fn repeat(plan: Plan, times: usize) -> Self {
        Self {
            supersteps: times,
            ..Self::new(vec![plan])
        }
    }
}

impl Workload for Plans {
    fn processes(&self) -> usize {
        self.cycle[0].work.len()
    }

    fn supersteps(&self) -> usize {
        self.supersteps
    }

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        let Plan { work, messages } = &self.cycle[superstep % self.cycle.len()];
        plan.work.clone_from(work);
        plan.messages.clone_from(messages);
    }

    fn repeats(&self, superstep: usize) -> bool {
        let plan = |superstep: usize| &self.cycle[superstep % self.cycle.len()];
        superstep > 0 && plan(superstep) == plan(superstep - 1)
    }

    fn memory(&self, process: ProcessId) -> Bytes {
        bytes(self.memory[process.index()])
    }

    fn prescribed_moves(&self, superstep: usize) -> &[PrescribedMigration] {
        self.moves.get(superstep).map_or(&[], Vec::as_slice)
    }
}

/// All data of one run, except the policy.
#[derive(Clone, Debug)]
pub(crate) struct Case<'a> {
    pub(crate) platform: &'a Platform,
    pub(crate) workload: &'a dyn Workload,
    pub(crate) placement: Vec<HostId>,
    pub(crate) network: NetworkModel,
    pub(crate) runtime: RuntimeConfig,
    pub(crate) costs: Costs,
    pub(crate) scenario: Scenario,
    pub(crate) memo: Option<&'a Memo>,
}

impl<'a> Case<'a> {
    /// Makes a case of scenario i with all defaults; process i starts on host `placement[i]`.
    pub(crate) fn new(
        platform: &'a Platform,
        workload: &'a dyn Workload,
        placement: impl IntoIterator<Item = u32>,
    ) -> Self {
        Self {
            platform,
            workload,
            placement: placement.into_iter().map(HostId).collect(),
            network: NetworkModel::default(),
            runtime: RuntimeConfig::default(),
            costs: Costs::default(),
            scenario: Scenario::I,
            memo: None,
        }
    }

    #[expect(clippy::result_large_err, reason = "the error of the library as it is")]
    pub(crate) fn run_with(&self, policy: impl Policy + 'static) -> Result<RunOutcome, Error> {
        self.run_watched(policy, &mut ())
    }

    #[expect(clippy::result_large_err, reason = "the error of the library as it is")]
    pub(crate) fn run_watched(
        &self,
        policy: impl Policy + 'static,
        recorder: &mut dyn Recorder,
    ) -> Result<RunOutcome, Error> {
        let setup = Setup {
            platform: self.platform,
            network: self.network,
            workload: self.workload,
            placement: &self.placement,
            runtime: self.runtime,
            costs: self.costs,
            view: migsim::bsp::ViewConfig::default(),
            scenario: self.scenario,
            seed: 1,
            memo: self.memo,
        };
        simulate(&setup, Box::new(policy), recorder)
    }

    /// Runs without a policy, which must succeed.
    pub(crate) fn run(&self) -> RunOutcome {
        self.run_with(Never {}).expect("the run ends")
    }
}

/// A policy that calls after some supersteps (counted from 0) and moves processes to the listed hosts.
#[derive(Clone, Debug)]
pub(crate) struct Script(pub(crate) Vec<(usize, Vec<(u32, u32)>)>);

impl Script {
    fn at(&self, superstep: usize) -> Option<&Vec<(u32, u32)>> {
        let found = self.0.iter().find(|call| call.0 == superstep);
        found.map(|call| &call.1)
    }
}

impl Policy for Script {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.at(view.superstep).is_some()
    }

    fn decide(&mut self, view: &View<'_>, _: &mut Stream) -> Result<Decision, Error> {
        let moves = self.at(view.superstep).expect("a call that was asked for");
        let migration = |&(process, to): &(u32, u32)| Migration {
            process: ProcessId(process),
            to: HostId(to),
        };
        Ok(Decision::from_migrations(
            moves.iter().map(migration).collect(),
        ))
    }
}

/// Loads the built-in experiment `name` with other values of some keys.
pub(crate) fn experiment(name: &str, settings: &[(&str, serde_json::Value)]) -> Experiment {
    let flag = |(key, value): &(&str, serde_json::Value)| KeySetting {
        key: (*key).into(),
        source_text: format!("--{key} {value}"),
        value: value.clone(),
    };
    let mut layers = Layers::default();
    layers.push_file(
        find_built_in_experiment(name)
            .expect("it is read")
            .expect("it is built in"),
    );
    layers.push_flags(settings.iter().map(flag).collect());
    Experiment::load(&layers, Limits::default()).expect("it is built in")
}

pub(crate) fn of_flags(settings: &[(&str, serde_json::Value)]) -> Experiment {
    let flag = |(key, value): &(&str, serde_json::Value)| KeySetting {
        key: (*key).into(),
        source_text: format!("--set {key}"),
        value: value.clone(),
    };
    let mut layers = Layers::default();
    layers.push_flags(settings.iter().map(flag).collect());
    Experiment::load(&layers, Limits::default()).expect("sound settings")
}

/// Runs the command.
pub(crate) fn migsim(arguments: &[&str]) -> Output {
    migsim_in(Path::new("."), arguments)
}

/// Runs the command in a folder.
pub(crate) fn migsim_in(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_migsim"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

/// Runs the command in a folder, with its words as in a shell: between spaces, or in single quotes.
pub(crate) fn command(folder: &Path, line: &str) -> Output {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(index, part)| {
        let is_quoted = index % 2 == 1;
        let words = part.split(move |letter: char| letter == ' ' && !is_quoted);
        words.filter(|word| !word.is_empty())
    });
    migsim_in(folder, &words.collect::<Vec<_>>())
}

/// Runs a command, which must succeed, and returns what it prints.
pub(crate) fn done(folder: &Path, line: &str) -> String {
    let output = command(folder, line);
    assert!(output.status.success(), "{line}: {}", said(&output));
    String::from_utf8(output.stdout).expect("a text")
}

/// Runs a command with `--json`, and returns what it prints.
pub(crate) fn json(folder: &Path, line: &str) -> serde_json::Value {
    serde_json::from_str(&done(folder, &format!("{line} --json"))).expect("JSON")
}

/// Runs a command, which must be refused, and returns its message.
pub(crate) fn refused(folder: &Path, line: &str) -> String {
    let output = command(folder, line);
    assert_eq!(output.status.code(), Some(2), "{line}");
    said(&output)
}

/// Returns the messages of a command on stderr.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the output of a command, which must have succeeded.
pub(crate) fn succeeded(output: Output) -> Output {
    assert!(output.status.success(), "{}", said(&output));
    output
}

/// Reads a file of a folder.
pub(crate) fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).expect("a text")
}

/// Lists the keys of a JSON object, in their order.
pub(crate) fn keys(object: &serde_json::Value) -> Vec<String> {
    let object = object.as_object().expect("an object");
    object.keys().cloned().collect()
}

/// Returns the next number of a random stream, and advances its state (`SplitMix64`; Steele, Lea and Flood 2014).
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
