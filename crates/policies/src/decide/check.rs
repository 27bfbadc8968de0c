//! Checks of the values of a case: all values that are out of range are collected with their keys and reported in one error.

use crate::strategy::refuse_problems;
use migsim_base::{
    document::limit_problems,
    error::{Problem, Result},
    words::format_count,
};

#[derive(Debug)]
pub(super) struct CaseCheck<'p> {
    case_path: &'p str,
    problems: Vec<Problem>,
}

impl<'p> CaseCheck<'p> {
    pub(super) fn new(place: &'p str) -> Self {
        Self {
            case_path: place,
            problems: Vec::new(),
        }
    }

    pub(super) fn add_problem(&mut self, key: &str, message: String, hint: &str) {
        let path = if self.case_path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.case_path)
        };
        self.problems
            .push(Problem::new(message).key(path).hint(hint));
    }

    /// Adds a problem if the value of `key` is not finite, not in the range, or larger than 1e30 in absolute value.
    pub(super) fn check_value(&mut self, key: &str, value: f64, range: AllowedRange) {
        let (is_right, words) = match range {
            AllowedRange::Any => (true, "-1e30"),
            AllowedRange::NotNegative => (value >= 0.0, "0"),
            AllowedRange::Positive => (value >= 1.0 / MAX_NUMBER, "1e-30"),
        };
        if !(is_right && value.is_finite() && value.abs() <= MAX_NUMBER) {
            self.add_problem(
                key,
                format!("`{key}` is {value}, which is out of range"),
                &format!("write a number from {words} to 1e30"),
            );
        }
    }

    /// Adds a problem for each value of the list under `key` that is out of range, and one if the list does not have `count`
    /// values.
    pub(super) fn check_list(
        &mut self,
        key: &str,
        list: &[f64],
        count: Option<usize>,
        range: AllowedRange,
    ) {
        if let Some(count) = count {
            self.check_length(key, list.len(), count);
        }
        for (at, value) in list.iter().enumerate() {
            self.check_value(&format!("{key}[{at}]"), *value, range);
        }
    }

    pub(super) fn check_length(&mut self, key: &str, found: usize, count: usize) {
        if found != count {
            self.add_problem(
                key,
                format!("`{key}` has {found} values, but needs {count}"),
                "write one value for each host in lists of hosts, and one for each process in lists of processes",
            );
        }
    }

    /// Adds a problem if `number` is not one of `count` hosts or processes, as `noun` says; `what` names the number in a sentence.
    pub(super) fn check_number(
        &mut self,
        key: &str,
        what: &str,
        number: u64,
        noun: &str,
        count: usize,
    ) {
        if number >= count as u64 {
            let last = count.saturating_sub(1);
            let counted = format_count(count.max(2), noun);
            let nouns = counted.split(' ').next_back().unwrap_or_default();
            let message = format!(
                "{what} {noun} {number}, but the last of the {count} {nouns} is {noun} {last}"
            );
            self.add_problem(key, message, &format!("count {nouns} from 0"));
        }
    }

    pub(super) fn into_result(self) -> Result {
        refuse_problems(limit_problems(self.problems))
    }
}

/// Largest absolute value of a number in a case, so that sums and quotients stay finite.
const MAX_NUMBER: f64 = 1e30;

/// The range in which a number of a case must be: any finite number, not negative, or positive (at least 1e-30).
#[derive(Clone, Copy, Debug)]
pub(super) enum AllowedRange {
    Any,
    NotNegative,
    Positive,
}
