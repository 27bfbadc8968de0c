//! Experiments: settings in, results of all scenarios out.
//!
//! ```text
//! built-in experiment of the application, file, flags ─> Layers ─> Experiment ─> run ─> Results
//! ```

mod config;
mod layers;
mod resolve;
mod run;

pub use config::{ExperimentConfig, MappingKey, SchemaVersion, schema};
pub use layers::{Flag, Layers};
pub use resolve::{Experiment, Input, Limits};
pub use run::{Progress, Results, ScenarioRun};
