//! MigBSP, second generation: when (α, D, ω), which (PM), where (ICPU) and whether (t1 > t2) processes migrate.
//!
//! ```text
//! observe ──> trigger    stable? α' ± 1; a call every α supersteps
//!         └─> forecast   PI, CTP, BTP age by half; Pcomp, Pcomm
//! decide  ──> potential  PM(i,j) = Comp + Comm - Mem; candidates above x · max
//!         └─> viability  destination, t1 against t2, reservation
//! settle  ──> trigger    D grows after ω calls without migration; α := α'
//! ```
//! Sources: da Rosa Righi et al., the LU, Lattice Boltzmann and Smith-Waterman papers on MigBSP; the order of one call follows
//! their texts. Where they are silent each reading is an option ([`MigBspConfig`]). The first generation, the paper of 2007, is
//! [`wsppd2007`].

mod config;
mod forecast;
mod potential;
#[cfg(test)]
mod tests;
mod trigger;
mod viability;
pub mod wsppd2007;

use serde_json::{Map, Value, json};

pub use config::{
    AfterMigration, CallingSuperstep, CandidateOrder, CommunicationPattern, CommunicationTime,
    FirstTest, Floor, FreeHost, FullCluster, Heuristic, Horizon, HostLoad, IdleAgeing, IdlePattern,
    IdleSuperstep, IndexForm, MemoryOrigin, MemoryRate, MigBspConfig, OwnCluster, Population,
    PotentialCommunication, ProcessTime, QuietCall, SetIndex, Sharing, ThresholdMeaning,
    ToleranceGrowth, ToleranceTrigger, ViabilityCommunication,
};

use self::forecast::Forecasts;
use self::potential::{Potential, backbone, candidates, potentials, supersteps};
use self::trigger::Trigger;
use self::viability::{Call, Reservations};
use super::{Candidate, Decision, Migration, Options, Policy, View};
use crate::error::Error;
use crate::random::Stream;

/// The policy.
#[derive(Clone, Debug)]
pub struct MigBsp {
    config: MigBspConfig,
    trigger: Trigger,
    forecasts: Forecasts,
    /// Migrations that the last call decided.
    decided: usize,
}

impl MigBsp {
    /// MigBSP with these options.
    ///
    /// # Errors
    /// Options are out of range; all of them are named.
    pub fn new(config: MigBspConfig) -> Result<Self, Error> {
        let problems = config.problems();
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        Ok(Self {
            trigger: Trigger::new(&config),
            forecasts: Forecasts::default(),
            decided: 0,
            config,
        })
    }

    fn explain(
        &self,
        all: &[Potential],
        threshold: Option<f64>,
        view: &View<'_>,
    ) -> Map<String, Value> {
        let interval = self.trigger.interval();
        let terms = |potential: &Potential| {
            json!({
                "process": potential.process + 1,
                "cluster": view.platform.clusters[potential.cluster].name,
                "compute_s": potential.compute,
                "communication_s": potential.communication,
                "memory_s": potential.memory,
                "potential_s": potential.value(),
            })
        };
        let highest = all.iter().map(Potential::value).reduce(f64::max);
        let fields = json!({
            "alpha": interval.alpha,
            "next_alpha": interval.next_alpha,
            "d": interval.tolerance,
            "quiet_calls": interval.quiet_calls,
            "votes": interval.votes,
            "highest_potential_s": highest,
            "threshold_s": threshold,
            "potentials": all.iter().map(terms).collect::<Vec<_>>(),
        });
        match fields {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

impl Options for MigBspConfig {
    fn policy(self) -> Result<Box<dyn Policy>, Error> {
        Ok(Box::new(MigBsp::new(self)?))
    }
}

impl Policy for MigBsp {
    fn observe(&mut self, view: &View<'_>) -> bool {
        self.forecasts
            .observe(&self.config, self.trigger.alpha(), view);
        self.trigger.observe(&self.config, view)
    }

    fn decide(&mut self, view: &View<'_>, _random: &mut Stream) -> Result<Decision, Error> {
        let config = &self.config;
        let (alpha, next_alpha) = (self.trigger.alpha(), self.trigger.next_alpha());
        let mut reservations = Reservations::new(config, &self.forecasts, view);
        let horizon = supersteps(config.potential_horizon, alpha, next_alpha);
        let occupancy = reservations.for_index(config);
        let all = potentials(config, horizon, &self.forecasts, &occupancy, view);
        let (mut chosen, threshold) = candidates(config, &all, view.processes());
        match config.candidate_order {
            CandidateOrder::Potential | CandidateOrder::PotentialHighestRank => {}
            CandidateOrder::RankAscending => chosen.sort_by_key(|candidate| candidate.process),
            CandidateOrder::RankDescending => {
                chosen.sort_by_key(|candidate| std::cmp::Reverse(candidate.process));
            }
        }
        let call = Call {
            config,
            forecasts: &self.forecasts,
            view,
            horizon: supersteps(config.viability_horizon, alpha, next_alpha),
            backbone: backbone(config, view.platform),
            potentials: &all,
        };
        let judged: Vec<Candidate> = chosen
            .iter()
            .map(|candidate| call.judge(candidate, &mut reservations))
            .collect();
        let migration = |candidate: &Candidate| {
            let to = candidate.to.filter(|_| candidate.accepted)?;
            Some(Migration {
                process: candidate.process,
                to,
            })
        };
        let migrations: Vec<Migration> = judged.iter().filter_map(migration).collect();
        self.decided = migrations.len();
        Ok(Decision {
            migrations,
            candidates: judged,
            explanation: self.explain(&all, threshold, view),
        })
    }

    fn settle(&mut self, moved: usize) {
        let migrations = match self.config.quiet_call {
            QuietCall::Decided => self.decided,
            QuietCall::Moved => moved,
        };
        self.trigger.close(&self.config, migrations);
        self.forecasts.restart(&self.config);
    }
}
