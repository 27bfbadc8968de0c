//! The measures of a setting, among them the goal that ranks settings.

use super::row::Row;
use migsim_bsp::Scenario;

/// A number of a row.
pub(super) type Measure = fn(&Row) -> Option<f64>;

/// The measures that are averaged for each setting: the name of its columns, their unit, and the number.
pub(super) const MEASURES: [(&str, &str, Measure); 5] = [
    ("makespan_i", "_s", |row| row.makespan(Scenario::I)),
    ("makespan_ii", "_s", |row| row.makespan(Scenario::Ii)),
    ("makespan_iii", "_s", |row| row.makespan(Scenario::Iii)),
    ("overhead", "_percent", Row::overhead_percent),
    ("gain", "_percent", Row::gain_percent),
];

/// The measure by which settings are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// The index of the goal in the measures.
    pub(super) measure: usize,
}

/// The index of the gain, the measure for which more is better.
pub(super) const GAIN: usize = 4;

impl Goal {
    /// The makespan of scenario iii.
    pub const MAKESPAN: Self = Self { measure: 2 };

    /// The gain of scenario iii over i.
    pub const GAIN: Self = Self { measure: GAIN };

    /// Returns the name of the goal for people.
    pub fn name(self) -> &'static str {
        match self.measure {
            0 => "makespan of scenario i [s]",
            1 => "makespan of scenario ii [s]",
            2 => "makespan of scenario iii [s]",
            3 => "overhead of scenario ii over i [%]",
            _ => "gain of scenario iii over i [%]",
        }
    }

    /// Returns its short name for a heading.
    pub(super) fn heading(self) -> &'static str {
        ["i [s]", "ii [s]", "iii [s]", "overhead [%]", "gain [%]"][self.measure]
    }

    /// Returns the value of the goal in a row, in the unit of the goal.
    pub fn of(self, row: &Row) -> Option<f64> {
        MEASURES[self.measure].2(row)
    }

    /// Whether a larger value is better.
    pub fn is_gain(self) -> bool {
        self.measure == GAIN
    }

    /// Returns whether `a` is better than `b`, both in the unit of the goal.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        if self.is_gain() { a > b } else { a < b }
    }
}
