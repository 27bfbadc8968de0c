//! Search for settings of a policy that are good over the cases of a benchmark suite, judged by cross-validation.
//!
//! ```text
//! cases ─> three folds ─ for each fold: search on the cases of the others ─> best setting ─> the cases of the fold
//!       ─> search on all cases ─> the setting that is recommended
//! ```
//! The loss of a setting is the geometric mean over cases of its makespan divided by that of the defaults. A search draws settings
//! at random, runs them on a quarter of its cases, and the best quarter of them on all of its cases (successive halving, as in
//! [`super::tune`]). A setting that was chosen on some cases looks better on them than on others: the losses of the folds show by
//! how much (Stone, Cross-validatory choice, J. R. Stat. Soc. B 36, 1974).

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    config::{Parameter, Sweep},
    keys,
    planner::seeds_of_sweep,
    run::{lock, simulate_settings},
    setting::{Setting, default_setting, policy_of_setting},
    settings::check_parameters_apply,
    spec::ValuesSpec,
    stats::Sample,
    tune::Tuning,
};
use crate::cells::cell_with;
use migsim_base::{
    document::format_typed_value,
    error::{Error, Result},
    random::round_portably,
};
use migsim_output::{Cell, Sheet, Table, number_column, text_column, with_version};

/// Number of parts into which the cases are divided for the cross-validation.
const FOLDS: usize = 3;

/// Factor between the number of settings, and of cases, in the first and in the second round of a search.
const RACE_FACTOR: usize = 4;

/// The task of a search over the cases of a suite.
#[derive(Debug)]
pub struct SuiteTuning<'a> {
    /// The varied parameters, the budget for all searches together, and the store.
    pub tuning: Tuning<'a>,
    /// The names of the cases as experiments.
    pub cases: Vec<String>,
}

/// A setting that a search chose, and its losses.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChosenSetting {
    /// The policy with the options of the setting in braces, as commands name it.
    pub variant: String,
    /// Number of cases on which the setting was chosen.
    pub training_cases: usize,
    /// Loss on these cases.
    pub training_loss: f64,
    /// Number of cases that did not choose the setting.
    pub test_cases: usize,
    /// Loss on these cases; `None` if there are none.
    pub test_loss: Option<f64>,
}

/// The result of a search over a suite.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SuiteTuningReport {
    /// The setting that each part of the cross-validation chose.
    pub folds: Vec<ChosenSetting>,
    /// The setting that all cases choose.
    pub recommended: ChosenSetting,
    /// Loss on cases that did not choose the setting, over all cases.
    pub test_loss: f64,
    /// The 95 % confidence interval of this loss over the cases.
    pub test_loss_ci95: Option<[f64; 2]>,
    /// Number of different settings that were drawn.
    pub settings: usize,
}

/// The logarithm of the loss of a setting in each case; infinite where its run failed.
type Losses = Vec<f64>;

impl SuiteTuning<'_> {
    /// Searches for the best setting within the budget, and judges the search by cross-validation.
    ///
    /// # Errors
    /// A parameter or the budget is wrong, no setting can be run, or a row cannot be written.
    pub fn run(&self) -> Result<SuiteTuningReport> {
        let sweep = self.tuning.sweep;
        self.tuning.check_varied_parameters()?;
        let seed = seeds_of_sweep(sweep)?[0];
        let defaults = default_setting(sweep, seed)?;
        let all: Vec<usize> = (0..self.cases.len()).collect();
        let mut settings = self
            .tuning
            .draw_settings(self.affordable_settings()? as u64);
        check_parameters_apply(sweep, &settings)?;
        settings.insert(0, defaults);
        let mut test = vec![0.0; self.cases.len()];
        let mut folds = Vec::new();
        for fold in 0..FOLDS {
            let (own, others): (Vec<usize>, Vec<usize>) =
                all.iter().partition(|case| **case % FOLDS == fold);
            let (chosen, training) = self.search(&settings, &others, seed)?;
            let losses = self.losses(&[&settings[0], &settings[chosen]], &own, seed)?;
            for (case, loss) in own.iter().zip(&losses[1]) {
                test[*case] = *loss;
            }
            folds.push(self.chosen(&settings[chosen], &training, &losses[1]));
        }
        let (chosen, training) = self.search(&settings, &all, seed)?;
        let sample = Sample::from_numbers(&test);
        let around = sample.and_then(|one| Some([one.mean - one.ci95?, one.mean + one.ci95?]));
        Ok(SuiteTuningReport {
            folds,
            recommended: self.chosen(&settings[chosen], &training, &[]),
            test_loss: mean_loss(&test).unwrap_or(1.0),
            test_loss_ci95: around.map(|ends| ends.map(|end| round_portably(end.exp()))),
            settings: settings.len(),
        })
    }

    /// Returns the number of settings with which all searches together need at most as many runs as the budget allows.
    fn affordable_settings(&self) -> Result<usize> {
        let cases = self.cases.len();
        // Each search runs all settings on a quarter of its cases and a quarter of the settings on all; folds share most runs.
        let each = cases.div_ceil(RACE_FACTOR) * 2;
        let count = self.tuning.run_budget.saturating_sub(cases * (FOLDS + 1)) / each.max(1);
        if cases >= 2 * FOLDS && count >= 2 * RACE_FACTOR {
            return Ok(count);
        }
        let named = cases.max(2 * FOLDS);
        let least = named.div_ceil(RACE_FACTOR) * 4 * RACE_FACTOR + named * (FOLDS + 1);
        Err(Error::input(
            format!(
                "a search over {cases} cases with {} runs is too small",
                self.tuning.run_budget
            ),
            "--budget",
            format!(
                "name at least {} cases, and give a `--budget` of at least {least}",
                2 * FOLDS
            ),
        ))
    }

    /// Returns the index of the setting with the least loss over the cases, and its losses. The first setting, the defaults, takes
    /// part in both rounds, and is kept if no other is better.
    fn search(&self, settings: &[Setting], cases: &[usize], seed: u64) -> Result<(usize, Losses)> {
        let some: Vec<usize> = cases.iter().copied().step_by(RACE_FACTOR).collect();
        let mut order: Vec<usize> = (0..settings.len()).collect();
        let first = self.losses(&settings.iter().collect::<Vec<_>>(), &some, seed)?;
        let sum = |losses: &Losses| losses.iter().sum::<f64>();
        order[1..].sort_by(|a, b| sum(&first[*a]).total_cmp(&sum(&first[*b])));
        order.truncate(1 + settings.len().div_ceil(RACE_FACTOR));
        let left: Vec<&Setting> = order.iter().map(|index| &settings[*index]).collect();
        let second = self.losses(&left, cases, seed)?;
        let best = (0..left.len()).min_by(|a, b| sum(&second[*a]).total_cmp(&sum(&second[*b])));
        let best = best.expect("the defaults are one setting");
        Ok((order[best], second[best].clone()))
    }

    /// Simulates settings, of which the first is the defaults, on cases, and returns the logarithms of their losses.
    fn losses(&self, settings: &[&Setting], cases: &[usize], seed: u64) -> Result<Vec<Losses>> {
        let Tuning {
            sweep, store, goal, ..
        } = &self.tuning;
        let names = cases.iter().map(|case| Value::from(&*self.cases[*case]));
        let values = ValuesSpec::from_list(names.clone().collect(), "the cases");
        let case = Parameter::new(&sweep.registry, "extends", values, "the cases");
        let own = sweep.varied_parameters.iter().cloned();
        let expanded = Sweep {
            varied_parameters: std::iter::once(case).chain(own).collect(),
            ..(*sweep).clone()
        };
        let on_cases = |setting: &&Setting| {
            let with = |name: Value| [&[Some(name)], &setting[..]].concat();
            names.clone().map(with).collect::<Vec<Setting>>()
        };
        let all: Vec<Setting> = settings.iter().flat_map(on_cases).collect();
        let count = all.len();
        let plan = simulate_settings(&expanded, all, &[seed], store)?;
        let rows = &lock(store).rows;
        let makespans: Vec<f64> = (0..count)
            .map(|index| plan.rows_of(index, rows)[0].and_then(|row| goal.value(row)))
            .map(|makespan| makespan.unwrap_or(f64::INFINITY))
            .collect();
        let defaults = &makespans[..cases.len()];
        let losses = |own: &[f64]| {
            let pairs = own.iter().zip(defaults);
            pairs
                .map(|(own, usual)| {
                    if own == usual {
                        0.0
                    } else {
                        (own / usual).ln()
                    }
                })
                .collect()
        };
        Ok(makespans.chunks(cases.len()).map(losses).collect())
    }

    fn chosen(&self, setting: &Setting, training: &[f64], test: &[f64]) -> ChosenSetting {
        let sweep = self.tuning.sweep;
        let policy = policy_of_setting(sweep, setting);
        let typed = sweep.fixed_settings().get("policy.name");
        let typed = typed.as_ref().and_then(Value::as_str).unwrap_or(&policy);
        let rest = typed.strip_prefix(&policy).unwrap_or_default();
        let options = sweep.parameter_names().into_iter().zip(setting);
        let options = options.filter_map(|(name, value)| {
            let key = keys::parameter_key_for_policy(&sweep.registry, &name, &policy)?;
            let option = key.strip_prefix(&format!("policy.{policy}."))?.to_owned();
            Some(format!("{option}={}", format_typed_value(value.as_ref()?)))
        });
        ChosenSetting {
            variant: format!(
                "{policy}{{{}}}{rest}",
                options.collect::<Vec<_>>().join(",")
            ),
            training_cases: training.len(),
            training_loss: mean_loss(training).unwrap_or(1.0),
            test_cases: test.len(),
            test_loss: mean_loss(test),
        }
    }
}

/// Returns the geometric mean of losses from their logarithms; `None` if there are none.
fn mean_loss(logarithms: &[f64]) -> Option<f64> {
    let sample = Sample::from_numbers(logarithms)?;
    Some(round_portably(sample.mean.exp()))
}

impl SuiteTuningReport {
    /// Returns the report as JSON.
    pub fn to_json(&self) -> Value {
        with_version(json!(self))
    }

    /// Returns the report as tables and sentences that can be printed.
    pub fn sheet(&self) -> Sheet {
        let columns = [
            text_column("chosen on", "part"),
            number_column("cases", "training_cases"),
            number_column("loss", "training_loss"),
            number_column("other cases", "test_cases"),
            number_column("loss", "test_loss"),
            text_column("setting", "variant"),
        ];
        let mut table = Table::new("folds", "", &columns);
        let loss = |number: Option<f64>| cell_with(number, |loss| format!("{loss:.4}"));
        let last = std::iter::once(&self.recommended);
        for (index, one) in self.folds.iter().chain(last).enumerate() {
            let is_fold = one.test_cases > 0;
            let part = if is_fold {
                format!("all but part {}", index + 1)
            } else {
                "all cases".into()
            };
            table.push_row([
                Cell::text(part),
                Cell::count(one.training_cases),
                loss(Some(one.training_loss)),
                Cell::count(one.test_cases),
                loss(one.test_loss),
                Cell::text(&one.variant),
            ]);
        }
        let mut sheet = Sheet::default();
        sheet.add_table(table);
        let interval = self.test_loss_ci95;
        let interval = interval.map_or(String::new(), |[low, high]| {
            format!(" (95 %: {low:.4} to {high:.4})")
        });
        sheet.add_line("");
        sheet.add_line(format!(
            "A loss is the makespan divided by that of the defaults, geometric mean over cases. On cases that did not choose the setting it is {:.4}{interval}.",
            self.test_loss
        ));
        sheet.add_line(format!(
            "All cases choose `{}`; judge it on another draw with `migsim bench --policies`.",
            self.recommended.variant
        ));
        sheet
    }
}
