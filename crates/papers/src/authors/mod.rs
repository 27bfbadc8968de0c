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

use std::fmt::Debug;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::packed::decompress_text;
use migsim_base::document::read_text;
use migsim_base::error::{Error, Problem};
use migsim_output::{Cell, Sheet, Table, number_column, text_column};
use migsim_policies::authors_2015::{Heuristic, count_unbalanced_processes};

use case::{StoredCall, StoredCase, StoredReports};

/// Built-in cases (stored runs of the authors' program): one JSON object per line, compressed with brotli.
const CASES: &[u8] = include_bytes!("cases.jsonl.br");

/// Maximum number of differences of a case that are described in words.
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
    let cases = match folder {
        Some(folder) => cases_in_folder(folder)?,
        None => built_in_cases()?,
    };
    let by_case: Vec<CaseResult> = cases.iter().map(decide_calls_again).collect();
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

/// Decides those calls of a case again whose reports are stored, and compares the decisions with the stored decisions.
fn decide_calls_again(case: &StoredCase) -> CaseResult {
    let mut judged = CallComparison::default();
    for call in &case.calls {
        judged.superstep = call.superstep;
        let times = call.superstep_times.iter().zip(&call.processes_outside_d);
        for (at, (times, &stored)) in times.enumerate() {
            let found = count_unbalanced_processes(times, case.imbalance_d);
            let what = format!(
                "processes outside D in superstep {} of the interval",
                at + 1
            );
            judged.counts.outside_equal += judged.count_equal(&what, &found, &stored);
            judged.counts.outside += 1;
        }
        if let (Some(reports), Some(heuristic)) = (&call.reports, case.heuristic) {
            judged.compare_call(case, call, reports, heuristic);
        }
    }
    CaseResult {
        case: case.name.clone(),
        scenario: case.scenario.clone(),
        heuristic: case.heuristic,
        counts: judged.counts,
        differences: judged.differences,
    }
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
    fn count_equal<T: PartialEq + Debug>(&mut self, what: &str, ours: &T, stored: &T) -> usize {
        self.count(what, ours == stored, ours, stored)
    }

    /// As `count_equal`, but -0 and 0 are different numbers.
    fn count_equal_bits(&mut self, what: &str, ours: f64, stored: f64) -> usize {
        self.count(what, ours.to_bits() == stored.to_bits(), &ours, &stored)
    }

    fn count(&mut self, what: &str, is_equal: bool, ours: &dyn Debug, stored: &dyn Debug) -> usize {
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
        case: &StoredCase,
        call: &StoredCall,
        stored: &StoredReports,
        heuristic: Heuristic,
    ) {
        let answer = case.call_input(call, stored, heuristic).decide();
        self.counts.calls += 1;
        for (set, (&ours, &theirs)) in answer.set_indices.iter().zip(&call.iset_values).enumerate()
        {
            self.counts.indices_equal +=
                self.count_equal_bits(&format!("ISet of Set {set}"), ours, theirs);
            self.counts.indices += 1;
        }
        let potentials = answer
            .potential_terms
            .iter()
            .zip(&stored.migration_potentials);
        for (process, (ours, theirs)) in potentials.enumerate() {
            for (set, (ours, &theirs)) in ours.iter().zip(theirs).enumerate() {
                let what = format!("PM of rank {} for Set {set}", process + 1);
                self.counts.potentials_equal +=
                    self.count_equal_bits(&what, ours.potential(), theirs);
                self.counts.potentials += 1;
            }
        }
        let order = answer.preference_order.iter();
        let order = order
            .map(|wish| (wish.process, wish.preferred_set))
            .collect();
        let ranked = |order: Vec<(usize, Option<usize>)>| -> Vec<(usize, Option<usize>)> {
            order
                .into_iter()
                .map(|(process, set)| (process + 1, set))
                .collect()
        };
        self.counts.orders_equal += self.count_equal(
            "order (rank, Set)",
            &ranked(order),
            &ranked(stored.processes_sorted_by_potential.clone()),
        );
        let ranks = |flags: &[bool]| -> Vec<usize> {
            (1..)
                .zip(flags)
                .filter(|(_, flag)| **flag)
                .map(|(rank, _)| rank)
                .collect()
        };
        self.counts.candidates_equal += self.count_equal(
            "candidates",
            &ranks(&answer.is_candidate),
            &ranks(&call.is_candidate),
        );
        let moves = |moves: &[migsim_policies::authors_2015::Move]| -> Vec<String> {
            let words = moves.iter().map(|one| {
                let prefix = &case.host_prefixes[one.destination_set];
                format!(
                    "{} to {prefix}-{}",
                    one.process + 1,
                    one.destination_host + 1
                )
            });
            words.collect()
        };
        self.counts.hosts_equal +=
            self.count_equal("moves", &moves(&answer.moves), &moves(&call.moves));
        self.counts.moves += call.moves.len();
    }
}

/// Reads the cases (stored runs of the authors' program) that are compiled into this crate.
fn built_in_cases() -> Result<Vec<StoredCase>, Error> {
    let text = decompress_text(CASES)?;
    let lines = (1..).zip(text.lines());
    let read =
        |(line, text): (usize, &str)| case::parse_case(&format!("built-in case {line}"), text);
    lines.map(read).collect()
}

/// Reads the cases in the JSON files of a folder, sorted by file name.
fn cases_in_folder(folder: &Path) -> Result<Vec<StoredCase>, Error> {
    let shown = folder.display().to_string();
    let wrong = |message: String| {
        let problem = Problem::new(message).source(format!("--cases {shown}"));
        problem.hint("name a folder with a JSON file for each case")
    };
    let entries = std::fs::read_dir(folder)
        .map_err(|error| wrong(format!("cannot read the folder `{shown}`: {error}")))?;
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| wrong(format!("cannot read `{shown}`: {error}")))?;
        files.push(entry.path());
    }
    files.retain(|file| file.extension().is_some_and(|suffix| suffix == "json"));
    files.sort();
    if files.is_empty() {
        return Err(wrong(format!(
            "the folder `{shown}` has no file whose name ends in `.json`"
        ))
        .into());
    }
    let (mut cases, mut problems) = (Vec::new(), Vec::new());
    for file in &files {
        let name = file.display().to_string();
        let read = read_text(file).map_err(Error::from);
        match read.and_then(|text| case::parse_case(&name, &text)) {
            Ok(case) => cases.push(case),
            Err(Error::Input(found)) => problems.extend(found),
            Err(error) => return Err(error),
        }
    }
    if problems.is_empty() {
        Ok(cases)
    } else {
        Err(Error::Input(problems))
    }
}

#[cfg(test)]
mod tests;
