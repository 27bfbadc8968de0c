//! The verdict of a comparison of policies: sentences that claim no more than the statistical tests show.

use super::compare::{Comparison, PolicyResults};
use super::stats::{Sample, format_short};
use migsim_base::words::format_count;
use migsim_policies::NEVER;

impl Comparison {
    /// Returns the verdict of the comparison as a text of several sentences.
    pub fn verdict(&self) -> String {
        let Some(best) = self.ranked_policy_results.first() else {
            return "No policy completed its runs with all seeds.".into();
        };
        let ties = self
            .ranked_policy_results
            .iter()
            .filter(|one| one.is_rank_one());
        let ties: Vec<&PolicyResults> = ties.collect();
        if let ([one], [_, ..]) = (&self.ranked_policy_results[..], &self.failed_policies[..]) {
            return format!(
                "Only `{}` completed its runs with all seeds (mean makespan {} s in scenario iii, with migrations), so that nothing is compared. Runs of these policies failed: {}.",
                &one.policy,
                format_short(one.makespan.mean),
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
                format!(
                    "Runs of these policies failed, so that they have no rank: {}.",
                    join_names(&self.failed_policies)
                )
            }),
        ];
        sentences
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Returns the sentence on the best policy, or on the policies that the tests cannot separate from it (`ties`).
    fn best_policy_sentence(&self, best: &PolicyResults, ties: &[&PolicyResults]) -> String {
        let mean = format!("{} s", format_short(best.makespan.mean));
        let names: Vec<String> = ties.iter().map(|one| one.policy.clone()).collect();
        if names.len() > 1 {
            let equal = ties.iter().all(|one| one.makespan == best.makespan);
            return self.not_separated_sentence(&join_names(&names), equal, &mean);
        }
        format!(
            "`{}` is best: its mean makespan in scenario iii (with migrations) is {} ({}).",
            &best.policy,
            mean,
            self.test_conditions_sentence()
        )
    }

    /// Returns the sentence on the number of runs, and on the statistical tests if there are any.
    fn test_conditions_sentence(&self) -> String {
        let seeds = self.test_conditions.seed_count as u64;
        let shown = format_count(seeds, "seed");
        match seeds {
            1 if self.test_conditions.has_random_results => {
                "one seed, therefore without a confidence interval".into()
            }
            1 => "one run of each policy, since nothing is random".into(),
            _ if self.ranked_policy_results.len() == 1 => shown,
            _ => format!(
                "{}; significant at 95 % after Holm's correction for several comparisons; differences up to {}, the margin of indifference, count as none",
                shown,
                self.indifference_margin()
            ),
        }
    }

    /// Returns the sentence on the policies of rank 1, which the tests cannot separate, and on the number of seeds that would
    /// separate them.
    fn not_separated_sentence(&self, names: &str, is_equal: bool, mean: &str) -> String {
        let seeds = self.test_conditions.seed_count as u64;
        if !self.test_conditions.has_random_results {
            return if is_equal {
                format!(
                    "In scenario iii (with migrations), {} take the same time: {} ({}).",
                    names,
                    mean,
                    self.test_conditions_sentence()
                )
            } else {
                format!(
                    "In scenario iii (with migrations), the makespans of {} differ by at most {}, the margin of indifference, and so count as equal: the shortest is {} ({}).",
                    names,
                    self.indifference_margin(),
                    mean,
                    self.test_conditions_sentence()
                )
            };
        }
        if seeds == 1 {
            return format!(
                "With one seed it is unknown whether the makespans of {names} in scenario iii (with migrations) differ only by chance; the shortest is {mean}. Use several seeds (`--seeds`) to see the effect of chance."
            );
        }
        format!(
            "The makespans of {} in scenario iii (with migrations) do not differ significantly with {} (at 95 % after Holm's correction; differences up to {}, the margin of indifference, count as none); the shortest mean makespan is {}. {}",
            names,
            format_count(seeds, "seed"),
            self.indifference_margin(),
            mean,
            self.needed_seeds_sentence(seeds)
        )
    }

    /// Returns the sentence on the number of seeds that would separate the best two policies if their difference stays as it is;
    /// `seeds` is the present number.
    fn needed_seeds_sentence(&self, seeds: u64) -> String {
        let results = &self.ranked_policy_results;
        let [best, next] = [&results[0], &results[1]].map(|one| one.makespan.mean);
        let percent = 100.0 * (next - best) / best;
        let is_within_margin = percent <= self.test_conditions.indifference.percent();
        let shown = format!("{} %", format_short(percent));
        match self.seeds_needed.map(|needed| needed as u64) {
            None if is_within_margin => format!(
                "The best two differ by {shown}, which is within this margin, so that more seeds would not separate them."
            ),
            None => format!(
                "Not even ten thousand seeds would separate the best two, which differ by {shown}: the makespans differ too much from seed to seed."
            ),
            Some(needed) => format!(
                "About {} would separate the best two, if they still differ by {}.",
                format_count(needed.max(seeds + 1), "seed"),
                shown
            ),
        }
    }

    /// Returns the margin of indifference as a quantity that can be inserted into a sentence.
    fn indifference_margin(&self) -> String {
        let percent = self.test_conditions.indifference.percent();
        format!("{percent} %")
    }

    /// Returns the sentence on the first policy whose rank is not 1; `None` if all policies have rank 1.
    fn next_policy_sentence(&self) -> Option<String> {
        let next = self
            .ranked_policy_results
            .iter()
            .find(|one| !one.is_rank_one())?;
        let behind = next.makespan_behind_best_policy?;
        let half = behind
            .confidence_half_width()
            .map_or_else(String::new, |half| format!(" ± {}", format_short(half)));
        Some(format!(
            "The next policy, `{}`, takes {}{} s longer than the best policy.",
            &next.policy,
            format_short(behind.mean),
            half
        ))
    }

    /// Returns the sentence on the reduction of the makespan by the best policy compared with scenario i; `None` if scenario i
    /// was not run.
    ///
    /// Because the best policy is chosen with the same seeds with which its gain is tested, the correction for multiple tests
    /// counts every policy as one test.
    fn gain_sentence(&self, best: &PolicyResults) -> Option<String> {
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
            let gain = format!("{} %", format_short(mean));
            let other = self
                .best_static_start
                .as_ref()
                .filter(|one| !one.is_start_of_policies);
            let from = other.map_or(
                "(scenario i)",
                |_| "(scenario i) from the same initial placement",
            );
            format!(
                "The best policy takes {gain} less time than the application without rescheduling {from}."
            )
        } else if is_shown {
            "The application without rescheduling (scenario i) is faster than with the best policy."
                .into()
        } else if self.test_conditions.has_random_results {
            "The difference between the best policy and the application without rescheduling (scenario i) is not significant.".into()
        } else if best.policy == NEVER {
            return None;
        } else if size.mean > 0.0 {
            format!(
                "`{}` gains {} % over the application without rescheduling (scenario i), which counts as no gain, since it is not above {}, the margin of indifference.",
                &best.policy,
                format_short(mean),
                self.indifference_margin()
            )
        } else {
            format!(
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
