//! Checks the memory that an experiment needs, before this memory is allocated.

use serde_json::{Map, Value};

use super::config::ExperimentConfig;
use migsim_base::{
    error::Problem,
    memory::{self, ExperimentSize, Limits},
};
use migsim_bsp::Scenario;
use migsim_platform::{self as platform, LoadedPlatform};
use migsim_policies::Policy;
use migsim_workloads::{Workload, registry};

/// Number of processes up to which only the application itself checks the memory that it needs. For a larger number, the memory
/// is checked before the application is created.
const MAX_UNCHECKED_PROCESSES: u64 = 10_000_000;

/// Checks that the number of processes fits into memory, before the application allocates anything for each process.
///
/// # Errors
/// The processes need too much memory.
pub(super) fn check_process_memory(
    app: &registry::Entry,
    workload: &Map<String, Value>,
    limits: Limits,
) -> Result<(), Problem> {
    let Some((key, processes)) = app
        .requested_processes(workload)
        .filter(|(_, processes)| *processes > MAX_UNCHECKED_PROCESSES)
    else {
        return Ok(());
    };
    limits
        .check_memory(
            "the experiment",
            memory::minimum_run_memory(processes as f64),
            format!("{processes} processes"),
        )
        .map_err(|problem| problem.key(format!("workload.{key}")))
}

/// Checks that the experiment fits into memory, before the memory for its run is allocated.
///
/// # Errors
/// The experiment needs too much memory.
pub(super) fn check_experiment_memory(
    (config, app): (&ExperimentConfig, &registry::Entry),
    workload: &dyn Workload,
    policy: &dyn Policy,
    loaded: &LoadedPlatform,
    limits: Limits,
) -> Result<(), Problem> {
    let platform = &loaded.platform;
    let pairs = workload.processes() as f64 * platform.clusters.len() as f64;
    let extent = workload.extent();
    let loads = platform
        .hosts
        .iter()
        .filter(|host| host.speed_varies())
        .count()
        + platform
            .links
            .iter()
            .filter(|link| link.varies_over_time())
            .count();
    let size = ExperimentSize {
        processes: workload.processes() as f64,
        supersteps: workload.supersteps() as f64,
        max_messages_per_superstep: extent.max_messages,
        has_equal_supersteps: workload.supersteps() > 1 && workload.repeats(1),
        application_memory: extent.data_bytes,
        clusters: platform.clusters.len() as f64,
        hosts: platform.hosts.len() as f64,
        platform_memory: platform::estimated_platform_bytes(platform),
        varying_load_count: loads as f64,
        scenario_count: config.scenarios.len(),
        has_policy: config
            .scenarios
            .iter()
            .any(|scenario| *scenario != Scenario::I),
        policy_memory: policy.memory(pairs, workload.supersteps() as f64)
            + config.view.stored_reports_memory(
                workload.supersteps() as f64,
                workload.processes() as f64,
                extent.max_messages,
                platform.hosts.len() as f64,
            ),
    };
    let details = format!(
        "processes: {}, supersteps: {}, messages in a superstep: {}",
        size.processes, size.supersteps, size.max_messages_per_superstep
    );
    let key = app.key_determining_size(&config.workload, size.processes >= size.supersteps);
    limits
        .check_memory("the experiment", size.needed_memory(limits), details)
        .map_err(|problem| problem.key(format!("workload.{key}")))
}
