//! What happened then: the price of the call, predicted and realised gain.

use super::Scene;
use super::numbers::duration;
use crate::bsp::Scenario;
use crate::output::counted;
use crate::output::read::{Call, RunOfScenario, Superstep};

impl Scene<'_> {
    pub(super) fn after(&self, call: &Call) -> Vec<String> {
        let mut sentences = vec![self.price(call)];
        if call.predicted_gain_s > 0.0 {
            sentences.push(format!(
                "Predicted: t1 - t2 of those that were to move add up to {}.",
                duration(call.predicted_gain_s)
            ));
        }
        let has_moved = self
            .this
            .migrations
            .iter()
            .any(|moved| moved.superstep <= call.superstep);
        if call.applied && has_moved {
            sentences.extend(self.realised(call));
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
    fn realised(&self, call: &Call) -> Vec<String> {
        let (from, until) = (
            call.superstep + 1,
            self.next_call()
                .map_or(self.this.supersteps.len() as u64, |next| next.superstep),
        );
        let Some(base) = self.run.get(Scenario::I).filter(|_| from <= until) else {
            return Vec::new();
        };
        let (own, before) = (spent(self.this, from, until), spent(base, from, until));
        let gain = before.0 + before.1 - own.0 - own.1;
        let verb = if gain < 0.0 { "lost" } else { "gained" };
        let so_far = self
            .this
            .migrations
            .iter()
            .any(|moved| moved.superstep < call.superstep);
        let note = if so_far {
            " (earlier migrations have their part in it)"
        } else {
            ""
        };
        vec![
            format!(
                "Realised: supersteps {from} to {until} took {}, in scenario i {}: {} {verb}{note}.",
                duration(own.0 + own.1),
                duration(before.0 + before.1),
                duration(gain.abs()),
            ),
            format!(
                "Of that: computation {} instead of {}, communication and barrier {} instead of {}.",
                duration(own.0),
                duration(before.0),
                duration(own.1),
                duration(before.1),
            ),
        ]
    }
}

/// The computation, and the rest, of the supersteps `from` to `until` \[s\].
fn spent(run: &RunOfScenario, from: u64, until: u64) -> (f64, f64) {
    let asked = run
        .supersteps
        .iter()
        .filter(|row| (from..=until).contains(&row.superstep));
    asked.fold((0.0, 0.0), |(computation, rest), row: &Superstep| {
        (
            computation + (row.computed_s - row.start_s),
            rest + (row.end_s - row.computed_s),
        )
    })
}
