//! The record of a run: the times of its supersteps, its rescheduling calls with the decisions of the policy, and its migrations.

use std::collections::BTreeMap;

use crate::{CriticalPath, Decision, Measures};
use migsim_base::units::{Bytes, HostId, ProcessId, Seconds, Time};

/// The times of a superstep: its start, the end of the last computation, and the end of its barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SuperstepTimes {
    /// The time at which the first process began the superstep.
    pub start: Time,
    /// The time at which the last computation of the superstep ended.
    pub last_computation_end: Time,
    /// The time at which the last process left the barrier at the end of the superstep.
    pub end: Time,
}

/// A period of time during a rescheduling call, such as the period in which all processes wait for the call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Period {
    /// The start of the period.
    pub from: Time,
    /// The end of the period.
    pub until: Time,
}

impl Period {
    /// Creates an empty period at the time `date`.
    pub const fn empty_at(date: Time) -> Self {
        Self {
            from: date,
            until: date,
        }
    }
}

/// The record of one rescheduling call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRecord {
    /// Number of the superstep after which the call takes place, counted from 0.
    pub superstep: usize,
    /// The time at which the rescheduling call began, after all processes had left the barrier.
    pub start: Time,
    /// The time that the call takes, without its migrations.
    pub cost: Seconds,
    /// Duration of the migrations of the call until all processes that wait for the migrations could continue; zero if no process
    /// moved.
    pub migration_duration: Seconds,
    /// The period in which all processes wait for the call; its length is `cost`. It begins at the start of the call, unless the
    /// call overlaps the next superstep.
    pub waiting_period: Period,
    /// The part of the waiting period in which the managers compute the decision and no message of the call is in progress; empty
    /// if the call overlaps a superstep.
    pub decision_period: Period,
    /// Whether the messages of the call are simulated; otherwise the cost is a duration that a formula or a setting defines.
    pub has_messages: bool,
    /// The time until which the migrations of the call delayed the application. If all processes wait for the migrations, this is
    /// the start of the next superstep. If only the migrating processes wait, this is the end of the last computation of the next
    /// superstep minus the longest computation of that superstep, so that a wait during the computations of other processes does
    /// not count. Without migrations, this is the end of the call.
    pub application_delayed_until: Time,
    /// The time at which each process received its answer, in the order of processes; empty unless answers are sent one by one.
    pub answer_times: Vec<Time>,
    /// The decision of the policy in this call, with its reasons.
    pub decision: Decision,
    /// The host from which each decided migration starts, in the order of the migrations.
    pub migration_origins: Vec<HostId>,
    /// Whether the decided migrations were executed.
    pub migrations_applied: bool,
    /// Whether processes sent their reports before all of them had ended the superstep.
    pub reports_early: bool,
}

/// The source of the decision to migrate a process: the policy or the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationCause {
    /// The policy decided the migration in a rescheduling call.
    Policy,
    /// The workload prescribes the migration, as a recorded trace does.
    Workload,
}

impl MigrationCause {
    /// Returns the name of the cause: `policy` or `workload`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Workload => "workload",
        }
    }
}

/// The record of a migration that was executed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MigrationRecord {
    /// Number of the superstep after which the migration happened, counted from 0.
    pub superstep: usize,
    /// The process that migrated.
    pub process: ProcessId,
    /// The host from which the process migrated.
    pub from: HostId,
    /// The host to which the process migrated.
    pub to: HostId,
    /// Amount of data of the process that was sent from the origin to the destination.
    pub transferred_bytes: Bytes,
    /// The time at which the migration began.
    pub start: Time,
    /// The time at which the process was ready on its destination host.
    pub end: Time,
    /// The source of the decision to migrate the process: the policy or the workload.
    pub cause: MigrationCause,
}

/// The result of a run of one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// The makespan: the time at which the last process finished.
    pub makespan: Time,
    /// The times of all supersteps of the run, in order.
    pub supersteps: Vec<SuperstepTimes>,
    /// The records of all rescheduling calls of the run, in order.
    pub calls: Vec<CallRecord>,
    /// The records of all migrations, in the order in which they ended.
    pub migrations: Vec<MigrationRecord>,
    /// Total time during which all processes waited for rescheduling calls.
    pub call_waiting_time: Seconds,
    /// Total time during which processes waited for the migrations of rescheduling calls.
    pub migration_waiting_time: Seconds,
    /// Number of simulated flows: messages of the application, of barriers and of calls, and migrations.
    pub flow_count: u64,
    /// The number and size of the messages of the application.
    pub sent_messages: SentMessages,
    /// Hash value of all simulated times, by which two runs can be compared (see [`migsim_engine::EventHash`]).
    pub event_hash: String,
}

impl RunOutcome {
    /// Returns the record of the rescheduling call that is being paid for.
    pub(crate) fn last_call(&mut self) -> &mut CallRecord {
        self.calls
            .last_mut()
            .expect("a call that is paid was recorded")
    }

    /// Returns the number of direct returns: migrations by the policy that take a process back to the host that it left at its
    /// previous migration.
    pub fn direct_return_count(&self) -> usize {
        let mut left: BTreeMap<ProcessId, HostId> = BTreeMap::new();
        let mut moves: Vec<&MigrationRecord> = self.migrations.iter().collect();
        moves.sort_by_key(|one| one.superstep); // stable
        let is_return = |one: &&MigrationRecord| {
            let before = left.insert(one.process, one.from);
            one.cause == MigrationCause::Policy && before == Some(one.to)
        };
        moves.into_iter().filter(is_return).count()
    }
}

/// Number and size of all messages that the application sent in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SentMessages {
    /// Number of messages.
    pub message_count: u64,
    /// Sum of the sizes of the messages \[B\], added superstep by superstep.
    pub total_bytes: f64,
}

/// The times at which the processes began a superstep, and the time at which all processes had completed the superstep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuperstepBeginnings<'a> {
    /// The instant from which the local times of this superstep are counted.
    pub local_time_origin: Time,
    /// Time between `local_time_origin` and the instant at which each process began the superstep \[s\]; empty if all processes
    /// began at `local_time_origin`.
    pub begin_delays: &'a [f64],
    /// The present time. All processes have arrived at the barrier; if the superstep was computed by a shortcut, all have also
    /// left the barrier.
    pub now: Time,
}

/// An observer of a run, which is informed of supersteps, rescheduling calls and migrations during the simulation.
pub trait Recorder: Send {
    /// Receives the measurements of a superstep (counted from 0) and the placement of the processes, when all processes have
    /// arrived at the barrier.
    fn on_superstep(&mut self, superstep: usize, measures: &Measures, placement: &[HostId]);

    /// Receives the times at which the processes began a superstep. It is called just before `on_superstep` is called for that
    /// superstep.
    fn on_beginnings(&mut self, _beginnings: SuperstepBeginnings<'_>) {}

    /// Receives the record of a rescheduling call that has ended; the migrations of the call follow later.
    fn on_call(&mut self, _call: &CallRecord) {}

    /// Receives the record of a migration when the process is ready on its destination host.
    fn on_migration(&mut self, _migration: &MigrationRecord) {}

    /// Returns whether the run should be stopped without a result; it is called after each superstep.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Returns whether the critical path of the run should be recorded; the run is then simulated by events alone, which takes
    /// longer. It is called before the run.
    fn wants_critical_path(&self) -> bool {
        false
    }

    /// Returns whether the measurements should contain the times of transfers ([`Measures::transfer_times`]). It is called before
    /// the run.
    fn wants_transfer_times(&self) -> bool {
        false
    }

    /// Receives the critical path of a run at its end, if any recorder requested the path.
    fn on_critical_path(&mut self, _path: CriticalPath) {}
}

/// Requests the critical path of a run and stores it.
impl Recorder for Option<CriticalPath> {
    fn on_superstep(&mut self, _: usize, _: &Measures, _: &[HostId]) {}

    fn wants_critical_path(&self) -> bool {
        true
    }

    fn on_critical_path(&mut self, path: CriticalPath) {
        *self = Some(path);
    }
}

/// A recorder that stores nothing.
impl Recorder for () {
    fn on_superstep(&mut self, _: usize, _: &Measures, _: &[HostId]) {}
}

/// Forwards each call to all recorders in the list.
impl Recorder for Vec<&mut dyn Recorder> {
    fn on_superstep(&mut self, superstep: usize, measures: &Measures, placement: &[HostId]) {
        for one in self {
            one.on_superstep(superstep, measures, placement);
        }
    }

    fn on_beginnings(&mut self, beginnings: SuperstepBeginnings<'_>) {
        for one in self {
            one.on_beginnings(beginnings);
        }
    }

    fn on_call(&mut self, call: &CallRecord) {
        for one in self {
            one.on_call(call);
        }
    }

    fn on_migration(&mut self, migration: &MigrationRecord) {
        for one in self {
            one.on_migration(migration);
        }
    }

    fn is_stopped(&self) -> bool {
        self.iter().any(|one| one.is_stopped())
    }

    fn wants_critical_path(&self) -> bool {
        self.iter().any(|one| one.wants_critical_path())
    }

    fn wants_transfer_times(&self) -> bool {
        self.iter().any(|one| one.wants_transfer_times())
    }

    fn on_critical_path(&mut self, path: CriticalPath) {
        for one in self {
            one.on_critical_path(path.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a move after a superstep: process, from, to, cause.
    fn moved(
        superstep: usize,
        (process, from, to): (u32, u32, u32),
        cause: MigrationCause,
    ) -> MigrationRecord {
        MigrationRecord {
            superstep,
            process: ProcessId(process),
            from: HostId(from),
            to: HostId(to),
            transferred_bytes: Bytes::default(),
            start: Time::default(),
            end: Time::default(),
            cause,
        }
    }

    #[test]
    fn a_straight_return_is_the_next_move_of_a_process_back_to_where_it_came_from() {
        let outcome = |migrations| RunOutcome {
            makespan: Time::default(),
            supersteps: Vec::new(),
            calls: Vec::new(),
            migrations,
            call_waiting_time: Seconds::default(),
            migration_waiting_time: Seconds::default(),
            flow_count: 0,
            sent_messages: SentMessages::default(),
            event_hash: String::new(),
        };
        let policy = MigrationCause::Policy;
        // Process 0 goes to 1, back to 0 and to 1 again: two returns. Process 1 comes back by way of host 3, which does not count.
        let moves = [
            moved(3, (0, 0, 1), policy),
            moved(3, (1, 2, 3), policy),
            moved(5, (0, 1, 0), policy),
            moved(5, (1, 3, 4), policy),
            moved(9, (1, 4, 2), policy),
            moved(9, (0, 0, 1), policy),
        ];
        assert_eq!(outcome(moves.to_vec()).direct_return_count(), 2);
        // A move that the workload prescribes is no decision.
        let moves = [
            moved(3, (0, 0, 1), policy),
            moved(5, (0, 1, 0), MigrationCause::Workload),
        ];
        assert_eq!(outcome(moves.to_vec()).direct_return_count(), 0);
    }
}
