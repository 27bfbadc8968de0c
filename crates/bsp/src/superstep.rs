//! Simulates a superstep by events: each process computes, sends, receives and waits at the barrier.
//!
//! The engine reports the end of each activity, and the process to which the activity belongs starts its next activity. A process
//! that has left a barrier may begin the next superstep while other processes are still leaving.

use super::{
    barrier::Barrier,
    config::SendOrder,
    event::{ActivityToken, ProcessStage},
    exchange::MessageExchange,
    world::{RunState, Setup},
};
use migsim_base::{
    error::Error,
    units::{Instructions, ProcessId, Seconds, Time},
};
use migsim_engine::MessageEnds;

#[derive(Clone)]
pub(super) struct SuperstepState {
    pub(super) barrier: Barrier,
    pub(super) message_exchange: MessageExchange,
    pub(super) process_stages: Vec<ProcessStage>,
    /// For the superstep that is opened next, the time from the begin of the first process to the begin of each process \[s\];
    /// empty if all processes begin together.
    pub(super) next_begin_delays: Vec<f64>,
    pub(super) has_begun: bool,
    pub(super) is_simulated_by_events: bool,
    pub(super) local_time_origin: Time,
    /// Local time at which the first process began the open superstep \[s\].
    pub(super) first_begin_time: f64,
    /// Local time at which each process began the open superstep \[s\]; empty if all processes began at `local_time_origin`.
    pub(super) begin_times: Vec<f64>,
    /// Local time at which the computation of each process ended \[s\].
    pub(super) computation_ends: Vec<f64>,
    /// Instant at which the last computation of the open superstep ended. It is `None` before any computation has ended, and
    /// after the superstep was computed by a shortcut.
    pub(super) last_computation_end: Option<Time>,
    pub(super) departed_processes: usize,
    pub(super) may_next_superstep_have_begun: bool,
    pub(super) superstep_of_process: Vec<usize>,
    /// Number of the first message of the open superstep in the engine; 0 unless several supersteps are open.
    pub(super) first_message_number: u32,
}

impl SuperstepState {
    pub(super) fn new(setup: &Setup<'_>) -> Self {
        let processes = setup.workload.processes();
        let count = u32::try_from(processes).expect("workloads have fewer than 2^32 processes");
        Self {
            barrier: Barrier::new(setup, count),
            message_exchange: MessageExchange::default(),
            process_stages: vec![ProcessStage::WaitingForNextSuperstep; processes],
            next_begin_delays: Vec::new(),
            has_begun: false,
            is_simulated_by_events: false,
            local_time_origin: Time::ZERO,
            first_begin_time: 0.0,
            begin_times: vec![0.0; processes],
            computation_ends: vec![0.0; processes],
            last_computation_end: None,
            departed_processes: 0,
            may_next_superstep_have_begun: false,
            superstep_of_process: vec![0; processes],
            first_message_number: 0,
        }
    }

    /// Prepares the state for a superstep that has just been opened; `is_new` states whether its plan differs from the previous
    /// plan.
    pub(super) fn open_superstep(&mut self, is_new: bool, world: &RunState<'_>) {
        self.has_begun = false;
        if is_new {
            let computing = world
                .superstep_plan
                .work
                .iter()
                .filter(|work| work.get() > 0.0);
            self.barrier.prepare_for_superstep(computing.count());
        }
    }

    /// Ends a superstep that was computed by a shortcut: lets all processes leave its barrier.
    pub(super) fn finish_superstep_by_shortcut(&mut self) {
        (self.has_begun, self.is_simulated_by_events) = (true, false);
        std::mem::swap(&mut self.begin_times, &mut self.next_begin_delays);
        self.next_begin_delays.clear();
        self.barrier.release_all_processes();
    }

    /// Lets each process begin the open superstep by an event, at its delay after the first process. It is used if processes left
    /// the previous barrier one by one.
    pub(super) fn schedule_process_begins(
        &mut self,
        world: &mut RunState<'_>,
    ) -> Result<(), Error> {
        let begins = std::mem::take(&mut self.next_begin_delays);
        for (process, &later) in (0..).zip(&begins) {
            if later > 0.0 {
                let token = ActivityToken::ProcessBegins(process);
                world.engine.start_wait(Seconds::of(later), token);
            } else {
                self.begin_process(process, world)?;
            }
        }
        Ok(())
    }

    pub(super) fn begin_process(
        &mut self,
        process: u32,
        world: &mut RunState<'_>,
    ) -> Result<(), Error> {
        let at = process as usize;
        if !self.has_begun {
            self.begin_first_process(world);
        }
        self.superstep_of_process[at] = world.open_superstep;
        self.begin_times[at] = world.engine.local_time();
        world.measurements.begin_delays[at] =
            Seconds::of((self.begin_times[at] - self.first_begin_time).max(0.0));
        let work = world.superstep_plan.work[at].get();
        if work > 0.0 {
            self.process_stages[at] = ProcessStage::Computing;
            let cycles = Instructions::of(work * world.setup.workload.cycles_per_instruction());
            let host = world.placement[at];
            let token = ActivityToken::ComputationEnded(process);
            return world.engine.execute(host, cycles, token);
        }
        self.on_computation_ended(process, world)
    }

    /// Lets all processes begin the open superstep; processes for which the list `without` contains true are left out.
    pub(super) fn begin_all_processes(
        &mut self,
        without: Option<&[bool]>,
        world: &mut RunState<'_>,
    ) -> Result<(), Error> {
        for process in 0..world.placement.len() {
            if without.is_none_or(|without| !without[process]) {
                self.begin_process(ProcessId::from_index(process).0, world)?;
            }
        }
        Ok(())
    }

    fn begin_first_process(&mut self, world: &mut RunState<'_>) {
        let processes = world.placement.len();
        (self.has_begun, self.is_simulated_by_events) = (true, true);
        self.begin_times.resize(processes, 0.0);
        self.first_begin_time = world.engine.local_time();
        let runtime = &world.setup.runtime;
        self.message_exchange
            .prepare_for_superstep(&world.superstep_plan, processes, runtime);
        world.times_mut(world.open_superstep).start = world.engine.now();
        world.measurements.clear(processes);
        world
            .measurements
            .work
            .clone_from(&world.superstep_plan.work);
    }

    /// Handles the end of the computation of a process, which then starts to send its messages.
    pub(super) fn on_computation_ended(
        &mut self,
        process: u32,
        world: &mut RunState<'_>,
    ) -> Result<(), Error> {
        let at = process as usize;
        self.last_computation_end = Some(world.engine.now());
        self.computation_ends[at] = world.engine.local_time();
        world.measurements.computation_times[at] =
            Seconds::of((self.computation_ends[at] - self.begin_times[at]).max(0.0));
        self.process_stages[at] = ProcessStage::Sending;
        let is_concurrent = world.setup.runtime.sends == SendOrder::Concurrent;
        if is_concurrent && world.has_processor_times {
            self.start_blocked_messages(process, world)?;
        }
        self.send_messages(process, world)
    }

    /// Lets a process send its next message, or, unless it sends one after the other, all messages up to the next one that takes
    /// processor time.
    fn send_messages(&mut self, process: u32, world: &mut RunState<'_>) -> Result<(), Error> {
        while let Some(message) = self.message_exchange.next_send(process) {
            let work = world.processor_work_of_message(message).0;
            if work.get() > 0.0 {
                let host = world.placement[process as usize];
                let token = ActivityToken::SendEnded(process);
                return world.engine.execute(host, work, token);
            }
            self.message_exchange.take_next_send(process);
            self.send_message(message, world)?;
            if world.setup.runtime.sends == SendOrder::Sequential {
                return Ok(());
            }
        }
        self.begin_receiving(process, world)
    }

    /// Handles the moment when a process has spent the processor time of its next message, which is then sent.
    pub(super) fn on_send_ended(
        &mut self,
        process: u32,
        world: &mut RunState<'_>,
    ) -> Result<(), Error> {
        if let Some(message) = self.message_exchange.take_next_send(process) {
            self.send_message(message, world)?;
        }
        match world.setup.runtime.sends {
            SendOrder::Sequential => Ok(()),
            SendOrder::Concurrent => self.send_messages(process, world),
        }
    }

    /// Sends a message: starts the flow of the message, or makes the message wait for its receiver if the options demand it.
    fn send_message(&mut self, message: u32, world: &mut RunState<'_>) -> Result<(), Error> {
        let planned = world.superstep_plan.messages[message as usize];
        let (to, receives) = (planned.to, world.setup.runtime.receives);
        if receives.waits_for_receiver(planned.size)
            && !self.message_exchange.is_receiving[to.index()]
        {
            self.message_exchange.block_message(message, to.0);
            return Ok(());
        }
        self.start_flow(message, world)
    }

    fn start_flow(&mut self, message: u32, world: &mut RunState<'_>) -> Result<(), Error> {
        let planned = world.superstep_plan.messages[message as usize];
        let ends = MessageEnds::of_processes(planned.from, planned.to, &world.placement);
        let now = world.engine.local_time();
        self.message_exchange
            .record_transfer_start(message, now, ends.hosts);
        let token =
            ActivityToken::MessageDelivered(self.first_message_number.wrapping_add(message));
        world.send_message(ends, planned.size, token)
    }

    /// Begins to receive in a process that has sent its messages; all messages that waited for this receiver start.
    fn begin_receiving(&mut self, process: u32, world: &mut RunState<'_>) -> Result<(), Error> {
        self.process_stages[process as usize] = ProcessStage::Receiving;
        self.start_blocked_messages(process, world)?;
        self.start_receive(process, world)?;
        self.on_receive_progress(process, world)
    }

    fn start_blocked_messages(
        &mut self,
        process: u32,
        world: &mut RunState<'_>,
    ) -> Result<(), Error> {
        self.message_exchange.is_receiving[process as usize] = true;
        while let Some(message) = self.message_exchange.take_blocked_message(process) {
            self.start_flow(message, world)?;
        }
        Ok(())
    }

    /// Lets a process that receives spend the processor time of the messages that have been delivered to it, unless it is busy.
    fn start_receive(&mut self, process: u32, world: &mut RunState<'_>) -> Result<(), Error> {
        let at = process as usize;
        let queue = &mut self.message_exchange.receive_queues[at];
        if queue.waiting_messages == 0
            || queue.current_messages > 0
            || self.process_stages[at] != ProcessStage::Receiving
        {
            return Ok(());
        }
        queue.current_messages = std::mem::take(&mut queue.waiting_messages);
        let work = Instructions::of(std::mem::take(&mut queue.waiting_work));
        let token = ActivityToken::ReceiveEnded(process);
        world
            .engine
            .execute_receive(world.placement[at], work, token)
    }

    pub(super) fn on_receive_ended(
        &mut self,
        process: u32,
        world: &mut RunState<'_>,
    ) -> Result<(), Error> {
        let at = process as usize;
        let queue = &mut self.message_exchange.receive_queues[at];
        self.message_exchange.pending_receive_counts[at] -=
            std::mem::take(&mut queue.current_messages);
        self.start_receive(process, world)?;
        self.on_receive_progress(process, world)
    }

    pub(super) fn on_message_delivered(
        &mut self,
        message: u32,
        world: &mut RunState<'_>,
    ) -> Result<(), Error> {
        let message = message.wrapping_sub(self.first_message_number);
        let planned = world.superstep_plan.messages[message as usize];
        let (from, to) = (planned.from.index(), planned.to.index());
        let now = world.engine.local_time();
        let Some(started) = self.message_exchange.record_delivery(message) else {
            return Err(
                world.internal_error(Some(to), "a message to the process was delivered twice")
            );
        };
        let period = world.period_with_ends(message as usize, (started, now));
        self.message_exchange.transfer_periods[message as usize] = period;
        let duration = Seconds::of((period.1 - period.0).max(0.0));
        let end = |process: usize| {
            let cluster = world.setup.platform.cluster_of(world.placement[process]);
            (process, cluster.index())
        };
        let ends = (end(from), end(to));
        if world.has_active_policy() {
            let (size, measures) = (planned.size, &mut world.measurements);
            measures.add_message(ends.0, ends.1, size, duration);
        }
        world.measurements.send_times[from] =
            Seconds::of((now - self.computation_ends[from]).max(0.0));
        let work = world.processor_work_of_message(message).1.get();
        if work > 0.0 {
            let queue = &mut self.message_exchange.receive_queues[to];
            queue.waiting_work += work;
            queue.waiting_messages += 1;
            self.start_receive(planned.to.0, world)?;
        } else {
            self.message_exchange.pending_receive_counts[to] -= 1;
            self.on_receive_progress(planned.to.0, world)?;
        }
        if world.setup.runtime.waits_for_send(planned.size) {
            self.message_exchange.undelivered_send_counts[from] -= 1;
            self.arrive_at_barrier_if_ready(planned.from.0, world)?;
        }
        if world.setup.runtime.sends == SendOrder::Sequential {
            self.send_messages(planned.from.0, world)?;
        }
        Ok(())
    }

    /// Handles the moment when a process begins to receive, or has received a message. When the process has received all its
    /// messages, it arrives at the barrier, or first waits until the messages that it sent are delivered.
    fn on_receive_progress(&mut self, process: u32, world: &mut RunState<'_>) -> Result<(), Error> {
        let at = process as usize;
        if world.setup.runtime.wait_for_sends
            && self.process_stages[at] == ProcessStage::Receiving
            && self.message_exchange.pending_receive_counts[at] == 0
        {
            self.record_communication_time(at, world);
        }
        self.arrive_at_barrier_if_ready(process, world)
    }

    fn record_communication_time(&self, process: usize, world: &mut RunState<'_>) {
        let spent = (world.engine.local_time() - self.computation_ends[process]).max(0.0);
        world.measurements.communication_times[process] = Seconds::of(spent);
    }

    /// Makes a process arrive at the barrier if it has completed its sends and receives.
    fn arrive_at_barrier_if_ready(
        &mut self,
        process: u32,
        world: &mut RunState<'_>,
    ) -> Result<(), Error> {
        let at = process as usize;
        if self.process_stages[at] != ProcessStage::Receiving
            || self.message_exchange.pending_receive_counts[at] > 0
            || self.message_exchange.undelivered_send_counts[at] > 0
        {
            return Ok(());
        }
        self.process_stages[at] = ProcessStage::AtBarrier;
        if !world.setup.runtime.wait_for_sends {
            self.record_communication_time(at, world);
        }
        self.barrier.record_arrival(process, world)
    }

    /// Adds the times of transfers to the measurements of a superstep that was simulated by events, if a recorder requests them.
    pub(super) fn record_transfers(&self, world: &mut RunState<'_>) {
        if world.records_transfers && self.is_simulated_by_events {
            let periods = self.message_exchange.transfer_periods.iter().copied();
            let (plan, measures) = (&world.superstep_plan, &mut world.measurements);
            measures.record_transfers(plan, &self.computation_ends, periods);
        }
    }
}
