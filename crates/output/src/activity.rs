//! Start delay, computation time and communication time of each process in each superstep, for pictures and traces of a run.
//!
//! The times are either read from `processes.csv` or recorded in memory during the simulation. They are stored as 32-bit floats,
//! which is precise enough for pictures. The hosts of the processes are not stored: they follow from `platform.json` and
//! `migrations.csv`. A table `processes.csv` that contradicts these two files is reported as damaged.

use std::path::Path;

use super::{
    csv_guard::protect_formula_like_text,
    inside::read_refusing_outside_links_if_present,
    machine::{HostLocation, PlatformSummary},
    read::{Run, ScenarioRecords, damaged_line_error},
    rows::MigrationRow,
};
use migsim_base::{document::read_bytes, error::Result, units::HostId};
use migsim_bsp::Recorder;
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

impl ProcessTimes {
    pub(super) fn lists(&self) -> [&Vec<f32>; 3] {
        [
            &self.start_delay_s,
            &self.computation_s,
            &self.communication_s,
        ]
    }

    pub(super) fn lists_mut(&mut self) -> [&mut Vec<f32>; 3] {
        [
            &mut self.start_delay_s,
            &mut self.computation_s,
            &mut self.communication_s,
        ]
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "seven digits are enough for pictures"
)]
impl Recorder for ProcessTimes {
    fn on_superstep(&mut self, _superstep: usize, measures: &Measures, _placement: &[HostId]) {
        let times = [
            &measures.begin_delays,
            &measures.computation_times,
            &measures.transfer_times,
        ];
        for (list, seconds) in self.lists_mut().into_iter().zip(times) {
            list.extend(seconds.iter().map(|one| one.get() as f32));
        }
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
pub(super) struct PlacementReplay<'a> {
    /// Cluster and host of each process at the current superstep, indexed by process.
    pub current_places: Vec<HostLocation>,
    migrations_by_superstep: Vec<&'a MigrationRow>,
    applied: usize,
}

impl<'a> PlacementReplay<'a> {
    pub(super) fn new(machine: &PlatformSummary, run: &'a ScenarioRecords) -> Self {
        let mut moves: Vec<_> = run.migrations.iter().collect();
        moves.sort_by_key(|moved| moved.superstep);
        Self {
            current_places: machine.placement.clone(),
            migrations_by_superstep: moves,
            applied: 0,
        }
    }

    /// Moves on to superstep `superstep` (counted from 1): applies all migrations before this superstep that were not applied
    /// yet, and returns these migrations.
    pub(super) fn advance_to_superstep(&mut self, superstep: u64) -> &[&'a MigrationRow] {
        let first = self.applied;
        while let Some(moved) = self.migrations_by_superstep.get(self.applied)
            && moved.superstep < superstep
        {
            if let Some(place) = usize::try_from(moved.process - 1)
                .ok()
                .and_then(|process| self.current_places.get_mut(process))
            {
                place.cluster.clone_from(&moved.to_cluster);
                place.host.clone_from(&moved.to_host);
            }
            self.applied += 1;
        }
        &self.migrations_by_superstep[first..self.applied]
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
) -> Result<Option<Vec<ProcessTimes>>> {
    let Some(bytes) = read_refusing_outside_links_if_present(path, read_bytes)? else {
        return Ok(None);
    };
    let mut table = ProcessTable {
        reader: csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(&*bytes),
        record: csv::StringRecord::new(),
        columns: [0; READ_COLUMNS.len()],
    };
    let mut read = || {
        table.read_header()?;
        let all: Vec<ProcessTimes> = run
            .scenarios
            .iter()
            .map(|scenario| table.read_scenario_times(scenario, machine))
            .collect::<Result<_, String>>()?;
        if table.read_row()?.is_some() {
            return Err("the file has more lines than `run.json` states".to_owned());
        }
        if !bytes.ends_with(b"\n") {
            return Err("the last line is incomplete".to_owned());
        }
        Ok(all)
    };
    read().map(Some).map_err(|what| {
        let position = table.record.position().unwrap_or(table.reader.position());
        let line = usize::try_from(position.line()).unwrap_or(usize::MAX);
        damaged_line_error(what, &path.display().to_string(), line)
    })
}

/// The table `processes.csv`, which is read line by line.
struct ProcessTable<'b> {
    reader: csv::Reader<&'b [u8]>,
    record: csv::StringRecord,
    /// For each of [`READ_COLUMNS`], its position in the table.
    columns: [usize; READ_COLUMNS.len()],
}

impl ProcessTable<'_> {
    fn read_header(&mut self) -> Result<(), String> {
        self.read_row()?;
        for (position, name) in self.columns.iter_mut().zip(READ_COLUMNS) {
            *position = self
                .record
                .iter()
                .position(|one| one == name)
                .ok_or_else(|| format!("the first line has no column `{name}`"))?;
        }
        Ok(())
    }

    fn read_row(&mut self) -> Result<Option<[&str; READ_COLUMNS.len()]>, String> {
        match self.reader.read_record(&mut self.record) {
            Ok(is_there) => Ok(is_there.then(|| self.columns.map(|column| &self.record[column]))),
            Err(error) => {
                self.record.set_position(error.position().cloned());
                Err(match error.kind() {
                    csv::ErrorKind::UnequalLengths { .. } => {
                        "this line has another number of values than the first line".to_owned()
                    }
                    _ => error.to_string(),
                })
            }
        }
    }

    fn read_scenario_times(
        &mut self,
        run: &ScenarioRecords,
        machine: &PlatformSummary,
    ) -> Result<ProcessTimes, String> {
        let mut times = ProcessTimes::default();
        let mut places = PlacementReplay::new(machine, run);
        let name = run.scenario.name();
        for superstep in (1_u64..).take(run.supersteps.len()) {
            places.advance_to_superstep(superstep);
            for (process, HostLocation { cluster, host }) in (1_u64..).zip(&places.current_places) {
                let line =
                    || format!("superstep {superstep} of scenario {name}, process {process}");
                let row = self
                    .read_row()?
                    .ok_or_else(|| format!("the file ends before the line of {}", line()))?;
                let [
                    scenario,
                    number,
                    of_process,
                    own_cluster,
                    own_host,
                    seconds @ ..,
                ] = row;
                if scenario != name
                    || number.parse() != Ok(superstep)
                    || of_process.parse() != Ok(process)
                {
                    return Err(format!("this line should be that of {}", line()));
                }
                if own_cluster != protect_formula_like_text(cluster)
                    || own_host != protect_formula_like_text(host)
                {
                    return Err(format!(
                        "in this line process {process} is not on host {host} of cluster {cluster}, where `platform.json` and `migrations.csv` place it"
                    ));
                }
                for (column, text) in seconds.into_iter().enumerate() {
                    let value = parse_seconds(text).ok_or_else(|| {
                        let column = READ_COLUMNS[5 + column];
                        format!(
                            "`{text}` is not a time in seconds, which the column `{column}` needs"
                        )
                    })?;
                    times.lists_mut()[column].push(value);
                }
            }
        }
        Ok(times)
    }
}

/// Parses a finite duration that is not negative \[s\].
#[expect(
    clippy::cast_possible_truncation,
    reason = "seven digits are enough for pictures"
)]
fn parse_seconds(text: &str) -> Option<f32> {
    let value = text.parse::<f64>().ok();
    let value = value.filter(|value| value.is_finite() && *value >= 0.0);
    value.map(|value| value as f32)
}
