//! Reports: the measures of supersteps as policies get them, with errors, late, averaged, or not at all.
//!
//! After each superstep every process reports its work, its times and its traffic, and at a call every host its external load. By default
//! a policy sees them exactly and at once. The key `view` makes them worse, in the same way for all policies:
//!
//! ```text
//! report of process i in superstep t:  r_i(t) = measured · f_i(t)     f uniform in 1 ± √3·noise (standard deviation: noise)
//!                                      lost with probability `missing`: r_i(t) = r_i(t-1)
//! seen after superstep t:              mean of r_i(t') over the last `window` supersteps t' <= t - delay
//! ```
//! The first superstep is reported by all, and seen until later ones arrive. The random numbers of a superstep come from a stream of its own
//! ([`Purpose::Reports`], [`Purpose::LoadReports`]), so that they depend neither on the policy nor on its calls. All of it leaves the run
//! itself alone: supersteps, calls and moves take the times that they take.
//!
//! Left out: the places of the processes, the memory of a process, the price of the last call and the sizes of messages have no error.
//! Traffic and messages are late and may be lost as reports, and times of messages have the factor of their process, but they are not
//! averaged: they are those of the newest superstep that is seen.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::measures::{Measures, Traffic, refill};
use super::policy::View;
use super::workload::Message;
use migsim_base::error::Problem;
use migsim_base::random::{Purpose, Stream};
use migsim_base::units::{Instructions, Seconds};

/// A quantity of the process with this number.
type Value = fn(&Measures, usize) -> f64;

/// The quality of what policies see of supersteps and loads: exact and at once if nothing is set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ViewConfig {
    /// Relative standard deviation of the errors in reports, from 0 to 0.5. Reports give the work and the times of a process, and the
    /// external load of a host. Each report has a factor of its own, uniform in `1 ± √3·noise`.
    pub noise: f64,
    /// The number of supersteps by which reports are late, at most 10000.
    pub delay: u32,
    /// The number of supersteps over whose reports the work, the times and the external loads that a policy sees are averaged, from 1 to
    /// 10000. Above 1 the external load of a superstep is that at its end.
    pub window: u32,
    /// The probability that a report is lost, from 0 to 0.9. The report before it takes its place.
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

/// Maximum of `view.noise`: below 1/√3, from which on a factor could be negative.
const MOST_NOISE: f64 = 0.5;
/// Maximum of `view.missing`.
const MOST_MISSING: f64 = 0.9;
/// Maximum of `view.delay` and `view.window`.
const MOST_SUPERSTEPS: u32 = 10_000;

impl ViewConfig {
    /// Whether policies see everything exactly and at once.
    pub fn is_exact(&self) -> bool {
        *self == Self::default()
    }

    /// Whether random numbers decide what policies see.
    pub fn uses_seed(&self) -> bool {
        self.noise > 0.0 || self.missing > 0.0
    }

    /// All values that are out of range, each with its key.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut check = |key: &str, value: String, is_right: bool, range: String| {
            if !is_right {
                let message = format!("`view.{key}` is {value}; it must be from {range}");
                problems.push(Problem::new(message).key(format!("view.{key}")));
            }
        };
        for (key, value, most) in [
            ("noise", self.noise, MOST_NOISE),
            ("missing", self.missing, MOST_MISSING),
        ] {
            let range = format!("0 to {most}");
            check(key, value.to_string(), (0.0..=most).contains(&value), range);
        }
        for (key, value, least) in [("delay", self.delay, 0), ("window", self.window, 1)] {
            let is_right = (least..=MOST_SUPERSTEPS).contains(&value);
            let range = format!("{least} to {MOST_SUPERSTEPS}");
            check(key, value.to_string(), is_right, range);
        }
        problems
    }

    /// The number of supersteps whose reports are kept.
    fn kept(&self) -> usize {
        self.delay as usize + self.window as usize
    }

    /// The memory of the reports of `supersteps` supersteps at most, of this many processes, messages and hosts \[B\].
    pub fn memory(&self, supersteps: f64, processes: f64, messages: f64, hosts: f64) -> f64 {
        /// Work and times of a process, and its traffic with a few clusters.
        const PROCESS: f64 = 320.0;
        const MESSAGE: f64 = 16.0;
        const HOST: f64 = 8.0;
        if self.is_exact() {
            return 0.0;
        }
        let kept = (self.kept() as f64).min(supersteps) + 1.0;
        kept * (processes * PROCESS + messages * MESSAGE + hosts * HOST)
    }
}

/// The reports of a superstep.
#[derive(Clone, Debug, Default)]
struct Report {
    measures: Measures,
    messages: Vec<Message>,
    /// The external load of each host at the end of the superstep; empty unless it is averaged or late.
    loads: Vec<f64>,
}

/// The reports of the last supersteps, and what a policy sees of them.
#[derive(Clone, Debug)]
pub(super) struct Reports {
    config: ViewConfig,
    seed: u64,
    /// The newest report is last.
    past: VecDeque<Report>,
    seen: Measures,
    /// The external load of each host as it was seen last.
    loads: Vec<f64>,
}

impl Reports {
    /// Nothing is kept where everything is seen exactly and at once.
    pub(super) fn new(config: ViewConfig, seed: u64) -> Option<Self> {
        (!config.is_exact()).then(|| Self {
            config,
            seed,
            past: VecDeque::new(),
            seen: Measures::default(),
            loads: Vec::new(),
        })
    }

    /// Whether the loads of hosts are needed after each superstep.
    pub(super) fn needs_loads(&self) -> bool {
        self.config.kept() > 1
    }

    /// Takes the reports of the superstep that has just ended; `loads` are the external loads of the hosts, if they are needed.
    pub(super) fn take(&mut self, view: &View<'_>, loads: Vec<f64>) {
        let processes = view.processes();
        let mut random = Stream::at(self.seed, Purpose::Reports, view.superstep as u64);
        let mut measures = Measures::default();
        measures.clear(processes);
        let last = self.past.back();
        for process in 0..processes {
            let (factor, is_lost) = self.config.draw(&mut random);
            match last.filter(|_| is_lost) {
                Some(last) => copy(&mut measures, &last.measures, process, 1.0),
                None => copy(&mut measures, view.measures, process, factor),
            }
        }
        self.past.push_back(Report {
            measures,
            messages: view.messages.to_vec(),
            loads,
        });
        while self.past.len() > self.config.kept() {
            self.past.pop_front();
        }
        self.look();
    }

    /// The reports that are seen now, the oldest first: none is late enough at the start, where the first one is seen.
    fn visible(&self) -> impl Iterator<Item = &Report> {
        let arrived = self.past.len().saturating_sub(self.config.delay as usize);
        let arrived = arrived.max(1);
        let first = arrived.saturating_sub(self.config.window as usize);
        self.past.range(first..arrived.min(self.past.len()))
    }

    /// Averages the work and the times of the reports that are seen.
    fn look(&mut self) {
        let mut seen = std::mem::take(&mut self.seen);
        let count = self.visible().count() as f64;
        if let Some(newest) = self.visible().last() {
            seen.clone_from(&newest.measures);
        }
        if count > 1.0 {
            let mean = |value: Value, process: usize| {
                let values = self.visible().map(|one| value(&one.measures, process));
                values.sum::<f64>() / count
            };
            for process in 0..seen.work.len() {
                seen.work[process] =
                    Instructions::of(mean(|one, process| one.work[process].get(), process));
            }
            let times: [(&mut Vec<Seconds>, Value); 4] = [
                (&mut seen.delay, |one, process| one.delay[process].get()),
                (&mut seen.compute, |one, process| one.compute[process].get()),
                (&mut seen.send, |one, process| one.send[process].get()),
                (&mut seen.communication, |one, process| {
                    one.communication[process].get()
                }),
            ];
            for (list, value) in times {
                for (process, time) in list.iter_mut().enumerate() {
                    *time = Seconds::of(mean(value, process));
                }
            }
        }
        self.seen = seen;
    }

    /// Makes of the external loads `measured` at a call those that the policy sees. Only loads of the hosts `varying` have errors.
    pub(super) fn see_loads(
        &mut self,
        superstep: usize,
        varying: impl Iterator<Item = usize>,
        measured: &mut [f64],
    ) {
        if self.needs_loads() {
            let count = self.visible().count() as f64;
            for (host, load) in measured.iter_mut().enumerate() {
                let loads = self.visible().filter_map(|one| one.loads.get(host));
                *load = loads.sum::<f64>() / count.max(1.0);
            }
        }
        let mut random = Stream::at(self.seed, Purpose::LoadReports, superstep as u64);
        let is_first = self.loads.is_empty();
        if is_first {
            refill(&mut self.loads, measured.len(), 0.0);
        }
        for host in varying {
            let (factor, is_lost) = self.config.draw(&mut random);
            if is_first || !is_lost {
                self.loads[host] = (measured[host] * factor).clamp(0.0, 1.0);
            }
            measured[host] = self.loads[host];
        }
    }

    /// What a policy sees in place of `view`.
    pub(super) fn view<'v>(&'v self, view: View<'v>) -> View<'v> {
        let messages = self.visible().last().map(|newest| &newest.messages[..]);
        View {
            measures: &self.seen,
            messages: messages.unwrap_or_default(),
            ..view
        }
    }
}

impl ViewConfig {
    /// The factor of a report, and whether it is lost. Each report takes two random numbers, whatever is set.
    fn draw(&self, random: &mut Stream) -> (f64, bool) {
        let factor = 1.0 + 3.0_f64.sqrt() * self.noise * random.symmetric();
        (factor, random.unit() <= self.missing)
    }
}

/// Copies the measures of a process, with a factor on its work and its times.
fn copy(to: &mut Measures, from: &Measures, process: usize, factor: f64) {
    let time = |list: &[Seconds]| Seconds::of(list[process].get() * factor);
    to.work[process] = Instructions::of(from.work[process].get() * factor);
    to.delay[process] = from.delay[process];
    to.compute[process] = time(&from.compute);
    to.send[process] = time(&from.send);
    to.communication[process] = time(&from.communication);
    for (cluster, traffic) in from.traffic.of(process) {
        *to.traffic_mut(process, cluster) = Traffic {
            send_time: Seconds::of(traffic.send_time.get() * factor),
            receive_time: Seconds::of(traffic.receive_time.get() * factor),
            ..*traffic
        };
    }
}

#[cfg(test)]
mod tests;
