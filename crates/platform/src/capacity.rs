//! The available capacity of a host or link over time: its profile, reduced by background load.
//!
//! ```text
//! capacity(t) = base(t) · (1 - u_1(t)) · (1 - u_2(t)) · ...
//! ```
//! The base is the profile, or the nominal value if there is none; u is a load. The product is computed in this order, so that a load gives
//! the same bits as a profile with the products written out.

use std::fmt;
use std::sync::Arc;

use super::profile::{Profile, StepsAhead};

/// The share of a host or link that other users take; the same in every run.
pub trait Background: fmt::Debug + Send + Sync {
    /// Returns the share of the capacity that is left, above 0 and at most 1, from the start of a run on.
    fn shares(&self) -> Box<dyn StepsAhead>;
}

/// A capacity over time: the product of its parts.
#[derive(Clone, Debug)]
pub(super) struct Capacity {
    parts: Vec<Part>,
}

/// A factor of a capacity.
#[derive(Clone, Debug)]
struct Part {
    value: f64,
    next: Option<(f64, f64)>,
    /// The values of the factor over time; none if it is constant.
    steps: Option<Box<dyn StepsAhead>>,
}

impl Part {
    fn new(value: f64, mut steps: Option<Box<dyn StepsAhead>>) -> Self {
        Self {
            value,
            next: steps.as_mut().and_then(Iterator::next),
            steps,
        }
    }
}

impl Capacity {
    /// Creates the capacity of a host or link of nominal capacity `nominal`.
    pub(super) fn new(
        nominal: f64,
        profile: Option<&Profile>,
        loads: &[Arc<dyn Background>],
    ) -> Self {
        let base = profile.map(|profile| Box::new(profile.steps()) as Box<dyn StepsAhead>);
        let shares = loads.iter().map(|load| Part::new(1.0, Some(load.shares())));
        Self {
            parts: std::iter::once(Part::new(nominal, base))
                .chain(shares)
                .collect(),
        }
    }

    /// Returns this capacity over time, or none if it is constant.
    pub(super) fn steps(
        nominal: f64,
        profile: Option<&Profile>,
        loads: &[Arc<dyn Background>],
    ) -> Option<Box<dyn StepsAhead>> {
        match (profile, loads) {
            (None, []) => None,
            (Some(profile), []) => Some(Box::new(profile.steps())),
            (None, [load]) if nominal.to_bits() == 1.0_f64.to_bits() => Some(load.shares()),
            _ => Some(Box::new(Self::new(nominal, profile, loads))),
        }
    }
}

impl StepsAhead for Capacity {
    fn boxed_clone(&self) -> Box<dyn StepsAhead> {
        Box::new(self.clone())
    }
}

impl Iterator for Capacity {
    type Item = (f64, f64);

    fn next(&mut self) -> Option<(f64, f64)> {
        let dates = self.parts.iter().filter_map(|part| part.next);
        let date = dates.map(|step| step.0).reduce(f64::min)?;
        let mut capacity = 1.0;
        for part in &mut self.parts {
            if let Some((_, value)) = part.next.filter(|step| step.0 <= date) {
                part.value = value;
                part.next = part.steps.as_mut().and_then(Iterator::next);
            }
            capacity *= part.value;
        }
        Some((date, capacity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Written(&'static [(f64, f64)]);

    impl StepsAhead for std::iter::Copied<std::slice::Iter<'static, (f64, f64)>> {
        fn boxed_clone(&self) -> Box<dyn StepsAhead> {
            Box::new(self.clone())
        }
    }

    impl Background for Written {
        fn shares(&self) -> Box<dyn StepsAhead> {
            Box::new(self.0.iter().copied())
        }
    }

    #[test]
    fn a_capacity_is_the_product_of_its_profile_and_what_each_load_leaves() {
        let profile = Profile::new(vec![(2.0, 80.0)], None).unwrap();
        let loads: [Arc<dyn Background>; 2] = [
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
        assert!(Capacity::steps(1.0, None, &[]).is_none());
    }
}
