//! Protects the files that an earlier run left in a folder: checks that they come from a run with the same settings as the new
//! run.
//!
//! A folder holds one run. A file is recognised as the file of a run by its name, which must be the name of a file in run
//! folders, and by its first characters, which must be the characters with which runs start the file of this name. A file from
//! another source is therefore never removed or replaced. Pages with other names (`migsim run --report`, `migsim report -o`)
//! contain a mark that identifies their run.

use std::{
    fs::{self, File},
    io::Read as _,
    path::{Component, Path, PathBuf},
};

use serde_json::Value;

use super::{inputs, summary::settings_sha256};
use migsim_base::{
    document::{read_text, sha256},
    error::{Error, Problem, Result},
    words::format_count,
};
use migsim_experiment::{Experiment, remove_informative_keys, remove_input_file_names};

/// Names of the files that identify a folder as the folder of a parameter sweep.
const SWEEP_FILES: [&str; 2] = ["plan.json", "runs.jsonl"];

/// Number of bytes at the start of a file that are read in order to recognise whether a run wrote the file.
const START_BYTES: u64 = 1024;

/// Checks that a run wrote each existing file of `folder` whose name is in `names`, and that the folder does not hold a sweep.
/// The names are names of files in run folders.
///
/// # Errors
/// The folder holds a sweep, or a file was not written by a run; the error names the first such file.
pub(super) fn check_run_may_overwrite(
    folder: &Path,
    mut names: impl Iterator<Item = String>,
) -> Result {
    let is_there = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
    if let Some(file) = SWEEP_FILES.iter().find(|name| is_there(name)) {
        return Err(Error::input(
            "the folder already holds the results of a sweep or another study",
            path_in_folder_as_text(folder, file),
            "choose another folder for the run",
        ));
    }
    let strange = names.find(|name| is_there(name) && !is_written_by_run(&folder.join(name)));
    strange.map_or(Ok(()), |file| {
        let problem = Problem::new(format!(
            "the run would overwrite `{file}` in this folder, a file that no run of migsim has written"
        ));
        Err(problem
            .source(path_in_folder_as_text(folder, &file))
            .hint("choose another folder, or move this file to another place")
            .into())
    })
}

/// Returns whether the first characters of the file at `path` show that a run wrote it. Returns `true` for an empty file.
fn is_written_by_run(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let start = match name.rsplit_once('.') {
        Some(("run", _)) => "{\n  \"schema\": \"migsim-run-",
        Some(("platform", _)) => "{\"schema\":\"migsim-run-platform-",
        Some((_, "csv")) => "scenario,",
        Some((_, "jsonl")) => "{\"scenario\":",
        Some((_, "paje")) => "%EventDef PajeDefine",
        Some((_, "html")) => return has_page_mark(path, ""),
        _ => "{\"displayTimeUnit\":", // a trace for Perfetto
    };
    read_first_bytes(path).is_some_and(|text| text.is_empty() || text.starts_with(start))
}

/// Start of the HTML element with the checksum of the settings, which every HTML page of a run contains near its beginning.
const PAGE_MARK: &str = "<meta name=\"migsim-settings\" content=\"";

/// Reads the first [`START_BYTES`] bytes of a file as text, in order to recognise what wrote the file. Returns `None` if it is
/// not a regular file or cannot be read.
fn read_first_bytes(path: &Path) -> Option<String> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(START_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn has_page_mark(file: &Path, mark: &str) -> bool {
    read_first_bytes(file).is_some_and(|text| text.contains(PAGE_MARK) && text.contains(mark))
}

/// Checks that the file `page`, if it exists, is a page of a run with the settings of `experiment`.
///
/// # Errors
/// The file is another one.
pub fn check_page_is_of_same_run(page: &Path, experiment: &Experiment) -> Result {
    let is_filled_file = fs::metadata(page).is_ok_and(|found| found.is_file() && found.len() > 0);
    if !is_filled_file || has_page_mark(page, &settings_sha256(experiment)) {
        return Ok(());
    }
    let problem = Problem::new("the file exists, and is no page of a run with these settings");
    Err(problem
        .source(page.display().to_string())
        .hint("name another file with `--report`, or replace this one with `--force`")
        .into())
}

pub(super) fn page_mark(manifest: &Value) -> String {
    manifest["settings_sha256"].as_str().map_or_else(
        || sha256(manifest["experiment"].to_string().as_bytes()),
        str::to_owned,
    )
}

pub(super) fn kept_input_names(folder: &Path) -> Vec<String> {
    let earlier = read_manifest(folder).unwrap_or_default();
    let names = earlier["inputs"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one["source"].as_str());
    let is_copy = |name: &&str| {
        let mut parts = Path::new(name).components();
        let is_in_folder = parts.next() == Some(Component::Normal(inputs::FOLDER.as_ref()));
        is_in_folder && parts.all(|part| matches!(part, Component::Normal(_)))
    };
    names.filter(is_copy).map(str::to_owned).collect()
}

/// Lists the HTML pages in a folder that belong to the run whose manifest `run.json` is in the same folder, recognised by the
/// mark with the checksum of the settings.
pub(super) fn html_pages_of_run(folder: &Path) -> Vec<PathBuf> {
    let Some(earlier) = read_manifest(folder) else {
        return Vec::new();
    };
    let mark = page_mark(&earlier);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_page = |file: &PathBuf| {
        let end = file.extension().unwrap_or_default().to_ascii_lowercase();
        (end == "html" || end == "htm") && has_page_mark(file, &mark)
    };
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_page).collect();
    pages.sort();
    pages
}

fn read_manifest(folder: &Path) -> Option<Value> {
    serde_json::from_str(&read_text(folder.join("run.json")).ok()?).ok()
}

/// Checks that a folder contains no run whose settings differ from the settings of `experiment`.
///
/// # Errors
/// The folder contains such a run, and the error describes the differences; or the manifest of the run cannot be read.
pub fn check_settings_are_equal(folder: &Path, experiment: &Experiment) -> Result {
    if !folder.join("run.json").exists() {
        return Ok(());
    }
    let what = match read_manifest(folder) {
        None => "the folder already holds a run, whose settings cannot be read".to_owned(),
        Some(earlier) => match &describe_setting_differences(&earlier, experiment)[..] {
            [] => return Ok(()),
            [first, others @ ..] => {
                let more = match others.len() {
                    0 => String::new(),
                    others => format!(", and {}", format_count(others, "more difference")),
                };
                format!(
                    "the folder already holds a run with other settings than this run: {first}{more}"
                )
            }
        },
    };
    Err(Error::input(
        what,
        path_in_folder_as_text(folder, "run.json"),
        "choose another folder, or replace the earlier run with `--force`",
    ))
}

fn describe_setting_differences(earlier: &Value, experiment: &Experiment) -> Vec<String> {
    let mut found = Vec::new();
    // The names of files may differ, but not their contents.
    let inputs = earlier["inputs"].as_array().map_or(&[][..], Vec::as_slice);
    for at in 0..inputs.len().max(experiment.input_files.len()) {
        match (inputs.get(at), experiment.input_files.get(at)) {
            (Some(one), Some(other)) if one["role"] == other.role => {
                if one["sha256"] == *other.sha256 {
                    continue;
                }
                let role = other.role;
                let other = &*other.name;
                let one = one["source"].as_str().unwrap_or_default();
                // The folder names its copy of a file; the copy has the same last name as the file.
                let [own_name, name] = [one, other].map(|file| Path::new(file).file_name());
                found.push(if own_name == name {
                    format!("the {role} `{other}` has other contents than in the run in the folder")
                } else {
                    format!("the {role} is `{one}` in the folder, but `{other}` in this run")
                });
            }
            (_, Some(other)) => {
                found.push(format!(
                    "this run has the input file `{}`, which the run in the folder does not have",
                    other.name
                ));
            }
            (Some(one), None) => {
                found.push(format!(
                    "the run in the folder has the input file `{}`, which this run does not have",
                    format_value_for_people(&one["source"])
                ));
            }
            (None, None) => {}
        }
    }
    let mut one = earlier["experiment"].clone();
    let mut other = experiment.resolved_settings.clone();
    let earlier_names = inputs.iter().filter_map(|one| one["source"].as_str());
    let names = experiment.input_files.iter().map(|one| &*one.name);
    remove_input_file_names(&experiment.registry, &mut other, &names);
    remove_input_file_names(&experiment.registry, &mut one, &earlier_names);
    for settings in [&mut one, &mut other] {
        remove_informative_keys(settings);
        // The platform is an input file, built in, or a part of the settings; its SHA-256 has been compared.
        settings["platform"].take();
    }
    add_value_differences("", &one, &other, &mut found);
    found
}

fn add_value_differences(path: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
    let (Value::Object(left), Value::Object(right)) = (one, other) else {
        if one != other {
            found.push(format!(
                "`{path}` is {} in the folder, but {} in this run",
                format_value_for_people(one),
                format_value_for_people(other)
            ));
        }
        return;
    };
    let new = right.keys().filter(|key| !left.contains_key(*key));
    for key in left.keys().chain(new) {
        let dot = if path.is_empty() { "" } else { "." };
        add_value_differences(&format!("{path}{dot}{key}"), &one[key], &other[key], found);
    }
}

/// Maximum number of characters to which the value of a setting is shortened in the description of a difference.
const MAX_VALUE_CHARACTERS: usize = 60;

fn format_value_for_people(value: &Value) -> String {
    let text = match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(MAX_VALUE_CHARACTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

fn path_in_folder_as_text(folder: &Path, file: &str) -> String {
    folder.join(file).display().to_string()
}
