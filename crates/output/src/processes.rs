//! Writes the table `processes.csv` during the simulation: computation time and communication time of each process in each
//! superstep.

use std::fs::File;
use std::io::{self, BufWriter};

use super::activity::COLUMNS;
use super::folder::processes_part_name;
use super::{Draft, RunFolder, protect_formula_like_text};
use migsim_base::error::Error;
use migsim_base::units::HostId;
use migsim_bsp::{Recorder, Scenario};
use migsim_platform::Platform;
use migsim_policies::Measures;

/// Writer of `processes.csv` for one scenario: writes the times of all processes whenever a superstep has ended.
#[derive(Debug)]
pub struct ProcessTableWriter<'p> {
    platform: &'p Platform,
    scenario: Scenario,
    temporary_file: Draft,
    csv_writer: csv::Writer<BufWriter<File>>,
    /// Error of the first write that failed; `None` if no write failed. After an error, nothing more is written.
    first_error: Option<csv::Error>,
}

impl<'p> ProcessTableWriter<'p> {
    /// Creates the temporary file with the part of `processes.csv` for one scenario in a run folder, and writes the header line.
    ///
    /// # Errors
    /// The file cannot be created or written.
    pub fn create(
        folder: &RunFolder,
        platform: &'p Platform,
        scenario: Scenario,
    ) -> Result<Self, Error> {
        let (draft, file) = folder.create_temporary_file(&processes_part_name(scenario))?;
        let mut out = csv::Writer::from_writer(BufWriter::new(file));
        let failure = out.write_record(COLUMNS).err();
        Ok(Self {
            platform,
            scenario,
            temporary_file: draft,
            csv_writer: out,
            first_error: failure,
        })
    }

    /// Completes the table of the scenario, and returns its temporary file, which is not yet published under its final name.
    ///
    /// # Errors
    /// A write failed.
    pub fn finish(mut self) -> Result<Draft, Error> {
        let written = match self.first_error {
            Some(failure) => Err(failure),
            None => self.csv_writer.flush().map_err(csv::Error::from),
        };
        written.map_err(|error| self.temporary_file.write_error(&error.into()))?;
        Ok(self.temporary_file)
    }

    fn write_superstep(
        &mut self,
        superstep: usize,
        measures: &Measures,
        placement: &[HostId],
    ) -> io::Result<()> {
        for (process, &host) in placement.iter().enumerate() {
            let place = &self.platform.hosts[host.index()];
            self.csv_writer.write_record([
                self.scenario.name(),
                &(superstep + 1).to_string(),
                &(process + 1).to_string(),
                &protect_formula_like_text(&self.platform.clusters[place.cluster.index()].name),
                &protect_formula_like_text(&place.name),
                &measures.begin_delays[process].get().to_string(),
                &measures.work[process].get().to_string(),
                &measures.computation_times[process].get().to_string(),
                &measures.send_times[process].get().to_string(),
                &measures.communication_times[process].get().to_string(),
            ])?;
        }
        Ok(())
    }
}

impl Recorder for ProcessTableWriter<'_> {
    fn on_superstep(&mut self, superstep: usize, measures: &Measures, placement: &[HostId]) {
        if self.first_error.is_none() {
            self.first_error = self
                .write_superstep(superstep, measures, placement)
                .err()
                .map(csv::Error::from);
        }
    }
}
