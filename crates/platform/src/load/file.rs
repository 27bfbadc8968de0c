//! `file`: a measured load that is read from a file, in the profile format of SimGrid or in CSV.
//!
//! ```text
//! date_s,load          CSV: a time and a value. Headings find the columns; lines that begin with # are skipped
//! 0,0.25               a semicolon or a tab may replace the comma; then numbers may have a decimal comma
//! 00:00:10,0.5         times of day and dates (`dates.rs`)
//! 20,                  no value: the value before holds on
//!
//! host,time,load       one table for many hosts, or `time,a-0,a-1` with a column for each host
//!
//! 24                   with `period=5min,scale=percent`: one value per line, as in the traces of PlanetLab
//! 23
//! ```
//! | `values` | the load |
//! | --- | --- |
//! | `utilisation` | the value: the busy share of all cores |
//! | `idle` | 1 - value, the busy share of all cores |
//! | `load-average` | the value: the number of busy cores (Dinda measured such lengths of run queues) |
//! | `reserved` | the value: the reserved share |
//! | `available` | 1 - value, the reserved share, as in the speed profiles of SimGrid |
//! | `reserved-load-average` | value / (1 + value), the reserved share: the rule of version 0.3, which the suite `lb-1` keeps |
//!
//! `scale: percent` divides the values by 100. `from: first` takes the first time in the file as the start of the run, which
//! suits times since 1970 and is the default for dates. A load above `most` is clipped. A reserved share above 0.99 counts as 0.99,
//! with a note. A value holds until the next one. The last value holds for ever unless the trace repeats (`repeat`, or
//! `PERIODICITY` and `LOOPAFTER` of SimGrid). With `shift`, each host begins at a different time of the trace, drawn uniformly.

mod built_in;

use std::{collections::BTreeMap, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Load, LoadOptions, MAX_LOAD, MAX_LOAD_AVERAGE, Values,
    lines::{
        LoadTable, VALUES_HINT, ValueHeadings, read_times_and_values, read_values_without_times,
    },
    range::{MAX_DURATION, ParameterChecks, SHORTEST_PERIOD},
};
use crate::{Profile, Steps, read_profile};
use migsim_base::{
    document::{FileKind, sha256},
    error::{Error, Problem, Result},
    random::Stream,
    units::Seconds,
};

/// File format of a trace of measured load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// CSV: each line has a time and a value, separated by a comma.
    Csv,
    /// The profile format of SimGrid.
    Simgrid,
}

/// Meaning of the values in a trace of measured load. On links, each of them is the reserved share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileValues {
    /// The share of all cores of the host that other work keeps busy.
    Utilisation,
    /// The share of all cores of the host that is idle, without the application.
    Idle,
    /// The mean number of other processes that run or wait for a core.
    LoadAverage,
    /// The share of the host or link that is not there for the application, whatever runs.
    Reserved,
    /// The share of the host or link that is there for the application, whatever runs.
    Available,
    /// The mean number L of other processes, for which the share L / (1 + L) is reserved: the rule of version 0.3.
    ReservedLoadAverage,
}

/// Unit of the values in a trace of measured load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Fractions: the value 1 stands for the whole host.
    Whole,
    /// Percentages: the value 100 stands for the whole host.
    Percent,
}

/// Time in a trace of measured load at which the run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Time 0 of the trace.
    Zero,
    /// The time of the first line of the trace.
    First,
}

/// Parameters of a background load of the kind `file`, which is read from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileConfig {
    /// Path of the file with the trace; a relative path starts at the folder where the command runs. `built-in:build-0` is a
    /// measured load that comes with migsim.
    pub file: String,
    /// Format of the file. Default `csv` if the file name ends with `.csv` or `period` is given, otherwise `simgrid`.
    #[serde(default)]
    pub format: Option<Format>,
    /// Meaning of the values in the file: `utilisation`, `idle`, `load-average`, `reserved`, `available` or
    /// `reserved-load-average`. Default `utilisation` in CSV, and `available` in a profile of SimGrid.
    #[serde(default)]
    pub values: Option<FileValues>,
    /// Name of the column with the values, in a CSV table with several columns. Default: the column named after the `values`, such
    /// as `load`, `idle` or `ldavg-1`, or the only column that has neither times nor hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Time between two consecutive values, for a file that has one value per line and no times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Seconds>,
    /// Unit of the values in the file: `whole` (1 stands for the whole host) or `percent` (100 stands for the whole host).
    /// Default `whole`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// Time in the trace at which the run starts: `zero`, or `first` for the time of the first line. Default `first` if the times
    /// are dates, otherwise `zero`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Start>,
    /// Time after which the trace repeats; if absent, the file determines whether and when it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Seconds>,
    /// Whether each host begins at a different time of the trace, which is drawn uniformly from one repetition of the trace.
    #[serde(default)]
    pub shift: bool,
    /// Maximum load, at which larger values are clipped: a share, or a number of busy cores. Not clipped if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_LOAD_AVERAGE))]
    pub most: Option<f64>,
}

impl FileValues {
    fn rule(self) -> Values {
        match self {
            Self::Utilisation | Self::Idle => Values::Utilisation,
            Self::LoadAverage => Values::LoadAverage,
            Self::Reserved | Self::Available | Self::ReservedLoadAverage => Values::Reserved,
        }
    }
}

impl FileConfig {
    fn format_or_default(&self) -> Format {
        let is_csv = self.file.to_ascii_lowercase().ends_with(".csv")
            || self.period.is_some()
            || self.column.is_some();
        let usual = if is_csv { Format::Csv } else { Format::Simgrid };
        self.format.unwrap_or(usual)
    }

    /// Returns the meaning of the values in the file: the value of the key `values`, or the default for the format if the key is
    /// absent.
    fn values_or_default(&self) -> FileValues {
        self.values.unwrap_or(match self.format_or_default() {
            Format::Csv => FileValues::Utilisation,
            Format::Simgrid => FileValues::Available,
        })
    }

    fn value_to_load(&self, value: f64) -> Result<f64, Problem> {
        let (whole, hint) = match self.scale {
            Some(Scale::Percent) => (100.0, "write values from 0 to 100"),
            _ => (
                1.0,
                "add `scale=percent` if the values of the file are percentages, or correct the value",
            ),
        };
        let share = value / whole;
        match self.values_or_default() {
            FileValues::LoadAverage => Ok(share),
            FileValues::ReservedLoadAverage => Ok(share / (1.0 + share)),
            _ if share > 1.0 => {
                let message = format!("the value {value} is greater than {whole}, the full load");
                Err(Problem::new(message).hint(hint))
            }
            FileValues::Utilisation | FileValues::Reserved => Ok(share),
            FileValues::Idle | FileValues::Available => Ok(1.0 - share),
        }
    }

    /// Returns the headings that usually stand above the values of the file.
    fn usual_value_headings(&self) -> &'static [&'static str] {
        match self.values_or_default() {
            FileValues::Utilisation | FileValues::Reserved => {
                &["load", "value", "usage", "utilization", "utilisation", "u"]
            }
            FileValues::Idle | FileValues::Available => {
                &["available", "availability", "idle", "value"]
            }
            FileValues::LoadAverage | FileValues::ReservedLoadAverage => {
                &["ldavg-1", "load1", "load", "value"]
            }
        }
    }

    fn read_load(&self, text: &str) -> Result<MeasuredLoad, Problem> {
        let load_of = |value| self.value_to_load(value);
        let single = |steps| LoadTable {
            steps_by_name: BTreeMap::from([(String::new(), steps)]),
            ..LoadTable::default()
        };
        let mut period = None;
        let mut table = match (self.period, self.format_or_default()) {
            (Some(period), _) => single(read_values_without_times(text, period, &load_of)?),
            (None, Format::Csv) => {
                let headings = ValueHeadings {
                    chosen: self.column.as_deref(),
                    usual: self.usual_value_headings(),
                    is_meaning_assumed: self.values.is_none(),
                };
                read_times_and_values(text, headings, &load_of)?
            }
            (None, Format::Simgrid) => {
                let profile = read_profile(&self.file, text)
                    .map_err(|problem| with_period_hint(problem, text))?;
                period = profile.period();
                let mut steps = profile.steps_without_repetition().to_vec();
                for (step, number) in steps.iter_mut().zip(1..) {
                    step.1 = load_of(step.1).map_err(|problem| Problem {
                        message: format!("step {number}: {}", problem.message),
                        ..problem
                    })?;
                }
                single(steps)
            }
        };
        let first = table
            .steps_by_name
            .values()
            .filter_map(|steps| Some(steps.first()?.0));
        let start = match self.from.unwrap_or(if table.has_dates {
            Start::First
        } else {
            Start::Zero
        }) {
            Start::First => first.fold(f64::INFINITY, f64::min),
            Start::Zero => 0.0,
        };
        let mut above_most = 0;
        for (time, load) in table.steps_by_name.values_mut().flatten() {
            *time -= start;
            *load = self.most.map_or(*load, |most| load.min(most));
            above_most += usize::from(*load > MAX_LOAD);
        }
        let period = self.repeat.map(Seconds::get).or(period);
        Ok(MeasuredLoad {
            trace_path: self.file.clone(),
            file_sha256: sha256(text.as_bytes()),
            profiles: table
                .steps_by_name
                .into_iter()
                .map(|(name, steps)| Ok((name, Profile::new(steps, period)?)))
                .collect::<Result<_, Problem>>()?,
            has_random_start: self.shift,
            values: self.values_or_default().rule(),
            above_most_count: above_most,
            gap_count: table.gap_count,
        })
    }

    fn check_parameters(&self) -> Result {
        let mut ranges = ParameterChecks::default();
        if let Some(most) = self.most {
            let range = 0.0..=self.values_or_default().rule().most();
            ranges = ranges.check_number("most", most, &range);
        }
        for (key, value) in [("period", self.period), ("repeat", self.repeat)] {
            if let Some(value) = value {
                ranges = ranges.check_duration(key, value, &(SHORTEST_PERIOD..=MAX_DURATION));
            }
        }
        ranges.into_result()?;
        let conflicts = [
            (
                "column",
                self.column.is_some() && self.format_or_default() == Format::Simgrid,
                "`column` and `format` contradict each other, since a SimGrid profile has no columns",
                "leave out one of the two",
            ),
            (
                "period",
                self.period.is_some() && self.format == Some(Format::Simgrid),
                "`period` and `format` contradict each other, since a SimGrid profile states the time of each value",
                "leave out `period`; or leave out `format` if each line of the file has only a value",
            ),
            (
                "scale",
                self.scale == Some(Scale::Percent)
                    && matches!(
                        self.values_or_default(),
                        FileValues::LoadAverage | FileValues::ReservedLoadAverage
                    ),
                "`scale` cannot be used with a load average, whose values are numbers of processes",
                "leave out `scale`",
            ),
        ];
        match conflicts.into_iter().find(|(_, is_given, ..)| *is_given) {
            Some((key, _, message, hint)) => Err(Problem::new(message).key(key).hint(hint).into()),
            None => Ok(()),
        }
    }

    fn file_error(&self, problem: Problem, text: &str) -> Error {
        if let Some(kind) =
            FileKind::detect_from_text(text).filter(|kind| *kind != FileKind::MeasuredLoad)
        {
            return kind.wrong_kind_error("a measured load", &self.file).into();
        }
        let hint = match (self.period, self.format_or_default()) {
            (Some(_), _) => {
                "write one value of at least 0 in each line, such as `24`; or leave out `period` if the lines also have times"
            }
            (None, Format::Csv) => {
                "write in each line a time in seconds and a value of at least 0, separated by a comma, such as `10,0.5`, with increasing times"
            }
            (None, Format::Simgrid) => {
                "write in each line a time in seconds and a value of at least 0, such as `10 0.5`, with increasing times; a line \
                `PERIODICITY 60` repeats the values every 60 s"
            }
        };
        Error::from(problem.source(&self.file)).with_default_hint(hint)
    }
}

fn with_period_hint(problem: Problem, text: &str) -> Problem {
    let line = problem.location.line_column.map_or(1, |at| at.0);
    let line = text.lines().nth(line - 1).unwrap_or_default();
    if line.trim().parse::<f64>().is_ok() {
        problem.hint(VALUES_HINT)
    } else {
        problem
    }
}

impl LoadOptions for FileConfig {
    const FILES: &'static [&'static str] = &["file"];

    fn load(self) -> Result<Arc<dyn Load>> {
        self.check_parameters()?;
        let text = built_in::read_trace(&self.file).map_err(|mut problem| {
            if problem.location.line_column.is_none() {
                problem.location.source = None; // the key is the place
                problem = problem.key("file");
            }
            problem
        })?;
        let load = self
            .read_load(&text)
            .map_err(|problem| self.file_error(problem, &text))?;
        let repeats = |profile: &Profile| profile.period().is_some();
        if self.shift && !load.profiles.values().all(repeats) {
            let message =
                "`shift` needs a load that repeats, but this measured load does not repeat";
            let hint =
                "set `repeat` to the time after which the load repeats, or leave out `shift`";
            return Err(Problem::new(message).key("shift").hint(hint).into());
        }
        Ok(Arc::new(load))
    }

    fn with_dependent_defaults(self) -> Self {
        Self {
            format: Some(self.format_or_default()),
            values: Some(self.values_or_default()),
            ..self
        }
    }
}

/// A measured load that is read from a file (kind `file`); the documentation of this module describes the formats.
#[derive(Clone, Debug)]
pub struct MeasuredLoad {
    trace_path: String,
    file_sha256: String,
    /// The loads over time, converted from the values of the file, by the name of their host or link; the name is empty if the
    /// file names no hosts.
    profiles: BTreeMap<String, Profile>,
    /// Whether each host begins at a different time of the trace, drawn at random.
    has_random_start: bool,
    values: Values,
    /// Number of loads above the largest share that can be reserved.
    above_most_count: usize,
    /// Number of fields without a value, which are reported in a note.
    gap_count: usize,
}

impl Load for MeasuredLoad {
    fn steps(&self, mut random: Stream) -> Box<dyn Steps> {
        let Some(profile) = self.profiles.values().next().cloned() else {
            return Box::new(std::iter::empty());
        };
        let Some(period) = profile.period().filter(|_| self.has_random_start) else {
            return Box::new(profile.steps());
        };
        // The shift is at most a period; it starts in the second round, so that there is a step before it.
        let begin = period * (1.0 + random.draw_from_zero_to_one());
        let steps = profile.steps_without_repetition();
        let before = steps.partition_point(|step| step.0 + period <= begin);
        let first = steps.len() + before - 1; // the last step not after `begin`
        Box::new((first..).map_while(move |index| {
            let (date, load) = profile.step(index)?;
            Some(((date - begin).max(0.0), load))
        }))
    }

    fn loads_by_name(&self) -> Vec<(&str, Arc<dyn Load>)> {
        let names = self.profiles.iter().filter(|(name, _)| !name.is_empty());
        let load = |(name, profile): (&'_ String, &Profile)| -> Arc<dyn Load> {
            Arc::new(Self {
                profiles: BTreeMap::from([(name.clone(), profile.clone())]),
                ..self.clone()
            })
        };
        names.map(|part| (part.0.as_str(), load(part))).collect()
    }

    fn first_positive_time(&self) -> Option<Seconds> {
        let times = self.profiles.values().filter_map(|profile| {
            let mut steps = profile.steps_without_repetition().iter();
            steps.find(|step| step.1 > 0.0).map(|step| step.0)
        });
        Seconds::new(times.min_by(f64::total_cmp)?).filter(|_| !self.has_random_start)
    }

    fn values(&self) -> Option<Values> {
        Some(self.values)
    }

    fn uses_seed(&self) -> bool {
        self.has_random_start
    }

    fn file_and_sha256(&self) -> Option<(&str, &str)> {
        Some((&self.trace_path, &self.file_sha256))
    }

    fn notes(&self, is_reserved: bool) -> Vec<(usize, &'static str)> {
        let clipped = "above 0.99 count as 0.99, since a fully reserved host or link still works at 1/100 of its speed";
        let gaps = "that are missing are replaced by the values before them";
        let above = if is_reserved {
            self.above_most_count
        } else {
            0
        };
        [(above, clipped), (self.gap_count, gaps)]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .collect()
    }
}

#[cfg(test)]
mod tests;
