//! Changes that apply to all runs of a paper: other settings of its experiments, and other values in its platforms.
//!
//! Examples of changes are the rules of another paper (module `one_reading`), a constant changed by 1 %, and an option set back
//! to its default. A change has priority over the experiment files of the paper; the settings of a single run have priority over
//! a change.

use serde_json::Value;

use migsim_base::document::Document;
use migsim_base::error::{Error, Problem};
use migsim_experiment::{
    KeySetting, SharedInputs, find_built_in_experiment, value_at_path, value_at_path_mut,
};
use migsim_platform as platform;

/// Changed settings of experiments and changed values of platforms, in the order in which they are applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    settings: Vec<ChangedSetting>,
    platform_values: Vec<(String, Value)>,
}

/// A changed setting, and the experiments to which the change applies.
#[derive(Clone, Debug, PartialEq)]
struct ChangedSetting {
    /// Name of the experiment in which the setting is changed. The change also applies to experiments that extend this experiment
    /// and do not set the key themselves. `None` stands for all experiments.
    experiment: Option<String>,
    flag: KeySetting,
}

impl Changes {
    /// Creates changes of settings that apply to all experiments of a paper.
    pub(super) fn in_all_experiments(flags: impl IntoIterator<Item = KeySetting>) -> Self {
        let settings = flags.into_iter().map(|flag| ChangedSetting {
            experiment: None,
            flag,
        });
        Self {
            settings: settings.collect(),
            platform_values: Vec::new(),
        }
    }

    /// Changes the value of a key, which is written as in the `keys` of a fitted constant in the facts: a key of `experiment`, of
    /// its platforms (`platform:<key>`), or of another experiment of the paper (`<name>:<key>`).
    pub fn set_value(&mut self, experiment: &str, key: &str, value: Value) {
        let (place, key) = key.split_once(':').unwrap_or((experiment, key));
        if place == "platform" {
            self.platform_values.push((key.to_owned(), value));
            return;
        }
        let flag = KeySetting {
            key: key.to_owned(),
            source_text: format!("{key}={value}"),
            value,
        };
        self.settings.push(ChangedSetting {
            experiment: Some(place.to_owned()),
            flag,
        });
    }

    /// Returns the changed settings that apply to `experiment`.
    ///
    /// # Errors
    /// A built-in experiment cannot be read.
    pub(super) fn changed_flags_for_experiment(
        &self,
        experiment: &str,
    ) -> Result<Vec<KeySetting>, Error> {
        let mut flags = Vec::new();
        for setting in &self.settings {
            let acts = match &setting.experiment {
                None => true,
                Some(place) => inherits_value_from(experiment, &setting.flag.key, place)?,
            };
            if acts {
                flags.push(setting.flag.clone());
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
        for (file, text) in platform::built_in_platforms() {
            let mut value: Value = serde_json::from_str(text).map_err(|error| {
                Problem::new(format!(
                    "internal error: the built-in platform {file} cannot be read: {error}"
                ))
            })?;
            let mut is_changed = false;
            for (key, new) in &self.platform_values {
                if let Some(old) = value_at_path_mut(&mut value, key) {
                    *old = new.clone();
                    is_changed = true;
                }
            }
            if is_changed {
                let text = value.to_string();
                let loaded = platform::from_json(&format!("built-in {file}, changed"), &text)?;
                shared.store_platform(file, loaded);
            }
        }
        Ok(shared)
    }
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
