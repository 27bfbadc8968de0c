//! The best static start in a comparison of policies: the initial placement of the processes from which scenario i (no
//! migrations) is fastest.
//!
//! All policies are compared from the same initial placement. A gain that a better initial placement achieves without any
//! migration is no merit of a policy. The comparison therefore also names the built-in mapping rule whose initial placement has
//! the lowest mean makespan of scenario i.

use serde::Serialize;

use super::{
    separate::{TestConditions, paired_difference},
    stats::{Sample, format_short, mean},
};
use migsim_experiment::StaticPlacementMakespan;
use migsim_output::compare_makespans;

/// Makespan from the best static start (the best initial placement without migrations), compared with the best policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BestStaticStart {
    /// Name of the mapping rule that creates this initial placement; `own` for that of the policies, if no rule creates it.
    pub rule: &'static str,
    /// Makespan of scenario i from this initial placement \[s\].
    pub makespan_s: Sample,
    /// Whether the compared policies begin with the same initial placement.
    pub own: bool,
    /// Makespan of scenario i from this initial placement minus the makespan of the best policy with the same seed \[s\]. The best
    /// policy has the lowest mean makespan.
    pub behind_best_s: Sample,
    /// Gain of scenario i from this initial placement over scenario i from the initial placement of the policies \[%\].
    pub gain_percent: Option<Sample>,
    /// Makespan of scenario i from each initial placement.
    #[serde(skip)]
    pub makespans_by_rule: Vec<RuleMakespan>,
    /// Mean makespan of the best policy over the seeds \[s\].
    #[serde(skip)]
    best_policy_makespan: f64,
    /// Description of this initial placement, as the subject of a sentence.
    #[serde(skip)]
    description: &'static str,
}

/// Makespan of scenario i from the initial placement that a mapping rule creates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleMakespan {
    /// Name of the mapping rule.
    pub rule: &'static str,
    /// Makespan of scenario i \[s\].
    pub makespan_s: Sample,
}

impl BestStaticStart {
    /// Returns the label in tables of a run without migrations from this initial placement.
    pub fn table_label(&self) -> String {
        format!("never from {}", self.rule)
    }

    /// Returns a sentence that compares the static start with `policy`, the best of `policies` policies.
    ///
    /// The mapping rule and the policy are chosen from the same seeds. The number of tests is therefore the number of pairs of a
    /// rule and a policy.
    pub(super) fn comparison_sentence(
        &self,
        policy: &str,
        basis: TestConditions,
        policies: usize,
    ) -> String {
        if self.own {
            return "Without moves, no built-in initial placement is faster than that of these runs."
                .into();
        }
        let mean = self.makespan_s.mean;
        let start = format!(
            "the application without moves after {} (`{}`, mean makespan {} s)",
            self.description,
            self.table_label(),
            format_short(mean)
        );
        let margin = basis.indifference_margin(false, self.best_policy_makespan);
        let tests = policies * self.makespans_by_rule.len();
        if !basis.is_significant(self.behind_best_s.abs(), margin, tests) {
            return if basis.has_random_results {
                format!("The difference between `{policy}` and {start} is not significant.")
            } else {
                format!("`{policy}` takes as long as {start}, within the margin of indifference.")
            };
        }
        let (verb, joined) = compare_makespans(self.best_policy_makespan, mean);
        format!("`{policy}` {verb} {joined} {start}.")
    }
}

/// Finds the initial placement with the lowest mean makespan of scenario i (without migrations); `None` if there is no placement
/// with a makespan for each seed.
///
/// `seeds` has the makespans from all initial placements by seed, `best_policy` has the makespans of the best policy by seed \[s\], and `alone` the makespans of scenario i by seed from the
/// initial placement of the compared policies \[s\].
pub(super) fn find_best_static_start(
    seeds: &[&[StaticPlacementMakespan]],
    best_policy: &[f64],
    alone: Option<&[f64]>,
) -> Option<BestStaticStart> {
    let first = seeds.first().filter(|_| seeds.len() == best_policy.len())?;
    // A rule counts if it has a makespan with each seed.
    let times = |rule: &str| -> Option<Vec<f64>> {
        seeds
            .iter()
            .map(|seed| {
                let mut starts = seed.iter();
                Some(starts.find(|one| one.rule_name() == rule)?.makespan_s)
            })
            .collect()
    };
    let all: Vec<_> = first
        .iter()
        .filter_map(|start| Some((start, times(start.rule_name())?)))
        .collect();
    let best = all.iter().min_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)));
    let (start, times) = best?;
    let gain = alone
        .filter(|alone| alone.iter().all(|time| *time > 0.0))
        .and_then(|alone| {
            let gains = times
                .iter()
                .zip(alone)
                .map(|(own, alone)| 100.0 * (alone - own) / alone);
            Sample::from_numbers(&gains.collect::<Vec<f64>>())
        });
    let by_rule = all.iter().filter_map(|(start, times)| {
        Some(RuleMakespan {
            rule: start.rule_name(),
            makespan_s: Sample::from_numbers(times)?,
        })
    });
    Some(BestStaticStart {
        rule: start.rule_name(),
        makespan_s: Sample::from_numbers(times)?,
        own: start.is_initial_placement_of_run,
        behind_best_s: paired_difference(times, best_policy)?.selected_from(all.len()),
        gain_percent: gain,
        makespans_by_rule: by_rule.collect(),
        best_policy_makespan: mean(best_policy),
        description: start.placement_description(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::separate::Indifference;
    use migsim_platform::MappingRule;

    fn seed(contiguous: f64, by_core: f64) -> [StaticPlacementMakespan; 2] {
        [
            StaticPlacementMakespan::new(MappingRule::Contiguous, contiguous, true),
            StaticPlacementMakespan::new(MappingRule::ByCore, by_core, false),
        ]
    }

    fn basis(seeds: usize) -> TestConditions {
        TestConditions {
            seed_count: seeds,
            has_random_results: seeds > 1,
            indifference: Indifference::default(),
        }
    }

    #[test]
    fn the_best_start_is_compared_seed_by_seed() {
        let starts = [seed(30.0, 10.0), seed(32.0, 12.0), seed(34.0, 14.0)];
        let starts = starts.each_ref().map(<[_; 2]>::as_slice);
        // The policy is 12 s behind with each seed: its mean is 24 s, compared with 12 s.
        let best = find_best_static_start(&starts, &[22.0, 24.0, 26.0], Some(&[40.0, 48.0, 56.0]))
            .unwrap();
        assert_eq!((best.rule, best.behind_best_s.mean), ("by-core", -12.0));
        assert_eq!(best.gain_percent.unwrap().mean, 75.0);
        assert_eq!(
            best.comparison_sentence("refine", basis(3), 1),
            "`refine` takes 2.0 times as long as the application without moves after a start of one process per core (`never from by-core`, mean makespan 12.00 s)."
        );
        let unclear = find_best_static_start(&starts, &[9.0, 12.0, 15.1], None).unwrap();
        assert!(
            unclear
                .comparison_sentence("refine", basis(3), 1)
                .ends_with("is not significant.")
        );
        let one = find_best_static_start(&starts[..1], &[8.0], None).unwrap();
        assert!(
            one.comparison_sentence("refine", basis(1), 1)
                .starts_with("`refine` takes 20.0 % less time than the application without moves after a start of one process per core")
        );
    }

    #[test]
    fn the_own_start_may_be_the_best_and_there_may_be_none() {
        let own = find_best_static_start(&[&seed(9.0, 10.0)], &[8.0], None).unwrap();
        assert!(
            own.own
                && own
                    .comparison_sentence("refine", basis(1), 1)
                    .starts_with("Without moves, no built-in initial placement is faster")
        );
        assert!(find_best_static_start(&[], &[8.0], None).is_none());
        assert!(find_best_static_start(&[&[]], &[8.0], None).is_none());
    }
}
