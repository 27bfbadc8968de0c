//! Reproduction of a paper: simulates all its runs in parallel, and compares the results with the published facts.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;

use super::{
    PAPERS, Paper,
    ambiguities::{Answer, answers_to_ambiguities},
    calls::Calls,
    cells::CellResult,
    changes::{CHANGE, Changes, UsedInputs},
    claim_counts::{ClaimCounts, ClaimResult},
    claims::run_test,
    decisions::{
        DecisionResult, RunCalls, ScheduleResult, compare_schedule, compare_with_runs,
        result_of_decision_check,
    },
    effects::{Effect, QuotedEffect, effects_in_tables},
    facts::{
        Claim, Config, Contradiction, Facts, FittedConstant, PublishedDecision, TableCell,
        expand_list_values,
    },
    policy_check::ClaimOutcome,
    runs::{PaperCase, Runs, scenario_of_config},
    unreported::{UnreportedMoves, count_unreported_moves},
};
use migsim_base::error::Error;
use migsim_bsp::Scenario;
use migsim_experiment::{Progress, built_in_names};

/// A constant or option of the reproduction that was fitted to published numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConstantWithEvidence {
    /// Description of the constant or option.
    pub what: String,
    /// Keys of the settings whose values were fitted.
    pub keys: Vec<String>,
    /// Name of another paper for which the same constant is already counted; `None` if no other paper has the constant.
    pub shared_with: Option<String>,
    /// Value of the constant in the experiment of the paper.
    pub value: Value,
    /// Published numbers to which the constant was fitted, described in words.
    pub evidence: String,
}

/// All comparisons of a paper with its reproduction, and notes for the page of the paper.
#[derive(Clone, Debug, Serialize)]
pub struct PaperResults {
    /// Name of the paper, as in the command `migsim reproduce`.
    pub paper: &'static str,
    /// Authors and title of the paper.
    pub title: &'static str,
    /// Parts of the model that are switched off in the fitted experiment of the paper, in one sentence; empty if the paper
    /// publishes no runs.
    pub switched_off: &'static str,
    /// Effects of rescheduling (overheads and gains) in the tables of the paper, published and simulated.
    pub effects: Vec<Effect>,
    /// Effects that only the text of the paper gives.
    pub text_effects: Vec<QuotedEffect>,
    /// Published times in tables and figures, compared with simulated times.
    pub cells: Vec<CellResult>,
    /// Published decisions, compared with simulated decisions.
    pub decisions: Vec<DecisionResult>,
    /// Decisions that follow from published times, compared with simulated decisions. The note of each says how it follows.
    pub derived_decisions: Vec<DecisionResult>,
    /// Published schedules of rescheduling calls, compared with simulated schedules.
    pub call_schedules: Vec<ScheduleResult>,
    /// Claims of the paper with their verdicts in the simulation.
    pub claims: Vec<ClaimResult>,
    /// Moves in the simulated runs that the paper does not report, listed per run.
    pub unreported: Vec<UnreportedMoves>,
    /// Constants and options that were fitted to the numbers of the paper.
    pub constants: Vec<ConstantWithEvidence>,
    /// Answers of the paper's experiment to the questions that the papers leave open.
    pub answers: Vec<Answer>,
    /// Contradictions between statements of the paper.
    pub contradictions: Vec<Contradiction>,
    /// Notes on attempts to reproduce those results of the paper that are not reproduced (Markdown).
    #[serde(skip)]
    pub notes: &'static str,
    /// Changes, experiments and platforms that the runs of the paper use.
    #[serde(skip)]
    pub(super) used_inputs: UsedInputs,
}

impl PaperResults {
    fn is_changed(&self) -> bool {
        self.used_inputs.iter().any(|used| used.0 == CHANGE)
    }

    /// Counts the claims of the paper that hold or fail in the simulation, grouped by whether the published numbers confirm them.
    pub fn claim_counts(&self) -> ClaimCounts {
        ClaimCounts::from_claims(&self.claims)
    }
}

/// Results of the reproduction of the requested papers.
#[derive(Clone, Debug, Serialize)]
pub struct Reproduction {
    /// Results of each requested paper.
    pub papers: Vec<PaperResults>,
    /// Results of the same papers without changed settings; empty before [`Self::compare_with_shipped`], and if no settings were
    /// changed.
    pub shipped: Vec<PaperResults>,
}

impl Reproduction {
    /// Simulates the papers without the changed settings, if there are any, for the comparison of both readings. A paper without a
    /// change keeps its results.
    ///
    /// # Errors
    /// A run fails.
    pub fn compare_with_shipped(&mut self, progress: &Progress) -> Result<(), Error> {
        if self.papers.iter().any(PaperResults::is_changed) {
            let all = self.papers.par_iter().map(|paper| {
                if !paper.is_changed() {
                    return Ok(paper.clone());
                }
                let paper = super::find_paper(paper.paper)?;
                reproduce_one_paper(paper, &Changes::default(), progress)
            });
            self.shipped = all.collect::<Result<_, _>>()?;
        }
        Ok(())
    }

    /// Returns whether each published time of all papers is reproduced or has a reason why it is not reproduced. The reasons belong to
    /// the papers as they ship, so with changed settings no reason is needed.
    pub fn is_each_deviation_explained(&self) -> bool {
        let mut papers = self.papers.iter();
        papers.all(|paper| paper.is_changed() || paper.cells.iter().all(|cell| cell.is_explained))
    }
}

/// Reproduces the paper with this name, or all papers if the name is `all`.
///
/// # Errors
/// There is no paper with this name, or a run fails.
pub fn reproduce(name: &str, progress: &Progress) -> Result<Reproduction, Error> {
    reproduce_with_changes(name, &Changes::default(), progress)
}

/// Reproduces the paper with this name, or all papers if the name is `all`, with changed settings in all runs.
///
/// # Errors
/// There is no paper with this name, a change is invalid or has no effect, or a run fails.
pub fn reproduce_with_changes(
    name: &str,
    changes: &Changes,
    progress: &Progress,
) -> Result<Reproduction, Error> {
    let wanted: Vec<&Paper> = if name == "all" {
        PAPERS.iter().collect()
    } else {
        vec![super::find_paper(name)?]
    };
    let all = wanted.par_iter();
    let papers: Vec<PaperResults> = all
        .map(|paper| reproduce_one_paper(paper, changes, progress))
        .collect::<Result<_, _>>()?;
    let used = papers.iter().flat_map(|paper| paper.used_inputs.clone());
    changes.check_effects(name, &used.collect())?;
    Ok(Reproduction {
        papers,
        shipped: Vec::new(),
    })
}

/// Simulates all runs that the facts of a paper name, and compares their results with the facts.
///
/// # Errors
/// A run fails.
pub(super) fn reproduce_one_paper(
    paper: &Paper,
    changes: &Changes,
    progress: &Progress,
) -> Result<PaperResults, Error> {
    let facts = read_facts(paper)?;
    let runs = Runs::new(paper, changes.clone(), progress)?;
    simulate_all_runs(paper, &facts, &runs)?;
    let cells = facts.tables.iter();
    let cells: Vec<CellResult> = cells
        .map(|cell| compare_cell(&facts, cell, &runs))
        .collect::<Result<_, _>>()?;
    let compare_all = |decisions: &[PublishedDecision]| -> Result<Vec<DecisionResult>, Error> {
        let all = decisions.iter();
        all.map(|one| compare_decision(paper, one, &facts, &runs))
            .collect()
    };
    let schedules = facts.call_schedules.iter().map(|schedule| {
        let told: Vec<Calls> = expand_list_values(&schedule.config)
            .iter()
            .map(|config| calls_of_config(config, &runs))
            .collect::<Result<_, _>>()?;
        Ok(compare_schedule(schedule, &told))
    });
    let claims = facts.claims.iter();
    let claims = claims.map(|claim| check_claim(paper, claim, &runs));
    let text_effects = facts.text_effects.iter().map(|one| {
        let case = settings_text(&one.config);
        QuotedEffect::new(one, case, &runs)
    });
    Ok(PaperResults {
        paper: paper.name,
        title: paper.title,
        switched_off: paper.switched_off_parts,
        effects: effects_in_tables(paper.name, &cells),
        cells,
        text_effects: text_effects.collect::<Result<_, _>>()?,
        decisions: compare_all(&facts.decisions)?,
        derived_decisions: compare_all(&facts.derived_decisions)?,
        call_schedules: schedules.collect::<Result<_, Error>>()?,
        claims: claims.collect::<Result<_, _>>()?,
        unreported: unreported_moves(paper, &facts, &runs)?,
        used_inputs: runs.used_inputs(), // before the runs of the next two lines, in which no setting varies
        constants: fitted_constants(paper, &facts, &runs)?,
        answers: answers_to_open_questions(paper, &runs)?,
        contradictions: facts.contradictions,
        notes: paper.notes,
    })
}

/// Reads the facts of a paper, and adds the times that its text quotes from figures to the published times in tables.
///
/// # Errors
/// The facts cannot be parsed. They are part of the program, so this error is a fault of the program.
pub(super) fn read_facts(paper: &Paper) -> Result<Facts, Error> {
    let mut facts = Facts::parse(paper.name, paper.facts_json)?;
    facts.tables.extend(times_in_figures(&facts));
    Ok(facts)
}

fn times_in_figures(facts: &Facts) -> Vec<TableCell> {
    let scenario = |config: &Config| config.get("scenario").is_some();
    // Scenario i has no alpha, and some keys exist only in tables.
    let same = |a: &Config, b: &Config| {
        a.iter().all(|(key, value)| {
            let other = b.get(key).unwrap_or(&Value::Null);
            value.is_null() || other.is_null() || value == other
        })
    };
    let is_new = |config: &Config| !facts.tables.iter().any(|cell| same(&cell.config, config));
    facts
        .figures
        .iter()
        .filter(|figure| figure.unit == "s" && scenario(&figure.config) && is_new(&figure.config))
        .filter_map(|figure| {
            Some(TableCell {
                id: figure.id.clone(),
                table: figure.figure.clone(),
                config: figure.config.clone(),
                seconds: figure.value.as_f64()?,
                note: figure.note.clone(),
            })
        })
        .collect()
}

/// Simulates in parallel all runs that the facts of a paper refer to; their results are stored in `runs`.
fn simulate_all_runs(paper: &Paper, facts: &Facts, runs: &Runs<'_>) -> Result<(), Error> {
    let cells = facts.tables.iter().map(|cell| &cell.config);
    let decisions = facts.decisions.iter().filter(|one| one.is_of_run());
    let decisions = decisions.map(|decision| &decision.config);
    let schedules = facts.call_schedules.iter().map(|schedule| &schedule.config);
    let mut cases: BTreeMap<String, PaperCase> = BTreeMap::new();
    for config in cells
        .chain(decisions)
        .chain(schedules)
        .flat_map(expand_list_values)
    {
        let case = (paper.case_of_config)(&config);
        cases.insert(case.order_independent_key(), case);
    }
    // The longest runs come first, so that no core waits for one at the end. The settings of large n and p sort last.
    let cases: Vec<PaperCase> = cases.into_values().rev().collect();
    cases
        .par_iter()
        .map(|case| runs.run_case(case).map(drop))
        .collect()
}

/// Maximum relative error with which a simulated time is reproduced, so that it needs no reason for its deviation (a fraction).
const REPRODUCED_BOUND: f64 = 0.025;

fn compare_cell(facts: &Facts, cell: &TableCell, runs: &Runs<'_>) -> Result<CellResult, Error> {
    let done = runs.run_of_config(&cell.config)?;
    let scenario = scenario_of_config(&cell.config).expect("a published time is of a scenario");
    let simulated_s = done.makespan(scenario);
    let error = simulated_s / cell.seconds - 1.0;
    let reason = facts.reasons.get(&cell.id);
    let note = match (cell.note.clone(), reason) {
        (Some(note), Some(reason)) => Some(format!("{note}; {reason}")),
        (note, reason) => note.or(reason.cloned()),
    };
    Ok(CellResult {
        id: cell.id.clone(),
        table: cell.table.clone(),
        in_figure: facts.figures.iter().any(|figure| figure.id == cell.id),
        case: settings_text(&cell.config),
        config: cell.config.clone(),
        scenario: scenario.name(),
        published_s: cell.seconds,
        simulated_s,
        error,
        is_explained: error.abs() <= REPRODUCED_BOUND || reason.is_some(),
        note,
    })
}

/// Formats the settings of a run as keys and values (`n=1000 procs=25`). The scenario is left out, and so are settings that
/// follow from other settings.
fn settings_text(config: &Config) -> String {
    const KEYS: [&str; 7] = [
        "test",
        "mapping",
        "n",
        "procs",
        "supersteps",
        "x_seconds",
        "alpha",
    ];
    let is_shown = |key: &str| match key {
        "supersteps" | "mapping" => !config.contains_key("n"),
        "alpha" => config.get("scenario").is_none_or(|name| name != "i"),
        _ => true,
    };
    let part = |key: &str| match config.get(key).filter(|_| is_shown(key))? {
        Value::Null => None,
        Value::String(text) => Some(format!("{key}={text}")),
        value => Some(format!("{key}={value}")),
    };
    let parts: Vec<String> = KEYS.into_iter().filter_map(part).collect();
    parts.join(" ")
}

fn calls_of_config(config: &Config, runs: &Runs<'_>) -> Result<Calls, Error> {
    let done = runs.run_of_config(config)?;
    Ok(done.calls(scenario_of_config(config).unwrap_or(Scenario::Iii)))
}

fn compare_decision(
    paper: &Paper,
    decision: &PublishedDecision,
    facts: &Facts,
    runs: &Runs<'_>,
) -> Result<DecisionResult, Error> {
    if !decision.is_of_run() {
        let claim = facts
            .claims
            .iter()
            .find(|claim| Some(&claim.id) == decision.claim.as_ref());
        let (holds, value) = match claim {
            Some(claim) => claim_outcome(paper, claim, runs)?,
            None => run_test(&decision.test, None, runs)?,
        };
        return Ok(result_of_decision_check(decision, holds, value));
    }
    let configs = expand_list_values(&decision.config);
    let told: Vec<Calls> = configs
        .iter()
        .map(|config| calls_of_config(config, runs))
        .collect::<Result<_, _>>()?;
    let compared: Vec<RunCalls<'_>> = configs
        .iter()
        .zip(&told)
        .map(|(config, calls)| RunCalls {
            initial_alpha: config.get("alpha").and_then(Value::as_u64),
            calls,
        })
        .collect();
    let reason = || facts.reasons.get(&decision.id).cloned();
    Ok(DecisionResult {
        note: decision.derivation.clone().or_else(reason),
        ..compare_with_runs(decision, &facts.decisions, &compared)
    })
}

fn claim_outcome(paper: &Paper, claim: &Claim, runs: &Runs<'_>) -> ClaimOutcome {
    let check = paper.claim_checks.iter().find(|(id, _)| *id == claim.id);
    match (check, &claim.policy) {
        (Some((_, check)), _) => check(runs, claim),
        (None, Some(policy)) => policy.outcome(),
        (None, None) => run_test(&claim.test, claim.published_value.as_f64(), runs),
    }
}

fn check_claim(paper: &Paper, claim: &Claim, runs: &Runs<'_>) -> Result<ClaimResult, Error> {
    let (holds, value) = claim_outcome(paper, claim, runs)?;
    let verdict = match holds {
        Some(true) => "holds",
        Some(false) => "fails",
        None => "not checkable",
    };
    Ok(ClaimResult {
        id: claim.id.clone(),
        statement: claim.statement.clone(),
        verdict,
        value,
        published_numbers_agree: claim.consistent_with_published_numbers,
    })
}

fn unreported_moves(
    paper: &Paper,
    facts: &Facts,
    runs: &Runs<'_>,
) -> Result<Vec<UnreportedMoves>, Error> {
    let mut of_runs: BTreeMap<String, (Config, Vec<&PublishedDecision>)> = BTreeMap::new();
    for decision in facts.decisions.iter().filter(|one| one.is_of_run()) {
        for config in expand_list_values(&decision.config) {
            let moves = scenario_of_config(&config) != Some(Scenario::Ii);
            if moves {
                let key = (paper.case_of_config)(&config).order_independent_key();
                let run = of_runs.entry(key).or_insert((config, Vec::new()));
                run.1.push(decision);
            }
        }
    }
    let mut rows = Vec::new();
    for (config, decisions) in of_runs.values() {
        let calls = runs.run_of_config(config)?.calls(Scenario::Iii);
        rows.extend(count_unreported_moves(
            settings_text(config),
            decisions,
            &calls,
        ));
    }
    Ok(rows)
}

fn answers_to_open_questions(paper: &Paper, runs: &Runs<'_>) -> Result<Vec<Answer>, Error> {
    let Some(experiment) = paper.experiment else {
        return Ok(Vec::new());
    };
    answers_to_ambiguities(&runs.load_experiment(&PaperCase::new(experiment))?)
}

/// Lists the constants and options that were fitted to a paper, with their values and the evidence in the experiment and platform
/// files.
fn fitted_constants(
    paper: &Paper,
    facts: &Facts,
    runs: &Runs<'_>,
) -> Result<Vec<ConstantWithEvidence>, Error> {
    let Some(experiment) = paper.experiment else {
        return Ok(Vec::new());
    };
    let one = |fitted: &FittedConstant| {
        let first = fitted.keys.first().map_or("", String::as_str);
        let (place, key) = first.split_once(':').unwrap_or((experiment, first));
        let is_of_platform = place == "platform";
        let other = built_in_names().find(|&name| name == place);
        let done = runs.run_case(&PaperCase::new(other.unwrap_or(experiment)))?;
        let origins = if is_of_platform {
            &done.experiment.platform.origins
        } else {
            &done.experiment.config.origins
        };
        let value = key
            .split('.')
            .try_fold(&done.experiment.resolved_settings, |value, part| {
                value.get(part)
            });
        Ok(ConstantWithEvidence {
            what: fitted.what.clone(),
            keys: fitted.keys.clone(),
            shared_with: fitted.shared_with.clone(),
            value: value.cloned().unwrap_or_default(),
            evidence: origins.get(key).cloned().unwrap_or_default(),
        })
    };
    facts.fitted.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledgers_of_all_runs_of_the_papers_add_up_to_the_last_bit() {
        let progress = Progress::default();
        let (mut ledgers, mut exact) = (0, 0);
        for paper in PAPERS {
            let facts = read_facts(paper).unwrap();
            let runs = Runs::new(paper, Changes::default(), &progress).unwrap();
            simulate_all_runs(paper, &facts, &runs).unwrap();
            for done in runs.finished_runs() {
                for run in &done.results.scenario_runs {
                    let Some(ledger) = done.results.ledger(run) else {
                        continue;
                    };
                    ledgers += 1;
                    let (ours, base) = (
                        run.outcome.makespan.get(),
                        done.makespan(migsim_bsp::Scenario::I),
                    );
                    let bits = |seconds: f64| seconds.to_bits();
                    assert_eq!(
                        bits(ledger.difference_in_seconds()),
                        bits(ours - base),
                        "{}",
                        paper.name
                    );
                    if ledger
                        .term_ticks
                        .iter()
                        .map(|ticks| ticks.abs())
                        .sum::<i64>()
                        < 1 << 53
                    {
                        exact += 1;
                        let sum = ledger.terms_in_seconds().map(|(_, seconds)| seconds).sum();
                        assert_eq!(bits(sum), bits(ours - base), "{}", paper.name);
                    }
                    assert_eq!(
                        ledger.term_ticks.iter().sum::<i64>(),
                        ledger.difference_ticks
                    );
                }
            }
        }
        assert!(ledgers >= 200 && exact >= 200, "{exact} of {ledgers}");
    }
}
