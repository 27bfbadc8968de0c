//! Writes traces in the format of Paje (Schnorr, *Paje trace file*, version 1.2.5), which `ViTE`, `pj_dump` and other tools read.
//! The site, clusters, hosts and processes are containers of the format; a trace contains a state per process, links for
//! migrations, variables for supersteps, and counters.
//!
//! A container cannot move, and users look for a process on its present host. A process that migrates therefore ends on its old
//! host and begins on the new host under another name: `p37.1` after the first migration of `p37`. A link joins the two
//! containers. (With one container per process and its host as a second state, the process would stay in one place, and totals by
//! host would be wrong.)
//!
//! Times are seconds with all digits, and they rise through the file. An event is stored in memory until no earlier event can
//! follow.

use super::{
    TraceSubject,
    format::{ProcessActivity, TraceCounter, TraceSink},
};
use crate::lines::{LineWriter, with_float};
use migsim_base::units::{HostId, Time};
use migsim_bsp::{CriticalPath, MigrationRecord};
use migsim_platform::Platform;

/// The events of the format that occur in the file, numbered from 0, with their fields.
const EVENTS: [(&str, &[&str]); 11] = [
    ("DefineContainerType", &["Alias", "Type", "Name"]),
    ("DefineStateType", &["Alias", "Type", "Name"]),
    ("DefineVariableType", &["Alias", "Type", "Name", "Color"]),
    (
        "DefineLinkType",
        &[
            "Alias",
            "Type",
            "StartContainerType",
            "EndContainerType",
            "Name",
        ],
    ),
    ("DefineEntityValue", &["Alias", "Type", "Name", "Color"]),
    (
        "CreateContainer",
        &["Time", "Alias", "Type", "Container", "Name"],
    ),
    ("DestroyContainer", &["Time", "Type", "Name"]),
    ("SetState", &["Time", "Type", "Container", "Value"]),
    (SET_VARIABLE, &["Time", "Type", "Container", "Value"]),
    (
        "StartLink",
        &[
            "Time",
            "Type",
            "Container",
            "Value",
            "StartContainer",
            "Key",
        ],
    ),
    (
        "EndLink",
        &["Time", "Type", "Container", "Value", "EndContainer", "Key"],
    ),
];
const SET_VARIABLE: &str = "SetVariable";

/// Definitions of the types of containers (A site, C cluster, H host, P process), states, variables and links in the file,
/// followed by the values of states and links. The colours are those of Okabe and Ito, which colour-blind readers can
/// distinguish.
const TYPE_DEFINITIONS: &str = r#"0 A 0 "Site"
0 C A "Cluster"
0 H C "Host"
0 P H "Process"
1 S P "State"
2 V A "superstep" "0.34 0.71 0.91"
3 L A P P "migration"
4 m L "migration" "0.84 0.37 0.00"
"#;

#[derive(Debug)]
pub(super) struct Paje<'a> {
    lines: LineWriter,
    platform: &'a Platform,
    /// For each process, the text with the type and the present name of the process in state events, and the number of migrations
    /// of the process up to now.
    state_event_texts: Vec<(String, u32)>,
    has_host_container: Vec<bool>,
    has_cluster_container: Vec<bool>,
    /// Events that are not yet written: the time as the bits of a float (whose order is the order of the times), and the index of
    /// the event in `pending_event_data`.
    pending_events: Vec<(u64, u32)>,
    pending_event_data: Vec<PajeEvent>,
    migration_records: Vec<MigrationRecord>,
    /// Time of the event that was written last \[s\].
    last_written_time: f64,
    last_written_time_text: String,
    /// Time up to which all events have been written \[s\]; no event that is added later has an earlier time.
    all_events_written_until: f64,
}

#[derive(Clone, Copy, Debug)]
enum PajeEvent {
    State(u32, ProcessActivity),
    /// A process leaves its host for the migration with the given index.
    ProcessLeavesHost(u32),
    Arrives(u32),
    Superstep(f64),
    Counter(TraceCounter, f64),
}

impl<'a> Paje<'a> {
    pub(super) fn new(lines: LineWriter, traced: TraceSubject<'a>) -> Self {
        let platform = traced.platform;
        let mut sink = Self {
            lines,
            platform,
            state_event_texts: Vec::with_capacity(traced.initial_placement.len()),
            has_host_container: vec![false; platform.hosts.len()],
            has_cluster_container: vec![false; platform.clusters.len()],
            pending_events: Vec::new(),
            pending_event_data: Vec::new(),
            migration_records: Vec::new(),
            last_written_time: 0.0,
            last_written_time_text: "0.0".into(),
            all_events_written_until: 0.0,
        };
        sink.lines.push_text(definitions_text());
        sink.create_container("s", "A", "0", &traced.title());
        for (process, &host) in traced.initial_placement.iter().enumerate() {
            let alias = format!("p{}", process + 1);
            sink.state_event_texts.push((String::new(), 0));
            sink.create_process_container(process, &alias, host);
            let wait = PajeEvent::State(
                u32::try_from(process).expect("workloads have fewer than 2^32 processes"),
                ProcessActivity::Wait,
            );
            sink.write_event(wait);
        }
        sink
    }

    fn container_alias(&self, process: usize) -> String {
        match self.state_event_texts[process].1 {
            0 => format!("p{}", process + 1),
            moves => format!("p{}.{moves}", process + 1),
        }
    }

    fn create_process_container(&mut self, process: usize, alias: &str, host: HostId) {
        let platform = self.platform;
        let cluster = platform.cluster_of(host);
        let in_cluster = format!("c{}", cluster.0);
        let on_host = format!("h{}", host.0);
        if !std::mem::replace(&mut self.has_cluster_container[cluster.index()], true) {
            let name = &platform.clusters[cluster.index()].name;
            self.create_container(&in_cluster, "C", "s", name);
        }
        if !std::mem::replace(&mut self.has_host_container[host.index()], true) {
            let name = &platform.hosts[host.index()].name;
            self.create_container(&on_host, "H", &in_cluster, name);
        }
        self.create_container(alias, "P", &on_host, alias);
        self.state_event_texts[process].0 = format!(" S {alias} ");
    }

    fn create_container(&mut self, alias: &str, kind: &str, parent: &str, name: &str) {
        let name = quote_name(name);
        self.write_line(5, &format!("{alias} {kind} {parent} {name}"));
    }

    fn destroy_container(&mut self, kind: &str, alias: &str) {
        self.write_line(6, &format!("{kind} {alias}"));
    }

    fn write_line(&mut self, event: u64, rest: &str) {
        self.lines.push_number(event).push_text(" ");
        self.lines.push_text(&self.last_written_time_text);
        self.lines.push_text(" ").push_text(rest).end_line();
    }

    /// Writes an event immediately if no event with an earlier time can follow; otherwise stores the event until this is certain.
    fn write_or_store_event(&mut self, date: f64, what: PajeEvent) {
        if date <= self.all_events_written_until {
            self.set_event_time(date);
            self.write_event(what);
            return;
        }
        let order =
            u32::try_from(self.pending_event_data.len()).expect("fewer than 2^32 events at a time");
        self.pending_events.push((date.max(0.0).to_bits(), order));
        self.pending_event_data.push(what);
    }

    /// Sets the time of the next events to `date` \[s\]; a time before the last written time is replaced by the last written
    /// time.
    fn set_event_time(&mut self, date: f64) {
        if date > self.last_written_time {
            self.last_written_time = date;
            self.last_written_time_text = with_float(date, str::to_owned);
        }
    }

    fn write_event(&mut self, what: PajeEvent) {
        match what {
            PajeEvent::State(process, state) => {
                self.lines
                    .push_text("7 ")
                    .push_text(&self.last_written_time_text)
                    .push_text(&self.state_event_texts[process as usize].0)
                    .push_text([state_letter(state), b'\n']);
            }
            PajeEvent::Superstep(number) => self.write_variable_event("V", number),
            PajeEvent::Counter(counter, value) => {
                self.write_variable_event(counter_alias(counter), value);
            }
            PajeEvent::ProcessLeavesHost(index) => {
                let process = self.migration_records[index as usize].process.index();
                let alias = self.container_alias(process);
                self.write_line(9, &format!("L s m {alias} m{index}"));
            }
            PajeEvent::Arrives(index) => {
                let migration = self.migration_records[index as usize];
                let process = migration.process.index();
                self.destroy_container("P", &self.container_alias(process));
                self.state_event_texts[process].1 += 1;
                let alias = self.container_alias(process);
                self.create_process_container(process, &alias, migration.to);
                self.write_line(10, &format!("L s m {alias} m{index}"));
            }
        }
    }

    fn write_variable_event(&mut self, kind: &str, value: f64) {
        self.write_line(8, &with_float(value, |value| format!("{kind} s {value}")));
    }
}

impl TraceSink for Paje<'_> {
    fn start_activity(&mut self, process: u32, state: ProcessActivity, date: f64) {
        self.write_or_store_event(date, PajeEvent::State(process, state));
    }

    fn migrate_process(&mut self, migration: &MigrationRecord, start: f64, end: f64) {
        let index =
            u32::try_from(self.migration_records.len()).expect("fewer than 2^32 migrations");
        self.migration_records.push(*migration);
        self.write_or_store_event(start, PajeEvent::ProcessLeavesHost(index));
        self.write_or_store_event(end, PajeEvent::Arrives(index));
    }

    fn start_superstep(&mut self, superstep: usize, date: f64) {
        self.write_or_store_event(date, PajeEvent::Superstep((superstep + 1) as f64));
    }

    fn set_counter(&mut self, counter: TraceCounter, value: f64, date: f64) {
        self.write_or_store_event(date, PajeEvent::Counter(counter, value));
    }

    fn commit_until(&mut self, date: f64) {
        self.pending_events.sort_unstable();
        let ready = self
            .pending_events
            .partition_point(|(bits, _)| f64::from_bits(*bits) <= date);
        for at in 0..ready {
            let (bits, order) = self.pending_events[at];
            self.set_event_time(f64::from_bits(bits));
            self.write_event(self.pending_event_data[order as usize]);
        }
        if ready == self.pending_events.len() {
            self.pending_event_data.clear();
        }
        self.pending_events.drain(..ready);
        self.all_events_written_until = date;
    }

    fn finish(mut self: Box<Self>, end: Time, _: &CriticalPath) -> LineWriter {
        self.commit_until(f64::INFINITY);
        self.set_event_time(end.get());
        for process in 0..self.state_event_texts.len() {
            self.destroy_container("P", &self.container_alias(process));
        }
        for host in 0..self.has_host_container.len() {
            if self.has_host_container[host] {
                self.destroy_container("H", &format!("h{host}"));
            }
        }
        for cluster in 0..self.has_cluster_container.len() {
            if self.has_cluster_container[cluster] {
                self.destroy_container("C", &format!("c{cluster}"));
            }
        }
        self.destroy_container("A", "s");
        self.lines
    }
}

fn definitions_text() -> String {
    let mut text = String::new();
    for (number, (event, fields)) in EVENTS.into_iter().enumerate() {
        put!(text, "%EventDef Paje{event} {number}\n");
        for field in fields {
            let kind = match *field {
                "Time" => "date",
                "Color" => "color",
                "Value" if event == SET_VARIABLE => "double",
                _ => "string",
            };
            put!(text, "%  {field} {kind}\n");
        }
        text += "%EndEventDef\n";
    }
    text += TYPE_DEFINITIONS;
    for counter in TraceCounter::ALL {
        let alias = counter_alias(counter);
        let name = counter.name();
        put!(text, "2 {alias} A \"{name}\" \"0.00 0.62 0.45\"\n");
    }
    for state in ProcessActivity::ALL {
        let letter = char::from(state_letter(state));
        let name = state.name();
        let colour = state_colour(state);
        put!(text, "4 {letter} S \"{name}\" \"{colour}\"\n");
    }
    text
}

const fn counter_alias(counter: TraceCounter) -> &'static str {
    match counter {
        TraceCounter::Imbalance => "I",
        TraceCounter::CallInterval => "N",
    }
}

const fn state_letter(state: ProcessActivity) -> u8 {
    match state {
        ProcessActivity::Compute => b'c',
        ProcessActivity::Communicate => b'o',
        ProcessActivity::Wait => b'w',
        ProcessActivity::Rescheduling => b'r',
        ProcessActivity::Migrate => b'x',
    }
}

const fn state_colour(state: ProcessActivity) -> &'static str {
    match state {
        ProcessActivity::Compute => "0.00 0.45 0.70",
        ProcessActivity::Communicate => "0.90 0.62 0.00",
        ProcessActivity::Wait => "0.85 0.85 0.85",
        ProcessActivity::Rescheduling => "0.80 0.47 0.65",
        ProcessActivity::Migrate => "0.84 0.37 0.00",
    }
}

/// Puts a name in quotation marks. Quotation marks and line ends in the name are replaced by other characters, because the format
/// cannot represent them.
fn quote_name(name: &str) -> String {
    let plain = |letter: char| match letter {
        '"' => '\'',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    format!("\"{}\"", name.chars().map(plain).collect::<String>())
}
