//! The decisions of strategies at a barrier that was read from a file, and their evaluation for comparison.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{
    choice::{
        PolicyOrTrigger, PolicyOrTriggerSelection, is_price_key, price_options,
        selected_policies_or_triggers,
    },
    history::{LoadHistory, TriggerOutcome, simulate_trigger},
    snapshot::BarrierSnapshot,
};
use crate::{
    exec::{PREFIX, request_assignment_once},
    strategy::{self, Assignment, host_time_lower_bound, optimal_assignment},
    trigger,
};
use migsim_base::{
    error::{Problem, Result},
    random::{Stream, StreamPurpose},
    units::Seconds,
};

/// The decisions of all selected strategies at one barrier, with bounds of the largest host time for comparison.
#[derive(Clone, Debug)]
pub struct BarrierDecisions {
    /// The largest time of a host in a superstep with the placement before the decision, for comparison.
    pub max_host_time_before: Seconds,
    /// A lower bound of the largest time of a host in a superstep, which holds for every assignment of processes to hosts.
    pub max_host_time_lower_bound: Seconds,
    /// The largest time of a host in a superstep with the best possible assignment; `None` if there are too many assignments to
    /// try all of them.
    pub optimal_max_host_time: Option<Seconds>,
    /// The decision of each strategy with its evaluation: first the strategies in the order of the table, then external programs,
    /// then the decisions recorded in the file of the barrier.
    pub decisions: Vec<StrategyDecision>,
    /// The name of each strategy that could not decide at this barrier, with the reason as a text.
    pub undecided_strategies_with_reasons: Vec<(String, String)>,
}

/// The decision of one strategy at a barrier, with its evaluation.
#[derive(Clone, Debug)]
pub struct StrategyDecision {
    /// The strategy with its options.
    pub strategy: PolicyOrTrigger,
    /// The new host of each process, as a run would place it, with the costs of the decision.
    pub assignment: Assignment,
    /// The number of processes that the decision moves to another host.
    pub move_count: usize,
    /// The number of processes that the strategy wanted to move, but that stay since their new hosts lack memory, as in a run.
    pub stayed_for_memory: usize,
    /// The largest time of a host in a superstep with the new assignment.
    pub max_host_time: Seconds,
    /// The predicted cost of the rescheduling call, including the moves.
    pub call_cost: Seconds,
}

/// Maximum number of possible assignments of processes to hosts for which the best assignment is searched by trying all of them.
const MAX_ASSIGNMENTS: u64 = 1_000_000;

/// Returns the decisions of the selected strategies of `table` at the barrier `snapshot`, each with its evaluation.
///
/// # Errors
/// A name or an option is wrong, or a strategy that was selected by name cannot decide.
pub fn decide_with_strategies(
    table: &strategy::StrategyTable,
    snapshot: &BarrierSnapshot,
    asked: &PolicyOrTriggerSelection,
) -> Result<BarrierDecisions> {
    let instance = snapshot.instance();
    let price = price_options(&asked.settings)?;
    let mut verdict = BarrierDecisions {
        max_host_time_before: instance.max_host_time(&instance.current_hosts),
        max_host_time_lower_bound: Seconds::of(host_time_lower_bound(&instance)),
        optimal_max_host_time: optimal_assignment(&instance, MAX_ASSIGNMENTS)
            .map(|(time, _)| Seconds::of(time)),
        decisions: Vec::new(),
        undecided_strategies_with_reasons: Vec::new(),
    };
    let known = |entry: &strategy::StrategyEntry| ("", entry.variants());
    let has_options = asked.settings.iter().any(|(key, _)| !is_price_key(key));
    // A recorded decision stands for its policy, unless other options are given with which the strategy decides again.
    let is_recorded = |name: &str| {
        let is_strategy = table.find(name.split('/').next().unwrap_or(name)).is_ok();
        snapshot.has_decision_of(name) && !(has_options && is_strategy)
    };
    let mut undecided = asked.clone();
    undecided.names.retain(|name| !is_recorded(name));
    refuse_options_of_recorded_decision(asked, &undecided)?;
    let is_program = |name: &mut String| name.starts_with(PREFIX);
    let programs: Vec<String> = undecided.names.extract_if(.., is_program).collect();
    let judge = |strategy: PolicyOrTrigger, mut assignment: Assignment| {
        let stayed_for_memory = snapshot.cancel_moves_without_memory(&mut assignment);
        let moves = snapshot.moves_with_host_names(&assignment.assigned_hosts);
        StrategyDecision {
            move_count: moves.len(),
            stayed_for_memory,
            max_host_time: instance.max_host_time(&assignment.assigned_hosts),
            call_cost: price.cost_of_call(&instance, &assignment),
            strategy,
            assignment,
        }
    };
    let mut chosen = Vec::new();
    if asked.names.is_empty() || !undecided.names.is_empty() {
        chosen = selected_policies_or_triggers(table, known, "policy", &undecided)?;
        chosen.retain(|choice| has_options || !is_recorded(&choice.name));
    }
    for choice in chosen {
        let mut strategy = table.find(choice.registered_name)?.build(&choice.options)?;
        let mut random = Stream::new(asked.seed, StreamPurpose::PolicyDecisions);
        let assigned = strategy.assign(&instance, &mut random);
        asked.decision_count.fetch_add(1, Ordering::Relaxed);
        match assigned {
            Ok(assignment) => verdict.decisions.push(judge(choice, assignment)),
            Err(error) if asked.names.is_empty() => {
                let reason = (choice.name, error.first_line());
                verdict.undecided_strategies_with_reasons.push(reason);
            }
            Err(error) => return Err(error),
        }
    }
    let named = |name: &String| PolicyOrTrigger {
        registered_name: "",
        name: name.clone(),
        options: json!({}),
        original_program: "",
    };
    for program in &programs {
        let hosts: Vec<usize> = (0..instance.host_count())
            .map(|core| snapshot.host_of_core(core))
            .collect();
        let assignment = request_assignment_once(&program[PREFIX.len()..], &instance, &hosts)?;
        verdict.decisions.push(judge(named(program), assignment));
    }
    // The decisions of the policies of the run, as far as they are in question.
    let is_asked = |name: &String| asked.names.is_empty() || asked.names.contains(name);
    for (name, decision) in snapshot.recorded_decisions() {
        if is_asked(name) && is_recorded(name) {
            verdict.decisions.push(judge(named(name), decision.clone()));
        }
    }
    Ok(verdict)
}

/// Returns an error if options are given, but only policies with a recorded decision are selected.
fn refuse_options_of_recorded_decision(
    asked: &PolicyOrTriggerSelection,
    undecided: &PolicyOrTriggerSelection,
) -> Result {
    let is_option = |(key, _): &&(String, Value)| !is_price_key(key);
    let option = asked.settings.iter().find(is_option);
    if let (Some((key, value)), Some(decided)) = (option, asked.names.first())
        && undecided.names.is_empty()
    {
        let problem = Problem::new(format!(
            "the option of `{decided}` cannot be changed, since the barrier has only the decision that `{decided}` made with the options of the run"
        ));
        let hint = format!(
            "write the barrier of a run with other options: `migsim snapshot ... --set policy.{decided}.KEY=VALUE`"
        );
        return Err(problem
            .source(format!("--set {key}={value}"))
            .hint(hint)
            .into());
    }
    Ok(())
}

/// Returns for each selected trigger of `table` the supersteps before which it balances the load history, and the total time.
///
/// # Errors
/// A name or an option is wrong.
pub fn simulate_triggers(
    table: &trigger::Table,
    history: &LoadHistory,
    asked: &PolicyOrTriggerSelection,
) -> Result<Vec<(PolicyOrTrigger, TriggerOutcome)>> {
    let known = |entry: &trigger::Entry| (entry.equivalent_yalbb_criterion(), entry.variants());
    let chosen = selected_policies_or_triggers(table, known, "policy.trigger", asked)?;
    chosen
        .into_iter()
        .map(|choice| {
            let mut trigger = table.find(choice.registered_name)?.build(&choice.options)?;
            let told = simulate_trigger(history, &mut *trigger);
            trigger.failure().map_or(Ok(()), Err)?;
            Ok((choice, told))
        })
        .collect()
}
