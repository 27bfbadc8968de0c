//! The outcome: the price of the call, and the effect of its moves.

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
        let mut sentences = vec![self.price(call)];
        match self.effect {
            Some(Ok(effect)) => {
                let is_last = self.scene.next_call().is_none();
                sentences.extend(case::told(effect, self.scene.supersteps, is_last));
            }
            Some(Err(why)) => {
                sentences.push(say!(
                    "The effect of the moves is unknown: the run cannot be repeated without them, since {}.",
                    why
                ));
                sentences.extend(expected(call));
                sentences.extend(self.beside_application(call));
            }
            None => sentences.extend(expected(call)),
        }
        sentences
    }

    fn price(&self, call: &Call) -> Sentence {
        let decided = call.migrations.len() as u64;
        let cost = quantity::CALL_COST.of(call.cost_s);
        if decided == 0 {
            return say!("Nothing moved; the call cost {}.", cost);
        }
        if !call.applied {
            let why = if self.this.scenario == Scenario::Ii {
                "in scenario ii nothing moves"
            } else {
                "the run was over"
            };
            let decided = DECIDED
                .count(decided)
                .shown_as(counted(decided, "migration"));
            return say!("{} decided, but {}; the call cost {}.", decided, why, cost);
        }
        let moved = self.this.moves_after(call.superstep).count() as u64;
        say!(
            "{} happened; the call cost {}, the migrations {}.{}",
            quantity::MOVED
                .count(moved)
                .shown_as(counted(moved, "migration")),
            cost,
            quantity::MIGRATION.of(call.migration_s),
            self.own_move(call)
        )
    }

    /// Describes the move of the process in the question.
    fn own_move(&self, call: &Call) -> Sentence {
        let mut moved = self.this.moves_after(call.superstep);
        let own = moved.find(|moved| self.question.process == Some(moved.process));
        own.map_or_else(Sentence::default, |one| {
            say!(
                " p{} was moved from {} to {} after the start of the run, with {} of memory.",
                one.process.to_string(),
                quantity::MOVE_START.of(one.start_s),
                quantity::MOVE_END.of(one.end_s),
                quantity::SIZE.of(one.size_bytes)
            )
        })
    }

    /// Compares the supersteps until the next call with those of scenario i.
    fn beside_application(&self, call: &Call) -> Option<Sentence> {
        let (from, until) = (
            call.superstep + 1,
            self.scene
                .next_call()
                .map_or(self.this.supersteps.len() as u64, |next| next.superstep),
        );
        let base = self.run.get(Scenario::I).filter(|_| from <= until)?;
        Some(say!(
            "Supersteps {} to {} took {}, and {} in scenario i, without moves.",
            superstep(from),
            superstep(until),
            quantity::TOOK.of(spent(self.this, from, until)),
            quantity::TOOK_IN_I.of(spent(base, from, until)),
        ))
    }
}

/// Describes the policy's prediction, summed over the processes.
fn expected(call: &Call) -> Option<Sentence> {
    let sum = call.t1_minus_t2_sum_s.filter(|sum| *sum > 0.0)?;
    Some(say!(
        "t1 - t2 of the accepted candidates add up to {}: a sum over processes, not a time of the run.",
        quantity::SUM.of(sum)
    ))
}

/// Sums the times of the supersteps `from` to `until` \[s\].
fn spent(run: &RunOfScenario, from: u64, until: u64) -> f64 {
    let asked = run
        .supersteps
        .iter()
        .filter(|row| (from..=until).contains(&row.superstep));
    asked.map(|row| row.end_s - row.start_s).sum()
}
