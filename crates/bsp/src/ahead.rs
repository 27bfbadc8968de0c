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

use std::collections::VecDeque;
use std::mem::swap;

use super::event::{Stage, Token};
use super::exchange::Exchange;
use super::superstep::Superstep;
use super::world::World;
use crate::Plan;
use crate::{Measures, refill};
use migsim_base::units::{Time, to_u32};

/// Maximum number of supersteps that a process may be ahead of the oldest open superstep.
pub(super) const MOST_AHEAD: usize = 1024;

/// The supersteps that some processes have begun and not all processes have completed, in runs in which processes need not wait
/// for each other.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenSupersteps {
    /// Contents of the open supersteps, beginning with the oldest superstep. While a superstep is the current superstep, its
    /// content is in `RunState` and `SuperstepState` and not in this list.
    frames: VecDeque<Frame>,
    /// Number of the oldest open superstep, counted from 0.
    oldest: usize,
    /// Number of the superstep whose content is at present in `RunState` and `SuperstepState`; `None` after the oldest superstep
    /// was removed, until another open superstep becomes the current superstep.
    current: Option<usize>,
    /// Contents of closed supersteps, kept so that new supersteps can reuse their memory.
    spare: Vec<Frame>,
    /// Processes that have completed a superstep and wait to begin the next superstep.
    pub(super) ready_processes: VecDeque<u32>,
    /// Number that the engine will give to the next message; after 2^32 messages the numbers start again at 0.
    next_message: u32,
}

/// The stored content of an open superstep. While the superstep is the current superstep, its content is in `RunState` and
/// `SuperstepState` and not here.
#[derive(Clone, Debug, Default)]
struct Frame {
    /// Range of the engine's numbers of the messages of the superstep: the first number, and how many messages there are.
    message_range: (u32, u32),
    /// Number of processes that have completed the superstep, whether they wait to begin the next superstep or have already begun
    /// it.
    completed_processes: usize,
    plan: Plan,
    measures: Measures,
    exchange: Exchange,
    stages: Vec<Stage>,
    has_begun: bool,
    /// Local time at which the first process began the superstep \[s\].
    first_begin: f64,
    /// Local time at which each process began the superstep \[s\].
    begin_times: Vec<f64>,
    /// Local time at which the computation of each process ended \[s\].
    computation_ends: Vec<f64>,
    last_computation_end: Option<Time>,
}

impl Frame {
    /// Exchanges the stored content of this superstep with the content of `RunState` and `SuperstepState`.
    fn swap_with_world(&mut self, world: &mut World<'_>, superstep: &mut Superstep) {
        swap(&mut self.plan, &mut world.plan);
        swap(&mut self.measures, &mut world.measures);
        swap(&mut self.exchange, &mut superstep.exchange);
        swap(&mut self.stages, &mut superstep.stages);
        swap(&mut self.has_begun, &mut superstep.has_begun);
        swap(&mut self.first_begin, &mut superstep.first_begin);
        swap(&mut self.begin_times, &mut superstep.begin_times);
        swap(&mut self.computation_ends, &mut superstep.computation_ends);
        swap(
            &mut self.last_computation_end,
            &mut superstep.last_computation_end,
        );
    }
}

impl OpenSupersteps {
    /// Whether the superstep with this number is open.
    pub(super) fn is_open(&self, superstep: usize) -> bool {
        (self.oldest..self.oldest + self.frames.len()).contains(&superstep)
    }

    /// Opens superstep `number`, which must follow the last open superstep; if no superstep is open, any number is allowed. The
    /// new superstep becomes the current superstep, and its plan is at first a copy of the plan of the previous superstep.
    pub(super) fn open_superstep(
        &mut self,
        number: usize,
        world: &mut World<'_>,
        superstep: &mut Superstep,
    ) {
        if self.frames.is_empty() {
            // The world still has the content of the superstep before it.
            self.oldest = number;
        } else {
            self.switch_to(number - 1, world, superstep);
        }
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.plan.clone_from(&world.plan);
        frame.completed_processes = 0;
        frame.message_range = (self.next_message, 0);
        refill(&mut frame.stages, world.placement.len(), Stage::Waiting);
        frame.computation_ends.resize(world.placement.len(), 0.0);
        frame.last_computation_end = None;
        self.frames.push_back(frame);
        self.switch_to(number, world, superstep);
    }

    /// Reserves `count` consecutive message numbers of the engine for the messages of the superstep that was opened last.
    pub(super) fn reserve_message_numbers(&mut self, count: usize) {
        if let Some(frame) = self.frames.back_mut() {
            frame.message_range.1 = to_u32(count);
            self.next_message = frame.message_range.0.wrapping_add(frame.message_range.1);
        }
    }

    /// Makes the superstep to which the event `token` belongs the current superstep, as preparation for handling the event.
    pub(super) fn switch_to_event(
        &mut self,
        token: &Token,
        world: &mut World<'_>,
        superstep: &mut Superstep,
    ) {
        let number = match *token {
            Token::Computed(process) => superstep.superstep_of_process[process as usize],
            Token::Delivered(message) => {
                let holds = |frame: &Frame| {
                    message.wrapping_sub(frame.message_range.0) < frame.message_range.1
                };
                let at = self.frames.iter().position(holds);
                self.oldest + at.expect("a message belongs to an open superstep")
            }
            _ => return,
        };
        self.switch_to(number, world, superstep);
    }

    /// Makes the oldest open superstep the current superstep; does nothing if no superstep is open.
    pub(super) fn switch_to_oldest(&mut self, world: &mut World<'_>, superstep: &mut Superstep) {
        if !self.frames.is_empty() {
            self.switch_to(self.oldest, world, superstep);
        }
    }

    /// Makes the open superstep `number` the current superstep: moves its content into `RunState` and `SuperstepState`.
    pub(super) fn switch_to(
        &mut self,
        number: usize,
        world: &mut World<'_>,
        superstep: &mut Superstep,
    ) {
        if self.current == Some(number) {
            return;
        }
        if let Some(current) = self.current {
            self.frames[current - self.oldest].swap_with_world(world, superstep);
        }
        let frame = &mut self.frames[number - self.oldest];
        frame.swap_with_world(world, superstep);
        superstep.first_message_number = frame.message_range.0;
        world.open_superstep = number;
        self.current = Some(number);
    }

    /// Removes the oldest superstep from the open supersteps. It must be the current superstep, and all processes must have
    /// completed it; its content stays in `RunState` and `SuperstepState`.
    pub(super) fn drop_oldest(&mut self) {
        self.spare.extend(self.frames.pop_front());
        self.oldest += 1;
        self.current = None;
    }

    /// Records that one more process has completed the open superstep with this number.
    pub(super) fn count_completion(&mut self, superstep: usize) {
        self.frames[superstep - self.oldest].completed_processes += 1;
    }

    /// Returns whether a process that has completed `superstep` must wait for the oldest open superstep before it begins the next
    /// superstep, since at most [`MAX_SUPERSTEPS_AHEAD`] supersteps may lie between them.
    pub(super) fn is_too_far_ahead(&self, superstep: usize) -> bool {
        superstep >= self.oldest + MOST_AHEAD
    }

    /// Whether all `processes` processes have completed the oldest open superstep.
    pub(super) fn is_oldest_completed(&self, processes: usize) -> bool {
        (self.frames.front()).is_some_and(|frame| frame.completed_processes == processes)
    }
}
