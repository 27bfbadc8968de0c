//! `walk`: a load that follows a random walk between two bounds.
//!
//! ```text
//! u(0)     drawn uniformly from `least` to `most`
//! u(k + 1) = u(k) + step · e(k), e uniform in [-1, 1], reflected at `least` and `most`
//! ```
//! u(k) is the load in the k-th period of length Δ (`period`): the share of the host or link that other users take. In the long
//! run every load from `least` to `most` is equally likely, because a reflected walk with symmetric steps keeps the uniform
//! distribution: mean `(least + most) / 2`, variance `(most - least)² / 12`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Load, LoadOptions, range::ParameterChecks, sampled::periodic_steps};
use crate::Steps;
use migsim_base::{
    error::{Problem, Result},
    random::Stream,
    units::Seconds,
};

/// Parameters of a background load of the kind `walk` (random walk between two bounds).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WalkConfig {
    /// Time for which each value of the load holds (Δ).
    pub period: Seconds,
    /// Maximum change of the load from one period to the next; from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub step: f64,
    /// Minimum load, the lower bound of the random walk; from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub least: f64,
    /// Maximum load, the upper bound of the random walk, greater than the minimum load; from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub most: f64,
}

impl Default for WalkConfig {
    fn default() -> Self {
        Self {
            period: Seconds::of(1.0),
            step: 0.1,
            least: 0.0,
            most: 0.8,
        }
    }
}

impl LoadOptions for WalkConfig {
    fn load(self) -> Result<Arc<dyn Load>> {
        ParameterChecks::default()
            .check_period(self.period)
            .check_load("step", self.step)
            .check_load("least", self.least)
            .check_load("most", self.most)
            .into_result()?;
        if self.least >= self.most {
            return Err(Problem::new(format!(
                "the upper bound `most` is {}, which is not greater than the lower bound `least`, {}",
                self.most, self.least
            )).key("most")
                .hint("choose `most` greater than `least`, or use the load `constant`")
                .into());
        }
        Ok(Arc::new(self))
    }
}

impl Load for WalkConfig {
    fn steps(&self, mut random: Stream) -> Box<dyn Steps> {
        let Self {
            period,
            step,
            least,
            most,
        } = *self;
        let mut next = least + (most - least) * (random.draw_from_minus_one_to_one() + 1.0) / 2.0;
        periodic_steps(period, move |_| {
            let now = next;
            next += step * random.draw_from_minus_one_to_one();
            // A step may be longer than the distance between the bounds.
            while next < least || next > most {
                let bound = if next < least { least } else { most };
                next = 2.0 * bound - next;
            }
            now
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::sampled::mean_and_variance;
    use migsim_base::random::StreamPurpose;

    fn stream(seed: u64) -> Stream {
        Stream::for_object(seed, StreamPurpose::HostLoad, "h0")
    }

    #[test]
    fn a_seed_gives_the_same_walk_for_ever() {
        let walk = WalkConfig::default().load().unwrap();
        let steps: Vec<_> = walk.steps(stream(1)).take(4).collect();
        let expected = [
            (0.0, 0.744_521_095_271_255_7),
            (1.0, 0.685_566_807_727_724_7),
            (2.0, 0.737_309_526_567_127_4),
            (3.0, 0.683_970_810_078_943_9),
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn every_load_between_the_walls_is_equally_likely() {
        let walk = WalkConfig {
            step: 0.5,
            ..WalkConfig::default()
        };
        let walk = walk.load().unwrap();
        let (mean, variance) = mean_and_variance(walk.steps(stream(1)), 100_000);
        // Uniform from 0 to 0.8: mean 0.4, variance 0.64 / 12. The walk forgets in a few steps: a standard error of 0.23 / sqrt(20 000) = 0.002.
        assert!((mean - 0.4).abs() < 0.008, "{mean}");
        assert!((variance - 0.64 / 12.0).abs() < 0.003, "{variance}");
    }

    #[test]
    fn steps_longer_than_the_room_stay_between_the_walls() {
        let walk = WalkConfig {
            step: 0.9,
            least: 0.3,
            most: 0.31,
            ..WalkConfig::default()
        };
        let mut steps = walk.load().unwrap().steps(stream(3)).take(1000);
        assert!(steps.all(|(_, load)| (0.3..=0.31).contains(&load)));
    }
}
