//! The evaluation of a call that moved processes: the runs that it needs, and their results.

use serde_json::{Value, json};

use super::meanings as quantity;
use super::question::{Question, scenario_of};
use crate::read::{Call, Run};
use migsim_base::error::Problem;
use migsim_base::words::{counted, of_number};
use migsim_bsp::Scenario;
use migsim_experiment::{Change, Effect, Experiment, Progress, Trial};
use migsim_policies::ForcedMove;
use migsim_policies::explain::meanings::superstep;
use migsim_policies::explain::{Meaning, Narrator, Quantity, Sentence, say};

/// A call that moved processes and was not the last event of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    trial: Trial,
    event_hash: String,
}

impl Case {
    /// Finds the call of a question; none if there is no such call, or if it moved no process.
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
            event_hash: this.event_hash.clone(),
        }))
    }

    /// Evaluates the decision with two runs of `experiment`.
    ///
    /// # Errors
    /// The decision cannot be evaluated, because the experiment is no longer the same; the text gives the reason.
    pub fn judge(&self, experiment: &Experiment, progress: &Progress) -> Result<Effect, String> {
        let effect = experiment
            .effect(&self.trial, progress)
            .map_err(|error| error.first_line())?;
        if effect.event_hash == self.event_hash {
            Ok(effect)
        } else {
            Err("a repetition of it gives other times".into())
        }
    }
}

/// Computes the prediction for the processes that moved: t2 over t1 of one superstep, without the price of the move. Computation and
/// communication have separate ratios if the record has both. None if the policy predicts no times.
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

/// Names a range of supersteps, with both ends included.
fn named(from: u64, until: u64) -> Sentence {
    if from == until {
        say!("superstep {}", superstep(from))
    } else {
        say!("supersteps {} to {}", superstep(from), superstep(until))
    }
}

/// Describes two makespans \[s\] and the gain of the second over the first. `gains` are the meanings of a gain and of a loss.
fn compared(of: [&Meaning; 2], makespans: [f64; 2], gains: [&Meaning; 2]) -> Sentence {
    let [without, with] = makespans;
    let gain = without - with;
    let (word, gain) = if gain < 0.0 {
        ("loss", gains[1].of(-gain))
    } else {
        ("gain", gains[0].of(gain))
    };
    say!(
        "{} without these moves, {} with them, a {} of {}",
        of[0].of(without),
        of[1].of(with),
        word,
        gain
    )
}

/// Describes the prediction and the outcome of a call, in a run of `supersteps` supersteps.
pub(super) fn told(effect: &Effect, supersteps: u64, is_last: bool) -> Vec<Sentence> {
    let until = if is_last {
        "to the end of the run"
    } else {
        "until the next call"
    };
    let mut sentences = vec![say!(
        "The moves are judged by the time of {}, {}:",
        named(effect.from, effect.until),
        until
    )];
    sentences.push(predicted(effect));
    let (without, with) = (&effect.without, &effect.with);
    sentences.push(say!(
        "  realised: {} (the same run, repeated without these moves).",
        compared(
            [&quantity::WITHOUT, &quantity::WITH],
            [without.total.get(), with.total.get()],
            [&quantity::GAIN, &quantity::LOST],
        )
    ));
    sentences.push(say!(
        "  of that: computation {} instead of {}, communication and barrier {} instead of {}.",
        quantity::COMPUTATION_WITH.of(with.computation.get()),
        quantity::COMPUTATION_WITHOUT.of(without.computation.get()),
        quantity::REST_WITH.of(with.rest.get()),
        quantity::REST_WITHOUT.of(without.rest.get()),
    ));
    sentences.push(paid_back(effect, left(effect, supersteps)));
    let net = effect.net_s();
    let (word, net) = if net < 0.0 {
        ("later", quantity::LATER.of(-net))
    } else {
        ("earlier", quantity::EARLIER.of(net))
    };
    sentences.push(say!(
        "With the price of the moves, superstep {} ended {} {} than it would have without them.",
        superstep(effect.until),
        net,
        word
    ));
    sentences
}

/// Describes the prediction in a sentence.
fn predicted(effect: &Effect) -> Sentence {
    let Some(predicted) = &effect.predicted else {
        return "  predicted: nothing, since the policy predicts no times.".into();
    };
    say!(
        "  predicted from {}, with the times of moved processes scaled by t2 / t1: {}.",
        named(predicted.from, predicted.until),
        compared(
            [&quantity::PREDICTED_WITHOUT, &quantity::PREDICTED_WITH],
            [predicted.without.get(), predicted.with.get()],
            [&quantity::PREDICTED_GAIN, &quantity::PREDICTED_LOSS],
        )
    )
}

/// Counts the supersteps after the call, in a run of `supersteps` supersteps.
pub(super) fn left(effect: &Effect, supersteps: u64) -> u64 {
    (supersteps + 1).saturating_sub(effect.from)
}

/// Describes after how many supersteps the moves are paid back, and whether the run has that many left.
fn paid_back(effect: &Effect, left: u64) -> Sentence {
    let price = quantity::PRICE.of(effect.price.get());
    let rate = effect.rate_s();
    let count = |meaning: &Meaning, count: u64| -> Quantity {
        meaning.count(count).shown_as(counted(count, "superstep"))
    };
    match effect.break_even() {
        None if rate < 0.0 => say!(
            "The moves held up the run for {}, and a superstep takes {} longer: they are not paid back.",
            price,
            quantity::LOSS_RATE.of(-rate)
        ),
        None => say!(
            "The moves held up the run for {} and gain nothing: they are not paid back.",
            price
        ),
        Some(0) => "The moves delayed no process: there is nothing to pay back.".into(),
        Some(supersteps) if supersteps > left => say!(
            "The moves held up the run for {} and are not paid back: at {} a superstep that takes {}, and {} left.",
            price,
            quantity::RATE.of(rate),
            count(&quantity::BREAK_EVEN, supersteps),
            are(left)
        ),
        Some(supersteps) => say!(
            "The moves held up the run for {}; at {} a superstep they pay for themselves after {}; {} left after the call.",
            price,
            quantity::RATE.of(rate),
            count(&quantity::BREAK_EVEN, supersteps),
            are(left)
        ),
    }
}

/// Formats a number of remaining supersteps with its verb: `56 are`.
fn are(left: u64) -> Sentence {
    let verb = of_number(left, ["is", "are"]);
    say!("{} {}", quantity::LEFT.count(left), verb)
}

/// Returns the effect of a call as JSON.
pub(super) fn json(effect: &Result<Effect, String>, supersteps: u64) -> Value {
    let effect = match effect {
        Ok(effect) => effect,
        Err(why) => return json!({ "unknown": why }),
    };
    let makespan = |spent: &migsim_experiment::Makespan| {
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
        "supersteps_left": left(effect, supersteps),
    })
}
