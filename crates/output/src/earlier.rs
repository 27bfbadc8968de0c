//! The files of an earlier run in a folder: checks that they belong to a run, and compares its settings with those of the next run.
//!
//! A folder holds one run. A file belongs to a run if its name is one of a run folder and its first characters are those of such a file. A
//! file from another source is therefore never removed or replaced. Pages with other names (`migsim run --report`, `migsim report -o`)
//! contain a mark of their run.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use migsim_base::document::{read_text, sha256};
use migsim_base::error::{Error, Problem};
use migsim_base::words::counted;
use migsim_experiment::Registry;
use migsim_experiment::{Experiment, file_pointers, remove_notes};

/// The files of a folder that holds a sweep.
const OF_SWEEPS: [&str; 2] = ["plan.json", "runs.jsonl"];

/// Number of bytes at the start of a file by which its kind is recognised.
const BEGIN: u64 = 1024;

/// Checks that all files with `names`, which are names of a run folder, belong to a run, and that the folder holds no sweep.
///
/// # Errors
/// A file does not belong to a run; the first such file is named.
pub(super) fn check_files(
    folder: &Path,
    mut names: impl Iterator<Item = String>,
) -> Result<(), Error> {
    let is_there = |name: &String| fs::symlink_metadata(folder.join(name)).is_ok();
    if let Some(file) = OF_SWEEPS
        .map(str::to_owned)
        .iter()
        .find(|name| is_there(name))
    {
        let problem = Problem::new("the folder holds a sweep").source(name_of(folder, file));
        return Err(problem.hint("choose another folder for the run").into());
    }
    let strange = names.find(|name| is_there(name) && !is_of_run(&folder.join(name)));
    let Some(file) = strange else {
        return Ok(());
    };
    let problem = Problem::new(format!("`{file}` in this folder was not written by a run"));
    Err(problem
        .source(name_of(folder, &file))
        .hint("choose another folder, or move the file away")
        .into())
}

/// Whether a file begins as the file of this name in a run folder does. An empty file does.
fn is_of_run(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let start = match name.rsplit_once('.') {
        Some(("run", _)) => "{\n  \"schema\": \"migsim-run-",
        Some(("platform", _)) => "{\"schema\":\"migsim-run-platform-",
        Some((_, "csv")) => "scenario,",
        Some((_, "jsonl")) => "{\"scenario\":",
        Some((_, "paje")) => "%EventDef PajeDefine",
        Some((_, "html")) => return begin(path).is_some_and(|text| text.contains(PAGE)),
        _ => "{\"displayTimeUnit\":", // a trace for Perfetto
    };
    begin(path).is_some_and(|text| text.is_empty() || text.starts_with(start))
}

/// The text with which all pages of runs start.
const PAGE: &str = "<meta name=\"migsim-settings\" content=\"";

/// Reads the first characters of a file.
fn begin(path: &Path) -> Option<String> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(BEGIN).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Creates the mark of the pages of a run with these settings.
pub(super) fn mark(settings: &Value) -> String {
    sha256(settings.to_string().as_bytes())
}

/// Lists the pages in a folder that show the run of the folder.
pub(super) fn pages(folder: &Path) -> Vec<PathBuf> {
    let Some(earlier) = manifest(folder) else {
        return Vec::new();
    };
    let mark = mark(&earlier["experiment"]);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let is_page = |file: &PathBuf| {
        let end = file.extension().unwrap_or_default();
        (end.eq_ignore_ascii_case("html") || end.eq_ignore_ascii_case("htm"))
            && begin(file).is_some_and(|text| text.contains(PAGE) && text.contains(&mark))
    };
    let mut pages: Vec<PathBuf> = files.filter(is_page).collect();
    pages.sort();
    pages
}

/// Reads the manifest of a folder, if there is one and it is readable.
fn manifest(folder: &Path) -> Option<Value> {
    serde_json::from_str(&read_text(folder.join("run.json")).ok()?).ok()
}

/// Checks that a folder holds no run with settings other than those of `experiment`.
///
/// # Errors
/// The folder holds such a run, and the error lists the differences; or its manifest cannot be read.
pub fn check_settings(folder: &Path, experiment: &Experiment) -> Result<(), Error> {
    if !folder.join("run.json").exists() {
        return Ok(());
    }
    let what = match manifest(folder) {
        None => "the folder holds a run whose settings cannot be read".to_owned(),
        Some(earlier) => {
            let differences = differences(&earlier, experiment);
            let Some(first) = differences.first() else {
                return Ok(());
            };
            let more = match differences.len() - 1 {
                0 => String::new(),
                others => format!(", and {} more", counted(others, "key")),
            };
            format!("the folder holds a run of other settings: {first}{more}")
        }
    };
    Err(Problem::new(what)
        .source(name_of(folder, "run.json"))
        .hint("choose another folder, or replace that run with `--force`")
        .into())
}

/// Lists the differences between the settings and files of a manifest and those of `experiment`, in words. Flags like `--threads` are not
/// settings.
fn differences(earlier: &Value, experiment: &Experiment) -> Vec<String> {
    let mut found = Vec::new();
    // The names of files may differ, but not their contents.
    let inputs = earlier["inputs"].as_array().map_or(&[][..], Vec::as_slice);
    for at in 0..inputs.len().max(experiment.inputs.len()) {
        match (inputs.get(at), experiment.inputs.get(at)) {
            (Some(one), Some(other)) if one["role"] == other.role => {
                if one["sha256"] != *other.sha256 {
                    let (one, other, role) = (shown(&one["source"]), &other.source, other.role);
                    found.push(if *other == one {
                        format!("the {role} `{one}` has changed since")
                    } else {
                        format!("the {role} is `{one}` there and `{other}` here")
                    });
                }
            }
            (_, Some(other)) => found.push(format!("`{}` is no input there", other.source)),
            (Some(one), None) => {
                found.push(format!("`{}` is no input here", shown(&one["source"])));
            }
            (None, None) => {}
        }
    }
    let (mut one, mut other) = (earlier["experiment"].clone(), experiment.resolved.clone());
    for settings in [&mut one, &mut other] {
        without_names(&experiment.registry, settings);
    }
    compare("", &one, &other, &mut found);
    found
}

/// Removes from settings the keys that are for people, and the names of files.
fn without_names(registry: &Registry, settings: &mut Value) {
    remove_notes(settings);
    for pointer in file_pointers(registry, settings) {
        if pointer == MAPPING {
            continue;
        }
        if let Some(name) = settings
            .pointer_mut(&pointer)
            .filter(|name| name.is_string())
        {
            *name = Value::Null;
        }
    }
}

/// The file pointer whose text may also be a rule of placement, which is a setting.
const MAPPING: &str = "/mapping";

/// Adds the differences between two values at `path`.
fn compare(path: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
    let (Value::Object(left), Value::Object(right)) = (one, other) else {
        if one != other {
            found.push(format!(
                "`{path}` is {} there and {} here",
                shown(one),
                shown(other)
            ));
        }
        return;
    };
    let new = right.keys().filter(|key| !left.contains_key(*key));
    for key in left.keys().chain(new) {
        let dot = if path.is_empty() { "" } else { "." };
        compare(&format!("{path}{dot}{key}"), &one[key], &other[key], found);
    }
}

/// Maximum number of letters of a value that are shown.
const MOST_LETTERS: usize = 60;

/// Formats a value as people write it.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(MOST_LETTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

fn name_of(folder: &Path, file: &str) -> String {
    folder.join(file).display().to_string()
}
