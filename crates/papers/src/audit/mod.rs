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
pub use contradictions::{Contradictions, Contradictory};
pub use freedom::Freedom;
pub use held_out::{HeldOut, Refitted};
pub use rounding::Rounding;
pub use score::{ResultAccuracy, Score, TIGHT, WIDE};
pub use sensitivity::{Sensitivity, WINDOW_STEPS};
pub(crate) use splits::{SPLIT_COLUMNS, committed_split_rows};
pub use tables::Tables;

use self::subject::Subject;
use super::page::Page;
use migsim_base::error::Error;
use migsim_experiment::Progress;

/// Computes the audit of all reproductions, and returns its page and its tables.
///
/// # Errors
/// A run fails.
pub fn audit(progress: &Progress) -> Result<(Page, Tables), Error> {
    let subjects = Subject::reproduce_all(progress)?;
    let tables = Tables::compute(&subjects, progress)?;
    Ok((page_of(&subjects, &tables)?, tables))
}

fn page_of(subjects: &[Subject], tables: &Tables) -> Result<Page, Error> {
    let papers = subjects
        .iter()
        .map(Subject::audit_counts)
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Page {
        name: "audit.md".into(),
        text: page::page(&papers, tables),
    })
}
