//! Simulation of the cases of the papers with weights of the metrics (computation, communication, memory) that the policy adjusts
//! during the run. The results are predictions, because no paper publishes a run with such weights.

use rayon::prelude::*;
use serde::Serialize;

use super::Paper;
use super::cells::{CellResult, differences_from_scenario_i};
use super::changes::Changes;
use super::markdown::{push_table, put};
use super::one_reading::papers_with_runs;
use super::reproduce::{read_facts, simulate_and_compare_all};
use super::runs::Runs;
use migsim_base::error::Error;
use migsim_experiment::{KeySetting, Progress};

/// Minimum relative difference of two times that count as different (a fraction).
const MIN_DIFFERENCE: f64 = 1e-3;

/// Comparison of the simulated runs of a paper with fixed weights of the metrics and with weights that the policy adjusts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightComparison {
    /// Name of the paper.
    pub paper: &'static str,
    /// Number of published times of scenario iii in the tables of the paper.
    pub cells: usize,
    /// Number of runs whose time of scenario iii is shorter with adjusted weights than with fixed weights, by more than 0.1 %.
    pub shorter: usize,
    /// Number of runs whose time of scenario iii is longer with adjusted weights than with fixed weights, by more than 0.1 %.
    pub longer: usize,
    /// Two mean gains of scenario iii over scenario i \[%\]: first with fixed weights, then with adjusted weights.
    pub mean_gains_percent: [f64; 2],
    /// Largest gain and largest loss of adjusted over fixed weights, among all times of scenario iii: `100 (fixed - adjusted) /
    /// fixed` \[%\]. A loss is negative.
    pub extremes_percent: [f64; 2],
}

/// Simulates each paper with the rules of its reproduction, once with fixed weights of the metrics and once with weights that the
/// policy adjusts.
///
/// # Errors
/// A run fails.
pub fn compare_weights(progress: &Progress) -> Result<Vec<WeightComparison>, Error> {
    papers_with_runs()
        .into_par_iter()
        .map(|paper| compare_weights_for_paper(paper, progress))
        .collect()
}

fn compare_weights_for_paper(
    paper: &'static Paper,
    progress: &Progress,
) -> Result<WeightComparison, Error> {
    let adaptive = KeySetting {
        key: "policy.migbsp.weights".into(),
        source_text: "weights that adjust themselves".into(),
        value: "adaptive".into(),
    };
    let facts = read_facts(paper)?;
    let cells = |changes: Changes| -> Result<Vec<CellResult>, Error> {
        let runs = Runs::new(paper, changes, progress)?;
        let cells = simulate_and_compare_all(paper, &facts, &runs)?
            .cells
            .into_iter();
        Ok(cells.filter(|cell| !cell.in_figure).collect())
    };
    let both = [
        cells(Changes::default())?,
        cells(Changes::in_all_experiments([adaptive]))?,
    ];
    let times = both.each_ref().map(|cells| {
        let moved = cells.iter().filter(|cell| cell.scenario == "iii");
        moved.map(|cell| cell.simulated_s).collect::<Vec<f64>>()
    });
    let won = times[0].iter().zip(&times[1]);
    let won: Vec<f64> = won
        .map(|(fixed, adjusted)| 1.0 - adjusted / fixed)
        .collect();
    let mean_gain = |cells: &Vec<CellResult>| {
        let gains = differences_from_scenario_i(cells, "iii");
        let sum: f64 = gains.iter().map(|one| -one.simulated_percent).sum();
        sum / gains.len().max(1) as f64
    };
    Ok(WeightComparison {
        paper: paper.name,
        cells: won.len(),
        shorter: won.iter().filter(|&&won| won > MIN_DIFFERENCE).count(),
        longer: won.iter().filter(|&&won| won < -MIN_DIFFERENCE).count(),
        mean_gains_percent: both.each_ref().map(mean_gain),
        extremes_percent: [
            100.0 * won.iter().copied().fold(0.0, f64::max),
            100.0 * won.iter().copied().fold(0.0, f64::min),
        ],
    })
}

/// Text that introduces the section on weights of the metrics that the policy adjusts.
const INTRODUCTION_TEXT: &str = "
## Weights that adjust themselves

The Lattice Boltzmann paper announces \"self-adjusting of the weights of each considered metric\" (section 5), but gives no rule. `policy.migbsp.weights=adaptive` is a simple rule of migsim.
At each call the weights of Comp and Comm are set to their shares of the predicted time. Older weights count half at each call, as in forecasts, and the two weights add up to 2. The weight of Mem is between 1/4 and 4. It is halved if the supersteps
became shorter after the last moves, and doubled otherwise. No paper publishes a run with such weights, so the table is a prediction. It compares the cells of scenario iii
with fixed and with adjusted weights, under the rules of each paper. *Shorter* and *longer* count cells that change by more than 0.1 %.

";

/// Appends the section on weights of the metrics (computation, communication, memory) that the policy adjusts.
pub(super) fn push_weights_section(text: &mut String, papers: &[WeightComparison]) {
    put!(text, "{INTRODUCTION_TEXT}");
    let rows = papers.iter().map(|one| {
        let [fixed, adjusted] = one.mean_gains_percent;
        let [best, worst] = one.extremes_percent;
        format!(
            "{} | {} | {} | {} | {fixed:.1} % | {adjusted:.1} % | {best:.1} % | {worst:.1} %",
            one.paper, one.cells, one.shorter, one.longer
        )
    });
    let columns = "paper | cells | shorter | longer | mean gain, fixed weights | mean gain, adjusted weights | largest decrease of a time | largest increase of a time";
    push_table(text, columns, rows);
}
