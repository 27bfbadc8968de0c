//! Search for the single set of scheduling rules that reproduces all papers best, by changing one option at a time.
//!
//! ```text
//! score(set) = mean over papers of (decisions and call schedules that match / all that can be checked)
//!            + mean over papers of (cells of scenarios ii and iii within 5 % / all of them)
//! ```
//! Every paper has the same weight, independent of its number of published times (cells). The search begins with a given set. It
//! sets each option of the policy to each of its values in turn, and keeps the value with the highest score. Rounds over all
//! options are repeated until a round changes nothing. The result is a local optimum: no change of a single option improves the
//! score.

use std::fmt;

use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::one_reading::{
    KEPT_OPTIONS, RuleSetResult, papers_with_runs, reproduce_with_options, rule_set_options,
};
use migsim_base::error::Error;
use migsim_experiment::Progress;
use migsim_policies::migbsp::MigBspConfig;

/// Values of x (the threshold of the potential of migration for candidates) that are tried. The papers state 0.8; the paper on
/// irregular Smith-Waterman was reproduced with 0.676.
const THRESHOLDS: [f64; 4] = [0.676, 0.75, 0.8, 0.9];

/// A step of the search for a common set of rules: a change of one option that improved the score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchStep {
    /// Name of the changed option; `None` for the set with which the search begins.
    pub option: Option<String>,
    /// New value of the changed option; null for the set with which the search begins.
    pub value: Value,
    /// Score of the set of rules after the change, from 0 (worst) to 2 (best), dimensionless.
    pub score: f64,
    /// Results of the changed set of rules for each paper.
    pub readings: Vec<RuleSetResult>,
}

impl fmt::Display for SearchStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let option = self.option.as_deref().unwrap_or("start");
        write!(
            formatter,
            "{:.4}  {option:<24} {:<20}",
            self.score,
            self.value.to_string()
        )?;
        for one in &self.readings {
            let within = 100.0 * one.within_5_percent;
            write!(
                formatter,
                "  {} {}/{} {within:.0} %",
                one.paper, one.matched, one.checkable
            )?;
        }
        Ok(())
    }
}

/// Searches for a set of rules whose score no change of a single option improves, starting from the rule set `start` (the name of
/// a paper, or `default`). Returns the steps of the search.
///
/// # Errors
/// There is no rule set `start`, or a run fails.
pub fn search_rule_set(start: &str, progress: &Progress) -> Result<Vec<SearchStep>, Error> {
    let mut set = rule_set_options(start)?;
    set.retain(|option, _| !KEPT_OPTIONS.contains(&option.as_str()));
    let mut steps = vec![search_step(None, score_of_rule_set(&set, progress)?)];
    loop {
        let before = steps.len();
        for (option, values) in varied_options() {
            let others = values
                .into_iter()
                .filter(|value| set.get(&option) != Some(value));
            let tried: Vec<_> = others
                .collect::<Vec<_>>()
                .into_par_iter()
                .filter_map(|value| {
                    let mut changed = set.clone();
                    changed.insert(option.clone(), value.clone());
                    // Options that contradict each other are not a set of rules.
                    Some((value, score_of_rule_set(&changed, progress).ok()?))
                })
                .collect();
            for (value, outcome) in tried {
                if outcome.0 > steps.last().map_or(0.0, |step| step.score) + 1e-9 {
                    set.insert(option.clone(), value.clone());
                    steps.push(search_step(Some((&option, value)), outcome));
                }
            }
        }
        if steps.len() == before {
            return Ok(steps);
        }
    }
}

fn search_step(
    change: Option<(&String, Value)>,
    (score, readings): (f64, Vec<RuleSetResult>),
) -> SearchStep {
    let (option, value) = change.unzip();
    SearchStep {
        option: option.cloned(),
        value: value.unwrap_or_default(),
        score,
        readings,
    }
}

/// Computes the score of a set of rules over all papers, and the results of the set for each paper.
fn score_of_rule_set(
    set: &Map<String, Value>,
    progress: &Progress,
) -> Result<(f64, Vec<RuleSetResult>), Error> {
    let papers = papers_with_runs();
    let readings = papers
        .par_iter()
        .map(|paper| reproduce_with_options("a set that is tried", set, paper, progress))
        .collect::<Result<Vec<_>, Error>>()?;
    let of_paper = |one: &RuleSetResult| {
        one.matched as f64 / one.checkable.max(1) as f64 + one.within_5_percent
    };
    let sum: f64 = readings.iter().map(of_paper).sum();
    Ok((sum / readings.len() as f64, readings))
}

/// Lists the options of the policy that the search varies, each with the values to try: all choices, all switches, and the
/// threshold x.
fn varied_options() -> Vec<(String, Vec<Value>)> {
    let schema = schemars::schema_for!(MigBspConfig).to_value();
    let values = |property: &Value| -> Option<Vec<Value>> {
        if property["type"] == "boolean" {
            return Some(vec![json!(false), json!(true)]);
        }
        let reference = property["$ref"].as_str()?;
        let choices = &schema.pointer(reference.strip_prefix('#')?)?["oneOf"];
        let choices = choices
            .as_array()?
            .iter()
            .map(|choice| choice["const"].clone());
        Some(choices.collect())
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    let is_free = |(option, _): &(&String, &Value)| !KEPT_OPTIONS.contains(&option.as_str());
    properties
        .filter(is_free)
        .filter_map(|(option, property)| match option.as_str() {
            "x" => Some((option.clone(), THRESHOLDS.map(Value::from).to_vec())),
            _ => Some((option.clone(), values(property)?)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_choices_and_switches_are_tried() {
        let all = varied_options();
        let of = |name: &str| {
            all.iter()
                .find(|one| one.0 == name)
                .map(|one| one.1.clone())
        };
        assert_eq!(
            of("own_cluster"),
            Some(vec![json!("excluded"), json!("competes"), json!("within")])
        );
        assert_eq!(
            of("viability_transfer"),
            Some(vec![json!(false), json!(true)])
        );
        assert_eq!(of("x").map(|values| values.len()), Some(4));
        // A paper states these values for its runs.
        assert_eq!((of("heuristic"), of("alpha")), (None, None));
        assert!(all.len() > 25, "{}", all.len());
    }
}
