//! Migrations, decided or prescribed: sequential or parallel, with the processes that wait for them.

use super::config::{MoveOrder, Transfer, Waiting};
use super::event::Token;
use super::record::{Cause, MigrationRecord, Recorder};
use super::world::World;
use crate::error::{Error, Problem};
use crate::platform::Platform;
use crate::policy::Migration;
use crate::units::{Bytes, HostId, ProcessId, Seconds, Time, to_u32};
use crate::workload::PrescribedMove;

/// The migrations between two supersteps.
#[derive(Debug)]
pub(super) struct Migrations {
    moves: Vec<Move>,
    /// The number of migrations in progress.
    pub(super) pending: usize,
    /// Serial moves: the next one to start.
    next: usize,
    start: Time,
    pub(super) waiting: Waiting,
}

#[derive(Clone, Copy, Debug)]
struct Move {
    process: ProcessId,
    to: HostId,
    size: Bytes,
    delay: Seconds,
    start: Time,
    cause: Cause,
}

impl Migrations {
    pub(super) fn new() -> Self {
        Self {
            moves: Vec::new(),
            pending: 0,
            next: 0,
            start: Time::ZERO,
            waiting: Waiting::All,
        }
    }

    /// Forgets the moves of the superstep before.
    pub(super) fn clear(&mut self) {
        self.moves.clear();
        self.next = 0;
    }

    /// A process has left the barrier: its prescribed move starts, if it has one.
    pub(super) fn start_prescribed(
        &mut self,
        process: u32,
        prescribed: &[PrescribedMove],
        world: &mut World<'_>,
    ) -> Result<(), Error> {
        let mut prescribed = prescribed.iter();
        let Some(wanted) = prescribed.find(|wanted| wanted.process.0 == process) else {
            return Ok(());
        };
        let platform = world.setup.platform;
        let Some(to) = platform.host_named(&wanted.to) else {
            return Err(Error::Run(unknown_host(&wanted.to, platform)));
        };
        self.moves.push(Move {
            process: wanted.process,
            to,
            size: wanted.size,
            delay: wanted.delay,
            start: world.engine.now(),
            cause: Cause::Workload,
        });
        self.pending += 1;
        self.start_move(self.moves.len() - 1, world)
    }

    /// Takes the decided migrations, without processes that are at their destination already; returns their number.
    pub(super) fn plan(&mut self, decided: &[Migration], world: &World<'_>) -> usize {
        let costs = world.setup.costs.migration;
        self.moves.clear();
        for &Migration { process, to } in decided {
            let from = world.placement[process.index()];
            if from == to {
                continue;
            }
            let memory = world.memory[process.index()];
            let (size, alone) = match costs.transfer {
                Transfer::Flow => (memory, Seconds::default()),
                Transfer::Nominal => {
                    let platform = world.setup.platform;
                    (Bytes::default(), one_way(platform, from, to, memory))
                }
                Transfer::None => (Bytes::default(), Seconds::default()),
            };
            self.moves.push(Move {
                process,
                to,
                size,
                delay: costs.fixed + alone,
                start: world.engine.now(),
                cause: Cause::Policy,
            });
        }
        self.pending = self.moves.len();
        self.start = world.engine.now();
        self.waiting = costs.wait;
        self.pending
    }

    /// Whether each process moves.
    pub(super) fn movers(&self, processes: usize) -> Vec<bool> {
        let mut moves = vec![false; processes];
        for planned in &self.moves {
            moves[planned.process.index()] = true;
        }
        moves
    }

    /// Starts the planned moves: all, or the first of serial ones.
    pub(super) fn start(&mut self, world: &mut World<'_>) -> Result<(), Error> {
        self.next = match world.setup.costs.migration.order {
            MoveOrder::Serial => 1,
            MoveOrder::Parallel => self.moves.len(),
        };
        (0..self.next).try_for_each(|index| self.start_move(index, world))
    }

    fn start_move(&mut self, index: usize, world: &mut World<'_>) -> Result<(), Error> {
        let planned = &mut self.moves[index];
        planned.start = world.engine.now();
        let from = world.placement[planned.process.index()];
        let token = to_u32(index);
        if planned.size.get() > 0.0 && from != planned.to {
            let transferred = Token::Transferred(token);
            let has_handshake = world.setup.runtime.receives.has_handshake(planned.size);
            let image = (planned.size, has_handshake);
            return world
                .engine
                .send_message(from, planned.to, image, transferred);
        }
        world.engine.wait(planned.delay, Token::Settled(token));
        Ok(())
    }

    /// The memory of a process has arrived: its operations begin.
    pub(super) fn on_transferred(&mut self, index: u32, world: &mut World<'_>) {
        let delay = self.moves[index as usize].delay;
        world.engine.wait(delay, Token::Settled(index));
    }

    /// A process is ready at its destination: records it and starts the next move. Returns the process and why it moved.
    pub(super) fn on_settled(
        &mut self,
        index: u32,
        world: &mut World<'_>,
        recorder: &mut dyn Recorder,
    ) -> Result<(u32, Cause), Error> {
        let settled = self.moves[index as usize];
        let now = world.engine.now();
        let place = &mut world.placement[settled.process.index()];
        let record = MigrationRecord {
            superstep: world.ending,
            process: settled.process,
            from: std::mem::replace(place, settled.to),
            to: settled.to,
            size: settled.size,
            start: settled.start,
            end: now,
            cause: settled.cause,
        };
        recorder.migration(&record);
        world.outcome.migrations.push(record);
        world.log.number(u64::from(settled.process.0));
        world.log.number(u64::from(settled.to.0));
        world.log.date(now.get());
        self.pending -= 1;
        if settled.cause == Cause::Policy {
            if self.next < self.moves.len() {
                self.next += 1;
                self.start_move(self.next - 1, world)?;
            }
            if self.pending == 0 {
                self.record_price(world);
            }
        }
        Ok((settled.process.0, settled.cause))
    }

    /// All moves of a call have ended: their price.
    fn record_price(&self, world: &mut World<'_>) {
        let now = world.engine.now();
        let spent = now.since(self.start);
        world.outcome.migration += spent;
        let call = world.outcome.calls.last_mut();
        let call = call.expect("moves follow a call");
        call.migration = spent;
        if self.waiting == Waiting::All {
            call.held_until = now;
        }
    }

    /// The open superstep has been computed, and only the processes that moved before it waited for their moves: how long that held it
    /// up. `longest` is its longest computation.
    pub(super) fn date_late_moves(&self, computed: Time, longest: Seconds, world: &mut World<'_>) {
        let before = world.superstep.checked_sub(1);
        if let Some(call) = world.outcome.calls.last_mut()
            && self.waiting == Waiting::Movers
            && Some(call.superstep) == before
            && call.migration.get() > 0.0
        {
            let held = computed.since(call.held_until) - longest;
            call.held_until = call.held_until + held;
        }
    }
}

/// The time of `size` between two hosts without contention; zero without a route, over which no message is sent either.
pub(super) fn one_way(platform: &Platform, from: HostId, to: HostId, size: Bytes) -> Seconds {
    let Some(route) = platform.route(from, to) else {
        return Seconds::default();
    };
    let bottleneck = platform.bottleneck(&route);
    let transfer = bottleneck.map_or_else(Seconds::default, |rate| size / rate);
    platform.latency(&route) + transfer
}

/// The problem of a host that does not exist.
fn unknown_host(name: &str, platform: &Platform) -> Problem {
    let known = platform.hosts.iter().map(|host| host.name.as_str());
    Problem::unknown("host", name).known("hosts", known)
}
