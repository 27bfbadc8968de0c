//! Converts a sequence of values into a load that takes the next value at the start of each period, at the times 0, Δ, 2Δ, ...

/// The steps of a load that takes the next value of an endless iterator at the start of each period Δ \[s\].
#[derive(Clone, Debug)]
pub(super) struct PeriodicSteps<V> {
    /// Duration of each value, Δ \[s\].
    period: f64,
    next_value_index: u64,
    values: V,
}

impl<V: Iterator<Item = f64>> PeriodicSteps<V> {
    pub(super) fn new(period: f64, values: V) -> Self {
        Self {
            period,
            next_value_index: 0,
            values,
        }
    }
}

impl<V: Iterator<Item = f64>> Iterator for PeriodicSteps<V> {
    type Item = (f64, f64);

    fn next(&mut self) -> Option<(f64, f64)> {
        // A product is used instead of a sum of periods, so that rounding does not accumulate.
        let date = self.next_value_index as f64 * self.period;
        self.next_value_index += 1;
        self.values.next().map(|value| (date, value))
    }
}

/// Returns the mean and the variance of the first `count` values of a load whose steps are equally long.
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
