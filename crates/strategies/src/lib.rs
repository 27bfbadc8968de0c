//! Strategies: the decisions of load balancers, without the duration and cost of rescheduling calls.
//!
//! A [`Strategy`] maps an [`Instance`], the state at a barrier, to an [`Assignment`], the new host of each process. It has no
//! access to a clock or an engine, so that `migsim decide` can call it for any barrier. A variant named after a program makes the
//! same decisions as that program, including all ties. The variant `ours` follows the same published idea, but is corrected for
//! hosts of unequal speed.
//!
//! ```text
//! Instance ──> Strategy::assign ──> Assignment ──> cost of the call (gather, operations, scatter)
//! ```
//!
//! To add a strategy, write one source file in this crate and one row of the table in `table.rs`. The conversion of the barrier
//! of a run into an instance, and of an assignment into a decision of a policy, is not part of this crate: the crate of the
//! policies does both.

mod assignment;
mod blocks;
mod brute_force;
mod c_random;
mod diffusion;
mod entry;
mod greedy;
mod greedy_comm;
mod greedy_refine;
mod hierarchical;
mod inform_and_transfer;
mod instance;
mod load_blocks;
mod migcube;
mod migpf;
mod optimum;
mod prefix;
mod price;
mod receiver_initiated;
mod refine;
mod refine_b;
mod room;
mod rotate;
mod table;
mod tempered;

use std::fmt;

pub use assignment::{Assignment, Gather};
pub use brute_force::{BruteForceEdition, BruteForceOptions};
pub use c_random::CRandomOptions;
pub use diffusion::{DiffusionOptions, NeighbourTopology};
pub use entry::{
    StrategyEntry, StrategyKind, StrategyOptions, StrategyTable, Variant, strategy_entry,
};
pub use greedy::{GreedyEdition, GreedyOptions};
pub use greedy_comm::{GreedyCommEdition, GreedyCommOptions, MessageCostSource};
pub use greedy_refine::{GreedyRefineEdition, GreedyRefineOptions};
pub use hierarchical::{HierarchicalOptions, InnerStrategy};
pub use inform_and_transfer::{
    InformAndTransferEdition, InformAndTransferOptions, LoadKnowledge, OfferOrder,
};
pub use instance::{HostPaths, Instance, PairMessages};
pub use migcube::MigCubeOptions;
pub use migpf::MigPfOptions;
pub use optimum::{host_time_lower_bound, optimal_assignment, optimal_schedule};
pub use prefix::{PrefixEdition, PrefixOptions};
pub use price::CallCostConstants;
pub use receiver_initiated::ReceiverInitiatedOptions;
pub use refine::{RefineEdition, RefineOptions};
pub use refine_b::{ReceiverChoice, RefineBEdition, RefineBOptions};
pub use room::{TentativePlacement, candidate_with_min_key, is_clearly_less};
pub use rotate::RotateOptions;
pub use table::standard_table;
pub use tempered::TemperedOptions;

use migsim_base::{
    error::{Error, Problem, Result},
    random::Stream,
};

/// A load-balancing strategy, which decides on which host each process runs, from the state at a barrier.
pub trait Strategy: fmt::Debug + Send {
    /// Decides on which host each process runs; returns the new hosts, and the data from which the cost of the decision is
    /// computed.
    ///
    /// # Errors
    /// The strategy cannot decide about this instance, for example because data about messages are missing.
    fn assign(&mut self, instance: &Instance<'_>, random: &mut Stream) -> Result<Assignment>;

    /// Whether the strategy reads the messages between processes, which are collected only for strategies that need them.
    fn needs_communication(&self) -> bool {
        false
    }

    /// Whether the decisions of the strategy depend on random numbers; if not, its decisions are the same for all seeds.
    fn uses_random_numbers(&self) -> bool {
        false
    }
}

/// Checks that all given options of a strategy are positive and finite; each option is given by its key and value.
///
/// # Errors
/// One problem for each option that is not positive and finite.
pub fn check_positive<const N: usize>(options: [(&str, f64); N]) -> Result {
    check_options_in_range(options, |value| value > 0.0, "positive")
}

/// Checks that all given options of a strategy are finite and not negative; each option is given by its key and value.
///
/// # Errors
/// One problem for each option that is negative or not finite.
pub fn check_not_negative<const N: usize>(options: [(&str, f64); N]) -> Result {
    check_options_in_range(options, |value| value >= 0.0, "not negative")
}

/// Creates the problem of an option whose value is not in its range.
pub fn range_problem(key: &str, value: impl fmt::Display, range: &str) -> Problem {
    Problem::new(format!("`{key}` is {value}; it must be {range}")).key(key)
}

fn check_options_in_range<const N: usize>(
    options: [(&str, f64); N],
    is_right: fn(f64) -> bool,
    range: &str,
) -> Result {
    let problems: Vec<Problem> = options
        .into_iter()
        .filter(|(_, value)| !(value.is_finite() && is_right(*value)))
        .map(|(key, value)| {
            range_problem(key, value, &format!("finite and {range}"))
                .hint("choose a number in this range")
        })
        .collect();
    refuse_problems(problems)
}

/// Refuses options that have problems.
///
/// # Errors
/// All problems, if there are any.
pub fn refuse_problems(problems: Vec<Problem>) -> Result {
    Error::unless_empty(problems)
}

/// Helpers for the tests of strategies.
#[cfg(any(test, feature = "testing"))]
pub mod testing {
    use super::{Instance, StrategyOptions};
    use migsim_base::{
        random::{Stream, StreamPurpose},
        units::Seconds,
    };

    /// Returns an instance without background load: hosts with the given speeds, and processes with the given works \[s\], where
    /// process i runs on host `current[i]`.
    pub fn instance_without_background(
        speeds: &[f64],
        current: &[usize],
        works: &[f64],
    ) -> Instance<'static> {
        let pairs = works.iter().zip(current);
        Instance {
            host_speeds: speeds.to_vec(),
            background_times: vec![Seconds::default(); speeds.len()],
            current_hosts: current.to_vec(),
            process_times: pairs
                .map(|(work, &host)| Seconds::of(work / speeds[host]))
                .collect(),
            process_works: works.iter().map(|&work| Seconds::of(work)).collect(),
            ..Instance::default()
        }
    }

    /// Returns the host of each process as decided by the strategy with these options, with random numbers of seed 1.
    ///
    /// # Panics
    /// The options are out of range, or the strategy cannot decide.
    pub fn decided_hosts(options: impl StrategyOptions, instance: &Instance<'_>) -> Vec<usize> {
        let mut random = Stream::new(1, StreamPurpose::PolicyDecisions);
        let mut strategy = options.into_strategy().expect("the options are in range");
        strategy
            .assign(instance, &mut random)
            .expect("the strategy decides")
            .assigned_hosts
    }
}
