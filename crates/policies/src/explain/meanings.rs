//! The quantities that the explanations of all policies share.

use super::quantity::{Meaning, Quantity, Unit};

/// The number of a superstep.
pub const SUPERSTEP: Meaning = Meaning::new(
    "superstep",
    Unit::Count,
    "the number of a superstep, counted from 1",
);

/// A number of supersteps.
pub const SUPERSTEPS: Meaning = Meaning::new("supersteps", Unit::Count, "a number of supersteps");

/// The number of candidates of a call.
pub const CANDIDATES: Meaning = Meaning::new(
    "candidates",
    Unit::Count,
    "the number of candidates of a call",
);

/// The number of migrations that a call decided.
pub const DECIDED: Meaning = Meaning::new(
    "migrations_decided",
    Unit::Count,
    "the number of migrations that the call decided",
);

/// t1 of a candidate \[s\].
pub const STAY: Meaning = Meaning::new(
    "t1_s",
    Unit::Seconds,
    "t1: the predicted time of a candidate where it is",
);

/// t2 of a candidate \[s\].
pub const GO: Meaning = Meaning::new(
    "t2_s",
    Unit::Seconds,
    "t2: the predicted time of a candidate at its destination, as far as the policy counts it",
);

/// t1 - t2 of a candidate that would save time \[s\].
pub const SAVING: Meaning = Meaning::new(
    "t1_minus_t2_s",
    Unit::Seconds,
    "t1 - t2 of one candidate; not a time of the run, since processes overlap",
);

/// t2 - t1 of a candidate that would lose time \[s\].
pub const LOSS: Meaning = Meaning::new(
    "t2_minus_t1_s",
    Unit::Seconds,
    "t2 - t1 of one candidate; not a time of the run, since processes overlap",
);

/// Returns the number of a superstep as a quantity.
pub fn superstep(number: u64) -> Quantity {
    SUPERSTEP.count(number)
}
