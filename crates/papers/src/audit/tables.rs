//! The tables of the audit that take minutes to compute: their computation, their output as CSV, and the reading of this CSV.

use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ablation::{Ablation, ablate_option};
use super::held_out::{HeldOutPrediction, RefittedConstant, predict_held_out_and_refit};
use super::sensitivity::{Sensitivity, sensitivity};
use super::settings::Setting;
use super::subject::AuditedPaper;
use crate::page::ResultsFile;
use migsim_base::error::{Error, Problem};
use migsim_experiment::Progress;

/// Tables of the audit for which some thousand reproductions of papers are simulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuditTables {
    /// Accuracy of predictions of published times that were left out of the fit of the constants.
    pub held_out: Vec<HeldOutPrediction>,
    /// Constants of the reproductions, fitted again to all published times.
    pub refitted: Vec<RefittedConstant>,
    /// Numbers of reproduced results with each number of a reproduction 1 % lower and 1 % higher, and the window without losses.
    pub sensitivity: Vec<Sensitivity>,
    /// Numbers of reproduced results with each option of a reproduction set to each of its other values.
    pub ablation: Vec<Ablation>,
}

const HELD_OUT: &str = "audit-held-out.csv";
const REFITTED: &str = "audit-refitted.csv";
const SENSITIVITY: &str = "audit-sensitivity.csv";
const ABLATION: &str = "audit-ablation.csv";

impl AuditTables {
    /// Computes all tables. Rows are in the order of the papers and their settings, independent of the number of threads.
    pub(super) fn compute(subjects: &[AuditedPaper], progress: &Progress) -> Result<Self, Error> {
        let pairs: Vec<(&AuditedPaper, &Setting)> = subjects
            .iter()
            .flat_map(|subject| {
                subject
                    .settings
                    .iter()
                    .map(move |setting| (subject, setting))
            })
            .collect();
        let (numbers, options): (Vec<_>, Vec<_>) = pairs
            .into_iter()
            .partition(|(_, setting)| setting.is_number());
        let held: Vec<_> = subjects
            .par_iter()
            .map(|subject| {
                let cells = subject.table_cells();
                let cells = (&*cells, &subject.accuracy);
                predict_held_out_and_refit(subject.paper, &subject.settings, cells, progress)
            })
            .collect::<Result<_, Error>>()?;
        let (held_out, refitted): (Vec<_>, Vec<_>) = held.into_iter().unzip();
        let sensitivity = numbers
            .par_iter()
            .map(|(subject, setting)| sensitivity(setting, &subject.accuracy, progress))
            .collect();
        let ablation: Vec<Vec<Ablation>> = options
            .par_iter()
            .map(|(subject, setting)| ablate_option(setting, &subject.accuracy, progress))
            .collect();
        Ok(Self {
            held_out: held_out.concat(),
            refitted: refitted.concat(),
            sensitivity,
            ablation: ablation.concat(),
        })
    }

    /// Returns the four tables as CSV files, each with its name and text.
    ///
    /// # Errors
    /// A table cannot be written as CSV.
    pub fn csv_pages(&self) -> Result<Vec<ResultsFile>, Error> {
        Ok(vec![
            csv_page(HELD_OUT, &self.held_out)?,
            csv_page(REFITTED, &self.refitted)?,
            csv_page(SENSITIVITY, &self.sensitivity)?,
            csv_page(ABLATION, &self.ablation)?,
        ])
    }

    /// Reads the four tables. The function `file` returns the text of the CSV file with a given name.
    ///
    /// # Errors
    /// A file is missing, or does not have the columns of its table.
    pub fn read(file: impl Fn(&str) -> Result<String, Error>) -> Result<Self, Error> {
        Ok(Self {
            held_out: parse_rows(HELD_OUT, &file(HELD_OUT)?)?,
            refitted: parse_rows(REFITTED, &file(REFITTED)?)?,
            sensitivity: parse_rows(SENSITIVITY, &file(SENSITIVITY)?)?,
            ablation: parse_rows(ABLATION, &file(ABLATION)?)?,
        })
    }
}

/// Reads the committed table of held-out predictions, which is compiled into the program.
///
/// # Errors
/// The file does not have the columns of this table.
pub(super) fn committed_held_out_predictions() -> Result<Vec<HeldOutPrediction>, Error> {
    let text = include_str!("../../../../results/audit-held-out.csv");
    parse_rows(HELD_OUT, text)
}

fn csv_page<R: Serialize>(name: &str, rows: &[R]) -> Result<ResultsFile, Error> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let problem = |error: String| Error::Output(Problem::new(error).source(name));
    for row in rows {
        table
            .serialize(row)
            .map_err(|error| problem(error.to_string()))?;
    }
    let bytes = table
        .into_inner()
        .map_err(|error| problem(error.to_string()))?;
    Ok(ResultsFile {
        name: name.into(),
        text: String::from_utf8(bytes).map_err(|error| problem(error.to_string()))?,
    })
}

fn parse_rows<R: DeserializeOwned>(name: &str, text: &str) -> Result<Vec<R>, Error> {
    let mut table = csv::Reader::from_reader(text.as_bytes());
    table
        .deserialize()
        .collect::<Result<_, _>>()
        .map_err(|error| Problem::new(error.to_string()).source(name).into())
}
