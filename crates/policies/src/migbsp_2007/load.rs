//! The function load(p): the mean utilisation of each host over the last minutes (section 2.4).
//!
//! Utilisation by the application is `Σ work · cycles / (speed · cores)`, with each superstep spread evenly over its duration.
//! Utilisation by other programs is the share of the speed that the profile and reservations of the host have taken away, and the
//! share of its cores that other work keeps busy. Both
//! are averaged over the window (15 minutes by default), or over the time since the start of the run if this is shorter. The
//! utilisation in a window is the difference between two marks, which are stored values of the work done so far. Marks are a
//! sixtieth of the window apart, so that the memory is bounded.

use std::collections::VecDeque;

use super::config::{Load, MigBsp2007Config};
use crate::View;
use migsim_base::units::{HostId, Time};
use migsim_platform::{Host, StepFunctionIntegral};

/// Number of stored marks (values of the work done at earlier times): 61 for a window of 60 intervals, and one before the start
/// of the window.
const MARK_COUNT: usize = 62;

/// The work that the application has done on each host since the start of the run, with the values at earlier times, from which
/// mean loads are computed.
#[derive(Debug, Default)]
pub(super) struct HostLoads {
    /// Time that each host would have needed at full speed for the application's work since the start of the run \[s\].
    busy_times: Vec<f64>,
    /// Earlier values of `busy_times` with the simulated times \[s\] at which they were stored, the oldest first.
    marks: VecDeque<(f64, Vec<f64>)>,
    /// For each host of varying load, the integrals over time of the share of its speed that is left for the application, and of
    /// the number of its busy cores; `None` where the quantity is constant.
    ///
    /// There are two integrals for each quantity: up to the start of the window, and up to the present time.
    load_integrals: Vec<[Option<[StepFunctionIntegral; 2]>; 2]>,
}

impl HostLoads {
    /// Adds the application's work on each host in the superstep that has just ended.
    pub(super) fn observe(&mut self, config: &MigBsp2007Config, view: &View<'_>) {
        let hosts = &view.platform.hosts;
        if self.marks.is_empty() {
            self.busy_times = vec![0.0; hosts.len()];
            self.marks.push_back((0.0, self.busy_times.clone()));
            let left = |host: &Host| {
                let steps = host.availability_over_time()?;
                Some(StepFunctionIntegral::new(1.0, steps))
            };
            let busy = |host: &Host| {
                let steps = host.busy_cores_over_time()?;
                Some(StepFunctionIntegral::new(host.busy_cores, steps))
            };
            self.load_integrals = hosts
                .iter()
                .map(|host| {
                    [
                        left(host).zip(left(host)).map(<[_; 2]>::from),
                        busy(host).zip(busy(host)).map(<[_; 2]>::from),
                    ]
                })
                .collect();
        }
        for (work, at) in view.measurements.work.iter().zip(view.placement) {
            let host = &hosts[at.index()];
            let cycles = work.get() * view.cycles_per_instruction;
            self.busy_times[at.index()] += cycles / (host.speed.get() * f64::from(host.cores));
        }
        let now = view.now.get();
        let last = self.marks.back().map_or(0.0, |mark| mark.0);
        if now - last >= config.load_window.get() / (MARK_COUNT - 2) as f64 {
            self.marks.push_back((now, self.busy_times.clone()));
            if self.marks.len() > MARK_COUNT {
                self.marks.pop_front();
            }
        }
    }

    /// Returns the mean load of a host over the window that ends now, as a share in \[0, 1\]; 0 at the start of a run.
    pub(super) fn mean_load(
        &mut self,
        config: &MigBsp2007Config,
        host: HostId,
        view: &View<'_>,
    ) -> f64 {
        let now = view.now.get();
        let from = (now - config.load_window.get()).max(0.0);
        if now <= from {
            return 0.0;
        }
        let one = &view.platform.hosts[host.index()];
        let mean = |integrals: &mut [StepFunctionIntegral; 2]| {
            let [before, whole] = integrals;
            (whole.integrate_until(now) - before.integrate_until(from)) / (now - from)
        };
        let [left, busy] = &mut self.load_integrals[host.index()];
        let reserved = left.as_mut().map_or(0.0, |left| 1.0 - mean(left));
        let busy = busy.as_mut().map_or(one.busy_cores, mean);
        let external = reserved + busy / f64::from(one.cores);
        let own = match config.load {
            Load::Measured => self.busy_time_between(host.index(), from, view.now) / (now - from),
            Load::External => 0.0,
        };
        (external + own).clamp(0.0, 1.0)
    }

    /// Returns the time that a host would have needed at full speed for the application's work between the times `from` and `now`
    /// \[s\].
    fn busy_time_between(&self, host: usize, from: f64, now: Time) -> f64 {
        let total = self.busy_times[host];
        let mut later = (now.get(), total);
        for (time, busy_times) in self.marks.iter().rev() {
            let earlier = (*time, busy_times[host]);
            if earlier.0 <= from {
                let passed = (from - earlier.0) / (later.0 - earlier.0);
                return total - earlier.1 - passed * (later.1 - earlier.1);
            }
            later = earlier;
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measures, testing::test_view};
    use migsim_base::units::{Instructions, Seconds};
    use migsim_platform::Profile;

    /// Returns the load of a-0 (two cores of 1 GHz, half of it taken away from 10 s on) after supersteps of 10 s. `busy` has the seconds in
    /// each for which the only process computed there, as if it had the whole host.
    fn load(config: &MigBsp2007Config, busy: &[f64]) -> f64 {
        let mut platform = migsim_platform::open("lbm").expect("built in").platform;
        let at = platform.host_named("a-0").expect("a host of it");
        let profile = Profile::new(vec![(10.0, 0.5)], None).expect("a profile");
        platform.hosts[at.index()].speed_profile = Some(profile);
        platform.hosts[at.index()].cores = 2;
        let mut measures = Measures::default();
        measures.clear(1);
        let placement = [at];
        let mut loads = HostLoads::default();
        let mut mean = 0.0;
        for (superstep, busy) in busy.iter().enumerate() {
            let speed = platform.hosts[at.index()].speed.get();
            measures.work[0] = Instructions::of(busy * speed); // of two cycles each, on two cores
            let view = View {
                cycles_per_instruction: 2.0,
                superstep,
                now: Time::ZERO + Seconds::of(10.0 * (superstep + 1) as f64),
                ..test_view(&platform, &placement, &measures)
            };
            loads.observe(config, &view);
            mean = loads.mean_load(config, at, &view);
        }
        mean
    }

    #[test]
    fn marks_reach_over_the_window() {
        // One mark every second superstep: with one after each superstep the marks would not cover 63 of them.
        let config = MigBsp2007Config {
            load_window: Seconds::of(630.0),
            ..MigBsp2007Config::default()
        };
        let mut busy = vec![5.0; 1001];
        busy[938..].fill(0.0);
        let found = load(&config, &busy);
        assert!((found - 0.5).abs() < 1e-12, "{found}");
        busy[970] = 6.3;
        let found = load(&config, &busy);
        assert!((found - 0.51).abs() < 1e-12, "{found}");
    }

    #[test]
    fn what_is_older_than_the_window_is_forgotten() {
        let config = MigBsp2007Config {
            load_window: Seconds::of(15.0),
            ..MigBsp2007Config::default()
        };
        // From 25 to 40 s: half of the third superstep, and half of the time external.
        let found = load(&config, &[10.0, 0.0, 3.0, 0.0]);
        assert!((found - (0.5 + 1.5 / 15.0)).abs() < 1e-12, "{found}");
        // A long run, in which the ring of marks is reused: 15 s, all but the last 10 idle.
        let mut busy = vec![5.0; 1000];
        busy[998] = 0.0;
        let found = load(&config, &busy);
        assert!((found - (0.5 + 5.0 / 15.0)).abs() < 1e-9, "{found}");
    }
}
