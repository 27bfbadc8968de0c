//! Published times compared with simulated ones.

use serde::Serialize;

use super::facts::Config;

/// A cell of a table, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellResult {
    /// The id of the cell.
    pub id: String,
    /// The table that contains the cell.
    pub table: String,
    /// Whether the text quotes it from a figure instead of a table.
    pub in_figure: bool,
    /// The settings of the cell, without the scenario (`n=1000 procs=25`).
    pub case: String,
    /// The configuration of the cell in the facts.
    #[serde(skip)]
    pub config: Config,
    /// The scenario of the cell: `i`, `ii` or `iii`.
    pub scenario: &'static str,
    /// The published time \[s\].
    pub published_s: f64,
    /// The simulated time \[s\].
    pub simulated_s: f64,
    /// The relative error: simulated over published time, minus 1.
    pub error: f64,
    /// Whether the cell was used to fit constants.
    pub in_sample: bool,
    /// Whether the cell is within 2.5 %, or has a reason why it is not.
    pub is_explained: bool,
    /// Remarks: on the paper, and on the reason why the cell is not reproduced.
    pub note: Option<String>,
}

/// Returns the column of a table that a cell belongs to: all settings except those that follow from the size of the run.
pub(super) fn column(table: &str, config: &Config) -> String {
    let is_size = |key: &str| {
        matches!(key, "n" | "supersteps" | "grid")
            || key == "procs" && config.get("procs") == config.get("n")
    };
    let rest = config.iter().filter(|(key, _)| !is_size(key));
    let rest: Vec<String> = rest.map(|(key, value)| format!("{key}={value}")).collect();
    format!("{table} {}", rest.join(" "))
}

/// A relative difference from scenario i of the same configuration, published and simulated \[%\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Relative<'c> {
    /// The cell of the other scenario.
    pub cell: &'c CellResult,
    /// `100 (T - T_i) / T_i` as published \[%\].
    pub published: f64,
    /// `100 (T - T_i) / T_i` as simulated \[%\].
    pub simulated: f64,
}

/// Pairs each cell of scenario ii or iii with that of scenario i of the same configuration.
pub(super) fn with_alone(cells: &[CellResult]) -> impl Iterator<Item = (&CellResult, &CellResult)> {
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

/// Compares the cells of a scenario with those of scenario i.
pub(super) fn against_i<'c>(cells: &'c [CellResult], scenario: &str) -> Vec<Relative<'c>> {
    let pairs = with_alone(cells).filter(|(cell, _)| cell.scenario == scenario);
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

/// Computes the share of cells within a relative error.
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
