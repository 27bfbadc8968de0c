//! The results of a run as a row in the store of a sweep, or the reason why the run failed.

use serde::{Deserialize, Serialize};

use migsim_bsp::Scenario;

/// The results of all scenarios of one run. Values of a scenario that was not run are `None`; the row of a failed run has only
/// the reason of the failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRow {
    /// The makespans of scenarios i, ii and iii, in this order \[s\].
    pub makespan_s: [Option<f64>; 3],
    /// The numbers of rescheduling calls in scenario ii and in scenario iii.
    pub calls: [Option<u64>; 2],
    /// The number of migrations in scenario iii.
    pub migrations: Option<u64>,
    /// The time that rescheduling calls cost and the time that migrations cost in scenario iii \[s\].
    pub cost_s: [Option<f64>; 2],
    /// The number of migrations in scenario iii that return a process straight to the host that it left in its previous
    /// migration.
    #[serde(default)]
    pub straight_returns: Option<u64>,
    /// A note for the user on processes that the policy kept on slow hosts in scenario iii.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The reason why the run failed; `None` if it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the run failed because of its settings or files, which the user may correct before the run is tried again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_input: bool,
}

impl RunRow {
    /// Creates the row of a run that failed for the reason `error`; `is_input` states whether its settings or files are the
    /// cause.
    pub fn failed(error: String, is_input: bool) -> Self {
        Self {
            error: Some(error),
            is_input,
            ..Self::default()
        }
    }

    /// Returns the makespan of the given scenario \[s\]; `None` if the scenario was not run.
    pub fn makespan(&self, scenario: Scenario) -> Option<f64> {
        self.makespan_s[scenario as usize]
    }

    /// Returns the numbers of rescheduling calls, of migrations and of straight returns in scenario iii.
    pub(super) fn counts(&self) -> [Option<f64>; 3] {
        [self.calls[1], self.migrations, self.straight_returns].map(|count| Some(count? as f64))
    }

    /// Returns the overhead of scenario ii (scheduler without moves) over scenario i, `100 (T_ii - T_i) / T_i` with the makespans
    /// T \[%\]; `None` if a scenario was not run.
    pub fn overhead_percent(&self) -> Option<f64> {
        Some(0.0 - self.time_saved_percent(Scenario::Ii)?)
    }

    /// Returns the gain of scenario iii (with moves) over scenario i, `100 (T_i - T_iii) / T_i` with the makespans T \[%\];
    /// `None` if a scenario was not run.
    pub fn gain_percent(&self) -> Option<f64> {
        self.time_saved_percent(Scenario::Iii)
    }

    /// Returns the time by which a scenario is shorter than scenario i, in percent of the makespan of scenario i \[%\]; `None` if
    /// one of the two was not run.
    fn time_saved_percent(&self, scenario: Scenario) -> Option<f64> {
        let base = self.makespan(Scenario::I)?;
        let time = self.makespan(scenario)?;
        (base > 0.0).then(|| 100.0 * (base - time) / base)
    }
}
