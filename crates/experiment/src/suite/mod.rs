//! Benchmark suites: distributions of experiments from which all users draw the same numbered cases.
//!
//! ```text
//! lb-1.json ─> Suite ─ draw 2, case 17 ─> Case `lb-1.2.17` ─> a built-in experiment of that name
//!                    ─ fixed case 3 ────> Case `lb-1.fixed.3`
//!                                         Case `lb-1.2.17+by-core`: the same case from the start of this mapping rule
//! ```
//! A case is an experiment like any other: `migsim run lb-1.2.17`, or `extends` in a file. It contains its platform. The parts of
//! a case are drawn from random streams that are named after suite, draw, case and part ([`SuiteFile`]). Besides its draws, a
//! suite has fixed cases: recorded programs, applications of papers and measured loads, which cannot be drawn from a
//! distribution.

mod draw;
mod file;
mod platform;

use std::{fmt, str::FromStr, sync::OnceLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use file::{
    CasePart, ClassLimits, FixedCase, FixedOrDrawnValue, FixedValue, LinkDistribution, PartChoice,
    PlatformDistribution, RankingMean, Start, SuiteFile, SuiteVersion, TypicalRun, Unit,
    json_schema,
};

use draw::{CaseQuantities, random_stream};
use file::Settings;
use migsim_base::{
    error::{Problem, Result},
    random::Stream,
    units::{Bytes, Instructions, Seconds},
};
use migsim_platform::MappingRule;
use platform::{DrawnPlatform, draw_whole_number};

/// Name of the built-in experiment with which the cases of suites are completed: the common rules of `MigBSP`, and migrations that transfer the memory.
/// It completes the settings for applications without an experiment and for platforms that no paper used.
pub const ONE_READING: &str = "one-reading";

/// Name of the built-in experiment with the neutral settings for platforms that no paper used: [`ONE_READING`] with readings of
/// `MigBSP` that were chosen on drawn platforms.
pub const NEUTRAL: &str = "neutral";

/// The name and the JSON text of each built-in benchmark suite.
const SUITES: [(&str, &str); 2] = [
    ("lb-1", include_str!("../../../../workloads/lb-1.json")),
    ("lb-2", include_str!("../../../../workloads/lb-2.json")),
];

/// Largest number of a draw that the command line accepts.
pub const MAX_DRAW_NUMBER: u64 = 1_000_000;

/// Minimum number of processes of a drawn case.
const MIN_PROCESSES: u64 = 4;

/// Separates the name of a case from a mapping rule that replaces the start of the case.
pub const START_SIGN: char = '+';

/// A built-in suite of benchmark cases; copies refer to the same suite file.
#[derive(Clone, Copy, Debug)]
pub struct BenchmarkSuite(&'static SuiteFile);

/// A set of cases of a suite with numbers from 1: one of its random draws, or its fixed cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CaseSet {
    /// The fixed cases of the suite, which are not drawn.
    Fixed,
    /// The random draw with this number, counted from 1.
    #[serde(untagged)]
    RandomDraw(u64),
}

impl From<u64> for CaseSet {
    fn from(number: u64) -> Self {
        Self::RandomDraw(number)
    }
}

impl fmt::Display for CaseSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed => formatter.write_str("fixed"),
            Self::RandomDraw(number) => number.fmt(formatter),
        }
    }
}

impl FromStr for CaseSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("fixed", _) => Ok(Self::Fixed),
            (_, Ok(number @ 1..=MAX_DRAW_NUMBER)) => Ok(Self::RandomDraw(number)),
            _ => Err(format!(
                "not a number from 1 to {MAX_DRAW_NUMBER}, and not `fixed`"
            )),
        }
    }
}

impl CaseSet {
    /// Returns the number of the random draw, or 0 for the fixed cases. The number is used as the seed of the random resampling
    /// that computes confidence intervals.
    pub fn draw_number_or_zero(self) -> u64 {
        match self {
            Self::Fixed => 0,
            Self::RandomDraw(number) => number,
        }
    }
}

/// A case of a benchmark suite: an experiment, and the classes to which it belongs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BenchmarkCase {
    /// The name of the case as an experiment: suite, draw and number, separated by points, as in `lb-1.2.17`.
    pub name: String,
    /// The number of the case within its draw, counted from 1.
    pub case_number: u64,
    /// The classes to which the case belongs, in the order of the parts of the suite.
    pub classes: Vec<String>,
    /// The settings of the case as the JSON value of an experiment file.
    pub experiment: Value,
}

impl BenchmarkSuite {
    /// Returns the names of all built-in suites.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SUITES.into_iter().map(|(name, _)| name)
    }

    /// Returns the built-in suite `name`.
    ///
    /// # Errors
    /// There is no suite of this name.
    pub fn find(name: &str) -> Result<Self> {
        static READ: [OnceLock<SuiteFile>; SUITES.len()] =
            [const { OnceLock::new() }; SUITES.len()];
        let place = SUITES.iter().position(|suite| suite.0 == name);
        let Some(place) = place else {
            return Err(Problem::unknown_name("suite", name)
                .with_known_names("suites", Self::names())
                .into());
        };
        Ok(Self(READ[place].get_or_init(|| {
            serde_json::from_str(SUITES[place].1).expect("a suite can be read")
        })))
    }

    /// Returns the content of the suite file: distributions, policies and seeds.
    pub fn suite_file(self) -> &'static SuiteFile {
        self.0
    }

    /// Returns the number of fixed cases of the suite.
    pub fn fixed_case_count(self) -> u64 {
        self.0.fixed.len() as u64
    }

    /// Returns the case `number`, counted from 1, of a draw or of the fixed cases; `None` if there is no fixed case of this
    /// number.
    pub fn case(self, draw: impl Into<CaseSet>, number: u64) -> Option<BenchmarkCase> {
        match draw.into() {
            CaseSet::RandomDraw(draw) => Some(self.drawn_case(draw, number)),
            CaseSet::Fixed => self.fixed_case(number),
        }
    }

    /// Returns the fixed case `number`, counted from 1; `None` if there is no such case.
    fn fixed_case(self, number: u64) -> Option<BenchmarkCase> {
        let fixed = self
            .0
            .fixed
            .get(usize::try_from(number).ok()?.checked_sub(1)?)?;
        let mut experiment = json!({
            "schema": "migsim-experiment-1",
            "extends": self.0.basis,
            "description": format!("Fixed case {number} of the suite {}: {}", self.0.name, fixed.source),
        });
        let given = fixed.experiment.iter();
        experiment
            .as_object_mut()
            .expect("it is an object")
            .extend(given.map(|(key, value)| (key.clone(), value.clone())));
        Some(BenchmarkCase {
            name: format!("{}.{}.{number}", self.0.name, CaseSet::Fixed),
            case_number: number,
            classes: fixed.classes.clone(),
            experiment,
        })
    }

    /// Draws the case `number` of the draw `draw`; both are counted from 1.
    fn drawn_case(self, draw: u64, number: u64) -> BenchmarkCase {
        let suite = self.0;
        let name = format!("{}.{draw}.{number}", suite.name);
        let mut random = random_stream(draw, &name, "supersteps");
        let supersteps =
            (suite.supersteps_first).then(|| draw_whole_number(&suite.supersteps, &mut random));
        let most = supersteps.map(|count| suite.process_supersteps / count.max(1));
        let machine = suite.platform.draw_platform(draw, &name, most);
        let mut making = CaseInProgress {
            suite,
            draw_number_and_case_name: (draw, &name),
            drawn_platform: &machine,
            drawn_settings: Settings::new(),
            classes: Vec::new(),
            superstep_time: 1.0,
            superstep_count: supersteps.unwrap_or(1),
        };
        making.draw_parts();
        making.add_derived_classes();
        let classes = making.classes.clone();
        BenchmarkCase {
            case_number: number,
            experiment: making.into_experiment(),
            classes,
            name,
        }
    }
}

/// Returns the case with a name such as `lb-1.2.17`, `lb-1.fixed.3` or `lb-1.2.17+by-core`; `None` if no suite has such a case.
pub fn find_case_by_name(name: &str) -> Option<BenchmarkCase> {
    if let Some((case, rule)) = name.split_once(START_SIGN) {
        let mut case = find_case_by_name(case)?;
        case.experiment["mapping"] = json!(MappingRule::from_name(rule)?.name());
        return Some(BenchmarkCase {
            name: name.to_owned(),
            ..case
        });
    }
    let (rest, number) = name.rsplit_once('.')?;
    let (suite, draw) = rest.rsplit_once('.')?;
    let suite = BenchmarkSuite::find(suite).ok()?;
    let count = |text: &str| {
        let number: u64 = text.parse().ok()?;
        (number > 0 && number.to_string() == text).then_some(number)
    };
    let draw = match draw {
        "fixed" => CaseSet::Fixed,
        number => CaseSet::RandomDraw(count(number)?),
    };
    suite.case(draw, count(number)?)
}

/// A case while its parts are drawn one after the other: the settings and classes drawn so far.
struct CaseInProgress<'a> {
    suite: &'static SuiteFile,
    draw_number_and_case_name: (u64, &'a str),
    /// The platform that was drawn for the case, with its totals.
    drawn_platform: &'a DrawnPlatform,
    /// The settings of the experiment that were drawn so far.
    drawn_settings: Settings,
    /// The classes to which the case belongs, as far as they follow from the parts that were drawn so far.
    classes: Vec<String>,
    /// The nominal computation time of a superstep of the case \[s\].
    superstep_time: f64,
    superstep_count: u64,
}

impl CaseInProgress<'_> {
    fn stream(&self, part: &str) -> Stream {
        let (draw, name) = self.draw_number_and_case_name;
        random_stream(draw, name, part)
    }

    /// Draws one choice for each part of the suite that applies to the application of the case, and adds the settings and the
    /// class of this choice to the case.
    fn draw_parts(&mut self) {
        for part in &self.suite.parts {
            let app = self
                .drawn_settings
                .get("workload.app")
                .and_then(Value::as_str);
            if part.app.is_some() && part.app.as_deref() != app {
                continue;
            }
            let mut random = self.stream(&part.name);
            let choice = part.draw_choice(&mut random);
            self.classes.extend(choice.class.clone());
            let measures = CaseQuantities {
                superstep_time: self.superstep_time,
                superstep_count: self.superstep_count,
                host_names: &self.drawn_platform.host_names,
            };
            for (key, drawn) in &choice.settings {
                let value = drawn.draw_value(&mut random, measures);
                self.drawn_settings.insert(key.clone(), value);
            }
            if let Some(usual) = choice.usual {
                self.superstep_time = usual.superstep.get();
                self.superstep_count = usual.supersteps;
            } else if choice.settings.contains_key("workload.app") {
                self.draw_processes_and_supersteps();
            }
        }
    }

    /// Draws the number of processes and the number of supersteps of an application that does not itself define them.
    fn draw_processes_and_supersteps(&mut self) {
        let mut random = self.stream("size");
        let most = self.suite.process_supersteps;
        let shortest = if self.suite.supersteps_first {
            self.superstep_count
        } else {
            30
        };
        let processes = (self.suite.processes_per_core.draw_number(&mut random)
            * self.drawn_platform.total_core_count)
            .round()
            .clamp(MIN_PROCESSES as f64, (most / shortest) as f64);
        let supersteps = if self.suite.supersteps_first {
            self.superstep_count as f64
        } else {
            let drawn = draw_whole_number(&self.suite.supersteps, &mut random) as f64;
            drawn.min((most as f64 / processes).floor())
        };
        let work = self.parse_drawn_quantity(
            "workload.instructions",
            Instructions::parse,
            Instructions::get,
        );
        // If there are more processes than cores, processes share a core and take longer.
        let rounds = (processes / self.drawn_platform.total_core_count).max(1.0);
        self.superstep_time = work.unwrap_or(1e9) * rounds / self.drawn_platform.mean_core_speed;
        self.superstep_count = to_positive_count(supersteps);
        self.drawn_settings
            .insert("workload.procs".into(), json!(to_positive_count(processes)));
        self.drawn_settings
            .insert("workload.supersteps".into(), json!(self.superstep_count));
    }

    /// Parses the drawn value of the key `key` as a quantity, and returns it as a number in its base unit; `None` if the key is
    /// not set.
    fn parse_drawn_quantity<Q, E>(
        &self,
        key: &str,
        parse: impl Fn(&str) -> Result<Q, E>,
        get: impl Fn(Q) -> f64,
    ) -> Option<f64> {
        parse(self.drawn_settings.get(key)?.as_str()?).ok().map(get)
    }

    /// Adds the classes of the case that follow from the platform, the number of supersteps and the cost of moves.
    fn add_derived_classes(&mut self) {
        let limits = self.suite.classes;
        let mut add = |class: &str| self.classes.push(class.to_owned());
        add(
            match (
                self.drawn_platform.cluster_count,
                self.drawn_platform.has_wide_area_network,
            ) {
                (1, _) => "one cluster",
                (_, false) => "several clusters, LAN",
                (_, true) => "several clusters, WAN",
            },
        );
        if self.superstep_count < limits.short {
            add("short runs");
        } else if self.superstep_count >= limits.long {
            add("long runs");
        }
        let memory = self.parse_drawn_quantity("workload.memory", Bytes::parse, Bytes::get);
        let fixed = self.parse_drawn_quantity("costs.move.fixed", Seconds::parse, Seconds::get);
        if let Some(memory) = memory {
            let price =
                fixed.unwrap_or(0.0) + memory / self.drawn_platform.slowest_access_bandwidth;
            let supersteps = price / self.superstep_time;
            if supersteps < limits.cheap {
                self.classes.push("cheap moves".into());
            } else if supersteps >= limits.dear {
                self.classes.push("dear moves".into());
            }
        }
    }

    /// Returns the settings of the case as the JSON value of an experiment file.
    fn into_experiment(self) -> Value {
        let (draw, name) = self.draw_number_and_case_name;
        let case = name.rsplit('.').next().unwrap_or_default();
        let description = format!(
            "Case {case} of draw {draw} of the suite {}: {}.",
            self.suite.name,
            self.classes.join(", ")
        );
        let mut experiment = json!({
            "schema": "migsim-experiment-1",
            "extends": self.suite.basis,
            "description": description,
            "platform": self.drawn_platform.platform_file,
        });
        for (key, value) in self.drawn_settings {
            super::settings::set_at_path(&mut experiment, &key, value);
        }
        experiment
    }
}

/// Converts a computed number of processes or supersteps to an integer, which is at least 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of processes or supersteps"
)]
fn to_positive_count(count: f64) -> u64 {
    count.max(1.0) as u64
}

#[cfg(test)]
mod tests;
