//! Writes the table `processes.csv` during the simulation: the times in which each process computes, communicates, and waits for
//! messages in each superstep.

use super::{
    Draft, RunFolder, activity::COLUMNS, folder::processes_part_name, lines::LineWriter,
    protect_formula_like_text,
};
use migsim_base::{error::Result, units::HostId};
use migsim_bsp::{Recorder, Scenario};
use migsim_platform::Platform;
use migsim_policies::Measures;

/// Writer of `processes.csv` for one scenario: writes the times of all processes whenever a superstep has ended.
#[derive(Debug)]
pub struct ProcessTableWriter<'p> {
    platform: &'p Platform,
    scenario: Scenario,
    temporary_file: Draft,
    lines: LineWriter,
    /// For each host, the cells with the names of its cluster and of the host; empty for hosts that had no process so far.
    host_cells: Vec<Vec<u8>>,
}

impl<'p> ProcessTableWriter<'p> {
    /// Creates the temporary file with the part of `processes.csv` for one scenario in a run folder, and writes the header line.
    ///
    /// # Errors
    /// The file cannot be created or written.
    pub fn create(folder: &RunFolder, platform: &'p Platform, scenario: Scenario) -> Result<Self> {
        let (draft, file) = folder.create_temporary_file(&processes_part_name(scenario))?;
        let mut lines = LineWriter::new(file);
        lines.push_text(COLUMNS.join(",")).end_line();
        Ok(Self {
            platform,
            scenario,
            temporary_file: draft,
            lines,
            host_cells: vec![Vec::new(); platform.hosts.len()],
        })
    }

    /// Completes the table of the scenario, and returns its temporary file, which is not yet published under its final name.
    ///
    /// # Errors
    /// A write failed.
    pub fn finish(self) -> Result<Draft> {
        self.lines
            .finish()
            .map_err(|error| self.temporary_file.write_error(&error))?;
        Ok(self.temporary_file)
    }
}

fn host_cells(platform: &Platform, host: HostId) -> Vec<u8> {
    let place = &platform.hosts[host.index()];
    let cluster = &platform.clusters[place.cluster.index()].name;
    let names = [cluster, &place.name].map(|name| protect_formula_like_text(name));
    let mut row = csv::Writer::from_writer(Vec::new());
    row.write_record(names.each_ref().map(|name| name.as_bytes()))
        .expect("a list takes all bytes");
    let mut cells = row.into_inner().expect("a list takes all bytes");
    cells.pop(); // the line end
    cells
}

impl Recorder for ProcessTableWriter<'_> {
    fn wants_transfer_times(&self) -> bool {
        true
    }

    fn on_superstep(&mut self, superstep: usize, measures: &Measures, placement: &[HostId]) {
        let head = format!("{},{},", self.scenario.name(), superstep + 1);
        for (process, &host) in placement.iter().enumerate() {
            let cells = &mut self.host_cells[host.index()];
            if cells.is_empty() {
                *cells = host_cells(self.platform, host);
            }
            self.lines
                .push_text(&head)
                .push_number(process as u64 + 1)
                .push_text(",")
                .push_text(cells);
            let values = [
                measures.begin_delays[process].get(),
                measures.work[process].get(),
                measures.computation_times[process].get(),
                measures.send_times[process].get(),
                measures.transfer_times[process].get(),
                measures.message_waits[process].get(),
            ];
            for value in values {
                self.lines.push_text(",");
                self.lines.push_shortest_float(value);
            }
            self.lines.end_line();
        }
    }
}
