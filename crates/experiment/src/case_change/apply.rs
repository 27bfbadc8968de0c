//! Applies the changes that the key `changes` of an experiment lists to its platform, application and costs.

use std::sync::Arc;

use super::balanced::ScaledWorkload;
use super::{CaseChange, ChangedQuantity, capacities, spread};
use crate::resolve::add_missing_loopbacks;
use migsim_base::error::{Error, Problem};
use migsim_base::units::{Bytes, HostId, Instructions, ProcessId, Seconds};
use migsim_bsp::{BarrierKind, CallModel, Costs, MemoryTransfer, RuntimeConfig, Scenario};
use migsim_engine::NetworkModel;
use migsim_platform::LoadedPlatform;
use migsim_platform::load::Loads;
use migsim_workloads::Workload;

/// The parts of an experiment that the changes under its key `changes` can alter.
#[derive(Debug)]
pub(in super::super) struct ChangeableParts {
    pub(in super::super) platform: Arc<LoadedPlatform>,
    /// The platform without the background load, and the load, with the seed from which it is drawn.
    pub(in super::super) unloaded_platform: Arc<LoadedPlatform>,
    pub(in super::super) loads: (Loads, u64),
    pub(in super::super) scenarios: Vec<Scenario>,
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
    let changes: Vec<_> = texts
        .iter()
        .map(|text| text.parse::<CaseChange>())
        .collect();
    let factor = |quantity: &ChangedQuantity| -> f64 {
        let changes = changes.iter().flatten();
        let of_it = changes.filter(|change| change.quantity == *quantity);
        of_it.map(CaseChange::cost_factor).product()
    };
    let [load, memory, imbalance] = [
        ChangedQuantity::BackgroundLoad,
        ChangedQuantity::MoveCosts,
        ChangedQuantity::Imbalance,
    ]
    .map(|quantity| factor(&quantity));
    if load != 1.0 {
        parts.put_load_on_platform(load)?;
    }
    for (index, change) in changes.into_iter().enumerate() {
        let made = change.and_then(|change| {
            parts.check_presence(&change)?;
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

impl ChangeableParts {
    /// Makes the platform again, with each share that the background load takes multiplied by `factor`.
    fn put_load_on_platform(&mut self, factor: f64) -> Result<(), Error> {
        let mut platform = LoadedPlatform::clone(&self.unloaded_platform);
        let (loads, seed) = self.loads.clone();
        loads.scaled(factor).put_on(&mut platform.platform, seed)?;
        self.platform = add_missing_loopbacks(Arc::new(platform), &self.network);
        Ok(())
    }

    /// Checks that the run has the quantity that a change alters. A change by 0 % is always allowed.
    fn check_presence(&self, change: &CaseChange) -> Result<(), Problem> {
        let is_moved = || {
            let processes = (0..self.workload.processes()).map(ProcessId::from_index);
            let mut memory = processes.map(|process| self.workload.memory(process).get());
            let migration = self.costs.migration;
            migration.fixed.get() > 0.0
                || migration.transfer != MemoryTransfer::None && memory.any(|bytes| bytes > 0.0)
        };
        let runs = |scenario: Scenario| self.scenarios.iter().any(|one| *one >= scenario);
        let is_present = match &change.quantity {
            ChangedQuantity::BarrierCosts => has_barrier_costs(&self.runtime),
            ChangedQuantity::MessageOverhead => has_overhead(&self.network),
            ChangedQuantity::CallCosts => {
                self.costs.call.model != CallModel::None && runs(Scenario::Ii)
            }
            ChangedQuantity::MoveCosts => {
                self.workload.prescribes_moves() || is_moved() && runs(Scenario::Iii)
            }
            ChangedQuantity::BackgroundLoad => !self.loads.0.is_empty(),
            ChangedQuantity::Imbalance => self.placement.len() > 1,
            ChangedQuantity::ClusterSpeed(_)
            | ChangedQuantity::ClusterLinks(..)
            | ChangedQuantity::Link(..)
            | ChangedQuantity::Loopback(_)
            | ChangedQuantity::RouteLatency(_)
            | ChangedQuantity::ProcessesPerHost => true,
        };
        if is_present || change.is_zero() {
            return Ok(());
        }
        let message = format!(
            "the change `{change}` has no effect, since `{}` takes no time in this run",
            change.quantity
        );
        Err(Problem::new(message).hint("leave out this change"))
    }
}

/// Returns whether the barrier takes time.
pub(super) fn has_barrier_costs(runtime: &RuntimeConfig) -> bool {
    !matches!(runtime.barrier.kind, BarrierKind::Ideal | BarrierKind::None)
}

/// Returns whether the library adds a fixed time to messages.
pub(super) fn has_overhead(network: &NetworkModel) -> bool {
    network.overhead.get() > 0.0 || network.loopback_overhead.get() > 0.0
}

/// Applies one change to the parts of an experiment. The background load, the memory that migrations transfer and the imbalance
/// of the work are changed by [`apply_changes`] instead.
fn apply_one_change(change: &CaseChange, parts: &mut ChangeableParts) -> Result<(), Problem> {
    let factor = change.cost_factor();
    match &change.quantity {
        ChangedQuantity::ClusterSpeed(_)
        | ChangedQuantity::ClusterLinks(..)
        | ChangedQuantity::Link(..)
        | ChangedQuantity::RouteLatency(_) => {
            capacities::change_platform(change, &mut Arc::make_mut(&mut parts.platform).platform)?;
        }
        ChangedQuantity::BarrierCosts => scale_barrier_costs(factor, &mut parts.runtime),
        ChangedQuantity::Loopback(of) => {
            let platform = &mut Arc::make_mut(&mut parts.platform).platform;
            capacities::change_loopbacks(change, *of, platform, &mut parts.network)?;
        }
        ChangedQuantity::MessageOverhead => {
            multiply_duration(&mut parts.network.overhead, factor);
            multiply_duration(&mut parts.network.loopback_overhead, factor);
        }
        ChangedQuantity::CallCosts => scale_call_costs(factor, &mut parts.costs),
        ChangedQuantity::MoveCosts => {
            let migration = &mut parts.costs.migration;
            multiply_duration(&mut migration.fixed, factor);
            if factor <= 0.0 {
                migration.transfer = MemoryTransfer::None;
            }
        }
        ChangedQuantity::BackgroundLoad | ChangedQuantity::Imbalance => {}
        ChangedQuantity::ProcessesPerHost => {
            let hosts = parts.platform.platform.hosts.len();
            spread::change_processes_per_host(change.amount, &mut parts.placement, hosts)?;
        }
    }
    Ok(())
}

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
