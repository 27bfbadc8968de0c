//! Meanings of the quantities in sentences about the cost and the effect of rescheduling calls; they are the same for all
//! policies.

use migsim_policies::explain::{Meaning, Unit};

const fn seconds(name: &'static str, definition: &'static str) -> Meaning {
    Meaning::new(name, Unit::Seconds, definition)
}

const fn count(name: &'static str, definition: &'static str) -> Meaning {
    Meaning::new(name, Unit::Count, definition)
}

/// Meaning of the cost of one rescheduling call: the time for which the application waited for the call \[s\].
pub(super) const CALL_COST: Meaning = seconds(
    "call_cost_s",
    "the time for which the application waited for the call",
);
/// Meaning of the time for which processes waited for the migrations after one rescheduling call \[s\].
pub(super) const MIGRATION: Meaning = seconds(
    "migration_s",
    "the time for which processes waited for the migrations after the call",
);
/// Meaning of the number of migrations that took place after one rescheduling call.
pub(super) const MOVED: Meaning = count(
    "migrations",
    "the number of migrations after the call that happened",
);
/// Meaning of the time at which a migration began \[s\].
pub(super) const MOVE_START: Meaning =
    seconds("move_start_s", "the instant at which the migration began");
/// Meaning of the time at which a migration ended \[s\].
pub(super) const MOVE_END: Meaning =
    seconds("move_end_s", "the instant at which the migration was done");
/// Meaning of the memory that a migration sent \[B\].
pub(super) const SIZE: Meaning = Meaning::new(
    "size_bytes",
    Unit::Bytes,
    "the memory of the process that the migration sent",
);
/// Meaning of the sum of the predicted gains t1 - t2 of the accepted candidates of a call \[s\]. Since processes run in parallel,
/// it is not a time of the run.
pub(super) const SUM: Meaning = seconds(
    "t1_minus_t2_sum_s",
    "the sum of t1 - t2 of the accepted candidates; a sum over processes, not a time of the run, since processes overlap",
);
/// Meaning of the time that the supersteps of a question took in the scenario of the question \[s\].
pub(super) const TOOK: Meaning = seconds(
    "supersteps_took_s",
    "the sum of the times of these supersteps in this scenario",
);
/// Meaning of the time that the same supersteps took in scenario i \[s\].
pub(super) const TOOK_IN_I: Meaning = seconds(
    "supersteps_took_in_i_s",
    "the sum of the times of these supersteps in scenario i",
);
/// Meaning of the predicted makespan of the supersteps until the next call if the call moves no process \[s\].
pub(super) const PREDICTED_WITHOUT: Meaning = seconds(
    "predicted_without_s",
    "supersteps until the next call times the mean time of a superstep since the call before",
);
/// Meaning of the predicted makespan of the supersteps until the next call with the moves of the call \[s\]; it does not include
/// the cost of the moves.
pub(super) const PREDICTED_WITH: Meaning = seconds(
    "predicted_with_s",
    "the same with the times of the moved processes multiplied by t2 / t1 of a superstep, without the price of the moves",
);
/// Meaning of the predicted gain: the predicted makespan without the moves, minus the predicted makespan with them \[s\].
pub(super) const PREDICTED_GAIN: Meaning =
    seconds("predicted_gain_s", "predicted_without_s - predicted_with_s");
/// Meaning of the predicted loss: the predicted makespan with the moves, minus the predicted makespan without them \[s\].
pub(super) const PREDICTED_LOSS: Meaning =
    seconds("predicted_loss_s", "predicted_with_s - predicted_without_s");
/// Meaning of the makespan of the supersteps until the next call in a repetition of the run without the moves of the call \[s\].
pub(super) const REALISED_WITHOUT: Meaning = seconds(
    "realised_without_s",
    "the time of the supersteps until the next call in the same run, repeated without the moves of this call",
);
/// Meaning of the makespan of the supersteps until the next call in the run with the moves \[s\]; it does not include the time
/// that the moves cost.
pub(super) const REALISED_WITH: Meaning = seconds(
    "realised_with_s",
    "the time of the supersteps until the next call, without the time by which the moves delayed the run",
);
/// Meaning of the realised gain: the makespan without the moves of a call, minus the makespan with them \[s\].
pub(super) const REALISED_GAIN: Meaning =
    seconds("realised_gain_s", "realised_without_s - realised_with_s");
/// Meaning of the realised loss: the makespan with the moves of a call, minus the makespan without them \[s\].
pub(super) const REALISED_LOSS: Meaning =
    seconds("realised_loss_s", "realised_with_s - realised_without_s");
/// Meaning of the part of the makespan with the moves in which at least one process still computed \[s\].
pub(super) const COMPUTATION_WITH: Meaning = seconds(
    "computation_with_s",
    "the part of realised_with_s until the last process had computed",
);
/// Meaning of the part of the makespan without the moves in which at least one process still computed \[s\].
pub(super) const COMPUTATION_WITHOUT: Meaning = seconds(
    "computation_without_s",
    "the part of realised_without_s until the last process had computed",
);
/// Meaning of the part of the makespan with the moves in which processes only communicate or wait at barriers \[s\].
pub(super) const COMMUNICATION_WITH: Meaning = seconds(
    "communication_barrier_with_s",
    "the rest of realised_with_s: communication and barrier",
);
/// Meaning of the part of the makespan without the moves in which processes only communicate or wait at barriers \[s\].
pub(super) const COMMUNICATION_WITHOUT: Meaning = seconds(
    "communication_barrier_without_s",
    "the rest of realised_without_s: communication and barrier",
);
/// Meaning of the cost of the moves of a call: the time for which they delayed the run \[s\].
pub(super) const PRICE: Meaning = seconds("price_s", "the time by which the moves delayed the run");
/// Meaning of the realised gain per superstep until the next call \[s\].
pub(super) const GAIN_PER_SUPERSTEP: Meaning = seconds(
    "gain_per_superstep_s",
    "realised_gain_s divided by the number of supersteps until the next call",
);
/// Meaning of the realised loss per superstep until the next call \[s\].
pub(super) const LOSS_PER_SUPERSTEP: Meaning = seconds(
    "loss_per_superstep_s",
    "realised_loss_s divided by the number of supersteps until the next call",
);
/// Meaning of the number of supersteps after which the gain has paid for the cost of the moves.
pub(super) const BREAK_EVEN: Meaning = count(
    "break_even_supersteps",
    "price_s / gain_per_superstep_s, rounded up",
);
/// Meaning of the number of supersteps of the run after the call.
pub(super) const SUPERSTEPS_LEFT: Meaning = count(
    "supersteps_left",
    "the number of supersteps of the run after the call",
);
/// Meaning of the time by which the last superstep before the next call ended earlier than without the moves \[s\]: the gain
/// minus the cost.
pub(super) const NET_GAIN: Meaning = seconds("net_gain_s", "realised_gain_s - price_s");
/// Meaning of the time by which the last superstep before the next call ended later than without the moves \[s\]: the cost minus
/// the gain.
pub(super) const NET_LOSS: Meaning = seconds("net_loss_s", "price_s - realised_gain_s");
/// Meaning of the number of rescheduling calls of a run.
pub(super) const CALLS: Meaning = count("calls", "the number of calls");
/// Meaning of the number of rescheduling calls whose migrations took place; in scenario ii, of calls that decided at least one
/// migration.
pub(super) const MOVING_CALLS: Meaning = count(
    "moving_calls",
    "the number of calls whose migrations happened; in scenario ii, of calls that decided some",
);
/// Meaning of the number of migrations that the rescheduling calls of a run caused.
pub(super) const PROCESSES_MOVED: Meaning =
    count("moved", "the number of migrations of the moving calls");
/// Meaning of the number of migrations that did not take place because a call after the last superstep decided them.
pub(super) const LATE: Meaning = count(
    "decided_too_late",
    "the number of migrations that a call after the last superstep decided",
);
/// Meaning of the total cost of all rescheduling calls of a run \[s\].
pub(super) const SCHEDULING: Meaning = seconds(
    "scheduling_s",
    "the time for which the application waited for all calls",
);
/// Meaning of the mean cost of a rescheduling call \[s\].
pub(super) const MEAN_COST: Meaning = seconds(
    "mean_call_cost_s",
    "scheduling_s divided by the number of calls",
);
/// Meaning of the total time for which processes waited for migrations in a run \[s\].
pub(super) const MIGRATIONS: Meaning = seconds(
    "migration_s",
    "the time for which processes waited for migrations after calls",
);
/// Meaning of the makespan of a scenario \[s\].
pub(super) const MAKESPAN: Meaning = seconds("makespan_s", "the execution time of the scenario");
/// Meaning of the amount by which the makespan of a scenario is below the makespan of scenario i \[%\].
pub(super) const LESS_THAN_I: Meaning =
    Meaning::new("less_than_i_percent", Unit::Percent, "100 (T_i - T) / T_i");
/// Meaning of the amount by which the makespan of a scenario is above the makespan of scenario i \[%\].
pub(super) const MORE_THAN_I: Meaning =
    Meaning::new("more_than_i_percent", Unit::Percent, "100 (T - T_i) / T_i");
/// Meaning of the amount t2 - t1 by which candidates that stayed missed the condition of a move \[s\]; it is shown as a range
/// over some calls.
pub(super) const MISSED: Meaning = seconds(
    "missed_by_s",
    "t2 - t1 of a candidate that stayed: the least and the largest of these calls",
);
/// Meaning of the number of candidates of a rescheduling call; it is shown as a range over some calls.
pub(super) const CONSIDERED: Meaning = count(
    "candidates",
    "the number of candidates of a call: the least and the largest of these calls",
);
