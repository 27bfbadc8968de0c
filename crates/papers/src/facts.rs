//! The facts of a paper: published times, decisions, schedules of rescheduling calls, claims and contradictions. They are read
//! from `facts/<paper>.json`.
//!
//! The facts were taken from the papers by hand, and each has an identifier. They are only compared with results; no fact is an
//! input of a simulation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::policy_check::PolicyCheck;
use migsim_base::error::{Error, Problem};

/// Facts taken from one paper: published times, decisions, schedules of calls, claims and contradictions.
#[derive(Clone, Debug, Deserialize)]
pub struct Facts {
    /// Execution times in the tables of the paper.
    pub tables: Vec<TableCell>,
    /// Numbers that the text of the paper quotes from figures.
    #[serde(default)]
    pub figures: Vec<QuotedFigureNumber>,
    /// Statements in the text of the paper about rescheduling calls and migrations.
    pub decisions: Vec<PublishedDecision>,
    /// Decisions that the paper does not state, but that follow from its published times.
    #[serde(default)]
    pub derived_decisions: Vec<PublishedDecision>,
    /// Overheads and gains that only the text of the paper gives, without the times of a table.
    #[serde(default)]
    pub text_effects: Vec<TextEffect>,
    /// Lists of the supersteps after which rescheduling calls take place, as far as the paper gives them.
    pub call_schedules: Vec<CallSchedule>,
    /// Claims of the paper that can be checked in a simulation.
    pub claims: Vec<Claim>,
    /// Contradictions between statements of the paper.
    pub contradictions: Vec<Contradiction>,
    /// Constants and options that this project fitted to the published numbers of the paper.
    #[serde(default)]
    pub fitted: Vec<FittedConstant>,
    /// Reasons why published times, decisions and schedules are not reproduced, by the identifier of the time, decision or
    /// schedule. The reasons are this project's.
    #[serde(default)]
    pub reasons: BTreeMap<String, String>,
}

/// A constant or an option of this project's experiments that was fitted to published numbers.
#[derive(Clone, Debug, Deserialize)]
pub struct FittedConstant {
    /// Description of the constant or option.
    pub what: String,
    /// Keys of the settings whose values were fitted: keys of the experiment of the paper, of its platform (`platform:<key>`), or
    /// of another experiment of the paper (`<name>:<key>`).
    pub keys: Vec<String>,
    /// Name of another paper for which the same constant is already counted, so that it counts once in the total. `None` if no
    /// other paper has the constant.
    pub shared_with: Option<String>,
}

/// Settings of the run that a fact is about, by key. If a value is a list, the fact is about one run for each entry of the list.
pub type Config = Map<String, Value>;

/// A published execution time (a cell of a table).
#[derive(Clone, Debug, Deserialize)]
pub struct TableCell {
    /// Identifier of the published time.
    pub id: String,
    /// Name of the table that contains the time.
    pub table: String,
    /// Settings of the run whose time is published.
    pub config: Config,
    /// Published execution time \[s\].
    pub seconds: f64,
    /// Remark of this project on the published time; `None` if there is no remark.
    pub note: Option<String>,
}

/// Number that the text of a paper quotes from a figure.
#[derive(Clone, Debug, Deserialize)]
pub struct QuotedFigureNumber {
    /// Identifier of the quoted number.
    pub id: String,
    /// Name of the figure in the paper.
    pub figure: String,
    /// The quoted number, or a JSON object or list of several numbers.
    pub value: Value,
    /// Unit of the quoted number.
    pub unit: String,
    /// Settings of the run that the number is about; empty if the number is not about a run.
    #[serde(default)]
    pub config: Config,
    /// Remark of this project on the number; `None` if there is no remark.
    pub note: Option<String>,
}

/// A statement of a paper about a rescheduling call: when it takes place, which processes it moves, or that it moves none.
#[derive(Clone, Debug, Deserialize)]
pub struct PublishedDecision {
    /// Identifier of the decision.
    pub id: String,
    /// Settings of the run that the decision is about.
    pub config: Config,
    /// Superstep after which the call takes place, counted from 1: a number, a range in words, or null if the paper gives none.
    pub superstep: Value,
    /// Superstep that this project uses instead of the printed superstep, if the paper contradicts itself; `None` if the printed
    /// superstep is used.
    pub superstep_likely: Option<u64>,
    /// Time of the call, measured from the start of the run \[s\]; `None` if the paper does not give this time.
    pub elapsed_s: Option<f64>,
    /// Kind of the decision: `call`, `migration`, `no_migration`, `not_viable`, `stable` or `unstable`.
    pub kind: String,
    /// Names of the processes that the paper gives, such as `p21`; empty if the paper names no process.
    #[serde(default)]
    pub processes: Vec<String>,
    /// Names of the processes that follow from the mapping, for decisions in which the paper does not name the processes.
    #[serde(default)]
    pub processes_inferred: Vec<String>,
    /// Number of migrations in the call; `None` if the paper does not give this number.
    #[serde(rename = "count")]
    pub migration_count: Option<u64>,
    /// Place that the processes leave: one cluster or, in some papers, a host for each process.
    #[serde(default)]
    pub from: Value,
    /// Place to which the processes move: one cluster or, in some papers, a host for each process.
    #[serde(default)]
    pub to: Value,
    /// Number of candidates for a move in the call; null if the paper does not give this number.
    #[serde(default)]
    pub candidates: Value,
    /// Names of the candidates for a move; they are compared instead of the number of candidates. Empty if the paper does not
    /// name the candidates.
    #[serde(default)]
    pub candidate_processes: Vec<String>,
    /// Destination host of each process (`p5`: `a1`); null if the paper does not give the hosts.
    #[serde(default)]
    pub nodes: Value,
    /// How the decision follows from published times; `None` if the text states it.
    pub derivation: Option<String>,
    /// Identifier of the claim that states the same and is checked instead; `None` if the calls of the run are compared.
    pub claim: Option<String>,
    /// What is measured instead of the calls of the run; empty if these are compared.
    #[serde(flatten)]
    pub test: Test,
}

impl PublishedDecision {
    pub(super) fn is_of_run(&self) -> bool {
        self.claim.is_none() && self.test.compare.is_empty()
    }

    /// Returns the superstep with which the simulation is compared: the corrected superstep if this project corrects the paper,
    /// otherwise the printed one.
    pub fn compared_superstep(&self) -> Value {
        self.superstep_likely
            .map_or_else(|| self.superstep.clone(), Value::from)
    }
}

/// An overhead or a gain that only the text of a paper gives.
#[derive(Clone, Debug, Deserialize)]
pub struct TextEffect {
    /// Identifier of the effect.
    pub id: String,
    /// Section or figure of the paper, and our reading of what the text leaves open.
    pub place: String,
    /// Measured effect: [`Measure::Gain`], [`Measure::GainTime`] or [`Measure::Overhead`]. If the settings stand for several runs, the
    /// effect is the mean of theirs.
    pub measure: Measure,
    /// Settings of the runs.
    pub config: Config,
    /// Published effect in the unit of the measure.
    pub published: f64,
}

/// Supersteps of the rescheduling calls that a paper lists for a run.
#[derive(Clone, Debug, Deserialize)]
pub struct CallSchedule {
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
    /// The claim in the words of this project, not of the paper.
    pub statement: String,
    /// Published number or numbers on which the claim is based; null if the paper gives no number.
    #[serde(default)]
    pub published_value: Value,
    /// What is measured and expected; without measurements a function in the paper's file checks the claim.
    #[serde(flatten)]
    pub test: Test,
    /// What is checked on the policy instead; `None` if runs are measured.
    pub(super) policy: Option<PolicyCheck>,
    /// Whether the published numbers confirm the claim (`false`: they contradict it); `None` if they do not decide the claim.
    pub consistent_with_published_numbers: Option<bool>,
}

/// Description of a check: what is measured in which runs, and what is expected of the values.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Test {
    /// Measurements, each in one or several runs.
    #[serde(default)]
    pub compare: Vec<Measurement>,
    /// Value that stands for all measured values; `None` if each of them counts.
    pub take: Option<Summary>,
    /// What is expected of the values.
    #[serde(default)]
    pub expect: Expectation,
}

/// A quantity that is measured in one or several runs.
#[derive(Clone, Debug, Deserialize)]
pub struct Measurement {
    /// Name of the values in the result of the check; `None` if they have no name.
    pub name: Option<String>,
    /// Quantity that is measured.
    pub measure: Measure,
    /// Settings of the run. If a value is a list, each of its entries is a run, and the values form a list, too.
    pub config: Config,
    /// Published number; `None` if the published number of the claim is used instead.
    pub published: Option<f64>,
}

/// Quantity that is measured in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Supersteps of the calls of the scenario.
    CallSupersteps,
    /// Number of calls in the scenario.
    Calls,
    /// Superstep of the first call that moves a process in scenario iii.
    FirstMove,
    /// `100 (T_i - T_iii) / T_i`, where `T_i` and `T_iii` are the times of scenarios i and iii.
    Gain,
    /// `T_i - T_iii` \[s\].
    GainTime,
    /// Number of migrations in scenario iii.
    Migrations,
    /// Moves of scenario iii, each as a text.
    Moves,
    /// `T_iii - T_ii` \[s\].
    MoveTime,
    /// `100 (T_ii - T_i) / T_i`, where `T_i` and `T_ii` are the times of scenarios i and ii.
    Overhead,
    /// `T_ii - T_i` \[s\].
    OverheadTime,
    /// Number of potentials of migration that the first call of scenario iii computes.
    Potentials,
    /// Number of processes.
    Processes,
    /// Number of supersteps.
    Supersteps,
    /// Time of the scenario \[s\].
    Time,
}

/// One value for all measured values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Summary {
    /// The largest value.
    Largest,
    /// The mean of the values.
    Mean,
    /// The smallest value.
    Smallest,
}

/// What a check expects of the measured values.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    /// Each value is the published one, rounded as that.
    #[default]
    Published,
    /// Each value is larger than the one before it.
    Rises,
    /// Each value is smaller than the one before it.
    Falls,
    /// Each value is larger than this.
    Above(f64),
    /// Each value is smaller than this.
    Below(f64),
    /// Each value lies between these limits or equals one; `None` is no limit.
    Within([Option<f64>; 2]),
    /// The result of the check equals this.
    Equals(Value),
}

/// Two statements of a paper that cannot both be true.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contradiction {
    /// Identifier of the contradiction.
    pub id: String,
    /// Description of the subject of the two statements.
    pub what: String,
    /// Value in the first statement.
    pub value_a: Value,
    /// Value in the second statement.
    pub value_b: Value,
    /// Statement, or interpretation of both statements, that this project uses in the reproduction.
    pub suggested_reading: String,
}

impl Facts {
    /// Parses the facts of the paper named `paper`; `text` is the content of its JSON file.
    ///
    /// # Errors
    /// The text does not have the format of facts. It is part of the program, so this error is a fault of the program.
    pub fn parse(paper: &str, text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| {
            Problem::new(format!(
                "internal error: the built-in facts of the paper `{paper}` cannot be read: {error}"
            ))
            .into()
        })
    }
}

/// Lists the settings of all runs that `config` stands for. A value that is a list stands for several runs, each with one entry
/// of the list as its value.
pub fn expand_list_values(config: &Config) -> Vec<Config> {
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
        let all = expand_list_values(&config);
        assert_eq!(all.len(), 4);
        assert_eq!(
            all[1],
            *json!({ "app": "lbm", "alpha": 4, "steps": 50, "grid": [2, 3] })
                .as_object()
                .unwrap()
        );
    }
}
