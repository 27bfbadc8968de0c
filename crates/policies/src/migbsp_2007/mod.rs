//! `MigBSP`, first generation: the model as its authors proposed it in 2007, before they simulated it.
//!
//! ```text
//! observe ──> trigger      stable? α' ± 1, at least 1; a call every α supersteps   (algorithm 1)
//!         ├─> forecast     PI, PTP, PC, PTC: old values lose half their weight; Pproc, Pcom   (algorithms 2 and 3)
//!         └─> load         mean use of each host in the last 15 minutes
//! decide  ──> metrics      PM(i,j) = P(i) + C(i,j) - M(i,j), in [-1, 2]; the processes above the threshold
//!         └─> destination  the first host of the cluster by ICPU that has memory
//! settle  ──> trigger      α := α'
//! ```
//! α is the number of supersteps between rescheduling calls and α' its next value. PI, PTP, PC and PTC are forecasts of a
//! process's instructions, computation time, bytes and communication time; Pproc and Pcom rate their regularity. PM(i,j) is the
//! potential of migration of process i to cluster j, with metrics for processing, communication and memory. ICPU is the computing
//! power that the load of a host leaves.
//!
//! Source: da Rosa Righi, Carissimi and Navaux, *On the Dynamic Load-Rebalancing of BSP Application Using Process Migration*,
//! WSPPD 2007, which publishes the model without results. Trigger and forecasts are the same as in the second generation
//! ([`super::MigBsp`]), with the options of this paper. There is no second adaptation of the interval, and no test whether a
//! migration reduces the time of a process.
//!
//! With the tolerance D of the LU paper and the example of a threshold in the 2007 paper, the model costs more time than it gains
//! on the applications of the later papers. There are three causes, which the later papers removed. First, P(i) does not depend
//! on the cluster, so that PM attracts processes to their communication partners and never to faster hosts (later: ISet(j)).
//! Second, there is no test whether a move reduces the time of a process, not even for a move between equal hosts of a cluster
//! (later: t1 > t2). Third, an application that is never balanced has a call after each superstep, and in an interval of one
//! superstep every forecast is right (later: a minimum of α, and a growing D).
//!
//! In the paper the managers store α', and the processes compute their PM and send the highest PM (contradiction w07-x06). Where
//! PM is computed affects the cost of a call (`costs.call`), not its decision. `migsim reproduce wsppd2007` checks the statements
//! of the paper about its model.

mod config;
mod destination;
mod explain;
mod load;
mod metrics;

use std::sync::Arc;

use serde_json::{Map, Value, json};

pub use config::{Load, MigBsp2007Config, OwnPartner};
pub use metrics::{MigrationMetrics, relative_to_maximum};

use self::{
    destination::HostOffers,
    explain::MigBsp2007Narrator,
    load::HostLoads,
    metrics::{MigrationPotential, PotentialSummary, ProcessTerms, process_terms},
};
use super::{
    explain::{Narrator, explanation_fields},
    migbsp::{
        ALPHA_FLAG, ALPHA_RANGE, MAX_LISTED_PAIRS, MigBspConfig, TOLERANCE_FLAG, TOLERANCE_RANGE,
        accepted_migrations, forecast::Forecasts, trigger::MigBspTrigger,
    },
};
use crate::{Candidate, Decision, Policy, PolicyOptions, View, strategy::refuse_problems};
use migsim_base::{
    error::Result,
    plugin::OptionFlag,
    random::Stream,
    units::{ClusterId, ProcessId},
};

/// The policy `migbsp-2007` with its state: MigBSP as in the paper of 2007 (the first generation).
#[derive(Debug)]
pub struct MigBsp2007 {
    config: MigBsp2007Config,
    second_generation_options: MigBspConfig,
    trigger: MigBspTrigger,
    forecasts: Forecasts,
    host_loads: HostLoads,
    call_count: u32,
}

impl MigBsp2007 {
    /// Creates the policy with its options.
    ///
    /// # Errors
    /// Options are out of range; the error names all of them.
    pub fn new(config: MigBsp2007Config) -> Result<Self> {
        refuse_problems(config.problems())?;
        let shared = config.second_generation_options();
        Ok(Self {
            trigger: MigBspTrigger::new(&shared),
            forecasts: Forecasts::default(),
            host_loads: HostLoads::default(),
            call_count: 0,
            second_generation_options: shared,
            config,
        })
    }

    /// Returns the decision record of a call as JSON fields. It has the state of the trigger and, in the first calls, all terms
    /// of the potentials of migration PM unless there are too many.
    fn decision_record(
        &self,
        processes: &[ProcessTerms],
        survey: &PotentialSummary<'_>,
    ) -> Map<String, Value> {
        let interval = self.trigger.interval_record();
        let mut fields = json!({
            "alpha": interval.alpha,
            "next_alpha": interval.next_alpha,
            "d": interval.tolerance,
            "votes": interval.stability_test_results,
            "highest_potential": survey.highest(),
            "threshold": self.config.threshold,
        });
        if self.call_count < self.config.explained_calls
            && let Some(all) = &survey.listed
        {
            fields["processes"] = json!(processes);
            fields["potentials"] = json!(all);
        }
        explanation_fields(fields)
    }
}

/// Size of the record of the terms of one PM(i,j) as JSON \[B\], for the estimate of the memory of a run.
const TERMS_RECORD_SIZE: f64 = 1500.0;

fn place_candidate(
    elected: &MigrationPotential<'_>,
    offers: &mut HostOffers<'_>,
    view: &View<'_>,
) -> Candidate {
    let process = elected.process_number - 1;
    let from = view.placement[process];
    let to = offers.best_host(process, elected.cluster_index);
    let (accepted, reason) = match to {
        None => (
            false,
            "no host of the cluster has enough free memory for the process",
        ),
        Some(to) if to == from => (
            false,
            "the process already is on the best host of the cluster",
        ),
        Some(to) => {
            offers.reserve_host(process, to);
            (true, "the potential of the process is above the threshold")
        }
    };
    Candidate {
        process: ProcessId::from_index(process),
        from,
        to_cluster: ClusterId::from_index(elected.cluster_index),
        to,
        score: elected.potential,
        stay: None,
        go: None,
        accepted,
        reason: reason.into(),
    }
}

impl PolicyOptions for MigBsp2007Config {
    const FLAGS: &'static [OptionFlag] = &[ALPHA_FLAG, TOLERANCE_FLAG];
    const RANGES: &'static [(&'static str, &'static str)] = &[ALPHA_RANGE, TOLERANCE_RANGE];
    const SHARES: &'static [&'static str] = &["d"];

    fn narrator() -> &'static dyn Narrator {
        &MigBsp2007Narrator
    }

    fn policy(self) -> Result<Box<dyn Policy>> {
        Ok(Box::new(MigBsp2007::new(self)?))
    }
}

impl Policy for MigBsp2007 {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.forecasts
            .observe(&self.second_generation_options, self.trigger.alpha(), view);
        self.host_loads.observe(&self.config, view);
        self.trigger.observe(&self.second_generation_options, view)
    }

    fn is_done(&self, left: usize) -> bool {
        self.trigger.is_without_further_calls(left)
    }

    fn decide(&mut self, view: &View<'_>, random: &mut Stream) -> Result<Decision> {
        let processes = process_terms(&self.forecasts, view);
        let config = &self.config;
        let forecasts = &self.forecasts;
        let is_explained = self.call_count < config.explained_calls;
        let most = if is_explained { MAX_LISTED_PAIRS } else { 0 };
        let survey = PotentialSummary::new(config, forecasts, &processes, view, random, most);
        let explanation = self.decision_record(&processes, &survey);
        let mut offers = HostOffers::new(&self.config, &mut self.host_loads, view);
        let elected = survey.above(self.config.threshold);
        let candidates: Vec<Candidate> = elected
            .iter()
            .filter(|one| !view.is_pinned(one.process_number - 1))
            .map(|elected| place_candidate(elected, &mut offers, view))
            .collect();
        self.call_count = self.call_count.saturating_add(1);
        Ok(Decision {
            migrations: accepted_migrations(&candidates),
            candidates,
            explanation: Some(Arc::new(explanation)),
            procedure: None,
        })
    }

    /// Returns the memory that the policy needs in a run \[B\]: for the listed PM(i,j), and the records of the first calls as
    /// JSON.
    fn memory(&self, pairs: f64, supersteps: f64) -> f64 {
        let records = supersteps.min(f64::from(self.config.explained_calls));
        let listed = if pairs > MAX_LISTED_PAIRS as f64 {
            0.0
        } else {
            pairs
        };
        listed * (size_of::<MigrationPotential>() as f64 + records * TERMS_RECORD_SIZE)
    }

    fn omit_terms(&mut self) {
        self.config.explained_calls = 0;
    }

    fn on_migrations_executed(&mut self, moved: usize) {
        self.trigger
            .finish_call(&self.second_generation_options, moved);
        self.forecasts
            .start_interval(&self.second_generation_options);
    }

    fn fault(&self) -> Option<String> {
        self.trigger.describe_invalid_state()
    }

    fn uses_seed(&self) -> bool {
        self.config.own_partner == OwnPartner::Random
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_memory_is_the_listed_potentials_and_the_records_of_the_first_calls() {
        let config = MigBsp2007Config {
            explained_calls: 3,
            ..MigBsp2007Config::default()
        };
        let policy = MigBsp2007::new(config).unwrap();
        let each = size_of::<MigrationPotential>() as f64;
        let most = MAX_LISTED_PAIRS as f64;
        assert_eq!(
            policy.memory(10.0, 2.0),
            10.0 * each + 20.0 * TERMS_RECORD_SIZE
        );
        assert_eq!(
            policy.memory(most, 9.0),
            most * each + 3.0 * most * TERMS_RECORD_SIZE
        );
        // With more pairs none are listed.
        assert_eq!(policy.memory(most + 1.0, 9.0), 0.0);
        let mut policy = policy;
        policy.omit_terms();
        assert_eq!(policy.memory(10.0, 2.0), 10.0 * each);
    }

    #[test]
    fn a_tolerance_that_is_no_number_is_a_fault() {
        let mut policy = MigBsp2007::new(MigBsp2007Config::default()).unwrap();
        assert_eq!(policy.fault(), None);
        policy.trigger = MigBspTrigger::new(&MigBspConfig {
            d: f64::NAN,
            ..policy.second_generation_options.clone()
        });
        let fault = policy.fault().unwrap();
        assert!(fault.contains("D = NaN is out of range"), "{fault}");
    }
}
