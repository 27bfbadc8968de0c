//! Evaluates what a rescheduling call with moves gained or lost: prepares a repetition of the run without the moves of this call,
//! and describes the results in sentences.

use serde_json::{Value, json};

use super::question::{Question, find_scenario_to_explain};
use crate::{
    read::{Run, ScenarioRecords},
    rows::RecordedCall,
};
use migsim_base::{
    error::Problem,
    quantities::format_time,
    words::{format_count, singular_or_plural},
};
use migsim_bsp::Scenario;
use migsim_experiment::{
    CallEffect, Experiment, PlannedCall, PredictedChange, Progress, RecordedRun, ReschedulingPlan,
};
use migsim_policies::explain::{Narrator, RecordedMigration};

/// A rescheduling call whose effect can be computed: a call that moved processes and was followed by at least one superstep.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedCall<'a> {
    run: &'a Run,
    scenario_records: &'a ScenarioRecords,
    call_index: usize,
}

impl<'a> EvaluatedCall<'a> {
    /// Finds the rescheduling call that the user's question names by its superstep. Returns `None` if there is no such call, if
    /// the call moved no process, or if it came after the last superstep.
    ///
    /// # Errors
    /// The run has no scenario that the question names.
    pub fn find_by_question(run: &'a Run, question: Question) -> Result<Option<Self>, Problem> {
        let this = find_scenario_to_explain(run, question.scenario)?;
        let judged = this.calls.iter().position(|call| {
            let is_over = call.superstep >= this.supersteps.len() as u64;
            let is_moving = call.applied && !call.migrations.is_empty();
            call.superstep == question.superstep && is_moving && !is_over
        });
        let is_moving = this.scenario == Scenario::Iii;
        Ok(judged.filter(|_| is_moving).map(|call_index| Self {
            run,
            scenario_records: this,
            call_index,
        }))
    }

    /// Computes the effect of the moves of this call: simulates `experiment` once with and once without these moves.
    ///
    /// # Errors
    /// The effect cannot be computed, because the experiment is no longer the same as in the recorded run; the text gives the
    /// reason.
    pub fn simulate_effect(
        &self,
        experiment: &Experiment,
        progress: &Progress,
    ) -> Result<CallEffect, String> {
        let calls = &self.scenario_records.calls;
        let ends = self.scenario_records.supersteps.iter();
        let trial = RecordedRun {
            plan: recorded_plan(calls, experiment)?,
            superstep_ends_s: ends.map(|row| row.end_s).collect(),
            examined_call_index: self.call_index,
            predicted_changes: predicted_changes(self.run.narrator, &calls[self.call_index]),
        };
        experiment
            .call_effect(&trial, progress)
            .map_err(|error| error.first_line())
    }
}

/// Returns the recorded calls in the form in which a run can repeat them.
///
/// # Errors
/// The platform of `experiment` has no host with a recorded name.
fn recorded_plan(
    calls: &[RecordedCall],
    experiment: &Experiment,
) -> Result<ReschedulingPlan, String> {
    let host = |one: &RecordedMigration| {
        let found = experiment.platform.platform.host_named(&one.to_host);
        let process = u32::try_from(one.process.saturating_sub(1)).unwrap_or(u32::MAX);
        found
            .map(|host| (process, host))
            .ok_or_else(|| format!("the platform has no host `{}`", one.to_host))
    };
    let calls = calls.iter().map(|call| {
        Ok(PlannedCall {
            superstep: call.superstep,
            moves: call.migrations.iter().map(host).collect::<Result<_, _>>()?,
            procedure: call.procedure,
            reports_early: call.early_reports,
        })
    });
    let calls: Result<Vec<_>, String> = calls.collect();
    calls.map(ReschedulingPlan::new)
}

/// Returns the factors by which the policy predicts the time of each moved process in one superstep to change: the ratio t2 / t1,
/// without the cost of the migration.
///
/// t1 is the predicted time on the origin, t2 on the destination. Computation and communication have separate ratios if the
/// record of the call contains separate times. Returns `None` if the policy predicts no times.
fn predicted_changes(narrator: &dyn Narrator, call: &RecordedCall) -> Option<Vec<PredictedChange>> {
    let change = |process: u64| {
        let mut judged = call.candidates.iter();
        let judged = judged.find(|one| one.process == process && one.accepted)?;
        let [computation, sends] = narrator.slowdown_factors(call.record(), judged)?;
        Some(PredictedChange {
            process,
            computation_ratio: computation,
            send_ratio: sends,
        })
    };
    call.migrations
        .iter()
        .map(|one| change(one.process))
        .collect()
}

fn format_superstep_range(from: u64, until: u64) -> String {
    if from == until {
        format!("superstep {from}")
    } else {
        format!("supersteps {from} to {until}")
    }
}

/// Describes the makespans of the same supersteps without and with the moves of a call \[s\], and their difference as a gain or a
/// loss.
fn describe_makespans(without: f64, with: f64) -> String {
    let gain = without - with;
    let word = if gain < 0.0 { "loss" } else { "gain" };
    format!(
        "{} without these moves, {} with these moves, which is a {word} of {}",
        format_time(without),
        format_time(with),
        format_time(gain.abs())
    )
}

/// Describes the predicted and the realised effect of the moves of one rescheduling call on a run of `supersteps` supersteps.
/// `is_last` tells whether it is the last call of the run.
pub(super) fn describe_effect(effect: &CallEffect, supersteps: u64, is_last: bool) -> Vec<String> {
    let until = if is_last {
        "to the end of the run"
    } else {
        "until the next call"
    };
    let range = format_superstep_range(effect.first_superstep, effect.last_superstep);
    let without = &effect.makespan_without_moves;
    let with = &effect.makespan_with_moves;
    let net = effect.net_gain_s();
    let word = if net < 0.0 { "later" } else { "earlier" };
    vec![
        format!("The effect of the moves on the total time of {range} ({until}):"),
        describe_prediction(effect),
        format!(
            "  realised, compared with a repetition of the run without these moves: {}.",
            describe_makespans(without.total.get(), with.total.get())
        ),
        format!(
            "  parts of the realised times: computation {} with these moves instead of {} without them; communication and barrier {} with these moves instead of {} without them.",
            format_time(with.computation_time.get()),
            format_time(without.computation_time.get()),
            format_time(with.time_after_computation.get()),
            format_time(without.time_after_computation.get()),
        ),
        describe_break_even(effect, supersteps_after_call(effect, supersteps)),
        format!(
            "If the cost of the moves is included, superstep {} ended {} {word} than without these moves.",
            effect.last_superstep,
            format_time(net.abs())
        ),
    ]
}

fn describe_prediction(effect: &CallEffect) -> String {
    let Some(predicted) = &effect.predicted_makespans else {
        return "  predicted: no value, since the policy predicts no times.".into();
    };
    format!(
        "  predicted for as many supersteps as the mean of {}, where the times of moved processes are multiplied by t2 / t1 (t2 without the operations of the move): {}.",
        format_superstep_range(
            predicted.first_observed_superstep,
            predicted.last_observed_superstep
        ),
        describe_makespans(predicted.without_moves.get(), predicted.with_moves.get())
    )
}

pub(super) fn supersteps_after_call(effect: &CallEffect, supersteps: u64) -> u64 {
    (supersteps + 1).saturating_sub(effect.first_superstep)
}

/// Describes after how many supersteps the gain of the moves of a call has compensated the cost of the moves, and whether the
/// `left` supersteps after the call suffice.
fn describe_break_even(effect: &CallEffect, left: u64) -> String {
    let price = format_time(effect.move_delay.get());
    let rate = effect.gain_per_superstep_s();
    let gain = format_time(rate.abs());
    let verb = singular_or_plural(left, ["is", "are"]);
    let left_over = format!("{} {verb}", format_count(left, "superstep"));
    match effect.break_even_supersteps() {
        None if rate < 0.0 => format!(
            "The moves delayed the run by {price}, and each superstep takes {gain} longer with them: the moves do not pay for themselves."
        ),
        None => format!(
            "The moves delayed the run by {price} and save no time afterwards: they do not pay for themselves."
        ),
        Some(0) => "The moves did not delay the run, so they cost no time.".into(),
        Some(supersteps) if supersteps > left => format!(
            "The moves delayed the run by {price} and do not pay for themselves: they gain {gain} per superstep, so that this takes {}, but only {left_over} left after the call.",
            format_count(supersteps, "superstep")
        ),
        Some(supersteps) => format!(
            "The moves delayed the run by {price} and gain {gain} per superstep, so that they pay for themselves after {}; {left_over} left after the call.",
            format_count(supersteps, "superstep")
        ),
    }
}

/// Converts the effect of the moves of a rescheduling call in a run of `supersteps` supersteps to JSON; if the effect is unknown,
/// the JSON object contains only the reason.
pub(super) fn effect_to_json(effect: &Result<CallEffect, String>, supersteps: u64) -> Value {
    let effect = match effect {
        Ok(effect) => effect,
        Err(why) => return json!({ "unknown": why }),
    };
    let makespan = |spent: &migsim_experiment::Makespan| {
        json!({
            "makespan_s": spent.total.get(),
            "computation_s": spent.computation_time.get(),
            "communication_barrier_s": spent.time_after_computation.get(),
        })
    };
    let predicted = effect.predicted_makespans.as_ref().map(|predicted| {
        json!({
            "makespan_without_s": predicted.without_moves.get(),
            "makespan_with_s": predicted.with_moves.get(),
            "gain_s": predicted.without_moves.get() - predicted.with_moves.get(),
            "from_superstep": predicted.first_observed_superstep,
            "until_superstep": predicted.last_observed_superstep,
        })
    });
    json!({
        "from_superstep": effect.first_superstep,
        "until_superstep": effect.last_superstep,
        "predicted": predicted,
        "realised": {
            "without": makespan(&effect.makespan_without_moves),
            "with": makespan(&effect.makespan_with_moves),
            "gain_s": effect.gain_s(),
            "gain_per_superstep_s": effect.gain_per_superstep_s(),
        },
        "price_s": effect.move_delay.get(),
        "net_gain_s": effect.net_gain_s(),
        "break_even_supersteps": effect.break_even_supersteps(),
        "supersteps_left": supersteps_after_call(effect, supersteps),
    })
}
