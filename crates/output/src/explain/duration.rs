//! The explanation of a superstep's time: its part of the critical path, piece by piece.

use crate::path_rows::{Part, PathRow, parts};
use migsim_base::words::counted;
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

/// Describes the pieces of a critical path that started in a superstep, counted from 1, in the order of time. If there are many, only the
/// longest pieces are described.
pub fn time_of_superstep(path: &[PathRow], number: u64) -> Vec<Sentence> {
    let own: Vec<&PathRow> = path.iter().filter(|row| row.superstep == number).collect();
    let whole: f64 = own.iter().map(|row| row.seconds()).sum();
    let is_seen = |row: &&PathRow| row.seconds() > ROUNDING * whole;
    let own: Vec<&PathRow> = own.into_iter().filter(is_seen).collect();
    if own.is_empty() {
        return vec![say!(
            "Nothing that starts in superstep {} is on the critical path.",
            superstep(number)
        )];
    }
    let parts: Vec<Part<'_>> = parts(&own);
    let mut longest: Vec<usize> = (0..parts.len()).collect();
    longest.sort_by(|a, b| parts[*b].seconds.total_cmp(&parts[*a].seconds));
    longest.truncate(MOST_PIECES);
    longest.sort_unstable();
    let mut sentences = vec![say!(
        "Superstep {} takes {} of the critical path:",
        superstep(number),
        ON_PATH.of(whole)
    )];
    for place in longest {
        let part = &parts[place];
        let (seconds, words) = (part.seconds, part.words());
        sentences.push(say!("  {}: {}", PIECE.of(seconds), words));
    }
    let rest = parts.len().saturating_sub(MOST_PIECES);
    if rest > 0 {
        let rest = counted(rest, "shorter piece");
        sentences.push(say!("  and {}.", rest));
    }
    sentences
}
