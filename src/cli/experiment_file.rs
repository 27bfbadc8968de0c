//! Reads experiment files and manifests of runs, and finds the files that they name.

use std::path::Path;

use serde_json::{Value, json};

use crate::{
    Registry,
    document::{Document, FileKind, path_of_text, read_text, text_of_path},
    error::{Error, Result, did_you_mean},
    experiment::{
        Layers, add_keys_missing_in_version, built_in_names, json_pointers_to_file_names,
        names_input_file, removed_settings,
    },
    platform::{HostGrouping, Mapping, is_experiment_text},
    sweep::{Parameter, keys, whole},
    words::most_similar_name,
};

/// Reads an experiment file. Files to which it refers are also searched in the folder of the experiment file.
///
/// # Errors
/// The file cannot be read, or another version of migsim wrote settings into it that this version does not have.
pub(super) fn read_experiment(registry: &Registry, path: &Path) -> Result<Document> {
    let (document, version) = read_experiment_and_version(registry, path)?;
    let Some(version) = version else {
        return Ok(document);
    };
    let removed = removed_settings(&document.value);
    if !removed.is_empty() {
        let message = format!(
            "this run of migsim {version} has settings that migsim does not have any more: `{}`",
            removed.join("`, `")
        );
        let hint = format!(
            "repeat it with migsim {version}, or run the experiment of today; `explain`, `report` and `compare` read its folder"
        );
        return Err(Error::input(message, path.display().to_string(), hint));
    }
    Ok(document)
}

/// Reads an experiment file, and returns the version of migsim that wrote it if it is the manifest of a run.
pub(super) fn read_experiment_and_version(
    registry: &Registry,
    path: &Path,
) -> Result<(Document, Option<String>)> {
    let name = path.display().to_string();
    if !path.exists()
        && let Some(document) = crate::experiment::find_built_in_experiment(&name)?
    {
        return Ok((document, None));
    }
    let mut hint = "name a file that exists, or a built-in experiment (`migsim list experiments`); `migsim run NAME --show` prints the settings of an experiment, from which you can make a file".to_owned();
    if let Some(meant) = most_similar_name(&name, built_in_names()) {
        hint = format!("{} {hint}", did_you_mean(meant));
    }
    let is_there = path.exists();
    let text = read_text(path).map_err(|problem| {
        if is_there {
            problem
        } else {
            problem.hint(hint)
        }
    })?;
    if let Some(kind) = FileKind::detect_from_text(&text)
        && !matches!(kind, FileKind::Experiment | FileKind::SweepOrRunManifest)
    {
        return Err(kind.wrong_kind_error("an experiment", &name).into());
    }
    let mut document = Document::parse(name, text)?;
    let mut writer = None;
    if document.value["schema"] == "migsim-run-1" && document.value["experiment"].is_object() {
        // The file is the manifest of a run, whose experiment is run again.
        let manifest = document.value;
        let version = manifest["version"].as_str().unwrap_or_default();
        let mut experiment = manifest["experiment"].clone();
        add_keys_missing_in_version(&mut experiment, version);
        writer = Some(version.to_owned());
        if manifest["is_random"].is_boolean() {
            // Later versions than 0.3 count all names of input files from the folder of the manifest.
            resolve_input_names(registry, path, &manifest["inputs"], &mut experiment);
        }
        document = Document::parse(
            format!("{}, experiment", document.source),
            format!("{experiment:#}"),
        )?;
    }
    let is_sweep_file = document.value["schema"] == SWEEP_SCHEMA;
    let experiment = if is_sweep_file {
        document.value.pointer_mut("/experiment")
    } else {
        Some(&mut document.value)
    };
    if let Some(experiment) = experiment {
        resolve_file_names(registry, path, experiment);
    }
    Ok((document, writer))
}

/// Name and version of the format of sweep files, which is the value of their key `schema`.
pub(super) const SWEEP_SCHEMA: &str = "migsim-sweep-1";

/// Lists the names of the files to which an experiment refers.
pub(super) fn referenced_file_names(registry: &Registry, experiment: &Value) -> Vec<String> {
    json_pointers_to_file_names(registry, experiment)
        .iter()
        .filter_map(|pointer: &String| Some(experiment.pointer(pointer)?.as_str()?.to_owned()))
        .collect()
}

/// Replaces the names of the input files `inputs` in the manifest `path` of a run by paths that are valid in the working
/// directory.
fn resolve_input_names(registry: &Registry, path: &Path, inputs: &Value, experiment: &mut Value) {
    let folder = path.parent().unwrap_or(Path::new(""));
    for pointer in json_pointers_to_file_names(registry, experiment) {
        if let Some(value) = experiment.pointer_mut(&pointer)
            && let Some(named) = value.as_str().filter(|named| is_input(inputs, named))
        {
            *value = text_of_path(&folder.join(named)).into();
        }
    }
}

/// Returns whether the settings of a run name one of its `inputs` with the text `named`.
fn is_input(inputs: &Value, named: &str) -> bool {
    let mut sources = inputs
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|file| file["source"].as_str());
    sources.any(|file| names_input_file(named, file))
}

/// Returns the settings of the run in a folder.
///
/// # Errors
/// The manifest cannot be read, or an input file of the run is missing.
pub(super) fn settings_of_run_folder(registry: &Registry, folder: &Path) -> Result<Layers> {
    let manifest = folder.join("run.json");
    let mut layers = Layers::default();
    layers.push_file(read_experiment(registry, &manifest)?);
    check_input_files_exist(registry, &manifest, &layers)?;
    Ok(layers)
}

/// Checks that the input files of the run with the manifest `path` exist, as far as `layers` still name them. Does nothing if the
/// file is no manifest.
pub(super) fn check_input_files_exist(registry: &Registry, path: &Path, layers: &Layers) -> Result {
    let manifest = read_text(path)
        .ok()
        .and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let manifest = manifest.filter(|manifest| manifest["schema"] == "migsim-run-1");
    let Some(manifest) = manifest else {
        return Ok(());
    };
    let is_missing = |pointer: &String| {
        let named = manifest["experiment"].pointer(pointer)?.as_str()?;
        let key: String = pointer
            .split('/')
            .map(|part| match part.parse::<usize>() {
                Ok(index) => format!("[{index}]"),
                Err(_) => format!(".{part}"),
            })
            .collect();
        let now = layers.get(key.trim_start_matches('.'))?;
        let now = now.as_str()?;
        let is_same = Path::new(now).ends_with(Path::new(named).file_name()?);
        let now_path = path_of_text(now);
        let is_there =
            has_file_or_rank_files(&now_path) || now_path.with_added_extension("json").is_file();
        let is_gone = is_same && !is_there;
        (is_input(&manifest["inputs"], named) && is_gone).then(|| now.to_owned())
    };
    let missing: Vec<String> = json_pointers_to_file_names(registry, &manifest["experiment"])
        .iter()
        .filter_map(is_missing)
        .collect();
    let Some(first) = missing.first() else {
        return Ok(());
    };
    let message = match missing.len() - 1 {
        0 => format!("the input file `{first}` of the run is missing"),
        more => format!("the input file `{first}` of the run and {more} more are missing"),
    };
    let hint = "restore the files, which `inputs` in this file lists with their SHA-256; relative names count from the folder of this file, in folders of migsim 0.2 and 0.3 from the current folder";
    Err(Error::input(message, path.display().to_string(), hint))
}

/// Replaces the names of files in the experiment file `path` by paths that are valid in the working directory, if the files are
/// in the folder of the experiment file.
fn resolve_file_names(registry: &Registry, path: &Path, experiment: &mut Value) {
    for pointer in json_pointers_to_file_names(registry, experiment) {
        if let Some(value) = experiment.pointer_mut(&pointer) {
            *value = resolve_file_name(path, &pointer[1..], value);
        }
    }
}

/// Returns the path of the file that the value of the key `key` names, if this file is in the folder of the file `path`. Any
/// other value is returned unchanged, for example a rule or a list as mapping.
///
/// An experiment file that has the name of its platform is not mistaken for this platform.
fn resolve_file_name(path: &Path, key: &str, value: &Value) -> Value {
    let is_meant = |file: &Path| {
        let is_other = || read_text(file).is_ok_and(|text| is_experiment_text(&text));
        !(key == "platform" && file.is_file() && is_other())
    };
    let is_table = |text: &str| {
        let mapping = text.parse::<Mapping>();
        mapping.is_ok_and(|mapping| mapping.table_file().is_some())
    };
    let named = value
        .as_str()
        .filter(|text| key != "mapping" || is_table(text))
        .filter(|text| {
            key != "clusters"
                || text
                    .parse::<HostGrouping>()
                    .is_ok_and(|all| all.table_file().is_some())
        });
    let found = named.map(Path::new).and_then(|named| {
        let candidate = path.parent()?.join(named);
        let is_here = named.is_absolute() || has_file_or_rank_files(named) && is_meant(named);
        let is_beside = !is_here && has_file_or_rank_files(&candidate) && is_meant(&candidate);
        is_beside.then(|| Value::from(text_of_path(&candidate)))
    });
    found.unwrap_or_else(|| value.clone())
}

fn has_file_or_rank_files(path: &Path) -> bool {
    let path = &*path_of_text(path);
    let first = |end: &str| path.with_added_extension(end).is_file();
    path.is_file() || first("0.json") || first("0.json.br")
}

/// Replaces the names of files in the values of a parameter of the sweep file `path` by paths that are valid in the working
/// directory.
pub(super) fn resolve_parameter_file_names(
    registry: &Registry,
    path: &Path,
    parameter: &mut Parameter,
) {
    let keys = keys::parameter_keys_for_all_policies(registry, &parameter.name);
    let files = registry.keys_of_file_names();
    if keys.iter().flatten().any(|key| files.contains(key)) {
        let spec = parameter.values_spec.clone();
        let name = &parameter.name;
        parameter.values_spec =
            spec.map_single_values(|value| resolve_file_name(path, name, value));
    }
    let name = parameter.name.clone();
    if whole::has_text_form(&name) {
        parameter.values_spec = parameter.values_spec.clone().map_single_values(|value| {
            let mut experiment = json!({ &name: whole::object_from_text_form(&name, value) });
            resolve_file_names(registry, path, &mut experiment);
            whole::text_form(&name, &experiment[&name])
        });
    }
}
