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

use central::Central;
use released_by_first::ReleasedByFirst;
use scripted::Scripted;
use sequential::Sequential;
use tree::{gather_in_tree, parent, release_children};

use super::config::{BarrierKind, RuntimeConfig, Shortcuts};
use super::event::{BarrierMessage, Token};
use super::foreseen::Foreseen;
use super::leaving::Leaving;
use super::packets::Packets;
use super::path::Engine;
use super::script::Script;
use super::waves::Waves;
use super::world::Setup;
use migsim_base::error::Error;
use migsim_base::units::{Bytes, HostId, Seconds, greater};
use migsim_engine::Simulation;
use migsim_platform::Platform;

/// The parts of the runtime that a barrier needs to send its messages: the engine, the platform and the placement of processes.
pub(super) struct BarrierContext<'a, 'p> {
    pub(super) engine: &'a mut Engine<'p>,
    /// Whether simulated time may advance without events while nothing else is in progress, as in [`super::world::RunState`].
    pub(super) may_fast_forward: bool,
    pub(super) platform: &'p Platform,
    pub(super) placement: &'a [HostId],
}

impl BarrierContext<'_, '_> {
    fn send_message(
        &mut self,
        from: HostId,
        to: HostId,
        bytes: Bytes,
        message: BarrierMessage,
    ) -> Result<(), Error> {
        self.engine
            .send_control(from, to, bytes, Token::Barrier(message))
    }

    fn send_between_processes(
        &mut self,
        from: u32,
        to: u32,
        bytes: Bytes,
        message: BarrierMessage,
    ) -> Result<(), Error> {
        self.send_message(
            self.placement[from as usize],
            self.placement[to as usize],
            bytes,
            message,
        )
    }

    /// Sends a control message between two processes as a packet: its duration is computed in advance, and it shares no link with
    /// flows.
    fn send_packet(
        &mut self,
        packets: &mut Packets,
        (from, to): (u32, u32),
        message: BarrierMessage,
    ) -> Result<(), Error> {
        let ends = (self.placement[from as usize], self.placement[to as usize]);
        let Some(packet) = packets.packet_between(self.platform, ends) else {
            return self.no_route_error(ends, message);
        };
        if packet.uses_connection {
            let end = self.engine.local_time() + packet.duration;
            self.engine.record_message_end(ends, end);
        }
        self.engine.add_to_flow_count(1);
        let duration = Seconds::of(packet.duration);
        self.engine.wait(duration, Token::Barrier(message));
        Ok(())
    }

    /// Fails with the error for a control message between hosts that have no route: sends an empty message between these hosts
    /// and returns the resulting error.
    fn no_route_error(
        &mut self,
        (from, to): (HostId, HostId),
        message: BarrierMessage,
    ) -> Result<(), Error> {
        self.send_message(from, to, Bytes::default(), message)
    }
}

/// The barrier at the end of every superstep of a run: its protocol, its messages, and the processes that may leave it.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    bytes: Bytes,
    processes: u32,
    /// The processes that may leave the barrier now, in the order in which they leave; the runtime removes them from this list.
    pub(super) leaving: Leaving,
    /// For each process, the time from the departure of the first process to the departure of this process \[s\]. The list is
    /// empty unless the protocol predicts a departure for each process.
    pub(super) departure_delays: Vec<f64>,
    protocol: Protocol,
}

#[derive(Clone, Debug)]
enum Protocol {
    Ideal { arrived: u32 },
    None,
    RootSerial(RootSerial),
    ReleasedByFirst(ReleasedByFirst),
    Central(Central),
    Sequential(Sequential),
    Tree { gathered: Vec<u32> },
    Scripted(Scripted),
    Foreseen(Foreseen),
}

/// State of an ideal barrier with delays (barrier kind `root-serial`). Process 0 arrives `root_message_time` after it is ready.
/// After the last arrival, all processes wait for `release_delay` plus `release_delay_per_computing` for each of the
/// `computing_processes`, and then leave at the same time.
#[derive(Clone, Debug)]
struct RootSerial {
    arrived_processes: u32,
    /// Time that process 0 spends on its messages to the other processes before it arrives at the barrier.
    root_cost: Seconds,
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
            BarrierKind::Central => Protocol::Central(Central::new(receives, processes)),
            BarrierKind::ReleasedByFirst => {
                Protocol::ReleasedByFirst(ReleasedByFirst::new(processes))
            }
            BarrierKind::Sequential => {
                Protocol::Sequential(Sequential::new(config, setup.placement[0], processes))
            }
            BarrierKind::RootSerial => {
                let for_all = |each: Seconds| Seconds::of(each.get() * f64::from(processes));
                Protocol::RootSerial(RootSerial {
                    arrived_processes: 0,
                    root_cost: for_all(config.per_process),
                    release_delay: for_all(config.release_per_process),
                    release_delay_per_computing: config.release_per_computing,
                    computing_processes: 0,
                })
            }
            BarrierKind::Tree => Protocol::Tree {
                gathered: vec![0; count],
            },
            BarrierKind::Dissemination
            | BarrierKind::RecursiveDoubling
            | BarrierKind::DoubleRing
            | BarrierKind::Library => {
                let script = Script::new(kind, processes);
                let packets = Packets::for_barrier(setup);
                // With queues the last digit of a time may decide which packet is first, so there must be one way to compute it.
                let may_foresee = packets.is_some()
                    && setup.runtime.shortcuts != Shortcuts::None
                    && !setup.network.queues;
                let waves = may_foresee.then(|| Waves::from_script(&script, processes));
                match (packets, waves.flatten()) {
                    (Some(packets), Some(waves)) => {
                        Protocol::Foreseen(Foreseen::new(waves, processes, packets))
                    }
                    (packets, _) => Protocol::Scripted(Scripted::new(script, packets, processes)),
                }
            }
        };
        Self {
            bytes: config.bytes,
            processes,
            leaving: Leaving::default(),
            departure_delays: Vec::new(),
            protocol,
        }
    }

    /// Prepares the barrier for a superstep in which `computing` processes compute. It must be called after all processes have
    /// arrived at the previous barrier.
    pub(super) fn open(&mut self, computing: usize) {
        if let Protocol::RootSerial(root) = &mut self.protocol {
            root.computing_processes = computing;
        }
    }

    /// Handles the arrival of `process` at the barrier: sends the messages that the protocol requires, and releases the processes
    /// that may leave.
    pub(super) fn arrive(
        &mut self,
        process: u32,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        let Self {
            bytes,
            processes,
            leaving,
            departure_delays: later,
            protocol,
        } = self;
        match protocol {
            Protocol::Ideal { arrived } => {
                *arrived += 1;
                if *arrived == *processes {
                    *arrived = 0;
                    leaving.push_all(*processes);
                }
                Ok(())
            }
            Protocol::None => {
                leaving.push(process);
                Ok(())
            }
            Protocol::RootSerial(root) if process == 0 => {
                let message = Token::Barrier(BarrierMessage::Arrived(0));
                context.engine.wait(root.root_cost, message);
                Ok(())
            }
            Protocol::RootSerial(root) => {
                root.record_arrival(*processes, leaving, context);
                Ok(())
            }
            Protocol::ReleasedByFirst(first) => first.arrive(process, *bytes, context),
            Protocol::Central(central) => central.arrive(process, *processes, *bytes, context),
            Protocol::Sequential(sequential) => {
                sequential.arrive(process, *processes, *bytes, context)
            }
            Protocol::Tree { gathered } => {
                gather_in_tree(gathered, process, *processes, *bytes, leaving, context)
            }
            Protocol::Scripted(scripted) => scripted.arrive(process, *bytes, leaving, context),
            Protocol::Foreseen(foreseen) => {
                if foreseen.record_arrival(process, context.engine.local_time()) {
                    release_predicted(foreseen, *processes, leaving, later, context)?;
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
                last().max(arrival[0] + root.root_cost.get()) + root.departure_delay(),
                0,
            )),
            Protocol::Sequential(sequential) => {
                let released =
                    sequential.predict_departure((arrival, places.1), self.bytes, alone)?;
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
    pub(super) fn let_all_leave(&mut self) {
        self.leaving.push_all(self.processes);
    }

    /// Reports to the engine when control messages of the barrier last used each connection, so that the engine knows which
    /// connections are idle. It does nothing unless the protocol predicts the departure of each process.
    pub(super) fn report_connections(&mut self, engine: &mut Simulation<'_, Token>) {
        if let Protocol::Foreseen(foreseen) = &mut self.protocol {
            foreseen.report_connections(engine);
        }
    }

    /// Schedules an event for each process at the predicted time at which the process leaves the barrier; the first process
    /// leaves immediately.
    pub(super) fn schedule_departures(&mut self, engine: &mut Engine<'_>) {
        schedule_departures_after(&mut self.departure_delays, 0.0, &mut self.leaving, engine);
    }

    /// Returns the time that process 0 spends on the messages of the barrier. This time counts as part of the time of process 0
    /// in the superstep.
    pub(super) fn root_cost(&self) -> Seconds {
        match &self.protocol {
            Protocol::RootSerial(root) => root.root_cost,
            _ => Seconds::default(),
        }
    }

    /// Handles the delivery of a barrier message, or the end of a delay for which the barrier waits.
    pub(super) fn on_message_delivered(
        &mut self,
        message: BarrierMessage,
        context: &mut BarrierContext<'_, '_>,
    ) -> Result<(), Error> {
        use BarrierMessage::{Arrived, Leave, Round};
        let Self {
            bytes,
            processes,
            leaving,
            protocol,
            ..
        } = self;
        match (protocol, message) {
            (Protocol::RootSerial(root), Arrived(_)) => {
                root.record_arrival(*processes, leaving, context);
                Ok(())
            }
            (Protocol::RootSerial(_), Leave(_)) => {
                leaving.push_all(*processes);
                Ok(())
            }
            (Protocol::ReleasedByFirst(first), Leave(process)) => {
                first.on_release_delivered(process, leaving);
                Ok(())
            }
            (Protocol::Central(central), Arrived(_)) => {
                central.on_notified(*processes, *bytes, context)
            }
            (Protocol::Central(central), Leave(process)) => {
                central.on_answered(process, *processes, leaving);
                Ok(())
            }
            (Protocol::Sequential(sequential), Arrived(_)) => {
                sequential.on_gathered(*processes, *bytes, context)
            }
            (Protocol::Sequential(sequential), Leave(process)) => {
                sequential.on_released(process, *processes, *bytes, leaving, context)
            }
            (Protocol::Tree { gathered }, Arrived(child)) => gather_in_tree(
                gathered,
                parent(child),
                *processes,
                *bytes,
                leaving,
                context,
            ),
            (Protocol::Foreseen(_), Leave(process)) => {
                leaving.push(process);
                Ok(())
            }
            (Protocol::Tree { .. }, Leave(process)) => {
                leaving.push(process);
                release_children(process, *processes, *bytes, context)
            }
            (Protocol::Scripted(scripted), Round { to, slot, parity }) => {
                scripted.on_control_message((to, slot, parity), *bytes, leaving, context)
            }
            // Each protocol gets only its own control messages.
            (_, Arrived(_) | Leave(_) | Round { .. }) => Ok(()),
        }
    }
}

impl RootSerial {
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
        leaving: &mut Leaving,
        context: &mut BarrierContext<'_, '_>,
    ) {
        self.arrived_processes += 1;
        if self.arrived_processes < processes {
            return;
        }
        self.arrived_processes = 0;
        let delay = self.departure_delay();
        if delay > 0.0 {
            let message = Token::Barrier(BarrierMessage::Leave(0));
            context.engine.wait(Seconds::of(delay), message);
        } else {
            leaving.push_all(processes);
        }
    }
}

/// Releases the processes from a barrier with predicted departures at which all processes have arrived. Simulated time advances
/// directly to the departure of the first process if nothing else is in progress; otherwise each process leaves by an event.
fn release_predicted(
    foreseen: &mut Foreseen,
    processes: u32,
    leaving: &mut Leaving,
    later: &mut Vec<f64>,
    context: &mut BarrierContext<'_, '_>,
) -> Result<(), Error> {
    let places = (context.platform, context.placement);
    let first = match foreseen.compute_departures(places, later) {
        Ok(first) => first,
        Err(ends) => return context.no_route_error(ends, BarrierMessage::Leave(0)),
    };
    let (wait, notices) = (
        first - context.engine.local_time(),
        foreseen.message_count(),
    );
    if context.may_fast_forward && context.engine.advance_without_events(wait, notices) {
        leaving.push_all(processes);
    } else {
        context.engine.add_to_flow_count(notices);
        schedule_departures_after(later, wait, leaving, context.engine);
    }
    foreseen.report_connections(context.engine);
    Ok(())
}

/// Schedules for each process an event at which the process leaves the barrier: `wait` plus the delay of the process in `later`
/// after the present time \[s\]. Afterwards the list `later` is empty.
fn schedule_departures_after(
    later: &mut Vec<f64>,
    wait: f64,
    leaving: &mut Leaving,
    engine: &mut Engine<'_>,
) {
    for (process, later) in (0..).zip(later.drain(..)) {
        let wait = wait + later;
        if wait > 0.0 {
            let message = Token::Barrier(BarrierMessage::Leave(process));
            engine.wait(Seconds::of(wait), message);
        } else {
            leaving.push(process);
        }
    }
}
