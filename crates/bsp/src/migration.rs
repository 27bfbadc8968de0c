//! Executes the migrations that a policy decides or that the workload prescribes, one after the other or at the same time, and
//! determines which processes wait for them.
//!
//! All migrations that end at the same time are applied before any process continues. A message that starts at that time is
//! therefore sent to the new hosts, independently of the order in which the migrations were decided. A migration that takes no
//! time is applied when it starts.

use super::config::{MoveCost, MoveOrder, Transfer, Waiting};
use super::event::Token;
use super::record::{Cause, MigrationRecord, Recorder};
use super::world::World;
use crate::Migration;
use crate::PrescribedMove;
use migsim_base::error::{Error, Problem};
use migsim_base::units::{Bytes, HostId, ProcessId, Seconds, Time, greater, to_u32};
use migsim_platform::Platform;

/// The migrations after a superstep, with the progress of each migration.
#[derive(Clone, Debug)]
pub(super) struct Migrations {
    moves: Vec<Move>,
    /// Number of migrations that have not ended yet.
    pub(super) pending_migrations: usize,
    /// Index of the migration that starts next, if migrations are executed one after the other.
    next_index: usize,
    /// Instant at which all migrations of the rescheduling call start; `None` if each migration starts when its process receives
    /// the answer of the call.
    start: Option<Time>,
    /// Longest duration among those migrations of the rescheduling call that have ended.
    longest_duration: Seconds,
    pub(super) waiting: Waiting,
    /// Processes that have migrated by a decision of the policy and have not continued their work since.
    migrated_processes: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Move {
    process: ProcessId,
    to: HostId,
    size: Bytes,
    delay: Seconds,
    start: Time,
    cause: Cause,
    is_applied: bool,
}

impl Move {
    /// Returns whether the migration takes no time, since it has no memory to transfer and no delay.
    fn is_instant(&self) -> bool {
        self.size.get() <= 0.0 && self.delay.get() <= 0.0
    }
}

impl Migrations {
    pub(super) fn new() -> Self {
        Self {
            moves: Vec::new(),
            pending_migrations: 0,
            next_index: 0,
            start: None,
            longest_duration: Seconds::default(),
            waiting: Waiting::All,
            migrated_processes: Vec::new(),
        }
    }

    /// Removes the migrations of the previous superstep.
    pub(super) fn clear(&mut self) {
        self.moves.clear();
        self.next_index = 0;
    }

    /// Starts the migration that the workload prescribes for a process that has left the barrier; does nothing if no migration is
    /// prescribed for the process.
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
            return Err(Error::Run(unknown_host_error(&wanted.to, platform)));
        };
        self.moves.push(Move {
            process: wanted.process,
            to,
            size: wanted.size,
            delay: wanted.delay,
            start: world.engine.now(),
            cause: Cause::Workload,
            is_applied: false,
        });
        self.pending_migrations += 1;
        self.start_migration(self.moves.len() - 1, world)
    }

    /// Sets the migrations of a rescheduling call to the migrations that the policy decided. A migration is left out if its
    /// process is already on the destination host. Returns the number of migrations that remain.
    pub(super) fn set_decided(&mut self, decided: &[Migration], world: &World<'_>) -> usize {
        let costs = world.setup.costs.migration;
        self.moves.clear();
        self.migrated_processes.clear();
        for &Migration { process, to } in decided {
            let from = world.placement[process.index()];
            if from == to {
                continue;
            }
            let memory = world.memory[process.index()];
            let size = match costs.transfer {
                Transfer::Flow => memory,
                Transfer::Nominal | Transfer::None => Bytes::default(),
            };
            self.moves.push(Move {
                process,
                to,
                size,
                delay: costs.time_without_flow(world.setup.platform, (from, to), memory),
                start: world.engine.now(),
                cause: Cause::Policy,
                is_applied: false,
            });
        }
        self.pending_migrations = self.moves.len();
        self.start = Some(world.engine.now());
        self.longest_duration = Seconds::default();
        self.waiting = costs.wait;
        self.pending_migrations
    }

    /// Applies, before any migration that takes time starts, the decided migrations that take no time and that need not wait for
    /// other migrations.
    pub(super) fn apply_instant(&mut self, world: &mut World<'_>, recorder: &mut dyn Recorder) {
        match world.setup.costs.migration.order {
            MoveOrder::Serial => self.apply_next_instant(world, recorder),
            MoveOrder::Parallel => {
                self.next_index = self.moves.len();
                for index in 0..self.moves.len() {
                    if self.moves[index].is_instant() {
                        self.apply_migration(index, world, recorder);
                    }
                }
            }
        }
    }

    /// Applies the next migrations in their order until a migration takes time. It does nothing if migrations are executed at the
    /// same time.
    fn apply_next_instant(&mut self, world: &mut World<'_>, recorder: &mut dyn Recorder) {
        while self
            .moves
            .get(self.next_index)
            .is_some_and(Move::is_instant)
        {
            self.next_index += 1;
            self.moves[self.next_index - 1].start = world.engine.now();
            self.apply_migration(self.next_index - 1, world, recorder);
        }
    }

    /// Returns, for each process, whether the process has a migration that is not applied yet.
    pub(super) fn migrating_processes(&self, processes: usize) -> Vec<bool> {
        let mut moves = vec![false; processes];
        for planned in self.moves.iter().filter(|planned| !planned.is_applied) {
            moves[planned.process.index()] = true;
        }
        moves
    }

    /// Starts the migrations that take time: all of these migrations, or only the first if migrations are executed one after the
    /// other.
    pub(super) fn start(&mut self, world: &mut World<'_>) -> Result<(), Error> {
        match world.setup.costs.migration.order {
            MoveOrder::Serial => self.start_next(world),
            MoveOrder::Parallel => {
                for index in 0..self.moves.len() {
                    if !self.moves[index].is_applied {
                        self.start_migration(index, world)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Starts the next migration, if migrations are executed one after the other; does nothing if no migration remains.
    fn start_next(&mut self, world: &mut World<'_>) -> Result<(), Error> {
        if self.next_index == self.moves.len() {
            return Ok(());
        }
        self.next_index += 1;
        self.start_migration(self.next_index - 1, world)
    }

    /// Starts the migration of a process that has just received its answer, in a call whose answers are sent one by one. Returns
    /// whether the process has a migration.
    pub(super) fn start_of_answered_process(
        &mut self,
        process: u32,
        world: &mut World<'_>,
        recorder: &mut dyn Recorder,
    ) -> Result<bool, Error> {
        let mut moves = self.moves.iter();
        let Some(index) = moves.position(|planned| planned.process.0 == process) else {
            return Ok(false);
        };
        if self.moves[index].is_instant() {
            self.moves[index].start = world.engine.now();
            self.apply_migration(index, world, recorder);
        } else {
            self.start_migration(index, world)?;
        }
        Ok(true)
    }

    /// Makes each migration start when its process receives its answer, independently of other migrations.
    pub(super) fn set_start_at_answers(&mut self) {
        self.next_index = self.moves.len();
        self.start = None;
    }

    /// Starts the migration with this index: the transfer of the memory, or the delay if there is no transfer.
    fn start_migration(&mut self, index: usize, world: &mut World<'_>) -> Result<(), Error> {
        let planned = &mut self.moves[index];
        planned.start = world.engine.now();
        let from = world.placement[planned.process.index()];
        let token = to_u32(index);
        if planned.size.get() > 0.0 {
            let transferred = Token::Transferred(token);
            let has_handshake = world.setup.runtime.receives.has_handshake(planned.size);
            let image = (planned.size, has_handshake);
            world
                .engine
                .set_message_ends(planned.process, planned.process);
            return world
                .engine
                .send_message(from, planned.to, image, transferred);
        }
        world.engine.wait(planned.delay, Token::Settled(token));
        Ok(())
    }

    /// Handles the end of the memory transfer of a migration. The remaining delay of the migration begins; without a remaining
    /// delay, the migration is applied.
    pub(super) fn on_transferred(
        &mut self,
        index: u32,
        world: &mut World<'_>,
        recorder: &mut dyn Recorder,
    ) -> Result<(), Error> {
        let delay = self.moves[index as usize].delay;
        if delay.get() > 0.0 {
            world.engine.wait(delay, Token::Settled(index));
            return Ok(());
        }
        self.on_migration_ended(index, world, recorder)
    }

    /// Handles the end of a migration, after its delay: applies the migration, and starts the next migration if migrations are
    /// executed one after the other.
    pub(super) fn on_migration_ended(
        &mut self,
        index: u32,
        world: &mut World<'_>,
        recorder: &mut dyn Recorder,
    ) -> Result<(), Error> {
        let index = index as usize;
        self.apply_migration(index, world, recorder);
        if self.moves[index].cause == Cause::Policy {
            self.apply_next_instant(world, recorder);
            self.start_next(world)?;
        }
        Ok(())
    }

    /// Places the process of the migration with this index on its destination host and records the migration.
    fn apply_migration(
        &mut self,
        index: usize,
        world: &mut World<'_>,
        recorder: &mut dyn Recorder,
    ) {
        let booked = &mut self.moves[index];
        booked.is_applied = true;
        let booked = *booked;
        let now = world.engine.now();
        let place = &mut world.placement[booked.process.index()];
        let record = MigrationRecord {
            superstep: world.ending_superstep,
            process: booked.process,
            from: std::mem::replace(place, booked.to),
            to: booked.to,
            size: booked.size,
            start: booked.start,
            end: now,
            cause: booked.cause,
        };
        recorder.on_migration(&record);
        world.outcome.migrations.push(record);
        world.log.add_number(u64::from(booked.process.0));
        world.log.add_number(u64::from(booked.to.0));
        world.log.add_time(now.get());
        self.pending_migrations -= 1;
        if booked.cause == Cause::Policy {
            self.longest_duration = Seconds::of(greater(
                self.longest_duration.get(),
                now.since(booked.start).get(),
            ));
            self.migrated_processes.push(booked.process.0);
            if self.pending_migrations == 0 {
                self.record_cost(world);
            }
        }
    }

    /// Removes and returns the processes that have migrated and not continued since, in ascending order of process numbers.
    pub(super) fn take_migrated_processes(&mut self) -> Vec<u32> {
        self.migrated_processes.sort_unstable();
        std::mem::take(&mut self.migrated_processes)
    }

    /// Records the cost of the migrations of a rescheduling call; it must be called after all these migrations have ended.
    fn record_cost(&self, world: &mut World<'_>) {
        let now = world.engine.now();
        let spent = self
            .start
            .map_or(self.longest_duration, |start| now.since(start));
        world.outcome.migration += spent;
        let call = world.outcome.calls.last_mut();
        let call = call.expect("moves follow a call");
        call.migration = spent;
        if self.waiting == Waiting::All {
            call.delayed_until = now;
        }
    }

    /// Records by how much the migrations of a rescheduling call delayed the open superstep, if only the migrating processes
    /// waited. `computed` is the instant at which the last computation of the superstep ended, `longest` the duration of its
    /// longest computation.
    pub(super) fn record_delay_by_migrations(
        &self,
        computed: Time,
        longest: Seconds,
        world: &mut World<'_>,
    ) {
        let before = world.open_superstep.checked_sub(1);
        if let Some(call) = world.outcome.calls.last_mut()
            && self.waiting == Waiting::Movers
            && Some(call.superstep) == before
            && call.migration.get() > 0.0
        {
            let held = computed.since(call.delayed_until) - longest;
            call.delayed_until = call.delayed_until + held;
        }
    }
}

impl MoveCost {
    /// Returns the part of the duration of a migration that is not simulated as a flow, for a process with this memory between
    /// two hosts. With [`MemoryTransfer::Nominal`], this part includes the computed time of the transfer.
    pub fn time_without_flow(
        &self,
        platform: &Platform,
        (from, to): (HostId, HostId),
        memory: Bytes,
    ) -> Seconds {
        match self.transfer {
            Transfer::Nominal => self.fixed + message_duration(platform, from, to, memory),
            Transfer::Flow | Transfer::None => self.fixed,
        }
    }
}

/// Returns the duration of a message of `size` from one host to another without other traffic. If there is no route, the result
/// is zero, because no message is sent.
pub(super) fn message_duration(
    platform: &Platform,
    from: HostId,
    to: HostId,
    size: Bytes,
) -> Seconds {
    let Some(route) = platform.route(from, to) else {
        return Seconds::default();
    };
    let bottleneck = platform.bottleneck_bandwidth(&route);
    let transfer = bottleneck.map_or_else(Seconds::default, |rate| size / rate);
    platform.route_latency(&route) + transfer
}

/// Creates the error for a host name that does not exist on the platform.
fn unknown_host_error(name: &str, platform: &Platform) -> Problem {
    let known = platform.hosts.iter().map(|host| host.name.as_str());
    Problem::unknown("host", name).with_known_names("hosts", known)
}
