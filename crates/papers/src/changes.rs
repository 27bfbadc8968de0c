//! Changes that apply to all runs of a paper: other settings of its experiments, and other values in its platforms.
//!
//! Examples of changes are the rules of another paper (module `one_reading`), a constant changed by 1 %, and an option set back
//! to its default. A change has priority over the experiment files of the paper; the settings of a single run have priority over
//! a change.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use migsim_base::{
    document::{Document, read_text},
    error::{Error, Problem},
};
use migsim_experiment::{
    Experiment, KeySetting, SharedInputs, find_built_in_experiment, value_at_path,
    value_at_path_mut,
};
use migsim_platform as platform;

/// Changed settings of experiments and changed values of platforms, in the order in which they are applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The place of each change and the change: `platform`, or the experiment whose setting is changed. The change also applies to
    /// experiments that extend this experiment and do not set the key themselves. An empty place stands for all experiments.
    settings: Vec<(String, KeySetting)>,
    /// Path and text of the files that replace built-in platforms, by the names of the platforms.
    platforms: BTreeMap<String, [String; 2]>,
}

/// Texts of the changes of platforms, by the names of the platforms.
pub(super) type PlatformChanges = BTreeMap<&'static str, BTreeSet<String>>;

/// Place of changed values of platforms.
const PLATFORM: &str = "platform";

impl Changes {
    /// Creates changes of single keys: of all experiments, of one experiment and those that inherit the value from it
    /// (`<name>:<key>`), or of the platforms (`platform:<key>`).
    ///
    /// # Errors
    /// A key is that of the policy.
    pub fn of_keys(flags: impl IntoIterator<Item = KeySetting>) -> Result<Self, Error> {
        let settings = flags.into_iter().map(|flag| {
            let (place, key) = flag.key.split_once(':').unwrap_or(("", &flag.key));
            if ["policy", "policy.name"].contains(&key) {
                let what = "the policy of the runs of papers cannot be changed, since their decisions are compared";
                let hint = "compare policies with `migsim compare`";
                return Err(Problem::new(what).source(&flag.source_text).hint(hint));
            }
            let (place, key) = (place.to_owned(), key.to_owned());
            Ok((place, KeySetting { key, ..flag }))
        });
        Ok(Self {
            settings: settings.collect::<Result<_, Problem>>()?,
            platforms: BTreeMap::new(),
        })
    }

    /// Replaces the built-in platform whose name is the `name` in the JSON file `path` by the platform in this file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn replace_platform(&mut self, path: &Path) -> Result<(), Error> {
        let text = read_text(path)?;
        let source = path.display().to_string();
        let value = Document::parse(&source, &text)?.value;
        let name = value["name"].as_str().unwrap_or_default();
        self.platforms.insert(name.to_owned(), [source, text]);
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

    /// Creates a changed copy of each built-in platform that has at least one of the changed keys, and lists the texts of the
    /// changes of each platform.
    ///
    /// # Errors
    /// A changed platform is not valid.
    pub(super) fn changed_platforms(&self) -> Result<(SharedInputs, PlatformChanges), Error> {
        let shared = SharedInputs::default();
        let mut changes_by_name = PlatformChanges::new();
        for &(file, text) in platform::built_in_platforms() {
            let mut texts = BTreeSet::new();
            let name = file.trim_end_matches(".json");
            let own = self.platforms.get(name).cloned();
            texts.extend(own.iter().map(|[source, _]| source.clone()));
            let built_in = || [format!("built-in {file}, changed"), text.to_owned()];
            let [source, mut text] = own.unwrap_or_else(built_in);
            let mut value = Document::parse(&source, &text)?.value;
            for (place, flag) in &self.settings {
                if place == PLATFORM
                    && let Some(old) = value_at_path_mut(&mut value, &flag.key)
                {
                    *old = flag.value.clone();
                    texts.insert(flag.source_text.clone());
                    text = value.to_string();
                }
            }
            if !texts.is_empty() {
                shared.store_platform(file, platform::from_json(&source, &text)?);
                changes_by_name.insert(name, texts);
            }
        }
        Ok((shared, changes_by_name))
    }

    /// Lists what `experiment` uses, which is the built-in one of this `name` with the settings `own` of a run. A changed setting is
    /// not used if the run sets the same key, or if nothing in the experiment has the key.
    ///
    /// # Errors
    /// A built-in experiment cannot be read.
    pub(super) fn used_inputs(
        &self,
        (name, own): (&str, &[KeySetting]),
        experiment: &Experiment,
        changes_of_platforms: &PlatformChanges,
    ) -> Result<UsedInputs, Error> {
        let is_used = |flag: &KeySetting| {
            let is_in = |inside: &str| inside.is_empty() || inside.starts_with('.');
            let mut keys = own.iter().filter_map(|own| flag.key.strip_prefix(&own.key));
            !keys.any(is_in)
                && (flag.key != "seed" || experiment.uses_seed())
                && value_at_path(&experiment.resolved_settings, &flag.key).is_some()
        };
        let flags = self.changed_flags(name)?.into_iter().filter(is_used);
        let texts = flags.map(|flag| flag.source_text);
        let platform = experiment.config.platform.trim_end_matches(".json");
        let of_platform = changes_of_platforms.get(platform).into_iter().flatten();
        let texts = texts.chain(of_platform.cloned());
        let names = [
            ("experiment", name.to_owned()),
            (PLATFORM, platform.to_owned()),
        ];
        Ok(texts.map(|text| (CHANGE, text)).chain(names).collect())
    }

    /// Checks that each change has an effect on at least one run of the paper `name` (`all`: of all papers).
    ///
    /// # Errors
    /// No run uses a change.
    pub(super) fn check_effects(&self, name: &str, used: &UsedInputs) -> Result<(), Error> {
        let settings = self.settings.iter().map(|(place, flag)| {
            let kind = if place == PLATFORM {
                PLATFORM
            } else {
                "experiment"
            };
            (kind, &*flag.key, &flag.source_text)
        });
        let platforms = self.platforms.iter();
        let platforms = platforms.map(|(name, [source, _])| (PLATFORM, &**name, source));
        for (kind, what, text) in settings.chain(platforms) {
            if !used.contains(&(CHANGE, text.clone())) {
                let of_kind = used.iter().filter(|one| one.0 == kind);
                let names: Vec<&str> = of_kind.map(|one| &*one.1).collect();
                let message = format!("`{what}` has no effect on the runs of `{name}`");
                let hint = if names.is_empty() {
                    "the paper publishes no runs".to_owned()
                } else {
                    let names = names.join(", ");
                    format!(
                        "change what these runs use and the paper does not vary; their {kind}s: {names}"
                    )
                };
                return Err(Problem::new(message).source(text).hint(hint).into());
            }
        }
        Ok(())
    }
}

/// What runs of papers use: changes (their texts), built-in experiments and platforms (their names).
pub(super) type UsedInputs = BTreeSet<(&'static str, String)>;

/// Kind of those used inputs that are changes.
pub(super) const CHANGE: &str = "change";

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
