//! The audit of the reproductions, in the order of a reviewer's questions. It counts constants and independent data, predicts
//! held-out published times, and tests the sensitivity to every constant and option. It ends with the number of tried settings,
//! the effect of rounding, and the contradictions in the papers.
//!
//! ```text
//! facts, experiments ─> settings ─┬─> freedom                     counted without runs
//!                                 ├─> rounding, contradictions    one reproduction
//!                                 └─> Tables: held out, refitted, sensitivity, ablation    some thousand reproductions
//!                                        └─> CSV files ─> page
//! ```
//! Results of long computations are stored as tables, and the page is written from these tables. A test can therefore write the
//! page again from the committed tables.

mod ablation;
mod choices;
mod contradictions;
mod freedom;
mod held_out;
mod linear;
mod page;
mod rounding;
mod score;
mod sensitivity;
mod settings;
mod splits;
mod subject;
mod tables;
#[cfg(test)]
mod tests;

pub use ablation::Ablation;
pub use contradictions::{Contradictions, ContradictoryTime};
pub use freedom::DegreesOfFreedom;
pub use held_out::{HeldOutPrediction, RefittedConstant};
pub use rounding::RoundingEffect;
pub use score::{ResultAccuracy, Score, TIGHT, WIDE};
pub use sensitivity::{Sensitivity, WINDOW_STEPS};
pub(crate) use splits::{SPLIT_COLUMNS, committed_split_rows};
pub use tables::AuditTables;

use self::subject::AuditedPaper;
use super::page::ResultsFile;
use migsim_base::error::Error;
use migsim_experiment::Progress;

/// Computes the audit of all reproductions, and returns its page and its tables.
///
/// # Errors
/// A run fails.
pub fn audit(progress: &Progress) -> Result<(ResultsFile, AuditTables), Error> {
    let subjects = AuditedPaper::reproduce_all_papers(progress)?;
    let tables = AuditTables::compute(&subjects, progress)?;
    Ok((audit_page(&subjects, &tables)?, tables))
}

fn audit_page(subjects: &[AuditedPaper], tables: &AuditTables) -> Result<ResultsFile, Error> {
    let papers = subjects
        .iter()
        .map(AuditedPaper::audit_counts)
        .collect::<Result<Vec<_>, _>>()?;
    Ok(ResultsFile {
        name: "audit.md".into(),
        text: page::audit_page_text(&papers, tables),
    })
}
