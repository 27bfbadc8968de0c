//! The quantities that occur in the explanations of all policies, each with its name in JSON, unit and definition.

use super::quantity::{Meaning, Quantity, Unit};

/// Quantity: the number of a superstep, counted from 1.
pub const SUPERSTEP: Meaning = Meaning::new(
    "superstep",
    Unit::Count,
    "the number of a superstep, counted from 1",
);

/// Quantity: a number of supersteps.
pub const SUPERSTEPS: Meaning = Meaning::new("supersteps", Unit::Count, "a number of supersteps");

/// Quantity: the number of candidates of a call.
pub const CANDIDATES: Meaning = Meaning::new(
    "candidates",
    Unit::Count,
    "the number of candidates of a call",
);

/// Quantity: the number of migrations that a call decided.
pub const DECIDED: Meaning = Meaning::new(
    "migrations_decided",
    Unit::Count,
    "the number of migrations that the call decided",
);

/// Quantity: t1, the predicted time of a candidate if it stays on its host \[s\].
pub const TIME_STAYING: Meaning = Meaning::new(
    "t1_s",
    Unit::Seconds,
    "t1: the predicted time of a candidate where it is",
);

/// Quantity: t2, the predicted time of a candidate at its destination, with the costs that the policy includes \[s\].
pub const TIME_MOVING: Meaning = Meaning::new(
    "t2_s",
    Unit::Seconds,
    "t2: the predicted time of a candidate at its destination, as far as the policy counts it",
);

/// Quantity: t1 - t2 of a candidate that would save time by its move \[s\].
pub const TIME_SAVED: Meaning = Meaning::new(
    "t1_minus_t2_s",
    Unit::Seconds,
    "t1 - t2 of one candidate; not a time of the run, since processes overlap",
);

/// Quantity: t2 - t1 of a candidate that would lose time by its move \[s\].
pub const TIME_LOST: Meaning = Meaning::new(
    "t2_minus_t1_s",
    Unit::Seconds,
    "t2 - t1 of one candidate; not a time of the run, since processes overlap",
);

/// Returns the number of a superstep, counted from 1, as a quantity of a sentence.
pub fn superstep(number: u64) -> Quantity {
    SUPERSTEP.with_count(number)
}
