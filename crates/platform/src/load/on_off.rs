//! `on-off`: a load that is alternately present (the host is busy) and absent (idle).
//!
//! ```text
//! a host becomes busy with probability Δ / idle after each idle period Δ, and idle with probability Δ / busy after each busy period Δ
//! ```
//! While a host is busy, other users take the share `load` of the host. The load is a Markov chain of two states. The durations
//! of both states are geometrically distributed with the means `busy` and `idle`, and independent. At the start a host is busy
//! with probability `busy / (busy + idle)`, so that the mean load is `load · busy / (busy + idle)` at every time.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{MAX_DURATION, ParameterChecks};
use super::{Load, LoadOptions, MAX_LOAD};
use crate::Steps;
use migsim_base::error::Error;
use migsim_base::random::Stream;
use migsim_base::units::Seconds;

/// Parameters of a background load of the kind `on-off`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OnOffConfig {
    /// Time step of the load (Δ): the state changes only at multiples of Δ.
    pub period: Seconds,
    /// Load while the host is busy, as a share of the host or link; from 0 to 0.99.
    #[schemars(range(min = 0, max = MAX_LOAD))]
    pub load: f64,
    /// Mean duration of the busy state; at least `period`.
    pub busy: Seconds,
    /// Mean duration of the idle state; at least `period`.
    pub idle: Seconds,
}

impl Default for OnOffConfig {
    fn default() -> Self {
        Self {
            period: Seconds::of(1.0),
            load: 0.5,
            busy: Seconds::of(30.0),
            idle: Seconds::of(60.0),
        }
    }
}

impl LoadOptions for OnOffConfig {
    fn load(self) -> Result<Arc<dyn Load>, Error> {
        let times = self.period.get()..=MAX_DURATION;
        ParameterChecks::default()
            .check_period(self.period)
            .check_number("load", self.load, &(0.0..=MAX_LOAD))
            .check_duration("busy", self.busy, &times)
            .check_duration("idle", self.idle, &times)
            .into_result()?;
        Ok(Arc::new(OnOffLoad(self)))
    }
}

/// A background load of the kind `on-off`, which is alternately present and absent; the documentation of this module describes
/// its states.
#[derive(Clone, Debug)]
pub struct OnOffLoad(OnOffConfig);

impl Load for OnOffLoad {
    fn steps(&self, mut random: Stream) -> Box<dyn Steps> {
        let OnOffConfig { busy, idle, .. } = self.0;
        let (busy, idle) = (busy.get(), idle.get());
        Box::new(Visits {
            config: self.0.clone(),
            is_busy: random.draw_from_zero_to_one() * (busy + idle) <= busy,
            next_step_time_in_periods: 0.0,
            random,
        })
    }
}

#[derive(Clone, Debug)]
struct Visits {
    config: OnOffConfig,
    /// Whether the host is busy from the next step on.
    is_busy: bool,
    next_step_time_in_periods: f64,
    random: Stream,
}

impl Iterator for Visits {
    type Item = (f64, f64);

    fn next(&mut self) -> Option<(f64, f64)> {
        let OnOffConfig {
            period,
            load,
            busy,
            idle,
        } = self.config;
        let (now, mean) = if self.is_busy {
            (load, busy)
        } else {
            (0.0, idle)
        };
        let date = self.next_step_time_in_periods * period.get();
        let leaves = period.get() / mean.get();
        // Draws a geometric number from 1 on: the number of periods until the first success of probability `leaves`. It is a whole number,
        // so the last bit of the logarithm does not matter.
        let more = if leaves < 1.0 {
            (self.random.draw_from_zero_to_one().ln() / (-leaves).ln_1p()).floor()
        } else {
            0.0
        };
        self.next_step_time_in_periods += 1.0 + more;
        self.is_busy = !self.is_busy;
        Some((date, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::random::StreamPurpose;

    fn steps(config: &OnOffConfig, seed: u64) -> Box<dyn Steps> {
        let load = config.clone().load().unwrap();
        load.steps(Stream::for_object(seed, StreamPurpose::HostLoad, "h0"))
    }

    #[test]
    fn a_seed_gives_the_same_visits_for_ever() {
        let visits: Vec<_> = steps(&OnOffConfig::default(), 1).take(4).collect();
        assert_eq!(
            visits,
            [(0.0, 0.0), (95.0, 0.5), (104.0, 0.0), (191.0, 0.5)]
        );
    }

    #[test]
    fn visits_and_absences_have_their_means() {
        let visits: Vec<_> = steps(&OnOffConfig::default(), 1).take(20_001).collect();
        let mut times = [0.0, 0.0];
        for pair in visits.windows(2) {
            times[usize::from(pair[0].1 > 0.0)] += pair[1].0 - pair[0].0;
        }
        // 10 000 periods of each state, with a standard deviation equal to their mean: a standard error of 1 %.
        let [idle, busy] = times.map(|time| time / 10_000.0);
        assert!((busy - 30.0).abs() < 1.2, "{busy}");
        assert!((idle - 60.0).abs() < 2.4, "{idle}");
    }

    #[test]
    fn at_the_start_as_many_are_busy_as_later() {
        let config = OnOffConfig::default();
        let busy = (0..3000).filter(|&seed| steps(&config, seed).next().unwrap().1 > 0.0);
        // 1000 of 3000 expected, with a standard deviation of 26.
        assert!(busy.count().abs_diff(1000) < 110);
    }

    #[test]
    fn a_mean_of_one_period_alternates() {
        let one = Seconds::of(2.0);
        let config = OnOffConfig {
            period: one,
            busy: one,
            idle: one,
            ..OnOffConfig::default()
        };
        let dates: Vec<f64> = steps(&config, 1).take(3).map(|step| step.0).collect();
        assert_eq!(dates, [0.0, 2.0, 4.0]);
    }
}
