//! Changes that apply to all runs of a paper: other settings of its experiments, and other values in its platforms.
//!
//! Examples of changes are the rules of another paper (module `one_reading`), a constant changed by 1 %, and an option set back
//! to its default. A change has priority over the experiment files of the paper; the settings of a single run have priority over
//! a change.

use std::{collections::BTreeMap, path::Path};

use migsim_base::{
    document::{Document, read_text},
    error::{Error, Problem},
};
use migsim_experiment::{
    KeySetting, SharedInputs, built_in_names, find_built_in_experiment, value_at_path,
    value_at_path_mut,
};
use migsim_platform as platform;

/// Changed settings of experiments and changed values of platforms, in the order in which they are applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The place of each change and the change: `platform`, or the experiment whose setting is changed. The change also applies to
    /// experiments that extend this experiment and do not set the key themselves. An empty place stands for all experiments.
    settings: Vec<(String, KeySetting)>,
    /// Path and text of the files that replace built-in platforms, by the names of the built-in files.
    platforms: BTreeMap<&'static str, [String; 2]>,
}

/// Place of changed values of platforms.
const PLATFORM: &str = "platform";

impl Changes {
    /// Creates changes of single keys: of all experiments, of one experiment and those that inherit the value from it
    /// (`<name>:<key>`), or of the platforms (`platform:<key>`).
    ///
    /// # Errors
    /// No built-in experiment has this name.
    pub fn of_keys(flags: impl IntoIterator<Item = KeySetting>) -> Result<Self, Error> {
        let mut changes = Self::default();
        for flag in flags {
            let (place, key) = flag.key.split_once(':').unwrap_or(("", &flag.key));
            let is_known = place.is_empty() || place == PLATFORM || is_built_in(place);
            if !is_known {
                let problem = Problem::unknown_name("experiment", place);
                let problem = problem.with_known_names("experiments", built_in_names());
                return Err(problem.source(&flag.source_text).into());
            }
            let (place, key) = (place.to_owned(), key.to_owned());
            changes.settings.push((place, KeySetting { key, ..flag }));
        }
        Ok(changes)
    }

    /// Replaces the built-in platform whose name is the `name` in the JSON file `path` by the platform in this file.
    ///
    /// # Errors
    /// The file cannot be read, or no built-in platform has its name.
    pub fn replace_platform(&mut self, path: &Path) -> Result<(), Error> {
        let text = read_text(path)?;
        let source = path.display().to_string();
        let value = Document::parse(&source, &text)?.value;
        let name = value["name"].as_str().unwrap_or_default();
        let known = || platform::built_in_platforms().iter().map(|(file, _)| *file);
        let Some(file) = known().find(|file| file.strip_suffix(".json") == Some(name)) else {
            let names = known().filter_map(|file| file.strip_suffix(".json"));
            let problem = Problem::unknown_name("platform of the papers", name);
            let problem = problem.with_known_names("platforms", names);
            return Err(problem.source(&source).key("name").into());
        };
        self.platforms.insert(file, [source, text]);
        Ok(())
    }

    /// Returns the changed settings that apply to `experiment`.
    ///
    /// # Errors
    /// A built-in experiment cannot be read.
    pub(super) fn changed_flags(&self, experiment: &str) -> Result<Vec<KeySetting>, Error> {
        let mut flags = Vec::new();
        for (place, flag) in self.settings.iter().filter(|(place, _)| place != PLATFORM) {
            if place.is_empty() || inherits_value_from(experiment, &flag.key, place)? {
                flags.push(flag.clone());
            }
        }
        Ok(flags)
    }

    /// Creates a changed copy of each built-in platform that has at least one of the changed keys.
    ///
    /// # Errors
    /// A changed platform is not valid.
    pub(super) fn changed_platforms(&self) -> Result<SharedInputs, Error> {
        let shared = SharedInputs::default();
        let changes = self.settings.iter().filter(|(place, _)| place == PLATFORM);
        let changes: Vec<&KeySetting> = changes.map(|(_, flag)| flag).collect();
        let mut is_known = vec![false; changes.len()];
        for &(file, text) in platform::built_in_platforms() {
            let own = self.platforms.get(file).cloned();
            let is_replaced = own.is_some();
            let built_in = || [format!("built-in {file}, changed"), text.to_owned()];
            let [source, mut text] = own.unwrap_or_else(built_in);
            let mut value = Document::parse(&source, &text)?.value;
            let mut is_changed = false;
            for (flag, is_known) in changes.iter().zip(&mut is_known) {
                if let Some(old) = value_at_path_mut(&mut value, &flag.key) {
                    *old = flag.value.clone();
                    (is_changed, *is_known) = (true, true);
                }
            }
            if is_changed {
                text = value.to_string();
            }
            if is_changed || is_replaced {
                shared.store_platform(file, platform::from_json(&source, &text)?);
            }
        }
        let unknown = is_known.iter().position(|is_known| !is_known);
        if let Some(flag) = unknown.map(|at| changes[at]) {
            let message = format!("no built-in platform has the key `{}`", flag.key);
            let problem = Problem::new(message);
            let hint = "write a key of the platform file, such as `platform:clusters[0].speed`";
            return Err(problem.source(&flag.source_text).hint(hint).into());
        }
        Ok(shared)
    }
}

fn is_built_in(name: &str) -> bool {
    built_in_names().any(|one| one == name)
}

/// Returns whether `experiment` takes its value of `key` from the experiment `place`. This is so if `experiment` is or extends
/// `place` (directly or indirectly), and no experiment before `place` in this chain sets the key.
fn inherits_value_from(experiment: &str, key: &str, place: &str) -> Result<bool, Error> {
    let mut name = experiment.to_owned();
    loop {
        if name == place {
            return Ok(true);
        }
        let document = experiment_document(&name)?.value;
        if value_at_path(&document, key).is_some() {
            return Ok(false);
        }
        match document["extends"].as_str() {
            Some(below) if below != "none" => below.clone_into(&mut name),
            _ => return Ok(false),
        }
    }
}

/// Returns the file of the built-in experiment with this name, as a parsed document.
///
/// # Errors
/// There is no such built-in experiment.
pub(super) fn experiment_document(experiment: &str) -> Result<Document, Error> {
    find_built_in_experiment(experiment)?.ok_or_else(|| {
        Problem::new(format!(
            "internal error: there is no built-in experiment `{experiment}`"
        ))
        .into()
    })
}
