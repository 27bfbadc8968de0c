//! One interpretation for all papers: reproduces every paper with the scheduling rules that were chosen for each other paper.
//!
//! The papers describe one scheduler (MigBSP), but where their texts are silent, each paper was reproduced with different
//! options. If the options chosen for one paper also reproduce another paper, this is the strongest evidence about the real
//! MigBSP. A rule set consists of all options of the policy except those that are kept: options that a paper states for its runs,
//! or costs measured on its machines. Kept options belong to the paper that is reproduced, as do its application, its platform
//! and the costs of its calls and moves.

use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value};

use super::cells::{CellResult, median, share_within_relative_error};
use super::changes::Changes;
use super::changes::experiment_document;
use super::decisions::Verdict;
use super::effects::count_effects_within_quarter;
use super::reproduce::{PaperComparison, read_facts, simulate_and_compare_all};
use super::runs::Runs;
use super::{PAPERS, Paper};
use migsim_base::error::Error;
use migsim_experiment::Registry;
use migsim_experiment::{
    COMMON_RULES, Experiment, KeySetting, Layers, Limits, Progress, find_built_in_experiment,
};

/// Names of the options that are not part of a rule set: the reproduced paper keeps its own values of these options.
pub(super) const KEPT_OPTIONS: [&str; 9] = [
    "alpha",
    "d",
    "omega",
    "delta",
    "delta_without_moves",
    "beta",
    "heuristic",
    "migration_operations",
    "viability_cost",
];

/// Name of the policy whose options form a rule set.
const POLICY: &str = "migbsp";

/// Name of the rule set with the default rules of the policy, which apply to the applications of users.
pub(super) const DEFAULT_RULES: &str = "default";

/// Name of the rule set that answers the open questions of the papers in the way of the authors' program of 2015.
const AUTHORS_RULES: &str = "authors-2015";

/// Options in which the rule set `authors-2015` differs from the defaults, with their values: the answers of the authors' program
/// to open questions (A1 to A37) of the papers.
const AUTHORS_ANSWERS: [(&str, &str); 9] = [
    ("floor", "initial"),                  // A1
    ("d_trigger", "every"),                // A5
    ("quiet_call", "moved"),               // A6
    ("set_index", "free-power-sum"),       // A9
    ("index_form", "of-best"),             // A9
    ("idle_ageing", "zero"),               // A12
    ("candidate_order", "rank-ascending"), // A29
    ("own_cluster", "competes"),           // A31
    ("calling_superstep", "before"),       // A37
];

/// Results of reproducing a paper with a rule set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleSetResult {
    /// Name of the rule set: the name of a paper, `default` or `authors-2015`.
    pub rules: &'static str,
    /// Name of the paper that is reproduced.
    pub paper: &'static str,
    /// Number of published decisions and schedules of rescheduling calls that the simulation matches.
    pub matched: usize,
    /// Number of published decisions and schedules of rescheduling calls that can be checked.
    pub checkable: usize,
    /// Number of effects (overheads and gains) in the tables of the paper that are reproduced within 25 %.
    pub effects_within_25_percent: usize,
    /// Number of effects in the tables of the paper.
    pub effects: usize,
    /// Number of published times of scenarios ii and iii; scenario i is left out because it does not use the scheduler.
    pub cells: usize,
    /// Fraction of the published times of scenarios ii and iii that are reproduced within 5 %.
    pub within_5_percent: f64,
    /// Median of the absolute relative errors of the simulated times of scenarios ii and iii, as a fraction.
    pub median_error: f64,
}

impl RuleSetResult {
    /// Returns the number of published times of scenarios ii and iii that are reproduced within 5 %.
    pub(super) fn times_within_5_percent(&self) -> f64 {
        self.within_5_percent * self.cells as f64
    }
}

/// Reproduces, with each rule set, every paper that publishes runs.
///
/// # Errors
/// A run fails.
pub fn apply_all_rule_sets(progress: &Progress) -> Result<Vec<RuleSetResult>, Error> {
    let differences = option_differences()?;
    for_all_papers(&rule_set_names(), |rules, paper| {
        let flags = rule_flags(rules, &differences);
        reproduce_with_flags(rules, flags, paper, progress)
    })
}

/// Computes a result for each of the rule sets and each paper with runs, in parallel.
fn for_all_papers<R: Send>(
    sets: &[&'static str],
    one: impl Fn(&'static str, &Paper) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let papers = papers_with_runs();
    let pairs = sets
        .iter()
        .flat_map(|&rules| papers.iter().map(move |&paper| (rules, paper)));
    let pairs: Vec<_> = pairs.collect();
    pairs
        .into_par_iter()
        .map(|(rules, paper)| one(rules, paper))
        .collect()
}

/// Lists the papers that publish runs.
pub(super) fn papers_with_runs() -> Vec<&'static Paper> {
    let papers = PAPERS.iter();
    papers.filter(|paper| paper.experiment.is_some()).collect()
}

/// An option whose value differs between rule sets, with its value in each rule set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OptionDifference {
    /// Name of the option.
    pub option: String,
    /// Value of the option in each rule set, in the order of `rule_set_names`.
    pub values: Vec<Value>,
}

/// Lists the names of all rule sets: the name of each paper with runs, `default` and `authors-2015`.
pub fn rule_set_names() -> Vec<&'static str> {
    let papers = papers_with_runs().into_iter().map(|paper| paper.name);
    papers.chain([DEFAULT_RULES, AUTHORS_RULES]).collect()
}

/// Lists the options of the policy whose values differ between the rule sets: the options chosen for each paper, the defaults, and those of `authors-2015`.
///
/// # Errors
/// An experiment cannot be read.
pub fn option_differences() -> Result<Vec<OptionDifference>, Error> {
    let sets = rule_set_names()
        .into_iter()
        .map(rule_set_options)
        .collect::<Result<Vec<_>, _>>()?;
    let mut keys: Vec<&String> = Vec::new();
    for key in sets.iter().flat_map(Map::keys) {
        if !KEPT_OPTIONS.contains(&key.as_str()) && !keys.contains(&key) {
            keys.push(key);
        }
    }
    let rows = keys.into_iter().map(|key| OptionDifference {
        option: key.clone(),
        values: sets
            .iter()
            .map(|set| set.get(key).cloned().unwrap_or_default())
            .collect(),
    });
    let differs = |row: &OptionDifference| row.values.iter().any(|value| *value != row.values[0]);
    Ok(rows.filter(differs).collect())
}

/// Returns all options in the rule set with the name `rules`, with their values.
///
/// # Errors
/// There is no such rule set, or its experiment cannot be read.
pub(super) fn rule_set_options(rules: &str) -> Result<Map<String, Value>, Error> {
    let resolve = |own: &Value| {
        let policy = *Registry::standard().policies().find(POLICY)?;
        policy.resolve(own)
    };
    let options = if rules == DEFAULT_RULES {
        let document = find_built_in_experiment(COMMON_RULES)?;
        let own = document.map(|document| document.value["policy"][POLICY].clone());
        resolve(&own.unwrap_or_default())?
    } else if rules == AUTHORS_RULES {
        let answers = AUTHORS_ANSWERS.into_iter();
        let answers = answers.map(|(option, value)| (option.to_owned(), value.into()));
        resolve(&Value::Object(answers.collect()))?
    } else {
        let experiment = super::find_paper(rules)?.experiment.unwrap_or_default();
        let mut layers = Layers::default();
        layers.push_file(experiment_document(experiment)?);
        Experiment::load(&layers, Limits::default())?.resolved_settings["policy"][POLICY].clone()
    };
    Ok(options.as_object().cloned().unwrap_or_default())
}

/// Settings with which a rescheduling call costs only its messages, which are sent one after the other. No fitted number is used.
const MESSAGE_COSTS: [(&str, &str); 3] = [
    ("costs.call.model", "messages"),
    ("costs.call.order", "sequential"),
    ("costs.call.waiting", "blocking"),
];

/// Names of the rule sets in the comparison of fitted call costs with message costs; `own` stands for each paper's own rules.
pub(super) const COST_RULE_SETS: [&str; 3] = ["own", DEFAULT_RULES, AUTHORS_RULES];

/// Reproduces the papers with two costs of rescheduling calls: the fitted cost, and the cost of only the messages of a call. With
/// the second cost, messages are sent one after the other, as in the authors' program of 2015.
///
/// The rule sets are each paper's own rules and the two common rule sets. The result has an entry for each of these rule sets and
/// each paper with runs. An entry has the result with the fitted cost, followed by the result with the message cost.
///
/// # Errors
/// A run fails.
pub fn compare_call_costs(progress: &Progress) -> Result<Vec<[RuleSetResult; 2]>, Error> {
    let differences = option_differences()?;
    for_all_papers(&COST_RULE_SETS, |rules, paper| {
        let fitted = rule_flags(rules, &differences);
        let messages = MESSAGE_COSTS.map(|(key, value)| KeySetting {
            key: key.to_owned(),
            source_text: format!("{key}={value}"),
            value: value.into(),
        });
        let priced = fitted.iter().cloned().chain(messages).collect();
        Ok([
            reproduce_with_flags(rules, fitted, paper, progress)?,
            reproduce_with_flags(rules, priced, paper, progress)?,
        ])
    })
}

/// Returns the settings of a rule set for the options that differ between rule sets; none for `own`.
fn rule_flags(rules: &str, differences: &[OptionDifference]) -> Vec<KeySetting> {
    let set = rule_set_names().iter().position(|name| *name == rules);
    let options = differences.iter();
    let options = options.filter_map(|one| Some((one.option.clone(), one.values[set?].clone())));
    flags_of_rule_options(rules, &options.collect())
}

/// Reproduces a paper under a rule set. The argument `options` has the values of those options that differ between rule sets, and
/// `rules` is the name of the rule set.
///
/// # Errors
/// A run fails.
pub(super) fn reproduce_with_options(
    rules: &'static str,
    options: &Map<String, Value>,
    paper: &Paper,
    progress: &Progress,
) -> Result<RuleSetResult, Error> {
    reproduce_with_flags(
        rules,
        flags_of_rule_options(rules, options),
        paper,
        progress,
    )
}

/// Converts the options of a rule set to settings of an experiment, with the keys `policy.migbsp.OPTION`.
fn flags_of_rule_options(rules: &str, options: &Map<String, Value>) -> Vec<KeySetting> {
    let flags = options.iter().map(|(option, value)| KeySetting {
        key: format!("policy.{POLICY}.{option}"),
        source_text: format!("rules of {rules}: {option}"),
        value: value.clone(),
    });
    flags.collect()
}

/// Reproduces a paper with additional settings in all its experiments, and sums up the results under the name `rules`.
///
/// # Errors
/// A run fails.
fn reproduce_with_flags(
    rules: &'static str,
    flags: Vec<KeySetting>,
    paper: &Paper,
    progress: &Progress,
) -> Result<RuleSetResult, Error> {
    let runs = Runs::new(paper, Changes::of_keys(flags)?, progress)?;
    let compared = simulate_and_compare_all(paper, &read_facts(paper)?, &runs)?;
    Ok(summarize_rule_set_result(rules, paper.name, compared))
}

fn summarize_rule_set_result(
    rules: &'static str,
    paper: &'static str,
    compared: PaperComparison,
) -> RuleSetResult {
    let verdicts = || {
        let decisions = compared.decisions.iter().map(|one| one.verdict);
        decisions.chain(compared.call_schedules.iter().map(|one| one.verdict))
    };
    let count = |is_meant: fn(Verdict) -> bool| verdicts().filter(|&one| is_meant(one)).count();
    let (effects_within_25_percent, effects) = count_effects_within_quarter(paper, &compared.cells);
    let cells: Vec<CellResult> = compared
        .cells
        .into_iter()
        .filter(|cell| cell.scenario != "i")
        .collect();
    RuleSetResult {
        rules,
        paper,
        matched: count(|verdict| verdict == Verdict::Match),
        checkable: count(|verdict| verdict != Verdict::NotCheckable),
        effects_within_25_percent,
        effects,
        cells: cells.len(),
        within_5_percent: share_within_relative_error(&cells, 0.05),
        median_error: median(cells.iter().map(|cell| cell.error.abs())).unwrap_or_default(),
    }
}
