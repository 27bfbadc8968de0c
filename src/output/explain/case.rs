//! The case of a call that moved processes: the runs that its evaluation needs, and their results.

use serde_json::{Value, json};

use super::question::{Question, scenario_of};
use crate::bsp::Scenario;
use crate::error::Problem;
use crate::experiment::{Change, Effect, Experiment, Progress, Trial};
use crate::output::read::{Call, InputFile, Run};
use crate::policy::ForcedMove;
use crate::policy::explain::{Narrator, duration};
use crate::words::counted;

/// A call after which something moved and the run went on.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    trial: Trial,
    inputs: Vec<InputFile>,
    event_hash: String,
}

impl Case {
    /// The case of the call that is asked about; none if there is no such call, or nothing moved.
    ///
    /// # Errors
    /// There is no such scenario.
    pub fn of(run: &Run, question: Question) -> Result<Option<Self>, Problem> {
        let this = scenario_of(run, question.scenario)?;
        let judged = this.calls.iter().position(|call| {
            let is_over = call.superstep >= this.supersteps.len() as u64;
            let is_moving = call.applied && !call.migrations.is_empty();
            call.superstep == question.superstep && is_moving && !is_over
        });
        let moves = |call: &Call| {
            let forced = call.migrations.iter().map(|one| ForcedMove {
                superstep: call.superstep,
                process: u32::try_from(one.process).unwrap_or(u32::MAX),
                to: one.to_host.clone(),
            });
            forced.collect::<Vec<_>>()
        };
        let is_moving = this.scenario == Scenario::Iii;
        Ok(judged.filter(|_| is_moving).map(|judged| Self {
            trial: Trial {
                calls: this.calls.iter().map(|call| call.superstep).collect(),
                moves: this.calls.iter().flat_map(moves).collect(),
                judged,
                changes: changes(run.narrator, &this.calls[judged]),
            },
            inputs: run.inputs.clone(),
            event_hash: this.event_hash.clone(),
        }))
    }

    /// Judges the decision by two runs of `experiment`.
    ///
    /// # Errors
    /// Why that cannot be told: it is no longer the same experiment.
    pub fn judge(&self, experiment: &Experiment, progress: &Progress) -> Result<Effect, String> {
        // The decisions are forced: what the policy read is not needed.
        let files = self.inputs.iter().filter(|one| one.role != "policy");
        for file in files {
            let is_same =
                |now: &crate::experiment::Input| now.role == file.role && now.sha256 == file.sha256;
            if !experiment.inputs.iter().any(is_same) {
                return Err(format!("`{}` is no longer what it was", file.source));
            }
        }
        let effect = experiment
            .effect(&self.trial, progress)
            .map_err(|error| error.first_line())?;
        if effect.event_hash == self.event_hash {
            Ok(effect)
        } else {
            Err("it has other dates when it is done again".into())
        }
    }
}

/// The prediction for the processes that moved: t2 over t1 of one superstep, computation and communication apart where the record has them,
/// without what the move itself takes. None if it foresees no times.
fn changes(narrator: &dyn Narrator, call: &Call) -> Option<Vec<Change>> {
    let change = |process: u64| {
        let mut judged = call.candidates.iter();
        let judged = judged.find(|one| one.process == process && one.accepted)?;
        let [computation, sends] = narrator.changes(call.record(), judged)?;
        Some(Change {
            process,
            computation,
            sends,
        })
    };
    let migrations = call.migrations.iter();
    migrations.map(|one| change(one.process)).collect()
}

/// Supersteps, both ends included.
fn named(from: u64, until: u64) -> String {
    if from == until {
        format!("superstep {from}")
    } else {
        format!("supersteps {from} to {until}")
    }
}

/// Prediction and outcome, in sentences.
pub(super) fn told(effect: &Effect, is_last: bool) -> Vec<String> {
    let supersteps = named(effect.from, effect.until);
    let compared = |without: f64, with: f64| {
        let gain = without - with;
        let verb = if gain < 0.0 { "lost" } else { "gained" };
        format!(
            "{} without these moves, {} with them: {} {verb}",
            duration(without),
            duration(with),
            duration(gain.abs())
        )
    };
    let until = if is_last {
        "to the end of the run"
    } else {
        "until the next call"
    };
    let mut sentences = vec![format!(
        "The moves are judged by the makespan of {supersteps}, {until}:"
    )];
    sentences.push(match &effect.predicted {
        Some(predicted) => format!(
            "  predicted: {} (from what all took in {}, for those that moved times t2 / t1).",
            compared(predicted.without.get(), predicted.with.get()),
            named(predicted.from, predicted.until),
        ),
        None => "  predicted: nothing, since the policy foresees no times.".into(),
    });
    let (without, with) = (&effect.without, &effect.with);
    sentences.push(format!(
        "  realised: {} (the same run again, but for these moves).",
        compared(without.total.get(), with.total.get())
    ));
    sentences.push(format!(
        "  of that: computation {} instead of {}, communication and barrier {} instead of {}.",
        duration(with.computation.get()),
        duration(without.computation.get()),
        duration(with.rest.get()),
        duration(without.rest.get()),
    ));
    sentences.push(paid_back(effect));
    let net = effect.net_s();
    sentences.push(format!(
        "With the price of the moves, superstep {} ended {} {} than it would have without them.",
        effect.until,
        duration(net.abs()),
        if net < 0.0 { "later" } else { "earlier" },
    ));
    sentences
}

fn paid_back(effect: &Effect) -> String {
    let price = duration(effect.price.get());
    let rate = duration(effect.rate_s());
    match effect.break_even() {
        None if effect.rate_s() < 0.0 => format!(
            "The moves held up the run for {price}, and a superstep takes {} longer: they are never paid back at this rate.",
            duration(-effect.rate_s())
        ),
        None => format!(
            "The moves held up the run for {price}; they are never paid back at this rate, {rate} a superstep."
        ),
        Some(0) => "The moves delayed no process: there is nothing to pay back.".into(),
        Some(supersteps) => format!(
            "The moves held up the run for {price}; at {rate} a superstep they are paid back after {}.",
            counted(supersteps, "superstep")
        ),
    }
}

/// The same for programs.
pub(super) fn json(effect: &Result<Effect, String>) -> Value {
    let effect = match effect {
        Ok(effect) => effect,
        Err(why) => return json!({ "unknown": why }),
    };
    let makespan = |spent: &crate::experiment::Makespan| {
        json!({
            "makespan_s": spent.total.get(),
            "computation_s": spent.computation.get(),
            "communication_barrier_s": spent.rest.get(),
        })
    };
    let predicted = effect.predicted.as_ref().map(|predicted| {
        json!({
            "makespan_without_s": predicted.without.get(),
            "makespan_with_s": predicted.with.get(),
            "gain_s": predicted.without.get() - predicted.with.get(),
            "from_superstep": predicted.from,
            "until_superstep": predicted.until,
        })
    });
    json!({
        "from_superstep": effect.from,
        "until_superstep": effect.until,
        "predicted": predicted,
        "realised": {
            "without": makespan(&effect.without),
            "with": makespan(&effect.with),
            "gain_s": effect.gain_s(),
            "gain_per_superstep_s": effect.rate_s(),
        },
        "price_s": effect.price.get(),
        "net_gain_s": effect.net_s(),
        "break_even_supersteps": effect.break_even(),
    })
}
