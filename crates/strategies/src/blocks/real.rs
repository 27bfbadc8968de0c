//! Floating-point numbers of 32 or 64 bits, in which strategies compute loads. Newer versions of Charm++ round every load to 32
//! bits, which affects ties.

use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A type of floating-point numbers (32 or 64 bits) in which a strategy computes loads.
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
    /// The number 0 in this type.
    const ZERO: Self;

    /// Returns the number of this type that is nearest to a number of 64 bits.
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

pub(crate) fn larger<R: Real>(a: R, b: R) -> R {
    if a < b { b } else { a }
}
