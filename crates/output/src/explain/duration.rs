//! The explanation of a superstep's time: its part of the critical path, piece by piece.

use migsim_base::error::Error;
use migsim_base::units::{HostId, ProcessId};
use migsim_base::words::counted;
use migsim_bsp::{Bound, Piece, PieceKind, PieceWork, Scenario};
use migsim_experiment::{Experiment, Progress};
use migsim_platform::Platform;
use migsim_policies::explain::meanings::superstep;
use migsim_policies::explain::{Meaning, Sentence, Unit, say};

/// Maximum number of pieces that are described one by one.
const MOST_PIECES: usize = 8;

/// Share of the time of a superstep below which a piece counts as a rounding error.
const ROUNDING: f64 = 1e-12;

/// The time of a superstep on the critical path.
const ON_PATH: Meaning = Meaning::new(
    "path_s",
    Unit::Seconds,
    "the sum of the pieces of the critical path that started in the superstep",
);
/// The duration of a piece.
const PIECE: Meaning = Meaning::new(
    "piece_s",
    Unit::Seconds,
    "the duration of a piece of the critical path",
);

/// Describes the pieces of the critical path that started in a superstep, counted from 1, in the order of time. If there are many, only the
/// longest pieces are described.
///
/// # Errors
/// The run cannot be repeated.
pub fn time_of_superstep(
    experiment: &Experiment,
    scenario: Scenario,
    number: u64,
    progress: &Progress,
) -> Result<Vec<Sentence>, Error> {
    let (_, path) = experiment.run_with_path(scenario, progress)?;
    let platform = &experiment.platform.platform;
    let pieces = path.pieces.iter();
    let own = pieces.filter(|piece| piece.superstep as u64 + 1 == number);
    let own: Vec<&Piece> = own.collect();
    let whole: f64 = own.iter().map(|piece| piece.duration().get()).sum();
    let is_seen = |piece: &&Piece| piece.duration().get() > ROUNDING * whole;
    let own: Vec<&Piece> = own.into_iter().filter(is_seen).collect();
    if own.is_empty() {
        return Ok(vec![say!(
            "Nothing that starts in superstep {} is on the critical path.",
            superstep(number)
        )]);
    }
    let parts = parts(&own);
    let mut longest: Vec<usize> = (0..parts.len()).collect();
    longest.sort_by(|a, b| parts[*b].0.total_cmp(&parts[*a].0));
    longest.truncate(MOST_PIECES);
    longest.sort_unstable();
    let mut sentences = vec![say!(
        "Superstep {} takes {} of the critical path:",
        superstep(number),
        ON_PATH.of(whole)
    )];
    for place in longest {
        let (seconds, pieces) = parts[place];
        let words = match pieces {
            [piece] => in_words(piece, platform),
            several => {
                let (count, what) = (several.len(), protocol(several[0].kind));
                format!("{what}, {count} steps one after the other.")
            }
        };
        sentences.push(say!("  {}: {}", PIECE.of(seconds), words));
    }
    let rest = parts.len().saturating_sub(MOST_PIECES);
    if rest > 0 {
        let rest = counted(rest, "shorter piece");
        sentences.push(say!("  and {}.", rest));
    }
    Ok(sentences)
}

/// Groups the pieces into parts with their durations \[s\]. Successive pieces of one barrier or call form one part.
fn parts<'p>(pieces: &'p [&'p Piece]) -> Vec<(f64, &'p [&'p Piece])> {
    let belong = |a: &&Piece, b: &&Piece| {
        a.kind == b.kind && matches!(a.kind, PieceKind::Barrier | PieceKind::Call)
    };
    let parts = pieces.chunk_by(belong);
    let whole = |part: &[&Piece]| part.iter().map(|piece| piece.duration().get()).sum();
    parts.map(|part| (whole(part), part)).collect()
}

/// Names the protocol to which pieces of this kind belong.
fn protocol(kind: PieceKind) -> &'static str {
    match kind {
        PieceKind::Call => "the rescheduling call",
        _ => "the barrier",
    }
}

/// Describes a piece in words.
pub(crate) fn in_words(piece: &Piece, platform: &Platform) -> String {
    let host = |host: HostId| platform.hosts[host.index()].name.as_str();
    let name = |process: ProcessId| format!("p{}", process.index() + 1);
    let process = piece.process.map(name);
    let who = process.as_deref().unwrap_or("a manager");
    let purpose = match piece.kind {
        PieceKind::Barrier => "a message of the barrier".to_owned(),
        PieceKind::Call => "a message of the rescheduling call".to_owned(),
        PieceKind::Move => format!("the memory of {who}"),
        _ => match piece.to {
            Some(to) => format!("the message from {who} to {}", name(to)),
            None => format!("a message of {who}"),
        },
    };
    match piece.work {
        PieceWork::Compute { host: at, sharing } => {
            let shared = if sharing > 1 {
                format!(", with {sharing} computations on that host")
            } else {
                String::new()
            };
            format!("{who} computes on {}{shared}.", host(at))
        }
        PieceWork::Overhead => format!("overhead of {purpose}."),
        PieceWork::Latency(from, to) => {
            format!("latency of {purpose}, from {} to {}.", host(from), host(to))
        }
        PieceWork::Wait(from, to) => {
            let (from, to) = (host(from), host(to));
            format!("{purpose} waits for its connection or in a queue, from {from} to {to}.")
        }
        PieceWork::Transfer(_, _, Bound::Link { link, flows }) => {
            let name = &platform.links[link.index()].name;
            let flows = u64::from(flows);
            format!(
                "transfer of {purpose}, bound by the link {name} with {}.",
                counted(flows, "flow")
            )
        }
        PieceWork::Transfer(_, _, Bound::Window) => {
            format!("transfer of {purpose}, bound by the TCP window.")
        }
        PieceWork::Transfer(at, _, Bound::Loopback) => {
            format!("transfer of {purpose} inside {}.", host(at))
        }
        PieceWork::Fixed => match piece.kind {
            PieceKind::Call => "price of the rescheduling call.".to_owned(),
            PieceKind::Move => "fixed time of a migration.".to_owned(),
            _ => "protocol of the barrier.".to_owned(),
        },
    }
}
