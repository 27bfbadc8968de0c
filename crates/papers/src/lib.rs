//! The reproduction of the papers: published values are compared with simulated values, for each published time, decision and
//! claim.
//!
//! ```text
//! facts/<paper>.json ─> configurations ─> experiments ─> runs ─┬─> cells
//!                                                             ├─> decisions and call schedules
//!                                                             └─> claims (comparisons in the facts, or a function in the paper's file)
//! ```
//! No published number is an input of a simulation. The file of a paper names the built-in experiment and the settings for each
//! published configuration; all other code only compares. To add a paper, write one file in this crate and add one row to
//! [`PAPERS`].
//!
//! The central type is [`Paper`].
//! [`reality`] compares simulated with measured times of MPI programs. [`authors`] compares rescheduling calls with the authors'
//! own simulation program. No crate on which this crate depends contains a published number.
//!
//! ```
//! let names: Vec<&str> = migsim_papers::PAPERS.iter().map(|paper| paper.name).collect();
//! assert_eq!(names, ["lu", "lbm", "sw-irregular", "sw-dynamic", "wsppd2007"]);
//! ```

mod ambiguities;
pub mod authors;
mod calls;
mod cells;
mod changes;
mod claim_counts;
mod claims;
mod decisions;
mod effects;
mod facts;
mod figures;
mod lbm;
mod lu;
mod markdown;
mod one_reading;
mod one_reading_page;
mod packed;
mod page;
mod pages;
mod policy_check;
mod readme;
pub mod reality;
mod reproduce;
mod residuals;
mod runs;
mod sw_dynamic;
mod sw_irregular;
mod unreported;
mod wsppd2007;

pub use ambiguities::Answer;
pub use calls::{Calls, PaperCall};
pub use cells::CellResult;
pub use changes::Changes;
pub use claim_counts::{ClaimCounts, ClaimResult};
pub use decisions::{DecisionKind, DecisionResult, ScheduleResult, Verdict};
pub use effects::{ERROR_BOUNDS, Effect, EffectCounts, QuotedEffect, effect_counts};
pub use facts::{
    CallSchedule, Claim, Config, Contradiction, Expectation, Facts, FittedConstant, Measure,
    Measurement, PublishedDecision, QuotedFigureNumber, Summary, TableCell, Test, TextEffect,
    expand_list_values,
};
pub use figures::{draw_figures_named, figure_names_and_descriptions};
pub use one_reading::{
    OptionDifference, RuleSetResult, apply_all_rule_sets, compare_call_costs, option_differences,
};
pub use one_reading_page::one_reading_page;
pub use page::ResultsFile;
pub use pages::{result_pages, terminal_text};
pub use policy_check::ClaimOutcome;
pub use reproduce::{
    ConstantWithEvidence, PaperResults, Reproduction, reproduce, reproduce_with_changes,
};
pub use residuals::{Difference, Residuals, TIME_BOUNDS, residuals};
pub use runs::{ClaimCheck, FinishedRun, Paper, PaperCase, Runs};
pub use unreported::UnreportedMoves;

use migsim_base::error::{Error, Problem};

/// List of all papers whose results can be reproduced.
pub const PAPERS: &[Paper] = &[
    lu::PAPER,
    lbm::PAPER,
    sw_irregular::PAPER,
    sw_dynamic::PAPER,
    wsppd2007::PAPER,
];

/// Returns the paper with the given name.
///
/// # Errors
/// There is no paper with this name.
pub fn find_paper(name: &str) -> Result<&'static Paper, Error> {
    PAPERS
        .iter()
        .find(|paper| paper.name == name)
        .ok_or_else(|| {
            let names = PAPERS.iter().map(|paper| paper.name).chain(["all"]);
            Problem::unknown_name("paper", name)
                .with_known_names("papers", names)
                .into()
        })
}
