//! The clock of simulated time, whose current instant has two parts: an origin, and the local time since the origin.
//!
//! Inside a superstep all times are local times. Equal supersteps therefore have equal durations to the last bit, at any time of
//! the run, and short durations keep their digits in a long run. While no activity is in progress, the local time can be added to
//! the origin ([`Clock::move_origin_to_now`]).

use migsim_base::units::Time;

/// Tolerance within which two events count as simultaneous, relative to the local time; it is needed because activities that
/// should end at the same time may differ by rounding errors.
pub(super) const SAME_TIME_TOLERANCE: f64 = 1e-14;

/// Returns the last local time \[s\] that counts as simultaneous with the local time `date` \[s\]; finite if `date` is finite.
#[inline]
pub(super) fn last_simultaneous_time(date: f64) -> f64 {
    (date * (1.0 + SAME_TIME_TOLERANCE)).min(f64::MAX.max(date))
}

/// The clock of simulated time, which never runs backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Clock {
    origin: f64,
    local_time: f64,
    has_rejected_earlier_time: bool,
}

impl Clock {
    #[inline]
    pub(crate) fn now(self) -> Time {
        Time::new(self.origin + self.local_time).expect("the sum of two dates is a date")
    }

    /// Returns the local time, which is the time since the origin of the clock \[s\].
    pub(crate) fn local_time(self) -> f64 {
        self.local_time
    }

    /// Converts an absolute time \[s\] into a local time \[s\]; a time before the origin becomes 0.
    pub(crate) fn to_local(self, absolute: f64) -> f64 {
        (absolute - self.origin).max(0.0)
    }

    /// Whether the origin of the clock plus the local time `date` \[s\] is a finite number.
    pub(crate) fn is_absolute_time_finite(self, date: f64) -> bool {
        (self.origin + date).is_finite()
    }

    /// Advances the clock to local time `date` \[s\].
    ///
    /// If `date` is earlier than the current time, the clock does not change. A fault is then recorded, unless the difference is
    /// at most the accepted rounding error (1e-12 of the current local time).
    pub(crate) fn advance_to(&mut self, date: f64) {
        let is_later = date >= self.local_time * (1.0 - 1e-12); // not so for a date that is no number
        self.has_rejected_earlier_time |= !is_later;
        self.local_time = self.local_time.max(date);
    }

    /// Whether any call has tried to set the clock to an earlier time, by more than rounding errors.
    pub(crate) fn has_rejected_earlier_time(self) -> bool {
        self.has_rejected_earlier_time
    }

    /// Makes the current instant the new origin of the clock, so that the local time becomes 0.
    pub(crate) fn move_origin_to_now(&mut self) {
        self.origin += self.local_time;
        self.local_time = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rebasing_changes_the_local_time_but_not_the_instant() {
        let mut clock = Clock::default();
        clock.advance_to(2.5);
        let before = clock.now();
        clock.move_origin_to_now();
        assert_eq!((clock.now(), clock.local_time()), (before, 0.0));
        assert_eq!(clock.to_local(4.0), 1.5);
    }

    #[test]
    fn what_counts_as_a_date_is_a_little_later_and_never_for_ever() {
        assert!(
            last_simultaneous_time(1.0) > 1.0
                && last_simultaneous_time(1.0) < 1.0 + 2.0 * SAME_TIME_TOLERANCE
        );
        for date in [0.0, f64::MAX, f64::INFINITY] {
            assert_eq!(last_simultaneous_time(date), date);
        }
    }

    #[test]
    fn a_date_that_has_passed_is_refused_and_noted() {
        let mut clock = Clock::default();
        clock.advance_to(2.0);
        clock.advance_to(2.0 * (1.0 - 1e-13));
        assert!(!clock.has_rejected_earlier_time());
        for past in [1.9, f64::NAN] {
            let mut clock = clock;
            clock.advance_to(past);
            assert_eq!(
                (clock.local_time(), clock.has_rejected_earlier_time()),
                (2.0, true)
            );
        }
    }
}
