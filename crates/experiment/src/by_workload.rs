//! Notes for the user about settings that have no effect, and about important values that the application does not provide, such
//! as the memory of its processes.

use super::config::ExperimentConfig;
use migsim_base::units::ProcessId;
use migsim_bsp::{CallModel, CallOrder, MemoryTransfer, Scenario};
use migsim_policies as policy;
use migsim_workloads::Workload;

/// Returns notes for the user about settings that have no effect in the experiment, and about values on which the results depend
/// but which the workload does not provide.
pub(super) fn workload_notes(
    config: &ExperimentConfig,
    is_mapped: bool,
    workload: &dyn Workload,
    policy: &policy::Entry,
) -> Vec<String> {
    let mut notes = Vec::new();
    if is_mapped && workload.initial_host(ProcessId(0)).is_some() {
        notes.push(
            "the setting `mapping` places the processes, so that the `host` lines of the trace are ignored"
                .to_owned(),
        );
    }
    let call = config.costs.call;
    let is_asked = config.scenarios.iter().any(|one| *one != Scenario::I);
    if is_asked && call.order == CallOrder::Sequential && call.model != CallModel::Messages {
        notes.push("`costs.call.order=sequential` has no effect, since it orders the messages of a call, and only `costs.call.model=messages` simulates such messages".to_owned());
    }
    let costs = config.costs.migration;
    let is_judged = policy.name != policy::NEVER
        && config.scenarios.contains(&Scenario::Iii)
        && costs.transfer != MemoryTransfer::None;
    if !is_judged {
        return notes;
    }
    let processes = workload.processes();
    let unknown = (0..processes)
        .filter(|process| !workload.is_memory_known(ProcessId::from_index(*process)))
        .count();
    if unknown > 0 {
        let whose = match unknown {
            _ if unknown == processes => "its processes".to_owned(),
            _ => format!("{unknown} of {processes} processes"),
        };
        let price = match costs.fixed {
            fixed if fixed.get() > 0.0 => {
                format!("cost {fixed} each, whatever the real size of the process")
            }
            _ => "cost no time".to_owned(),
        };
        let is_trace = config.workload.get("app").is_some_and(|app| app == "trace");
        let (app, lines) = if is_trace {
            ("trace", "`memory` lines or ")
        } else {
            ("data", "")
        };
        notes.push(format!(
            "the {app} does not state the memory of {whose}, so that their migrations send 0 B and {price}; state the memory with {lines}`--set workload.memory=100MB`"
        ));
    }
    notes
}
