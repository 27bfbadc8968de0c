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

use serde_json::{Map, Value};

use super::{
    cells::csv_text,
    effects::{MainEffect, main_effect},
    goal::{GAIN, Goal, MEASURES},
    plan::Plan,
    separate::{TestConditions, paired_difference},
    setting::Setting,
    settings::MAX_NAMED,
    spec::{csv_field, value_label},
    stats::{Sample, mean},
    store::Rows,
    values::ParameterValues,
};
use migsim_base::words::format_count;
use migsim_output::protect_formula_like_text;

/// Statistics of one setting of a sweep (a combination of values of the parameters) over its seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingStatistics {
    /// Statistics of the goal (the makespan or the gain by which settings are ranked) over the seeds for which it has a value.
    /// `None` if there is no such seed.
    pub goal: Option<Sample>,
    /// Statistics of each measure over the seeds, in the order of the list `MEASURES`; `None` if a measure has no value.
    measures: [Option<Sample>; 5],
    failed_runs: usize,
    /// Index of the baseline, which is the setting with which this setting is compared.
    pub(super) baseline: usize,
    /// Goal of this setting minus goal of its baseline with the same seed, over the seeds, in the unit of the goal.
    pub difference: Option<Sample>,
}

/// Summary of a sweep: the statistics of all settings, the best setting, and the effects of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Measure (makespan or gain) by which the settings are ranked.
    pub goal: Goal,
    /// Statistics of each setting, in the order of the plan.
    pub settings: Vec<SettingStatistics>,
    /// Indices of the settings that have a mean of the goal, from the best to the worst. Settings with equal means stay in the
    /// order of the plan.
    pub ranked: Vec<usize>,
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
    pub fn from_rows(plan: &Plan, rows: &Rows) -> Self {
        let values = ParameterValues::of_all_parameters(plan);
        let goal = choose_goal(plan, &values, rows);
        let baselines = find_baselines(plan, &values);
        let of_setting = |setting: usize| {
            let own = plan.rows_of(setting, rows);
            let baseline = baselines[setting];
            let measures = MEASURES.map(|(_, _, measure)| {
                let numbers = own.iter().filter_map(|row| measure((*row)?));
                Sample::from_numbers(&numbers.collect::<Vec<_>>())
            });
            let differences = own
                .iter()
                .zip(plan.rows_of(baseline, rows))
                .filter_map(|(own, base)| Some(goal.value((*own)?)? - goal.value(base?)?));
            let failed = own.iter().flatten().filter(|row| row.error.is_some());
            SettingStatistics {
                goal: measures[goal.measure],
                measures,
                failed_runs: failed.count(),
                baseline,
                difference: Sample::from_numbers(&differences.collect::<Vec<_>>()),
            }
        };
        let settings: Vec<SettingStatistics> = (0..plan.settings.len()).map(of_setting).collect();
        let means: Vec<Option<f64>> = settings
            .iter()
            .map(|setting| Some(setting.goal?.mean))
            .collect();
        let swept = &means[..means.len() - plan.added_baselines];
        let parameters = 0..plan.names.len();
        let effects = parameters
            .filter(|parameter| values[*parameter].count_distinct_values() > 1)
            .map(|parameter| main_effect(plan, goal, swept, parameter))
            .filter(|effect| effect.means_by_value.len() != 1);
        let mut ranked: Vec<usize> = (0..means.len())
            .filter(|setting| means[*setting].is_some())
            .collect();
        let rank = |setting: &usize| means[*setting].map_or(0.0, |mean| goal.sign() * mean);
        ranked.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        let equal = ranked
            .iter()
            .take_while(|one| means[**one] == means[ranked[0]]);
        let mut summary = Self {
            goal,
            best_settings: equal.copied().collect(),
            ranked,
            not_separated_settings: Vec::new(),
            test_conditions: plan.test_conditions(),
            settings,
            parameter_effects: effects.collect(),
        };
        summary.not_separated_settings = summary.settings_not_separated_from_best(|setting| {
            plan.rows_of(setting, rows)
                .into_iter()
                .map(|row| goal.value(row?))
                .collect()
        });
        summary
    }

    /// Returns the content of `summary.csv`, with one row per setting.
    pub fn csv(&self, plan: &Plan) -> String {
        let named = self.settings.iter().map(|setting| {
            let mut named = setting.named_statistics(self.goal);
            // In the table, the baseline is before the difference from it.
            let place = named.len() - 1 - STATISTICS_SUFFIXES.len();
            named[place..].rotate_right(1);
            named
        });
        let first = named.clone().next().unwrap_or_default();
        let names = plan
            .names
            .iter()
            .map(|name| protect_formula_like_text(name).into_owned());
        let columns = ["setting".to_owned()]
            .into_iter()
            .chain(names)
            .chain(first.into_iter().map(|(name, _)| name));
        let lines = named.enumerate().map(|(index, named)| {
            let values = plan.settings[index].iter().map(Option::as_ref);
            let statistics = named
                .iter()
                .map(|(_, value)| Some(value).filter(|one| !one.is_null()));
            let fields = values.chain(statistics).map(csv_field);
            [(index + 1).to_string()]
                .into_iter()
                .chain(fields)
                .collect()
        });
        csv_text(columns, lines)
    }

    /// Returns the share of the variance of the goal that the values of the parameters explain together and not one by one; `None`
    /// for fewer than two parameters, or if their shares overlap, since the settings are no grid.
    pub(super) fn interaction_share(&self) -> Option<f64> {
        let shares: Vec<f64> = self
            .parameter_effects
            .iter()
            .map(|one| one.variance_share)
            .collect::<Option<_>>()?;
        let rest = 1.0 - shares.iter().sum::<f64>();
        (shares.len() > 1 && rest > -1e-9).then_some(rest.max(0.0))
    }

    /// Describes the number of settings that are not separated from the best setting; `None` if there are no such settings.
    fn not_separated_line(&self) -> Option<String> {
        let basis = self.test_conditions;
        let margin = basis.indifference.percent();
        let others = match self.not_separated_settings.len() {
            0 => return None,
            1 => "1 other setting is".to_owned(),
            count => format!("{count} other settings are"),
        };
        Some(if basis.has_random_results {
            let seeds = format_count(basis.seed_count, "seed");
            format!(
                "  {others} not significantly worse with {seeds} (at 95 %, corrected for the number of pairs of settings; differences up to {margin} %, the margin of indifference, count as none)."
            )
        } else {
            format!(
                "  {others} worse by at most {margin} %, the margin of indifference, which is treated as equally good."
            )
        })
    }

    /// Describes the best setting (or several settings with equal means) and its advantage over the baseline.
    pub(super) fn best_setting_lines(&self, plan: &Plan) -> Vec<String> {
        let Some(&best) = self.ranked.first() else {
            return Vec::new();
        };
        let statistics = &self.settings[best];
        let tried = self.ranked.len();
        let ties = self.best_settings.len();
        let goal = Goal::with_scenario_glosses(self.goal.name());
        let mean = format_with_confidence_interval(statistics.goal);
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
        if statistics.difference.is_some() && statistics.baseline != best {
            let name = format_setting(&plan.names, &plan.settings[statistics.baseline]);
            lines.push(format!(
                "  difference from the baseline, {name}: {}",
                format_with_confidence_interval(statistics.difference)
            ));
        }
        lines.extend(self.not_separated_line());
        let deviation = statistics.goal.and_then(|goal| goal.deviation);
        if tried > 1 && deviation > Some(0.0) {
            lines.push(format!(
                "  This setting was chosen as the best of {tried} on these seeds, so its result is probably too good; `migsim tune` compares the best setting with the defaults on other seeds."
            ));
        }
        lines
    }

    /// Lists the settings, other than the best settings, that the tests do not show to be worse by more than the margin of
    /// indifference. `goals` returns the goals of a setting by seed.
    fn settings_not_separated_from_best(
        &self,
        goals: impl Fn(usize) -> Option<Vec<f64>>,
    ) -> Vec<usize> {
        let basis = self.test_conditions;
        let is_gain = self.goal.is_gain();
        let Some(of_best) = self.best_settings.first().and_then(|best| goals(*best)) else {
            return Vec::new();
        };
        let all =
            (0..self.settings.len()).filter(|one| self.best_settings.binary_search(one).is_err());
        let others: Vec<(usize, Vec<f64>)> =
            all.filter_map(|one| Some((one, goals(one)?))).collect();
        let tried = others.len() + self.best_settings.len();
        let margin = basis.indifference_margin(is_gain, mean(&of_best));
        let is_as_good = |(_, other): &(usize, Vec<f64>)| {
            let (slow, fast) = if is_gain {
                (&of_best, other)
            } else {
                (other, &of_best)
            };
            paired_difference(slow, fast)
                .is_none_or(|worse| !basis.is_significant(worse, margin, tried * (tried - 1) / 2))
        };
        others
            .into_iter()
            .filter(is_as_good)
            .map(|other| other.0)
            .collect()
    }
}

fn format_with_confidence_interval(sample: Option<Sample>) -> String {
    let Some(sample) = sample else {
        return String::new();
    };
    let seeds = format!(" (95 % interval, {} seeds)", sample.count);
    sample.format() + sample.ci95.map_or("", |_| &seeds)
}

impl SettingStatistics {
    /// Returns the statistics of the setting, each with its key in JSON; `null` for a missing number.
    pub(super) fn named_statistics(&self, goal: Goal) -> Vec<(String, Value)> {
        let seeds = self.goal.map_or(0, |sample| sample.count);
        let mut all = vec![
            ("seeds".to_owned(), seeds.into()),
            ("failed".to_owned(), self.failed_runs.into()),
        ];
        let mut push = |name: &str, unit: &str, sample: Option<Sample>| {
            let numbers = [
                sample.map(|sample| sample.mean),
                sample.and_then(|sample| sample.deviation),
                sample.and_then(|sample| sample.ci95),
            ];
            let named = STATISTICS_SUFFIXES.into_iter().zip(numbers);
            all.extend(named.map(|(what, one)| (format!("{name}_{what}{unit}"), one.into())));
        };
        for ((name, unit, _), sample) in MEASURES.into_iter().zip(self.measures) {
            push(name, unit, sample);
        }
        let (name, unit, _) = MEASURES[goal.measure];
        push(&format!("{name}_difference"), unit, self.difference);
        all.push(("baseline".to_owned(), (self.baseline + 1).into()));
        all
    }
}

/// Returns the values of a setting by the names of their parameters; parameters that do not apply are left out.
pub fn setting_values_by_parameter(
    names: &[String],
    setting: &[Option<Value>],
) -> Map<String, Value> {
    names
        .iter()
        .zip(setting)
        .filter_map(|(name, value)| Some((name.clone(), value.clone()?)))
        .collect()
}

/// Formats the values of a setting with the names of their parameters, as in `alpha=4 x=0.5`.
pub fn format_setting(names: &[String], setting: &[Option<Value>]) -> String {
    setting_values_by_parameter(names, setting)
        .into_iter()
        .map(|(name, value)| format!("{name}={}", value_label(&value)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Endings of the names of the columns in `summary.csv` with the statistics of a measure.
const STATISTICS_SUFFIXES: [&str; 3] = ["mean", "deviation", "ci95"];

/// Chooses the goal by which the settings of a sweep are ranked: the makespan of the last scenario that was run, or the gain if
/// makespans cannot be compared.
fn choose_goal(plan: &Plan, values: &[ParameterValues<'_>], rows: &Rows) -> Goal {
    let own = || plan.runs.iter().filter_map(|id| rows.get(id));
    let has = |measure: &usize| own().any(|row| MEASURES[*measure].2(row).is_some());
    let mut parameters = plan.names.iter().zip(values);
    let differ = parameters
        .any(|(name, values)| plan.work.contains(name) && values.count_distinct_values() > 1);
    if differ && has(&GAIN) {
        return Goal::GAIN;
    }
    let measure = (0..3).rev().find(has).unwrap_or(2);
    Goal { measure }
}

fn is_default(value: &Value, default: Option<&Value>) -> bool {
    value
        .as_f64()
        .zip(default.and_then(Value::as_f64))
        .is_some_and(|(value, default)| value == default)
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
pub(super) fn missing_baselines(plan: &Plan) -> Vec<Setting> {
    let is_never = |setting: &Setting| setting.iter().flatten().any(|one| one == "never");
    let has = |setting: &Setting| is_never(setting) || has_defaults(plan, setting);
    let mut baselines: Vec<Setting> = Vec::new();
    if plan.settings.len() < 2 || plan.defaults.is_empty() || plan.settings.iter().any(has) {
        return baselines;
    }
    for setting in &plan.settings {
        let of_work =
            plan.names
                .iter()
                .zip(setting)
                .zip(&plan.defaults)
                .map(|((name, value), default)| {
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
    let settings = 0..plan.settings.len();
    let policy = plan.names.iter().position(|name| name == "policy");
    let never = policy.and_then(|policy| {
        let mut policies = values[policy].distinct_values.iter();
        Some((policy, policies.position(|name| **name == "never")?))
    });
    let is_base = |setting: &usize| match never {
        Some((policy, never)) => values[policy].value_indices[*setting] == Some(never),
        None => has_defaults(plan, &plan.settings[*setting]),
    };
    // The values of these parameters must be equal: all that apply to the setting with `never`, or those of the work.
    let is_compared = |base: usize, parameter: usize| match never {
        Some((policy, _)) => parameter != policy && values[parameter].value_indices[base].is_some(),
        None => plan.work.contains(&plan.names[parameter]),
    };
    let ranks = |setting: usize, parameters: &[usize]| -> Vec<Option<usize>> {
        parameters
            .iter()
            .map(|one| values[*one].value_indices[setting])
            .collect()
    };
    let mut bases: BTreeMap<Vec<usize>, BTreeMap<_, usize>> = BTreeMap::new();
    for base in settings.clone().filter(is_base) {
        let parameters: Vec<usize> = (0..values.len())
            .filter(|one| is_compared(base, *one))
            .collect();
        let key = ranks(base, &parameters);
        bases
            .entry(parameters)
            .or_default()
            .entry(key)
            .or_insert(base);
    }
    let of_setting = |setting: usize| {
        let found = bases
            .iter()
            .filter_map(|(own, bases)| bases.get(&ranks(setting, own)));
        let none = if never.is_some() { 0 } else { setting };
        found.min().copied().unwrap_or(none)
    };
    settings.map(of_setting).collect()
}
