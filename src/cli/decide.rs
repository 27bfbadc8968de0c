//! Implements `migsim decide`: prints the decision of each policy for a barrier whose state is in a file, or of each trigger for
//! a history of loads.

use std::{
    io::{IsTerminal as _, Write},
    sync::{Arc, atomic::Ordering},
};

use serde_json::{Map, Value, json};

use super::{
    args::DecideArguments,
    memory_limit::memory_limit,
    print::{escape_json_controls, print_json, print_text},
    progress::{ProgressDisplay, run_with_progress},
    run::check_duplicate_keys,
};
use crate::{
    Registry,
    document::{Document, FileKind, parse_typed_value, read_text},
    error::{Error, Problem, Result},
    experiment::split_options_in_braces,
    memory::{Limits, decision_memory},
    output::{Cell, OutputForm, Sheet, Table, number_column, text_column},
    policy::{
        decide::{
            BarrierDecisions, BarrierSnapshot, Case, CaseContent, GrowingLoad, LoadHistory,
            MeasuredTimes, PolicyOrTrigger, PolicyOrTriggerSelection, StrategyDecision,
            TriggerOutcome, best_balancings_of_growth, decide_with_strategies, for_each_case,
            simulate_triggers,
        },
        trigger::BestBalancings,
    },
    words::{format_count, singular_or_plural},
};
use migsim_base::quantities::format_four_digits;

pub(super) fn run_decide(
    registry: &Registry,
    arguments: &DecideArguments,
    out: &mut dyn Write,
) -> Result {
    let source = arguments.file.display().to_string();
    let text = read_text(&arguments.file)?;
    let other = FileKind::detect_from_text(&text).filter(|kind| *kind != FileKind::BarrierSnapshot);
    if let Some(kind) = other {
        return Err(kind
            .wrong_kind_error("a barrier or a history", &source)
            .into());
    }
    let limits = Limits {
        max_memory: memory_limit(arguments.memory_limit, 1),
        ..Limits::default()
    };
    limits
        .check_memory(
            "the decisions",
            decision_memory(text.len()),
            format!("the file has {} bytes", text.len()),
        )
        .map_err(|problem| problem.source(&source))?;
    let document = Document::parse(source, text)?;
    check_duplicate_keys("--set", &arguments.settings)?;
    let settings = arguments.settings.iter();
    let mut settings: Vec<(String, Value)> = settings
        .map(|(key, value)| (key.clone(), parse_typed_value(value)))
        .collect();
    let mut names = arguments.named.clone();
    for name in &mut names {
        let (plain, options) = split_options_in_braces(name)?;
        if arguments.named.len() > 1 && !options.is_empty() {
            let message = "options in braces would count for all named policies";
            let hint = "name this policy alone";
            return Err(Error::input(message, format!("--policy {name}"), hint));
        }
        settings.extend(options);
        *name = plain.into_owned();
    }
    let question = RequestedDecisions {
        registry,
        user_selection: PolicyOrTriggerSelection {
            names,
            settings,
            seed: arguments.seed,
            ..PolicyOrTriggerSelection::default()
        },
    };
    // All cases are checked before the first is decided.
    for_each_case(&document, &arguments.cases, |_| Ok(()))?;
    let is_one = arguments.cases.len() == 1
        || document.value.get("cases").is_none() && document.value.is_object();
    let bar = ProgressDisplay {
        item_noun: "decisions",
        total_items: None,
        prints_lines_without_terminal: false,
        is_quiet: !is_one && std::io::stdout().is_terminal(),
    };
    let count = Arc::clone(&question.user_selection.decision_count);
    let count = || count.load(Ordering::Relaxed);
    run_with_progress(&bar, &count, || {
        question.print_decisions(&document, arguments, is_one, out)
    })
}

/// The policies, triggers and options that the user named, with which each case of the file is decided.
#[derive(Debug)]
struct RequestedDecisions<'r> {
    /// Registry that contains the policies and triggers.
    registry: &'r Registry,
    /// The policies, triggers, options and seed that the user named.
    user_selection: PolicyOrTriggerSelection,
}

/// The decisions for one case of the file, by the kind of the case: the state at a barrier, a history of loads, measured times,
/// or a growing load.
#[derive(Debug)]
enum CaseDecisions {
    Barrier(Box<BarrierSnapshot>, BarrierDecisions),
    History(LoadHistory, Vec<(PolicyOrTrigger, TriggerOutcome)>),
    Measured(MeasuredTimes),
    Growth(GrowingLoad),
}

impl RequestedDecisions<'_> {
    /// Decides the cases of the file one after the other, and prints the decisions of each before the next. As JSON, the decisions
    /// of several cases are a list `cases` with the name and the decisions of each case.
    fn print_decisions(
        &self,
        document: &Document,
        arguments: &DecideArguments,
        is_one: bool,
        out: &mut dyn Write,
    ) -> Result {
        let mut separator = "{\n  \"cases\": [\n";
        for_each_case(document, &arguments.cases, |case| {
            let name = case.name.clone();
            let answer = self.decide_case(case)?;
            if arguments.json && is_one {
                return print_json(out, &answer.to_json());
            }
            if arguments.json {
                let mut answer = answer.to_json();
                answer.shift_insert(0, "case".to_owned(), json!(name));
                let text = escape_json_controls(format!("{:#}", Value::Object(answer)))
                    .replace('\n', "\n    ");
                print_text(out, &format!("{separator}    {text}"))?;
                separator = ",\n";
                return Ok(());
            }
            let mut sheet = Sheet::default();
            if !is_one {
                sheet.add_line(format!("Case {name}"));
                sheet.add_line("");
            }
            answer.add_to_sheet(&mut sheet);
            let before = if separator.is_empty() { "\n" } else { "" };
            separator = "";
            print_text(out, &format!("{before}{}", sheet.render(OutputForm::Table)))
        })?;
        if arguments.json && !is_one {
            return print_text(out, "\n  ]\n}\n");
        }
        Ok(())
    }

    /// Decides a case of the file with the policies or triggers that the user named; if the user named none, with all policies or
    /// triggers.
    fn decide_case(&self, case: Case) -> Result<CaseDecisions> {
        Ok(match case.content {
            CaseContent::Barrier(snapshot) => {
                self.refuse_policies_that_need_history(&snapshot)?;
                let verdict = decide_with_strategies(
                    self.registry.strategies(),
                    &snapshot,
                    &self.user_selection,
                )?;
                CaseDecisions::Barrier(snapshot, verdict)
            }
            CaseContent::LoadHistory(history) => {
                let told =
                    simulate_triggers(self.registry.triggers(), &history, &self.user_selection)?;
                CaseDecisions::History(history, told)
            }
            CaseContent::MeasuredTimes(measured) => {
                self.refuse_policies_and_options(
                    "the case has samples for a plan, from which only the trigger `meta-balancer` decides, so that no policy can be chosen",
                )?;
                CaseDecisions::Measured(measured)
            }
            CaseContent::GrowingLoad(growth) => {
                self.refuse_policies_and_options("the case asks for the best supersteps for balancing, which are independent of the policy, so that no policy can be chosen")?;
                CaseDecisions::Growth(growth)
            }
        })
    }

    /// Returns an error if the user named a policy that needs data of earlier supersteps and the file does not contain its
    /// recorded decision.
    fn refuse_policies_that_need_history(&self, snapshot: &BarrierSnapshot) -> Result {
        for named in &self.user_selection.names {
            let name = named.split('/').next().unwrap_or(named);
            // An unknown name is reported later.
            let is_refused = self
                .registry
                .policies()
                .find(name)
                .is_ok_and(|entry| !entry.is_strategy());
            if snapshot.has_decision_of(named) || !is_refused {
                continue;
            }
            let problem = Problem::new(format!(
                "the policy `{named}` needs the times of many supersteps, but the file describes a single barrier and holds no decision that `{named}` made there"
            ));
            return Err(problem
                .source(format!("--policy {named}"))
                .hint(format!(
                "write the barrier of a run with this policy: `migsim snapshot ... --policy {named} --superstep N --out FILE`"
            ))
                .into());
        }
        Ok(())
    }

    /// Returns an error if the user named policies or options, but the result of the case does not depend on them; `why` is the
    /// text of the error.
    fn refuse_policies_and_options(&self, why: &str) -> Result {
        if self.user_selection.names.is_empty() && self.user_selection.settings.is_empty() {
            return Ok(());
        }
        Err(Problem::new(why)
            .hint("leave out `--policy` and `--set`")
            .source("--policy")
            .into())
    }
}

impl CaseDecisions {
    /// Returns the decisions for the case as JSON.
    fn to_json(&self) -> Map<String, Value> {
        let object = match self {
            Self::Barrier(snapshot, verdict) => json!({
                "policies": verdict.decisions.iter().map(|judged| decision_json(judged, verdict, snapshot)).collect::<Vec<_>>(),
                "bound": verdict.max_host_time_lower_bound.get(),
                "optimum": verdict.optimal_max_host_time.map(crate::units::Seconds::get),
            }),
            Self::History(history, told) => {
                let best = history.best_balancings();
                let triggers = told.iter().map(|(choice, told)| {
                    add_original_program_name(
                        json!({
                            "trigger": choice.name,
                            "balances_before_iteration": told.balancing_supersteps,
                            "total_time": told.total_time,
                        }),
                        choice.original_program,
                    )
                });
                json!({
                    "triggers": triggers.collect::<Vec<_>>(),
                    "optimum": best.map(|best| json!({
                        "balances_before_iteration": best.balancing_supersteps,
                        "total_time": best.total_time,
                    })),
                })
            }
            Self::Measured(measured) => {
                let plan = measured.plan_next_balancing();
                json!({
                    "plan": plan.is_some(),
                    "period": plan.map(|plan| plan.period),
                    "ratio_at_period": plan.map(|plan| plan.predicted_imbalance),
                })
            }
            Self::Growth(growth) => {
                let best = best_balancings_of_growth(growth);
                json!({ "optimal_time": best.total_time, "balances_before_iteration": best.balancing_supersteps })
            }
        };
        match object {
            Value::Object(object) => object,
            _ => Map::new(),
        }
    }

    /// Adds the decisions for the case to the lines and tables that are printed.
    fn add_to_sheet(&self, sheet: &mut Sheet) {
        match self {
            Self::Barrier(snapshot, verdict) => add_barrier_decisions(snapshot, verdict, sheet),
            Self::History(history, told) => add_history_decisions(history, told, sheet),
            Self::Measured(measured) => sheet.add_line(match measured.plan_next_balancing() {
                Some(plan) => format!(
                    "The plan: balance the load {} after the last balancing, when the largest load is predicted to be {} times the mean load.",
                    format_count(usize::try_from(plan.period).unwrap_or(0), "superstep"),
                    format_four_digits(plan.predicted_imbalance)
                ),
                None => "There is no plan yet, since a plan needs the loads of at least five supersteps.".to_owned(),
            }),
            Self::Growth(growth) => {
                sheet.add_line(shortest_time_line(&best_balancings_of_growth(growth)));
            }
        }
    }
}

/// Creates the JSON object with the decision of one policy: the assignment of the processes, the moves, and the predicted times.
fn decision_json(
    judged: &StrategyDecision,
    verdict: &BarrierDecisions,
    snapshot: &BarrierSnapshot,
) -> Value {
    let mut row = json!({
        "policy": judged.strategy.name,
        "assignment": judged.assignment.assigned_hosts,
        "moves": judged.move_count,
        "stayed_for_memory": judged.stayed_for_memory,
        "max_time_before": verdict.max_host_time_before.get(),
        "max_time": judged.max_host_time.get(),
        "price_s": judged.call_cost.get(),
    });
    if snapshot.named_host_count().is_some() {
        row["moved"] = snapshot
            .moves_with_host_names(&judged.assignment.assigned_hosts)
            .into_iter()
            .map(|(process, from, to)| json!({ "process": process, "from": from, "to": to }))
            .collect();
    }
    add_original_program_name(row, judged.strategy.original_program)
}

/// Adds to a JSON object the name of the original program whose decisions the policy or trigger reproduces; adds nothing if
/// `original` is empty.
fn add_original_program_name(mut row: Value, original: &str) -> Value {
    if !original.is_empty() {
        row["original"] = json!(original);
    }
    row
}

/// Formats a time \[s\] as a cell with four significant digits.
fn seconds_cell(value: f64) -> Cell {
    Cell::from_value_and_text(value, format_four_digits(value))
}

/// Describes the state at a barrier in a sentence: the numbers of processes and hosts, and the time of the busiest host, or of the
/// busiest core if hosts have several cores. `max_time` is this time \[s\].
fn describe_barrier_state(snapshot: &BarrierSnapshot, max_time: f64) -> String {
    let instance = snapshot.instance();
    let processes = format_count(instance.process_count(), "process");
    let cores = instance.host_count();
    let largest = format_four_digits(max_time);
    match snapshot.named_host_count() {
        Some(hosts) if hosts < cores => format!(
            "{processes} on {} with {}; the busiest core takes {largest} s for a superstep.",
            format_count(hosts, "host"),
            format_count(cores, "core"),
        ),
        _ => format!(
            "{processes} on {}; the busiest host takes {largest} s for a superstep.",
            format_count(cores, "host"),
        ),
    }
}

/// Adds the decisions of the policies for the state at a barrier to the lines and tables that are printed.
fn add_barrier_decisions(
    snapshot: &BarrierSnapshot,
    verdict: &BarrierDecisions,
    sheet: &mut Sheet,
) {
    let instance = snapshot.instance();
    sheet.add_line(describe_barrier_state(
        snapshot,
        verdict.max_host_time_before.get(),
    ));
    sheet.add_line("");
    let columns = [
        text_column("policy", "policy"),
        number_column("largest time [s]", "max_time"),
        number_column("moves", "moves"),
        number_column("price [s]", "price_s"),
        number_column("stay for lack of memory", "stayed_for_memory"),
    ];
    let ranked = sort_by_predicted_time(&verdict.decisions);
    let is_memory_shown = ranked.iter().any(|judged| judged.stayed_for_memory > 0);
    let count = columns.len() - usize::from(!is_memory_shown);
    let mut table = Table::new("policies", "", &columns[..count]);
    for judged in &ranked {
        let row = [
            Cell::text(&judged.strategy.name),
            seconds_cell(judged.max_host_time.get()),
            Cell::count(judged.move_count),
            seconds_cell(judged.call_cost.get()),
            Cell::count(judged.stayed_for_memory),
        ];
        table.push_row(&row[..count]);
    }
    sheet.add_table(table);
    sheet.add_line("");
    if let Some(best) = ranked.first() {
        sheet.add_line(best_decision_sentence(
            best,
            verdict,
            instance.process_count(),
        ));
    }
    sheet.add_line(match verdict.optimal_max_host_time {
        Some(time) => format!(
            "With the best of all possible assignments a superstep takes {} s.",
            format_four_digits(time.get())
        ),
        None => format!(
            "No assignment of processes to hosts makes a superstep shorter than {} s.",
            format_four_digits(verdict.max_host_time_lower_bound.get())
        ),
    });
    for (name, why) in &verdict.undecided_strategies_with_reasons {
        sheet.add_line(format!("There is no decision of {name}: {why}."));
    }
    if let Some(best) = ranked.first() {
        add_moves_to_sheet(snapshot, best, sheet);
    }
}

/// Maximum number of moves of a decision that are printed; the remaining moves are only counted.
const MAX_PRINTED_MOVES: usize = 20;

/// Adds a list of the moves of a decision, with the names of the hosts, to the printed output; adds nothing if the file does not
/// contain the names of the hosts.
fn add_moves_to_sheet(snapshot: &BarrierSnapshot, judged: &StrategyDecision, sheet: &mut Sheet) {
    let moved = snapshot.moves_with_host_names(&judged.assignment.assigned_hosts);
    if snapshot.named_host_count().is_none() || moved.is_empty() {
        return;
    }
    sheet.add_line("");
    sheet.add_line(format!("Moves that {} decides", judged.strategy.name));
    for (process, from, to) in moved.iter().take(MAX_PRINTED_MOVES) {
        sheet.add_line(format!("p{process}: {from} -> {to}"));
    }
    if moved.len() > MAX_PRINTED_MOVES {
        let more = moved.len() - MAX_PRINTED_MOVES;
        sheet.add_line(format!(
            "and {more} more moves; add `--json` to see all of them"
        ));
    }
}

fn sort_by_predicted_time(judged: &[StrategyDecision]) -> Vec<&StrategyDecision> {
    let mut ranked: Vec<&StrategyDecision> = judged.iter().collect();
    ranked.sort_by(|a, b| {
        a.max_host_time
            .get()
            .total_cmp(&b.max_host_time.get())
            .then(a.move_count.cmp(&b.move_count))
    });
    ranked
}

fn best_decision_sentence(
    best: &StrategyDecision,
    verdict: &BarrierDecisions,
    processes: usize,
) -> String {
    let name = &best.strategy.name;
    let before = verdict.max_host_time_before.get();
    let after = best.max_host_time.get();
    if best.move_count == 0 {
        return format!("The best of these decisions, that of {name}, moves no process.");
    }
    let percent = if before > 0.0 {
        format!(" ({:+.1} %)", 100.0 * (after / before - 1.0))
    } else {
        String::new()
    };
    let price = if before > after {
        let supersteps = (best.call_cost.get() / (before - after)).ceil();
        let supersteps = format_count(supersteps, "superstep");
        format!("; the cost of the call is paid back after {supersteps}")
    } else {
        String::new()
    };
    format!(
        "With {name} a superstep takes {} s instead of {} s{percent}: {}{price}.",
        format_four_digits(after),
        format_four_digits(before),
        format_moves(best.move_count, processes)
    )
}

/// Formats a number of moved processes as a part of a sentence: `2 of 4 processes move`.
fn format_moves(moves: usize, processes: usize) -> String {
    let verb = singular_or_plural(moves as u64, ["moves", "move"]);
    format!("{moves} of {} {verb}", format_count(processes, "process"))
}

/// Adds the decisions of the triggers for a history of loads to the lines and tables that are printed.
fn add_history_decisions(
    history: &LoadHistory,
    told: &[(PolicyOrTrigger, TriggerOutcome)],
    sheet: &mut Sheet,
) {
    let columns = [
        text_column("trigger", "trigger"),
        number_column("total time [s]", "total_time"),
        number_column("balancings", "balancings"),
        text_column("before supersteps", "balances_before_iteration"),
    ];
    let mut table = Table::new("triggers", "", &columns);
    let mut ranked: Vec<&(PolicyOrTrigger, TriggerOutcome)> = told.iter().collect();
    ranked.sort_by(|(_, a), (_, b)| {
        a.total_time.total_cmp(&b.total_time).then(
            a.balancing_supersteps
                .len()
                .cmp(&b.balancing_supersteps.len()),
        )
    });
    for (choice, told) in &ranked {
        table.push_row([
            Cell::text(&choice.name),
            seconds_cell(told.total_time),
            Cell::count(told.balancing_supersteps.len()),
            Cell::text(format_superstep_list(&told.balancing_supersteps)),
        ]);
    }
    sheet.add_table(table);
    sheet.add_line("");
    let Some(best) = history.best_balancings() else {
        sheet.add_line(
            "The best supersteps for balancing are not computed, since the history is too long.",
        );
        return;
    };
    sheet.add_line(shortest_time_line(&best));
    if let Some((choice, told)) = ranked.first().filter(|_| best.total_time > 0.0) {
        let more = 100.0 * (told.total_time / best.total_time - 1.0);
        sheet.add_line(if more < 0.05 {
            format!("The trigger {} reaches this time.", choice.name)
        } else {
            format!(
                "Of the triggers, {} comes nearest to this time: its total time is {more:.1} % longer.",
                choice.name
            )
        });
    }
}

/// Describes the balancings with the shortest total time: `balanced before supersteps 7 and 15, counted from 0`.
fn shortest_time_line(best: &BestBalancings) -> String {
    let supersteps = &best.balancing_supersteps;
    let balanced = match &supersteps[..] {
        [] => "never balanced".to_owned(),
        [one] => format!("balanced before superstep {one}, counted from 0"),
        several => format!(
            "balanced before supersteps {}, counted from 0",
            format_superstep_list(several)
        ),
    };
    format!(
        "The shortest possible total time is {} s, reached if the load is {balanced}.",
        format_four_digits(best.total_time)
    )
}

/// Maximum number of supersteps that are listed in one line.
const MAX_LISTED_SUPERSTEPS: usize = 12;

/// Formats a list of supersteps, separated by commas; `...` at the end stands for supersteps beyond the first
/// [`MAX_LISTED_SUPERSTEPS`].
fn format_superstep_list(balances: &[usize]) -> String {
    let shown: Vec<String> = balances
        .iter()
        .take(MAX_LISTED_SUPERSTEPS)
        .map(usize::to_string)
        .collect();
    let more = if balances.len() > MAX_LISTED_SUPERSTEPS {
        ", ..."
    } else {
        ""
    };
    format!("{}{more}", shown.join(", "))
}
