//! The table of built-in policies, one row each. Help texts, listings, schemas and error messages derive from this table.

use super::{
    Authors2015Config, BanditOptions, ExecOptions, MigBsp2Options, MigBsp2007Config, MigBspConfig,
    Never, ReplayConfig, UlbaOptions,
    entry::{NEVER, Table, entry_from_strategy, table_entry},
    exec::EXEC,
    strategy,
};

/// The name of the policy that an experiment uses by default.
pub const DEFAULT_POLICY: &str = "migbsp";

/// Returns the table of all policies that are built into migsim.
pub fn standard() -> Table {
    let mut rows = vec![
        table_entry::<Never>(NEVER, "baseline: no process moves", "-"),
        table_entry::<MigBspConfig>(
            "migbsp",
            "MigBSP, second generation: moves processes with a high potential of migration (computation, communication, memory)",
            "da Rosa Righi et al., LU, Lattice Boltzmann and Smith-Waterman papers",
        ),
        table_entry::<MigBsp2Options>(
            "migbsp-2",
            "MigBSP with a test of the whole plan: processes leave the slowest host first, and only as many move as pay together",
            "-",
        ),
        table_entry::<MigBsp2007Config>(
            "migbsp-2007",
            "MigBSP, first generation: moves processes whose potential of migration (normalised metrics) exceeds a threshold",
            "da Rosa Righi et al., On the Dynamic Load-Rebalancing of BSP Application Using Process Migration, WSPPD 2007",
        ),
        table_entry::<Authors2015Config>(
            "authors-2015",
            "MigBSP as in the authors' own program of 2015, including its errors: for comparison only",
            "simulation program of MigBSP's authors, migcubemighull/heuristics, 2015",
        ),
        table_entry::<ReplayConfig>(
            "replay",
            "makes the moves of a given list, to compare times without the influence of a policy",
            "-",
        ),
        table_entry::<BanditOptions>(
            "bandit",
            "multi-armed bandit: each call uses the strategy with the shortest supersteps so far, or one that was seldom tried",
            "Auer, Cesa-Bianchi and Fischer 2002, UCB1",
        ),
        table_entry::<UlbaOptions>(
            "ulba",
            "after ULBA: if the work of a host grows unusually fast, the host gets less than its share, before it is overloaded",
            "Boulmier et al. 2019",
        ),
        table_entry::<ExecOptions>(
            EXEC,
            "your own program in any language, which reads barriers and writes assignments as lines of JSON",
            "-",
        ),
    ];
    rows.extend(strategy::standard_table().iter().map(entry_from_strategy));
    Table::new(["policy", "policies", "policy.name"], rows)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn problems(name: &str, options: &Value) -> String {
        let error = standard().find(name).unwrap().build(options);
        error.unwrap_err().to_string()
    }

    #[test]
    fn problems_of_options_have_their_whole_keys() {
        let error = problems("migbsp", &json!({ "x": 2.0, "delta": -1.0 }));
        assert!(
            error.contains("policy.migbsp.x") && error.contains("policy.migbsp.delta"),
            "{error}"
        );
        let error = problems("never", &json!({ "x": 2.0 }));
        assert!(
            error.contains("unknown key `x`\n  --> policy.never.x"),
            "{error}"
        );
    }
}
