//! Supersteps that need not end for all processes at once: without barriers each process goes on when its own messages are there, and
//! behind a barrier that process 1 opens when it is released. Several supersteps are open at once.
//!
//! ```text
//! open supersteps    k      k + 1     k + 2       a frame each: the plan, its messages, what is measured
//! process            in one of them, at most MOST_AHEAD ahead of k
//! event              its superstep becomes the open one of `World` and `Superstep`, which then handle it as ever
//! ```
//! A superstep is closed when all processes have done it. They meet where the workload moves processes, and while a call is paid beside a
//! superstep. When a call is due, some may be ahead: then all meet after the furthest superstep that one of them has begun.

use std::collections::VecDeque;
use std::mem::swap;

use super::event::{Stage, Token};
use super::exchange::Exchange;
use super::superstep::Superstep;
use super::world::World;
use crate::Plan;
use crate::{Measures, refill};
use migsim_base::units::{Time, to_u32};

/// A process that is so many supersteps ahead waits for the others.
pub(super) const MOST_AHEAD: usize = 1024;

/// The supersteps that are open: the oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    frames: VecDeque<Frame>,
    /// The number of the oldest one.
    oldest: usize,
    /// The one whose content is in the world.
    current: Option<usize>,
    /// Frames to be used again.
    spare: Vec<Frame>,
    /// Processes that have done their superstep and have not gone on yet.
    pub(super) ready: VecDeque<u32>,
    /// The name of the next message for the engine; names begin again after 2^32 messages.
    next_message: u32,
}

/// A superstep that is open; its content stands in the world while it is the current one.
#[derive(Clone, Debug, Default)]
struct Frame {
    /// The names of its messages: the first one, and how many.
    messages: (u32, u32),
    /// How many processes have done it.
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
    /// Exchanges the content with that of the world.
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
    /// Whether a superstep is open.
    pub(super) fn is_open(&self, superstep: usize) -> bool {
        (self.oldest..self.oldest + self.frames.len()).contains(&superstep)
    }

    /// Adds the superstep after the last open one, or any if none is open; it becomes the current one, with the plan of the one before it.
    pub(super) fn add(&mut self, number: usize, world: &mut World<'_>, superstep: &mut Superstep) {
        if self.frames.is_empty() {
            // What is left in the world is the superstep before it.
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

    /// Names the messages of the superstep that was added last.
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

    /// The oldest superstep, which is the current one, has been closed: its content stays in the world.
    pub(super) fn drop_oldest(&mut self) {
        self.spare.extend(self.frames.pop_front());
        self.oldest += 1;
        self.current = None;
    }

    /// A process has done an open superstep.
    pub(super) fn on_done(&mut self, superstep: usize) {
        self.frames[superstep - self.oldest].done += 1;
    }

    /// Whether a process that has done this superstep is too far ahead to begin the next one.
    pub(super) fn is_too_far(&self, superstep: usize) -> bool {
        superstep >= self.oldest + MOST_AHEAD
    }

    /// Whether all processes have done the oldest superstep.
    pub(super) fn is_oldest_done(&self, processes: usize) -> bool {
        (self.frames.front()).is_some_and(|frame| frame.done == processes)
    }
}
