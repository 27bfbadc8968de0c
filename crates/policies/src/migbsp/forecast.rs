//! Forecasts of the work and communication of each process, in which old values lose half their weight in each superstep, and the
//! regularity of the process.
//!
//! PI is the predicted number of instructions of a superstep, CTP the predicted computation time and BTP the predicted
//! communication time. Within an interval that starts at superstep k, a forecast of a value v is `p_k = v_k`, then `p_t =
//! p_{t-1}/2 + v_t/2` (Smith-Waterman paper on dynamic platforms, equation 5; 2007 paper, section 2.3); with `ageing: from-zero`
//! it is `p_k = v_k/2`. The regularity Pcomp(i) starts at 1. Each superstep whose instructions I satisfy `I·(1-δ) <= PI <=
//! I·(1+δ)` adds 1/α, up to 1; any other superstep subtracts 1/α, down to 0 (2007 paper, algorithm 2). Pcomm(i,j) is computed in
//! the same way for the bytes exchanged with cluster j, with margin β (algorithm 3).
//!
//! Most processes communicate with few of many clusters. All pairs (i,j) that never had traffic have the same state:
//! ```text
//! bytes = 0, BTP = 0, Pcomm = 1    (it starts at 1, and a forecast of 0 is right)
//! ```
//! A pair gets an entry with this state just before its first traffic is added. The entry is removed at a call after which the
//! pair has this state again.

use super::{
    config::{Ageing, CommunicationTime, MigBspConfig, Patterns},
    exchanges::{ExchangeForecast, ExchangeForecasts},
};
use crate::{Traffic, View};
use migsim_base::units::{Instructions, Seconds};

#[derive(Clone, Copy, Debug)]
struct WorkForecast {
    has_computed: bool,
    /// PI(i) \[instr\]
    work: f64,
    /// CTP(i) \[s\]
    time: f64,
    /// Pcomp(i), from 0 to 1
    regularity: f64,
}

/// The forecasts of work and communication of all processes.
///
/// Communication forecasts exist only for the pairs of a process and a cluster that have exchanged messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forecasts {
    work_forecasts: Vec<WorkForecast>,
    exchange_forecasts: ExchangeForecasts,
    initial_clusters: Vec<u32>,
    supersteps_since_call: u64,
}

/// The forecast for a process and a cluster that have no entry because they exchange no messages: no communication, and
/// regularity 1.
pub(super) const NO_EXCHANGE: ExchangeForecast = ExchangeForecast::without_traffic(1.0);

impl ExchangeForecast {
    /// Returns the next forecast of the communication of a process with a cluster, after a superstep in which they exchanged
    /// messages.
    ///
    /// `step` is the amount by which the regularity changes; `is_first` states whether the forecast starts with this superstep.
    fn after_traffic(
        mut self,
        config: &MigBspConfig,
        step: f64,
        is_first: bool,
        traffic: &Traffic,
    ) -> Self {
        let (sent, received) = (traffic.sent_bytes.get(), traffic.received_bytes.get());
        let (out, back) = (traffic.send_time.get(), traffic.receive_time.get());
        let count_out = f64::from(traffic.sent_messages);
        let count_back = f64::from(traffic.received_messages);
        // The values are bytes, time, and the messages and bytes that took this time.
        let [bytes, time, messages, volume] = match config.communication_time {
            CommunicationTime::Larger if out > back => [sent.max(received), out, count_out, sent],
            CommunicationTime::Larger => [sent.max(received), back, count_back, received],
            CommunicationTime::Received => [received, back, count_back, received],
        };
        let aged = |before: f64, value: f64| {
            if is_first {
                value
            } else {
                before / 2.0 + value / 2.0
            }
        };
        self.exchanged_bytes = aged(self.exchanged_bytes, bytes);
        self.communication_time = aged(self.communication_time, time);
        self.timed_messages = aged(self.timed_messages, messages);
        self.timed_bytes = aged(self.timed_bytes, volume);
        update_regularity(
            &mut self.regularity,
            self.exchanged_bytes,
            bytes,
            config.beta,
            step,
        );
        self
    }
}

/// Returns the next forecast of the communication of a process with a cluster, after a superstep in which they exchanged no
/// messages.
///
/// The regularity increases only if the forecast is 0 bytes, whatever the margin. `step` is the amount by which the regularity
/// changes; `is_first` states whether the forecast starts with this superstep.
#[inline]
fn after_silence(step: f64, is_first: bool, before: ExchangeForecast) -> ExchangeForecast {
    let regularity = before.regularity;
    let left = if is_first { 0.0 } else { 0.5 };
    let bytes = before.exchanged_bytes * left;
    let (risen, fallen) = ((regularity + step).min(1.0), (regularity - step).max(0.0));
    ExchangeForecast {
        exchanged_bytes: bytes,
        communication_time: before.communication_time * left,
        regularity: if bytes == 0.0 { risen } else { fallen },
        timed_messages: before.timed_messages * left,
        timed_bytes: before.timed_bytes * left,
    }
}

impl Forecasts {
    /// Updates all forecasts with the measures of the superstep that has just ended. `alpha` is the number of supersteps of the
    /// present interval between calls.
    pub(crate) fn observe(&mut self, config: &MigBspConfig, alpha: u64, view: &View<'_>) {
        if self.work_forecasts.is_empty() {
            self.initialise(view);
        }
        let step = 1.0 / alpha as f64;
        let is_first = self.supersteps_since_call == 0 && config.ageing == Ageing::FirstValue;
        self.supersteps_since_call += 1;
        self.observe_work(config, step, is_first, view);
        self.exchange_forecasts.observe(
            &view.measurements.traffic,
            NO_EXCHANGE,
            |exchange, traffic| exchange.after_traffic(config, step, is_first, traffic),
            |exchange| after_silence(step, is_first, exchange),
        );
    }

    pub(crate) fn start_interval(&mut self, config: &MigBspConfig) {
        self.supersteps_since_call = 0;
        let starts_from_zero = config.ageing == Ageing::FromZero;
        for forecast in &mut self.work_forecasts {
            forecast.has_computed = false;
            if starts_from_zero {
                (forecast.work, forecast.time) = (0.0, 0.0);
            }
            if config.patterns == Patterns::EachCall {
                forecast.regularity = 1.0;
            }
        }
        if config.patterns == Patterns::EachCall {
            self.exchange_forecasts.remove_all_pairs();
        }
        // The next superstep is the first of its interval, so that earlier forecasts do not count.
        self.exchange_forecasts
            .retain_by_regularity(|regularity| regularity < NO_EXCHANGE.regularity);
    }

    /// Returns PI(i), the predicted number of instructions that process i executes in a superstep.
    pub(crate) fn predicted_work(&self, process: usize) -> Instructions {
        Instructions::of(self.work_forecasts[process].work)
    }

    /// Returns CTP(i), the predicted computation time of process i in a superstep.
    pub(crate) fn predicted_computation_time(&self, process: usize) -> Seconds {
        Seconds::of(self.work_forecasts[process].time)
    }

    pub(crate) fn computation_regularity(&self, process: usize) -> f64 {
        self.work_forecasts[process].regularity
    }

    /// Returns the clusters with which a process has exchanged messages, each with the forecast of the communication, in no
    /// particular order. For all other clusters the forecast is [`NO_EXCHANGE`].
    pub(super) fn exchange_forecasts_of_process(
        &self,
        process: usize,
    ) -> impl Iterator<Item = (usize, ExchangeForecast)> {
        self.exchange_forecasts.exchanges_of_process(process)
    }

    pub(crate) fn predicted_exchange(&self, process: usize, cluster: usize) -> ExchangeForecast {
        let found = self.exchange_forecasts.get(process, cluster);
        found.unwrap_or(NO_EXCHANGE)
    }

    pub(crate) fn initial_cluster(&self, process: usize) -> usize {
        self.initial_clusters[process] as usize
    }

    /// Returns whether the process has computed since the last call.
    pub(crate) fn has_computed(&self, process: usize) -> bool {
        self.work_forecasts[process].has_computed
    }

    fn initialise(&mut self, view: &View<'_>) {
        let processes = view.processes();
        self.initial_clusters = (0..processes)
            .map(|process| view.cluster_of(process).0)
            .collect();
        let first = WorkForecast {
            has_computed: false,
            work: 0.0,
            time: 0.0,
            regularity: 1.0,
        };
        self.work_forecasts = vec![first; processes];
        self.exchange_forecasts.reset_for_run(processes);
    }

    /// Updates the forecast and the regularity of the computation of each process with its work in the superstep that has just
    /// ended. `step` is the amount by which a regularity changes; `is_first` states whether the forecasts start with this superstep.
    fn observe_work(&mut self, config: &MigBspConfig, step: f64, is_first: bool, view: &View<'_>) {
        let delta = match config.delta_without_moves {
            Some(delta) if !view.executes_migrations => delta,
            _ => config.delta,
        };
        let measures = view.measurements;
        let values = measures.work.iter().zip(&measures.computation_times);
        for (forecast, (work, time)) in self.work_forecasts.iter_mut().zip(values) {
            let (work, time) = (work.get(), time.get());
            forecast.has_computed |= work > 0.0;
            if is_first {
                (forecast.work, forecast.time) = (work, time);
            } else {
                forecast.work = forecast.work / 2.0 + work / 2.0;
                forecast.time = forecast.time / 2.0 + time / 2.0;
            }
            update_regularity(&mut forecast.regularity, forecast.work, work, delta, step);
        }
    }
}

/// Returns whether the forecast lies in the range value · (1 ± margin), including both ends (line 2 of algorithms 2 and 3 of the
/// 2007 paper).
///
/// Algorithm 2 prints P where its text means PI, the forecast of instructions (contradiction w07-x01 of the paper).
fn is_within_margin(forecast: f64, value: f64, margin: f64) -> bool {
    forecast >= value * (1.0 - margin) && forecast <= value * (1.0 + margin)
}

/// Increases a regularity by `step` if the forecast was right, and decreases it by `step` otherwise; the result stays in \[0,
/// 1\].
fn update_regularity(regularity: &mut f64, forecast: f64, value: f64, margin: f64, step: f64) {
    *regularity = if is_within_margin(forecast, value, margin) {
        (*regularity + step).min(1.0)
    } else {
        (*regularity - step).max(0.0)
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::test_view;
    use migsim_base::units::{Bytes, HostId, Instructions};

    #[test]
    fn with_a_margin_of_a_tenth_50_instructions_may_be_foreseen_as_45_to_55() {
        // w07-w02, section 2.3.1 of the 2007 paper.
        for (forecast, expected) in [(44.9, false), (45.0, true), (55.0, true), (55.1, false)] {
            assert_eq!(
                is_within_margin(forecast, 50.0, 0.1),
                expected,
                "{forecast}"
            );
        }
    }

    #[test]
    fn traffic_counts_by_its_larger_direction_or_what_is_received() {
        let traffic = Traffic {
            sent_bytes: Bytes::of(300.0),
            received_bytes: Bytes::of(200.0),
            send_time: Seconds::of(5.0),
            receive_time: Seconds::of(7.0),
            sent_messages: 3,
            received_messages: 1,
        };
        // The messages and bytes are those of the direction that took the time.
        for (communication_time, (bytes, time), (messages, volume)) in [
            (CommunicationTime::Larger, (300.0, 7.0), (1.0, 200.0)),
            (CommunicationTime::Received, (200.0, 7.0), (1.0, 200.0)),
        ] {
            let values = |of: ExchangeForecast| {
                [
                    of.exchanged_bytes,
                    of.communication_time,
                    of.timed_messages,
                    of.timed_bytes,
                ]
            };
            let first = [bytes, time, messages, volume];
            let config = MigBspConfig {
                communication_time,
                ..MigBspConfig::default()
            };
            let exchange = ExchangeForecast::without_traffic(0.0);
            let exchange = exchange.after_traffic(&config, 0.25, true, &traffic);
            assert_eq!(values(exchange), first);
            // A forecast is the mean of the last forecast and the new value.
            let exchange = exchange.after_traffic(&config, 0.25, false, &traffic);
            assert_eq!(values(exchange), first);
            let silent = exchange.after_traffic(&config, 0.25, false, &Traffic::default());
            assert_eq!(values(silent), first.map(|value| value / 2.0));
            let silent = after_silence(0.25, false, exchange);
            assert_eq!(values(silent), first.map(|value| value / 2.0));
        }
    }

    #[test]
    fn ageing_from_zero_halves_the_first_value() {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let mut measures = crate::Measures::default();
        measures.clear(1);
        measures.work[0] = Instructions::of(1e9);
        measures.computation_times[0] = Seconds::of(2.0);
        let view = test_view(&platform, &[HostId(0)], &measures);
        for (ageing, expected) in [
            (Ageing::FromZero, (5e8, 1.0)),
            (Ageing::FirstValue, (1e9, 2.0)),
        ] {
            let mut forecasts = Forecasts::default();
            let config = MigBspConfig {
                ageing,
                ..MigBspConfig::default()
            };
            forecasts.observe(&config, 4, &view);
            let first = &forecasts.work_forecasts[0];
            assert_eq!((first.work, first.time), expected);
        }
    }

    #[test]
    fn a_forecast_of_half_the_value_is_right_within_a_margin_of_half() {
        // Smith-Waterman, order 10: I_1 = 1e6, I_2 = 56.5e6, PI_2 = 28.75e6 = 0.509 · I_2.
        let mut regularity = 0.5;
        update_regularity(&mut regularity, 28.75e6, 56.5e6, 0.5, 0.25);
        assert_eq!(regularity, 0.75);
        update_regularity(&mut regularity, 28.75e6, 56.5e6, 0.01, 0.25);
        assert_eq!(regularity, 0.5);
    }
}
