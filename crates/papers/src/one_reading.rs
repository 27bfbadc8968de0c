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

use super::{
    PAPERS,
    changes::{Changes, experiment_document},
    reproduce::reproduce_one_paper,
    residuals::Residuals,
    runs::Paper,
};
use migsim_base::error::Error;
use migsim_experiment::{COMMON_RULES, Experiment, KeySetting, Layers, Limits, Progress, Registry};

/// Names of the options that are not part of a rule set: the reproduced paper keeps its own values of these options.
const KEPT_OPTIONS: [&str; 9] = [
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

const DEFAULT_RULES: &str = "default";

/// Name of the rule set that answers the open questions of the papers in the way of the authors' program of 2015.
const AUTHORS_RULES: &str = "authors-2015";

/// Options in which the rule set `authors-2015` differs from the defaults, with their values: the answers of the authors' program
/// to open questions (A1 to A37) of the papers.
const AUTHORS_ANSWERS: [(&str, &str); 7] = [
    ("floor", "initial"),                  // A1
    ("quiet_call", "moved"),               // A6
    ("set_index", "free-power-sum"),       // A9
    ("index_form", "of-best"),             // A9
    ("candidate_order", "rank-ascending"), // A29
    ("own_cluster", "competes"),           // A31
    ("calling_superstep", "before"),       // A37
];

/// Results of reproducing a paper with a rule set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleSetResult {
    /// Name of the rule set: the name of a paper, `default` or `authors-2015`.
    pub rules: &'static str,
    /// Results of the paper.
    #[serde(flatten)]
    pub residuals: Residuals,
}

/// Reproduces, with each rule set, every paper that publishes runs.
///
/// # Errors
/// A run fails.
pub fn apply_all_rule_sets(progress: &Progress) -> Result<Vec<RuleSetResult>, Error> {
    let differences = option_differences()?;
    for_all_papers(&rule_set_names(), |rules, paper| {
        reproduce_with_rules(rules, &differences, &[], paper, progress)
    })
}

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
pub(super) fn rule_set_names() -> Vec<&'static str> {
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
fn rule_set_options(rules: &str) -> Result<Map<String, Value>, Error> {
    let own = match rules {
        DEFAULT_RULES => experiment_document(COMMON_RULES)?.value["policy"][POLICY].clone(),
        AUTHORS_RULES => AUTHORS_ANSWERS.into_iter().collect(),
        _ => {
            let experiment = super::find_paper(rules)?.experiment.unwrap_or_default();
            let mut layers = Layers::default();
            layers.push_file(experiment_document(experiment)?);
            let loaded = Experiment::load(&layers, Limits::default())?;
            loaded.resolved_settings["policy"][POLICY].clone()
        }
    };
    let policy = *Registry::standard().policies().find(POLICY)?;
    let options = policy.resolve(&own)?;
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
        let with = |costs: &[_]| reproduce_with_rules(rules, &differences, costs, paper, progress);
        Ok([with(&[])?, with(&MESSAGE_COSTS)?])
    })
}

/// Reproduces a paper under the rule set `rules` (`own`: its own rules), with additional `costs` in all its experiments.
fn reproduce_with_rules(
    rules: &'static str,
    differences: &[OptionDifference],
    costs: &[(&str, &str)],
    paper: &Paper,
    progress: &Progress,
) -> Result<RuleSetResult, Error> {
    let set = rule_set_names().iter().position(|name| *name == rules);
    let options = differences.iter().filter_map(|one| {
        let key = format!("policy.{POLICY}.{}", one.option);
        Some((key, one.values[set?].clone()))
    });
    let costs = costs
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.into()));
    let flags = options.chain(costs).map(|(key, value)| KeySetting {
        source_text: format!("rules of {rules}: {key}"),
        key,
        value,
    });
    let results = reproduce_one_paper(paper, &Changes::of_keys(flags)?, progress)?;
    Ok(RuleSetResult {
        rules,
        residuals: Residuals::of([&results]),
    })
}
