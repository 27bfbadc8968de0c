//! The load that a strategy uses: the messages since the last rescheduling call, and a forecast of the work of each process.
//!
//! ```text
//! w_i(t)   work of process i in superstep t as the policy sees it; n supersteps since the last call, or since the start if there was none
//! mean     Σ_t w_i(t) / n
//! last     w_i of the last superstep
//! ewma     x_i := (w_i(t) + x_i) / 2 in each superstep, over calls; x_i = w_i in the first one
//! linear   the least-squares line through the n values, one superstep ahead, at least 0; with n = 1 the last value
//! oracle   w_i of the next superstep, which no runtime knows: the worth of a perfect forecast; after the last superstep the last value
//! ```
//! Messages are always means per superstep since the last call. One superstep does not represent an application whose work changes from one
//! superstep to the next. In LU, for example, a process without work in one superstep has work in others.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::View;
use super::strategy::Row;
use migsim_base::units::{Bytes, Instructions};

/// The forecast of the work of a process in future supersteps, which strategies use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forecast {
    /// The mean of the supersteps since the last call, as runtimes such as Charm++ measure it.
    #[default]
    Mean,
    /// The value of the last superstep.
    Last,
    /// The exponentially weighted moving average with the weight 1/2, over calls.
    Ewma,
    /// The least-squares line through the supersteps since the last call, one superstep ahead.
    Linear,
    /// The work that the next superstep really has, without errors, whatever the view shows.
    Oracle,
}

impl Forecast {
    /// All forecasts.
    pub const ALL: [Self; 5] = [
        Self::Mean,
        Self::Last,
        Self::Ewma,
        Self::Linear,
        Self::Oracle,
    ];

    /// Returns its name in files and as a part of a policy's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Last => "last",
            Self::Ewma => "ewma",
            Self::Linear => "linear",
            Self::Oracle => "oracle",
        }
    }

    /// Returns the forecast of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// The measures since the last call.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    forecast: Forecast,
    supersteps: usize,
    /// The instructions of each process, summed.
    work: Vec<f64>,
    /// `linear`: these sums weighted by the number of the superstep, from 0. `ewma`: the average, over calls. `last`: the instructions of
    /// the last superstep. `oracle`: as `last`, and the instructions of the next superstep once the window is closed.
    state: Vec<f64>,
    /// Messages and bytes by sender and receiver, summed.
    messages: BTreeMap<(usize, usize), (f64, f64)>,
}

impl Window {
    /// Creates a window with this forecast.
    pub(super) fn of(forecast: Forecast) -> Self {
        Self {
            forecast,
            ..Self::default()
        }
    }

    /// Adds the superstep that has just ended; its messages only if `needs_communication`.
    pub(super) fn note(&mut self, view: &View<'_>, needs_communication: bool) {
        let number = self.supersteps as f64;
        self.supersteps += 1;
        let is_first = self.state.len() != view.processes();
        self.work.resize(view.processes(), 0.0);
        self.state.resize(view.processes(), 0.0);
        let states = self.state.iter_mut().zip(&mut self.work);
        for ((state, sum), work) in states.zip(&view.measures.work) {
            let work = work.get();
            *sum += work;
            *state = match self.forecast {
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
            let (count, bytes) = self.messages.entry(pair).or_default();
            *count += 1.0;
            *bytes += message.size.get();
        }
    }

    /// Whether no superstep has ended since the last call.
    pub(super) fn is_empty(&self) -> bool {
        self.supersteps == 0
    }

    /// Returns the measures and restarts after a call; an average over calls continues. The oracle gets the work of the next superstep.
    pub(super) fn close(&mut self, view: &View<'_>) -> Self {
        let next = Self::of(self.forecast);
        let mut closed = std::mem::replace(self, next);
        match self.forecast {
            Forecast::Ewma => self.state.clone_from(&closed.state),
            Forecast::Oracle => {
                let next = view.next_work();
                let next = next.map(|works| works.iter().map(|work| work.get()).collect());
                closed.state = next.unwrap_or(closed.state);
            }
            Forecast::Mean | Forecast::Last | Forecast::Linear => {}
        }
        closed
    }

    /// Returns the forecast of the work of a process in a superstep.
    pub(super) fn work(&self, process: usize) -> Instructions {
        let count = self.supersteps as f64;
        let mean = self.work[process] / count;
        Instructions::of(match self.forecast {
            Forecast::Last | Forecast::Ewma | Forecast::Oracle => self.state[process],
            // The next superstep is (n + 1) / 2 after t̄ = (n - 1) / 2.
            Forecast::Linear => (mean + self.slope(process) * f64::midpoint(count, 1.0)).max(0.0),
            Forecast::Mean => mean,
        })
    }

    /// Computes the slope of the line of `linear` \[instructions per superstep\]; zero before the second superstep.
    pub(super) fn slope(&self, process: usize) -> f64 {
        if self.supersteps < 2 {
            return 0.0;
        }
        let count = self.supersteps as f64;
        // Σ (t - t̄)² = n (n² - 1) / 12
        let spread = count * (count * count - 1.0) / 12.0;
        (self.state[process] - (count - 1.0) / 2.0 * self.work[process]) / spread
    }

    /// Returns the mean messages of a superstep between the processes `movable`, numbered by their index in it, by sender and receiver.
    pub(super) fn rows(&self, movable: &[usize]) -> Vec<Row> {
        let count = self.supersteps as f64;
        let place = |process: usize| movable.binary_search(&process).ok();
        let row = |(&(from, to), &(messages, bytes)): (&(usize, usize), &(f64, f64))| {
            Some(Row {
                from: place(from)?,
                to: place(to)?,
                messages: messages / count,
                bytes: Bytes::of(bytes / count),
            })
        };
        self.messages.iter().filter_map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measures, testing};
    use migsim_base::units::{HostId, ProcessId};
    use migsim_bsp::{Message, Plan, Workload};

    #[test]
    fn work_and_messages_are_means_of_the_supersteps_that_were_noted() {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let placement = [0, 1].map(HostId::from_index);
        let mut window = Window::default();
        assert!(window.is_empty());
        for (work, bytes) in [([4.0, 0.0], 10.0), ([0.0, 4.0], 30.0)] {
            let mut measures = Measures::default();
            measures.clear(2);
            measures.work = work.map(Instructions::of).to_vec();
            let messages = [Message {
                from: ProcessId(0),
                to: ProcessId(1),
                size: Bytes::of(bytes),
            }];
            let view = View {
                messages: &messages,
                ..testing::view(&platform, &placement, &measures)
            };
            window.note(&view, true);
        }
        // (4 + 0) / 2 and (0 + 4) / 2: neither process is without work.
        assert_eq!([0, 1].map(|process| window.work(process).get()), [2.0, 2.0]);
        let [row] = window.rows(&[0, 1])[..] else {
            panic!("one pair of processes")
        };
        assert_eq!((row.messages, row.bytes.get()), (1.0, 20.0));
        // Processes that may not move are not in the rows.
        assert!(window.rows(&[1]).is_empty());
    }

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
        let mut window = Window::of(forecast);
        let mut measures = Measures::default();
        measures.clear(1);
        for superstep in 0..seen {
            measures.work = vec![Instructions::of(works[superstep])];
            let view = View {
                superstep,
                supersteps: works.len(),
                workload: Some(&Listed(works)),
                ..testing::view(&platform, &placement, &measures)
            };
            window.note(&view, false);
            if superstep + 1 == seen {
                return window.close(&view).work(0).get();
            }
            if superstep + 1 == before {
                window.close(&view);
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
            let kind = Forecast::named(name).unwrap();
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
        assert_eq!(Forecast::named("tarot"), None);
    }
}
