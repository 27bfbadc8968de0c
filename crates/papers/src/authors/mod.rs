//! Compares the policy `authors-2015` with the authors' simulation program of 2015: the policy decides stored calls of the
//! program again.
//!
//! ```text
//! cases.jsonl.br, or a folder ─> case ─┬─> replay: the stored calls, decided again ─┬─> page, table, JSON
//!                                      └─> runs: the whole run, simulated again ───┘
//! ```
//! A case is a run of the program `migcubemighull/heuristics` (2015), as numbers. The program has no licence, so none of its text
//! is included here. The built-in cases are numbers that the program produced with SimGrid 3.32 in the behaviour of SimGrid 3.11:
//! for each call the reports of the processes and the decision of the managers. A line of `cases.jsonl.br` (brotli) is a case.
//! The terms of PM (potential of migration) and the times of the reports are left out, since they are not compared.
//!
//! No constant is fitted. [`Call::decide`](migsim_policies::authors_2015::Call::decide) gets the reports of a call, and its
//! answer is compared with the stored decision. A whole run is simulated with the settings of the built-in experiment
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

use super::packed::unpack;
use migsim_base::document::read_text;
use migsim_base::error::{Error, Problem};

use case::Case;
pub use page::{csv, markdown, text};
pub use predicted::{AnsweredRun, CommonRun};
pub use replay::CaseResult;
pub use runs::{ComparedRun, simulate_and_compare};
pub use slips::{Slip, Without};
pub use ties::Tie;

/// The built-in recorded runs of the authors' program (cases): one JSON object per line, compressed with brotli.
const CASES: &[u8] = include_bytes!("cases.jsonl.br");

/// Numbers of compared values, and of compared values that are equal in the program and in the policy `authors-2015`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Number of calls whose reports are stored.
    pub calls: usize,
    /// Number of Set indices (relative speeds of clusters) that are equal to the last bit.
    pub indices_equal: usize,
    /// Number of Set indices that were compared.
    pub indices: usize,
    /// Number of potentials of migration PM(i,j) that are equal to the last bit.
    pub potentials_equal: usize,
    /// Number of potentials of migration that were compared.
    pub potentials: usize,
    /// Number of calls with the same order of processes and the same preferred Sets.
    pub orders_equal: usize,
    /// Number of calls with the same candidates.
    pub candidates_equal: usize,
    /// Number of calls with the same moves, each to the same host.
    pub hosts_equal: usize,
    /// Number of moves that the program decided in these calls.
    pub moves: usize,
    /// Number of supersteps with stored times in which the same number of processes has a time outside mean · (1 ± D).
    pub outside_equal: usize,
    /// Number of supersteps with stored times.
    pub outside: usize,
}

impl Counts {
    /// Adds the counts of another case to these counts.
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

    /// Returns whether all compared values are equal.
    pub fn is_exact(&self) -> bool {
        let calls = [self.orders_equal, self.candidates_equal, self.hosts_equal];
        calls == [self.calls; 3]
            && self.indices_equal == self.indices
            && self.potentials_equal == self.potentials
            && self.outside_equal == self.outside
    }
}

/// Results of the comparison with the authors' program in all cases.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Authors {
    /// Name and version of the format of these results.
    schema: Version,
    /// Number of cases that were compared.
    pub cases: usize,
    /// Numbers of compared and of equal values in all cases.
    #[serde(flatten)]
    pub counts: Counts,
    /// Number of whole runs whose end time agrees with that of the program to a relative difference of 1e-6.
    pub makespans_within_1e6: usize,
    /// Number of whole runs that were simulated again.
    pub makespans: usize,
    /// Comparison of each whole run with the run of the program.
    pub by_run: Vec<ComparedRun>,
    /// Runs of the built-in deployments with the policy `migbsp` under the common interpretation of the papers.
    pub common_reading: Vec<CommonRun>,
    /// Runs of the built-in deployments in scenario ii, for each order in which a call answers the processes.
    pub answered: Vec<AnsweredRun>,
    /// Effect of each known mistake of the program: results of the calls decided without this mistake.
    pub without_slips: Vec<Without>,
    /// Result of the comparison for each case.
    pub by_case: Vec<CaseResult>,
}

/// Name and version of the format of the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
enum Version {
    /// Version 1, the only version so far.
    #[default]
    #[serde(rename = "migsim-authors-2015-1")]
    One,
}

/// Returns the JSON Schema of the data that `migsim reproduce authors-2015 --json` prints.
pub fn schema() -> String {
    format!("{:#}\n", schemars::schema_for!(Authors).to_value())
}

impl Authors {
    /// Returns whether the policy decided every stored call exactly as the program did.
    pub fn is_exact(&self) -> bool {
        self.counts.is_exact()
    }
}

/// Decides all stored calls again and simulates all stored runs again. The cases are the JSON files in `folder`, or the built-in
/// cases if it is `None`.
///
/// # Errors
/// A file cannot be read or is not a stored case. The problems of all files are reported together.
pub fn compare_with_authors(folder: Option<&Path>) -> Result<Authors, Error> {
    let cases = match folder {
        Some(folder) => cases_in_folder(folder)?,
        None => built_in_cases()?,
    };
    let by_case: Vec<CaseResult> = cases.iter().map(replay::replay_calls).collect();
    let mut counts = Counts::default();
    for one in &by_case {
        counts.add(&one.counts);
    }
    let run = |case: &Case| {
        let compared = simulate_and_compare(&case.stored);
        compared.map_err(|error| error.map_unplaced(|problem| problem.source(&case.source)))
    };
    let runs = cases.par_iter().map(run);
    let runs = runs.collect::<Result<Vec<_>, Error>>()?;
    let by_run: Vec<ComparedRun> = runs.into_iter().flatten().collect();
    let are_equal = by_run.iter().filter(|run| run.is_makespan_equal());
    Ok(Authors {
        schema: Version::One,
        cases: by_case.len(),
        counts,
        makespans_within_1e6: are_equal.count(),
        makespans: by_run.len(),
        by_run,
        common_reading: predicted::simulate_common_runs()?,
        answered: predicted::simulate_answered_runs()?,
        without_slips: slips::results_without_slips(&cases),
        by_case,
    })
}

/// Reads the built-in cases.
fn built_in_cases() -> Result<Vec<Case>, Error> {
    let text = unpack(CASES)?;
    let lines = (1..).zip(text.lines());
    let read = |(line, text): (usize, &str)| case::read(&format!("built-in case {line}"), text);
    lines.map(read).collect()
}

/// Reads the cases in the JSON files of a folder, sorted by name.
fn cases_in_folder(folder: &Path) -> Result<Vec<Case>, Error> {
    let shown = folder.display().to_string();
    let wrong = |message: String| {
        let problem = Problem::new(message).source(format!("--cases {shown}"));
        problem.hint("give a folder with a JSON file for each case")
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
        return Err(wrong(format!("`{shown}` has no file whose name ends in `.json`")).into());
    }
    let (mut cases, mut problems) = (Vec::new(), Vec::new());
    for file in &files {
        let name = file.display().to_string();
        let read = read_text(file).map_err(Error::from);
        match read.and_then(|text| case::read(&name, &text)) {
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
