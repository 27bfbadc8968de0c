//! The causal profile of a run as tables and as a figure.

use super::{CausalProfile, QuantityRow, SimulatedChange};
use crate::stats::{Sample, format_short};
use migsim_output::figure::{
    ChartRow as RowOfFigure, Dot, DotRowChart, Figure, FigureStyle, LegendSeries, RowGroup,
};
use migsim_output::{Cell, Column, Sheet, Table, ValueRating, number_column, text_column};

impl CausalProfile {
    /// Creates the printed table of the gains, with sentences above the table that summarise the gains.
    pub fn printed_sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.add_table(self.gain_table());
        if let Some(line) = self.ineffective_quantities_line() {
            sheet.add_line(line);
        }
        if !self.change_pairs.is_empty() {
            sheet.add_line("");
            sheet.add_table(self.pair_table());
        }
        sheet.add_line("");
        sheet.add_line(self.verdict());
        sheet
    }

    /// Returns a line that names the quantities whose changes have hardly an effect; `None` if every quantity has an effect.
    pub(super) fn ineffective_quantities_line(&self) -> Option<String> {
        let vain = self.quantity_rows.iter().filter(|row| !row.has_effect());
        let vain: Vec<String> = vain.map(|row| format!("`{}`", row.quantity)).collect();
        (!vain.is_empty()).then(|| {
            format!(
                "Quantities that change the time by less than {} %, even without limit: {}.",
                super::MIN_GAIN_PERCENT,
                vain.join(", ")
            )
        })
    }

    /// Creates the table of every change of each quantity with its gain, for other programs.
    pub fn change_sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.add_table(self.change_table());
        sheet
    }

    /// Creates the table of the quantities that have an effect, with their gains.
    pub fn gain_table(&self) -> Table {
        let mut table = Table::new("quantities", "", &self.gain_columns());
        for row in self.quantity_rows.iter().filter(|row| row.has_effect()) {
            table.push_row(self.gain_cells(row));
        }
        table
    }

    /// Returns the columns of the table of gains, depending on the options of the profile.
    fn gain_columns(&self) -> Vec<Column> {
        let mut columns = vec![text_column("change", "change")];
        columns.extend(if self.keeps_decisions {
            vec![
                number_column("gain, held [%]", "held_gain_percent"),
                number_column("decisions free [%]", "gain_percent"),
                number_column("without limit, held [%]", "unlimited_held_gain_percent"),
                number_column("free [%]", "unlimited_gain_percent"),
            ]
        } else if self.has_held_gains {
            vec![
                number_column("gain [%]", "gain_percent"),
                number_column("decisions held [%]", "held_gain_percent"),
                number_column("without limit [%]", "unlimited_gain_percent"),
                number_column("held [%]", "unlimited_held_gain_percent"),
            ]
        } else {
            vec![
                number_column("gain [%]", "gain_percent"),
                number_column("without limit [%]", "unlimited_gain_percent"),
            ]
        });
        columns.push(number_column("on the critical path [%]", "path_percent"));
        columns
    }

    fn gain_cells(&self, row: &QuantityRow) -> Vec<Cell> {
        let mut cells = vec![Cell::text(row.label())];
        for tried in [Some(&row.improvement), row.limit_removal.as_ref()] {
            let free = gain_cell(tried.and_then(SimulatedChange::free_gain));
            let held = gain_cell(tried.and_then(|one| one.gain_with_kept_decisions));
            match (self.has_held_gains, self.keeps_decisions) {
                (false, _) => cells.push(free),
                (true, false) => cells.extend([free, held]),
                (true, true) => cells.extend([held, free]),
            }
        }
        let share = |share: f64| Cell::from_value_and_text(share, format_short(share));
        cells.push(row.critical_path_percent.map_or_else(Cell::empty, share));
        cells
    }

    /// Creates the table with the makespan and the gain of each change.
    pub(super) fn change_table(&self) -> Table {
        let mut columns = vec![
            text_column("change", "change"),
            number_column("makespan [s]", "makespan_s"),
            number_column("gain [%]", "gain_percent"),
        ];
        if self.seed_count > 1 {
            columns.push(number_column("± [%]", "gain_ci95_percent"));
        }
        if self.has_held_gains {
            columns.push(number_column("held [%]", "held_gain_percent"));
        }
        let mut table = Table::new("changes", "", &columns);
        let number = |value: f64| Cell::from_value_and_text(value, format_short(value));
        for row in &self.quantity_rows {
            for tried in [Some(&row.improvement), row.limit_removal.as_ref()]
                .into_iter()
                .flatten()
            {
                let mut cells = vec![
                    Cell::text(tried.change.to_string()),
                    number(tried.makespan.mean),
                    tried
                        .free_gain()
                        .map_or_else(Cell::empty, |gain| number(gain.mean)),
                ];
                if self.seed_count > 1 {
                    cells.push(
                        tried
                            .free_gain()
                            .and_then(|gain| gain.confidence_half_width())
                            .map_or_else(Cell::empty, number),
                    );
                }
                if self.has_held_gains {
                    cells.push(
                        tried
                            .gain_with_kept_decisions
                            .map_or_else(Cell::empty, |held| number(held.mean)),
                    );
                }
                table.push_row(cells);
            }
        }
        table
    }

    /// Draws the gains as a figure with a row for each quantity that has an effect.
    pub fn gain_figure(&self, style: &FigureStyle) -> Figure {
        let dot = |key: usize, tried: &SimulatedChange| {
            let gain = tried.ranking_gain(self.keeps_decisions);
            Dot::from_half_width(key, gain.mean, gain.confidence_half_width())
        };
        let rows = self.quantity_rows.iter().filter(|row| row.has_effect());
        let rows = rows.map(|row| {
            let unlimited = row.limit_removal.as_ref().map(|one| dot(1, one));
            RowOfFigure {
                label: row.quantity.to_string(),
                dots: std::iter::once(dot(0, &row.improvement))
                    .chain(unlimited)
                    .collect(),
            }
        });
        let keys = [
            style.translate("10 %, or one process", "10 %, ou um processo"),
            style.translate("without limit", "sem limite"),
        ];
        let chart = DotRowChart {
            name: style
                .translate("gain of each change", "ganho de cada mudança")
                .to_owned(),
            axis_title: style.translate("gain [%]", "ganho [%]").to_owned(),
            legend_series: keys
                .into_iter()
                .zip(0..)
                .map(|(name, place)| LegendSeries::from_index(name, place))
                .collect(),
            row_groups: vec![RowGroup {
                heading: String::new(),
                rows: rows.collect(),
            }],
            has_zero_line: true,
            ..DotRowChart::default()
        };
        Figure::new("bottlenecks", chart.draw(style))
    }

    /// Creates the table with the gains of pairs of changes made together.
    pub(super) fn pair_table(&self) -> Table {
        let columns = [
            text_column("two changes together", "changes"),
            number_column(
                if self.keeps_decisions {
                    "gain, held [%]"
                } else {
                    "gain [%]"
                },
                "gain_percent",
            ),
            number_column("beyond the sum [%]", "beyond_percent"),
        ];
        let mut table = Table::new("pairs", "", &columns);
        for pair in &self.change_pairs {
            let [a, b] = &pair.changes;
            table.push_row([
                Cell::text(format!("{a} and {b}")),
                gain_cell(Some(pair.gain)),
                Cell::from_value_and_text(pair.excess_gain, format_short(pair.excess_gain)),
            ]);
        }
        table
    }
}

/// Returns a table cell with a gain, in green for a reduction of the makespan and in red for an increase; empty for `None`.
fn gain_cell(gain: Option<Sample>) -> Cell {
    let Some(gain) = gain else {
        return Cell::empty();
    };
    Cell::from_value_and_text(gain.mean, gain.format()).with_rating(match gain.mean {
        0.05.. => ValueRating::Good,
        ..-0.05 => ValueRating::Bad,
        _ => ValueRating::Plain,
    })
}
