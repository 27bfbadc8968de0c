//! The built-in settings below the given ones: those of a paper on the machines of its fit, elsewhere neutral ones.
//!
//! An experiment of a paper holds constants that make up for what its paper does not say of the machine: messages of 0 B, a price for each
//! call, a barrier that serves one process after the other. Its key `calibrated_for` names the platforms that they were fitted to.
//!
//! | what was given | what lies below |
//! |---|---|
//! | an application, on a platform that its experiment names | that experiment |
//! | an application, on any other platform | [`ONE_READING`]: messages, calls and moves are simulated; the common rules of `MigBSP` |
//! | `extends`, or the experiment itself | the experiment, on whatever platform |
//!
//! A platform is one of those named if its file says the same as the built-in copy, value by value: an edited copy is another machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::built_in::{self, ONE_READING};
use super::by_workload;
use super::config::{Basis, ExperimentConfig, NONE};
use super::layers::{Flag, Layers, is_within};
use super::library::{self, LoadedLibrary};
use super::shared::Shared;
use super::starts;
use crate::registry::Registry;
use migsim_base::document::{self, Document};
use migsim_base::error::{Error, Problem};
use migsim_base::memory::Limits;
use migsim_platform::{self as platform, LoadedPlatform};
use migsim_workloads::Setting;

/// A remark for the user about the settings that were filled in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    app: String,
    /// The experiment that was fitted to other platforms.
    experiment: String,
    calibrated_for: Vec<String>,
    /// Set if the experiment was left out for neutral settings.
    left_out: Option<LeftOut>,
    /// The platform as it was named.
    platform: String,
}

/// The start of an experiment that was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LeftOut {
    /// By a rule, which is a part of the neutral settings.
    Rule,
    /// On hosts that it names: the rule that places the processes in their stead.
    Hosts(&'static str),
}

/// The key of the protocol of barriers.
const BARRIER: &str = "runtime.barrier.kind";
/// The most platforms that a note names.
const MOST_PLATFORMS: usize = 3;

/// Notes for people, one for all platforms of which the same is to be said.
pub fn notes(remarks: impl IntoIterator<Item = Remark>) -> Vec<String> {
    let mut groups: BTreeMap<Remark, Vec<String>> = BTreeMap::new();
    for mut remark in remarks {
        let platform = std::mem::take(&mut remark.platform);
        let platforms = groups.entry(remark).or_default();
        if !platforms.contains(&platform) {
            platforms.push(platform);
        }
    }
    let one = |(remark, platforms): (&Remark, &Vec<String>)| remark.note(platforms);
    groups.iter().map(one).collect()
}

impl Remark {
    fn note(&self, platforms: &[String]) -> String {
        let Self {
            app, experiment, ..
        } = self;
        let fitted = listed(self.calibrated_for.iter().map(|name| format!("`{name}`")));
        let more = platforms.len().saturating_sub(MOST_PLATFORMS);
        let shown = platforms.iter().take(MOST_PLATFORMS).map(|name| {
            let stem = name.strip_suffix(".json").unwrap_or(name);
            let own = stem.rsplit('/').next().unwrap_or(stem);
            if self.calibrated_for.iter().any(|known| known == own) {
                format!("`{name}` (not the built-in `{own}`)")
            } else {
                format!("`{name}`")
            }
        });
        let rest = (more > 0).then(|| format!("{more} more platforms"));
        let here = listed(shown.chain(rest));
        match self.left_out {
            Some(start) => {
                // The hosts of the paper are no hosts here.
                let (mapping, placed) = match start {
                    LeftOut::Rule => (String::new(), ""),
                    LeftOut::Hosts(rule) => (
                        format!(" and the mapping `{rule}`"),
                        " --mapping contiguous",
                    ),
                };
                format!(
                    "neutral settings{mapping} for `{app}` on {here}: the paper's are fitted to {fitted}; `--set extends={experiment}{placed}` takes the paper's"
                )
            }
            None => format!(
                "the settings of the experiment `{experiment}` are fitted to {fitted}, not to {here}; `--app {app}` alone takes neutral ones"
            ),
        }
    }
}

/// Names with commas, and an `and` before the last.
fn listed(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    match names.pop() {
        None => String::new(),
        Some(last) if names.is_empty() => last,
        Some(last) => format!("{} and {last}", names.join(", ")),
    }
}

/// All layers of an experiment.
#[derive(Debug)]
pub(super) struct Whole {
    /// The given settings, on top of the workload's own and of the built-in experiments.
    pub layers: Layers,
    below: Layers,
    given: Layers,
    /// What the library says, with its origins.
    library: Option<LoadedLibrary>,
    /// The strongest of the built-in ones, if there is one.
    top: Option<String>,
    /// The experiment of the application that was left out for neutral settings.
    left_out: Option<Arc<Document>>,
    /// The platform, if it has been looked at.
    platform: Option<(String, Result<Arc<LoadedPlatform>, Error>)>,
}

impl Whole {
    /// Puts what lies below under what was given.
    pub(super) fn new(
        registry: &Registry,
        given: &Layers,
        limits: Limits,
        shared: &Shared,
    ) -> Result<Self, Error> {
        let text = |key: &str| {
            given
                .get(key)
                .and_then(|value| Some(value.as_str()?.to_owned()))
        };
        let located = |error| given.locate(error);
        let Some(app) = text("workload.app") else {
            if given.get("workload").is_some_and(|keys| !keys.is_object()) {
                document::from_value::<ExperimentConfig>(&given.merged()?, "").map_err(located)?;
            }
            return Err(Problem::new("no application is chosen")
                .key("workload.app")
                .known("applications", registry.workloads().names())
                .into());
        };
        let chain = |name: Option<&str>| shared.chain(name, &app);
        registry.workloads().find(&app).map_err(|error| {
            let is_experiment = built_in::names().any(|name| name == app);
            let hint = format!(
                "`{app}` is an experiment: name it without `--app`, as in `migsim run {app}`"
            );
            let hinted = |problem: Problem| problem.hint(hint.clone());
            located(if is_experiment {
                error.map(hinted)
            } else {
                error
            })
        })?;
        let extends = text("extends");
        let mut below = chain(extends.as_deref()).map_err(located)?;
        let (mut left_out, mut platform) = (None, None);
        if extends.is_none() && given.get("calibrated_for").is_none() {
            let own = below.last().filter(|own| own.has("calibrated_for"));
            if let Some(own) = own.cloned() {
                let usual = || {
                    own.value["platform"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned()
                };
                let name = text("platform").unwrap_or_else(usual);
                let opened = shared.platform(&name, limits);
                let is_other = opened
                    .as_ref()
                    .is_ok_and(|opened| !is_one_of(opened, &named_by(&own)));
                if is_other && !is_no_text(given, "platform") {
                    below = chain(Some(ONE_READING))?;
                    left_out = Some(own);
                }
                platform = Some((name, opened));
            }
        }
        let top = below.last().map(|document| stem(&document.source));
        let mut layers = Layers::default();
        for document in below {
            layers.push_file(document);
        }
        let all = layers.with(given);
        let library = match all.get("library") {
            Some(Value::String(name)) => Some(library::open(&name).map_err(located)?),
            _ => None, // what is no text is told of later
        };
        Ok(Self {
            layers: with_library(&all, library.as_ref()),
            below: layers,
            given: given.clone(),
            library,
            top,
            left_out,
            platform,
        })
    }

    /// Puts what the platform says above the built-in experiments, below what was given.
    pub(super) fn take_from_platform(&mut self, name: &str, settings: &[(String, String)]) {
        let flag = |(key, value): &(String, String)| Flag {
            key: key.clone(),
            flag: format!("the platform's `{key}`"),
            value: document::typed_value(value),
        };
        let settings = settings.iter().map(flag).collect();
        self.below.push_settings(name, settings);
        let all = self.below.with(&self.given);
        self.layers = with_library(&all, self.library.as_ref());
    }

    /// Puts what the workload says between the built-in experiments and what was given.
    pub(super) fn take_in(&mut self, name: &str, settings: &[Setting]) {
        let said = by_workload::layer(name, settings, self.gives(BARRIER));
        let has_none = said.get(BARRIER).is_some_and(|kind| kind == "none");
        if let Some(library) = self.library.as_mut().filter(|_| has_none) {
            // That there is no barrier is told of the program: the library has none to choose.
            (library.settings).retain(|setting| !is_within(&setting.key, "runtime.barrier"));
        }
        let all = self.below.with(&said).with(&self.given);
        self.layers = with_library(&all, self.library.as_ref());
    }

    /// The library, if there is one.
    pub(super) fn library(&self) -> Option<&LoadedLibrary> {
        self.library.as_ref()
    }

    /// Whether a key was given, above all that is built in.
    pub(super) fn gives(&self, key: &str) -> bool {
        self.given.get(key).is_some()
    }

    /// Whether the user chose the value of a key: see [`Layers::is_chosen`].
    pub(super) fn is_chosen(&self, key: &str) -> bool {
        self.given.is_chosen(key)
    }

    /// The platform of the settings, as it was read if it has been.
    pub(super) fn platform(
        &mut self,
        name: &str,
        limits: Limits,
        shared: &Shared,
    ) -> Result<Arc<LoadedPlatform>, Error> {
        match self.platform.take() {
            Some((known, opened)) if known == name => opened,
            _ => shared.platform(name, limits),
        }
    }

    /// The settings that were filled in, and the remark about them.
    pub(super) fn basis(
        &self,
        config: &ExperimentConfig,
        platform: &LoadedPlatform,
    ) -> (Basis, Option<Remark>) {
        let known = config.calibrated_for.iter().flatten();
        let calibrated_for: Vec<String> = known.map(|name| bare(name).to_owned()).collect();
        let remark = |experiment: &str, calibrated_for, left_out| Remark {
            app: config.workload["app"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            experiment: experiment.to_owned(),
            calibrated_for,
            left_out,
            platform: config.platform.clone(),
        };
        let top = self.top.clone().unwrap_or_else(|| NONE.to_owned());
        // What was resolved before says itself what it was made of.
        let told = config.basis.as_ref().filter(|_| top == NONE);
        let told = told.map(|basis| basis.experiment.clone());
        if calibrated_for.is_empty() {
            let left_out = self.left_out.as_ref().map(|own| {
                let is_replaced =
                    own.value["mapping"].is_array() && self.layers.get("mapping").is_none();
                let start = if is_replaced {
                    LeftOut::Hosts(starts::usual(platform).name())
                } else {
                    LeftOut::Rule
                };
                remark(&stem(&own.source), named_by(own), Some(start))
            });
            let experiment = told.unwrap_or(top);
            let is_calibrated = None;
            return (
                Basis {
                    experiment,
                    is_calibrated,
                },
                left_out,
            );
        }
        let giver = || self.layers.giver("calibrated_for").map(stem);
        let experiment = told.or_else(giver).unwrap_or(top);
        let is_calibrated = is_one_of(platform, &calibrated_for);
        let remark = (!is_calibrated).then(|| remark(&experiment, calibrated_for, None));
        let is_calibrated = Some(is_calibrated);
        (
            Basis {
                experiment,
                is_calibrated,
            },
            remark,
        )
    }
}

/// The layers with the settings of a library below the one that names it.
fn with_library(layers: &Layers, library: Option<&LoadedLibrary>) -> Layers {
    library.map_or_else(
        || layers.clone(),
        |library| {
            let source = format!("the library {}", library.name);
            layers.with_library(&source, &library.settings)
        },
    )
}

/// Whether a key has a value that is no text: that is reported when all is read.
fn is_no_text(layers: &Layers, key: &str) -> bool {
    layers.get(key).is_some_and(|value| !value.is_string())
}

/// The platforms that an experiment was fitted to.
fn named_by(experiment: &Document) -> Vec<String> {
    let names = experiment.value["calibrated_for"].as_array();
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| bare(name).to_owned()).collect()
}

fn is_one_of(platform: &LoadedPlatform, names: &[String]) -> bool {
    let built_in = platform.built_in;
    built_in.is_some_and(|built_in| names.iter().any(|name| name == built_in))
}

/// The name of a platform without `.json`.
fn bare(name: &str) -> &str {
    name.strip_suffix(".json").unwrap_or(name)
}

/// The name of an experiment, from that of its file.
fn stem(source: &str) -> String {
    let file = source.strip_suffix(built_in::MARK).unwrap_or(source);
    let stem = std::path::Path::new(file).file_stem();
    stem.map_or_else(|| file.to_owned(), |stem| stem.display().to_string())
}

/// The names under `calibrated_for` that are no built-in platforms.
pub(super) fn unknown_platforms(config: &ExperimentConfig) -> impl Iterator<Item = Problem> {
    let is_known = |name: &str| {
        platform::built_in()
            .iter()
            .any(|(file, _)| bare(file) == bare(name))
    };
    let names = config.calibrated_for.iter().flatten().enumerate();
    names
        .filter(move |(_, name)| !is_known(name))
        .map(|(index, name)| {
            let known = platform::built_in().iter().map(|(file, _)| bare(file));
            Problem::unknown("platform", name)
                .key(format!("calibrated_for[{index}]"))
                .known("platforms", known)
        })
}
