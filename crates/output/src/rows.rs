//! The rows of the tables of a run folder: supersteps, rescheduling calls and migrations.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::csv_guard::{CsvColumn, deserialize_guarded, protect_formula_like_text};
use migsim_bsp::{CallProcedure, Scenario};
use migsim_policies::explain::{DecisionRecord, RecordedCandidate, RecordedMigration};

/// Start and end times of one superstep: a row of `supersteps.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SuperstepRow {
    /// Scenario to which the superstep belongs.
    pub scenario: Scenario,
    /// Number of the superstep, counted from 1.
    pub superstep: u64,
    /// Simulated time at which the first process began the superstep \[s\].
    pub start_s: f64,
    /// Simulated time at which the last process ended its computation in the superstep \[s\].
    pub computed_s: f64,
    /// Simulated time at which the last process left the barrier at the end of the superstep \[s\].
    pub end_s: f64,
}

/// The columns of the table `supersteps.csv`.
pub(super) const SUPERSTEP_COLUMNS: [CsvColumn<SuperstepRow>; 5] = [
    ("scenario", |row| row.scenario.name().into()),
    ("superstep", |row| row.superstep.to_string()),
    ("start_s", |row| row.start_s.to_string()),
    ("end_s", |row| row.end_s.to_string()),
    ("computed_s", |row| row.computed_s.to_string()),
];

/// Record of one rescheduling call and its decision: a line of `calls.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedCall {
    /// Scenario in which the rescheduling call took place.
    pub scenario: Scenario,
    /// Superstep after which the rescheduling call took place, counted from 1.
    pub superstep: u64,
    /// Simulated time at which the rescheduling call began \[s\].
    pub start_s: f64,
    /// Time for which the application waited for the rescheduling call \[s\].
    pub cost_s: f64,
    /// Time for which processes waited for the migrations after the rescheduling call \[s\].
    pub migration_s: f64,
    /// Whether the migrations that the call decided took place; false in scenario ii (scheduler without moves) and after the last
    /// superstep.
    pub applied: bool,
    /// Name of the policy that decided in the rescheduling call.
    pub policy: String,
    /// Processes that the policy considered for a migration in this call, each with the decision about it.
    pub candidates: Vec<RecordedCandidate>,
    /// Migrations that the rescheduling call decided.
    pub migrations: Vec<RecordedMigration>,
    /// Sum of the predicted gains t1 - t2 of the accepted candidates \[s\], where t1 is the predicted time on the origin and t2
    /// on the destination. Since processes run in parallel, this sum is not a part of the makespan. `None` if no candidate with
    /// t1 and t2 was accepted.
    #[serde(alias = "predicted_gain_s")] // its name in older folders
    pub t1_minus_t2_sum_s: Option<f64>,
    /// Time of scenario i in the supersteps until the next call, minus the time of this run \[s\]; all earlier moves contribute to this
    /// gain. None without scenario i, and in scenario ii.
    #[serde(alias = "realised_gain_s")] // its name in older folders
    pub gain_on_i_until_next_call_s: Option<f64>,
    /// The messages and operations of the rescheduling call; `None` for those of MigBSP, and in older folders.
    #[serde(default)]
    pub procedure: Option<CallProcedure>,
    /// Whether processes sent their reports before all of them had ended the superstep.
    #[serde(default)]
    pub early_reports: bool,
    /// The policy's explanation of its decision.
    pub explanation: Map<String, Value>,
}

impl RecordedCall {
    /// The record that the policy's narrator reads.
    pub fn record(&self) -> DecisionRecord<'_> {
        DecisionRecord {
            superstep: self.superstep,
            candidates: &self.candidates,
            migrations: &self.migrations,
            explanation: &self.explanation,
        }
    }
}

/// A row of `migrations.csv`: a migration that happened.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct MigrationRow {
    /// Scenario in which the migration took place.
    pub scenario: Scenario,
    /// Superstep after which the migration took place, counted from 1.
    pub superstep: u64,
    /// Process that was migrated, counted from 1.
    pub process: u64,
    /// Name of the cluster from which the process was moved.
    #[serde(deserialize_with = "deserialize_guarded")]
    pub from_cluster: String,
    /// Name of the host from which the process was moved.
    #[serde(deserialize_with = "deserialize_guarded")]
    pub from_host: String,
    /// Name of the cluster to which the process was moved.
    #[serde(deserialize_with = "deserialize_guarded")]
    pub to_cluster: String,
    /// Name of the host to which the process was moved.
    #[serde(deserialize_with = "deserialize_guarded")]
    pub to_host: String,
    /// Memory of the process that the migration sent \[B\].
    pub size_bytes: f64,
    /// Simulated time at which the migration began \[s\].
    pub start_s: f64,
    /// Simulated time at which the migration ended \[s\].
    pub end_s: f64,
    /// Cause of the migration: `policy` if a rescheduling policy decided it, `workload` if the application prescribes it.
    pub cause: String,
}

/// The columns of the table `migrations.csv`.
pub(super) const MIGRATION_COLUMNS: [CsvColumn<MigrationRow>; 11] = [
    ("scenario", |row| row.scenario.name().into()),
    ("superstep", |row| row.superstep.to_string()),
    ("process", |row| row.process.to_string()),
    ("from_cluster", |row| {
        protect_formula_like_text(&row.from_cluster).into()
    }),
    ("from_host", |row| {
        protect_formula_like_text(&row.from_host).into()
    }),
    ("to_cluster", |row| {
        protect_formula_like_text(&row.to_cluster).into()
    }),
    ("to_host", |row| {
        protect_formula_like_text(&row.to_host).into()
    }),
    ("size_bytes", |row| row.size_bytes.to_string()),
    ("start_s", |row| row.start_s.to_string()),
    ("end_s", |row| row.end_s.to_string()),
    ("cause", |row| row.cause.clone()),
];
