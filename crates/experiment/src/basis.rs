//! Chooses the built-in settings that complete the settings of the user: the experiment of a paper on the platforms to which its
//! constants were fitted, neutral settings on all other platforms.
//!
//! The experiment of a paper contains constants that the paper does not state and that were fitted to its results instead:
//! messages of 0 B, a cost for each rescheduling call, a barrier that serves one process after the other. The key
//! `calibrated_for` of the experiment names the platforms to which these constants were fitted.
//!
//! | what the user sets | built-in settings that complete the experiment |
//! |---|---|
//! | an application, on a platform that the experiment of this application names | the experiment of this application |
//! | an application, on any other platform | [`NEUTRAL`], the neutral settings: messages, calls and moves are simulated; the common rules of `MigBSP` |
//! | the key `extends`, or the name of an experiment instead of an application | the experiment that is named, on every platform |
//!
//! A platform counts as one of the named platforms if its file has the same values as the built-in copy. An edited copy counts as
//! another platform.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::{
    built_in,
    config::{Basis, EXTENDS_NOTHING, ExperimentConfig, platform_text},
    former,
    library::{self, LoadedLibrary},
    settings::{LIBRARY_KEY, Layers},
    shared::SharedInputs,
    starts,
    suite::NEUTRAL,
};
use crate::registry::Registry;
use migsim_base::{
    document::{self, Document},
    error::{Problem, Result},
    memory::Limits,
    setting::{KeySetting, is_path_within},
};
use migsim_platform::{self as platform, LoadedPlatform};

/// Remark for the user about one platform: which built-in settings complete the experiment, and to which platforms the constants
/// of these settings were fitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasisRemark {
    text_before_and_after_platform_name: [String; 2],
    /// The name of the platform, as messages show it to the user.
    platform_name: String,
}

const BARRIER_KEYS: [&str; 2] = ["runtime.barrier", "runtime.barrier.kind"];
/// Maximum number of platforms whose names a note lists; a note about more platforms states only how many more there are.
const MAX_NAMED_PLATFORMS: usize = 3;

/// Converts the remarks of all platforms into notes for the user. If the remarks of several platforms have the same text, one
/// note names all these platforms.
pub fn merge_remarks(remarks: impl IntoIterator<Item = BasisRemark>) -> Vec<String> {
    let mut groups: BTreeMap<[String; 2], Vec<String>> = BTreeMap::new();
    for BasisRemark {
        text_before_and_after_platform_name: text,
        platform_name: platform,
    } in remarks
    {
        let platforms = groups.entry(text).or_default();
        if !platforms.contains(&platform) {
            platforms.push(platform);
        }
    }
    let note = |([before, after], mut platforms): ([String; 2], Vec<String>)| {
        let more = platforms.len().saturating_sub(MAX_NAMED_PLATFORMS);
        platforms.truncate(MAX_NAMED_PLATFORMS);
        platforms.extend((more > 0).then(|| format!("{more} more platforms")));
        format!("{before}{}{after}", join_names(platforms))
    };
    groups.into_iter().map(note).collect()
}

/// Joins names with commas, and with `and` before the last one.
fn join_names(mut names: Vec<String>) -> String {
    match names.pop() {
        None => String::new(),
        Some(last) if names.is_empty() => last,
        Some(last) => format!("{} and {last}", names.join(", ")),
    }
}

/// The complete settings of an experiment: the settings that the user gave, and the built-in settings that complete them.
#[derive(Debug)]
pub(super) struct CompleteSettings {
    /// The merged settings of the experiment: built-in settings, settings of the message-passing library, and settings of the
    /// user, which override all other settings.
    pub merged_layers: Layers,
    /// The settings that user settings override: the settings of the built-in experiments, and the settings that a platform or a
    /// workload adds.
    overridable_settings: Layers,
    user_settings: Layers,
    /// The settings of the message-passing library, with their origins; `None` if no library is named.
    pub message_passing_library: Option<LoadedLibrary>,
    /// Name of the built-in experiment whose settings override the settings of all other built-in experiments; `none` if no
    /// built-in experiment completes the settings.
    topmost_experiment_name: String,
    /// The built-in experiment of the application that neutral settings replaced, because its constants were fitted to other
    /// platforms; `None` if no experiment was replaced.
    replaced_experiment: Option<Arc<Document>>,
}

impl CompleteSettings {
    /// Completes the settings of the user with built-in experiments and with the settings of the named library.
    pub(super) fn new(
        registry: &Registry,
        given: &Layers,
        limits: Limits,
        shared: &SharedInputs,
    ) -> Result<Self> {
        let located = |error| given.add_locations_to_problems(error);
        let text = |key: &str| Some(given.get(key)?.as_str()?.to_owned());
        let extends = text("extends");
        let app =
            find_application_name(registry, given, extends.as_deref(), shared).map_err(located)?;
        let mut chain = shared
            .chain_of_extended_experiments(extends.as_deref(), &app)
            .map_err(located)?;
        let mut left_out = None;
        let is_fitted = extends.is_none() && given.get("calibrated_for").is_none();
        if let Some(own) = chain.last().filter(|_| is_fitted)
            && own.value.get("calibrated_for").is_some()
        {
            let given = given.get("platform");
            let name = platform_text(given.as_ref().unwrap_or(&own.value["platform"]));
            // A platform that is neither named nor given, or that cannot be read, is reported later.
            let opened = name.and_then(|name| shared.get_or_read_platform(&name, limits).ok());
            let fitted = calibrated_platform_names(own);
            if opened.is_some_and(|opened| !is_listed_built_in_platform(&opened, &fitted)) {
                left_out = Some(Arc::clone(own));
                chain = shared.chain_of_extended_experiments(Some(NEUTRAL), &app)?;
            }
        }
        let top = chain.last().map_or_else(
            || EXTENDS_NOTHING.to_owned(),
            |own| experiment_name_from_source(&own.source),
        );
        let mut below = Layers::default();
        for document in chain {
            below.push_file(document);
        }
        let mut whole = Self {
            merged_layers: Layers::join_with_library(&[&below, given], None),
            overridable_settings: below,
            user_settings: given.clone(),
            message_passing_library: None,
            topmost_experiment_name: top,
            replaced_experiment: left_out,
        };
        // A name that is not a text is reported later.
        if let Some(Value::String(name)) = whole.merged_layers.get(LIBRARY_KEY) {
            whole.message_passing_library = Some(library::open_library(&name).map_err(located)?);
            whole.merged_layers = whole.join_layers();
        }
        Ok(whole)
    }

    /// Merges the built-in settings, the settings of the library and the settings of the user into one list of settings.
    fn join_layers(&self) -> Layers {
        let library = self.message_passing_library.as_ref();
        let library = library.map(|library| (library.source_text(), &library.settings[..]));
        let parts = [&self.overridable_settings, &self.user_settings];
        Layers::join_with_library(&parts, library.as_ref())
    }

    /// Converts the merged settings, which are JSON values, into the typed configuration of the experiment.
    pub(super) fn experiment_config(&self) -> Result<ExperimentConfig> {
        let mut merged = self.merged_layers.merged_settings()?;
        former::replace_former_settings(&mut merged);
        document::from_value(&merged, "")
    }

    /// Adds settings that come from a platform or a workload, and returns the new configuration. The added settings override the
    /// built-in experiments, and the settings of the user override the added settings.
    pub(super) fn insert_settings_below_user(
        &mut self,
        source: &str,
        mut settings: Vec<KeySetting>,
    ) -> Result<ExperimentConfig> {
        let [barrier, kind] = BARRIER_KEYS;
        if self.message_passing_library.is_none()
            && let Some(name) = settings.iter().find(|one| one.key == LIBRARY_KEY)
        {
            let name = name.value.as_str().unwrap_or_default();
            self.message_passing_library = Some(library::open_library(name)?);
        }
        // A given barrier replaces the barrier of the program.
        let has_barrier = self.is_set_by_user(kind);
        settings.retain(|one| !(has_barrier && is_path_within(&one.key, barrier)));
        let has_none = |one: &KeySetting| one.key == kind && one.value == "none";
        if let Some(library) = &mut self.message_passing_library
            && settings.iter().any(has_none)
        {
            // In a program without barriers, the library must not set keys of a barrier.
            library
                .settings
                .retain(|one| !is_path_within(&one.key, barrier));
        }
        self.overridable_settings
            .push_settings_of_source(source, settings);
        self.merged_layers = self.join_layers();
        self.experiment_config()
    }

    /// Returns whether the settings of the user (not the built-in settings) set a key.
    pub(super) fn is_set_by_user(&self, key: &str) -> bool {
        self.user_settings.get(key).is_some()
    }

    /// Returns whether the user chose the value of a key. In a resolved experiment file, which contains every key, no value
    /// counts as chosen; see [`Layers::is_chosen_by_user`].
    pub(super) fn is_chosen_by_user(&self, key: &str) -> bool {
        self.user_settings.is_chosen_by_user(key)
    }

    /// Returns the name of the built-in experiment that completes the settings, and a remark for the user if the constants of
    /// that experiment were not fitted to the platform.
    pub(super) fn basis_and_remark(
        &self,
        config: &ExperimentConfig,
        platform: &LoadedPlatform,
    ) -> (Basis, Option<BasisRemark>) {
        let app = config.workload["app"].as_str().unwrap_or_default();
        let fitted: Vec<String> = config
            .calibrated_for
            .iter()
            .flatten()
            .map(|name| without_json_extension(name).to_owned())
            .collect();
        let is_calibrated =
            (!fitted.is_empty()).then(|| is_listed_built_in_platform(platform, &fitted));
        let experiment = match (
            &config.basis,
            self.merged_layers.source_and_is_file("calibrated_for"),
        ) {
            // Resolved settings name the experiment that they were made from.
            (Some(basis), _) if self.topmost_experiment_name == EXTENDS_NOTHING => {
                basis.experiment.clone()
            }
            (_, Some((file, true))) if is_calibrated.is_some() => experiment_name_from_source(file),
            _ => self.topmost_experiment_name.clone(),
        };
        let remark = |text, fitted: &[String]| BasisRemark {
            text_before_and_after_platform_name: text,
            platform_name: describe_platform_for_message(&config.platform, fitted),
        };
        let remark = match (is_calibrated, &self.replaced_experiment) {
            (None, Some(own)) => Some(remark(
                self.neutral_settings_remark(own, app, platform),
                &calibrated_platform_names(own),
            )),
            (Some(false), _) => {
                let names = join_quoted_names(&fitted);
                let before = format!(
                    "the settings of the experiment `{experiment}` are fitted to {names}, not to the platform "
                );
                let after = format!(
                    "; for neutral settings (fitted to no platform) name `--app {app}` instead of the experiment"
                );
                Some(remark([before, after], &fitted))
            }
            _ => None,
        };
        let basis = Basis {
            experiment,
            is_calibrated,
        };
        (basis, remark)
    }

    /// Returns the remark that settings fitted to no platform (neutral settings) are used on this platform in place of `own`, the
    /// experiment of the paper. The two parts of the text go before and after the name of the platform.
    fn neutral_settings_remark(
        &self,
        own: &Document,
        app: &str,
        platform: &LoadedPlatform,
    ) -> [String; 2] {
        // The hosts that the paper's mapping names do not exist on this platform.
        let is_replaced =
            own.value["mapping"].is_array() && self.merged_layers.get("mapping").is_none();
        let (mapping, placed) = if is_replaced {
            let rule = starts::default_mapping_rule(platform, false).name();
            (
                format!(" and the mapping `{rule}`"),
                " --mapping contiguous",
            )
        } else {
            (String::new(), "")
        };
        let fitted = join_quoted_names(&calibrated_platform_names(own));
        let name = experiment_name_from_source(&own.source);
        [
            format!("neutral settings (fitted to no platform){mapping} are used for `{app}` on "),
            format!(
                ", since the settings of the paper are fitted to {fitted}; to use the settings of the paper, add `--set extends={name}{placed}`"
            ),
        ]
    }
}

/// Returns the name of the application that the settings name. If the settings name no application, returns the application of
/// the experiment that the key `extends` names.
///
/// # Errors
/// No application is named, or its name is unknown.
fn find_application_name(
    registry: &Registry,
    given: &Layers,
    extends: Option<&str>,
    shared: &SharedInputs,
) -> Result<String> {
    let mut app = given.get("workload.app");
    if let (None, Some(_)) = (&app, extends) {
        // The application of the experiment that is extended.
        let chain = shared.chain_of_extended_experiments(extends, "")?;
        app = chain
            .iter()
            .rev()
            .find_map(|one| one.value.get("workload")?.get("app"))
            .cloned();
    }
    let Some(Value::String(app)) = app else {
        // A wrong key of the file comes first: the file may be no experiment.
        let mut settings = given.merged_settings()?;
        if settings.get("workload").is_none() {
            settings["workload"] = json!({});
        }
        document::from_value::<ExperimentConfig>(&settings, "")?;
        let problem = Problem::new("no application is chosen (flag `--app` or key `workload.app`)")
            .key("workload.app");
        let names = registry.workloads().names();
        return Err(problem.with_known_names("applications", names).into());
    };
    match registry.workloads().find(&app) {
        Err(error) if built_in::experiment_names().any(|name| name == app) => Err(error
            .map_problems(|problem| {
                problem.hint(format!(
                    "leave out `--app`: `{app}` is an experiment, as in `migsim run {app}`"
                ))
            })),
        found => found.map(|_| app),
    }
}

/// Joins names with commas and `and`, each name in backticks.
fn join_quoted_names(names: &[String]) -> String {
    join_names(names.iter().map(|name| format!("`{name}`")).collect())
}

/// Returns the name of a platform, in backticks, for a message to the user. If the platform is a file with the name of a built-in
/// platform in `fitted`, the text says that the platform is not built in.
fn describe_platform_for_message(platform: &str, fitted: &[String]) -> String {
    let platform = platform::display_name(platform);
    let stem = without_json_extension(&platform);
    let own = stem.rsplit('/').next().unwrap_or(stem);
    if fitted.iter().any(|known| known == own) {
        format!("`{platform}` (not the built-in `{own}`)")
    } else {
        format!("`{platform}`")
    }
}

/// Returns the names, without `.json`, of the platforms to which the constants of an experiment were fitted.
fn calibrated_platform_names(experiment: &Document) -> Vec<String> {
    experiment.value["calibrated_for"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|name| without_json_extension(name).to_owned())
        .collect()
}

fn is_listed_built_in_platform(platform: &LoadedPlatform, names: &[String]) -> bool {
    let built_in = platform.equal_built_in_platform;
    built_in.is_some_and(|built_in| names.iter().any(|name| name == built_in))
}

/// Returns the name of a platform without the ending `.json`.
fn without_json_extension(name: &str) -> &str {
    name.strip_suffix(".json").unwrap_or(name)
}

/// Returns the name of an experiment: the name of its file without folders, without the ending `.json` and without the suffix of
/// built-in experiments.
fn experiment_name_from_source(source: &str) -> String {
    let file = source
        .strip_suffix(built_in::BUILT_IN_SUFFIX)
        .unwrap_or(source);
    let stem = std::path::Path::new(file).file_stem();
    stem.map_or_else(|| file.to_owned(), |stem| stem.display().to_string())
}

/// Lists a problem for each name under the key `calibrated_for` that is not a built-in platform.
pub(super) fn calibrated_platform_problems(
    config: &ExperimentConfig,
) -> impl Iterator<Item = Problem> {
    let is_known = |name: &str| {
        platform::built_in_platforms()
            .iter()
            .any(|(file, _)| without_json_extension(file) == without_json_extension(name))
    };
    config
        .calibrated_for
        .iter()
        .flatten()
        .enumerate()
        .filter(move |(_, name)| !is_known(name))
        .map(|(index, name)| {
            Problem::unknown_name("platform", name)
                .key(format!("calibrated_for[{index}]"))
                .with_known_names(
                    "platforms",
                    platform::built_in_platforms()
                        .iter()
                        .map(|(file, _)| without_json_extension(file)),
                )
        })
}
