//! Collects values of a case that are out of range, each with its key, so that one error reports all.

use migsim_base::document::limited;
use migsim_base::error::{Error, Problem};

/// Collects the invalid values of a case; `place` is the path of the case in the document.
#[derive(Debug)]
pub(super) struct Check<'p> {
    case_path: &'p str,
    problems: Vec<Problem>,
}

impl<'p> Check<'p> {
    pub(super) fn new(place: &'p str) -> Self {
        Self {
            case_path: place,
            problems: Vec::new(),
        }
    }

    /// Adds a problem of the value under `key`, with a hint how to correct it.
    pub(super) fn add_problem(&mut self, key: &str, message: String, hint: &str) {
        let path = if self.case_path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.case_path)
        };
        self.problems
            .push(Problem::new(message).key(path).hint(hint));
    }

    /// Adds a problem if the value under `key` is not finite or not in the range.
    pub(super) fn check_value(&mut self, key: &str, value: f64, range: Range) {
        let (is_right, words) = match range {
            Range::Any => (true, "finite"),
            Range::NotNegative => (value >= 0.0, "not negative"),
            Range::Positive => (value >= 1.0 / MAX_NUMBER, "positive, at least 1e-30"),
        };
        if !(is_right && value.is_finite() && value.abs() <= MAX_NUMBER) {
            self.add_problem(
                key,
                format!("`{key}` is {value}"),
                &format!("it must be {words}, at most 1e30"),
            );
        }
    }

    /// Adds a problem for each value of a list that is not in the range, and for a length of the list other than `count`.
    pub(super) fn check_list(
        &mut self,
        key: &str,
        list: &[f64],
        count: Option<usize>,
        range: Range,
    ) {
        if let Some(count) = count {
            self.check_length(key, list.len(), count);
        }
        for (at, value) in list.iter().enumerate() {
            self.check_value(&format!("{key}[{at}]"), *value, range);
        }
    }

    /// Adds a problem if the length `found` of the list under `key` is not `count`.
    pub(super) fn check_length(&mut self, key: &str, found: usize, count: usize) {
        if found != count {
            let message = format!("`{key}` has {found} values, not {count}");
            self.add_problem(
                key,
                message,
                "give each list of a case one value per host, or one per process",
            );
        }
    }

    /// Returns all collected problems as one error, or `Ok` if there are none.
    pub(super) fn finish(self) -> Result<(), Error> {
        if self.problems.is_empty() {
            Ok(())
        } else {
            Err(Error::Input(limited(self.problems)))
        }
    }
}

/// Largest absolute value of a number in a case, so that sums and quotients stay finite.
const MAX_NUMBER: f64 = 1e30;

/// The range that a value of a case must be in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Range {
    Any,
    NotNegative,
    Positive,
}
