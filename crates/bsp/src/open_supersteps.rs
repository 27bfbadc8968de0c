//! Supersteps that are open at the same time, in runs in which a process may begin a superstep before all other processes have
//! completed the previous superstep. Without barriers, a process continues when the messages to it have arrived. With a barrier
//! that process 0 releases, it continues when process 0 has released it.
//!
//! ```text
//! open supersteps    k      k + 1     k + 2       the content of each is stored: its plan, its messages, its measurements
//! process            is in one of these supersteps, at most MAX_SUPERSTEPS_AHEAD after k
//! event              belongs to one superstep: its content is moved into `RunState` and `SuperstepState`, which then handle the
//!                    event in the same way as in runs with barriers
//! ```
//! A superstep is closed when all processes have completed it. All processes wait for each other where the workload moves
//! processes, and while a rescheduling call overlaps a superstep. If some processes are in later supersteps than others when a
//! rescheduling call is due, all processes wait for each other at the end of the last superstep that any process has begun.

use std::{collections::VecDeque, mem::swap};

use super::{
    event::{ActivityToken, ProcessStage},
    exchange::MessageExchange,
    superstep::SuperstepState,
    world::RunState,
};
use crate::{Measures, Plan, resize_and_fill};
use migsim_base::units::{Time, to_u32};

pub(super) const MAX_SUPERSTEPS_AHEAD: usize = 1024;

/// The supersteps that some processes have begun and not all processes have completed, in runs in which processes need not wait
/// for each other.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenSupersteps {
    contents: VecDeque<SuperstepContent>,
    oldest_superstep: usize,
    /// Number of the superstep whose content is at present in `RunState` and `SuperstepState`; `None` after the oldest superstep
    /// was removed, until another open superstep becomes the current superstep.
    current_superstep: Option<usize>,
    /// Contents of closed supersteps, kept so that new supersteps can reuse their memory.
    reusable_contents: Vec<SuperstepContent>,
    pub ready_processes: VecDeque<u32>,
    /// Number that the engine will give to the next message; after 2^32 messages the numbers start again at 0.
    next_message_number: u32,
}

#[derive(Clone, Debug, Default)]
struct SuperstepContent {
    /// Range of the engine's numbers of the messages of the superstep: the first number, and how many messages there are.
    message_number_range: (u32, u32),
    /// Number of processes that have completed the superstep, whether they wait to begin the next superstep or have already begun
    /// it.
    completed_processes: usize,
    superstep_plan: Plan,
    measurements: Measures,
    message_exchange: MessageExchange,
    process_stages: Vec<ProcessStage>,
    has_begun: bool,
    /// Local time at which the first process began the superstep \[s\].
    first_begin_time: f64,
    /// Local time at which each process began the superstep \[s\].
    begin_times: Vec<f64>,
    /// Local time at which the computation of each process ended \[s\].
    computation_ends: Vec<f64>,
    last_computation_end: Option<Time>,
}

impl SuperstepContent {
    fn swap_content_with_run_state(
        &mut self,
        world: &mut RunState<'_>,
        superstep: &mut SuperstepState,
    ) {
        swap(&mut self.superstep_plan, &mut world.superstep_plan);
        swap(&mut self.measurements, &mut world.measurements);
        swap(&mut self.message_exchange, &mut superstep.message_exchange);
        swap(&mut self.process_stages, &mut superstep.process_stages);
        swap(&mut self.has_begun, &mut superstep.has_begun);
        swap(&mut self.first_begin_time, &mut superstep.first_begin_time);
        swap(&mut self.begin_times, &mut superstep.begin_times);
        swap(&mut self.computation_ends, &mut superstep.computation_ends);
        swap(
            &mut self.last_computation_end,
            &mut superstep.last_computation_end,
        );
    }
}

impl OpenSupersteps {
    pub(super) fn is_open(&self, superstep: usize) -> bool {
        (self.oldest_superstep..self.oldest_superstep + self.contents.len()).contains(&superstep)
    }

    /// Opens superstep `number`, which must follow the last open superstep; if no superstep is open, any number is allowed. The
    /// new superstep becomes the current superstep, and its plan is at first a copy of the plan of the previous superstep.
    pub(super) fn open_superstep(
        &mut self,
        number: usize,
        world: &mut RunState<'_>,
        superstep: &mut SuperstepState,
    ) {
        if self.contents.is_empty() {
            // The world still has the content of the superstep before it.
            self.oldest_superstep = number;
        } else {
            self.switch_to_superstep(number - 1, world, superstep);
        }
        let mut frame = self.reusable_contents.pop().unwrap_or_default();
        frame.superstep_plan.clone_from(&world.superstep_plan);
        frame.completed_processes = 0;
        frame.message_number_range = (self.next_message_number, 0);
        resize_and_fill(
            &mut frame.process_stages,
            world.placement.len(),
            ProcessStage::WaitingForNextSuperstep,
        );
        frame.computation_ends.resize(world.placement.len(), 0.0);
        frame.last_computation_end = None;
        self.contents.push_back(frame);
        self.switch_to_superstep(number, world, superstep);
    }

    /// Reserves `count` consecutive message numbers of the engine for the messages of the superstep that was opened last.
    pub(super) fn reserve_message_numbers(&mut self, count: usize) {
        if let Some(frame) = self.contents.back_mut() {
            frame.message_number_range.1 = to_u32(count);
            self.next_message_number = frame
                .message_number_range
                .0
                .wrapping_add(frame.message_number_range.1);
        }
    }

    /// Makes the superstep to which the event `token` belongs the current superstep, as preparation for handling the event.
    pub(super) fn switch_to_superstep_of_event(
        &mut self,
        token: &ActivityToken,
        world: &mut RunState<'_>,
        superstep: &mut SuperstepState,
    ) {
        let number = if let ActivityToken::ComputationEnded(process)
        | ActivityToken::SendEnded(process)
        | ActivityToken::ReceiveEnded(process) = *token
        {
            superstep.superstep_of_process[process as usize]
        } else if let ActivityToken::MessageDelivered(message) = *token {
            let holds = |frame: &SuperstepContent| {
                message.wrapping_sub(frame.message_number_range.0) < frame.message_number_range.1
            };
            let at = self.contents.iter().position(holds);
            self.oldest_superstep + at.expect("a message belongs to an open superstep")
        } else {
            return;
        };
        self.switch_to_superstep(number, world, superstep);
    }

    /// Makes the oldest open superstep the current superstep; does nothing if no superstep is open.
    pub(super) fn switch_to_oldest_superstep(
        &mut self,
        world: &mut RunState<'_>,
        superstep: &mut SuperstepState,
    ) {
        if !self.contents.is_empty() {
            self.switch_to_superstep(self.oldest_superstep, world, superstep);
        }
    }

    /// Makes the open superstep `number` the current superstep: moves its content into `RunState` and `SuperstepState`.
    pub(super) fn switch_to_superstep(
        &mut self,
        number: usize,
        world: &mut RunState<'_>,
        superstep: &mut SuperstepState,
    ) {
        if self.current_superstep == Some(number) {
            return;
        }
        if let Some(current) = self.current_superstep {
            self.contents[current - self.oldest_superstep]
                .swap_content_with_run_state(world, superstep);
        }
        let frame = &mut self.contents[number - self.oldest_superstep];
        frame.swap_content_with_run_state(world, superstep);
        superstep.first_message_number = frame.message_number_range.0;
        world.open_superstep = number;
        self.current_superstep = Some(number);
    }

    /// Removes the oldest superstep from the open supersteps. It must be the current superstep, and all processes must have
    /// completed it; its content stays in `RunState` and `SuperstepState`.
    pub(super) fn remove_oldest_superstep(&mut self) {
        self.reusable_contents.extend(self.contents.pop_front());
        self.oldest_superstep += 1;
        self.current_superstep = None;
    }

    pub(super) fn record_completion(&mut self, superstep: usize) {
        self.contents[superstep - self.oldest_superstep].completed_processes += 1;
    }

    /// Returns whether a process that has completed `superstep` must wait for the oldest open superstep before it begins the next
    /// superstep, since at most [`MAX_SUPERSTEPS_AHEAD`] supersteps may lie between them.
    pub(super) fn is_too_far_ahead(&self, superstep: usize) -> bool {
        superstep >= self.oldest_superstep + MAX_SUPERSTEPS_AHEAD
    }

    pub(super) fn is_oldest_completed(&self, processes: usize) -> bool {
        self.contents
            .front()
            .is_some_and(|frame| frame.completed_processes == processes)
    }
}
