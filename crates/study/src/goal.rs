//! The measures that are computed for each setting of a sweep; one of them is the goal, which ranks the settings.

use super::row::RunRow;
use migsim_bsp::Scenario;

/// Function that extracts the value of a measure from the row of a run.
pub(super) type Measure = fn(&RunRow) -> Option<f64>;

/// The measures that are averaged for each setting: the name of the columns, their unit, and the function that extracts the
/// value.
pub(super) const MEASURES: [(&str, &str, Measure); 5] = [
    ("makespan_i", "_s", |row| row.makespan(Scenario::I)),
    ("makespan_ii", "_s", |row| row.makespan(Scenario::Ii)),
    ("makespan_iii", "_s", |row| row.makespan(Scenario::Iii)),
    ("overhead", "_percent", RunRow::overhead_percent),
    ("gain", "_percent", RunRow::gain_percent),
];

/// The measure by which the settings of a sweep are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Index of the measure in the list of measures.
    pub(super) measure: usize,
}

/// Index of the measure `gain` in the list of measures; the gain is the only measure for which a larger value is better.
pub(super) const GAIN: usize = 4;

impl Goal {
    /// The makespan of scenario iii, as the goal.
    pub const MAKESPAN: Self = Self { measure: 2 };

    /// The gain of scenario iii over scenario i, as the goal.
    pub const GAIN: Self = Self { measure: GAIN };

    /// Returns the name of the goal, as reports show it.
    pub fn name(self) -> &'static str {
        match self.measure {
            0 => "makespan of scenario i [s]",
            1 => "makespan of scenario ii [s]",
            2 => "makespan of scenario iii [s]",
            3 => "overhead of scenario ii over i [%]",
            _ => "gain of scenario iii over i [%]",
        }
    }

    /// Adds to the name of a goal what its scenarios simulate, for the first mention in an output.
    pub(super) fn with_scenario_glosses(name: &str) -> String {
        name.replace("scenario iii", "scenario iii (with migrations)")
            .replace("scenario ii ", "scenario ii (scheduler without moves) ")
            .replace("scenario i ", "scenario i (application only) ")
            .replace("over i ", "over scenario i (application only) ")
    }

    /// Returns the short name of the goal for the heading of a column.
    pub(super) fn column_heading(self) -> &'static str {
        ["i [s]", "ii [s]", "iii [s]", "overhead [%]", "gain [%]"][self.measure]
    }

    /// Returns the value of the goal in the row of a run, in the unit of the goal; `None` if the row has no value.
    pub fn value(self, row: &RunRow) -> Option<f64> {
        MEASURES[self.measure].2(row)
    }

    /// Returns whether the goal is the gain, so that a larger value is better.
    pub fn is_gain(self) -> bool {
        self.measure == GAIN
    }

    /// Returns the factor that makes lower values better: -1 for the gain, 1 for any other goal.
    pub(super) fn sign(self) -> f64 {
        if self.is_gain() { -1.0 } else { 1.0 }
    }

    /// Returns whether the value `a` of the goal is better than the value `b`.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        self.sign() * a < self.sign() * b
    }
}
