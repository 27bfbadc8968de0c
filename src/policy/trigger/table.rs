//! The triggers that come with the program: one row each.

use super::entry::{Table, row};
use super::{EveryOptions, NeverOptions};

/// The triggers that come with the program.
pub fn standard() -> Table {
    let rows = vec![
        row::<NeverOptions>("never", "baseline: no balancing", "-"),
        row::<EveryOptions>("every", "each so many supersteps", "-"),
    ];
    Table::new(["trigger", "triggers", "policy.trigger"], rows)
}
