//! The printed result of a sweep: the path of the files, the best settings, and the effect of each parameter.
//!
//! The output for people shows the best ten settings; the output for other programs contains all settings, as `summary.csv` or as
//! JSON.

use serde_json::{Map, Value, json};

use super::{
    cells::number_cell,
    effects::describe_extreme_values,
    plan::Plan,
    spec::value_label,
    stats::Sample,
    summary::{Summary, setting_values_by_parameter},
};
use migsim_base::words::format_count;
use migsim_output::{
    Cell, Column, OutputForm, Sheet, Table, ValueRating, number_column, text_column, with_version,
};

/// Maximum number of settings in the printed output for people.
const MAX_PRINTED_SETTINGS: usize = 10;

/// Name of the share of the variance that values of several parameters explain only together.
pub(super) const INTERACTIONS: &str = "interactions";

impl Summary {
    /// Returns the result of a sweep as text in the output form `form` (for people, CSV or JSON). `runs` is the number of
    /// finished runs, and `place` the folder with the files.
    pub(super) fn to_text(
        &self,
        plan: &Plan,
        runs: usize,
        place: &str,
        form: OutputForm,
    ) -> String {
        match form {
            OutputForm::Csv => self.csv(plan),
            OutputForm::Json => {
                let found = with_version(self.to_json(plan, runs, place));
                format!("{found:#}\n")
            }
            form => self.printed_sheet(plan, runs, place).render(form),
        }
    }

    fn printed_sheet(&self, plan: &Plan, runs: usize, place: &str) -> Sheet {
        let mut sheet = Sheet::default();
        let runs = format_count(runs, "run");
        sheet.add_line(format!(
            "{runs} in {place}; its files runs.csv, summary.csv and index.html have the results"
        ));
        for line in self.best_setting_lines(plan) {
            sheet.add_line(line);
        }
        if self.ranked.len() > 1 {
            sheet.add_line("");
            let mut table = Table::new("settings", "", &self.setting_columns(plan));
            for &index in self.ranked.iter().take(MAX_PRINTED_SETTINGS) {
                table.push_row(self.setting_cells(plan, index));
            }
            sheet.add_table(table);
            if let Some(more @ 1..) = self.ranked.len().checked_sub(MAX_PRINTED_SETTINGS) {
                sheet.add_line(format!(
                    "and {more} more settings, which are in summary.csv"
                ));
            }
        }
        for line in self.effect_lines(plan) {
            sheet.add_line(line);
        }
        sheet
    }

    /// Creates the table of the best `most` settings for a page, with their ranks. Bars show the mean of the goal between the best
    /// and the worst mean.
    pub(super) fn ranking_table(&self, plan: &Plan, most: usize) -> Table {
        let ranked = &self.ranked[..self.ranked.len().min(most)];
        let goals: Vec<Sample> = ranked
            .iter()
            .filter_map(|one| self.settings[*one].goal)
            .collect();
        let means: Vec<f64> = goals.iter().map(|goal| goal.mean).collect();
        let is_partial = goals.iter().any(|goal| goal.count < plan.seeds.len());
        let mut columns = vec![number_column("rank", "rank")];
        columns.extend(self.setting_columns(plan));
        columns.extend(is_partial.then(|| number_column("seeds", "seeds")));
        let mut table = Table::new("settings", "", &columns);
        for (&index, goal) in ranked.iter().zip(&goals) {
            let first = means.partition_point(|mean| self.goal.is_better(*mean, goal.mean));
            let is_equal = |mean: &&f64| **mean == goal.mean;
            let is_first = !self.not_separated_settings.is_empty()
                && [&self.best_settings, &self.not_separated_settings]
                    .iter()
                    .any(|settings| settings.binary_search(&index).is_ok());
            let rank = if is_first { 1 } else { first + 1 };
            let is_tied = is_first || means[first..].iter().take_while(is_equal).count() > 1;
            let tie = if is_tied { "=" } else { "" };
            let mut row = vec![Cell::from_value_and_text(rank, format!("{rank}{tie}"))];
            row.extend(self.setting_cells(plan, index));
            let mean_at = 2 + plan.names.len();
            let length = (goal.mean - means[0]) / (means[means.len() - 1] - means[0]);
            if length.is_finite() {
                row[mean_at] = row[mean_at].clone().with_bar(length);
            }
            row.extend(is_partial.then(|| Cell::count(goal.count)));
            table.push_row(row);
        }
        table
    }

    fn setting_columns(&self, plan: &Plan) -> Vec<Column> {
        let mut columns = vec![number_column("setting", "setting")];
        columns.extend(plan.names.iter().enumerate().map(|(parameter, name)| {
            let mut values = plan
                .settings
                .iter()
                .filter_map(|one| one[parameter].as_ref());
            if values.all(Value::is_number) {
                number_column(name, "parameter")
            } else {
                text_column(name, "parameter")
            }
        }));
        columns.push(number_column(self.goal.column_heading(), "mean"));
        if plan.seeds.len() > 1 {
            columns.push(number_column("± 95 %", "ci95"));
        }
        if self.has_baseline() {
            columns.push(number_column("less baseline", "difference"));
        }
        columns
    }

    fn has_baseline(&self) -> bool {
        let mut ranked = self.ranked.iter();
        ranked.any(|&one| self.settings[one].baseline != one)
    }

    fn setting_cells(&self, plan: &Plan, index: usize) -> Vec<Cell> {
        let setting = &self.settings[index];
        let mut row = vec![Cell::count(index + 1)];
        row.extend(plan.settings[index].iter().map(|value| match value {
            Some(value) if value.is_number() => {
                Cell::from_value_and_text(value.clone(), value_label(value))
            }
            Some(value) => Cell::text(value_label(value)),
            None => Cell::empty(),
        }));
        row.push(number_cell(setting.goal.map(|sample| sample.mean)));
        if plan.seeds.len() > 1 {
            row.push(number_cell(setting.goal.and_then(|sample| sample.ci95)));
        }
        if self.has_baseline() {
            let difference = setting.difference.filter(|_| setting.baseline != index);
            let baseline = self.settings[setting.baseline].goal;
            row.push(self.difference_cell(difference, baseline.map_or(0.0, |goal| goal.mean)));
        }
        row
    }

    /// Returns a table cell with the difference of the goal from its baseline. The cell is coloured if the difference exceeds the
    /// margin of indifference significantly, corrected for the number of settings.
    fn difference_cell(&self, sample: Option<Sample>, baseline: f64) -> Cell {
        let Some(sample) = sample else {
            return Cell::empty();
        };
        let basis = self.test_conditions;
        let margin = basis.indifference_margin(self.goal.is_gain(), baseline);
        let rating = if !basis.is_significant(sample.abs(), margin, self.ranked.len()) {
            ValueRating::Plain
        } else if self.goal.is_better(sample.mean, 0.0) {
            ValueRating::Good
        } else {
            ValueRating::Bad
        };
        let sign = if sample.mean > 0.0 { "+" } else { "" };
        let shown = format!("{sign}{}", sample.format());
        Cell::from_value_and_text(sample.mean, shown).with_rating(rating)
    }

    fn to_json(&self, plan: &Plan, runs: usize, place: &str) -> Value {
        let settings = self.settings.iter().enumerate().map(|(index, setting)| {
            let mut row = Map::new();
            row.insert("setting".into(), (index + 1).into());
            let values = setting_values_by_parameter(&plan.names, &plan.settings[index]);
            row.insert("values".into(), values.into());
            row.extend(setting.named_statistics(self.goal));
            row
        });
        let sensitivity = self.parameter_effects.iter().map(|effect| {
            let values = effect
                .means_by_value
                .iter()
                .map(|(value, mean)| json!({ "value": value, "mean": mean }));
            json!({
                "parameter": plan.names[effect.parameter_index],
                "share": effect.variance_share,
                "values": values.collect::<Vec<_>>(),
            })
        });
        let numbers =
            |settings: &[usize]| settings.iter().map(|one| one + 1).collect::<Vec<usize>>();
        let basis = self.test_conditions;
        json!({
            "folder": place,
            "runs": runs,
            "planned": plan.runs.len(),
            "goal": self.goal.name(),
            "tried": self.ranked.len(),
            "best": numbers(&self.best_settings),
            "not_separated": numbers(&self.not_separated_settings),
            "correction": if basis.are_tests_possible() { "bonferroni" } else { "none" },
            "indifference_percent": basis.indifference,
            "settings": settings.collect::<Vec<_>>(),
            "sensitivity": sensitivity.collect::<Vec<_>>(),
            "interactions": self.interaction_share(),
        })
    }

    fn effect_lines(&self, plan: &Plan) -> Vec<String> {
        if self.parameter_effects.is_empty() {
            return Vec::new();
        }
        let effects = self.parameter_effects.iter().map(|effect| {
            (
                &*plan.names[effect.parameter_index],
                effect.variance_share,
                describe_extreme_values(&effect.means_by_value),
            )
        });
        let joint = self
            .interaction_share()
            .map(|share| (INTERACTIONS, Some(share), String::new()));
        let effects = effects.chain(joint);
        let width = effects
            .clone()
            .map(|(name, ..)| name.chars().count())
            .max()
            .unwrap_or(0);
        let lines = effects.map(|(name, share, values)| {
            let share = share.map_or("none".to_owned(), |share| format!("{:.1} %", 100.0 * share));
            format!("  {name:<width$} {share:>8}  {values}")
        });
        let heading = "sensitivity: share of the variance of the goal that each parameter explains; its values from best to worst, with their means";
        [String::new(), heading.to_owned()]
            .into_iter()
            .chain(lines)
            .collect()
    }
}
