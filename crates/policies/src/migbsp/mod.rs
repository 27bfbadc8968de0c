//! MigBSP, second generation: decides when (α, D, ω), which (PM), where (ICPU) and whether (t1 > t2) processes migrate.
//!
//! ```text
//! observe ──> trigger    stable? α' ± 1; a call every α supersteps
//!         └─> forecast   PI, CTP, BTP: old values lose half their weight; Pcomp, Pcomm
//! decide  ──> weights    1 each, or adjusted to the measured times
//!         ├─> potential  PM(i,j) = Comp + Comm - Mem; candidates above x · max
//!         └─> viability  destination, t1 against t2, reservation
//! settle  ──> trigger    D grows after ω calls without migration; α := α'
//! explain                the records of these steps in sentences
//! ```
//! α is the number of supersteps between rescheduling calls and α' its next value, D the tolerance of the stability test, and ω
//! the number of calls without migration after which D grows. PI, CTP and BTP are forecasts of instructions, computation time and
//! communication time of a process; Pcomp and Pcomm rate their regularity. PM(i,j) is the potential of migration of process i to
//! cluster j, and x the share of the highest PM above which processes are candidates. ICPU is the computing power that the load
//! of a host leaves. t1 is the time of a candidate on its present host, t2 its time at the destination including the move.
//!
//! | variant | interpretation |
//! |---|---|
//! | (none) | the options as given: PM compares the speed of the present host, reduced by its load, with nominal clock rates, including the clock rate of the present cluster |
//! | `equal-information` | PM uses the same information about both ends of a move, which is the speed that external load and other processes leave (`set_index: best-host`, `index_form: gain-over-source`); processes may move inside their cluster (`own_cluster: within`) |
//!
//! On platforms that no paper used, migsim uses the neutral settings unless the user chooses a variant. The neutral settings were
//! fitted to the results of all papers together. Draw 1 of the benchmark (its first random selection of cases) will choose the
//! default for these platforms.
//!
//! On a platform with one cluster no process can move, unless `own_cluster` is `within`; the command prints a note about it.
//!
//! Sources: da Rosa Righi et al., the LU, Lattice Boltzmann and Smith-Waterman papers on MigBSP; the order of steps in a call
//! follows their texts. Where the papers are ambiguous, each interpretation is an option ([`MigBspConfig`]). The first
//! generation, the paper of 2007, is [`super::migbsp_2007`].

mod adaptive;
mod config;
mod exchanges;
pub(super) mod explain;
pub(super) mod forecast;
mod groups;
mod potential;
mod readings;
#[cfg(test)]
mod tests;
pub(super) mod trigger;
mod viability;
mod weights;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

pub use adaptive::AdaptiveOptions;
pub use config::{
    AfterMigration, Ageing, CallingSuperstep, CandidateOrder, CommunicationTime, FirstTest, Floor,
    FreeHost, FullCluster, Heuristic, Horizon, HostLoad, IdleAgeing, IdlePattern, IdleSuperstep,
    IndexForm, MemoryOrigin, MemoryRate, MigBspConfig, OwnCluster, Patterns, Population,
    PotentialCommunication, ProcessTime, QuietCall, SetIndex, Sharing, ThresholdMeaning,
    ToleranceGrowth, ToleranceTrigger, Viability, ViabilityCommunication, WeightRule,
};

use self::explain::MigBspNarrator;
use self::forecast::Forecasts;
use self::groups::CandidateGroups;
use self::potential::{
    MigrationPotential, PotentialComputation, highest_potentials, horizon_supersteps,
    select_candidates,
};
use self::trigger::{IntervalRecord, MigBspTrigger};
use self::viability::{CallContext, Reservations, ViabilityTerms};
use self::weights::PotentialWeights;
use super::explain::Narrator;
use super::strategy::Variant;
use super::{Candidate, Decision, Explain, Migration, Policy, PolicyOptions, View};
use migsim_base::error::Error;
use migsim_base::plugin::{FlagValues, OptionFlag};
use migsim_base::random::Stream;
use migsim_base::units::Seconds;

/// The policy `migbsp` with its state: MigBSP as in the papers after 2007 (the second generation).
#[derive(Clone, Debug)]
pub struct MigBsp {
    config: MigBspConfig,
    trigger: MigBspTrigger,
    forecasts: Forecasts,
    weights: PotentialWeights,
    decided_migration_count: usize,
    /// Whether a rescheduling call has taken place before, in which the managers answered the processes. This determines the
    /// order of processes with equal potential of migration (PM) for `candidate_order: potential-last-answered`.
    has_earlier_call: bool,
    shared_cluster_names: Option<Arc<[String]>>,
}

impl MigBsp {
    /// Creates the policy MigBSP with these options.
    ///
    /// # Errors
    /// Options are out of range; the error names all of them.
    pub fn new(config: MigBspConfig) -> Result<Self, Error> {
        let problems = config.problems();
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        Ok(Self {
            trigger: MigBspTrigger::new(&config),
            forecasts: Forecasts::default(),
            weights: PotentialWeights::default(),
            decided_migration_count: 0,
            has_earlier_call: false,
            shared_cluster_names: None,
            config,
        })
    }

    /// Returns the number of migrations of the last call that count when the policy counts calls without migration (option
    /// `quiet_call`, ambiguity A6). `moved` is the number of processes that really moved.
    fn effective_migration_count(&self, moved: usize) -> usize {
        match self.config.quiet_call {
            QuietCall::Decided => self.decided_migration_count,
            QuietCall::Moved => moved,
        }
    }

    /// Returns the interval that ends with the present call, with the length of the next interval.
    fn interval_for_record(&self, view: &View<'_>) -> IntervalRecord {
        let moved = if view.executes_migrations {
            self.decided_migration_count
        } else {
            0
        };
        IntervalRecord {
            next_alpha: self
                .trigger
                .next_interval_length(&self.config, self.effective_migration_count(moved)),
            ..self.trigger.interval_record()
        }
    }

    /// Returns the names of all clusters; all decision records of the run share one copy of these names.
    fn cluster_names(&mut self, view: &View<'_>) -> Arc<[String]> {
        let names = || {
            let clusters = view.platform.clusters.iter();
            clusters.map(|cluster| cluster.name.clone()).collect()
        };
        Arc::clone(self.shared_cluster_names.get_or_insert_with(names))
    }
}

/// The command-line flag `--alpha`, which sets α, the number of supersteps until the first rescheduling call.
pub(super) const ALPHA_FLAG: OptionFlag = OptionFlag::new(
    "alpha",
    FlagValues::Counts,
    "MigBSP's α: number of supersteps until the first rescheduling call (all policies of MigBSP)",
);

/// The command-line flag `--d`, which sets D, the tolerance of the stability test.
pub(super) const TOLERANCE_FLAG: OptionFlag = OptionFlag::new(
    "d",
    FlagValues::Numbers,
    "MigBSP's D: a superstep is stable if the time of each process differs from the mean by at most this share (both generations)",
);

/// The option `alpha` with the values that `migsim tune` tries by default, in increasing order.
pub(super) const ALPHA_RANGE: (&str, &str) = ("alpha", "1..4,6,8,12,16,24,32,48,64");

/// The option `d` with the values that `migsim tune` tries by default.
pub(super) const TOLERANCE_RANGE: (&str, &str) = ("d", "0.05..1.0:0.05");

/// Maximum number of pairs of a process and a cluster for which a call computes and records every potential of migration PM(i,j).
///
/// With more pairs only the PM of candidates are recorded, and only the pairs that can affect the decision are visited. The
/// decision is the same, to the last bit.
pub(super) const MAX_LISTED_PAIRS: usize = 20_000;

/// The variant `equal-information`, in which the potential of migration PM uses the same information about the present host and
/// the destination: the speed that external load and other processes leave.
///
/// The present cluster can be a destination like the other clusters.
const EQUAL_INFORMATION: Variant = Variant::new(
    "equal-information",
    r#"{ "index_form": "gain-over-source", "set_index": "best-host", "own_cluster": "within" }"#,
    "",
);

/// The decision record of a rescheduling call of MigBSP: the interval and tolerance, the thresholds, and the terms of the
/// potentials of migration PM(i,j).
#[derive(Debug)]
struct MigBspExplanation {
    interval: IntervalRecord,
    highest_potential: Option<f64>,
    /// The highest potential of migration PM among the processes that prefer another cluster, or that may move inside their
    /// present cluster \[s\]; `None` if there is no such process.
    highest_potential_elsewhere: Option<f64>,
    /// Whether a process stays where it is if its highest potential of migration PM is to its present cluster.
    stays_in_preferred_cluster: bool,
    candidate_threshold: Option<f64>,
    listed_potentials: Vec<MigrationPotential>,
    omitted_potential_count: usize,
    /// The numbers of the processes that may not migrate, counted from 1.
    pinned_processes: Vec<usize>,
    candidate_terms: Vec<ViabilityTerms>,
    /// Number of supersteps over which t1 and t2, the times of a candidate without and with the move, are added up.
    viability_horizon_supersteps: f64,
    /// Time of the operations of a move without the transfer of the memory, as part of t2 (the time at the destination).
    move_operations_time: Seconds,
    cluster_names: Arc<[String]>,
    /// The weights of the terms of PM, the potential of migration; `None` if the weights are fixed.
    weights: Option<PotentialWeights>,
}

impl Explain for MigBspExplanation {
    fn to_json(&self) -> Map<String, Value> {
        let terms = |potential: &MigrationPotential| {
            json!({
                "process": potential.process() + 1,
                "is_there": self.stays_in_preferred_cluster && potential.is_present_cluster(),
                "cluster": self.cluster_names[potential.cluster()],
                "compute_s": potential.computation_term,
                "communication_s": potential.communication_term,
                "memory_s": potential.memory_term,
                "potential_s": potential.value(),
            })
        };
        let weighed = |weighing: &ViabilityTerms| {
            let communication = weighing.communication_times();
            json!({
                "process": weighing.process.index() + 1,
                "power_instructions_per_s": weighing.offered_power,
                "offered_hosts": weighing.offered_host_count,
                "residents": weighing.resident_count,
                "slowdown": weighing.computation_slowdown(),
                "slowdown_inflicted": weighing.slowdown_parts[1],
                "supersteps": self.viability_horizon_supersteps,
                "stay_compute_s": weighing.computation_time_if_staying,
                "stay_communication_s": communication.0,
                "go_compute_s": weighing.computation_time_if_moving,
                "go_communication_s": communication.1,
                "go_transfer_s": weighing.transfer_time_if_moving.get(),
                "go_operations_s": self.move_operations_time.get(),
            })
        };
        let mut fields = self.outline();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put(
            "potentials",
            self.listed_potentials.iter().map(terms).collect(),
        );
        put(
            "weighed",
            self.candidate_terms.iter().map(weighed).collect(),
        );
        if !self.pinned_processes.is_empty() {
            put("may_not_migrate", json!(self.pinned_processes));
        }
        if self.omitted_potential_count > 0 {
            put("potentials_left_out", json!(self.omitted_potential_count));
        }
        fields
    }

    fn outline(&self) -> Map<String, Value> {
        let interval = &self.interval;
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put("alpha", json!(interval.alpha));
        put("next_alpha", json!(interval.next_alpha));
        put("d", json!(interval.tolerance));
        put("quiet_calls", json!(interval.calls_without_migration));
        put("votes", json!(interval.stability_test_results));
        put("highest_potential_s", json!(self.highest_potential));
        put(
            "highest_elsewhere_s",
            json!(self.highest_potential_elsewhere),
        );
        put("threshold_s", json!(self.candidate_threshold));
        if let Some(weights) = &self.weights {
            put("weights", weights.to_json());
        }
        fields
    }
}

impl PolicyOptions for MigBspConfig {
    const FLAGS: &'static [OptionFlag] = &[
        ALPHA_FLAG,
        OptionFlag::new(
            "omega",
            FlagValues::Counts,
            "MigBSP's ω: calls in a row without migration after which D grows",
        ),
        TOLERANCE_FLAG,
        OptionFlag::new(
            "x",
            FlagValues::Numbers,
            "MigBSP's x: processes are candidates if their potential of migration (PM) is above this share of the highest PM",
        ),
    ];
    const RANGES: &'static [(&'static str, &'static str)] = &[
        ALPHA_RANGE,
        ("omega", "1..8"),
        TOLERANCE_RANGE,
        ("x", "0.4..1.0:0.02"),
    ];

    const SHARES: &'static [&'static str] = &["d"];
    const MOVE_INSIDE: &'static str = "own_cluster=within";
    const VARIANTS: &'static [Variant] = &[EQUAL_INFORMATION];

    fn moves_only_between_clusters(&self) -> bool {
        self.own_cluster != OwnCluster::Within
    }

    fn narrator() -> &'static dyn Narrator {
        &MigBspNarrator
    }

    fn interpretations_of_source(&self) -> Vec<String> {
        Self::interpretation_phrases(self)
    }

    fn policy(self) -> Result<Box<dyn Policy>, Error> {
        Ok(Box::new(MigBsp::new(self)?))
    }
}

/// Exchanges destinations between moving processes so that processes with lower ranks get hosts with lower numbers.
///
/// This is done only where it does not affect t2 (the time at the destination): among hosts of one cluster with equal remaining
/// computing power and equal numbers of resident processes, for processes with equal memory.
fn order_hosts_by_rank(judged: &mut [Candidate], weighed: &[ViabilityTerms], view: &View<'_>) {
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    let was_weighed = |(_, candidate): &(usize, &Candidate)| candidate.stay.is_some();
    let candidates = judged.iter().enumerate().filter(was_weighed);
    for ((at, candidate), weighing) in candidates.zip(weighed) {
        if candidate.accepted {
            let memory = view.process_memory[candidate.process.index()]
                .get()
                .to_bits();
            let equal = (candidate.to_cluster, weighing.offer_equality_key(), memory);
            groups.entry(equal).or_default().push(at);
        }
    }
    for mut places in groups.into_values() {
        let mut hosts: Vec<_> = places.iter().map(|&at| judged[at].to).collect();
        hosts.sort_unstable();
        places.sort_unstable_by_key(|&at| judged[at].process);
        for (at, host) in places.into_iter().zip(hosts) {
            judged[at].to = host;
        }
    }
}

/// Sorts `candidates` into the order in which they choose destinations. `candidates` must be in decreasing order of potential of
/// migration (PM) before.
fn sort_candidates(order: CandidateOrder, candidates: &mut [MigrationPotential]) {
    match order {
        CandidateOrder::Potential | CandidateOrder::PotentialLastAnswered => {}
        CandidateOrder::RankAscending => candidates.sort_by_key(MigrationPotential::process),
        CandidateOrder::RankDescending => {
            candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.process()));
        }
    }
}

impl Policy for MigBsp {
    fn copy(&self) -> Option<Box<dyn Policy>> {
        Some(Box::new(self.clone()))
    }

    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.forecasts
            .observe(&self.config, self.trigger.alpha(), view);
        self.weights.observe(&self.config, view);
        self.trigger.observe(&self.config, view)
    }

    fn is_done(&self, left: usize) -> bool {
        self.trigger.is_without_further_calls(left)
    }

    fn decide(&mut self, view: &View<'_>, _random: &mut Stream) -> Result<Decision, Error> {
        let clusters = self.cluster_names(view);
        self.weights.adjust(&self.config, &self.forecasts, view);
        let config = &self.config;
        let (alpha, next_alpha) = (self.trigger.alpha(), self.trigger.next_alpha());
        let mut reservations = Reservations::new(config, &self.forecasts, view);
        let horizon = horizon_supersteps(config.potential_horizon, alpha, next_alpha);
        let occupancy = reservations.resident_counts(config);
        let potentials =
            PotentialComputation::new(config, horizon, &self.forecasts, &occupancy, view)
                .with_weights(&self.weights);
        let (listed, best) = if view.processes() * clusters.len() <= MAX_LISTED_PAIRS {
            let movable = (0..view.processes()).filter(|process| !view.is_pinned(*process));
            let all: Vec<MigrationPotential> = movable
                .flat_map(|process| potentials.potentials_of_process(process))
                .collect();
            let best = highest_potentials(&all);
            (Some(all), best)
        } else {
            let mut best = potentials.best_potentials();
            best.retain(|potential| !view.is_pinned(potential.process()));
            (None, best)
        };
        let highest = best.iter().map(MigrationPotential::value).reduce(f64::max);
        let stays_at_home = config.own_cluster != OwnCluster::Within;
        let stays =
            |potential: &&MigrationPotential| stays_at_home && potential.is_present_cluster();
        let elsewhere = best.iter().filter(|potential| !stays(potential));
        let highest_elsewhere = elsewhere.map(MigrationPotential::value).reduce(f64::max);
        let falls = config
            .candidate_order
            .breaks_ties_by_decreasing_rank(self.has_earlier_call);
        let own = |process: usize| view.cluster_of(process).index();
        let own: Vec<usize> = (0..view.processes()).map(own).collect();
        let (mut chosen, threshold) = select_candidates(config, best, &own, falls);
        sort_candidates(config.candidate_order, &mut chosen);
        let call = CallContext {
            config,
            forecasts: &self.forecasts,
            view,
            horizon_supersteps: horizon_supersteps(config.viability_horizon, alpha, next_alpha),
            potentials: &potentials,
        };
        // The records are kept until the end of the run, and there may be many.
        chosen.shrink_to_fit();
        reservations.groups = CandidateGroups::from_candidates(&chosen, view);
        let mut judged: Vec<Candidate> = Vec::with_capacity(chosen.len());
        let mut weighed: Vec<ViabilityTerms> = Vec::new();
        for candidate in &chosen {
            let (candidate, weighing) = call.decide_candidate(candidate, &mut reservations);
            judged.push(candidate);
            weighed.extend(weighing);
        }
        weighed.shrink_to_fit();
        let by_rank = config.candidate_order == CandidateOrder::PotentialLastAnswered;
        if by_rank {
            order_hosts_by_rank(&mut judged, &weighed, view);
        }
        let migration = |candidate: &Candidate| {
            let to = candidate.to.filter(|_| candidate.accepted)?;
            Some(Migration {
                process: candidate.process,
                to,
            })
        };
        let mut migrations: Vec<Migration> = judged.iter().filter_map(migration).collect();
        if by_rank {
            migrations.sort_by_key(|wanted| wanted.process);
        }
        self.decided_migration_count = migrations.len();
        let left_out = match &listed {
            Some(_) => 0,
            None => potentials.pair_count() - chosen.len(),
        };
        let explanation = MigBspExplanation {
            interval: self.interval_for_record(view),
            highest_potential: highest,
            highest_potential_elsewhere: highest_elsewhere,
            stays_in_preferred_cluster: stays_at_home,
            candidate_threshold: threshold,
            omitted_potential_count: left_out,
            pinned_processes: (0..view.processes())
                .filter(|process| view.is_pinned(*process))
                .map(|process| process + 1)
                .collect(),
            listed_potentials: listed.unwrap_or(chosen),
            candidate_terms: weighed,
            viability_horizon_supersteps: call.horizon_supersteps,
            move_operations_time: call.operations_time(),
            cluster_names: clusters,
            weights: self.weights.copy_for_record(config),
        };
        Ok(Decision {
            migrations,
            candidates: judged,
            explanation: Some(Arc::new(explanation)),
            procedure: None,
        })
    }

    fn on_migrations_executed(&mut self, moved: usize) {
        self.has_earlier_call = true;
        self.weights.record_outcome(moved);
        self.trigger
            .finish_call(&self.config, self.effective_migration_count(moved));
        self.forecasts.start_interval(&self.config);
    }

    fn fault(&self) -> Option<String> {
        self.trigger.describe_invalid_state()
    }

    fn uses_seed(&self) -> bool {
        false
    }
}
