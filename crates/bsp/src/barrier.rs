//! Barriers: the protocols by which processes learn that all processes have arrived at the end of a superstep.
//!
//! The runtime reports to the barrier each arrival of a process and each delivery of a barrier message. The barrier sends its
//! messages through the engine and adds the processes that may leave to the list `leaving_processes`. A process can arrive at the
//! next barrier while other processes are still leaving this barrier, but it is never two barriers ahead, since no process leaves
//! before all have arrived. Two kinds of barrier are exceptions: without a barrier (`None`), each process leaves when it arrives;
//! with a barrier that process 0 releases (`ReleasedByFirst`), each process leaves when process 0 releases it (`ahead.rs`).

mod central;
mod released_by_first;
mod scripted;
mod sequential;
mod tree;

use central::CentralBarrier;
use released_by_first::RootReleasedBarrier;
use scripted::ScriptedBarrier;
use sequential::SequentialBarrier;
use tree::{parent, record_subtree_arrival, release_children};

use super::config::{BarrierConfig, BarrierKind, RuntimeConfig, ShortcutChoice, TransferStart};
use super::event::{ActivityToken, BarrierMessage};
use super::foreseen::PredictedBarrier;
use super::leaving::LeavingProcesses;
use super::packets::PacketModel;
use super::path::Engine;
use super::script::BarrierScript;
use super::waves::ScriptStages;
use super::world::Setup;
use migsim_base::error::Error;
use migsim_base::units::{Bytes, HostId, ProcessId, Seconds, greater};
use migsim_engine::{MessageEnds, Simulation};
use migsim_platform::Platform;

/// The parts of the runtime that a barrier needs to send its messages: the engine, the platform and the placement of processes.
pub(super) struct BarrierContext<'a, 'p> {
    pub(super) engine: &'a mut Engine<'p>,
    /// Whether simulated time may advance without events while nothing else is in progress, as in [`super::world::RunState`].
    pub(super) may_fast_forward: bool,
    pub(super) platform: &'p Platform,
    pub(super) placement: &'a [HostId],
    /// The processes that are moving, and their destination hosts.
    pub(super) pending_destinations: &'a [(ProcessId, HostId)],
}

impl BarrierContext<'_, '_> {
    fn send_message(
        &mut self,
        ends: MessageEnds,
        bytes: Bytes,
        message: BarrierMessage,
    ) -> Result<(), Error> {
        self.engine
            .send_control_message(ends, bytes, ActivityToken::BarrierActivityEnded(message))
    }

    fn send_between_processes(
        &mut self,
        from: u32,
        to: u32,
        bytes: Bytes,
        message: BarrierMessage,
    ) -> Result<(), Error> {
        let ends = MessageEnds::of_processes(ProcessId(from), ProcessId(to), self.placement);
        self.send_message(ends, bytes, message)
    }

    /// Sends a control message between two processes as a packet: its duration is computed in advance, and it shares no link with
    /// flows. If a link on the route has no bandwidth at present, the message is a flow that waits for bandwidth. A message to a
    /// process that is moving goes to its destination, from where the process continues.
    fn send_control_packet(
        &mut self,
        packets: &mut PacketModel,
        (from, to): (u32, u32),
        bytes: Bytes,
        message: BarrierMessage,
    ) -> Result<(), Error> {
        let mut ends = MessageEnds::of_processes(ProcessId(from), ProcessId(to), self.placement);
        let mut moving = self.pending_destinations.iter();
        if let Some((_, host)) = moving.find(|(process, _)| process.0 == to) {
            ends.hosts.1 = *host;
        }
        packets.update_links(self.engine, ends.hosts)?;
        let packet = packets.packet_between(self.platform, ends.hosts);
        let Some(packet) = packet.filter(|packet| packet.duration.is_finite()) else {
            return self.send_message(ends, bytes, message);
        };
        if packet.uses_connection
            && let Some(connection) = self.engine.find_or_add_connection(ends)
        {
            let now = self.engine.local_time();
            let message = (connection, now, now + packet.duration);
            self.engine.record_messages([message]);
        }
        self.engine.add_to_flow_count(1);
        let duration = Seconds::of(packet.duration);
        self.engine
            .start_wait(duration, ActivityToken::BarrierActivityEnded(message));
        Ok(())
    }

    /// Fails with the error for a control message between hosts that have no route: sends an empty message between these hosts
    /// and returns the resulting error.
    fn fail_without_route(
        &mut self,
        (from, to): (HostId, HostId),
        message: BarrierMessage,
    ) -> Result<(), Error> {
        self.send_message(MessageEnds::of_hosts(from, to), Bytes::default(), message)
    }
}

/// The barrier at the end of every superstep of a run: its protocol, its messages, and the processes that may leave it.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    message_size: Bytes,
    process_count: u32,
    /// The processes that may leave the barrier now, in the order in which they leave; the runtime removes them from this list.
    pub(super) leaving_processes: LeavingProcesses,
    /// For each process, the time from the departure of the first process to the departure of this process \[s\]. The list is
    /// empty unless the protocol predicts a departure for each process.
    pub(super) departure_delays: Vec<f64>,
    protocol: Protocol,
}

#[derive(Clone, Debug)]
enum Protocol {
    Ideal { arrived: u32 },
    None,
    RootSerial(RootSerialBarrier),
    ReleasedByFirst(RootReleasedBarrier),
    Central(CentralBarrier),
    Sequential(SequentialBarrier),
    Tree { gathered: Vec<u32> },
    Scripted(ScriptedBarrier),
    Foreseen(PredictedBarrier),
}

impl Protocol {
    /// Creates the protocol of a barrier whose messages follow the script of its kind. The times at which processes leave are
    /// predicted from their arrivals if that is possible; otherwise each message is sent through the engine.
    fn with_script(setup: &Setup<'_>, kind: BarrierKind, processes: u32) -> Self {
        let script = BarrierScript::new(kind, processes);
        let packets = PacketModel::for_barrier(setup);
        // With queues the last digit of a time may decide which packet is first, so there must be one way to compute it. With late
        // receives a message may start after control messages of its sender, which must be known by then.
        let may_wait = setup.network.slow_start && setup.runtime.receives == TransferStart::Late;
        let may_foresee = packets
            .as_ref()
            .is_some_and(PacketModel::are_links_constant)
            && setup.runtime.shortcuts != ShortcutChoice::None
            && !setup.network.queues
            && !may_wait;
        let waves = may_foresee.then(|| ScriptStages::from_script(&script, processes));
        match (packets, waves.flatten()) {
            (Some(packets), Some(waves)) => {
                Self::Foreseen(PredictedBarrier::new(waves, processes, packets))
            }
            (packets, _) => Self::Scripted(ScriptedBarrier::new(script, packets, processes)),
        }
    }
}

/// State of an ideal barrier with delays (barrier kind `root-serial`). Process 0 arrives `root_message_time` after it is ready.
/// After the last arrival, all processes wait for `release_delay` plus `release_delay_per_computing` for each of the
/// `computing_processes`, and then leave at the same time.
#[derive(Clone, Debug)]
struct RootSerialBarrier {
    arrived_processes: u32,
    /// Time that process 0 spends on its messages to the other processes before it arrives at the barrier.
    root_message_time: Seconds,
    /// The part of the delay between the last arrival and the departure of all processes that is the same in every superstep.
    release_delay: Seconds,
    /// Additional delay of the departure of all processes, per process that computes in the superstep.
    release_delay_per_computing: Seconds,
    /// Number of processes that compute in the current superstep.
    computing_processes: usize,
}

impl Barrier {
    /// Creates the barrier of a run with `processes` processes. If the barrier has a coordinator, the coordinator stays on the
    /// host where process 0 starts.
    pub(super) fn new(setup: &Setup<'_>, processes: u32) -> Self {
        let RuntimeConfig {
            barrier: config,
            receives,
            ..
        } = setup.runtime;
        let count = processes as usize;
        let kind = config.kind.resolve_library(processes);
        let protocol = match kind {
            BarrierKind::None => Protocol::None,
            _ if processes == 1 => Protocol::Ideal { arrived: 0 },
            BarrierKind::Ideal => Protocol::Ideal { arrived: 0 },
            BarrierKind::Central => Protocol::Central(CentralBarrier::new(receives, processes)),
            BarrierKind::ReleasedByFirst => {
                Protocol::ReleasedByFirst(RootReleasedBarrier::new(processes))
            }
            BarrierKind::Sequential => Protocol::Sequential(SequentialBarrier::new(
                config,
                setup.placement[0],
                processes,
            )),
            BarrierKind::RootSerial => {
                Protocol::RootSerial(RootSerialBarrier::new(config, processes))
            }
            BarrierKind::Tree => Protocol::Tree {
                gathered: vec![0; count],
            },
            BarrierKind::Dissemination
            | BarrierKind::RecursiveDoubling
            | BarrierKind::DoubleRing
            | BarrierKind::Library => Protocol::with_script(setup, kind, processes),
        };
        Self {
            message_size: config.bytes,
            process_count: processes,
            leaving_processes: LeavingProcesses::default(),
            departure_delays: Vec::new(),
            protocol,
        }
    }

    /// Prepares the barrier for a superstep in which `computing` processes compute. It must be called after all processes have
    /// arrived at the previous barrier.
    pub(super) fn prepare_for_superstep(&mut self, computing: usize) {
        if let Protocol::RootSerial(root) = &mut self.protocol {
            root.computing_processes = computing;
        }
    }

    /// Handles the arrival of `process` at the barrier: sends the messages that the protocol requires, and releases the processes
    /// that may leave.
    pub(super) fn record_arrival(
        &mut self,
        process: u32,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        let Self {
            message_size: bytes,
            process_count: processes,
            leaving_processes: leaving,
            departure_delays: later,
            protocol,
        } = self;
        match protocol {
            Protocol::Ideal { arrived } => {
                *arrived += 1;
                if *arrived == *processes {
                    *arrived = 0;
                    leaving.push_all_processes(*processes);
                }
                Ok(())
            }
            Protocol::None => {
                leaving.push(process);
                Ok(())
            }
            Protocol::RootSerial(root) if process == 0 => {
                let message = ActivityToken::BarrierActivityEnded(BarrierMessage::ArrivalReport(0));
                context.engine.start_wait(root.root_message_time, message);
                Ok(())
            }
            Protocol::RootSerial(root) => {
                root.record_arrival(*processes, leaving, context);
                Ok(())
            }
            Protocol::ReleasedByFirst(first) => first.record_arrival(process, *bytes, context),
            Protocol::Central(central) => {
                central.record_arrival(process, *processes, *bytes, context)
            }
            Protocol::Sequential(sequential) => {
                sequential.record_arrival(process, *processes, *bytes, context)
            }
            Protocol::Tree { gathered } => {
                record_subtree_arrival(gathered, process, *processes, *bytes, leaving, context)
            }
            Protocol::Scripted(scripted) => {
                scripted.record_arrival(process, *bytes, leaving, context)
            }
            Protocol::Foreseen(foreseen) => {
                if foreseen.record_arrival(process, context.engine.local_time()) {
                    release_at_predicted_times(foreseen, *processes, leaving, later, context)?;
                }
                Ok(())
            }
        }
    }

    /// Returns whether a process may leave the barrier before all processes have arrived, so that several supersteps are open at
    /// the same time.
    pub(super) fn allows_early_departure(&self) -> bool {
        matches!(
            &self.protocol,
            Protocol::None | Protocol::ReleasedByFirst(_)
        )
    }

    /// Whether the times at which processes leave can be computed from their arrival times, without events.
    pub(super) fn is_predictable(&self) -> bool {
        match &self.protocol {
            Protocol::Ideal { .. } | Protocol::RootSerial(_) | Protocol::Foreseen(_) => true,
            Protocol::Sequential(sequential) => sequential.is_predictable(),
            Protocol::None
            | Protocol::ReleasedByFirst(_)
            | Protocol::Central(_)
            | Protocol::Tree { .. }
            | Protocol::Scripted(_) => false,
        }
    }

    /// Whether the messages of the barrier are flows, which share links with other flows.
    pub(super) fn uses_links(&self) -> bool {
        !matches!(
            &self.protocol,
            Protocol::Ideal { .. }
                | Protocol::None
                | Protocol::RootSerial(_)
                | Protocol::Foreseen(_)
        )
    }

    /// Returns whether the protocol predicts a separate departure time for each process.
    pub(super) fn predicts_each_departure(&self) -> bool {
        matches!(&self.protocol, Protocol::Foreseen(_))
    }

    /// Returns the time at which the first process leaves the barrier \[s\], and the number of barrier messages. `arrival`
    /// contains the arrival time of each process \[s\]; `alone` returns the duration of a message that shares no link with other
    /// messages \[s\], or `None` if it may share a link. The result is `None` if `alone` returns `None` or if the barrier is not
    /// [predictable](Self::is_predictable).
    pub(super) fn predict_departure(
        &mut self,
        arrival: &[f64],
        places: (&Platform, &[HostId]),
        alone: impl FnMut(HostId, HostId, Bytes) -> Option<f64>,
    ) -> Option<(f64, u64)> {
        let last = || arrival.iter().copied().fold(0.0, greater);
        match &mut self.protocol {
            Protocol::Ideal { .. } => Some((last(), 0)),
            Protocol::RootSerial(root) => Some((
                last().max(arrival[0] + root.root_message_time.get()) + root.departure_delay(),
                0,
            )),
            Protocol::Sequential(sequential) => {
                let released =
                    sequential.predict_departure((arrival, places.1), self.message_size, alone)?;
                Some((released, 2 * arrival.len() as u64))
            }
            Protocol::Foreseen(foreseen) => {
                foreseen.record_arrivals(arrival);
                let first = foreseen
                    .compute_departures(places, &mut self.departure_delays)
                    .ok()?;
                Some((first, foreseen.message_count()))
            }
            Protocol::None
            | Protocol::ReleasedByFirst(_)
            | Protocol::Central(_)
            | Protocol::Tree { .. }
            | Protocol::Scripted(_) => None,
        }
    }

    /// Releases all processes from the barrier at the present time, which must be the predicted time of their departure.
    pub(super) fn release_all_processes(&mut self) {
        self.leaving_processes
            .push_all_processes(self.process_count);
    }

    /// Records in the engine when control messages of the barrier used their connections, so that the engine knows which
    /// connections are idle. It does nothing unless the protocol predicts the departure of each process.
    pub(super) fn record_connection_uses(&mut self, engine: &mut Simulation<'_, ActivityToken>) {
        if let Protocol::Foreseen(foreseen) = &mut self.protocol {
            foreseen.record_connection_uses(engine);
        }
    }

    /// Schedules an event for each process at the predicted time at which the process leaves the barrier; the first process
    /// leaves immediately.
    pub(super) fn schedule_departures(&mut self, engine: &mut Engine<'_>) {
        schedule_departures_after_wait(
            &mut self.departure_delays,
            0.0,
            &mut self.leaving_processes,
            engine,
        );
    }

    /// Returns the time that process 0 spends on the messages of the barrier. This time counts as part of the time of process 0
    /// in the superstep.
    pub(super) fn root_message_time(&self) -> Seconds {
        match &self.protocol {
            Protocol::RootSerial(root) => root.root_message_time,
            Protocol::Ideal { .. }
            | Protocol::None
            | Protocol::ReleasedByFirst(_)
            | Protocol::Central(_)
            | Protocol::Sequential(_)
            | Protocol::Tree { .. }
            | Protocol::Scripted(_)
            | Protocol::Foreseen(_) => Seconds::default(),
        }
    }

    /// Handles the delivery of a barrier message, or the end of a delay for which the barrier waits.
    pub(super) fn on_message_delivered(
        &mut self,
        message: BarrierMessage,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        use BarrierMessage::{ArrivalReport, LeavePermission, ScriptMessage};
        let Self {
            message_size: bytes,
            process_count: processes,
            leaving_processes: leaving,
            protocol,
            ..
        } = self;
        match (protocol, message) {
            (Protocol::RootSerial(root), ArrivalReport(_)) => {
                root.record_arrival(*processes, leaving, context);
            }
            (Protocol::RootSerial(_), LeavePermission(_)) => leaving.push_all_processes(*processes),
            (Protocol::ReleasedByFirst(first), LeavePermission(process)) => {
                first.on_release_delivered(process, leaving);
            }
            (Protocol::Central(central), ArrivalReport(_)) => {
                central.on_arrival_message_delivered(*processes, *bytes, context)?;
            }
            (Protocol::Central(central), LeavePermission(process)) => {
                central.on_answer_delivered(process, *processes, leaving);
            }
            (Protocol::Sequential(sequential), ArrivalReport(_)) => {
                sequential.on_arrival_message_delivered(*processes, *bytes, context)?;
            }
            (Protocol::Sequential(sequential), LeavePermission(process)) => {
                sequential.on_release_delivered(process, *processes, *bytes, leaving, context)?;
            }
            (Protocol::Tree { gathered }, ArrivalReport(child)) => {
                let to = parent(child);
                record_subtree_arrival(gathered, to, *processes, *bytes, leaving, context)?;
            }
            (Protocol::Foreseen(_), LeavePermission(process)) => leaving.push(process),
            (Protocol::Tree { .. }, LeavePermission(process)) => {
                leaving.push(process);
                release_children(process, *processes, *bytes, context)?;
            }
            (Protocol::Scripted(scripted), ScriptMessage { to, slot, parity }) => {
                scripted.on_control_message((to, slot, parity), *bytes, leaving, context)?;
            }
            // Each protocol gets only its own control messages.
            (_, ArrivalReport(_) | LeavePermission(_) | ScriptMessage { .. }) => {}
        }
        Ok(())
    }
}

impl RootSerialBarrier {
    /// Creates the barrier of a run with `processes` processes, at which no process has arrived. Its delays are those of `config`,
    /// multiplied by the number of processes where they count per process.
    fn new(config: BarrierConfig, processes: u32) -> Self {
        let for_all = |each: Seconds| Seconds::of(each.get() * f64::from(processes));
        Self {
            arrived_processes: 0,
            root_message_time: for_all(config.per_process),
            release_delay: for_all(config.release_per_process),
            release_delay_per_computing: config.release_per_computing,
            computing_processes: 0,
        }
    }

    /// Returns the time from the last arrival to the departure of all processes \[s\].
    fn departure_delay(&self) -> f64 {
        self.release_delay.get()
            + self.release_delay_per_computing.get() * self.computing_processes as f64
    }

    /// Records the arrival of a process. After the last arrival, all processes leave when the delay of their departure has
    /// passed.
    fn record_arrival(
        &mut self,
        processes: u32,
        leaving: &mut LeavingProcesses,
        context: &mut BarrierContext<'_, '_>,
    ) {
        self.arrived_processes += 1;
        if self.arrived_processes < processes {
            return;
        }
        self.arrived_processes = 0;
        let delay = self.departure_delay();
        if delay > 0.0 {
            let message = ActivityToken::BarrierActivityEnded(BarrierMessage::LeavePermission(0));
            context.engine.start_wait(Seconds::of(delay), message);
        } else {
            leaving.push_all_processes(processes);
        }
    }
}

/// Releases the processes from a barrier with predicted departures at which all processes have arrived. Simulated time advances
/// directly to the departure of the first process if nothing else is in progress; otherwise each process leaves by an event.
fn release_at_predicted_times(
    foreseen: &mut PredictedBarrier,
    processes: u32,
    leaving: &mut LeavingProcesses,
    later: &mut Vec<f64>,
    context: &mut BarrierContext<'_, '_>,
) -> Result<(), Error> {
    let places = (context.platform, context.placement);
    let first = match foreseen.compute_departures(places, later) {
        Ok(first) => first,
        Err(ends) => return context.fail_without_route(ends, BarrierMessage::LeavePermission(0)),
    };
    let (wait, notices) = (
        first - context.engine.local_time(),
        foreseen.message_count(),
    );
    if context.may_fast_forward && context.engine.advance_without_events(wait, notices) {
        leaving.push_all_processes(processes);
    } else {
        context.engine.add_to_flow_count(notices);
        schedule_departures_after_wait(later, wait, leaving, context.engine);
    }
    foreseen.record_connection_uses(context.engine);
    Ok(())
}

/// Schedules for each process an event at which the process leaves the barrier: `wait` plus the delay of the process in `later`
/// after the present time \[s\]. Afterwards the list `later` is empty.
fn schedule_departures_after_wait(
    later: &mut Vec<f64>,
    wait: f64,
    leaving: &mut LeavingProcesses,
    engine: &mut Engine<'_>,
) {
    for (process, later) in (0..).zip(later.drain(..)) {
        let wait = wait + later;
        if wait > 0.0 {
            let message =
                ActivityToken::BarrierActivityEnded(BarrierMessage::LeavePermission(process));
            engine.start_wait(Seconds::of(wait), message);
        } else {
            leaving.push(process);
        }
    }
}
