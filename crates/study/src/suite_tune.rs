//! Search for settings of a policy that are good over the cases of a benchmark suite, judged by cross-validation.
//!
//! ```text
//! cases ─> three folds ─ for each fold: search on the cases of the others ─> best setting ─> the cases of the fold
//!       ─> search on all cases ─> the setting that is recommended
//! ```
//! The loss of a setting is the geometric mean over cases of its makespan divided by that of the defaults. A search draws settings
//! at random and runs them on a quarter of its cases. It runs the best of them on all of its cases, as many as the budget allows
//! (successive halving, as in [`super::tune`]). A setting that was chosen on some cases looks better on them than on others: the losses of the folds show by
//! how much (Stone, Cross-validatory choice, J. R. Stat. Soc. B 36, 1974).

use std::collections::BTreeSet;

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
    error::{Error, Result},
    random::round_portably,
};
use migsim_experiment::name_with_options;
use migsim_output::{Cell, Sheet, Table, number_column, text_column, with_version};

/// Number of parts into which the cases are divided for the cross-validation.
const FOLDS: usize = 3;

/// Number of cases of which one is in the first round of a search, and half the minimum number of settings in this round.
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
    /// The setting that all cases choose, or the defaults if the loss on other cases is above 1.
    pub recommended: ChosenSetting,
    /// The setting that all cases choose, if it is not recommended.
    pub not_confirmed: Option<ChosenSetting>,
    /// Loss on cases that did not choose the setting, over all cases.
    pub test_loss: f64,
    /// The 95 % confidence interval of this loss over the cases.
    pub test_loss_ci95: Option<[f64; 2]>,
    /// Number of different settings that were drawn.
    pub settings: usize,
}

/// The logarithm of the loss of a setting in each case; infinite where its run failed.
type Losses = Vec<f64>;

/// A search: the cases on which it chooses, and the indices of all settings but the defaults, the best of the first round first.
struct Search {
    cases: Vec<usize>,
    ranking: Vec<usize>,
}

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
        let folds = (0..FOLDS).map(|fold| all.iter().partition(|case| **case % FOLDS == fold));
        let folds: Vec<(Vec<usize>, Vec<usize>)> = folds.collect();
        let of_searches = folds.iter().map(|(_, others)| others).chain([&all]);
        let searches = self.first_round(&settings, of_searches, seed)?;
        let kept = self.affordable_finalists(&searches);
        let mut test = vec![0.0; self.cases.len()];
        let mut chosen_by_folds = Vec::new();
        for ((own, _), search) in folds.iter().zip(&searches) {
            let (chosen, training) = self.second_round(&settings, search, kept, seed)?;
            let losses = self.losses(&[&settings[0], &settings[chosen]], own, seed)?;
            for (case, loss) in own.iter().zip(&losses[1]) {
                test[*case] = *loss;
            }
            let variant = self.variant(&settings, chosen)?;
            chosen_by_folds.push(ChosenSetting::new(variant, &training, &losses[1]));
        }
        let (chosen, training) = self.second_round(&settings, &searches[FOLDS], kept, seed)?;
        let chosen = ChosenSetting::new(self.variant(&settings, chosen)?, &training, &[]);
        let test_loss = mean_loss(&test).unwrap_or(1.0);
        let defaults = ChosenSetting::new(self.variant(&settings, 0)?, &vec![0.0; all.len()], &[]);
        let is_worse = test_loss > 1.0 && chosen.variant != defaults.variant;
        let sample = Sample::from_numbers(&test);
        let around = sample.and_then(|one| Some([one.mean - one.ci95?, one.mean + one.ci95?]));
        Ok(SuiteTuningReport {
            folds: chosen_by_folds,
            not_confirmed: is_worse.then(|| chosen.clone()),
            recommended: if is_worse { defaults } else { chosen },
            test_loss,
            test_loss_ci95: around.map(|ends| ends.map(|end| round_portably(end.exp()))),
            settings: settings.len(),
        })
    }

    /// Returns the number of settings for which the first round, with the defaults, needs at most half of the budget.
    ///
    /// # Errors
    /// The other half may be too small for one setting of each search on all cases, or there are too few cases or settings.
    fn affordable_settings(&self) -> Result<usize> {
        let (cases, budget) = (self.cases.len(), self.tuning.run_budget);
        let named = cases.max(2 * FOLDS);
        let each = named.div_ceil(RACE_FACTOR);
        let least = (2 * each * (2 * RACE_FACTOR + 1)).max(named * (2 * FOLDS + 2));
        if cases >= 2 * FOLDS && budget >= least {
            return Ok(budget / 2 / each - 1);
        }
        Err(Error::input(
            format!("a search over {cases} cases with {budget} runs is too small"),
            "--budget",
            format!(
                "name at least {} cases, and give a `--budget` of at least {least}",
                2 * FOLDS
            ),
        ))
    }

    /// Simulates all settings on a quarter of all cases, and ranks them for each search by their losses on those of its cases.
    fn first_round<'c>(
        &self,
        settings: &[Setting],
        cases_of_searches: impl Iterator<Item = &'c Vec<usize>>,
        seed: u64,
    ) -> Result<Vec<Search>> {
        let some: Vec<usize> = (0..self.cases.len())
            .filter(|case| is_in_first_round(*case))
            .collect();
        let losses = self.losses(&settings.iter().collect::<Vec<_>>(), &some, seed)?;
        let search = |cases: &Vec<usize>| {
            let sum = |losses: &Losses| -> f64 {
                let own = some.iter().zip(losses);
                let own = own.filter(|(case, _)| cases.contains(case));
                own.map(|(_, loss)| loss).sum()
            };
            let sums: Vec<f64> = losses.iter().map(sum).collect();
            let mut ranking: Vec<usize> = (1..settings.len()).collect();
            ranking.sort_by(|a, b| sums[*a].total_cmp(&sums[*b]));
            Search {
                cases: cases.clone(),
                ranking,
            }
        };
        Ok(cases_of_searches.map(search).collect())
    }

    /// Returns the number of settings of each search that the budget allows to run on all of its cases. The runs with the settings
    /// that are judged on other cases are subtracted before.
    fn affordable_finalists(&self, searches: &[Search]) -> usize {
        let (cases, settings) = (self.cases.len(), searches[0].ranking.len() + 1);
        let left = self
            .tuning
            .run_budget
            .saturating_sub(settings * cases.div_ceil(RACE_FACTOR) + cases);
        let runs = |kept: usize| {
            let pairs = searches.iter().flat_map(|one| {
                let settings = std::iter::once(&0).chain(&one.ranking[..kept]);
                let cases = one.cases.iter();
                let cases = cases.filter(|case| !is_in_first_round(**case));
                settings.flat_map(move |setting| cases.clone().map(move |case| (setting, case)))
            });
            pairs.collect::<BTreeSet<_>>().len()
        };
        let counts: Vec<usize> = (1..settings).collect();
        counts.partition_point(|kept| runs(*kept) <= left)
    }

    /// Returns the index of the setting with the least loss over the cases of a search, of the best `kept` of its first round and
    /// the defaults, and its losses. The defaults are kept if no other setting is better.
    fn second_round(
        &self,
        settings: &[Setting],
        search: &Search,
        kept: usize,
        seed: u64,
    ) -> Result<(usize, Losses)> {
        let order: Vec<usize> = std::iter::once(0)
            .chain(search.ranking[..kept].iter().copied())
            .collect();
        let left: Vec<&Setting> = order.iter().map(|index| &settings[*index]).collect();
        let losses = self.losses(&left, &search.cases, seed)?;
        let sum = |losses: &Losses| losses.iter().sum::<f64>();
        let best = (0..left.len()).min_by(|a, b| sum(&losses[*a]).total_cmp(&sum(&losses[*b])));
        let best = best.expect("the defaults are one setting");
        Ok((order[best], losses[best].clone()))
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

    /// Returns the name of the policy with its fixed options and those of a setting in braces; the defaults have no others.
    fn variant(&self, settings: &[Setting], index: usize) -> Result<String> {
        let sweep = self.tuning.sweep;
        let policy = policy_of_setting(sweep, &settings[index]);
        let typed = sweep.fixed_settings().get("policy.name");
        let typed = typed.as_ref().and_then(Value::as_str).unwrap_or(&policy);
        let flags = sweep.fixed_flags.iter();
        let fixed = flags.map(|one| (one.key.clone(), one.value.clone()));
        let varied = sweep.parameter_names().into_iter().zip(&settings[index]);
        let varied = varied.filter(|_| index > 0).filter_map(|(name, value)| {
            let key = keys::parameter_key_for_policy(&sweep.registry, &name, &policy)?;
            Some((key, value.clone()?))
        });
        let start = format!("policy.{policy}.");
        let options = fixed.chain(varied).filter_map(|(key, value)| {
            let option = key.strip_prefix(&start)?.to_owned();
            Some((option, value))
        });
        name_with_options(typed, options)
    }
}

/// Whether a case is one of those on which all settings are run.
fn is_in_first_round(case: usize) -> bool {
    case.is_multiple_of(RACE_FACTOR)
}

impl ChosenSetting {
    /// Creates the record of a setting from the logarithms of its losses.
    fn new(variant: String, training: &[f64], test: &[f64]) -> Self {
        Self {
            variant,
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
        let last = std::iter::once(self.not_confirmed.as_ref().unwrap_or(&self.recommended));
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
        let recommended = &self.recommended.variant;
        sheet.add_line(match &self.not_confirmed {
            Some(chosen) => format!(
                "This is worse than the defaults: keep `{recommended}`. All cases choose `{}`, but what is chosen in this way does not hold on other cases.",
                chosen.variant
            ),
            None => format!(
                "All cases choose `{recommended}`; judge it on another draw with `migsim bench --policies`."
            ),
        });
        sheet
    }
}
