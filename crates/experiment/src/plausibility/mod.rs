//! Notes for the user about implausible values, such as a wrong unit, a percentage instead of a fraction, or a typo that adds
//! processes.
//!
//! ```text
//! rules.rs       the table: name, threshold with its reason, advice; the page of the book is generated from it
//! platform.rs    speeds, latencies, clusters         (`platform show`, and every command that reads settings)
//! settings.rs    options, loads, the application     (every command that reads settings)
//! outcome.rs     makespan, supersteps, loads, moves  (after a run)
//! ```
//! Impossible values are refused where they are read. A note changes no result, and no experiment of a paper has a note.

mod outcome;
mod platform;
mod rules;
mod settings;

pub use platform::{check_single_cluster, find_implausible_platform_values};
pub use rules::{Finding, PLAUSIBILITY_RULES, PlausibilityRule, RuleStage};
pub(super) use settings::{CheckedSettings, find_implausible_settings};
