//! Several open supersteps at once. Without barriers each process continues when its own messages have arrived. With a barrier that process
//! 1 opens, a process continues when it is released.
//!
//! ```text
//! open supersteps    k      k + 1     k + 2       one frame each: the plan, its messages, the measures
//! process            in one of them, at most MOST_AHEAD ahead of k
//! event              makes its superstep the current one: `World` and `Superstep` then handle the event as with barriers
//! ```
//! A superstep is closed when all processes have completed it. All processes meet where the workload moves processes, and while a call
//! overlaps a superstep. If some processes are ahead when a call is due, all meet after the furthest superstep that a process has begun.

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

/// The open supersteps, the oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    frames: VecDeque<Frame>,
    /// Number of the oldest open superstep.
    oldest: usize,
    /// The superstep whose content is in the world.
    current: Option<usize>,
    /// Frames for reuse.
    spare: Vec<Frame>,
    /// Processes that have completed their superstep and have not begun the next one.
    pub(super) ready: VecDeque<u32>,
    /// Number of the next message in the engine; numbers restart after 2^32 messages.
    next_message: u32,
}

/// An open superstep; its content is in the world while it is the current one.
#[derive(Clone, Debug, Default)]
struct Frame {
    /// Numbers of its messages: the first number, and the count.
    messages: (u32, u32),
    /// Number of processes that have completed it.
    done: usize,
    plan: Plan,
    measures: Measures,
    exchange: Exchange,
    stage: Vec<Stage>,
    has_begun: bool,
    first_began: f64,
    began: Vec<f64>,
    computed: Vec<f64>,
    last_computed: Option<Time>,
}

impl Frame {
    /// Swaps the content with that of the world.
    fn change_places(&mut self, world: &mut World<'_>, superstep: &mut Superstep) {
        swap(&mut self.plan, &mut world.plan);
        swap(&mut self.measures, &mut world.measures);
        swap(&mut self.exchange, &mut superstep.exchange);
        swap(&mut self.stage, &mut superstep.stage);
        swap(&mut self.has_begun, &mut superstep.has_begun);
        swap(&mut self.first_began, &mut superstep.first_began);
        swap(&mut self.began, &mut superstep.began);
        swap(&mut self.computed, &mut superstep.computed);
        swap(&mut self.last_computed, &mut superstep.last_computed);
    }
}

impl Ahead {
    /// Whether this superstep is open.
    pub(super) fn is_open(&self, superstep: usize) -> bool {
        (self.oldest..self.oldest + self.frames.len()).contains(&superstep)
    }

    /// Adds the superstep after the last open one, or any superstep if none is open. It becomes the current one, with the plan of the
    /// superstep before it.
    pub(super) fn add(&mut self, number: usize, world: &mut World<'_>, superstep: &mut Superstep) {
        if self.frames.is_empty() {
            // The world still has the content of the superstep before it.
            self.oldest = number;
        } else {
            self.make_current(number - 1, world, superstep);
        }
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.plan.clone_from(&world.plan);
        frame.done = 0;
        frame.messages = (self.next_message, 0);
        refill(&mut frame.stage, world.placement.len(), Stage::Waiting);
        frame.computed.resize(world.placement.len(), 0.0);
        frame.last_computed = None;
        self.frames.push_back(frame);
        self.make_current(number, world, superstep);
    }

    /// Numbers the messages of the superstep that was added last.
    pub(super) fn name_messages(&mut self, count: usize) {
        if let Some(frame) = self.frames.back_mut() {
            frame.messages.1 = to_u32(count);
            self.next_message = frame.messages.0.wrapping_add(frame.messages.1);
        }
    }

    /// Makes the superstep of an event the current one.
    pub(super) fn turn_to(
        &mut self,
        token: &Token,
        world: &mut World<'_>,
        superstep: &mut Superstep,
    ) {
        let number = match *token {
            Token::Computed(process) => superstep.at[process as usize],
            Token::Delivered(message) => {
                let holds =
                    |frame: &Frame| message.wrapping_sub(frame.messages.0) < frame.messages.1;
                let at = self.frames.iter().position(holds);
                self.oldest + at.expect("a message belongs to an open superstep")
            }
            _ => return,
        };
        self.make_current(number, world, superstep);
    }

    /// Makes the oldest superstep the current one.
    pub(super) fn turn_to_oldest(&mut self, world: &mut World<'_>, superstep: &mut Superstep) {
        if !self.frames.is_empty() {
            self.make_current(self.oldest, world, superstep);
        }
    }

    /// Makes an open superstep the current one.
    pub(super) fn make_current(
        &mut self,
        number: usize,
        world: &mut World<'_>,
        superstep: &mut Superstep,
    ) {
        if self.current == Some(number) {
            return;
        }
        if let Some(current) = self.current {
            self.frames[current - self.oldest].change_places(world, superstep);
        }
        let frame = &mut self.frames[number - self.oldest];
        frame.change_places(world, superstep);
        superstep.first_message = frame.messages.0;
        world.superstep = number;
        self.current = Some(number);
    }

    /// Removes the oldest superstep, which is current and closed; its content stays in the world.
    pub(super) fn drop_oldest(&mut self) {
        self.spare.extend(self.frames.pop_front());
        self.oldest += 1;
        self.current = None;
    }

    /// Counts a process that has completed an open superstep.
    pub(super) fn on_done(&mut self, superstep: usize) {
        self.frames[superstep - self.oldest].done += 1;
    }

    /// Whether a process that has completed this superstep is too far ahead to begin the next one.
    pub(super) fn is_too_far(&self, superstep: usize) -> bool {
        superstep >= self.oldest + MOST_AHEAD
    }

    /// Whether all processes have completed the oldest superstep.
    pub(super) fn is_oldest_done(&self, processes: usize) -> bool {
        (self.frames.front()).is_some_and(|frame| frame.done == processes)
    }
}
