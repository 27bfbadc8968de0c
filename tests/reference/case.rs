//! A case as data, and as the files and settings with which migsim runs the case.

use std::{fmt::Write as _, path::Path};

use migsim::bsp::Scenario;
use serde_json::{Value, json};

/// All data of one replay, in instructions, bytes and seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) backbones: Vec<Backbone>,
    /// Profiles of speeds, as fractions of the nominal speed.
    pub(crate) speeds: Vec<Profile>,
    /// Profiles of bandwidths \[B/s\].
    pub(crate) bandwidths: Vec<Profile>,
    pub(crate) network: Network,
    /// The first host of each process.
    pub(crate) start: Vec<String>,
    pub(crate) memory: f64,
    pub(crate) steps: Vec<Step>,
    pub(crate) is_sequential: bool,
    pub(crate) receives: Receives,
    pub(crate) barrier: Barrier,
    pub(crate) gather: &'static str,
    pub(crate) release: &'static str,
    pub(crate) notices: &'static str,
    pub(crate) shortcuts: &'static str,
    pub(crate) call: Call,
    /// Whether processes wait for a call at the next barrier, in scenario ii; the reference simulator does not support this.
    pub(crate) waits_later_for_calls: bool,
    pub(crate) moves: Moves,
    pub(crate) decisions: Vec<Forced>,
}

#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) name: String,
    pub(crate) groups: Vec<Group>,
    pub(crate) local: Local,
    pub(crate) wire: Wire,
    pub(crate) router: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) hosts: usize,
    pub(crate) speed: f64,
    pub(crate) cores: usize,
    pub(crate) profile: Option<usize>,
}

/// The network inside a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Local {
    Switch,
    Medium,
    Unshared,
}

#[derive(Clone, Debug)]
pub(crate) struct Wire {
    pub(crate) bandwidth: f64,
    pub(crate) latency: f64,
    pub(crate) is_duplex: bool,
    pub(crate) profile: Option<usize>,
}

/// A link between two routers.
#[derive(Clone, Debug)]
pub(crate) struct Backbone {
    pub(crate) name: String,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) wire: Wire,
}

/// A profile: values from their times on, repeated after a period.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) steps: Vec<(f64, f64)>,
    pub(crate) period: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Network {
    #[default]
    Cm02,
    Ideal,
    Lv08,
}

/// A superstep: messages are (sender, receiver, size).
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    pub(crate) work: Vec<f64>,
    pub(crate) messages: Vec<(usize, usize, f64)>,
    pub(crate) moves: Vec<Prescribed>,
}

/// A move that the trace prescribes.
#[derive(Clone, Debug)]
pub(crate) struct Prescribed {
    pub(crate) process: usize,
    pub(crate) to: String,
    pub(crate) size: f64,
    pub(crate) delay: f64,
}

/// The time at which a message starts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Receives {
    #[default]
    Early,
    Late,
    /// At the same time as `Early` up to this size \[B\], and after a handshake above it.
    LateAbove(f64),
}

/// A barrier with the size of its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Barrier {
    #[default]
    Ideal,
    Central(f64),
    None,
    /// A barrier that the reference simulator does not support.
    Other(&'static str, f64),
}

/// The price of a rescheduling call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Call {
    #[default]
    None,
    /// A fixed part, one per process, and one per process and superstep since the last call.
    Additive(f64, f64, f64),
    /// The time by which a superstep is shorter than this minimum duration.
    Hidden(f64),
    /// The time of messages of this size between the managers and the processes outside their clusters.
    PingPong(f64),
    /// Messages, which the reference simulator does not support.
    Messages,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Transfer {
    #[default]
    Flow,
    Nominal,
    None,
}

/// The price of the migrations of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moves {
    pub(crate) transfer: Transfer,
    pub(crate) fixed: f64,
    pub(crate) is_serial: bool,
    pub(crate) only_movers_wait: bool,
}

/// A decision of the list; the superstep counts from 1, the process from 0.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Forced {
    pub(crate) superstep: usize,
    pub(crate) process: usize,
    pub(crate) to: String,
}

/// A record of a trace; the record of a message has a `sender`.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) sender: Option<usize>,
    pub(crate) text: String,
}

impl Record {
    fn plain(text: String) -> Self {
        Self { sender: None, text }
    }
}

impl Case {
    /// Lists the names of all hosts, in the order of the platform.
    pub(crate) fn host_names(&self) -> Vec<String> {
        let names = |cluster: &Cluster| {
            let count = cluster.groups.iter().map(|group| group.hosts).sum();
            let name = cluster.name.clone();
            (0..count).map(move |host: usize| format!("{name}-{host}"))
        };
        self.clusters.iter().flat_map(names).collect()
    }

    /// Writes the platform file.
    pub(crate) fn platform(&self) -> String {
        let clusters: Vec<Value> = self.clusters.iter().map(cluster_json).collect();
        let link = |backbone: &Backbone| {
            let mut link = wire_json(&backbone.wire);
            link["name"] = json!(backbone.name);
            link["from"] = json!(format!("r{}", backbone.from));
            link["to"] = json!(format!("r{}", backbone.to));
            link
        };
        let links: Vec<Value> = self.backbones.iter().map(link).collect();
        let mut profiles = serde_json::Map::new();
        for (index, profile) in self.speeds.iter().enumerate() {
            let value = |speed: f64| json!(speed);
            profiles.insert(format!("speed{index}"), profile_json(profile, value));
        }
        for (index, profile) in self.bandwidths.iter().enumerate() {
            let value = |bandwidth: f64| json!(format!("{bandwidth} B/s"));
            profiles.insert(format!("bandwidth{index}"), profile_json(profile, value));
        }
        let file = json!({
            "schema": "migsim-platform-1",
            "name": "drawn",
            "clusters": clusters,
            "links": links,
            "profiles": profiles,
        });
        format!("{file:#}\n")
    }

    /// Returns the records of the trace: those above the supersteps, and those of each superstep.
    pub(crate) fn records(&self) -> (Vec<Record>, Vec<Vec<Record>>) {
        let mut head = vec![Record::plain(format!("memory {}", self.memory))];
        for (process, host) in self.start.iter().enumerate() {
            head.push(Record::plain(format!("host {process} {host}")));
        }
        let records = |step: &Step| {
            let mut records = Vec::new();
            for (process, work) in step.work.iter().enumerate().filter(|work| *work.1 > 0.0) {
                records.push(Record::plain(format!("c {process} {work}")));
            }
            for &(from, to, size) in &step.messages {
                records.push(Record {
                    sender: Some(from),
                    text: format!("m {from} {to} {size}"),
                });
            }
            for moved in &step.moves {
                let Prescribed {
                    process,
                    to,
                    size,
                    delay,
                } = moved;
                records.push(Record::plain(format!("g {process} {to} {size} {delay}")));
            }
            records
        };
        (head, self.steps.iter().map(records).collect())
    }

    /// Writes the trace with its records in the given order.
    pub(crate) fn trace_of(&self, head: &[Record], steps: &[Vec<Record>]) -> String {
        let mut text = format!("migsim-trace 2\nprocesses {}\n", self.start.len());
        for record in head {
            let _ = writeln!(text, "{}", record.text);
        }
        for (index, records) in steps.iter().enumerate() {
            let _ = writeln!(text, "step {index}");
            for record in records {
                let _ = writeln!(text, "{}", record.text);
            }
        }
        text + "end\n"
    }

    pub(crate) fn trace(&self) -> String {
        let (head, steps) = self.records();
        self.trace_of(&head, &steps)
    }

    /// Writes the list for the policy `replay`.
    pub(crate) fn decisions_json(&self) -> Value {
        let forced = |forced: &Forced| {
            let process = forced.process + 1;
            json!({ "superstep": forced.superstep, "process": process, "to": forced.to })
        };
        self.decisions.iter().map(forced).collect()
    }

    /// Returns the settings, except the names of files.
    pub(crate) fn settings(&self) -> Vec<(&'static str, Value)> {
        let word = |is: bool, yes: &'static str, no: &'static str| json!(if is { yes } else { no });
        let seconds = |time: f64| json!(format!("{time} s"));
        let (kind, bytes) = match self.barrier {
            Barrier::Ideal => ("ideal", 0.0),
            Barrier::Central(bytes) => ("central", bytes),
            Barrier::None => ("none", 0.0),
            Barrier::Other(kind, bytes) => (kind, bytes),
        };
        let mut settings = vec![
            ("network.model", json!(self.network.name())),
            (
                "runtime.sends",
                word(self.is_sequential, "sequential", "concurrent"),
            ),
            ("runtime.receives", self.receives()),
            ("runtime.barrier.kind", json!(kind)),
            ("costs.move.transfer", json!(self.moves.transfer.name())),
            ("costs.move.fixed", seconds(self.moves.fixed)),
            (
                "costs.move.order",
                word(self.moves.is_serial, "serial", "parallel"),
            ),
            (
                "costs.move.wait",
                word(self.moves.only_movers_wait, "movers", "all"),
            ),
        ];
        if self.waits_later_for_calls {
            settings.push(("costs.call.waiting", json!("overlapped")));
        }
        if bytes > 0.0 {
            settings.push(("runtime.barrier.bytes", json!(format!("{bytes} B"))));
        }
        if self.network == Network::Lv08 {
            // The reference simulator has the plain rule, without SimGrid's side effect of changed weights.
            settings.push(("network.reweigh_slip", json!(false)));
        }
        for (key, value) in [
            ("runtime.barrier.gather", self.gather),
            ("runtime.barrier.release", self.release),
            ("runtime.barrier.notices", self.notices),
            ("runtime.shortcuts", self.shortcuts),
        ] {
            if !value.is_empty() {
                settings.push((key, json!(value)));
            }
        }
        if kind == "root-serial" {
            settings.push(("runtime.barrier.per_process", seconds(0.125)));
        }
        settings.extend(self.call_settings());
        settings
    }

    fn receives(&self) -> Value {
        match self.receives {
            Receives::Early => json!("early"),
            Receives::Late => json!("late"),
            Receives::LateAbove(size) => json!({ "late_above": format!("{size} B") }),
        }
    }

    fn call_settings(&self) -> Vec<(&'static str, Value)> {
        let seconds = |time: f64| json!(format!("{time} s"));
        let model = |model: &str| ("costs.call.model", json!(model));
        match self.call {
            Call::None => vec![model("none")],
            Call::Additive(fixed, process, superstep) => vec![
                model("additive"),
                ("costs.call.fixed", seconds(fixed)),
                ("costs.call.per_process", seconds(process)),
                ("costs.call.per_process_superstep", seconds(superstep)),
            ],
            Call::Hidden(least) => vec![model("overlapped"), ("costs.call.fixed", seconds(least))],
            Call::Messages => vec![model("messages")],
            Call::PingPong(size) => vec![
                model("ping-pong"),
                ("costs.call.ping", json!(format!("{size} B"))),
            ],
        }
    }

    /// Returns the scenario: ii if calls are waited for later, since only ii supports this.
    pub(crate) fn scenario(&self) -> Scenario {
        if self.waits_later_for_calls {
            Scenario::Ii
        } else {
            Scenario::Iii
        }
    }

    /// Writes the three files into a folder; returns the command that runs them there.
    pub(crate) fn write(&self, folder: &Path, trace: &str) -> String {
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(folder).expect("a folder");
            std::fs::write(folder.join(name), text).expect("a file");
        };
        write("platform.json", &self.platform());
        write("app.trace", trace);
        write("decisions.json", &format!("{:#}\n", self.decisions_json()));
        let mut command = format!(
            "cd {} && migsim run --platform platform.json --app trace --trace app.trace \
             --policy replay:decisions.json --scenario {}",
            folder.display(),
            self.scenario().name()
        );
        for (key, value) in self.settings() {
            let value = match value {
                Value::String(text) => text,
                other => other.to_string(),
            };
            let _ = write!(command, " --set {key}='{value}'");
        }
        command
    }
}

impl Network {
    fn name(self) -> &'static str {
        match self {
            Self::Cm02 => "cm02",
            Self::Ideal => "ideal",
            Self::Lv08 => "lv08",
        }
    }
}

impl Transfer {
    fn name(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Nominal => "nominal",
            Self::None => "none",
        }
    }
}

fn cluster_json(cluster: &Cluster) -> Value {
    let group = |group: &Group| {
        let mut json = json!({
            "hosts": group.hosts,
            "speed": format!("{} instr/s", group.speed),
            "cores": group.cores,
        });
        if let Some(profile) = group.profile {
            json["speed_profile"] = json!(format!("speed{profile}"));
        }
        json
    };
    let groups: Vec<Value> = cluster.groups.iter().map(group).collect();
    let network = match cluster.local {
        Local::Switch => "switch",
        Local::Medium => "shared-medium",
        Local::Unshared => "unshared",
    };
    json!({
        "name": cluster.name,
        "groups": groups,
        "network": network,
        "link": wire_json(&cluster.wire),
        "router": format!("r{}", cluster.router),
    })
}

fn wire_json(wire: &Wire) -> Value {
    let mut json = json!({
        "bandwidth": format!("{} B/s", wire.bandwidth),
        "latency": format!("{} s", wire.latency),
    });
    if wire.is_duplex {
        json["duplex"] = json!(true);
    }
    if let Some(profile) = wire.profile {
        json["bandwidth_profile"] = json!(format!("bandwidth{profile}"));
    }
    json
}

fn profile_json(profile: &Profile, value: impl Fn(f64) -> Value) -> Value {
    let step = |&(time, of): &(f64, f64)| json!([format!("{time} s"), value(of)]);
    let steps: Vec<Value> = profile.steps.iter().map(step).collect();
    match profile.period {
        Some(period) => json!({ "steps": steps, "period": format!("{period} s") }),
        None => json!({ "steps": steps }),
    }
}
