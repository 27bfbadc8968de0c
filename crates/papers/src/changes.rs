//! Changes to all runs of a paper: settings of its experiments and values of its platforms.
//!
//! Examples of changes are the rules of another paper ([`super::one_reading()`]), a constant changed by 1 %, and an option set back to its
//! default. Changes lie above each experiment and below the settings of its cases.

use serde_json::Value;

use migsim_base::document::Document;
use migsim_base::error::{Error, Problem};
use migsim_experiment::{Flag, Shared, built_in, lookup, lookup_mut};
use migsim_platform as platform;

/// Changes, in the order in which they are made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    settings: Vec<Setting>,
    platform: Vec<(String, Value)>,
}

/// A setting of an experiment.
#[derive(Clone, Debug, PartialEq)]
struct Setting {
    /// The experiment that gives the value. Experiments that extend it, and do not set the key themselves, follow. `None` stands for all
    /// experiments.
    place: Option<String>,
    flag: Flag,
}

impl Changes {
    /// Makes changes of settings in all experiments.
    pub(super) fn everywhere(flags: impl IntoIterator<Item = Flag>) -> Self {
        let settings = flags.into_iter().map(|flag| Setting { place: None, flag });
        Self {
            settings: settings.collect(),
            platform: Vec::new(),
        }
    }

    /// Sets another value for a key, written as in [`super::Fitted::keys`]: a key of `experiment`, of its platforms (`platform:<key>`), or
    /// of another experiment of the paper (`<name>:<key>`).
    pub fn set(&mut self, experiment: &str, key: &str, value: Value) {
        let (place, key) = key.split_once(':').unwrap_or((experiment, key));
        if place == "platform" {
            self.platform.push((key.to_owned(), value));
            return;
        }
        let flag = Flag {
            key: key.to_owned(),
            flag: format!("{key}={value}"),
            value,
        };
        self.settings.push(Setting {
            place: Some(place.to_owned()),
            flag,
        });
    }

    /// Returns the settings that apply to `experiment`.
    pub(super) fn flags_of(&self, experiment: &str) -> Result<Vec<Flag>, Error> {
        let mut flags = Vec::new();
        for setting in &self.settings {
            let acts = match &setting.place {
                None => true,
                Some(place) => giver(experiment, &setting.flag.key, place)?,
            };
            if acts {
                flags.push(setting.flag.clone());
            }
        }
        Ok(flags)
    }

    /// Makes changed copies of the built-in platforms that have all the changed keys.
    pub(super) fn shared(&self) -> Result<Shared, Error> {
        let shared = Shared::default();
        for (file, text) in platform::built_in() {
            let mut value: Value = serde_json::from_str(text)
                .map_err(|error| Problem::new(format!("built-in {file}: {error}")))?;
            let mut is_changed = false;
            for (key, new) in &self.platform {
                if let Some(old) = lookup_mut(&mut value, key) {
                    *old = new.clone();
                    is_changed = true;
                }
            }
            if is_changed {
                let text = value.to_string();
                let loaded = platform::from_json(&format!("built-in {file}, changed"), &text)?;
                shared.put(file, loaded);
            }
        }
        Ok(shared)
    }
}

/// Whether `place` gives the value of `key` to `experiment`: `place` is reached from `experiment` through `extends`, and no experiment on
/// the way sets the key.
fn giver(experiment: &str, key: &str, place: &str) -> Result<bool, Error> {
    let mut name = experiment.to_owned();
    loop {
        if name == place {
            return Ok(true);
        }
        let document = source_of(&name)?.value;
        if lookup(&document, key).is_some() {
            return Ok(false);
        }
        match document["extends"].as_str() {
            Some(below) if below != "none" => below.clone_into(&mut name),
            _ => return Ok(false),
        }
    }
}

/// Returns the text of a built-in experiment.
pub(super) fn source_of(experiment: &str) -> Result<Document, Error> {
    built_in(experiment)?
        .ok_or_else(|| Problem::new(format!("there is no experiment `{experiment}`")).into())
}
