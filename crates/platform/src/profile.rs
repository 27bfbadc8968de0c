//! A profile: a speed, bandwidth or latency that changes over time, in steps `(time, value)` that happen once or repeat with a
//! period.
//!
//! The value of a step holds until the next step; before the first step, the nominal value holds. The value of a speed profile
//! multiplies the speed of the host; the values of bandwidth and latency profiles replace the bandwidth and latency of the link.
//! These rules are the rules of SimGrid, which the notes on the reference cases describe (`tests/oracle/README.md`).

use std::{fmt, sync::Arc};

use migsim_base::{error::Problem, units::Seconds};

/// Minimum period after which a profile may repeat \[s\]. The limit exists because the program simulates every step.
pub const SHORTEST_PERIOD: f64 = 1e-6;
/// Maximum value of a step of a profile, in the unit of the value: B/s for a bandwidth, s for a latency, 1 for a fraction.
const MAX_VALUE: f64 = 1e21;

/// A sequence of steps, generated on demand: increasing times \[s\], each with the value that holds from this time on.
pub trait Steps: Iterator<Item = (f64, f64)> + fmt::Debug + Send + Sync {}

impl<T: Iterator<Item = (f64, f64)> + fmt::Debug + Send + Sync> Steps for T {}

/// A sequence of steps of which some may already be computed, so that a caller can apply several steps in one operation.
pub trait BufferedSteps: Steps {
    /// Returns a copy of this sequence at the same position, in a box.
    fn boxed_clone(&self) -> Box<dyn BufferedSteps>;

    /// Returns the steps after the present position that are already computed, beginning with the next step; empty if no further
    /// step is computed yet.
    fn computed_steps(&self) -> &[(f64, f64)] {
        &[]
    }

    /// Skips the next `count` steps, which must be among the steps that [`Self::computed_steps`] returned.
    fn skip_steps(&mut self, count: usize) {
        for _ in 0..count {
            self.next();
        }
    }
}

/// A profile: a value that changes over time in steps. Clones share the stored steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile(Arc<Schedule>);

#[derive(Clone, Debug, PartialEq)]
struct Schedule {
    /// Times \[s\] and values of the steps.
    steps: Vec<(f64, f64)>,
    /// Time after which the steps repeat \[s\]; `None` if they happen once.
    period: Option<f64>,
}

impl Profile {
    /// Creates a profile from its `steps` (time in seconds since the start of the run, and value), which repeat every `period`
    /// seconds if a period is given.
    ///
    /// # Errors
    /// A time or value is out of range, times do not increase, or the period is shorter than a microsecond or than the last time.
    pub fn new(steps: Vec<(f64, f64)>, period: Option<f64>) -> Result<Self, Problem> {
        for (index, &(date, value)) in steps.iter().enumerate() {
            if !Seconds::RANGE.contains(&date) {
                return Err(Problem::new(format!(
                    "the time of step {} is {date}; it must be a number of seconds that is not negative",
                    index + 1
                )));
            }
            if !(0.0..=MAX_VALUE).contains(&value) {
                return Err(Problem::new(format!(
                    "the value of step {} is {value}; it must be from 0 to {MAX_VALUE:e}",
                    index + 1
                )));
            }
            if index > 0 && date <= steps[index - 1].0 {
                return Err(Problem::new(format!(
                    "the time of step {} is {date}; it must be later than that of the previous step, {}",
                    index + 1,
                    steps[index - 1].0
                )));
            }
        }
        if let Some(period) = period {
            let last = steps.last().map_or(0.0, |step| step.0);
            if !period.is_finite() || period < SHORTEST_PERIOD || period < last {
                return Err(Problem::new(format!(
                    "the period of the profile is {period:?} s; it must be at least {SHORTEST_PERIOD:?} s, and not shorter than the time of the last step, {last:?} s"
                )));
            }
        }
        Ok(Self(Arc::new(Schedule { steps, period })))
    }

    /// Returns the time \[s\] and value of the step with index `index`, counted from 0 through all repetitions; `None` after the
    /// last step of a profile without a period. Times never decrease: rounding cannot put the end of a repetition after the start
    /// of the next repetition.
    pub fn step(&self, index: usize) -> Option<(f64, f64)> {
        let count = self.0.steps.len();
        (count > 0).then(|| self.step_in_repetition(index / count, index % count))?
    }

    /// Returns the time \[s\] and value of the step with index `place` in the repetition `round`, both counted from 0; `None` if
    /// the profile has no such step.
    fn step_in_repetition(&self, round: usize, place: usize) -> Option<(f64, f64)> {
        let Schedule { steps, period } = &*self.0;
        let (date, value) = *steps.get(place)?;
        match (round, *period) {
            (0, _) => Some((date, value)),
            (_, None) => None,
            (round, Some(period)) => {
                let round = round as f64;
                let next = steps[0].0 + (round + 1.0) * period;
                Some(((date + round * period).min(next), value))
            }
        }
    }

    /// Returns the steps of the profile without their repetitions, each with its time \[s\] and value.
    pub fn steps_without_repetition(&self) -> &[(f64, f64)] {
        &self.0.steps
    }

    /// Returns the time after which the steps repeat \[s\]; `None` if they happen once.
    pub fn period(&self) -> Option<f64> {
        self.0.period
    }

    /// Returns a copy of the profile with all values multiplied by `factor`, which must not be negative.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let steps = self.steps_without_repetition().iter();
        Self(Arc::new(Schedule {
            steps: steps.map(|(date, value)| (*date, value * factor)).collect(),
            period: self.period(),
        }))
    }

    /// Returns an iterator over all steps of the profile, including repetitions, from the first step on.
    pub fn steps(&self) -> ProfileSteps {
        ProfileSteps {
            profile: self.clone(),
            repetition: 0,
            index_in_repetition: 0,
        }
    }
}

/// Iterator over the changes of a profile with its repetitions: time \[s\] and value.
#[derive(Clone, Debug)]
pub struct ProfileSteps {
    profile: Profile,
    /// Repetition of the profile that contains the next step, counted from 0.
    repetition: usize,
    /// Index of the next step within its repetition, counted from 0.
    index_in_repetition: usize,
}

impl ProfileSteps {
    /// Skips to the last step whose time `is_due` accepts, and returns its time \[s\] and value; if the next step is not
    /// accepted, returns `None` and keeps the position. If `is_due` accepts a time, it must accept all earlier times.
    pub fn skip_to_last_due_step(&mut self, is_due: impl Fn(f64) -> bool) -> Option<(f64, f64)> {
        let count = self.profile.steps_without_repetition().len();
        let begin = self.repetition * count + self.index_in_repetition;
        let is_due = |index: usize| self.profile.step(index).is_some_and(|step| is_due(step.0));
        // All changes before `due` are due; a change `far` after it is not.
        let mut due = begin;
        let mut far = 1;
        while is_due(due + far - 1) {
            (due, far) = (due + far, 2 * far);
        }
        while far > 1 {
            let half = far / 2;
            if is_due(due + half - 1) {
                due += half;
                far -= half;
            } else {
                far = half;
            }
        }
        let last = (due > begin).then(|| due - 1)?;
        (self.repetition, self.index_in_repetition) = (last / count, last % count);
        self.next()
    }
}

impl BufferedSteps for ProfileSteps {
    fn boxed_clone(&self) -> Box<dyn BufferedSteps> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn BufferedSteps> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

impl Iterator for ProfileSteps {
    type Item = (f64, f64);

    fn next(&mut self) -> Option<(f64, f64)> {
        let step = self
            .profile
            .step_in_repetition(self.repetition, self.index_in_repetition);
        self.index_in_repetition += 1;
        if self.index_in_repetition >= self.profile.steps_without_repetition().len() {
            (self.repetition, self.index_in_repetition) = (self.repetition + 1, 0);
        }
        step
    }
}

/// The integral over time of a value that changes in steps, from time 0 s on. The integral can only be evaluated at times that
/// never decrease.
#[derive(Debug)]
pub struct StepFunctionIntegral {
    steps: Box<dyn Steps>,
    /// Time \[s\] and value of the next step; `None` after the last step.
    next_step: Option<(f64, f64)>,
    /// Time of the last step that has been included in `sum` \[s\].
    last_step_time: f64,
    /// Value from the last included step on, until the next step.
    current_value: f64,
    /// Integral from time 0 s to the last included step \[unit of the value · s\].
    integral_so_far: f64,
}

impl StepFunctionIntegral {
    /// Creates the integral of a value over time; the value is `nominal` before the first of the `steps`.
    pub fn new(nominal: f64, mut steps: Box<dyn Steps>) -> Self {
        Self {
            next_step: steps.next(),
            steps,
            last_step_time: 0.0,
            current_value: nominal,
            integral_so_far: 0.0,
        }
    }

    /// Returns the integral from time 0 s to the time `date` \[s\], in the unit of the value times seconds. The times of
    /// successive calls must not decrease.
    pub fn integrate_until(&mut self, date: f64) -> f64 {
        while let Some((change, value)) = self.next_step.filter(|next| next.0 <= date) {
            self.integral_so_far += self.current_value * (change - self.last_step_time);
            (self.last_step_time, self.current_value) = (change, value);
            self.next_step = self.steps.next();
        }
        self.integral_so_far + self.current_value * (date - self.last_step_time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_a_round_that_ends_where_the_next_one_starts_do_not_fall() {
        let period = 110.015;
        let profile = Profile::new(vec![(0.0, 1.0), (period, 0.5)], Some(period)).unwrap();
        let dates = (0..1000).map(|index| profile.step(index).unwrap().0);
        assert!(dates.is_sorted());
    }

    #[test]
    fn to_skip_is_to_go_step_by_step() {
        let some = [(0.5, 1.0), (1.0, 2.0), (1.75, 3.0)];
        for period in [None, Some(2.0), Some(1.75)] {
            for count in 0..=some.len() {
                let profile = Profile::new(some[..count].to_vec(), period).unwrap();
                let [mut skipping, mut walking] = [profile.steps(), profile.steps()];
                for until in [0.25, 0.5, 0.75, 3.5, 3.5, 4.0, 77.0, 77.25, 1000.0] {
                    let is_due = |step: &(f64, f64)| step.0 <= until;
                    let mut last = None;
                    while walking.clone().next().as_ref().is_some_and(is_due) {
                        last = walking.next();
                    }
                    assert_eq!(skipping.skip_to_last_due_step(|date| date <= until), last);
                }
                assert_eq!(skipping.next(), walking.next());
            }
        }
    }

    #[test]
    fn without_a_period_the_last_value_holds() {
        let profile = Profile::new(vec![(3.0, 0.5)], None).unwrap();
        assert_eq!(profile.step(0), Some((3.0, 0.5)));
        assert_eq!(profile.step(1), None);
    }

    #[test]
    fn the_integral_is_taken_over_the_steps_and_their_repetitions() {
        let once = Profile::new(vec![(10.0, 0.5), (30.0, 0.0)], None).unwrap();
        let mut integral = StepFunctionIntegral::new(1.0, Box::new(once.steps()));
        // 10 s of 1, 20 s of 0.5, then 0 for ever.
        let dates = [5.0, 10.0, 20.0, 30.0, 30.0, 90.0];
        let found = dates.map(|date| integral.integrate_until(date));
        assert_eq!(found, [5.0, 10.0, 15.0, 20.0, 20.0, 20.0]);
        // 1 s of 0.5 and 3 s of 0.25, repeated, from 1 s on.
        let again = Profile::new(vec![(1.0, 0.5), (2.0, 0.25)], Some(4.0)).unwrap();
        let mut integral = StepFunctionIntegral::new(1.0, Box::new(again.steps()));
        assert_eq!(integral.integrate_until(1.0), 1.0);
        assert_eq!(integral.integrate_until(4001.0), 1.0 + 1000.0 * 1.25);
    }
}
