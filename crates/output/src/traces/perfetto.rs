//! Writes traces in the JSON format of Chrome's trace viewer, which Perfetto reads (`Trace Event Format`, Google): one JSON
//! object for each activity of a process, called a slice.
//!
//! Each host is a process of the viewer, and each BSP process is a track of its host. A process that migrates continues in a
//! track of its new host, and an arrow leads to this track. A first group contains the supersteps and the counters. Waiting
//! processes have no slice, except at the end of an arrow: viewers show idle time anyway, and half of all slices would be waits.
//!
//! Times are microseconds with three decimals, that is whole nanoseconds, the unit of the viewers. Start and end times are
//! rounded, not durations, so that slices meet without gap or overlap. A decimal fraction may become slightly lower or higher as
//! a binary number, and Perfetto drops slices that overlap by a nanosecond. A fourth decimal, always 2, keeps each time in its
//! nanosecond, whether a reader truncates or rounds.

use super::{
    TraceSubject,
    format::{ProcessActivity, TraceCounter, TraceSink},
};
use crate::{lines::LineWriter, path_rows::describe_piece};
use migsim_base::units::{HostId, Time};
use migsim_bsp::{CriticalPath, MigrationRecord};
use migsim_platform::Platform;

/// Number of the viewer's group for the supersteps and counters, which belong to no host; the groups of the hosts have higher
/// numbers.
const RUN_GROUP: u64 = 1;
/// Latest time that a trace may contain \[s\]: nanoseconds up to this time fit into the 64 bits of the viewer.
const LATEST_TIME: f64 = 9e9;

#[derive(Debug)]
pub(super) struct Perfetto<'a> {
    lines: LineWriter,
    platform: &'a Platform,
    tracks: Vec<Track>,
    has_host_name_event: Vec<bool>,
    written_arrow_count: u64,
    /// Number of the current superstep, counted from 1, and the time at which it started \[ns\]; `None` before the first
    /// superstep.
    current_superstep_and_start: Option<(u64, u64)>,
}

/// The track of a process in the viewer: the host on which the process runs, and its current activity.
#[derive(Debug)]
struct Track {
    /// The JSON text before the start time, with which each slice of this track begins.
    slice_start_text: String,
    host: HostId,
    current_activity: ProcessActivity,
    /// Time at which the current activity started \[ns\].
    activity_start_ns: u64,
    /// Number of the arrow that ends at the next slice of this track; 0 if no arrow ends at this slice.
    incoming_arrow_number: u64,
}

impl<'a> Perfetto<'a> {
    pub(super) fn new(lines: LineWriter, traced: TraceSubject<'a>) -> Self {
        let mut sink = Self {
            lines,
            platform: traced.platform,
            tracks: Vec::with_capacity(traced.initial_placement.len()),
            has_host_name_event: vec![false; traced.platform.hosts.len()],
            written_arrow_count: 0,
            current_superstep_and_start: None,
        };
        sink.lines
            .push_text("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
        let name = group_or_track_name_event("process_name", RUN_GROUP, 0, &traced.title());
        sink.lines.push_text(name);
        sink.push_name_event("thread_name", RUN_GROUP, 1, "supersteps");
        for (process, &host) in traced.initial_placement.iter().enumerate() {
            let track = sink.write_and_create_track(process, host);
            sink.tracks.push(track);
        }
        sink
    }

    fn write_critical_path(&mut self, path: &CriticalPath) {
        if path.pieces.is_empty() {
            return;
        }
        self.push_name_event("thread_name", RUN_GROUP, 2, "critical path");
        for piece in &path.pieces {
            let [begin, end] =
                [piece.begin, piece.end].map(|time| self.round_to_nanoseconds(time.get()));
            if end == begin {
                continue; // too short for the viewer
            }
            let kind = piece.kind.name();
            let words = serde_json::Value::from(describe_piece(piece, self.platform));
            let head = format!("\"tid\":2,\"name\":\"{kind}\",\"args\":{{\"why\":{words}}}");
            self.write_run_slice(&head, begin, end);
        }
    }

    /// Writes a slice of the group of the whole run from `begin` to `end` \[ns\].
    fn write_run_slice(&mut self, head: &str, begin: u64, end: u64) {
        let head = format!(",\n{{\"ph\":\"X\",\"pid\":{RUN_GROUP},{head},\"ts\":");
        self.lines.push_text(head);
        push_time_as_microseconds(&mut self.lines, begin);
        self.lines.push_text(",\"dur\":");
        self.lines
            .push_thousandths(end.saturating_sub(begin))
            .push_text("}");
    }

    fn write_and_create_track(&mut self, process: usize, host: HostId) -> Track {
        let pid = u64::from(host.0) + RUN_GROUP + 1;
        let tid = process as u64 + 1;
        if !self.has_host_name_event[host.index()] {
            self.has_host_name_event[host.index()] = true;
            let place = &self.platform.hosts[host.index()];
            let cluster = &self.platform.clusters[place.cluster.index()].name;
            let name = format!("{} ({cluster})", place.name);
            self.push_name_event("process_name", pid, 0, &name);
            let order = format!(
                "{{\"ph\":\"M\",\"pid\":{pid},\"name\":\"process_sort_index\",\"args\":{{\"sort_index\":{pid}}}}}"
            );
            self.push_event(&order);
        }
        self.push_name_event("thread_name", pid, tid, &format!("p{tid}"));
        Track {
            slice_start_text: format!(",\n{{\"ph\":\"X\",\"pid\":{pid},\"tid\":{tid},\"ts\":"),
            host,
            current_activity: ProcessActivity::Wait,
            activity_start_ns: 0,
            incoming_arrow_number: 0,
        }
    }

    fn push_name_event(&mut self, what: &str, pid: u64, tid: u64, name: &str) {
        self.push_event(&group_or_track_name_event(what, pid, tid, name));
    }

    fn push_event(&mut self, event: &str) {
        self.lines.push_text(",\n").push_text(event);
    }

    /// Writes the slice of the activity that a process ends at the time `until` \[ns\]. No slice is written for a wait without an
    /// arrow, nor for an activity of length zero other than a migration.
    fn write_slice(&mut self, process: usize, until: u64) {
        let track = &mut self.tracks[process];
        let is_empty =
            until <= track.activity_start_ns && track.current_activity != ProcessActivity::Migrate;
        if is_empty
            || (track.current_activity == ProcessActivity::Wait && track.incoming_arrow_number == 0)
        {
            return;
        }
        self.lines.push_text(&track.slice_start_text);
        push_time_as_microseconds(&mut self.lines, track.activity_start_ns);
        self.lines
            .push_text(",\"dur\":")
            .push_thousandths(until.saturating_sub(track.activity_start_ns))
            .push_text(",\"name\":\"")
            .push_text(track.current_activity.name())
            .push_text("\"}");
        if track.incoming_arrow_number > 0 {
            let arrow = std::mem::take(&mut track.incoming_arrow_number);
            let since = track.activity_start_ns;
            self.write_arrow_event(process, "\"f\",\"bp\":\"e\"", arrow, since);
        }
    }

    /// Writes the start or the end of the arrow with the number `arrow` at the time `date` \[ns\]; `which` is the JSON text that
    /// tells start from end.
    fn write_arrow_event(&mut self, process: usize, which: &str, arrow: u64, date: u64) {
        let host = self.tracks[process].host;
        let tid = process + 1;
        let pid = u64::from(host.0) + RUN_GROUP + 1;
        let event = format!(
            "{{\"ph\":{which},\"id\":{arrow},\"pid\":{pid},\"tid\":{tid},\"cat\":\"migration\",\"name\":\"migration\",\"ts\":"
        );
        self.push_event(&event);
        push_time_as_microseconds(&mut self.lines, date);
        self.lines.push_text("}");
    }

    fn write_superstep_slice(&mut self, until: u64) {
        let Some((number, since)) = self.current_superstep_and_start else {
            return;
        };
        self.write_run_slice(&format!("\"tid\":1,\"name\":\"{number}\""), since, until);
    }

    /// Rounds a time \[s\] to whole nanoseconds. A time that is too late for the viewer is stored as an error of the file.
    fn round_to_nanoseconds(&mut self, date: f64) -> u64 {
        if date > LATEST_TIME {
            self.lines
                .store_error(std::io::Error::new(std::io::ErrorKind::InvalidData, format!(
                "a time of {date} s is later than the latest time of a trace for Perfetto, {LATEST_TIME} s"
            )));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "dates are not negative; those that are too late have just been refused"
        )]
        let nanoseconds = (date * 1e9 + 0.5) as u64;
        nanoseconds
    }
}

impl TraceSink for Perfetto<'_> {
    fn start_activity(&mut self, process: u32, state: ProcessActivity, date: f64) {
        let date = self.round_to_nanoseconds(date);
        self.write_slice(process as usize, date);
        let track = &mut self.tracks[process as usize];
        track.current_activity = state;
        track.activity_start_ns = track.activity_start_ns.max(date);
    }

    fn migrate_process(&mut self, migration: &MigrationRecord, start: f64, end: f64) {
        let process = migration.process.index();
        let [start, end] = [start, end].map(|date| self.round_to_nanoseconds(date));
        self.write_slice(process, end);
        self.written_arrow_count += 1;
        let arrow = self.written_arrow_count;
        self.write_arrow_event(process, "\"s\"", arrow, start);
        let track = self.write_and_create_track(process, migration.to);
        self.tracks[process] = Track {
            activity_start_ns: end,
            incoming_arrow_number: arrow,
            ..track
        };
    }

    fn start_superstep(&mut self, superstep: usize, date: f64) {
        let date = self.round_to_nanoseconds(date);
        self.write_superstep_slice(date);
        self.current_superstep_and_start = Some((superstep as u64 + 1, date));
    }

    fn set_counter(&mut self, counter: TraceCounter, value: f64, date: f64) {
        let date = self.round_to_nanoseconds(date);
        self.lines.push_text(format!(
            ",\n{{\"ph\":\"C\",\"pid\":{RUN_GROUP},\"name\":\"{}\",\"ts\":",
            counter.name()
        ));
        push_time_as_microseconds(&mut self.lines, date);
        self.lines.push_text(",\"args\":{\"value\":");
        self.lines.push_float(value);
        self.lines.push_text("}}");
    }

    fn finish(mut self: Box<Self>, end: Time, path: &CriticalPath) -> LineWriter {
        self.write_critical_path(path);
        let end = self.round_to_nanoseconds(end.get());
        for process in 0..self.tracks.len() {
            self.write_slice(process, end);
        }
        self.write_superstep_slice(end);
        self.lines.push_text("\n]}").end_line();
        self.lines
    }
}

fn group_or_track_name_event(what: &str, pid: u64, tid: u64, name: &str) -> String {
    let name = serde_json::Value::from(name);
    format!(
        "{{\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid},\"name\":\"{what}\",\"args\":{{\"name\":{name}}}}}"
    )
}

fn push_time_as_microseconds(lines: &mut LineWriter, nanoseconds: u64) {
    lines.push_thousandths(nanoseconds).push_text("2");
}
