//! Comparison of the published execution times (cells of tables) of a paper with the simulated times.

use serde::Serialize;

use super::facts::Config;

/// A published execution time (cell of a table), compared with the simulated time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellResult {
    /// Identifier of the published time in the facts of the paper.
    pub id: String,
    /// Name of the table or figure of the paper that contains the time.
    pub table: String,
    /// Whether the time comes from a figure, as quoted in the text of the paper, instead of a table.
    pub in_figure: bool,
    /// Settings of the run without the scenario, as a text such as `n=1000 procs=25`.
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
    /// Relative error of the simulated time, as a fraction: simulated time divided by published time, minus 1.
    pub error: f64,
    /// Whether the simulated time is within 2.5 % of the published time, or a reason is known why it is not.
    pub is_explained: bool,
    /// Remark on the published time in the paper, and the reason why it is not reproduced; `None` if there is neither.
    pub note: Option<String>,
}

/// Returns a name for the column of a table that contains a published time. It consists of the table and all settings of the run
/// except those that change with the size of the run.
pub(super) fn column_name(table: &str, config: &Config) -> String {
    let is_size = |key: &str| {
        matches!(key, "n" | "supersteps" | "grid")
            || key == "procs" && config.get("procs") == config.get("n")
    };
    let rest = config.iter().filter(|(key, _)| !is_size(key));
    let rest: Vec<String> = rest.map(|(key, value)| format!("{key}={value}")).collect();
    format!("{table} {}", rest.join(" "))
}

/// Relative difference \[%\] of the time of scenario ii or iii from the time of scenario i of the same run, published and
/// simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RelativeDifference<'c> {
    /// Published and simulated time of scenario ii or iii.
    pub cell: &'c CellResult,
    /// Relative difference of the published times: `100 (T - T_i) / T_i` \[%\], where `T_i` is the time of scenario i.
    pub published_percent: f64,
    /// Relative difference of the simulated times: `100 (T - T_i) / T_i` \[%\], where `T_i` is the time of scenario i.
    pub simulated_percent: f64,
}

pub(super) fn pairs_with_scenario_i(
    cells: &[CellResult],
) -> impl Iterator<Item = (&CellResult, &CellResult)> {
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

/// Computes the relative differences between the times of `scenario` and the times of scenario i with the same settings.
pub(super) fn differences_from_i<'c>(
    cells: &'c [CellResult],
    scenario: &str,
) -> Vec<RelativeDifference<'c>> {
    let pairs = pairs_with_scenario_i(cells).filter(|(cell, _)| cell.scenario == scenario);
    let relative = pairs.map(|(cell, alone)| RelativeDifference {
        cell,
        published_percent: 100.0 * (cell.published_s / alone.published_s - 1.0),
        simulated_percent: 100.0 * (cell.simulated_s / alone.simulated_s - 1.0),
    });
    relative.collect()
}

/// Computes the median of some numbers; returns `None` if there are no numbers.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.len().checked_sub(1)? / 2, values.len() / 2);
    Some(f64::midpoint(values[low], values[high]))
}
