//! Explains the duration of a superstep by the parts of the critical path (the chain of activities that determines the makespan)
//! that started in this superstep.

use crate::path_rows::{CriticalPathPart, PathRow, group_protocol_steps};
use migsim_base::{quantities::format_time, words::format_count};

/// Maximum number of parts of the critical path that are described one by one for a superstep.
const MAX_DESCRIBED_PIECES: usize = 8;

/// Share of the duration of a superstep up to which a part of the critical path is omitted as a rounding error.
const NEGLIGIBLE_SHARE: f64 = 1e-12;

/// Describes the parts of the critical path that started in superstep `number` (counted from 1), in chronological order. Of many
/// parts, only the longest are described.
pub fn describe_superstep_time(path: &[PathRow], number: u64) -> Vec<String> {
    let own = || path.iter().filter(|row| row.superstep == number);
    let whole: f64 = own().map(PathRow::duration_seconds).sum();
    let is_seen = |row: &&PathRow| row.duration_seconds() > NEGLIGIBLE_SHARE * whole;
    let own: Vec<&PathRow> = own().filter(is_seen).collect();
    if own.is_empty() {
        return vec![format!(
            "No activity that starts in superstep {number} is on the critical path, the chain of activities that determines the time of the run."
        )];
    }
    let parts: Vec<CriticalPathPart<'_>> = group_protocol_steps(&own);
    let mut longest: Vec<usize> = (0..parts.len()).collect();
    let duration = |place: &usize| parts[*place].duration_seconds;
    longest.sort_by(|a, b| duration(b).total_cmp(&duration(a)));
    longest.truncate(MAX_DESCRIBED_PIECES);
    longest.sort_unstable();
    let mut sentences = vec![format!(
        "Superstep {number} has {} of the critical path, the chain of activities that determines the time of the run:",
        format_time(whole)
    )];
    for place in longest {
        let part = &parts[place];
        let time = format_time(part.duration_seconds);
        sentences.push(format!("  {time}: {}", part.describe()));
    }
    let rest = parts.len().saturating_sub(MAX_DESCRIBED_PIECES);
    if rest > 0 {
        let rest = format_count(rest, "shorter piece");
        sentences.push(format!("  and {rest} of the path that are not listed."));
    }
    sentences
}
