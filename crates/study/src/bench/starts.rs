//! A row of the results for a rival that never moves a process, and that starts each case from the best static start (initial
//! placement by a built-in mapping rule).
//!
//! The best start is chosen after the runs, by its mean makespan over the seeds, and is not known before them. Therefore the
//! rival does not count for the best known makespans.

use migsim_base::error::Error;
use migsim_experiment::Registry;
use migsim_platform::MappingRule;

use super::BenchRequest;
use crate::config::Sweep;

/// The name of the row of results that stands for the best static start.
pub const BEST_START: &str = "never from the best static start";

/// Creates the sweep that runs scenario i (no rescheduling) from the initial placement of each built-in mapping rule.
///
/// # Errors
/// The seeds of the suite cannot be read.
pub(super) fn static_starts_sweep(
    request: &BenchRequest,
    registry: &Registry,
) -> Result<Sweep, Error> {
    let rules: Vec<String> = MappingRule::ALL
        .iter()
        .map(|rule| rule.name().to_owned())
        .collect();
    request.sweep_over_key(registry, "mapping", &rules, &["i"])
}
