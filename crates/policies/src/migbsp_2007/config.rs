//! The options of the first generation of MigBSP: the parameters of the 2007 paper, and one named option for each point that the
//! paper leaves open.
//!
//! The paper states few values. The comment of each option gives the source of its default: *stated* in the paper, *example* (a
//! number by which the paper explains something), or *chosen* for migsim. A1..A37 and w07-x.. are the project's numbers of the
//! papers' ambiguities and contradictions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    migbsp::{
        CommunicationTime, Floor, MigBspConfig, OwnCluster, Patterns, Population, ToleranceGrowth,
    },
    strategy::range_problem,
};
use migsim_base::{
    error::Problem,
    units::{Bytes, Seconds},
};

/// The host that exchanges a ping-pong message with a process to measure the transfer time within the process's own cluster
/// (contradiction w07-x07).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OwnPartner {
    /// The next host after the host of the process; for the last host of the cluster it is the first host.
    Next,
    /// Another host of the cluster, drawn from the seeded random numbers of the policy (section 2.3.3).
    Random,
}

/// The load of a processor that is subtracted from its computing power, load(p) in equation 10 (ambiguity A16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// All load of the processor: the external load and the processes of the application.
    Measured,
    /// Only the external load of the processor, without the processes of the application.
    External,
}

/// The options of the policy `migbsp-2007`, which is MigBSP as in the paper of 2007 (the first generation).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MigBsp2007Config {
    /// Number α of supersteps until the first call, at least 1. After this call the policy adapts α, but not below 1 (algorithm
    /// 1). Default chosen as in the LU paper, since the 2007 paper gives no value.
    pub alpha: u32,
    /// Tolerance D of the stability test. A superstep is stable if the times of all processes lie within avg·(1 ± D); a share,
    /// from 0 to 10. Default chosen as in the LU paper, since the 2007 paper gives no value.
    pub d: f64,
    /// The processes whose times the stability test compares (stated: all, section 2.2; ambiguity A3).
    pub population: Population,
    /// Margin δ: the largest relative difference between a predicted and a measured number of instructions at which the forecast
    /// counts as right; in \[0, 1\] (example: 0.1, section 2.3.1).
    pub delta: f64,
    /// Margin β: the largest relative difference between a predicted and a measured number of bytes at which the forecast counts
    /// as right; in \[0, 1\]. The default is chosen as for δ, since the paper gives no value.
    pub beta: f64,
    /// The time for which Pproc and Pcom, the regularities of computation and communication, are kept. The paper states for Pproc
    /// that it starts at 1 and is never reset (algorithm 2). It leaves Pcom open (ambiguity A7), which is treated in the same
    /// way.
    pub patterns: Patterns,
    /// The size of each of the two messages of the ping-pong that measures the transfer index IT (the relative transfer time to a
    /// cluster). By default it is the memory image of the process (stated, section 2.3.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ping: Option<Bytes>,
    /// The host that is the partner of the ping-pong within a process's own cluster (chosen: the next host; the paper draws one
    /// at random, contradiction w07-x07).
    pub own_partner: OwnPartner,
    /// Whether the present cluster of a process is included when its highest potential of migration PM is determined (stated:
    /// yes, section 2.3.3; ambiguity A31). If the cluster is included, a process may move inside it: `competes` and `within` have
    /// the same effect in this policy.
    pub own_cluster: OwnCluster,
    /// The value that the highest potential of migration PM of a process must exceed for a migration; from -1 to 2 (example: 1.5,
    /// section 2.3.4). It is a value of PM, not a share of the highest PM as in the later papers (contradiction w07-x11).
    pub threshold: f64,
    /// The load of a processor that load(p) in equation 10 counts (stated: all its load, section 2.4; ambiguity A16).
    pub load: Load,
    /// The period over which load(p) is averaged, at most the time since the start of the run (stated: 15 minutes, section 2.4).
    pub load_window: Seconds,
    /// The number of calls at the start of a run whose decision records have every term of every potential of migration PM
    /// (chosen). The records of later calls have only the candidates. Since α can fall to 1, a run can have a call after each
    /// superstep.
    pub explained_calls: u32,
}

impl Default for MigBsp2007Config {
    fn default() -> Self {
        Self {
            alpha: 4,
            d: 0.5,
            population: Population::All,
            delta: 0.1,
            beta: 0.1,
            patterns: Patterns::Kept,
            ping: None,
            own_partner: OwnPartner::Next,
            own_cluster: OwnCluster::Competes,
            threshold: 1.5,
            load: Load::Measured,
            load_window: Seconds::of(900.0),
            explained_calls: 64,
        }
    }
}

impl MigBsp2007Config {
    /// Returns an error for each option that is out of range, with the key of the option.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = self.second_generation_options().problems();
        let mut check = |key: &str, is_right: bool, value: &dyn std::fmt::Display, range: &str| {
            problems.extend((!is_right).then(|| range_problem(key, value, range)));
        };
        let is_right = (-1.0..=2.0).contains(&self.threshold);
        let range = "from -1 to 2, the range of the potential of migration";
        check("threshold", is_right, &self.threshold, range);
        let window = self.load_window;
        check(
            "load_window",
            window.get() > 0.0,
            &window,
            "longer than 0 s",
        );
        if let Some(ping) = self.ping {
            check("ping", ping.get() > 0.0, &ping, "more than 0 B");
        }
        problems
    }

    /// Returns the options with which the trigger and the forecasts of the second generation of MigBSP work as in the first
    /// generation (algorithms 1 to 3).
    pub(super) fn second_generation_options(&self) -> MigBspConfig {
        MigBspConfig {
            alpha: self.alpha,
            floor: Floor::One,
            d: self.d,
            d_growth: ToleranceGrowth::Never,
            population: self.population,
            delta: self.delta,
            beta: self.beta,
            patterns: self.patterns,
            communication_time: CommunicationTime::Larger,
            ..MigBspConfig::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MigBsp2007, Policy};

    #[test]
    fn options_reach_what_they_are_for() {
        let config = MigBsp2007Config {
            patterns: Patterns::EachCall,
            d: 0.75,
            ..MigBsp2007Config::default()
        };
        let shared = config.second_generation_options();
        assert_eq!(shared.d, 0.75);
        assert_eq!(shared.patterns, Patterns::EachCall);
        // Only randomly drawn partners need the seed.
        for (own_partner, is_drawn) in [(OwnPartner::Next, false), (OwnPartner::Random, true)] {
            let policy = MigBsp2007::new(MigBsp2007Config {
                own_partner,
                ..MigBsp2007Config::default()
            });
            assert_eq!(policy.unwrap().uses_seed(), is_drawn);
        }
    }
}
