//! The printed result of a sweep: the path of the files, the best settings, and the effect of each parameter.
//!
//! The output for people shows the best ten settings; the output for other programs contains all settings, as `summary.csv` or as
//! JSON.

use std::io;

use serde_json::{Map, Value, json};

use super::effects::describe_extreme_values;
use super::plan::Plan;
use super::spec::value_label;
use super::stats::Sample;
use super::stats::format_short;
use super::summary::{Summary, setting_values_by_parameter};
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
    ///
    /// # Errors
    /// Writing to memory fails, which does not happen.
    pub(super) fn to_text(
        &self,
        plan: &Plan,
        (runs, place): (usize, &str),
        form: OutputForm,
    ) -> io::Result<String> {
        Ok(match form {
            OutputForm::Csv => String::from_utf8_lossy(&self.csv(plan)?).into_owned(),
            OutputForm::Json => {
                let found = with_version(self.to_json(plan, (runs, place)));
                format!("{found:#}\n")
            }
            form => self.printed_sheet(plan, (runs, place)).render(form),
        })
    }

    /// Creates the printed output for people: the best settings in a table, and the effects of the parameters.
    fn printed_sheet(&self, plan: &Plan, (runs, place): (usize, &str)) -> Sheet {
        let mut sheet = Sheet::default();
        let runs = format_count(runs, "run");
        sheet.add_line(format!(
            "{runs} in {place}; its files runs.csv, summary.csv and index.html have the results"
        ));
        for line in self.best_setting_lines(plan) {
            sheet.add_line(line);
        }
        let ranked = self.ranked_settings();
        if ranked.len() > 1 {
            sheet.add_line("");
            sheet.add_table(self.best_settings_table(plan, &ranked));
            if ranked.len() > MAX_PRINTED_SETTINGS {
                let more = ranked.len() - MAX_PRINTED_SETTINGS;
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

    /// Creates the table of the best settings, with a column for each parameter; `ranked` has the indices of the settings, the
    /// best first.
    fn best_settings_table(&self, plan: &Plan, ranked: &[usize]) -> Table {
        let mut table = Table::new("settings", "", &self.setting_columns(plan, ranked));
        for &index in ranked.iter().take(MAX_PRINTED_SETTINGS) {
            table.push_row(self.setting_cells(plan, ranked, index));
        }
        table
    }

    /// Creates the table of all settings in `ranked` for a page, with their ranks. Bars show the mean of the goal between the
    /// best and the worst mean.
    pub(super) fn ranking_table(&self, plan: &Plan, ranked: &[usize]) -> Table {
        let mut columns = vec![number_column("rank", "rank")];
        columns.extend(self.setting_columns(plan, ranked));
        let count = |index: usize| {
            self.settings[index]
                .goal_statistics
                .map_or(0, |sample| sample.count)
        };
        let is_partial = ranked.iter().any(|&one| count(one) < plan.seeds.len());
        if is_partial {
            columns.push(number_column("seeds", "seeds"));
        }
        let mut table = Table::new("settings", "", &columns);
        let mean = |index: usize| {
            self.settings[index]
                .goal_statistics
                .map_or(0.0, |sample| sample.mean)
        };
        let ends = [ranked.first(), ranked.last()].map(|end| end.map_or(0.0, |end| mean(*end)));
        let mut rank = 0;
        for (place, &index) in ranked.iter().enumerate() {
            if place == 0 || mean(index) != mean(ranked[place - 1]) {
                rank = place + 1;
            }
            let next = ranked.get(place + 1);
            let is_tied = rank <= place || next.is_some_and(|next| mean(*next) == mean(index));
            let tie = if is_tied { "=" } else { "" };
            let is_first =
                !self.not_separated_settings.is_empty() && self.is_as_good_as_best(index);
            let (rank, tie) = if is_first { (1, "=") } else { (rank, tie) };
            let mut row = vec![Cell::from_value_and_text(rank, format!("{rank}{tie}"))];
            row.extend(self.setting_cells(plan, ranked, index));
            let mean_at = 2 + plan.names.len();
            let length = (mean(index) - ends[0]) / (ends[1] - ends[0]);
            if length.is_finite() {
                row[mean_at] = row[mean_at].clone().with_bar(length);
            }
            if is_partial {
                row.push(Cell::count(count(index)));
            }
            table.push_row(row);
        }
        table
    }

    fn is_as_good_as_best(&self, setting: usize) -> bool {
        self.best_settings.binary_search(&setting).is_ok()
            || self.not_separated_settings.binary_search(&setting).is_ok()
    }

    /// Returns the columns of the table of settings: the parameters, the goal, and its differences.
    fn setting_columns(&self, plan: &Plan, ranked: &[usize]) -> Vec<Column> {
        let mut columns = vec![number_column("setting", "setting")];
        columns.extend(plan.names.iter().enumerate().map(|(parameter, name)| {
            let values = plan
                .settings
                .iter()
                .filter_map(|one| one[parameter].as_ref());
            if values.clone().all(Value::is_number) {
                number_column(name, "parameter")
            } else {
                text_column(name, "parameter")
            }
        }));
        columns.push(number_column(self.goal.column_heading(), "mean"));
        if plan.seeds.len() > 1 {
            columns.push(number_column("± 95 %", "ci95"));
        }
        if self.has_baseline(ranked) {
            columns.push(number_column("less baseline", "difference"));
        }
        columns
    }

    /// Returns whether the goal of at least one setting is compared with another setting, its baseline.
    fn has_baseline(&self, ranked: &[usize]) -> bool {
        ranked
            .iter()
            .any(|&one| self.settings[one].baseline_index != one)
    }

    fn setting_cells(&self, plan: &Plan, ranked: &[usize], index: usize) -> Vec<Cell> {
        let setting = &self.settings[index];
        let mut row = vec![Cell::count(index + 1)];
        row.extend(plan.settings[index].iter().map(|value| match value {
            Some(value) if value.is_number() => {
                Cell::from_value_and_text(value.clone(), value_label(value))
            }
            Some(value) => Cell::text(value_label(value)),
            None => Cell::empty(),
        }));
        let of = |number: Option<f64>| {
            number.map_or_else(Cell::empty, |number| {
                Cell::from_value_and_text(number, format_short(number))
            })
        };
        row.push(of(setting.goal_statistics.map(|sample| sample.mean)));
        if plan.seeds.len() > 1 {
            row.push(of(setting
                .goal_statistics
                .and_then(|sample| sample.confidence_half_width())));
        }
        if self.has_baseline(ranked) {
            let difference = setting
                .difference_from_baseline
                .filter(|_| setting.baseline_index != index);
            let baseline = self.settings[setting.baseline_index].goal_statistics;
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
        let size = Sample {
            mean: sample.mean.abs(),
            ..sample
        };
        let margin = self
            .test_conditions
            .indifference_margin(self.goal.is_gain(), baseline);
        let tone =
            if !self
                .test_conditions
                .is_significant(size, margin, self.count_ranked_settings())
            {
                ValueRating::Plain
            } else if self.goal.is_better(sample.mean, 0.0) {
                ValueRating::Good
            } else {
                ValueRating::Bad
            };
        let sign = if sample.mean > 0.0 { "+" } else { "" };
        let shown = format!("{sign}{}", sample.format());
        Cell::from_value_and_text(sample.mean, shown).with_rating(tone)
    }

    /// Returns the result of a sweep as JSON.
    fn to_json(&self, plan: &Plan, (runs, place): (usize, &str)) -> Value {
        let settings = self.settings.iter().enumerate().map(|(index, setting)| {
            let mut row = Map::new();
            row.insert("setting".into(), (index + 1).into());
            let values = setting_values_by_parameter(&plan.names, &plan.settings[index]);
            row.insert("values".into(), values.into());
            row.extend(setting.named_statistics(self.goal));
            Value::Object(row)
        });
        let sensitivity = self.parameter_effects.iter().map(|effect| {
            let values = effect.means_by_value.iter();
            json!({
                "parameter": plan.names[effect.parameter_index],
                "share": effect.variance_share,
                "values": values.map(|(value, mean)| json!({ "value": value, "mean": mean })).collect::<Vec<Value>>(),
            })
        });
        let best = self.best_settings.iter().map(|one| one + 1);
        json!({
            "folder": place,
            "runs": runs,
            "planned": plan.runs.len(),
            "goal": self.goal.name(),
            "tried": self.count_ranked_settings(),
            "best": best.collect::<Vec<usize>>(),
            "not_separated": self.not_separated_settings.iter().map(|one| one + 1).collect::<Vec<usize>>(),
            "correction": if self.test_conditions.are_tests_possible() { "bonferroni" } else { "none" },
            "indifference_percent": self.test_conditions.indifference.percent(),
            "settings": settings.collect::<Vec<Value>>(),
            "sensitivity": sensitivity.collect::<Vec<Value>>(),
            "interactions": self.interaction_share(),
        })
    }

    /// Returns one line for each parameter, which describes its effect on the goal.
    fn effect_lines(&self, plan: &Plan) -> Vec<String> {
        if self.parameter_effects.is_empty() {
            return Vec::new();
        }
        let names = self
            .parameter_effects
            .iter()
            .map(|effect| &plan.names[effect.parameter_index]);
        let width = names.map(|name| name.chars().count()).max().unwrap_or(0);
        let joint = self.interaction_share();
        let width = joint.map_or(width, |_| width.max(INTERACTIONS.len()));
        let mut lines = vec![
            String::new(),
            "sensitivity: share of the variance of the goal that each parameter explains; its values from best to worst, with their means".into(),
        ];
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        lines.extend(self.parameter_effects.iter().map(|effect| {
            let share = effect.variance_share;
            let share = share.map_or("none".to_owned(), percent);
            let name = &plan.names[effect.parameter_index];
            format!(
                "  {name:<width$} {share:>8}  {}",
                describe_extreme_values(&effect.means_by_value)
            )
        }));
        lines.extend(joint.map(|share| {
            let share = percent(share);
            format!("  {INTERACTIONS:<width$} {share:>8}")
        }));
        lines
    }
}
