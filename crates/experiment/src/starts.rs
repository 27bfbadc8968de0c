//! The default placement of the processes at the start of a run without a mapping, and the makespans of scenario i from other
//! initial placements, with which the run is compared.

use super::{
    built_in,
    config::{ExperimentConfig, MappingKey},
};
use migsim_platform::{LoadedPlatform, MappingRule};

/// Returns whether a paper used the platform. On such a platform the initial placement is contiguous, and no other initial
/// placement is simulated.
pub(super) fn is_paper_platform(platform: &LoadedPlatform) -> bool {
    platform
        .equal_built_in_platform
        .is_some_and(built_in::is_paper_platform)
}

/// Returns the rule by which processes are placed if the settings contain no mapping: `contiguous` on a platform of a paper,
/// unless the application is a recorded program; otherwise [`MappingRule::DEFAULT`].
pub(super) fn default_mapping_rule(platform: &LoadedPlatform, is_recorded: bool) -> MappingRule {
    if is_paper_platform(platform) && !is_recorded {
        MappingRule::Contiguous
    } else {
        MappingRule::DEFAULT
    }
}

/// Sets the mapping of processes to hosts to the default rule of the platform if the settings contain no mapping.
pub(super) fn set_default_mapping(
    config: &mut ExperimentConfig,
    platform: &LoadedPlatform,
    is_recorded: bool,
) {
    config.mapping.get_or_insert_with(|| {
        MappingKey::Text(
            default_mapping_rule(platform, is_recorded)
                .name()
                .to_owned(),
        )
    });
}

/// The makespan of scenario i (without migrations) from one initial placement; it serves as a reference for gains.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct StaticPlacementMakespan {
    /// The rule that places the processes at the start; `None` for the initial placement of the run, if no rule yields it.
    pub mapping_rule: Option<MappingRule>,
    /// The makespan of scenario i from this initial placement \[s\].
    pub makespan_s: f64,
    /// Whether this initial placement equals the initial placement of the run.
    pub is_initial_placement_of_run: bool,
}

impl StaticPlacementMakespan {
    /// Name that stands for a rule where the run has an initial placement that no rule yields.
    pub const OWN: &str = "own";

    /// Creates the record of the makespan of scenario i \[s\] from the initial placement of a rule; `is_own` states whether the
    /// run has the same initial placement.
    pub fn new(rule: impl Into<Option<MappingRule>>, makespan_s: f64, is_own: bool) -> Self {
        Self {
            mapping_rule: rule.into(),
            makespan_s,
            is_initial_placement_of_run: is_own,
        }
    }

    /// Describes the initial placement in words that can begin a sentence: `a start of one process per host`.
    pub fn placement_description(&self) -> &'static str {
        match self.mapping_rule {
            None => "the start of these runs",
            Some(MappingRule::Contiguous) => "a start of one process per host",
            Some(MappingRule::RoundRobin) => "a start on all clusters in turn",
            Some(MappingRule::ByCore) => "a start of one process per core",
            Some(MappingRule::BySpeed) => "a start in proportion to the speeds of the hosts",
            Some(MappingRule::FastFirst) => "a start on the fastest cores",
        }
    }

    /// Returns the name of the mapping rule, or [`Self::OWN`].
    pub fn rule_name(&self) -> &'static str {
        self.mapping_rule.map_or(Self::OWN, MappingRule::name)
    }
}

/// Returns the initial placement with the shortest makespan of scenario i, or the first of several with this makespan; `None` if
/// the list is empty.
pub fn best_static_placement(
    starts: &[StaticPlacementMakespan],
) -> Option<&StaticPlacementMakespan> {
    starts.iter().min_by(
        |a: &&StaticPlacementMakespan, b: &&StaticPlacementMakespan| {
            a.makespan_s.total_cmp(&b.makespan_s)
        },
    )
}
