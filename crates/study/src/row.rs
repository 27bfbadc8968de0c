//! The row of a run: its numbers, or the reason for its failure.

use serde::{Deserialize, Serialize};

use migsim_bsp::Scenario;

/// The results of all scenarios of one run; the values of a scenario that was not run are empty. A failed run has only the reason
/// for its failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The makespans of scenarios i, ii and iii \[s\].
    pub makespan_s: [Option<f64>; 3],
    /// The numbers of rescheduling calls in scenarios ii and iii.
    pub calls: [Option<u64>; 2],
    /// The number of migrations in scenario iii.
    pub migrations: Option<u64>,
    /// The time that rescheduling calls and migrations cost in scenario iii \[s\].
    pub cost_s: [Option<f64>; 2],
    /// The number of migrations in scenario iii that take a process straight back to the host it came from.
    #[serde(default)]
    pub straight_returns: Option<u64>,
    /// The reason why the run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the run failed because of its settings or files, which may be corrected before the next run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_input: bool,
}

impl Row {
    /// Creates the row of a run that failed; `is_input` states whether its settings or files are the reason.
    pub fn failed(error: String, is_input: bool) -> Self {
        Self {
            error: Some(error),
            is_input,
            ..Self::default()
        }
    }

    /// Returns the makespan of a scenario \[s\].
    pub fn makespan(&self, scenario: Scenario) -> Option<f64> {
        self.makespan_s[scenario as usize]
    }

    /// Computes the overhead of scenario ii: `100 (T_ii - T_i) / T_i` \[%\].
    pub fn overhead_percent(&self) -> Option<f64> {
        Some(0.0 - self.saved_percent(Scenario::Ii)?)
    }

    /// Computes the gain of scenario iii: `100 (T_i - T_iii) / T_i` \[%\].
    pub fn gain_percent(&self) -> Option<f64> {
        self.saved_percent(Scenario::Iii)
    }

    /// Returns the time that a scenario saves compared with scenario i, in percent of the makespan of scenario i \[%\].
    fn saved_percent(&self, scenario: Scenario) -> Option<f64> {
        let (base, time) = (self.makespan(Scenario::I)?, self.makespan(scenario)?);
        (base > 0.0).then(|| 100.0 * (base - time) / base)
    }
}
