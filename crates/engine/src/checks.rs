//! Invariants of the engine. A violation is an error of this program: it is recorded where it is detected and reported at the end
//! of the superstep ([`super::Simulation::describe_first_violation`]).
//!
//! ```text
//! conserved       left(end) = amount - Σ rate · time = 0    of each execution and each flow
//! within capacity Σ_flows share · rate <= capacity          of each link, whenever rates change
//! no way back     time never decreases                      of the clock
//! ```
//! An execution is the computation of a process on a host. That time never decreases is checked in every build. Conservation and
//! capacities are checked where debug assertions are on, as in all tests.

use migsim_platform::Platform;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum InvariantViolation {
    /// An execution on the host with this number ended with work left, or executed more work than it had.
    WorkNotConserved(u32),
    /// A flow ended with bytes left, or transferred more bytes than it had.
    BytesNotConserved,
    LinkOverloaded(u32),
}

/// Tolerance within which two end times count as simultaneous, relative to the time. Work or bytes that would be finished within
/// this tolerance count as finished.
pub const END_TIME_TOLERANCE: f64 = 2e-13;
/// Rounding error that is accepted in an amount of work \[instructions\] or data \[B\], relative to the amount.
const ROUNDING_TOLERANCE: f64 = 1e-9;

/// Whether the amount `left` at the end of an activity is so small that only rounding errors explain it. `left` is what remains
/// of `amount`, which was used up at `rate` until the local time `now` \[s\]. Always true if `left` is not finite.
pub(super) fn is_explained_by_rounding(left: f64, amount: f64, rate: f64, now: f64) -> bool {
    let rounding =
        ROUNDING_TOLERANCE * amount + rate * (END_TIME_TOLERANCE * now + f64::MIN_POSITIVE);
    !left.is_finite() || left.abs() <= rounding + f64::MIN_POSITIVE
}

impl InvariantViolation {
    pub(super) fn description(self, platform: &Platform) -> String {
        match self {
            Self::WorkNotConserved(host) => format!(
                "an execution on host `{}` did not end exactly when its work was done",
                platform.hosts[host as usize].name
            ),
            Self::BytesNotConserved => {
                "a flow did not end exactly when its bytes were transferred".to_owned()
            }
            Self::LinkOverloaded(link) => format!(
                "link `{}` carried more than its capacity",
                platform.links[link as usize].name
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_by_rounding_is_nothing_and_a_millionth_is_something() {
        for (left, is_nothing) in [
            (0.0, true),
            (1e-1, true),
            (-1e-1, true),
            (1e3, false),
            (-1e3, false),
        ] {
            assert_eq!(
                is_explained_by_rounding(left, 1e9, 0.0, 0.0),
                is_nothing,
                "{left}"
            );
        }
        // At 1e12 s the tolerance of 2e-13 is 0.2 s: at 100 B/s that is 20 B.
        assert!(is_explained_by_rounding(20.0, 0.0, 100.0, 1e12));
        assert!(!is_explained_by_rounding(21.0, 0.0, 100.0, 1e12));
        // A number below the smallest normal one has too few digits for a relative tolerance, whether it is an amount or a time.
        assert!(is_explained_by_rounding(1e-308, 1e-308, 0.0, 0.0));
        assert!(is_explained_by_rounding(1e-300, 1e-295, 1e20, 1e-315));
        assert!(!is_explained_by_rounding(1e-287, 1e-287, 1e20, 1e-307));
    }
}
