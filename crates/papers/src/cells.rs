//! Comparison of the published execution times (cells of tables) with the simulated times.

use serde::Serialize;

use super::facts::Config;

/// A published time (cell of a table), compared with the simulated time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellResult {
    /// Identifier of the published time in the facts of the paper.
    pub id: String,
    /// Name of the table that contains the time.
    pub table: String,
    /// Whether the paper's text quotes the time from a figure instead of a table.
    pub in_figure: bool,
    /// Settings of the run, without the scenario (`n=1000 procs=25`).
    pub case: String,
    /// Settings of the run, as in the facts of the paper.
    #[serde(skip)]
    pub config: Config,
    /// Scenario of the run: `i`, `ii` or `iii`.
    pub scenario: &'static str,
    /// Published execution time \[s\].
    pub published_s: f64,
    /// Simulated execution time \[s\].
    pub simulated_s: f64,
    /// Relative error of the simulated time: simulated over published time, minus 1.
    pub error: f64,
    /// Whether the published time was used to fit constants.
    pub in_sample: bool,
    /// Whether the simulated time is within 2.5 % of the published time, or a reason is known why it is not.
    pub is_explained: bool,
    /// Remarks on the published time in the paper, and the reason why it is not reproduced; `None` if there is nothing to remark.
    pub note: Option<String>,
}

/// Returns the name of the column of a table to which a published time belongs: the table with all settings that do not follow
/// from the size of the run.
pub(super) fn column_name(table: &str, config: &Config) -> String {
    let is_size = |key: &str| {
        matches!(key, "n" | "supersteps" | "grid")
            || key == "procs" && config.get("procs") == config.get("n")
    };
    let rest = config.iter().filter(|(key, _)| !is_size(key));
    let rest: Vec<String> = rest.map(|(key, value)| format!("{key}={value}")).collect();
    format!("{table} {}", rest.join(" "))
}

/// Relative difference between a scenario and scenario i in the same configuration, published and simulated \[%\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Relative<'c> {
    /// The published and simulated time of scenario ii or iii.
    pub cell: &'c CellResult,
    /// Published relative difference `100 (T - T_i) / T_i` \[%\].
    pub published: f64,
    /// Simulated relative difference `100 (T - T_i) / T_i` \[%\].
    pub simulated: f64,
}

/// Lists each time of scenario ii or iii together with the time of scenario i in the same configuration.
pub(super) fn pairs_with_scenario_i(cells: &[CellResult]) -> impl Iterator<Item = (&CellResult, &CellResult)> {
    let base = |config: &Config| -> Config {
        let is_shared =
            |(key, _): &(&String, &serde_json::Value)| *key != "scenario" && *key != "alpha";
        let shared = config.iter().filter(is_shared);
        shared
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    let others = cells.iter().filter(|cell| cell.scenario != "i");
    others.filter_map(move |cell| {
        let wanted = base(&cell.config);
        let is_alone = |one: &&CellResult| one.scenario == "i" && base(&one.config) == wanted;
        Some((cell, cells.iter().find(is_alone)?))
    })
}

/// Computes the relative differences of the times of a scenario from those of scenario i in the same configuration.
pub(super) fn relative_to_i<'c>(cells: &'c [CellResult], scenario: &str) -> Vec<Relative<'c>> {
    let pairs = pairs_with_scenario_i(cells).filter(|(cell, _)| cell.scenario == scenario);
    let relative = pairs.map(|(cell, alone)| Relative {
        cell,
        published: 100.0 * (cell.published_s / alone.published_s - 1.0),
        simulated: 100.0 * (cell.simulated_s / alone.simulated_s - 1.0),
    });
    relative.collect()
}

/// Computes the median of some numbers; `None` if there are none.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.len().checked_sub(1)? / 2, values.len() / 2);
    Some(f64::midpoint(values[low], values[high]))
}

/// Computes the share of times whose relative error is at most `bound`, as a fraction.
pub(super) fn share_within(cells: &[CellResult], bound: f64) -> f64 {
    let within = cells
        .iter()
        .filter(|cell| cell.error.abs() <= bound)
        .count();
    if cells.is_empty() {
        1.0
    } else {
        within as f64 / cells.len() as f64
    }
}
