//! The strategies that come with the program: one row each.

use super::entry::{Table, row};
use super::{
    BruteForceOptions, GreedyCommOptions, GreedyOptions, GreedyRefineOptions,
    InformAndTransferOptions, PrefixOptions, RefineBOptions, RefineOptions, RotateOptions,
};

/// The strategies that come with the program.
pub fn standard() -> Table {
    let rows = vec![
        row::<GreedyOptions>(
            "greedy",
            "list scheduling: processes by falling work, each to the host that ends first",
            "Charm++ GreedyLB",
        ),
        row::<GreedyRefineOptions>(
            "greedy-refine",
            "almost the makespan of greedy, with few moves",
            "Charm++ GreedyRefineLB",
        ),
        row::<RefineOptions>(
            "refine",
            "overloaded hosts give to underloaded ones, until none is above a threshold that is searched",
            "Charm++ RefineLB",
        ),
        row::<RefineBOptions>(
            "refine-b",
            "the heaviest host gives to the lightest, towards a bound that is searched above that of greedy",
            "Charm++ 8, TreeLB RefineB",
        ),
        row::<GreedyCommOptions>(
            "greedy-comm",
            "greedy that counts the messages to processes placed before",
            "Charm++ GreedyCommLB",
        ),
        row::<InformAndTransferOptions>(
            "inform-and-transfer",
            "hosts learn of each other by gossip and give what lowers the larger of two works",
            "DARMA LB Analysis Framework, InformAndTransfer",
        ),
        row::<PrefixOptions>(
            "prefix",
            "the most loaded host gives what the least loaded one can take",
            "DARMA LB Analysis Framework, CentralizedPrefixOptimizer",
        ),
        row::<BruteForceOptions>(
            "brute-force",
            "the best of all assignments; only for few processes",
            "DARMA LB Analysis Framework, BruteForce",
        ),
        row::<RotateOptions>(
            "rotate",
            "each process to the next host: what migrations cost without any sense",
            "Charm++ 8, TreeLB Rotate",
        ),
    ];
    Table::new(["strategy", "strategies", "policy.name"], rows)
}
