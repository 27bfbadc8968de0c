//! The verdict of a comparison: what follows from it, in sentences that respect the intervals.

use super::compare::{Comparison, Standing};
use super::stats::short;
use migsim_base::words::counted;
use migsim_policies::explain::{Meaning, Quantity, Sentence, Unit, say};

/// The level of the intervals.
const LEVEL: Meaning = Meaning::new(
    "confidence_percent",
    Unit::Percent,
    "the level of the confidence intervals",
);

/// The number of seeds.
const SEEDS: Meaning = Meaning::new("seeds", Unit::Count, "the number of seeds");

/// The least mean makespan.
const BEST: Meaning = Meaning::new(
    "best_makespan_s",
    Unit::Seconds,
    "the mean makespan of the policy with the least mean, over the seeds",
);

/// The distance of the next policy.
const BEHIND: Meaning = Meaning::new(
    "behind_best_s",
    Unit::Seconds,
    "the mean of a policy's makespan less that of the best policy with the same seed",
);

/// Half of its interval.
const HALF_WIDTH: Meaning = Meaning::new(
    "behind_best_half_width_s",
    Unit::Seconds,
    "half of the 95 % interval of behind_best_s",
);

/// The gain over scenario i.
const GAIN: Meaning = Meaning::new(
    "gain_percent",
    Unit::Percent,
    "the mean over the seeds of 100 (T_i - T_iii) / T_i of the best policy",
);

impl Comparison {
    /// Returns the verdict in words.
    pub fn verdict(&self) -> String {
        self.sentence().text().to_owned()
    }

    /// The same with its quantities.
    pub fn sentence(&self) -> Sentence {
        let Some(best) = self.standings.first() else {
            return "No policy ran with all seeds.".into();
        };
        let ties = self.standings.iter().filter(|one| one.ties_with_best);
        let ties: Vec<&Standing> = ties.collect();
        let start = self.static_start.as_ref();
        let sentences = [
            Some(self.first(best, &ties)),
            self.next(),
            self.gain(best),
            start.map(|start| start.sentence(&best.policy)),
        ];
        Sentence::joined(sentences.into_iter().flatten(), " ")
    }

    /// The best policy, or those that are not separated from it.
    fn first(&self, best: &Standing, ties: &[&Standing]) -> Sentence {
        let mean = seconds(&BEST, best.makespan.mean, "s");
        let seeds = self.seeds as u64;
        let basis = if seeds > 1 {
            let shown = counted(seeds, "seed");
            let level = LEVEL.of(95.0).shown_as("95 %");
            say!(" ({}, {})", level, SEEDS.count(seeds).shown_as(shown))
        } else {
            " (one seed: no confidence interval)".into()
        };
        let names: Vec<String> = ties.iter().map(|one| format!("`{}`", one.policy)).collect();
        match names.split_last() {
            Some((last, others)) if !others.is_empty() => {
                let others = others.join(", ");
                if seeds > 1 {
                    say!(
                        "{} and {} are not separated{}: the least mean is {}.",
                        others,
                        last,
                        basis,
                        mean
                    )
                } else {
                    say!(
                        "{} and {} take the same time: {}{}.",
                        others,
                        last,
                        mean,
                        basis
                    )
                }
            }
            _ => say!("`{}` is best: {}{}.", &best.policy, mean, basis),
        }
    }

    /// The next policy after those.
    fn next(&self) -> Option<Sentence> {
        let next = self.standings.iter().find(|one| !one.ties_with_best)?;
        let behind = next.behind?;
        let half = behind.half_width().map_or_else(Sentence::default, |half| {
            say!(" ± {}", seconds(&HALF_WIDTH, half, ""))
        });
        Some(say!(
            "The next one, `{}`, takes {}{} s longer.",
            &next.policy,
            seconds(&BEHIND, behind.mean, ""),
            half
        ))
    }

    /// The gain over scenario i.
    fn gain(&self, best: &Standing) -> Option<Sentence> {
        let gain = best.gain?;
        let half = gain.half_width().unwrap_or(0.0);
        let mean = gain.mean;
        Some(if mean - half > 0.0 {
            let gain = GAIN.of(mean).shown_as(format!("{} %", short(mean)));
            let other = self.static_start.as_ref().filter(|one| !one.is_own);
            let from = other.map_or("at all", |_| "from the same start");
            say!("Against no rescheduling {} it gains {}.", from, gain)
        } else if mean + half < 0.0 {
            "Without any rescheduling the application is faster than with each of them.".into()
        } else if self.seeds > 1 {
            "A gain over no rescheduling at all is not significant.".into()
        } else {
            "It gains nothing over no rescheduling at all.".into()
        })
    }
}

/// A time with few digits, with a unit behind it or none.
fn seconds(meaning: &Meaning, value: f64, unit: &str) -> Quantity {
    let shown = format!("{} {unit}", short(value));
    meaning.of(value).shown_as(shown.trim_end())
}
