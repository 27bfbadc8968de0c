//! Start delay, computation time and communication time of each process in each superstep, for pictures and traces of a run.
//!
//! The times are either read from `processes.csv` or recorded in memory during the simulation. They are stored as 32-bit floats,
//! which is precise enough for pictures. The hosts of the processes are not stored: they follow from `platform.json` and
//! `migrations.csv`. A table `processes.csv` that contradicts these two files is reported as damaged.

use std::path::Path;

use super::csv_guard::protect_formula_like_text;
use super::inside::read_refusing_outside_links_if_present;
use super::machine::{HostLocation, PlatformSummary};
use super::read::{Run, ScenarioRecords, damaged_file_error};
use migsim_base::document::read_bytes;
use migsim_base::error::Error;
use migsim_base::units::{HostId, Seconds};
use migsim_bsp::{Recorder, Scenario};
use migsim_policies::Measures;

/// Start delay, computation time and communication time of each process in each superstep of one scenario. Each list is ordered
/// by superstep and, within a superstep, by process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessTimes {
    /// Delay with which each process starts a superstep, counted from the time at which the earliest process starts the superstep
    /// \[s\].
    pub start_delay_s: Vec<f32>,
    /// Computation time of each process in each superstep \[s\].
    pub computation_s: Vec<f32>,
    /// Time after the computation of each process in each superstep in which at least one message of the process is in progress
    /// \[s\].
    pub communication_s: Vec<f32>,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "seven digits are enough for pictures"
)]
impl Recorder for ProcessTimes {
    fn on_superstep(&mut self, _superstep: usize, measures: &Measures, _placement: &[HostId]) {
        let short = |list: &mut Vec<f32>, seconds: &[Seconds]| {
            list.extend(seconds.iter().map(|one| one.get() as f32));
        };
        short(&mut self.start_delay_s, &measures.begin_delays);
        short(&mut self.computation_s, &measures.computation_times);
        short(&mut self.communication_s, &measures.transfer_times);
    }

    fn wants_transfer_times(&self) -> bool {
        true
    }
}

/// Names of the columns of the table `processes.csv`, in the order of the columns.
pub(super) const COLUMNS: [&str; 11] = [
    "scenario",
    "superstep",
    "process",
    "cluster",
    "host",
    "delay_s",
    "instructions",
    "compute_s",
    "send_s",
    "communication_s",
    "message_wait_s",
];

/// The columns that pages are drawn from, in the order in which the reader uses them; other columns are ignored.
const READ_COLUMNS: [&str; 8] = [
    "scenario",
    "superstep",
    "process",
    "cluster",
    "host",
    "delay_s",
    "compute_s",
    "communication_s",
];

/// The clusters and hosts on which the processes of a scenario run at one superstep, updated from superstep to superstep by the
/// recorded migrations.
#[derive(Clone, Debug)]
pub(super) struct PlacementReplay<'a> {
    /// Cluster and host of each process at the current superstep, indexed by process.
    pub(super) current_places: Vec<HostLocation>,
    migrations_by_superstep: Vec<&'a super::read::MigrationRow>,
    next_migration_index: usize,
}

impl<'a> PlacementReplay<'a> {
    pub(super) fn new(machine: &PlatformSummary, run: &'a ScenarioRecords) -> Self {
        let mut moves: Vec<_> = run.migrations.iter().collect();
        moves.sort_by_key(|moved| moved.superstep);
        Self {
            current_places: machine.placement.clone(),
            migrations_by_superstep: moves,
            next_migration_index: 0,
        }
    }

    /// Moves on to superstep `superstep` (counted from 1): applies all migrations before this superstep that were not applied
    /// yet, and returns these migrations.
    pub(super) fn advance_to_superstep(
        &mut self,
        superstep: u64,
    ) -> &[&'a super::read::MigrationRow] {
        let first = self.next_migration_index;
        while let Some(moved) = self.migrations_by_superstep.get(self.next_migration_index)
            && moved.superstep < superstep
        {
            if let Some(place) = usize::try_from(moved.process - 1)
                .ok()
                .and_then(|process| self.current_places.get_mut(process))
            {
                place.cluster.clone_from(&moved.to_cluster);
                place.host.clone_from(&moved.to_host);
            }
            self.next_migration_index += 1;
        }
        &self.migrations_by_superstep[first..self.next_migration_index]
    }
}

/// Reads the times of all processes from `processes.csv`, which must contain the scenarios of `run` in the same order. Returns
/// one [`ProcessTimes`] per scenario, or `None` if the file does not exist.
///
/// # Errors
/// The file cannot be read, or its content does not agree with `run` and `machine`.
pub(super) fn read_process_times(
    path: &Path,
    run: &Run,
    machine: &PlatformSummary,
) -> Result<Option<Vec<ProcessTimes>>, Error> {
    let name = path.display().to_string();
    let Some(bytes) = read_refusing_outside_links_if_present(path, read_bytes)? else {
        return Ok(None);
    };
    let mut lines = ProcessTableReader::new(&bytes);
    let all = run
        .scenarios
        .iter()
        .map(|scenario| lines.read_scenario_times(scenario, machine))
        .collect::<Result<Vec<_>, String>>()
        .and_then(|all| lines.check_end_of_file().map(|()| all));
    match all {
        Ok(all) => Ok(Some(all)),
        Err(what) => Err(damaged_file_error(what)
            .source(name)
            .at_line_column(lines.line_number(), 1)
            .into()),
    }
}

/// Parser of the table `processes.csv`, which reads and checks one line after the other.
struct ProcessTableReader<'b> {
    reader: csv::Reader<&'b [u8]>,
    record: csv::ByteRecord,
    is_cut: bool,
    /// For each of [`READ_COLUMNS`], its position in the table; `None` before the first line was read.
    positions: Option<[usize; READ_COLUMNS.len()]>,
}

impl<'b> ProcessTableReader<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Self {
            reader: csv::ReaderBuilder::new()
                .has_headers(false)
                .from_reader(bytes),
            record: csv::ByteRecord::new(),
            is_cut: !bytes.ends_with(b"\n"),
            positions: None,
        }
    }

    /// Returns the line number (counted from 1) of the record that was read last, or of the end of the file if no record is left.
    fn line_number(&self) -> usize {
        let position = self.record.position().unwrap_or(self.reader.position());
        usize::try_from(position.line()).unwrap_or(usize::MAX)
    }

    /// Reads the next line of the table into the current record. Returns `false` if the file has ended.
    ///
    /// # Errors
    /// The line has a different number of values than the first line.
    fn read_record(&mut self) -> Result<bool, String> {
        match self.reader.read_byte_record(&mut self.record) {
            Ok(is_there) => Ok(is_there),
            Err(error) => {
                self.record.set_position(error.position().cloned());
                Err("this line has another number of values than the first line".to_owned())
            }
        }
    }

    fn read_scenario_times(
        &mut self,
        run: &ScenarioRecords,
        machine: &PlatformSummary,
    ) -> Result<ProcessTimes, String> {
        if self.positions.is_none() {
            self.read_record()?;
            let mut positions = [0; READ_COLUMNS.len()];
            for (position, name) in positions.iter_mut().zip(READ_COLUMNS) {
                let place = self.record.iter().position(|one| one == name.as_bytes());
                *position =
                    place.ok_or_else(|| format!("the first line has no column `{name}`"))?;
            }
            self.positions = Some(positions);
        }
        let cells = run.supersteps.len() * machine.placement.len();
        let mut activity = ProcessTimes::default();
        let mut places = PlacementReplay::new(machine, run);
        for list in [
            &mut activity.start_delay_s,
            &mut activity.computation_s,
            &mut activity.communication_s,
        ] {
            // Reserve a limited amount, so that a file that is too short fails before it takes much memory.
            list.reserve(cells.min(1 << 24));
        }
        for superstep in (1..).take(run.supersteps.len()) {
            places.advance_to_superstep(superstep);
            for (process, place) in (1..).zip(&places.current_places) {
                if !self.read_record()? {
                    return Err(format!(
                        "the file ends before the line of superstep {superstep} of scenario {}, process {process}",
                        run.scenario.name()
                    ));
                }
                self.check_row_identity(run.scenario, superstep, process, place)?;
                activity
                    .start_delay_s
                    .push(self.parse_seconds_in_column(5)?);
                activity
                    .computation_s
                    .push(self.parse_seconds_in_column(6)?);
                activity
                    .communication_s
                    .push(self.parse_seconds_in_column(7)?);
            }
        }
        Ok(activity)
    }

    fn check_row_identity(
        &self,
        scenario: Scenario,
        superstep: u64,
        process: u64,
        place: &HostLocation,
    ) -> Result<(), String> {
        let number = |column: usize| {
            std::str::from_utf8(self.field(column))
                .ok()
                .and_then(|text| text.parse::<u64>().ok())
        };
        if self.field(0) != scenario.name().as_bytes()
            || number(1) != Some(superstep)
            || number(2) != Some(process)
        {
            return Err(format!(
                "this line should be that of superstep {superstep} of scenario {}, process {process}",
                scenario.name()
            ));
        }
        let [cluster, host] =
            [&place.cluster, &place.host].map(|name| protect_formula_like_text(name));
        if self.field(3) != cluster.as_bytes() || self.field(4) != host.as_bytes() {
            return Err(format!(
                "in this line process {process} is not on host {} of cluster {}, where `platform.json` and `migrations.csv` place it",
                place.host, place.cluster
            ));
        }
        Ok(())
    }

    /// Returns the value of the current record in a column, given by its place in [`READ_COLUMNS`].
    fn field(&self, column: usize) -> &[u8] {
        let position = self.positions.map_or(column, |all| all[column]);
        self.record.get(position).unwrap_or_default()
    }

    /// Parses the value in a column of the current record as a duration \[s\].
    ///
    /// # Errors
    /// The value is not a finite number, or it is negative.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "seven digits are enough for pictures"
    )]
    fn parse_seconds_in_column(&self, column: usize) -> Result<f32, String> {
        let text = std::str::from_utf8(self.field(column)).unwrap_or_default();
        let value = text.parse::<f64>().ok();
        let value = value.filter(|value| value.is_finite() && *value >= 0.0);
        value.map(|value| value as f32).ok_or_else(|| {
            let text = String::from_utf8_lossy(self.field(column));
            format!(
                "`{text}` is not a time in seconds, which the column `{}` needs",
                READ_COLUMNS[column]
            )
        })
    }

    /// Checks that the table ends here: that no further record follows and that the last line is complete.
    fn check_end_of_file(&mut self) -> Result<(), String> {
        if self.read_record()? {
            return Err("the file has more lines than `run.json` states".to_owned());
        }
        if self.is_cut {
            return Err("the last line is incomplete".to_owned());
        }
        Ok(())
    }
}
