//! The load that a strategy uses: the messages since the last rescheduling call, and a forecast of the work of each process.
//!
//! ```text
//! w_i(t)   work of process i in superstep t as the policy observes it; n supersteps since the last call, or since the start if there was none
//! mean     Σ_t w_i(t) / n
//! last     w_i of the last superstep
//! ewma     x_i := (w_i(t) + x_i) / 2 in each superstep, across calls; x_i = w_i in the first observed superstep
//! linear   the least-squares line through the n values, one superstep ahead, at least 0; with n = 1 the last value
//! oracle   w_i of the next superstep, which no runtime system knows: the value of a perfect forecast; after the last superstep the last value
//! ```
//! The numbers of messages and bytes are always means per superstep since the last call. A single superstep does not represent an
//! application whose work changes from one superstep to the next. In LU, for example, a process without work in one superstep has
//! work in other supersteps.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{View, strategy::PairMessages};
use migsim_base::units::{Bytes, Instructions};

/// The method by which the work of each process in the next superstep is predicted for strategies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forecast {
    /// The mean work in the supersteps since the last call, as runtime systems such as Charm++ measure it.
    #[default]
    Mean,
    /// The work in the last superstep.
    Last,
    /// The exponentially weighted moving average of the work, in which the last superstep has the weight 1/2; it continues across
    /// calls.
    Ewma,
    /// The value one superstep ahead of the least-squares line through the work in the supersteps since the last call.
    Linear,
    /// The work that the process really has in the next superstep, without measurement errors, even if no runtime system could
    /// know it.
    Oracle,
}

impl Forecast {
    /// All methods by which work can be predicted.
    pub const ALL: [Self; 5] = [
        Self::Mean,
        Self::Last,
        Self::Ewma,
        Self::Linear,
        Self::Oracle,
    ];

    /// Returns the name of the method in files and as a part of a policy's name, such as `ewma`.
    pub const fn name(self) -> &'static str {
        ["mean", "last", "ewma", "linear", "oracle"][self as usize]
    }

    /// Returns the method with this name, or `None` if no method has this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// The work and messages of the processes, measured since the last rescheduling call, from which strategies decide.
#[derive(Clone, Debug, Default)]
pub(super) struct LoadWindow {
    forecast_method: Forecast,
    superstep_count: usize,
    /// The instructions of each process, summed over the supersteps since the last call.
    work_sums: Vec<f64>,
    /// A further value for each process, whose meaning depends on the method of prediction.
    ///
    /// `linear`: the instructions of each superstep times the number of the superstep since the last call (counted from 0),
    /// summed. `ewma`: the moving average of the instructions, across calls. `last`: the instructions of the last superstep.
    /// `oracle`: the instructions of the last superstep, replaced by the instructions of the next superstep when the measures are
    /// taken at a call. `mean`: not used.
    forecast_state: Vec<f64>,
    /// The number of messages and their bytes for each pair of sender and receiver, summed over the supersteps since the last
    /// call.
    message_and_byte_sums: BTreeMap<(usize, usize), (f64, f64)>,
}

impl LoadWindow {
    pub(super) fn with_forecast(forecast: Forecast) -> Self {
        Self {
            forecast_method: forecast,
            ..Self::default()
        }
    }

    /// Adds the work of the superstep that has just ended and, if `needs_communication`, its messages.
    pub(super) fn observe(&mut self, view: &View<'_>, needs_communication: bool) {
        let number = self.superstep_count as f64;
        self.superstep_count += 1;
        let is_first = self.forecast_state.len() != view.processes();
        self.work_sums.resize(view.processes(), 0.0);
        self.forecast_state.resize(view.processes(), 0.0);
        let states = self.forecast_state.iter_mut().zip(&mut self.work_sums);
        for ((state, sum), work) in states.zip(&view.measurements.work) {
            let work = work.get();
            *sum += work;
            *state = match self.forecast_method {
                Forecast::Mean => 0.0,
                Forecast::Ewma if !is_first => f64::midpoint(work, *state),
                Forecast::Last | Forecast::Ewma | Forecast::Oracle => work,
                Forecast::Linear => *state + number * work,
            };
        }
        if !needs_communication {
            return;
        }
        for message in view.messages {
            let pair = (message.from.index(), message.to.index());
            let (count, bytes) = self.message_and_byte_sums.entry(pair).or_default();
            *count += 1.0;
            *bytes += message.size.get();
        }
    }

    /// Returns whether no superstep has ended since the last call.
    pub(super) fn is_empty(&self) -> bool {
        self.superstep_count == 0
    }

    /// Returns the measures since the last call, and restarts the measurement. A moving average (`ewma`) continues.
    pub(super) fn restart(&mut self) -> Self {
        let next = Self::with_forecast(self.forecast_method);
        let closed = std::mem::replace(self, next);
        if self.forecast_method == Forecast::Ewma {
            self.forecast_state.clone_from(&closed.forecast_state);
        }
        closed
    }

    /// Returns the measures since the last call, and restarts the measurement. For `oracle` the measures contain the work of the
    /// next superstep.
    pub(super) fn take_measures(&mut self, view: &View<'_>) -> Self {
        let mut closed = self.restart();
        if self.forecast_method == Forecast::Oracle
            && let Some(works) = view.next_work()
        {
            closed.forecast_state = works.iter().map(|work| work.get()).collect();
        }
        closed
    }

    /// Returns the predicted work of a process in the next superstep.
    pub(super) fn predicted_work(&self, process: usize) -> Instructions {
        let count = self.superstep_count as f64;
        let mean = self.work_sums[process] / count;
        Instructions::of(match self.forecast_method {
            Forecast::Last | Forecast::Ewma | Forecast::Oracle => self.forecast_state[process],
            // The next superstep is (n + 1) / 2 after t̄ = (n - 1) / 2.
            Forecast::Linear => {
                (mean + self.work_slope(process) * f64::midpoint(count, 1.0)).max(0.0)
            }
            Forecast::Mean => mean,
        })
    }

    /// Returns the slope of the least-squares line through the work of a process \[instructions per superstep\]; 0 if fewer than
    /// two supersteps were measured. It is valid only for the forecast `linear`.
    pub(super) fn work_slope(&self, process: usize) -> f64 {
        if self.superstep_count < 2 {
            return 0.0;
        }
        let count = self.superstep_count as f64;
        // Σ (t - t̄)² = n (n² - 1) / 12
        let spread = count * (count * count - 1.0) / 12.0;
        (self.forecast_state[process] - (count - 1.0) / 2.0 * self.work_sums[process]) / spread
    }

    /// Returns the mean number of messages and bytes per superstep for each pair of processes in `movable`, sorted by sender and
    /// receiver.
    ///
    /// Processes in the result are numbered by their position in `movable`.
    pub(super) fn mean_messages(&self, movable: &[usize]) -> Vec<PairMessages> {
        let count = self.superstep_count as f64;
        let place = |process: usize| movable.binary_search(&process).ok();
        let row = |(&(from, to), &(messages, bytes)): (&(usize, usize), &(f64, f64))| {
            Some(PairMessages {
                from: place(from)?,
                to: place(to)?,
                message_count: messages / count,
                bytes: Bytes::of(bytes / count),
            })
        };
        self.message_and_byte_sums.iter().filter_map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measures, testing};
    use migsim_base::units::{HostId, ProcessId};
    use migsim_bsp::{Plan, Workload};

    /// A process with these works.
    #[derive(Debug)]
    struct Listed<'a>(&'a [f64]);

    impl Workload for Listed<'_> {
        fn processes(&self) -> usize {
            1
        }

        fn supersteps(&self) -> usize {
            self.0.len()
        }

        fn fill(&self, superstep: usize, plan: &mut Plan) {
            plan.work[0] = Instructions::of(self.0[superstep]);
        }

        fn memory(&self, _process: ProcessId) -> Bytes {
            Bytes::default()
        }
    }

    /// Returns the forecast of the only process after the first `seen` supersteps of these works; a call follows the first `before` of them.
    fn forecast(forecast: Forecast, works: &[f64], seen: usize, before: usize) -> f64 {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let placement = [HostId::from_index(0)];
        let mut window = LoadWindow::with_forecast(forecast);
        let mut measures = Measures::default();
        measures.clear(1);
        for superstep in 0..seen {
            measures.work = vec![Instructions::of(works[superstep])];
            let view = View {
                superstep,
                total_supersteps: works.len(),
                workload: Some(&Listed(works)),
                ..testing::test_view(&platform, &placement, &measures)
            };
            window.observe(&view, false);
            if superstep + 1 == seen {
                return window.take_measures(&view).predicted_work(0).get();
            }
            if superstep + 1 == before {
                window.take_measures(&view);
                assert!(window.is_empty());
            }
        }
        unreachable!("a superstep was seen")
    }

    #[test]
    fn each_forecast_is_that_of_its_formula() {
        let works = [8.0, 4.0, 6.0, 9.0];
        for (name, expected, after_a_call) in [
            // (8 + 4 + 6) / 3; with a call after the first superstep (4 + 6) / 2.
            ("mean", 6.0, 5.0),
            ("last", 6.0, 6.0),
            // 8; (4 + 8) / 2 = 6; (6 + 6) / 2 = 6, with or without the call.
            ("ewma", 6.0, 6.0),
            // Slope (0·8 + 1·4 + 2·6 - 1·18) / 2 = -1: 6 - 1·2. Through 4 and 6: 8.
            ("linear", 4.0, 8.0),
            ("oracle", 9.0, 9.0),
        ] {
            let kind = Forecast::from_name(name).unwrap();
            assert_eq!(kind.name(), name);
            assert_eq!(forecast(kind, &works, 3, 0), expected, "{name}");
            assert_eq!(forecast(kind, &works, 3, 1), after_a_call, "{name}");
            assert_eq!(forecast(kind, &[7.0; 2], 1, 0), 7.0, "{name}");
        }
        // A line that falls below zero: 4, 1, then -2.
        assert_eq!(forecast(Forecast::Linear, &[4.0, 1.0], 2, 0), 0.0);
        assert_eq!(forecast(Forecast::Ewma, &[8.0, 0.0, 0.0], 3, 0), 2.0);
        // Work that changes is known exactly; after the last superstep nothing follows.
        for seen in 1..=3 {
            assert_eq!(forecast(Forecast::Oracle, &works, seen, 1), works[seen]);
        }
        assert_eq!(forecast(Forecast::Oracle, &works, 4, 0), 9.0);
        assert_eq!(Forecast::from_name("tarot"), None);
    }
}
