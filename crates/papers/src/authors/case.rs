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
    /// Scenario of the run: `i`, `ii` or `iii`.
    pub(super) scenario: String,
    /// Heuristic that selects the processes to move; `None` if the run has no rescheduling calls.
    pub(super) heuristic: Option<Heuristic>,
    pub(super) percentage_x: f64,
    pub(super) imbalance_d: f64,
    pub(super) sets: Vec<HostSet>,
    /// Prefix of the host names of each Set (cluster), such as `suno` for `suno-3`.
    pub(super) host_prefixes: Vec<String>,
    pub(super) calls: Vec<StoredCall>,
    /// The whole case as JSON, as it is in its file.
    pub(super) json_of_file: Value,
    pub(super) file_name: String,
}

impl StoredCase {
    /// Creates the input with which the policy `authors-2015` decides a stored call again: the reports of the processes and the
    /// parameters of the case.
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
    /// Superstep after which the call took place, counted from 1.
    pub(super) superstep: u64,
    pub(super) iset_values: Vec<f64>,
    /// Number of processes whose time lies outside mean · (1 ± D), for each superstep since the previous call.
    pub(super) processes_outside_d: Vec<usize>,
    /// Whether each process was a candidate in an earlier call; the authors' program never clears this mark.
    pub(super) was_candidate: Vec<bool>,
    pub(super) is_candidate: Vec<bool>,
    pub(super) moves: Vec<Move>,
    /// Reports that the managers received in this call; `None` if the file does not contain reports for this call.
    pub(super) reports: Option<StoredReports>,
    /// Time \[s\] of each process in each superstep since the previous call; `None` if the file does not contain times for this
    /// call.
    pub(super) superstep_times: Option<Vec<Vec<Seconds>>>,
}

/// Reports of the processes in a call of the authors' program, and the values that the managers computed from the reports.
#[derive(Clone, Debug, Default)]
pub(super) struct StoredReports {
    /// Report of each process to the manager of its Set (cluster).
    pub(super) process_reports: Vec<ProcessReport>,
    /// Potential of migration PM(i,j), which the managers computed for each process i and each Set (cluster) j.
    pub(super) migration_potentials: Vec<Vec<f64>>,
    /// Processes sorted by decreasing potential of migration, as the program sorted them. The second entry of each pair is the
    /// preferred Set of the process.
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
    /// Processes in the order in which the program sorted them; present if the reports of the call are stored.
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
    CaseReader {
        document: &document,
        raw: &raw,
    }
    .read_case()
    .map_err(|error| error.with_default_hint(CORRECT_CASE_HINT))
}

/// Hint of problems in a case that state the required value themselves.
const CORRECT_CASE_HINT: &str = "correct this value in the file of the case, or leave out the file";

/// Converts the JSON form of a case to a `Case`, and reports each fault with its position in the document.
struct CaseReader<'a> {
    document: &'a Document,
    raw: &'a RawCase,
}

impl CaseReader<'_> {
    fn problem_at(&self, key: &str, message: impl Into<String>) -> Problem {
        self.document.problem_at(key, message)
    }

    fn read_case(&self) -> Result<StoredCase, Error> {
        let (raw, parameters) = (self.raw, &self.raw.parameters);
        let heuristic = HEURISTICS.iter().find(|(name, _)| *name == raw.heuristic);
        let Some(&(_, heuristic)) = heuristic else {
            let message = format!("unknown heuristic `{}`", raw.heuristic);
            let problem = self.problem_at("heuristic", message);
            let known = HEURISTICS.iter().map(|(name, _)| *name);
            return Err(problem.with_known_names("heuristics", known).into());
        };
        if !SCENARIOS.contains(&raw.scenario.as_str()) {
            let problem =
                self.problem_at("scenario", format!("unknown scenario `{}`", raw.scenario));
            return Err(problem.with_known_names("scenarios", SCENARIOS).into());
        }
        if heuristic.is_some() && !self.document.has_value("calls") {
            let message = format!(
                "the case has the heuristic `{}`, but no `calls`",
                raw.heuristic
            );
            let problem = self.problem_at("", message);
            return Err(problem
                .hint(
                    "add the list `calls` with the calls of the run, or set `heuristic` to `none`",
                )
                .into());
        }
        let of_runs = ["placement", "superstep_starts_of_process_1", "end"];
        let has = |key: &&str| self.document.has_value(key);
        if let (Some(given), Some(missing)) = (
            of_runs.iter().find(|key| has(key)),
            of_runs.iter().find(|key| !has(key)),
        ) {
            let message = format!("the case has `{given}`, but no `{missing}`");
            let problem = self.problem_at("", message);
            return Err(problem.hint("write all of `placement`, `superstep_starts_of_process_1` and `end` if the case has a whole run, or none of these keys").into());
        }
        if heuristic.is_none() && !raw.calls.is_empty() {
            let problem = self.problem_at("heuristic", "the case has calls, but no heuristic");
            return Err(problem
                .hint("set `heuristic` to the heuristic that decided the calls")
                .into());
        }
        if heuristic == Some(Heuristic::Percentage) && parameters.x.is_none() {
            let problem = self.problem_at(
                "parameters.x",
                "the heuristic `percentage` needs `parameters.x`",
            );
            return Err(problem
                .hint("set `parameters.x` to a number from 0 to 1")
                .into());
        }
        if parameters.processes == 0 || parameters.alpha == 0 || raw.sets.is_empty() {
            let problem = self.problem_at(
                "parameters",
                "the case has no processes, no Sets (clusters), or an `alpha` below 1",
            );
            let hint = "set `parameters.processes` and `parameters.alpha` to at least 1, and list at least one Set under `sets`";
            return Err(problem.hint(hint).into());
        }
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
                .map(|(at, call)| self.read_call(at, call))
                .collect::<Result<_, _>>()?,
            json_of_file: self.document.value.clone(),
            file_name: self.document.source.clone(),
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
        let latency = latency.ok_or_else(|| {
            let key = format!("latency[{set}][{set}]");
            let message = format!(
                "`latency` has no valid latency inside Set {set} (Sets are counted from 0)"
            );
            self.problem_at(&key, message)
        })?;
        let power = InstructionsPerSecond::new(raw.power).ok_or_else(|| {
            self.problem_at(
                &format!("sets[{set}].power"),
                format!("the power (speed) {} of the Set is out of range", raw.power),
            )
        })?;
        Ok(HostSet {
            host_count: raw.hosts,
            power_per_host: power,
            own_latency: latency,
        })
    }

    fn read_call(&self, at: usize, call: &RawCall) -> Result<StoredCall, Error> {
        let key = |key: &str| format!("calls[{at}].{key}");
        let sets = self.raw.sets.len();
        if call.iset.len() != sets {
            let message = format!(
                "the call has {} performance indices, but the case has {sets} Sets",
                call.iset.len()
            );
            return Err(self.problem_at(&key("iset"), message).into());
        }
        let left = "candidates_left_from_earlier_calls";
        Ok(StoredCall {
            superstep: call.superstep,
            iset_values: call.iset.clone(),
            processes_outside_d: call.processes_outside_d.clone(),
            was_candidate: self
                .flags_of_listed_processes(&key(left), &call.candidates_left_from_earlier_calls)?,
            is_candidate: self.flags_of_listed_processes(&key("candidates"), &call.candidates)?,
            moves: self.read_moves(&key("decided_moves"), &call.decided_moves)?,
            reports: match &call.reports {
                Some(table) => {
                    let order = call.order.as_ref().ok_or_else(|| {
                        let message = "the call has reports, but no order of the processes";
                        self.problem_at(&format!("calls[{at}]"), message)
                    })?;
                    let order = self.read_sorted_processes(&key("order"), order)?;
                    let reports = self.read_reports(&key("reports"), table)?;
                    Some(StoredReports {
                        processes_sorted_by_potential: order,
                        ..reports
                    })
                }
                None => None,
            },
            superstep_times: match &call.measured {
                Some(measured) => Some(self.read_superstep_times(&key("measured"), measured)?),
                None => None,
            },
        })
    }

    /// Returns the index (from 0) of the process with the rank `rank` (from 1).
    ///
    /// # Errors
    /// The case has no process with this rank.
    fn process_index_of_rank(&self, key: &str, rank: usize) -> Result<usize, Problem> {
        let processes = self.raw.parameters.processes;
        let process = rank.checked_sub(1).filter(|&process| process < processes);
        process.ok_or_else(|| {
            self.problem_at(
                key,
                format!("the case has no rank {rank} (its ranks are 1 to {processes})"),
            )
        })
    }

    fn flags_of_listed_processes(&self, key: &str, ranks: &[usize]) -> Result<Vec<bool>, Problem> {
        let mut flags = vec![false; self.raw.parameters.processes];
        for (at, rank) in ranks.iter().enumerate() {
            flags[self.process_index_of_rank(&format!("{key}[{at}]"), *rank)?] = true;
        }
        Ok(flags)
    }

    fn read_sorted_processes(
        &self,
        key: &str,
        table: &Table,
    ) -> Result<Vec<(usize, Option<usize>)>, Problem> {
        let rows = TableRows::new(self, key, table)?;
        let row = |at: usize| {
            let set = rows.value_in_column(at, "set")?;
            let set = if set.is_null() {
                None
            } else {
                Some(rows.set_index_in_row(at)?)
            };
            Ok((rows.process_index_in_row(at)?, set))
        };
        (0..table.rows.len()).map(row).collect()
    }

    fn read_moves(&self, key: &str, table: &Table) -> Result<Vec<Move>, Problem> {
        let rows = TableRows::new(self, key, table)?;
        let row = |at: usize| {
            let (process, (set, host)) = (
                rows.process_index_in_row(at)?,
                rows.set_and_host_in_row(at)?,
            );
            if rows.set_index_in_row(at)? != set {
                return Err(self.problem_at(
                    &rows.position_of_value(at, "host"),
                    "the host of this move is not in the Set of this move",
                ));
            }
            Ok(Move {
                process,
                destination_set: set,
                destination_host: host,
            })
        };
        (0..table.rows.len()).map(row).collect()
    }

    fn read_reports(&self, key: &str, table: &Table) -> Result<StoredReports, Problem> {
        let parameters = &self.raw.parameters;
        let sets = self.raw.sets.len();
        let rows = TableRows::new(self, key, table)?;
        if table.rows.len() != parameters.processes {
            let message = format!(
                "the table has {} reports, but the case has {} processes",
                table.rows.len(),
                parameters.processes
            );
            return Err(self.problem_at(&format!("{key}.rows"), message));
        }
        let received = (0..parameters.alpha).fold(0.0, |aged, _| {
            next_aged_value(aged, parameters.message_bytes)
        });
        let received = Bytes::new(received).ok_or_else(|| {
            self.problem_at(
                "parameters.message_bytes",
                "the size of the messages is out of range",
            )
        })?;
        let mut all = StoredReports::default();
        for at in 0..table.rows.len() {
            if rows.process_index_in_row(at)? != at {
                let message = format!(
                    "the reports are not in the order of ranks: this report should be of rank {}",
                    at + 1
                );
                return Err(self.problem_at(&rows.position_of_value(at, "rank"), message));
            }
            let (set, host) = rows.set_and_host_in_row(at)?;
            let of_sets = |name: &str| -> Result<Vec<f64>, Problem> {
                (0..sets)
                    .map(|set| rows.number_in_column(at, &format!("{name}_{set}")))
                    .collect()
            };
            let times = (0..sets).map(|set| rows.seconds_in_column(at, &format!("btp_{set}")));
            all.process_reports.push(ProcessReport {
                present_set: set,
                host_index_in_set: host,
                computation_pattern: rows.number_in_column(at, "pcomp")?,
                aged_computation_time: rows.seconds_in_column(at, "ctp")?,
                communication_patterns: of_sets("pcomm")?,
                aged_communication_times: times.collect::<Result<_, _>>()?,
                // The first process of the chain receives nothing.
                aged_received_bytes: if at == 0 { Bytes::default() } else { received },
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
            let key = format!("{key}.rows[{at}][1]");
            if row.len() != supersteps {
                let message = format!(
                    "the list has {} times, but the interval has {supersteps} supersteps",
                    row.len()
                );
                return Err(self.problem_at(&key, message));
            }
            for (times, time) in times.iter_mut().zip(row) {
                let time = Seconds::new(*time).ok_or_else(|| {
                    self.problem_at(&key, format!("the time {time} s is out of range"))
                })?;
                times.push(time);
            }
        }
        Ok(times)
    }
}

/// Rows of a table in a case file; a value is found by the index of its row and the name of its column.
struct TableRows<'a> {
    reader: &'a CaseReader<'a>,
    key_of_table: &'a str,
    table: &'a Table,
}

impl<'a> TableRows<'a> {
    /// Creates access by row and column name to a table; `key` is the position of the table in the JSON document, for error
    /// messages.
    ///
    /// # Errors
    /// The number of values in a row differs from the number of columns.
    fn new(reader: &'a CaseReader<'a>, key: &'a str, table: &'a Table) -> Result<Self, Problem> {
        let columns = table.columns.len();
        match table.rows.iter().position(|row| row.len() != columns) {
            Some(at) => {
                let message = format!(
                    "the row has {} values, but the table has {columns} columns",
                    table.rows[at].len()
                );
                Err(reader.problem_at(&format!("{key}.rows[{at}]"), message))
            }
            None => Ok(Self {
                reader,
                key_of_table: key,
                table,
            }),
        }
    }

    fn column_index(&self, name: &str) -> Result<usize, Problem> {
        let columns = &self.table.columns;
        columns
            .iter()
            .position(|column| column == name)
            .ok_or_else(|| {
                let key = format!("{}.columns", self.key_of_table);
                let problem = self
                    .reader
                    .problem_at(&key, format!("the table has no column `{name}`"));
                problem.with_known_names("columns", columns.iter().map(String::as_str))
            })
    }

    /// Returns the key of a value in the JSON document (table, row and column), for an error message.
    fn position_of_value(&self, at: usize, name: &str) -> String {
        let column = self.column_index(name).unwrap_or_default();
        format!("{}.rows[{at}][{column}]", self.key_of_table)
    }

    fn value_in_column(&self, at: usize, name: &str) -> Result<&'a Value, Problem> {
        Ok(&self.table.rows[at][self.column_index(name)?])
    }

    fn wrong_type_problem(&self, at: usize, name: &str, wanted: &str) -> Problem {
        let value = self.table.rows[at].get(self.column_index(name).unwrap_or_default());
        let value = value.map_or_else(String::new, Value::to_string);
        self.reader.problem_at(
            &self.position_of_value(at, name),
            format!("`{name}` is {value}; it must be {wanted}"),
        )
    }

    fn number_in_column(&self, at: usize, name: &str) -> Result<f64, Problem> {
        let number = self.value_in_column(at, name)?.as_f64();
        number.ok_or_else(|| self.wrong_type_problem(at, name, "a number"))
    }

    fn seconds_in_column(&self, at: usize, name: &str) -> Result<Seconds, Problem> {
        let seconds = Seconds::new(self.number_in_column(at, name)?);
        seconds.ok_or_else(|| self.wrong_type_problem(at, name, "a time of at least 0 s"))
    }

    fn process_index_in_row(&self, at: usize) -> Result<usize, Problem> {
        let rank = self
            .value_in_column(at, "rank")?
            .as_u64()
            .and_then(|rank| usize::try_from(rank).ok());
        let rank = rank.ok_or_else(|| self.wrong_type_problem(at, "rank", "a rank"))?;
        self.reader
            .process_index_of_rank(&self.position_of_value(at, "rank"), rank)
    }

    fn set_index_in_row(&self, at: usize) -> Result<usize, Problem> {
        let sets = self.reader.raw.sets.len();
        let set = self
            .value_in_column(at, "set")?
            .as_u64()
            .and_then(|set| usize::try_from(set).ok());
        let set = set.filter(|&set| set < sets);
        set.ok_or_else(|| self.wrong_type_problem(at, "set", &format!("a Set below {sets}")))
    }

    /// Returns the index of a Set (cluster) and the index of a host within this Set, from a host name: `suno-3` is the third host
    /// of `suno`.
    ///
    /// # Errors
    /// There is no such host.
    fn set_and_host_in_row(&self, at: usize) -> Result<(usize, usize), Problem> {
        let name = self
            .value_in_column(at, "host")?
            .as_str()
            .unwrap_or_default();
        let sets = &self.reader.raw.sets;
        let place = name.rsplit_once('-').and_then(|(prefix, number)| {
            let set = sets.iter().position(|set| set.prefix == prefix)?;
            let number: usize = number.parse().ok()?;
            Some((set, number.checked_sub(1)?))
        });
        place.ok_or_else(|| {
            let prefixes: Vec<&str> = sets.iter().map(|set| set.prefix.as_str()).collect();
            let wanted = format!(
                "the prefix of a Set ({}), a hyphen and a number from 1",
                prefixes.join(", ")
            );
            self.wrong_type_problem(at, "host", &wanted)
        })
    }
}
