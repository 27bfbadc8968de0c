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
//! On platforms that no paper used, migsim uses the neutral settings unless the user chooses a variant. They were fitted to the
//! results of all papers together, except `own_cluster`, `sharing` and `set_index`, which were chosen on drawn platforms with loads
//! (`benches/neutral`).
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
mod migbsp_2;
mod potential;
mod readings;
#[cfg(test)]
mod tests;
pub(super) mod trigger;
mod viability;
mod weights;

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;
use serde_json::{Map, Value, json};

pub use adaptive::AdaptiveOptions;
pub use config::{
    Ageing, CallingSuperstep, CandidateOrder, CommunicationTime, FirstTest, Floor, FreeHost,
    Heuristic, Horizon, IndexForm, MemoryOrigin, MemoryRate, MigBspConfig, OwnCluster, Patterns,
    Plan, Population, ProcessTime, QuietCall, SetIndex, Sharing, ThresholdMeaning, ToleranceGrowth,
    ViabilityCommunication, WeightRule,
};
pub use explain::KEPT_BY_OWN_CLUSTER_KEY;
pub use migbsp_2::MigBsp2Options;

pub(crate) use self::potential::MAX_LISTED_PAIRS;

use self::{
    explain::{MigBspNarrator, PlanRecord},
    forecast::Forecasts,
    potential::{MigrationPotential, PotentialComputation, Selection, select_candidates},
    trigger::{IntervalRecord, MigBspTrigger},
    viability::{CandidateTimes, Reservations, ViabilityTest},
    weights::PotentialWeights,
};
use super::{
    Candidate, Decision, Explain, Migration, Policy, PolicyOptions, View,
    explain::{Narrator, explanation_fields},
    strategy::{Variant, refuse_problems},
};
use migsim_base::{
    error::Error,
    plugin::{FlagValues, OptionFlag},
    random::Stream,
    units::Seconds,
};

/// The policy `migbsp` with its state: MigBSP as in the papers after 2007 (the second generation).
#[derive(Clone, Debug)]
pub struct MigBsp {
    config: MigBspConfig,
    trigger: MigBspTrigger,
    forecasts: Forecasts,
    weights: PotentialWeights,
    decided_migration_count: usize,
    /// The price of a move \[s\], if a call has moved processes.
    move_price: Option<Seconds>,
    last_moved: usize,
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
        refuse_problems(config.problems())?;
        Ok(Self {
            trigger: MigBspTrigger::new(&config),
            forecasts: Forecasts::default(),
            weights: PotentialWeights::default(),
            decided_migration_count: 0,
            move_price: None,
            last_moved: 0,
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

    /// Returns the potentials of migration PM(i,j); `residents` is the number of processes that count as being on each host.
    fn potentials<'a>(
        &'a self,
        residents: &'a [u32],
        view: &'a View<'a>,
    ) -> PotentialComputation<'a> {
        let (config, forecasts) = (&self.config, &self.forecasts);
        let horizon = self.trigger.supersteps_of(config.potential_horizon, view);
        PotentialComputation::new(config, horizon, forecasts, residents, view)
            .with_weights(&self.weights)
    }

    /// Selects the candidates by the highest PM of each process, and puts them into the order in which they choose destinations.
    fn select(&self, best: Vec<MigrationPotential>, view: &View<'_>) -> Selection {
        let ties_fall = self.goes_by_rank() && self.has_earlier_call;
        let mut selection = select_candidates(&self.config, best, view.processes(), ties_fall);
        let candidates = &mut selection.candidates;
        match self.config.candidate_order {
            CandidateOrder::Potential | CandidateOrder::PotentialLastAnswered => {}
            CandidateOrder::RankAscending => candidates.sort_by_key(MigrationPotential::process),
            CandidateOrder::RankDescending => {
                candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.process()));
            }
        }
        selection
    }

    fn viability_test<'a>(
        &'a self,
        candidates: &'a [MigrationPotential],
        potentials: &'a PotentialComputation<'a>,
        view: &'a View<'a>,
    ) -> ViabilityTest<'a> {
        ViabilityTest {
            config: &self.config,
            forecasts: &self.forecasts,
            view,
            horizon_supersteps: self
                .trigger
                .supersteps_of(self.config.viability_horizon, view),
            candidates,
            potentials,
        }
    }

    fn goes_by_rank(&self) -> bool {
        self.config.candidate_order == CandidateOrder::PotentialLastAnswered
    }

    /// For `candidate_order: potential-last-answered`, exchanges destinations between moving processes so that processes with
    /// lower ranks get hosts with lower numbers.
    ///
    /// This is done only where it does not affect t2: among hosts of one cluster with equal remaining computing power and equal
    /// numbers of resident processes, for processes with equal memory.
    fn order_hosts_by_rank(
        &self,
        judged: &mut [Candidate],
        times: &[CandidateTimes],
        view: &View<'_>,
    ) {
        if !self.goes_by_rank() {
            return;
        }
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        let was_tested = |(_, candidate): &(usize, &Candidate)| candidate.stay.is_some();
        let candidates = judged.iter().enumerate().filter(was_tested);
        for ((at, candidate), times) in candidates.zip(times) {
            if candidate.accepted {
                let memory = view.process_memory[candidate.process.index()].get();
                let bits = [times.power_instructions_per_s, memory].map(f64::to_bits);
                let equal = (candidate.to_cluster, bits, times.residents);
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

    fn migrations(&self, judged: &[Candidate]) -> Vec<Migration> {
        let mut migrations = accepted_migrations(judged);
        if self.goes_by_rank() {
            migrations.sort_by_key(|migration| migration.process);
        }
        migrations
    }

    fn record(
        &mut self,
        selection: Selection,
        listed: Option<Vec<MigrationPotential>>,
        (pair_count, kept): (usize, usize),
        (times, plan): (Vec<CandidateTimes>, Option<PlanRecord>),
        view: &View<'_>,
    ) -> MigBspExplanation {
        let moved = if view.executes_migrations {
            self.decided_migration_count
        } else {
            0
        };
        let moved = self.effective_migration_count(moved);
        let clusters = view.platform.clusters.iter();
        let names = || clusters.map(|cluster| cluster.name.clone()).collect();
        let omitted = (listed.is_none()).then(|| pair_count - selection.candidates.len());
        let numbers = 1..=view.processes();
        MigBspExplanation {
            outline: Outline {
                interval: IntervalRecord {
                    next_alpha: self.trigger.next_interval_length(&self.config, moved),
                    ..self.trigger.interval_record()
                },
                highest_potential_s: selection.highest,
                highest_elsewhere_s: selection.highest_elsewhere,
                threshold_s: selection.threshold,
                kept_by_own_cluster: (kept > 0).then_some(kept),
                weights: self.weights.record(&self.config),
                plan,
            },
            stays_in_preferred_cluster: self.config.own_cluster != OwnCluster::Within,
            potentials: listed.unwrap_or(selection.candidates).into(),
            omitted_potential_count: omitted.unwrap_or_default(),
            pinned_processes: numbers
                .filter(|number| view.is_pinned(number - 1))
                .collect(),
            candidate_times: times,
            cluster_names: Arc::clone(self.shared_cluster_names.get_or_insert_with(names)),
        }
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

/// The variant `equal-information`, in which the potential of migration PM uses the same information about the present host and
/// the destination: the speed that external load and other processes leave.
///
/// The present cluster can be a destination like the other clusters.
const EQUAL_INFORMATION: Variant = Variant::new(
    "equal-information",
    r#"{ "index_form": "gain-over-source", "set_index": "best-host", "own_cluster": "within" }"#,
    "",
);

/// The decision record of a rescheduling call of MigBSP.
#[derive(Debug)]
struct MigBspExplanation {
    outline: Outline,
    /// Whether a process stays where it is if its highest potential of migration PM is to its present cluster.
    stays_in_preferred_cluster: bool,
    potentials: Box<[MigrationPotential]>,
    omitted_potential_count: usize,
    /// The numbers of the processes that may not migrate, counted from 1.
    pinned_processes: Vec<usize>,
    candidate_times: Vec<CandidateTimes>,
    cluster_names: Arc<[String]>,
}

/// The interval and tolerance of a call, and its thresholds.
#[derive(Debug, Serialize)]
struct Outline {
    #[serde(flatten)]
    interval: IntervalRecord,
    highest_potential_s: Option<f64>,
    /// The highest potential of migration PM among the processes that prefer another cluster, or that may move inside their
    /// present cluster; `None` if there is no such process.
    highest_elsewhere_s: Option<f64>,
    threshold_s: Option<f64>,
    /// The value of [`KEPT_BY_OWN_CLUSTER_KEY`].
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_by_own_cluster: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<PlanRecord>,
}

impl Explain for MigBspExplanation {
    fn to_json(&self) -> Map<String, Value> {
        let terms = |potential: &MigrationPotential| {
            json!({
                "process": potential.process() + 1,
                "is_there": self.stays_in_preferred_cluster && potential.is_to_own_cluster(),
                "cluster": self.cluster_names[potential.cluster()],
                "compute_s": potential.computation_term,
                "communication_s": potential.communication_term,
                "memory_s": potential.memory_term,
                "potential_s": potential.value(),
            })
        };
        let mut fields = self.outline();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put("potentials", self.potentials.iter().map(terms).collect());
        put("weighed", json!(self.candidate_times));
        if !self.pinned_processes.is_empty() {
            put("may_not_migrate", json!(self.pinned_processes));
        }
        if self.omitted_potential_count > 0 {
            put("potentials_left_out", json!(self.omitted_potential_count));
        }
        fields
    }

    fn outline(&self) -> Map<String, Value> {
        explanation_fields(json!(self.outline))
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
        ("own_cluster", "excluded,competes,within"),
        ("sharing", "fair,fair-and-inflicted,alone"),
        (
            "set_index",
            "mean-clock,mean-free-power,best-free-host,best-host,free-power-sum",
        ),
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

/// Returns the migrations of the candidates that move.
pub(super) fn accepted_migrations(judged: &[Candidate]) -> Vec<Migration> {
    let migration = |candidate: &Candidate| {
        let process = candidate.process;
        let to = candidate.to.filter(|_| candidate.accepted)?;
        Some(Migration { process, to })
    };
    judged.iter().filter_map(migration).collect()
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
        self.weights.adjust(&self.config, &self.forecasts, view);
        if self.last_moved > 0 {
            self.move_price = Some(Seconds::of(
                view.last_call_cost.get() / self.last_moved as f64,
            ));
        }
        let mut reservations = Reservations::new(&self.forecasts, view);
        let residents = reservations.resident_counts(&self.config);
        let potentials = self.potentials(&residents, view);
        let (pairs, (best, listed)) = (potentials.pair_count(), potentials.best_and_listed());
        let kept = self.viability_test(&[], &potentials, view);
        let kept = kept.kept_process_count(&best, &reservations);
        let selection = self.select(best, view);
        let call = self.viability_test(&selection.candidates, &potentials, view);
        let (mut judged, times, plan) = match self.config.plan {
            Plan::Each => {
                let (judged, times) = call.judge(&mut reservations);
                (judged, times, None)
            }
            Plan::Slowest => {
                let (judged, times, plan) = call.judge_plan(&mut reservations, self.move_price);
                (judged, times, Some(plan))
            }
        };
        self.order_hosts_by_rank(&mut judged, &times, view);
        let migrations = self.migrations(&judged);
        self.decided_migration_count = migrations.len();
        let record = self.record(selection, listed, (pairs, kept), (times, plan), view);
        Ok(Decision {
            migrations,
            candidates: judged,
            explanation: Some(Arc::new(record)),
            procedure: None,
        })
    }

    fn on_migrations_executed(&mut self, moved: usize) {
        self.has_earlier_call = true;
        self.last_moved = moved;
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
