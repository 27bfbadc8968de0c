//! The sequential barrier: a coordinator receives an arrival message from one process after the other, then sends a release
//! message to one process after the other.

use std::collections::VecDeque;

use super::context::Context;
use crate::{
    config::{BarrierConfig, GatherOrder, ReleaseOrder},
    event::BarrierMessage,
};
use migsim_base::{
    error::Result,
    units::{HostId, ProcessId},
};
use migsim_engine::MessageEnds;

const COORDINATOR: ProcessId = ProcessId(0);

#[derive(Clone, Debug)]
pub(super) struct SequentialBarrier {
    gather_order: GatherOrder,
    release_order: ReleaseOrder,
    coordinator: HostId,
    has_arrived: Vec<bool>,
    order_of_arrival: VecDeque<u32>,
    gathered_processes: u32,
    released_processes: u32,
    is_coordinator_busy: bool,
    is_releasing: bool,
}

impl SequentialBarrier {
    pub(super) fn new(config: BarrierConfig, coordinator: HostId, processes: u32) -> Self {
        Self {
            gather_order: config.gather,
            release_order: config.release,
            coordinator,
            has_arrived: vec![false; processes as usize],
            order_of_arrival: VecDeque::with_capacity(processes as usize),
            gathered_processes: 0,
            released_processes: 0,
            is_coordinator_busy: false,
            is_releasing: false,
        }
    }

    /// Whether the times at which processes leave can be computed from their arrival times, without events.
    pub(super) fn is_predictable(&self) -> bool {
        let in_order = [GatherOrder::Ascending, GatherOrder::Descending];
        self.release_order == ReleaseOrder::Simultaneous && in_order.contains(&self.gather_order)
    }

    /// Returns the time at which all processes leave the barrier \[s\], given the arrival time of each process \[s\]. `duration`
    /// returns the duration of a message that shares no link with other messages \[s\]. If it returns `None`, since a message may
    /// share links, the result is `None`.
    pub(super) fn predict_departure(
        &self,
        arrival: &[f64],
        placement: &[HostId],
        mut duration: impl FnMut(HostId, HostId) -> Option<f64>,
    ) -> Option<f64> {
        let mut gather = |now: f64, process: usize| {
            let passing = duration(placement[process], self.coordinator)?;
            Some(now.max(arrival[process]) + passing)
        };
        let mut ranks = 0..arrival.len();
        let gathered = if self.gather_order == GatherOrder::Descending {
            ranks.rev().try_fold(0.0, &mut gather)?
        } else {
            ranks.try_fold(0.0, &mut gather)?
        };
        let mut release = |now: f64, &host: &HostId| Some(now + duration(self.coordinator, host)?);
        placement.iter().try_fold(gathered, &mut release)
    }

    /// Handles the arrival of `process` at the barrier: its arrival message to the coordinator starts as soon as the order of
    /// messages and the coordinator allow.
    pub(super) fn record_arrival(&mut self, process: u32, context: &mut Context<'_, '_>) -> Result {
        self.has_arrived[process as usize] = true;
        match self.gather_order {
            GatherOrder::Arrival => self.order_of_arrival.push_back(process),
            GatherOrder::Parallel => return self.start_arrival_message(process, context),
            GatherOrder::Ascending | GatherOrder::Descending => {}
        }
        self.start_next_arrival_message(context)
    }

    /// Starts the arrival message of the next process in the order, if that process has arrived and the coordinator is idle.
    fn start_next_arrival_message(&mut self, context: &mut Context<'_, '_>) -> Result {
        if self.is_coordinator_busy || self.gathered_processes == context.processes {
            return Ok(());
        }
        let next = match self.gather_order {
            GatherOrder::Ascending => Some(self.gathered_processes),
            GatherOrder::Descending => Some(context.processes - 1 - self.gathered_processes),
            GatherOrder::Arrival => self.order_of_arrival.front().copied(),
            GatherOrder::Parallel => None,
        };
        match next {
            Some(process) if self.has_arrived[process as usize] => {
                if self.gather_order == GatherOrder::Arrival {
                    self.order_of_arrival.pop_front();
                }
                self.is_coordinator_busy = true;
                self.start_arrival_message(process, context)
            }
            _ => Ok(()),
        }
    }

    fn start_arrival_message(&mut self, process: u32, context: &mut Context<'_, '_>) -> Result {
        self.has_arrived[process as usize] = false;
        let ends = MessageEnds {
            hosts: (context.world.placement[process as usize], self.coordinator),
            processes: Some((ProcessId(process), COORDINATOR)),
        };
        context.send_message(ends, BarrierMessage::ArrivalReport(process))
    }

    pub(super) fn on_arrival_message_delivered(&mut self, context: &mut Context<'_, '_>) -> Result {
        self.gathered_processes += 1;
        self.is_coordinator_busy = self.is_releasing;
        if self.gathered_processes < context.processes || self.is_releasing {
            return self.start_next_arrival_message(context);
        }
        self.is_coordinator_busy = true;
        self.is_releasing = true;
        self.released_processes = 0;
        self.gathered_processes = 0; // notices of the next barrier may come in while this one is released
        self.start_next_release_message(context)
    }

    fn start_next_release_message(&mut self, context: &mut Context<'_, '_>) -> Result {
        let to = self.released_processes;
        let ends = MessageEnds {
            hosts: (self.coordinator, context.world.placement[to as usize]),
            processes: Some((COORDINATOR, ProcessId(to))),
        };
        context.send_message(ends, BarrierMessage::LeavePermission(to))
    }

    pub(super) fn on_release_delivered(
        &mut self,
        process: u32,
        context: &mut Context<'_, '_>,
    ) -> Result {
        self.released_processes += 1;
        if self.release_order == ReleaseOrder::Sequential {
            context.leaving.push_back(process);
        }
        if self.released_processes < context.processes {
            return self.start_next_release_message(context);
        }
        if self.release_order == ReleaseOrder::Simultaneous {
            context.release_all();
        }
        self.is_releasing = false;
        self.is_coordinator_busy = false;
        self.start_next_arrival_message(context)
    }
}
