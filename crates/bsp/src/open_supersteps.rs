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

use super::event::{ActivityToken, ProcessStage};
use super::exchange::MessageExchange;
use super::reschedule::Between;
use super::run::{DepartureProgress, Run};
use super::superstep::SuperstepState;
use super::world::RunState;
use crate::Plan;
use crate::{Measures, resize_and_fill};
use migsim_base::error::Error;
use migsim_base::units::{ProcessId, Seconds, Time, to_u32};

const MAX_SUPERSTEPS_AHEAD: usize = 1024;

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
    ready_processes: VecDeque<u32>,
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
        let number = match *token {
            ActivityToken::ComputationEnded(process) => {
                superstep.superstep_of_process[process as usize]
            }
            ActivityToken::MessageDelivered(message) => {
                let holds = |frame: &SuperstepContent| {
                    message.wrapping_sub(frame.message_number_range.0)
                        < frame.message_number_range.1
                };
                let at = self.contents.iter().position(holds);
                self.oldest_superstep + at.expect("a message belongs to an open superstep")
            }
            ActivityToken::ProcessBegins(_)
            | ActivityToken::BarrierActivityEnded(_)
            | ActivityToken::CallActivityEnded
            | ActivityToken::ManagerActivityEnded(_)
            | ActivityToken::MemoryTransferred(_)
            | ActivityToken::MigrationEnded(_) => return,
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
    fn remove_oldest_superstep(&mut self) {
        self.reusable_contents.extend(self.contents.pop_front());
        self.oldest_superstep += 1;
        self.current_superstep = None;
    }

    fn record_completion(&mut self, superstep: usize) {
        self.contents[superstep - self.oldest_superstep].completed_processes += 1;
    }

    /// Returns whether a process that has completed `superstep` must wait for the oldest open superstep before it begins the next
    /// superstep, since at most [`MAX_SUPERSTEPS_AHEAD`] supersteps may lie between them.
    fn is_too_far_ahead(&self, superstep: usize) -> bool {
        superstep >= self.oldest_superstep + MAX_SUPERSTEPS_AHEAD
    }

    fn is_oldest_completed(&self, processes: usize) -> bool {
        (self.contents.front()).is_some_and(|frame| frame.completed_processes == processes)
    }
}

impl Run<'_, '_> {
    /// Returns whether further activities end at the present time in a run without barriers. The runtime closes a superstep and
    /// lets processes continue only after all events of the same time.
    pub(super) fn has_more_events_now(&self) -> bool {
        self.open_supersteps.is_some() && self.world.engine.has_unreturned_tokens()
    }

    /// Closes the oldest superstep if all processes have completed it; otherwise lets each process that has completed its
    /// superstep continue. Closing comes first so that rescheduling decisions apply before any process continues at the same
    /// time.
    pub(super) fn continue_without_barrier(&mut self) -> Result<DepartureProgress, Error> {
        while !self.record_completions_and_check_oldest() {
            let ahead = self.open_supersteps.as_mut();
            let Some(process) = ahead.and_then(|ahead| ahead.ready_processes.pop_front()) else {
                return Ok(DepartureProgress::Incomplete);
            };
            self.begin_next_superstep(process)?;
        }
        // The results kept from the previously closed superstep do not belong to this one.
        self.shortcuts.digest = None;
        self.close_superstep()?;
        if self.rescheduling.between == Between::CallerDecides {
            return Ok(DepartureProgress::CallerMustDecide);
        }
        self.finish_closing_superstep()
    }

    /// Completes the closing of the oldest superstep: the processes that waited for this closing continue, unless all processes
    /// have to wait for each other.
    pub(super) fn finish_closing_superstep(&mut self) -> Result<DepartureProgress, Error> {
        self.record_superstep_end(Seconds::ZERO);
        let closed = self.world.ending_superstep;
        let furthest = self
            .superstep
            .superstep_of_process
            .iter()
            .copied()
            .max()
            .unwrap_or(closed);
        if self.rescheduling.between != Between::Nothing && furthest > closed {
            self.rescheduling.postpone_call(furthest);
        }
        if self.rescheduling.between != Between::Nothing || self.world.is_last_superstep() {
            self.continue_all_processes()?;
        }
        if let Some(ahead) = &mut self.open_supersteps {
            ahead.remove_oldest_superstep();
            // These processes continue below, or all meet.
            let at = &self.superstep.superstep_of_process;
            let waits = |process: &u32| may_wait_for_closing(at[*process as usize], closed);
            ahead.ready_processes.retain(|process| !waits(process));
        }
        if self.rescheduling.between == Between::Nothing {
            self.continue_waiting_processes(closed)?;
        }
        Ok(DepartureProgress::Complete)
    }

    /// Records which processes have just completed their superstep. If all processes have completed the oldest superstep, makes
    /// it the current superstep and returns true.
    fn record_completions_and_check_oldest(&mut self) -> bool {
        let Some(ahead) = &mut self.open_supersteps else {
            return false;
        };
        while let Some(process) = self.superstep.barrier.leaving_processes.pop_front() {
            ahead.record_completion(self.superstep.superstep_of_process[process as usize]);
            ahead.ready_processes.push_back(process);
        }
        let is_done = ahead.is_oldest_completed(self.world.placement.len());
        if is_done {
            ahead.switch_to_oldest_superstep(&mut self.world, &mut self.superstep);
        }
        is_done
    }

    /// Lets the processes continue that waited until superstep `closed` was closed, because they had completed this superstep or
    /// were too far ahead of it. It must be called only if processes need not wait for each other.
    fn continue_waiting_processes(&mut self, closed: usize) -> Result<(), Error> {
        for process in 0..self.world.placement.len() {
            let number = self.superstep.superstep_of_process[process];
            let has_done = |ahead: &mut OpenSupersteps| {
                ahead.switch_to_superstep(number, &mut self.world, &mut self.superstep);
                self.superstep.process_stages[process] == ProcessStage::AtBarrier
            };
            let is_waiting = may_wait_for_closing(number, closed)
                && (number == closed || self.open_supersteps.as_mut().is_some_and(has_done));
            if is_waiting {
                self.begin_next_superstep(ProcessId::from_index(process).0)?;
            }
        }
        Ok(())
    }

    /// Lets a process that has completed its superstep begin the next superstep, unless the process has to wait for other
    /// processes or is too far ahead.
    fn begin_next_superstep(&mut self, process: u32) -> Result<(), Error> {
        let number = self.superstep.superstep_of_process[process as usize];
        let is_last = number + 1 == self.world.superstep_count;
        let Some(ahead) = &mut self.open_supersteps else {
            return Ok(());
        };
        if self
            .rescheduling
            .sends_early_report_after(number, &self.world)
        {
            return self
                .rescheduling
                .call
                .send_early_report(process, &mut self.world);
        }
        if is_last
            || ahead.is_too_far_ahead(number)
            || self
                .rescheduling
                .must_synchronize_after(number, &self.world)
        {
            return Ok(());
        }
        if ahead.is_open(number + 1) {
            ahead.switch_to_superstep(number + 1, &mut self.world, &mut self.superstep);
        } else {
            self.open_superstep(number + 1)?;
        }
        self.superstep.begin_process(process, &mut self.world)
    }
}

/// Returns whether a process in superstep `number` may be waiting until superstep `closed` is closed. This is the case if the two
/// supersteps are the same, or if superstep `number` is the maximum number of supersteps ahead of superstep `closed`.
fn may_wait_for_closing(number: usize, closed: usize) -> bool {
    number == closed || number == closed + MAX_SUPERSTEPS_AHEAD
}
