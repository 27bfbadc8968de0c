//! Collects values that are out of range, each with its key.

use migsim_base::document::limited;
use migsim_base::error::{Error, Problem};

/// Collects values that are negative or not finite; `place` is the path of the case.
#[derive(Debug)]
pub(super) struct Check<'p> {
    place: &'p str,
    problems: Vec<Problem>,
}

impl<'p> Check<'p> {
    pub(super) fn new(place: &'p str) -> Self {
        Self {
            place,
            problems: Vec::new(),
        }
    }

    /// Adds a problem with a key of the case.
    pub(super) fn add(&mut self, key: &str, message: String, hint: &str) {
        let path = if self.place.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.place)
        };
        self.problems
            .push(Problem::new(message).key(path).hint(hint));
    }

    /// Adds a problem if a value is not finite or not in the range.
    pub(super) fn value(&mut self, key: &str, value: f64, range: Range) {
        let (is_right, words) = match range {
            Range::Any => (true, "finite"),
            Range::NotNegative => (value >= 0.0, "not negative"),
            Range::Positive => (value >= 1.0 / LARGEST, "positive, at least 1e-30"),
        };
        if !(is_right && value.is_finite() && value.abs() <= LARGEST) {
            self.add(
                key,
                format!("`{key}` is {value}"),
                &format!("it must be {words}, at most 1e30"),
            );
        }
    }

    /// Adds problems for the values of a list, and for a length other than `count`.
    pub(super) fn list(&mut self, key: &str, list: &[f64], count: Option<usize>, range: Range) {
        if let Some(count) = count {
            self.length(key, list.len(), count);
        }
        for (at, value) in list.iter().enumerate() {
            self.value(&format!("{key}[{at}]"), *value, range);
        }
    }

    /// Adds a problem for a length other than `count`.
    pub(super) fn length(&mut self, key: &str, found: usize, count: usize) {
        if found != count {
            let message = format!("`{key}` has {found} values, not {count}");
            self.add(
                key,
                message,
                "lists of one case have a value per host or per process",
            );
        }
    }

    /// Returns all problems as one error, if there are any.
    pub(super) fn done(self) -> Result<(), Error> {
        if self.problems.is_empty() {
            Ok(())
        } else {
            Err(Error::Input(limited(self.problems)))
        }
    }
}

/// Maximum of a number, so that sums and quotients stay finite.
const LARGEST: f64 = 1e30;

/// The range of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Range {
    Any,
    NotNegative,
    Positive,
}
