//! Comparison of the policy `authors-2015` with the authors' simulation program of 2015: the policy decides the stored
//! rescheduling calls of the program again.
//!
//! ```text
//! cases.jsonl.br, or a folder ─> case ─┬─> replay: the stored calls, decided again ─┬─> page, table, JSON
//!                                      └─> runs: the whole run, simulated again ───┘
//! ```
//! A case is a run of the program `migcubemighull/heuristics` (2015), stored as numbers. The program has no licence, so this
//! repository contains none of its text. The built-in cases were produced by the program with SimGrid 3.32 set to the behaviour
//! of SimGrid 3.11. A case has the reports of the processes and the decision of the managers for each call. Each line of
//! `cases.jsonl.br` (compressed with brotli) is a case. The terms of PM (potential of migration) and the times of the reports are
//! not stored, because they are not compared.
//!
//! No constant is fitted. [`ReschedulingCall::decide`](migsim_policies::authors_2015::ReschedulingCall::decide) gets the reports of a call, and its
//! decision is compared with the stored decision. A whole run is simulated with the settings of the built-in experiment
//! `authors-cpu` and the parameters of the case.

mod case;
mod page;
mod predicted;
mod replay;
mod runs;
mod slips;
mod ties;

use std::path::Path;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::packed::decompress_text;
use migsim_base::document::read_text;
use migsim_base::error::{Error, Problem};

use case::StoredCase;
pub use page::{csv_table, markdown_page, terminal_text};
pub use predicted::{AnswerOrderMakespans, CommonInterpretationRun};
pub use replay::CaseResult;
pub use runs::{ComparedRun, simulate_and_compare_run};
pub use slips::{ResultWithoutSlip, Slip};
pub use ties::PotentialsComparison;

/// Built-in cases (stored runs of the authors' program): one JSON object per line, compressed with brotli.
const CASES: &[u8] = include_bytes!("cases.jsonl.br");

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
    /// Number of whole runs whose simulated end time differs from the end time of the program by less than the fraction 1e-6.
    pub makespans_within_1e6: usize,
    /// Number of whole runs of the program that were simulated again.
    pub makespans: usize,
    /// Comparison of each simulated whole run with the same run of the program.
    pub by_run: Vec<ComparedRun>,
    /// Runs with the initial process placements of the authors' program, simulated with the policy `migbsp` under the common
    /// interpretation of the MigBSP rules (the same interpretation for all papers).
    pub common_reading: Vec<CommonInterpretationRun>,
    /// Runs in scenario ii with the initial process placements of the authors' program, simulated with different orders in which
    /// a rescheduling call answers the processes.
    pub answered: Vec<AnswerOrderMakespans>,
    /// Results of deciding the stored calls again, once without each known mistake of the authors' program.
    pub without_slips: Vec<ResultWithoutSlip>,
    /// Result of deciding the calls again, for each case.
    pub by_case: Vec<CaseResult>,
}

/// Version of the JSON format of the results of the comparison with the authors' program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
enum ResultsVersion {
    /// Version 1, the only version so far.
    #[default]
    #[serde(rename = "migsim-authors-2015-1")]
    One,
}

/// Returns the JSON Schema of the output of `migsim reproduce authors-2015 --json`.
pub fn results_json_schema() -> String {
    format!(
        "{:#}\n",
        schemars::schema_for!(AuthorsComparison).to_value()
    )
}

impl AuthorsComparison {
    /// Returns whether the policy decided every stored call exactly as the program did.
    pub fn are_all_decisions_equal(&self) -> bool {
        self.counts.are_all_values_equal()
    }
}

/// Decides all stored calls again with the policy `authors-2015`, and simulates all stored whole runs again. Cases are read from
/// the JSON files in `folder`; `None` stands for the built-in cases.
///
/// # Errors
/// A file cannot be read or is not a stored case. The problems of all files are reported together.
pub fn compare_with_authors(folder: Option<&Path>) -> Result<AuthorsComparison, Error> {
    let cases = match folder {
        Some(folder) => cases_in_folder(folder)?,
        None => built_in_cases()?,
    };
    let by_case: Vec<CaseResult> = cases.iter().map(replay::replay_calls).collect();
    let mut counts = ComparisonCounts::default();
    for one in &by_case {
        counts.add(&one.counts);
    }
    let run = |case: &StoredCase| {
        let compared = simulate_and_compare_run(&case.json_of_file);
        compared.map_err(|error| {
            error.map_problems_without_location(|problem| problem.source(&case.file_name))
        })
    };
    let runs = cases.par_iter().map(run);
    let runs = runs.collect::<Result<Vec<_>, Error>>()?;
    let by_run: Vec<ComparedRun> = runs.into_iter().flatten().collect();
    let are_equal = by_run.iter().filter(|run| run.is_makespan_equal());
    Ok(AuthorsComparison {
        schema: ResultsVersion::One,
        cases: by_case.len(),
        counts,
        makespans_within_1e6: are_equal.count(),
        makespans: by_run.len(),
        by_run,
        common_reading: predicted::simulate_common_interpretation()?,
        answered: predicted::simulate_answer_orders()?,
        without_slips: slips::results_without_slips(&cases),
        by_case,
    })
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
