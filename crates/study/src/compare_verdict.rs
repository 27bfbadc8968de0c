//! The verdict of a comparison of policies: sentences that claim no more than the statistical tests show.

use super::compare::{Comparison, PolicyResults};
use super::stats::{Sample, format_short};
use migsim_base::words::format_count;
use migsim_policies::NEVER;
use migsim_policies::explain::{Meaning, Quantity, Sentence, Unit, say};

/// Meaning of the quantity `confidence_percent`: the confidence level of the intervals \[%\].
const CONFIDENCE_LEVEL: Meaning = Meaning::new(
    "confidence_percent",
    Unit::Percent,
    "the level of the confidence intervals",
);

/// Meaning of the quantity `seeds`: the number of seeds with which each policy ran.
const SEEDS: Meaning = Meaning::new("seeds", Unit::Count, "the number of seeds");

/// Meaning of the quantity `indifference_percent`: the margin of indifference, up to which a slower policy counts as equally fast
/// \[% of the best mean makespan\].
const INDIFFERENCE_MARGIN: Meaning = Meaning::new(
    "indifference_percent",
    Unit::Percent,
    "the margin of indifference: a policy counts as slower if it is slower by more than this, in percent of the best mean makespan",
);

/// Meaning of the quantity `seeds_needed`: the number of seeds with which the tests would separate a given difference of
/// makespans.
const SEEDS_NEEDED: Meaning = Meaning::new(
    "seeds_needed",
    Unit::Count,
    "the number of seeds that would separate the best two policies with a probability of 80 %, if their difference and its deviation stay",
);

/// Meaning of the quantity `best_two_difference_percent`: the difference between the mean makespans of the best two policies, to
/// which the number of seeds needed refers \[% of the best mean makespan\].
const BEST_TWO_DIFFERENCE: Meaning = Meaning::new(
    "best_two_difference_percent",
    Unit::Percent,
    "the difference between the mean makespans of the best two policies, in percent of the best mean makespan",
);

/// Meaning of the quantity `best_makespan_s`: the lowest mean makespan of a policy over the seeds \[s\].
const BEST_MAKESPAN: Meaning = Meaning::new(
    "best_makespan_s",
    Unit::Seconds,
    "the mean makespan of the policy with the least mean, over the seeds",
);

/// Meaning of the quantity `behind_best_s`: the makespan of a policy minus the makespan of the best policy with the same seed,
/// mean over the seeds \[s\].
const BEHIND_BEST: Meaning = Meaning::new(
    "behind_best_s",
    Unit::Seconds,
    "the mean of a policy's makespan less that of the best policy with the same seed",
);

/// Meaning of the quantity `behind_best_half_width_s`: half the width of the 95 % confidence interval of `behind_best_s` \[s\].
const HALF_WIDTH: Meaning = Meaning::new(
    "behind_best_half_width_s",
    Unit::Seconds,
    "half of the 95 % interval of behind_best_s",
);

/// Meaning of the quantity `gain_percent`: the reduction of the makespan by the best policy compared with scenario i (no
/// rescheduling), mean over the seeds \[%\].
const GAIN: Meaning = Meaning::new(
    "gain_percent",
    Unit::Percent,
    "the mean over the seeds of 100 (T_i - T_iii) / T_i of the best policy",
);

impl Comparison {
    /// Returns the verdict of the comparison as a text of several sentences.
    pub fn verdict(&self) -> String {
        self.verdict_sentence().text().to_owned()
    }

    /// Returns the verdict of the comparison as a [`Sentence`], which holds, beside the text, each quantity in it.
    pub fn verdict_sentence(&self) -> Sentence {
        let Some(best) = self.ranked_policy_results.first() else {
            return "No policy completed its runs with all seeds.".into();
        };
        let ties = self
            .ranked_policy_results
            .iter()
            .filter(|one| one.is_rank_one());
        let ties: Vec<&PolicyResults> = ties.collect();
        if let ([one], [_, ..]) = (&self.ranked_policy_results[..], &self.failed_policies[..]) {
            return say!(
                "Only `{}` completed its runs with all seeds (mean makespan {} in scenario iii, with migrations), so that nothing is compared. Runs of these policies failed: {}.",
                &one.policy,
                seconds_quantity(&BEST_MAKESPAN, one.makespan.mean, "s"),
                join_names(&self.failed_policies)
            );
        }
        let start = self.best_static_start.as_ref();
        let sentences = [
            Some(self.best_policy_sentence(best, &ties)),
            self.next_policy_sentence(),
            self.gain_sentence(best),
            start.map(|start| {
                start.comparison_sentence(
                    &best.policy,
                    self.test_conditions,
                    self.ranked_policy_results.len(),
                )
            }),
            self.required_length_sentence(),
            (!self.failed_policies.is_empty()).then(|| {
                say!(
                    "Runs of these policies failed, so that they have no rank: {}.",
                    join_names(&self.failed_policies)
                )
            }),
        ];
        Sentence::joined(sentences.into_iter().flatten(), " ")
    }

    /// Returns the sentence on the best policy, or on the policies that the tests cannot separate from it (`ties`).
    fn best_policy_sentence(&self, best: &PolicyResults, ties: &[&PolicyResults]) -> Sentence {
        let mean = seconds_quantity(&BEST_MAKESPAN, best.makespan.mean, "s");
        let names: Vec<String> = ties.iter().map(|one| one.policy.clone()).collect();
        if names.len() > 1 {
            let equal = ties.iter().all(|one| one.makespan == best.makespan);
            return self.not_separated_sentence(join_names(&names), equal, mean);
        }
        say!(
            "`{}` is best: its mean makespan in scenario iii (with migrations) is {} ({}).",
            &best.policy,
            mean,
            self.test_conditions_sentence()
        )
    }

    /// Returns the sentence on the number of runs, and on the statistical tests if there are any.
    fn test_conditions_sentence(&self) -> Sentence {
        let seeds = self.test_conditions.seed_count as u64;
        let shown = SEEDS
            .with_count(seeds)
            .with_shown_text(format_count(seeds, "seed"));
        match seeds {
            1 if self.test_conditions.has_random_results => {
                "one seed, therefore without a confidence interval".into()
            }
            1 => "one run of each policy, since nothing is random".into(),
            _ if self.ranked_policy_results.len() == 1 => shown.into(),
            _ => say!(
                "{}; significant at {} after Holm's correction for several comparisons; differences up to {}, the margin of indifference, count as none",
                shown,
                CONFIDENCE_LEVEL.with_value(95.0).with_shown_text("95 %"),
                self.indifference_margin_quantity()
            ),
        }
    }

    /// Returns the sentence on the policies of rank 1, which the tests cannot separate, and on the number of seeds that would
    /// separate them.
    fn not_separated_sentence(&self, names: String, is_equal: bool, mean: Quantity) -> Sentence {
        let seeds = self.test_conditions.seed_count as u64;
        if !self.test_conditions.has_random_results {
            return if is_equal {
                say!(
                    "In scenario iii (with migrations), {} take the same time: {} ({}).",
                    names,
                    mean,
                    self.test_conditions_sentence()
                )
            } else {
                say!(
                    "In scenario iii (with migrations), the makespans of {} differ by at most {}, the margin of indifference, and so count as equal: the shortest is {} ({}).",
                    names,
                    self.indifference_margin_quantity(),
                    mean,
                    self.test_conditions_sentence()
                )
            };
        }
        if seeds == 1 {
            return say!(
                "With one seed it is unknown whether the makespans of {} in scenario iii (with migrations) differ only by chance; the shortest is {}. Use several seeds (`--seeds`) to see the effect of chance.",
                names,
                mean
            );
        }
        say!(
            "The makespans of {} in scenario iii (with migrations) do not differ significantly with {} (at {} after Holm's correction; differences up to {}, the margin of indifference, count as none); the shortest mean makespan is {}. {}",
            names,
            SEEDS
                .with_count(seeds)
                .with_shown_text(format_count(seeds, "seed")),
            CONFIDENCE_LEVEL.with_value(95.0).with_shown_text("95 %"),
            self.indifference_margin_quantity(),
            mean,
            self.needed_seeds_sentence(seeds)
        )
    }

    /// Returns the sentence on the number of seeds that would separate the best two policies if their difference stays as it is;
    /// `seeds` is the present number.
    fn needed_seeds_sentence(&self, seeds: u64) -> Sentence {
        let results = &self.ranked_policy_results;
        let [best, next] = [&results[0], &results[1]].map(|one| one.makespan.mean);
        let percent = 100.0 * (next - best) / best;
        let is_within_margin = percent <= self.test_conditions.indifference.percent();
        let shown = BEST_TWO_DIFFERENCE
            .with_value(percent)
            .with_shown_text(format!("{} %", format_short(percent)));
        match self.seeds_needed.map(|needed| needed as u64) {
            None if is_within_margin => say!(
                "The best two differ by {}, which is within this margin, so that more seeds would not separate them.",
                shown
            ),
            None => say!(
                "Not even ten thousand seeds would separate the best two, which differ by {}: the makespans differ too much from seed to seed.",
                shown
            ),
            Some(needed) => say!(
                "About {} would separate the best two, if they still differ by {}.",
                SEEDS_NEEDED
                    .with_count(needed.max(seeds + 1))
                    .with_shown_text(format_count(needed.max(seeds + 1), "seed")),
                shown
            ),
        }
    }

    /// Returns the margin of indifference as a quantity that can be inserted into a sentence.
    fn indifference_margin_quantity(&self) -> Quantity {
        let percent = self.test_conditions.indifference.percent();
        INDIFFERENCE_MARGIN
            .with_value(percent)
            .with_shown_text(format!("{percent} %"))
    }

    /// Returns the sentence on the first policy whose rank is not 1; `None` if all policies have rank 1.
    fn next_policy_sentence(&self) -> Option<Sentence> {
        let next = self
            .ranked_policy_results
            .iter()
            .find(|one| !one.is_rank_one())?;
        let behind = next.makespan_behind_best_policy?;
        let half = behind
            .confidence_half_width()
            .map_or_else(Sentence::default, |half| {
                say!(" ± {}", seconds_quantity(&HALF_WIDTH, half, ""))
            });
        Some(say!(
            "The next policy, `{}`, takes {}{} s longer than the best policy.",
            &next.policy,
            seconds_quantity(&BEHIND_BEST, behind.mean, ""),
            half
        ))
    }

    /// Returns the sentence on the reduction of the makespan by the best policy compared with scenario i; `None` if scenario i
    /// was not run.
    ///
    /// Because the best policy is chosen with the same seeds with which its gain is tested, the correction for multiple tests
    /// counts every policy as one test.
    fn gain_sentence(&self, best: &PolicyResults) -> Option<Sentence> {
        let gain = best.gain?;
        let mean = gain.mean;
        let size = Sample {
            mean: mean.abs(),
            ..gain
        };
        let margin = self.test_conditions.indifference.percent();
        let is_shown =
            self.test_conditions
                .is_significant(size, margin, self.ranked_policy_results.len());
        Some(if is_shown && mean > 0.0 {
            let gain = GAIN
                .with_value(mean)
                .with_shown_text(format!("{} %", format_short(mean)));
            let other = self
                .best_static_start
                .as_ref()
                .filter(|one| !one.is_start_of_policies);
            let from = other.map_or(
                "(scenario i)",
                |_| "(scenario i) from the same initial placement",
            );
            say!(
                "The best policy takes {} less time than the application without rescheduling {}.",
                gain,
                from
            )
        } else if is_shown {
            "The application without rescheduling (scenario i) is faster than with the best policy."
                .into()
        } else if self.test_conditions.has_random_results {
            "The difference between the best policy and the application without rescheduling (scenario i) is not significant.".into()
        } else if best.policy == NEVER {
            return None;
        } else if size.mean > 0.0 {
            say!(
                "`{}` gains {} over the application without rescheduling (scenario i), which counts as no gain, since it is not above {}, the margin of indifference.",
                &best.policy,
                GAIN.with_value(mean)
                    .with_shown_text(format!("{} %", format_short(mean))),
                self.indifference_margin_quantity()
            )
        } else {
            say!(
                "`{}` gains nothing over the application without rescheduling (scenario i).",
                &best.policy
            )
        })
    }
}

/// Joins names in backticks with commas, and with `and` before the last name.
pub(crate) fn join_names(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// Returns a time as a quantity of a sentence, shown with few digits and followed by `unit`.
fn seconds_quantity(meaning: &Meaning, value: f64, unit: &str) -> Quantity {
    let shown = format!("{} {unit}", format_short(value));
    meaning.with_value(value).with_shown_text(shown.trim_end())
}
