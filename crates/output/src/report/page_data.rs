//! The data that a report shows, read from the files of a run folder or taken from a run in memory.

use std::{fmt::Display, path::Path};

use crate::{
    activity::{self, ProcessTimes},
    inside::read_refusing_outside_links_if_present,
    machine::{PlatformSummary, SCHEMA},
    path_rows::{PathRow, read_critical_paths},
    read::{Run, damaged_file_error, damaged_line_error, parse_csv_rows},
    traffic::{LinkTraffic, compute_link_traffic, supersteps_per_group},
};
use serde_json::Value;

use migsim_base::{document::read_text, error::Result};
use migsim_experiment::{Experiment, InputFile, Registry, Results};

/// A run together with all the data that its report shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub(super) run: Run,
    pub(super) platform_summary: PlatformSummary,
    /// Times for computation and communication of the processes in each scenario; `None` if they were not recorded.
    pub(super) process_times_by_scenario: Option<Vec<ProcessTimes>>,
    /// Rows with the traffic on each link, for all scenarios and all groups of supersteps; `None` if the traffic was not
    /// recorded.
    pub(super) traffic_by_scenario: Option<Vec<LinkTraffic>>,
    /// Rows of the table of critical paths for all scenarios; empty if no critical path was recorded.
    pub(super) critical_path_rows: Vec<PathRow>,
}

impl Report {
    /// Reads all the data of a report from a run folder.
    ///
    /// # Errors
    /// The folder cannot be read, was written by an unsupported version, or its content is damaged.
    pub fn read(registry: &Registry, folder: &Path) -> Result<Self> {
        let run = Run::read(registry, folder)?;
        let file = folder.join("platform.json");
        let machine = read_platform_summary(&file)?;
        check_platform_summary(&machine, &run)
            .map_err(|what| damaged_file_error(what).source(path_text(&file)))?;
        let activity = activity::read_process_times(&folder.join("processes.csv"), &run, &machine)?;
        Ok(Self {
            platform_summary: machine,
            process_times_by_scenario: activity,
            traffic_by_scenario: read_link_traffic(&folder.join("links.csv"), &run)?,
            critical_path_rows: read_critical_paths(folder, &run)?,
            run,
        })
    }

    /// Creates the report of a run from its results in memory; `activity` contains the times of the processes in each scenario.
    ///
    /// # Errors
    /// None, unless the data in the format of the files cannot be read.
    pub fn from_results(
        experiment: &Experiment,
        results: &Results,
        activity: Vec<ProcessTimes>,
    ) -> Result<Self> {
        Ok(Self {
            run: Run::from_results(experiment, results)?,
            platform_summary: PlatformSummary::from_experiment(experiment),
            process_times_by_scenario: Some(activity),
            traffic_by_scenario: Some(compute_link_traffic(experiment, results)),
            critical_path_rows: Vec::new(),
        })
    }

    /// Adds the critical paths of the scenarios to the report.
    #[must_use]
    pub fn with_critical_paths(mut self, path: Vec<PathRow>) -> Self {
        self.critical_path_rows = path;
        self
    }

    #[must_use]
    pub(crate) fn with_input_files(mut self, settings: Value, files: &[InputFile]) -> Self {
        self.run.experiment_settings = settings;
        for (own, file) in self.run.input_files.iter_mut().zip(files) {
            own.source.clone_from(&file.name);
        }
        self
    }

    pub(super) fn process_count(&self) -> usize {
        self.platform_summary.placement.len()
    }

    pub(super) fn superstep_count(&self) -> usize {
        self.run
            .scenarios
            .iter()
            .map(|run| run.supersteps.len())
            .max()
            .unwrap_or(0)
    }
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}

fn read_platform_summary(path: &Path) -> Result<PlatformSummary> {
    let damaged = |what: &dyn Display| damaged_file_error(what).source(path_text(path));
    let text = read_refusing_outside_links_if_present(path, read_text)?
        .ok_or_else(|| damaged(&"the file is missing"))?;
    let machine: PlatformSummary = serde_json::from_str(&text)
        .map_err(|error| damaged(&error).at_line_column(error.line(), error.column()))?;
    if machine.schema != SCHEMA {
        let what = format!("its schema is `{}` instead of `{SCHEMA}`", machine.schema);
        return Err(damaged(&what).into());
    }
    Ok(machine)
}

/// Checks that the summary of the platform agrees with the run: the number of processes is equal, and all links and clusters to
/// which the files refer exist.
///
/// # Errors
/// The summary and the run disagree; the text describes the first problem.
fn check_platform_summary(machine: &PlatformSummary, run: &Run) -> Result<(), String> {
    if machine.placement.len() as u64 != run.process_count {
        return Err(format!(
            "the file places {} processes, but the run has {}",
            machine.placement.len(),
            run.process_count
        ));
    }
    for path in &machine.paths {
        let is_known = path.from < path.to
            && path.to < machine.clusters.len()
            && path.links.iter().all(|link| *link < machine.links.len());
        if !is_known {
            return Err(
                "a path of the file names a cluster or link that the file does not have".to_owned(),
            );
        }
    }
    let placed = machine.placement.iter().map(|place| &place.cluster);
    let moves = run.scenarios.iter().flat_map(|run| &run.migrations);
    let named = placed.chain(moves.flat_map(|moved| [&moved.from_cluster, &moved.to_cluster]));
    let mut last = None;
    for cluster in named {
        if last != Some(cluster) && machine.cluster_index(cluster).is_none() {
            return Err(format!(
                "the run names the cluster `{cluster}`, which the file does not have"
            ));
        }
        last = Some(cluster);
    }
    Ok(())
}

fn read_link_traffic(path: &Path, run: &Run) -> Result<Option<Vec<LinkTraffic>>> {
    let Some(text) = read_refusing_outside_links_if_present(path, read_text)? else {
        return Ok(None);
    };
    let all: Vec<LinkTraffic> = parse_csv_rows(&text, &path_text(path))?;
    for (row, line) in all.iter().zip(2..) {
        let refuse = |what: &str| Err(damaged_line_error(what, &path_text(path), line));
        let Some(scenario) = run.scenario(row.scenario) else {
            let name = row.scenario.name();
            return refuse(&format!(
                "the line is of scenario {name}, which was not run"
            ));
        };
        let count = scenario.supersteps.len();
        let size = supersteps_per_group(count) as u64;
        let is_group = row.first_superstep % size == 1 % size
            && row.first_superstep >= 1
            && row.last_superstep == (row.first_superstep + size - 1).min(count as u64)
            && row.first_superstep <= row.last_superstep;
        let is_amount = |value: f64| value.is_finite() && value >= 0.0;
        if !is_group || !is_amount(row.bytes) || !is_amount(row.bandwidth_bytes_per_s) {
            return refuse("this line is not one that migsim has written");
        }
    }
    Ok(Some(all))
}
