//! Reader of case files: a case is a stored run of the authors' simulation program of 2015.
//!
//! In a file, processes (ranks), hosts of a Set (cluster) and supersteps are counted from 1, and Sets from 0. In memory, only
//! supersteps are counted from 1; everything else is counted from 0.

use serde::Deserialize;
use serde_json::Value;

use migsim_base::document::Document;
use migsim_base::error::{Error, Problem};
use migsim_base::units::{Bytes, InstructionsPerSecond, Seconds};
use migsim_policies::authors_2015::{
    Heuristic, HostSet, Move, ProcessReport, ReschedulingCall, next_aged_value,
};

/// Heuristics that select the processes to move, by their names in a case file; `none` stands for a run without rescheduling
/// calls.
const HEURISTICS: [(&str, Option<Heuristic>); 5] = [
    ("none", None),
    ("one", Some(Heuristic::One)),
    ("percentage", Some(Heuristic::Percentage)),
    ("migcube", Some(Heuristic::MigCube)),
    ("mighull", Some(Heuristic::MigHull)),
];

/// Names of the scenarios in a case file.
const SCENARIOS: [&str; 3] = ["i", "ii", "iii"];

/// A stored run of the authors' simulation program, with its rescheduling calls.
#[derive(Clone, Debug)]
pub(super) struct StoredCase {
    pub(super) name: String,
    pub(super) scenario: String,
    /// `None` if the run has no rescheduling calls.
    pub(super) heuristic: Option<Heuristic>,
    pub(super) percentage_x: f64,
    pub(super) imbalance_d: f64,
    pub(super) sets: Vec<HostSet>,
    /// Prefix of the host names of each Set, such as `suno` for `suno-3`.
    pub(super) host_prefixes: Vec<String>,
    pub(super) calls: Vec<StoredCall>,
}

impl StoredCase {
    /// Returns the input with which the policy `authors-2015` decides a stored call again.
    pub(super) fn call_input<'a>(
        &'a self,
        call: &'a StoredCall,
        stored: &'a StoredReports,
        heuristic: Heuristic,
    ) -> ReschedulingCall<'a> {
        ReschedulingCall {
            sets: &self.sets,
            reports: &stored.process_reports,
            heuristic,
            percentage_x: self.percentage_x,
            was_candidate: &call.was_candidate,
            is_pinned: &[],
            are_moves_carried_out: self.scenario == "iii",
        }
    }
}

/// A rescheduling call of a stored run of the authors' program, with the decision of the program.
#[derive(Clone, Debug)]
pub(super) struct StoredCall {
    pub(super) superstep: u64,
    pub(super) iset_values: Vec<f64>,
    /// Number of processes whose time lies outside mean · (1 ± D), for each superstep since the previous call.
    pub(super) processes_outside_d: Vec<usize>,
    /// Whether each process was a candidate in an earlier call; the authors' program never clears this mark.
    pub(super) was_candidate: Vec<bool>,
    pub(super) is_candidate: Vec<bool>,
    pub(super) moves: Vec<Move>,
    /// `None` if the file does not contain reports for this call.
    pub(super) reports: Option<StoredReports>,
    /// Time of each process in each superstep since the previous call; empty if the file does not contain times for this call.
    pub(super) superstep_times: Vec<Vec<Seconds>>,
}

/// Reports of the processes in a call of the authors' program, and the values that the managers computed from the reports.
#[derive(Clone, Debug, Default)]
pub(super) struct StoredReports {
    pub(super) process_reports: Vec<ProcessReport>,
    /// PM(i,j) for each process i and each Set j.
    pub(super) migration_potentials: Vec<Vec<f64>>,
    /// Processes in the order in which the program sorted them, each with its preferred Set.
    pub(super) processes_sorted_by_potential: Vec<(usize, Option<usize>)>,
}

#[derive(Deserialize)]
struct RawCase {
    case: String,
    scenario: String,
    heuristic: String,
    parameters: RawParameters,
    sets: Vec<RawSet>,
    /// Latency \[s\] from the manager of each Set (row) to the manager of each Set (column); empty if the run has no calls.
    #[serde(default)]
    latency: Vec<Vec<f64>>,
    #[serde(default)]
    calls: Vec<RawCall>,
}

#[derive(Deserialize)]
struct RawParameters {
    processes: usize,
    message_bytes: f64,
    alpha: u32,
    d: f64,
    x: Option<f64>,
}

#[derive(Deserialize)]
struct RawSet {
    prefix: String,
    hosts: usize,
    power: f64,
}

#[derive(Deserialize)]
struct RawCall {
    superstep: u64,
    iset: Vec<f64>,
    #[serde(default)]
    processes_outside_d: Vec<usize>,
    order: Option<Table>,
    candidates_left_from_earlier_calls: Vec<usize>,
    candidates: Vec<usize>,
    decided_moves: Table,
    reports: Option<Table>,
    measured: Option<RawMeasured>,
}

#[derive(Deserialize)]
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

#[derive(Deserialize)]
struct RawMeasured {
    /// One row per process: its rank, its times in the supersteps since the previous call \[s\], and its computation times in
    /// these supersteps \[s\].
    rows: Vec<(usize, Vec<f64>, Vec<f64>)>,
}

/// Parses a case from its JSON text; `source` is the name of its file.
///
/// # Errors
/// The text is not JSON or not a stored case. The error names the position of the fault.
pub(super) fn parse_case(source: &str, text: &str) -> Result<StoredCase, Error> {
    let document = Document::parse(source, text)?;
    let raw: RawCase = document.deserialize().map_err(|error| {
        let is_other = !document.has_value("case") && !document.has_value("calls");
        if is_other {
            let problem = document.problem_at("", "the file is not a case of the 2015 program of MigBSP's authors");
            problem.hint("name a file with the keys `case`, `scenario`, `heuristic`, `parameters`, `sets`, `latency` and `calls`").into()
        } else {
            error
        }
    })?;
    let reader = CaseReader {
        document: &document,
        raw: &raw,
    };
    let case = reader.read_case().map_err(Error::from);
    case.map_err(|error| error.with_default_hint(CORRECT_CASE_HINT))
}

/// Hint of problems in a case that state the required value themselves.
const CORRECT_CASE_HINT: &str = "correct this value in the file of the case, or leave out the file";

/// Converts the JSON form of a case, and reports each fault with its position in the document.
struct CaseReader<'a> {
    document: &'a Document,
    raw: &'a RawCase,
}

impl CaseReader<'_> {
    fn require(
        &self,
        is_right: bool,
        key: &str,
        message: impl FnOnce() -> String,
    ) -> Result<(), Problem> {
        if is_right {
            Ok(())
        } else {
            Err(self.document.problem_at(key, message()))
        }
    }

    fn read_case(&self) -> Result<StoredCase, Problem> {
        let (raw, parameters) = (self.raw, &self.raw.parameters);
        let unknown = |kind: &str, name: &str| {
            self.document
                .problem_at(kind, format!("unknown {kind} `{name}`"))
        };
        let heuristic = HEURISTICS.iter().find(|(name, _)| *name == raw.heuristic);
        let &(_, heuristic) = heuristic.ok_or_else(|| {
            let known = HEURISTICS.iter().map(|(name, _)| *name);
            unknown("heuristic", &raw.heuristic).with_known_names("heuristics", known)
        })?;
        if !SCENARIOS.contains(&raw.scenario.as_str()) {
            let problem = unknown("scenario", &raw.scenario);
            return Err(problem.with_known_names("scenarios", SCENARIOS));
        }
        let has_calls = self.document.has_value("calls");
        self.require(heuristic.is_none() || has_calls, "", || {
            format!(
                "the case has the heuristic `{}`, but no `calls`",
                raw.heuristic
            )
        })?;
        let is_decided = heuristic.is_some() || raw.calls.is_empty();
        self.require(is_decided, "heuristic", || {
            "the case has calls, but no heuristic".into()
        })?;
        let has_x = heuristic != Some(Heuristic::Percentage) || parameters.x.is_some();
        self.require(has_x, "parameters.x", || {
            "the heuristic `percentage` needs `parameters.x`".into()
        })?;
        let is_filled = parameters.processes > 0 && parameters.alpha > 0 && !raw.sets.is_empty();
        self.require(is_filled, "parameters", || {
            "the case has no processes, no Sets (clusters), or an `alpha` below 1".into()
        })?;
        let calls = raw.calls.iter().enumerate();
        Ok(StoredCase {
            name: raw.case.clone(),
            scenario: raw.scenario.clone(),
            heuristic,
            percentage_x: parameters.x.unwrap_or_default(),
            imbalance_d: parameters.d,
            sets: (0..raw.sets.len())
                .map(|set| self.read_set(set))
                .collect::<Result<_, _>>()?,
            host_prefixes: raw.sets.iter().map(|set| set.prefix.clone()).collect(),
            calls: calls
                .map(|(at, call)| self.read_call(&format!("calls[{at}]"), call))
                .collect::<Result<_, _>>()?,
        })
    }

    fn read_set(&self, set: usize) -> Result<HostSet, Problem> {
        let raw = &self.raw.sets[set];
        let latency = self.raw.latency.get(set).and_then(|row| row.get(set));
        let latency = if self.raw.calls.is_empty() {
            Some(Seconds::default()) // this value is not used
        } else {
            latency.copied().and_then(Seconds::new)
        };
        let wrong = |key: String, what: &str| {
            self.document.problem_at(
                &key,
                format!("Set {set} (counted from 0) has no valid {what}"),
            )
        };
        Ok(HostSet {
            host_count: raw.hosts,
            power_per_host: InstructionsPerSecond::new(raw.power)
                .ok_or_else(|| wrong(format!("sets[{set}].power"), "power (speed)"))?,
            own_latency: latency
                .ok_or_else(|| wrong(format!("latency[{set}][{set}]"), "latency to itself"))?,
        })
    }

    fn read_call(&self, key: &str, call: &RawCall) -> Result<StoredCall, Problem> {
        let key_of = |name: &str| format!("{key}.{name}");
        let sets = self.raw.sets.len();
        self.require(call.iset.len() == sets, &key_of("iset"), || {
            format!("the call needs {sets} performance indices, one for each Set")
        })?;
        let has_order = call.reports.is_none() || call.order.is_some();
        self.require(has_order, key, || {
            "the call has reports, but no order of the processes".into()
        })?;
        let left = "candidates_left_from_earlier_calls";
        Ok(StoredCall {
            superstep: call.superstep,
            iset_values: call.iset.clone(),
            processes_outside_d: call.processes_outside_d.clone(),
            was_candidate: self
                .flags_of_ranks(&key_of(left), &call.candidates_left_from_earlier_calls)?,
            is_candidate: self.flags_of_ranks(&key_of("candidates"), &call.candidates)?,
            moves: self
                .rows(key_of("decided_moves"), &call.decided_moves)
                .map(|row| {
                    let (destination_set, destination_host) = row.set_and_host()?;
                    Ok(Move {
                        process: row.process()?,
                        destination_set,
                        destination_host,
                    })
                })
                .collect::<Result<_, _>>()?,
            reports: match (&call.reports, &call.order) {
                (Some(reports), Some(order)) => Some(StoredReports {
                    processes_sorted_by_potential: self
                        .rows(key_of("order"), order)
                        .map(|row| Ok((row.process()?, row.preferred_set()?)))
                        .collect::<Result<_, _>>()?,
                    ..self.read_reports(key_of("reports"), reports)?
                }),
                _ => None,
            },
            superstep_times: match &call.measured {
                Some(measured) => self.read_superstep_times(&key_of("measured"), measured)?,
                None => Vec::new(),
            },
        })
    }

    fn flags_of_ranks(&self, key: &str, ranks: &[usize]) -> Result<Vec<bool>, Problem> {
        let mut flags = vec![false; self.raw.parameters.processes];
        for (at, &rank) in ranks.iter().enumerate() {
            let flag = rank.checked_sub(1).and_then(|one| flags.get_mut(one));
            *flag.ok_or_else(|| {
                let message = format!("`{rank}` must be {}", self.known_ranks());
                self.document.problem_at(&format!("{key}[{at}]"), message)
            })? = true;
        }
        Ok(flags)
    }

    fn known_ranks(&self) -> String {
        format!("a rank from 1 to {}", self.raw.parameters.processes)
    }

    fn rows<'a>(&'a self, key: String, table: &'a Table) -> impl Iterator<Item = Row<'a>> {
        let rows = table.rows.iter().enumerate();
        rows.map(move |(at, values)| Row {
            reader: self,
            key: format!("{key}.rows[{at}]"),
            columns: &table.columns,
            values,
        })
    }

    fn read_reports(&self, key: String, table: &Table) -> Result<StoredReports, Problem> {
        let parameters = &self.raw.parameters;
        self.require(table.rows.len() == parameters.processes, &key, || {
            format!(
                "the table needs {} reports, one for each process",
                parameters.processes
            )
        })?;
        let received = (0..parameters.alpha).fold(0.0, |aged, _| {
            next_aged_value(aged, parameters.message_bytes)
        });
        let received = Bytes::new(received).ok_or_else(|| {
            let message = "the size of the messages is out of range";
            self.document
                .problem_at("parameters.message_bytes", message)
        })?;
        let mut all = StoredReports::default();
        for (process, row) in self.rows(key, table).enumerate() {
            self.require(row.process()? == process, &row.key, || {
                "the reports are not in the order of ranks".into()
            })?;
            let (present_set, host_index_in_set) = row.set_and_host()?;
            let sets = || 0..self.raw.sets.len();
            let of_sets = |name: &str| -> Result<Vec<f64>, Problem> {
                sets()
                    .map(|set| row.number(&format!("{name}_{set}")))
                    .collect()
            };
            let times = sets().map(|set| row.seconds(&format!("btp_{set}")));
            all.process_reports.push(ProcessReport {
                present_set,
                host_index_in_set,
                computation_pattern: row.number("pcomp")?,
                aged_computation_time: row.seconds("ctp")?,
                communication_patterns: of_sets("pcomm")?,
                aged_communication_times: times.collect::<Result<_, _>>()?,
                // The first process of the chain receives nothing.
                aged_received_bytes: if process == 0 {
                    Bytes::default()
                } else {
                    received
                },
            });
            all.migration_potentials.push(of_sets("pm")?);
        }
        Ok(all)
    }

    fn read_superstep_times(
        &self,
        key: &str,
        measured: &RawMeasured,
    ) -> Result<Vec<Vec<Seconds>>, Problem> {
        let supersteps = self.raw.parameters.alpha as usize;
        let mut times = vec![Vec::new(); supersteps];
        for (at, (_, row, _)) in measured.rows.iter().enumerate() {
            let read: Option<Vec<Seconds>> = row.iter().map(|&time| Seconds::new(time)).collect();
            let read = read.filter(|read| read.len() == supersteps);
            let read = read.ok_or_else(|| {
                let message = format!("the list needs {supersteps} times of at least 0 s");
                self.document
                    .problem_at(&format!("{key}.rows[{at}][1]"), message)
            })?;
            for (times, time) in times.iter_mut().zip(read) {
                times.push(time);
            }
        }
        Ok(times)
    }
}

/// A row of a table in a case file; a value is found by the name of its column.
struct Row<'a> {
    reader: &'a CaseReader<'a>,
    /// Position of the row in the document.
    key: String,
    columns: &'a [String],
    values: &'a [Value],
}

impl Row<'_> {
    /// Returns the converted value in a column; `wanted` describes the values that `convert` accepts.
    fn read<T>(
        &self,
        name: &str,
        wanted: &str,
        convert: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, Problem> {
        let document = self.reader.document;
        let column = self.columns.iter().position(|column| column == name);
        let column = column.ok_or_else(|| {
            let message = format!("the table of this row has no column `{name}`");
            let known = self.columns.iter().map(String::as_str);
            document
                .problem_at(&self.key, message)
                .with_known_names("columns", known)
        })?;
        let value = self.values.get(column).unwrap_or(&Value::Null);
        convert(value).ok_or_else(|| {
            let message = format!("`{name}` is {value}; it must be {wanted}");
            document.problem_at(&format!("{}[{column}]", self.key), message)
        })
    }

    fn number(&self, name: &str) -> Result<f64, Problem> {
        self.read(name, "a number", Value::as_f64)
    }

    fn seconds(&self, name: &str) -> Result<Seconds, Problem> {
        let convert = |value: &Value| Seconds::new(value.as_f64()?);
        self.read(name, "a time of at least 0 s", convert)
    }

    fn process(&self) -> Result<usize, Problem> {
        let count = self.reader.raw.parameters.processes;
        self.read("rank", &self.reader.known_ranks(), |value| {
            let process = usize::try_from(value.as_u64()?).ok()?.checked_sub(1)?;
            (process < count).then_some(process)
        })
    }

    fn preferred_set(&self) -> Result<Option<usize>, Problem> {
        let sets = self.reader.raw.sets.len();
        self.read("set", &format!("a Set below {sets}, or null"), |value| {
            if value.is_null() {
                return Some(None);
            }
            let set = usize::try_from(value.as_u64()?).ok()?;
            (set < sets).then_some(Some(set))
        })
    }

    /// Returns the index of a Set and of a host within this Set, from a host name: `suno-3` is the third host of `suno`.
    fn set_and_host(&self) -> Result<(usize, usize), Problem> {
        let prefixes: Vec<&str> = (self.reader.raw.sets.iter())
            .map(|set| set.prefix.as_str())
            .collect();
        let wanted = format!(
            "the prefix of a Set ({}), a hyphen and a number from 1",
            prefixes.join(", ")
        );
        self.read("host", &wanted, |value| {
            let (prefix, number) = value.as_str()?.rsplit_once('-')?;
            let set = prefixes.iter().position(|one| *one == prefix)?;
            Some((set, number.parse::<usize>().ok()?.checked_sub(1)?))
        })
    }
}
