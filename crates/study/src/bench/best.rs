//! The stored best makespans of a benchmark: for each case and seed, the lowest makespan and the policy that reached it, as CSV
//! (`case,seed,policy,makespan_s`).
//!
//! The stored table has the best results of all combinations of strategies and triggers on draw 1 of the suite `lb-1`, which is a
//! random sample of cases. The table is rewritten for each version of the program in which numbers change (`best.csv` in the
//! folder of a benchmark has the same format).

use super::BestMakespans;

/// The tables of stored best makespans, each given by the name of the built-in suite, the number of the draw (random sample of
/// cases), and the content of the table as CSV.
const STORED_TABLES: [(&str, u64, &str); 1] = [(
    "lb-1",
    1,
    include_str!("../../../../workloads/lb-1-best.csv"),
)];

/// The head line of a table of stored best makespans as CSV.
pub const COLUMNS: &str = "case,seed,policy,makespan_s";

/// Returns the rows of the stored table of best makespans for a draw (numbered random sample of cases): number of the case, seed,
/// policy, and makespan \[s\]; empty if no table is stored for the draw.
pub fn stored_best_makespan_rows(
    suite: &str,
    draw: u64,
) -> impl Iterator<Item = (u64, u64, &'static str, f64)> {
    let tables = STORED_TABLES
        .iter()
        .filter(move |one| one.0 == suite && one.1 == draw);
    tables
        .flat_map(|one| one.2.lines().skip(1))
        .filter_map(|line| {
            let (case, rest) = line.split_once(',')?;
            let (seed, rest) = rest.split_once(',')?;
            let (policy, makespan) = rest.rsplit_once(',')?;
            Some((
                case.parse().ok()?,
                seed.parse().ok()?,
                policy,
                makespan.parse().ok()?,
            ))
        })
}

/// Returns the stored best makespan \[s\] for each pair of a case and a seed of a draw (numbered random sample of cases); empty
/// if no table is stored for the draw.
pub(super) fn stored_best_makespans(suite: &str, draw: u64) -> BestMakespans {
    let rows = stored_best_makespan_rows(suite, draw);
    rows.map(|(case, seed, _, makespan)| ((case, seed), makespan))
        .collect()
}
