//! Invariants of the engine. A violation is a fault of this program: it is noted where it is detected and reported at the end of the
//! superstep ([`super::Simulation::fault`]).
//!
//! ```text
//! conserved       left(end) = amount - Σ rate · time = 0    of each execution and each flow
//! within capacity Σ_flows share · rate <= capacity          of each link, whenever rates change
//! no way back     dates never fall                          of the clock
//! ```
//! The last one is looked at in every build, the others where debug assertions are on: in all tests.

use migsim_platform::Platform;

/// Where something was not right for the first time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    /// An execution ended with work left (or with more done than it had) on this host.
    Work(u32),
    /// A flow ended with bytes left, or moved more than it had.
    Bytes,
    /// A link carried more than its capacity.
    Overload(u32),
}

/// Ends this near (relative to the date) are one end: what a flow or an execution still had then is no loss.
pub const DATE_SLACK: f64 = 2e-13;
/// What is left of an amount by rounding (relative).
const ROUNDING: f64 = 1e-9;

/// Whether `left` of an `amount` that was used up at `rate` is nothing but rounding at an end at local date `now`. Amounts and dates at
/// the edge of what a number can hold are not judged.
pub(super) fn is_used_up(left: f64, amount: f64, rate: f64, now: f64) -> bool {
    let rounding = ROUNDING * amount + rate * (DATE_SLACK * now + f64::MIN_POSITIVE);
    !left.is_finite() || left.abs() <= rounding + f64::MIN_POSITIVE
}

impl Fault {
    /// What went wrong, in words.
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
        // At 1e12 s an end within 2e-13 of the date is within 0.2 s: at 100 B/s that is 20 B.
        assert!(is_used_up(20.0, 0.0, 100.0, 1e12));
        assert!(!is_used_up(21.0, 0.0, 100.0, 1e12));
        // Of less than any normal number nobody can tell a part, be it an amount or a date.
        assert!(is_used_up(1e-308, 1e-308, 0.0, 0.0));
        assert!(is_used_up(1e-300, 1e-295, 1e20, 1e-315));
        assert!(!is_used_up(1e-287, 1e-287, 1e20, 1e-307));
    }
}
