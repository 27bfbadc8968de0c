//! Answers of each reproduced experiment to the questions A1 to A37, which the papers leave open (their ambiguities).
//!
//! The file `ambiguities.json` lists each question, the settings that answer it, and the reasons for the defaults of these
//! settings. An experiment with a value other than the default gives its reason in its table `origins`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use migsim_base::error::{Error, Problem};
use migsim_experiment::{Experiment, value_at_path};

/// A question that the papers leave open, with the settings that answer it.
#[derive(Clone, Debug, Deserialize)]
struct Ambiguity {
    id: String,
    question: String,
    keys: Vec<String>,
    usual: String,
}

/// Answer of an experiment to a question that the papers leave open.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// Number of the question, `A1` to `A37`.
    pub id: String,
    /// The open question, as a sentence.
    pub question: String,
    /// Settings of the experiment that answer the question, with their values. The list is empty if the simulator offers only one
    /// answer, or if the question does not concern the paper.
    pub settings: Vec<(String, Value)>,
    /// Reasons for the values of these settings, each beginning with `stated`, `inferred` or `fitted`; equal reasons are listed
    /// once.
    pub origins: Vec<String>,
}

/// Returns the answers of an experiment to all questions that the papers leave open, in the order of `ambiguities.json`.
///
/// # Errors
/// The file `ambiguities.json` cannot be parsed. It is compiled into the program, so this error is a fault of the program.
pub(super) fn answers_to_ambiguities(experiment: &Experiment) -> Result<Vec<Answer>, Error> {
    let all: Vec<Ambiguity> = serde_json::from_str(include_str!("ambiguities.json"))
        .map_err(|error| Problem::new(format!("internal error: the built-in list of ambiguities of the papers cannot be read: {error}")))?;
    Ok(all
        .into_iter()
        .map(|one| answer_to_question(one, experiment))
        .collect())
}

fn answer_to_question(one: Ambiguity, experiment: &Experiment) -> Answer {
    let mut answer = Answer {
        id: one.id,
        question: one.question,
        settings: Vec::new(),
        origins: Vec::new(),
    };
    let mut tell = |origin: &String| {
        if !answer.origins.contains(origin) {
            answer.origins.push(origin.clone());
        }
    };
    if one.keys.is_empty() {
        tell(&one.usual);
    }
    for key in one.keys {
        let (value, origin) = match key.strip_prefix("platform:") {
            // The value is in the file of the platform, beside its origin.
            Some(key) => (
                Some(Value::Null),
                experiment.platform.origins.get(key).cloned(),
            ),
            None => (
                value_at_path(&experiment.resolved_settings, &key).cloned(),
                experiment.config.origins.get(&key).cloned(),
            ),
        };
        let Some(value) = value else {
            continue;
        };
        tell(&origin.unwrap_or_else(|| one.usual.clone()));
        answer.settings.push((key, value));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PAPERS, Paper, changes::experiment_document};
    use migsim_experiment::{Layers, Limits};

    fn experiment(paper: &Paper) -> Option<Experiment> {
        let mut layers = Layers::default();
        layers.push_file(experiment_document(paper.experiment?).unwrap());
        Some(Experiment::load(&layers, Limits::default()).unwrap())
    }

    #[test]
    fn every_answer_of_every_paper_has_an_origin() {
        for experiment in PAPERS.iter().filter_map(experiment) {
            let answers = answers_to_ambiguities(&experiment).unwrap();
            let ids: Vec<String> = answers.iter().map(|answer| answer.id.clone()).collect();
            let wanted: Vec<String> = (1..=37).map(|number| format!("A{number}")).collect();
            assert_eq!(ids, wanted);
            for answer in &answers {
                for origin in &answer.origins {
                    let kind = origin.split(':').next().unwrap_or_default();
                    let is_known = ["stated", "inferred", "fitted"].contains(&kind);
                    assert!(is_known, "{}: {origin}", answer.id);
                }
            }
        }
    }

    #[test]
    fn an_answer_that_is_not_the_default_has_its_own_origin() {
        let policy = *migsim_experiment::Registry::standard()
            .policies()
            .find("migbsp")
            .unwrap();
        let usual = policy.resolve(&serde_json::json!({})).unwrap();
        for experiment in PAPERS.iter().filter_map(experiment) {
            for answer in answers_to_ambiguities(&experiment).unwrap() {
                for (key, value) in &answer.settings {
                    let Some(option) = key.strip_prefix("policy.migbsp.") else {
                        continue;
                    };
                    let is_usual = usual.get(option).unwrap_or(&Value::Null) == value;
                    let has_origin = experiment.config.origins.contains_key(key);
                    assert!(is_usual || has_origin, "{}: {key} = {value}", answer.id);
                }
            }
        }
    }
}
