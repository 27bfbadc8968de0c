//! The best static start in a comparison of policies: the initial placement of the processes from which scenario i (no
//! migrations) is fastest.
//!
//! All policies are compared from the same initial placement. A gain that a better initial placement achieves without any
//! migration is no merit of a policy. The comparison therefore also names the built-in mapping rule whose initial placement has
//! the lowest mean makespan of scenario i.

use super::separate::TestConditions;
use super::stats::{Sample, format_short};
use migsim_experiment::StaticPlacementMakespan;
use migsim_output::compare_makespans;

/// Makespan from the best static start (the best initial placement without migrations), compared with the best policy.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BestStaticStart {
    /// Name of the mapping rule that creates this initial placement; `own` for that of the policies, if no rule creates it.
    pub mapping_rule: &'static str,
    /// Makespan of scenario i from this initial placement \[s\], over the seeds.
    pub makespan: Sample,
    /// Whether the compared policies begin with the same initial placement.
    pub is_start_of_policies: bool,
    /// Makespan of scenario i from this initial placement minus the makespan of the best policy with the same seed \[s\], over
    /// the seeds. The best policy has the lowest mean makespan.
    pub behind_best_policy: Sample,
    /// Gain of scenario i from this initial placement over scenario i from the initial placement of the policies \[%\], over the
    /// seeds.
    pub gain_percent: Option<Sample>,
    /// Makespan of scenario i \[s\], over the seeds, from each initial placement, by the name of its
    /// mapping rule.
    pub makespans_by_rule: Vec<(&'static str, Sample)>,
    /// Mean makespan of the best policy over the seeds \[s\].
    best_policy_makespan: f64,
    /// Description of this initial placement, as the subject of a sentence.
    description: &'static str,
}

impl BestStaticStart {
    /// Returns the label in tables of a run without migrations from this initial placement.
    pub fn table_label(&self) -> String {
        format!("never from {}", self.mapping_rule)
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
        if self.is_start_of_policies {
            return "Without moves, no built-in initial placement is faster than that of these runs."
                .into();
        }
        let mean = self.makespan.mean;
        let start = format!(
            "the application without moves after {} (`{}`, mean makespan {} s)",
            self.description,
            self.table_label(),
            format_short(mean)
        );
        let margin = basis.indifference_margin(false, self.best_policy_makespan);
        let tests = policies * self.makespans_by_rule.len();
        let size = Sample {
            mean: self.behind_best_policy.mean.abs(),
            ..self.behind_best_policy
        };
        if !basis.is_significant(size, margin, tests) {
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
/// `starts` has, for each seed, the results from the initial placement of each mapping rule. `best_policy` has the makespans of
/// the best policy by seed \[s\], and `alone` the makespans of scenario i by seed from the initial placement of the compared
/// policies \[s\].
pub(super) fn find_best_static_start(
    starts: &[Vec<StaticPlacementMakespan>],
    best_policy: &[f64],
    alone: Option<&[f64]>,
) -> Option<BestStaticStart> {
    let first = starts.first()?;
    if starts.len() != best_policy.len() {
        return None;
    }
    // A rule counts if it has a makespan with each seed.
    let times = |rule: &str| -> Option<Vec<f64>> {
        let found = starts.iter().map(|seed| {
            let start = seed.iter().find(|one| one.rule_name() == rule)?;
            Some(start.makespan_s)
        });
        found.collect()
    };
    let mut all = Vec::new();
    let mut best: Option<(&StaticPlacementMakespan, Vec<f64>, Sample)> = None;
    for start in first {
        let Some(times) = times(start.rule_name()) else {
            continue;
        };
        let sample = Sample::from_numbers(&times)?;
        all.push((start.rule_name(), sample));
        if best.as_ref().is_none_or(|best| sample.mean < best.2.mean) {
            best = Some((start, times, sample));
        }
    }
    let (start, times, makespan) = best?;
    let behind = times.iter().zip(best_policy);
    let behind: Vec<f64> = behind.map(|(own, best)| own - best).collect();
    let gain = alone.filter(|alone| alone.iter().all(|time| *time > 0.0));
    let gain = gain.map(|alone| {
        let each = times.iter().zip(alone);
        each.map(|(own, alone)| 100.0 * (alone - own) / alone)
            .collect::<Vec<f64>>()
    });
    Some(BestStaticStart {
        mapping_rule: start.rule_name(),
        makespan,
        is_start_of_policies: start.is_initial_placement_of_run,
        behind_best_policy: Sample::from_numbers(&behind)?,
        gain_percent: gain.and_then(|gain| Sample::from_numbers(&gain)),
        makespans_by_rule: all,
        best_policy_makespan: Sample::from_numbers(best_policy)?.mean,
        description: start.placement_description(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::separate::Indifference;
    use migsim_platform::MappingRule;

    fn seed(contiguous: f64, by_core: f64) -> Vec<StaticPlacementMakespan> {
        vec![
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
        // The policy is 12 s behind with each seed: its mean is 24 s, compared with 12 s.
        let best = find_best_static_start(&starts, &[22.0, 24.0, 26.0], Some(&[40.0, 48.0, 56.0]))
            .unwrap();
        assert_eq!(
            (best.mapping_rule, best.behind_best_policy.mean),
            ("by-core", -12.0)
        );
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
        let own = find_best_static_start(&[seed(9.0, 10.0)], &[8.0], None).unwrap();
        assert!(
            own.is_start_of_policies
                && own
                    .comparison_sentence("refine", basis(1), 1)
                    .starts_with("Without moves, no built-in initial placement is faster")
        );
        assert!(find_best_static_start(&[], &[8.0], None).is_none());
        assert!(find_best_static_start(&[Vec::new()], &[8.0], None).is_none());
    }
}
