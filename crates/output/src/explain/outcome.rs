//! Describes the outcome of a rescheduling call in sentences: the cost of the call, and the effect of its moves on the makespan.

use super::{case, question::AnswerData};
use crate::{read::ScenarioRecords, rows::RecordedCall};
use migsim_base::{quantities::format_time, words::format_count};
use migsim_bsp::Scenario;

impl AnswerData<'_> {
    pub(super) fn describe_outcome(&self, call: &RecordedCall) -> Vec<String> {
        let mut sentences = vec![self.describe_call_cost(call)];
        match self.effect_of_moves {
            Some(Ok(effect)) => {
                let scene = &self.policy_context;
                sentences.extend(case::describe_effect(
                    effect,
                    scene.superstep_count,
                    scene.next_call().is_none(),
                ));
            }
            Some(Err(why)) => {
                sentences.push(format!(
                    "The effect of the moves is unknown, since the run cannot be repeated without these moves: {why}."
                ));
                sentences.extend(describe_predicted_gain_sum(call));
                sentences.extend(self.compare_times_with_scenario_i(call));
            }
            None => sentences.extend(describe_predicted_gain_sum(call)),
        }
        sentences
    }

    fn describe_call_cost(&self, call: &RecordedCall) -> String {
        let decided = call.migrations.len();
        let cost = format_time(call.cost_s);
        if decided == 0 {
            return format!("No process moved; the call took {cost}.");
        }
        if !call.applied {
            let why = if self.scenario_records.scenario == Scenario::Ii {
                "in scenario ii no process moves"
            } else {
                "the run ended with this call, so that no process moved"
            };
            let decided = format_count(decided, "migration");
            return format!("The call decided {decided}, but {why}; the call took {cost}.");
        }
        let moved = self.scenario_records.policy_moves_after(call.superstep);
        format!(
            "The call caused {}; the call took {cost}, and the migrations took {}.{}",
            format_count(moved.count(), "migration"),
            format_time(call.migration_s),
            self.describe_move_of_process(call)
        )
    }

    /// Describes when the process that the question names was moved and how much memory was sent for this move. The sentence is
    /// empty if the process was not moved or the question names no process.
    fn describe_move_of_process(&self, call: &RecordedCall) -> String {
        let mut moved = self.scenario_records.policy_moves_after(call.superstep);
        let own = moved.find(|moved| self.question.process == Some(moved.process));
        own.map_or_else(String::new, |one| {
            format!(
                " The move of p{} began {} after the start of the run and ended {} after it; it sent {:.0} B of memory.",
                one.process,
                format_time(one.start_s),
                format_time(one.end_s),
                one.size_bytes
            )
        })
    }

    /// Describes the time of the supersteps until the next call, compared with the time of the same supersteps in scenario i
    /// (application only). Returns `None` if the run has no scenario i.
    fn compare_times_with_scenario_i(&self, call: &RecordedCall) -> Option<String> {
        let this = self.scenario_records;
        let last = this.supersteps.len() as u64;
        let next = self.policy_context.next_call();
        let until = next.map_or(last, |next| next.superstep);
        let from = call.superstep + 1;
        let base = self.run.scenario(Scenario::I).filter(|_| from <= until)?;
        Some(format!(
            "Supersteps {from} to {until} took {}; in scenario i (application only) the same supersteps took {}.",
            format_time(total_superstep_time(this, from, until)),
            format_time(total_superstep_time(base, from, until)),
        ))
    }
}

/// Describes the sum of the gains t1 - t2 that the policy predicted for the accepted candidates of a call. Here t1 is the
/// predicted time on the origin and t2 on the destination. Returns `None` if the sum is not positive or not recorded.
fn describe_predicted_gain_sum(call: &RecordedCall) -> Option<String> {
    Some(format!(
        "The predicted savings of the processes that move (t1 - t2: time without less time with the move) add up to {}. This is a sum over processes, which compute at the same time, and not a saving of the run.",
        format_time(call.t1_minus_t2_sum_s.filter(|sum| *sum > 0.0)?)
    ))
}

/// Computes the sum of the durations of the supersteps from `from` to `until`, including both \[s\].
fn total_superstep_time(run: &ScenarioRecords, from: u64, until: u64) -> f64 {
    run.supersteps
        .iter()
        .filter(|row| (from..=until).contains(&row.superstep))
        .map(|row| row.end_s - row.start_s)
        .sum()
}
