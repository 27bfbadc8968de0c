//! Floating-point numbers of 32 or 64 bits, since newer versions of Charm++ round every load to 32 bits, which affects ties.

use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A floating-point number of 32 or 64 bits, in which a strategy computes loads.
pub(crate) trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
{
    /// Zero.
    const ZERO: Self;

    /// Returns the value of this width that is nearest to a number of 64 bits.
    fn from_f64(value: f64) -> Self;
}

impl Real for f64 {
    const ZERO: Self = 0.0;

    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Real for f32 {
    const ZERO: Self = 0.0;

    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to 32 bits is what this is for"
    )]
    fn from_f64(value: f64) -> Self {
        value as Self
    }
}

/// Returns the larger of two numbers; the first if they are equal.
pub(crate) fn larger<R: Real>(a: R, b: R) -> R {
    if a < b { b } else { a }
}
