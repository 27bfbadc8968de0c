//! The facts of a paper: cells of its tables, decisions, call schedules, claims, contradictions; read from `facts/<paper>.json`.
//!
//! The facts were taken from the papers by hand and have ids. They are only compared with: nothing here reaches a simulation.

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
    /// The call supersteps that it lists.
    pub call_schedules: Vec<Schedule>,
    /// Its claims.
    pub claims: Vec<Claim>,
    /// Its contradictions of itself.
    pub contradictions: Vec<Contradiction>,
    /// Constants fitted to its published numbers (ours).
    #[serde(default)]
    pub fitted: Vec<Fitted>,
    /// The reasons why a cell, a decision or a schedule is not reproduced, by id (ours).
    #[serde(default)]
    pub reasons: BTreeMap<String, String>,
    /// Facts for an auditor of the reproduction.
    #[serde(default)]
    pub audit: AuditFacts,
}

/// A constant or an option of our experiments that was fitted to published numbers.
#[derive(Clone, Debug, Deserialize)]
pub struct Fitted {
    /// Its meaning.
    pub what: String,
    /// The keys that it sets: of the experiment of the paper, of its platform (`platform:<key>`) or of another experiment of the paper
    /// (`<name>:<key>`).
    pub keys: Vec<String>,
    /// The paper that counts it, if it is the same constant there; it counts once in the total.
    pub shared_with: Option<String>,
}

/// The searches for a reproduction, and the cells of the paper that contradict the rest of it: facts about our work and about the paper.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct AuditFacts {
    /// The number of constants by an earlier count, which missed options chosen for published numbers under other names.
    pub former_constants: Option<usize>,
    /// The searches.
    #[serde(default)]
    pub searched: Vec<Searched>,
    /// Cells that contradict the rest of the paper.
    #[serde(default)]
    pub contradictory_cells: Vec<ContradictoryCells>,
}

/// Settings that were tried.
#[derive(Clone, Debug, Deserialize)]
pub struct Searched {
    /// The number of settings, as it was written down.
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
    /// Their ids.
    pub cells: Vec<String>,
    /// The fact that they contradict, in one sentence.
    pub because: String,
}

/// The configuration that a fact is about; a value may be a list, which means each of them.
pub type Config = Map<String, Value>;

/// A published time.
#[derive(Clone, Debug, Deserialize)]
pub struct Cell {
    /// Its id.
    pub id: String,
    /// The table that it stands in.
    pub table: String,
    /// Its settings.
    pub config: Config,
    /// The time \[s\].
    pub seconds: f64,
    /// A remark of ours.
    pub note: Option<String>,
}

/// A number quoted from a figure.
#[derive(Clone, Debug, Deserialize)]
pub struct Figure {
    /// Its id.
    pub id: String,
    /// The figure.
    pub figure: String,
    /// The meaning of the number.
    pub what: String,
    /// The number, or a structure of numbers.
    pub value: Value,
    /// Its unit.
    pub unit: String,
    /// Its settings; empty if it belongs to no run.
    #[serde(default)]
    pub config: Config,
    /// A remark of ours.
    pub note: Option<String>,
}

/// A paper's statement about a call.
#[derive(Clone, Debug, Deserialize)]
pub struct Decision {
    /// Its id.
    pub id: String,
    /// The run.
    pub config: Config,
    /// After which superstep, counted from 1: a number, a range in words, or nothing.
    pub superstep: Value,
    /// After which superstep it must be where the paper contradicts itself (our reading).
    pub superstep_likely: Option<u64>,
    /// When, where a paper tells the date \[s\].
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
    /// The cluster they leave; in some papers the host of each.
    #[serde(default)]
    pub from: Value,
    /// The cluster they go to; in some papers the host of each.
    #[serde(default)]
    pub to: Value,
    /// The number of candidates.
    #[serde(default)]
    pub candidates: Value,
    /// The candidates, where a paper names them; they count more than their number.
    #[serde(default)]
    pub candidate_processes: Vec<String>,
    /// The host that each process goes to, where a paper names it (`p5`: `a1`).
    #[serde(default)]
    pub nodes: Value,
    /// A remark of ours.
    pub note: Option<String>,
}

impl Decision {
    /// The superstep that it is compared at: the printed one, or our reading of it.
    pub fn superstep(&self) -> Value {
        self.superstep_likely
            .map_or_else(|| self.superstep.clone(), Value::from)
    }
}

/// The calls that a paper lists for a run.
#[derive(Clone, Debug, Deserialize)]
pub struct Schedule {
    /// Its id.
    pub id: String,
    /// The run.
    pub config: Config,
    /// After which supersteps, counted from 1.
    pub calls: Vec<u64>,
}

/// A statement of a paper.
#[derive(Clone, Debug, Deserialize)]
pub struct Claim {
    /// Its id.
    pub id: String,
    /// Its statement, in our words.
    pub statement: String,
    /// The way to check it.
    pub check: String,
    /// The number it names.
    pub published_value: Option<Value>,
    /// The comparisons that it consists of; none if a function evaluates it.
    #[serde(default)]
    pub compare: Vec<Comparison>,
    /// Whether the published numbers agree with it.
    pub consistent_with_published_numbers: Option<bool>,
}

/// A percentage of a run beside a published one.
#[derive(Clone, Debug, Deserialize)]
pub struct Comparison {
    /// The compared quantity.
    pub measure: Measure,
    /// The run.
    pub config: Config,
    /// The published number \[%\]; without it the number that the claim names.
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
    /// The number it names.
    ///
    /// # Errors
    /// It names none: a fault of the program, which holds the facts.
    pub fn number(&self) -> Result<f64, Error> {
        let number = self.published_value.as_ref().and_then(Value::as_f64);
        number.ok_or_else(|| self.names_no_number())
    }

    /// The numbers it names.
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

/// Two things in a paper that cannot both be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contradiction {
    /// Its id.
    pub id: String,
    /// Its meaning.
    pub what: String,
    /// One value.
    pub value_a: Value,
    /// The other.
    pub value_b: Value,
    /// The reading that we use.
    pub suggested_reading: String,
}

impl Facts {
    /// Reads the facts of a paper.
    ///
    /// # Errors
    /// The text is not what it should be: a fault of the program, which holds it.
    pub fn parse(paper: &str, text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| {
            Problem::new(format!("the facts of `{paper}` cannot be read: {error}")).into()
        })
    }
}

/// All configurations without lists that `config` stands for.
pub fn expand(config: &Config) -> Vec<Config> {
    let mut all = vec![Config::new()];
    for (key, value) in config {
        let values = match value {
            // A grid such as [10, 5] is one value.
            Value::Array(values) if key != "grid" => values.clone(),
            // "i/ii" and "ii/iii": both; without the scheduler there is nothing to tell of calls.
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
