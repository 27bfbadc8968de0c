//! Ranges of parameters: each stands once, where its check is made, and the message derives from it.

use std::ops::RangeInclusive;

use crate::error::{Error, Problem};
use crate::units::Seconds;

/// The shortest period of a load: a limit of this program, which follows every step.
pub(super) const SHORTEST_PERIOD: f64 = 1e-6;
/// The longest duration of a parameter \[s\], some thirty years.
pub(super) const LONGEST: f64 = 1e9;

/// Collects what is out of range.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    problems: Vec<Problem>,
}

impl Ranges {
    /// `value` must lie in `range`.
    pub(super) fn number(mut self, key: &str, value: f64, range: &RangeInclusive<f64>) -> Self {
        if !range.contains(&value) {
            let (least, most) = (range.start(), range.end());
            let hint = format!("it must be from {least} to {most}");
            self.problems.push(
                Problem::new(format!("`{key}` is {value}"))
                    .key(key)
                    .hint(hint),
            );
        }
        self
    }

    /// A duration must lie in `range` \[s\].
    pub(super) fn duration(
        mut self,
        key: &str,
        value: Seconds,
        range: &RangeInclusive<f64>,
    ) -> Self {
        if !range.contains(&value.get()) {
            let (least, most) = (range.start(), range.end());
            let hint = format!("it must be from {least:?} s to {most:?} s");
            self.problems.push(
                Problem::new(format!("`{key}` is {value}"))
                    .key(key)
                    .hint(hint),
            );
        }
        self
    }

    /// The period of a load.
    pub(super) fn period(self, value: Seconds) -> Self {
        self.duration("period", value, &(SHORTEST_PERIOD..=LONGEST))
    }

    /// All that was wrong.
    pub(super) fn check(self) -> Result<(), Error> {
        if self.problems.is_empty() {
            Ok(())
        } else {
            Err(Error::Input(self.problems))
        }
    }
}
