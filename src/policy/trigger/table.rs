//! The triggers that come with the program: one row each.

use super::entry::{Table, row};
use super::{EveryOptions, NeverOptions};
use crate::policy::migbsp::AdaptiveOptions;

/// The triggers that come with the program.
pub fn standard() -> Table {
    let rows = vec![
        row::<NeverOptions>("never", "baseline: no balancing", "-"),
        row::<EveryOptions>("every", "each so many supersteps", "-"),
        row::<AdaptiveOptions>(
            "migbsp",
            "MigBSP's adaptive interval: longer while the times of hosts are alike, shorter otherwise",
            "da Rosa Righi et al., LU paper, section 2",
        ),
    ];
    Table::new(["trigger", "triggers", "policy.trigger"], rows)
}
