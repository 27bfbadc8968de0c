//! The options of MigBSP: the parameters of the papers, and one named option for each point that they leave open.
//!
//! The numbers A1..A37 are those of the project's list of ambiguities of the papers. Defaults are the values of the LU paper (α = 4, ω = 3,
//! D = 0.5, x = 80 %) and, where it gives none, the plainest reading. A value chosen to fit a paper is in the experiment file of the paper,
//! with its origin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use migsim_base::error::Problem;
use migsim_base::units::Seconds;
use migsim_base::words::percent_hint;

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }
    };
}

choice!(
    /// Floor of the working interval α' (A1).
    Floor {
        /// 1 (the 2007 paper, algorithm 1).
        One,
        /// The initial α (Lattice Boltzmann paper, section 4).
        Initial,
    }
);
choice!(
    /// The growth of D, or of α instead, after ω calls without migration (A4).
    ToleranceGrowth {
        /// D is multiplied by `d_factor`.
        Multiply,
        /// D stays, and α becomes twice the interval that has ended, regardless of the votes of its supersteps (the authors' program of 2015).
        DoubleAlpha,
        /// D does not grow: there is no second adaptation (Lattice Boltzmann paper, section 4, where it is future work).
        Never,
    }
);
choice!(
    /// The calls without migration at which D grows (A5).
    ToleranceTrigger {
        /// At the ω-th call in a row and at each further call.
        Every,
        /// At each ω-th call in a row; then the count restarts.
        EachOmega,
        /// Once in a run.
        Once,
    }
);
choice!(
    /// The value of D after a call with migrations that follows calls without (A5).
    AfterMigration {
        /// D stays.
        Keep,
        /// D returns to its initial value.
        Reset,
        /// The last growth of D is undone.
        StepBack,
    }
);
choice!(
    /// The moves that count as migrations for ω in a scenario without moves (A6).
    QuietCall {
        /// Decided moves.
        Decided,
        /// Moves made.
        Moved,
    }
);
choice!(
    /// The interval to which the test of the calling superstep belongs (A37).
    CallingSuperstep {
        /// Before the call: the test is the last test of its interval.
        Before,
        /// After the call: the test is the first test of the next interval.
        After,
    }
);
choice!(
    /// The processes in the stability test (A3).
    Population {
        /// Processes that computed in the superstep.
        Computing,
        /// Processes that received a message in the superstep, since only the time of these processes includes receives.
        Receiving,
        /// All processes.
        All,
    }
);
choice!(
    /// The time T of a process in the stability test.
    ProcessTime {
        /// The computation of the process.
        Compute,
        /// The computation and the sends of the process.
        ComputeAndSend,
        /// The computation, sends and receives of the process, until it reaches the barrier.
        ComputeAndCommunicate,
    }
);
choice!(
    /// The vote of a superstep without a process to test (A2).
    IdleSuperstep {
        /// No vote: α' stays.
        NoVote,
        /// Stable.
        Stable,
        /// Unstable.
        Unstable,
    }
);
choice!(
    /// The first stability test of a run.
    FirstTest {
        /// As measured.
        Measured,
        /// The test counts as stable, since there is no earlier superstep to compare with.
        Stable,
    }
);
choice!(
    /// The first value of a forecast in an interval.
    Ageing {
        /// The value of the first superstep (Smith-Waterman paper on dynamic platforms, equation 5).
        FirstValue,
        /// 0, so that the first superstep weighs as much as the last: the forecast of a steady value v is `v · (1 - 2^-α)`, and a short
        /// history counts less (the authors' program of 2015).
        FromZero,
    }
);
choice!(
    /// The effect of idle supersteps on forecasts (A12).
    IdleAgeing {
        /// Idle supersteps enter with the value 0.
        Zero,
        /// Idle supersteps are skipped.
        Skip,
    }
);
choice!(
    /// The effect of a superstep without computation on the regularity Pcomp (A7).
    IdlePattern {
        /// The superstep is judged like any other: a forecast of 0 is right if the value is 0.
        Judged,
        /// Pcomp stays as it is.
        Unchanged,
    }
);
choice!(
    /// The lifetime of the regularities Pcomp and Pcomm, which start at 1 (A7).
    Patterns {
        /// The regularities are kept during the run (the 2007 paper, algorithm 2, of Pcomp).
        Kept,
        /// The regularities restart at 1 after each call (the authors' program of 2015).
        EachCall,
    }
);
choice!(
    /// The communication time with a cluster that is forecast (A8).
    CommunicationTime {
        /// The larger of sending and receiving time.
        Larger,
        /// The sum of sending and receiving time.
        Sum,
        /// The receiving time alone.
        Received,
    }
);
choice!(
    /// The power of a cluster, from which its index ISet(j) is computed (A9).
    SetIndex {
        /// The mean clock rate.
        MeanClock,
        /// The mean over the hosts of the cluster of the clock rate minus external load, shared by the processes on the host and one more.
        MeanFreePower,
        /// The clock rate of the best host without a process; 0 if there is none.
        BestFreeHost,
        /// The maximum over the hosts of the cluster of the clock rate minus external load, shared by the processes on the host and one
        /// more.
        BestHost,
        /// The sum over the hosts of the cluster of the clock rate minus external load, shared by the processes on the host and one more
        /// (the authors' program of 2015).
        FreePowerSum,
    }
);
choice!(
    /// The form of ISet(j), as a function of the power of a cluster (A9).
    IndexForm {
        /// `power(j) / max power`: 1 for the best cluster.
        OfBest,
        /// `1 - v/power(j)`, with v the speed of the process on its present host: the fraction of its time that the process would save,
        /// which is negative for a slower cluster. Comp(i,j) is then `t1 - t2` without costs.
        GainOverSource,
    }
);
choice!(
    /// Whether PM includes Comm(i,j).
    PotentialCommunication {
        /// Yes (equation 1).
        Counted,
        /// No.
        Ignored,
    }
);
choice!(
    /// The rate at which Mem(i,j) sends the memory of a process.
    MemoryRate {
        /// The rate of the narrowest link between clusters, one for all pairs. Access links and the medium inside a cluster do not count.
        /// On a platform without such links it is as `managers`.
        Backbone,
        /// The rate of the narrowest link between the two managers.
        Managers,
    }
);
choice!(
    /// The cluster from which Mem(i,j) counts the transfer of the memory.
    MemoryOrigin {
        /// The present cluster of process i; a transfer to that cluster itself costs nothing.
        Present,
        /// The first cluster of process i, as if rates were measured once, at the start, and kept.
        Initial,
    }
);
choice!(
    /// The weights of Comp, Comm and Mem in PM.
    WeightRule {
        /// 1 each (equation 1).
        Fixed,
        /// The weights are adjusted at each call: the weights of Comp and Comm follow the predicted shares of time, and the weight of Mem
        /// follows the effect of the last moves. The Lattice Boltzmann paper announces such weights without a rule; this rule is ours.
        Adaptive,
    }
);
choice!(
    /// The number of supersteps over which a time is counted (A13, A17).
    Horizon {
        /// One superstep.
        Superstep,
        /// The interval that has just ended (α).
        Interval,
        /// The next interval (α').
        NextInterval,
    }
);
choice!(
    /// Whether the cluster where a process is competes for its highest PM (A31).
    OwnCluster {
        /// No.
        Excluded,
        /// Yes; a process whose highest PM is to its own cluster stays, and is no candidate.
        Competes,
        /// Yes; a process whose highest PM is to its own cluster is a candidate for another host of this cluster. Its move costs a transfer
        /// between two hosts of that cluster, as with the random node of the own Set in the 2007 paper (section 2.3.3).
        Within,
    }
);
choice!(
    /// The selection of candidates.
    Heuristic {
        /// All processes with a PM above a threshold that x determines.
        One,
        /// The process with the highest PM alone.
        Two,
    }
);
choice!(
    /// The meaning of x in heuristic one (A11).
    ThresholdMeaning {
        /// PM > x · max PM.
        OfMaximum,
        /// PM > x · max PM, with the maximum over the processes of the own cluster: each manager selects from its own list (Smith-Waterman
        /// paper on dynamic platforms, section 2.3).
        OfClusterMaximum,
        /// The first processes, of which x is the share.
        OfProcesses,
    }
);
choice!(
    /// The order in which candidates are tried (A29).
    CandidateOrder {
        /// By decreasing PM, ties by increasing rank.
        Potential,
        /// By decreasing PM. Of processes with equal PM, the process that was answered last at the last call comes first, which is the
        /// process with the highest rank. Managers answer by increasing rank, and a process that is answered later begins the next
        /// superstep later. At the first call the lowest rank is first, since no process was answered before. Of processes that move to
        /// equal hosts the lowest rank gets the first host.
        PotentialLastAnswered,
        /// By increasing rank.
        RankAscending,
        /// By decreasing rank.
        RankDescending,
    }
);
choice!(
    /// The hosts of the chosen cluster that can be destinations (A14).
    FreeHost {
        /// Any host.
        Any,
        /// Hosts without a process.
        Unmapped,
        /// Hosts without a process that computed since the last call. Only such processes count as being on a host, also for `set_index`
        /// and `index_form`.
        Inactive,
        /// The hosts on which no process computed within the memory (`load_memory`). A process then counts as being on a host if it
        /// computed in the calling superstep or was sent there in this call, also for `set_index`. A host without computation in the
        /// calling superstep but within the memory counts one process.
        Quiet,
    }
);
choice!(
    /// The load in ICPU = peak · (1 - load) (A16).
    HostLoad {
        /// The external load only.
        External,
        /// The external load, with the remaining speed shared by the BSP processes on the host and the new process.
        WithProcesses,
    }
);
choice!(
    /// The reaction of a candidate to a cluster without a host for it (A15).
    FullCluster {
        /// The candidate stays.
        Stay,
        /// The candidate tries the cluster of its next best PM.
        NextBest,
        /// All candidates of its cluster that want the full cluster try the clusters of the next best PM together. They go to the first
        /// that has a free host for each of them; if none has, all stay (Smith-Waterman paper on dynamic platforms, section 5.2).
        NextForGroup,
    }
);
choice!(
    /// The cost in t2 of a destination that is already in use.
    Sharing {
        /// The fair share of the process on the host.
        Fair,
        /// The fair share of the process, and the slowdown of the processes that are already there.
        FairAndInflicted,
        /// Only empty hosts are acceptable.
        Alone,
    }
);
choice!(
    /// Whether a candidate has to pass the viability test.
    Viability {
        /// Yes: it moves if `t1 > t2` (LU paper, section 2; Smith-Waterman papers, section 2).
        Tested,
        /// No: each candidate with a host moves, so that PM alone decides (the 2007 paper, and the authors' program of 2015). t1 and t2 are
        /// still computed and recorded.
        None,
    }
);
choice!(
    /// Whether t1 and t2 include communication (point iv of the viability data).
    ViabilityCommunication {
        /// No.
        Ignored,
        /// Yes: t1 includes the predicted communication time. t2 includes the time of the same messages with the same clusters, without
        /// contention: `Σ_j messages · L(j, destination) + bytes / bandwidth`. A message without bytes takes its latency, too.
        Uncontended,
    }
);

impl WeightRule {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
    fn is_fixed(&self) -> bool {
        *self == Self::Fixed
    }
}

impl CandidateOrder {
    /// Whether processes of equal PM are tried by decreasing rank, at the first call or at a later one.
    pub(super) fn ties_fall(self, has_answered: bool) -> bool {
        match self {
            Self::PotentialLastAnswered => has_answered,
            Self::Potential | Self::RankAscending | Self::RankDescending => false,
        }
    }
}

/// All options of MigBSP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MigBspConfig {
    /// α: supersteps until the first call, and the first interval between calls.
    pub alpha: u32,
    /// Floor of α' (A1).
    pub floor: Floor,
    /// D: a superstep is stable if all times lie within avg·(1 ± D); a share, from 0 to 10.
    pub d: f64,
    /// ω: calls in a row without migration after which D grows, or α instead (`d_growth`).
    pub omega: u32,
    /// The growth of D (A4).
    pub d_growth: ToleranceGrowth,
    /// The factor of `d_growth: multiply`.
    pub d_factor: f64,
    /// The calls at which D grows (A5).
    pub d_trigger: ToleranceTrigger,
    /// D when migrations resume (A5).
    pub d_after_migration: AfterMigration,
    /// The moves that count as migrations in a scenario without moves (A6).
    pub quiet_call: QuietCall,
    /// The interval to which the test of the calling superstep belongs (A37).
    pub calling_superstep: CallingSuperstep,
    /// The processes in the stability test (A3).
    pub population: Population,
    /// The time of a process in the stability test.
    pub process_time: ProcessTime,
    /// The vote of a superstep without a process to test (A2).
    pub idle_superstep: IdleSuperstep,
    /// The first test of a run.
    pub first_test: FirstTest,

    /// δ: margin within which a forecast of instructions counts as right, in [0, 1].
    pub delta: f64,
    /// δ in scenario ii; `delta` if not given. The paper on irregular Smith-Waterman takes 0.01 there, so that Pcomp falls and no process
    /// becomes a candidate (section 4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_without_moves: Option<f64>,
    /// β: margin within which a forecast of bytes counts as right, in [0, 1].
    pub beta: f64,
    /// Pcomp in supersteps without computation (A7).
    pub idle_pattern: IdlePattern,
    /// The lifetime of Pcomp and Pcomm (A7).
    pub patterns: Patterns,
    /// The first value of a forecast in an interval (A12).
    pub ageing: Ageing,
    /// The effect of idle supersteps on forecasts (A12).
    pub idle_ageing: IdleAgeing,
    /// The communication time that is forecast (A8).
    pub communication_time: CommunicationTime,
    /// The power of a cluster in ISet(j) (A9).
    pub set_index: SetIndex,
    /// The form of ISet(j), as a function of that power (A9).
    pub index_form: IndexForm,
    /// Whether PM includes Comm(i,j).
    pub potential_communication: PotentialCommunication,
    /// The weights of Comp, Comm and Mem in PM.
    #[serde(skip_serializing_if = "WeightRule::is_fixed")]
    pub weights: WeightRule,
    /// The number of supersteps over which PM counts Comp and Comm (A13).
    pub potential_horizon: Horizon,
    /// Mig(i,j): time of the operations of a migration (A10).
    pub migration_operations: Seconds,
    /// Whether Mem(i,j) includes the transfer of the memory, M(i) · T(i,j).
    pub memory_transfer: bool,
    /// T(i,j): the rate at which Mem(i,j) counts the transfer of the memory.
    pub memory_rate: MemoryRate,
    /// The cluster from which Mem(i,j) counts the transfer of the memory.
    pub memory_origin: MemoryOrigin,
    /// Whether the cluster where a process is competes for its highest PM (A31).
    pub own_cluster: OwnCluster,
    /// Whether only a positive PM makes a candidate (A13).
    pub only_positive: bool,
    /// Heuristic one or two.
    pub heuristic: Heuristic,
    /// x of heuristic one, in [0, 1].
    pub x: f64,
    /// The meaning of x (A11).
    pub x_of: ThresholdMeaning,

    /// The order in which candidates are tried (A29).
    pub candidate_order: CandidateOrder,
    /// The hosts that can be destinations (A14).
    pub free_host: FreeHost,
    /// `free_host: quiet`: the number of supersteps, at least 1, for which a host counts as busy after a computation. Default: the rest of
    /// the run. The load of the 2007 paper (section 2.4) is a mean over 15 minutes, longer than most runs of the papers (A16).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_memory: Option<u32>,
    /// The load in ICPU (A16).
    pub host_load: HostLoad,
    /// The reaction to a full cluster (A15).
    pub full_cluster: FullCluster,

    /// Whether a candidate has to pass the viability test, `t1 > t2`.
    pub viability: Viability,
    /// The number of supersteps over which t1 and t2 are counted (A17).
    pub viability_horizon: Horizon,
    /// The cost in t2 of a shared destination.
    pub sharing: Sharing,
    /// Whether t1 and t2 include communication.
    pub viability_communication: ViabilityCommunication,
    /// The time of a migration in t2, without the transfer of the memory.
    pub viability_cost: Seconds,
    /// Whether t2 includes the transfer of the memory.
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
            d_trigger: ToleranceTrigger::Every,
            d_after_migration: AfterMigration::Keep,
            quiet_call: QuietCall::Decided,
            calling_superstep: CallingSuperstep::Before,
            population: Population::Computing,
            process_time: ProcessTime::ComputeAndCommunicate,
            idle_superstep: IdleSuperstep::NoVote,
            first_test: FirstTest::Measured,
            delta: 0.5,
            delta_without_moves: None,
            beta: 0.5,
            idle_pattern: IdlePattern::Judged,
            patterns: Patterns::Kept,
            ageing: Ageing::FirstValue,
            idle_ageing: IdleAgeing::Zero,
            communication_time: CommunicationTime::Larger,
            set_index: SetIndex::MeanClock,
            index_form: IndexForm::OfBest,
            potential_communication: PotentialCommunication::Counted,
            weights: WeightRule::Fixed,
            potential_horizon: Horizon::Superstep,
            migration_operations: Seconds::default(),
            memory_transfer: true,
            memory_rate: MemoryRate::Managers,
            memory_origin: MemoryOrigin::Present,
            own_cluster: OwnCluster::Excluded,
            only_positive: true,
            heuristic: Heuristic::One,
            x: 0.8,
            x_of: ThresholdMeaning::OfMaximum,
            candidate_order: CandidateOrder::Potential,
            free_host: FreeHost::Any,
            load_memory: None,
            host_load: HostLoad::WithProcesses,
            full_cluster: FullCluster::Stay,
            viability: Viability::Tested,
            viability_horizon: Horizon::Superstep,
            sharing: Sharing::Fair,
            viability_communication: ViabilityCommunication::Ignored,
            viability_cost: Seconds::default(),
            viability_transfer: true,
        }
    }
}

/// Maximum of D, as a share of the mean time. No time of 11 processes is more than 10 times above their mean, and few applications come
/// near that, so a larger D is probably meant as percent.
const LARGEST_D: f64 = 10.0;

/// Describes the range of a share from 0, with the share that was meant by percent.
fn within(most: f64, value: f64) -> String {
    let share = percent_hint(value).map_or_else(String::new, |share| format!(": {share}"));
    format!("from 0 to {most}{share}")
}

impl MigBspConfig {
    /// Returns the errors of all values that are out of range, each with its key in the options.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut check = |key: &str, is_right: bool, value: String, range: &str| {
            if !is_right {
                let message = format!("`{key}` is {value}; it must be {range}");
                problems.push(Problem::new(message).key(key));
            }
        };
        let fractions = [
            ("delta", self.delta),
            (
                "delta_without_moves",
                self.delta_without_moves.unwrap_or(0.0),
            ),
            ("beta", self.beta),
            ("x", self.x),
        ];
        for (key, value) in fractions {
            check(
                key,
                (0.0..=1.0).contains(&value),
                value.to_string(),
                &within(1.0, value),
            );
        }
        check(
            "alpha",
            self.alpha >= 1,
            self.alpha.to_string(),
            "at least 1",
        );
        check(
            "load_memory",
            self.load_memory != Some(0),
            "0".to_owned(),
            "at least 1",
        );
        check(
            "omega",
            self.omega >= 1,
            self.omega.to_string(),
            "at least 1",
        );
        check(
            "d",
            (0.0..=LARGEST_D).contains(&self.d),
            self.d.to_string(),
            &within(LARGEST_D, self.d),
        );
        let grows = self.d_factor.is_finite() && self.d_factor >= 1.0;
        check(
            "d_factor",
            grows,
            self.d_factor.to_string(),
            "a finite number and at least 1",
        );
        problems
    }
}
