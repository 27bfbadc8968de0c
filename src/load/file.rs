//! `file`: a measured load from a file, a profile of SimGrid or CSV.
//!
//! ```text
//! date_s,load          CSV: a date in seconds and a value; a first line of words and lines after `#` are not looked at
//! 0,0.25
//! 10,0.5
//! ```
//! | `values` | the load u |
//! | --- | --- |
//! | `load` | the value |
//! | `available` | 1 - value, as in the speed profiles of SimGrid |
//! | `load-average` | value / (1 + value): a host that serves L others in turn leaves 1 / (1 + L) (Dinda measured such lengths of run queues) |
//!
//! A load above `most` is cut off; where that is the largest load that there is, a note says so. A value holds until the next one, the last one for ever unless the trace repeats (`repeat`, or
//! `PERIODICITY` and `LOOPAFTER` of SimGrid). With `shift` each host begins at another date of it, drawn uniformly.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{LONGEST, Ranges, SHORTEST_PERIOD};
use super::{Load, LoadOptions, MOST_LOAD};
use crate::document::{read_text, sha256};
use crate::error::{Error, Problem};
use crate::platform::{Profile, Steps, read_profile};
use crate::random::Stream;
use crate::units::Seconds;

/// The notation of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Lines of a date and a value with a comma between them.
    Csv,
    /// A profile of SimGrid.
    Simgrid,
}

/// The meaning of the values of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// The part that others take.
    Load,
    /// The part that they leave.
    Available,
    /// The mean number of others that want the host.
    LoadAverage,
}

/// The parameters of `file`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileConfig {
    /// The trace, from the folder where the command runs if the path is relative.
    pub file: String,
    /// The notation; `csv` for a file of that suffix, else `simgrid`.
    #[serde(default)]
    pub format: Option<Format>,
    /// The meaning of its values; `load` in CSV, `available` in a profile of SimGrid.
    #[serde(default)]
    pub values: Option<Values>,
    /// After this time it begins again; as the file says if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Seconds>,
    /// Whether each host begins at another time of it.
    #[serde(default)]
    pub shift: bool,
    /// The largest load; from 0 to 0.99.
    #[serde(default = "most")]
    #[schemars(range(min = 0, max = MOST_LOAD))]
    pub most: f64,
}

fn most() -> f64 {
    MOST_LOAD
}

impl FileConfig {
    fn format(&self) -> Format {
        let is_csv = self.file.to_ascii_lowercase().ends_with(".csv");
        let usual = if is_csv { Format::Csv } else { Format::Simgrid };
        self.format.unwrap_or(usual)
    }

    fn values(&self) -> Values {
        self.values.unwrap_or(match self.format() {
            Format::Csv => Values::Load,
            Format::Simgrid => Values::Available,
        })
    }

    /// The load that a value of the trace stands for, before it is cut off.
    fn load_of(&self, value: f64) -> Result<f64, String> {
        match self.values() {
            Values::Load if value <= 1.0 => Ok(value),
            Values::Available if value <= 1.0 => Ok(1.0 - value),
            Values::LoadAverage => Ok(value / (1.0 + value)),
            Values::Load | Values::Available => Err(format!("{value} is more than the whole, 1")),
        }
    }

    /// The loads of the file, as a profile, and how many of them are cut off.
    fn read(&self, text: &str) -> Result<(Profile, usize), Problem> {
        let (mut loads, period) = match self.format() {
            Format::Csv => (read_csv(text, &|value| self.load_of(value))?, None),
            Format::Simgrid => {
                let profile = read_profile(&self.file, text)?;
                let steps = profile.once().iter().zip(1..);
                let load = |(&(date, value), number): (&(f64, f64), usize)| {
                    let load = self.load_of(value);
                    load.map(|load| (date, load))
                        .map_err(|message| Problem::new(format!("step {number}: {message}")))
                };
                (steps.map(load).collect::<Result<_, _>>()?, profile.period())
            }
        };
        let mut cut = 0;
        for (_, load) in loads.iter_mut().filter(|(_, load)| *load > self.most) {
            *load = self.most;
            cut += 1;
        }
        let period = self.repeat.map(Seconds::get).or(period);
        Ok((Profile::new(loads, period)?, cut))
    }
}

impl LoadOptions for FileConfig {
    const FILES: &'static [&'static str] = &["file"];

    fn load(self) -> Result<Arc<dyn Load>, Error> {
        let mut ranges = Ranges::default().number("most", self.most, &(0.0..=MOST_LOAD));
        if let Some(repeat) = self.repeat {
            ranges = ranges.duration("repeat", repeat, &(SHORTEST_PERIOD..=LONGEST));
        }
        ranges.check()?;
        let text = read_text(&self.file).map_err(|mut problem| {
            if problem.location.line_column.is_none() {
                problem.location.source = None; // the key is the place
                problem = problem.key("file");
            }
            problem
        })?;
        let (profile, cut) = self.read(&text).map_err(|problem| {
            let hint = match self.format() {
                Format::Csv => "a line is a time in seconds and a value from 0 on, separated by a comma: `10,0.5`; times ascend",
                Format::Simgrid => "a line is a time in seconds and a value from 0 on: `10 0.5`; times ascend, and `PERIODICITY 60` repeats them",
            };
            Error::from(problem.source(&self.file)).hinting(hint)
        })?;
        if self.shift && profile.period().is_none() {
            let problem = Problem::new("a trace that happens once cannot be shifted").key("shift");
            return Err(problem
                .hint("set the period of its repetition (`repeat`)")
                .into());
        }
        Ok(Arc::new(Measured {
            sha256: sha256(text.as_bytes()),
            source: self.file,
            profile,
            is_shifted: self.shift,
            // Who asks for a lower bound knows that it cuts.
            cut: if self.most < MOST_LOAD { 0 } else { cut },
        }))
    }

    fn complete(self) -> Self {
        Self {
            format: Some(self.format()),
            values: Some(self.values()),
            ..self
        }
    }
}

/// Reads lines of a date and a value; the dates, each with the load that `load_of` makes of the value.
fn read_csv(
    text: &str,
    load_of: &dyn Fn(f64) -> Result<f64, String>,
) -> Result<Vec<(f64, f64)>, Problem> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    let mut is_first = true;
    for (line, number) in text.trim_start_matches('\u{feff}').lines().zip(1..) {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split(',').collect();
        // Where a field begins, in characters from 1 on.
        let column = |field: usize| {
            let before = fields[..field].iter().map(|text| text.chars().count() + 1);
            1 + before.sum::<usize>()
        };
        let wrong = |field, message: String| Problem::new(message).at(number, column(field));
        let read = |field: usize| fields[field].trim().parse::<f64>();
        if std::mem::take(&mut is_first) && read(0).is_err() {
            continue; // the names of the columns
        }
        if fields.len() != 2 {
            let message = format!("`{line}` is not a time and a value separated by a comma");
            return Err(wrong(0, message));
        }
        let number = |field: usize| match read(field) {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => {
                let message = format!(
                    "`{}` is not a number that is finite and not negative",
                    fields[field].trim()
                );
                Err(wrong(field, message))
            }
        };
        let (date, value) = (number(0)?, number(1)?);
        if let Some((last, _)) = steps.last().filter(|last| date <= last.0) {
            let message = format!("the date {date} is not after the one before it, {last}");
            return Err(wrong(0, message));
        }
        let load = load_of(value).map_err(|message| wrong(1, message))?;
        steps.push((date, load));
    }
    if steps.is_empty() {
        return Err(Problem::new("the trace has no line with a time and a value").at(1, 1));
    }
    Ok(steps)
}

/// A trace: see the file of its kind.
#[derive(Clone, Debug)]
pub struct Measured {
    source: String,
    sha256: String,
    /// Its loads, no longer its values.
    profile: Profile,
    is_shifted: bool,
    /// The number of its loads above the largest allowed one.
    cut: usize,
}

impl Load for Measured {
    fn steps(&self, mut random: Stream) -> Box<dyn Steps> {
        let profile = self.profile.clone();
        let Some(period) = profile.period().filter(|_| self.is_shifted) else {
            return Box::new(profile.steps());
        };
        // Up to a period; from the second round on, so that a step lies before it.
        let begin = period * (1.0 + random.unit());
        let steps = profile.once();
        let before = steps.partition_point(|step| step.0 + period <= begin);
        let first = steps.len() + before - 1; // the last step not after `begin`
        Box::new((first..).map_while(move |index| {
            let (date, load) = profile.step(index)?;
            Some(((date - begin).max(0.0), load))
        }))
    }

    fn begins(&self) -> Option<Seconds> {
        let mut steps = self.profile.once().iter();
        let (date, _) = steps.find(|(_, load)| *load > 0.0 && !self.is_shifted)?;
        Seconds::new(*date)
    }

    fn uses_seed(&self) -> bool {
        self.is_shifted
    }

    fn file(&self) -> Option<(&str, &str)> {
        Some((&self.source, &self.sha256))
    }

    fn note(&self) -> Option<String> {
        let Self { source, cut, .. } = self;
        let loads = match cut {
            0 => return None,
            1 => "1 load".to_owned(),
            some => format!("{some} loads"),
        };
        Some(format!(
            "{loads} above {MOST_LOAD} in `{source}` count as {MOST_LOAD}: a host or link that is taken whole goes on, 100 times slower"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    fn config(name: &str) -> FileConfig {
        serde_json::from_value(serde_json::json!({ "file": name })).unwrap()
    }

    fn loads(name: &str, text: &str) -> Result<Vec<(f64, f64)>, Problem> {
        let (profile, _) = config(name).read(text)?;
        Ok(profile.steps().take(5).collect())
    }

    #[test]
    fn csv_holds_loads_and_a_simgrid_profile_what_is_left() {
        let csv = "date_s,load\n# measured\n0, 0.25\r\n10,1\n";
        assert_eq!(loads("a.csv", csv).unwrap(), [(0.0, 0.25), (10.0, 0.99)]);
        let simgrid = "PERIODICITY 20\n0 0.75\n10 0.5\n";
        let expected = [
            (0.0, 0.25),
            (10.0, 0.5),
            (20.0, 0.25),
            (30.0, 0.5),
            (40.0, 0.25),
        ];
        assert_eq!(loads("a.trace", simgrid).unwrap(), expected);
    }

    #[test]
    fn loads_that_are_cut_off_are_told_unless_that_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let note = |name: &str, text: &str, most: f64| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let file = path.to_str().unwrap();
            let load = FileConfig {
                most,
                ..config(file)
            }
            .load()
            .unwrap();
            load.note().map(|note| note.replace(file, name))
        };
        let csv = "0,0.99\n10,1\n20,0.995\n";
        let told = note("a.csv", csv, MOST_LOAD).unwrap();
        assert!(
            told.starts_with("2 loads above 0.99 in `a.csv` count as 0.99"),
            "{told}"
        );
        assert_eq!(note("a.csv", csv, 0.9), None);
        assert_eq!(note("a.csv", "0,0.99\n", MOST_LOAD), None);
        // A profile of SimGrid says what is left: 0 is a load of 1.
        let told = note("a.prof", "0 1\n5 0\n", MOST_LOAD).unwrap();
        assert!(told.starts_with("1 load above 0.99"), "{told}");
    }

    #[test]
    fn a_trace_that_repeats_too_often_is_refused() {
        let problem = loads("a.prof", "PERIODICITY 1e-12\n0 0.5\n1e-13 0.7\n").unwrap_err();
        assert!(
            problem.message.contains("the period 1e-12 s"),
            "{problem:?}"
        );
    }

    #[test]
    fn a_load_average_leaves_its_turn_to_one_more() {
        let config = FileConfig {
            values: Some(Values::LoadAverage),
            repeat: Some(Seconds::of(4.0)),
            ..config("a.csv")
        };
        let (profile, _) = config.read("0,1\n2,3\n").unwrap();
        let loads: Vec<_> = profile.steps().take(3).collect();
        assert_eq!(loads, [(0.0, 0.5), (2.0, 0.75), (4.0, 0.5)]);
    }

    #[test]
    fn bad_lines_are_named_with_their_column() {
        let at = |text| loads("a.csv", text).unwrap_err().location.line_column;
        assert_eq!(at("0,0.5\n1,x\n"), Some((2, 3)));
        assert_eq!(at("0,0.5\n1;0.5\n"), Some((2, 1)));
        assert_eq!(at("t,u\n0,0.5\n0,0.6\n"), Some((3, 1)));
        assert_eq!(at("0,0.5\n10,1.5\n"), Some((2, 4)));
        assert_eq!(at("0,-1\n"), Some((1, 3)));
        assert_eq!(at("t,u\n"), Some((1, 1)));
        let problem = loads("a.trace", "0 1\n5 1.5\n").unwrap_err();
        assert!(
            problem.message.starts_with("step 2: 1.5 is more"),
            "{problem}"
        );
    }

    #[test]
    fn a_shifted_trace_begins_somewhere_and_goes_on_as_it_does() {
        let profile = Profile::new(vec![(1.0, 0.1), (3.0, 0.2), (4.0, 0.3)], Some(10.0)).unwrap();
        let measured = Measured {
            source: String::new(),
            sha256: String::new(),
            profile: profile.clone(),
            is_shifted: true,
            cut: 0,
        };
        for seed in 0..50 {
            let random = Stream::named(seed, Purpose::HostLoad, "h0");
            let begin = 10.0 * (1.0 + random.clone().unit());
            let steps: Vec<_> = measured.steps(random).take(8).collect();
            assert_eq!(steps[0].0, 0.0);
            let later = profile.steps().filter(|step| step.0 > begin);
            for (found, expected) in steps[1..].iter().zip(later) {
                assert_eq!(*found, (expected.0 - begin, expected.1));
            }
        }
    }
}
