//! Output of a simulation: writes the run folder, the summary and the tables; reads and explains a run folder.
//!
//! ```text
//! run.json          manifest: version, inputs with hashes, resolved settings, summary
//! supersteps.csv    when each superstep began and ended
//! calls.jsonl       a decision record per rescheduling call
//! migrations.csv    every migration that happened
//! platform.json     summary of the platform, and the hosts on which processes start
//! processes.csv     (optional) times of each process in each superstep
//! links.csv         (optional) traffic of each link
//! path.csv          (optional) the critical path, activity by activity
//! report.html       (optional) HTML page with figures of the run
//! trace-*.*         (optional) activity of the processes over time, for trace viewers, one file per scenario and format
//! ```
//! CSV follows RFC 4180 and has units in its column names; floats are written such that reading them restores the same value.
//! This crate prints nothing to the terminal.
//!
//! The central type is [`RunFolder`]. This crate simulates nothing; charts for articles are in [`figure`].
//!
//! ```
//! use migsim_experiment::{Experiment, Layers, Limits, Progress};
//!
//! let experiment = Experiment::load(&Layers::from_pairs([("workload.app", "sw".into())]), Limits::default())?;
//! let results = experiment.run(&Progress::default())?;
//! let summary = serde_json::to_value(migsim_output::summary(&experiment, &results)).expect("JSON");
//! assert!(summary["scenarios"].is_array());
//! # Ok::<(), migsim_base::error::Error>(())
//! ```

/// Appends a formatted text to a string.
macro_rules! put {
    ($text:expr, $($format:tt)*) => {{
        use std::fmt::Write as _;
        $text
            .write_fmt(format_args!($($format)*))
            .expect("a string can be written to");
    }};
}

mod activity;
mod atomic_file;
mod base64;
mod csv_guard;
mod earlier;
mod explain;
pub mod figure;
mod folder;
pub mod frame;
mod html;
mod inputs;
mod inside;
mod lb_data;
mod lines;
mod machine;
mod path_rows;
mod placed;
mod platform;
mod processes;
mod read;
mod records;
mod report;
mod rows;
mod starts;
mod summary;
mod svg;
mod table;
mod table_format;
mod traces;
mod traffic;
mod workload;

pub use activity::ProcessTimes;
pub use atomic_file::{Draft, output_file, write_file_atomically, write_file_named_by_user};
pub use csv_guard::protect_formula_like_text;
pub use earlier::{check_page_is_of_same_run, check_settings_are_equal};
pub use explain::{CallExplanation, EvaluatedCall, Overview, Question, describe_superstep_time};
pub use folder::{PendingResults, RunFolder, lock_folder};
pub use html::escape_html;
pub use inside::{path_refusing_outside_links, read_refusing_outside_links};
pub use lb_data::VtLoadBalancingData;
pub use migsim_base::quantities::{format_duration, format_speed};
pub use path_rows::{PathRow, read_critical_paths, to_path_rows};
pub use platform::{platform_sheet, platform_svg};
pub use processes::ProcessTableWriter;
pub use read::{InputFile, MakespanDifference, Run, ScenarioRecords};
pub use records::write_table;
pub use report::Report;
pub use rows::{MigrationRow, RecordedCall, SuperstepRow};
pub use starts::compare_makespans;
pub use summary::{manifest, summary};
pub use table::results_sheet;
pub use table_format::{
    Cell, Column, OutputForm, Sheet, Table, ValueRating, number_column, text_column,
    without_colours,
};
pub use traces::{TraceFormat, TraceSubject, TraceWriter};
pub use workload::{SuperstepLoad, superstep_loads, workload_sheet, workload_svg};

use migsim_base::error::{Error, Problem};

/// The commit of the source, if the build knows it: the environment variable `MIGSIM_COMMIT` of the compiler.
const COMMIT: Option<&str> = option_env!("MIGSIM_COMMIT");

/// Returns the version of migsim, with the commit of its source in parentheses if the build knows it.
pub fn version_and_commit() -> String {
    let version = env!("CARGO_PKG_VERSION");
    match COMMIT {
        None | Some("") => version.into(),
        Some(commit) => format!("{version} ({commit})"),
    }
}

/// Adds the version of migsim, and its commit if the build knows it, to the JSON of a result, after the name of its format if it
/// has one.
#[must_use]
pub fn with_version(mut json: serde_json::Value) -> serde_json::Value {
    if let Some(keys) = json.as_object_mut() {
        let place = usize::from(keys.contains_key("schema"));
        keys.shift_insert(place, "version".into(), env!("CARGO_PKG_VERSION").into());
        if let Some(commit) = COMMIT.filter(|commit| !commit.is_empty()) {
            keys.shift_insert(place + 1, "commit".into(), commit.into());
        }
    }
    json
}

/// Creates an error which says that `what`, such as the path of a file, cannot be written because of `error`.
pub fn cannot_write_error(what: &str, error: &std::io::Error) -> Error {
    let problem = Problem::new(format!("cannot write `{what}`: {error}"));
    let hint = match error.kind() {
        // The problem is the data to be written, not the destination.
        std::io::ErrorKind::InvalidData => "choose another format, or do not write this file",
        _ => {
            "choose another place for the file: a folder that exists, is writable and has enough space"
        }
    };
    Error::Output(problem.source(what).hint(hint))
}
