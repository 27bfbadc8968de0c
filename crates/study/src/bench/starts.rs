//! The rival that never moves, from the best of the static starts of each case, as a row among the policies.
//!
//! The best start is chosen after the runs, by the mean over the seeds: nobody knows it beforehand. It is no part of the best known.

use migsim_base::error::Error;
use migsim_experiment::Registry;
use migsim_platform::Rule;

use super::Request;
use crate::config::Sweep;

/// The name of the row.
pub const BEST_START: &str = "never from the best static start";

/// The sweep of scenario i from each static start.
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
