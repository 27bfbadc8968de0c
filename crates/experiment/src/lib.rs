//! Experiments: combines the settings, runs the scenarios of an experiment and returns their results.
//!
//! ```text
//! built-in experiment, file, flags ─> Layers ─> Experiment ─> run ─> Results
//! ```
//!
//! The central types are [`Experiment`] and [`Registry`]; a registry maps the names in settings to policies, applications and
//! loads. Crates that depend on this crate present the results.
//!
//! ```
//! use migsim_bsp::Scenario;
//! use migsim_experiment::{Experiment, Layers, Limits, Progress};
//!
//! let settings = Layers::from_pairs([("workload.app", "lu".into()), ("workload.n", 1000.into()), ("workload.procs", 25.into())]);
//! let results = Experiment::load(&settings, Limits::default())?.run(&Progress::default())?;
//! let moved = results.get(Scenario::Iii).ok_or("not run")?;
//! assert_eq!(moved.outcome.migrations.len(), 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod basis;
mod bound;
mod built_in;
mod by_workload;
mod calibrate;
mod case_change;
mod config;
mod critical_path;
mod effect;
mod former;
mod hindsight;
mod idle_cores;
mod ledger;
mod library;
mod neutral;
mod noise;
mod optimum;
mod origins;
mod pingpong;
mod placement;
mod plausibility;
mod policy_choice;
mod recorded_library;
mod recorded_start;
mod registry;
mod resolve;
mod run;
mod same_decisions;
mod seed;
mod settings;
mod shared;
mod size;
mod starts;
mod static_starts;
pub mod suite;
mod when;

pub use basis::{Remark, notes};
pub use built_in::{COMMON_RULES, ONE_READING, built_in, names as built_in_names};
pub use calibrate::{
    Calibration, Inside, calibrate, models as library_models, text_of as library_text,
};
pub use case_change::{Amount, CaseChange, Changed, LinkQuantity, Possible};
pub use config::{Basis, ExperimentConfig, MappingKey, SchemaVersion, file_pointers, schema};
pub use config::{INFORMATIVE_KEYS, remove_informative_keys};
pub use critical_path::{PathShare, SumBy};
pub use effect::{Change, Effect, Makespan, Prediction, Trial};
pub use former::complete_former;
pub use hindsight::{Hindsight, MovePlan};
pub use ledger::{Ledger, Term};
pub use library::{LIBRARIES, Library};
pub use migsim_base::memory::Limits;
pub use neutral::{format_value, neutral_options};
pub use optimum::Optimum;
pub use pingpong::{Pings, read as read_pings};
pub use plausibility::{Finding, of_platform, of_single_cluster};
pub use plausibility::{RULES, Rule, Stage};
pub use policy_choice::policy_label;
pub use recorded_library::default_file as default_library_file;
pub use registry::Registry;
pub use resolve::{Experiment, Input};
pub use run::{Progress, Results, ScenarioRun};
pub use settings::{Flag, Layers, lookup, lookup_mut};
pub use shared::Shared;
pub use shared::get_or_make;
pub use starts::{StaticStart, best_start};
pub use static_starts::Starts;
pub use when::BestCalls;
