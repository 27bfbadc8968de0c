//! Compares a repeated run with the times in its manifest, which may be of another version of migsim.

use std::path::Path;

use serde_json::Value;

use super::experiment_file::settings_of_run_folder;
use crate::{
    Registry,
    document::read_text,
    error::Result,
    experiment::{Layers, Results},
};

/// Returns a note that says which makespans differ from those of the version that wrote the run folder. `None` if the user named
/// no run folder as experiment, or changed a setting of its run, or the run of this version is repeated.
pub(super) fn repetition_note(
    registry: &Registry,
    experiment: Option<&Path>,
    join_settings: impl FnOnce() -> Result<Layers>,
    results: &Results,
) -> Result<Option<String>> {
    let Some(named) = experiment else {
        return Ok(None);
    };
    let folder = if named.ends_with("run.json") {
        named.parent().unwrap_or(named)
    } else {
        named
    };
    let text = read_text(folder.join("run.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(version) = manifest["version"].as_str() else {
        return Ok(None);
    };
    if join_settings()?.merged_settings()?
        != settings_of_run_folder(registry, folder)?.merged_settings()?
    {
        return Ok(None);
    }
    let is_own = version == env!("CARGO_PKG_VERSION");
    let former = manifest["summary"]["scenarios"].as_array();
    let moved: Vec<String> = former
        .into_iter()
        .flatten()
        .filter_map(|former| describe_move(former, results))
        .collect();
    let why = if is_own {
        "an input file has changed since"
    } else {
        "docs/moves.md lists what changed"
    };
    Ok(match moved.is_empty() {
        true if is_own => None,
        true => Some(format!(
            "the makespans are equal to the last digit to those of migsim {version}"
        )),
        false => Some(format!(
            "not all makespans are those of migsim {version}: {}; {why}",
            moved.join(", ")
        )),
    })
}

/// Describes how the makespan of a `former` scenario moved; `None` if it did not move.
fn describe_move(former: &Value, results: &Results) -> Option<String> {
    let is_same = |name: &str| former["scenario"] == name;
    let mut runs = results.scenario_runs.iter();
    let run = runs.find(|run| is_same(run.scenario.name()))?;
    let (before, now) = (former["makespan_s"].as_f64()?, run.outcome.makespan.get());
    let scenario = run.scenario.name();
    (before != now).then(|| format!("scenario {scenario} takes {now} s instead of {before} s"))
}
