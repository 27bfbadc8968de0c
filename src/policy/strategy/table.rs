//! The strategies that come with the program: one row each.

use super::RotateOptions;
use super::entry::{Table, row};

/// The strategies that come with the program.
pub fn standard() -> Table {
    let rows = vec![row::<RotateOptions>(
        "rotate",
        "each process to the next host: what migrations cost without any sense",
        "Charm++ 8, TreeLB Rotate",
    )];
    Table::new(["strategy", "strategies", "policy.name"], rows)
}
