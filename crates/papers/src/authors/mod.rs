//! Comparison of the policy `authors-2015` with the authors' simulation program of 2015: the policy decides the stored
//! rescheduling calls of the program again.
//!
//! A case is a run of the program `migcubemighull/heuristics` (2015), stored as numbers. The program has no licence, so this
//! repository contains none of its text. The built-in cases were produced by the program with SimGrid 3.32 set to the behaviour
//! of SimGrid 3.11. A case has the reports of the processes and the decision of the managers for each call. Each line of
//! `cases.jsonl.br` (compressed with brotli) is a case. The terms of PM (potential of migration) and the times of the reports are
//! not stored, because they are not compared.
//!
//! No constant is fitted. [`ReschedulingCall::decide`](migsim_policies::authors_2015::ReschedulingCall::decide) gets the reports of a call, and its
//! decision is compared with the stored decision.

mod case;

use std::{fmt::Debug, fs::DirEntry, path::Path};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::packed::decompress_text;
use migsim_base::{
    document::read_text,
    error::{Error, Problem},
};
use migsim_output::{Cell, Sheet, Table, number_column, text_column};
use migsim_policies::authors_2015::{Heuristic, ReschedulingCall, count_unbalanced_processes};

use case::{CaseReader, StoredCall};

/// Built-in cases (stored runs of the authors' program): one JSON object per line, compressed with brotli.
const CASES: &[u8] = include_bytes!("cases.jsonl.br");

const MAX_DESCRIBED_DIFFERENCES: usize = 8;

/// Numbers of values in the stored calls that were compared, and of values that are equal in the authors' program and in the
/// policy `authors-2015`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ComparisonCounts {
    /// Number of rescheduling calls that were compared: those whose reports are stored.
    pub calls: usize,
    /// Number of Set indices (relative speeds of clusters) that the policy computes equal to the program, to the last bit.
    pub indices_equal: usize,
    /// Number of Set indices (relative speeds of clusters) that were compared.
    pub indices: usize,
    /// Number of potentials of migration PM(i,j) that the policy computes equal to the program, to the last bit.
    pub potentials_equal: usize,
    /// Number of potentials of migration PM(i,j) that were compared.
    pub potentials: usize,
    /// Number of compared calls in which policy and program sort the processes in the same order and prefer the same Sets.
    pub orders_equal: usize,
    /// Number of compared calls in which policy and program select the same candidates for a move.
    pub candidates_equal: usize,
    /// Number of compared calls in which policy and program decide the same moves to the same hosts.
    pub hosts_equal: usize,
    /// Number of moves that the program decided in the compared calls.
    pub moves: usize,
    /// Number of supersteps in which policy and program count the same number of processes with a time outside mean · (1 ± D).
    pub outside_equal: usize,
    /// Number of supersteps in which the processes outside mean · (1 ± D) were compared, because their times are stored.
    pub outside: usize,
}

impl ComparisonCounts {
    /// Adds the counts of `other` to these counts.
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.indices_equal += other.indices_equal;
        self.indices += other.indices;
        self.potentials_equal += other.potentials_equal;
        self.potentials += other.potentials;
        self.orders_equal += other.orders_equal;
        self.candidates_equal += other.candidates_equal;
        self.hosts_equal += other.hosts_equal;
        self.moves += other.moves;
        self.outside_equal += other.outside_equal;
        self.outside += other.outside;
    }

    /// Returns whether policy and program agree in all values that were compared.
    pub fn are_all_values_equal(&self) -> bool {
        let calls = [self.orders_equal, self.candidates_equal, self.hosts_equal];
        calls == [self.calls; 3]
            && self.indices_equal == self.indices
            && self.potentials_equal == self.potentials
            && self.outside_equal == self.outside
    }
}

/// Result of deciding the calls of a case (a stored run of the authors' program) again with the policy `authors-2015`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CaseResult {
    /// Name of the case, as in its file.
    pub case: String,
    /// Scenario of the run: `i`, `ii` or `iii`.
    pub scenario: String,
    /// Heuristic that selects the processes to move; `None` if the run has no rescheduling calls.
    pub heuristic: Option<Heuristic>,
    /// Numbers of values that were compared in this case, and of values that are equal in policy and program.
    #[serde(flatten)]
    pub counts: ComparisonCounts,
    /// Descriptions of the first differences between the decisions of the policy and of the authors' program.
    pub differences: Vec<String>,
}

/// Results of the comparison with the authors' program in all cases.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuthorsComparison {
    /// Version of the JSON format of these results.
    schema: ResultsVersion,
    /// Number of cases that were compared.
    pub cases: usize,
    /// Numbers of values that were compared in all cases, and of values that are equal in policy and program.
    #[serde(flatten)]
    pub counts: ComparisonCounts,
    /// Result of deciding the calls again, for each case.
    pub by_case: Vec<CaseResult>,
}

/// Version of the JSON format of the results of the comparison with the authors' program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
enum ResultsVersion {
    /// Version 2: calls only. Version 1 had whole runs, too.
    #[default]
    #[serde(rename = "migsim-authors-2015-2")]
    Two,
}

/// Returns the JSON Schema of the output of `migsim reproduce authors-2015 --json`.
pub fn results_json_schema() -> String {
    format!(
        "{:#}\n",
        schemars::schema_for!(AuthorsComparison).to_value()
    )
}

impl AuthorsComparison {
    /// Returns the printed form of the results: a row for each case, and the differences in words.
    pub fn printed_sheet(&self) -> Sheet {
        let numbers = [
            number_column("calls", "calls"),
            number_column("PM equal", "potentials_equal"),
            number_column("of", "potentials"),
            number_column("orders equal", "orders_equal"),
            number_column("candidates equal", "candidates_equal"),
            number_column("hosts equal", "hosts_equal"),
            number_column("moves", "moves"),
        ];
        let columns = [&[text_column("case", "case")][..], &numbers].concat();
        let mut table = Table::new("cases", "", &columns);
        let mut push = |name: &str, counts: &ComparisonCounts| {
            let counts = [
                counts.calls,
                counts.potentials_equal,
                counts.potentials,
                counts.orders_equal,
                counts.candidates_equal,
                counts.hosts_equal,
                counts.moves,
            ];
            table.push_row([&[Cell::text(name)][..], &counts.map(Cell::count)].concat());
        };
        for one in &self.by_case {
            push(&one.case, &one.counts);
        }
        push("all", &self.counts);
        let mut sheet = Sheet::default();
        sheet.add_table(table);
        for one in &self.by_case {
            for difference in &one.differences {
                sheet.add_line(format!("{}: {difference}", one.case));
            }
        }
        sheet
    }
}

/// Decides all stored calls again with the policy `authors-2015`. Cases are read from the JSON files in `folder`; `None` stands
/// for the built-in cases.
///
/// # Errors
/// A file cannot be read or is not a stored case. The problems of all files are reported together.
pub fn compare_with_authors(folder: Option<&Path>) -> Result<AuthorsComparison, Error> {
    let texts = if let Some(folder) = folder {
        texts_in_folder(folder)?
    } else {
        let names = (1..).map(|line| format!("built-in case {line}"));
        let text = decompress_text(CASES)?;
        names.zip(text.lines().map(str::to_owned)).collect()
    };
    let (mut by_case, mut problems) = (Vec::new(), Vec::new());
    for (source, text) in texts {
        match decide_calls_again(&source, &text) {
            Ok(case) => by_case.push(case),
            Err(Error::Input(found)) => problems.extend(found),
            Err(error) => return Err(error),
        }
    }
    if !problems.is_empty() {
        let hint = "correct this value in the file of the case, or leave out the file";
        return Err(Error::Input(problems).with_default_hint(hint));
    }
    let mut counts = ComparisonCounts::default();
    for one in &by_case {
        counts.add(&one.counts);
    }
    Ok(AuthorsComparison {
        schema: ResultsVersion::Two,
        cases: by_case.len(),
        counts,
        by_case,
    })
}

fn decide_calls_again(source: &str, text: &str) -> Result<CaseResult, Error> {
    let reader = CaseReader::parse(source, text)?;
    let mut compared = CallComparison::default();
    for (at, call) in reader.case.calls.iter().enumerate() {
        compared.superstep = call.superstep;
        compared.compare_call(&reader, &format!("calls[{at}]"), call)?;
    }
    Ok(CaseResult {
        heuristic: reader.case.heuristic,
        counts: compared.counts,
        differences: compared.differences,
        case: reader.case.case,
        scenario: reader.case.scenario,
    })
}

/// Counts and differences of the calls of a case up to now.
#[derive(Default)]
struct CallComparison {
    superstep: u64,
    counts: ComparisonCounts,
    differences: Vec<String>,
}

impl CallComparison {
    /// Returns 1 if two values are equal. Otherwise describes the difference and returns 0.
    fn count<T: PartialEq + Debug>(&mut self, what: &str, ours: &T, stored: &T) -> usize {
        self.count_if(ours == stored, what, ours, stored)
    }

    /// As `count`, but -0 and 0 are different numbers.
    fn count_bits(&mut self, what: &str, ours: f64, stored: f64) -> usize {
        self.count_if(ours.to_bits() == stored.to_bits(), what, &ours, &stored)
    }

    fn count_if(
        &mut self,
        is_equal: bool,
        what: &str,
        ours: &dyn Debug,
        stored: &dyn Debug,
    ) -> usize {
        if !is_equal && self.differences.len() < MAX_DESCRIBED_DIFFERENCES {
            self.differences.push(format!(
                "call after superstep {}: {what}: {ours:?}, stored {stored:?}",
                self.superstep
            ));
        }
        usize::from(is_equal)
    }

    fn compare_call(
        &mut self,
        reader: &CaseReader,
        key: &str,
        call: &StoredCall,
    ) -> Result<(), Problem> {
        let case = &reader.case;
        let times = reader.superstep_times(key, call)?;
        for (at, (times, stored)) in (1..).zip(times.iter().zip(&call.processes_outside_d)) {
            let what = format!("processes outside D in superstep {at} of the interval");
            let found = count_unbalanced_processes(times, case.parameters.d);
            self.counts.outside_equal += self.count(&what, &found, stored);
            self.counts.outside += 1;
        }
        let (Some(table), Some(order), Some(heuristic)) =
            (&call.reports, &call.order, case.heuristic)
        else {
            return Ok(());
        };
        let reports = reader.reports(key, call, table)?;
        let answer = ReschedulingCall {
            sets: &reader.host_sets()?,
            reports: &reports.processes,
            heuristic,
            percentage_x: case.parameters.x.unwrap_or_default(),
            was_candidate: &reader.was_candidate(key, call)?,
            is_pinned: &[],
            are_moves_carried_out: case.scenario == "iii",
        }
        .decide();
        self.counts.calls += 1;
        for (set, (&ours, &theirs)) in answer.set_indices.iter().zip(&call.iset).enumerate() {
            self.counts.indices_equal +=
                self.count_bits(&format!("ISet of Set {set}"), ours, theirs);
            self.counts.indices += 1;
        }
        let potentials = answer.potential_terms.iter().zip(&reports.potentials);
        for (rank, (ours, theirs)) in (1..).zip(potentials) {
            for (set, (ours, &theirs)) in ours.iter().zip(theirs).enumerate() {
                let what = format!("PM of rank {rank} for Set {set}");
                self.counts.potentials_equal += self.count_bits(&what, ours.potential(), theirs);
                self.counts.potentials += 1;
            }
        }
        let ours = answer.preference_order.iter();
        let ours: Vec<_> = ours
            .map(|wish| (wish.process + 1, wish.preferred_set))
            .collect();
        let stored = reader.rows(format!("{key}.order"), order).map(|row| {
            let rank = row.read("rank", "a rank", index)?;
            let set = row.read("set", "a Set, or null", |set| {
                if set.is_null() {
                    Some(None)
                } else {
                    index(set).map(Some)
                }
            })?;
            Ok((rank, set))
        });
        let stored: Vec<_> = stored.collect::<Result<_, Problem>>()?;
        self.counts.orders_equal += self.count("order (rank, Set)", &ours, &stored);
        let ours = (1..)
            .zip(&answer.is_candidate)
            .filter(|(_, is_candidate)| **is_candidate);
        let mut stored = call.candidates.clone();
        stored.sort_unstable();
        self.counts.candidates_equal +=
            self.count("candidates", &ours.map(|(rank, _)| rank).collect(), &stored);
        let ours = answer.moves.iter().map(|one| {
            let prefix = &case.sets[one.destination_set].prefix;
            format!(
                "{} to {prefix}-{}",
                one.process + 1,
                one.destination_host + 1
            )
        });
        let stored = reader.rows(format!("{key}.decided_moves"), &call.decided_moves);
        let stored = stored.map(|row| {
            let host = row.read("host", "the name of a host", |host| {
                host.as_str().map(str::to_owned)
            })?;
            Ok(format!("{} to {host}", row.read("rank", "a rank", index)?))
        });
        let stored: Vec<String> = stored.collect::<Result<_, Problem>>()?;
        self.counts.hosts_equal += self.count("moves", &ours.collect(), &stored);
        self.counts.moves += stored.len();
        Ok(())
    }
}

fn index(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

fn texts_in_folder(folder: &Path) -> Result<Vec<(String, String)>, Error> {
    let shown = folder.display().to_string();
    let wrong = |message: String| {
        let problem = Problem::new(message).source(format!("--cases {shown}"));
        problem.hint("name a folder with a JSON file for each case")
    };
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries =
        entries.map_err(|error| wrong(format!("cannot read the folder `{shown}`: {error}")))?;
    let mut files: Vec<_> = entries.iter().map(DirEntry::path).collect();
    files.retain(|file| file.extension().is_some_and(|suffix| suffix == "json"));
    files.sort();
    if files.is_empty() {
        let message = format!("the folder `{shown}` has no file whose name ends in `.json`");
        return Err(wrong(message).into());
    }
    let texts = files
        .iter()
        .map(|file| Ok((file.display().to_string(), read_text(file)?)));
    texts.collect()
}

#[cfg(test)]
mod tests;
