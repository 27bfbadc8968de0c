//! The causal profile of a run as tables, a figure, an HTML page, and the files of its folder.

use super::{CausalProfile, SimulatedChange};
use crate::{
    cells::{cell_with, gain_cell, number_cell},
    page::INITIAL_ROWS,
};
use migsim_base::quantities::format_seconds;
use migsim_output::{
    Cell, Column, Sheet, Table,
    figure::{ChartRow, Dot, DotRowChart, Figure, FigureStyle, LegendSeries, RowGroup},
    frame::{list_html, picture_html, sections_page, sentence_html, settings_table},
    number_column, text_column,
};

impl CausalProfile {
    /// Returns the texts of the files with the profile, except `bottlenecks.json`.
    pub fn files(&self) -> [(&'static str, String); 3] {
        [
            ("quantities.csv", self.gain_table().to_csv()),
            ("changes.csv", self.change_table().to_csv()),
            ("index.html", self.page()),
        ]
    }

    fn page(&self) -> String {
        let figure = self.gain_figure(&FigureStyle::of_page()).to_svg();
        let label = "Gain of each change, by 10 % and without limit";
        let gains = [
            self.gain_table().to_html(INITIAL_ROWS),
            list_html(&Vec::from_iter(self.ineffective_quantities_line())),
            picture_html("gains", label, &figure),
        ];
        let pairs = match self.pairs[..] {
            [] => String::new(),
            _ => self.pair_table().to_html(INITIAL_ROWS),
        };
        let note = "<p class=\"note\">The chain of activities that ends last, from time 0 to the makespan, of the first seed.</p>\n";
        let sections = [
            (
                "gains",
                "What a change of each quantity gains",
                gains.concat(),
            ),
            ("pairs", "Two changes together", pairs),
            (
                "path",
                "Critical path: what the time goes to",
                self.critical_path_table().to_html(INITIAL_ROWS) + note,
            ),
            (
                "changes",
                "All changes",
                self.change_table().to_html(INITIAL_ROWS),
            ),
            (
                "settings",
                "Settings",
                settings_table("All settings of the unchanged run", &self.settings),
            ),
        ];
        let title = format!("Bottlenecks of scenario {}", self.scenario.name());
        let lead = format!(
            "<p class=\"verdict\">{}</p>\n{}",
            sentence_html(&self.verdict()),
            list_html(&self.notes)
        );
        sections_page(&title, &lead, sections, &[])
    }

    fn critical_path_table(&self) -> Table {
        let columns = [
            text_column("kind", "kind"),
            text_column("resource", "resource"),
            text_column("process", "process"),
            number_column("time [s]", "seconds"),
            number_column("share [%]", "percent"),
        ];
        let mut table = Table::new("path", "", &columns);
        let most = self
            .critical_path
            .first()
            .map_or(1.0, |share| share.percent);
        for share in &self.critical_path {
            let process = share
                .process
                .map(|process| format!("p{}", process.index() + 1));
            table.push_row([
                Cell::text(share.activity_kind.name()),
                Cell::text(&share.resource),
                Cell::text(process.unwrap_or_default()),
                cell_with(share.time.get(), format_seconds),
                cell_with(share.percent, |share| format!("{share:.1}"))
                    .with_bar(share.percent / most),
            ]);
        }
        table
    }

    /// Creates the printed table of the gains, with sentences below the table that summarise the gains.
    pub fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.add_table(self.gain_table());
        if let Some(line) = self.ineffective_quantities_line() {
            sheet.add_line(line);
        }
        if !self.pairs.is_empty() {
            sheet.add_line("");
            sheet.add_table(self.pair_table());
        }
        sheet.add_line("");
        sheet.add_line(self.verdict());
        sheet
    }

    /// Returns a line that names the quantities whose changes have hardly an effect; `None` if every quantity has an effect.
    fn ineffective_quantities_line(&self) -> Option<String> {
        let vain: Vec<String> = self
            .rows
            .iter()
            .filter(|row| !row.has_effect())
            .map(|row| format!("`{}`", row.quantity()))
            .collect();
        (!vain.is_empty()).then_some(format!(
            "Quantities that change the time by less than {} %, even without limit: {}.",
            super::MIN_GAIN_PERCENT,
            vain.join(", ")
        ))
    }

    /// Creates the table of every change of each quantity with its gain, for other programs.
    pub fn change_sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.add_table(self.change_table());
        sheet
    }

    fn gain_table(&self) -> Table {
        let mut table = Table::new("quantities", "", &self.gain_columns());
        for row in self.rows.iter().filter(|row| row.has_effect()) {
            let mut cells = vec![Cell::text(row.improvement().change.to_string())];
            for tried in [row.changes.first(), row.changes.get(1)] {
                let free = gain_cell(tried.and_then(SimulatedChange::free_gain));
                let held = gain_cell(tried.and_then(|one| one.held_gain));
                match (self.has_held_gains, self.keeps_decisions) {
                    (false, _) => cells.push(free),
                    (true, false) => cells.extend([free, held]),
                    (true, true) => cells.extend([held, free]),
                }
            }
            cells.push(number_cell(row.critical_path_percent));
            table.push_row(cells);
        }
        table
    }

    fn gain_columns(&self) -> Vec<Column> {
        let gains: &[(&str, &'static str)] = if self.keeps_decisions {
            &[
                ("gain, held [%]", "held_gain_percent"),
                ("decisions free [%]", "gain_percent"),
                ("without limit, held [%]", "unlimited_held_gain_percent"),
                ("free [%]", "unlimited_gain_percent"),
            ]
        } else if self.has_held_gains {
            &[
                ("gain [%]", "gain_percent"),
                ("decisions held [%]", "held_gain_percent"),
                ("without limit [%]", "unlimited_gain_percent"),
                ("held [%]", "unlimited_held_gain_percent"),
            ]
        } else {
            &[
                ("gain [%]", "gain_percent"),
                ("without limit [%]", "unlimited_gain_percent"),
            ]
        };
        let gains = gains
            .iter()
            .map(|(heading, key)| number_column(*heading, key));
        let path = number_column("on the critical path [%]", "path_percent");
        let change = text_column("change", "change");
        [change].into_iter().chain(gains).chain([path]).collect()
    }

    fn change_table(&self) -> Table {
        let has_intervals = self.makespan.count > 1;
        let mut columns = vec![
            text_column("change", "change"),
            number_column("makespan [s]", "makespan_s"),
            number_column("gain [%]", "gain_percent"),
        ];
        if has_intervals {
            columns.push(number_column("± [%]", "gain_ci95_percent"));
        }
        if self.has_held_gains {
            columns.push(number_column("held [%]", "held_gain_percent"));
        }
        let mut table = Table::new("changes", "", &columns);
        for tried in self.rows.iter().flat_map(|row| &row.changes) {
            let free = tried.free_gain();
            let mut cells = vec![
                Cell::text(tried.change.to_string()),
                number_cell(tried.makespan.mean),
                number_cell(free.map(|gain| gain.mean)),
            ];
            if has_intervals {
                cells.push(number_cell(free.and_then(|gain| gain.ci95)));
            }
            if self.has_held_gains {
                cells.push(number_cell(tried.held_gain.map(|held| held.mean)));
            }
            table.push_row(cells);
        }
        table
    }

    /// Draws the gains as a figure with a row for each quantity that has an effect.
    pub fn gain_figure(&self, style: &FigureStyle) -> Figure {
        let rows = self.rows.iter().filter(|row| row.has_effect()).map(|row| {
            let dots = row.changes.iter().enumerate().map(|(key, tried)| {
                let gain = tried.ranking_gain(self.keeps_decisions);
                Dot::from_half_width(key, gain.mean, gain.ci95)
            });
            ChartRow {
                label: row.quantity().to_string(),
                dots: dots.collect(),
                ..ChartRow::default()
            }
        });
        let keys = [
            style.translate("10 %, or one process", "10 %, ou um processo"),
            style.translate("without limit", "sem limite"),
        ];
        let name = style.translate("gain of each change", "ganho de cada mudança");
        let keys = keys.into_iter().zip(0..);
        let chart = DotRowChart {
            name: name.to_owned(),
            axis_title: style.translate("gain [%]", "ganho [%]").to_owned(),
            legend_series: keys
                .map(|(name, place)| LegendSeries::from_index(name, place))
                .collect(),
            row_groups: vec![RowGroup {
                rows: rows.collect(),
                ..RowGroup::default()
            }],
            has_zero_line: true,
            ..DotRowChart::default()
        };
        Figure::new("bottlenecks", chart.draw(style))
    }

    fn pair_table(&self) -> Table {
        let gain = if self.keeps_decisions {
            "gain, held [%]"
        } else {
            "gain [%]"
        };
        let columns = [
            text_column("two changes together", "changes"),
            number_column(gain, "gain_percent"),
            number_column("beyond the sum [%]", "beyond_percent"),
        ];
        let mut table = Table::new("pairs", "", &columns);
        for pair in &self.pairs {
            let [a, b] = &pair.changes;
            table.push_row([
                Cell::text(format!("{a} and {b}")),
                gain_cell(pair.gain),
                number_cell(pair.excess_gain),
            ]);
        }
        table
    }
}
