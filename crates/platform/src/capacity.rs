//! Computes the available capacity of a host or link over time, and the number of cores that other work keeps busy.
//!
//! ```text
//! capacity(t)   = base(t) · (1 - u_1(t)) · (1 - u_2(t)) · ...
//! busy cores(t) = L_0 + L_1(t) + L_2(t) + ...
//! ```
//! base(t) is the value of the profile of the host or link at time t, or the nominal capacity if the host or link has no profile.
//! `u_1(t)`, `u_2(t)`, ... are the shares of the capacity that the background loads reserve at time t. The factors are multiplied in
//! this order, so that a load yields bit for bit the same capacity as a profile whose values are these products. `L_0` is the
//! number of cores that constant loads keep busy, and `L_1(t)`, `L_2(t)`, ... those of the loads that vary.

use std::{fmt, sync::Arc};

use super::profile::{BufferedSteps, Profile};
use migsim_base::error::Error;

/// A background load on a host or link, which is the same in every run.
pub trait BackgroundLoad: fmt::Debug + Send + Sync {
    /// Returns steps (time \[s\], value) that begin at the start of the run; each value holds until the time of the next step. The
    /// value is the share of the capacity that a reservation leaves to the application, above 0 and at most 1, or the number of
    /// cores that other work keeps busy.
    fn steps(&self) -> Box<dyn BufferedSteps>;

    /// Returns the error of a wrong step that was read; the load ends before this step.
    fn fault(&self) -> Option<Error> {
        None
    }
}

/// Available capacity of a host or link over time, or the number of its busy cores: the product or the sum of a base value and
/// the values of the background loads.
#[derive(Clone, Debug)]
pub(super) struct Capacity {
    /// The base value, followed by the value of each background load.
    factors: Vec<CapacityFactor>,
    is_sum: bool,
}

#[derive(Clone, Debug)]
struct CapacityFactor {
    /// Value of the factor before its next change.
    current_value: f64,
    /// Time of the next change of the factor \[s\] and its value from then on; `None` if it never changes again.
    next_time_and_value: Option<(f64, f64)>,
    /// Iterator over the changes of the factor after the next change; `None` if the factor is constant.
    changes_after_next: Option<Box<dyn BufferedSteps>>,
}

impl CapacityFactor {
    fn new(value: f64, mut steps: Option<Box<dyn BufferedSteps>>) -> Self {
        Self {
            current_value: value,
            next_time_and_value: steps.as_mut().and_then(Iterator::next),
            changes_after_next: steps,
        }
    }
}

impl Capacity {
    /// Creates the capacity of a host or link from its nominal value, its profile and its background loads.
    pub(super) fn new(
        nominal: f64,
        profile: Option<&Profile>,
        loads: &[Arc<dyn BackgroundLoad>],
    ) -> Self {
        let base = profile.map(|profile| Box::new(profile.steps()) as Box<dyn BufferedSteps>);
        let shares = loads
            .iter()
            .map(|load| CapacityFactor::new(1.0, Some(load.steps())));
        Self {
            factors: std::iter::once(CapacityFactor::new(nominal, base))
                .chain(shares)
                .collect(),
            is_sum: false,
        }
    }

    /// Returns the changes of the capacity over time as (time \[s\], capacity); `None` if the capacity is constant.
    pub(super) fn capacity_changes(
        nominal: f64,
        profile: Option<&Profile>,
        loads: &[Arc<dyn BackgroundLoad>],
    ) -> Option<Box<dyn BufferedSteps>> {
        match (profile, loads) {
            (None, []) => None,
            (Some(profile), []) => Some(Box::new(profile.steps())),
            (None, [load]) if nominal.to_bits() == 1.0_f64.to_bits() => Some(load.steps()),
            _ => Some(Box::new(Self::new(nominal, profile, loads))),
        }
    }

    /// Returns the changes of the number of busy cores over time; `None` if `constant` cores are busy for the whole run.
    pub(super) fn busy_core_changes(
        constant: f64,
        loads: &[Arc<dyn BackgroundLoad>],
    ) -> Option<Box<dyn BufferedSteps>> {
        let busy = loads
            .iter()
            .map(|load| CapacityFactor::new(0.0, Some(load.steps())));
        match loads {
            [] => None,
            [load] if constant <= 0.0 => Some(load.steps()),
            _ => Some(Box::new(Self {
                factors: std::iter::once(CapacityFactor::new(constant, None))
                    .chain(busy)
                    .collect(),
                is_sum: true,
            })),
        }
    }
}

impl BufferedSteps for Capacity {
    fn boxed_clone(&self) -> Box<dyn BufferedSteps> {
        Box::new(self.clone())
    }
}

impl Iterator for Capacity {
    type Item = (f64, f64);

    fn next(&mut self) -> Option<(f64, f64)> {
        let date = self
            .factors
            .iter()
            .filter_map(|part| part.next_time_and_value)
            .map(|step| step.0)
            .reduce(f64::min)?;
        let mut capacity = if self.is_sum { 0.0 } else { 1.0 };
        for part in &mut self.factors {
            if let Some((_, value)) = part.next_time_and_value.filter(|step| step.0 <= date) {
                part.current_value = value;
                part.next_time_and_value =
                    part.changes_after_next.as_mut().and_then(Iterator::next);
            }
            if self.is_sum {
                capacity += part.current_value;
            } else {
                capacity *= part.current_value;
            }
        }
        Some((date, capacity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Written(&'static [(f64, f64)]);

    impl BufferedSteps for std::iter::Copied<std::slice::Iter<'static, (f64, f64)>> {
        fn boxed_clone(&self) -> Box<dyn BufferedSteps> {
            Box::new(self.clone())
        }
    }

    impl BackgroundLoad for Written {
        fn steps(&self) -> Box<dyn BufferedSteps> {
            Box::new(self.0.iter().copied())
        }
    }

    #[test]
    fn a_capacity_is_the_product_of_its_profile_and_what_each_load_leaves() {
        let profile = Profile::new(vec![(2.0, 80.0)], None).unwrap();
        let loads: [Arc<dyn BackgroundLoad>; 2] = [
            Arc::new(Written(&[(0.0, 0.5), (2.0, 0.25), (3.0, 1.0)])),
            Arc::new(Written(&[(1.0, 0.5)])),
        ];
        // 100 from the start, 80 from 2 s on; at 2 s two factors change at once.
        let capacity: Vec<_> = Capacity::new(100.0, Some(&profile), &loads).collect();
        let expected = [(0.0, 50.0), (1.0, 25.0), (2.0, 10.0), (3.0, 40.0)];
        assert_eq!(capacity, expected);
        // A copy continues from the point at which it was made.
        let mut read = Capacity::new(100.0, Some(&profile), &loads);
        assert_eq!(read.next(), Some(expected[0]));
        let copy = read.boxed_clone();
        assert_eq!(read.collect::<Vec<_>>(), expected[1..]);
        assert_eq!(copy.collect::<Vec<_>>(), expected[1..]);
        assert!(Capacity::capacity_changes(1.0, None, &[]).is_none());
        // The busy cores add up: 2 for the whole run, and those of two loads.
        let busy: Vec<_> = Capacity::busy_core_changes(2.0, &loads).unwrap().collect();
        assert_eq!(busy, [(0.0, 2.5), (1.0, 3.0), (2.0, 2.75), (3.0, 3.5)]);
        assert!(Capacity::busy_core_changes(2.0, &[]).is_none());
    }
}
