//! The outcome: the price of the call, and the effect of its moves.

use super::case;
use super::question::Answer;
use crate::bsp::Scenario;
use crate::output::read::{Call, RunOfScenario};
use crate::policy::explain::duration;
use crate::words::counted;

impl Answer<'_> {
    pub(super) fn outcome(&self, call: &Call) -> Vec<String> {
        let mut sentences = vec![self.price(call)];
        match self.effect {
            Some(Ok(effect)) => {
                sentences.extend(case::told(effect, self.scene.next_call().is_none()));
            }
            Some(Err(why)) => {
                sentences.push(format!(
                    "The effect of the moves is unknown: the run cannot be repeated without them, since {why}."
                ));
                sentences.extend(expected(call));
                sentences.extend(self.beside_application(call));
            }
            None => sentences.extend(expected(call)),
        }
        sentences
    }

    fn price(&self, call: &Call) -> String {
        let decided = call.migrations.len();
        let moved = self
            .this
            .migrations
            .iter()
            .filter(|moved| moved.superstep == call.superstep && moved.cause == "policy");
        let cost = duration(call.cost_s);
        if decided == 0 {
            return format!("Nothing moved; the call cost {cost}.");
        }
        if !call.applied {
            let why = if self.this.scenario == Scenario::Ii {
                "in scenario ii nothing moves"
            } else {
                "the run was over"
            };
            return format!(
                "{} decided, but {why}; the call cost {cost}.",
                counted(decided, "migration")
            );
        }
        let moved: Vec<_> = moved.collect();
        let asked = self
            .question
            .process
            .and_then(|process| moved.iter().find(|one| one.process == process));
        let own = asked.map_or_else(String::new, |one| {
            format!(
                " p{} was on its way from {} to {}, with {:.0} B.",
                one.process,
                duration(one.start_s),
                duration(one.end_s),
                one.size_bytes
            )
        });
        format!(
            "{} happened; the call cost {cost}, the migrations {}.{own}",
            counted(moved.len(), "migration"),
            duration(call.migration_s)
        )
    }

    /// The supersteps until the next call, beside those of scenario i.
    fn beside_application(&self, call: &Call) -> Option<String> {
        let (from, until) = (
            call.superstep + 1,
            self.scene
                .next_call()
                .map_or(self.this.supersteps.len() as u64, |next| next.superstep),
        );
        let base = self.run.get(Scenario::I).filter(|_| from <= until)?;
        Some(format!(
            "Supersteps {from} to {until} took {}, and {} in scenario i, without moves.",
            duration(spent(self.this, from, until)),
            duration(spent(base, from, until)),
        ))
    }
}

/// The prediction of the policy, for each process by itself.
fn expected(call: &Call) -> Option<String> {
    (call.predicted_gain_s > 0.0).then(|| {
        format!(
            "t1 - t2 of those that were to move add up to {}: a sum over processes, which is no time of the run.",
            duration(call.predicted_gain_s)
        )
    })
}

/// The time of the supersteps `from` to `until` \[s\].
fn spent(run: &RunOfScenario, from: u64, until: u64) -> f64 {
    let asked = run
        .supersteps
        .iter()
        .filter(|row| (from..=until).contains(&row.superstep));
    asked.map(|row| row.end_s - row.start_s).sum()
}
