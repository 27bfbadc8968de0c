//! Reader of case files: a case is a stored run of the authors' simulation program of 2015.
//!
//! In a file, processes (ranks), hosts of a Set (cluster) and supersteps are counted from 1, and Sets from 0.

use serde::{Deserialize, Deserializer, de::IntoDeserializer as _};
use serde_json::Value;

use migsim_base::{
    document::Document,
    error::{Error, Problem},
    units::{Bytes, InstructionsPerSecond, Seconds},
};
use migsim_policies::authors_2015::{Heuristic, HostSet, ProcessReport, next_aged_value};

/// A stored run of the authors' simulation program, with its rescheduling calls.
#[derive(Deserialize)]
pub(super) struct StoredCase {
    pub(super) case: String,
    pub(super) scenario: String,
    /// `None` if the run has no rescheduling calls.
    #[serde(deserialize_with = "read_heuristic")]
    pub(super) heuristic: Option<Heuristic>,
    pub(super) parameters: Parameters,
    pub(super) sets: Vec<StoredSet>,
    /// Latency \[s\] from the manager of each Set (row) to the manager of each Set (column); empty if the run has no calls.
    #[serde(default)]
    latency: Vec<Vec<f64>>,
    #[serde(default)]
    pub(super) calls: Vec<StoredCall>,
}

fn read_heuristic<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Heuristic>, D::Error> {
    match String::deserialize(value)?.as_str() {
        "none" => Ok(None),
        name => Heuristic::deserialize(name.into_deserializer()).map(Some),
    }
}

#[derive(Deserialize)]
pub(super) struct Parameters {
    processes: usize,
    message_bytes: f64,
    alpha: u32,
    pub(super) d: f64,
    pub(super) x: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct StoredSet {
    /// Prefix of the host names of the Set, such as `suno` for `suno-3`.
    pub(super) prefix: String,
    hosts: usize,
    power: f64,
}

#[derive(Deserialize)]
pub(super) struct StoredCall {
    pub(super) superstep: u64,
    pub(super) iset: Vec<f64>,
    /// Number of processes whose time lies outside mean · (1 ± D), for each superstep since the previous call.
    #[serde(default)]
    pub(super) processes_outside_d: Vec<usize>,
    /// Processes in the order in which the program sorted them, each with its preferred Set.
    pub(super) order: Option<Table>,
    candidates_left_from_earlier_calls: Vec<usize>,
    pub(super) candidates: Vec<usize>,
    pub(super) decided_moves: Table,
    /// `None` if the file does not contain reports for this call.
    pub(super) reports: Option<Table>,
    measured: Option<Measured>,
}

#[derive(Deserialize)]
pub(super) struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

#[derive(Deserialize)]
struct Measured {
    /// One row per process: its rank, its times in the supersteps since the previous call \[s\], and its computation times in
    /// these supersteps \[s\].
    rows: Vec<(usize, Vec<f64>, Vec<f64>)>,
}

pub(super) struct CaseReader {
    document: Document,
    pub(super) case: StoredCase,
}

/// Values from which a call is decided again: the reports of the processes, and PM(i,j) for each process i and each Set j.
#[derive(Default)]
pub(super) struct Reports {
    pub(super) processes: Vec<ProcessReport>,
    pub(super) potentials: Vec<Vec<f64>>,
}

impl CaseReader {
    /// Parses a case from its JSON text; `source` is the name of its file.
    ///
    /// # Errors
    /// The text is not JSON or not a stored case. The error names the position of the fault.
    pub(super) fn parse(source: &str, text: &str) -> Result<Self, Error> {
        let document = Document::parse(source, text)?;
        let case: StoredCase = document.deserialize().map_err(|error| {
            if document.has_value("case") || document.has_value("calls") {
                return error;
            }
            let problem = document.problem_at("", "the file is not a case of the 2015 program of MigBSP's authors");
            problem.hint("name a file with the keys `case`, `scenario`, `heuristic`, `parameters`, `sets`, `latency` and `calls`").into()
        })?;
        let parameters = &case.parameters;
        let has_calls = document.has_value("calls");
        let checks = [
            (
                ["i", "ii", "iii"].contains(&case.scenario.as_str()),
                "scenario",
                "the scenario must be `i`, `ii` or `iii`",
            ),
            (
                case.heuristic.is_none() || has_calls,
                "heuristic",
                "the case has a heuristic, but no `calls`",
            ),
            (
                case.heuristic.is_some() || case.calls.is_empty(),
                "heuristic",
                "the case has calls, but no heuristic",
            ),
            (
                case.heuristic != Some(Heuristic::Percentage) || parameters.x.is_some(),
                "parameters.x",
                "the heuristic `percentage` needs `parameters.x`",
            ),
            (
                parameters.processes > 0 && parameters.alpha > 0 && !case.sets.is_empty(),
                "parameters",
                "the case has no processes, no Sets (clusters), or an `alpha` below 1",
            ),
        ];
        if let Some((_, key, message)) = checks.into_iter().find(|(is_right, ..)| !is_right) {
            return Err(document.problem_at(key, message).into());
        }
        Ok(Self { document, case })
    }

    pub(super) fn host_sets(&self) -> Result<Vec<HostSet>, Problem> {
        let sets = self.case.sets.iter().enumerate().map(|(set, stored)| {
            let latency = self.case.latency.get(set).and_then(|row| row.get(set));
            let wrong = || {
                let message = "this Set has no valid power (speed), or no valid latency to itself";
                self.document.problem_at(&format!("sets[{set}]"), message)
            };
            Ok(HostSet {
                host_count: stored.hosts,
                power_per_host: InstructionsPerSecond::new(stored.power).ok_or_else(wrong)?,
                own_latency: (latency.copied().and_then(Seconds::new)).ok_or_else(wrong)?,
            })
        });
        sets.collect()
    }

    pub(super) fn was_candidate(&self, key: &str, call: &StoredCall) -> Result<Vec<bool>, Problem> {
        let count = self.case.parameters.processes;
        let mut flags = vec![false; count];
        for &rank in &call.candidates_left_from_earlier_calls {
            let flag = rank.checked_sub(1).and_then(|one| flags.get_mut(one));
            *flag.ok_or_else(|| {
                let key = format!("{key}.candidates_left_from_earlier_calls");
                let message = format!("`{rank}` must be a rank from 1 to {count}");
                self.document.problem_at(&key, message)
            })? = true;
        }
        Ok(flags)
    }

    /// Returns the rows of the table at `key`.
    pub(super) fn rows<'a>(
        &'a self,
        key: String,
        table: &'a Table,
    ) -> impl Iterator<Item = Row<'a>> {
        let rows = table.rows.iter().enumerate();
        rows.map(move |(at, values)| Row {
            document: &self.document,
            key: format!("{key}.rows[{at}]"),
            columns: &table.columns,
            values,
        })
    }

    /// Returns the reports of the processes in the call at `key`.
    pub(super) fn reports(
        &self,
        key: &str,
        call: &StoredCall,
        table: &Table,
    ) -> Result<Reports, Problem> {
        let (parameters, sets) = (&self.case.parameters, &self.case.sets);
        let is_whole = call.iset.len() == sets.len()
            && call.order.is_some()
            && table.rows.len() == parameters.processes;
        if !is_whole {
            let message = "the call needs an index `iset` for each Set, an `order`, and a report of each process";
            return Err(self.document.problem_at(key, message));
        }
        let received = (0..parameters.alpha).fold(0.0, |aged, _| {
            next_aged_value(aged, parameters.message_bytes)
        });
        let received = Bytes::new(received).ok_or_else(|| {
            let message = "the size of the messages is out of range";
            self.document
                .problem_at("parameters.message_bytes", message)
        })?;
        let mut all = Reports::default();
        for (rank, row) in (1..).zip(self.rows(format!("{key}.reports"), table)) {
            row.read("rank", "the number of the row", |value| {
                (value == rank).then_some(())
            })?;
            let of_sets = |name: &str| -> Result<Vec<f64>, Problem> {
                let columns = (0..sets.len()).map(|set| format!("{name}_{set}"));
                columns.map(|column| row.number(&column)).collect()
            };
            let times = (0..sets.len()).map(|set| row.seconds(&format!("btp_{set}")));
            let (present_set, host_index_in_set) = row.read(
                "host",
                "the prefix of a Set, a hyphen and a number from 1",
                |value| {
                    let (prefix, number) = value.as_str()?.rsplit_once('-')?;
                    let set = sets.iter().position(|one| one.prefix == prefix)?;
                    Some((set, number.parse::<usize>().ok()?.checked_sub(1)?))
                },
            )?;
            all.processes.push(ProcessReport {
                present_set,
                host_index_in_set,
                computation_pattern: row.number("pcomp")?,
                aged_computation_time: row.seconds("ctp")?,
                communication_patterns: of_sets("pcomm")?,
                aged_communication_times: times.collect::<Result<_, _>>()?,
                // The first process of the chain receives nothing.
                aged_received_bytes: if rank == 1 {
                    Bytes::default()
                } else {
                    received
                },
            });
            all.potentials.push(of_sets("pm")?);
        }
        Ok(all)
    }

    pub(super) fn superstep_times(
        &self,
        key: &str,
        call: &StoredCall,
    ) -> Result<Vec<Vec<Seconds>>, Problem> {
        let supersteps = self.case.parameters.alpha as usize;
        let rows = call.measured.iter().flat_map(|measured| &measured.rows);
        let mut times = vec![Vec::new(); supersteps];
        for (_, row, _) in rows {
            let read: Option<Vec<Seconds>> = row.iter().map(|&time| Seconds::new(time)).collect();
            let read = read
                .filter(|read| read.len() == supersteps)
                .ok_or_else(|| {
                    let message = format!("each process needs {supersteps} times of at least 0 s");
                    self.document
                        .problem_at(&format!("{key}.measured"), message)
                })?;
            times
                .iter_mut()
                .zip(read)
                .for_each(|(times, time)| times.push(time));
        }
        times.retain(|times| !times.is_empty());
        Ok(times)
    }
}

/// A row of a table in a case file; a value is found by the name of its column.
pub(super) struct Row<'a> {
    document: &'a Document,
    /// Position of the row in the document.
    key: String,
    columns: &'a [String],
    values: &'a [Value],
}

impl Row<'_> {
    /// Returns the converted value in a column; `wanted` describes the values that `convert` accepts.
    pub(super) fn read<T>(
        &self,
        name: &str,
        wanted: &str,
        convert: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, Problem> {
        let column = self.columns.iter().position(|column| column == name);
        let column = column.ok_or_else(|| {
            let message = format!("the table of this row has no column `{name}`");
            self.document.problem_at(&self.key, message)
        })?;
        let value = self.values.get(column).unwrap_or(&Value::Null);
        convert(value).ok_or_else(|| {
            let message = format!("`{name}` is {value}; it must be {wanted}");
            self.document
                .problem_at(&format!("{}[{column}]", self.key), message)
        })
    }

    fn number(&self, name: &str) -> Result<f64, Problem> {
        self.read(name, "a number", Value::as_f64)
    }

    fn seconds(&self, name: &str) -> Result<Seconds, Problem> {
        let convert = |value: &Value| Seconds::new(value.as_f64()?);
        self.read(name, "a time of at least 0 s", convert)
    }
}
