//! The facts of a paper: published times, decisions, schedules of rescheduling calls, claims and contradictions; read from
//! `facts/<paper>.json`.
//!
//! The facts were taken from the papers by hand and have identifiers. They are only compared with results; no fact is an input of
//! a simulation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use migsim_base::error::{Error, Problem};

/// Facts that were taken from one paper.
#[derive(Clone, Debug, Deserialize)]
pub struct Facts {
    /// Execution times in the tables of the paper.
    pub tables: Vec<Cell>,
    /// Numbers that the text of the paper quotes from figures.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// Statements of the text about rescheduling calls and migrations.
    pub decisions: Vec<Decision>,
    /// Lists of the supersteps after which calls take place, as far as the paper gives them.
    pub call_schedules: Vec<Schedule>,
    /// Claims of the paper that can be checked in a simulation.
    pub claims: Vec<Claim>,
    /// Contradictions between statements of the paper.
    pub contradictions: Vec<Contradiction>,
    /// Constants and options that this project fitted to the published numbers of the paper.
    #[serde(default)]
    pub fitted: Vec<Fitted>,
    /// Reasons that this project gives why a published time, decision or schedule is not reproduced, by its identifier.
    #[serde(default)]
    pub reasons: BTreeMap<String, String>,
    /// Additional facts for the audit of the reproduction.
    #[serde(default)]
    pub audit: AuditFacts,
}

/// A constant or an option of this project's experiments that was fitted to published numbers.
#[derive(Clone, Debug, Deserialize)]
pub struct Fitted {
    /// Description of the constant or option.
    pub what: String,
    /// Keys of the settings that the constant or option determines: keys of the experiment of the paper, of its platform
    /// (`platform:<key>`) or of another experiment of the paper (`<name>:<key>`).
    pub keys: Vec<String>,
    /// Name of the paper that already counts the same constant, which then counts once in the total; `None` if no other paper
    /// does.
    pub shared_with: Option<String>,
}

/// Facts for the audit: the searches that were made for the reproduction, and published times that contradict the rest of the
/// paper.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct AuditFacts {
    /// Number of constants in an earlier count, which missed options that were chosen for published numbers under other names;
    /// `None` if there was no such count.
    pub former_constants: Option<usize>,
    /// Searches for settings that reproduce the published numbers.
    #[serde(default)]
    pub searched: Vec<Searched>,
    /// Published times that contradict the rest of the paper, in groups with the same contradiction.
    #[serde(default)]
    pub contradictory_cells: Vec<ContradictoryCells>,
}

/// A search in which many settings were tried to reproduce the published numbers.
#[derive(Clone, Debug, Deserialize)]
pub struct Searched {
    /// Number of combinations of settings that were tried, as it was recorded.
    pub settings: u64,
    /// Description of the settings that were tried.
    pub what: String,
    /// Date of the search (year-month-day).
    pub date: String,
    /// File of this project that records the search.
    pub source: String,
}

/// Published times that contradict the same statement of the paper.
#[derive(Clone, Debug, Deserialize)]
pub struct ContradictoryCells {
    /// Identifiers of the published times.
    pub cells: Vec<String>,
    /// The statement that they contradict, in one sentence.
    pub because: String,
}

/// Settings of the run that a fact is about. A list as a value stands for each of its entries, so that the fact is about several
/// runs.
pub type Config = Map<String, Value>;

/// A published execution time (a cell of a table).
#[derive(Clone, Debug, Deserialize)]
pub struct Cell {
    /// Identifier of the published time.
    pub id: String,
    /// Name of the table that contains the time.
    pub table: String,
    /// Settings of the run whose time is published.
    pub config: Config,
    /// Published execution time \[s\].
    pub seconds: f64,
    /// Remark of this project on the published time; `None` if there is none.
    pub note: Option<String>,
}

/// A number that the text of a paper quotes from a figure.
#[derive(Clone, Debug, Deserialize)]
pub struct Figure {
    /// Identifier of the number.
    pub id: String,
    /// Name of the figure in the paper.
    pub figure: String,
    /// Description of the quantity.
    pub what: String,
    /// The quoted number, or a structure of several numbers.
    pub value: Value,
    /// The unit of the number.
    pub unit: String,
    /// Settings of the run that the number is about; empty if it is not about a run.
    #[serde(default)]
    pub config: Config,
    /// Remark of this project on the number; `None` if there is none.
    pub note: Option<String>,
}

/// A statement of a paper about a rescheduling call: when it takes place, which processes it moves, or that it moves none.
#[derive(Clone, Debug, Deserialize)]
pub struct Decision {
    /// Identifier of the decision.
    pub id: String,
    /// Settings of the run that the decision is about.
    pub config: Config,
    /// Superstep after which the call takes place, counted from 1: a number, a range in words, or empty.
    pub superstep: Value,
    /// Superstep that this project uses instead of the printed one if the paper contradicts itself; `None` if the printed one is
    /// used.
    pub superstep_likely: Option<u64>,
    /// Time of the call after the start of the run \[s\]; `None` if the paper does not give it.
    pub elapsed_s: Option<f64>,
    /// Kind of the decision: `call`, `migration`, `no_migration`, `not_viable`, `stable` or `unstable`.
    pub kind: String,
    /// Names of the processes that the paper gives (`p21`); may be empty.
    #[serde(default)]
    pub processes: Vec<String>,
    /// Names of processes that follow from the mapping, if the paper does not give names.
    #[serde(default)]
    pub processes_inferred: Vec<String>,
    /// Number of migrations; `None` if the paper does not give it.
    #[serde(rename = "count")]
    pub migration_count: Option<u64>,
    /// The cluster of the origins; in some papers the host of each process.
    #[serde(default)]
    pub from: Value,
    /// The cluster of the destinations; in some papers the host of each process.
    #[serde(default)]
    pub to: Value,
    /// Number of candidates of the call; null if the paper does not give it.
    #[serde(default)]
    pub candidates: Value,
    /// Names of the candidates, if the paper gives them; they are then compared instead of the number of candidates.
    #[serde(default)]
    pub candidate_processes: Vec<String>,
    /// Destination host of each process, if the paper gives it (`p5`: `a1`); null otherwise.
    #[serde(default)]
    pub nodes: Value,
    /// Remark of this project on the decision; `None` if there is none.
    pub note: Option<String>,
}

impl Decision {
    /// Returns the superstep with which the simulation is compared: the corrected one if there is a correction, otherwise the
    /// printed one.
    pub fn superstep(&self) -> Value {
        self.superstep_likely
            .map_or_else(|| self.superstep.clone(), Value::from)
    }
}

/// Supersteps of the rescheduling calls that a paper lists for a run.
#[derive(Clone, Debug, Deserialize)]
pub struct Schedule {
    /// Identifier of the schedule.
    pub id: String,
    /// Settings of the run that the schedule is about.
    pub config: Config,
    /// Supersteps after which the calls take place, counted from 1.
    pub calls: Vec<u64>,
}

/// A claim of a paper that can be checked in a simulation.
#[derive(Clone, Debug, Deserialize)]
pub struct Claim {
    /// Identifier of the claim.
    pub id: String,
    /// The claim in this project's words, not in those of the paper.
    pub statement: String,
    /// Description of how the claim is checked.
    pub check: String,
    /// Published number on which the claim is based; `None` if the paper gives none.
    pub published_value: Option<Value>,
    /// Comparisons of percentages of which the claim consists; empty if a function in the paper's file checks the claim.
    #[serde(default)]
    pub compare: Vec<Comparison>,
    /// Whether the published numbers confirm the claim; `None` if they do not decide it.
    pub consistent_with_published_numbers: Option<bool>,
}

/// Comparison of a simulated percentage of a run (gain or overhead) with the published percentage.
#[derive(Clone, Debug, Deserialize)]
pub struct Comparison {
    /// Percentage that is compared.
    pub measure: Measure,
    /// Settings of the run.
    pub config: Config,
    /// Published percentage \[%\]; `None` stands for the published number of the claim.
    pub published: Option<f64>,
}

/// Percentage that compares two scenarios of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Gain of scenario iii: `100 (T_i - T_iii) / T_i`.
    Gain,
    /// Overhead of scenario ii: `100 (T_ii - T_i) / T_i`.
    Overhead,
}

impl Claim {
    /// Returns the published number of the claim.
    ///
    /// # Errors
    /// The claim has no published number, which is a fault of the program, since the facts are part of it.
    pub fn number(&self) -> Result<f64, Error> {
        let number = self.published_value.as_ref().and_then(Value::as_f64);
        number.ok_or_else(|| self.missing_number())
    }

    /// Returns the published numbers of a claim that has a list of numbers.
    ///
    /// # Errors
    /// The claim has no list of published numbers, which is a fault of the program, since the facts are part of it.
    pub fn numbers(&self) -> Result<Vec<f64>, Error> {
        let numbers = self.published_value.as_ref().and_then(Value::as_array);
        let numbers = numbers.map(|all| all.iter().filter_map(Value::as_f64).collect());
        numbers.ok_or_else(|| self.missing_number())
    }

    fn missing_number(&self) -> Error {
        Problem::new(format!("the claim `{}` names no number", self.id)).into()
    }
}

/// Two statements of a paper that cannot both be true.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contradiction {
    /// Identifier of the contradiction.
    pub id: String,
    /// Description of what the two statements are about.
    pub what: String,
    /// The value in one statement.
    pub value_a: Value,
    /// The value in the other statement.
    pub value_b: Value,
    /// Statement, or interpretation of both statements, that this project uses.
    pub suggested_reading: String,
}

impl Facts {
    /// Parses the facts of a paper; `text` is the content of its JSON file.
    ///
    /// # Errors
    /// The format of the text is wrong, which is a fault of the program, since the text is part of it.
    pub fn parse(paper: &str, text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| {
            Problem::new(format!("the facts of `{paper}` cannot be read: {error}")).into()
        })
    }
}

/// Lists all configurations that `config` stands for: each entry of a list becomes a configuration of its own.
pub fn expand(config: &Config) -> Vec<Config> {
    let mut all = vec![Config::new()];
    for (key, value) in config {
        let values = match value {
            // A grid such as [10, 5] is one value.
            Value::Array(values) if key != "grid" => values.clone(),
            // "i/ii" and "ii/iii" mean both scenarios; of these only the one with the scheduler has calls.
            Value::String(both) if key == "scenario" && both.contains('/') => both
                .split('/')
                .filter(|&scenario| scenario != "i")
                .map(Value::from)
                .collect(),
            other => vec![other.clone()],
        };
        let with = |config: &Config, value: &Value| {
            let mut config = config.clone();
            config.insert(key.clone(), value.clone());
            config
        };
        all = all
            .iter()
            .flat_map(|config| values.iter().map(move |value| with(config, value)))
            .collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_list_means_each_of_its_values() {
        let Value::Object(config) =
            json!({ "app": "lbm", "alpha": [4, 8], "steps": [10, 50], "grid": [2, 3] })
        else {
            unreachable!()
        };
        let all = expand(&config);
        assert_eq!(all.len(), 4);
        assert_eq!(
            all[1],
            *json!({ "app": "lbm", "alpha": 4, "steps": 50, "grid": [2, 3] })
                .as_object()
                .unwrap()
        );
    }
}
