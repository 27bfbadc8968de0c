//! The verdict of a comparison of policies: sentences that claim no more than the statistical tests show.

use std::fmt::Display;

use super::{
    compare::{Comparison, PolicyResults},
    stats::format_short,
};
use migsim_base::words::format_count;
use migsim_policies::NEVER;

/// Share of rare long runs for which the verdict states how often the intervals contain the true value.
const RARE_RUNS: f64 = 0.1;

impl Comparison {
    /// Returns the verdict of the comparison as a text of several sentences.
    pub fn verdict(&self) -> String {
        let Some(best) = self.policies.first() else {
            return "No policy completed its runs with all seeds.".into();
        };
        let ties: Vec<&PolicyResults> = self.policies.iter().filter(|one| one.rank == 1).collect();
        if let ([one], [_, ..]) = (&self.policies[..], &self.failed_policies[..]) {
            return format!(
                "Only `{}` completed its runs with all seeds (mean makespan {} s in scenario iii, with migrations), so that nothing is compared. Runs of these policies failed: {}.",
                &one.policy,
                format_short(one.makespan_s.mean),
                join_names(&self.failed_policies)
            );
        }
        let basis = self.test_conditions;
        let policies = self.policies.len();
        let start = self.best_static_start.as_ref();
        let sentences = [
            Some(self.best_policy_sentence(best, &ties)),
            self.next_policy_sentence(),
            self.gain_sentence(best),
            start.map(|start| start.comparison_sentence(&best.policy, basis, policies)),
            self.required_length_sentence(),
            self.coverage_sentence(),
            self.prices
                .as_ref()
                .map(|prices| format!("Processor time: {prices}.")),
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

    /// Returns the sentence on the best policy, or on the policies that the tests cannot separate from it (`ties`), and on the
    /// number of seeds that would separate them.
    fn best_policy_sentence(&self, best: &PolicyResults, ties: &[&PolicyResults]) -> String {
        let basis = self.test_conditions;
        let mean = format_short(best.makespan_s.mean);
        let margin = basis.indifference.percent();
        let seeds = format_count(basis.seed_count, "seed");
        let how = match basis.seed_count {
            1 if basis.has_random_results => {
                "one seed, therefore without a confidence interval".into()
            }
            1 => "one run of each policy, since nothing is random".into(),
            _ if self.policies.len() == 1 => seeds.clone(),
            _ => format!(
                "{seeds}; significant at 95 % after Holm's correction for several comparisons; differences up to {margin} %, the margin of indifference, count as none"
            ),
        };
        let names = join_names(ties.iter().map(|one| &one.policy));
        if ties.len() < 2 {
            format!(
                "`{}` is best: its mean makespan in scenario iii (with migrations) is {mean} s ({how}).",
                best.policy
            )
        } else if !basis.has_random_results {
            if ties.iter().all(|one| one.makespan_s == best.makespan_s) {
                format!(
                    "In scenario iii (with migrations), {names} take the same time: {mean} s ({how})."
                )
            } else {
                format!(
                    "In scenario iii (with migrations), the makespans of {names} differ by at most {margin} %, the margin of indifference, and so count as equal: the shortest is {mean} s ({how})."
                )
            }
        } else if basis.seed_count == 1 {
            format!(
                "With one seed it is unknown whether the makespans of {names} in scenario iii (with migrations) differ only by chance; the shortest is {mean} s. Use several seeds (`--seeds`) to see the effect of chance."
            )
        } else {
            format!(
                "The makespans of {names} in scenario iii (with migrations) do not differ significantly with {seeds} (at 95 % after Holm's correction; differences up to {margin} %, the margin of indifference, count as none); the shortest mean makespan is {mean} s. {}",
                self.needed_seeds_sentence()
            )
        }
    }

    /// Returns the sentence on the number of seeds that would separate the best two policies if their difference stays as it is.
    fn needed_seeds_sentence(&self) -> String {
        let basis = self.test_conditions;
        let [best, next] = [0, 1].map(|place: usize| self.policies[place].makespan_s.mean);
        let percent = 100.0 * (next - best) / best;
        let shown = format_short(percent);
        match self.seeds_needed {
            None if percent <= basis.indifference.percent() => format!(
                "The best two differ by {shown} %, which is within this margin, so that more seeds would not separate them."
            ),
            None => format!(
                "Not even ten thousand seeds would be sure to separate the best two, which differ by {shown} %: the makespans differ too much from seed to seed."
            ),
            Some(needed) => format!(
                "About {} would separate the best two, compared alone, if they still differ by {shown} %.",
                format_count(needed.max(basis.seed_count + 1), "seed")
            ),
        }
    }

    /// Returns the sentence on rare long runs, which few seeds may miss; `None` if there are no intervals or if the intervals
    /// contain the true value in at least 90 of 100 comparisons in spite of such runs.
    fn coverage_sentence(&self) -> Option<String> {
        let seeds = self.test_conditions.seed_count;
        let seen = 1.0 - (1.0 - RARE_RUNS).powf(seeds as f64);
        (self.test_conditions.are_tests_possible() && seen < 0.9).then(|| {
            format!(
                "With {seeds} seeds, the intervals (±) contain the true value in 95 of 100 comparisons; if one run in ten takes much longer than the others, only {:.0} of 100 comparisons have such a run, and the intervals of the others are too short.",
                100.0 * seen
            )
        })
    }

    /// Returns the sentence on the first policy whose rank is not 1; `None` if all policies have rank 1.
    fn next_policy_sentence(&self) -> Option<String> {
        let next = self.policies.iter().find(|one| one.rank > 1)?;
        let behind = next.behind_best_s?.format();
        let name = &next.policy;
        Some(format!(
            "The next policy, `{name}`, takes {behind} s longer than the best policy."
        ))
    }

    /// Returns the sentence on the reduction of the makespan by the best policy compared with scenario i; `None` if scenario i
    /// was not run.
    ///
    /// Because the best policy is chosen with the same seeds with which its gain is tested, the correction for multiple tests
    /// counts every policy as one test.
    fn gain_sentence(&self, best: &PolicyResults) -> Option<String> {
        let gain = best.gain_percent?;
        let mean = gain.mean;
        let size = gain.abs();
        let margin = self.test_conditions.indifference.percent();
        let is_shown = self
            .test_conditions
            .is_significant(size, margin, self.policies.len());
        Some(if is_shown && mean > 0.0 {
            let from = match self.other_static_start() {
                Some(_) => " from the same initial placement",
                None => "",
            };
            format!(
                "The best policy takes {} % less time than the application without rescheduling (scenario i){from}.",
                format_short(mean)
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
                "`{}` gains {} % over the application without rescheduling (scenario i), which counts as no gain, since it is not above {margin} %, the margin of indifference.",
                best.policy,
                format_short(mean)
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
pub(crate) fn join_names(names: impl IntoIterator<Item = impl Display>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}
