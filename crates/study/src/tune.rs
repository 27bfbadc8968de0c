//! Search for good settings of a policy (values of its options) with a limited number of runs. The gain of the best setting is
//! then measured on new seeds.
//!
//! Half of the budget goes to *successive halving* (Jamieson and Talwalkar, Non-stochastic Best Arm Identification and
//! Hyperparameter Optimization, AISTATS 2016). Settings are drawn at random and run with few seeds; the better half is run with
//! twice as many seeds, and so on. If nothing in the runs is random, one seed is enough, and the method becomes random search
//! (Bergstra and Bengio, Random Search for Hyper-Parameter Optimization, JMLR 2012).
//!
//! The other half goes to *compass search* (Kolda, Lewis and Torczon, Optimization by Direct Search, SIAM Review 2003). It begins
//! at the best setting and tries values on both sides of the value of each parameter. The best of these settings becomes the next
//! centre. If none is better, the steps are halved. When no smaller step is left, the search starts again from the next best
//! setting.
//!
//! Settings are drawn from one stream of random numbers ([`StreamPurpose::TuningStart`]) and compared on the same seeds. The choice of runs
//! does not depend on the number of threads.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

use serde_json::Value;

use super::{
    change::check_parameter_effects,
    config::{Combine, Parameter, Sweep},
    draw::draw_random_settings,
    goal::Goal,
    keys,
    plan::Plan,
    planner::{seeds_after, seeds_of_sweep},
    run::{lock, simulate_settings},
    separate::Indifference,
    setting::{Setting, default_setting, policy_of_setting},
    settings::{
        check_parameters, check_parameters_apply, parameter_value_counts, parameter_values_at,
    },
    spec::{ValuesSpec, value_label},
    stats::Sample,
    store::{Rows, Store},
    summary::setting_values_by_parameter,
    tune_report::{
        DefaultsComparison, NamedValues, SearchExtent, SearchRound, TuneReport, no_correction,
    },
};
use migsim_base::{
    error::{Error, Problem, Result},
    random::{Stream, StreamPurpose},
    words::format_count,
};
use migsim_experiment::Registry;

/// Maximum number of values of a parameter. It is limited because the search compares all values with the default value to find
/// the value nearest to the default.
const MAX_VALUES: u64 = 100_000;

/// Factor by which the number of seeds grows, and the number of settings shrinks, from one round of successive halving to the
/// next.
const HALVING_FACTOR: usize = 2;

/// Number of random settings that are loaded to find out whether the seed changes results.
const SAMPLED_SETTINGS: u64 = 32;

/// Divisor for the first step of a compass search: the step is the number of values of a parameter divided by this number.
const FIRST_STEP_DIVISOR: u64 = 4;

/// Default number of new seeds on which the best setting is compared with the defaults.
pub const FRESH_SEEDS: usize = 20;

/// Lists those options of `policy` that have a default range for tuning and for which `is_fixed` returns false.
///
/// # Errors
/// A range cannot be parsed. Ranges are part of the program, so this error is a fault of the program.
pub fn tunable_parameters(
    registry: &Registry,
    policy: &str,
    is_fixed: impl Fn(&str) -> bool,
) -> Result<Vec<Parameter>> {
    let Ok(entry) = registry.policies().find(policy) else {
        return Ok(Vec::new()); // an unknown policy is reported later
    };
    let key = |option: &str| format!("policy.{policy}.{option}");
    let is_free = |option: &str| !is_fixed(option) && !is_fixed(&key(option));
    entry
        .tuning_ranges()
        .iter()
        .filter(|(option, _)| is_free(option))
        .map(|(option, range)| {
            let flag = entry.flags.iter().find(|flag| flag.option_name == *option);
            let name = flag.map_or_else(|| key(option), |flag| flag.name.to_owned());
            let source = format!("the usual range of `{name}`");
            let spec = ValuesSpec::parse(range)
                .map_err(|message| Problem::new(message).source(&source))?;
            Ok(Parameter::new(registry, &name, spec, source))
        })
        .collect()
}

/// Task of a search for good settings: the varied parameters, the goal, and the budget of runs.
#[derive(Debug)]
pub struct Tuning<'a> {
    /// Experiment and varied parameters, with the seeds of the search.
    pub sweep: &'a Sweep,
    /// Measure that the search optimises (a makespan or a gain).
    pub goal: Goal,
    /// Margin of indifference in the comparison of the best setting with the defaults; smaller differences do not count.
    pub indifference: Indifference,
    /// Maximum number of runs of the search.
    pub run_budget: usize,
    /// Seeds for the comparison of the best setting with the defaults; `None` stands for the 20 seeds after the largest seed of
    /// the search.
    pub fresh_seeds: Option<&'a ValuesSpec>,
    /// Store of the rows of finished runs.
    pub store: &'a Mutex<Store>,
}

/// Result of a search for good settings: the best setting, a report, and all runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TuningResult {
    /// Best setting that the search found.
    pub best_setting: Setting,
    /// Report of the search; its field `command` is still empty.
    pub report: TuneReport,
    /// Plan of all runs of the search.
    pub plan: Plan,
    /// The rows of the runs that the search requested.
    pub rows: Rows,
}

impl Tuning<'_> {
    /// Searches for the best setting within the budget, and compares it with the defaults on new seeds.
    ///
    /// # Errors
    /// A parameter, the seeds or the budget is wrong, no setting can be run, or a row cannot be written.
    pub fn run(&self) -> Result<TuningResult> {
        self.check_varied_parameters()?;
        let mut seeds = seeds_of_sweep(self.sweep)?;
        let fresh = self.fresh_seeds(&seeds)?;
        let defaults = default_setting(self.sweep, seeds[0])?;
        let is_random = self.seeds_change_results(&defaults, seeds[0])?;
        if !is_random {
            seeds.truncate(1);
        }
        let mut search = Search {
            tuning: self,
            seeds,
            run_ids: BTreeSet::new(),
            tried: vec![defaults.clone()],
            means: BTreeMap::new(),
            rounds: Vec::new(),
        };
        let best = search.search(&defaults)?;
        let runs = search.run_ids.len();
        let mean = |setting: &Setting| search.means.get(&key(setting)).copied().flatten();
        let ties: Vec<NamedValues> = search
            .tried
            .iter()
            .filter(|one| key(one) != key(&best) && mean(one).is_some() && mean(one) == mean(&best))
            .map(|one| self.named_values(one))
            .collect();
        let mut pair = vec![best.clone(), defaults.clone()];
        if key(&best) == key(&defaults) {
            pair.truncate(1);
        }
        let compared_seeds = if is_random {
            fresh
        } else {
            search.seeds.clone()
        };
        let compared = simulate_settings(self.sweep, pair, &compared_seeds, self.store)?;
        let all_seeds: BTreeSet<u64> = search
            .seeds
            .iter()
            .chain(&compared.seeds)
            .copied()
            .collect();
        search.run_ids.extend(compared.runs.iter().cloned());
        let settings = search.tried.len();
        let plan = Plan::from_settings(self.sweep, search.tried, all_seeds.into_iter().collect())?;
        let mut rows = lock(self.store).rows.clone();
        rows.retain(|id, _| search.run_ids.contains(id));
        let report = TuneReport {
            goal: self.goal.name().to_owned(),
            parameters: plan.names.clone(),
            best: self.named_values(&best),
            ties,
            defaults: self.named_values(&defaults),
            search: SearchExtent {
                runs,
                settings,
                seeds: search.seeds,
                draw_seed: self.sweep.draw_seed,
                failed: plan.failures(&rows).len(),
                rounds: search.rounds,
            },
            is_random,
            comparison: self.compare_with_defaults(&compared),
            command: String::new(),
        };
        Ok(TuningResult {
            best_setting: best,
            report,
            plan,
            rows,
        })
    }

    fn named_values(&self, setting: &Setting) -> NamedValues {
        setting_values_by_parameter(&self.sweep.parameter_names(), setting)
    }

    pub(super) fn check_varied_parameters(&self) -> Result {
        let sweep = self.sweep;
        if sweep.varied_parameters.is_empty() {
            let policy = policy_of_setting(sweep, &[]);
            let message = format!(
                "there is nothing to tune: no option of the policy `{policy}` has a usual range"
            );
            let hint =
                "name what is to vary, for example `--vary costs.move.order=serial,parallel`";
            return Err(Problem::new(message).hint(hint).into());
        }
        // A range without a step is allowed here.
        check_parameters(&Sweep {
            combine: Combine::Random(1),
            ..sweep.clone()
        })?;
        let is_long = |one: &&Parameter| one.values_spec.value_count() > MAX_VALUES;
        if let Some(one) = sweep.varied_parameters.iter().find(is_long) {
            let count = one.values_spec.value_count();
            return Err(Error::input(
                format!("`{}` has {count} values, more than {MAX_VALUES}", one.name),
                &one.definition_text,
                "write the range with larger steps",
            ));
        }
        Ok(())
    }

    /// Returns the new seeds for the comparison of the best setting with the defaults.
    ///
    /// # Errors
    /// A new seed is in `known`, the seeds of the search, or the seeds are wrong.
    fn fresh_seeds(&self, known: &[u64]) -> Result<Vec<u64>> {
        let Some(spec) = self.fresh_seeds else {
            return Ok(seeds_after(known, FRESH_SEEDS));
        };
        let fresh = seeds_of_sweep(&Sweep {
            seeds: Some(spec.clone()),
            ..self.sweep.clone()
        })?;
        match fresh.iter().find(|seed| known.contains(seed)) {
            None => Ok(fresh),
            Some(seed) => Err(Error::input(
                format!("seed {seed} of `--fresh` is also a seed of the search"),
                "--fresh",
                "name other seeds than in `--seeds`: the best setting is compared with the defaults on seeds that the search has not used",
            )),
        }
    }

    fn seeds_change_results(&self, defaults: &Setting, seed: u64) -> Result<bool> {
        let mut some = self.draw_settings(SAMPLED_SETTINGS);
        check_parameters_apply(self.sweep, &some)?;
        some.push(defaults.clone());
        let plan = Plan::from_settings(self.sweep, some, vec![seed, seed.wrapping_add(1)])?;
        check_parameter_effects(self.sweep, &plan)?;
        Ok(plan.is_random)
    }

    /// Draws `count` random settings; every call of this function draws the same settings, and equal settings are returned once.
    pub(super) fn draw_settings(&self, count: u64) -> Vec<Setting> {
        let mut stream = Stream::new(self.sweep.draw_seed, StreamPurpose::TuningStart);
        let drawn = draw_random_settings(count, &parameter_value_counts(self.sweep), &mut stream);
        let mut seen = BTreeSet::new();
        drawn
            .iter()
            .map(|ranks| parameter_values_at(self.sweep, ranks))
            .filter(|setting| seen.insert(key(setting)))
            .collect()
    }

    /// Returns the goal of each run of a setting of a plan, by seed; `None` for a run without a value of the goal.
    fn goals(&self, plan: &Plan, setting: usize) -> Vec<Option<f64>> {
        let store = lock(self.store);
        plan.rows_of(setting, &store.rows)
            .into_iter()
            .map(|row| self.goal.value(row?))
            .collect()
    }

    fn compare_with_defaults(&self, plan: &Plan) -> DefaultsComparison {
        let best = self.goals(plan, 0);
        let defaults = self.goals(plan, plan.settings.len() - 1);
        let pairs = || {
            best.iter()
                .zip(&defaults)
                .map(|(best, defaults)| (*best).zip(*defaults))
        };
        let sample = |numbers: &mut dyn Iterator<Item = Option<f64>>| {
            Sample::from_numbers(&numbers.flatten().collect::<Vec<f64>>())
        };
        let gains = pairs().map(|pair| {
            let (best, defaults) = pair.filter(|_| !self.goal.is_gain())?;
            Some(100.0 * (defaults - best) / defaults)
        });
        let improvements = pairs().map(|pair| {
            let (best, defaults) = pair?;
            Some(self.goal.sign() * (defaults - best))
        });
        DefaultsComparison {
            seeds: plan.seeds.clone(),
            best: sample(&mut best.iter().copied()),
            defaults: sample(&mut defaults.iter().copied()),
            improvement: sample(&mut { improvements }),
            gain_percent: sample(&mut { gains }),
            correction: no_correction(),
            indifference: self.indifference,
        }
    }
}

/// Texts of the values of a setting. Settings are equal if these texts are equal.
type SettingKey = Vec<Option<String>>;

fn key(setting: &[Option<Value>]) -> SettingKey {
    setting
        .iter()
        .map(|value| value.as_ref().map(value_label))
        .collect()
}

/// State of a search for good settings: the runs, means and rounds up to now.
struct Search<'a> {
    /// Task of the search: its parameters, goal and budget.
    tuning: &'a Tuning<'a>,
    /// Seeds of the search, with which settings are compared.
    seeds: Vec<u64>,
    /// Identities of the runs that the search has done up to now.
    run_ids: BTreeSet<String>,
    /// All different settings that were run up to now, in the order of their first run; the defaults come first.
    tried: Vec<Setting>,
    /// Mean goal over all seeds of each setting that was run with all seeds; `None` if a run failed.
    means: BTreeMap<SettingKey, Option<f64>>,
    rounds: Vec<SearchRound>,
}

/// A setting, and the mean of its goal over the seeds with which it was run; `None` if a run failed.
type ScoredSetting = (Setting, Option<f64>);

impl Search<'_> {
    fn affordable_settings(&self) -> usize {
        self.tuning.run_budget.saturating_sub(self.run_ids.len()) / self.seeds.len()
    }

    /// Runs the settings with the first `seeds` seeds, and returns them sorted from the best to the worst mean goal. Settings
    /// with equal means stay in their order.
    fn run_and_sort_settings(
        &mut self,
        method: &str,
        settings: Vec<Setting>,
        seeds: usize,
    ) -> Result<Vec<ScoredSetting>> {
        let Tuning { sweep, store, .. } = self.tuning;
        let plan = simulate_settings(sweep, settings, &self.seeds[..seeds], store)?;
        let before = self.run_ids.len();
        self.run_ids.extend(plan.runs.iter().cloned());
        let mut known: BTreeSet<SettingKey> = self.tried.iter().map(|one| key(one)).collect();
        let new = plan.settings.iter().filter(|one| known.insert(key(one)));
        self.tried.extend(new.cloned());
        let scored = plan.settings.iter().enumerate().map(|(index, setting)| {
            let goals: Option<Vec<f64>> = self.tuning.goals(&plan, index).into_iter().collect();
            let mean = goals.and_then(|goals| Some(Sample::from_numbers(&goals)?.mean));
            (setting.clone(), mean)
        });
        let mut scored: Vec<ScoredSetting> = scored.collect();
        if seeds == self.seeds.len() {
            self.means
                .extend(scored.iter().map(|(one, mean)| (key(one), *mean)));
        }
        scored.sort_by(|a, b| self.compare_means(a, b));
        self.rounds.push(SearchRound {
            method: method.to_owned(),
            settings: scored.len(),
            seeds,
            runs: self.run_ids.len() - before,
            best: self.tuning.named_values(&scored[0].0),
            mean: scored[0].1,
        });
        Ok(scored)
    }

    fn compare_means(&self, (_, a): &ScoredSetting, (_, b): &ScoredSetting) -> Ordering {
        let sign = self.tuning.goal.sign();
        let [a, b] = [a, b].map(|mean| mean.map_or(f64::INFINITY, |mean| sign * mean));
        a.total_cmp(&b)
    }

    /// Runs successive halving and then compass searches within the budget, and returns the best setting.
    fn search(&mut self, defaults: &Setting) -> Result<Setting> {
        let mut found = self.run_successive_halving(defaults)?;
        for centre in found.clone() {
            if self.affordable_settings() == 0 {
                break;
            }
            found.push(self.run_compass_search(centre)?);
        }
        found.sort_by(|a, b| self.compare_means(a, b));
        let (best, mean) = found.swap_remove(0);
        if mean.is_some() {
            return Ok(best);
        }
        let store = lock(self.tuning.store);
        let mut rows = self.run_ids.iter().filter_map(|id| store.rows.get(id));
        let error = rows.find_map(|row| row.error.as_deref());
        Err(Error::SimulationFailure(Problem::new(format!(
            "the runs of all settings failed; the error of the first: {}",
            error.unwrap_or("no run has a value of the goal")
        )).hint(
            "give the varying parameters other values, or examine one setting with `migsim run`",
        )))
    }

    /// Runs successive halving, and returns the settings of the last round from the best to the worst. The defaults take part in
    /// every round.
    fn run_successive_halving(&mut self, defaults: &Setting) -> Result<Vec<ScoredSetting>> {
        let seeds = self.seeds.len();
        let budget = self.tuning.run_budget;
        let first = first_round_setting_count(budget.div_ceil(2).saturating_sub(seeds), seeds);
        let Some(first) = first else {
            let least = 8 * seeds;
            return Err(Error::input(
                format!(
                    "a budget of {budget} runs is too small for a search with {}",
                    format_count(seeds, "seed")
                ),
                "--budget",
                format!("give a `--budget` of at least {least}, or fewer `--seeds`"),
            ));
        };
        let mut settings = self.tuning.draw_settings(first as u64);
        let mut own = 1;
        loop {
            settings.retain(|one| key(one) != key(defaults));
            settings.insert(0, defaults.clone());
            let mut scored = self.run_and_sort_settings("halving", settings, own)?;
            if own == seeds {
                return Ok(scored);
            }
            scored.retain(|(one, _)| key(one) != key(defaults));
            scored.truncate(scored.len().div_ceil(HALVING_FACTOR));
            settings = scored.into_iter().map(|(one, _)| one).collect();
            own = (own * HALVING_FACTOR).min(seeds);
        }
    }

    fn run_compass_search(&mut self, mut centre: ScoredSetting) -> Result<ScoredSetting> {
        let longest = parameter_value_counts(self.tuning.sweep)
            .into_iter()
            .max()
            .unwrap_or(1);
        let mut step = (longest / FIRST_STEP_DIVISOR).max(1);
        while self.affordable_settings() > 0 {
            let mut new = self.neighbour_settings(&centre.0, step, longest);
            new.retain(|one| !self.means.contains_key(&key(one)));
            new.truncate(self.affordable_settings());
            if !new.is_empty() {
                // The centre, which needs no new run, comes first, so that it stays among equal ones.
                new.insert(0, centre.0.clone());
                let mut scored = self.run_and_sort_settings("compass", new, self.seeds.len())?;
                let best = scored.swap_remove(0);
                if key(&best.0) != key(&centre.0) {
                    centre = best;
                    continue;
                }
            }
            if step == 1 {
                break;
            }
            step /= 2;
        }
        Ok(centre)
    }

    /// Lists the settings that differ from `centre` in the value of one parameter, to either side. The distance in the list of
    /// values is `step` for the parameter with most values, `longest`, and proportionally smaller (at least 1) for each other
    /// parameter.
    fn neighbour_settings(&self, centre: &Setting, step: u64, longest: u64) -> Vec<Setting> {
        let mut around = Vec::new();
        for (index, one) in self.tuning.sweep.varied_parameters.iter().enumerate() {
            let Some(value) = &centre[index] else {
                continue; // this policy has no such option
            };
            let place = nearest_value_index(&one.values_spec, value);
            let count = one.values_spec.value_count();
            // The step is in proportion: a quarter of the longest parameter is a quarter of each parameter.
            let own = (step * count / longest).max(1);
            let sides = [place.checked_sub(own), Some(place), place.checked_add(own)];
            for rank in sides.into_iter().flatten().filter(|rank| *rank < count) {
                let mut other = centre.clone();
                other[index] = Some(one.values_spec.value_at(rank));
                if one.name == "policy" {
                    other = self.adapt_setting_to_policy(other);
                }
                if key(&other) != key(centre) {
                    around.push(other);
                }
            }
        }
        around
    }

    /// Adapts a setting to the options of its policy: values for options of other policies are removed, and an option without a
    /// value gets its first value.
    fn adapt_setting_to_policy(&self, setting: Setting) -> Setting {
        let sweep = self.tuning.sweep;
        let policy = policy_of_setting(sweep, &setting);
        let adapted = sweep
            .varied_parameters
            .iter()
            .zip(setting)
            .map(|(one, value)| {
                keys::parameter_key_for_policy(&sweep.registry, &one.name, &policy)?;
                Some(value.unwrap_or_else(|| one.values_spec.value_at(0)))
            });
        adapted.collect()
    }
}

/// Returns the largest number of settings (at least two) in the first round of successive halving for which all rounds together
/// need at most `budget` runs. `None` if the budget is too small.
fn first_round_setting_count(budget: usize, seeds: usize) -> Option<usize> {
    // Rounds are nested: each one adds the seeds that the previous round did not use.
    let cost = |first: usize| {
        let mut settings = first;
        let mut own = 1;
        let mut runs = first;
        while own < seeds {
            settings = settings.div_ceil(HALVING_FACTOR);
            let more = (own * HALVING_FACTOR).min(seeds);
            runs += settings * (more - own);
            own = more;
        }
        runs
    };
    (2..=budget).rev().find(|&first| cost(first) <= budget)
}

/// Returns the index of the value in `spec` that is nearest to the number `value`. For other values, returns the index of the
/// equal value, or 0 if there is none.
fn nearest_value_index(spec: &ValuesSpec, value: &Value) -> u64 {
    let distance = |rank: u64| {
        let other = spec.value_at(rank);
        match (other.as_f64(), value.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs(),
            _ if value_label(&other) == value_label(value) => 0.0,
            _ => f64::INFINITY,
        }
    };
    (0..spec.value_count())
        .map(|rank| (distance(rank), rank))
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .map_or(0, |(_, rank)| rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_round_fits_the_budget() {
        // With one seed, all settings run once.
        assert_eq!(first_round_setting_count(100, 1), Some(100));
        // With 8 seeds: 40 + 20·1 + 10·2 + 5·4 = 100.
        assert_eq!(first_round_setting_count(100, 8), Some(40));
        // With 3 seeds: 56 + 28·1 + 14·1 = 98, and 57 + 29 + 15 = 101.
        assert_eq!(first_round_setting_count(100, 3), Some(56));
        assert_eq!(first_round_setting_count(1, 1), None);
        assert_eq!(first_round_setting_count(4, 8), None);
    }

    #[test]
    fn a_value_has_the_index_of_the_nearest_number() {
        let spec = ValuesSpec::parse("2,4,8,16").unwrap();
        assert_eq!(nearest_value_index(&spec, &json!(8)), 2);
        assert_eq!(nearest_value_index(&spec, &json!(11.0)), 2);
        assert_eq!(nearest_value_index(&spec, &json!(99)), 3);
        let names = ValuesSpec::parse("serial,parallel").unwrap();
        assert_eq!(nearest_value_index(&names, &json!("parallel")), 1);
        assert_eq!(nearest_value_index(&names, &json!("other")), 0);
    }

    #[test]
    fn usual_parameters_are_those_of_the_policy_that_are_free() {
        let names = |policy: &str, fixed: &str| -> Vec<String> {
            let registry = Registry::standard();
            let parameters = tunable_parameters(&registry, policy, |name| name == fixed);
            parameters
                .unwrap()
                .into_iter()
                .map(|one| one.name)
                .collect()
        };
        let readings =
            ["own_cluster", "sharing", "set_index"].map(|key| format!("policy.migbsp.{key}"));
        let with_readings = |flags: &[&str]| -> Vec<String> {
            let flags = flags.iter().map(|name| (*name).to_owned());
            flags.chain(readings.clone()).collect()
        };
        let all = with_readings(&["alpha", "omega", "d", "x"]);
        assert_eq!(names("migbsp", "-"), all);
        let others = with_readings(&["alpha", "omega", "x"]);
        assert_eq!(names("migbsp", "policy.migbsp.d"), others);
        assert_eq!(names("migbsp-2007", "-"), ["alpha", "d"]);
        assert!(names("never", "-").is_empty());
    }
}
