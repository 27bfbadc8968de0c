//! Executes the migrations that a policy decides or that the workload prescribes, one after the other or at the same time, and
//! determines which processes wait for them.
//!
//! All migrations that end at the same time are applied before any process continues. A message that starts at that time is
//! therefore sent to the new hosts, independently of the order in which the migrations were decided. A migration that takes no
//! time is applied when it starts.

use super::{
    config::{MemoryTransfer, MigrationCostConfig, MigrationOrder, WaitingProcesses},
    event::ActivityToken,
    record::{MigrationCause, MigrationRecord, Recorder},
    world::RunState,
};
use crate::{Migration, PrescribedMigration};
use migsim_base::{
    error::{Error, Problem, Result},
    units::{Bytes, HostId, Instructions, ProcessId, Seconds, Time, greater, to_u32},
};
use migsim_engine::MessageEnds;
use migsim_platform::Platform;

#[derive(Clone, Debug, Default)]
pub(super) struct Migrations {
    migrations: Vec<Move>,
    pub pending_migrations: usize,
    next_migration_index: usize,
    /// Instant at which all migrations of the rescheduling call start; `None` if each migration starts when its process receives
    /// the answer of the call.
    common_start: Option<Time>,
    longest_migration_duration: Seconds,
    pub waiting_processes: WaitingProcesses,
    /// Processes that have migrated by a decision of the policy and have not continued their work since.
    migrated_processes: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Move {
    process: ProcessId,
    destination: HostId,
    memory_size: Bytes,
    /// Processor time on the host that the process leaves.
    packing_time: Seconds,
    /// Processor time on the new host, after the transfer.
    unpacking_time: Seconds,
    delay_after_transfer: Seconds,
    start_time: Time,
    cause: MigrationCause,
    is_applied: bool,
}

impl Move {
    /// Returns whether the migration takes no time, since it has no memory to transfer, no processor time and no delay.
    fn is_instant(&self) -> bool {
        let times = [
            self.packing_time,
            self.unpacking_time,
            self.delay_after_transfer,
        ];
        self.memory_size.get() <= 0.0 && times.iter().all(|time| time.get() <= 0.0)
    }
}

impl Migrations {
    pub(super) fn clear(&mut self) {
        self.migrations.clear();
        self.next_migration_index = 0;
    }

    /// Starts the migration that the workload prescribes for a process that has left the barrier; does nothing if no migration is
    /// prescribed for the process.
    pub(super) fn start_prescribed_migration(
        &mut self,
        process: u32,
        prescribed: &[PrescribedMigration],
        world: &mut RunState<'_>,
    ) -> Result {
        let mut prescribed = prescribed.iter();
        let Some(wanted) = prescribed.find(|wanted| wanted.process.0 == process) else {
            return Ok(());
        };
        let platform = world.setup.platform;
        let Some(to) = platform.host_named(&wanted.destination_host) else {
            return Err(Error::SimulationFailure(unknown_host_error(
                &wanted.destination_host,
                platform,
            )));
        };
        self.migrations.push(Move {
            process: wanted.process,
            destination: to,
            memory_size: wanted.transferred_bytes,
            packing_time: Seconds::default(),
            unpacking_time: Seconds::default(),
            delay_after_transfer: wanted.wait_after_transfer,
            start_time: world.engine.now(),
            cause: MigrationCause::Workload,
            is_applied: false,
        });
        self.pending_migrations += 1;
        self.start_migration(self.migrations.len() - 1, world)
    }

    /// Sets the migrations of a rescheduling call to the migrations that the policy decided. A migration is left out if its
    /// process is already on the destination host. Returns the number of migrations that remain.
    pub(super) fn set_decided_migrations(
        &mut self,
        decided: &[Migration],
        world: &RunState<'_>,
    ) -> usize {
        let costs = world.setup.costs.migration;
        self.migrations.clear();
        self.migrated_processes.clear();
        for &Migration { process, to } in decided {
            let from = world.placement[process.index()];
            if from == to {
                continue;
            }
            let memory = world.process_memory[process.index()];
            let size = match costs.transfer {
                MemoryTransfer::Flow => memory,
                MemoryTransfer::Nominal | MemoryTransfer::None => Bytes::default(),
            };
            self.migrations.push(Move {
                process,
                destination: to,
                memory_size: size,
                packing_time: Seconds::of(costs.pack.of_bytes(memory.get())),
                unpacking_time: Seconds::of(costs.unpack.of_bytes(memory.get())),
                delay_after_transfer: costs.duration_outside_flow(
                    world.setup.platform,
                    from,
                    to,
                    memory,
                ),
                start_time: world.engine.now(),
                cause: MigrationCause::Policy,
                is_applied: false,
            });
        }
        self.pending_migrations = self.migrations.len();
        self.common_start = Some(world.engine.now());
        self.longest_migration_duration = Seconds::default();
        self.waiting_processes = costs.wait;
        self.pending_migrations
    }

    pub(super) fn destinations(&self) -> impl Iterator<Item = (ProcessId, HostId)> {
        self.migrations
            .iter()
            .map(|planned| (planned.process, planned.destination))
    }

    /// Applies, before any migration that takes time starts, the decided migrations that take no time and that need not wait for
    /// other migrations.
    pub(super) fn apply_instant_migrations(
        &mut self,
        world: &mut RunState<'_>,
        recorder: &mut dyn Recorder,
    ) {
        match world.setup.costs.migration.order {
            MigrationOrder::Serial => self.apply_next_instant_migrations(world, recorder),
            MigrationOrder::Parallel => {
                self.next_migration_index = self.migrations.len();
                for index in 0..self.migrations.len() {
                    if self.migrations[index].is_instant() {
                        self.apply_migration(index, world, recorder);
                    }
                }
            }
        }
    }

    /// Applies the next migrations in their order until a migration takes time. It does nothing if migrations are executed at the
    /// same time.
    fn apply_next_instant_migrations(
        &mut self,
        world: &mut RunState<'_>,
        recorder: &mut dyn Recorder,
    ) {
        while self
            .migrations
            .get(self.next_migration_index)
            .is_some_and(Move::is_instant)
        {
            self.next_migration_index += 1;
            self.migrations[self.next_migration_index - 1].start_time = world.engine.now();
            self.apply_migration(self.next_migration_index - 1, world, recorder);
        }
    }

    pub(super) fn migrating_processes(&self, processes: usize) -> Vec<bool> {
        let mut moves = vec![false; processes];
        for planned in self.migrations.iter().filter(|planned| !planned.is_applied) {
            moves[planned.process.index()] = true;
        }
        moves
    }

    /// Starts the migrations that take time: all of these migrations, or only the first if migrations are executed one after the
    /// other.
    pub(super) fn start_migrations(&mut self, world: &mut RunState<'_>) -> Result {
        match world.setup.costs.migration.order {
            MigrationOrder::Serial => self.start_next_migration(world),
            MigrationOrder::Parallel => {
                for index in 0..self.migrations.len() {
                    if !self.migrations[index].is_applied {
                        self.start_migration(index, world)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Starts the next migration, if migrations are executed one after the other; does nothing if no migration remains.
    fn start_next_migration(&mut self, world: &mut RunState<'_>) -> Result {
        if self.next_migration_index == self.migrations.len() {
            return Ok(());
        }
        self.next_migration_index += 1;
        self.start_migration(self.next_migration_index - 1, world)
    }

    pub(super) fn start_migration_of_answered_process(
        &mut self,
        process: u32,
        world: &mut RunState<'_>,
        recorder: &mut dyn Recorder,
    ) -> Result<bool> {
        let mut moves = self.migrations.iter();
        let Some(index) = moves.position(|planned| planned.process.0 == process) else {
            return Ok(false);
        };
        if self.migrations[index].is_instant() {
            self.migrations[index].start_time = world.engine.now();
            self.apply_migration(index, world, recorder);
        } else {
            self.start_migration(index, world)?;
        }
        Ok(true)
    }

    /// Makes each migration start when its process receives its answer, independently of other migrations.
    pub(super) fn delay_starts_until_answers(&mut self) {
        self.next_migration_index = self.migrations.len();
        self.common_start = None;
    }

    /// Starts the migration with this index.
    fn start_migration(&mut self, index: usize, world: &mut RunState<'_>) -> Result {
        self.migrations[index].start_time = world.engine.now();
        if !self.start_next_part(index, 0, world)? {
            let token = ActivityToken::MigrationEnded(to_u32(index));
            world.engine.start_wait(Seconds::default(), token);
        }
        Ok(())
    }

    /// Starts the first part of a migration that takes time: packing, transfer, unpacking or delay, of which the first `done`
    /// parts are over. Returns whether there is such a part.
    fn start_next_part(&self, index: usize, done: usize, world: &mut RunState<'_>) -> Result<bool> {
        let planned = self.migrations[index];
        let from = world.placement[planned.process.index()];
        let to = planned.destination;
        let token = to_u32(index);
        let parts = [
            (
                ActivityToken::ProcessPacked(token),
                planned.packing_time.get(),
            ),
            (
                ActivityToken::MemoryTransferred(token),
                planned.memory_size.get(),
            ),
            (
                ActivityToken::ProcessUnpacked(token),
                planned.unpacking_time.get(),
            ),
            (
                ActivityToken::MigrationEnded(token),
                planned.delay_after_transfer.get(),
            ),
        ];
        let Some(&(token, time)) = parts[done..].iter().find(|part| part.1 > 0.0) else {
            return Ok(false);
        };
        if matches!(token, ActivityToken::MemoryTransferred(_)) {
            let ends = MessageEnds {
                hosts: (from, to),
                processes: Some((planned.process, planned.process)),
            };
            world.send_message(ends, planned.memory_size, token)?;
        } else if matches!(token, ActivityToken::MigrationEnded(_)) {
            world.engine.start_wait(Seconds::of(time), token);
        } else {
            let is_packing = matches!(token, ActivityToken::ProcessPacked(_));
            let host = if is_packing { from } else { to };
            let speed = world.setup.platform.hosts[host.index()].speed;
            let work = Instructions::of(time * speed.get());
            world.engine.execute(host, work, token)?;
        }
        Ok(true)
    }

    /// Handles the end of a part of a migration, after which the first `done` parts are over.
    pub(super) fn on_part_ended(
        &mut self,
        index: u32,
        done: usize,
        world: &mut RunState<'_>,
        recorder: &mut dyn Recorder,
    ) -> Result {
        if self.start_next_part(index as usize, done, world)? {
            return Ok(());
        }
        self.on_migration_ended(index, world, recorder)
    }

    /// Handles the end of a migration: applies the migration, and starts the next migration if migrations are
    /// executed one after the other.
    fn on_migration_ended(
        &mut self,
        index: u32,
        world: &mut RunState<'_>,
        recorder: &mut dyn Recorder,
    ) -> Result {
        let index = index as usize;
        self.apply_migration(index, world, recorder);
        if self.migrations[index].cause == MigrationCause::Policy {
            self.apply_next_instant_migrations(world, recorder);
            self.start_next_migration(world)?;
        }
        Ok(())
    }

    /// Places the process of the migration with this index on its destination host and records the migration.
    fn apply_migration(
        &mut self,
        index: usize,
        world: &mut RunState<'_>,
        recorder: &mut dyn Recorder,
    ) {
        let booked = &mut self.migrations[index];
        booked.is_applied = true;
        let booked = *booked;
        let now = world.engine.now();
        world
            .pending_destinations
            .retain(|(process, _)| *process != booked.process);
        let place = &mut world.placement[booked.process.index()];
        let record = MigrationRecord {
            superstep: world.ending_superstep,
            process: booked.process,
            from: std::mem::replace(place, booked.destination),
            to: booked.destination,
            transferred_bytes: booked.memory_size,
            start: booked.start_time,
            end: now,
            cause: booked.cause,
        };
        recorder.on_migration(&record);
        world.outcome.migrations.push(record);
        world.event_log.add_number(u64::from(booked.process.0));
        world.event_log.add_number(u64::from(booked.destination.0));
        world.event_log.add_time(now.get());
        self.pending_migrations -= 1;
        if booked.cause == MigrationCause::Policy {
            self.longest_migration_duration = Seconds::of(greater(
                self.longest_migration_duration.get(),
                now.since(booked.start_time).get(),
            ));
            self.migrated_processes.push(booked.process.0);
            if self.pending_migrations == 0 {
                self.record_migration_cost(world);
            }
        }
    }

    /// Removes and returns the processes that have migrated and not continued since, in ascending order of process numbers.
    pub(super) fn take_migrated_processes(&mut self) -> Vec<u32> {
        self.migrated_processes.sort_unstable();
        std::mem::take(&mut self.migrated_processes)
    }

    /// Records the cost of the migrations of a rescheduling call; it must be called after all these migrations have ended.
    fn record_migration_cost(&self, world: &mut RunState<'_>) {
        let now = world.engine.now();
        let spent = self
            .common_start
            .map_or(self.longest_migration_duration, |start| now.since(start));
        world.outcome.migration_waiting_time += spent;
        let call = world.outcome.last_call();
        call.migration_duration = spent;
        if self.waiting_processes == WaitingProcesses::All {
            call.application_delayed_until = now;
        }
    }

    /// Records by how much the migrations of a rescheduling call delayed the open superstep, if only the migrating processes
    /// waited. `computed` is the instant at which the last computation of the superstep ended, `longest` the duration of its
    /// longest computation.
    pub(super) fn record_delay_by_migrations(
        &self,
        computed: Time,
        longest: Seconds,
        world: &mut RunState<'_>,
    ) {
        let before = world.open_superstep.checked_sub(1);
        if let Some(call) = world.outcome.calls.last_mut()
            && self.waiting_processes == WaitingProcesses::Movers
            && Some(call.superstep) == before
            && call.migration_duration.get() > 0.0
        {
            let held = computed.since(call.application_delayed_until) - longest;
            call.application_delayed_until = call.application_delayed_until + held;
        }
    }
}

impl MigrationCostConfig {
    /// Returns the part of the duration of a migration that is not simulated as a flow, for a process with this memory between
    /// two hosts. With [`MemoryTransfer::Nominal`], this part includes the computed time of the transfer.
    pub fn duration_outside_flow(
        &self,
        platform: &Platform,
        from: HostId,
        to: HostId,
        memory: Bytes,
    ) -> Seconds {
        match self.transfer {
            MemoryTransfer::Nominal => {
                self.fixed + uncontended_message_duration(platform, from, to, memory)
            }
            MemoryTransfer::Flow | MemoryTransfer::None => self.fixed,
        }
    }
}

/// Returns the duration of a message of `size` from one host to another without other traffic. If there is no route, the result
/// is zero, because no message is sent.
pub(super) fn uncontended_message_duration(
    platform: &Platform,
    from: HostId,
    to: HostId,
    size: Bytes,
) -> Seconds {
    let Some(route) = platform.route(from, to) else {
        return Seconds::default();
    };
    let transfer = platform
        .bottleneck_bandwidth(&route)
        .map_or_else(Seconds::default, |rate| size / rate);
    platform.route_latency(&route) + transfer
}

fn unknown_host_error(name: &str, platform: &Platform) -> Problem {
    let known = platform.hosts.iter().map(|host| host.name.as_str());
    Problem::unknown_name("host", name).with_known_names("hosts", known)
}
