//! Determines the host of each process at the start of a run, from the mapping or from the workload itself, and checks the hosts
//! that the workload names.

use std::collections::BTreeMap;

use super::config::{Basis, ExperimentConfig};
use migsim_base::{
    error::{Error, Problem, Result},
    quantities::format_data_size,
    units::{Bytes, HostId, ProcessId},
};
use migsim_platform::{LoadedPlatform, Mapping, Platform};
use migsim_workloads::Workload;

/// Returns the host of each process at the start. Checks that the hosts have enough memory and that the destinations of
/// prescribed moves exist.
///
/// # Errors
/// The mapping does not fit the platform, or a host that the workload names does not exist or has too little memory.
pub(super) fn initial_placement(
    (config, basis): (&ExperimentConfig, &Basis),
    is_mapped: bool,
    workload: &dyn Workload,
    loaded: &LoadedPlatform,
) -> Result<Vec<HostId>> {
    let placement = if is_mapped {
        placement_by_mapping(&config.mapping(), workload, &loaded.platform)
    } else {
        placement_by_workload(workload, loaded)
    };
    let placement = placement.map_err(|error| match error {
        // Report one problem for all hosts of a mapping that was made for another platform.
        Error::Input(mut problems) if basis.is_calibrated == Some(false) => {
            let hint = format!(
                "add `--mapping contiguous`: the mapping of the experiment `{}` names hosts of another platform",
                basis.experiment
            );
            problems.truncate(1);
            Error::Input(problems).map_problems(|problem| problem.hint(hint.clone()))
        }
        error => error,
    })?;
    check_initial_memory(&placement, workload, loaded)?;
    check_move_destinations(workload, loaded)?;
    Ok(placement)
}

fn hosts_by_name(platform: &Platform) -> BTreeMap<&str, HostId> {
    platform
        .hosts
        .iter()
        .map(|host| host.name.as_str())
        .zip((0..).map(HostId::from_index))
        .collect()
}

/// Returns the error which reports that the host `name`, which the workload names, does not exist on the platform; `what` states
/// for what the workload uses the host.
fn unknown_host_error(what: &str, name: &str, loaded: &LoadedPlatform) -> Error {
    Problem::new(what)
        .with_unknown_name("host", name)
        .source(&loaded.source_description)
        .with_known_names(
            "hosts",
            loaded.platform.hosts.iter().map(|host| host.name.as_str()),
        )
        .into()
}

/// Returns the host of each process at the start, as the workload names it.
///
/// # Errors
/// The workload names a host that does not exist.
fn placement_by_workload(workload: &dyn Workload, loaded: &LoadedPlatform) -> Result<Vec<HostId>> {
    let hosts = hosts_by_name(&loaded.platform);
    (0..workload.processes()).map(|process| {
        let name = workload
            .initial_host(ProcessId::from_index(process))
            .unwrap_or_default();
        hosts.get(name).copied().ok_or_else(|| {
            let number = process + 1;
            let what =
                format!("the application places process {number} on the host `{name}`, which the platform does not have");
            unknown_host_error(&what, name, loaded)
        })
    }).collect()
}

/// Returns the host of each process at the start according to a mapping. If the processes of the workload have ranks, the mapping
/// places the processes by their ranks.
pub(super) fn placement_by_mapping(
    mapping: &Mapping,
    workload: &dyn Workload,
    platform: &Platform,
) -> Result<Vec<HostId>> {
    let processes = workload.processes();
    let ranks: Option<Vec<usize>> = (0..processes)
        .map(|process| workload.initial_rank(ProcessId::from_index(process)))
        .collect();
    let ranks_or_processes = workload
        .labels()
        .map_or(processes, |labels| labels.rank_count);
    let mut memory = vec![Bytes::default(); ranks_or_processes];
    for process in 0..processes {
        let place = &mut memory[ranks.as_ref().map_or(process, |ranks| ranks[process])];
        *place = *place + workload.memory(ProcessId::from_index(process));
    }
    let hosts = mapping
        .place_with_memory(platform, &memory)
        .map_err(|error| error.map_problems_without_location(|problem| problem.key("mapping")))?;
    Ok(match ranks {
        Some(ranks) => ranks.into_iter().map(|rank| hosts[rank]).collect(),
        None => hosts,
    })
}

/// Returns whether the hosts have enough memory for the processes that start on them.
pub(super) fn initial_placement_fits_memory(
    placement: &[HostId],
    workload: &dyn Workload,
    loaded: &LoadedPlatform,
) -> bool {
    check_initial_memory(placement, workload, loaded).is_ok()
}

/// Checks that the hosts have enough memory for the processes that start on them.
fn check_initial_memory(
    placement: &[HostId],
    workload: &dyn Workload,
    loaded: &LoadedPlatform,
) -> Result {
    let hosts = &loaded.platform.hosts;
    if hosts.iter().all(|host| host.memory.is_none()) {
        return Ok(());
    }
    let mut needed = vec![Bytes::default(); hosts.len()];
    for (process, host) in placement.iter().enumerate() {
        let memory = workload.memory(ProcessId::from_index(process));
        needed[host.index()] = needed[host.index()] + memory;
    }
    let all_needed = needed.iter().map(|bytes| bytes.get()).sum();
    for (host, needed) in hosts.iter().zip(&needed) {
        if let Some(memory) = host.memory.filter(|memory| needed > memory) {
            let message = format!(
                "host `{}` has {} of memory, but the processes that start there need {}",
                host.name,
                format_data_size(memory.get()),
                format_data_size(needed.get())
            );
            let total = hosts.iter().filter_map(|host| host.memory);
            let hint = format!(
                "the hosts with a limit have {} of memory in all, and all processes need {}: place the processes on more hosts with `--mapping`, use fewer processes, or give them less memory",
                format_data_size(total.map(Bytes::get).sum()),
                format_data_size(all_needed)
            );
            return Err(Error::input(message, &loaded.source_description, hint));
        }
    }
    Ok(())
}

fn check_move_destinations(workload: &dyn Workload, loaded: &LoadedPlatform) -> Result {
    if !workload.prescribes_moves() {
        return Ok(());
    }
    let hosts = hosts_by_name(&loaded.platform);
    for superstep in 0..workload.supersteps() {
        let mut moves = workload.prescribed_moves(superstep).iter();
        if let Some(wanted) = moves.find(|wanted| !hosts.contains_key(&*wanted.destination_host)) {
            let what = format!(
                "the application moves process {} to the host `{}`, which the platform does not have, after superstep {}",
                u64::from(wanted.process.0) + 1,
                wanted.destination_host,
                superstep + 1
            );
            return Err(unknown_host_error(&what, &wanted.destination_host, loaded));
        }
    }
    Ok(())
}
