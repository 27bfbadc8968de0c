//! The definition of a sweep, from a sweep file (JSON) or from flags: an experiment, the varied parameters, how their values are
//! combined, and the seeds.

use std::{fmt, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{keys, shared::SharedRunData, spec::ValuesSpec, whole};
use migsim_base::{
    document::Document,
    error::{Error, Problem, Result},
};
use migsim_experiment::{KeySetting, Layers, Limits, Registry};
use migsim_policies as policy;

/// The version of the format in which a sweep file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum SweepVersion {
    /// `migsim-sweep-1`, which is the only version so far.
    #[default]
    #[serde(rename = "migsim-sweep-1")]
    One,
}

/// The method by which the values of several parameters are combined to settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Combine {
    /// Every value of a parameter is combined with every value of the other parameters; the last parameter changes fastest.
    #[default]
    Grid,
    /// The first values of all parameters form one setting, the second values the next setting, and so on.
    Zip,
    /// The given number of different settings of the grid, drawn at random.
    Random(u64),
    /// The given number of settings, drawn such that the values of each parameter are spread evenly (a Latin hypercube).
    Latin(u64),
}

impl fmt::Display for Combine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grid => f.write_str("grid"),
            Self::Zip => f.write_str("zip"),
            Self::Random(count) => write!(f, "random {count}"),
            Self::Latin(count) => write!(f, "latin {count}"),
        }
    }
}

/// A sweep file: an experiment, the parameters that vary, and the seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepFile {
    /// The address of the JSON Schema with which editors check the file; it has no effect on the sweep.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub editor_schema: Option<String>,
    /// The version of the format of the sweep file.
    pub schema: SweepVersion,
    /// A description of the sweep for its readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The experiment that is varied: the keys of an experiment file (see `migsim schema experiment`).
    #[serde(default)]
    pub experiment: Map<String, Value>,
    /// The varied keys and their values. A key is a dotted path (`policy.NAME.OPTION`) or a short name: `n`, `procs`, `policy`,
    /// `platform` and every other flag of an application or policy. Its values are a list, or a text as on the command line
    /// (`0.1..0.9:0.1`). Whole loads (`load`) and applications (`workload`) are also texts: `none`, `walk,step=0.1`; `lu,n=500`.
    #[serde(default)]
    pub vary: Map<String, Value>,
    /// Settings that override the settings in `experiment`: dotted paths and their values, as `--set` takes them. They apply to
    /// each value of a varied key, while a varied network or load replaces settings in `experiment`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub set: Map<String, Value>,
    /// The seeds with which each setting is run: a list, or a text such as `1..20`. Default: the seed of the experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<Value>,
    /// The method by which the values of several parameters are combined to settings. Default `grid`.
    #[serde(default)]
    pub combine: Combine,
    /// The seed of the random numbers by which `random` and `latin` draw settings. Default 1.
    #[serde(default = "first")]
    pub draw_seed: u64,
}

fn first() -> u64 {
    1
}

/// Returns the JSON Schema of the format of sweep files.
pub fn schema() -> String {
    format!("{:#}\n", schemars::schema_for!(SweepFile).to_value())
}

/// A parameter of a sweep: a key of the experiment, with the values that it takes in the sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name of the parameter in tables: the short name of the key of the experiment, or the key as the user wrote it.
    pub name: String,
    /// The values that the parameter takes in the sweep.
    pub values_spec: ValuesSpec,
    /// The text by which the user defined the parameter, for error messages (`--alpha 2,4`).
    pub definition_text: String,
}

/// A sweep as the user requested it: the fixed settings, the varied parameters, and the seeds.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The registry in which names of policies, applications and loads are looked up.
    pub registry: Registry,
    /// The settings of the experiment file; empty if there is none.
    pub base_settings: Layers,
    /// The settings that the user's flags set for all runs.
    pub fixed_flags: Vec<KeySetting>,
    /// The varied parameters; the first parameter changes slowest.
    pub varied_parameters: Vec<Parameter>,
    /// The seeds with which each setting is run; `None` stands for the seed of the experiment.
    pub seeds: Option<ValuesSpec>,
    /// The method by which the values of the parameters are combined to settings.
    pub combine: Combine,
    /// The seed of the random numbers by which settings are drawn, if `combine` draws them.
    pub draw_seed: u64,
    /// Whether a sweep file defines the sweep.
    pub is_from_sweep_file: bool,
    /// Limits on the memory of a run, and on what its files may do.
    pub limits: Limits,
    /// Data that all runs share, such as files that were already read.
    pub shared: Arc<SharedRunData>,
}

impl Parameter {
    /// Creates the parameter with this name (a short name or a key) and these values; `source` is the text by which the user
    /// defined the parameter, for error messages.
    pub fn new(
        registry: &Registry,
        name: &str,
        spec: ValuesSpec,
        source: impl Into<String>,
    ) -> Self {
        Self {
            name: keys::short_parameter_name(registry, name).to_owned(),
            values_spec: spec,
            definition_text: source.into(),
        }
    }

    /// Creates a parameter from values as a user types them on the command line, such as `1..20`.
    ///
    /// # Errors
    /// A value is wrong; the error describes in a sentence what is wrong.
    pub fn parse(
        registry: &Registry,
        name: &str,
        values: &str,
        source: impl Into<String>,
    ) -> Result<Self, String> {
        let spec = if whole::has_text_form(name) {
            whole::parse_values(name, values)
        } else {
            ValuesSpec::parse(values)
        };
        spec.map(|spec| Self::new(registry, name, spec, source))
    }

    /// Creates a parameter from values as they are written in a sweep file.
    ///
    /// # Errors
    /// A value is wrong; the error describes in a sentence what is wrong.
    pub fn from_json(
        registry: &Registry,
        name: &str,
        values: &Value,
        source: impl Into<String>,
    ) -> Result<Self, String> {
        if let Value::String(text) = values {
            return Self::parse(registry, name, text, source);
        }
        let mut spec = ValuesSpec::from_json(values)?;
        if whole::has_text_form(name) {
            let values = spec.values().map(|one| whole::to_text_form(name, &one));
            spec = ValuesSpec::from_list(values.collect::<Result<_, _>>()?, spec.source_text());
        }
        Ok(Self::new(registry, name, spec, source))
    }
}

impl Sweep {
    /// Creates a sweep without settings, in which nothing varies.
    pub fn new(registry: &Registry) -> Self {
        Self {
            registry: registry.clone(),
            base_settings: Layers::default(),
            fixed_flags: Vec::new(),
            varied_parameters: Vec::new(),
            seeds: None,
            combine: Combine::Grid,
            draw_seed: 1,
            is_from_sweep_file: false,
            limits: Limits::default(),
            shared: Arc::default(),
        }
    }

    /// Returns the names of the varied parameters.
    pub(super) fn parameter_names(&self) -> Vec<String> {
        self.varied_parameters
            .iter()
            .map(|one| one.name.clone())
            .collect()
    }

    /// Returns the sweep without its varied parameters.
    pub(super) fn without_variation(&self) -> Self {
        Self {
            varied_parameters: Vec::new(),
            ..self.clone()
        }
    }

    /// Creates the sweep that a sweep file (`document`) defines.
    ///
    /// # Errors
    /// All problems of the file, except the problems of the experiment in it.
    pub fn from_file(registry: &Registry, document: &Document) -> Result<Self> {
        let source = &*document.source;
        let file: SweepFile = document.deserialize()?;
        let wrong = |message: String, key: String| Problem::new(message).source(source).key(key);
        let seeds = file.seeds.as_ref().map(ValuesSpec::from_json).transpose();
        let mut varied_parameters = Vec::new();
        let mut problems = Vec::new();
        for (name, value) in &file.vary {
            match Parameter::from_json(registry, name, value, source) {
                Ok(parameter) => varied_parameters.push(parameter),
                Err(message) => problems.push(wrong(message, format!("vary.{name}"))),
            }
        }
        Error::unless_empty(problems)?;
        let mut base = Layers::default();
        if !file.experiment.is_empty() {
            let text = format!("{:#}", Value::Object(file.experiment.clone()));
            base.push_file(Document::parse(format!("{source}, experiment"), text)?);
        }
        let set = file.set.iter().map(|(key, value)| {
            KeySetting::new(key, format!("{source}, set.{key}"), value.clone())
        });
        Ok(Self {
            base_settings: base,
            fixed_flags: set.collect(),
            varied_parameters,
            seeds: seeds.map_err(|message| wrong(message, "seeds".to_owned()))?,
            combine: file.combine,
            draw_seed: file.draw_seed,
            is_from_sweep_file: true,
            ..Self::new(registry)
        })
    }

    /// Returns all settings of the sweep that do not vary from run to run.
    pub fn fixed_settings(&self) -> Layers {
        let mut layers = self.base_settings.clone();
        layers.push_flags(self.fixed_flags.clone());
        layers
    }

    /// Returns the sweep in the form of a sweep file.
    ///
    /// # Errors
    /// The settings do not fit together.
    pub fn to_sweep_file(&self) -> Result<SweepFile> {
        let vary = self.varied_parameters.iter();
        // Find the settings that a varied key would replace if they were in the experiment.
        let replaced = |one: &Parameter| match &*one.name {
            "load.kind" => "load".to_owned(),
            "network" => one.name.clone(),
            name => keys::parameter_key_for_policy(&self.registry, name, policy::DEFAULT_POLICY)
                .unwrap_or_else(|| name.to_owned()),
        };
        let replaced: Vec<String> = vary.clone().map(replaced).collect();
        let is_lost = |flag: &KeySetting| replaced.iter().any(|key| flag.is_key_inside(key));
        let (set, merged): (Vec<_>, Vec<_>) = self.fixed_flags.iter().cloned().partition(is_lost);
        let mut layers = self.base_settings.clone();
        layers.push_flags(merged);
        Ok(SweepFile {
            experiment: match layers.merged_settings()? {
                Value::Object(experiment) => experiment,
                _ => Map::new(),
            },
            set: set.into_iter().map(|flag| (flag.key, flag.value)).collect(),
            vary: vary
                .map(|parameter| (parameter.name.clone(), parameter.values_spec.to_json()))
                .collect(),
            seeds: self.seeds.as_ref().map(ValuesSpec::to_json),
            combine: self.combine,
            draw_seed: self.draw_seed,
            ..SweepFile::default()
        })
    }
}
