//! Checks the values of options of applications.

use std::{fmt::Display, ops::RangeInclusive};

use migsim_base::{
    error::{Error, Problem, Result},
    units::{CYCLES, CYCLES_HINT},
    words::percent_hint,
};

/// Returns a problem if the number of the option `key` is 0 or above `most`.
pub(super) fn count_problem(key: &str, value: u64, most: u64) -> Option<Problem> {
    let hint = format!("choose a number from 1 to {most}");
    (value == 0 || value > most).then(|| out_of_range_problem(key, value, hint))
}

/// Returns a problem if the value of the option `key` is not within a range.
pub(super) fn range_problem(key: &str, value: f64, range: RangeInclusive<f64>) -> Option<Problem> {
    let share = percent_hint(value).filter(|_| *range.end() <= 1.0);
    let share = share.map_or_else(String::new, |share| format!(": {share}"));
    let hint = format!(
        "choose a number from {} to {}{share}",
        range.start(),
        range.end()
    );
    (!range.contains(&value)).then(|| out_of_range_problem(key, value, hint))
}

pub(super) fn cycles_problem(cycles: f64) -> Option<Problem> {
    let key = "cycles_per_instruction";
    (!CYCLES.contains(&cycles)).then(|| out_of_range_problem(key, cycles, CYCLES_HINT))
}

fn out_of_range_problem(key: &str, value: impl Display, hint: impl Into<String>) -> Problem {
    Problem::new(format!("`{key}` is {value}, which is out of range"))
        .key(format!("workload.{key}"))
        .hint(hint)
}

pub(super) fn refuse_any<const N: usize>(problems: [Option<Problem>; N]) -> Result {
    let problems: Vec<Problem> = problems.into_iter().flatten().collect();
    Error::unless_empty(problems)
}
