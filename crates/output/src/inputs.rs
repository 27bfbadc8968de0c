//! Keeps copies of the input files of a run in its folder (`inputs/`), so that the folder can be run on another machine.
//!
//! All names of files in `run.json` count from the folder. Files that are too large to be copied keep their place; the manifest
//! states their SHA-256, as it does for all input files.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use serde_json::Value;

use migsim_base::document::{path_of_text, read_binary, text_of_path};
use migsim_experiment::{Experiment, InputFile, json_pointers_to_file_names, names_input_file};

/// Name of the folder with the copies, inside the folder of a run.
pub(super) const FOLDER: &str = "inputs";
/// Maximum total size of the copies \[B\].
const MAX_BYTES: usize = 10_000_000;

/// The settings and input files of a run with names that count from its folder, and the contents of the files that are copied.
pub(super) struct KeptInputs {
    pub settings: Value,
    pub files: Vec<InputFile>,
    /// The contents of the copies, by their names in the folder of the run.
    pub copies: BTreeMap<String, Vec<u8>>,
}

impl KeptInputs {
    /// Chooses the input files that are copied into the run folder at `folder`, and reads them. `is_free` returns whether a name
    /// in this folder may be used for a copy with this content.
    pub(super) fn new(
        experiment: &Experiment,
        folder: &Path,
        is_free: impl Fn(&str, &[u8]) -> bool,
    ) -> Self {
        let mut kept = Self {
            settings: experiment.resolved_settings.clone(),
            files: experiment.input_files.clone(),
            copies: BTreeMap::new(),
        };
        for pointer in json_pointers_to_file_names(&experiment.registry, &kept.settings) {
            let Some(named) = kept.settings.pointer(&pointer).and_then(Value::as_str) else {
                continue;
            };
            // A copy of a built-in platform needs no file.
            let built_in = experiment.platform.equal_built_in_platform;
            if pointer == "/platform" && built_in.is_some_and(|name| names_input_file(name, named))
            {
                continue;
            }
            let role = pointer.split('/').nth(1).unwrap_or_default();
            let of_platform = |file: &InputFile| {
                role == "platform" && matches!(file.role, "platform" | "profile")
            };
            let is_named =
                |file: &InputFile| file.role == role && names_input_file(named, &file.name);
            let files = experiment.input_files.iter().enumerate();
            let own: Vec<(usize, &InputFile)> = files
                .filter(|(_, file)| of_platform(file) || is_named(file))
                .filter(|(_, file)| path_of_text(&file.name).is_file())
                .collect();
            // The platform may be named without the suffix of its file.
            let main = match own.first() {
                Some((_, file)) if file.role == "platform" => file.name.clone(),
                Some((_, file)) if file.role == role => named.to_owned(),
                _ => continue,
            };
            let name = kept
                .copy_files(&main, &own, &is_free)
                .or_else(|| kept.name_from_folder(&main, &own, folder));
            if let (Some(name), Some(value)) = (name, kept.settings.pointer_mut(&pointer)) {
                *value = name.into();
            }
        }
        kept
    }

    /// Copies files that belong together: `main`, or the files whose names begin with it, and files below its folder. Returns the
    /// name of the copy of `main`; `None` if the files are too large.
    fn copy_files(
        &mut self,
        main: &str,
        files: &[(usize, &InputFile)],
        is_free: impl Fn(&str, &[u8]) -> bool,
    ) -> Option<String> {
        let main = Path::new(main);
        let beside = main.parent()?;
        let base = main.file_name()?.to_str()?;
        let mut used: usize = self.copies.values().map(Vec::len).sum();
        let mut copies = Vec::new();
        for (index, file) in files {
            let path = Path::new(&file.name);
            let size = std::fs::metadata(path_of_text(path)).map_or(u64::MAX, |found| found.len());
            used = used.saturating_add(usize::try_from(size).unwrap_or(usize::MAX));
            if used > MAX_BYTES {
                return None;
            }
            let inner = path.strip_prefix(beside).ok()?;
            let is_inside = inner
                .components()
                .all(|one| matches!(one, Component::Normal(_)));
            let inner = inner.to_str().filter(|_| is_inside)?;
            copies.push((*index, inner, read_binary(path).ok()?));
        }
        // Files of one name from two folders get two names: `a.csv` and `2-a.csv`.
        let prefix = (1..).map(|number| match number {
            1 => String::new(),
            number => format!("{number}-"),
        });
        let is_usable = |prefix: &String| {
            copies.iter().all(|(_, inner, bytes)| {
                let name = format!("{FOLDER}/{prefix}{inner}");
                let known = self.copies.get(&name);
                known.map_or_else(|| is_free(&name, bytes), |known| known == bytes)
            })
        };
        let prefix = prefix.take(1000).find(is_usable)?;
        for (index, inner, bytes) in copies {
            let name = format!("{FOLDER}/{prefix}{inner}");
            self.files[index].name.clone_from(&name);
            self.copies.insert(name, bytes);
        }
        Some(format!("{FOLDER}/{prefix}{base}"))
    }

    fn name_from_folder(
        &mut self,
        main: &str,
        files: &[(usize, &InputFile)],
        folder: &Path,
    ) -> Option<String> {
        for (index, file) in files {
            self.files[*index].name = path_from_folder(folder, &file.name)?;
        }
        path_from_folder(folder, main)
    }
}

fn path_from_folder(folder: &Path, file: &str) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let file = path_of_text(file);
    let beside = match file.parent()? {
        beside if beside.as_os_str().is_empty() => Path::new("."),
        beside => beside,
    };
    let file = beside.canonicalize().ok()?.join(file.file_name()?);
    let common = folder
        .components()
        .zip(file.components())
        .take_while(|(one, other)| one == other)
        .count();
    let path: PathBuf = folder
        .components()
        .skip(common)
        .map(|_| Component::ParentDir)
        .chain(file.components().skip(common))
        .collect();
    Some(text_of_path(&path))
}
