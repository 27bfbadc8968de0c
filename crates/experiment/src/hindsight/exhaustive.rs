//! Simulates all rescheduling plans of a small case, so that the best plan is the optimum.
//!
//! After each superstep, every placement of the processes may follow. If the rest of a run depends only on its placement at a
//! barrier, only the earliest of the runs with the same placement continues: P² supersteps are simulated for each barrier, with P
//! placements. Otherwise, as under a load that changes with time, each of the P^B plans is simulated, with B barriers.

use std::collections::BTreeMap;

use super::PlanSearch;
use crate::plan::{PlannedCall, ReschedulingPlan};
use migsim_base::{
    error::Result,
    units::{HostId, to_u32},
};
use migsim_bsp::{BarrierKind, CallModel, CallWaiting, Stepper};
use migsim_platform::{Host, Link};

/// The hosts of the processes.
type Placement = Vec<HostId>;

/// A run up to a barrier with its placement there, and its calls.
type PartialRun<'s> = (Placement, (Stepper<'s>, Vec<PlannedCall>));

impl<'s> PlanSearch<'s> {
    /// Returns whether the rest of a run depends only on the placement at a barrier and, as a shift, on the time.
    fn is_placement_whole_state(&self) -> bool {
        let experiment = self.experiment;
        let platform = &experiment.platform.platform;
        let call = &experiment.config.costs.call;
        let models = [CallModel::None, CallModel::Additive, CallModel::Messages];
        experiment.config.runtime.barrier.kind == BarrierKind::Ideal
            && models.contains(&call.model)
            && call.waiting == CallWaiting::Blocking
            && call.per_process_superstep.get() <= 0.0
            && !experiment.network.slow_start
            && !experiment.workload.prescribes_moves()
            && !platform.hosts.iter().any(Host::speed_varies)
            && !platform.links.iter().any(Link::varies_over_time)
    }

    /// Returns the number of supersteps that the simulation of all plans needs, or `u64::MAX` if it is larger.
    pub(super) fn superstep_count_of_all_plans(&self) -> u64 {
        let hosts = self.experiment.platform.platform.hosts.len() as u64;
        let placements = hosts.saturating_pow(to_u32(self.experiment.placement.len()));
        let barriers = to_u32(self.supersteps_per_run.saturating_sub(1));
        if self.is_placement_whole_state() {
            let pairs = placements.saturating_mul(placements);
            pairs.saturating_mul(barriers.into())
        } else {
            placements.saturating_pow(barriers).saturating_mul(2)
        }
    }

    /// Simulates all plans whose calls exchange the messages of the best plan's first call, and stores the fastest.
    pub(super) fn try_all_plans(&mut self) -> Result {
        let hosts = self.experiment.platform.platform.hosts.len();
        let mut placements = vec![Placement::new()];
        for _ in &self.experiment.placement {
            let shorter = placements.iter();
            let longer = shorter.flat_map(|one| {
                (0..hosts).map(|host| [&one[..], &[HostId::from_index(host)]].concat())
            });
            placements = longer.collect();
        }
        let first = (self.run_at_first_barrier.clone(), Vec::new());
        let layer = vec![(self.experiment.placement.clone(), first)];
        self.continue_in_all_ways(layer, &placements)
    }

    /// Continues runs at the same barrier with each placement up to the end.
    fn continue_in_all_ways(
        &mut self,
        layer: Vec<PartialRun<'s>>,
        placements: &[Placement],
    ) -> Result {
        let mut next: BTreeMap<Placement, (Stepper<'s>, Vec<PlannedCall>)> = BTreeMap::new();
        for (from, (run, calls)) in layer {
            // After the last superstep, a call only costs time.
            let is_last = run.is_at_last_barrier();
            for to in placements.iter().filter(|to| !is_last || **to == from) {
                let pairs = (0..).zip(from.iter().zip(to));
                let moves = pairs.filter(|(_, (from, to))| from != to);
                let moves: Vec<_> = moves.map(|(process, (_, to))| (process, *to)).collect();
                let call = (!moves.is_empty()).then(|| PlannedCall {
                    superstep: run.ended_superstep_count() as u64,
                    moves,
                    procedure: self.best_plan.plan.procedure_of_first_call(),
                    ..PlannedCall::default()
                });
                let mut run = run.clone();
                let result = self.advance_superstep(&mut run, call.as_ref());
                if self.progress.is_stop_requested() {
                    return result;
                }
                // A placement may be impossible because a host lacks memory.
                if result.is_err() || run.now() >= self.best_plan.makespan {
                    continue;
                }
                run.forget_history();
                let calls = calls.iter().cloned().chain(call).collect();
                if run.is_over() {
                    self.best_plan.plan = ReschedulingPlan::new(calls);
                    self.best_plan.makespan = run.now();
                } else if next.get(to).is_none_or(|known| run.now() < known.0.now()) {
                    next.insert(to.clone(), (run, calls));
                }
            }
        }
        if next.is_empty() {
            return Ok(());
        }
        if self.is_placement_whole_state() {
            return self.continue_in_all_ways(next.into_iter().collect(), placements);
        }
        let mut runs = next.into_iter();
        runs.try_for_each(|run| self.continue_in_all_ways(vec![run], placements))
    }
}
