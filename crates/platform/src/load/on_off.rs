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

use super::{
    Load, LoadOptions,
    range::{MAX_DURATION, ParameterChecks},
};
use crate::Steps;
use migsim_base::{error::Result, random::Stream, units::Seconds};

/// Parameters of a background load of the kind `on-off`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OnOffConfig {
    /// Time step of the load (Δ): the state changes only at multiples of Δ.
    pub period: Seconds,
    /// Load while the host is busy, as a share of the host or link; from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
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
    fn load(self) -> Result<Arc<dyn Load>> {
        let times = self.period.get()..=MAX_DURATION;
        ParameterChecks::default()
            .check_period(self.period)
            .check_load("load", self.load)
            .check_duration("busy", self.busy, &times)
            .check_duration("idle", self.idle, &times)
            .into_result()?;
        Ok(Arc::new(self))
    }
}

impl Load for OnOffConfig {
    fn steps(&self, mut random: Stream) -> Box<dyn Steps> {
        let load = self.load;
        let [period, busy, idle] = [self.period, self.busy, self.idle].map(Seconds::get);
        let mut is_busy = random.draw_from_zero_to_one() * (busy + idle) <= busy;
        let mut periods = 0.0;
        Box::new(std::iter::repeat_with(move || {
            let (now, mean) = if is_busy { (load, busy) } else { (0.0, idle) };
            let time = periods * period;
            let leaves = period / mean;
            // Draws a geometric number from 1 on: the number of periods until the first success of probability `leaves`. It is a
            // whole number, so the last bit of the logarithm does not matter.
            let more = if leaves < 1.0 {
                (random.draw_from_zero_to_one().ln() / (-leaves).ln_1p()).floor()
            } else {
                0.0
            };
            periods += 1.0 + more;
            is_busy = !is_busy;
            (time, now)
        }))
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
