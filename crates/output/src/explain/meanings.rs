//! Explanations of the quantities that appear in sentences about the cost and the effect of rescheduling calls, with names and
//! units; they are the same for all policies.

use migsim_policies::explain::{Meaning, Unit};

const fn meaning_in_seconds(name: &'static str, definition: &'static str) -> Meaning {
    Meaning::new(name, Unit::Seconds, definition)
}

const fn meaning_of_count(name: &'static str, definition: &'static str) -> Meaning {
    Meaning::new(name, Unit::Count, definition)
}

/// Explanation of the quantity `call_cost_s`: the time for which the application waited for one rescheduling call \[s\].
pub(super) const CALL_COST: Meaning = meaning_in_seconds(
    "call_cost_s",
    "the time for which the application waited for the call",
);
/// Explanation of the quantity `migration_s` of one rescheduling call: the time for which processes waited for the migrations
/// after this call \[s\].
pub(super) const MIGRATION_TIME_AFTER_CALL: Meaning = meaning_in_seconds(
    "migration_s",
    "the time for which processes waited for the migrations after the call",
);
/// Explanation of the quantity `migrations`: the number of migrations that took place after one rescheduling call.
pub(super) const MIGRATION_COUNT_AFTER_CALL: Meaning = meaning_of_count(
    "migrations",
    "the number of migrations that the call decided and that happened",
);
/// Explanation of the quantity `move_start_s`: the simulated time at which a migration began \[s\].
pub(super) const MIGRATION_START: Meaning =
    meaning_in_seconds("move_start_s", "the instant at which the migration began");
/// Explanation of the quantity `move_end_s`: the simulated time at which a migration ended \[s\].
pub(super) const MIGRATION_END: Meaning =
    meaning_in_seconds("move_end_s", "the instant at which the migration was done");
/// Explanation of the quantity `size_bytes`: the memory of a process that its migration sent \[B\].
pub(super) const MIGRATED_MEMORY: Meaning = Meaning::new(
    "size_bytes",
    Unit::Bytes,
    "the memory of the process that the migration sent",
);
/// Explanation of the quantity `t1_minus_t2_sum_s`: the sum of the predicted gains t1 - t2 of the accepted candidates of a call
/// \[s\]. Here t1 is the predicted time on the origin and t2 on the destination. Since processes run in parallel, this sum is not
/// a part of the makespan.
pub(super) const PREDICTED_GAIN_SUM: Meaning = meaning_in_seconds(
    "t1_minus_t2_sum_s",
    "the sum of the predicted savings t1 - t2 of the accepted candidates; a sum over processes, not a time of the run, since processes compute at the same time",
);
/// Explanation of the quantity `supersteps_took_s`: the sum of the durations of the supersteps until the next call, in the
/// scenario that is explained \[s\].
pub(super) const SUPERSTEPS_DURATION: Meaning = meaning_in_seconds(
    "supersteps_took_s",
    "the total time of the supersteps until the next call in this scenario",
);
/// Explanation of the quantity `supersteps_took_in_i_s`: the sum of the durations of the supersteps until the next call, in
/// scenario i (application only) \[s\].
pub(super) const SUPERSTEPS_DURATION_IN_I: Meaning = meaning_in_seconds(
    "supersteps_took_in_i_s",
    "the total time of the same supersteps in scenario i",
);
/// Explanation of the quantity `predicted_without_s`: the predicted makespan of the supersteps until the next call if the call
/// moves no process \[s\].
pub(super) const PREDICTED_WITHOUT: Meaning = meaning_in_seconds(
    "predicted_without_s",
    "the predicted time until the next call without the moves: the number of supersteps until then times the mean time of a superstep since the previous call",
);
/// Explanation of the quantity `predicted_with_s`: the predicted makespan of the supersteps until the next call with the moves of
/// the call, without the cost of these moves \[s\].
pub(super) const PREDICTED_WITH: Meaning = meaning_in_seconds(
    "predicted_with_s",
    "the predicted time until the next call with the moves: as predicted_without_s, but with the times of the moved processes multiplied by t2 / t1 of a superstep, and without the cost of the moves",
);
/// Explanation of the quantity `predicted_gain_s`: the predicted makespan without the moves of a call, minus the predicted
/// makespan with these moves \[s\].
pub(super) const PREDICTED_GAIN: Meaning =
    meaning_in_seconds("predicted_gain_s", "predicted_without_s - predicted_with_s");
/// Explanation of the quantity `predicted_loss_s`: the predicted makespan with the moves of a call, minus the predicted makespan
/// without these moves \[s\].
pub(super) const PREDICTED_LOSS: Meaning =
    meaning_in_seconds("predicted_loss_s", "predicted_with_s - predicted_without_s");
/// Explanation of the quantity `realised_without_s`: the makespan of the supersteps until the next call when the run is repeated
/// without the moves of the call \[s\].
pub(super) const REALISED_WITHOUT: Meaning = meaning_in_seconds(
    "realised_without_s",
    "the time of the supersteps until the next call in the same run, repeated without the moves of this call",
);
/// Explanation of the quantity `realised_with_s`: the makespan of the supersteps until the next call with the moves of the call,
/// without the time by which the moves delayed the run \[s\].
pub(super) const REALISED_WITH: Meaning = meaning_in_seconds(
    "realised_with_s",
    "the time of the supersteps until the next call, without the time by which the moves delayed the run",
);
/// Explanation of the quantity `realised_gain_s`: the simulated makespan without the moves of a call, minus the simulated
/// makespan with these moves \[s\].
pub(super) const REALISED_GAIN: Meaning =
    meaning_in_seconds("realised_gain_s", "realised_without_s - realised_with_s");
/// Explanation of the quantity `realised_loss_s`: the simulated makespan with the moves of a call, minus the simulated makespan
/// without these moves \[s\].
pub(super) const REALISED_LOSS: Meaning =
    meaning_in_seconds("realised_loss_s", "realised_with_s - realised_without_s");
/// Explanation of the quantity `computation_with_s`: the part of the makespan `realised_with_s` in which at least one process
/// still computed \[s\].
pub(super) const COMPUTATION_WITH: Meaning = meaning_in_seconds(
    "computation_with_s",
    "the part of realised_with_s in which processes compute: in each superstep, until the last process has computed",
);
/// Explanation of the quantity `computation_without_s`: the part of the makespan `realised_without_s` in which at least one
/// process still computed \[s\].
pub(super) const COMPUTATION_WITHOUT: Meaning = meaning_in_seconds(
    "computation_without_s",
    "the part of realised_without_s in which processes compute: in each superstep, until the last process has computed",
);
/// Explanation of the quantity `communication_barrier_with_s`: the part of the makespan `realised_with_s` in which processes only
/// communicated or waited at barriers \[s\].
pub(super) const COMMUNICATION_WITH: Meaning = meaning_in_seconds(
    "communication_barrier_with_s",
    "the rest of realised_with_s, after the computation of each superstep: communication and barrier",
);
/// Explanation of the quantity `communication_barrier_without_s`: the part of the makespan `realised_without_s` in which
/// processes only communicated or waited at barriers \[s\].
pub(super) const COMMUNICATION_WITHOUT: Meaning = meaning_in_seconds(
    "communication_barrier_without_s",
    "the rest of realised_without_s, after the computation of each superstep: communication and barrier",
);
/// Explanation of the quantity `price_s`: the cost of the moves of a call, which is the time by which these moves delayed the run
/// \[s\].
pub(super) const COST_OF_MOVES: Meaning =
    meaning_in_seconds("price_s", "the time by which the moves delayed the run");
/// Explanation of the quantity `gain_per_superstep_s`: the realised gain of the moves of a call, divided by the number of
/// supersteps from this call to the next call \[s\].
pub(super) const GAIN_PER_SUPERSTEP: Meaning = meaning_in_seconds(
    "gain_per_superstep_s",
    "realised_gain_s divided by the number of supersteps until the next call",
);
/// Explanation of the quantity `loss_per_superstep_s`: the realised loss of the moves of a call, divided by the number of
/// supersteps from this call to the next call \[s\].
pub(super) const LOSS_PER_SUPERSTEP: Meaning = meaning_in_seconds(
    "loss_per_superstep_s",
    "realised_loss_s divided by the number of supersteps until the next call",
);
/// Explanation of the quantity `break_even_supersteps`: the number of supersteps after which the gain of the moves has
/// compensated their cost.
pub(super) const BREAK_EVEN_SUPERSTEPS: Meaning = meaning_of_count(
    "break_even_supersteps",
    "price_s / gain_per_superstep_s, rounded up",
);
/// Explanation of the quantity `supersteps_left`: the number of supersteps of the run that follow the rescheduling call.
pub(super) const SUPERSTEPS_LEFT: Meaning = meaning_of_count(
    "supersteps_left",
    "the number of supersteps of the run after the call",
);
/// Explanation of the quantity `net_gain_s`: the time by which the moves of a call made the last superstep before the next call
/// end earlier, that is, their gain minus their cost \[s\].
pub(super) const NET_GAIN: Meaning = meaning_in_seconds("net_gain_s", "realised_gain_s - price_s");
/// Explanation of the quantity `net_loss_s`: the time by which the moves of a call made the last superstep before the next call
/// end later, that is, their cost minus their gain \[s\].
pub(super) const NET_LOSS: Meaning = meaning_in_seconds("net_loss_s", "price_s - realised_gain_s");
/// Explanation of the quantity `calls`: the number of rescheduling calls of a run.
pub(super) const CALL_COUNT: Meaning =
    meaning_of_count("calls", "the number of rescheduling calls");
/// Explanation of the quantity `moving_calls`: the number of rescheduling calls whose migrations took place. In scenario ii
/// (scheduler without moves), in which nothing moves, it is the number of calls that decided at least one migration.
pub(super) const MOVING_CALL_COUNT: Meaning = meaning_of_count(
    "moving_calls",
    "the number of calls whose migrations happened; in scenario ii, where nothing moves, of calls that decided migrations",
);
/// Explanation of the quantity `moved`: the number of migrations that the rescheduling calls of a run decided and that took
/// place.
pub(super) const MIGRATION_COUNT_OF_RUN: Meaning =
    meaning_of_count("moved", "the number of migrations of the moving calls");
/// Explanation of the quantity `decided_too_late`: the number of migrations that did not take place because the call that decided
/// them came after the last superstep.
pub(super) const MIGRATIONS_DECIDED_TOO_LATE: Meaning = meaning_of_count(
    "decided_too_late",
    "the number of migrations that a call after the last superstep decided",
);
/// Explanation of the quantity `scheduling_s`: the total time for which the application waited for the rescheduling calls of a
/// run \[s\].
pub(super) const TOTAL_CALL_COST: Meaning = meaning_in_seconds(
    "scheduling_s",
    "the total time for which the application waited for rescheduling calls",
);
/// Explanation of the quantity `mean_call_cost_s`: the mean time for which the application waited for a rescheduling call \[s\].
pub(super) const MEAN_CALL_COST: Meaning = meaning_in_seconds(
    "mean_call_cost_s",
    "scheduling_s divided by the number of calls",
);
/// Explanation of the quantity `migration_s` of a run: the total time for which processes waited for migrations after all
/// rescheduling calls \[s\].
pub(super) const TOTAL_MIGRATION_TIME: Meaning = meaning_in_seconds(
    "migration_s",
    "the time for which processes waited for migrations after calls",
);
/// Explanation of the quantity `makespan_s`: the execution time of a scenario \[s\].
pub(super) const MAKESPAN: Meaning =
    meaning_in_seconds("makespan_s", "the execution time of the scenario");
/// Explanation of the quantity `less_than_i_percent`: by how much the makespan of a scenario is below the makespan of scenario i
/// (application only), relative to scenario i \[%\].
pub(super) const PERCENT_BELOW_SCENARIO_I: Meaning = Meaning::new(
    "less_than_i_percent",
    Unit::Percent,
    "100 (T_i - T) / T_i, where T is the makespan of this scenario and T_i that of scenario i",
);
/// Explanation of the quantity `more_than_i_percent`: by how much the makespan of a scenario is above the makespan of scenario i
/// (application only), relative to scenario i \[%\].
pub(super) const PERCENT_ABOVE_SCENARIO_I: Meaning = Meaning::new(
    "more_than_i_percent",
    Unit::Percent,
    "100 (T - T_i) / T_i, where T is the makespan of this scenario and T_i that of scenario i",
);
/// Explanation of the quantity `missed_by_s`: the predicted loss t2 - t1 because of which a candidate was not moved \[s\]. Here
/// t1 is the predicted time on the origin and t2 on the destination. The quantity is shown as the range from the smallest to the
/// largest value of a group of calls.
pub(super) const SHORTFALL_OF_CANDIDATE: Meaning = meaning_in_seconds(
    "missed_by_s",
    "t2 - t1 of a candidate that stayed, by which it missed the condition of a move: the least and the largest value in these calls",
);
/// Explanation of the quantity `candidates`: the number of candidates of a rescheduling call. The quantity is shown as the range
/// from the smallest to the largest number of a group of calls.
pub(super) const CANDIDATE_COUNT: Meaning = meaning_of_count(
    "candidates",
    "the number of candidates of a call: the least and the largest number in these calls",
);
