//! The options of MigBSP: the parameters of the papers, and one named option for each point that the papers leave open.
//!
//! The numbers A1..A37 refer to the project's list of ambiguities of the papers. Defaults are the values of the LU paper (α = 4,
//! ω = 3, D = 0.5, x = 80 %) and, where this paper gives none, the simplest interpretation. A value that was chosen to fit a
//! paper is in the experiment file of this paper, with its origin.
//!
//! Symbols: α is the number of supersteps between two calls and α' the number of supersteps in the next interval; D is the
//! tolerance of the stability test; ω is the number of calls without migration after which D grows. PM(i,j) = Comp(i,j) +
//! Comm(i,j) - Mem(i,j) is the potential of migration of process i to cluster j, and x the share of the highest PM above which
//! processes are candidates. A candidate moves if its time t1 on the present host is larger than its time t2 at the destination.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::strategy::range_problem;
use migsim_base::{error::Problem, units::Seconds, words::percent_hint};

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }
    };
}

choice!(
    /// The lower limit of α', the number of supersteps until the next call: unstable supersteps cannot reduce α' below this value
    /// (ambiguity A1).
    Floor {
        /// The lower limit is 1 (the 2007 paper, algorithm 1).
        One,
        /// The lower limit is the initial α (Lattice Boltzmann paper, section 4).
        Initial,
    }
);
choice!(
    /// The change of the tolerance D of the stability test, or of the interval α instead, after ω calls in a row without
    /// migration (ambiguity A4).
    ToleranceGrowth {
        /// The tolerance D is multiplied by the option `d_factor`.
        Multiply,
        /// D does not change. Instead, the next α is twice the length of the interval that has ended, however stable its
        /// supersteps were (the authors' program of 2015).
        DoubleAlpha,
        /// The tolerance D does not grow, so that there is no second adaptation (Lattice Boltzmann paper, section 4, which
        /// describes this adaptation as future work).
        Never,
    }
);
choice!(
    /// The moves that count as migrations in a scenario without moves, when the number ω of calls without migration is counted
    /// (ambiguity A6).
    QuietCall {
        /// Moves that the policy decided count as migrations, although they are not carried out.
        Decided,
        /// Only moves that are carried out count as migrations, so that no call has migrations in a scenario without moves.
        Moved,
    }
);
choice!(
    /// The interval between calls to which the stability test of the superstep immediately before a call belongs (ambiguity A37).
    CallingSuperstep {
        /// The test belongs to the interval that ends with the call, as its last test.
        Before,
        /// The test belongs to the interval that begins with the call, as its first test.
        After,
    }
);
choice!(
    /// The processes whose times the stability test compares (ambiguity A3).
    Population {
        /// The processes that computed in the superstep.
        Computing,
        /// The processes that received a message in the superstep, since only the times of these processes include receives.
        Receiving,
        /// All processes of the application.
        All,
    }
);
choice!(
    /// The time of a process in a superstep that the stability test compares.
    ProcessTime {
        /// The computation time of the process.
        Compute,
        /// The computation time of the process and the time of its sends.
        ComputeAndSend,
        /// The time of the computation, the sends and the receives of the process, until it reaches the barrier.
        ComputeAndCommunicate,
    }
);
choice!(
    /// The result of the first stability test of a run.
    FirstTest {
        /// The result of the first test follows from the measured times, as in all other tests.
        Measured,
        /// The first superstep counts as stable, since there is no earlier superstep to compare it with.
        Stable,
    }
);
choice!(
    /// The initial value of a forecast of work or communication in each interval between calls.
    Ageing {
        /// The forecast starts with the measured value of the first superstep (Smith-Waterman paper on dynamic platforms,
        /// equation 5).
        FirstValue,
        /// The forecast starts from 0, so that the value of the first superstep is halved like all other values (the authors'
        /// program of 2015). The forecast of a steady value v is then `v · (1 - 2^-α)`, so that a short history counts less.
        FromZero,
    }
);
choice!(
    /// The time for which Pcomp and Pcomm, the regularities of computation and communication, are kept before they restart at 1
    /// (ambiguity A7).
    Patterns {
        /// The regularities of computation and communication are kept during the whole run (the 2007 paper, algorithm 2, for
        /// Pcomp).
        Kept,
        /// The regularities of computation and communication are reset to 1 after each call (the authors' program of 2015).
        EachCall,
    }
);
choice!(
    /// The communication time of a process with a cluster in a superstep, from which the forecast BTP of this time is computed
    /// (ambiguity A8).
    CommunicationTime {
        /// The larger of the time of sending to the cluster and the time of receiving from it.
        Larger,
        /// Only the time of receiving from the cluster.
        Received,
    }
);
choice!(
    /// The measure of the computing power of cluster j, from which the index ISet(j) in the potential of migration is computed
    /// (ambiguity A9).
    SetIndex {
        /// The mean clock rate of the hosts of the cluster, whatever their load.
        MeanClock,
        /// The mean speed that a further process would get on a host of the cluster. This speed is the clock rate left by
        /// external load, divided among the processes on the host and the new process.
        MeanFreePower,
        /// The clock rate left by external load on the fastest host of the cluster that has no process; 0 if every host has a
        /// process.
        BestFreeHost,
        /// The highest speed that a further process would get on a host of the cluster. This speed is the clock rate left by
        /// external load, divided among the processes on the host and the new process.
        BestHost,
        /// The sum of the speeds that a further process would get on each host of the cluster (the authors' program of 2015).
        /// This speed is the clock rate left by external load, divided among the processes on the host and the new process.
        FreePowerSum,
    }
);
choice!(
    /// The equation of the index ISet(j) as a function of the computing power of cluster j (ambiguity A9).
    IndexForm {
        /// `power(j) / max power`: the power of cluster j relative to the most powerful cluster, whose index is 1.
        OfBest,
        /// `1 - v/power(j)`, with v the speed of the process on its present host: the share of its computation time that the
        /// process would save in cluster j. The index is negative for a slower cluster. Comp(i,j) is then `t1 - t2` without
        /// costs.
        GainOverSource,
    }
);
choice!(
    /// The bandwidth at which the memory of a process is assumed to be sent to cluster j, in the term Mem(i,j) of the potential
    /// of migration.
    MemoryRate {
        /// The bandwidth of the narrowest link between clusters, which is the same for all pairs of clusters. Access links and
        /// the network inside a cluster do not count. On a platform without links between clusters, `managers` is used.
        Backbone,
        /// The bandwidth of the narrowest link on the route between two managers: the manager of the cluster from which the
        /// memory is sent, and the manager of cluster j.
        Managers,
    }
);
choice!(
    /// The cluster from which the memory of process i is assumed to be sent, in the term Mem(i,j) of the potential of migration.
    MemoryOrigin {
        /// The present cluster of process i. For this cluster Mem(i,j) is 0, unless `own_cluster` is `within`.
        Present,
        /// The cluster in which process i started, as if the bandwidths had been measured only once, at the start of the run.
        Initial,
    }
);
choice!(
    /// The rule by which the terms Comp, Comm and Mem are weighted in the potential of migration PM.
    WeightRule {
        /// Each term always has the weight 1 (equation 1).
        Fixed,
        /// The weights are adjusted at each call. The weights of Comp and Comm follow the predicted shares of time, and the
        /// weight of Mem follows the effect of the last moves. The Lattice Boltzmann paper announces such weights without a rule;
        /// the rule is migsim's own.
        Adaptive,
    }
);
choice!(
    /// The number of supersteps over which a predicted time is added up (ambiguities A13 and A17).
    Horizon {
        /// The time of one superstep is counted.
        Superstep,
        /// The time is counted for all supersteps of the next interval between calls (α').
        NextInterval,
        /// The time is counted for all supersteps that are left, as if loads and work stayed as they are (`migbsp-2`).
        Rest,
    }
);
choice!(
    /// Whether the present cluster of a process is included when its highest potential of migration PM is determined (ambiguity
    /// A31).
    OwnCluster {
        /// The present cluster is excluded, so that each process prefers a cluster other than its present one.
        Excluded,
        /// The present cluster is included. A process whose highest potential of migration PM is for this cluster stays and is
        /// not a candidate.
        Competes,
        /// The present cluster is included. A process whose highest potential of migration PM is for this cluster is a candidate
        /// for another host of the cluster. The move of such a process costs a transfer between two hosts of the cluster, as with
        /// the random node of the own Set in the 2007 paper (section 2.3.3).
        Within,
    }
);
choice!(
    /// The heuristic that selects the candidates for migration from the potentials of migration (PM).
    Heuristic {
        /// Selects all processes whose highest potential of migration (PM) is above a threshold that x determines.
        One,
        /// Selects only the process with the highest potential of migration (PM).
        Two,
    }
);
choice!(
    /// The meaning of x in heuristic one: the threshold of the potential of migration (PM) above which processes are candidates
    /// (ambiguity A11).
    ThresholdMeaning {
        /// Candidates have a potential of migration PM > x · max PM, with the maximum over all processes.
        OfMaximum,
        /// Candidates have a potential of migration PM > x · max PM, with the maximum over the processes in the same cluster.
        /// Each manager selects from its own list (Smith-Waterman paper on dynamic platforms, section 2.3).
        OfClusterMaximum,
        /// Candidates are the processes with the highest potentials of migration (PM); x is the number of candidates as a share
        /// of all processes.
        OfProcesses,
    }
);
choice!(
    /// The order in which the candidates of a call choose their destinations (ambiguity A29).
    CandidateOrder {
        /// By decreasing potential of migration (PM); processes with equal PM by increasing rank (process number).
        Potential,
        /// By decreasing potential of migration (PM). Among processes with equal PM, the process that a manager answered last at
        /// the previous call comes first, which is the process with the highest rank.
        ///
        /// Managers answer by increasing rank, and a process that is answered later begins the next superstep later. At the first
        /// call of a run the lowest rank is first, since no process was answered before. If several processes move to equal
        /// hosts, the lowest rank gets the first host.
        PotentialLastAnswered,
        /// By increasing rank (process number), whatever the potential of migration.
        RankAscending,
        /// By decreasing rank (process number), whatever the potential of migration.
        RankDescending,
    }
);
choice!(
    /// The hosts of the chosen cluster that can be destinations (ambiguity A14).
    FreeHost {
        /// All hosts of the cluster, with or without processes.
        Any,
        /// Hosts of the cluster to which no process is assigned.
        Unmapped,
        /// Hosts on which no process has computed since the last call. Only processes that have computed since then count as
        /// being on a host, also for `set_index` and `index_form`.
        Inactive,
    }
);
choice!(
    /// Whether a call judges each candidate alone or the moves of all candidates together.
    Plan {
        /// Each candidate moves if t1 > t2, whatever the others do (the papers).
        Each,
        /// Candidates leave the slowest host first, and as many move as pay together. The rule is migsim's own (`migbsp-2`).
        Slowest,
    }
);
choice!(
    /// How t2, the predicted time of a candidate at its destination, takes account of the processes that are already there.
    Sharing {
        /// The computation time in t2 is computed with the speed that the process gets as its fair share of the host.
        Fair,
        /// The computation time in t2 is computed with the fair share of the host, and is increased by the slowdown of the
        /// processes that are already on the host.
        FairAndInflicted,
        /// Only hosts without processes are accepted as destinations.
        Alone,
    }
);
choice!(
    /// Whether the times t1 and t2 of the viability test include communication (point iv of the viability data in the papers).
    ViabilityCommunication {
        /// The times t1 and t2 do not include communication, only computation and, in t2, the cost of the move.
        Ignored,
        /// The times t1 and t2 include communication. For t1 this is the predicted communication time. For t2 it is the time of
        /// the same messages with the same clusters from the destination, without contention: `Σ_j messages · L(j, destination) +
        /// bytes / bandwidth`. A message without bytes still takes its latency.
        Uncontended,
    }
);

impl Plan {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
    fn is_each(&self) -> bool {
        *self == Self::Each
    }
}

impl WeightRule {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
    fn is_fixed(&self) -> bool {
        *self == Self::Fixed
    }
}

/// The options of the policy `migbsp`, which is MigBSP as in the papers after 2007 (the second generation).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MigBspConfig {
    /// Number α of supersteps until the first call. After this call the policy adapts the number of supersteps between calls.
    pub alpha: u32,
    /// The lower limit of α', the number of supersteps until the next call: unstable supersteps cannot reduce α' below this value
    /// (ambiguity A1).
    pub floor: Floor,
    /// Tolerance D of the stability test. A superstep is stable if the times of all processes lie within avg·(1 ± D); a share,
    /// from 0 to 10.
    pub d: f64,
    /// Number ω of calls in a row without migration after which the tolerance D grows, or α instead (`d_growth`).
    pub omega: u32,
    /// The change of the tolerance D, or of α instead, after ω calls in a row without migration (ambiguity A4).
    pub d_growth: ToleranceGrowth,
    /// The factor by which the tolerance D grows if `d_growth` is `multiply`.
    pub d_factor: f64,
    /// The moves that count as migrations in a scenario without moves, when the number ω of calls without migration is counted
    /// (ambiguity A6).
    pub quiet_call: QuietCall,
    /// The interval between calls to which the stability test of the superstep immediately before a call belongs (ambiguity A37).
    pub calling_superstep: CallingSuperstep,
    /// The processes whose times the stability test compares (ambiguity A3).
    pub population: Population,
    /// The time of a process in a superstep that the stability test compares.
    pub process_time: ProcessTime,
    /// The result of the first stability test of a run.
    pub first_test: FirstTest,

    /// Margin δ: the largest relative difference between a predicted and a measured number of instructions at which the forecast
    /// counts as right; in \[0, 1\]. It determines the regularity Pcomp of the computation.
    pub delta: f64,
    /// Margin δ in scenario ii (scheduler without moves); the value of `delta` by default. The paper on irregular Smith-Waterman
    /// uses 0.01 in this scenario, so that Pcomp falls and no process becomes a candidate (section 4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_without_moves: Option<f64>,
    /// Margin β: the largest relative difference between a predicted and a measured number of bytes at which the forecast counts
    /// as right; in \[0, 1\]. It determines the regularity Pcomm of the communication.
    pub beta: f64,
    /// The time for which Pcomp and Pcomm, the regularities of computation and communication, are kept before they restart at 1
    /// (ambiguity A7).
    pub patterns: Patterns,
    /// The initial value of a forecast of work or communication in each interval between calls (ambiguity A12).
    pub ageing: Ageing,
    /// The communication time of a process with a cluster in a superstep, from which the forecast BTP of this time is computed
    /// (ambiguity A8).
    pub communication_time: CommunicationTime,
    /// The measure of the computing power of cluster j, from which the index ISet(j) in the potential of migration is computed
    /// (ambiguity A9).
    pub set_index: SetIndex,
    /// The equation of the index ISet(j) as a function of the computing power of cluster j (ambiguity A9).
    pub index_form: IndexForm,
    /// The rule by which the terms Comp, Comm and Mem are weighted in PM, the potential of migration.
    #[serde(skip_serializing_if = "WeightRule::is_fixed")]
    pub weights: WeightRule,
    /// The number of supersteps over which the potential of migration PM adds up the terms Comp and Comm (ambiguity A13).
    pub potential_horizon: Horizon,
    /// Mig(i,j): time of the operations of a migration without the transfer of the memory, as part of the term Mem(i,j)
    /// (ambiguity A10).
    pub migration_operations: Seconds,
    /// Whether the term Mem(i,j) includes the time to transfer the memory of the process, M(i) · T(i,j).
    pub memory_transfer: bool,
    /// The bandwidth at which the memory of a process is assumed to be sent in the term Mem(i,j); T(i,j) is the time per byte at
    /// this bandwidth.
    pub memory_rate: MemoryRate,
    /// The cluster from which the memory of process i is assumed to be sent, in the term Mem(i,j).
    pub memory_origin: MemoryOrigin,
    /// Whether the present cluster of a process is included when its highest potential of migration PM is determined (ambiguity
    /// A31).
    pub own_cluster: OwnCluster,
    /// The heuristic that selects the candidates: all processes with a potential of migration (PM) above a threshold (one), or
    /// only the process with the highest PM (two).
    pub heuristic: Heuristic,
    /// Parameter x of heuristic one, by default the share of the highest potential of migration PM above which processes are
    /// candidates; in \[0, 1\].
    pub x: f64,
    /// The meaning of x in heuristic one: the threshold of the potential of migration PM above which processes are candidates
    /// (ambiguity A11).
    pub x_of: ThresholdMeaning,

    /// The order in which the candidates of a call choose their destinations (ambiguity A29).
    pub candidate_order: CandidateOrder,
    /// The hosts of the chosen cluster that can be destinations (ambiguity A14).
    pub free_host: FreeHost,

    /// The number of supersteps over which the times t1 and t2 of the viability test are added up (ambiguity A17).
    pub viability_horizon: Horizon,
    /// Whether a call judges each candidate alone or the moves of all candidates together.
    #[serde(skip_serializing_if = "Plan::is_each")]
    pub plan: Plan,
    /// How t2, the predicted time of a candidate at its destination, takes account of the processes that are already there.
    pub sharing: Sharing,
    /// Whether t1 and t2, the times of the viability test, include the communication of the process.
    pub viability_communication: ViabilityCommunication,
    /// Time of the operations of a migration without the transfer of the memory, as part of t2, the time of a candidate at the
    /// destination.
    pub viability_cost: Seconds,
    /// Whether t2, the time of a candidate at the destination, includes the time to transfer the memory of the process.
    pub viability_transfer: bool,
}

impl Default for MigBspConfig {
    fn default() -> Self {
        Self {
            alpha: 4,
            floor: Floor::Initial,
            d: 0.5,
            omega: 3,
            d_growth: ToleranceGrowth::Multiply,
            d_factor: 2.0,
            quiet_call: QuietCall::Decided,
            calling_superstep: CallingSuperstep::Before,
            population: Population::Computing,
            process_time: ProcessTime::ComputeAndCommunicate,
            first_test: FirstTest::Measured,
            delta: 0.5,
            delta_without_moves: None,
            beta: 0.5,
            patterns: Patterns::Kept,
            ageing: Ageing::FirstValue,
            communication_time: CommunicationTime::Larger,
            set_index: SetIndex::MeanClock,
            index_form: IndexForm::OfBest,
            weights: WeightRule::Fixed,
            potential_horizon: Horizon::Superstep,
            migration_operations: Seconds::default(),
            memory_transfer: true,
            memory_rate: MemoryRate::Managers,
            memory_origin: MemoryOrigin::Present,
            own_cluster: OwnCluster::Excluded,
            heuristic: Heuristic::One,
            x: 0.8,
            x_of: ThresholdMeaning::OfMaximum,
            candidate_order: CandidateOrder::Potential,
            free_host: FreeHost::Any,
            viability_horizon: Horizon::Superstep,
            plan: Plan::Each,
            sharing: Sharing::Fair,
            viability_communication: ViabilityCommunication::Ignored,
            viability_cost: Seconds::default(),
            viability_transfer: true,
        }
    }
}

/// Largest allowed value of the tolerance D, as a share of the mean time; a larger D is probably meant as percent. No time of 11
/// processes is more than 10 times above their mean, and few applications come near this.
const MAX_D: f64 = 10.0;

/// Returns the allowed range of a share, from 0 to `most`, in words for an error message. If `value` was probably meant as
/// percent, the words include the corresponding share.
fn allowed_share_text(most: f64, value: f64) -> String {
    let share = percent_hint(value).map_or_else(String::new, |share| format!(": {share}"));
    format!("from 0 to {most}{share}")
}

impl MigBspConfig {
    /// Returns an error for each option that is out of range, with the key of the option.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut check = |key: &str, is_right: bool, value: f64, range: &str| {
            problems.extend((!is_right).then(|| range_problem(key, value, range)));
        };
        let delta_without_moves = self.delta_without_moves.unwrap_or(0.0);
        for (key, value) in [
            ("delta", self.delta),
            ("delta_without_moves", delta_without_moves),
            ("beta", self.beta),
            ("x", self.x),
        ] {
            let range = allowed_share_text(1.0, value);
            check(key, (0.0..=1.0).contains(&value), value, &range);
        }
        for (key, count) in [("alpha", self.alpha), ("omega", self.omega)] {
            check(key, count >= 1, count.into(), "at least 1");
        }
        let range = allowed_share_text(MAX_D, self.d);
        check("d", (0.0..=MAX_D).contains(&self.d), self.d, &range);
        let grows = self.d_factor.is_finite() && self.d_factor >= 1.0;
        let range = "a finite number and at least 1";
        check("d_factor", grows, self.d_factor, range);
        problems
    }
}
