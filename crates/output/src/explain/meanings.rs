//! The quantities in the sentences about the price and the effect of calls, which are the same for all policies.

use migsim_policies::explain::{Meaning, Unit};

const fn seconds(name: &'static str, definition: &'static str) -> Meaning {
    Meaning::new(name, Unit::Seconds, definition)
}

const fn count(name: &'static str, definition: &'static str) -> Meaning {
    Meaning::new(name, Unit::Count, definition)
}

/// The price of a call.
pub(super) const CALL_COST: Meaning = seconds(
    "call_cost_s",
    "the time for which the application waited for the call",
);
/// The price of its moves.
pub(super) const MIGRATION: Meaning = seconds(
    "migration_s",
    "the time for which processes waited for the migrations after the call",
);
/// The migrations that happened.
pub(super) const MOVED: Meaning = count(
    "migrations",
    "the number of migrations after the call that happened",
);
/// The begin of a migration.
pub(super) const MOVE_START: Meaning =
    seconds("move_start_s", "the instant at which the migration began");
/// The end of a migration.
pub(super) const MOVE_END: Meaning =
    seconds("move_end_s", "the instant at which the migration was done");
/// The memory that was sent.
pub(super) const SIZE: Meaning = Meaning::new(
    "size_bytes",
    Unit::Bytes,
    "the memory of the process that the migration sent",
);
/// The sum of t1 - t2.
pub(super) const SUM: Meaning = seconds(
    "t1_minus_t2_sum_s",
    "the sum of t1 - t2 of the accepted candidates; a sum over processes, not a time of the run, since processes overlap",
);
/// A makespan of some supersteps in this run.
pub(super) const TOOK: Meaning = seconds(
    "supersteps_took_s",
    "the sum of the times of these supersteps in this scenario",
);
/// The makespan of these supersteps in scenario i.
pub(super) const TOOK_IN_I: Meaning = seconds(
    "supersteps_took_in_i_s",
    "the sum of the times of these supersteps in scenario i",
);
/// The prediction without the moves.
pub(super) const PREDICTED_WITHOUT: Meaning = seconds(
    "predicted_without_s",
    "supersteps until the next call times the mean time of a superstep since the call before",
);
/// The prediction with the moves.
pub(super) const PREDICTED_WITH: Meaning = seconds(
    "predicted_with_s",
    "the same with the times of those that move scaled by t2 / t1 of a superstep, without the price of the moves",
);
/// The predicted gain.
pub(super) const PREDICTED_GAIN: Meaning =
    seconds("predicted_gain_s", "predicted_without_s - predicted_with_s");
/// The predicted loss.
pub(super) const PREDICTED_LOSS: Meaning =
    seconds("predicted_loss_s", "predicted_with_s - predicted_without_s");
/// The makespan without the moves.
pub(super) const WITHOUT: Meaning = seconds(
    "realised_without_s",
    "the time of the supersteps until the next call in the same run, repeated without the moves of this call",
);
/// The makespan with the moves.
pub(super) const WITH: Meaning = seconds(
    "realised_with_s",
    "the time of the supersteps until the next call, without the time for which the moves held up the run",
);
/// The realised gain.
pub(super) const GAIN: Meaning = seconds("realised_gain_s", "realised_without_s - realised_with_s");
/// The realised loss.
pub(super) const LOST: Meaning = seconds("realised_loss_s", "realised_with_s - realised_without_s");
/// Computation with the moves.
pub(super) const COMPUTATION_WITH: Meaning = seconds(
    "computation_with_s",
    "the part of realised_with_s until the last process had computed",
);
/// Computation without the moves.
pub(super) const COMPUTATION_WITHOUT: Meaning = seconds(
    "computation_without_s",
    "the part of realised_without_s until the last process had computed",
);
/// The rest with the moves.
pub(super) const REST_WITH: Meaning = seconds(
    "communication_barrier_with_s",
    "the rest of realised_with_s: communication and barrier",
);
/// The rest without the moves.
pub(super) const REST_WITHOUT: Meaning = seconds(
    "communication_barrier_without_s",
    "the rest of realised_without_s: communication and barrier",
);
/// The price of the moves.
pub(super) const PRICE: Meaning =
    seconds("price_s", "the time for which the moves held up the run");
/// The realised gain of a superstep.
pub(super) const RATE: Meaning = seconds(
    "gain_per_superstep_s",
    "realised_gain_s divided by the number of supersteps until the next call",
);
/// The realised loss of a superstep.
pub(super) const LOSS_RATE: Meaning = seconds(
    "loss_per_superstep_s",
    "realised_loss_s divided by the number of supersteps until the next call",
);
/// The supersteps after which the moves are paid back.
pub(super) const BREAK_EVEN: Meaning = count(
    "break_even_supersteps",
    "price_s / gain_per_superstep_s, rounded up",
);
/// The supersteps after the call.
pub(super) const LEFT: Meaning = count(
    "supersteps_left",
    "the number of supersteps of the run after the call",
);
/// The time by which the last superstep ended earlier.
pub(super) const EARLIER: Meaning = seconds("net_gain_s", "realised_gain_s - price_s");
/// The time by which the last superstep ended later.
pub(super) const LATER: Meaning = seconds("net_loss_s", "price_s - realised_gain_s");
/// The calls of a run.
pub(super) const CALLS: Meaning = count("calls", "the number of calls");
/// The calls that moved processes.
pub(super) const MOVING: Meaning = count(
    "moving_calls",
    "the number of calls whose migrations happened; in scenario ii, of calls that decided some",
);
/// The processes that calls moved.
pub(super) const PROCESSES_MOVED: Meaning =
    count("moved", "the number of migrations of the moving calls");
/// The migrations that came too late.
pub(super) const LATE: Meaning = count(
    "decided_too_late",
    "the number of migrations that a call after the last superstep decided",
);
/// The price of all calls.
pub(super) const SCHEDULING: Meaning = seconds(
    "scheduling_s",
    "the time for which the application waited for all calls",
);
/// The mean price of a call.
pub(super) const MEAN_COST: Meaning = seconds(
    "mean_call_cost_s",
    "scheduling_s divided by the number of calls",
);
/// The price of all migrations.
pub(super) const MIGRATIONS: Meaning = seconds(
    "migration_s",
    "the time for which processes waited for migrations after calls",
);
/// The makespan.
pub(super) const MAKESPAN: Meaning = seconds("makespan_s", "the execution time of the scenario");
/// The makespan against that of scenario i.
pub(super) const LESS: Meaning =
    Meaning::new("less_than_i_percent", Unit::Percent, "100 (T_i - T) / T_i");
/// Excess of the makespan over that of scenario i.
pub(super) const MORE: Meaning =
    Meaning::new("more_than_i_percent", Unit::Percent, "100 (T - T_i) / T_i");
/// Amount by which candidates missed the condition of a move.
pub(super) const MISSED: Meaning = seconds(
    "missed_by_s",
    "t2 - t1 of a candidate that stayed: the least and the largest of these calls",
);
/// The candidates of some calls.
pub(super) const CONSIDERED: Meaning = count(
    "candidates",
    "the number of candidates of a call: the least and the largest of these calls",
);
