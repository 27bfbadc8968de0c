//! The quantities that occur in the explanations of all policies, each with its name in JSON, unit and definition.

use super::quantity::{Meaning, Quantity, Unit};

/// Meaning of the quantity `superstep`: the number of a superstep, counted from 1.
pub const SUPERSTEP: Meaning = Meaning::new(
    "superstep",
    Unit::Count,
    "the number of a superstep, counted from 1",
);

/// Meaning of the quantity `supersteps`: the number of supersteps of a run.
pub const SUPERSTEPS: Meaning = Meaning::new(
    "supersteps",
    Unit::Count,
    "the number of supersteps of a run",
);

/// Meaning of the quantity `candidates`: the number of processes that a rescheduling call considered for migration.
pub const CANDIDATES: Meaning = Meaning::new(
    "candidates",
    Unit::Count,
    "the number of candidates of a call",
);

/// Meaning of the quantity `migrations_decided`: the number of migrations that a rescheduling call decided.
pub const MIGRATIONS_DECIDED: Meaning = Meaning::new(
    "migrations_decided",
    Unit::Count,
    "the number of migrations that the call decided",
);

/// Meaning of the quantity `t1_s`: the predicted time t1 of a candidate if it stays on its host \[s\].
pub const TIME_STAYING: Meaning = Meaning::new(
    "t1_s",
    Unit::Seconds,
    "t1: the predicted time of a candidate if it stays on its host",
);

/// Meaning of the quantity `t2_s`: the predicted time t2 of a candidate at its destination, with the costs that the policy
/// includes \[s\].
pub const TIME_MOVING: Meaning = Meaning::new(
    "t2_s",
    Unit::Seconds,
    "t2: the predicted time of a candidate at its destination, with the parts of the cost of its move that the policy counts",
);

/// Meaning of the quantity `t1_minus_t2_s`: the predicted time that a candidate would save by its move \[s\].
pub const TIME_SAVED: Meaning = Meaning::new(
    "t1_minus_t2_s",
    Unit::Seconds,
    "t1 - t2, the predicted saving of one candidate; not a time of the run, since processes compute at the same time",
);

/// Meaning of the quantity `t2_minus_t1_s`: the predicted time that a candidate would lose by its move \[s\].
pub const TIME_LOST: Meaning = Meaning::new(
    "t2_minus_t1_s",
    Unit::Seconds,
    "t2 - t1, the predicted loss of one candidate; not a time of the run, since processes compute at the same time",
);

/// Returns the number of a superstep, counted from 1, as a quantity that can be inserted into a sentence.
pub fn superstep_quantity(number: u64) -> Quantity {
    SUPERSTEP.with_count(number)
}
