//! `summary.csv`: the statistics over the seeds of each setting of a sweep (a combination of values of its parameters), and their
//! comparison with a baseline. The summary also has the best setting and the effect of each parameter.
//!
//! *Goal.* Settings are ranked by the makespan of the last scenario that was run (iii if it was run). If the application or the
//! platform varies, makespans cannot be compared, and settings are ranked by the gain over scenario i.
//!
//! *Baseline.* If the policy `never` is one of several policies, the baseline of a setting is the setting with this policy and
//! otherwise equal values. Otherwise the baseline is the setting that has the same application and platform, and in all other
//! parameters the values that the experiment has without the sweep; there is no baseline if the sweep has no such setting.
//!
//! *Not separated.* A setting is not separated from the best setting if the tests of [`separate`](super::separate), with the
//! margin of indifference of 0.5 %, do not show that it is worse. Bonferroni's correction counts all pairs of settings, because
//! the best setting is chosen from the same seeds. Differences are computed seed by seed: all settings use the same random
//! numbers, so the effect of these numbers cancels in a difference.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;

use serde_json::{Map, Value};

use super::effects::{MainEffect, main_effect};
use super::goal::{GAIN, Goal, MEASURES, Measure};
use super::plan::Plan;
use super::row::RunRow;
use super::separate::{TestConditions, paired_difference};
use super::settings::MAX_NAMED;
use super::spec::{csv_field, value_label};
use super::stats::{Estimate, Sample, mean};
use super::values::ParameterValues;
use migsim_base::words::format_count;
use migsim_output::protect_formula_like_text;

/// Statistics of one setting of a sweep (a combination of values of the parameters) over its seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingStatistics {
    /// Statistics of the goal (the makespan or the gain by which settings are ranked) over the seeds for which it has a value.
    /// `None` if there is no such seed.
    pub goal_statistics: Option<Sample>,
    /// Statistics of each measure over the seeds, in the order of the list `MEASURES`; `None` if a measure has no value.
    measure_statistics: [Option<Sample>; 5],
    failed_run_count: usize,
    /// Index of the baseline, which is the setting with which this setting is compared.
    pub(super) baseline_index: usize,
    /// Goal of this setting minus goal of its baseline with the same seed, over the seeds, in the unit of the goal.
    pub difference_from_baseline: Option<Sample>,
}

/// Summary of a sweep: the statistics of all settings, the best setting, and the effects of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Measure (makespan or gain) by which the settings are ranked.
    pub goal: Goal,
    /// Statistics of each setting, in the order of the plan.
    pub settings: Vec<SettingStatistics>,
    /// Indices of the settings with the best mean of the goal; several indices if their means are equal.
    pub best_settings: Vec<usize>,
    /// Indices of further settings that the tests do not show to be worse than the best setting by more than the margin of
    /// indifference.
    pub not_separated_settings: Vec<usize>,
    /// Conditions of the statistical tests: the number of seeds and the margin of indifference.
    pub test_conditions: TestConditions,
    /// Effect on the goal of each parameter that has several values.
    pub parameter_effects: Vec<MainEffect>,
}

impl Summary {
    /// Computes the summary of a plan from the rows of its finished runs, given by the identities of the runs.
    pub fn from_rows(plan: &Plan, rows: &BTreeMap<String, RunRow>) -> Self {
        let values = ParameterValues::of_all_parameters(plan);
        let goal = choose_goal(plan, &values, rows);
        let baselines = find_baselines(plan, &values);
        let of_setting = |setting: usize| -> Vec<Option<&RunRow>> {
            let seeds = plan.seeds.len();
            let ids = &plan.runs[setting * seeds..(setting + 1) * seeds];
            ids.iter().map(|id| rows.get(id)).collect()
        };
        let one = |setting: usize| {
            let own = of_setting(setting);
            let sample = |measure: Measure| {
                let numbers: Vec<f64> = own
                    .iter()
                    .flatten()
                    .filter_map(|row| measure(row))
                    .collect();
                Sample::from_numbers(&numbers)
            };
            let baseline = baselines[setting];
            let pairs = own.iter().zip(of_setting(baseline));
            let differences: Vec<f64> = pairs
                .filter_map(|(own, base)| Some(goal.value((*own)?)? - goal.value(base?)?))
                .collect();
            SettingStatistics {
                goal_statistics: sample(MEASURES[goal.measure_index].2),
                measure_statistics: MEASURES.map(|(_, _, measure)| sample(measure)),
                failed_run_count: own
                    .iter()
                    .flatten()
                    .filter(|row| row.error.is_some())
                    .count(),
                baseline_index: baseline,
                difference_from_baseline: Sample::from_numbers(&differences),
            }
        };
        let settings: Vec<SettingStatistics> = (0..plan.settings.len()).map(one).collect();
        let listed = settings.len() - plan.added_baselines;
        let means: Vec<Option<f64>> = (settings.iter().enumerate())
            .map(|(index, setting)| Some(setting.goal_statistics.filter(|_| index < listed)?.mean))
            .collect();
        let effects = (0..plan.names.len())
            .filter(|parameter| values[*parameter].count_distinct_values() > 1)
            .map(|parameter| main_effect(plan, goal, &means, parameter))
            .filter(|effect| effect.means_by_value.len() != 1)
            .collect();
        let best = best_settings(goal, &settings);
        let basis = TestConditions {
            seed_count: plan.seeds.len(),
            has_random_results: plan.is_random || plan.seeds.len() > 1,
            indifference: plan.indifference,
        };
        let goals = |setting: usize| -> Option<Vec<f64>> {
            let own = of_setting(setting).into_iter();
            own.map(|row| goal.value(row?)).collect()
        };
        Self {
            goal,
            not_separated_settings: settings_not_separated_from_best(
                basis,
                goal,
                (&best, settings.len()),
                goals,
            ),
            best_settings: best,
            test_conditions: basis,
            settings,
            parameter_effects: effects,
        }
    }

    /// Returns the content of `summary.csv`, with one row per setting.
    ///
    /// # Errors
    /// None in practice, because the table is written to memory.
    pub fn csv(&self, plan: &Plan) -> io::Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        let mut head = vec!["setting".to_owned()];
        head.extend(
            plan.names
                .iter()
                .map(|name| protect_formula_like_text(name).into_owned()),
        );
        head.extend(["seeds", "failed"].map(str::to_owned));
        for (name, unit, _) in MEASURES {
            head.extend(STATISTICS_SUFFIXES.map(|what| format!("{name}_{what}{unit}")));
        }
        let (name, unit, _) = MEASURES[self.goal.measure_index];
        head.push("baseline".to_owned());
        head.extend(STATISTICS_SUFFIXES.map(|what| format!("{name}_difference_{what}{unit}")));
        table.write_record(&head)?;
        for (index, setting) in self.settings.iter().enumerate() {
            let mut fields = vec![(index + 1).to_string()];
            fields.extend(
                plan.settings[index]
                    .iter()
                    .map(|value| csv_field(value.as_ref())),
            );
            fields.push(
                setting
                    .goal_statistics
                    .map_or(0, |sample| sample.count)
                    .to_string(),
            );
            fields.push(setting.failed_run_count.to_string());
            fields.extend(
                setting
                    .measure_statistics
                    .into_iter()
                    .flat_map(statistics_fields),
            );
            fields.push((setting.baseline_index + 1).to_string());
            fields.extend(statistics_fields(setting.difference_from_baseline));
            table.write_record(&fields)?;
        }
        table.into_inner().map_err(csv::IntoInnerError::into_error)
    }

    /// Returns the share of the variance of the goal that the values of the parameters explain together and not one by one; `None`
    /// for fewer than two parameters, or if their shares overlap, since the settings are no grid.
    pub(super) fn interaction_share(&self) -> Option<f64> {
        let shares = self.parameter_effects.iter().map(|one| one.variance_share);
        let shares: Vec<f64> = shares.collect::<Option<_>>()?;
        let rest = 1.0 - shares.iter().sum::<f64>();
        (shares.len() > 1 && rest > -1e-9).then_some(rest.max(0.0))
    }

    /// Lists the indices of the settings that have a mean of the goal, from the best to the worst. Settings with equal means stay
    /// in the order of the plan.
    pub(super) fn ranked_settings(&self) -> Vec<usize> {
        let mut order: Vec<(usize, f64)> = Vec::new();
        for (index, setting) in self.settings.iter().enumerate() {
            order.extend(setting.goal_statistics.map(|sample| (index, sample.mean)));
        }
        let sign = if self.goal.is_gain() { -1.0 } else { 1.0 };
        order.sort_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
        order.into_iter().map(|(index, _)| index).collect()
    }

    /// Returns the number of settings that have a mean of the goal; the best setting is chosen from these.
    pub(super) fn count_ranked_settings(&self) -> usize {
        let settings = self.settings.iter();
        settings
            .filter(|setting| setting.goal_statistics.is_some())
            .count()
    }

    /// Describes the number of settings that are not separated from the best setting; `None` if there are no such settings.
    fn not_separated_line(&self) -> Option<String> {
        let count = self.not_separated_settings.len();
        let margin = self.test_conditions.indifference.percent();
        let others = match count {
            1 => "1 other setting is".to_owned(),
            _ => format!("{count} other settings are"),
        };
        let text = if self.test_conditions.has_random_results {
            let seeds = format_count(self.test_conditions.seed_count, "seed");
            format!(
                "  {others} not significantly worse with {seeds} (at 95 %, corrected for the number of pairs of settings; differences up to {margin} %, the margin of indifference, count as none)."
            )
        } else {
            format!(
                "  {others} worse by at most {margin} %, the margin of indifference, which is treated as equally good."
            )
        };
        (count > 0).then_some(text)
    }

    /// Describes the best setting (or several settings with equal means) and its advantage over the baseline.
    pub(super) fn best_setting_lines(&self, plan: &Plan) -> Vec<String> {
        let first = self.best_settings.first();
        let Some((best, sample)) =
            first.and_then(|best| Some((*best, self.settings[*best].goal_statistics?)))
        else {
            return Vec::new();
        };
        let (tried, ties) = (self.count_ranked_settings(), self.best_settings.len());
        let goal = Goal::with_scenario_glosses(self.goal.name());
        let mean = format_with_confidence_interval(sample);
        let chosen = match ties {
            1 if tried == 1 => format!("{goal}: {mean}"),
            1 => format!("best {goal} of {tried} settings: {mean}"),
            _ => format!("best {goal}: {ties} of {tried} settings tie at {mean}"),
        };
        let mut lines = vec![String::new(), chosen];
        for &index in self.best_settings.iter().take(MAX_NAMED) {
            let setting = format_setting(&plan.names, &plan.settings[index]);
            if !setting.is_empty() {
                lines.push(format!("  setting {}: {setting}", index + 1));
            }
        }
        if ties > MAX_NAMED {
            lines.push(format!("  and {} more settings", ties - MAX_NAMED));
        }
        let SettingStatistics {
            difference_from_baseline: difference,
            baseline_index: baseline,
            ..
        } = self.settings[best];
        if let Some(difference) = difference.filter(|_| baseline != best) {
            let name = format_setting(&plan.names, &plan.settings[baseline]);
            lines.push(format!(
                "  difference from the baseline, {name}: {}",
                format_with_confidence_interval(difference)
            ));
        }
        lines.extend(self.not_separated_line());
        let differs = sample.deviation.is_some_and(|deviation| deviation > 0.0);
        if tried > 1 && plan.seeds.len() > 1 && differs {
            lines.push(format!(
                "  This setting was chosen as the best of {tried} on these seeds, so its result is probably too good; `migsim tune` compares the best setting with the defaults on other seeds."
            ));
        }
        lines
    }
}

/// Lists the settings, other than the best settings, that the tests do not show to be worse by more than the margin of
/// indifference. `goals` returns the goals of a setting by seed.
fn settings_not_separated_from_best(
    basis: TestConditions,
    goal: Goal,
    (best, settings): (&[usize], usize),
    goals: impl Fn(usize) -> Option<Vec<f64>>,
) -> Vec<usize> {
    let Some(of_best) = best.first().and_then(|best| goals(*best)) else {
        return Vec::new();
    };
    let all = (0..settings).filter(|one| best.binary_search(one).is_err());
    let others: Vec<(usize, Vec<f64>)> = all.filter_map(|one| Some((one, goals(one)?))).collect();
    let tried = others.len() + best.len();
    let margin = basis.indifference_margin(goal.is_gain(), mean(&of_best));
    let is_as_good = |other: &[f64]| {
        let worse = if goal.is_gain() {
            paired_difference(&of_best, other)
        } else {
            paired_difference(other, &of_best)
        };
        worse.is_none_or(|worse| !basis.is_significant(worse, margin, tried * (tried - 1) / 2))
    };
    let found = others.into_iter().filter(|other| is_as_good(&other.1));
    found.map(|other| other.0).collect()
}

/// Formats a mean, followed by half the width of its 95 % confidence interval and the number of seeds.
fn format_with_confidence_interval(sample: Sample) -> String {
    let seeds = format!(" (95 % interval, {} seeds)", sample.count);
    sample.format() + sample.confidence_half_width().map_or("", |_| &seeds)
}

/// Lists the indices of the settings with the best mean of the goal; several indices if their means are equal.
fn best_settings(goal: Goal, settings: &[SettingStatistics]) -> Vec<usize> {
    let mut best: Vec<usize> = Vec::new();
    for (index, setting) in settings.iter().enumerate() {
        let Some(sample) = setting.goal_statistics else {
            continue;
        };
        let other = best
            .first()
            .and_then(|best| settings[*best].goal_statistics);
        match other {
            Some(other) if goal.is_better(other.mean, sample.mean) => {}
            Some(other) if other.mean == sample.mean => best.push(index),
            _ => best = vec![index],
        }
    }
    best
}

impl SettingStatistics {
    /// Returns the statistics of the setting, each with the name of its column in `summary.csv`.
    pub(super) fn named_statistics(&self, goal: Goal) -> Vec<(String, Value)> {
        let seeds = self.goal_statistics.map_or(0, |sample| sample.count);
        let mut all = vec![
            ("seeds".to_owned(), seeds.into()),
            ("failed".to_owned(), self.failed_run_count.into()),
        ];
        let mut push = |name: &str, unit: &str, sample: Option<Sample>| {
            let named = STATISTICS_SUFFIXES
                .into_iter()
                .zip(mean_deviation_and_half_width(sample));
            all.extend(named.map(|(what, one)| (format!("{name}_{what}{unit}"), one.into())));
        };
        for ((name, unit, _), sample) in MEASURES.into_iter().zip(self.measure_statistics) {
            push(name, unit, sample);
        }
        let (name, unit, _) = MEASURES[goal.measure_index];
        push(
            &format!("{name}_difference"),
            unit,
            self.difference_from_baseline,
        );
        all.push(("baseline".to_owned(), (self.baseline_index + 1).into()));
        all
    }
}

/// Returns the values of a setting by the names of their parameters; parameters that do not apply are left out.
pub fn setting_values_by_parameter(
    names: &[String],
    setting: &[Option<Value>],
) -> Map<String, Value> {
    let pairs = names.iter().zip(setting);
    let given = pairs.filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
    given.collect()
}

/// Formats the values of a setting with the names of their parameters, as in `alpha=4 x=0.5`.
pub fn format_setting<'n>(
    names: impl IntoIterator<Item = &'n String>,
    setting: &[Option<Value>],
) -> String {
    let pairs = names.into_iter().zip(setting);
    let given: Vec<String> = pairs
        .filter_map(|(name, value)| Some(format!("{name}={}", value_label(value.as_ref()?))))
        .collect();
    given.join(" ")
}

/// Endings of the names of the columns in `summary.csv` with the statistics of a measure.
const STATISTICS_SUFFIXES: [&str; 3] = ["mean", "deviation", "ci95"];

/// Returns the mean, the standard deviation, and half the width of the 95 % confidence interval of a sample. A missing number is
/// `None`.
fn mean_deviation_and_half_width(sample: Option<Sample>) -> [Option<f64>; 3] {
    let Some(sample) = sample.map(Estimate::from) else {
        return [None; 3];
    };
    [Some(sample.mean), sample.deviation, sample.ci95]
}

/// Formats the mean, the standard deviation, and half the width of the 95 % confidence interval as fields of a CSV table. A
/// missing number is an empty field.
fn statistics_fields(sample: Option<Sample>) -> [String; 3] {
    mean_deviation_and_half_width(sample)
        .map(|number| number.map_or_else(String::new, |number| number.to_string()))
}

/// Chooses the goal by which the settings of a sweep are ranked: the makespan of the last scenario that was run, or the gain if
/// makespans cannot be compared.
fn choose_goal(
    plan: &Plan,
    values: &[ParameterValues<'_>],
    rows: &BTreeMap<String, RunRow>,
) -> Goal {
    let own = || plan.runs.iter().filter_map(|id| rows.get(id));
    let has = |measure: usize| own().any(|row| MEASURES[measure].2(row).is_some());
    let varies = |index: usize| values[index].count_distinct_values() > 1;
    let differ = plan
        .names
        .iter()
        .enumerate()
        .any(|(index, name)| plan.work.contains(name) && varies(index));
    if differ && has(GAIN) {
        return Goal::GAIN;
    }
    let measure = (0..3).rev().find(|measure| has(*measure)).unwrap_or(2);
    Goal {
        measure_index: measure,
    }
}

/// For each parameter, the index of its value in a setting; `None` for a parameter that does not apply.
type ValueIndices = Vec<Option<usize>>;

fn is_default(value: &Value, default: Option<&Value>) -> bool {
    let numbers = value.as_f64().zip(default.and_then(Value::as_f64));
    numbers.is_some_and(|(value, default)| value == default)
        || default.is_some_and(|default| value_label(value) == value_label(default))
}

/// Returns whether all parameters of a setting that do not change the work or the platform have their default values.
fn has_defaults(plan: &Plan, setting: &[Option<Value>]) -> bool {
    let mut values = plan.names.iter().zip(setting).zip(&plan.defaults);
    !plan.defaults.is_empty()
        && values.all(|((name, value), default)| {
            let value = value.as_ref().filter(|_| !plan.work.contains(name));
            value.is_none_or(|value| is_default(value, default.as_ref()))
        })
}

/// Returns the defaults as settings, one for each work and platform of the plan, if no setting of the plan is a baseline.
pub(super) fn missing_baselines(plan: &Plan) -> Vec<Vec<Option<Value>>> {
    let is_never =
        |setting: &Vec<Option<Value>>| setting.iter().flatten().any(|one| one == "never");
    let has = |setting: &Vec<Option<Value>>| is_never(setting) || has_defaults(plan, setting);
    let mut baselines: Vec<Vec<Option<Value>>> = Vec::new();
    if plan.settings.len() < 2 || plan.defaults.is_empty() || plan.settings.iter().any(has) {
        return baselines;
    }
    for setting in &plan.settings {
        let values = plan.names.iter().zip(setting).zip(&plan.defaults);
        let of_work = values.map(|((name, value), default)| {
            let is_work = plan.work.contains(name);
            if is_work { value } else { default }.clone()
        });
        let baseline = of_work.collect();
        if !baselines.contains(&baseline) {
            baselines.push(baseline);
        }
    }
    baselines
}

/// Finds for each setting the index of its baseline, which is the setting with which it is compared; its own index if it has none.
fn find_baselines(plan: &Plan, values: &[ParameterValues<'_>]) -> Vec<usize> {
    let ranks = |setting: usize, is_meant: &dyn Fn(usize) -> bool| -> ValueIndices {
        let meant = (0..values.len()).filter(|parameter| is_meant(*parameter));
        meant
            .map(|parameter| values[parameter].value_indices[setting])
            .collect()
    };
    let settings = 0..plan.settings.len();
    let policy = plan.names.iter().position(|name| name == "policy");
    let never = policy.and_then(|policy| {
        let policies = &values[policy].distinct_values;
        Some((policy, policies.iter().position(|name| **name == "never")?))
    });
    let Some((policy, never)) = never else {
        let is_meant = |parameter: usize| plan.work.contains(&plan.names[parameter]);
        let defaults = settings
            .clone()
            .filter(|setting| has_defaults(plan, &plan.settings[*setting]));
        let bases: BTreeMap<ValueIndices, usize> = defaults
            .map(|setting| (ranks(setting, &is_meant), setting))
            .collect();
        let of_setting = |setting| bases.get(&ranks(setting, &is_meant)).copied();
        return settings
            .map(|setting| of_setting(setting).unwrap_or(setting))
            .collect();
    };
    let base = Some(never);
    // Index the settings of the base policy by the parameters that apply to them: the values of these must be equal.
    let mut bases: BTreeMap<Vec<usize>, BTreeMap<ValueIndices, usize>> = BTreeMap::new();
    for setting in settings
        .clone()
        .filter(|one| values[policy].value_indices[*one] == base)
    {
        let applies = |parameter: &usize| {
            *parameter != policy && values[*parameter].value_indices[setting].is_some()
        };
        let own: Vec<usize> = (0..values.len()).filter(applies).collect();
        let key = ranks(setting, &|parameter| own.contains(&parameter));
        bases.entry(own).or_default().entry(key).or_insert(setting);
    }
    let of_setting = |setting: usize| {
        let found = bases.iter().filter_map(|(own, bases)| {
            bases.get(&ranks(setting, &|parameter| own.contains(&parameter)))
        });
        found.min().copied().unwrap_or(0)
    };
    settings.map(of_setting).collect()
}
