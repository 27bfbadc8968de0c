//! The application `lu` compared with closed forms.

use migsim::{
    units::{Bytes, Instructions},
    workload::{
        Plan, Workload,
        lu::{BlockSizes, Lu, LuConfig},
    },
};
use proptest::prelude::*;

/// A configuration with one instruction per division, two per update and 8 B per element.
pub(crate) fn counted(n: u64, grid: [u64; 2], blocks: BlockSizes) -> LuConfig {
    LuConfig {
        grid: Some(grid),
        blocks,
        bytes_per_element: Bytes::new(8.0).expect("in range"),
        instructions_per_division: Instructions::new(1.0).expect("in range"),
        instructions_per_update: Instructions::new(2.0).expect("in range"),
        ..LuConfig::new(n, grid[0] * grid[1])
    }
}

pub(crate) fn plan_of(workload: &dyn Workload, superstep: usize) -> Plan {
    let mut plan = Plan::default();
    plan.clear(workload.processes());
    workload.fill(superstep, &mut plan);
    plan
}

#[test]
fn a_filled_plan_is_filled_again_without_allocating() {
    let lu = Lu::new(&counted(20, [2, 2], BlockSizes::Exact)).unwrap();
    let mut plan = Plan::default();
    let mut run = || {
        for superstep in 0..lu.supersteps() {
            plan.clear(lu.processes());
            lu.fill(superstep, &mut plan);
        }
    };
    run();
    assert_eq!(allocation_counter::measure(run).count_total, 0);
}

/// Sums the work of every second superstep from `first` on.
fn total(lu: &Lu, first: usize) -> f64 {
    let supersteps = (first..lu.supersteps()).step_by(2);
    supersteps
        .map(|superstep| {
            plan_of(lu, superstep)
                .work
                .iter()
                .map(|work| work.get())
                .sum::<f64>()
        })
        .sum()
}

proptest! {
    /// There are Σ_k (n−1−k) = n(n−1)/2 divisions and Σ_k (n−1−k)² = (n−1)n(2n−1)/6 updates, for any grid and any blocks.
    #[test]
    fn total_work_is_that_of_the_sequential_algorithm(m in 1_u64..5, columns in 1_u64..5, times in 1_u64..3, rest in 0_u64..5) {
        let n = times * m * columns;
        for config in [counted(n + rest, [m, columns], BlockSizes::Exact), counted(n, [m, columns], BlockSizes::Mean)] {
            let n = config.n as f64;
            let lu = Lu::new(&config).unwrap();
            let (divisions, updates) = (n * (n - 1.0) / 2.0, (n - 1.0) * n * (2.0 * n - 1.0) / 6.0);
            prop_assert!((total(&lu, 1) - divisions).abs() <= 1e-9 * divisions);
            prop_assert!((total(&lu, 2) - 2.0 * updates).abs() <= 1e-9 * updates);
        }
    }

    /// If the grid divides the rest of the matrix, the mean counts are exact.
    #[test]
    fn mean_and_exact_blocks_agree_where_the_rest_is_divisible(m in 1_u64..5, columns in 1_u64..5, times in 1_u64..4, back in 1_u64..4) {
        let n = times * m * columns;
        let rest = (back * m * columns).min(n - 1) / (m * columns) * (m * columns);
        prop_assume!(rest > 0);
        let stage = usize::try_from(n - 1 - rest).unwrap();
        let [mean, exact] = [BlockSizes::Mean, BlockSizes::Exact].map(|blocks| Lu::new(&counted(n, [m, columns], blocks)).unwrap());
        prop_assert_eq!(plan_of(&mean, 2 * stage + 1), plan_of(&exact, 2 * stage + 1));
        prop_assert_eq!(plan_of(&mean, 2 * stage + 2), plan_of(&exact, 2 * stage + 2));
    }

    /// Mean and exact blocks send the same bytes in every superstep, up to the rounding of each message.
    #[test]
    fn mean_and_exact_blocks_send_the_same_bytes(m in 1_u64..5, columns in 1_u64..5, times in 1_u64..4) {
        let n = times * m * columns;
        let [mean, exact] = [BlockSizes::Mean, BlockSizes::Exact].map(|blocks| Lu::new(&counted(n, [m, columns], blocks)).unwrap());
        for superstep in 0..mean.supersteps() {
            let [mean, exact] = [&mean, &exact].map(|lu| plan_of(lu, superstep).messages);
            let bytes = |messages: &[migsim::workload::Message]| messages.iter().map(|message| message.size.get()).sum::<f64>();
            prop_assert!((bytes(&mean) - bytes(&exact)).abs() <= 0.5 * mean.len() as f64);
        }
    }

    /// No configuration causes a panic, in `new` or in the first and last supersteps.
    #[test]
    fn no_configuration_panics(n: u64, small_n in 0_u64..50, procs in 0_u64..60, use_small: bool, exact: bool, grid: Option<[u8; 2]>) {
        let config = LuConfig {
            blocks: if exact { BlockSizes::Exact } else { BlockSizes::Mean },
            grid: grid.map(|grid| grid.map(u64::from)),
            ..LuConfig::new(if use_small { small_n } else { n }, procs)
        };
        if let Ok(lu) = Lu::new(&config) {
            for superstep in [0, 1, 2, lu.supersteps() - 2, lu.supersteps() - 1] {
                plan_of(&lu, superstep);
            }
        }
    }
}
