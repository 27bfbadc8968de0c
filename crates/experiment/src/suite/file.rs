//! The format of a file of a benchmark suite: a distribution of experiments, as JSON. The JSON Schema of the file is generated
//! from these types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use migsim_base::units::Seconds;

/// The version of the format of suite files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum SuiteVersion {
    /// The version `migsim-suite-1`, the only version so far.
    #[default]
    #[serde(rename = "migsim-suite-1")]
    One,
}

/// A benchmark suite: the distribution from which its cases are drawn, and the policies and seeds with which each case is run.
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
    /// A description of the suite for people who read the file.
    pub description: String,
    /// The seeds with which each case is run, as a list or range in a text.
    pub seeds: String,
    /// The policies that every benchmark of the suite runs by default; the best known makespan of each case includes their
    /// results.
    pub policies: Vec<String>,
    /// Number of cases that a benchmark runs by default.
    #[serde(default = "default_case_count")]
    pub cases: u64,
    /// The starts from which a benchmark runs all policies, each with a table.
    #[serde(default = "default_starts")]
    pub starts: Vec<Start>,
    /// The mean of the ratios over the cases by which policies are ranked.
    #[serde(default)]
    pub rank_by: RankingMean,
    /// Name of the built-in experiment that completes the settings of the cases.
    #[serde(default = "default_basis")]
    pub basis: String,
    /// Maximum of the number of processes times the number of supersteps of a case.
    pub process_supersteps: u64,
    /// Whether the number of supersteps is drawn first, so that this maximum limits processes and hosts; by default it limits the
    /// number of supersteps.
    #[serde(default)]
    pub supersteps_first: bool,
    /// The distribution of the platforms of the cases.
    pub platform: PlatformDistribution,
    /// The distribution of the number of processes per core of the platform.
    pub processes_per_core: FixedOrDrawnValue,
    /// The distribution of the number of supersteps of a case.
    pub supersteps: FixedOrDrawnValue,
    /// The parts of an experiment, such as the application or the load, in the order in which they are drawn; a later part
    /// overrides settings of earlier parts.
    pub parts: Vec<CasePart>,
    /// The limits that sort the cases into classes, such as short and long runs.
    pub classes: ClassLimits,
    /// The fixed cases, which are not drawn from the distributions.
    #[serde(default)]
    pub fixed: Vec<FixedCase>,
}

fn default_case_count() -> u64 {
    100
}

fn default_starts() -> Vec<Start> {
    vec![Start::Drawn]
}

fn default_basis() -> String {
    super::ONE_READING.to_owned()
}

/// A start: the rule of the initial placements of all cases of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Each case has the mapping that it was drawn with.
    Drawn,
    /// The mapping `fast-first` in all cases.
    FastFirst,
    /// In each case the mapping rule from which the application without moves ends first, with seeds that the benchmark does not
    /// use. An application and a load that do not depend on the seed are thus known beforehand.
    BestStatic,
}

impl std::str::FromStr for Start {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        serde_json::from_value(text.into())
            .map_err(|_| "not `drawn`, `fast-first` or `best-static`".to_owned())
    }
}

/// A mean of ratios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RankingMean {
    /// The arithmetic mean, on which single cases with large ratios have much influence.
    #[default]
    Arithmetic,
    /// The geometric mean.
    Geometric,
}

/// A fixed case of a suite: an experiment that is not drawn, with its source.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedCase {
    /// The classes to which the case belongs.
    pub classes: Vec<String>,
    /// The source of the case: where its program, platform and load come from.
    pub source: String,
    /// The settings of the experiment, which override the neutral settings.
    pub experiment: Map<String, Value>,
}

/// The distribution of the platforms of cases: clusters that links connect to a backbone.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlatformDistribution {
    /// The distribution of the number of hosts of the platform.
    pub hosts: FixedOrDrawnValue,
    /// The distribution of the number of clusters of the platform; a drawn number is at most half the number of hosts.
    pub clusters: FixedOrDrawnValue,
    /// The distribution of the speed of a core; all hosts of a group have the same speed.
    pub speed: FixedOrDrawnValue,
    /// The distribution of the number of cores of a host; all hosts of a group have the same number.
    pub cores: FixedOrDrawnValue,
    /// Probability that a cluster has two groups of different hosts.
    pub unlike: f64,
    /// The distribution of the access links by which the hosts of a cluster are connected.
    pub access: LinkDistribution,
    /// Probability that the clusters are joined by a wide-area network, if there are several clusters.
    pub wan: f64,
    /// The distribution of the link from a cluster to the backbone, if the clusters are joined by a local network.
    pub local: LinkDistribution,
    /// The distribution of the link from a cluster to the backbone, if the clusters are joined by a wide-area network.
    pub wide: LinkDistribution,
}

/// The distribution of the bandwidth and the latency of links.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkDistribution {
    /// The distribution of the bandwidth of a link.
    pub bandwidth: FixedOrDrawnValue,
    /// The distribution of the one-way latency of a link.
    pub latency: FixedOrDrawnValue,
}

/// A part of a case, such as its load. For each case, one of several choices is drawn, which sets the settings of this part.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CasePart {
    /// The name of the part, which determines its random stream.
    pub name: String,
    /// The application to which the part belongs; if absent, the part belongs to every application.
    #[serde(default)]
    pub app: Option<String>,
    /// The choices of which one is drawn for each case.
    pub choices: Vec<PartChoice>,
}

/// A choice for a part of an experiment: settings, and the class to which cases with these settings belong.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartChoice {
    /// The class to which a case with this choice belongs; if absent, the choice adds no class.
    #[serde(default)]
    pub class: Option<String>,
    /// The weight of this choice: its probability is the weight divided by the sum of the weights of all choices of the part.
    /// Default 1.
    #[serde(default = "default_choice_weight")]
    pub weight: f64,
    /// The settings of this choice, by their keys in an experiment; each value is fixed or a distribution.
    pub settings: BTreeMap<String, FixedOrDrawnValue>,
    /// The typical duration of a superstep and number of supersteps, for an application that itself defines both. The units
    /// `supersteps` and `runs` of drawn durations refer to these values.
    #[serde(default)]
    pub usual: Option<TypicalRun>,
}

fn default_choice_weight() -> f64 {
    1.0
}

/// The typical duration of a superstep and number of supersteps of an application that itself defines both.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TypicalRun {
    /// The duration of a superstep in a typical run \[s\].
    pub superstep: Seconds,
    /// The number of supersteps in a typical run.
    pub supersteps: u64,
}

/// The value of a setting, either fixed or drawn from a distribution. Drawn numbers have three significant digits.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FixedOrDrawnValue {
    /// A number drawn uniformly between two bounds.
    Uniform {
        /// The lower and the upper bound of the number, in its unit.
        uniform: [f64; 2],
        /// The unit of the drawn number.
        #[serde(default)]
        unit: Unit,
    },
    /// A number whose logarithm is drawn uniformly between the logarithms of two bounds.
    LogUniform {
        /// The lower and the upper bound of the number, in its unit.
        log_uniform: [f64; 2],
        /// The unit of the drawn number.
        #[serde(default)]
        unit: Unit,
    },
    /// One of several values, each drawn with the same probability.
    OneOf {
        /// The values of which one is drawn.
        one_of: Vec<Value>,
    },
    /// A random subset of the hosts of the platform. The fraction of the hosts that are in the subset is drawn uniformly between
    /// two bounds.
    HostSubset {
        /// The lower and the upper bound of the fraction of the hosts that are in the subset.
        hosts: [f64; 2],
    },
    /// A JSON object, each of whose values is drawn or fixed.
    Object {
        /// The values of the object by their keys, each drawn or fixed.
        object: BTreeMap<String, FixedOrDrawnValue>,
    },
    /// A fixed value: a text, a number, or true or false.
    Fixed(FixedValue),
}

/// A value of a setting that is not drawn.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FixedValue {
    /// The value true or false.
    Boolean(bool),
    /// A number without a unit.
    Number(f64),
    /// A text, which may contain a number with its unit.
    Text(String),
}

/// The unit of a drawn number, which determines how the number is written as a setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// The number has no unit.
    #[default]
    None,
    /// The number has no unit and is rounded to a whole number.
    Whole,
    /// The number is a duration, in multiples of the nominal computation time of one superstep.
    Supersteps,
    /// The number is a duration, in multiples of the nominal computation time of all supersteps.
    Runs,
    /// A unit of measurement, which is written after the number, as in `10 MB`.
    #[serde(untagged)]
    Named(String),
}

/// The limits that sort cases into classes by the number of supersteps and by the cost of moves.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassLimits {
    /// A run with fewer supersteps than this number is in the class of short runs.
    pub short: u64,
    /// A run with at least this number of supersteps is in the class of long runs.
    pub long: u64,
    /// Moves are cheap if a move costs less than this number of supersteps. The cost of a move is its fixed time, plus the time
    /// to transfer the memory of a process through the slowest access link.
    pub cheap: f64,
    /// Moves are expensive if a move costs at least this number of supersteps.
    pub dear: f64,
}

/// Returns the JSON Schema of suite files.
pub fn json_schema() -> String {
    format!("{:#}\n", schemars::schema_for!(SuiteFile).to_value())
}

/// Settings of an experiment by their keys, with dots between the parts of a key.
pub(super) type Settings = Map<String, Value>;
