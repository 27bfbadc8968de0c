//! The facts of a paper: cells of its tables, decisions, call schedules, claims, contradictions; read from `facts/<paper>.json`.
//!
//! The facts were taken from the papers by hand and have ids. They are only compared with results; no fact reaches a simulation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use migsim_base::error::{Error, Problem};

/// The facts of one paper.
#[derive(Clone, Debug, Deserialize)]
pub struct Facts {
    /// The cells of its tables.
    pub tables: Vec<Cell>,
    /// Numbers that its text quotes from figures.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// Statements of its text about calls and migrations.
    pub decisions: Vec<Decision>,
    /// The supersteps of calls that the paper lists.
    pub call_schedules: Vec<Schedule>,
    /// The claims of the paper.
    pub claims: Vec<Claim>,
    /// Contradictions within the paper.
    pub contradictions: Vec<Contradiction>,
    /// Constants that this project fitted to its published numbers.
    #[serde(default)]
    pub fitted: Vec<Fitted>,
    /// The reasons of this project why a cell, a decision or a schedule is not reproduced, by id.
    #[serde(default)]
    pub reasons: BTreeMap<String, String>,
    /// Facts for an auditor of the reproduction.
    #[serde(default)]
    pub audit: AuditFacts,
}

/// A constant or an option of this project's experiments that was fitted to published numbers.
#[derive(Clone, Debug, Deserialize)]
pub struct Fitted {
    /// The meaning of the constant or option.
    pub what: String,
    /// The keys that the constant or option sets: of the experiment of the paper, of its platform (`platform:<key>`) or of another
    /// experiment of the paper (`<name>:<key>`).
    pub keys: Vec<String>,
    /// The paper that counts the same constant already; it counts once in the total.
    pub shared_with: Option<String>,
}

/// Facts about the work on the reproduction, the searches, and facts about the paper, the cells that contradict its rest.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct AuditFacts {
    /// Number of constants in an earlier count, which missed options that were chosen for published numbers under other names.
    pub former_constants: Option<usize>,
    /// The searches.
    #[serde(default)]
    pub searched: Vec<Searched>,
    /// Cells that contradict the rest of the paper.
    #[serde(default)]
    pub contradictory_cells: Vec<ContradictoryCells>,
}

/// A search over settings.
#[derive(Clone, Debug, Deserialize)]
pub struct Searched {
    /// Number of settings, as it was recorded.
    pub settings: u64,
    /// The settings that were tried.
    pub what: String,
    /// The day of the search (year-month-day).
    pub date: String,
    /// The source: a file of this project.
    pub source: String,
}

/// Cells with one contradiction.
#[derive(Clone, Debug, Deserialize)]
pub struct ContradictoryCells {
    /// The ids of the cells.
    pub cells: Vec<String>,
    /// The fact that they contradict, in one sentence.
    pub because: String,
}

/// The configuration of a fact; a list as a value stands for each of its entries.
pub type Config = Map<String, Value>;

/// A published time.
#[derive(Clone, Debug, Deserialize)]
pub struct Cell {
    /// The id of the cell.
    pub id: String,
    /// The table that contains the time.
    pub table: String,
    /// The settings of the cell.
    pub config: Config,
    /// The time \[s\].
    pub seconds: f64,
    /// A remark by this project.
    pub note: Option<String>,
}

/// A number quoted from a figure.
#[derive(Clone, Debug, Deserialize)]
pub struct Figure {
    /// The id of the number.
    pub id: String,
    /// The figure.
    pub figure: String,
    /// The meaning of the number.
    pub what: String,
    /// The number, or a structure of numbers.
    pub value: Value,
    /// The unit of the number.
    pub unit: String,
    /// The settings of the number; empty if it is not about a run.
    #[serde(default)]
    pub config: Config,
    /// A remark by this project.
    pub note: Option<String>,
}

/// A paper's statement about a call.
#[derive(Clone, Debug, Deserialize)]
pub struct Decision {
    /// The id of the decision.
    pub id: String,
    /// The run.
    pub config: Config,
    /// The superstep before the call, counted from 1: a number, a range in words, or empty.
    pub superstep: Value,
    /// The superstep that it must be if the paper contradicts itself, as this project reads it.
    pub superstep_likely: Option<u64>,
    /// The time of the call \[s\], if a paper gives it.
    pub elapsed_s: Option<f64>,
    /// `call`, `migration`, `no_migration`, `not_viable`, `stable` or `unstable`.
    pub kind: String,
    /// The processes that are named (`p21`).
    #[serde(default)]
    pub processes: Vec<String>,
    /// The processes that follow from the mapping although they are not named.
    #[serde(default)]
    pub processes_inferred: Vec<String>,
    /// The number of migrations.
    pub count: Option<u64>,
    /// The cluster of the origins; in some papers the host of each process.
    #[serde(default)]
    pub from: Value,
    /// The cluster of the destinations; in some papers the host of each process.
    #[serde(default)]
    pub to: Value,
    /// The number of candidates.
    #[serde(default)]
    pub candidates: Value,
    /// The candidates, if a paper names them; they count more than their number.
    #[serde(default)]
    pub candidate_processes: Vec<String>,
    /// The destination host of each process, if a paper names it (`p5`: `a1`).
    #[serde(default)]
    pub nodes: Value,
    /// A remark by this project.
    pub note: Option<String>,
}

impl Decision {
    /// Returns the superstep for the comparison: the printed one, or its correction.
    pub fn superstep(&self) -> Value {
        self.superstep_likely
            .map_or_else(|| self.superstep.clone(), Value::from)
    }
}

/// The calls that a paper lists for a run.
#[derive(Clone, Debug, Deserialize)]
pub struct Schedule {
    /// The id of the schedule.
    pub id: String,
    /// The run.
    pub config: Config,
    /// The supersteps after which the calls come, counted from 1.
    pub calls: Vec<u64>,
}

/// A statement of a paper.
#[derive(Clone, Debug, Deserialize)]
pub struct Claim {
    /// The id of the claim.
    pub id: String,
    /// The statement of the claim, in other words than in the paper.
    pub statement: String,
    /// The way to check it.
    pub check: String,
    /// The published number.
    pub published_value: Option<Value>,
    /// The comparisons that it consists of; none if a function evaluates it.
    #[serde(default)]
    pub compare: Vec<Comparison>,
    /// Whether the published numbers agree with the claim.
    pub consistent_with_published_numbers: Option<bool>,
}

/// A percentage of a run that is compared with a published percentage.
#[derive(Clone, Debug, Deserialize)]
pub struct Comparison {
    /// The compared quantity.
    pub measure: Measure,
    /// The run.
    pub config: Config,
    /// The published number \[%\]; without it, the published number of the claim is used.
    pub published: Option<f64>,
}

/// A percentage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// `100 (T_i - T_iii) / T_i`.
    Gain,
    /// `100 (T_ii - T_i) / T_i`.
    Overhead,
}

impl Claim {
    /// Returns the published number.
    ///
    /// # Errors
    /// There is none, which is a fault of the program, since the facts are part of it.
    pub fn number(&self) -> Result<f64, Error> {
        let number = self.published_value.as_ref().and_then(Value::as_f64);
        number.ok_or_else(|| self.names_no_number())
    }

    /// Returns the published numbers.
    ///
    /// # Errors
    /// As [`Self::number`].
    pub fn numbers(&self) -> Result<Vec<f64>, Error> {
        let numbers = self.published_value.as_ref().and_then(Value::as_array);
        let numbers = numbers.map(|all| all.iter().filter_map(Value::as_f64).collect());
        numbers.ok_or_else(|| self.names_no_number())
    }

    fn names_no_number(&self) -> Error {
        Problem::new(format!("the claim `{}` names no number", self.id)).into()
    }
}

/// Two statements of a paper that cannot both be true.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contradiction {
    /// The id of the contradiction.
    pub id: String,
    /// The subject of the contradiction.
    pub what: String,
    /// The value in one statement.
    pub value_a: Value,
    /// The value in the other statement.
    pub value_b: Value,
    /// The statement, or the interpretation of both statements, that this project uses.
    pub suggested_reading: String,
}

impl Facts {
    /// Reads the facts of a paper.
    ///
    /// # Errors
    /// The format of the text is wrong, which is a fault of the program, since the text is part of it.
    pub fn parse(paper: &str, text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| {
            Problem::new(format!("the facts of `{paper}` cannot be read: {error}")).into()
        })
    }
}

/// Lists all configurations without lists for which `config` stands.
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
