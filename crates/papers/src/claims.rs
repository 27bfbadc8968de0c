//! Checks of the claims of papers in simulations: the tests that the facts describe, and what the functions for the other claims
//! have in common.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    facts::{Expectation, Measure, Summary, Test, expand_list_values},
    policy_check::ClaimOutcome,
    runs::{FinishedRun, Runs, scenario_of_config},
};
use migsim_base::error::Error;
use migsim_bsp::{CallRecord, Scenario};
use migsim_experiment::{Progress, Results};

#[expect(clippy::unnecessary_wraps, reason = "the result of every check")]
pub(super) fn decide(holds: bool, value: impl Serialize) -> ClaimOutcome {
    Ok((Some(holds), json!(value)))
}

/// Carries out a test that the facts describe. `published` is the published number for measurements without one of their own.
///
/// The value is the number of a single run, the list of a measurement or of single runs, a list of such lists, or an object of
/// named values.
pub(super) fn run_test(test: &Test, published: Option<f64>, runs: &Runs<'_>) -> ClaimOutcome {
    let mut numbers: Vec<Vec<f64>> = Vec::new();
    let (mut rows, mut names) = (Vec::new(), Vec::new());
    let (mut rounds, mut are_single) = (true, true);
    for one in &test.compare {
        let mut row = Vec::new();
        for config in expand_list_values(&one.config) {
            let scenario = scenario_of_config(&config).unwrap_or(Scenario::Iii);
            row.push(one.measure.of_run(&*runs.run_of_config(&config)?, scenario));
        }
        let wanted = one.published.or(published).unwrap_or(f64::NAN);
        rounds &= row
            .iter()
            .all(|value| rounds_to_published(number(value), wanted));
        numbers.push(row.iter().map(number).collect());
        let is_single = !one.config.values().any(Value::is_array);
        are_single &= is_single;
        rows.push(if is_single { row.remove(0) } else { row.into() });
        names.extend(one.name.clone());
    }
    if are_single {
        numbers = vec![numbers.concat()];
    }
    let value = match (test.take, rows.len()) {
        (_, 0) => return Ok((None, Value::Null)),
        (Some(summary), _) => {
            let taken = summary.of(&numbers.concat());
            rounds = published.is_some_and(|published| rounds_to_published(taken, published));
            numbers = vec![vec![taken]];
            taken.into()
        }
        (None, 1) => rows.remove(0),
        (None, _) if names.is_empty() => rows.into(),
        (None, _) => names.into_iter().zip(rows).collect::<Map<_, _>>().into(),
    };
    let all = |is_right: &dyn Fn(f64) -> bool| numbers.iter().flatten().all(|&one| is_right(one));
    let holds = match &test.expect {
        Expectation::Published => rounds,
        Expectation::Rises => numbers.iter().all(|row| is_increasing(row)),
        Expectation::Falls => numbers.iter().all(|row| row.is_sorted_by(|a, b| a > b)),
        Expectation::Above(limit) => all(&|one| one > *limit),
        Expectation::Below(limit) => all(&|one| one < *limit),
        Expectation::Within([low, high]) => {
            all(&|one| low.is_none_or(|low| one >= low) && high.is_none_or(|high| one <= high))
        }
        Expectation::Equals(wanted) => value == *wanted,
    };
    decide(holds, value)
}

impl Measure {
    pub(super) fn of_run(self, done: &FinishedRun, scenario: Scenario) -> Value {
        let workload = done.experiment.workload.as_ref();
        let between = |a, b| json!(done.makespan(b) - done.makespan(a));
        match self {
            Self::CallSupersteps => json!(done.call_supersteps(scenario)),
            Self::Calls => done.call_records(scenario).len().into(),
            Self::FirstMove => done.first_move().into(),
            Self::Gain => done.gain_percent().into(),
            Self::GainTime => between(Scenario::Iii, Scenario::I),
            Self::Migrations => done.migration_count().into(),
            Self::Moves => json!(
                done.moves()
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
            ),
            Self::MoveTime => between(Scenario::Ii, Scenario::Iii),
            Self::Overhead => done.overhead_percent().into(),
            Self::OverheadTime => between(Scenario::I, Scenario::Ii),
            Self::Potentials => done.potentials(Scenario::Iii, 0).len().into(),
            Self::Processes => workload.processes().into(),
            Self::Supersteps => workload.supersteps().into(),
            Self::Time => done.makespan(scenario).into(),
        }
    }
}

impl Summary {
    fn of(self, values: &[f64]) -> f64 {
        match self {
            Self::Largest => largest(values),
            Self::Mean => mean(values),
            Self::Smallest => values.iter().copied().fold(f64::MAX, f64::min),
        }
    }
}

/// Returns whether the percentage `value`, rounded to as many decimals as `published` has, is equal to `published`.
pub(super) fn rounds_to_published(value: f64, published: f64) -> bool {
    let printed = published.to_string();
    let decimals = printed.split_once('.').map_or(0, |(_, part)| part.len());
    format!("{value:.decimals$}") == printed
}

/// Returns whether each value is larger than the previous value.
pub(super) fn is_increasing(values: &[f64]) -> bool {
    values.is_sorted_by(|a, b| a < b)
}

pub(super) fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MIN, f64::max)
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub(super) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// Computes a value for each item with the function `one`; stops at the first error and returns it.
pub(super) fn try_map<T: Copy, R>(
    items: &[T],
    one: impl FnMut(T) -> Result<R, Error>,
) -> Result<Vec<R>, Error> {
    items.iter().copied().map(one).collect()
}

/// Returns the settings `config` with a policy that moves these processes to the cluster Aquario after the superstep, and no other.
pub(super) fn with_moves(
    mut config: Value,
    superstep: u64,
    processes: std::ops::RangeInclusive<u64>,
) -> Value {
    let moves: Vec<Value> = processes
        .map(|process| json!({ "superstep": superstep, "process": process, "to": "Aquario" }))
        .collect();
    config["policy.name"] = "replay".into();
    config["policy.replay.decisions"] = moves.into();
    config
}

/// The votes of the supersteps before a call (`+` for a stable one, `-` for an unstable one; the record keeps the first 64), and
/// the interval α before and after the call.
pub(super) fn votes_and_alphas(call: &CallRecord) -> (String, u64, u64) {
    let terms = call.decision.outline_json();
    let alpha = |key: &str| terms[key].as_u64().unwrap_or_default();
    let votes = terms["votes"].as_str().unwrap_or_default();
    (votes.to_owned(), alpha("alpha"), alpha("next_alpha"))
}

pub(super) fn check_repetition(done: &FinishedRun) -> ClaimOutcome {
    let again = done.experiment.run(&Progress::default())?;
    let hashes = |results: &Results| -> Vec<String> {
        let runs = results.scenario_runs.iter();
        runs.map(|run| run.outcome.event_hash.clone()).collect()
    };
    decide(hashes(&again) == hashes(&done.results), hashes(&again))
}

pub(super) fn check_superstep_counts(done: &[std::sync::Arc<FinishedRun>]) -> ClaimOutcome {
    let (mut holds, mut counts) = (true, Vec::new());
    for done in done {
        let order = done.experiment.workload.processes();
        let mut busy = vec![0; order];
        for plan in done.plans() {
            for (count, work) in busy.iter_mut().zip(&plan.work) {
                *count += usize::from(work.get() > 0.0);
            }
        }
        let supersteps = done.experiment.workload.supersteps();
        holds &= supersteps == 2 * order - 1 && busy.iter().all(|&count| count == order);
        counts.push(supersteps);
    }
    decide(holds, counts)
}

pub(super) fn check_messages_to_next(done: &FinishedRun) -> ClaimOutcome {
    let (mut holds, mut messages) = (true, 0);
    for plan in done.plans() {
        let is_next = |message: &migsim_workloads::Message| message.to.0 == message.from.0 + 1;
        holds &= plan.messages.iter().all(is_next);
        messages += plan.messages.len();
    }
    // Each of 49 of the 50 columns sends in 50 supersteps.
    decide(holds && messages == 49 * 50, messages)
}

#[cfg(test)]
mod tests {
    use super::rounds_to_published;

    #[test]
    fn a_percentage_is_rounded_as_it_was_printed() {
        assert!(
            rounds_to_published(2.51, 3.0)
                && !rounds_to_published(2.28, 3.0)
                && !rounds_to_published(3.51, 3.0)
        );
        assert!(
            rounds_to_published(16.94, 16.9)
                && !rounds_to_published(16.96, 16.9)
                && rounds_to_published(9.584, 9.58)
        );
    }
}
