//! The critical path (the chain of activities that determines the makespan) as rows of a table: `path.csv` of a run folder, which
//! the report page and the explanations read.

use std::path::Path;

use serde::Deserialize;

use super::{
    csv_guard::{CsvColumn, deserialize_guarded, protect_formula_like_text},
    inside::read_refusing_outside_links_if_present,
    read::{Run, damaged_line_error, parse_csv_rows},
};
use migsim_base::{
    document::read_text,
    error::Result,
    units::{HostId, ProcessId},
    words::format_count,
};
use migsim_bsp::{CriticalPath, PathPiece, PieceKind, PieceResources, RateLimit, Scenario};
use migsim_experiment::Experiment;
use migsim_platform::Platform;

/// Name of the file with the critical paths in a run folder.
pub(super) const FILE_NAME: &str = "path.csv";

/// A row of `path.csv`: one activity on the critical path of a scenario.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct PathRow {
    /// Scenario to which the critical path belongs.
    pub scenario: Scenario,
    /// Superstep in which the activity started, counted from 1.
    pub superstep: u64,
    /// Simulated time at which this piece of the critical path begins \[s\]; it is the end of the previous piece.
    pub begin_s: f64,
    /// Simulated time at which this piece of the critical path ends \[s\].
    pub end_s: f64,
    /// Kind of the activity, such as a computation or a step of the barrier.
    pub kind: PieceKind,
    /// Name of the resource that the activity used, as [`Experiment::piece_resource_name`] returns it.
    #[serde(deserialize_with = "deserialize_guarded")]
    pub resource: String,
    /// Process to which the activity belongs, counted from 1; `None` for rescheduling calls and control messages.
    pub process: Option<u64>,
    /// String that tells what the activity was, where it ran, and what limited its speed.
    #[serde(deserialize_with = "deserialize_guarded")]
    pub why: String,
}

/// The columns of the table `path.csv`.
pub(super) const PATH_COLUMNS: [CsvColumn<PathRow>; 8] = [
    ("scenario", |row| row.scenario.name().into()),
    ("superstep", |row| row.superstep.to_string()),
    ("begin_s", |row| row.begin_s.to_string()),
    ("end_s", |row| row.end_s.to_string()),
    ("kind", |row| row.kind.name().into()),
    ("resource", |row| {
        protect_formula_like_text(&row.resource).into()
    }),
    ("process", |row| {
        row.process.map_or_else(String::new, |one| one.to_string())
    }),
    ("why", |row| protect_formula_like_text(&row.why).into()),
];

impl PathRow {
    /// Returns the duration of this piece of the critical path \[s\].
    pub fn duration_seconds(&self) -> f64 {
        self.end_s - self.begin_s
    }

    /// Returns whether this piece of the critical path and the piece `next` are steps of the same barrier or of the same
    /// rescheduling call.
    fn is_same_barrier_or_call(&self, next: &Self) -> bool {
        self.kind == next.kind
            && self.superstep == next.superstep
            && matches!(self.kind, PieceKind::Barrier | PieceKind::Call)
    }
}

/// Converts the critical path of a scenario to the rows of the table `path.csv`.
pub fn to_path_rows(
    experiment: &Experiment,
    scenario: Scenario,
    path: &CriticalPath,
) -> Vec<PathRow> {
    let platform = &experiment.platform.platform;
    path.pieces
        .iter()
        .map(|piece| PathRow {
            scenario,
            superstep: piece.superstep as u64 + 1,
            begin_s: piece.begin.get(),
            end_s: piece.end.get(),
            kind: piece.kind,
            resource: experiment.piece_resource_name(piece),
            process: piece.process.map(|process| process.index() as u64 + 1),
            why: describe_piece(piece, platform),
        })
        .collect()
}

/// Reads the critical paths of all scenarios of a run folder. Returns an empty list if the critical paths were not recorded.
///
/// # Errors
/// The file cannot be read, or its content is not a valid table of critical paths of `run`.
pub fn read_critical_paths(folder: &Path, run: &Run) -> Result<Vec<PathRow>> {
    let file = folder.join(FILE_NAME);
    let name = file.display().to_string();
    let Some(text) = read_refusing_outside_links_if_present(&file, read_text)? else {
        return Ok(Vec::new());
    };
    let all: Vec<PathRow> = parse_csv_rows(&text, &name)?;
    let mut before: Option<&PathRow> = None;
    for (row, line) in all.iter().zip(2..) {
        let begin = match before {
            Some(before) if before.scenario == row.scenario => before.end_s,
            _ => 0.0,
        };
        let is_process = |process: u64| (1..=run.process_count).contains(&process);
        let is_sound = run.scenario(row.scenario).is_some()
            && row.begin_s.to_bits() == begin.to_bits()
            && row.begin_s < row.end_s
            && row.end_s.is_finite()
            && row.superstep >= 1
            && row.process.is_none_or(is_process);
        if !is_sound {
            let what = "this line is not one that migsim has written";
            return Err(damaged_line_error(what, &name, line));
        }
        before = Some(row);
    }
    Ok(all)
}

/// Groups the rows of a critical path: consecutive steps of the same barrier or rescheduling call form one part; every other row
/// is a part of its own.
pub(super) fn group_protocol_steps<'r>(rows: &[&'r PathRow]) -> Vec<CriticalPathPart<'r>> {
    rows.chunk_by(|a, b| a.is_same_barrier_or_call(b))
        .map(|rows| CriticalPathPart {
            first_row: rows[0],
            end_s: rows[rows.len() - 1].end_s,
            duration_seconds: rows.iter().map(|row| row.duration_seconds()).sum(),
            row_count: rows.len(),
        })
        .collect()
}

/// A part of the critical path that is described by one sentence: one row, or several consecutive steps of the same barrier or
/// rescheduling call.
pub(super) struct CriticalPathPart<'r> {
    pub first_row: &'r PathRow,
    /// Simulated time at which the last row of the part ends \[s\].
    pub end_s: f64,
    /// Sum of the durations of the rows of the part \[s\].
    pub duration_seconds: f64,
    row_count: usize,
}

impl CriticalPathPart<'_> {
    pub(super) fn describe(&self) -> String {
        let protocol = match self.first_row.kind {
            PieceKind::Call => "the rescheduling call",
            _ => "the barrier",
        };
        match self.row_count {
            1 => self.first_row.why.clone(),
            steps => format!("{protocol}, in {steps} steps, one after the other."),
        }
    }
}

fn name_process(process: ProcessId) -> String {
    format!("p{}", process.index() + 1)
}

fn describe_sent_data(piece: &PathPiece, sender: &str) -> String {
    match piece.kind {
        PieceKind::Barrier => "a message of the barrier".to_owned(),
        PieceKind::Call => "a message of the rescheduling call".to_owned(),
        PieceKind::Move => format!("the memory of {sender}"),
        _ => match piece.receiver {
            Some(to) => format!("the message from {sender} to {}", name_process(to)),
            None => format!("a message of {sender}"),
        },
    }
}

/// Describes one piece of the critical path in a sentence: the activity, the host or links that it used, and what limited its
/// speed.
pub(super) fn describe_piece(piece: &PathPiece, platform: &Platform) -> String {
    let host = |host: HostId| platform.hosts[host.index()].name.as_str();
    let process = piece.process.map(name_process);
    let who = process.as_deref().unwrap_or("the manager of a cluster");
    let purpose = describe_sent_data(piece, who);
    match piece.resources {
        PieceResources::Compute {
            host: at,
            computation_count: sharing,
        } => {
            let shared = if sharing > 1 {
                format!(", which executes {sharing} computations at the same time")
            } else {
                String::new()
            };
            format!("{who} computes on {}{shared}.", host(at))
        }
        PieceResources::Overhead => format!("overhead of {purpose}."),
        PieceResources::Latency(from, to) => {
            format!("latency of {purpose}, from {} to {}.", host(from), host(to))
        }
        PieceResources::Wait(from, to) => {
            let from = host(from);
            let to = host(to);
            format!("wait of {purpose}, from {from} to {to}, for its connection or in a queue.")
        }
        PieceResources::Transfer(
            _,
            _,
            RateLimit::Link {
                link,
                flow_count: flows,
            },
        ) => {
            let name = &platform.links[link.index()].name;
            let flows = u64::from(flows);
            format!(
                "transfer of {purpose}, limited by link {name}, on which {} at the same time.",
                if flows == 1 {
                    "no other message is".to_owned()
                } else {
                    format!("{} are", format_count(flows, "message"))
                }
            )
        }
        PieceResources::Transfer(_, _, RateLimit::TcpWindow) => {
            format!("transfer of {purpose}, limited by the TCP window.")
        }
        PieceResources::Transfer(at, _, RateLimit::Loopback) => {
            format!("transfer of {purpose} inside host {}.", host(at))
        }
        PieceResources::PredefinedWait => match piece.kind {
            PieceKind::Call => "fixed time of the rescheduling call.".to_owned(),
            PieceKind::Move => "fixed time of a migration.".to_owned(),
            _ => "fixed time of the barrier.".to_owned(),
        },
    }
}
