//! The default start (placement of processes) of a run without a mapping, and the makespans from other starts with which a run is
//! compared.

use super::built_in;
use super::config::{ExperimentConfig, MappingKey};
use migsim_platform::{LoadedPlatform, Rule};

/// Returns whether a paper used the platform. On such a platform the start is contiguous, and no other start is simulated.
pub(super) fn is_of_a_paper(platform: &LoadedPlatform) -> bool {
    platform.built_in.is_some_and(built_in::is_of_a_paper)
}

/// Returns the default mapping rule of the start on a platform. A recorded program does not use the start of a paper.
pub(super) fn default_rule(platform: &LoadedPlatform, is_recorded: bool) -> Rule {
    if is_of_a_paper(platform) && !is_recorded {
        Rule::Contiguous
    } else {
        Rule::USUAL
    }
}

/// Sets the mapping to the default rule if the settings contain no mapping.
pub(super) fn fill_in_mapping(config: &mut ExperimentConfig, platform: &LoadedPlatform, is_recorded: bool) {
    let usual = || MappingKey::Text(default_rule(platform, is_recorded).name().to_owned());
    config.mapping.get_or_insert_with(usual);
}

/// The makespan of scenario i from the start of one mapping rule.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct StaticStart {
    /// The rule that places the processes at the start.
    pub rule: Rule,
    /// The makespan of scenario i \[s\].
    pub makespan_s: f64,
    /// Whether this start equals the start of the run.
    pub is_start_of_run: bool,
}

impl StaticStart {
    /// Creates the record of a start with the makespan of scenario i \[s\].
    pub const fn new(rule: Rule, makespan_s: f64, is_own: bool) -> Self {
        Self {
            rule,
            makespan_s,
            is_start_of_run: is_own,
        }
    }

    /// Describes the start in words, as the subject of a sentence.
    pub fn description(&self) -> &'static str {
        match self.rule {
            Rule::Contiguous => "a start of one process per host",
            Rule::RoundRobin => "a start in turn over the clusters",
            Rule::ByCore => "a start by cores",
            Rule::BySpeed => "a start by speed",
            Rule::FastFirst => "a start on the fastest cores",
        }
    }
}

/// Returns the start with the shortest makespan of scenario i; of several equal makespans, the first start.
pub fn best_start(starts: &[StaticStart]) -> Option<&StaticStart> {
    let by_makespan = |a: &&StaticStart, b: &&StaticStart| a.makespan_s.total_cmp(&b.makespan_s);
    starts.iter().min_by(by_makespan)
}
