//! Applies the changes that the key `changes` of an experiment lists to its platform, application and costs.

use std::sync::Arc;

use super::{CaseChange, ChangedQuantity, capacities, spread};
use crate::resolve::{ExperimentParts, add_missing_loopbacks};
use migsim_base::{
    error::{Error, Problem, Result},
    units::{Bytes, HostId, ProcessId, Seconds},
};
use migsim_bsp::{
    BarrierKind, CallModel, Costs, MemoryTransfer, MigrationCostConfig, RuntimeConfig, Scenario,
};
use migsim_engine::{NetworkModel, ProcessorTime};
use migsim_platform::{LoadedPlatform, Platform};
use migsim_workloads::Workload as _;

impl ExperimentParts<'_> {
    /// Applies the changes that the key `changes` lists, in the order of the list. `unloaded` is the platform without background
    /// load.
    ///
    /// # Errors
    /// A change cannot be read, or names a part that the platform does not have. All faulty changes are reported together.
    pub(crate) fn apply_changes(
        &mut self,
        placement: &mut [HostId],
        unloaded: &LoadedPlatform,
    ) -> Result {
        let changes: Vec<_> = self
            .config
            .changes
            .iter()
            .map(|text| text.parse::<CaseChange>())
            .collect();
        let factor_of = |quantity: ChangedQuantity| -> f64 {
            changes
                .iter()
                .flatten()
                .filter(|one| one.quantity == quantity)
                .map(CaseChange::cost_factor)
                .product()
        };
        let load = factor_of(ChangedQuantity::BackgroundLoad);
        let memory = factor_of(ChangedQuantity::MoveCosts);
        let imbalance = factor_of(ChangedQuantity::Imbalance);
        if load != 1.0 {
            let mut loaded = unloaded.clone();
            self.loads
                .clone()
                .scaled(load)
                .put_on(&mut loaded.platform, self.config.seed)?;
            self.platform = add_missing_loopbacks(Arc::new(loaded), &self.network);
        }
        let mut problems = Vec::new();
        for (index, change) in changes.into_iter().enumerate() {
            let applied = change.and_then(|change| {
                self.check_presence(&change, placement.len())?;
                self.apply_change(&change, placement)
            });
            if let Err(problem) = applied {
                problems.push(problem.key(format!("changes[{index}]")));
            }
        }
        Error::unless_empty(problems)?;
        if memory != 1.0 || imbalance != 1.0 {
            self.workload.scale(
                balanced_work_shares(&self.platform.platform, placement),
                imbalance,
                memory,
            );
        }
        Ok(())
    }

    /// Checks that the run has the quantity that a change alters. A change by 0 % is always allowed.
    fn check_presence(&self, change: &CaseChange, processes: usize) -> Result<(), Problem> {
        let costs = &self.config.costs;
        let workload = &self.workload;
        let is_moved = || {
            let mut processes = (0..processes).map(ProcessId::from_index);
            let MigrationCostConfig {
                fixed,
                pack,
                unpack,
                ..
            } = costs.migration;
            fixed > Seconds::ZERO
                || [pack, unpack] != [ProcessorTime::ZERO; 2]
                || costs.migration.transfer != MemoryTransfer::None
                    && processes.any(|process| workload.memory(process).get() > 0.0)
        };
        let runs = |scenario: Scenario| self.config.scenarios.iter().any(|one| *one >= scenario);
        let is_present = match &change.quantity {
            ChangedQuantity::BarrierCosts => has_barrier_costs(&self.config.runtime),
            ChangedQuantity::MessageOverhead => has_overhead(&self.network),
            ChangedQuantity::CallCosts => costs.call.model != CallModel::None && runs(Scenario::Ii),
            ChangedQuantity::MoveCosts => {
                workload.prescribes_moves() || is_moved() && runs(Scenario::Iii)
            }
            ChangedQuantity::BackgroundLoad => !self.loads.is_empty(),
            ChangedQuantity::Imbalance => processes > 1,
            _ => true,
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

    /// Applies one change. The background load, the memory that migrations transfer and the imbalance of the work are changed by
    /// [`Self::apply_changes`] instead.
    fn apply_change(
        &mut self,
        change: &CaseChange,
        placement: &mut [HostId],
    ) -> Result<(), Problem> {
        let factor = change.cost_factor();
        match &change.quantity {
            ChangedQuantity::BarrierCosts => scale_barrier_costs(factor, &mut self.config.runtime),
            ChangedQuantity::MessageOverhead => {
                multiply_duration(&mut self.network.overhead, factor);
                multiply_duration(&mut self.network.loopback_overhead, factor);
                self.network.multiply_processor_times(factor);
            }
            ChangedQuantity::CallCosts => scale_call_costs(factor, &mut self.config.costs),
            ChangedQuantity::MoveCosts => {
                let migration = &mut self.config.costs.migration;
                for duration in [
                    &mut migration.fixed,
                    &mut migration.pack.per_message,
                    &mut migration.unpack.per_message,
                ] {
                    multiply_duration(duration, factor);
                }
                if factor <= 0.0 {
                    migration.transfer = MemoryTransfer::None;
                }
            }
            ChangedQuantity::BackgroundLoad | ChangedQuantity::Imbalance => {}
            ChangedQuantity::ProcessesPerHost => {
                spread::change_processes_per_host(
                    change.amount,
                    placement,
                    self.platform.platform.hosts.len(),
                )?;
            }
            _ => {
                let platform = &mut Arc::make_mut(&mut self.platform).platform;
                capacities::change_capacities(change, platform, &mut self.network)?;
            }
        }
        Ok(())
    }
}

/// Returns whether the barrier takes time.
pub(super) fn has_barrier_costs(runtime: &RuntimeConfig) -> bool {
    !matches!(runtime.barrier.kind, BarrierKind::Ideal | BarrierKind::None)
}

/// Returns whether the library adds a fixed time to messages.
pub(super) fn has_overhead(network: &NetworkModel) -> bool {
    network.overhead.get() > 0.0
        || network.loopback_overhead.get() > 0.0
        || network.has_processor_times()
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
    call.decision.scale(factor);
    if factor <= 0.0 {
        call.model = CallModel::None;
    }
}

/// Computes the fraction of the total work that each process has in a balanced superstep: it is proportional to the nominal speed
/// of the process on the host that it has at the start, beside the other work of the whole run.
fn balanced_work_shares(platform: &Platform, placement: &[HostId]) -> Vec<f64> {
    let mut residents = vec![0_u32; platform.hosts.len()];
    for host in placement {
        residents[host.index()] += 1;
    }
    let speed = |at: &HostId| {
        let host = &platform.hosts[at.index()];
        let running = f64::from(residents[at.index()]) + host.busy_cores;
        let cores = f64::from(host.cores) / running;
        host.speed.get() * cores.min(1.0)
    };
    let speeds: Vec<f64> = placement.iter().map(speed).collect();
    let sum: f64 = speeds.iter().sum();
    speeds.into_iter().map(|speed| speed / sum).collect()
}
