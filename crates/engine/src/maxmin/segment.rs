//! The fair-share level of one link, computed as the root of a piecewise linear equation.

use super::solve::MAX_FAIR_SHARE_LEVEL;
use migsim_base::units::{greater, lesser};

/// Ratio of load to capacity up to which a link counts as unsaturated if all its flows are limited by their maximum rates or by
/// other links. For example, the maximum rates of the flows may add up to the capacity of the link.
const MAX_LOAD_RATIO_OF_UNSATURATED: f64 = 1.0 + 1e-14;

/// A linear segment of the load on a link as a function of its fair-share level. The load has a constant part, from groups whose
/// ceiling is below the segment, and a part that grows with the level.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadSegment {
    constant_load: f64,
    slope: f64,
    lower_level: f64,
    upper_level: f64,
}

impl Default for LoadSegment {
    fn default() -> Self {
        Self {
            constant_load: 0.0,
            slope: 0.0,
            lower_level: f64::NEG_INFINITY,
            upper_level: f64::INFINITY,
        }
    }
}

impl LoadSegment {
    /// Returns the linear segment of the load that contains `level`, and the number of groups whose ceiling is below the level.
    #[inline]
    fn find_at_level(level: f64, loads: impl Iterator<Item = (f64, f64)>) -> (Self, usize) {
        let mut segment = Self::default();
        let mut count = 0;
        for (pull, ceiling) in loads {
            let is_below = ceiling < level;
            let (low, high) = if is_below {
                (ceiling, f64::INFINITY)
            } else {
                (f64::NEG_INFINITY, ceiling)
            };
            segment.constant_load += if is_below { pull * ceiling } else { 0.0 };
            segment.slope += if is_below { 0.0 } else { pull };
            count += usize::from(is_below);
            segment.lower_level = if low > segment.lower_level {
                low
            } else {
                segment.lower_level
            };
            segment.upper_level = lesser(high, segment.upper_level);
        }
        (segment, count)
    }

    /// Adds a group whose load rises only up to the level `ceiling`, below this segment: its load, `pull` · `ceiling`, is constant in the segment.
    #[inline]
    pub(super) fn add_constant_load(&mut self, pull: f64, ceiling: f64) {
        self.constant_load += pull * ceiling;
        self.lower_level = greater(self.lower_level, ceiling);
    }

    /// Adds to the rising part of the load a group whose load rises throughout the segment, up to the level `ceiling`.
    #[inline]
    pub(super) fn add_rising_load(&mut self, pull: f64, ceiling: f64) {
        self.slope += pull;
        self.upper_level = lesser(self.upper_level, ceiling);
    }

    /// Returns the lower end of the segment, which is the highest ceiling of the groups added to the constant part of the load.
    pub(super) fn lower_end_level(&self) -> f64 {
        self.lower_level
    }

    /// Returns the fair-share level of a link with this capacity \[B/s\], or infinity if the link is unsaturated; `None` if the
    /// level is not on this segment.
    #[inline]
    pub(super) fn level_for_capacity(&self, capacity: f64) -> Option<f64> {
        if self.slope <= 0.0 {
            return (self.constant_load <= capacity * MAX_LOAD_RATIO_OF_UNSATURATED)
                .then_some(f64::INFINITY);
        }
        let level = (capacity - self.constant_load) / self.slope;
        self.contains_level(level)
            .then(|| lesser(level, MAX_FAIR_SHARE_LEVEL))
    }

    fn contains_level(&self, level: f64) -> bool {
        self.lower_level < level && level <= self.upper_level
    }
}

/// Returns the fair-share level of a link and the demand of its groups on the link \[B/s\]; each load in `loads` rises by its first
/// number per unit of the level, up to the level that is its second number. The level is infinite if the link is
/// unsaturated; otherwise the demand is the capacity.
///
/// The level is computed by Newton's method. The load is a concave, piecewise linear function of the level. From any start
/// (`from`, the previous level of the link), the first step leads to the result or below it; further steps climb segment by
/// segment, and the last segment gives the exact result. A level beyond the largest number (1e307 B/s times a weight of 1e60 s)
/// is replaced by the maximum fair-share level, because a load that rises so high reaches its bound before.
#[inline]
pub(super) fn find_link_level_and_demand(
    capacity: f64,
    loads: &(impl Iterator<Item = (f64, f64)> + Clone),
    from: f64,
) -> (f64, f64) {
    let full = capacity * MAX_LOAD_RATIO_OF_UNSATURATED;
    let (mut segment, mut below) = LoadSegment::find_at_level(from, loads.clone());
    if segment.slope <= 0.0 {
        // The demand does not grow above this level.
        if segment.constant_load <= full {
            return (f64::INFINITY, segment.constant_load);
        }
        (segment, below) = LoadSegment::find_at_level(0.0, loads.clone());
    }
    let mut climbs = false;
    loop {
        let level = (capacity - segment.constant_load) / segment.slope;
        if segment.contains_level(level) {
            return (lesser(level, MAX_FAIR_SHARE_LEVEL), capacity);
        }
        let (next, next_below) = LoadSegment::find_at_level(level, loads.clone());
        if climbs && next_below < below {
            // Rounding put the level below the segment that it is on.
            return (level.max(segment.lower_level), capacity);
        }
        if next.slope <= 0.0 {
            if next.constant_load > full {
                return (level, capacity);
            }
            return (f64::INFINITY, next.constant_load);
        }
        (segment, below, climbs) = (next, next_below, true);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Ceilings, many of which are equal or infinite.
    fn ceilings() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => (0_u8..6).prop_map(f64::from),
            1 => 0.0..6.0_f64,
            2 => Just(f64::INFINITY),
        ]
    }

    proptest! {
        #[test]
        fn a_piece_tells_the_level_of_a_link_to_the_bit_unless_a_ceiling_is_between(
            groups in prop::collection::vec((0.1..3.0_f64, ceilings()), 0..8),
            capacity in prop_oneof![(0_u8..40).prop_map(f64::from), 0.0..40.0_f64],
            from in ceilings(),
        ) {
            let mut segment = LoadSegment::default();
            for &(pull, ceiling) in &groups {
                if ceiling < from {
                    segment.add_constant_load(pull, ceiling);
                } else {
                    segment.add_rising_load(pull, ceiling);
                }
            }
            let (level, _) = find_link_level_and_demand(capacity, &groups.iter().copied(), from);
            if let Some(told) = segment.level_for_capacity(capacity) {
                prop_assert_eq!(told.to_bits(), level.to_bits());
            } else {
                let between = lesser(level, from)..=greater(level, from);
                prop_assert!(groups.iter().any(|(_, ceiling)| between.contains(ceiling)));
            }
        }
    }
}
