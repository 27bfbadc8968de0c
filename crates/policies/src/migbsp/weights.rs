//! Adjusted weights of the terms of PM, the potential of migration, which the Lattice Boltzmann paper announces as future work
//! (section 5: "self-adjusting of the weights of each considered metric").
//!
//! The paper gives no rule; the rule below is migsim's own, and no published number exists for comparison.
//!
//! ```text
//! PM(i,j)  = w_comp · Comp(i,j) + w_comm · Comm(i,j) - w_mem · Mem(i,j),     all 1 at the start
//! share    = Σ CTP / (Σ CTP + Σ BTP)                                         over all processes, at a call
//! w_comp  := w_comp/2 + share,   w_comm := 2 - w_comp                        with the ageing of forecasts
//! w_mem   := w_mem/2 if the moves of the last call were followed by shorter supersteps, 2 · w_mem if not;  from 1/4 to 4
//! ```
//! CTP and BTP are the predicted times of computation and communication. So the terms Comp and Comm, which stand for the gain of
//! a move, are weighted by the time that the application spends on computation and communication, and their weights sum to 2. The
//! weight of Mem, which stands for the cost of a move, decreases after moves that shortened the supersteps, and increases after
//! moves that did not. The duration of a superstep is the longest time of a process, including computation and communication.

use serde_json::{Value, json};

use super::{
    config::{MigBspConfig, WeightRule},
    forecast::Forecasts,
};
use crate::View;

/// Minimum and maximum of the weight of Mem, the memory term of the potential of migration.
const MEMORY_WEIGHT_RANGE: (f64, f64) = (0.25, 4.0);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct PotentialWeights {
    pub(super) computation: f64,
    pub(super) communication: f64,
    pub(super) memory: f64,
    /// The sum of the durations of the supersteps since the last call \[s\].
    duration_sum: f64,
    /// The number of supersteps since the last call.
    superstep_count: u64,
    /// Mean duration of a superstep in the interval before the last call \[s\]; `None` before the first call.
    previous_mean_duration: Option<f64>,
    has_last_call_moved: bool,
}

impl Default for PotentialWeights {
    fn default() -> Self {
        Self {
            computation: 1.0,
            communication: 1.0,
            memory: 1.0,
            duration_sum: 0.0,
            superstep_count: 0,
            previous_mean_duration: None,
            has_last_call_moved: false,
        }
    }
}

impl PotentialWeights {
    /// Adds the duration of the superstep that has just ended, which is the longest time of a process. The function has no effect
    /// if the weights are fixed.
    pub(super) fn observe(&mut self, config: &MigBspConfig, view: &View<'_>) {
        if config.weights == WeightRule::Fixed {
            return;
        }
        let measures = view.measurements;
        let times = (0..view.processes()).map(|process| {
            measures.computation_times[process].get() + measures.communication_times[process].get()
        });
        self.duration_sum += times.fold(0.0, f64::max);
        self.superstep_count += 1;
    }

    pub(super) fn adjust(&mut self, config: &MigBspConfig, forecasts: &Forecasts, view: &View<'_>) {
        if config.weights == WeightRule::Fixed {
            return;
        }
        let (mut computation, mut communication) = (0.0, 0.0);
        for process in 0..view.processes() {
            computation += forecasts.predicted_computation_time(process).get();
            for cluster in 0..view.platform.clusters.len() {
                communication += forecasts
                    .predicted_exchange(process, cluster)
                    .communication_time;
            }
        }
        self.adjust_gain_weights(computation, communication);
        self.adjust_memory_weight();
    }

    /// Adjusts the weights of Comp and Comm by the shares of computation and communication; the arguments are the predicted times
    /// of all processes together \[s\].
    fn adjust_gain_weights(&mut self, computation: f64, communication: f64) {
        let all = computation + communication;
        if all > 0.0 {
            self.computation = self.computation / 2.0 + computation / all;
            self.communication = 2.0 - self.computation;
        }
    }

    /// Adjusts the weight of Mem after a call that moved processes: it decreases if the following supersteps were shorter than
    /// before, and increases if not. The measurement of the next interval begins.
    fn adjust_memory_weight(&mut self) {
        let mean = self.duration_sum / self.superstep_count.max(1) as f64;
        if let (Some(before), true) = (self.previous_mean_duration, self.has_last_call_moved) {
            let factor = if mean < before { 0.5 } else { 2.0 };
            self.memory =
                (self.memory * factor).clamp(MEMORY_WEIGHT_RANGE.0, MEMORY_WEIGHT_RANGE.1);
        }
        self.previous_mean_duration = Some(mean);
        (self.duration_sum, self.superstep_count) = (0.0, 0);
    }

    pub(super) fn record_outcome(&mut self, moved: usize) {
        self.has_last_call_moved = moved > 0;
    }

    /// Returns the three weights as a JSON object for the decision record of a call, or `None` if they are fixed.
    pub(super) fn record(&self, config: &MigBspConfig) -> Option<Value> {
        (config.weights == WeightRule::Adaptive).then(|| {
            json!({
                "computation": self.computation,
                "communication": self.communication,
                "memory": self.memory,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds an interval of two supersteps that last `seconds` each.
    fn interval(weights: &mut PotentialWeights, seconds: f64) {
        (weights.duration_sum, weights.superstep_count) = (2.0 * seconds, 2);
        weights.adjust_memory_weight();
    }

    #[test]
    fn the_weight_of_memory_falls_while_moves_pay_and_rises_after_moves_that_do_not() {
        let mut weights = PotentialWeights::default();
        interval(&mut weights, 4.0); // the first interval: nothing to compare
        weights.record_outcome(1);
        interval(&mut weights, 3.0);
        assert_eq!(weights.memory, 0.5);
        weights.record_outcome(0);
        interval(&mut weights, 9.0); // longer, but nothing moved
        assert_eq!(weights.memory, 0.5);
        weights.record_outcome(2);
        interval(&mut weights, 9.0); // not shorter
        assert_eq!(weights.memory, 1.0);
        for _ in 0..4 {
            weights.record_outcome(1);
            interval(&mut weights, 9.0);
        }
        assert_eq!(weights.memory, 4.0); // no larger
    }
}
