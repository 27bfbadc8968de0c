//! Barriers: the protocols by which processes learn that all processes have arrived at the end of a superstep.
//!
//! The runtime reports to the barrier each arrival of a process and each delivery of a barrier message. The barrier sends its
//! messages through the engine and adds the processes that may leave to the list `leaving_processes`. A process can arrive at the
//! next barrier while other processes are still leaving this barrier, but it is never two barriers ahead, since no process leaves
//! before all have arrived. Two kinds of barrier are exceptions: without a barrier (`None`), each process leaves when it arrives;
//! with a barrier that process 0 releases (`ReleasedByFirst`), each process leaves when process 0 releases it (`open_supersteps.rs`).

mod central;
mod context;
mod prediction;
mod released_by_first;
mod scripted;
mod sequential;
mod tree;

use std::collections::VecDeque;

use central::CentralBarrier;
use context::Context;
use prediction::PredictedBarrier;
use released_by_first::RootReleasedBarrier;
use scripted::ScriptedBarrier;
use sequential::SequentialBarrier;
use tree::TreeBarrier;

use super::{
    config::{BarrierConfig, BarrierKind, ControlTransport, ShortcutChoice, TransferStart},
    event::{ActivityToken, BarrierMessage},
    script::BarrierScript,
    world::{RunState, Setup},
};
use migsim_base::{
    error::Result,
    units::{HostId, Seconds, greater},
};
use migsim_engine::{MessageEnds, Simulation};
use migsim_platform::Link;

/// The barrier at the end of every superstep of a run: its protocol, its messages, and the processes that may leave it.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    config: BarrierConfig,
    process_count: u32,
    /// The processes that may leave the barrier now, in the order in which they leave; the runtime removes them from this list.
    pub leaving_processes: VecDeque<u32>,
    /// For each process, the time from the departure of the first process to the departure of this process \[s\]. The list is
    /// empty unless the protocol predicts a departure for each process.
    pub departure_delays: Vec<f64>,
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
    Tree(TreeBarrier),
    Scripted(ScriptedBarrier),
    Predicted(PredictedBarrier),
}

impl Protocol {
    fn new(setup: &Setup<'_>, processes: u32) -> Self {
        let config = setup.runtime.barrier;
        let kind = config.kind.resolve_library(processes);
        match kind {
            BarrierKind::None => Self::None,
            _ if processes == 1 => Self::Ideal { arrived: 0 },
            BarrierKind::Ideal => Self::Ideal { arrived: 0 },
            BarrierKind::Central => Self::Central(CentralBarrier::new(setup.runtime.receives)),
            BarrierKind::ReleasedByFirst => {
                Self::ReleasedByFirst(RootReleasedBarrier::new(processes))
            }
            BarrierKind::Sequential => Self::Sequential(SequentialBarrier::new(
                config,
                setup.placement[0],
                processes,
            )),
            BarrierKind::RootSerial => Self::RootSerial(RootSerialBarrier::new(config, processes)),
            BarrierKind::Tree => Self::Tree(TreeBarrier::new(processes)),
            BarrierKind::Dissemination
            | BarrierKind::RecursiveDoubling
            | BarrierKind::DoubleRing
            | BarrierKind::Library => Self::with_script(setup, kind, processes),
        }
    }

    /// Creates the protocol of a barrier with a script. Its departures are predicted if its control messages are packets on links
    /// that do not vary and the runtime options allow it.
    fn with_script(setup: &Setup<'_>, kind: BarrierKind, processes: u32) -> Self {
        let script = BarrierScript::new(kind, processes);
        let config = setup.runtime.barrier;
        let has_packets = config.notices == ControlTransport::Packets;
        // With queues the last digit of a time may decide which packet is first, so there must be one way to compute it. With late
        // receives a message may start after control messages of its sender, which must be known by then.
        let may_wait = setup.network.slow_start && setup.runtime.receives == TransferStart::Late;
        let is_predictable = has_packets
            && setup.runtime.shortcuts != ShortcutChoice::None
            && !setup.network.queues
            && !may_wait
            && !setup.platform.links.iter().any(Link::varies_over_time);
        let predicted = is_predictable.then(|| PredictedBarrier::new(&script, processes, config));
        match predicted.flatten() {
            Some(predicted) => Self::Predicted(predicted),
            None => Self::Scripted(ScriptedBarrier::new(script, has_packets, processes)),
        }
    }
}

#[derive(Clone, Debug)]
struct RootSerialBarrier {
    arrived_processes: u32,
    root_message_time: Seconds,
    release_delay: Seconds,
    release_delay_per_computing: Seconds,
    computing_processes: usize,
}

impl Barrier {
    pub(super) fn new(setup: &Setup<'_>, processes: u32) -> Self {
        Self {
            config: setup.runtime.barrier,
            process_count: processes,
            leaving_processes: VecDeque::new(),
            departure_delays: Vec::new(),
            protocol: Protocol::new(setup, processes),
        }
    }

    pub(super) fn prepare_for_superstep(&mut self, computing: usize) {
        if let Protocol::RootSerial(root) = &mut self.protocol {
            root.computing_processes = computing;
        }
    }

    fn protocol_and_context<'c, 'a>(
        &'c mut self,
        world: &'c mut RunState<'a>,
    ) -> (&'c mut Protocol, Context<'c, 'a>) {
        let context = Context {
            world,
            bytes: self.config.bytes,
            processes: self.process_count,
            leaving: &mut self.leaving_processes,
            departure_delays: &mut self.departure_delays,
        };
        (&mut self.protocol, context)
    }

    pub(super) fn record_arrival(&mut self, process: u32, world: &mut RunState<'_>) -> Result {
        let (protocol, mut context) = self.protocol_and_context(world);
        match protocol {
            Protocol::Ideal { arrived } => {
                *arrived += 1;
                if *arrived == context.processes {
                    *arrived = 0;
                    context.release_all();
                }
            }
            Protocol::None => context.leaving.push_back(process),
            Protocol::RootSerial(root) if process == 0 => {
                context.start_wait(root.root_message_time, BarrierMessage::ArrivalReport(0));
            }
            Protocol::RootSerial(root) => root.record_arrival(&mut context),
            Protocol::ReleasedByFirst(first) => first.record_arrival(process, &mut context)?,
            Protocol::Central(central) => central.record_arrival(process, &mut context)?,
            Protocol::Sequential(sequential) => sequential.record_arrival(process, &mut context)?,
            Protocol::Tree(tree) => tree.record_arrival(process, &mut context)?,
            Protocol::Scripted(scripted) => scripted.record_arrival(process, &mut context)?,
            Protocol::Predicted(predicted) => {
                if predicted.record_arrival(process, context.world.engine.local_time()) {
                    release_at_predicted_times(predicted, &mut context)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn allows_early_departure(&self) -> bool {
        matches!(
            &self.protocol,
            Protocol::None | Protocol::ReleasedByFirst(_)
        )
    }

    /// Whether [`Self::predict_departure`] can compute the departure from the arrivals.
    pub(super) fn is_predictable(&self) -> bool {
        matches!(
            &self.protocol,
            Protocol::Ideal { .. } | Protocol::RootSerial(_) | Protocol::Predicted(_)
        ) || matches!(&self.protocol, Protocol::Sequential(one) if one.is_predictable())
    }

    pub(super) fn uses_links(&self) -> bool {
        !matches!(
            &self.protocol,
            Protocol::Ideal { .. }
                | Protocol::None
                | Protocol::RootSerial(_)
                | Protocol::Predicted(_)
        )
    }

    pub(super) fn predicts_each_departure(&self) -> bool {
        matches!(&self.protocol, Protocol::Predicted(_))
    }

    /// Returns the time at which the first process leaves the barrier \[s\], and the number of barrier messages. `arrival`
    /// contains the arrival time of each process \[s\]. The result is `None` if a message may share a link with other messages, or if
    /// the barrier is not [predictable](Self::is_predictable).
    pub(super) fn predict_departure(
        &mut self,
        arrival: &[f64],
        placement: &[HostId],
        engine: &mut Simulation<'_, ActivityToken>,
    ) -> Option<(f64, u64)> {
        let last = || arrival.iter().copied().fold(0.0, greater);
        match &mut self.protocol {
            Protocol::Ideal { .. } => Some((last(), 0)),
            Protocol::RootSerial(root) => Some((
                last().max(arrival[0] + root.root_message_time.get()) + root.departure_delay(),
                0,
            )),
            Protocol::Sequential(sequential) => {
                let BarrierConfig { bytes, delay, .. } = self.config;
                let released = sequential.predict_departure(arrival, placement, |from, to| {
                    engine.unshared_duration(from, to, bytes, delay.0)
                })?;
                Some((released, 2 * arrival.len() as u64))
            }
            Protocol::Predicted(predicted) => {
                predicted.record_arrivals(arrival);
                let first = predicted
                    .compute_departures(placement, engine, &mut self.departure_delays)
                    .ok()?;
                Some((first, predicted.message_count()))
            }
            Protocol::None
            | Protocol::ReleasedByFirst(_)
            | Protocol::Central(_)
            | Protocol::Tree(_)
            | Protocol::Scripted(_) => None,
        }
    }

    /// Lets all processes leave, after a superstep that was computed without events.
    pub(super) fn release_all_processes(&mut self) {
        self.leaving_processes.extend(0..self.process_count);
    }

    /// Reports the predicted control messages to the connections that they use.
    pub(super) fn record_connection_uses(&self, engine: &mut Simulation<'_, ActivityToken>) {
        if let Protocol::Predicted(predicted) = &self.protocol {
            predicted.record_connection_uses(engine);
        }
    }

    pub(super) fn schedule_departures(&mut self, engine: &mut Simulation<'_, ActivityToken>) {
        let delays = &mut self.departure_delays;
        schedule_departures_after_wait(delays, 0.0, &mut self.leaving_processes, engine);
    }

    pub(super) fn root_message_time(&self) -> Seconds {
        if let Protocol::RootSerial(root) = &self.protocol {
            root.root_message_time
        } else {
            Seconds::default()
        }
    }

    /// Continues the barrier after the delivery of one of its messages or the end of one of its waits.
    pub(super) fn on_message_delivered(
        &mut self,
        message: BarrierMessage,
        world: &mut RunState<'_>,
    ) -> Result {
        use BarrierMessage::{ArrivalReport, LeavePermission, ScriptMessage};
        let (protocol, mut context) = self.protocol_and_context(world);
        let context = &mut context;
        match (protocol, message) {
            (Protocol::RootSerial(root), ArrivalReport(_)) => root.record_arrival(context),
            (Protocol::RootSerial(_), LeavePermission(_)) => context.release_all(),
            (Protocol::ReleasedByFirst(first), LeavePermission(process)) => {
                first.on_release_delivered(process, context);
            }
            (Protocol::Central(central), ArrivalReport(_)) => {
                central.on_arrival_message_delivered(context)?;
            }
            (Protocol::Central(central), LeavePermission(process)) => {
                central.on_answer_delivered(process, context);
            }
            (Protocol::Sequential(sequential), ArrivalReport(_)) => {
                sequential.on_arrival_message_delivered(context)?;
            }
            (Protocol::Sequential(sequential), LeavePermission(process)) => {
                sequential.on_release_delivered(process, context)?;
            }
            (Protocol::Predicted(_), LeavePermission(process)) => {
                context.leaving.push_back(process);
            }
            (Protocol::Tree(tree), ArrivalReport(child)) => {
                tree.record_arrival(tree::parent(child), context)?;
            }
            (Protocol::Tree(_), LeavePermission(process)) => {
                context.leaving.push_back(process);
                tree::release_children(process, context)?;
            }
            (Protocol::Scripted(scripted), ScriptMessage { to, slot, parity }) => {
                scripted.on_control_message(to, slot, parity, context)?;
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
    fn record_arrival(&mut self, context: &mut Context<'_, '_>) {
        self.arrived_processes += 1;
        if self.arrived_processes < context.processes {
            return;
        }
        self.arrived_processes = 0;
        let delay = self.departure_delay();
        if delay > 0.0 {
            context.start_wait(Seconds::of(delay), BarrierMessage::LeavePermission(0));
        } else {
            context.release_all();
        }
    }
}

/// Lets all processes leave at their predicted times, after the last one has arrived.
fn release_at_predicted_times(
    barrier: &mut PredictedBarrier,
    context: &mut Context<'_, '_>,
) -> Result {
    let world = &mut *context.world;
    let placement = &world.placement;
    let engine = &mut world.engine;
    let first = match barrier.compute_departures(placement, engine, context.departure_delays) {
        Ok(first) => first,
        Err((from, to)) => {
            // Fails, since there is no route.
            let ends = MessageEnds::of_hosts(from, to);
            return context.send_message(ends, BarrierMessage::LeavePermission(0));
        }
    };
    let messages = barrier.message_count();
    let wait = first - world.engine.local_time();
    let has_passed = world.may_fast_forward && world.try_advance_time(wait, messages);
    let engine = &mut world.engine;
    if has_passed {
        context.leaving.extend(0..context.processes);
    } else {
        engine.add_to_flow_count(messages);
        schedule_departures_after_wait(context.departure_delays, wait, context.leaving, engine);
    }
    barrier.record_connection_uses(engine);
    Ok(())
}

fn schedule_departures_after_wait(
    delays: &mut Vec<f64>,
    wait: f64,
    leaving: &mut VecDeque<u32>,
    engine: &mut Simulation<'_, ActivityToken>,
) {
    for (process, delay) in (0..).zip(delays.drain(..)) {
        let wait = wait + delay;
        if wait > 0.0 {
            let message = BarrierMessage::LeavePermission(process);
            engine.start_wait(
                Seconds::of(wait),
                ActivityToken::BarrierActivityEnded(message),
            );
        } else {
            leaving.push_back(process);
        }
    }
}
