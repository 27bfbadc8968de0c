//! The profile of a run as tables and as a figure.

use super::{Profile, Row, Tried};
use crate::stats::{Sample, short};
use migsim_output::figure::{Dot, Figure, Group, Row as RowOfFigure, Rows, SeriesKey, Style};
use migsim_output::{Cell, Column, Sheet, Table, Tone, numbers, words};

impl Profile {
    /// Creates the printed table of the gains, with the verdict above it.
    pub fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.table(self.table());
        if let Some(line) = self.without_effect() {
            sheet.line(line);
        }
        if !self.pairs.is_empty() {
            sheet.line("");
            sheet.table(self.pair_table());
        }
        sheet.line("");
        sheet.line(self.verdict());
        sheet
    }

    /// Returns a line that names the quantities without effect; `None` if every quantity has an effect.
    pub(super) fn without_effect(&self) -> Option<String> {
        let vain = self.rows.iter().filter(|row| !row.counts());
        let vain: Vec<String> = vain.map(|row| format!("`{}`", row.changed)).collect();
        (!vain.is_empty()).then(|| format!("Without effect: {}.", vain.join(", ")))
    }

    /// Creates the table of each change of each quantity, for other programs.
    pub fn data_sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.table(self.data());
        sheet
    }

    /// Creates the table of the gains of the quantities that have an effect.
    pub fn table(&self) -> Table {
        let mut table = Table::new("quantities", "", &self.columns());
        for row in self.rows.iter().filter(|row| row.counts()) {
            table.push(self.row(row));
        }
        table
    }

    /// Returns the columns of the table of gains.
    fn columns(&self) -> Vec<Column> {
        let mut columns = vec![words("change", "change")];
        if self.holds_decisions {
            columns.push(numbers("gain, held [%]", "held_gain_percent"));
            columns.push(numbers("decisions free [%]", "gain_percent"));
            columns.push(numbers(
                "without limit, held [%]",
                "unlimited_held_gain_percent",
            ));
            columns.push(numbers("free [%]", "unlimited_gain_percent"));
        } else {
            columns.push(numbers("gain [%]", "gain_percent"));
            columns.push(numbers("without limit [%]", "unlimited_gain_percent"));
        }
        columns.push(numbers("on the critical path [%]", "path_percent"));
        columns
    }

    /// Returns the cells of a quantity in the table of gains.
    fn row(&self, row: &Row) -> Vec<Cell> {
        let mut cells = vec![Cell::text(row.name())];
        for tried in [Some(&row.step), row.unlimited.as_ref()] {
            if self.holds_decisions {
                cells.push(gained(tried.and_then(|one| one.held)));
            }
            cells.push(gained(tried.map(|one| one.gain)));
        }
        let share = |share: f64| Cell::value(share, short(share));
        cells.push(row.on_path.map_or_else(Cell::empty, share));
        cells
    }

    /// Creates the table of the makespan and the gain of each change.
    pub(super) fn data(&self) -> Table {
        let mut columns = vec![
            words("change", "change"),
            numbers("makespan [s]", "makespan_s"),
            numbers("gain [%]", "gain_percent"),
        ];
        if self.seeds > 1 {
            columns.push(numbers("± [%]", "gain_ci95_percent"));
        }
        if self.holds_decisions {
            columns.push(numbers("held [%]", "held_gain_percent"));
        }
        let mut table = Table::new("changes", "", &columns);
        let number = |value: f64| Cell::value(value, short(value));
        for row in &self.rows {
            for tried in [Some(&row.step), row.unlimited.as_ref()]
                .into_iter()
                .flatten()
            {
                let mut cells = vec![
                    Cell::text(tried.change.to_string()),
                    number(tried.makespan.mean),
                    number(tried.gain.mean),
                ];
                if self.seeds > 1 {
                    cells.push(tried.gain.half_width().map_or_else(Cell::empty, number));
                }
                if self.holds_decisions {
                    cells.push(
                        tried
                            .held
                            .map_or_else(Cell::empty, |held| number(held.mean)),
                    );
                }
                table.push(cells);
            }
        }
        table
    }

    /// Draws the gains as a figure, with a row for each quantity that has an effect.
    pub fn figure(&self, style: &Style) -> Figure {
        let step = |one: &Tried| self.ranking(one);
        let dot = |key: usize, tried: &Tried| {
            let gain = step(tried);
            Dot::from_half_width(key, gain.mean, gain.half_width())
        };
        let rows = self.rows.iter().filter(|row| row.counts());
        let rows = rows.map(|row| {
            let unlimited = row.unlimited.as_ref().map(|one| dot(1, one));
            RowOfFigure {
                label: row.changed.to_string(),
                dots: std::iter::once(dot(0, &row.step))
                    .chain(unlimited)
                    .collect(),
            }
        });
        let keys = [
            style.say("10 %, or one process", "10 %, ou um processo"),
            style.say("without limit", "sem limite"),
        ];
        let chart = Rows {
            name: style
                .say("gain of each change", "ganho de cada mudança")
                .to_owned(),
            axis: style.say("gain [%]", "ganho [%]").to_owned(),
            keys: keys
                .into_iter()
                .zip(0..)
                .map(|(name, place)| SeriesKey::of(name, place))
                .collect(),
            groups: vec![Group {
                heading: String::new(),
                rows: rows.collect(),
            }],
            has_zero_line: true,
            ..Rows::default()
        };
        Figure::new("bottlenecks", chart.draw(style))
    }

    /// Creates the table of the gains of pairs of changes.
    pub(super) fn pair_table(&self) -> Table {
        let columns = [
            words("two changes together", "changes"),
            numbers("gain [%]", "gain_percent"),
            numbers("beyond the sum [%]", "beyond_percent"),
        ];
        let mut table = Table::new("pairs", "", &columns);
        for pair in &self.pairs {
            let [a, b] = &pair.changes;
            table.push([
                Cell::text(format!("{a} and {b}")),
                gained(Some(pair.gain)),
                Cell::value(pair.beyond, short(pair.beyond)),
            ]);
        }
        table
    }
}

/// Formats a gain in green, or a loss in red.
fn gained(gain: Option<Sample>) -> Cell {
    let Some(gain) = gain else {
        return Cell::empty();
    };
    Cell::value(gain.mean, gain.shown()).in_tone(match gain.mean {
        0.05.. => Tone::Good,
        ..-0.05 => Tone::Bad,
        _ => Tone::Plain,
    })
}
