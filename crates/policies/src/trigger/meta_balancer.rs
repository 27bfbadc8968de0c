//! Triggers balancings with a period that is planned from lines fitted to the maximum and mean host times, as the `MetaBalancer`
//! of Charm++ does (Menon et al. 2012, doi 10.1109/CLUSTER.2012.61).
//!
//! A plan needs at least five samples since the last balancing; a sample has the maximum (max) and the mean (avg) of the host
//! times in one superstep. C is the cost of the last balancing. The ratio ρ, the imbalance that the balancer can reach, is
//! max/avg of the first superstep after the balancing. Lines through the means of the two halves of the samples, with the average
//! scaled by ρ, give slopes m, a and intercepts M, A; the period x solves `(m − a)/2·x² + (M − A)·x = C`. The solution is
//! rejected if a falling line reaches 0 before x, or if the lines cross before x. In this case `x = C/(mean max − ρ·mean avg)`,
//! and if this is negative the previous period is kept. A plan is used only while the utilisation avg/max is below 90 %. The
//! early trigger of the paper is disabled in the program, and therefore not included here.
//!
//! Before the first balancing ρ is unknown: if the first superstep were taken as the imbalance that the balancer can reach, a
//! constant imbalance would never be balanced. Therefore a run performs a first balancing for this trigger, after the first
//! superstep with computation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Criterion, ObservedSuperstep, Reason, Trigger, TriggerOptions, trigger_of};
use migsim_base::{error::Result, units::Seconds, words::format_count};

/// The options of the trigger `meta-balancer`, which plans the period of balancings as the `MetaBalancer` of Charm++.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MetaBalancerOptions {}

/// The utilisation (mean divided by maximum of the host times in the last superstep) at or above which no balancing is planned.
const MAX_UTILISATION: f64 = 0.9;

impl TriggerOptions for MetaBalancerOptions {
    fn trigger(self) -> Result<Box<dyn Trigger>> {
        Ok(trigger_of(MetaBalancer {
            samples: Vec::new(),
            balancing_period: NO_PERIOD,
        }))
    }
}

/// The period before the first plan, in supersteps, as in the original program: so long that there is practically no balancing.
const NO_PERIOD: i32 = i32::MAX;

/// Number of samples (supersteps since the last balancing) up to which there is no plan.
const MAX_SAMPLES_WITHOUT_PLAN: usize = 4;

/// The maximum and the mean of the host times in one superstep, from which the meta-balancer plans the next balancing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostTimeSample {
    /// Maximum time of a host in the superstep, including background load.
    pub max_host_time: Seconds,
    /// Mean time of the hosts in the superstep.
    pub mean_host_time: Seconds,
}

/// The meta-balancer's plan for the next balancing: when it takes place, and the imbalance predicted for that time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BalancingPlan {
    /// Number of supersteps from the last balancing to the planned balancing.
    pub period: i32,
    /// The predicted imbalance at the planned balancing: the maximum host time divided by the mean host time, which is scaled by
    /// the imbalance that the balancer can reach.
    pub predicted_imbalance: f64,
}

/// Returns the plan for the next balancing that follows from the samples since the last balancing, or `None` if there are fewer
/// than five samples.
///
/// `price` is the cost of a balancing including its migrations, `previous` the present period in supersteps, and `first_ratio`
/// max/avg of the first superstep after the last balancing.
pub fn plan_next_balancing(
    samples: &[HostTimeSample],
    price: Seconds,
    previous: i32,
    first_ratio: f64,
) -> Option<BalancingPlan> {
    if samples.len() <= MAX_SAMPLES_WITHOUT_PLAN {
        return None;
    }
    let max_of: fn(&HostTimeSample) -> f64 = |sample| sample.max_host_time.get();
    let mean_of: fn(&HostTimeSample) -> f64 = |sample| sample.mean_host_time.get();
    let sum = |value| {
        samples
            .iter()
            .map(value)
            .fold(0.0, |sum, value| sum + value)
    };
    let max = sum(max_of);
    let avg = sum(mean_of);
    let lines = (max / avg > first_ratio).then(|| {
        let max = FittedLine::new(samples, max_of, 1.0);
        let mean = FittedLine::new(samples, mean_of, first_ratio);
        plan_with_lines(max, mean, price.get())
    });
    lines.flatten().or_else(|| {
        let count = samples.len() as f64;
        let scaled = samples
            .iter()
            .map(|sample| mean_of(sample) * first_ratio)
            .fold(0.0, |sum, value| sum + value);
        let max = max / count;
        let avg = scaled / count;
        let period = truncate_to_i32(price.get() / (max - avg));
        Some(BalancingPlan {
            period: if period < 0 { previous } else { period },
            predicted_imbalance: max / avg,
        })
    })
}

/// Truncates a number to an integer of 32 bits. A number out of range is converted to the smallest integer, as the processors of
/// the original program do.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked before"
)]
fn truncate_to_i32(value: f64) -> i32 {
    if value > -2_147_483_649.0 && value < 2_147_483_648.0 {
        value as i32
    } else {
        i32::MIN
    }
}

/// A line fitted to times of hosts \[s\], over supersteps counted from 0.
#[derive(Clone, Copy, Debug)]
struct FittedLine {
    slope: f64,
    intercept: f64,
}

impl FittedLine {
    fn new(samples: &[HostTimeSample], value: fn(&HostTimeSample) -> f64, scale: f64) -> Self {
        let count = samples.len() as f64;
        let mean = |half: &[HostTimeSample]| {
            let sum = half.iter().map(value).fold(0.0, |sum, value| sum + value);
            sum * scale / half.len() as f64
        };
        let (first, second) = samples.split_at(samples.len() / 2);
        let first = mean(first);
        let second = mean(second);
        let slope = 2.0 * (second - first) / count;
        let intercept = first - slope * count / 4.0;
        Self { slope, intercept }
    }

    fn value_at(self, superstep: f64) -> f64 {
        self.slope * superstep + self.intercept
    }

    fn reaches_0_before(self, superstep: f64) -> bool {
        self.slope < 0.0 && superstep > -self.intercept / self.slope
    }
}

/// Returns the plan with the period after which the difference between the lines of the maximum and the scaled mean, summed over
/// supersteps, reaches the cost `price` of a balancing. `None` if a line reaches 0 or the lines cross earlier.
fn plan_with_lines(max: FittedLine, mean: FittedLine, price: f64) -> Option<BalancingPlan> {
    let square = (max.slope - mean.slope) / 2.0;
    let linear = max.intercept - mean.intercept;
    let period = if square == 0.0 {
        truncate_to_i32(price / linear)
    } else {
        let root = linear * linear + 4.0 * square * price;
        if root < 0.0 {
            return None;
        }
        truncate_to_i32((-linear + root.sqrt()) / (2.0 * square))
    };
    let end = f64::from(period);
    let crossing = truncate_to_i32(linear / (mean.slope - max.slope));
    let is_refused = period < 0
        || max.reaches_0_before(end)
        || mean.reaches_0_before(end)
        || crossing > 0 && period > crossing;
    (!is_refused).then(|| BalancingPlan {
        period,
        predicted_imbalance: max.value_at(end) / mean.value_at(end),
    })
}

/// The state of the trigger `meta-balancer`: the samples since the last balancing, and the present period.
#[derive(Clone, Debug)]
struct MetaBalancer {
    samples: Vec<HostTimeSample>,
    balancing_period: i32,
}

impl Criterion for MetaBalancer {
    fn reason_if_due(&mut self, observed: &ObservedSuperstep) -> Option<Reason> {
        self.samples.push(HostTimeSample {
            max_host_time: observed.max_host_time,
            mean_host_time: observed.mean_host_time,
        });
        let since = i32::try_from(self.samples.len()).unwrap_or(i32::MAX);
        let ratio =
            |sample: &HostTimeSample| sample.mean_host_time.get() / sample.max_host_time.get();
        let utilisation = self.samples.last().map_or(1.0, ratio);
        if utilisation < MAX_UTILISATION {
            let first = 1.0 / ratio(&self.samples[0]);
            let cost = observed.balancing_cost;
            let plan = plan_next_balancing(&self.samples, cost, self.balancing_period, first);
            // A plan whose period has passed already is not used.
            if let Some(plan) = plan.filter(|plan| plan.period >= since) {
                self.balancing_period = plan.period;
            }
        }
        if since < self.balancing_period {
            return None;
        }
        let period = format_count(self.balancing_period, "superstep");
        self.restart_measurement();
        let reason =
            format!("its plan from the lines through the times of hosts had a period of {period}");
        Some(reason.into())
    }

    fn prepare_first_balancing(&mut self) -> bool {
        self.restart_measurement();
        true
    }
}

impl MetaBalancer {
    fn restart_measurement(&mut self) {
        self.samples.clear();
        self.balancing_period = NO_PERIOD;
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{is_due_after_each, superstep_with_times},
        *,
    };

    #[test]
    fn a_constant_imbalance_is_balanced_when_it_has_paid() {
        // Perfect at first, then 1 s lost per superstep: the lines use 7 samples or more.
        let mut steps = vec![superstep_with_times(1.0, 1.0, 8.0)];
        steps.extend([superstep_with_times(2.0, 1.0, 8.0); 20]);
        let found = is_due_after_each(MetaBalancerOptions::default(), &steps);
        let yes = found.iter().position(|is_due| *is_due);
        assert!(yes.is_some_and(|at| (5..15).contains(&at)), "{yes:?}");
        let busy = [superstep_with_times(1.05, 1.0, 0.0); 20];
        assert!(
            is_due_after_each(MetaBalancerOptions::default(), &busy)
                .iter()
                .all(|is_due| !is_due)
        );
    }
}
