//! The stored best makespans of a benchmark: for each case and seed, the lowest makespan and the policy that reached it, as CSV
//! (`case,seed,policy,makespan_s`).
//!
//! The stored table has the best results of all combinations of strategies and triggers on draw 1 of the suite `lb-1`, which is a
//! random sample of cases. The table is rewritten for each version of the program in which numbers change (`best.csv` in the
//! folder of a benchmark has the same format).

/// Returns the rows of the stored table of best makespans for a draw (numbered random sample of cases): number of the case, seed,
/// policy, and makespan \[s\]; empty if no table is stored for the draw.
///
/// # Panics
/// The stored table has an incomplete row.
pub fn stored_best_makespan_rows(suite: &str, draw: u64) -> Vec<(u64, u64, String, f64)> {
    let table = match (suite, draw) {
        ("lb-1", 1) => include_str!("../../../../workloads/lb-1-best.csv"),
        _ => "",
    };
    let mut table = csv::Reader::from_reader(table.as_bytes());
    table
        .deserialize()
        .map(|row| row.expect("the stored table is complete"))
        .collect()
}
