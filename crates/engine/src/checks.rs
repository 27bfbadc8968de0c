//! Invariants of the engine. A violation is a fault of this program: it is recorded where it is detected and reported at the end of the
//! superstep ([`super::Simulation::fault`]).
//!
//! ```text
//! conserved       left(end) = amount - Σ rate · time = 0    of each execution and each flow
//! within capacity Σ_flows share · rate <= capacity          of each link, whenever rates change
//! no way back     time never decreases                      of the clock
//! ```
//! The last invariant is checked in every build, the others where debug assertions are on, as in all tests.

use migsim_platform::Platform;

/// The place where an invariant was broken first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    /// An execution on this host ended with work left, or did more work than it had.
    Work(u32),
    /// A flow ended with bytes left, or moved more bytes than it had.
    Bytes,
    /// A link carried more than its capacity.
    Overload(u32),
}

/// Tolerance within which two ends count as simultaneous, relative to the time. Work or bytes left within this tolerance are no loss.
pub const DATE_SLACK: f64 = 2e-13;
/// Tolerance of rounding in an amount, relative to the amount.
const ROUNDING: f64 = 1e-9;

/// Whether `left` of an `amount` that was used up at `rate` is only rounding, at an end at local time `now`. Amounts and times near the
/// limits of floating-point numbers are not judged.
pub(super) fn is_used_up(left: f64, amount: f64, rate: f64, now: f64) -> bool {
    let rounding = ROUNDING * amount + rate * (DATE_SLACK * now + f64::MIN_POSITIVE);
    !left.is_finite() || left.abs() <= rounding + f64::MIN_POSITIVE
}

impl Fault {
    /// Describes the broken invariant.
    pub(super) fn to_words(self, platform: &Platform) -> String {
        match self {
            Self::Work(host) => format!(
                "an execution on host `{}` ended before or after its work was done",
                platform.hosts[host as usize].name
            ),
            Self::Bytes => "a flow ended before or after its bytes had moved".to_owned(),
            Self::Overload(link) => format!(
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
            assert_eq!(is_used_up(left, 1e9, 0.0, 0.0), is_nothing, "{left}");
        }
        // At 1e12 s the tolerance of 2e-13 is 0.2 s: at 100 B/s that is 20 B.
        assert!(is_used_up(20.0, 0.0, 100.0, 1e12));
        assert!(!is_used_up(21.0, 0.0, 100.0, 1e12));
        // A number below the smallest normal one has too few digits for a relative tolerance, whether it is an amount or a time.
        assert!(is_used_up(1e-308, 1e-308, 0.0, 0.0));
        assert!(is_used_up(1e-300, 1e-295, 1e20, 1e-315));
        assert!(!is_used_up(1e-287, 1e-287, 1e20, 1e-307));
    }
}
