//! The quantities in the sentences about MigBSP, each with its name in JSON, unit and equation.

use crate::explain::{Meaning, Unit};

/// Creates the meaning of a quantity of MigBSP in seconds.
const fn seconds_meaning(name: &'static str, definition: &'static str) -> Meaning {
    Meaning::new(name, Unit::Seconds, definition)
}

/// Creates the meaning of a quantity of MigBSP that is a whole number.
const fn count_meaning(name: &'static str, definition: &'static str) -> Meaning {
    Meaning::new(name, Unit::Count, definition)
}

/// Meaning of the quantity PM(i,j), the potential of migration of process i to cluster j \[s\].
pub(super) const POTENTIAL: Meaning = seconds_meaning(
    "potential_s",
    "the potential of migration PM(i,j) = Comp(i,j) + Comm(i,j) - Mem(i,j) of process i and cluster j: its gains in computation and communication, minus the memory and operations of the move",
);
/// Meaning of the quantity Comp(i,j), the computation term of PM, the potential of migration \[s\].
pub(super) const COMPUTATION_TERM: Meaning = seconds_meaning(
    "potential_compute_s",
    "Comp(i,j) = Pcomp(i) · CTP(i) · ISet(i,j)",
);
/// Meaning of the quantity Comm(i,j), the communication term of PM, the potential of migration \[s\].
pub(super) const COMMUNICATION_TERM: Meaning = seconds_meaning(
    "potential_communication_s",
    "Comm(i,j) = Pcomm(i,j) · BTP(i,j)",
);
/// Meaning of the quantity Mem(i,j), the term of PM (the potential of migration) for the memory and the operations of a move
/// \[s\].
pub(super) const MEMORY_TERM: Meaning = seconds_meaning(
    "potential_memory_s",
    "Mem(i,j) = M(i) · T(i,j) + Mig(i,j): memory and operations of a move",
);
/// Meaning of the quantity: the highest PM (potential of migration) of the processes that prefer another cluster than their
/// present one \[s\].
pub(super) const HIGHEST_POTENTIAL_ELSEWHERE: Meaning = seconds_meaning(
    "highest_elsewhere_s",
    "the highest PM among the processes whose best cluster is not the one where they are",
);
/// Meaning of the quantity: the highest PM (potential of migration) of all processes, including the processes that prefer their
/// present cluster \[s\].
pub(super) const HIGHEST_POTENTIAL: Meaning = seconds_meaning(
    "highest_potential_s",
    "the highest PM of all processes, including those whose best cluster is the one where they are",
);
/// Meaning of the quantity: the threshold that the PM (potential of migration) of a candidate must exceed \[s\].
pub(super) const POTENTIAL_THRESHOLD: Meaning = seconds_meaning(
    "threshold_s",
    "the PM that candidates must exceed: highest_elsewhere_s - (1 - x) · |highest_elsewhere_s|, which is x · highest_elsewhere_s if this value is positive",
);
/// Meaning of the quantity: the lowest PM (potential of migration) of a candidate, if the option x is a share of the processes
/// \[s\].
pub(super) const LOWEST_CANDIDATE_POTENTIAL: Meaning = seconds_meaning(
    "least_of_candidates_s",
    "the least PM of a candidate, if x is a share of the processes",
);
/// Meaning of the quantity: the amount by which the highest PM (potential of migration) of a process is below the threshold of
/// candidates \[s\].
pub(super) const BELOW_THRESHOLD: Meaning = seconds_meaning(
    "below_threshold_s",
    "threshold_s minus the highest PM of the process",
);
/// Meaning of the quantity: the absolute value of the highest PM (potential of migration) of a process if this PM is negative
/// \[s\].
pub(super) const BELOW_ZERO: Meaning = seconds_meaning(
    "below_zero_s",
    "the absolute value of the highest PM of the process, which is negative",
);
/// Meaning of the quantity: the sum Comp + Comm in the highest PM (potential of migration) to another cluster, before the cost
/// Mem is subtracted \[s\].
pub(super) const COMP_PLUS_COMM: Meaning = seconds_meaning(
    "promised_s",
    "Comp(i,j) + Comm(i,j) of the highest PM to another cluster",
);
/// Meaning of the quantity: the number of processes whose PM (potential of migration) to their present cluster exceeds the
/// highest PM to another cluster.
pub(super) const HIGHER_AT_PRESENT_CLUSTER: Meaning = count_meaning(
    "higher_at_home",
    "the number of processes that have a PM above highest_elsewhere_s for the cluster where they already are",
);
/// Meaning of the quantity: the rank of a process by decreasing PM (potential of migration), counted from 1.
pub(super) const RANK: Meaning = count_meaning(
    "rank",
    "the rank of the process among all processes that have a PM; the highest PM has rank 1",
);
/// Meaning of the quantity: the number of processes with a PM (potential of migration) in the decision record.
pub(super) const RANKED_PROCESSES: Meaning =
    count_meaning("ranked", "the number of processes with a PM");
/// Meaning of the quantity: the number of PM(i,j) (potentials of migration) that the decision record omits.
pub(super) const OMITTED_POTENTIALS: Meaning = count_meaning(
    "potentials_left_out",
    "the number of PM(i,j) that the record leaves out",
);
/// Meaning of the quantity x: the share of the highest PM (potential of migration) above which processes are candidates, or the
/// share of processes that are candidates.
pub(super) const OPTION_X: Meaning = Meaning::new(
    "x",
    Unit::Number,
    "x: the share of the highest PM above which processes are candidates, or a share of the processes",
);
/// Meaning of the quantity: the number of hosts of the destination cluster that could take the candidate.
pub(super) const OFFERED_HOSTS: Meaning = count_meaning(
    "offered_hosts",
    "the number of hosts of the cluster that could take the process",
);
/// Meaning of the quantity ICPU: the computing power that the load of the offered host leaves \[instr/s\].
pub(super) const OFFERED_POWER: Meaning = Meaning::new(
    "power_instructions_per_s",
    Unit::InstructionsPerSecond,
    "ICPU: the speed of the offered host that its background load leaves",
);
/// Meaning of the quantity: the number of processes that count as being on the offered host.
pub(super) const RESIDENTS: Meaning = count_meaning(
    "residents",
    "the number of processes that count as being on the offered host",
);
/// Meaning of the quantity: the number of supersteps over which t1 and t2 (the times of a candidate without and with the move)
/// are added up.
pub(super) const HORIZON_SUPERSTEPS: Meaning = Meaning::new(
    "supersteps_of_times",
    Unit::Number,
    "the number of supersteps over which t1 and t2 are counted",
);
/// Meaning of the quantity: the computation time of one superstep in t1, the time of a candidate on its present host \[s\].
pub(super) const STAY_COMPUTE: Meaning =
    seconds_meaning("t1_compute_s", "the computation of a superstep in t1");
/// Meaning of the quantity: the communication time of one superstep in t1, the time of a candidate on its present host \[s\].
pub(super) const STAY_COMMUNICATION: Meaning = seconds_meaning(
    "t1_communication_s",
    "the communication of a superstep in t1",
);
/// Meaning of the quantity: the computation time of one superstep in t2, the time of a candidate at its destination, including
/// the slowdown by other processes \[s\].
pub(super) const GO_COMPUTE: Meaning = seconds_meaning(
    "t2_compute_s",
    "the computation of a superstep in t2, times the slowdown",
);
/// Meaning of the quantity: the communication time of one superstep in t2, the time of a candidate at its destination \[s\].
pub(super) const GO_COMMUNICATION: Meaning = seconds_meaning(
    "t2_communication_s",
    "the communication of a superstep in t2",
);
/// Meaning of the quantity: the time to transfer the memory of the process, as part of t2, the time of a candidate at its
/// destination \[s\].
pub(super) const GO_TRANSFER: Meaning =
    seconds_meaning("t2_transfer_s", "the transfer of the memory in t2");
/// Meaning of the quantity: the time of the operations of the move in t2 (the time at the destination), without the transfer of
/// the memory \[s\].
pub(super) const GO_OPERATIONS: Meaning =
    seconds_meaning("t2_operations_s", "the operations of the move in t2");
/// Meaning of the quantity: the cost of the move in t2, which is the transfer of the memory plus the operations \[s\].
pub(super) const GO_COST: Meaning = seconds_meaning(
    "t2_price_s",
    "the cost of the move in t2: t2_transfer_s + t2_operations_s",
);
/// Meaning of the quantity: the factor on the computation time in t2 that accounts for other processes on the destination.
pub(super) const SLOWDOWN: Meaning = Meaning::new(
    "slowdown",
    Unit::Number,
    "the factor on the computation in t2: slowdown_own + slowdown_inflicted",
);
/// Meaning of the quantity: the part of the slowdown factor in t2 that results from the process's fair share of the destination
/// host.
pub(super) const SLOWDOWN_OWN: Meaning = Meaning::new(
    "slowdown_own",
    Unit::Number,
    "processes per core of the offered host including the new process, at least 1",
);
/// Meaning of the quantity: the part of the slowdown factor in t2 that accounts for the slowdown of the processes already on the
/// destination.
pub(super) const SLOWDOWN_INFLICTED: Meaning = Meaning::new(
    "slowdown_inflicted",
    Unit::Number,
    "residents times the increase of processes per core, which is counted as a loss of the new process",
);
/// Meaning of the quantity α: the number of supersteps from the previous call to this call.
pub(super) const ALPHA: Meaning = count_meaning(
    "alpha",
    "α: the number of supersteps from the previous call to this call",
);
/// Meaning of the quantity α': the number of supersteps from this call to the next one.
pub(super) const NEXT_ALPHA: Meaning = count_meaning(
    "next_alpha",
    "α': the number of supersteps from this call to the next call",
);
/// Meaning of the quantity D: the tolerance of the stability test, as a share of the mean time.
pub(super) const TOLERANCE: Meaning = Meaning::new(
    "d",
    Unit::Number,
    "D: a superstep is stable if the time of each process differs from their mean by at most the fraction D",
);
/// Meaning of the quantity: the number of calls at which the tolerance D grew.
pub(super) const TOLERANCE_GROWTHS: Meaning = count_meaning(
    "d_growths",
    "the number of calls, since D last fell, at which D grew because at least ω calls in a row had moved no process",
);
/// Meaning of the quantity: the number of supersteps of the interval whose results of the stability test are in the record.
pub(super) const TEST_RESULTS: Meaning = count_meaning(
    "votes",
    "the number of supersteps of the interval in the record",
);
/// Meaning of the quantity: the number of supersteps of the interval between calls that were stable.
pub(super) const STABLE_SUPERSTEPS: Meaning =
    count_meaning("stable", "the number of stable supersteps of the interval");
/// Meaning of the quantity: the number of supersteps of the interval between calls that were unstable.
pub(super) const UNSTABLE_SUPERSTEPS: Meaning = count_meaning(
    "unstable",
    "the number of unstable supersteps of the interval",
);
/// Meaning of the quantity: the number of supersteps of the interval between calls for which no stability test was made.
pub(super) const UNTESTED_SUPERSTEPS: Meaning = count_meaning(
    "not_judged",
    "the number of supersteps of the interval that were not tested for stability",
);
