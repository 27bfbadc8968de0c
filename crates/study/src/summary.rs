//! `summary.csv`: each setting over its seeds, beside the baseline; the best setting, and the effect of each parameter.
//!
//! *Goal.* Settings are judged by the makespan of the last scenario that was run (iii, if it was), or by its gain over scenario i where the
//! application or the platform varies, whose makespans cannot be compared.
//! *Baseline.* Where the policy varies: the same setting under `never`, or else under the first policy; otherwise the first setting with the
//! same application and platform.
//! Differences are taken seed by seed: all settings face the same random numbers, and what these do to both does not count.

use std::collections::BTreeMap;
use std::io;

use serde_json::Value;

use super::effects::{Effect, effect};
use super::goal::{GAIN, Goal, MEASURES, Measure};
use super::plan::Plan;
use super::row::Row;
use super::settings::MOST_NAMED;
use super::spec::{cell, label};
use super::stats::{Sample, with_interval};
use super::values::Values;
use migsim_output::guarded;

/// A setting over its seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The goal, over the seeds that have it.
    pub goal: Option<Sample>,
    /// Each measure.
    measures: [Option<Sample>; 5],
    /// Runs that failed.
    failed: usize,
    /// The setting it is compared with.
    pub(super) baseline: usize,
    /// Goal less that of the baseline with the same seed.
    pub difference: Option<Sample>,
}

/// A sweep in short.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// By what settings are judged.
    pub goal: Goal,
    /// Setting by setting, in plan order.
    pub settings: Vec<Setting>,
    /// The settings with the best mean: several if their means are equal.
    pub best: Vec<usize>,
    /// Parameter by parameter, those with several values.
    pub effects: Vec<Effect>,
}

impl Summary {
    /// The summary of the rows of a plan.
    pub fn of(plan: &Plan, rows: &BTreeMap<String, Row>) -> Self {
        let values = Values::of_all(plan);
        let goal = goal(plan, &values, rows);
        let baselines = baselines(plan, &values);
        let of_setting = |setting: usize| -> Vec<Option<&Row>> {
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
                Sample::of(&numbers)
            };
            let baseline = baselines[setting];
            let pairs = own.iter().zip(of_setting(baseline));
            let differences: Vec<f64> = pairs
                .filter_map(|(own, base)| Some(goal.of((*own)?)? - goal.of(base?)?))
                .collect();
            Setting {
                goal: sample(MEASURES[goal.measure].2),
                measures: MEASURES.map(|(_, _, measure)| sample(measure)),
                failed: own
                    .iter()
                    .flatten()
                    .filter(|row| row.error.is_some())
                    .count(),
                baseline,
                difference: Sample::of(&differences),
            }
        };
        let settings: Vec<Setting> = (0..plan.settings.len()).map(one).collect();
        let means: Vec<Option<f64>> = settings
            .iter()
            .map(|setting| Some(setting.goal?.mean))
            .collect();
        let effects = (0..plan.names.len())
            .filter(|parameter| values[*parameter].count() > 1)
            .map(|parameter| effect(plan, goal, &means, parameter))
            .collect();
        Self {
            goal,
            best: best(goal, &settings),
            settings,
            effects,
        }
    }

    /// `summary.csv`.
    ///
    /// # Errors
    /// Memory cannot be written, which does not happen.
    pub fn csv(&self, plan: &Plan) -> io::Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        let mut head = vec!["setting".to_owned()];
        head.extend(plan.names.iter().map(|name| guarded(name).into_owned()));
        head.extend(["seeds", "failed"].map(str::to_owned));
        for (name, unit, _) in MEASURES {
            head.extend(["mean", "deviation", "ci95"].map(|what| format!("{name}_{what}{unit}")));
        }
        let (name, unit, _) = MEASURES[self.goal.measure];
        head.push("baseline".to_owned());
        head.extend(
            ["mean", "deviation", "ci95"].map(|what| format!("{name}_difference_{what}{unit}")),
        );
        table.write_record(&head)?;
        for (index, setting) in self.settings.iter().enumerate() {
            let mut fields = vec![(index + 1).to_string()];
            fields.extend(
                plan.settings[index]
                    .iter()
                    .map(|value| cell(value.as_ref())),
            );
            fields.push(setting.goal.map_or(0, |sample| sample.count).to_string());
            fields.push(setting.failed.to_string());
            setting
                .measures
                .iter()
                .for_each(|sample| fields.extend(three(*sample)));
            fields.push((setting.baseline + 1).to_string());
            fields.extend(three(setting.difference));
            table.write_record(&fields)?;
        }
        table.into_inner().map_err(csv::IntoInnerError::into_error)
    }

    /// The settings that have a mean, the best first; of equals the earlier one.
    pub(super) fn ranked(&self) -> Vec<usize> {
        let mut order: Vec<(usize, f64)> = Vec::new();
        for (index, setting) in self.settings.iter().enumerate() {
            order.extend(setting.goal.map(|sample| (index, sample.mean)));
        }
        let sign = if self.goal.is_gain() { -1.0 } else { 1.0 };
        order.sort_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
        order.into_iter().map(|(index, _)| index).collect()
    }

    /// The number of settings that the best are chosen from.
    pub(super) fn tried(&self) -> usize {
        let settings = self.settings.iter();
        settings.filter(|setting| setting.goal.is_some()).count()
    }

    /// The best setting, or those that tie, and how much better it is than its baseline; for people.
    pub(super) fn best_lines(&self, plan: &Plan) -> Vec<String> {
        let first = self.best.first();
        let Some((best, sample)) = first.and_then(|best| Some((*best, self.settings[*best].goal?)))
        else {
            return Vec::new();
        };
        let (tried, ties) = (self.tried(), self.best.len());
        let (goal, mean) = (self.goal.name(), with_interval(sample));
        let chosen = match ties {
            1 if tried == 1 => format!("{goal}: {mean}"),
            1 => format!("best {goal} of {tried} settings: {mean}"),
            _ => format!("best {goal}: {ties} of {tried} settings tie at {mean}"),
        };
        let mut lines = vec![String::new(), chosen];
        for &index in self.best.iter().take(MOST_NAMED) {
            let setting = named(&plan.names, &plan.settings[index]);
            if !setting.is_empty() {
                lines.push(format!("  setting {}: {setting}", index + 1));
            }
        }
        if ties > MOST_NAMED {
            lines.push(format!("  and {} more", ties - MOST_NAMED));
        }
        let Setting {
            difference,
            baseline,
            ..
        } = self.settings[best];
        if let Some(difference) = difference.filter(|_| baseline != best) {
            let name = named(&plan.names, &plan.settings[baseline]);
            lines.push(format!("  against {name}: {}", with_interval(difference)));
        }
        if tried > 1 && plan.seeds.len() > 1 {
            lines.push(format!(
                "  It is the best of {tried} on these seeds, which flatters it: `migsim tune` compares the best on fresh seeds."
            ));
        }
        lines
    }
}

/// The settings with the best mean.
fn best(goal: Goal, settings: &[Setting]) -> Vec<usize> {
    let mut best: Vec<usize> = Vec::new();
    for (index, setting) in settings.iter().enumerate() {
        let Some(sample) = setting.goal else { continue };
        let other = best.first().and_then(|best| settings[*best].goal);
        match other {
            Some(other) if goal.is_better(other.mean, sample.mean) => {}
            Some(other) if other.mean == sample.mean => best.push(index),
            _ => best = vec![index],
        }
    }
    best
}

impl Setting {
    /// Its numbers by name, as the columns of `summary.csv`.
    pub(super) fn numbers(&self, goal: Goal) -> Vec<(String, Value)> {
        let seeds = self.goal.map_or(0, |sample| sample.count);
        let mut all = vec![
            ("seeds".to_owned(), seeds.into()),
            ("failed".to_owned(), self.failed.into()),
        ];
        let mut push = |name: &str, unit: &str, sample: Option<Sample>| {
            let numbers = [
                ("mean", sample.map(|sample| sample.mean)),
                ("deviation", sample.and_then(|sample| sample.deviation)),
                ("ci95", sample.and_then(|sample| sample.half_width())),
            ];
            all.extend(
                numbers.map(|(what, number)| (format!("{name}_{what}{unit}"), number.into())),
            );
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

/// The values of a setting with the names of their parameters, for people.
pub fn named<'n>(names: impl IntoIterator<Item = &'n String>, setting: &[Option<Value>]) -> String {
    let pairs = names.into_iter().zip(setting);
    let given: Vec<String> = pairs
        .filter_map(|(name, value)| Some(format!("{name}={}", label(value.as_ref()?))))
        .collect();
    given.join(" ")
}

fn three(sample: Option<Sample>) -> [String; 3] {
    let float = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    [
        float(sample.map(|sample| sample.mean)),
        float(sample.and_then(|sample| sample.deviation)),
        float(sample.and_then(|sample| sample.half_width())),
    ]
}

/// The makespan of the last scenario that has one, or the gain where makespans cannot be compared.
fn goal(plan: &Plan, values: &[Values<'_>], rows: &BTreeMap<String, Row>) -> Goal {
    let own = || plan.runs.iter().filter_map(|id| rows.get(id));
    let has = |measure: usize| own().any(|row| MEASURES[measure].2(row).is_some());
    let varies = |index: usize| values[index].count() > 1;
    let differ = plan
        .names
        .iter()
        .enumerate()
        .any(|(index, name)| plan.work.contains(name) && varies(index));
    if differ && has(GAIN) {
        return Goal::GAIN;
    }
    let measure = (0..3).rev().find(|measure| has(*measure)).unwrap_or(2);
    Goal { measure }
}

/// The rank of each value of a setting; none where a parameter does not apply.
type Ranks = Vec<Option<usize>>;

/// The baseline of each setting.
fn baselines(plan: &Plan, values: &[Values<'_>]) -> Vec<usize> {
    let ranks = |setting: usize, is_meant: &dyn Fn(usize) -> bool| -> Ranks {
        let meant = (0..values.len()).filter(|parameter| is_meant(*parameter));
        meant
            .map(|parameter| values[parameter].ranks[setting])
            .collect()
    };
    let settings = 0..plan.settings.len();
    let Some(policy) = plan.names.iter().position(|name| name == "policy") else {
        let is_meant = |parameter: usize| plan.work.contains(&plan.names[parameter]);
        let mut first: BTreeMap<Ranks, usize> = BTreeMap::new();
        return settings
            .map(|setting| *first.entry(ranks(setting, &is_meant)).or_insert(setting))
            .collect();
    };
    let policies = &values[policy].distinct;
    let never = policies.iter().position(|name| **name == "never");
    let base = Some(never.unwrap_or(0));
    // The settings of the base policy, by which parameters apply to them: these must be equal.
    let mut bases: BTreeMap<Vec<usize>, BTreeMap<Ranks, usize>> = BTreeMap::new();
    for setting in settings
        .clone()
        .filter(|one| values[policy].ranks[*one] == base)
    {
        let applies =
            |parameter: &usize| *parameter != policy && values[*parameter].ranks[setting].is_some();
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Two parameters with two values each, two seeds; the makespan is 10·a + b + seed, so that a explains 100 times what b does.
    fn swept() -> (Plan, BTreeMap<String, Row>) {
        let mut plan = Plan {
            names: vec!["a".into(), "b".into()],
            seeds: vec![1, 2],
            ..Plan::default()
        };
        let mut rows = BTreeMap::new();
        for a in [2, 1] {
            for b in [1, 2] {
                plan.settings.push(vec![Some(json!(a)), Some(json!(b))]);
                for seed in [1, 2] {
                    let id = format!("{a}{b}{seed}");
                    let makespan = f64::from(10 * a + b + seed);
                    let row = Row {
                        makespan_s: [None, None, Some(makespan)],
                        ..Row::default()
                    };
                    rows.insert(id.clone(), row);
                    plan.runs.push(id);
                }
            }
        }
        (plan, rows)
    }

    #[test]
    fn the_best_setting_and_the_effects_worked_by_hand() {
        let (plan, rows) = swept();
        let summary = Summary::of(&plan, &rows);
        // a = 1, b = 1: (12 + 13) / 2.
        assert_eq!(summary.best, [2]);
        assert_eq!(summary.settings[2].goal.unwrap().mean, 12.5);
        // Between settings: 4 · 5² for a, 4 · 0.5² for b.
        assert!((summary.effects[0].share.unwrap() - 100.0 / 101.0).abs() < 1e-12);
        assert!((summary.effects[1].share.unwrap() - 1.0 / 101.0).abs() < 1e-12);
        assert_eq!(summary.effects[0].values[0], ("1".into(), 13.0));
    }

    #[test]
    fn differences_are_paired_by_seed() {
        let (plan, rows) = swept();
        let summary = Summary::of(&plan, &rows);
        let difference = summary.settings[2].difference.unwrap();
        // 10 less with each seed: no deviation, though the makespans deviate.
        assert_eq!((difference.mean, difference.deviation), (-10.0, Some(0.0)));
        assert_eq!(
            summary.settings[2].goal.unwrap().deviation,
            Some(0.5_f64.sqrt())
        );
    }

    #[test]
    fn the_baseline_is_never_with_the_same_other_values() {
        let row = |policy: &str, n: i32, alpha: Option<i32>| {
            vec![
                Some(json!(policy)),
                Some(json!(n)),
                alpha.map(|alpha| json!(alpha)),
            ]
        };
        let plan = Plan {
            names: ["policy", "n", "alpha"].map(str::to_owned).to_vec(),
            work: vec!["n".to_owned()],
            settings: vec![
                row("migbsp", 1, Some(4)),
                row("migbsp", 2, Some(4)),
                row("never", 1, None),
                row("never", 2, None),
            ],
            ..Plan::default()
        };
        assert_eq!(baselines(&plan, &Values::of_all(&plan)), [2, 3, 2, 3]);
    }

    /// The slow twin: each setting is compared with all others.
    fn baseline_one_by_one(plan: &Plan, setting: usize) -> usize {
        let own = &plan.settings[setting];
        let policy = plan.names.iter().position(|name| name == "policy");
        let base = policy.and_then(|policy| {
            let all = || plan.settings.iter().filter_map(|one| one[policy].as_ref());
            all().find(|name| **name == "never").or(all().next())
        });
        let is_base = |other: &Vec<Option<Value>>| {
            let mut pairs = plan.names.iter().zip(other.iter().zip(own)).enumerate();
            pairs.all(|(index, (name, (theirs, own)))| match policy {
                None => !plan.work.contains(name) || theirs == own,
                Some(policy) if index == policy => theirs.as_ref() == base,
                Some(_) => theirs.is_none() || theirs == own,
            })
        };
        plan.settings.iter().position(is_base).unwrap_or(0)
    }

    #[test]
    fn baselines_are_those_that_are_found_one_by_one() {
        let policies: [&[Option<&str>]; 3] = [
            &[None],
            &[Some("migbsp"), Some("never"), Some("replay")],
            &[Some("migbsp"), Some("replay")],
        ];
        for policies in policies {
            let names: &[&str] = if policies == [None] {
                &["n", "alpha", "x"]
            } else {
                &["n", "policy", "alpha", "x"]
            };
            let mut plan = Plan {
                names: names.iter().map(|name| (*name).to_owned()).collect(),
                work: vec!["n".to_owned()],
                ..Plan::default()
            };
            for n in [20, 10] {
                for policy in policies {
                    for (alpha, x) in [(2, 0.5), (4, 0.5), (2, 1.0)] {
                        let has = |name: &str| {
                            policy.is_none_or(|policy| {
                                policy == "migbsp" || policy == "replay" && name == "x"
                            })
                        };
                        let mut values = vec![Some(json!(n))];
                        values.extend(policy.map(|policy| Some(json!(policy))));
                        values.push(has("alpha").then(|| json!(alpha)));
                        values.push(has("x").then(|| json!(x)));
                        plan.settings.push(values);
                    }
                }
            }
            let expected = (0..plan.settings.len()).map(|one| baseline_one_by_one(&plan, one));
            assert_eq!(
                baselines(&plan, &Values::of_all(&plan)),
                expected.collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn without_policies_the_baseline_is_the_first_setting_that_does_the_same_work() {
        let plan = Plan {
            names: ["alpha", "n"].map(str::to_owned).to_vec(),
            work: vec!["n".to_owned()],
            settings: [(2, 10), (2, 20), (4, 10), (4, 20)]
                .map(|(alpha, n)| vec![Some(json!(alpha)), Some(json!(n))])
                .to_vec(),
            ..Plan::default()
        };
        assert_eq!(baselines(&plan, &Values::of_all(&plan)), [0, 1, 0, 1]);
    }

    #[test]
    fn a_setting_that_failed_is_counted_and_not_judged() {
        let (plan, mut rows) = swept();
        for seed in [1, 2] {
            rows.insert(format!("11{seed}"), Row::failed("no".into(), false));
        }
        let summary = Summary::of(&plan, &rows);
        assert_eq!(
            (summary.settings[2].failed, summary.settings[2].goal),
            (2, None)
        );
        assert_eq!(summary.best, [3]);
    }
}
