//! The built-in policies, one row each. Help, listings, schemas and errors derive from this table.

use super::entry::{Table, of_strategy, row};
use super::strategy;
use super::{
    Authors2015Config, BanditOptions, EXEC, ExecOptions, MigBsp2007Config, MigBspConfig, Never,
    ReplayConfig, UlbaOptions,
};

/// The default policy of an experiment.
pub const USUAL: &str = "migbsp";

/// The policy without moves.
pub const NEVER: &str = "never";

/// Returns the policies that come with the program.
pub fn standard() -> Table {
    let mut rows = vec![
        row::<Never>(NEVER, "baseline: no process moves", "-"),
        row::<MigBspConfig>(
            "migbsp",
            "MigBSP, second generation: moves processes with a high potential of migration (computation, communication, memory)",
            "da Rosa Righi et al., LU, Lattice Boltzmann and Smith-Waterman papers",
        ),
        row::<MigBsp2007Config>(
            "migbsp-2007",
            "MigBSP, first generation: moves processes whose potential of migration (normalised metrics) exceeds a threshold",
            "da Rosa Righi et al., On the Dynamic Load-Rebalancing of BSP Application Using Process Migration, WSPPD 2007",
        ),
        row::<Authors2015Config>(
            "authors-2015",
            "MigBSP as the authors' own program of 2015 decides, including its errors: for comparison only",
            "simulation program of MigBSP's authors, migcubemighull/heuristics, 2015",
        ),
        row::<ReplayConfig>(
            "replay",
            "makes the moves of a given list, to compare times without the influence of a policy",
            "-",
        ),
        row::<BanditOptions>(
            "bandit",
            "multi-armed bandit: each call uses the strategy with the shortest supersteps so far, or one that was seldom tried",
            "Auer, Cesa-Bianchi and Fischer 2002, UCB1",
        ),
        row::<UlbaOptions>(
            "ulba",
            "after ULBA: gives hosts whose work grows unusually fast less than their share in advance",
            "Boulmier et al. 2019",
        ),
        row::<ExecOptions>(
            EXEC,
            "a program of yours in any language, which reads barriers and writes assignments as lines of JSON",
            "-",
        ),
    ];
    rows.extend(strategy::standard().iter().map(of_strategy));
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
