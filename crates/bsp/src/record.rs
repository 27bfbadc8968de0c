//! The record of a run: times of supersteps, calls with their decisions, migrations.

use std::collections::BTreeMap;

use crate::{CriticalPath, Decision, Measures};
use migsim_base::units::{Bytes, HostId, ProcessId, Seconds, Time};

/// The times of a superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SuperstepDates {
    /// The time at which the first process began the superstep.
    pub start: Time,
    /// The time at which the last process had finished its computation.
    pub computed: Time,
    /// The time at which the last process left the barrier of the superstep.
    pub end: Time,
}

/// A period in which all processes wait for a rescheduling call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wait {
    /// The start of the period.
    pub from: Time,
    /// The end of the period.
    pub until: Time,
}

impl Wait {
    /// Creates an empty period at a time.
    pub const fn none(date: Time) -> Self {
        Self {
            from: date,
            until: date,
        }
    }
}

/// A rescheduling call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRecord {
    /// The superstep after which the call takes place, counted from 0.
    pub superstep: usize,
    /// The time at which all processes had left the barrier.
    pub start: Time,
    /// The cost of the call itself.
    pub cost: Seconds,
    /// Duration of the migrations of the call, until all processes that wait could continue; zero if no process moved.
    pub migration: Seconds,
    /// The period in which all processes wait for the call (`cost`); the period begins with the call, unless the call overlaps the next
    /// superstep.
    pub wait: Wait,
    /// The part of that period in which managers computed and no message of the call was in progress; empty if the call overlaps a superstep.
    pub work: Wait,
    /// Whether the messages of the call are simulated; otherwise the cost is a duration for which processes wait.
    pub has_messages: bool,
    /// The time until which the migrations of the call delayed the application. If all processes wait for the migrations, this is the start
    /// of the next superstep. If only the moving processes wait, this is the end of the last computation of the next superstep, minus the
    /// longest computation of that superstep. So a wait does not count while others compute. Without migrations it is the end of the call.
    pub held_until: Time,
    /// The time at which each process received its answer, by process number; empty unless answers are sent one by one.
    pub answered: Vec<Time>,
    /// The decision and its reasons.
    pub decision: Decision,
    /// The origin of each of the decided migrations, in their order.
    pub origins: Vec<HostId>,
    /// Whether the migrations happened.
    pub applied: bool,
}

/// The cause of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A decision of the policy.
    Policy,
    /// A move that the workload prescribes (a trace).
    Workload,
}

impl Cause {
    /// Returns `policy` or `workload`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Workload => "workload",
        }
    }
}

/// A migration that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MigrationRecord {
    /// The superstep after which the migration happened, counted from 0.
    pub superstep: usize,
    /// The process that moved.
    pub process: ProcessId,
    /// The origin.
    pub from: HostId,
    /// The destination.
    pub to: HostId,
    /// Bytes sent.
    pub size: Bytes,
    /// The time at which it began.
    pub start: Time,
    /// The time at which the process was ready on its new host.
    pub end: Time,
    /// The cause.
    pub cause: Cause,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The time at which the last process finished: the execution time.
    pub makespan: Time,
    /// All supersteps.
    pub supersteps: Vec<SuperstepDates>,
    /// All rescheduling calls.
    pub calls: Vec<CallRecord>,
    /// All migrations, in the order of their ends.
    pub migrations: Vec<MigrationRecord>,
    /// Time during which all processes waited for rescheduling calls.
    pub scheduling: Seconds,
    /// Time during which processes waited for migrations after calls.
    pub migration: Seconds,
    /// Flows simulated: messages, barrier, calls and migrations.
    pub flows: u64,
    /// The messages of the application alone.
    pub sent: Sent,
    /// A hash of all times: equal for equal runs (see [`migsim_engine::EventLog`]).
    pub event_hash: String,
}

impl Outcome {
    /// Returns the number of direct returns: moves by the policy that take a process back to the host that it left at its previous move.
    pub fn straight_returns(&self) -> usize {
        let mut left: BTreeMap<ProcessId, HostId> = BTreeMap::new();
        let mut moves: Vec<&MigrationRecord> = self.migrations.iter().collect();
        moves.sort_by_key(|one| one.superstep); // stable
        let is_return = |one: &&MigrationRecord| {
            let before = left.insert(one.process, one.from);
            one.cause == Cause::Policy && before == Some(one.to)
        };
        moves.into_iter().filter(is_return).count()
    }
}

/// The messages of an application in all supersteps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sent {
    /// Number of messages.
    pub messages: u64,
    /// The sum of the sizes of the messages \[B\], added superstep by superstep.
    pub bytes: f64,
}

/// The times at which each process began a superstep, and the time at which all had completed it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beginnings<'a> {
    /// The zero of the times of this superstep.
    pub origin: Time,
    /// Time after the origin at which each process began \[s\]; empty if all began at the origin.
    pub after: &'a [f64],
    /// The present time. All processes have arrived at the barrier, and have left it if a shortcut computed the superstep.
    pub now: Time,
}

/// Observes a run.
pub trait Recorder: Send {
    /// Called at the barrier of each superstep (counted from 0), when all processes have arrived, with the measures and the placement of
    /// the processes.
    fn superstep(&mut self, superstep: usize, measures: &Measures, placement: &[HostId]);

    /// Called just before [`Self::superstep`], with the times at which processes began.
    fn began(&mut self, _beginnings: Beginnings<'_>) {}

    /// Called when a rescheduling call is paid; its migrations are still to come.
    fn call(&mut self, _call: &CallRecord) {}

    /// Called when a process is ready on its new host.
    fn migration(&mut self, _migration: &MigrationRecord) {}

    /// Called after each superstep; returns whether the run stops there, without a result.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Called before the run; returns whether to record its critical path. The run is then simulated by events alone, which takes longer.
    fn wants_path(&self) -> bool {
        false
    }

    /// Called at the end of a run whose critical path was recorded, even if another recorder requested it.
    fn path(&mut self, _path: CriticalPath) {}
}

/// Keeps the critical path of a run.
impl Recorder for Option<CriticalPath> {
    fn superstep(&mut self, _: usize, _: &Measures, _: &[HostId]) {}

    fn wants_path(&self) -> bool {
        true
    }

    fn path(&mut self, path: CriticalPath) {
        *self = Some(path);
    }
}

/// Observes nothing.
impl Recorder for () {
    fn superstep(&mut self, _: usize, _: &Measures, _: &[HostId]) {}
}

/// Forwards each call to several recorders.
impl Recorder for Vec<&mut dyn Recorder> {
    fn superstep(&mut self, superstep: usize, measures: &Measures, placement: &[HostId]) {
        for one in self {
            one.superstep(superstep, measures, placement);
        }
    }

    fn began(&mut self, beginnings: Beginnings<'_>) {
        for one in self {
            one.began(beginnings);
        }
    }

    fn call(&mut self, call: &CallRecord) {
        for one in self {
            one.call(call);
        }
    }

    fn migration(&mut self, migration: &MigrationRecord) {
        for one in self {
            one.migration(migration);
        }
    }

    fn is_stopped(&self) -> bool {
        self.iter().any(|one| one.is_stopped())
    }

    fn wants_path(&self) -> bool {
        self.iter().any(|one| one.wants_path())
    }

    fn path(&mut self, path: CriticalPath) {
        for one in self {
            one.path(path.clone());
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
        cause: Cause,
    ) -> MigrationRecord {
        MigrationRecord {
            superstep,
            process: ProcessId(process),
            from: HostId(from),
            to: HostId(to),
            size: Bytes::default(),
            start: Time::default(),
            end: Time::default(),
            cause,
        }
    }

    #[test]
    fn a_straight_return_is_the_next_move_of_a_process_back_to_where_it_came_from() {
        let outcome = |migrations| Outcome {
            makespan: Time::default(),
            supersteps: Vec::new(),
            calls: Vec::new(),
            migrations,
            scheduling: Seconds::default(),
            migration: Seconds::default(),
            flows: 0,
            sent: Sent::default(),
            event_hash: String::new(),
        };
        let policy = Cause::Policy;
        // Process 0 goes to 1, back to 0 and to 1 again: two returns. Process 1 comes back by way of host 3, which does not count.
        let moves = [
            moved(3, (0, 0, 1), policy),
            moved(3, (1, 2, 3), policy),
            moved(5, (0, 1, 0), policy),
            moved(5, (1, 3, 4), policy),
            moved(9, (1, 4, 2), policy),
            moved(9, (0, 0, 1), policy),
        ];
        assert_eq!(outcome(moves.to_vec()).straight_returns(), 2);
        // A move that the workload prescribes is no decision.
        let moves = [
            moved(3, (0, 0, 1), policy),
            moved(5, (0, 1, 0), Cause::Workload),
        ];
        assert_eq!(outcome(moves.to_vec()).straight_returns(), 0);
    }
}
