//! A load that takes a new value at the start of each period, at the times 0, Δ, 2Δ, ...

use crate::Steps;
use migsim_base::units::Seconds;

/// Returns the steps of a load whose value in the k-th period is `value_in(k)`; the values are drawn in the order of the periods.
pub(super) fn periodic_steps(
    period: Seconds,
    mut value_in: impl FnMut(u64) -> f64 + Send + Sync + 'static,
) -> Box<dyn Steps> {
    // A product is used instead of a sum of periods, so that rounding does not accumulate.
    Box::new((0..).map(move |index| (index as f64 * period.get(), value_in(index))))
}

#[cfg(test)]
pub(super) fn mean_and_variance(
    steps: impl Iterator<Item = (f64, f64)>,
    count: usize,
) -> (f64, f64) {
    let values: Vec<f64> = steps.take(count).map(|step| step.1).collect();
    let mean = values.iter().sum::<f64>() / count as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    (mean, squares.sum::<f64>() / count as f64)
}
