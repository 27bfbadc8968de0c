//! Rescheduling policies: what a policy observes at a barrier, the decisions that it can return, and the table of all policies.
//!
//! After each superstep the runtime passes the policy a [`View`] of what a real runtime system could measure. If the policy
//! requests a rescheduling call, the runtime charges the cost of the call and invokes [`Policy::decide`]. A policy itself changes
//! nothing: it returns a [`Decision`], and the scenario determines whether the migrations are carried out.
//!
//! To add a policy, write one source file in this crate and one row of the table in `registry.rs`.
//!
//! The trait [`Policy`] and the rivals of MigBSP, which are [strategies](strategy), are defined in crates on which this crate
//! depends. This crate contains MigBSP, [triggers](trigger), and the [explanations](explain) of their decisions. The runtime
//! determines how long a call takes.
//!
//! ```
//! let table = migsim_policies::standard();
//! let options = table.find("migbsp")?.resolve(&serde_json::json!({ "x": 0.7 }))?;
//! assert_eq!(options["x"], 0.7);
//! assert!(table.find("refine")?.is_strategy());
//! # Ok::<(), migsim_base::error::Error>(())
//! ```

pub mod authors_2015;
mod balancer;
mod bandit;
pub mod decide;
mod entry;
mod exec;
pub mod explain;
pub mod migbsp;
pub mod migbsp_2007;
mod probe;
mod registry;
mod replay;
pub mod trigger;
mod triggered;
mod ulba;
mod window;

pub use authors_2015::{Authors2015, Authors2015Config};
pub use balancer::STAYED_FOR_MEMORY_KEY;
pub use bandit::BanditOptions;
pub use entry::{
    Entry, NEVER, PolicyKind, PolicyOptions, Table, entry_from_maker, entry_from_strategy,
    table_entry,
};
pub use exec::{
    ExecOptions, is_answer_awaited, log_error_output_to, mentions_exec, name_with_program,
    program_of,
};
pub use migbsp::{KEPT_BY_OWN_CLUSTER_KEY, MigBsp, MigBsp2Options, MigBspConfig};
pub use migbsp_2007::{MigBsp2007, MigBsp2007Config};
pub use migsim_bsp::resize_and_fill;
#[cfg(test)]
use migsim_bsp::testing;
pub use migsim_bsp::{
    CallProcedure, Candidate, Decision, Explain, ExternalLoad, Gather, Measures, Migration, Never,
    Policy, ProcessClusterTable, Traffic, View,
};
pub use migsim_strategies as strategy;
pub use probe::{BarrierProbe, SharedSnapshot};
pub use registry::{DEFAULT_POLICY, standard};
pub use replay::{ForcedMove, ReplayConfig};
pub use triggered::TriggeredPolicy;
pub use ulba::UlbaOptions;
pub use window::Forecast;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_without_moves_needs_no_seed() {
        assert!(!Never::default().uses_seed());
    }
}
