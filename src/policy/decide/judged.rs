//! The decisions of strategies at a barrier, side by side.

use super::choice::{Asked, Choice, choices, price_options};
use super::history::{History, Told, tell};
use super::snapshot::Snapshot;
use crate::error::Error;
use crate::policy::strategy::{self, Assignment, bound, optimum};
use crate::policy::trigger;
use crate::random::{Purpose, Stream};
use crate::units::Seconds;

/// The decisions of the strategies at a barrier.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The largest host time as processes are now.
    pub before: Seconds,
    /// No assignment takes less.
    pub bound: Seconds,
    /// The best assignment takes this; `None` where there are too many to try.
    pub optimum: Option<Seconds>,
    /// The decision of each strategy, in the order of the table.
    pub judged: Vec<Judged>,
    /// Strategies that could not decide, and why.
    pub silent: Vec<(String, String)>,
}

/// The decision of a strategy.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The strategy and its options.
    pub choice: Choice,
    /// The decision.
    pub assignment: Assignment,
    /// The number of processes that move.
    pub moves: usize,
    /// The largest host time then.
    pub max: Seconds,
    /// The price of the call, moves included.
    pub price: Seconds,
}

/// Optima are searched among at most this many assignments.
const MOST_ASSIGNMENTS: u64 = 1_000_000;

/// Asks strategies what they do at a barrier: those of `table` that are asked for.
///
/// # Errors
/// A name or an option is wrong, or a strategy that was named cannot decide.
pub fn judge(
    table: &strategy::Table,
    snapshot: &Snapshot,
    asked: &Asked,
) -> Result<Verdict, Error> {
    let instance = snapshot.instance();
    let price = price_options(&asked.settings)?;
    let mut verdict = Verdict {
        before: instance.max_time(&instance.current),
        bound: Seconds::of(bound(&instance)),
        optimum: optimum(&instance, MOST_ASSIGNMENTS).map(|(time, _)| Seconds::of(time)),
        judged: Vec::new(),
        silent: Vec::new(),
    };
    let known = |entry: &strategy::Entry| ("", entry.variants());
    for choice in choices(table, known, "policy", asked)? {
        let mut strategy = table.find(choice.entry)?.build(&choice.options)?;
        let mut random = Stream::new(asked.seed, Purpose::Policy);
        let assignment = match strategy.assign(&instance, &mut random) {
            Ok(assignment) => assignment,
            Err(error) if asked.named.is_empty() => {
                verdict.silent.push((choice.name, error.first_line()));
                continue;
            }
            Err(error) => return Err(error),
        };
        verdict.judged.push(Judged {
            moves: assignment.moves(&instance),
            max: instance.max_time(&assignment.hosts),
            price: price.price(&instance, &assignment),
            choice,
            assignment,
        });
    }
    Ok(verdict)
}

/// Asks triggers when they balance in a history: those of `table` that are asked for.
///
/// # Errors
/// A name or an option is wrong.
pub fn judge_triggers(
    table: &trigger::Table,
    history: &History,
    asked: &Asked,
) -> Result<Vec<(Choice, Told)>, Error> {
    let known = |entry: &trigger::Entry| (entry.original(), entry.variants());
    let chosen = choices(table, known, "policy.trigger", asked)?;
    let tell = |choice: Choice| {
        let mut trigger = table.find(choice.entry)?.build(&choice.options)?;
        let told = tell(history, &mut *trigger);
        trigger.failure().map_or(Ok(()), Err)?;
        Ok((choice, told))
    };
    chosen.into_iter().map(tell).collect()
}
