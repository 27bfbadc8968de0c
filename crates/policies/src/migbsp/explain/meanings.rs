//! The quantities in the sentences of MigBSP, each with its equation.

use crate::explain::{Meaning, Unit};

const fn seconds(name: &'static str, definition: &'static str) -> Meaning {
    Meaning::new(name, Unit::Seconds, definition)
}

const fn count(name: &'static str, definition: &'static str) -> Meaning {
    Meaning::new(name, Unit::Count, definition)
}

/// PM(i,j).
pub(super) const POTENTIAL: Meaning = seconds(
    "potential_s",
    "PM(i,j) = Comp(i,j) + Comm(i,j) - Mem(i,j) of process i and cluster j",
);
/// Comp(i,j).
pub(super) const COMP: Meaning = seconds(
    "potential_compute_s",
    "Comp(i,j) = Pcomp(i) · CTP(i) · ISet(i,j)",
);
/// Comm(i,j).
pub(super) const COMM: Meaning = seconds(
    "potential_communication_s",
    "Comm(i,j) = Pcomm(i,j) · BTP(i,j)",
);
/// Mem(i,j).
pub(super) const MEM: Meaning = seconds(
    "potential_memory_s",
    "Mem(i,j) = M(i) · T(i,j) + Mig(i,j): memory and operations of a move",
);
/// The highest PM to another cluster.
pub(super) const HIGHEST: Meaning = seconds(
    "highest_elsewhere_s",
    "the highest PM among the processes whose own highest PM is not that of the cluster where they stay",
);
/// The highest PM of all.
pub(super) const HIGHEST_OF_ALL: Meaning = seconds(
    "highest_potential_s",
    "the highest PM of all processes, those that are best where they are included",
);
/// The threshold.
pub(super) const THRESHOLD: Meaning = seconds(
    "threshold_s",
    "the PM that candidates must exceed: highest_elsewhere_s - (1 - x) · |highest_elsewhere_s|, which is x times a positive one",
);
/// The lowest PM of a candidate, if the option x selects a share of the processes.
pub(super) const LEAST: Meaning = seconds(
    "least_of_candidates_s",
    "the least PM of a candidate, if x is a share of the processes",
);
/// The distance of a PM below the threshold.
pub(super) const BELOW_THRESHOLD: Meaning = seconds(
    "below_threshold_s",
    "threshold_s less the highest PM of the process",
);
/// The distance of a PM below zero.
pub(super) const BELOW_ZERO: Meaning = seconds(
    "below_zero_s",
    "the size of the highest PM of the process, which is negative",
);
/// The sum Comp + Comm of the highest PM.
pub(super) const PROMISED: Meaning = seconds(
    "promised_s",
    "Comp(i,j) + Comm(i,j) of the highest PM to another cluster",
);
/// The number of processes that have a higher PM to the cluster where they are.
pub(super) const AT_HOME: Meaning = count(
    "higher_at_home",
    "the number of processes that have a higher PM than highest_elsewhere_s, to the cluster where they are",
);
/// The rank of a process by its highest PM.
pub(super) const RANK: Meaning = count(
    "rank",
    "the rank of the process among all with a PM, the highest PM first",
);
/// The number of processes with a PM.
pub(super) const RANKED: Meaning = count("ranked", "the number of processes with a PM");
/// The PM values that the record leaves out.
pub(super) const LEFT_OUT: Meaning = count(
    "potentials_left_out",
    "the number of PM(i,j) that the record leaves out",
);
/// x.
pub(super) const X: Meaning = Meaning::new(
    "x",
    Unit::Number,
    "x: the share of the highest PM above which processes are candidates, or a share of the processes",
);
/// The number of hosts that could take the candidate.
pub(super) const OFFERED: Meaning = count(
    "offered_hosts",
    "the number of hosts of the cluster that could take the process",
);
/// ICPU.
pub(super) const POWER: Meaning = Meaning::new(
    "power_instructions_per_s",
    Unit::InstructionsPerSecond,
    "ICPU: the speed of the host that is left by its load",
);
/// The number of processes on the offered host.
pub(super) const RESIDENTS: Meaning = count(
    "residents",
    "the number of processes that count as being on the offered host",
);
/// The number of supersteps of t1 and t2.
pub(super) const HORIZON: Meaning = Meaning::new(
    "supersteps_of_times",
    Unit::Number,
    "the number of supersteps over which t1 and t2 are counted",
);
/// Computation in t1.
pub(super) const STAY_COMPUTE: Meaning =
    seconds("t1_compute_s", "the computation of a superstep in t1");
/// Communication in t1.
pub(super) const STAY_COMMUNICATION: Meaning = seconds(
    "t1_communication_s",
    "the communication of a superstep in t1",
);
/// Computation in t2.
pub(super) const GO_COMPUTE: Meaning = seconds(
    "t2_compute_s",
    "the computation of a superstep in t2, times the slowdown",
);
/// Communication in t2.
pub(super) const GO_COMMUNICATION: Meaning = seconds(
    "t2_communication_s",
    "the communication of a superstep in t2",
);
/// The transfer of the memory in t2.
pub(super) const GO_TRANSFER: Meaning =
    seconds("t2_transfer_s", "the transfer of the memory in t2");
/// The operations of a move in t2.
pub(super) const GO_OPERATIONS: Meaning =
    seconds("t2_operations_s", "the operations of the move in t2");
/// The price of the move in t2.
pub(super) const GO_PRICE: Meaning = seconds(
    "t2_price_s",
    "the price of the move in t2: t2_transfer_s + t2_operations_s",
);
/// The slowdown.
pub(super) const SLOWDOWN: Meaning = Meaning::new(
    "slowdown",
    Unit::Number,
    "the factor on the computation in t2: slowdown_own + slowdown_inflicted",
);
/// The slowdown of the process itself.
pub(super) const SLOWDOWN_OWN: Meaning = Meaning::new(
    "slowdown_own",
    Unit::Number,
    "processes per core of the offered host with the newcomer, at least 1",
);
/// The slowdown of the processes that are already there.
pub(super) const SLOWDOWN_INFLICTED: Meaning = Meaning::new(
    "slowdown_inflicted",
    Unit::Number,
    "residents times the rise of processes per core, which is counted as a loss of the newcomer",
);
/// α at a call.
pub(super) const ALPHA: Meaning = count("alpha", "α: supersteps from the call before to this call");
/// α after a call.
pub(super) const NEXT_ALPHA: Meaning = count(
    "next_alpha",
    "α': supersteps from this call to the next one",
);
/// D.
pub(super) const TOLERANCE: Meaning = Meaning::new(
    "d",
    Unit::Number,
    "D: a superstep is stable if the times of all processes lie within D of their mean",
);
/// The number of supersteps of an interval that were judged.
pub(super) const VOTES: Meaning = count(
    "votes",
    "the number of supersteps of the interval in the record",
);
/// The number of stable supersteps.
pub(super) const STABLE: Meaning =
    count("stable", "the number of stable supersteps of the interval");
/// The number of unstable supersteps.
pub(super) const UNSTABLE: Meaning = count(
    "unstable",
    "the number of unstable supersteps of the interval",
);
/// The number of supersteps without a vote.
pub(super) const NOT_JUDGED: Meaning = count(
    "not_judged",
    "the number of supersteps of the interval that were not judged",
);
