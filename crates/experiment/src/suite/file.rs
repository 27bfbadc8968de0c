//! The format of a suite: a distribution of experiments, as JSON. Its JSON Schema is generated from these types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use migsim_base::units::Seconds;

/// The version of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum SuiteVersion {
    /// The only version so far.
    #[default]
    #[serde(rename = "migsim-suite-1")]
    One,
}

/// A suite: the distribution from which its cases are drawn, and the policies and seeds of each case.
///
/// A case is a number of a draw. Each of its parts has a random stream of its own, whose key is a hash of the names of suite, draw, case
/// and part: another part of the suite changes nothing in it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    /// The schema for editors, without effect on the suite.
    #[serde(rename = "$schema", default)]
    pub editor_schema: Option<String>,
    /// The version of the format.
    pub schema: SuiteVersion,
    /// The name of the suite, with its version.
    pub name: String,
    /// A description of the suite for people.
    pub description: String,
    /// The seeds of each case.
    pub seeds: String,
    /// The default set of policies, whose results are part of the best known makespans.
    pub policies: Vec<String>,
    /// The maximum of processes times supersteps in a case.
    pub process_supersteps: u64,
    /// The platform.
    pub platform: PlatformDraw,
    /// The number of processes per core of the platform.
    pub processes_per_core: Drawn,
    /// The number of supersteps.
    pub supersteps: Drawn,
    /// The parts of an experiment, in the order in which they are drawn; a later part takes precedence.
    pub parts: Vec<Part>,
    /// The limits that sort cases into classes.
    pub classes: ClassLimits,
}

/// The distribution of platforms: clusters around a backbone.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlatformDraw {
    /// The number of hosts.
    pub hosts: Drawn,
    /// The number of clusters; at most half the number of hosts.
    pub clusters: Drawn,
    /// The speed of the cores of a group of hosts.
    pub speed: Drawn,
    /// The cores of each host of a group.
    pub cores: Drawn,
    /// The probability that a cluster has two groups of unlike hosts.
    pub unlike: f64,
    /// The access links of a cluster.
    pub access: LinkDraw,
    /// The probability that several clusters are joined by a wide-area network.
    pub wan: f64,
    /// The link from a cluster to the backbone in a local network.
    pub local: LinkDraw,
    /// The link from a cluster to the backbone in a wide-area network.
    pub wide: LinkDraw,
}

/// The distribution of a link.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkDraw {
    /// The bandwidth.
    pub bandwidth: Drawn,
    /// The one-way latency.
    pub latency: Drawn,
}

/// A part of an experiment: one of several choices.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The name of the part, which seeds its draws.
    pub name: String,
    /// The application to which the part belongs; absent: to every application.
    #[serde(default)]
    pub app: Option<String>,
    /// The choices.
    pub choices: Vec<Choice>,
}

/// A choice: settings of an experiment, and the class of the case.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The class of cases to which the choice belongs; absent: no class.
    #[serde(default)]
    pub class: Option<String>,
    /// The relative probability of this choice among the choices of the same part of the suite, dimensionless. Default 1.
    #[serde(default = "one")]
    pub weight: f64,
    /// Settings by their keys in an experiment, drawn or fixed.
    pub settings: BTreeMap<String, Drawn>,
    /// The usual duration and number of the supersteps of an application that defines both itself. The units `supersteps` and `runs` refer
    /// to them.
    #[serde(default)]
    pub usual: Option<Usual>,
}

fn one() -> f64 {
    1.0
}

/// The usual size of an application.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usual {
    /// The duration of a superstep.
    pub superstep: Seconds,
    /// The number of supersteps.
    pub supersteps: u64,
}

/// A value, or the distribution from which the value is drawn. Drawn numbers have three digits.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Drawn {
    /// Drawn uniformly between two bounds.
    Uniform {
        /// The bounds.
        uniform: [f64; 2],
        /// The unit.
        #[serde(default)]
        unit: Unit,
    },
    /// Drawn between two bounds such that its logarithm is uniform.
    LogUniform {
        /// The bounds.
        log_uniform: [f64; 2],
        /// The unit.
        #[serde(default)]
        unit: Unit,
    },
    /// One of some values, each with the same probability.
    OneOf {
        /// The values.
        one_of: Vec<Value>,
    },
    /// A random subset of the hosts of the platform, whose share is drawn uniformly between two bounds.
    Hosts {
        /// The bounds of the share.
        hosts: [f64; 2],
    },
    /// An object whose values are drawn.
    Object {
        /// The values.
        object: BTreeMap<String, Drawn>,
    },
    /// A fixed value: a text, a number or a truth value.
    Fixed(Fixed),
}

/// A fixed value.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Fixed {
    /// A truth value.
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
    /// None.
    #[default]
    None,
    /// None, rounded to a whole number.
    Whole,
    /// The nominal computation of a superstep, as a duration.
    Supersteps,
    /// The nominal computation of all supersteps, as a duration.
    Runs,
    /// A unit of a quantity, written after the number.
    #[serde(untagged)]
    Of(String),
}

/// The limits that sort cases into classes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassLimits {
    /// A run with fewer supersteps than this number is short.
    pub short: u64,
    /// A run with this number of supersteps or more is long.
    pub long: u64,
    /// Moves are cheap if a move costs less than this \[supersteps\]: its fixed cost, and the transfer of its memory through the slowest
    /// access link.
    pub cheap: f64,
    /// Moves are expensive if a move costs this or more \[supersteps\].
    pub dear: f64,
}

/// The JSON Schema of suites.
pub fn schema() -> String {
    format!("{:#}\n", schemars::schema_for!(SuiteFile).to_value())
}

/// Settings of an experiment by their dotted keys.
pub(super) type Settings = Map<String, Value>;
