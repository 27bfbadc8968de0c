//! A rival that never moves a process and starts from the best static start of each case, as a row among the policies.
//!
//! The best start is chosen after the runs, by its mean makespan over the seeds, and is not known before them. It therefore does
//! not count for the best known makespans.

use migsim_base::error::Error;
use migsim_experiment::Registry;
use migsim_platform::Rule;

use super::Request;
use crate::config::Sweep;

/// The name of the row of the best static start.
pub const BEST_START: &str = "never from the best static start";

/// Creates the sweep that runs scenario i from each static start.
///
/// # Errors
/// As [`Request::sweep`].
pub(super) fn starts_sweep(request: &Request, registry: &Registry) -> Result<Sweep, Error> {
    let rules: Vec<String> = Rule::ALL
        .iter()
        .map(|rule| rule.name().to_owned())
        .collect();
    request.sweep_over(registry, "mapping", &rules, &["i"])
}
