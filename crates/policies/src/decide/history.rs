//! Load histories from a file, evaluated without a simulation: when triggers balance, what the meta-balancer plans, and before
//! which supersteps balancing is best.

use serde::Deserialize;

use super::check::{AllowedRange, CaseCheck};
use crate::trigger::{
    BalancingPlan, BestBalancings, HostTimeSample, ObservedSuperstep, Trigger, best_balancings,
    plan_next_balancing,
};
use migsim_base::units::Seconds;

/// A load history: the average time of each superstep, and how the deviation of each processor from this average grows.
///
/// The time of processor p in superstep t is `max(0, average_t + deviation_p)`. A balancing before t > 0 costs `balancing_cost`
/// and resets the deviations to `residual`, which are also the deviations at the start; otherwise `increments_t` is added to the
/// deviations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadHistory {
    average: Vec<f64>,
    residual: Vec<f64>,
    increments: Vec<Vec<f64>>,
    balancing_cost: f64,
    #[serde(default)]
    processors: Option<usize>,
    #[serde(default)]
    iterations: Option<usize>,
}

/// The maximum and average time of a processor in each superstep since the last balancing, with the data from which the
/// meta-balancer plans the next balancing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredTimes {
    max: Vec<f64>,
    avg: Vec<f64>,
    strategy_cost: f64,
    migration_cost: f64,
    previous_period: i32,
    first_ratio: f64,
}

/// A load of one processor that grows by `growth_per_iteration` in each superstep, until a balancing distributes the total load
/// equally over all processors.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrowingLoad {
    processors: u32,
    iterations: u32,
    balancing_cost: f64,
    initial_total_work: f64,
    #[serde(rename = "growth_per_iteration")]
    step: f64,
}

/// The supersteps at which a trigger balances the load in a load history, and the resulting total time.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerOutcome {
    /// The supersteps, counted from 0, immediately before which the trigger balances the load.
    pub balancing_supersteps: Vec<usize>,
    /// The total time of all supersteps and balancings of the history \[s\].
    pub total_time: f64,
}

impl LoadHistory {
    pub(super) fn check_values(&self, check: &mut CaseCheck<'_>) {
        let steps = self.average.len();
        let processors = self.residual.len();
        if processors == 0 {
            check.add_problem(
                "residual",
                "the case has no processors".into(),
                "write in `residual` one value for each processor",
            );
        }
        check.check_list("average", &self.average, None, AllowedRange::NotNegative);
        check.check_list("residual", &self.residual, None, AllowedRange::Any);
        check.check_length("increments", self.increments.len(), steps);
        for (at, row) in self.increments.iter().enumerate() {
            let key = format!("increments[{at}]");
            check.check_list(&key, row, Some(processors), AllowedRange::Any);
        }
        let cost = self.balancing_cost;
        check.check_value("balancing_cost", cost, AllowedRange::NotNegative);
        for (key, said, found) in [
            ("processors", self.processors, processors),
            ("iterations", self.iterations, steps),
        ] {
            if let Some(said) = said.filter(|said| *said != found) {
                check.add_problem(
                    key,
                    format!("`{key}` is {said}, but the lists of the case have {found} entries"),
                    "leave out this key, or correct its number",
                );
            }
        }
    }

    /// Returns the time of each processor in superstep `step` \[s\]; `deviation` is the deviation of each processor from the
    /// average time \[s\].
    fn processor_times(&self, step: usize, deviation: &[f64]) -> Vec<f64> {
        deviation
            .iter()
            .map(|more| f64::max(0.0, self.average[step] + more))
            .collect()
    }

    /// Returns the supersteps before which balancing minimises the total time of the history, and this time; `None` if the
    /// history is too long for the search.
    ///
    /// No trigger can reach a shorter time. The search takes time proportional to the square of the number of supersteps.
    pub fn best_balancings(&self) -> Option<BestBalancings> {
        let steps = self.average.len() as u64;
        let processors = self.residual.len() as u64;
        if steps.saturating_mul(steps).saturating_mul(processors) > MAX_SEARCH_WORK {
            return None;
        }
        let mut made = 0;
        let mut deviation = self.residual.clone();
        let best = best_balancings(
            self.average.len(),
            |_| self.balancing_cost,
            |since, step| {
                if since == step {
                    (made, deviation) = (since, self.residual.clone());
                } else {
                    debug_assert_eq!(made, since, "supersteps come in order");
                    for (deviation, more) in deviation.iter_mut().zip(&self.increments[step]) {
                        *deviation += more;
                    }
                }
                largest_time(&self.processor_times(step, &deviation))
            },
        );
        Some(best)
    }
}

/// Maximum of (number of supersteps)² · (number of processors) for which the best supersteps to balance are searched.
const MAX_SEARCH_WORK: u64 = 2_000_000_000;

fn largest_time(times: &[f64]) -> f64 {
    times.iter().copied().fold(0.0, f64::max)
}

/// Simulates a trigger on a load history, and returns the supersteps at which the trigger balances and the resulting total time.
pub fn simulate_trigger(history: &LoadHistory, trigger: &mut dyn Trigger) -> TriggerOutcome {
    let mut deviation = history.residual.clone();
    let mut told = TriggerOutcome {
        balancing_supersteps: Vec::new(),
        total_time: 0.0,
    };
    let mut last: Option<ObservedSuperstep> = None;
    for step in 0..history.average.len() {
        let is_due = last.is_some_and(|observed| trigger.is_due(&observed));
        if is_due {
            told.balancing_supersteps.push(step);
            trigger.on_outcome(1); // a balancing is taken to move somebody
            deviation.clone_from(&history.residual);
            told.total_time += history.balancing_cost;
        } else if step > 0 {
            for (deviation, more) in deviation.iter_mut().zip(&history.increments[step]) {
                *deviation += more;
            }
        }
        let times = history.processor_times(step, &deviation);
        last = Some(ObservedSuperstep {
            superstep: step,
            max_host_time: Seconds::of(largest_time(&times)),
            mean_host_time: Seconds::of(times.iter().sum::<f64>() / times.len() as f64),
            min_host_time: Seconds::of(times.iter().copied().fold(f64::INFINITY, f64::min)),
            balancing_cost: Seconds::of(history.balancing_cost),
            is_first_after_balancing: is_due,
        });
        told.total_time += largest_time(&times);
    }
    told
}

impl MeasuredTimes {
    pub(super) fn check_values(&self, check: &mut CaseCheck<'_>) {
        let count = self.max.len();
        check.check_list("max", &self.max, None, AllowedRange::NotNegative);
        check.check_list("avg", &self.avg, Some(count), AllowedRange::NotNegative);
        for (key, value) in [
            ("strategy_cost", self.strategy_cost),
            ("migration_cost", self.migration_cost),
            ("first_ratio", self.first_ratio),
        ] {
            check.check_value(key, value, AllowedRange::NotNegative);
        }
    }

    /// Returns the superstep at which the meta-balancer plans the next balancing, with the data of this plan; `None` if there are
    /// too few measured supersteps.
    pub fn plan_next_balancing(&self) -> Option<BalancingPlan> {
        let samples: Vec<HostTimeSample> = self
            .max
            .iter()
            .zip(&self.avg)
            .map(|(&max, &avg)| HostTimeSample {
                max_host_time: Seconds::of(max),
                mean_host_time: Seconds::of(avg),
            })
            .collect();
        let price = Seconds::of(self.strategy_cost + self.migration_cost);
        plan_next_balancing(&samples, price, self.previous_period, self.first_ratio)
    }
}

/// Maximum number of supersteps of a growing load for which the best supersteps to balance are searched. Time and memory of the
/// search are proportional to the square of this number.
const MAX_GROWTH_STEPS: u32 = 20_000;

impl GrowingLoad {
    pub(super) fn check_values(&self, check: &mut CaseCheck<'_>) {
        if self.processors == 0 {
            check.add_problem(
                "processors",
                "the case has no processors".into(),
                "set `processors` to at least 1",
            );
        }
        if self.iterations > MAX_GROWTH_STEPS {
            let iterations = self.iterations;
            let message = format!("`iterations` is {iterations}, more than migsim searches");
            check.add_problem("iterations", message, "set it to at most 20000");
        }
        for (key, value) in [
            ("balancing_cost", self.balancing_cost),
            ("initial_total_work", self.initial_total_work),
            ("growth_per_iteration", self.step),
        ] {
            check.check_value(key, value, AllowedRange::NotNegative);
        }
    }
}

/// Returns the supersteps before which a growing load should be balanced so that the total time is smallest, and this time.
pub fn best_balancings_of_growth(growth: &GrowingLoad) -> BestBalancings {
    let processors = f64::from(growth.processors);
    let average =
        |step: usize| (growth.initial_total_work + growth.step * step as f64) / processors;
    let duration = |made: usize, step: usize| average(made) + growth.step * (step - made) as f64;
    best_balancings(
        growth.iterations as usize,
        |_| growth.balancing_cost,
        duration,
    )
}
