//! Describes the outcome of a rescheduling call in sentences: the cost of the call, and the effect of its moves on the makespan.

use super::case;
use super::meanings as quantity;
use super::question::Answer;
use crate::read::{Call, RunOfScenario};
use migsim_base::words::counted;
use migsim_bsp::Scenario;
use migsim_policies::explain::meanings::{DECIDED, superstep};
use migsim_policies::explain::{Sentence, say};

impl Answer<'_> {
    pub(super) fn outcome(&self, call: &Call) -> Vec<Sentence> {
        let mut sentences = vec![self.cost(call)];
        match self.effect {
            Some(Ok(effect)) => {
                let is_last = self.scene.next_call().is_none();
                sentences.extend(case::describe_effect(
                    effect,
                    self.scene.supersteps,
                    is_last,
                ));
            }
            Some(Err(why)) => {
                sentences.push(say!(
                    "The effect of the moves is unknown, since the run cannot be repeated without them: {}.",
                    why
                ));
                sentences.extend(predicted_sum(call));
                sentences.extend(self.compare_with_scenario_i(call));
            }
            None => sentences.extend(predicted_sum(call)),
        }
        sentences
    }

    fn cost(&self, call: &Call) -> Sentence {
        let decided = call.migrations.len() as u64;
        let cost = quantity::CALL_COST.with_value(call.cost_s);
        if decided == 0 {
            return say!("No process moved; the call cost {}.", cost);
        }
        if !call.applied {
            let why = if self.this.scenario == Scenario::Ii {
                "in scenario ii nothing moves"
            } else {
                "the run was over"
            };
            let decided = DECIDED
                .with_count(decided)
                .shown_as(counted(decided, "migration"));
            return say!("{} decided, but {}; the call cost {}.", decided, why, cost);
        }
        let moved = self.this.moves_after(call.superstep).count() as u64;
        say!(
            "{} happened; the call cost {}, the migrations {}.{}",
            quantity::MOVED
                .with_count(moved)
                .shown_as(counted(moved, "migration")),
            cost,
            quantity::MIGRATION.with_value(call.migration_s),
            self.move_of_process(call)
        )
    }

    /// Describes when the process that the question names was moved and how much memory this sent. The sentence is empty if the
    /// process was not moved or the question names no process.
    fn move_of_process(&self, call: &Call) -> Sentence {
        let mut moved = self.this.moves_after(call.superstep);
        let own = moved.find(|moved| self.question.process == Some(moved.process));
        own.map_or_else(Sentence::default, |one| {
            say!(
                " The move of p{} lasted from {} to {} after the start of the run, and sent {} of memory.",
                one.process.to_string(),
                quantity::MOVE_START.with_value(one.start_s),
                quantity::MOVE_END.with_value(one.end_s),
                quantity::SIZE.with_value(one.size_bytes)
            )
        })
    }

    /// Describes the time of the supersteps until the next call, compared with the time of the same supersteps in scenario i
    /// (application only). Returns `None` if the run has no scenario i.
    fn compare_with_scenario_i(&self, call: &Call) -> Option<Sentence> {
        let (from, until) = (
            call.superstep + 1,
            self.scene
                .next_call()
                .map_or(self.this.supersteps.len() as u64, |next| next.superstep),
        );
        let base = self.run.scenario(Scenario::I).filter(|_| from <= until)?;
        Some(say!(
            "Supersteps {} to {} took {}, and {} in scenario i, without moves.",
            superstep(from),
            superstep(until),
            quantity::TOOK.with_value(total_time(self.this, from, until)),
            quantity::TOOK_IN_I.with_value(total_time(base, from, until)),
        ))
    }
}

/// Describes the sum of the gains t1 - t2 that the policy predicted for the accepted candidates of a call. Returns `None` if the
/// sum is not positive or not recorded.
fn predicted_sum(call: &Call) -> Option<Sentence> {
    let sum = call.t1_minus_t2_sum_s.filter(|sum| *sum > 0.0)?;
    Some(say!(
        "t1 - t2 of the accepted candidates add up to {}: a sum over processes, not a time of the run.",
        quantity::SUM.with_value(sum)
    ))
}

/// Computes the sum of the durations of the supersteps from `from` to `until`, including both \[s\].
fn total_time(run: &RunOfScenario, from: u64, until: u64) -> f64 {
    let asked = run
        .supersteps
        .iter()
        .filter(|row| (from..=until).contains(&row.superstep));
    asked.map(|row| row.end_s - row.start_s).sum()
}
