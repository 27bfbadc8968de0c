//! Checks that parameters of loads are in range. Each range is defined once, at its check, and the error message states it.

use std::ops::RangeInclusive;

pub(super) use crate::SHORTEST_PERIOD;
use migsim_base::{
    error::{Error, Problem, Result},
    units::Seconds,
    words::percent_hint,
};

/// Maximum duration that a parameter of a load may have \[s\], about thirty years.
pub(super) const MAX_DURATION: f64 = 1e9;

/// Returns the hint that `value` should be in `range`.
pub(super) fn range_hint(value: f64, range: &RangeInclusive<f64>) -> String {
    let hint = format!("choose a value from {} to {}", range.start(), range.end());
    match percent_hint(value).filter(|_| *range.end() <= 1.0) {
        Some(share) => format!("{hint}: {share}"),
        None => hint,
    }
}

/// Checks of the parameters of a background load against their ranges, with the errors found so far.
#[derive(Default)]
pub(super) struct ParameterChecks {
    problems: Vec<Problem>,
}

impl ParameterChecks {
    pub(super) fn check_number(self, key: &str, value: f64, range: &RangeInclusive<f64>) -> Self {
        let hint = range_hint(value, range);
        self.add_problem_unless(range.contains(&value), key, &value.to_string(), hint)
    }

    /// Checks that the number `value` of the parameter `key` is a load.
    pub(super) fn check_load(self, key: &str, value: f64) -> Self {
        self.check_number(key, value, &(0.0..=1.0))
    }

    /// Checks that the duration `value` of the parameter `key` lies in `range` \[s\].
    pub(super) fn check_duration(
        self,
        key: &str,
        value: Seconds,
        range: &RangeInclusive<f64>,
    ) -> Self {
        let least = range.start();
        let most = range.end();
        let hint = format!("choose a time from {least:?} s to {most:?} s");
        self.add_problem_unless(range.contains(&value.get()), key, &value.to_string(), hint)
    }

    fn add_problem_unless(mut self, is_right: bool, key: &str, value: &str, hint: String) -> Self {
        if !is_right {
            let problem = Problem::new(format!("`{key}` is {value}, which is out of range"));
            self.problems.push(problem.key(key).hint(hint));
        }
        self
    }

    /// Checks that the parameter `period` of a load is at least [`SHORTEST_PERIOD`] and at most the maximum duration of a
    /// parameter.
    pub(super) fn check_period(self, value: Seconds) -> Self {
        self.check_duration("period", value, &(SHORTEST_PERIOD..=MAX_DURATION))
    }

    /// Returns success if all checked parameters are in range, otherwise all problems found so far as one error.
    pub(super) fn into_result(self) -> Result {
        Error::unless_empty(self.problems)
    }
}
