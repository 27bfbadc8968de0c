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
mod bound_capacity;
mod built_in;
mod by_workload;
mod calibrate;
mod case_change;
mod checked;
mod config;
mod critical_path;
mod effect;
mod former;
mod hindsight;
mod idle_cores;
mod ledger;
mod library;
mod neutral;
#[cfg(test)]
mod optimum_tests;
mod origins;
mod pingpong;
mod placement;
mod plan;
mod plausibility;
mod policy_choice;
mod prices;
mod recorded_library;
mod recorded_start;
mod registry;
mod resolve;
mod run;
mod seed;
mod settings;
mod shared;
mod size;
mod starts;
mod static_starts;
pub mod suite;
mod when;

pub use basis::{BasisRemark, merge_remarks};
pub use built_in::{COMMON_RULES, experiment_names as built_in_names, find_built_in_experiment};
pub use calibrate::{
    Calibration, InsideHostConstants, calibrate, library_file_text,
    read_library_models as library_models,
};
pub use case_change::{Amount, CaseChange, ChangedQuantity, LinkQuantity, PossibleChanges};
pub use config::{
    Basis, ExperimentConfig, INFORMATIVE_KEYS, MappingKey, SchemaVersion,
    json_pointers_to_file_names, json_schema, names_input_file, remove_informative_keys,
    remove_input_file_names,
};
pub use critical_path::CriticalPathShare;
pub use effect::{CallEffect, Makespan, PredictedChange, PredictedMakespans, RecordedRun};
pub use former::{add_keys_missing_in_version, removed_settings};
pub use hindsight::HindsightResult;
pub use ledger::{MakespanLedger, MakespanTerm};
pub use library::{BUILT_IN_LIBRARIES, BuiltInLibrary, read_library_json};
pub use migsim_base::memory::Limits;
pub use migsim_base::setting::KeySetting;
pub use neutral::{format_option_value, neutral_options};
pub use pingpong::{MeasuredMessages, MeasurementKind, read_measured_messages as read_pings};
pub use plan::{PlannedCall, ReschedulingPlan};
pub use plausibility::{
    Finding, PLAUSIBILITY_RULES, PlausibilityRule, RuleStage, check_single_cluster,
    find_implausible_platform_values,
};
pub use policy_choice::{
    name_with_options, options_in_name, policy_label, split_options_in_braces,
};
pub use prices::describe_prices;
pub use recorded_library::default_library_path;
pub use registry::Registry;
pub use resolve::{Experiment, InputFile};
pub use run::{Progress, Results, ScenarioRun, SimulatedWork};
pub use settings::{Layers, value_at_path, value_at_path_mut};
pub use shared::{SharedInputs, get_or_compute};
pub use starts::{StaticPlacementMakespan, best_static_placement};
pub use static_starts::InitialPlacements;
pub use suite::{NEUTRAL, ONE_READING};
pub use when::BestCallSupersteps;
