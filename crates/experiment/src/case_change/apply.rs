//! Applies the changes that the key `changes` of an experiment lists to its platform, application and costs.

use std::sync::Arc;

use super::balanced::ScaledWorkload;
use super::{CaseChange, ChangedQuantity, capacities, spread};
use migsim_base::error::{Error, Problem};
use migsim_base::units::{Bytes, HostId, Instructions, Seconds};
use migsim_bsp::{BarrierKind, CallModel, Costs, MemoryTransfer, RuntimeConfig};
use migsim_engine::NetworkModel;
use migsim_platform::LoadedPlatform;
use migsim_workloads::Workload;

/// The parts of an experiment that the changes under its key `changes` can alter.
#[derive(Debug)]
pub(in super::super) struct ChangeableParts {
    pub(in super::super) platform: Arc<LoadedPlatform>,
    pub(in super::super) workload: Box<dyn Workload>,
    pub(in super::super) placement: Vec<HostId>,
    pub(in super::super) network: NetworkModel,
    pub(in super::super) runtime: RuntimeConfig,
    pub(in super::super) costs: Costs,
}

/// Applies the changes listed under the key `changes` to the parts of an experiment, in the order of the list.
///
/// # Errors
/// A change cannot be read, or names a part that the platform does not have. All faulty changes are reported together.
pub(in super::super) fn apply_changes(
    texts: &[String],
    mut parts: ChangeableParts,
) -> Result<ChangeableParts, Error> {
    let mut problems = Vec::new();
    let (mut memory, mut imbalance) = (1.0, 1.0);
    for (index, text) in texts.iter().enumerate() {
        let change = text.parse::<CaseChange>();
        let made = change.and_then(|change| {
            if change.quantity == ChangedQuantity::MoveCosts {
                memory *= change.cost_factor();
            } else if change.quantity == ChangedQuantity::Imbalance {
                imbalance *= change.cost_factor();
            }
            apply_one_change(&change, &mut parts)
        });
        problems.extend(
            made.err()
                .map(|problem| problem.key(format!("changes[{index}]"))),
        );
    }
    super::super::resolve::fail_on_any_problem(problems)?;
    if memory != 1.0 || imbalance != 1.0 {
        let shares = balanced_work_shares(&parts);
        parts.workload = Box::new(ScaledWorkload::new(
            parts.workload,
            shares,
            (imbalance, memory),
        ));
    }
    Ok(parts)
}

/// Applies one change to the parts of an experiment. The memory that migrations transfer and the imbalance of the work are
/// changed by [`apply_changes`] instead.
fn apply_one_change(change: &CaseChange, parts: &mut ChangeableParts) -> Result<(), Problem> {
    let factor = change.cost_factor();
    match &change.quantity {
        ChangedQuantity::ClusterSpeed(_)
        | ChangedQuantity::ClusterLinks(..)
        | ChangedQuantity::Link(..)
        | ChangedQuantity::RouteLatency(_)
        | ChangedQuantity::BackgroundLoad => {
            capacities::change_platform(change, &mut Arc::make_mut(&mut parts.platform).platform)?;
        }
        ChangedQuantity::BarrierCosts => scale_barrier_costs(factor, &mut parts.runtime),
        ChangedQuantity::MessageOverhead => multiply_duration(&mut parts.network.overhead, factor),
        ChangedQuantity::CallCosts => scale_call_costs(factor, &mut parts.costs),
        ChangedQuantity::MoveCosts => {
            let migration = &mut parts.costs.migration;
            multiply_duration(&mut migration.fixed, factor);
            if factor <= 0.0 {
                migration.transfer = MemoryTransfer::None;
            }
        }
        ChangedQuantity::Imbalance => {}
        ChangedQuantity::ProcessesPerHost => {
            let hosts = parts.platform.platform.hosts.len();
            spread::change_processes_per_host(change.amount, &mut parts.placement, hosts)?;
        }
    }
    Ok(())
}

/// Multiplies a duration by a factor.
fn multiply_duration(duration: &mut Seconds, factor: f64) {
    *duration = Seconds::of(duration.get() * factor);
}

/// Multiplies all times that the barrier protocol adds by a factor.
///
/// With the factor 0, all processes leave the barrier when the last process arrives. A protocol that lets processes pass before
/// all others have arrived is kept, and its messages take no time.
fn scale_barrier_costs(factor: f64, runtime: &mut RuntimeConfig) {
    let barrier = &mut runtime.barrier;
    barrier.bytes = Bytes::of(barrier.bytes.get() * factor);
    barrier.delay.0 *= factor;
    multiply_duration(&mut barrier.per_process, factor);
    multiply_duration(&mut barrier.release_per_process, factor);
    multiply_duration(&mut barrier.release_per_computing, factor);
    let is_weak = matches!(
        barrier.kind,
        BarrierKind::None | BarrierKind::ReleasedByFirst
    );
    if factor <= 0.0 && !is_weak {
        barrier.kind = BarrierKind::Ideal;
    }
}

/// Multiplies the times, message sizes and work of rescheduling calls by a factor; with the factor 0, calls cost nothing.
fn scale_call_costs(factor: f64, costs: &mut Costs) {
    let call = &mut costs.call;
    for duration in [
        &mut call.fixed,
        &mut call.per_process,
        &mut call.per_process_superstep,
    ] {
        multiply_duration(duration, factor);
    }
    // The price of a ping-pong is multiplied as a whole.
    call.delay.0 *= factor;
    for size in [&mut call.report, &mut call.exchange, &mut call.answer] {
        *size = Bytes::of(size.get() * factor);
    }
    for work in [&mut call.decision, &mut call.operation] {
        *work = Instructions::of(work.get() * factor);
    }
    if factor <= 0.0 {
        call.model = CallModel::None;
    }
}

/// Computes the fraction of the total work that each process has in a balanced superstep: it is proportional to the nominal speed
/// of the process on the host that it has at the start.
fn balanced_work_shares(parts: &ChangeableParts) -> Vec<f64> {
    let hosts = &parts.platform.platform.hosts;
    let mut residents = vec![0_u32; hosts.len()];
    for host in &parts.placement {
        residents[host.index()] += 1;
    }
    let speed = |at: &HostId| {
        let host = &hosts[at.index()];
        let cores = f64::from(host.cores) / f64::from(residents[at.index()]);
        host.speed.get() * cores.min(1.0)
    };
    let speeds: Vec<f64> = parts.placement.iter().map(speed).collect();
    let sum: f64 = speeds.iter().sum();
    speeds.into_iter().map(|speed| speed / sum).collect()
}
