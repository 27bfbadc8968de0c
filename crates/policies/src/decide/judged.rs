//! The decisions of strategies at a barrier, for comparison.

use serde_json::{Value, json};

use super::choice::{Asked, Choice, choices, is_price, price_options};
use super::history::{History, Told, tell};
use super::snapshot::Snapshot;
use crate::EXEC_PREFIX;
use crate::exec::ask_once;
use crate::strategy::{self, Assignment, bound, optimum};
use crate::trigger;
use migsim_base::error::{Error, Problem};
use migsim_base::random::{Purpose, Stream};
use migsim_base::units::Seconds;

/// The decisions of the strategies at a barrier.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The largest host time with the present placement.
    pub before: Seconds,
    /// A lower bound of the largest host time of any assignment.
    pub bound: Seconds,
    /// The largest host time of the best assignment; `None` if there are too many assignments to try.
    pub optimum: Option<Seconds>,
    /// The decision of each strategy, in the order of the table, then of each program and of each policy of the run.
    pub judged: Vec<Judged>,
    /// The strategies that could not decide, with the reason.
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
    /// The largest host time after the decision.
    pub max: Seconds,
    /// The cost of the call, including moves.
    pub price: Seconds,
}

/// Maximum number of assignments among which an optimum is searched.
const MOST_ASSIGNMENTS: u64 = 1_000_000;

/// Returns the decisions of the strategies of `table` in question at a barrier.
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
    let mut asked_now = asked.clone();
    let is_decided = |name: &String| snapshot.decided().iter().any(|(one, _)| one == name);
    let is_program = |name: &mut String| name.starts_with(EXEC_PREFIX) && !is_decided(name);
    let programs: Vec<String> = asked_now.named.extract_if(.., is_program).collect();
    let asks_programs_alone = asked_now.named.is_empty() && !programs.is_empty();
    let strategies = if asks_programs_alone {
        None
    } else {
        without_decided(snapshot, &asked_now)?
    };
    let judged = |choice: Choice, assignment: Assignment| Judged {
        moves: snapshot.moved(&assignment.hosts).len(),
        max: instance.max_time(&assignment.hosts),
        price: price.price(&instance, &assignment),
        choice,
        assignment,
    };
    let chosen = strategies.map_or_else(
        || Ok(Vec::new()),
        |asked| choices(table, known, "policy", &asked),
    )?;
    for choice in chosen {
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
        verdict.judged.push(judged(choice, assignment));
    }
    let named = |name: &String| Choice {
        entry: "",
        name: name.clone(),
        options: json!({}),
        original: "",
    };
    for program in &programs {
        let assignment = ask_once(&program[EXEC_PREFIX.len()..], &instance)?;
        verdict.judged.push(judged(named(program), assignment));
    }
    // The decisions of the policies of the run, as far as they are in question.
    let is_asked = |name: &String| asked.named.is_empty() || asked.named.contains(name);
    for (name, hosts) in snapshot.decided().iter().filter(|(name, _)| is_asked(name)) {
        let assignment = Assignment {
            hosts: hosts.clone(),
            ..Assignment::default()
        };
        verdict.judged.push(judged(named(name), assignment));
    }
    Ok(verdict)
}

/// Returns the question without the policies whose decision the barrier has; `None` if no other policy is in question.
fn without_decided(snapshot: &Snapshot, asked: &Asked) -> Result<Option<Asked>, Error> {
    let has = |name: &String| {
        snapshot
            .decided()
            .iter()
            .any(|(decided, _)| decided == name)
    };
    let Some(decided) = asked.named.iter().find(|name| has(name)) else {
        return Ok(Some(asked.clone()));
    };
    let named: Vec<String> = asked
        .named
        .iter()
        .filter(|name| !has(name))
        .cloned()
        .collect();
    let is_option = |(key, _): &&(String, Value)| !is_price(key);
    if let Some((key, value)) = asked.settings.iter().find(is_option)
        && named.is_empty()
    {
        let problem = Problem::new(format!(
            "the barrier has the decision of `{decided}` under the options of its run"
        ));
        let hint = format!(
            "write it again with other ones: `migsim snapshot ... --set policy.{decided}.KEY=VALUE`"
        );
        return Err(problem
            .source(format!("--set {key}={value}"))
            .hint(hint)
            .into());
    }
    Ok((!named.is_empty()).then(|| Asked {
        named,
        ..asked.clone()
    }))
}

/// Returns the supersteps at which the triggers of `table` in question balance in a history.
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
