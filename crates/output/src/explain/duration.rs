//! Explains the duration of a superstep by the pieces of the critical path that started in it.

use crate::path_rows::{Part, PathRow, group_rows};
use migsim_base::words::counted;
use migsim_policies::explain::meanings::superstep;
use migsim_policies::explain::{Meaning, Sentence, Unit, say};

/// Maximum number of pieces of the critical path that are described one by one.
const MOST_PIECES: usize = 8;

/// A piece of the critical path is left out as a rounding error if its share of the time of the superstep is not above this
/// value.
const ROUNDING_SHARE: f64 = 1e-12;

/// Meaning of the quantity `path_s`: the time that a superstep takes on the critical path \[s\].
const ON_PATH: Meaning = Meaning::new(
    "path_s",
    Unit::Seconds,
    "the sum of the pieces of the critical path that started in the superstep",
);
/// Meaning of the quantity `piece_s`: the duration of a piece of the critical path \[s\].
const PIECE: Meaning = Meaning::new(
    "piece_s",
    Unit::Seconds,
    "the duration of a piece of the critical path",
);

/// Describes the pieces of the critical path that started in superstep `number` (counted from 1), in the order of time. If there
/// are many pieces, only the longest are described.
pub fn time_of_superstep(path: &[PathRow], number: u64) -> Vec<Sentence> {
    let own: Vec<&PathRow> = path.iter().filter(|row| row.superstep == number).collect();
    let whole: f64 = own.iter().map(|row| row.seconds()).sum();
    let is_seen = |row: &&PathRow| row.seconds() > ROUNDING_SHARE * whole;
    let own: Vec<&PathRow> = own.into_iter().filter(is_seen).collect();
    if own.is_empty() {
        return vec![say!(
            "No activity that starts in superstep {} is on the critical path.",
            superstep(number)
        )];
    }
    let parts: Vec<Part<'_>> = group_rows(&own);
    let mut longest: Vec<usize> = (0..parts.len()).collect();
    longest.sort_by(|a, b| parts[*b].seconds.total_cmp(&parts[*a].seconds));
    longest.truncate(MOST_PIECES);
    longest.sort_unstable();
    let mut sentences = vec![say!(
        "Superstep {} takes {} of the critical path:",
        superstep(number),
        ON_PATH.with_value(whole)
    )];
    for place in longest {
        let part = &parts[place];
        let (seconds, words) = (part.seconds, part.describe());
        sentences.push(say!("  {}: {}", PIECE.with_value(seconds), words));
    }
    let rest = parts.len().saturating_sub(MOST_PIECES);
    if rest > 0 {
        let rest = counted(rest, "shorter piece");
        sentences.push(say!("  and {}.", rest));
    }
    sentences
}
