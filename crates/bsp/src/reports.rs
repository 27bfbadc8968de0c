//! Reports: the measurements, with errors, delays, averages and losses, that policies receive instead of the exact measurements.
//!
//! After each superstep every process reports its work, its times and its traffic, and at a rescheduling call every host reports
//! its external load. By default a policy receives the reports without errors and without delay. The settings `view` degrade the
//! reports, in the same way for all policies:
//!
//! ```text
//! report of process i in superstep t:  r_i(t) = measured · f_i(t)     f uniform in 1 ± √3·noise (standard deviation: noise)
//!                                      lost with probability `missing`: r_i(t) = r_i(t-1)
//! seen after superstep t:              mean of r_i(t') over the last `window` supersteps t' <= t - delay
//! ```
//! The reports of the first superstep are never lost, and the policy sees them until later reports arrive. The random numbers of
//! each superstep come from a separate stream ([`StreamPurpose::ProcessReports`], [`StreamPurpose::LoadReports`]), so that they depend neither on
//! the policy nor on its calls. The reports do not affect the run itself: supersteps, calls and migrations keep their durations.
//!
//! Not modelled: the hosts of the processes, the memory of a process, the cost of the last call and the sizes of messages have no
//! error. Traffic and messages are late and may be lost like other reports, and the durations of messages have the random factor
//! of their process. They are not averaged: the policy receives the traffic and messages of the newest superstep whose report it
//! sees.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    measures::{Measures, Traffic},
    policy::{ExternalLoad, View},
};
use migsim_base::{
    error::Problem,
    random::{Stream, StreamPurpose},
    units::{Instructions, Seconds},
};
use migsim_engine::Message;

type MeasuredValue = fn(&Measures, usize) -> f64;

/// The errors and delays of the measurements and loads that policies receive; by default there are none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ViewConfig {
    /// Relative standard deviation of the errors in reports, from 0 to 0.5. The work and the times of a process and the external
    /// load of a host have such errors: each report is multiplied by an independent random factor, uniform in `1 ± √3·noise`.
    pub noise: f64,
    /// Number of supersteps by which reports arrive late at the policy, at most 10000.
    pub delay: u32,
    /// Number of supersteps over which work, times and external loads are averaged before the policy receives them, from 1 to
    /// 10000. If it is above 1, the external load of a superstep is measured at the end of the superstep.
    pub window: u32,
    /// Probability that a report is lost, from 0 to 0.9; the policy then receives the previous report again.
    pub missing: f64,
}

impl Default for ViewConfig {
    fn default() -> Self {
        Self {
            noise: 0.0,
            delay: 0,
            window: 1,
            missing: 0.0,
        }
    }
}

/// Maximum value of `view.noise`; above 1/√3 a random factor could be negative.
const MAX_NOISE: f64 = 0.5;
const MAX_LOSS_PROBABILITY: f64 = 0.9;
const MAX_DELAY_OR_WINDOW: u32 = 10_000;

impl ViewConfig {
    /// Returns whether policies receive all reports without errors and without delay.
    pub fn is_exact(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether the settings add random errors or losses to the measurements that policies receive, so that they depend on
    /// the seed.
    pub fn uses_seed(&self) -> bool {
        self.noise > 0.0 || self.missing > 0.0
    }

    /// Returns an error for each setting that is out of range, with the key of the setting.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut check = |key: &str, value: String, is_right: bool, range: String| {
            if !is_right {
                let message = format!("`view.{key}` is {value}; it must be from {range}");
                let problem = Problem::new(message).key(format!("view.{key}"));
                problems.push(problem.hint("choose a value in this range"));
            }
        };
        for (key, value, most) in [
            ("noise", self.noise, MAX_NOISE),
            ("missing", self.missing, MAX_LOSS_PROBABILITY),
        ] {
            let range = format!("0 to {most}");
            check(key, value.to_string(), (0.0..=most).contains(&value), range);
        }
        for (key, value, least) in [("delay", self.delay, 0), ("window", self.window, 1)] {
            let is_right = (least..=MAX_DELAY_OR_WINDOW).contains(&value);
            let range = format!("{least} to {MAX_DELAY_OR_WINDOW}");
            check(key, value.to_string(), is_right, range);
        }
        problems
    }

    fn stored_superstep_count(&self) -> usize {
        self.delay as usize + self.window as usize
    }

    /// Returns the memory of the stored reports for a run with this number of supersteps, processes, messages per superstep, and
    /// hosts \[B\].
    pub fn stored_reports_memory(
        &self,
        supersteps: f64,
        processes: f64,
        messages: f64,
        hosts: f64,
    ) -> f64 {
        /// Memory per process of a stored report: its work, its times, and its traffic with a few clusters \[B\].
        const BYTES_PER_PROCESS: f64 = 320.0;
        const MESSAGE: f64 = 16.0;
        const HOST: f64 = 8.0;
        if self.is_exact() {
            return 0.0;
        }
        let kept = (self.stored_superstep_count() as f64).min(supersteps) + 1.0;
        kept * (processes * BYTES_PER_PROCESS + messages * MESSAGE + hosts * HOST)
    }
}

/// The reports of all processes and hosts about one superstep, as they are stored until the policy receives them.
#[derive(Clone, Debug, Default)]
struct SuperstepReport {
    measurements: Measures,
    messages: Vec<Message>,
    /// External load of each host at the end of the superstep; empty unless the policy receives loads averaged or late.
    host_loads: Vec<ExternalLoad>,
}

/// The stored reports of the latest supersteps, and the measurements that the policy receives according to these reports.
#[derive(Clone, Debug)]
pub(super) struct ReportHistory {
    config: ViewConfig,
    seed: u64,
    past_reports: VecDeque<SuperstepReport>,
    visible_measurements: Measures,
    /// External load of each host in the last report about the host that was not lost; empty before the first rescheduling call.
    last_reported_loads: Vec<ExternalLoad>,
}

impl ReportHistory {
    /// Creates the state for given settings; `None` if policies receive all reports without errors and without delay.
    pub(super) fn new(config: ViewConfig, seed: u64) -> Option<Self> {
        (!config.is_exact()).then(|| Self {
            config,
            seed,
            past_reports: VecDeque::new(),
            visible_measurements: Measures::default(),
            last_reported_loads: Vec::new(),
        })
    }

    /// Returns whether the external loads of hosts have to be measured after each superstep, because the policy receives them
    /// averaged or late.
    pub(super) fn needs_loads(&self) -> bool {
        self.config.stored_superstep_count() > 1
    }

    /// Stores the reports of the superstep that has just ended. `loads` are the external loads of the hosts; they are empty if
    /// loads are not needed.
    pub(super) fn record_reports(&mut self, view: &View<'_>, loads: Vec<ExternalLoad>) {
        let processes = view.processes();
        let mut random = Stream::for_superstep(
            self.seed,
            StreamPurpose::ProcessReports,
            view.superstep as u64,
        );
        let mut measures = Measures::default();
        measures.clear(processes);
        let last = self.past_reports.back();
        for process in 0..processes {
            let (factor, is_lost) = self.config.draw_report_error(&mut random);
            match last.filter(|_| is_lost) {
                Some(last) => {
                    copy_scaled_measurements(&mut measures, &last.measurements, process, 1.0);
                }
                None => copy_scaled_measurements(&mut measures, view.measurements, process, factor),
            }
        }
        self.past_reports.push_back(SuperstepReport {
            measurements: measures,
            messages: view.messages.to_vec(),
            host_loads: loads,
        });
        while self.past_reports.len() > self.config.stored_superstep_count() {
            self.past_reports.pop_front();
        }
        self.update_visible_measurements();
    }

    /// Returns the reports that the policy receives at present, in the order of supersteps. As long as no report is old enough,
    /// these are the reports of the first superstep.
    fn visible_reports(&self) -> impl Iterator<Item = &SuperstepReport> {
        let arrived = self
            .past_reports
            .len()
            .saturating_sub(self.config.delay as usize)
            .max(1);
        let first = arrived.saturating_sub(self.config.window as usize);
        self.past_reports
            .range(first..arrived.min(self.past_reports.len()))
    }

    /// Updates the measurements that the policy receives: work and times are means over the visible reports, and the traffic is
    /// the traffic in the newest visible report.
    fn update_visible_measurements(&mut self) {
        let mut seen = std::mem::take(&mut self.visible_measurements);
        let count = self.visible_reports().count() as f64;
        if let Some(newest) = self.visible_reports().last() {
            seen.clone_from(&newest.measurements);
        }
        if count > 1.0 {
            let mean = |value: MeasuredValue, process: usize| {
                self.visible_reports()
                    .map(|one| value(&one.measurements, process))
                    .sum::<f64>()
                    / count
            };
            for process in 0..seen.work.len() {
                seen.work[process] =
                    Instructions::of(mean(|one, process| one.work[process].get(), process));
            }
            let times: [(&mut Vec<Seconds>, MeasuredValue); 4] = [
                (&mut seen.begin_delays, |one, process| {
                    one.begin_delays[process].get()
                }),
                (&mut seen.computation_times, |one, process| {
                    one.computation_times[process].get()
                }),
                (&mut seen.send_times, |one, process| {
                    one.send_times[process].get()
                }),
                (&mut seen.communication_times, |one, process| {
                    one.communication_times[process].get()
                }),
            ];
            for (list, value) in times {
                for (process, time) in list.iter_mut().enumerate() {
                    *time = Seconds::of(mean(value, process));
                }
            }
        }
        self.visible_measurements = seen;
    }

    /// Replaces the external loads `measured` at a rescheduling call by the loads that the policy receives. Only the loads of the
    /// hosts `varying`, whose speed varies, have errors.
    pub(super) fn degrade_loads(
        &mut self,
        superstep: usize,
        varying: impl Iterator<Item = usize>,
        measured: &mut [ExternalLoad],
    ) {
        if self.needs_loads() {
            let count = self.visible_reports().count() as f64;
            for (host, load) in measured.iter_mut().enumerate() {
                let mean = |part: fn(&ExternalLoad) -> f64| {
                    self.visible_reports()
                        .filter_map(|one| one.host_loads.get(host))
                        .map(part)
                        .sum::<f64>()
                        / count.max(1.0)
                };
                *load = ExternalLoad {
                    reserved: mean(|load| load.reserved),
                    busy_cores: mean(|load| load.busy_cores),
                };
            }
        }
        let mut random =
            Stream::for_superstep(self.seed, StreamPurpose::LoadReports, superstep as u64);
        let is_first = self.last_reported_loads.is_empty();
        if is_first {
            self.last_reported_loads = vec![ExternalLoad::default(); measured.len()];
        }
        for host in varying {
            let (factor, is_lost) = self.config.draw_report_error(&mut random);
            if is_first || !is_lost {
                self.last_reported_loads[host] = measured[host].scaled(factor);
            }
            measured[host] = self.last_reported_loads[host];
        }
    }

    pub(super) fn degrade_view<'v>(&'v self, view: View<'v>) -> View<'v> {
        let messages = self
            .visible_reports()
            .last()
            .map(|newest| &newest.messages[..]);
        View {
            measurements: &self.visible_measurements,
            messages: messages.unwrap_or_default(),
            ..view
        }
    }
}

impl ViewConfig {
    /// Draws the random factor by which a report is multiplied, and whether the report is lost. Two random numbers are drawn for
    /// each report, even if the settings need fewer.
    fn draw_report_error(&self, random: &mut Stream) -> (f64, bool) {
        let factor = 1.0 + 3.0_f64.sqrt() * self.noise * random.draw_from_minus_one_to_one();
        (factor, random.draw_from_zero_to_one() <= self.missing)
    }
}

fn copy_scaled_measurements(to: &mut Measures, from: &Measures, process: usize, factor: f64) {
    let time = |list: &[Seconds]| Seconds::of(list[process].get() * factor);
    to.work[process] = Instructions::of(from.work[process].get() * factor);
    to.begin_delays[process] = from.begin_delays[process];
    to.computation_times[process] = time(&from.computation_times);
    to.send_times[process] = time(&from.send_times);
    to.communication_times[process] = time(&from.communication_times);
    for (cluster, traffic) in from.traffic.iter_clusters_of_process(process) {
        *to.traffic_mut(process, cluster) = Traffic {
            send_time: Seconds::of(traffic.send_time.get() * factor),
            receive_time: Seconds::of(traffic.receive_time.get() * factor),
            ..*traffic
        };
    }
}

#[cfg(test)]
mod tests;
