//! The format of a suite file: a distribution of experiments, as JSON. Its JSON Schema is generated from these types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use migsim_base::units::Seconds;

/// The version of the format of suite files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum SuiteVersion {
    /// `migsim-suite-1`, the only version so far.
    #[default]
    #[serde(rename = "migsim-suite-1")]
    One,
}

/// A suite: the distribution from which its cases are drawn, and the policies and seeds of each case.
///
/// A case is identified by its number and the number of its draw. Each of its parts has a separate random stream, whose key is a
/// hash of the names of suite, draw, case and part: a change of one part of the suite does not change the other parts of a case.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    /// The JSON Schema that editors use to check the file; it has no effect on the suite.
    #[serde(rename = "$schema", default)]
    pub editor_schema: Option<String>,
    /// The version of the format of the file.
    pub schema: SuiteVersion,
    /// The name of the suite, which includes its version.
    pub name: String,
    /// A description of the suite for its readers.
    pub description: String,
    /// The seeds with which each case is run.
    pub seeds: String,
    /// The default set of policies, which every benchmark runs and whose results count for the best known makespans.
    pub policies: Vec<String>,
    /// Maximum of processes times supersteps in a case.
    pub process_supersteps: u64,
    /// The distribution of the platforms of the cases.
    pub platform: PlatformDraw,
    /// The distribution of the number of processes per core of the platform.
    pub processes_per_core: Drawn,
    /// The distribution of the number of supersteps.
    pub supersteps: Drawn,
    /// The parts of an experiment, in the order in which they are drawn; a later part overrides earlier ones.
    pub parts: Vec<Part>,
    /// The limits that sort cases into classes, such as short and long runs.
    pub classes: ClassLimits,
    /// The fixed cases, which belong to no draw.
    #[serde(default)]
    pub fixed: Vec<FixedCase>,
}

/// A fixed case: an experiment with its source.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedCase {
    /// The classes to which the case belongs.
    pub classes: Vec<String>,
    /// The program, the platform and the load, and where they come from.
    pub source: String,
    /// The experiment, above the neutral settings.
    pub experiment: Map<String, Value>,
}

/// The distribution of platforms: clusters around a backbone.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlatformDraw {
    /// The number of hosts of the platform.
    pub hosts: Drawn,
    /// The number of clusters of the platform; at most half the number of hosts.
    pub clusters: Drawn,
    /// The speed of the cores of a group of equal hosts.
    pub speed: Drawn,
    /// The number of cores of each host of a group.
    pub cores: Drawn,
    /// Probability that a cluster has two groups of different hosts.
    pub unlike: f64,
    /// The access links of the hosts of a cluster.
    pub access: LinkDraw,
    /// Probability that the clusters are joined by a wide-area network, if there are several clusters.
    pub wan: f64,
    /// The link from a cluster to the backbone if the clusters are joined by a local network.
    pub local: LinkDraw,
    /// The link from a cluster to the backbone if the clusters are joined by a wide-area network.
    pub wide: LinkDraw,
}

/// The distribution of the bandwidth and the latency of links.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkDraw {
    /// The bandwidth of the link.
    pub bandwidth: Drawn,
    /// The one-way latency of the link.
    pub latency: Drawn,
}

/// A part of an experiment, for which one of several choices is drawn.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The name of the part, which determines its random stream.
    pub name: String,
    /// The application to which the part belongs; if absent, the part belongs to every application.
    #[serde(default)]
    pub app: Option<String>,
    /// The choices of which one is drawn for each case.
    pub choices: Vec<Choice>,
}

/// A possible choice for a part: settings of an experiment, and the class of the case.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The class to which a case with this choice belongs; if absent, the choice adds no class.
    #[serde(default)]
    pub class: Option<String>,
    /// The relative probability of this choice among the choices of its part, dimensionless. Default 1.
    #[serde(default = "one")]
    pub weight: f64,
    /// The settings of this choice, by their keys in an experiment; values are drawn or fixed.
    pub settings: BTreeMap<String, Drawn>,
    /// The typical duration and number of supersteps of an application that itself defines both. The units `supersteps` and
    /// `runs` refer to them.
    #[serde(default)]
    pub usual: Option<Usual>,
}

fn one() -> f64 {
    1.0
}

/// The typical size of an application that itself defines its supersteps.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usual {
    /// The duration of a superstep in a typical run.
    pub superstep: Seconds,
    /// The number of supersteps in a typical run.
    pub supersteps: u64,
}

/// A value, or the distribution from which the value is drawn. Drawn numbers have three significant digits.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Drawn {
    /// A number drawn uniformly between two bounds.
    Uniform {
        /// The lower and the upper bound.
        uniform: [f64; 2],
        /// The unit of the drawn number.
        #[serde(default)]
        unit: Unit,
    },
    /// A number drawn between two bounds such that its logarithm is uniformly distributed.
    LogUniform {
        /// The lower and the upper bound.
        log_uniform: [f64; 2],
        /// The unit of the drawn number.
        #[serde(default)]
        unit: Unit,
    },
    /// One of several values, each with the same probability.
    OneOf {
        /// The values of which one is drawn.
        one_of: Vec<Value>,
    },
    /// A random subset of the hosts of the platform; the fraction of hosts is drawn uniformly between two bounds.
    Hosts {
        /// The bounds of the fraction of hosts.
        hosts: [f64; 2],
    },
    /// A JSON object whose values are drawn.
    Object {
        /// The values of the object by their keys, each drawn or fixed.
        object: BTreeMap<String, Drawn>,
    },
    /// A fixed value: a text, a number, or true or false.
    Fixed(Fixed),
}

/// A value of a setting that is not drawn.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Fixed {
    /// True or false.
    Truth(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// The unit of a drawn number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// No unit.
    #[default]
    None,
    /// No unit; the number is rounded to a whole number.
    Whole,
    /// The duration of the nominal computation of one superstep.
    Supersteps,
    /// The duration of the nominal computation of all supersteps.
    Runs,
    /// A unit of measurement, written after the number, as in `10 MB`.
    #[serde(untagged)]
    Of(String),
}

/// The limits that sort cases into classes by the length of runs and the cost of moves.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassLimits {
    /// A run with fewer supersteps than this number is in the class of short runs.
    pub short: u64,
    /// A run with at least this number of supersteps is in the class of long runs.
    pub long: u64,
    /// Moves are cheap if a move costs less than this \[supersteps\]. The cost is its fixed time, plus the time to transfer its
    /// memory through the slowest access link.
    pub cheap: f64,
    /// Moves are expensive if a move costs at least this \[supersteps\].
    pub dear: f64,
}

/// Returns the JSON Schema of suite files.
pub fn schema() -> String {
    format!("{:#}\n", schemars::schema_for!(SuiteFile).to_value())
}

/// Settings of an experiment by their dotted keys.
pub(super) type Settings = Map<String, Value>;
